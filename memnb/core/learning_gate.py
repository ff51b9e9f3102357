"""Whether a conversation is worth a look for what may be learned: a call to a model costs.

Nothing is lost by waiting: what wasn't looked at is looked at with the next call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["EVERY_TURNS", "LEAST_CHARACTERS", "Unmined", "is_due", "similarity"]

EVERY_TURNS: Final = 8
"""After so many exchanges that weren't looked at yet a look is due."""

LEAST_CHARACTERS: Final = 200
"""So much has to be typed in them, at least."""

NEW_TOPIC: Final = 0.12
"""Messages that share less of their words than this are of different topics; what was said of the
one before is then complete."""

_WORD: Final = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class Unmined:
    """One exchange that wasn't looked at yet.

    `text` is what the person typed; `has_saved`: the model itself kept a fact in it.
    """

    text: str
    has_saved: bool = False


def is_due(said: Sequence[Unmined]) -> bool:
    """Whether to look at these exchanges now, oldest first.

    Not right after the model itself kept a fact: it has just considered what is worth keeping.
    """
    if not said or said[-1].has_saved:
        return False
    if sum(len(one.text.strip()) for one in said) < LEAST_CHARACTERS:
        return False
    if len(said) >= EVERY_TURNS:
        return True
    return len(said) > 1 and similarity(said[-2].text, said[-1].text) < NEW_TOPIC


def similarity(one: str, other: str) -> float:
    """The share of words that two texts have in common, from 0 to 1 (Jaccard, 1912).

    Texts without words say nothing of their topic: they count as the same.
    """
    words, others = _words(one), _words(other)
    if not words or not others:
        return 1.0
    return len(words & others) / len(words | others)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
