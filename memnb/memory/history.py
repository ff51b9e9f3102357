"""Sessions as they can be seen now: records, with what undo, clear and forget make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memnb.core import visibility
from memnb.core.bodies import read_assistant, read_target, read_tool, read_user
from memnb.core.evidence import SessionEvidence
from memnb.core.records import Record
from memnb.core.visibility import Entry, View
from memnb.errors import StoreDamaged, StoreError, UnknownId
from memnb.storage.fact_store import FactStore
from memnb.storage.session_reader import SessionReader
from memnb.storage.session_store import SessionStore

__all__ = ["Histories", "History"]

_BODY_MATTERS = frozenset({"user", "assistant", "tool", "undo", "redo"})
_BATCH = 512


class History:
    """One session: its reader, and an entry for each of its records."""

    def __init__(self, reader: SessionReader) -> None:
        """Follow `reader`."""
        self.reader = reader
        self.entries: list[Entry] = []
        self._first: str | None = None

    @property
    def session_id(self) -> str:
        """Which session it is."""
        return self.reader.session_id

    def follow(self) -> None:
        """Take in what the reader has seen since; all of it when the file was replaced."""
        first = self.reader.digest_at(1)
        if first != self._first or self.reader.last_seq < len(self.entries):
            self.entries.clear()
            self._first = first
        while len(self.entries) < self.reader.last_seq:
            start = len(self.entries) + 1
            seqs = range(start, min(start + _BATCH, self.reader.last_seq + 1))
            heads = {seq: self.reader.heads[seq - 1] for seq in seqs}
            matter = [seq for seq, head in heads.items() if head and head.type in _BODY_MATTERS]
            bodies = self.reader.records(matter)
            self.entries.extend(_entry(seq, bodies.get(seq), self.reader) for seq in seqs)

    def view(self, exclusions: Mapping[int, int], forgotten: Mapping[str, int]) -> View:
        """What of the session can be seen."""
        return visibility.view(self.entries, exclusions, forgotten)


class Histories:
    """The sessions of a project, kept up to date."""

    def __init__(self, sessions: SessionStore, facts: FactStore) -> None:
        """Read `sessions`, with the exclusions that `facts` holds."""
        self._sessions = sessions
        self._facts = facts
        self._known: dict[str, History] = {}

    def of(self, session_id: str) -> History:
        """The history of one session; raises UnknownId when there is none."""
        reader = self._sessions.reader(session_id)
        history = self._known.get(session_id)
        if history is None or history.reader is not reader:
            history = self._known[session_id] = History(reader)
        history.follow()
        return history

    def view(self, history: History) -> View:
        """What of a session can be seen at this moment."""
        forgotten = {key: value.generation for key, value in self._facts.forgotten().items()}
        return history.view(self._facts.exclusions(history.session_id), forgotten)

    def evidence(self, session_id: str, seqs: Sequence[int]) -> SessionEvidence | None:
        """What a session offers as evidence at these records; None when it is gone."""
        try:
            history = self.of(session_id)
        except (UnknownId, StoreError):
            # What can't be read is no evidence, and must not stop a turn.
            return None
        noted = self._facts.head(session_id)
        is_whole = noted is None or history.reader.digest_at(noted.seq) == noted.digest
        return SessionEvidence(
            store_id=self._sessions.store_id,
            records=history.reader.records(seqs),
            seen=self.view(history),
            is_whole=is_whole,
        )


def _entry(seq: int, record: Record | None, reader: SessionReader) -> Entry:
    head = reader.heads[seq - 1]
    if head is None:
        return Entry(seq, "damaged", 0, 0)
    bare = Entry(seq, head.type, head.turn, head.generation)
    if record is None:
        return bare
    try:
        return _with_body(bare, record)
    except StoreDamaged:
        return bare


def _with_body(bare: Entry, record: Record) -> Entry:
    place = (bare.seq, bare.type, bare.turn, bare.generation)
    if bare.type == "user":
        user = read_user(record)
        return Entry(*place, asks=user.asks, sensitive=user.sensitive)
    if bare.type == "assistant":
        return Entry(*place, carried=_ids(read_assistant(record).carried))
    if bare.type == "tool":
        return Entry(*place, carried=_ids(read_tool(record).carried))
    return Entry(*place, target=read_target(record))


def _ids(references: Sequence[str]) -> frozenset[str]:
    return frozenset(reference.partition("@")[0] for reference in references)
