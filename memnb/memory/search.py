"""Literal search over facts and notes: the words as typed, in any case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from memnb.core.facts import normalised
from memnb.errors import InputError
from memnb.memory import noting
from memnb.memory.standing import Standings
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = ["MAX_HITS", "Hit", "search"]

MAX_HITS: Final = 50
_BATCH: Final = 256


@dataclass(frozen=True, slots=True)
class Hit:
    """One place: a fact by id and revision, or a line of a note."""

    where: Literal["fact", "note"]
    name: str
    line: int
    text: str


def search(
    stores: Stores, validator: Validator, pattern: str, *, limit: int = MAX_HITS
) -> tuple[Hit, ...]:
    """At most `limit` places that hold `pattern`: facts that hold first, then lines of notes.

    Raises:
        InputError: the pattern is empty.
    """
    if not pattern.strip():
        raise InputError("say what to look for: `%memory search WORDS`.")
    limit = max(1, min(limit, MAX_HITS))
    found = list(islice(_in_facts(stores, validator, normalised(pattern)), limit))
    in_notes = noting.search(stores, pattern, limit=limit - len(found)).hits
    return (*found, *(Hit("note", hit.file, hit.line, hit.text) for hit in in_notes))


def _in_facts(stores: Stores, validator: Validator, wanted: str) -> Iterator[Hit]:
    now = stores.now()
    judge = Standings(stores, validator, now)
    for batch in stores.facts.batches(_BATCH, newest_first=True):
        texts = stores.facts.texts(batch, at=now)
        hits = [fact_id for fact_id, _, text in texts if wanted in normalised(text)]
        for standing in judge.of(stores.facts.facts(hits, at=now)):
            if not standing.reason:
                current = standing.fact.current
                yield Hit("fact", current.fact_id, current.revision, current.text)
