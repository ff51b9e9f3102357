"""Bringing the search index up to date with facts, notes and sessions, and keeping it clean.

1. It is brought up to date in steps, a few at a time: a search waits for as many as it has time
   for, and other kernels get their turn in between.
2. Nothing is read of an index that is older than the store: what was forgotten since is taken out
   first, whoever forgot it, and whatever became of that kernel.
3. What can't be done is said with IndexUnusable, and searching goes on without the index.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar

from memnb.errors import IndexUnusable, MemnbError
from memnb.memory import index_cleaning
from memnb.memory.index_sessions import drop_session_step, session_steps
from memnb.memory.index_steps import Step, fact_steps, note_steps
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import index_positions
from memnb.storage.index_positions import SessionPosition
from memnb.storage.search_index import READ_SECONDS, Connection, SearchIndex

__all__ = [
    "Progress",
    "Updated",
    "clean",
    "follow",
    "read",
    "rebuild",
    "update",
]

T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Is told how many sessions are done, of how many that there is something to do for."""

_GROUP: Final = 512
"""So many passages are put in with one commit; others can write in between."""
_GROUP_SECONDS: Final = 0.2
_FOLLOW_SECONDS: Final = 0.25
_MORE_TRIES: Final = 2
"""So often it is begun again when somebody else was faster with a step, as after each cell."""

_SCRUB_BYTES_A_SECOND: Final = 50_000_000
"""What a second of scrubbing gets through, on a slow disk."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What bringing an index up to date came to.

    Args:
        is_complete: whether everything is in it now.
        n_put: how many passages were put in or taken out.
    """

    is_complete: bool
    n_put: int = 0


def update(
    memory: ProjectMemory,
    index: SearchIndex,
    *,
    budget_seconds: float | None = None,
    progress: Progress | None = None,
    seconds: Callable[[], float] = time.monotonic,
) -> Updated:
    """Take in what is new, and take out what is gone, for as long as there is time.

    Args:
        memory: what it is made of.
        index: what is brought up to date; made when there is something to put in.
        budget_seconds: when it is spent the rest is left for later; None for no limit.
        progress: is told how far it is.
        seconds: a clock that only goes forward.

    Raises:
        IndexUnusable: it can't be read or written now.
    """
    if not index.exists and not _has_content(memory):
        return Updated(is_complete=True)
    deadline = None if budget_seconds is None else seconds() + budget_seconds
    run = _Run(memory, index, deadline, progress, seconds)
    with _unusable():
        try:
            return run.update()
        except IndexUnusable:
            if not index.is_broken:
                raise
            return run.update()  # it is empty now


def clean(memory: ProjectMemory, index: SearchIndex) -> bool:
    """Take out what was forgotten or barred since it was cleaned last, and wipe its bytes.

    Returns:
        Whether the bytes are gone; False while another kernel reads.

    Raises:
        IndexUnusable: it can't be read or written now.
    """
    if not index.exists:
        return True
    with _unusable():
        index_cleaning.clean(memory, index)
        return index_cleaning.scrub(index)


def rebuild(
    memory: ProjectMemory, index: SearchIndex, *, progress: Progress | None = None
) -> Updated:
    """Make the index anew.

    Raises:
        IndexUnusable: it can't be written now.
    """
    if not _has_content(memory) and not index.exists:
        return Updated(is_complete=True)
    with _unusable():
        index.empty()
    return update(memory, index, progress=progress)


def follow(memory: ProjectMemory) -> None:
    """Have the index show at once what this kernel just changed, as far as that can be done.

    It never fails: what is left to do is done before the index is used the next time.
    """
    index = memory.index
    if index is None or not index.exists:
        return
    deadline = time.monotonic() + _FOLLOW_SECONDS
    with contextlib.suppress(MemnbError):
        try:
            _Run(memory, index, deadline, None, time.monotonic).follow()
        except IndexUnusable:
            if index.is_broken:  # nothing can be taken out of it, so it can't stay
                index.empty()


def read(
    memory: ProjectMemory,
    index: SearchIndex,
    work: Callable[[Connection], T],
    *,
    seconds: float = READ_SECONDS,
) -> T:
    """What `work` reads of the index, once nothing is in it that was forgotten.

    Raises:
        IndexUnusable: it can't be read, or cleaned, now, or that takes longer than `seconds`.
    """
    with _unusable():
        generation = index_cleaning.clean(memory, index)

    def checked(connection: Connection) -> T:
        if (index_cleaning.cleaned_at(connection) or 0) < generation:  # it was swapped just now
            raise IndexUnusable("the search index is being cleaned.")
        return work(connection)

    return index.read(checked, seconds=seconds)


