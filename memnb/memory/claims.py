"""Claims: texts with their evidence, and what the facts there are say of a text already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from memnb.core.facts import Basis, Fact, Origin, Revision, Source, text_key
from memnb.memory.standing import Standings
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = ["Claim", "Kept", "Known", "known_claim", "renewing"]

_BEST: Final = ("already", "renewed", "replaced")
"""When several facts have a text, the first of these says what becomes of it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A text with the evidence for it; times are UTC stamps, `[valid_from, valid_to)`.

    What was learned says by which `rule`, how sure it is in thousandths, and which facts it
    contradicts or takes the place of.
    """

    text: str
    basis: Basis
    sources: tuple[Source, ...]
    origin: Origin
    valid_from: str | None = None
    valid_to: str | None = None
    derived_from: tuple[str, ...] = ()
    rule: str | None = None
    confidence: int | None = None
    conflicts_with: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a claim, or of what was said of a fact.

    `new`; `already` there, now or later; `renewed`: it was there, but held, over, or without
    evidence that holds; `replaced`: the fact said that once and was corrected since; `corrected`;
    `expired`; `confirmed`.

    Args:
        outcome: which of these.
        fact_id: of which fact.
        revision: the number of its newest revision.
        flagged: facts that are held by this, since they were derived from it.
        ended: facts that ended with it, since they contradicted it.
    """

    outcome: Literal["new", "already", "renewed", "replaced", "corrected", "expired", "confirmed"]
    fact_id: str
    revision: int
    flagged: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """The revision as records name it."""
        return f"{self.fact_id}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Known:
    """A fact that has or had a text; `renews` is the revision that would have to be said anew."""

    fact: Fact
    renews: Revision | None = None
    is_replaced: bool = False

    @property
    def kept(self) -> Kept:
        """What becomes of a claim with this text."""
        fact_id, newest = self.fact.fact_id, self.fact.newest
        if self.renews is not None:
            return Kept("renewed", fact_id, newest + 1)
        return Kept("replaced" if self.is_replaced else "already", fact_id, newest)


def known_claim(stores: Stores, validator: Validator, text: str, now: str) -> Known | None:
    """The fact that has or had this text, with its history; None without one."""
    key = text_key(text)
    ids = dict.fromkeys(fact_id for fact_id, _ in stores.facts.by_text(key))
    judge = Standings(stores, validator, now)
    found = (
        _known_in(fact, [one for one in fact.revisions if text_key(one.text) == key], judge, now)
        for fact in stores.facts.facts(list(ids), history=True)
    )
    return min(found, key=lambda known: _BEST.index(known.kept.outcome), default=None)


def renewing(claim: Claim, renews: Revision, now: str) -> Claim:
    """A claim that says `renews` again, for the time that it is meant for.

    Without times of its own it has those of before; what was over holds since now.
    """
    if claim.valid_from is not None:
        return claim
    if renews.valid_to is None or now < renews.valid_to:
        ends = claim.valid_to or renews.valid_to
        return replace(claim, valid_from=renews.valid_from, valid_to=ends)
    is_past = claim.valid_to is not None and claim.valid_to <= now
    return claim if is_past else replace(claim, valid_from=now)


def _known_in(fact: Fact, saying: Iterable[Revision], judge: Standings, now: str) -> Known:
    """What a fact says now, or will, in the revisions `saying` that have the text."""
    saying = list(saying)
    to_come = [
        one
        for one in saying
        if (interval := fact.in_force(one)) is not None and interval.reaches(now)
    ]
    if to_come:
        first = min(to_come, key=lambda one: one.valid_from or "")
        (standing,) = judge.of([replace(fact, revisions=(first,))])
        holds = standing.reason in ("", "not valid now")  # which is then: not yet
        return Known(fact, renews=None if holds else first)
    decides = fact.at(now)
    if decides in saying:  # and is over
        return Known(fact, renews=decides)
    return Known(fact, is_replaced=True)
