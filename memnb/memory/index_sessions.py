"""The steps that take a session into a search index, and out of it what can't be seen any more.

1. It is followed from the record and the marks up to which it was taken in. When it was cut or
   swapped it is read anew; when something of it is hidden or shown again, only that changes.
2. What can't be trusted as a whole isn't taken in: a session that isn't as it was noted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from memnb.core.ids import RECORDS
from memnb.core.passages import Passage
from memnb.core.records import Record
from memnb.core.visibility import View
from memnb.errors import MemnbError
from memnb.memory import passages, use
from memnb.memory.history import History
from memnb.memory.index_steps import GENERATION, Step
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import index_positions, passage_table
from memnb.storage.index_positions import SessionPosition
from memnb.storage.search_index import Connection, SearchIndex

__all__ = ["drop_session_step", "recheck_step", "session_steps"]

_BATCH: Final = 256
_COUNTED: Final = frozenset({"assistant", "tool", "turn_end"})


def session_steps(
    memory: ProjectMemory,
    index: SearchIndex,
    session_id: str,
    stamp: str,
    known: SessionPosition,
    generation: int,
) -> Iterator[Step]:
    """Takes in what was said in a session since, and takes out what can't be seen any more.

    Args:
        memory: whose.
        index: what is brought up to date.
        session_id: which session.
        stamp: of its file, taken before.
        known: how far it was taken in.
        generation: up to which forget the index is clean.
    """
    try:
        history = memory.histories.whole(session_id)
        seen = memory.histories.view(history)
    except MemnbError:
        if known.seq:
            yield Step(known.seq, _drop_session(session_id))
        return
    session = _Session(memory, history, seen, generation)
    is_same = session.goes_on_from(known)
    at = known
    if is_same and session.marks != known.marks:
        at = replace(known, stamp="", marks=session.marks)
        places = index.read(lambda c: passage_table.places(c, "message", session_id))
        yield session.recheck(places, known, at)
    is_new = not is_same
    for seqs in session.chunks(at.seq if is_same else 0):
        position = session.position("", seqs[-1], 0 if is_new else at.summary)
        yield session.take_in(seqs, at, position, is_new=is_new)
        at, is_new = position, False
    yield session.end(stamp, known if is_same else SessionPosition(), at, is_new=is_new)


def recheck_step(
    memory: ProjectMemory,
    index: SearchIndex,
    session_id: str,
    known: SessionPosition,
    generation: int,
) -> Step:
    """Takes out what can't be seen any more of what was taken in of a session, or all of it."""
    try:
        history = memory.histories.whole(session_id)
        session = _Session(memory, history, memory.histories.view(history), generation)
        if session.goes_on_from(known):
            places = index.read(lambda c: passage_table.places(c, "message", session_id))
            return session.recheck(places, known, replace(known, stamp="", marks=session.marks))
    except MemnbError:
        pass
    return drop_session_step(session_id)


def drop_session_step(session_id: str) -> Step:
    """Takes out all of a session."""
    return Step(1, _drop_session(session_id))


def _carried(history: History) -> set[str]:
    """What was in sight of a session's replies: ids of facts and of other sessions."""
    refs = (RECORDS.match(reference) for reference in history.entries.recalled)
    return {*history.entries.carriers, *(ref[1] for ref in refs if ref)}


def _drop_session(session_id: str) -> Callable[[Connection], bool]:
    def apply(connection: Connection) -> bool:
        passage_table.drop(connection, "message", session_id)
        passage_table.drop(connection, "summary", session_id)
        index_positions.drop_session(connection, session_id)
        return True

    return apply