class _Run:
    """One run of bringing an index up to date."""

    def __init__(
        self,
        memory: ProjectMemory,
        index: SearchIndex,
        deadline: float | None,
        progress: Progress | None,
        seconds: Callable[[], float],
    ) -> None:
        self._memory = memory
        self._index = index
        self._deadline = deadline
        self._progress = progress
        self._seconds = seconds
        self._n_put = 0

    def update(self) -> Updated:
        index = self._index
        index.make()
        is_complete = self._take_all()
        for _ in range(_MORE_TRIES):
            if is_complete or not self._has_time():
                break
            is_complete = self._take_all()  # somebody else put in, or took out, some of it
        if is_complete and self._has_time(index.n_bytes / _SCRUB_BYTES_A_SECOND):
            index_cleaning.scrub(index)
        return Updated(is_complete, self._n_put)

    def follow(self) -> None:
        """Take in what this kernel may just have changed, whatever else there is to do."""
        memory, index = self._memory, self._index
        generation = index_cleaning.clean(memory, index)
        index_cleaning.scrub(index)
        if not self._take(fact_steps(memory, index)):
            return
        session_id = memory.session.session_id
        if session_id is not None:
            stamp = memory.stores.sessions.stamp(session_id)
            known = index.read(lambda c: index_positions.session(c, session_id))
            if stamp != known.stamp:
                steps = session_steps(memory, index, session_id, stamp, known, generation)
                self._take(steps)

    def _take_all(self) -> bool:
        memory, index = self._memory, self._index
        generation = index_cleaning.clean(memory, index)
        steps = chain(fact_steps(memory, index), note_steps(memory, index))
        return self._take(steps) and self._take(self._of_sessions(generation))

    def _of_sessions(self, generation: int) -> Iterator[Step]:
        """The steps of the sessions that changed, newest first: it is more likely looked for."""
        memory, index = self._memory, self._index
        known = index.read(index_positions.sessions)
        stamps = memory.stores.sessions.stamps()
        for session_id in known.keys() - stamps.keys():
            yield drop_session_step(session_id)
        changed = [
            session_id
            for session_id, stamp in stamps.items()
            if session_id not in known or known[session_id].stamp != stamp
        ]
        for n_done, session_id in enumerate(sorted(changed, reverse=True)):
            if self._progress is not None:
                self._progress(n_done, len(changed))
            position = known.get(session_id, SessionPosition())
            stamp = stamps[session_id]
            yield from session_steps(memory, index, session_id, stamp, position, generation)
        if self._progress is not None and changed:
            self._progress(len(changed), len(changed))

    def _take(self, steps: Iterator[Step]) -> bool:
        """Take steps, some with each commit; whether all of them were taken."""
        group: list[Step] = []
        n_passages, began = 0, self._seconds()
        for step in steps:
            group.append(step)
            n_passages += step.n_passages
            if n_passages >= _GROUP or self._seconds() - began > _GROUP_SECONDS:
                if not self._commit(group) or not self._has_time():
                    return False
                group, n_passages, began = [], 0, self._seconds()
            elif not self._has_time():
                self._commit(group)
                return False
        return not group or self._commit(group)

    def _commit(self, group: Sequence[Step]) -> bool:
        self._n_put += sum(step.n_passages for step in group)
        return self._index.write(lambda connection: _applied(connection, group))

    def _has_time(self, for_seconds: float = 0.0) -> bool:
        return self._deadline is None or self._seconds() + for_seconds < self._deadline


def _applied(connection: Connection, group: Sequence[Step]) -> bool:
    applied = [step.apply(connection) for step in group]
    return all(applied)


def _has_content(memory: ProjectMemory) -> bool:
    stores = memory.stores
    return stores.facts.exists or bool(stores.sessions.ids()) or bool(stores.notes.names())


@contextlib.contextmanager
def _unusable() -> Iterator[None]:
    """What the stores can't give can't be in the index."""
    try:
        yield
    except IndexUnusable:
        raise
    except MemnbError as error:
        raise IndexUnusable(f"the search index can't be brought up to date: {error}") from None
