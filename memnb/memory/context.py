"""What of memory a request carries, read from storage anew before every request."""

from __future__ import annotations

from collections.abc import Iterator
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
    section,
)
from memnb.errors import MemnbError
from memnb.memory import noting
from memnb.memory.remembering import require_fact
from memnb.memory.standing import Standings
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = ["Limits", "choice_of", "choices", "memory_section", "room_left", "standings"]

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
    stores: Stores, validator: Validator, limits: Limits, *, fence: str
) -> tuple[Section, tuple[str, ...]]:
    """The section for the next request, and lines about notes that couldn't be read."""
    with stores.facts.snapshot():
        chosen = list(_until_full(stores, validator, limits))
        n_facts = stores.facts.count()
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


def choices(stores: Stores, validator: Validator, limits: Limits) -> Iterator[Choice]:
    """For every fact, oldest first, whether the prompt carries it and why not."""
    return choose(standings(stores, validator, stores.now()), max_bytes=_room(limits))


def standings(stores: Stores, validator: Validator, at: str) -> Iterator[Standing]:
    """Every fact, oldest first, as it stood at a UTC stamp, by evidence as it is now."""
    judge = Standings(stores, validator, at)
    for batch in stores.facts.batches(_BATCH):
        yield from judge.of(stores.facts.facts(batch, at=at))


def choice_of(stores: Stores, validator: Validator, limits: Limits, fact_id: str) -> Choice:
    """Whether the prompt carries one fact, and why not.

    Raises:
        UnknownId: there is no such fact.
    """
    for choice in _until_full(stores, validator, limits):
        if choice.fact.fact_id == fact_id and choice.reason != "no room":
            return choice
    now = stores.now()
    (standing,) = Standings(stores, validator, now).of([require_fact(stores, fact_id).as_of(now)])
    choice = Choice.of(standing)
    return replace(choice, reason="no room") if choice.is_in else choice


def room_left(stores: Stores, validator: Validator, limits: Limits) -> int:
    """The bytes that another fact's line may take in the prompt."""
    with stores.facts.snapshot():
        carried = (one.n_bytes for one in _until_full(stores, validator, limits) if one.is_in)
        return _room(limits) - sum(carried)


def _until_full(stores: Stores, validator: Validator, limits: Limits) -> Iterator[Choice]:
    """The choices up to where no later fact can be in; the evidence of what can't be isn't read."""
    now, room = stores.now(), Room(_room(limits))
    judge = Standings(stores, validator, now)
    for batch in stores.facts.batches(_BATCH):
        facts = stores.facts.facts(batch, at=now)
        while facts and not room.is_full:
            n = max(1, room.n_together(facts))
            some, facts = facts[:n], facts[n:]
            judged = {one.fact.fact_id: one for one in judge.of(list(filter(room.fits, some)))}
            for fact in some:
                yield room.take(judged.get(fact.fact_id) or Standing(fact, "unverified", "no room"))
        if room.is_full:
            return


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
