"""What of memory a request carries, read from storage anew before every request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from memnb.core.section import (
    Choice,
    Note,
    Room,
    Section,
    Standing,
    choose,
    facts_room,
    is_followed,
    section,
)
from memnb.errors import MemnbError
from memnb.memory import noting
from memnb.memory.remembering import require_fact
from memnb.memory.standing import Standings
from memnb.memory.stores import Stores
from memnb.memory.use import Ranks
from memnb.memory.validation import Validator

__all__ = [
    "Limits",
    "choice_and_displaced",
    "choice_of",
    "choices",
    "memory_section",
    "room_left",
    "standings",
]

_BATCH: Final = 64
_WINDOW_SHARE: Final = 4
_BYTES_PER_TOKEN: Final = 3

_NOTES: Final = ("MEMORY", "scratchpad")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a request memory may fill, in bytes."""

    max_bytes: int = 32_768
    facts_max_bytes: int = 8_192

    def within(self, context_tokens: int | None) -> Limits:
        """The limits for a model's window, of which memory fills a quarter at most."""
        if context_tokens is None:
            return self
        quarter = context_tokens * _BYTES_PER_TOKEN // _WINDOW_SHARE
        return Limits(min(self.max_bytes, quarter), min(self.facts_max_bytes, quarter))


def memory_section(
    stores: Stores,
    validator: Validator,
    limits: Limits,
    *,
    fence: str,
    without: Collection[str] = (),
    ranks: Ranks | None = None,
) -> tuple[Section, tuple[str, ...]]:
    """The section for the next request, and lines about notes that couldn't be read.

    Args:
        stores: the project's.
        validator: checks the evidence.
        limits: how much of a request memory may fill.
        fence: a random word that stored text can't know.
        without: the ids of facts that are left out, as if they weren't known.
        ranks: which facts get room first, settled for a while; as of now when left out.
    """
    with stores.facts.snapshot():
        chosen = _chosen(stores, validator, limits, ranks, without)
        n_facts = stores.facts.count() - len(without)
    notes, problems = _notes(stores)
    built = section(
        chosen,
        notes,
        n_facts=n_facts,
        facts_max_bytes=limits.facts_max_bytes,
        max_bytes=limits.max_bytes,
        fence=fence,
    )
    return built, problems


def choices(
    stores: Stores, validator: Validator, limits: Limits, ranks: Ranks | None = None
) -> list[Choice]:
    """For every fact, oldest first, whether the prompt carries it and why not."""
    room = _room(limits)
    judge = Standings(stores, validator, now := stores.now())
    judged = (
        standing
        for batch in _ranks(stores, ranks).batches(room)
        for standing in judge.of(stores.facts.facts(batch, at=now))
    )
    found = {one.fact.fact_id: one for one in choose(judged, max_bytes=room)}
    return [found[fact_id] for fact_id in stores.facts.order.oldest_first(list(found))]


def standings(stores: Stores, validator: Validator, at: str) -> Iterator[Standing]:
    """Every fact, oldest first, as it stood at a UTC stamp, by evidence as it is now."""
    judge = Standings(stores, validator, at)
    for batch in stores.facts.batches(_BATCH):
        yield from judge.of(stores.facts.facts(batch, at=at))


def choice_of(
    stores: Stores,
    validator: Validator,
    limits: Limits,
    fact_id: str,
    ranks: Ranks | None = None,
) -> Choice:
    """Whether the prompt carries one fact, and why not.

    Raises:
        UnknownId: there is no such fact.
    """
    with stores.facts.snapshot():
        return _verdict(stores, validator, _until_full(stores, validator, limits, ranks), fact_id)


