"""What a question looks for: its words that mean something, its phrases, names and times.

1. No model reads it. Whatever isn't understood is just words.
2. Stop words go, and so does what only frames a question or names a time as seen from now, unless
   nothing else is left.
3. What stands in quotation marks is also a phrase; so is what the index cuts into several words,
   such as `snake_case`, `src/main.py` or a version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memnb.core.facts import Interval
from memnb.core.passage_words import words_of
from memnb.core.passages import Speaker
from memnb.core.question_frames import said_by, unframed
from memnb.core.stop_words import without_stop_words
from memnb.core.time_expressions import periods, without_times

__all__ = ["MAX_WORDS", "Query", "understand"]

MAX_WORDS: Final = 64
"""A pasted page isn't looked for word by word."""

_MAX_PHRASES: Final = 32
_LONGEST: Final = 8_000
"""A longer text is a request with data; what it looks for is asked at its beginning."""

_QUOTED: Final = re.compile(r"[\"“”«»](?P<a>[^\"“”«»]{2,200})[\"“”«»]|`(?P<b>[^`]{2,200})`")
_JOINED: Final = re.compile(r"(?<![^\W_])[^\W_]++(?:[_./\\:@#-]++[^\W_]++)++")


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it was understood.

    Args:
        text: the question.
        words: what it looks for, in lower case, each once, in order.
        phrases: words that should stand next to each other, in order.
        periods: the times that it names.
        said_by: whose words it is about, as far as can be told.
    """

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    periods: tuple[Interval, ...] = ()
    said_by: Speaker = ""

    def __bool__(self) -> bool:
        return bool(self.words)


def understand(text: str, now: str) -> Query:
    """What a question looks for, asked at a UTC stamp; falsy when there is nothing in it."""
    text = text[:_LONGEST].replace("\u2019", "'")
    said = words_of(text)
    meant = without_stop_words(words_of(without_times(unframed(text), now)))
    words = tuple(dict.fromkeys(meant or without_stop_words(said) or said))[:MAX_WORDS]
    return Query(
        text=text,
        words=words,
        phrases=_phrases(text),
        periods=periods(text, now),
        said_by=said_by(text),
    )


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    quoted = (match["a"] or match["b"] for match in _QUOTED.finditer(text))
    found = (words_of(phrase) for phrase in (*quoted, *_JOINED.findall(text)))
    phrases = dict.fromkeys(phrase for phrase in found if 1 < len(phrase) <= MAX_WORDS)
    return tuple(phrases)[:_MAX_PHRASES]
