"""The steps that bring a search index up to date, each good only for the state it was made from.

What a step puts in was read before; it is refused when somebody else was faster, or something was
forgotten since. So no kernel puts back what another one has taken out. Those of sessions are in
`index_sessions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from memnb.core import ids
from memnb.core.passages import Passage
from memnb.errors import MemnbError
from memnb.memory import passages
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import index_positions, passage_table
from memnb.storage.index_positions import FactPosition
from memnb.storage.search_index import Connection, SearchIndex

__all__ = ["GENERATION", "Step", "fact_steps", "note_steps"]

GENERATION: Final = "generation"
"""Under this key stands up to which forget the index was cleaned."""
_FACTS: Final = "facts"
_SINCE: Final = "facts_since"
"""Under these, which state of the facts was taken in, and when the newest of it was recorded."""

_BATCH: Final = 256
_UNSETTLED: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Step:
    """A change of an index; `apply` gives False, and changes nothing, when it comes too late."""

    n_passages: int
    apply: Callable[[Connection], bool]


# --- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Followed:
    """Up to where the facts were taken in, and how many revisions they had then."""

    mark: bytes
    since: str
    n_revisions: int


def fact_steps(memory: ProjectMemory, index: SearchIndex) -> Iterator[Step]:
    """Takes in the facts that changed, or of which another revision decides by now."""
    facts, now = memory.stores.facts, memory.stores.now()
    if not facts.exists:
        return
    generation, followed, due = index.read(
        lambda connection: (
            index_positions.state(connection, GENERATION),
            _followed(connection),
            index_positions.facts_due(connection, now),
        )
    )
    with facts.snapshot():
        mark, last = facts.changes.mark(), facts.changes.last_recorded()
        if mark and mark == followed.mark and not due:
            return
        changed, gone = _changed_facts(memory, index, followed, due, now)
    is_as_was = _is_followed(generation, followed)
    for batch in _batches(sorted(changed)):
        yield Step(len(batch), _put_facts(memory, batch, now, is_as_was))
    yield Step(len(gone), _end_facts(gone, mark, last, is_as_was))


def _changed_facts(
    memory: ProjectMemory, index: SearchIndex, followed: _Followed, due: Collection[str], now: str
) -> tuple[set[str], set[str]]:
    """The facts to take in anew, and those to take out."""
    changes = memory.stores.facts.changes
    if followed.since:
        changed = changes.recorded_since(followed.since) | set(due)
        if len(changed) <= _BATCH:
            found = {one.fact_id: one for one in changes.current(sorted(changed), now)}
            known = index.read(lambda connection: _known(connection, changed))
            n_before = sum(known[fact_id].newest for fact_id in changed & known.keys())
            n_after = sum(one.newest for one in found.values())
            if followed.n_revisions - n_before + n_after == changes.n_revisions():
                return set(found), changed - found.keys()
    newest, everything = changes.newest(), index.read(index_positions.facts)
    changed = {
        fact_id
        for fact_id, number in newest.items()
        if fact_id not in everything or everything[fact_id].newest != number
    }
    return changed | (set(due) & newest.keys()), everything.keys() - newest.keys()


def _put_facts(
    memory: ProjectMemory, batch: Sequence[str], now: str, is_as_was: Callable[[Connection], bool]
) -> Callable[[Connection], bool]:
    texts = memory.stores.facts.changes.current(batch, now)

    def apply(connection: Connection) -> bool:
        if not is_as_was(connection):
            return False
        for one in texts:
            passage_table.drop(connection, "fact", one.fact_id)
            position = FactPosition(one.revision, one.newest, one.due)
            index_positions.put_fact(connection, one.fact_id, position)
        passage_table.put(connection, map(passages.of_fact, texts))
        return True

    return apply


def _end_facts(
    gone: Collection[str], mark: bytes, last: str, is_as_was: Callable[[Connection], bool]
) -> Callable[[Connection], bool]:
    def apply(connection: Connection) -> bool:
        if not is_as_was(connection):
            return False
        for fact_id in gone:
            passage_table.drop(connection, "fact", fact_id)
            index_positions.drop_fact(connection, fact_id)
        index_positions.set_state(connection, _FACTS, mark)
        index_positions.set_state(connection, _SINCE, last)
        return True

    return apply


def _followed(connection: Connection) -> _Followed:
    return _Followed(
        index_positions.state(connection, _FACTS) or b"",
        index_positions.state(connection, _SINCE) or "",
        index_positions.n_revisions(connection),
    )


def _is_followed(generation: int, followed: _Followed) -> Callable[[Connection], bool]:
    """Whether nobody else took in facts, or cleaned the index, since it was read."""
    return lambda connection: (
        index_positions.state(connection, GENERATION) == generation
        and (index_positions.state(connection, _FACTS) or b"") == followed.mark
    )


def _known(connection: Connection, fact_ids: Iterable[str]) -> dict[str, FactPosition]:
    found = ((one, index_positions.fact(connection, one)) for one in fact_ids)
    return {fact_id: position for fact_id, position in found if position is not None}


# --- notes ---------------------------------------------------------------------------------------


def note_steps(memory: ProjectMemory, index: SearchIndex) -> Iterator[Step]:
    """Takes in the notes that were written or edited, by whatever editor, and drops those gone."""
    notes = memory.stores.notes
    known = index.read(index_positions.notes)
    files = {file.name.relative: file for file in notes.names()}
    settled = ids.stamp(memory.stores.clock() - _UNSETTLED)
    for name in known.keys() - files.keys():
        yield Step(1, _put_note(name, known.get(name), None, ()))
    for name, file in files.items():
        stamp = f"{file.n_bytes}-{file.modified_at}"
        stamp_known, digest_known = known.get(name, ("", ""))
        if stamp == stamp_known:
            continue
        try:
            note = notes.read(file.name)
        except MemnbError:  # it can't be shown either
            yield Step(1, _put_note(name, known.get(name), None, ()))
            continue
        # One that was changed just now may change again within the same tick of the clock.
        is_settled = file.modified_at < settled
        digest = note.version.rpartition("-")[2]
        position = (stamp if is_settled else "", digest)
        if digest == digest_known:
            if position != known[name]:
                yield Step(0, _put_note(name, known[name], position, None))
            continue
        found = tuple(passages.of_note(note, file.modified_at))
        yield Step(len(found), _put_note(name, known.get(name), position, found))


def _put_note(
    name: str,
    known: tuple[str, str] | None,
    position: tuple[str, str] | None,
    found: Sequence[Passage] | None,
) -> Callable[[Connection], bool]:
    def apply(connection: Connection) -> bool:
        if index_positions.note(connection, name) != known:
            return False
        if found is not None:
            passage_table.drop(connection, "note", name)
            passage_table.put(connection, found)
        if position is None:
            index_positions.drop_note(connection, name)
        else:
            index_positions.put_note(connection, name, *position)
        return True

    return apply


def _batches(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
