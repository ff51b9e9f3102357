"""The one door for what becomes a fact: remember, correct, expire, confirm.

1. Every text is screened, every source validated inside the transaction that uses it.
2. A change is one transaction: fact, revision and evidence, or nothing.
3. Nothing is overwritten. A revision decides from its `valid_from` on, until a newer one does: a
   change leaves what held before that time as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memnb.core.facts import (
    Fact,
    Hold,
    Kind,
    Link,
    Relation,
    Revision,
    Scope,
    Source,
    check_text,
    normalised,
)
from memnb.core.ids import require_fact_id
from memnb.core.records import ChainHead
from memnb.core.screening import require_clean
from memnb.core.visibility import Purpose
from memnb.errors import (
    GenerationChanged,
    InputError,
    InvalidText,
    Refused,
    RevisionChanged,
    SourceNotValid,
    UnknownId,
)
from memnb.memory.claims import Claim, Kept, known_claim, renewing
from memnb.memory.opposing import open_dispute, opposed
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator
from memnb.storage.fact_store import FactTransaction

__all__ = [
    "Claim",
    "Kept",
    "check_claim_text",
    "confirm",
    "correct",
    "end",
    "expire",
    "flag_dependents",
    "is_forgotten",
    "keep",
    "remember",
    "require_fact",
    "said_by",
    "take_back",
]

_CONFIRMED: Final = ("source_changed", "imported")
"""The reasons of holds that end when a person confirms the fact."""


def check_claim_text(text: str) -> str:
    """`text` when it may become a fact.

    Raises:
        InvalidText: it is empty, more than one line, or too long.
        SecretFound, HiddenText: it must not be stored.
    """
    text = check_text(text)
    require_clean(text, "a fact")
    return text


def remember(
    stores: Stores,
    validator: Validator,
    claim: Claim,
    *,
    kind: Kind = "convention",
    scope: Scope = "project",
    head: ChainHead | None = None,
    expected_generation: int | None = None,
    again: bool = False,
) -> Kept:
    """Keep a claim as a new fact, unless its text is there already.

    Args:
        stores: where.
        validator: checks the evidence.
        claim: what, and why.
        kind: what kind of claim.
        scope: whose memory.
        head: how far the writing session reaches, noted in the same commit.
        expected_generation: refuse when something was forgotten since.
        again: a person states a text anew that was forgotten.

    Raises:
        SourceNotValid: the evidence doesn't hold.
        Refused: the text was forgotten, and `again` isn't set.
        GenerationChanged: something was forgotten meanwhile.
    """
    text = check_claim_text(claim.text)
    stores.ensure()
    now = stores.now()
    # All that a long text may say takes a while, so it is found before anybody waits for us.
    known_by = said_by(stores, text, within=True) if claim.origin != "person" else []
    claim = replace(claim, text=text, conflicts_with=_contradicted(stores, validator, claim, now))
    with stores.facts.transaction(now=now) as change:
        _require_generation(stores, expected_generation)
        _note_head(change, head)
        return keep(
            stores,
            validator,
            change,
            claim,
            now,
            kind=kind,
            scope=scope,
            known_by=known_by,
            again=again,
        )


def keep(
    stores: Stores,
    validator: Validator,
    change: FactTransaction,
    claim: Claim,
    now: str,
    *,
    kind: Kind = "convention",
    scope: Scope = "project",
    known_by: Sequence[bytes] = (),
    again: bool = False,
    purpose: Purpose = "working",
) -> Kept:
    """Keep a claim within a transaction; its text was checked.

    Args:
        stores: where.
        validator: checks the evidence.
        change: the transaction.
        claim: what, and why.
        now: the present as a UTC stamp.
        kind: what kind of claim.
        scope: whose memory.
        known_by: by what its text would be known if it was forgotten, when that was found before.
        again: a person states a text anew that was forgotten.
        purpose: `durable` for what was taken into the inbox before the context was cleared.

    Raises:
        SourceNotValid: the evidence doesn't hold.
        Refused: the text was forgotten, and `again` isn't set.
    """
    known = known_claim(stores, validator, claim.text, now)
    if known is not None and known.renews is None:
        return known.kept
    # What was forgotten first of all meanwhile isn't looked for in it yet.
    known_by = known_by or said_by(stores, claim.text, within=claim.origin != "person")
    _refuse_forgotten(stores, known_by, again=again)
    change.unmark_text(stores.text_mac(claim.text))
    if known is not None and known.renews is not None:
        kept, scope, kind = known.kept, known.fact.scope, known.fact.kind
        claim = renewing(claim, known.renews, now)
    else:
        kept = Kept("new", stores.new_fact_id(change.is_free), 1)
    generation = stores.facts.generation()
    revision = _revision(stores, kept.fact_id, kept.revision, claim, generation, now)
    _require_valid(validator, revision, purpose)
    if known is None:
        change.insert_fact(kept.fact_id, scope, kind)
    change.insert_revision(_signed(stores, kind, scope, revision))
    # What contradicts it does so still: said last, it is what is sent of them.
    if revision.begins_by(now):
        change.release(kept.fact_id, _CONFIRMED)
        open_dispute(change, kept.fact_id, claim.conflicts_with, now)
    return kept


def _contradicted(stores: Stores, validator: Validator, claim: Claim, now: str) -> tuple[str, ...]:
    """The ids of the facts that a statement for now can't hold beside."""
    has_begun = claim.valid_from is None or claim.valid_from <= now
    is_over = claim.valid_to is not None and claim.valid_to <= now
    if claim.origin not in ("person", "agent") or not has_begun or is_over:
        return claim.conflicts_with
    found = (fact.fact_id for fact in opposed(stores, validator, claim.text, now))
    return tuple(dict.fromkeys((*claim.conflicts_with, *found)))


