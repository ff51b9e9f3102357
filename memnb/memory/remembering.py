"""The one door for what becomes a fact: remember, correct.

1. Every text is screened, every source validated inside the transaction that uses it.
2. A change is one transaction: fact, revision and evidence, or nothing.
3. Nothing is overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memnb.core.facts import (
    Basis,
    Fact,
    Hold,
    Kind,
    Link,
    Origin,
    Revision,
    Scope,
    Source,
    check_text,
    normalised,
    phrases,
    text_key,
)
from memnb.core.ids import require_fact_id
from memnb.core.records import ChainHead
from memnb.core.screening import require_clean
from memnb.core.section import why_out
from memnb.errors import (
    GenerationChanged,
    InvalidText,
    Refused,
    RevisionChanged,
    SourceNotValid,
    UnknownId,
)
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator
from memnb.storage.fact_store import FactTransaction

__all__ = [
    "Claim",
    "Kept",
    "check_claim_text",
    "correct",
    "flag_dependents",
    "remember",
    "require_fact",
]


@dataclass(frozen=True, slots=True)
class Claim:
    """A text with the evidence for it; times are UTC stamps, `[valid_from, valid_to)`."""

    text: str
    basis: Basis
    sources: tuple[Source, ...]
    origin: Origin
    valid_from: str | None = None
    valid_to: str | None = None
    derived_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a claim.

    `new`; `already` there; `renewed`: it was there, but held, over, or without evidence that holds;
    `replaced`: the fact said that once and was corrected since.
    """

    outcome: Literal["new", "already", "renewed", "replaced"]
    fact_id: str
    revision: int

    @property
    def reference(self) -> str:
        """The revision as records name it."""
        return f"{self.fact_id}@{self.revision}"


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
    with stores.facts.transaction(now=now) as change:
        generation = _require_generation(stores, expected_generation)
        _note_head(change, head)
        known = known_claim(stores, validator, text)
        if known is not None and known.outcome != "renewed":
            return known
        _refuse_forgotten(stores, text, again=again, within=claim.origin != "person")
        change.unmark_text(stores.text_mac(text))
        if known is not None:
            fact = require_fact(stores, known.fact_id)
            fact_id, number, scope, kind = fact.fact_id, known.revision, fact.scope, fact.kind
        else:
            fact_id, number = stores.new_fact_id(change.is_free), 1
        revision = _revision(stores, fact_id, number, replace(claim, text=text), generation, now)
        _require_valid(validator, revision)
        if known is None:
            change.insert_fact(fact_id, scope, kind)
        change.insert_revision(_signed(stores, kind, scope, revision))
        change.release(fact_id)
        return known or Kept("new", fact_id, 1)


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
    known = known_claim(stores, validator, text)
    if known is not None and known.outcome != "renewed":
        return known
    _refuse_forgotten(stores, text, again=again)
    return None


def check_correction(
    stores: Stores, fact_id: str, claim_text: str, *, expected_revision: int
) -> None:
    """Refuse what `correct` would refuse, before its evidence is recorded.

    Raises:
        InvalidText, SecretFound, HiddenText, UnknownId, RevisionChanged, Refused.
    """
    text = check_claim_text(claim_text)
    current = require_fact(stores, fact_id).current
    if current.revision != expected_revision:
        raise RevisionChanged(
            f"{fact_id} is at revision {current.revision} now, not {expected_revision};"
            f" `%memory fact {fact_id}` shows it."
        )
    if normalised(text) == normalised(current.text):
        raise InvalidText(f"{fact_id} says that already; nothing was changed.")
    _refuse_forgotten(stores, text, again=False)


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

    Raises:
        UnknownId: no such fact. RevisionChanged: it has a newer revision than expected.
        SourceNotValid, Refused, GenerationChanged: as for `remember`.
    """
    text = check_claim_text(claim.text)
    require_fact(stores, fact_id)
    stores.ensure()
    now = stores.now()
    with stores.facts.transaction(now=now) as change:
        generation = _require_generation(stores, expected_generation)
        _note_head(change, head)
        check_correction(stores, fact_id, text, expected_revision=expected_revision)
        fact = require_fact(stores, fact_id)
        current = fact.current
        revision = _revision(
            stores, fact_id, current.revision + 1, replace(claim, text=text), generation, now
        )
        _require_valid(validator, revision)
        change.insert_revision(_signed(stores, fact.kind, fact.scope, revision))
        change.release(fact_id)
        flag_dependents(stores, change, fact_id, now)
        return Kept("new", fact_id, revision.revision)


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


def known_claim(stores: Stores, validator: Validator, text: str) -> Kept | None:
    """The fact that has or had this text: `already`, `renewed` or `replaced`; None without one.

    `renewed` names the revision that new evidence would make.
    """
    found: Kept | None = None
    for fact_id, revision in stores.facts.by_text(text_key(text)):
        fact = stores.facts.facts([fact_id])[0]
        number = fact.current.revision
        if number != revision:
            found = found or Kept("replaced", fact_id, number)
        elif not why_out(fact, validator.statuses([fact])[0], stores.now()):
            return Kept("already", fact_id, number)
        else:
            return Kept("renewed", fact_id, number + 1)
    return found


def _refuse_forgotten(stores: Stores, text: str, *, again: bool, within: bool = False) -> None:
    """Refuse a text that was forgotten; `within`: also one that holds such a text."""
    if again or not stores.facts.exists:
        return
    macs = [stores.text_mac(phrase) for phrase in (phrases(text) if within else [text])]
    forgotten = stores.facts.any_forgotten(macs)
    if forgotten is not None:
        raise Refused(
            f"this text was forgotten on {forgotten.at[:10]}; add --again to remember it anew."
        )


def _require_generation(stores: Stores, expected: int | None) -> int:
    generation = stores.facts.generation()
    if expected is not None and generation != expected:
        raise GenerationChanged(
            "something was forgotten since the model was asked; nothing was kept. Run the cell"
            " again."
        )
    return generation


def _require_valid(validator: Validator, revision: Revision) -> None:
    status = validator.status(revision, purpose="working")
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
                (_derived(stores, other_id) for other_id in dict.fromkeys(claim.derived_from)),
                key=lambda link: link.other_id,
            )
        ),
        valid_from=claim.valid_from,
        valid_to=claim.valid_to,
    )


def _derived(stores: Stores, other_id: str) -> Link:
    return Link("derived_from", other_id, require_fact(stores, other_id).current.revision)


def _signed(stores: Stores, kind: Kind, scope: Scope, revision: Revision) -> Revision:
    return replace(revision, mac=stores.revision_mac(kind, scope, revision))


def _note_head(change: FactTransaction, head: ChainHead | None) -> None:
    if head is not None:
        change.set_head(head)


def flag_dependents(
    stores: Stores, change: FactTransaction, fact_id: str, now: str
) -> tuple[str, ...]:
    """Hold every fact that is derived from this one, directly or not; gives their ids."""
    dependents = stores.facts.dependents(fact_id)
    for dependent in dependents:
        change.hold(dependent, Hold("source_changed", fact_id), now)
    return tuple(dependents)
