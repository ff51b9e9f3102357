"""The part of `learning.ipynb` that needs a model: who finds what is worth keeping, and whether
an answer is another one for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import memnb
from learning_controls import Story, quoting
from learning_protocol import Arm, Run, run, temporary
from learning_script import Scenario
from learning_tables import Figures

__all__ = [
    "LOCAL",
    "PROBES",
    "Effect",
    "effects",
    "is_ready",
    "kept_as",
    "learned_by",
    "shift",
    "skipped",
]

LOCAL: Final = "local/qwen2.5-coder-1.5b"


@dataclass(frozen=True, slots=True)
class Probe:
    """A convention, a request that it changes, and how to see it in the answer."""

    said: str
    ask: str
    follows: str


PROBES: Final = (
    Probe(
        "I'd rather see altair charts than matplotlib ones.",
        "Write Python code that draws the column sales of the data frame df by week."
        " Code only, at most five lines.",
        r"\balt\.|altair",
    ),
    Probe(
        "We read tables with polars in this project, never with pandas.",
        "Write Python code that reads the file weekly.parquet. Code only, at most three lines.",
        r"\bpl\.|polars",
    ),
    Probe(
        "Random seeds are 2718 wherever we need one.",
        "Write Python code that splits X and y with scikit-learn, with a random seed."
        " Code only, at most three lines.",
        r"\b2718\b",
    ),
)

OTHERS: Final = (
    "The week starts on Sunday in every table of this project.",
    "Public holidays come from the shop calendar in this project, not from a package.",
    "Missing answers are coded as -9 in all our surveys.",
    "Timestamps in this project are UTC without exception.",
    "Figures go to reports/figures, data never leaves data/.",
)
"""What is known besides, where all of it is sent."""


MEMORIES: Final[Mapping[str, Callable[[Probe], tuple[str, ...]]]] = {
    "without": lambda _: (),
    "relevant": lambda probe: (probe.said,),
    "all": lambda _: (*OTHERS[:3], *(probe.said for probe in PROBES), *OTHERS[3:]),
}
"""What is known in each of the compared memories."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One answer: to which probe, with which memory, and whether it follows the convention."""

    said: str
    ask: str
    memory: str
    answer: str
    follows: bool


def is_ready(name: str) -> bool:
    """Whether a model can be asked: its weights are here, or it is a provider's."""
    if not name:
        return False
    with temporary() as folder:
        story = Story(folder)
        with story.open() as memory:
            states = {row[0]: row[1] for row in memory.models().rows}
    return name not in states or states[name].startswith("ready")


def skipped(name: str) -> str:
    """Why this part isn't run."""
    return f"skipped: the weights of {name} aren't here." if name else "skipped: no model is named."


def learned_by(name: str, script: Sequence[Scenario]) -> Run:
    """The protocol once more, with this model as the extractor; answers stay scripted."""
    return run(Arm(f"hybrid, {name}", "auto", "model"), script, learner=name)


def effects(
    name: str, probes: Sequence[Probe] = PROBES, memories: Sequence[str] = tuple(MEMORIES)
) -> list[Effect]:
    """Each probe without memory, with the convention that matters, and with all there is."""
    found = []
    for what in memories:
        for number, probe in enumerate(probes):
            with temporary() as folder:
                answer = _asked(folder / str(number), name, MEMORIES[what](probe), probe.ask)
            follows = re.search(probe.follows, answer, re.IGNORECASE) is not None
            found.append(Effect(probe.said, probe.ask, what, answer, follows))
    return found


def _asked(folder: Path, name: str, said: Sequence[str], question: str) -> str:
    """An answer in a session of its own, where these were said and learned in another."""
    story = Story(folder, quoting(*said))
    for text in said:  # a session each: at most three are learned in a look
        story.learned(f"Thanks. {text} And now?")
    with story.open() as memory:
        if len(memory.facts().rows) != len(said):
            raise memnb.errors.MemnbError("not all that was said was learned.")
        memory.learn("off")
        memory.config("agent.output_tokens", "200")
        return memory.ask(question, via="agent", model=name).text


def shift(found: Sequence[Effect]) -> Figures:
    """For each probe whether the answer follows what was said."""
    memories = list(dict.fromkeys(one.memory for one in found))
    follows = {(one.said, one.memory): "yes" if one.follows else "no" for one in found}
    rows = [
        (said, *(follows[said, memory] for memory in memories))
        for said in dict.fromkeys(one.said for one in found)
    ]
    columns = ("what was said in an earlier session", *memories)
    return Figures.of("whether the answer follows it", columns, rows)


def kept_as(name: str, done: Run, found: Sequence[Effect]) -> str:
    """Write every item as JSON; says where."""
    items = {"learning": done.figures(), "effects": [asdict(one) for one in found]}
    path = Path(name)
    path.write_text(json.dumps(items, indent=1, ensure_ascii=False), encoding="utf-8")
    return f"every item is in {path.name}"