def check_claim(
    stores: Stores,
    validator: Validator,
    claim_text: str,
    *,
    derived_from: Sequence[str] = (),
    valid_from: str | None = None,
    valid_to: str | None = None,
    again: bool = False,
) -> Kept | None:
    """Whether `remember` would keep a text, before its evidence is recorded.

    Returns:
        The fact that says it already or said it once; None when it would be kept.

    Raises:
        InvalidText, SecretFound, HiddenText, UnknownId, Refused: it would be refused.
    """
    text = check_claim_text(claim_text)
    if valid_from is not None and valid_to is not None and valid_from >= valid_to:
        raise InvalidText("a fact's time must end after it begins; give a later end.")
    for fact_id in derived_from:
        require_fact(stores, fact_id)
    known = known_claim(stores, validator, text, stores.now())
    if known is not None and known.renews is None:
        return known.kept
    if known is not None and known.fact.fact_id in derived_from:
        raise InvalidText(
            f"{known.fact.fact_id} says that itself; name facts that it is derived from."
        )
    _refuse_forgotten(stores, said_by(stores, text, within=False), again=again)
    return None


def check_correction(
    stores: Stores,
    fact_id: str,
    claim_text: str,
    *,
    expected_revision: int,
    valid_from: str | None = None,
    within: bool = False,
    known_by: Sequence[bytes] = (),
) -> None:
    """Refuse what `correct` would refuse, before its evidence is recorded.

    Args:
        stores: where.
        fact_id: which fact.
        claim_text: its new wording.
        expected_revision: the newest that the caller knows.
        valid_from: since when it is so.
        within: refuse also a text that holds a forgotten one.
        known_by: what `said_by` gave for it already.

    Raises:
        InvalidText, SecretFound, HiddenText, UnknownId, RevisionChanged, Refused.
    """
    text = check_claim_text(claim_text)
    newest = require_fact(stores, fact_id).current
    if newest.revision != expected_revision:
        raise RevisionChanged(
            f"{fact_id} is at revision {newest.revision} now, not {expected_revision};"
            f" `%memory fact {fact_id}` shows it."
        )
    says_it_then = newest.valid_to is None and (
        newest.valid_from is None or (valid_from is not None and newest.valid_from <= valid_from)
    )
    if says_it_then and normalised(text) == normalised(newest.text):
        raise InvalidText(f"{fact_id} says that already; nothing was changed.")
    known_by = known_by or said_by(stores, text, within=within)
    _refuse_forgotten(stores, known_by, advice="remember it with --again first.")


def correct(
    stores: Stores,
    validator: Validator,
    fact_id: str,
    claim: Claim,
    *,
    expected_revision: int,
    head: ChainHead | None = None,
    expected_generation: int | None = None,
) -> Kept:
    """Append a revision with new evidence; dependents are held until a person confirms them.

    It decides from the claim's `valid_from` on, without one for all times.

    Raises:
        UnknownId: no such fact. RevisionChanged: it has a newer revision than expected.
        SourceNotValid, Refused, GenerationChanged: as for `remember`.
    """
    text = check_claim_text(claim.text)
    require_fact(stores, fact_id)
    stores.ensure()
    now = stores.now()
    within = claim.origin != "person"
    known_by = said_by(stores, text, within=True) if within else []  # as in `remember`
    others = [one for one in _contradicted(stores, validator, claim, now) if one != fact_id]
    claim = replace(claim, text=text, conflicts_with=tuple(others))
    with stores.facts.transaction(now=now) as change:
        generation = _require_generation(stores, expected_generation)
        _note_head(change, head)
        check_correction(
            stores,
            fact_id,
            text,
            expected_revision=expected_revision,
            valid_from=claim.valid_from,
            within=within,
            known_by=known_by,
        )
        fact = require_fact(stores, fact_id)
        revision = _revision(stores, fact_id, fact.newest + 1, claim, generation, now)
        _require_valid(validator, revision)
        change.insert_revision(_signed(stores, fact.kind, fact.scope, revision))
        # A person said what it is; later is not now. What contradicted it did so as it was.
        if revision.begins_by(now):
            change.release(fact_id)
            change.end_holds(fact_id, "disputed")
            open_dispute(change, fact_id, others, now)
        flagged = flag_dependents(stores, change, fact_id, now)
        return Kept("corrected", fact_id, revision.revision, flagged)


