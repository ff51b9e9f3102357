"""What waits in the inbox: put there, shown for as long as it holds, expired after that.

Evidence is looked at again whenever a candidate is shown or applied. One that holds no more
expires: its text is deleted, and it is never shown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memnb.core.candidates import Candidate, Disposition
from memnb.core.inbox import Ground, Queued
from memnb.core.policy import Known, Situation, decide
from memnb.core.records import ChainHead
from memnb.errors import MemnbError
from memnb.memory import remembering
from memnb.memory.claims import Kept, known_claim
from memnb.memory.opposing import opposed
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator
from memnb.storage.fact_store import FactTransaction

__all__ = [
    "became",
    "expire",
    "expired",
    "holds",
    "is_borne_out",
    "known",
    "new",
    "on_grounds",
    "opposing_facts",
    "queue",
    "waiting",
    "with_conflicts",
]


def queue(
    stores: Stores,
    validator: Validator,
    candidate: Candidate,
    ground: Ground,
    *,
    head: ChainHead | None = None,
    generation: int | None = None,
) -> str:
    """Let one candidate wait for a person on a ground, whatever the policy would say of it.

    Gives its id, or "" when it is known, was refused or forgotten, or its evidence doesn't hold.
    """
    stores.ensure()
    with stores.facts.transaction(now=(now := stores.now())) as change:
        if head is not None:
            change.set_head(head)
        candidate = with_conflicts(stores, validator, candidate, now)
        situation = Situation(
            is_forgotten=remembering.is_forgotten(stores, candidate.text),
            known=known(stores, validator, candidate.text, now),
        )
        verdict = decide(candidate, situation)
        is_stale = generation is not None and generation != stores.facts.generation()
        queued = new(stores, change, candidate, now)
        if is_stale or verdict.disposition == "ignore" or not is_borne_out(validator, queued):
            return ""
        more = () if verdict.ground is None else (verdict.ground,)
        change.candidates.add(on_grounds(queued, "review", (ground, *more, *candidate.reasons)))
        return queued.candidate_id


def waiting(stores: Stores, validator: Validator) -> list[Queued]:
    """The candidates that wait for a person and still hold, oldest first; the others expire."""
    found = stores.candidates.of("pending")
    held = [one for one in found if holds(stores, validator, one)]
    if len(held) < len(found):
        kept = {one.candidate_id for one in held}
        # Who may only read isn't shown them either.
        with contextlib.suppress(MemnbError):
            expire(stores, [one for one in found if one.candidate_id not in kept])
    return held


def holds(stores: Stores, validator: Validator, queued: Queued) -> bool:
    """Whether a candidate's evidence holds, and nothing was said or forgotten since about it."""
    if validator.status(queued.as_revision) != "valid":
        return False
    has_forgotten = stores.facts.generation() != queued.generation
    if has_forgotten and remembering.is_forgotten(stores, queued.text):
        return False
    claim = known_claim(stores, validator, queued.text, stores.now())
    return claim is None or claim.renews is not None


def expire(stores: Stores, some: Sequence[Queued]) -> None:
    """Delete the texts of candidates that hold no more."""
    with stores.facts.transaction(now=(now := stores.now()), durable=False) as change:
        for queued in stores.candidates.candidates([one.candidate_id for one in some]):
            if queued.state == "pending":
                change.candidates.set(expired(queued, now))


def expired(queued: Queued, now: str) -> Queued:
    """What is left of a candidate that holds no more, or says what is there already."""
    return replace(queued, state="expired", text="", decided_at=now)


def known(stores: Stores, validator: Validator, text: str, now: str) -> Known:
    """Whether a text is there already: as a fact, waiting, or refused by a person."""
    claim = known_claim(stores, validator, text, now)
    if claim is None:
        queued = stores.candidates.by_text(stores.text_mac(text))
        return "said" if any(one.state != "expired" for one in queued) else ""
    return "renews" if claim.renews is not None else "said"


def with_conflicts(
    stores: Stores, validator: Validator, candidate: Candidate, now: str
) -> Candidate:
    """A candidate that says what it contradicts: what it named, and what rules read so."""
    if candidate.origin == "promoted":  # by rules alone, which compared it then
        return candidate
    found = opposing_facts(stores, validator, candidate.text, now)
    return replace(candidate, conflicts=tuple(dict.fromkeys((*candidate.conflicts, *found))))


def opposing_facts(stores: Stores, validator: Validator, text: str, now: str) -> tuple[str, ...]:
    """The facts that rules read as contradicting a text, as `F-7k2m9q@1`."""
    found = opposed(stores, validator, text, now)
    return tuple(f"{fact.fact_id}@{fact.newest}" for fact in found)


def new(
    stores: Stores,
    change: FactTransaction,
    candidate: Candidate,
    now: str,
    run_id: str | None = None,
) -> Queued:
    """A candidate that is yet to be decided about."""
    return Queued(
        candidate_id=stores.new_candidate_id(change.candidates.is_free),
        state="pending",
        text=candidate.text,
        text_mac=stores.text_mac(candidate.text),
        kind=candidate.kind,
        basis=candidate.basis,
        origin=candidate.origin,
        confidence=max(0, min(1000, candidate.confidence)),
        disposition="review",
        created_at=now,
        generation=stores.facts.generation(),
        sources=candidate.sources,
        rule=candidate.rule,
        is_proposal=candidate.is_proposal,
        conflicts=candidate.conflicts,
        run_id=run_id,
    )


def on_grounds(queued: Queued, disposition: Disposition, grounds: Iterable[Ground]) -> Queued:
    """A candidate as the policy decided about it."""
    return replace(queued, disposition=disposition, grounds=tuple(dict.fromkeys(grounds)))


def is_borne_out(validator: Validator, queued: Queued) -> bool:
    """Whether the evidence of a candidate that is yet to be queued holds."""
    return validator.status(queued.as_revision, "working") == "valid"


def became(queued: Queued, kept: Kept, now: str) -> Queued:
    """What is left of a candidate that became a fact."""
    return replace(
        queued,
        state="applied",
        text="",
        decided_at=now,
        fact_id=kept.fact_id,
        revision=kept.revision,
    )
