"""Taking out of a search index what was forgotten or barred since, and wiping its bytes.

An index knows up to which forget it is clean. What came after concerns the facts that were
forgotten, each session that something was barred of or that carried it, and whatever carried
something of those.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Final

from memnb.core.entries import ANY_FACT
from memnb.errors import IndexUnusable
from memnb.memory.index_sessions import recheck_step
from memnb.memory.index_steps import GENERATION, Step
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import index_positions, passage_table
from memnb.storage.index_positions import SCRUB, SessionPosition
from memnb.storage.search_index import Connection, SearchIndex

__all__ = ["clean", "cleaned_at", "is_scrub_pending", "scrub"]

_ATTEMPTS: Final = 5


def clean(memory: ProjectMemory, index: SearchIndex) -> int:
    """Take out what was forgotten since; gives the generation that the index is clean at."""
    for _ in range(_ATTEMPTS):
        # In this order: another kernel may forget something meanwhile, and clean up after it.
        cleaned = index.read(cleaned_at)
        generation = memory.generation()
        if cleaned == generation:
            return generation
        _clean_up(memory, index, cleaned, generation)
    raise IndexUnusable("other kernels change the search index faster than it can be cleaned.")


def _clean_up(
    memory: ProjectMemory, index: SearchIndex, cleaned: int | None, generation: int
) -> None:
    """Try to clean an index once."""
    if cleaned is not None and cleaned > generation:  # the store is another one now
        index.empty()
        cleaned = None
    if cleaned is None:
        index.write(lambda connection: _begin_at(connection, generation))
        return
    facts = memory.stores.facts
    with facts.snapshot():
        generation = facts.generation()
        forgotten = facts.changes.forgotten_since(cleaned)
        barred = facts.changes.barred_since(cleaned)
        steps = _cleaning_steps(memory, index, forgotten, barred, cleaned)
        with contextlib.suppress(_TooLate):
            index.write(lambda c: _take_out(c, forgotten, steps, cleaned, generation))


def cleaned_at(connection: Connection) -> int | None:
    """Up to which forget the index is clean; None for one that is new."""
    found = index_positions.state(connection, GENERATION)
    return found if found is None or isinstance(found, int) else sys.maxsize  # it isn't ours


def _begin_at(connection: Connection, generation: int) -> None:
    if cleaned_at(connection) is None:
        index_positions.set_state(connection, GENERATION, generation)


def _cleaning_steps(
    memory: ProjectMemory,
    index: SearchIndex,
    forgotten: Sequence[str],
    barred: Sequence[str],
    cleaned: int,
) -> list[Step]:
    """Look anew at each session that something was barred of, or that carried what was forgotten.

    What was barred may have been carried into other sessions, and from there into others.
    """

    def reached(connection: Connection) -> dict[str, SessionPosition]:
        waiting = {*barred, *index_positions.carriers(connection, [*forgotten, ANY_FACT])}
        found: set[str] = set()
        while waiting:
            found |= waiting
            waiting = index_positions.carriers(connection, waiting) - found
        return {one: index_positions.session(connection, one) for one in found}

    known = index.read(reached)
    return [
        recheck_step(memory, index, session_id, position, cleaned)
        for session_id, position in known.items()
        if position.seq
    ]


def _take_out(
    connection: Connection,
    forgotten: Sequence[str],
    steps: Sequence[Step],
    cleaned: int,
    generation: int,
) -> None:
    if cleaned_at(connection) != cleaned:  # another kernel was faster
        return
    for fact_id in forgotten:
        passage_table.drop(connection, "fact", fact_id)
        index_positions.drop_fact(connection, fact_id)
    for step in steps:
        if not step.apply(connection):
            raise _TooLate
    index_positions.set_state(connection, GENERATION, generation)
    index_positions.set_state(connection, SCRUB, 1)


def scrub(index: SearchIndex) -> bool:
    """Wipe what was taken out since it was wiped last; whether that is done."""
    if not index.read(is_scrub_pending):
        return True
    if not index.scrub():
        return False
    index.write(lambda connection: index_positions.set_state(connection, SCRUB, None))
    return True


def is_scrub_pending(connection: Connection) -> bool:
    """Whether bytes of what was taken out may still be in the index's files."""
    return index_positions.state(connection, SCRUB) is not None


class _TooLate(Exception):
    """Another kernel changed the index meanwhile."""
