"""One validator for every use of a fact: do the records that it points at still hold?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from memnb.core import evidence
from memnb.core.evidence import SessionEvidence
from memnb.core.facts import Fact, Revision, Source, SourceRef
from memnb.core.records import evidence_digest
from memnb.core.visibility import Purpose
from memnb.errors import SourceNotValid, SourceStatus
from memnb.memory.history import Histories

__all__ = ["Validator"]


class Validator:
    """Checks evidence against the sessions as they are on the disk now."""

    def __init__(self, histories: Histories) -> None:
        """Check against `histories`."""
        self._histories = histories

    def statuses(self, facts: Sequence[Fact], purpose: Purpose = "durable") -> list[SourceStatus]:
        """The status of each fact's current revision; every session is read once."""
        sessions = self._sessions(fact.current for fact in facts)
        return [evidence.check_revision(fact.current, sessions, purpose) for fact in facts]

    def status(self, revision: Revision, purpose: Purpose = "durable") -> SourceStatus:
        """The status of one revision."""
        return evidence.check_revision(revision, self._sessions([revision]), purpose)

    def source_ref(self, session_id: str, seqs: Sequence[int]) -> SourceRef:
        """A reference to records as they are now, named once each and in order.

        Raises:
            SourceNotValid: one is missing, damaged or hidden.
        """
        seqs = sorted(set(seqs))
        session = self._histories.evidence(session_id, seqs, seqs)
        records = [] if session is None else [session.records.get(seq) for seq in seqs]
        whole = [record for record in records if record is not None]
        digest = evidence_digest(whole)
        if len(whole) != len(seqs) or digest is None:
            raise SourceNotValid(
                f"not all of these records are in session {session_id}; `%memory session"
                f" {session_id}` shows what is.",
                status="missing" if not whole else "stale",
            )
        if any(record.head.type == "compact" for record in whole):
            raise SourceNotValid(
                "a summary is no evidence; name the records that say it.", status="unverified"
            )
        ref = SourceRef(session_id, tuple(seqs), digest)
        status = evidence.check_source(Source(self._store_id(session), ref), session, "working")
        if status != "valid":
            raise SourceNotValid(
                f"these records are {status}; evidence must be visible and whole.", status=status
            )
        return ref

    def _sessions(self, revisions: Iterable[Revision]) -> dict[str, SessionEvidence]:
        cited: dict[str, set[int]] = defaultdict(set)
        quoted: dict[str, set[int]] = defaultdict(set)
        for revision, source in ((one, source) for one in revisions for source in one.sources):
            cited[source.ref.session_id].update(source.ref.seqs)
            if revision.basis == "file_line":
                quoted[source.ref.session_id].update(source.ref.seqs)
            if source.quote is not None:
                quoted[source.ref.session_id].add(source.quote.seq)
        found = {
            session_id: self._histories.evidence(
                session_id, sorted(seqs), sorted(quoted[session_id])
            )
            for session_id, seqs in cited.items()
        }
        return {session_id: session for session_id, session in found.items() if session}

    @staticmethod
    def _store_id(session: SessionEvidence | None) -> str:
        return session.store_id if session else ""
