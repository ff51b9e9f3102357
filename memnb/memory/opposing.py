"""Facts that can't hold beside each other, as rules read them: other choices of the same thing.

1. Rules read whole, plain sentences. What they don't read, nothing contradicts here; a model that
   quotes may name what it contradicts besides.
2. Both sides are kept, each held because of the other, until a person decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memnb.core.canonical_rules import Form, canonical, contradicts, may_say
from memnb.core.facts import Fact, Hold
from memnb.memory.standing import Standings
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator
from memnb.storage.fact_store import FactTransaction

__all__ = ["Compared", "compared", "open_dispute", "opposed"]

_BATCH: Final = 500
_OUT_OF_USE: Final = ("not valid", "not valid now")


@dataclass(frozen=True, slots=True)
class Compared:
    """What the facts in use say to a form: whether one says it, and which can't hold beside it."""

    is_said: bool = False
    opposed: tuple[Fact, ...] = ()


def compared(stores: Stores, validator: Validator, form: Form, now: str) -> Compared:
    """Compare a form with all facts, in whatever words they say theirs."""
    said: list[str] = []
    against: list[str] = []
    for ids in stores.facts.batches(_BATCH):
        for fact_id, _, text in stores.facts.texts(ids, at=now):
            other = canonical(text) if may_say(text, (form.category,)) else None
            if other is not None and other.text == form.text:
                said.append(fact_id)
            elif other is not None and contradicts(form, other):
                against.append(fact_id)
    facts = stores.facts.facts([*said, *against], at=now)
    standings = Standings(stores, validator, now).of(facts)
    in_use = [one.fact for one in standings if one.reason not in _OUT_OF_USE]
    return Compared(
        is_said=any(fact.fact_id in said for fact in in_use),
        opposed=tuple(fact for fact in in_use if fact.fact_id in against),
    )


def opposed(stores: Stores, validator: Validator, text: str, now: str) -> tuple[Fact, ...]:
    """The facts in use that a text can't hold beside; none of one that rules don't read."""
    form = canonical(text)
    if form is None or not form.key:
        return ()
    return compared(stores, validator, form, now).opposed


def open_dispute(change: FactTransaction, fact_id: str, others: Iterable[str], now: str) -> None:
    """Mark a fact and those that it contradicts, each because of the other."""
    for other in others:
        if other != fact_id:
            change.hold(fact_id, Hold("disputed", other), now)
            change.hold(other, Hold("disputed", fact_id), now)
