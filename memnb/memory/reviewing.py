"""What a person does with the inbox: apply, reject, take back; and what was learned lately.

1. Applying makes the fact and empties the candidate in one transaction, so that it happens once.
2. Taking back removes the fact without excluding anything: the message stays, and may be evidence
   for other facts. Its text counts as rejected, so that it isn't learned again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memnb.core.ids import FACT_ID, require_candidate_id, require_fact_id
from memnb.core.inbox import Queued, Run
from memnb.errors import InputError, SourceNotValid, UnknownId
from memnb.memory import disputes, inbox, queueing, remembering, stating
from memnb.memory.claims import Claim, Kept
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.stating import Said

__all__ = ["Learned", "TakenBack", "apply", "recent", "reject", "take_back"]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A fact that was taken back: of which candidate, and what is held by that.

    `is_gone` is False when the fact was there before and has an earlier revision; `back` names
    facts that hold again, since it had taken their place.
    """

    candidate_id: str
    fact_id: str
    is_gone: bool
    flagged: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Learned:
    """A candidate that became a fact, and the run that gave it, if one did."""

    queued: Queued
    run: Run | None


def apply(
    memory: ProjectMemory, candidate_id: str, *, text: str | None = None, said: Said | None = None
) -> Kept:
    """Make a candidate that waits a fact.

    Args:
        memory: the project's.
        candidate_id: which.
        text: a person's own wording in place of the candidate's; it is recorded as a command, which
            becomes the evidence.
        said: the command as typed, with a text of one's own.

    Raises:
        UnknownId: there is none. InputError: it doesn't wait any more.
        SourceNotValid: its evidence holds no more, so it expired.
        InvalidText, SecretFound, HiddenText, Refused: the text can't be kept.
    """
    stores, validator = memory.stores, memory.validator
    queued = _require_pending(memory, candidate_id)
    if not queued.is_signed or (text is None and not queueing.holds(stores, validator, queued)):
        queueing.expire(stores, [queued])
        raise SourceNotValid(
            f"what {candidate_id} rests on holds no more, or was said since, so it expired;"
            " `%memory remember TEXT` keeps it in your words.",
            status="stale",
        )
    claim = None if text is None else _stated(memory, text, said)
    if claim is not None and isinstance(claim, Kept):
        return _settle(memory, queued, claim)
    stores.ensure()
    with stores.facts.transaction(now=(now := stores.now())) as change:
        if memory.session.chain_head is not None:
            change.set_head(memory.session.chain_head)
        queued = _require_pending(memory, candidate_id)  # another kernel may have been faster
        kept = inbox.apply_in(stores, validator, change, queued, now, claim=claim)
        # What is there already wasn't made by this, so it must not be taken back by it either.
        is_made = kept.outcome in ("new", "renewed")
        change.candidates.set(
            queueing.became(queued, kept, now) if is_made else queueing.expired(queued, now)
        )
    return kept


def reject(memory: ProjectMemory, candidate_ids: Sequence[str] | None = None) -> tuple[str, ...]:
    """Refuse candidates that wait, all of them when none is named; gives their ids.

    Their texts are deleted. What remains knows the same text again, so that it isn't proposed
    again; a person can still state it.

    Raises:
        UnknownId: there is no such candidate. InputError: one doesn't wait any more.
    """
    stores = memory.stores
    if candidate_ids is None:
        found = stores.candidates.of("pending")
    else:
        found = [_require_pending(memory, one) for one in dict.fromkeys(candidate_ids)]
    if not found:
        return ()
    ids = [one.candidate_id for one in found]
    with stores.facts.transaction(now=(now := stores.now())) as change:
        for queued in stores.candidates.candidates(ids):
            if queued.state == "pending":
                change.candidates.set(_rejected(queued, now))
    return tuple(ids)


def take_back(memory: ProjectMemory, any_id: str) -> TakenBack:
    """Take back what a candidate became, named by its own id or by its fact's.

    Raises:
        UnknownId: there is none. InputError: it isn't applied.
        Refused: the fact was changed since.
    """
    stores = memory.stores
    with stores.facts.transaction(now=(now := stores.now())) as change:
        queued = _applied(memory, any_id)
        fact_id, revision = queued.fact_id or "", queued.revision or 0
        links = remembering.require_fact(stores, fact_id).current.links
        # First: a candidate goes with its fact.
        change.candidates.set(replace(_rejected(queued, now), fact_id=None, revision=None))
        flagged = remembering.take_back(stores, change, fact_id, revision, queued.candidate_id, now)
        back = disputes.reinstate(stores, memory.validator, change, links, now)
    return TakenBack(queued.candidate_id, fact_id, revision == 1, flagged, back)


def recent(memory: ProjectMemory, *, limit: int) -> list[Learned]:
    """The candidates that became facts last, newest first."""
    inbox_store = memory.stores.candidates
    found = sorted(
        inbox_store.of("applied"), key=lambda one: (one.decided_at or "", one.candidate_id)
    )[::-1][: max(0, limit)]
    runs = inbox_store.runs_of(one.run_id for one in found if one.run_id is not None)
    return [Learned(one, runs.get(one.run_id or "")) for one in found]


def _stated(memory: ProjectMemory, text: str, said: Said | None) -> Claim | Kept:
    """The claim of a person's own wording, recorded; or the fact that says it already."""
    stores = memory.stores
    text = remembering.check_claim_text(text)
    with stores.facts.snapshot():
        already = remembering.check_claim(stores, memory.validator, text)
        generation = stores.facts.generation()
    if already is not None:
        return already
    source = stating.record(memory, text, said or Said(text, via="api"), generation=generation)
    return Claim(text, "statement", (source,), "person")


def _settle(memory: ProjectMemory, queued: Queued, kept: Kept) -> Kept:
    """A candidate that a person words as a fact that is there: it waits no more."""
    queueing.expire(memory.stores, [queued])
    return kept


def _rejected(queued: Queued, now: str) -> Queued:
    return replace(queued, state="rejected", text="", decided_at=now)


def _require_pending(memory: ProjectMemory, candidate_id: str) -> Queued:
    queued = memory.stores.candidates.candidate(require_candidate_id(candidate_id))
    if queued is None:
        raise UnknownId(f"no {candidate_id} in the inbox; `%memory review` lists what waits.")
    if queued.state == "applied":
        raise InputError(
            f"{candidate_id} is {queued.fact_id} already; `%memory review undo {candidate_id}`"
            " takes it back."
        )
    if queued.state != "pending":
        raise InputError(
            f"{candidate_id} was {queued.state}, and its text is gone; `%memory remember TEXT`"
            " keeps it in your words."
        )
    return queued


def _applied(memory: ProjectMemory, any_id: str) -> Queued:
    candidates = memory.stores.candidates
    if FACT_ID.match(any_id):
        found = [one for one in candidates.of_fact(require_fact_id(any_id)) if one.is_signed]
        if not found:
            raise UnknownId(
                f"{any_id} wasn't learned from the inbox; `%memory recent` lists what was,"
                f" `%memory forget {any_id}` removes a fact."
            )
        return found[-1]
    queued = candidates.candidate(require_candidate_id(any_id))
    if queued is None or not queued.is_signed:
        raise UnknownId(f"no {any_id} in the inbox; `%memory recent` lists what was learned.")
    if queued.state != "applied":
        raise InputError(
            f"{any_id} isn't a fact; `%memory recent` lists what was learned and can be undone."
        )
    return queued
