from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core import visibility
from memnb.core.bodies import AssistantBody, Part, ToolBody, UserBody, clear_draft, undo_draft
from memnb.core.entries import ANY_FACT, Columns, Entries, Entry, entry_of
from memnb.core.messages import Usage
from memnb.core.records import Draft, Head, Record, encode, record_from_line
from memnb.core.visibility import Purpose, view

FACT, OTHER = "F-7k2m9q", "F-1b8hyr"
PURPOSES: tuple[Purpose, ...] = ("working", "durable")


def entries_of(entries: Sequence[Entry]) -> Entries:
    whole = Entries()
    for entry in entries:
        whole.append(entry)
    return whole


# What a record says


def record_of(draft: Draft, *, turn: int = 2) -> Record:
    draft = Draft(draft.type, draft.body, turn)
    line, _ = encode(draft, seq=4, at="", generation=3, prev="", salt="")
    return record_from_line(line.removesuffix(b"\n"))


ASSISTANT = AssistantBody("", (), (f"{FACT}@1", ANY_FACT, "a text@2"), "m", {}, "end", Usage())
TOOL = ToolBody("c", "memory_recall", True, "", "memory", carried=(f"{FACT}@2", f"{OTHER}@1"))
SAID = "S-20261130-091005-7k2m9q"
RECALLED = AssistantBody(
    "", (), (f"{SAID}:12", f"{SAID}:2-5", f"{SAID}:0", f"{SAID}"), "m", {}, "end", Usage()
)
PARTS = (Part("typed", "x"),)


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        pytest.param(UserBody("agent", PARTS).draft(), {"asks": True}, id="message"),
        pytest.param(UserBody("command", PARTS, asks=False).draft(), {}, id="statement"),
        pytest.param(
            UserBody("agent", PARTS, sensitive=True).draft(),
            {"asks": True, "sensitive": True},
            id="message with a secret",
        ),
        pytest.param(ASSISTANT.draft(2), {"carried": frozenset({FACT, ANY_FACT})}, id="reply"),
        pytest.param(TOOL.draft(2), {"carried": frozenset({FACT, OTHER})}, id="tool"),
        pytest.param(
            RECALLED.draft(2),
            {"carried": frozenset({f"{SAID}:12", f"{SAID}:2-5"})},
            id="reply with records of another session",
        ),
        pytest.param(undo_draft(2), {"target": 2}, id="undo"),
        pytest.param(clear_draft(), {}, id="clear"),
        pytest.param(Draft("user", {"asks": True}), {}, id="message of another form"),
        pytest.param(Draft("novelty", {"asks": True}), {}, id="type of a later version"),
    ],
)
def test_an_entry_says_what_visibility_needs_of_a_record(
    draft: Draft, expected: dict[str, object]
) -> None:
    bare = Entry(4, draft.type, 2, 3)
    assert entry_of(record_of(draft)) == bare._replace(**expected)


@pytest.mark.parametrize(
    ("type_", "is_blank"),
    [("user", True), ("assistant", True), ("tool", True), ("undo", True), ("turn_end", False)],
)
def test_a_record_whose_body_matters_and_is_gone_is_blank(type_: str, is_blank: bool) -> None:
    head = Head("", "", 3, "", 4, 2, type_)
    assert entry_of(Record(head, None, "")) == Entry(4, type_, 2, 3, blank=is_blank)


# The columns


TYPES = ("turn_end", "undo", "redo", "clear", "novelty", "damaged")
ANY_NUMBER = st.integers(-(2**53), 2**53)
FEW = st.integers(0, 9)
CARRIED = st.frozensets(st.sampled_from([FACT, OTHER, ANY_FACT, f"{SAID}:2"]), max_size=2)


def entries_with(numbers: st.SearchStrategy[int]) -> st.SearchStrategy[list[Entry]]:
    """The entries of any file, however little sense it makes; their numbers are of `numbers`."""

    def of(types: Sequence[str], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Entry]:
        places = st.tuples(st.just(0), st.sampled_from(types), numbers, numbers)
        pairs = st.tuples(places, st.fixed_dictionaries(fields))
        return pairs.map(lambda pair: Entry(*pair[0], **pair[1]))

    entry = st.one_of(
        of(["user"], asks=st.booleans(), sensitive=st.booleans()),
        of(["assistant", "tool"], carried=CARRIED),
        of(["undo", "redo"], target=numbers),
        of(["user", "assistant", "tool", "undo"], blank=st.just(True)),
        of(TYPES),
    )
    return st.lists(entry, max_size=14).map(numbered)