def check_expiry(stores: Stores, validator: Validator, fact_id: str, at: str) -> Revision:
    """The revision that `expire` would end; its text is what holds until then.

    Raises:
        UnknownId: no such fact. SourceNotValid: its evidence doesn't hold.
        InputError: it begins later, or is over by then.
    """
    fact = require_fact(stores, fact_id)
    begun = (
        one for one in reversed(fact.revisions) if one.valid_from is None or one.valid_from < at
    )
    ending = next(begun, None)
    if ending is None:
        raise InputError(
            f"{fact_id} doesn't begin before that; give a later end, or `%memory forget {fact_id}`."
        )
    is_newest = ending.revision == fact.newest  # else what was to come later goes too
    if is_newest and ending.valid_to is not None and ending.valid_to <= at:
        raise InputError(
            f"{fact_id} is over by then already; nothing was changed. `%memory fact {fact_id}`"
            " shows since when."
        )
    status = validator.status(ending)
    if status != "valid":
        raise SourceNotValid(
            f"the evidence of {fact_id} is {status}, so it isn't in use; remember it anew, or"
            " forget it.",
            status=status,
        )
    return ending


def expire(
    stores: Stores,
    validator: Validator,
    fact_id: str,
    at: str,
    command: Source,
    *,
    head: ChainHead | None = None,
) -> Kept:
    """End a fact at a UTC stamp: what held before stays so, from then on it doesn't hold.

    The new revision rests on the sources of the one that it ends, and on the command that says
    when. Dependents are held at once, whenever the end is.

    Raises:
        As `check_expiry`.
    """
    with stores.facts.transaction(now=(now := stores.now())) as change:
        _note_head(change, head)
        return end(stores, validator, change, fact_id, at, now, command)


def end(
    stores: Stores,
    validator: Validator,
    change: FactTransaction,
    fact_id: str,
    at: str,
    now: str,
    command: Source | None = None,
) -> Kept:
    """End a fact at a UTC stamp within a transaction, as `expire` does.

    Without a command it is code that ends it, and the revision says so by its origin.

    Raises:
        As `check_expiry`.
    """
    fact = require_fact(stores, fact_id)
    ending = check_expiry(stores, validator, fact_id, at)
    revision = replace(
        ending,
        revision=fact.newest + 1,
        valid_to=at if ending.valid_to is None else min(ending.valid_to, at),
        origin=ending.origin if command is None else "person",
        recorded_at=now,
        generation=stores.facts.generation(),
        sources=ending.sources if command is None else (*ending.sources, command),
    )
    _require_valid(validator, revision, purpose="durable")
    change.insert_revision(_signed(stores, fact.kind, fact.scope, revision))
    if at <= now:  # what is over contradicts nothing
        change.release(fact_id, ["disputed"])
        change.end_holds(fact_id, "disputed")
    flagged = flag_dependents(stores, change, fact_id, now)
    return Kept("expired", fact_id, revision.revision, flagged)


def take_back(
    stores: Stores, change: FactTransaction, fact_id: str, revision: int, because_id: str, now: str
) -> tuple[str, ...]:
    """Take the newest revision of a fact out again, as if it hadn't been kept.

    Nothing is excluded and nothing is marked as forgotten: its evidence may serve other facts. A
    fact without another revision is gone; one with an earlier one is held because of `because_id`
    until a person confirms it, since taking the newer one in ended its holds.

    Returns:
        The facts that are held by this, since they were derived from it.

    Raises:
        Refused: the fact has a newer revision.
    """
    fact = require_fact(stores, fact_id)
    if fact.newest != revision:
        raise Refused(
            f"{fact_id} was changed since, so it isn't taken back; `%memory fact {fact_id}` shows"
            f" how. `%memory expire` ends it, `%memory forget {fact_id}` removes it."
        )
    flagged = flag_dependents(stores, change, fact_id, now)
    change.end_holds(fact_id, "disputed")
    if revision == 1:
        change.delete(fact_id)
    else:
        change.delete_revision(fact_id, revision)
        change.hold(fact_id, Hold("source_changed", because_id), now)
    return flagged


