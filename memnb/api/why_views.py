"""What a turn was given of memory, put into the results that say why."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memnb.agent.reply import Answer
from memnb.api.why_results import Why, WhyFact
from memnb.core import visibility
from memnb.core.bodies import read_assistant, read_turn_end
from memnb.core.records import Record
from memnb.core.section import Choice
from memnb.errors import StoreDamaged, UnknownId
from memnb.memory.history import History
from memnb.memory.probing import probed_without
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.verdicts import Given, verdict

__all__ = ["why", "why_fact"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of the session: the record of its message, and its number as people count."""

    history: History
    seq: int
    number: int


def why(memory: ProjectMemory, answers: Mapping[int, Answer], number: int | None) -> Why:
    """What memory a turn carried; the last one when `number` is None.

    Args:
        memory: the project's.
        answers: the turns of this kernel, by the number of the message's record.
        number: counts the turns of this session.

    Raises:
        UnknownId: there is no such turn in this session.
    """
    turn = _turn(memory, number)
    if turn is None:
        raise UnknownId("no such turn in this session: nothing was asked yet.")
    return _why(turn, answers)


def why_fact(
    memory: ProjectMemory, answers: Mapping[int, Answer], number: int | None, now: Choice
) -> WhyFact:
    """Why a turn was or wasn't given one fact, of which `now` says how it stands.

    Raises:
        UnknownId: there is no such turn in this session.
    """
    at, turn = memory.stores.now(), _turn(memory, number)
    if turn is None:
        return WhyFact.untold(now, at)
    told = _why(turn, answers)
    traces = answers[turn.seq].requests if turn.seq in answers else ()
    given = Given(turn.seq, told.carried)
    if traces:
        given = Given(turn.seq, told.carried, traces[-1].section.choices, traces[-1].recall)
    found = verdict(memory, turn.history, given, now.fact.fact_id)
    return WhyFact.of(told, found, now, at)


def _turn(memory: ProjectMemory, number: int | None) -> _Turn | None:
    """The turn of this number, or the last one; None when nothing was asked and none was named."""
    history = memory.session.history()
    numbers = visibility.turn_numbers(history.entries) if history else {}
    turns = [seq for seq, n in numbers.items() if number is None or n == number]
    if history is not None and turns:
        return _Turn(history, turns[-1], numbers[turns[-1]])
    if number is None:
        return None
    there = f"there are {len(numbers)}" if numbers else "nothing was asked yet"
    raise UnknownId(f"no such turn in this session: {there}.")


def _why(turn: _Turn, answers: Mapping[int, Answer]) -> Why:
    if turn.seq in answers:
        return Why.of(turn.number, answers[turn.seq])
    entries = turn.history.entries
    seqs = [entry.seq for entry in entries if entry.turn == turn.seq]
    records = [record for record in turn.history.reader.records(seqs).values() if record]
    replies = list(_readable_bodies(records, "assistant", read_assistant))
    ends = list(_readable_bodies(records, "turn_end", read_turn_end))
    return Why.of_records(
        turn.number,
        replies[-1].model if replies else "",
        carried=(reference for reply in replies for reference in reply.carried),
        cited=ends[-1].cited if ends else (),
        remembered=ends[-1].remembered if ends else (),
        without=probed_without(turn.history, turn.seq),
    )


def _readable_bodies(
    records: Sequence[Record], kind: str, read: Callable[[Record], T]
) -> Iterator[T]:
    for record in records:
        if record.head.type == kind:
            with contextlib.suppress(StoreDamaged):
                yield read(record)
