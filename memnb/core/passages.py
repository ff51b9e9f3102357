"""Passages: the pieces of memory that a search can find, and how well each of them fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

__all__ = ["SOURCES", "SOURCE_NAMES", "Passage", "Ranked", "Source", "Speaker"]

Source = Literal["fact", "note", "message", "summary"]
SOURCES: Final[tuple[Source, ...]] = ("fact", "note", "message", "summary")
SOURCE_NAMES: Final[Mapping[str, Source]] = {
    "facts": "fact",
    "notes": "note",
    "messages": "message",
    "summaries": "summary",
}
"""The sources as people call them."""

Speaker = Literal["person", "assistant", ""]
"""Who said it; "" for what nobody said, such as a note."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of memory, and where it stands.

    Its text is what was indexed: before it is shown, it is read again from where it stands.

    Args:
        source: what it is a piece of.
        name: a fact's id, a note's name, or a session's id.
        place: a fact's revision, a note's first line of it, or the number of a record.
        text: what it says.
        at: when it was recorded, as a UTC stamp.
        speaker: who said it.
        context: what stands before it and helps to find it, such as the message that it answers.
        valid_from, valid_to: the time for which a fact holds, as UTC stamps; None for open ends.
    """

    source: Source
    name: str
    place: int
    text: str
    at: str
    speaker: Speaker = ""
    context: str = ""
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def reference(self) -> str:
        """What it is cited as: `F-1b8hyr@1`, `S-…:12`, `notes/plan.md:3`."""
        mark = "@" if self.source == "fact" else ":"
        return f"{self.name}{mark}{self.place}"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its score: the sum of its parts, each named after what speaks for it."""

    passage: Passage
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """How well it fits; only comparable within one search."""
        return sum(self.parts.values())
