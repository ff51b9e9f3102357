"""What of a session can be seen: one predicate for replay, validation and compaction.

1. `undo` hides the last visible exchange; `redo` restores the last one hidden, until a new
   message. Statements are neither hidden nor replayed.
2. `clear` empties the working context; durable facts keep their evidence.
3. An excluded record is hidden for good.
4. After a forget, whatever a model generated once it had been shown the forgotten text is void:
   in each session, from the first record that carried it on, up to the forget.
5. A working summary and the seed of a session are generated too: they were made of what was in
   sight.
6. Of an excluded record that was purged nothing is known any more but its head: a message counts
   as one that was replayed, a reply as one that may have carried whatever was forgotten.
7. What carried the text of a record of another session is void as soon as that record is excluded
   or void itself, as if it had carried what was forgotten.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from memnb.core.entries import ANY_FACT, Entries, Entry, Kind

__all__ = [
    "ANY_FACT",
    "Entry",
    "Hidden",
    "Purpose",
    "Taints",
    "Taken",
    "View",
    "is_generated",
    "last_exchange",
    "redoable",
    "taints",
    "turn_numbers",
    "view",
]

Purpose = Literal["working", "durable"]
"""`working`: context of the next request. `durable`: evidence of a fact that exists."""

Taken: TypeAlias = Callable[[str, int], int]
"""Gives, for a reference to records, the generation of the newest forget that took one of them.

Only forgets after a generation matter, which is given too; 0 when there was none.
"""

_GENERATED: Final = frozenset({"assistant", "tool", "compact"})


@dataclass(frozen=True, slots=True)
class View:
    """The verdict over one session at one moment."""

    undone: frozenset[int]
    cleared_to: int
    hidden: Hidden
    _entries: Entries = field(repr=False, compare=False)
    _n_records: int

    def shows(self, seq: int, purpose: Purpose) -> bool:
        """Whether record `seq` may be used for `purpose`."""
        turn = self._entries.turn(seq) if 0 < seq <= self._n_records else 0
        if turn in self.undone or seq in self.hidden:
            return False
        return purpose == "durable" or seq > self.cleared_to

    @property
    def marks(self) -> Hashable:
        """What decides: while it is the same, so is what can be seen of the records that are there.

        Records are only ever appended.
        """
        return self.undone, self.cleared_to, self.hidden.marks


def view(
    entries: Iterable[Entry],
    exclusions: Mapping[int, int],
    forgotten: Mapping[str, int],
    *,
    newest: int | None = None,
    taken: Taken | None = None,
) -> View:
    """What of `entries` can be seen, in time that doesn't grow with them when they are `Entries`.

    Args:
        entries: all records of one session, in order.
        exclusions: excluded seq → generation of the forget that excluded it.
        forgotten: forgotten fact id → generation of its forget; those that no record carried may
            be left out.
        newest: the generation of the newest forget; that of `forgotten` when left out.
        taken: what became of the records of other sessions that were carried; nothing when left
            out. It is asked when a generated record is.
    """
    if newest is None:
        newest = max(forgotten.values(), default=0)
    whole = _in_columns(entries)
    return View(
        undone=whole.undone,
        cleared_to=whole.cleared_to,
        hidden=Hidden(
            whole, exclusions, lambda: taints(whole, exclusions, forgotten, newest, taken)
        ),
        _entries=whole,
        _n_records=len(whole),
    )


def last_exchange(entries: Iterable[Entry], seen: View) -> int | None:
    """The exchange that an undo would hide: the newest visible one of the agent."""
    whole = _in_columns(entries)
    for seq in reversed(whole.asked):
        # One that was forgotten can't be seen; one with a secret can, except for its message.
        is_gone = seq in seen.hidden and not whole.kind(seq).sensitive
        if whole.turn(seq) not in seen.undone and not is_gone:
            return whole.turn(seq) if seq > seen.cleared_to else None
    return None


def redoable(entries: Iterable[Entry]) -> int | None:
    """The exchange that a redo would restore: the last one hidden since the last message."""
    whole = _in_columns(entries)
    start = max(whole.cleared_to, whole.asked[-1] if whole.asked else 0)
    hidden: list[int] = []
    for seq in whole.events[bisect_right(whole.events, start) :]:
        kind = whole.kind(seq)
        if kind.type == "undo":
            hidden.append(kind.target)
        elif kind.target in hidden:
            hidden.remove(kind.target)
    return hidden[-1] if hidden else None


def turn_numbers(entries: Iterable[Entry]) -> dict[int, int]:
    """For each exchange, by its `turn`, the number that people call it by."""
    whole = _in_columns(entries)
    return {whole.turn(seq): number for number, seq in enumerate(whole.asked, 1)}


class Taints:
    """From which record of a session on, and up to which generation, what is generated is void."""

    def __init__(self, found: Iterable[tuple[int, int]] = ()) -> None:
        """Put together pairs of such a record and such a generation."""
        self._starts: list[int] = []
        self._upto: list[int] = []
        for start, generation in sorted(found):
            if generation > self.at(start):
                self._starts.append(start)
                self._upto.append(generation)

    def at(self, seq: int) -> int:
        """The generation up to which a record is void if it is generated; 0 when it isn't."""
        position = bisect_right(self._starts, seq)
        return self._upto[position - 1] if position else 0

    @property
    def marks(self) -> tuple[tuple[int, int], ...]:
        """What decides, as pairs."""
        return tuple(zip(self._starts, self._upto, strict=True))


