"""Candidates: claims that were extracted, before code has decided about them.

A candidate carries exact evidence, as a fact does. What extraction found wrong with one is counted
by reason and kept nowhere: no text of a rejected candidate outlives the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from memnb.core.facts import Basis, Kind, Origin, Source
from memnb.core.messages import Usage

__all__ = [
    "MAX_APPLIED",
    "MAX_CANDIDATES",
    "MIN_CONFIDENCE",
    "REASONS",
    "Candidate",
    "Disposition",
    "Extraction",
    "Outcome",
    "Reason",
    "Trigger",
]

Reason = Literal[
    "response_schema",
    "invalid_json",
    "output_too_large",
    "unexpected_tool_calls",
    "incomplete_response",
    "candidate_schema",
    "invalid_text",
    "invalid_source",
    "invalid_preference_source",
    "temporary_preference",
    "exact_text_mismatch",
    "invalid_conflicts",
    "unverified_project_evidence",
    "stale_context",
    "extraction_error",
    "duplicate",
    "screened",
    "forgotten",
    "low_confidence",
    "risk",
    "over_budget",
    "third_party",
]
"""Why something wasn't learned: the whole run, a candidate that breaks the contract of evidence, or
one that the policy keeps back. A candidate counts once, at the first check it fails."""

REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

Outcome = Literal["failed", "stale", "learned", "proposed", "rejected", "no_candidates"]
"""What became of a run: the first of these that is true."""

Trigger = Literal["turn", "compaction", "populate", "handoff", "backfill", "promotion"]
"""What a run was begun by."""

Disposition = Literal["apply", "review", "ignore"]
"""What the policy does with a candidate: keep it as a fact, ask a person, nothing."""

MAX_CANDIDATES: Final = 4
"""At most so many of one extraction are looked at."""

MAX_APPLIED: Final = 3
"""At most so many candidates of one run become facts by themselves."""

MIN_CONFIDENCE: Final = 700
"""In thousandths: below it a candidate doesn't become a fact by itself."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim with its evidence.

    Args:
        text: what the fact would say; one line.
        kind: what kind of claim.
        basis: how the text follows from the evidence.
        sources: the records it rests on, with the span for a quote.
        origin: `learned` from a model's pick, `promoted` by code alone.
        confidence: in thousandths; the lower one of the model's and the calibrated one.
        is_proposal: it corrects a fact or isn't certain, so a person decides.
        conflicts: facts that it contradicts, as `F-7k2m9q@1`.
        rule: for a canonical text, the name and version of the rule that makes it.
        reasons: what speaks for a person's look; found while it was extracted.
    """

    text: str
    kind: Kind
    basis: Basis
    sources: tuple[Source, ...]
    origin: Origin
    confidence: int
    is_proposal: bool = False
    conflicts: tuple[str, ...] = ()
    rule: str | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one call of an extractor gave.

    Args:
        session_id: of which session.
        seqs: the records that were supplied, all of them.
        candidates: those that keep the contract of evidence.
        reasons: how many were rejected for what; a failed call has one reason by itself.
        failure: why the call as a whole gave nothing; None when it gave an answer.
        model: which model was asked; "" when none was.
        usage: what it took; None when no model was asked.
    """

    session_id: str
    seqs: tuple[int, ...]
    candidates: tuple[Candidate, ...] = ()
    reasons: Mapping[Reason, int] = field(default_factory=dict)
    failure: Reason | None = None
    model: str = ""
    usage: Usage | None = None
