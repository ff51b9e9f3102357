"""What a search found, as it is shown: each place with the words that were looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memnb.api.rendering import Block, Line, Marked, Table, count, minute
from memnb.core.passages import Source
from memnb.core.snippets import Span
from memnb.memory.matching import How
from memnb.memory.searching import Hit

__all__ = ["Hits", "SearchHit"]

_LOOKED_FOR: Final = {
    "words": "with these words, the best first",
    "literal": "with exactly this text",
    "regex": "that this expression fits",
}


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One place that holds what was looked for, as it is there now.

    Args:
        source: what it is a piece of.
        reference: a fact's id and revision, a session's id and the number of a record, or a note's
            name and line.
        name: the fact, note or session.
        place: the revision, line or record.
        at: when it was recorded, as a UTC stamp; of a note when the file was changed.
        speaker: who said it; "" for a note.
        status: whether a fact's evidence holds; else that it can be seen.
        text: the words that were looked for, and what stands around them.
        marks: where they stand in `text`.
        score: how well it fits; the sum of `parts`, only comparable within one search.
        parts: what speaks for it, and how much.
        notebook: where it was said; None when that isn't known.
        cell: in which cell, by its execution count.
    """

    source: Source
    reference: str
    name: str
    place: int
    at: str
    speaker: str
    status: str
    text: str
    marks: tuple[Span, ...] = ()
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    notebook: str | None = None
    cell: int | None = None

    @classmethod
    def of(cls, hit: Hit) -> SearchHit:
        """The row of a hit."""
        passage = hit.passage
        return cls(
            source=passage.source,
            reference=passage.reference,
            name=passage.name,
            place=passage.place,
            at=passage.at,
            speaker=passage.speaker,
            status=hit.status,
            text=hit.snippet.text,
            marks=hit.snippet.marks,
            score=round(hit.score, 3),
            parts={name: round(part, 3) for name, part in hit.parts.items()},
            notebook=hit.cell.notebook,
            cell=hit.cell.count,
        )

    @property
    def headline(self) -> str:
        """One line: where it is, who said it and when, and why it was found."""
        pieces = [self.reference, self.source, self.speaker, self.status, minute(self.at)]
        pieces += [] if self.notebook is None else [self.notebook]
        pieces += [] if self.cell is None else [f"cell [{self.cell}]"]
        if self.parts:
            parts = " + ".join(f"{name} {part:.2f}" for name, part in self.parts.items())
            pieces.append(f"score {self.score:.2f} = {parts}")
        return " · ".join(piece for piece in pieces if piece)

    @property
    def next_step(self) -> str:
        """What to type to see more of it."""
        if self.source == "fact":
            return f"`%memory fact {self.name}` shows where it comes from"
        if self.source == "note":
            name = self.name.removeprefix("notes/").removeprefix("daily/").removesuffix(".md")
            return f"`%memory note {name}` shows all of it"
        return f"`%memory read {self.name} --around {self.place}` shows what was said around it"


@dataclass(frozen=True, slots=True, repr=False)
class Hits(Table):
    """Where something was found; for words the best first, else facts, notes and what was said.

    `notice` says how it was searched, when it wasn't by the index or not all of it.
    """

    row = SearchHit

    query: str
    how: How
    rows: tuple[SearchHit, ...]
    limit: int
    notice: str = ""

    def blocks(self) -> Sequence[Block]:
        """Each place in two lines, and what to type to see more of it."""
        return list(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        yield Line(f"{count(len(self.rows), 'place')} {_LOOKED_FOR[self.how]}", strong=True)
        if self.notice:
            yield Line(self.notice)
        for row in self.rows:
            yield Line(row.headline)
            yield Marked(row.text, row.marks)
        steps = {row.source: row.next_step for row in reversed(self.rows)}
        yield from map(Line, steps.values())
        if len(self.rows) >= self.limit:
            yield Line("there may be more: `--limit N` shows up to 50")
        if not self.rows and self.how == "words":
            yield Line("`--literal` finds parts of words, too")
