"""What a local model makes of single sentences, read from the probabilities of its first word.

1. A small model's own words about a conversation can't be trusted, and neither can its first
   choice; how probable it finds each of a few words is a good signal once it is weighed.
2. Two questions for each sentence: which of six things it is, and whether to remember it. The
   examples in them are always the same, so the model reads them once.
3. Nothing is generated: one word is asked for, and only its alternatives are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from memnb.core.messages import Cancel
from memnb.llm.local_model import LocalModel

__all__ = ["LABELS", "Listening", "said"]

LABELS: Final = ("rule", "task", "question", "quote", "report", "chat")
"""What a sentence may be: only a rule is to be kept."""

_ANSWERS: Final = ("yes", "no")
_FLOOR: Final = -12.0  # a word that isn't among the likeliest
_TIMEOUT_SECONDS: Final = 60.0

_WHICH: Final = """\
A user writes to the agent of a notebook. Say in one word what the last sentence is:
rule - a preference, convention or decision of the user that holds in all later sessions
task - something to be done now, or only for now
question - the user asks
quote - what somebody else says, does or wants
report - what happened, what is the case, what the user plans or considers
chat - thanks, greetings, praise"""

_WHETHER: Final = """\
A user writes to the agent of a notebook. Should the agent remember the last sentence for all \
later sessions, because it is a lasting preference, convention or decision of this user? \
Answer yes or no."""

_SHOTS: Final = (
    ("Never use Comic Sans in my slides.", "rule"),
    ("Merge these two cells.", "task"),
    ("We publish every table as Parquet.", "rule"),
    ("Which colours do you like best?", "question"),
    ("My teacher always wants footnotes.", "quote"),
    ("I don't eat eggs.", "rule"),
    ("Just for this page, use two columns.", "task"),
    ("I bought a lamp last week and it flickers.", "report"),
    ("We decided against a mobile app.", "rule"),
    ("I might learn Go some day.", "report"),
    ("I love it, thank you!", "chat"),
    ("Should we always lint first?", "question"),
)


def said(
    model: LocalModel, texts: Sequence[str], cancel: Cancel | None = None
) -> list[tuple[float, ...]]:
    """For each sentence the model's log-probabilities, each question's around their mean.

    Args:
        model: the local model; it is started if need be.
        texts: sentences.
        cancel: stops it; what is missing then makes the answer shorter.

    Raises:
        As `LocalModel.first_words`.
    """
    which = list(_asked(model, _prompt(_WHICH, _SHOTS), LABELS, texts, cancel))
    shots = tuple((text, "yes" if label == "rule" else "no") for text, label in _SHOTS)
    whether = list(_asked(model, _prompt(_WHETHER, shots), _ANSWERS, texts, cancel))
    return [(*labels, *answers) for labels, answers in zip(which, whether, strict=False)]


class Listening:
    """A local model as something that scores sentences; see `memory.span_scoring`."""

    def __init__(self, model: LocalModel, cancel: Cancel | None = None) -> None:
        """Ask `model`; nothing is started yet."""
        self._model = model
        self._cancel = cancel

    @property
    def name(self) -> str:
        """Which model it is, as in the catalog."""
        return self._model.name

    def __call__(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """For each text what the model says of it."""
        return said(self._model, texts, self._cancel)


def _asked(
    model: LocalModel,
    prompt: Sequence[Mapping[str, str]],
    words: Sequence[str],
    texts: Sequence[str],
    cancel: Cancel | None,
) -> Iterator[tuple[float, ...]]:
    """For each text how likely each of the words is, around their mean."""
    for text in texts:
        body: dict[str, Any] = {"messages": [*prompt, _message("user", text)]}
        found = model.first_words(body, timeout_seconds=_TIMEOUT_SECONDS, cancel=cancel)
        if not found:
            return
        likely = [_of_word(found, word) for word in words]
        mean = math.fsum(likely) / len(likely)
        yield tuple(one - mean for one in likely)


def _of_word(found: Mapping[str, float], word: str) -> float:
    """The log-probability that a word begins the answer, in any case and with a blank or not."""
    shares = [
        math.exp(value)
        for token, value in found.items()
        if (bare := token.strip().casefold()) and word.startswith(bare)
    ]
    return max(_FLOOR, math.log(math.fsum(shares))) if shares else _FLOOR


def _prompt(task: str, shots: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    messages = [_message("system", task)]
    for text, label in shots:
        messages += [_message("user", text), _message("assistant", label)]
    return messages


def _message(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}
