"""Search over all of memory: facts, notes, what was said and what was summarised.

1. What is proposed, by the index or by the texts themselves, is read again from where it stands.
   What can't be shown is no hit, and takes no place of one.
2. A search fails only when it is asked for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from memnb.core.bodies import NO_CELL, Cell
from memnb.core.passages import SOURCE_NAMES, SOURCES, Passage, Ranked, Source
from memnb.core.query import understand
from memnb.core.snippets import SNIPPET_CHARACTERS, Snippet, Span, snippet
from memnb.errors import InputError
from memnb.memory import noting
from memnb.memory.indexing import Progress
from memnb.memory.matching import How, Matcher, matcher
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.proposing import Patience, Proposals, by_text, by_words
from memnb.memory.rereading import Rereading, Stands

__all__ = ["MAX_HITS", "Found", "Hit", "Search", "search", "sources_of"]

MAX_HITS: Final = 50

_BATCH: Final = 32


def sources_of(names: Sequence[str]) -> tuple[Source, ...]:
    """The sources of these names; raises InputError for an unknown one, or none at all."""
    if isinstance(names, str) or not names or not set(names) <= SOURCE_NAMES.keys():
        raise InputError(f"where to look is one or more of {', '.join(SOURCE_NAMES)}.")
    return tuple(SOURCE_NAMES[name] for name in dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, and where.

    Args:
        text: words, a phrase or a regular expression.
        how: which of them it is.
        sources: where to look.
        limit: the most hits, up to 50.
        since, until: only what was recorded from a UTC stamp on, and before one.
        skips: what isn't looked for, such as the message that asks.
        width: how much of a long text a hit shows, in characters.
        in_context: whether to give also what holds none of the words itself, but answers a message
            that does.
    """

    text: str
    how: How = "words"
    sources: tuple[Source, ...] = SOURCES
    limit: int = MAX_HITS
    since: str | None = None
    until: str | None = None
    skips: Callable[[Passage], bool] = lambda _: False
    width: int = SNIPPET_CHARACTERS
    in_context: bool = False

    @property
    def n_wanted(self) -> int:
        """How many hits there are at most."""
        return max(1, min(self.limit, MAX_HITS))

    def asks_for(self, passage: Passage) -> bool:
        """Whether a passage is of a source and time that is asked for."""
        return (
            passage.source in self.sources
            and (self.since is None or passage.at >= self.since)
            and (self.until is None or passage.at < self.until)
            and not self.skips(passage)
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that holds what was looked for, as it stands now.

    Args:
        passage: what and where; of a note its place is the line of the first match.
        status: what holds of it.
        snippet: the piece around what was looked for, which is marked.
        parts: what speaks for it, and how much; nothing when it wasn't ranked.
        cell: the cell that it was said in.
    """

    passage: Passage
    status: str
    snippet: Snippet
    parts: Mapping[str, float] = field(default_factory=dict)
    cell: Cell = NO_CELL

    @property
    def score(self) -> float:
        """How well it fits; only comparable within one search."""
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, how they were looked for, and a line for what a person should know of that."""

    hits: tuple[Hit, ...]
    how: How
    notice: str = ""


def search(
    memory: ProjectMemory,
    asked: Search,
    *,
    update_seconds: float | None = None,
    progress: Progress | None = None,
    seconds: Callable[[], float] = time.monotonic,
) -> Found:
    """Where memory holds what is asked for; words ranked, the best first.

    Args:
        memory: the project's.
        asked: what is looked for.
        update_seconds: how long the index may be brought up to date; None for as long as it takes.
        progress: told how far that is.
        seconds: a monotonic clock.

    Raises:
        InputError: there is nothing to look for, or it is no regular expression.
    """
    patience = Patience(seconds, update_seconds=update_seconds, progress=progress)
    looks_for = matcher(asked.text, asked.how, is_over=patience.is_over)
    query = understand(asked.text, memory.stores.now())
    if asked.how == "words" and not query:  # it is all signs: they are looked for as they are
        asked = replace(asked, how="literal")
        looks_for = matcher(asked.text, asked.how)
    if asked.how == "words":
        is_of_a_time = asked.since is not None or asked.until is not None
        proposals = by_words(
            memory, query, patience, sources=asked.sources, is_of_a_time=is_of_a_time
        )
    else:
        proposals = by_text(memory, looks_for, patience, sources=asked.sources)
    hits = _hits(memory, asked, proposals)
    # What is found where it was enough isn't worth a word.
    notices = proposals.notices if asked.how == "words" or len(hits) < asked.n_wanted else ()
    return Found(hits, asked.how, "; ".join(notices))


def _hits(memory: ProjectMemory, asked: Search, proposals: Proposals) -> tuple[Hit, ...]:
    """The first of them that are asked for and can be shown, read again."""
    wanted = (one for one in proposals.ranked if asked.asks_for(one.passage))
    marks, rereading = proposals.marks, Rereading(memory)
    hits: list[Hit] = []
    while len(hits) < asked.n_wanted and (batch := list(islice(wanted, _BATCH))):
        there = rereading.now([one.passage for one in batch])
        hits += [
            _hit(stands, one, marks, asked.width)
            for one, stands in zip(batch, there, strict=True)
            if stands is not None and (asked.in_context or _fits(one, marks))
        ]
    return tuple(hits[: asked.n_wanted])


def _fits(ranked: Ranked, marks: Matcher) -> bool:
    """Whether it holds itself what is looked for, and not only what it answers."""
    return not ranked.parts or "words" in ranked.parts or marks.holds(ranked.passage.text)


def _hit(stands: Stands, ranked: Ranked, marks: Matcher, width: int) -> Hit:
    passage = stands.passage
    spans = _spans(passage, marks)
    piece = snippet(passage.text, spans, width=width)
    if passage.source == "note" and spans:
        line = passage.place + passage.text.count("\n", 0, spans[0][0])
        passage = replace(passage, place=line)
    return Hit(passage, stands.status, piece, ranked.parts, stands.cell)


def _spans(passage: Passage, marks: Matcher) -> list[Span]:
    """Where what was looked for stands; in a note perhaps between Markdown's escapes."""
    spans = marks.spans(passage.text)
    if spans or passage.source != "note":
        return spans
    return noting.in_escaped(passage.text, marks.spans(noting.unescaped(passage.text)))