def check_confirmation(stores: Stores, fact_id: str) -> Kept | None:
    """`already` when there is nothing about a fact that `confirm` would settle.

    Raises:
        UnknownId: no such fact.
    """
    fact = require_fact(stores, fact_id)
    if fact.holds:
        return None
    return Kept("already", fact_id, fact.newest)


def confirm(stores: Stores, fact_id: str, *, head: ChainHead | None = None) -> Kept:
    """End the holds of a fact that a person has looked at; `disputes` settles what contradicts.

    Raises:
        UnknownId: no such fact.
    """
    with stores.facts.transaction(now=stores.now()) as change:
        _note_head(change, head)
        fact = require_fact(stores, fact_id)
        change.release(fact_id, _CONFIRMED)
        return Kept("confirmed", fact_id, fact.newest)


def require_fact(stores: Stores, fact_id: str) -> Fact:
    """The fact of this id with its history.

    Raises:
        UnknownId: there is none; the message says when it was forgotten.
    """
    require_fact_id(fact_id)
    fact = stores.facts.fact(fact_id)
    if fact is not None:
        return fact
    forgotten = stores.facts.forgotten().get(fact_id)
    if forgotten is not None:
        raise UnknownId(f"{fact_id} was forgotten on {forgotten.at[:10]}.")
    raise UnknownId(f"no fact {fact_id} in this project; `%memory facts` lists them.")


def is_forgotten(stores: Stores, text: str) -> bool:
    """Whether a text that isn't a person's statement was forgotten, or holds such a text."""
    macs = said_by(stores, text, within=True)
    return bool(macs) and stores.facts.any_forgotten(macs) is not None


def said_by(stores: Stores, text: str, *, within: bool) -> list[bytes]:
    """By what a forgotten text is known again; `within`: also in one that holds it."""
    if not stores.facts.exists or not stores.facts.generation():
        return []  # nothing was ever forgotten: the runs of words in a long text take a while
    return stores.phrase_macs(text) if within else [stores.text_mac(text)]


def _refuse_forgotten(
    stores: Stores,
    macs: Sequence[bytes],
    *,
    again: bool = False,
    advice: str = "add --again to remember it anew.",
) -> None:
    """Refuse a text that was forgotten, or one that holds such a text."""
    if again or not macs:
        return
    forgotten = stores.facts.any_forgotten(macs)
    if forgotten is not None:
        raise Refused(f"this text was forgotten on {forgotten.at[:10]}; {advice}")


def _require_generation(stores: Stores, expected: int | None) -> int:
    generation = stores.facts.generation()
    if expected is not None and generation != expected:
        raise GenerationChanged(
            "something was forgotten since the model was asked; nothing was kept. Run the cell"
            " again."
        )
    return generation


def _require_valid(validator: Validator, revision: Revision, purpose: Purpose = "working") -> None:
    status = validator.status(revision, purpose)
    if status != "valid":
        raise SourceNotValid(
            f"the evidence is {status}, so nothing was kept; state it again in a cell.",
            status=status,
        )


def _revision(
    stores: Stores, fact_id: str, number: int, claim: Claim, generation: int, now: str
) -> Revision:
    return Revision(
        fact_id=fact_id,
        revision=number,
        text=claim.text,
        basis=claim.basis,
        origin=claim.origin,
        recorded_at=now,
        generation=generation,
        sources=claim.sources,
        links=tuple(
            sorted(
                (
                    *(
                        _link(stores, "derived_from", other_id)
                        for other_id in dict.fromkeys(claim.derived_from)
                    ),
                    *(_link(stores, "supersedes", other_id) for other_id in claim.supersedes),
                    *(_link(stores, "conflicts_with", other) for other in claim.conflicts_with),
                ),
                key=lambda link: (link.relation, link.other_id),
            )
        ),
        rule=claim.rule,
        confidence=claim.confidence,
        valid_from=claim.valid_from,
        valid_to=claim.valid_to,
    )


def _link(stores: Stores, relation: Relation, other_id: str) -> Link:
    return Link(relation, other_id, require_fact(stores, other_id).newest)


def _signed(stores: Stores, kind: Kind, scope: Scope, revision: Revision) -> Revision:
    return replace(revision, mac=stores.revision_mac(kind, scope, revision))


def _note_head(change: FactTransaction, head: ChainHead | None) -> None:
    if head is not None:
        change.set_head(head)


def flag_dependents(
    stores: Stores, change: FactTransaction, fact_id: str, now: str
) -> tuple[str, ...]:
    """Hold every fact that is derived from this one, directly or not; gives their ids."""
    dependents = stores.facts.dependents(fact_id, at=now)
    for dependent in dependents:
        change.hold(dependent, Hold("source_changed", fact_id), now)
    return tuple(dependents)