def choice_and_displaced(
    stores: Stores,
    validator: Validator,
    limits: Limits,
    fact_id: str,
    ranks: Ranks | None = None,
) -> tuple[Choice, tuple[str, ...]]:
    """The same, with the facts that would have room if it weren't for that one, oldest first.

    Raises:
        UnknownId: there is no such fact.
    """
    with stores.facts.snapshot():
        chosen = list(_until_full(stores, validator, limits, ranks))
        choice = _verdict(stores, validator, chosen, fact_id)
        if not choice.is_in:
            return choice, ()
        others = (one for one in chosen if one.fact.fact_id != fact_id)
        judge = Standings(stores, validator, stores.now())
        displaced = list(_with_more_room(others, judge, Room(_room(limits))))
        return choice, tuple(stores.facts.order.oldest_first(displaced))


def room_left(
    stores: Stores, validator: Validator, limits: Limits, ranks: Ranks | None = None
) -> int:
    """The bytes that another line may take in the prompt, and push out nothing that is followed."""
    with stores.facts.snapshot():
        followed = (
            one.n_bytes
            for one in _until_full(stores, validator, limits, ranks)
            if one.is_in and is_followed(one.fact)
        )
        return _room(limits) - sum(followed)


def _verdict(
    stores: Stores, validator: Validator, chosen: Iterable[Choice], fact_id: str
) -> Choice:
    for choice in chosen:
        if choice.fact.fact_id == fact_id and choice.reason != "no room":
            return choice
    now = stores.now()
    (standing,) = Standings(stores, validator, now).of([require_fact(stores, fact_id).as_of(now)])
    choice = Choice.of(standing)
    return replace(choice, reason="no room") if choice.is_in else choice


def _with_more_room(choices: Iterable[Choice], judge: Standings, room: Room) -> Iterator[str]:
    """The facts that had no room, and have some now that one of the others isn't there."""
    for one in choices:
        had_none = one.reason == "no room"
        standing = Standing(one.fact, one.status, one.reason, one.because_id)
        if had_none and room.fits(one.fact):
            (standing,) = judge.of([one.fact])  # its evidence wasn't read
        if room.take(standing).is_in and had_none:
            yield one.fact.fact_id


def _chosen(
    stores: Stores,
    validator: Validator,
    limits: Limits,
    ranks: Ranks | None,
    without: Collection[str] = (),
) -> list[Choice]:
    """The choices among what came into question at all, oldest first."""
    found = {
        one.fact.fact_id: one for one in _until_full(stores, validator, limits, ranks, without)
    }
    return [found[fact_id] for fact_id in stores.facts.order.oldest_first(list(found))]


def _until_full(
    stores: Stores,
    validator: Validator,
    limits: Limits,
    ranks: Ranks | None,
    without: Collection[str] = (),
) -> Iterator[Choice]:
    """The choices up to where no later fact can be in; the evidence of what can't be isn't read."""
    now, room = stores.now(), Room(_room(limits))
    judge = Standings(stores, validator, now, without=without)
    for batch in _ranks(stores, ranks).batches(room.n_bytes):
        facts = stores.facts.facts(batch, at=now)
        while facts and not room.is_full:
            n = max(1, room.n_together(facts))
            some, facts = facts[:n], facts[n:]
            judged = {one.fact.fact_id: one for one in judge.of(list(filter(room.fits, some)))}
            for fact in some:
                yield room.take(judged.get(fact.fact_id) or Standing(fact, "unverified", "no room"))
        if room.is_full:
            return


def _ranks(stores: Stores, ranks: Ranks | None) -> Ranks:
    return Ranks(stores.facts) if ranks is None else ranks


def _room(limits: Limits) -> int:
    return facts_room(facts_max_bytes=limits.facts_max_bytes, max_bytes=limits.max_bytes)


def _notes(stores: Stores) -> tuple[list[Note], tuple[str, ...]]:
    notes, problems = [], []
    for name in (noting.find(stores, text) for text in _NOTES):
        try:
            text = stores.notes.read(name).text
        except MemnbError as error:
            # A note that can't be read must not stop the turn; the person is told.
            problems.append(f"{name.relative} was left out: {error}")
            continue
        notes.append(Note(name.relative, text, name.is_trusted))
    return notes, tuple(problems)
