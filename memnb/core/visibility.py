"""What of a session can be seen: one predicate for replay, validation and compaction.

1. `undo` hides the last visible exchange; `redo` restores the last one hidden, until a new
   message. Statements are neither hidden nor replayed.
2. `clear` empties the working context; durable facts keep their evidence.
3. An excluded record is hidden for good.
4. After a forget, whatever a model generated once it had been shown the forgotten text is void:
   in each session, from the first record that carried it on, up to the forget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

__all__ = [
    "ANY_FACT",
    "Entry",
    "Purpose",
    "View",
    "last_exchange",
    "redoable",
    "turn_numbers",
    "view",
]

Purpose = Literal["working", "durable"]
"""`working`: context of the next request. `durable`: evidence of a fact that exists."""

ANY_FACT: Final = "*"
"""In `carried`: text was in sight that may hold any fact, such as a range of another session."""

_GENERATED: Final = frozenset({"assistant", "tool"})


@dataclass(frozen=True, slots=True)
class Entry:
    """What visibility needs to know of a record.

    `asks`: a message that asked a model; `target`: of an undo or redo; `carried`: the ids of facts
    whose text was in sight, or `ANY_FACT` where that can't be told.
    """

    seq: int
    type: str
    turn: int
    generation: int
    asks: bool = False
    sensitive: bool = False
    target: int = 0
    carried: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class View:
    """The verdict over one session at one moment."""

    undone: frozenset[int]
    cleared_to: int
    hidden: frozenset[int]
    turns: Mapping[int, int]

    def shows(self, seq: int, purpose: Purpose) -> bool:
        """Whether record `seq` may be used for `purpose`."""
        if seq in self.hidden or self.turns.get(seq, 0) in self.undone:
            return False
        return purpose == "durable" or seq > self.cleared_to


def view(
    entries: Sequence[Entry],
    exclusions: Mapping[int, int],
    forgotten: Mapping[str, int],
) -> View:
    """What of `entries` can be seen.

    Args:
        entries: all records of one session, in order.
        exclusions: excluded seq → generation of the forget that excluded it.
        forgotten: forgotten fact id → generation of its forget.
    """
    undone, cleared_to = _replay(entries)
    hidden = set(exclusions)
    hidden.update(entry.seq for entry in entries if entry.sensitive)
    hidden.update(_void(entries, exclusions, forgotten))
    return View(
        undone=frozenset(undone),
        cleared_to=cleared_to,
        hidden=frozenset(hidden),
        turns={entry.seq: entry.turn for entry in entries if entry.turn},
    )


def last_exchange(entries: Sequence[Entry], seen: View) -> int | None:
    """The exchange that an undo would hide: the newest visible one of the agent."""
    for entry in reversed(entries):
        # One that was forgotten can't be seen; one with a secret can, except for its message.
        is_gone = entry.seq in seen.hidden and not entry.sensitive
        if entry.asks and entry.turn not in seen.undone and not is_gone:
            return entry.turn if entry.seq > seen.cleared_to else None
    return None


def redoable(entries: Sequence[Entry]) -> int | None:
    """The exchange that a redo would restore: the last one hidden since the last message."""
    hidden: list[int] = []
    for entry in entries:
        if entry.asks or entry.type == "clear":
            hidden.clear()
        elif entry.type == "undo":
            hidden.append(entry.target)
        elif entry.type == "redo" and entry.target in hidden:
            hidden.remove(entry.target)
    return hidden[-1] if hidden else None


def turn_numbers(entries: Sequence[Entry]) -> dict[int, int]:
    """For each exchange, by its `turn`, the number that people call it by."""
    turns = [entry.turn for entry in entries if entry.asks]
    return {turn: number for number, turn in enumerate(turns, 1)}


def _replay(entries: Iterable[Entry]) -> tuple[set[int], int]:
    undone: set[int] = set()
    cleared_to = 0
    for entry in entries:
        if entry.type == "undo":
            undone.add(entry.target)
        elif entry.type == "redo":
            undone.discard(entry.target)
        elif entry.type == "clear":
            cleared_to = entry.seq
    return undone, cleared_to


def _void(
    entries: Sequence[Entry], exclusions: Mapping[int, int], forgotten: Mapping[str, int]
) -> Iterable[int]:
    """Generated records made while forgotten text was in sight and before it was forgotten.

    A record is tainted up to the newest generation whose forgotten text came before it: the
    context of every later request of the session contains it until that forget.
    """
    taint = 0
    newest = max(forgotten.values(), default=0)
    for entry in entries:
        for fact_id in entry.carried:
            taint = max(taint, newest if fact_id == ANY_FACT else forgotten.get(fact_id, 0))
        if entry.type in _GENERATED and entry.generation < taint:
            yield entry.seq
        if entry.seq in exclusions and entry.asks:
            taint = max(taint, exclusions[entry.seq])
