"""Why a turn was or wasn't given one fact: by the memory section, by recall, or not at all.

Of a turn of this kernel everything is known that was considered. Of others only ids are recorded:
then it can be told whether the fact was carried, and how it stands now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memnb.core.bodies import read_user
from memnb.core.facts import Fact
from memnb.core.query import understand
from memnb.core.recall_block import NO_RECALL, Considered, Recall
from memnb.core.recall_gate import asked
from memnb.core.records import Record
from memnb.core.section import Choice
from memnb.errors import StoreDamaged
from memnb.memory.history import History
from memnb.memory.matching import Words
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.remembering import require_fact

__all__ = ["Given", "Verdict", "verdict"]

Place = Literal["section", "recall", "carried", "none"]
"""Where a turn was given a fact; `carried` when only that is known."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a turn was given, as far as it is known.

    Args:
        turn: the number of its message's record.
        carried: references of what its requests carried.
        choices: the verdicts of its last memory section; None when they aren't known.
        recall: what its message was sent with.
    """

    turn: int
    carried: Sequence[str] = ()
    choices: Sequence[Choice] | None = None
    recall: Recall = NO_RECALL


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one fact in a turn.

    Args:
        place: where the turn was given it.
        is_newer: whether it was learned after the message.
        choice: what was decided about it for the memory section; None when it didn't come into
            question there, or that isn't known.
        considered: what recall found of it; None when it wasn't found.
        shared: its words that recall looks for with the message.
    """

    place: Place
    is_newer: bool = False
    choice: Choice | None = None
    considered: Considered | None = None
    shared: tuple[str, ...] = ()


def verdict(memory: ProjectMemory, history: History, given: Given, fact_id: str) -> Verdict:
    """What became of a fact in a turn of a session.

    Raises:
        UnknownId: there is no such fact, or it was forgotten.
    """
    fact = require_fact(memory.stores, fact_id)
    message = history.reader.records([given.turn]).get(given.turn)
    found = (one for one in given.recall.considered if _fact_id(one.reference) == fact_id)
    choices = given.choices or ()
    choice = next((one for one in choices if one.fact.fact_id == fact_id), None)
    considered = next(found, None)
    is_carried = fact_id in map(_fact_id, given.carried)
    place: Place = "carried" if is_carried else "none"
    if choice is not None and choice.is_in:
        place = "section"
    elif considered is not None and not considered.reason:
        place = "recall"
    return Verdict(
        place,
        is_newer=message is not None and message.head.at < fact.revisions[0].recorded_at,
        choice=choice,
        considered=considered,
        shared=_shared(memory, message, fact),
    )


def _fact_id(reference: str) -> str:
    return reference.partition("@")[0]


def _shared(memory: ProjectMemory, message: Record | None, fact: Fact) -> tuple[str, ...]:
    now = memory.stores.now()
    current = fact.as_of(now).current
    if memory.validator.status(current) != "valid":
        return ()
    try:
        text = "" if message is None or message.body is None else asked(read_user(message).parts)
    except StoreDamaged:
        return ()
    words = understand(text, now).words if text else ()
    spans = Words(words).spans(current.text) if words else []
    return tuple(dict.fromkeys(current.text[start:end] for start, end in spans))