class Hidden(Set[int]):
    """The records that nobody may see again, told one by one: there may be a million.

    A generated record is void when it was made while forgotten text was in sight and before it was
    forgotten. It is tainted up to the newest generation whose forgotten text came before it: the
    context of every later request of the session contains that text until the forget.
    """

    def __init__(
        self,
        entries: Entries,
        exclusions: Mapping[int, int],
        find_taints: Callable[[], Iterable[tuple[int, int]]],
    ) -> None:
        self._entries = entries
        self._n_records = len(entries)
        self._exclusions = exclusions
        self._find_taints = find_taints
        self._taints_found: Taints | None = None

    @property
    def marks(self) -> Hashable:
        """What decides which records these are."""
        return frozenset(self._exclusions.items()), self._taints.marks

    @classmethod
    def _from_iterable(cls, it: Iterable[int]) -> frozenset[int]:  # type: ignore[override]
        return frozenset(it)

    def __contains__(self, seq: object) -> bool:
        if seq in self._exclusions:
            return True
        return isinstance(seq, int) and 0 < seq <= self._n_records and self._hides(seq)

    def __iter__(self) -> Iterator[int]:
        yield from self._exclusions
        seqs = (seq for seq in range(1, self._n_records + 1) if seq not in self._exclusions)
        yield from filter(self._hides, seqs)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def _taints(self) -> Taints:
        # A person's words are void never, and most of what is asked about are those.
        if self._taints_found is None:
            self._taints_found = Taints(self._find_taints())
        return self._taints_found

    def _hides(self, seq: int) -> bool:
        kind = self._entries.kind(seq)
        return kind.sensitive or (
            is_generated(kind) and self._entries.generation(seq) < self._taints.at(seq)
        )


def is_generated(kind: Kind) -> bool:
    """Whether a record holds what was made of what was in sight: a seed does, of the messages."""
    return kind.type in _GENERATED or bool(kind.carried)


def taints(
    entries: Entries,
    exclusions: Mapping[int, int],
    forgotten: Mapping[str, int],
    newest: int,
    taken: Taken | None = None,
) -> Iterator[tuple[int, int]]:
    """From which record on, and up to which generation, what is generated is void; as in `view`."""
    for fact_id in entries.carriers.keys() & forgotten.keys():
        yield entries.carriers[fact_id], forgotten[fact_id]
    if ANY_FACT in entries.carriers:
        yield entries.carriers[ANY_FACT], newest
    for seq, generation in exclusions.items():
        if not 0 < seq <= len(entries):
            continue
        kind = entries.kind(seq)
        if kind.asks or (kind.blank and kind.type == "user"):
            yield seq, generation
        elif kind.type in _GENERATED:
            # It said the words, and what came after may say the same in others. Of a blank one
            # nobody knows any more what it carried: too much is hidden rather than too little.
            yield seq, max(generation, newest if kind.blank else 0)
    if taken is not None:
        for reference, start in entries.recalled.items():
            generation = taken(reference, entries.generation(start))
            if generation:
                yield start, generation


def _in_columns(entries: Iterable[Entry]) -> Entries:
    if isinstance(entries, Entries):
        return entries
    whole = Entries()
    for entry in entries:
        whole.append(entry)
    return whole
