"""Disputes: facts that contradict each other are both kept, and marked, until a person decides.

1. Each is held because of the other. Of those in a dispute, the prompt carries the one that the
   person stated last, marked (`core/section.py`, `memory/standing.py`).
2. Confirming one ends the other from then on; it isn't forgotten, and what it said before stays
   in its history. Correcting one, or ending or forgetting it, settles its disputes, too.
3. What code promoted takes the place of what code promoted before, and of nothing else. When it is
   taken back, what it replaced holds again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memnb.core.facts import Fact, Link, Source
from memnb.core.records import ChainHead
from memnb.errors import InputError, SourceNotValid
from memnb.memory.opposing import open_dispute, opposed
from memnb.memory.remembering import Kept, end, require_fact
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator
from memnb.storage.fact_store import FactTransaction

__all__ = [
    "Contradicted",
    "contradicted",
    "is_disputed",
    "pairs",
    "reinstate",
    "resolve",
    "supersede",
]

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Contradicted:
    """The facts that a claim contradicts as they are now: those it takes the place of, the rest."""

    superseded: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()


def is_disputed(fact: Fact) -> bool:
    """Whether a fact is in dispute."""
    return any(hold.reason == "disputed" for hold in fact.holds)


def contradicted(
    stores: Stores, references: Iterable[str], *, is_promoted: bool, now: str
) -> Contradicted:
    """What of the facts that a candidate names, as `F-7k2m9q@1`, it still contradicts.

    One that was changed or forgotten since isn't what it was compared with.
    """
    named = dict(reference.partition("@")[::2] for reference in references)
    found = [
        fact
        for fact in stores.facts.facts(sorted(named))
        if str(fact.newest) == named[fact.fact_id] and fact.current.is_valid_at(now)
    ]
    gives_way = [one for one in found if is_promoted and one.current.origin == "promoted"]
    return Contradicted(
        tuple(fact.fact_id for fact in gives_way),
        tuple(fact.fact_id for fact in found if fact not in gives_way),
    )


def supersede(
    stores: Stores,
    validator: Validator,
    change: FactTransaction,
    others: Iterable[str],
    now: str,
    command: Source | None = None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """End facts now; gives those that ended, and those that are held by it.

    One whose evidence doesn't hold, or that is over, isn't in use anyway.
    """
    ended: list[str] = []
    flagged: dict[str, None] = {}
    for other in others:
        try:
            kept = end(stores, validator, change, other, now, now, command)
        except (SourceNotValid, InputError):
            continue
        ended.append(other)
        flagged.update(dict.fromkeys(kept.flagged))
    return tuple(ended), tuple(flagged)


def reinstate(
    stores: Stores, validator: Validator, change: FactTransaction, links: Iterable[Link], now: str
) -> tuple[str, ...]:
    """Let hold again what a revision ended, whose links these are; gives the ids.

    One that was changed or forgotten since stays as it is.
    """
    back: list[str] = []
    for link in links:
        fact = stores.facts.fact(link.other_id) if link.relation == "supersedes" else None
        if fact is None or fact.newest != link.other_revision + 1:
            continue
        if fact.current.origin != "promoted":  # a person ended it, too
            continue
        change.delete_revision(fact.fact_id, fact.newest)
        change.end_holds(fact.fact_id, "source_changed")
        rivals = opposed(stores, validator, fact.current.text, now)
        open_dispute(change, fact.fact_id, [rival.fact_id for rival in rivals], now)
        back.append(fact.fact_id)
    return tuple(back)


def resolve(
    stores: Stores,
    validator: Validator,
    fact_id: str,
    command: Source,
    *,
    head: ChainHead | None = None,
) -> Kept:
    """Keep a fact by a person's word: it is held no more, and what contradicts it ends now.

    Args:
        stores: where.
        validator: checks the evidence of what ends.
        fact_id: which is so.
        command: the record in which the person says that.
        head: how far the writing session reaches.

    Raises:
        UnknownId: no such fact.
    """
    with stores.facts.transaction(now=(now := stores.now())) as change:
        if head is not None:
            change.set_head(head)
        fact = require_fact(stores, fact_id)
        rivals = _rivals(fact)
        ended, flagged = supersede(stores, validator, change, rivals, now, command)
        change.release(fact_id)  # afterwards: it may rest on what ended
        for rival in rivals:
            change.release(rival, ["disputed"])
            change.end_holds(rival, "disputed")
    return Kept("confirmed", fact_id, fact.newest, flagged, ended)


def pairs(stores: Stores) -> list[tuple[Fact, Fact]]:
    """The facts that contradict each other, as they are now; each pair once, older one first."""
    now = stores.now()
    found: dict[frozenset[str], None] = {}
    known: dict[str, Fact] = {}
    for batch in stores.facts.batches(_BATCH):
        for fact in stores.facts.facts(batch, at=now):
            known.update({fact.fact_id: fact} if is_disputed(fact) else {})
            for rival in _rivals(fact):
                found[frozenset((fact.fact_id, rival))] = None
    missing = {one for pair in found for one in pair} - known.keys()
    known.update({fact.fact_id: fact for fact in stores.facts.facts(sorted(missing), at=now)})
    sides = [[known[one] for one in pair if one in known] for pair in found]
    return [_in_order(pair) for pair in sides if len(pair) == 2]


def _in_order(pair: Sequence[Fact]) -> tuple[Fact, Fact]:
    first, second = sorted(pair, key=lambda fact: (fact.current.recorded_at, fact.fact_id))
    return first, second


def _rivals(fact: Fact) -> tuple[str, ...]:
    return tuple(hold.because_id for hold in fact.holds if hold.reason == "disputed")