def numbered(entries: Sequence[Entry], *, after: int = 0) -> list[Entry]:
    return [entry._replace(seq=seq) for seq, entry in enumerate(entries, after + 1)]


WILD = entries_with(ANY_NUMBER)
SESSIONS = entries_with(FEW)
EXCLUSIONS = st.dictionaries(st.integers(-1, 17), FEW, max_size=5)
FORGOTTEN = st.dictionaries(st.sampled_from([FACT, OTHER, "F-zzzzzz"]), FEW, max_size=3)


@given(WILD)
def test_entries_give_back_what_was_appended(entries: list[Entry]) -> None:
    whole = entries_of(entries)
    assert list(whole) == entries
    assert [whole[position] for position in range(len(whole))] == entries
    assert list(reversed(whole)) == entries[::-1]
    assert whole[1:-1:2] == entries[1:-1:2]
    assert whole[-1:] == entries[-1:]


@given(WILD)
def test_entries_can_be_kept_as_columns(entries: list[Entry]) -> None:
    before = entries_of(entries)
    after = Entries(before.columns)
    assert list(after) == entries
    assert (after.undone, after.cleared_to) == (before.undone, before.cleared_to)
    assert (after.carriers, after.recalled) == (before.carriers, before.recalled)


@given(SESSIONS, SESSIONS)
def test_kept_entries_grow_as_the_first_ones_would_have(
    entries: list[Entry], more: list[Entry]
) -> None:
    more = numbered(more, after=len(entries))
    grown = Entries(entries_of(entries).columns)
    for entry in more:
        grown.append(entry)
    whole = entries_of(entries + more)
    assert list(grown) == list(whole)
    assert grown.columns == whole.columns
    assert (grown.undone, grown.cleared_to) == (whole.undone, whole.cleared_to)
    assert (grown.carriers, grown.recalled) == (whole.carriers, whole.recalled)


@pytest.mark.parametrize("position", [3, -4])
def test_there_is_no_entry_outside(position: int) -> None:
    with pytest.raises(IndexError):
        entries_of([Entry(seq, "clear", 0, 0) for seq in (1, 2, 3)])[position]


def test_records_that_were_left_out_are_damaged_ones() -> None:
    whole = entries_of([Entry(2, "clear", 0, 0), Entry(5, "clear", 0, 0)])
    assert [entry.type for entry in whole] == ["damaged", "clear", "damaged", "damaged", "clear"]


def test_a_long_session_takes_bytes_for_its_entries_and_not_objects() -> None:
    columns = Columns.empty()
    whole = Entries(columns)
    carried = frozenset(f"F-{number:06}" for number in range(50))
    for turn in range(1, 3000, 3):
        whole.append(Entry(turn, "user", turn, 0, asks=True))
        whole.append(Entry(turn + 1, "assistant", turn, 0, carried=carried))
        whole.append(Entry(turn + 2, "turn_end", turn, 0))
    arrays = (columns.turns, columns.generations, columns.codes, columns.asked, columns.events)
    assert sum(len(column) * column.itemsize for column in arrays) <= 24 * len(whole)
    assert len(columns.kinds) == 3


# Visibility over them, beside its definition


@dataclass(frozen=True)
class Definition:
    """What can be seen of a session, told by going through all of it."""

    entries: Sequence[Entry]
    exclusions: Mapping[int, int]
    forgotten: Mapping[str, int]
    undone: set[int] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)
    cleared: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hidden.update(self.exclusions)
        taint, newest = 0, max(self.forgotten.values(), default=0)
        for entry in self.entries:
            self._replay(entry)
            is_excluded = entry.seq in self.exclusions
            for name in entry.carried:
                taint = max(taint, newest if name == ANY_FACT else self.forgotten.get(name, 0))
            if entry.type in ("assistant", "tool"):
                if is_excluded:
                    by_purge = newest if entry.blank else 0
                    taint = max(taint, by_purge, self.exclusions[entry.seq])
                if entry.generation < taint:
                    self.hidden.add(entry.seq)
            if is_excluded and (entry.asks or (entry.blank and entry.type == "user")):
                taint = max(taint, self.exclusions[entry.seq])
            if entry.sensitive:
                self.hidden.add(entry.seq)

    def _replay(self, entry: Entry) -> None:
        if entry.type == "undo":
            self.undone.add(entry.target)
        elif entry.type == "redo":
            self.undone.discard(entry.target)
        elif entry.type == "clear":
            self.cleared[:] = [entry.seq]

    @property
    def cleared_to(self) -> int:
        return self.cleared[0] if self.cleared else 0

    def shows(self, seq: int, purpose: Purpose) -> bool:
        turn = self.entries[seq - 1].turn if 0 < seq <= len(self.entries) else 0
        if seq in self.hidden or turn in self.undone:
            return False
        return purpose == "durable" or seq > self.cleared_to

    def last_exchange(self) -> int | None:
        for entry in reversed(self.entries):
            is_gone = entry.seq in self.hidden and not entry.sensitive
            if entry.asks and entry.turn not in self.undone and not is_gone:
                return entry.turn if entry.seq > self.cleared_to else None
        return None

    def redoable(self) -> int | None:
        hidden: list[int] = []
        for entry in self.entries:
            if entry.asks or entry.type == "clear":
                hidden.clear()
            elif entry.type == "undo":
                hidden.append(entry.target)
            elif entry.type == "redo" and entry.target in hidden:
                hidden.remove(entry.target)
        return hidden[-1] if hidden else None


