"""What visibility needs to know of the records of a session: an entry for each, in columns.

1. A session may have a million records: numbers lie in arrays, and what many entries share (their
   type, their flags, the facts they carried) is kept once, as their kind.
2. Entries are only ever appended, so what holds of the first n of them holds for good.
3. What concerns the session as a whole (what was asked, undone, cleared, and where each fact, and
   each record of another session, was carried first) is kept up to date while it grows, and never
   counted anew.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple, overload

from memnb.core.bodies import read_assistant, read_target, read_tool, read_user
from memnb.core.ids import FACT_ID, RECORDS
from memnb.core.records import Record
from memnb.core.summary_bodies import read_handoff
from memnb.errors import StoreDamaged

__all__ = ["ANY_FACT", "DAMAGED", "Columns", "Entries", "Entry", "Kind", "entry_of", "needs_body"]

ANY_FACT: Final = "*"
"""In `carried`: text was in sight that may hold any fact, such as a range of another session."""

_SEEDED: Final = frozenset({ANY_FACT})
_READ: Final = frozenset({"user", "assistant", "tool", "undo", "redo", "handoff"})
_EVENTS: Final = frozenset({"undo", "redo", "clear", "compact"})


class Kind(NamedTuple):
    """What many entries have in common; the fields mean what those of an entry do."""

    type: str
    asks: bool = False
    sensitive: bool = False
    target: int = 0
    blank: bool = False
    carried: frozenset[str] = frozenset()


DAMAGED: Final = Kind("damaged", blank=True)
"""A record that can't be read at all, or that the chain doesn't fit."""


class Entry(NamedTuple):
    """What visibility needs to know of a record.

    `asks`: a message that asked a model; `target`: of an undo or redo; `carried`: whose text was in
    sight, the ids of facts, or `ANY_FACT` where that can't be told, and references to records, such
    as `S-…:12`; `blank`: a record whose body matters and doesn't match its head, since it was
    purged or damaged.
    """

    seq: int
    type: str
    turn: int
    generation: int
    asks: bool = False
    sensitive: bool = False
    target: int = 0
    carried: frozenset[str] = frozenset()
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    """The entries of a session as they are kept.

    `turns`, `generations` and `codes` hold a number for each entry; `kinds` gives for each code
    the kind and the first record that is of it. `asked` lists the messages that asked a model,
    `events` the undos, redos, clears and summaries.
    """

    turns: array[int]
    generations: array[int]
    codes: array[int]
    asked: array[int]
    events: array[int]
    kinds: list[tuple[int, Kind]]

    @classmethod
    def empty(cls) -> Columns:
        """The columns of a session without records."""
        return cls(array("q"), array("q"), array("I"), array("Q"), array("Q"), [])


class Entries(Sequence[Entry]):
    """The entries of one session, by position; that of record 1 comes first."""

    def __init__(self, columns: Columns | None = None) -> None:
        """Entries that were kept as `columns`, which is grown from now on; none when left out."""
        self.columns = columns or Columns.empty()
        self._codes: dict[Kind, int] = {}
        self._carriers: dict[str, int] = {}
        self._recalled: dict[str, int] = {}
        self._undone: set[int] = set()
        self._undone_now: frozenset[int] | None = None
        self._cleared_to = 0
        for code, (first, kind) in enumerate(self.columns.kinds):
            self._learn(kind, code, first)
        for seq in self.columns.events:
            self._replay(seq)

    def __len__(self) -> int:
        return len(self.columns.codes)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        seq = range(1, len(self) + 1)[index]
        return _entry(seq, self.turn(seq), self.columns.generations[seq - 1], self.kind(seq))

    def __iter__(self) -> Iterator[Entry]:
        columns = self.columns
        kinds = (columns.kinds[code][1] for code in columns.codes)
        return map(_entry, count(1), columns.turns, columns.generations, kinds)

    def append(self, entry: Entry) -> None:
        """Add the entry of the next record; those of records in between are damaged ones."""
        while len(self) < entry.seq - 1:
            self.append_damaged()
        _, type_, turn, generation, asks, sensitive, target, carried, blank = entry
        self._add(turn, generation, Kind(type_, asks, sensitive, target, blank, carried))

    def append_damaged(self) -> None:
        """Add the entry of a next record that is damaged."""
        self._add(0, 0, DAMAGED)

    def kind(self, seq: int) -> Kind:
        """The kind of record `seq`, which must be there."""
        return self.columns.kinds[self.columns.codes[seq - 1]][1]

    def turn(self, seq: int) -> int:
        """The exchange of record `seq`, which must be there; 0 outside of any."""
        return self.columns.turns[seq - 1]

    def generation(self, seq: int) -> int:
        """The generation of record `seq`, which must be there."""
        return self.columns.generations[seq - 1]

    @property
    def asked(self) -> Sequence[int]:
        """The messages that asked a model, in order."""
        return self.columns.asked

    @property
    def events(self) -> Sequence[int]:
        """The undos, redos, clears and summaries, in order."""
        return self.columns.events

    @property
    def summaries(self) -> Iterator[int]:
        """The working summaries, newest first."""
        return (seq for seq in reversed(self.columns.events) if self.kind(seq).type == "compact")

    @property
    def undone(self) -> frozenset[int]:
        """The exchanges that are hidden by an undo."""
        if self._undone_now is None:
            self._undone_now = frozenset(self._undone)
        return self._undone_now

    @property
    def cleared_to(self) -> int:
        """The last clear; 0 when there is none."""
        return self._cleared_to

    @property
    def carriers(self) -> Mapping[str, int]:
        """For each fact (or ANY_FACT) that was in sight, the first record that carried it."""
        return self._carriers

    @property
    def recalled(self) -> Mapping[str, int]:
        """For each reference to records of sessions, the first record that carried their text."""
        return self._recalled

    def _add(self, turn: int, generation: int, kind: Kind) -> None:
        columns, seq = self.columns, len(self) + 1
        code = self._codes.get(kind)
        if code is None:
            code = len(columns.kinds)
            columns.kinds.append((seq, kind))
            self._learn(kind, code, seq)
        columns.turns.append(turn)
        columns.generations.append(generation)
        columns.codes.append(code)
        if kind.asks:
            columns.asked.append(seq)
        if kind.type in _EVENTS:
            columns.events.append(seq)
            self._replay(seq)

    def _learn(self, kind: Kind, code: int, first: int) -> None:
        self._codes[kind] = code
        for name in kind.carried:
            firsts = self._recalled if RECORDS.match(name) else self._carriers
            firsts.setdefault(name, first)

    def _replay(self, seq: int) -> None:
        kind, self._undone_now = self.kind(seq), None
        if kind.type == "undo":
            self._undone.add(kind.target)
        elif kind.type == "redo":
            self._undone.discard(kind.target)
        elif kind.type == "clear":
            self._cleared_to = seq


def needs_body(type_: str) -> bool:
    """Whether what visibility needs of a record of this type stands in its body."""
    return type_ in _READ


def entry_of(record: Record) -> Entry:
    """The entry of a record, whose body may be left out where none is needed."""
    head = record.head
    bare = Entry(head.seq, head.type, head.turn, head.generation)
    if head.type == "handoff":  # it may hold any fact, wherever it comes from
        bare = bare._replace(carried=_SEEDED)
    if head.type not in _READ:
        return bare
    if record.body is None:
        return bare._replace(blank=True)
    try:
        return _with_body(bare, record)
    except StoreDamaged:
        return bare


def _with_body(bare: Entry, record: Record) -> Entry:
    if bare.type == "user":
        user = read_user(record)
        # A seed is text of another session, which may hold any fact.
        carried = _SEEDED if any(part.type == "seed" for part in user.parts) else frozenset()
        return bare._replace(asks=user.asks, sensitive=user.sensitive, carried=carried)
    if bare.type == "handoff":
        origin = read_handoff(record)
        return bare._replace(carried=_names((ANY_FACT, f"{origin.session_id}:{origin.seq}")))
    if bare.type == "assistant":
        return bare._replace(carried=_names(read_assistant(record).carried))
    if bare.type == "tool":
        return bare._replace(carried=_names(read_tool(record).carried))
    return bare._replace(target=read_target(record))


@lru_cache(maxsize=64)
def _names(references: tuple[str, ...]) -> frozenset[str]:
    """The facts and records that references name: one reply after another carries the same."""
    names = (reference.partition("@")[0] for reference in references)
    return frozenset(
        name for name in names if name == ANY_FACT or FACT_ID.match(name) or RECORDS.match(name)
    )


def _entry(seq: int, turn: int, generation: int, kind: Kind) -> Entry:
    type_, asks, sensitive, target, blank, carried = kind
    return Entry(seq, type_, turn, generation, asks, sensitive, target, carried, blank)
