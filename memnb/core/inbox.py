"""The inbox: candidates that were queued, what became of each, and the runs that gave them.

1. A candidate has a text only while it waits. What it became has its own text, and what was
   rejected or expired leaves a keyed digest, so that it isn't proposed again.
2. A candidate is signed as a whole, anew at every change: a row that somebody else put in or
   changed isn't shown and isn't applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from memnb.core import canonical
from memnb.core.candidates import Disposition, Outcome, Reason, Trigger
from memnb.core.facts import Basis, Kind, Origin, Revision, Source, source_values
from memnb.core.messages import Usage

__all__ = ["GROUNDS", "STATES", "Ground", "Queued", "Run", "State", "queued_payload"]

State = Literal["pending", "applied", "rejected", "expired"]
"""What became of a candidate: it waits, is a fact, was refused by a person, or holds no more."""

STATES: Final[tuple[State, ...]] = get_args(State)

Ground = (
    Reason
    | Literal["file_line", "proposal", "conflict", "renewal", "review_mode", "write_approval"]
    | Literal["run_cap", "tool"]
)
"""Why a candidate waits: a reason that is counted, or how learning is set up."""

GROUNDS: Final[Mapping[str, str]] = {
    "file_line": "a file held this line when it was read, and nobody stated it",
    "proposal": "not certain, or it would change a fact",
    "conflict": "it contradicts a fact",
    "renewal": "a fact said that before, and isn't in use",
    "review_mode": "everything waits (`learning.mode` is review)",
    "write_approval": "every write waits (`memory.write_approval`)",
    "run_cap": "three of its run were kept already",
    "tool": "the agent asked, and nobody was there to agree",
    "temporary_preference": "may be meant for now only",
    "screened": "it reads like an order to a model",
    "low_confidence": "too uncertain to be kept unasked",
    "risk": "about health, credentials, permissions, deleting, sending or paying",
    "third_party": "about another person",
    "over_budget": "no room for it in the prompt",
}
"""Each ground in a person's words; others are shown by their code."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A candidate in the inbox, or what is left of one that was decided.

    Args:
        candidate_id: `C-` and 6 characters.
        state: what became of it.
        text: what the fact would say; "" unless it waits.
        text_mac: by which the text is known again.
        kind: what kind of claim.
        basis: how the text follows from the evidence.
        origin: who picked it.
        confidence: in thousandths.
        disposition: what the policy said.
        created_at: when it was queued, as a UTC stamp.
        generation: how many forgets there were then.
        sources: the records it rests on.
        rule: for a canonical text, the rule that makes it.
        grounds: why it waits; empty for one that was applied at once.
        is_proposal: it corrects a fact or isn't certain.
        conflicts: facts that it contradicts, as `F-7k2m9q@1`.
        run_id: the run that gave it; None for one that a tool of the agent left.
        decided_at: since when it waits no more.
        fact_id: the fact that it became, and
        revision: the revision of that.
        mac: its signature.
        is_signed: False for one that was read and isn't as it was signed.
    """

    candidate_id: str
    state: State
    text: str
    text_mac: bytes
    kind: Kind
    basis: Basis
    origin: Origin
    confidence: int
    disposition: Disposition
    created_at: str
    generation: int
    sources: tuple[Source, ...]
    rule: str | None = None
    grounds: tuple[Ground, ...] = ()
    is_proposal: bool = False
    conflicts: tuple[str, ...] = ()
    run_id: str | None = None
    decided_at: str | None = None
    fact_id: str | None = None
    revision: int | None = None
    mac: bytes = b""
    is_signed: bool = True

    @property
    def as_revision(self) -> Revision:
        """The revision that it would be, for who checks its evidence."""
        return Revision(
            fact_id=self.candidate_id,
            revision=1,
            text=self.text,
            basis=self.basis,
            origin=self.origin,
            recorded_at=self.created_at,
            generation=self.generation,
            sources=self.sources,
            rule=self.rule,
            confidence=self.confidence,
            is_signed=self.is_signed,
        )


@dataclass(frozen=True, slots=True)
class Run:
    """One run of learning, without any content.

    Args:
        run_id: `R-` and 10 characters.
        at: when it was taken, as a UTC stamp.
        session_id: of which session.
        trigger: what began it.
        model: which model was asked; "" when none was.
        outcome: what became of it.
        n_supplied: how many records were supplied.
        generation: how many forgets there were then.
        reasons: how many candidates were held back for what.
        usage: what it took; each of it None when that is unknown, or no model was asked.
    """

    run_id: str
    at: str
    session_id: str
    trigger: Trigger
    model: str
    outcome: Outcome
    n_supplied: int
    generation: int
    reasons: Mapping[Reason, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


def queued_payload(store_id: str, queued: Queued) -> bytes:
    """The bytes that the signature of a candidate covers: everything but the signature itself."""
    return canonical.encode_plain(
        {
            "basis": queued.basis,
            "candidate_id": queued.candidate_id,
            "confidence": queued.confidence,
            "conflicts": list(queued.conflicts),
            "created_at": queued.created_at,
            "decided_at": queued.decided_at,
            "disposition": queued.disposition,
            "fact_id": queued.fact_id,
            "generation": queued.generation,
            "grounds": list(queued.grounds),
            "is_proposal": queued.is_proposal,
            "kind": queued.kind,
            "origin": queued.origin,
            "revision": queued.revision,
            "rule": queued.rule,
            "run_id": queued.run_id,
            "sources": source_values(queued.sources),
            "state": queued.state,
            "store_id": store_id,
            "text": queued.text,
            "text_mac": queued.text_mac.hex(),
        }
    )