class _Session:
    """One session, as it is and can be seen now."""

    def __init__(
        self, memory: ProjectMemory, history: History, seen: View, generation: int
    ) -> None:
        self._memory = memory
        self._history = history
        self._seen = seen
        self._generation = generation
        self.session_id = history.session_id
        self.last_seq = history.reader.last_seq
        self.marks = _digest(seen.marks)

    def goes_on_from(self, known: SessionPosition) -> bool:
        """Whether the records that were taken in are the ones that are there."""
        return 0 < known.seq <= self.last_seq and self._digest_at(known.seq) == known.digest

    def position(self, stamp: str, seq: int, summary: int) -> SessionPosition:
        return SessionPosition(stamp, seq, self._digest_at(seq), self.marks, summary)

    def chunks(self, after: int) -> Iterator[range]:
        """The records after one, some at a time; an exchange isn't taken apart."""
        asked = self._history.entries.asked
        start = after + 1
        while start <= self.last_seq:
            end = self.last_seq + 1
            if end - start > _BATCH:
                end = next((seq for seq in _from(asked, start + _BATCH)), end)
            yield range(start, end)
            start = end

    def take_in(
        self, seqs: range, before: SessionPosition, after: SessionPosition, *, is_new: bool
    ) -> Step:
        """Puts in what is said in these records, which follow what was taken in."""
        messages = [seq for seq in seqs if self._may_be_shown(seq)]
        counted = [seq for seq in seqs if self._history.entries.kind(seq).type in _COUNTED]
        records = self._history.reader.records(sorted({*messages, *counted}))
        found = list(self._passages(messages, self._text_before(seqs.start), records))
        uses = use.counted(record for seq in counted if (record := records.get(seq)) is not None)
        names = _carried(self._history)

        def apply(connection: Connection) -> bool:
            if not self._is_as_was(connection, before):
                return False
            if is_new:
                _drop_session(self.session_id)(connection)
            passage_table.put(connection, found)
            index_positions.put_uses(connection, self.session_id, uses)
            index_positions.put_carriers(connection, self.session_id, names)
            index_positions.put_session(connection, self.session_id, after)
            return True

        return Step(len(found), apply)

    def recheck(
        self, places: Sequence[int], before: SessionPosition, after: SessionPosition
    ) -> Step:
        """Takes out what can't be seen any more of what was taken in, puts in what can again.

        A message of which the one before has changed gets its context anew.
        """
        shown = [seq for seq in range(1, before.seq + 1) if self._may_be_shown(seq)]
        kept, new = sorted(set(places) & set(shown)), sorted(set(shown) - set(places))
        records = self._history.reader.records(new)
        new = [seq for seq in new if passages.said(records.get(seq))]
        now, was = _followers(sorted({*kept, *new})), _followers(sorted(places))
        changed = [seq for seq in now if now[seq] != was.get(seq, -1)]
        wanted = sorted({*changed, *(now[seq] for seq in changed if now[seq])})
        records = self._history.reader.records(wanted)
        texts = {seq: passages.said(records.get(seq)) for seq in wanted}
        found: list[Passage] = []
        for seq in changed:
            earlier = texts.get(now[seq])
            found += self._passages([seq], earlier[1] if earlier else "", records)
        gone = set(places) - set(shown)

        def apply(connection: Connection) -> bool:
            if not self._is_as_was(connection, before):
                return False
            passage_table.drop(connection, "message", self.session_id, gone)
            passage_table.put(connection, found)
            self._replace_summary(connection)
            index_positions.put_session(connection, self.session_id, after)
            return True

        return Step(len(gone) + len(found), apply)

    def end(self, stamp: str, known: SessionPosition, at: SessionPosition, *, is_new: bool) -> Step:
        """Notes that all was taken in, with the summary that holds now."""
        newest = next(self._history.entries.summaries, 0)
        position = self.position(stamp, self.last_seq, newest)
        is_summary_known = known.seq and newest == known.summary

        def apply(connection: Connection) -> bool:
            if not self._is_as_was(connection, at):
                return False
            if is_new:
                _drop_session(self.session_id)(connection)
            if not is_summary_known:
                self._replace_summary(connection)
            index_positions.put_session(connection, self.session_id, position)
            return True

        return Step(0, apply)

    def _replace_summary(self, connection: Connection) -> None:
        passage_table.drop(connection, "summary", self.session_id)
        summary = self._memory.summaries.current(self._history, self._seen)
        if summary is None or self._history.entries.kind(summary.seq).type != "compact":
            return  # a seed is found where it comes from
        record = self._history.reader.records([summary.seq]).get(summary.seq)
        if record is not None and summary.whole.strip():
            passage = passages.of_summary(self.session_id, summary, record.head.at)
            passage_table.put(connection, [passage])

    def _passages(
        self, seqs: Iterable[int], before: str, records: Mapping[int, Record | None]
    ) -> Iterator[Passage]:
        for seq in seqs:
            record = records.get(seq)
            found = passages.said(record)
            if record is None or found is None:
                continue
            speaker, text = found
            context = before[: passage_table.CONTEXT_CHARACTERS]
            yield Passage("message", self.session_id, seq, text, record.head.at, speaker, context)
            before = text

    def _text_before(self, seq: int) -> str:
        """What was said last before a record."""
        for earlier in range(seq - 1, 0, -1):
            if self._may_be_shown(earlier):
                found = passages.said(self._history.reader.records([earlier]).get(earlier))
                if found is not None:
                    return found[1]
        return ""

    def _may_be_shown(self, seq: int) -> bool:
        return passages.is_message(self._history, seq) and self._seen.shows(seq, "working")

    def _digest_at(self, seq: int) -> str:
        return self._history.reader.digest_at(seq) or ""

    def _is_as_was(self, connection: Connection, before: SessionPosition) -> bool:
        """Whether nobody else took something of it in or out, or cleaned the index."""
        return (
            index_positions.state(connection, GENERATION) == self._generation
            and index_positions.session(connection, self.session_id) == before
        )


def _followers(places: Sequence[int]) -> dict[int, int]:
    """For each place the one before it; 0 for the first."""
    return dict(zip(places, (0, *places), strict=False))


def _from(asked: Sequence[int], start: int) -> Sequence[int]:
    return asked[bisect_left(asked, start) :]


def _digest(marks: object) -> str:
    return sha256(repr(_in_order(marks)).encode()).hexdigest()


def _in_order(marks: object) -> object:
    """The same in every process: a set has no order."""
    if isinstance(marks, (set, frozenset)):
        return sorted(map(_in_order, marks), key=repr)
    return [_in_order(one) for one in marks] if isinstance(marks, tuple) else marks
