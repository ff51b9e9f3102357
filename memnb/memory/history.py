"""Sessions as they can be seen now: records, with what undo, clear and forget make of them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence

from memnb.core import visibility
from memnb.core.entries import Entries
from memnb.core.evidence import SessionEvidence
from memnb.core.lineage import Lineage
from memnb.core.visibility import Taken, View
from memnb.errors import StoreAltered, StoreError, UnknownId
from memnb.storage.fact_store import FactStore
from memnb.storage.session_reader import SessionReader
from memnb.storage.session_store import SessionStore

__all__ = ["Histories", "History"]


class History:
    """One session: its reader, and an entry for each of its records."""

    def __init__(self, reader: SessionReader) -> None:
        """The session that `reader` follows."""
        self.reader = reader

    @property
    def session_id(self) -> str:
        """Which session it is."""
        return self.reader.session_id

    @property
    def entries(self) -> Entries:
        """What visibility needs to know of each record."""
        return self.reader.entries

    def view(
        self,
        exclusions: Mapping[int, int],
        forgotten: Mapping[str, int],
        *,
        newest: int | None = None,
        taken: Taken | None = None,
    ) -> View:
        """What of the session can be seen; as `visibility.view`."""
        return visibility.view(self.entries, exclusions, forgotten, newest=newest, taken=taken)


class Histories:
    """The sessions of a project, kept up to date."""

    def __init__(self, sessions: SessionStore, facts: FactStore) -> None:
        """Read `sessions`, with the exclusions that `facts` holds."""
        self._sessions = sessions
        self._facts = facts
        self._known: dict[str, History] = {}
        self._lineage: Lineage | None = None

    def of(self, session_id: str) -> History:
        """The history of one session; raises UnknownId when there is none."""
        reader = self._sessions.reader(session_id)
        history = self._known.get(session_id)
        if history is None or history.reader is not reader:
            history = self._known[session_id] = History(reader)
        return history

    def whole(self, session_id: str) -> History:
        """The history of one session, for who shows it or goes on in it.

        Raises:
            UnknownId: there is none. StoreAltered: it isn't the one that was noted.
        """
        history = self.of(session_id)
        if not (self.is_as_noted(history) and self.ends_as_noted(history)):
            raise StoreAltered(
                f"session {session_id} was cut, changed or put back since it was noted, so nothing"
                " of it is shown; `%memory doctor` says more."
            )
        return history

    def is_as_noted(self, history: History) -> bool:
        """Whether a session reaches as far as was noted, by the same chain.

        It may go on from there, since a head is noted after what it is of. One that was never
        noted isn't of this memory, except in a store that didn't note all of them.
        """
        noted = self._facts.head(history.session_id)
        if noted is None:
            return not self._facts.notes_every_session()
        if noted.seq > history.reader.last_seq:  # another kernel goes on with it just now
            with contextlib.suppress(UnknownId, StoreError):
                history.reader.refresh()
        return not noted.seq or history.reader.digest_at(noted.seq) == noted.digest

    def ends_as_noted(self, history: History) -> bool:
        """Whether nothing follows the end of a session; that it was resumed is noted first."""
        noted = self._facts.head(history.session_id)
        if noted is None or not noted.n_bytes or noted.seq > history.reader.last_seq:
            return True
        was_ended = history.entries[noted.seq - 1].type == "session_end"
        return not was_ended or history.reader.last_seq == noted.seq

    def view(self, history: History) -> View:
        """What of a session can be seen at this moment."""
        exclusions, carriers = self._facts.exclusions(history.session_id), history.entries.carriers
        # Only what it carried matters of what was forgotten, which may be much.
        forgotten = self._facts.forgotten_of(list(carriers)) if carriers else {}
        needs_newest = bool(exclusions) or visibility.ANY_FACT in carriers
        newest = self._facts.newest_forget() if needs_newest else 0
        taken = self._lineage_now().taken if history.entries.recalled else None
        return history.view(exclusions, forgotten, newest=newest, taken=taken)

    def entries(self, session_id: str) -> Entries | None:
        """The entries of one session; None when it is gone or can't be read."""
        try:
            return self.of(session_id).entries
        except (UnknownId, StoreError):
            return None

    def evidence(
        self, session_id: str, seqs: Sequence[int], quoted: Sequence[int]
    ) -> SessionEvidence | None:
        """What a session offers as evidence at these records; None when it is gone.

        Args:
            session_id: which session.
            seqs: the records that are cited.
            quoted: those of them of which the text matters.
        """
        try:
            history = self.of(session_id)
        except (UnknownId, StoreError):
            # What can't be read is no evidence, and must not stop a turn.
            return None
        return SessionEvidence(
            store_id=self._sessions.store_id,
            pins=history.reader.pins(seqs),
            records=history.reader.records(quoted),
            seen=self.view(history),
            is_whole=self.is_as_noted(history),
        )

    def _lineage_now(self) -> Lineage:
        """What became of carried records, kept until something is forgotten."""
        generation, facts = self._facts.generation(), self._facts
        if self._lineage is None or self._lineage.generation != generation:

            def forgotten(fact_ids: Collection[str]) -> Mapping[str, int]:
                return facts.forgotten_of(list(fact_ids))

            self._lineage = Lineage(
                generation, self.entries, facts.exclusions, forgotten, facts.newest_forget
            )
        return self._lineage