def verdicts(seen: visibility.View | Definition, n_records: int) -> list[bool]:
    return [seen.shows(seq, purpose) for seq in range(-1, n_records + 4) for purpose in PURPOSES]


@settings(max_examples=400)
@given(SESSIONS, EXCLUSIONS, FORGOTTEN)
def test_what_can_be_seen_is_what_going_through_all_entries_tells(
    entries: list[Entry], exclusions: dict[int, int], forgotten: dict[str, int]
) -> None:
    whole = entries_of(entries)
    seen, defined = view(whole, exclusions, forgotten), Definition(entries, exclusions, forgotten)
    assert seen.hidden == defined.hidden
    assert len(seen.hidden) == len(defined.hidden)
    assert (seen.undone, seen.cleared_to) == (defined.undone, defined.cleared_to)
    assert verdicts(seen, len(entries)) == verdicts(defined, len(entries))
    assert visibility.last_exchange(whole, seen) == defined.last_exchange()
    assert visibility.redoable(whole) == defined.redoable()
    asked = [entry.turn for entry in entries if entry.asks]
    assert visibility.turn_numbers(whole) == {turn: n for n, turn in enumerate(asked, 1)}


@given(SESSIONS, EXCLUSIONS, FORGOTTEN)
def test_facts_that_no_record_carried_matter_by_the_newest_forget_only(
    entries: list[Entry], exclusions: dict[int, int], forgotten: dict[str, int]
) -> None:
    whole = entries_of(entries)
    carried = {key: made for key, made in forgotten.items() if key in whole.carriers}
    newest = max(forgotten.values(), default=0)
    seen = view(whole, exclusions, carried, newest=newest)
    assert set(seen.hidden) == set(view(whole, exclusions, forgotten).hidden)


@given(SESSIONS)
def test_what_was_undone_is_known_after_every_record(entries: list[Entry]) -> None:
    whole = Entries()
    for n_records, entry in enumerate(entries, 1):
        whole.append(entry)
        defined = Definition(entries[:n_records], {}, {})
        assert (whole.undone, whole.cleared_to) == (defined.undone, defined.cleared_to)


@given(SESSIONS, SESSIONS, EXCLUSIONS, FORGOTTEN)
def test_a_verdict_does_not_change_with_what_is_appended_later(
    entries: list[Entry], more: list[Entry], exclusions: dict[int, int], forgotten: dict[str, int]
) -> None:
    whole = entries_of(entries)
    seen = view(whole, exclusions, forgotten)
    before = verdicts(seen, len(entries)), set(seen.hidden), seen.undone, seen.cleared_to
    for entry in numbered(more, after=len(whole)):
        whole.append(entry)
    after = verdicts(seen, len(entries)), set(seen.hidden), seen.undone, seen.cleared_to
    assert after == before


PURGED = frozenset({"user", "assistant", "tool"})


@settings(max_examples=400)
@given(SESSIONS, EXCLUSIONS, FORGOTTEN)
def test_a_session_read_anew_after_a_purge_hides_at_least_as_much(
    entries: list[Entry], exclusions: dict[int, int], forgotten: dict[str, int]
) -> None:
    """Flags and lineage of a purged record are gone with its body, and what it hid is not."""
    purged = [
        Entry(*entry[:4], blank=True) if entry.seq in exclusions and entry.type in PURGED else entry
        for entry in entries
    ]
    before = view(entries, exclusions, forgotten)
    after = view(purged, exclusions, forgotten)
    assert set(after.hidden) >= set(before.hidden)
    for purpose in PURPOSES:
        shown = [seq for seq in range(1, len(entries) + 1) if after.shows(seq, purpose)]
        assert all(before.shows(seq, purpose) for seq in shown)
