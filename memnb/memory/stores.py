"""What the processes of memory work on: the stores of one project, its key, its clock and ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memnb.core import ids, signing
from memnb.core.facts import Kind, Revision, Scope
from memnb.storage.candidate_store import CandidateStore
from memnb.storage.fact_store import FactStore
from memnb.storage.note_store import NoteStore
from memnb.storage.session_store import SessionStore

__all__ = ["Stores"]


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of one project.

    Args:
        facts: facts and exclusions.
        sessions: what was said.
        notes: a person's files.
        ensure: makes the project's folder, called before the first write.
        load_key: the 32-byte key of this machine, made on first use.
        clock: the present time, with its zone.
        random_bytes: randomness for ids.
    """

    facts: FactStore
    sessions: SessionStore
    notes: NoteStore
    ensure: Callable[[], None]
    load_key: Callable[[], bytes]
    clock: Callable[[], datetime]
    random_bytes: Callable[[int], bytes]

    @property
    def candidates(self) -> CandidateStore:
        """The inbox: in the database of the facts."""
        return self.facts.candidates

    @property
    def store_id(self) -> str:
        """The id of the project's store."""
        return self.sessions.store_id

    def now(self) -> str:
        """The present as a UTC stamp."""
        return ids.stamp(self.clock())

    def text_mac(self, text: str) -> bytes:
        """The keyed digest by which a forgotten text is known again."""
        return signing.text_mac(self.load_key(), text)

    def phrase_macs(self, text: str) -> list[bytes]:
        """The keyed digests of all that a text may say besides the whole."""
        return signing.phrase_macs(self.load_key(), text)

    def revision_mac(self, kind: Kind, scope: Scope, revision: Revision) -> bytes:
        """The keyed digest of a revision."""
        return signing.revision_mac(self.load_key(), self.store_id, kind, scope, revision)

    def new_candidate_id(self, is_free: Callable[[str], bool]) -> str:
        """An id that no candidate has."""
        while True:
            candidate_id = ids.candidate_id(self.random_bytes)
            if is_free(candidate_id):
                return candidate_id

    def new_fact_id(self, is_free: Callable[[str], bool]) -> str:
        """A fact id that no fact has or had."""
        while True:
            fact_id = ids.fact_id(self.random_bytes)
            if is_free(fact_id):
                return fact_id
