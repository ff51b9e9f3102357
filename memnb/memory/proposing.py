"""What may hold what is looked for: passages that the index proposes, or the texts themselves.

1. Words are looked up in the index, and ranked.
2. A phrase or an expression is compared with each text: of facts and notes where they stand, of
   what was said as the index has it, which is much faster. The newest come first, for a bounded
   time.
3. Where the index can't be used, the texts themselves serve in both, and a notice says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Final

from memnb.core.passages import SOURCES, Passage, Ranked, Source
from memnb.core.query import Query
from memnb.core.ranking import Candidates, rank
from memnb.core.word_forms import forms_of
from memnb.errors import IndexUnusable
from memnb.memory import indexing, noting
from memnb.memory.indexing import Progress
from memnb.memory.matching import Matcher, Words
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.unindexed import every_passage
from memnb.storage import passage_scan, passage_table
from memnb.storage.search_index import Connection, SearchIndex

__all__ = ["Patience", "Proposals", "by_text", "by_words"]

SECONDS: Final = 3.0
_INDEX_SECONDS: Final = 1.5
"""How long texts are compared, and those in the index: less than one may read of it."""

MADE_BY_OTHERS: Final = "it isn't as memnb made it; `%memory doctor --reindex` makes it anew."

_CANDIDATES: Final = 200
_MANY_CANDIDATES: Final = 1000
"""Of each source, for a search of all times and for one of a stretch of time."""

_MOST_UNINDEXED: Final = 20_000
_MOST_SAID: Final = 400
"""So many matches in what was said are enough, although some can't be shown."""

_KEPT: Final = frozenset({"fact", "note"})


class Patience:
    """How long who asks can wait: a few seconds for texts to be compared, and for the index."""

    def __init__(
        self,
        seconds: Callable[[], float],
        *,
        update_seconds: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Wait from now on.

        Args:
            seconds: a clock that only goes forward.
            update_seconds: how long the index may be brought up to date; None for as long as it
                takes.
            progress: told how far that is.
        """
        self._seconds = seconds
        self._ends = seconds() + SECONDS
        self._update_seconds = update_seconds
        self._progress = progress

    def is_over(self) -> bool:
        """Whether comparing texts has taken its time."""
        return self._seconds() > self._ends

    def within(self, seconds: float) -> Callable[[], bool]:
        """Whether so many seconds from now, or all there were, are over."""
        ends = min(self._ends, self._seconds() + seconds)
        return lambda: self._seconds() > ends

    def update(self, memory: ProjectMemory, index: SearchIndex) -> bool:
        """Bring the index up to date, which takes nothing of the time for texts; whether all is in.

        Raises:
            IndexUnusable: it can't be.
        """
        began = self._seconds()
        try:
            return indexing.update(
                memory, index, budget_seconds=self._update_seconds, progress=self._progress
            ).is_complete
        finally:
            self._ends += self._seconds() - began


@dataclass(slots=True)
class Proposals:
    """Passages to look at, in this order, and what to mark in them.

    `notices` say what a person should know of how they were found, once they were gone through.
    """

    ranked: Iterable[Ranked]
    marks: Matcher
    notices: list[str] = field(default_factory=list)


def by_words(
    memory: ProjectMemory,
    query: Query,
    patience: Patience,
    *,
    sources: tuple[Source, ...] = SOURCES,
    is_of_a_time: bool = False,
) -> Proposals:
    """The passages that fit these words, best first.

    Args:
        memory: the project's.
        query: what is looked for.
        patience: of who asks.
        sources: where to look.
        is_of_a_time: whether many of them may be of another time than is asked for.
    """
    notices: list[str] = []
    limit = _MANY_CANDIDATES if is_of_a_time else _CANDIDATES

    def ranked(found: Candidates) -> Proposals:
        known = {*query.words, *found.forms.values()}
        marks = Words(known.union(*map(forms_of, known)))
        return Proposals(rank(query, found, now=memory.stores.now()), marks, notices)

    meant = memory.meaning.asked(query.text)

    def propose(connection: Connection) -> Candidates:
        found = passage_table.candidates(connection, query, sources=sources, limit=limit)
        return found if meant is None else meant.compared(connection, found)

    try:
        index = _updated(memory, patience, notices)
        return ranked(Candidates() if index is None else indexing.read(memory, index, propose))
    except IndexUnusable as error:
        problem = str(error)
    except Exception:  # whatever it holds that can't be, such as a time that is none
        problem = MADE_BY_OTHERS
    texts = _until(patience.is_over, every_passage(memory, sources))
    among = passage_scan.candidates_among(islice(texts, _MOST_UNINDEXED), query, limit=limit)
    notices.append(f"searched without the index, the newest of each source: {problem}")
    return ranked(among)


def by_text(
    memory: ProjectMemory,
    looks_for: Matcher,
    patience: Patience,
    *,
    sources: tuple[Source, ...] = SOURCES,
) -> Proposals:
    """The passages whose text holds what is looked for: facts, notes, then what was said."""
    proposals = Proposals((), looks_for)
    proposals.ranked = _holding(memory, looks_for, patience, sources, proposals.notices)
    return proposals


def _holding(
    memory: ProjectMemory,
    looks_for: Matcher,
    patience: Patience,
    sources: tuple[Source, ...],
    notices: list[str],
) -> Iterator[Ranked]:
    kept = tuple(source for source in sources if source in _KEPT)
    said = tuple(source for source in sources if source not in _KEPT)
    texts = _until(patience.is_over, every_passage(memory, kept))
    yield from (Ranked(passage) for passage in texts if _holds(looks_for, passage))
    try:
        index = _updated(memory, patience, notices) if said else None
        is_over = patience.within(_INDEX_SECONDS)

        def compare(connection: Connection) -> list[Passage]:
            texts = _until(is_over, passage_scan.newest_first(connection, said))
            matches = (passage for passage in texts if looks_for.holds(passage.text))
            return list(islice(matches, _MOST_SAID))

        found = [] if index is None else indexing.read(memory, index, compare)
    except Exception:  # it can't be used, or holds what isn't ours
        is_over = patience.is_over
        texts = _until(is_over, every_passage(memory, said))
        yield from (Ranked(passage) for passage in texts if looks_for.holds(passage.text))
    else:
        yield from map(Ranked, found)
    if is_over():
        notices.append(
            "a few seconds weren't enough to look through all, of each source the newest first;"
            " --in narrows it"
        )


def _updated(memory: ProjectMemory, patience: Patience, notices: list[str]) -> SearchIndex | None:
    """The index, up to date as far as there was time for that; None when nothing can be in it.

    Raises:
        IndexUnusable: there is none.
    """
    index = memory.index
    if index is None:
        raise IndexUnusable("this memory was opened without one.")
    try:
        if not patience.update(memory, index):
            notices.append("the search index isn't complete yet; the next search goes on with it")
    except IndexUnusable as error:
        if not index.exists:
            raise
        notices.append(f"searched in the index as it is: {error}")
    return index if index.exists else None


def _holds(looks_for: Matcher, passage: Passage) -> bool:
    """Whether a passage holds it as it stands; a note's also without Markdown's escapes."""
    return looks_for.holds(passage.text) or (
        passage.source == "note" and looks_for.holds(noting.unescaped(passage.text))
    )


def _until(is_over: Callable[[], bool], passages: Iterable[Passage]) -> Iterator[Passage]:
    return takewhile(lambda _: not is_over(), passages)
