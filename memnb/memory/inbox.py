"""Taking what an extraction gave: the policy decides, and all of it is one transaction.

1. The run, what was supplied to it, what waits and what became a fact are durable together or not
   at all: a kernel that dies before has learned nothing and mined nothing, one that dies after
   repeats nothing. Two kernels that come with the same span learn of it once.
2. Nothing is kept of what the policy ignores but how often for what reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memnb.core.candidates import MAX_CANDIDATES, Candidate, Extraction, Outcome, Reason, Trigger
from memnb.core.facts import check_text
from memnb.core.ids import run_id as new_run_id
from memnb.core.inbox import Queued, Run
from memnb.core.messages import Usage
from memnb.core.permissions import Mode
from memnb.core.policy import Situation, Verdict, decide, learns
from memnb.core.records import ChainHead
from memnb.core.section import line_bytes
from memnb.core.settings import LearningMode
from memnb.core.visibility import Purpose
from memnb.errors import InvalidText
from memnb.memory import disputes, queueing, remembering
from memnb.memory.claims import Claim, Kept
from memnb.memory.context import Limits, room_left
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator
from memnb.storage.fact_store import FactTransaction

__all__ = ["Circumstances", "Taken", "apply_in", "take"]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How learning is set up where an extraction is taken.

    Args:
        mode: what is learned; off gives nothing, and nothing is noted.
        agent_mode: what the agent may change; `readonly` gives nothing, as off.
        write_approval: every write waits for a person.
        limits: how much memory a request may carry.
    """

    mode: LearningMode
    agent_mode: Mode = "ask"
    write_approval: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an extraction.

    Args:
        outcome: of the run.
        applied: what became facts.
        pending: the ids of the candidates that wait for a person.
        reasons: how many candidates were held back for what, those that wait included.
        run_id: the run as it was noted; "" when nothing was.
    """

    outcome: Outcome
    applied: tuple[Kept, ...] = ()
    pending: tuple[str, ...] = ()
    reasons: Mapping[Reason, int] = field(default_factory=dict)
    run_id: str = ""


def take(
    stores: Stores,
    validator: Validator,
    extraction: Extraction,
    *,
    trigger: Trigger,
    circumstances: Circumstances,
    head: ChainHead | None = None,
    generation: int | None = None,
) -> Taken:
    """Decide about each candidate of an extraction, and do it: one run, in one transaction.

    Args:
        stores: where.
        validator: checks the evidence.
        extraction: what was found, and what the extractor was supplied with.
        trigger: what began it.
        circumstances: how learning is set up.
        head: how far the writing session reaches, noted in the same commit.
        generation: the present one when the extraction began; it is stale once that changed.

    Raises:
        StoreError, StoreBusy: nothing was noted; it may be taken again.
    """
    is_empty = not extraction.seqs and not extraction.candidates
    if is_empty or not learns(circumstances.mode, circumstances.agent_mode):
        return Taken("no_candidates")
    stores.ensure()
    candidates = extraction.candidates[:MAX_CANDIDATES]
    room = room_left(stores, validator, circumstances.limits) if candidates else 0
    rules = Situation(circumstances.mode, circumstances.agent_mode, circumstances.write_approval)
    with stores.facts.transaction(now=(now := stores.now())) as change:
        if head is not None:
            change.set_head(head)
        run = _Run(stores, validator, change, now, rules, room)
        failure = extraction.failure or _stale(stores, extraction, trigger, generation)
        if failure is None:
            for candidate in candidates:
                run.decide(candidate)
        return run.note(extraction, trigger, failure)


class _Run:
    """One run inside its transaction."""

    def __init__(
        self,
        stores: Stores,
        validator: Validator,
        change: FactTransaction,
        now: str,
        rules: Situation,
        room: int,
    ) -> None:
        self._stores = stores
        self._validator = validator
        self._change = change
        self._now = now
        self._rules = rules
        self._room = room
        self._id = new_run_id(stores.random_bytes)
        self._queued: list[Queued] = []
        self._applied: list[Kept] = []
        self._reasons: Counter[Reason] = Counter()
        self._pending: list[str] = []
        self._texts: set[bytes] = set()

    def decide(self, candidate: Candidate) -> None:
        """Apply one candidate, let it wait, or count why not."""
        stores = self._stores
        try:
            candidate = replace(candidate, text=check_text(candidate.text))
        except InvalidText:
            self._reasons["invalid_text"] += 1
            return
        candidate = queueing.with_conflicts(self._stores, self._validator, candidate, self._now)
        verdict = decide(candidate, self._situation(candidate))
        queued = queueing.new(stores, self._change, candidate, self._now, self._id)
        reason = verdict.reason
        is_borne_out = queueing.is_borne_out(self._validator, queued)
        if verdict.disposition != "ignore" and not is_borne_out:
            verdict, reason = Verdict("ignore"), "stale_context"
        if reason is not None:
            self._reasons[reason] += 1
        if verdict.disposition == "ignore":
            return
        grounds = () if verdict.ground is None else (verdict.ground,)
        queued = queueing.on_grounds(queued, verdict.disposition, (*grounds, *candidate.reasons))
        self._texts.add(queued.text_mac)
        if verdict.disposition == "apply":
            kept, queued = self._apply(queued)
            self._applied.append(kept)
            self._room -= line_bytes(candidate.text)
        else:
            self._pending.append(queued.candidate_id)
        self._queued.append(queued)

    def note(self, extraction: Extraction, trigger: Trigger, failure: Reason | None) -> Taken:
        """Write the run, what was supplied to it, and what waits."""
        reasons = +(Counter(extraction.reasons) + self._reasons)
        if failure is not None and not reasons[failure]:
            reasons[failure] = 1
        outcome = self._outcome(failure, bool(reasons))
        run = Run(
            run_id=self._id,
            at=self._now,
            session_id=extraction.session_id,
            trigger=trigger,
            model=extraction.model,
            outcome=outcome,
            n_supplied=len(extraction.seqs),
            generation=self._stores.facts.generation(),
            reasons=dict(reasons),
            usage=extraction.usage or Usage(),
        )
        inbox = self._change.candidates
        inbox.add_run(run)
        # What nobody gave an answer about comes again. Rules without a model read every message;
        # what a model would find in it is still open.
        if trigger != "promotion" and failure is None:
            mined = self._stores.candidates.mined(extraction.session_id)
            inbox.mark_mined(extraction.session_id, set(extraction.seqs) - mined, self._id)
        for queued in self._queued:
            inbox.add(queued)
        return Taken(outcome, tuple(self._applied), tuple(self._pending), dict(reasons), self._id)

    def _apply(self, queued: Queued) -> tuple[Kept, Queued]:
        kept = apply_in(
            self._stores, self._validator, self._change, queued, self._now, purpose="working"
        )
        return kept, queueing.became(queued, kept, self._now)

    def _situation(self, candidate: Candidate) -> Situation:
        stores, text = self._stores, candidate.text
        twice = stores.text_mac(text) in self._texts
        return replace(
            self._rules,
            is_forgotten=remembering.is_forgotten(stores, text),
            known="said" if twice else queueing.known(stores, self._validator, text, self._now),
            fits=line_bytes(text) <= self._room,
            n_applied=len(self._applied),
        )

    def _outcome(self, failure: Reason | None, has_reasons: bool) -> Outcome:
        if failure is not None:
            return "stale" if failure == "stale_context" else "failed"
        if self._applied:
            return "learned"
        if self._pending:
            return "proposed"
        return "rejected" if has_reasons else "no_candidates"


def apply_in(
    stores: Stores,
    validator: Validator,
    change: FactTransaction,
    queued: Queued,
    now: str,
    *,
    claim: Claim | None = None,
    purpose: Purpose = "durable",
) -> Kept:
    """Make a candidate a fact within a transaction; what it contradicts is in dispute with it.

    Args:
        stores: where.
        validator: checks the evidence.
        change: the transaction.
        queued: which candidate.
        now: the present as a UTC stamp.
        claim: in place of what the candidate says: a person's own wording of it.
        purpose: `working` for what was found just now.

    Raises:
        SourceNotValid, Refused: it can't be kept.
    """
    is_promoted = queued.origin == "promoted" and claim is None
    named = queued.conflicts
    if not is_promoted:  # what became a fact since then counts, too
        text = queued.text if claim is None else claim.text
        named = (*named, *queueing.opposing_facts(stores, validator, text, now))
    against = disputes.contradicted(stores, named, is_promoted=is_promoted, now=now)
    if claim is None:
        claim = Claim(
            queued.text,
            queued.basis,
            queued.sources,
            queued.origin,
            rule=queued.rule,
            confidence=queued.confidence,
        )
    claim = replace(claim, conflicts_with=against.disputed, supersedes=against.superseded)
    kept = remembering.keep(
        stores, validator, change, claim, now, kind=queued.kind, purpose=purpose
    )
    if kept.outcome not in ("new", "renewed"):
        return kept
    ended, flagged = disputes.supersede(stores, validator, change, against.superseded, now)
    return replace(kept, ended=ended, flagged=flagged)


def _stale(
    stores: Stores, extraction: Extraction, trigger: Trigger, generation: int | None
) -> Reason | None:
    """Why nothing of an extraction is used: something was forgotten, or another was faster."""
    if generation is not None and generation != stores.facts.generation():
        return "stale_context"
    is_mined = trigger != "promotion" and _all_mined(stores, extraction)
    return "stale_context" if is_mined else None


def _all_mined(stores: Stores, extraction: Extraction) -> bool:
    return stores.candidates.mined(extraction.session_id).issuperset(extraction.seqs)
