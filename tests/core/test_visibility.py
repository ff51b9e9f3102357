from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import visibility
from memnb.core.visibility import ANY_FACT, Entry, Purpose, View, view

FACT = "F-7k2m9q"
OTHER = "F-1b8hyr"
TAKEN, KEPT = "S-20261130-091005-7k2m9q:12", "S-20261130-091005-7k2m9q:14"


class Session:
    """Builds the entries of a session, one call for each thing that happens."""

    def __init__(self) -> None:
        self.entries: list[Entry] = [Entry(1, "session_start", 0, 0)]
        self.generation = 0

    @property
    def next_seq(self) -> int:
        return len(self.entries) + 1

    def exchange(self, *carried: str, sensitive: bool = False) -> int:
        """A message with its reply; gives its turn. Reply and end are the two records after it."""
        turn = self.next_seq
        self._add("user", turn, asks=True, sensitive=sensitive)
        self.reply(turn, *carried)
        self._add("turn_end", turn)
        return turn

    def statement(self) -> int:
        turn = self.next_seq
        self._add("user", turn)
        return turn

    def reply(self, turn: int, *carried: str, type_: str = "assistant") -> int:
        self._add(type_, turn, carried=frozenset(carried))
        return len(self.entries)

    def event(self, type_: str, target: int = 0) -> int:
        self._add(type_, 0, target=target)
        return len(self.entries)

    def undo(self) -> int | None:
        target = visibility.last_exchange(self.entries, self.view())
        if target is not None:
            self.event("undo", target)
        return target

    def redo(self) -> int | None:
        target = visibility.redoable(self.entries)
        if target is not None:
            self.event("redo", target)
        return target

    def view(
        self, exclusions: dict[int, int] | None = None, forgotten: dict[str, int] | None = None
    ) -> View:
        return view(self.entries, exclusions or {}, forgotten or {})

    def _add(
        self,
        type_: str,
        turn: int,
        *,
        asks: bool = False,
        sensitive: bool = False,
        target: int = 0,
        carried: frozenset[str] = frozenset(),
    ) -> None:
        self.entries.append(
            Entry(self.next_seq, type_, turn, self.generation, asks, sensitive, target, carried)
        )


def shown(seen: View, session: Session, purpose: Purpose = "working") -> list[int]:
    """The messages and answers of a session that can be seen."""
    kinds = {"user", "assistant", "tool"}
    return [e.seq for e in session.entries if e.type in kinds and seen.shows(e.seq, purpose)]


def test_everything_shows_in_a_session_where_nothing_was_hidden() -> None:
    session = Session()
    first, second = session.exchange(), session.exchange()
    for purpose in ("working", "durable"):
        assert shown(session.view(), session, purpose) == [first, first + 1, second, second + 1]


def test_undo_hides_the_last_exchange_with_all_that_belongs_to_it() -> None:
    session = Session()
    first, second = session.exchange(), session.exchange()
    session.reply(second, type_="tool")
    assert session.undo() == second
    assert shown(session.view(), session) == [first, first + 1]
    assert shown(session.view(), session, "durable") == [first, first + 1]


def test_undo_twice_hides_the_last_two() -> None:
    session = Session()
    first, second = session.exchange(), session.exchange()
    assert [session.undo(), session.undo(), session.undo()] == [second, first, None]
    assert shown(session.view(), session) == []


def test_redo_restores_what_was_hidden_last_first() -> None:
    session = Session()
    first, second = session.exchange(), session.exchange()
    session.undo()
    session.undo()
    assert [session.redo(), session.redo(), session.redo()] == [first, second, None]
    assert shown(session.view(), session) == [first, first + 1, second, second + 1]


def test_redo_is_gone_after_a_new_message() -> None:
    session = Session()
    session.exchange()
    session.undo()
    session.exchange()
    assert session.redo() is None


def test_redo_survives_a_statement() -> None:
    session = Session()
    turn = session.exchange()
    session.undo()
    session.statement()
    assert session.redo() == turn


def test_redo_is_gone_after_clear() -> None:
    session = Session()
    session.exchange()
    session.undo()
    session.event("clear")
    assert session.redo() is None


@pytest.mark.parametrize("n_undos", [0, 1, 2])
def test_a_statement_is_never_undone(n_undos: int) -> None:
    session = Session()
    session.exchange()
    statement = session.statement()
    for _ in range(n_undos):
        session.undo()
    assert session.view().shows(statement, "working")
    assert session.view().shows(statement, "durable")


def test_with_statements_only_there_is_nothing_to_undo() -> None:
    session = Session()
    session.statement()
    assert session.undo() is None


def test_clear_empties_the_working_context_and_keeps_evidence() -> None:
    session = Session()
    before, statement = session.exchange(), session.statement()
    session.event("clear")
    after = session.exchange()
    seen = session.view()
    assert shown(seen, session) == [after, after + 1]
    assert shown(seen, session, "durable") == [before, before + 1, statement, after, after + 1]


def test_undo_does_not_reach_behind_a_clear() -> None:
    session = Session()
    session.exchange()
    session.event("clear")
    assert session.undo() is None
    after = session.exchange()
    assert [session.undo(), session.undo()] == [after, None]


def test_what_was_undone_before_a_clear_stays_undone() -> None:
    session = Session()
    turn = session.exchange()
    session.undo()
    session.event("clear")
    assert not session.view().shows(turn, "durable")


@pytest.mark.parametrize("purpose", ["working", "durable"])
def test_an_excluded_record_is_hidden_for_good(purpose: Purpose) -> None:
    session = Session()
    turn = session.exchange()
    session.undo()
    session.redo()
    assert not session.view({turn: 1}).shows(turn, purpose)


@pytest.mark.parametrize("purpose", ["working", "durable"])
def test_a_sensitive_message_is_hidden_and_the_others_are_not(purpose: Purpose) -> None:
    session = Session()
    turn, other = session.exchange(sensitive=True), session.exchange()
    assert not session.view().shows(turn, purpose)
    assert session.view().shows(other, purpose)


def test_undo_passes_over_an_exchange_that_was_forgotten() -> None:
    session = Session()
    first, second = session.exchange(), session.exchange()
    session.generation = 1
    seen = session.view({second: 1})
    assert shown(seen, session) == [first, first + 1]
    assert visibility.last_exchange(session.entries, seen) == first


def test_what_was_generated_between_carrying_and_forget_is_void_and_later_replies_are_not() -> None:
    session = Session()
    before = session.exchange()
    carrying = session.exchange(FACT)
    between = session.exchange()
    tool = session.reply(between, type_="tool")
    session.generation = 1
    later = session.exchange()
    seen = session.view(forgotten={FACT: 1})
    assert shown(seen, session, "durable") == [
        before,
        before + 1,
        carrying,
        between,
        later,
        later + 1,
    ]
    assert {carrying + 1, between + 1, tool} <= seen.hidden


def test_a_persons_message_is_never_void() -> None:
    session = Session()
    turns = [session.exchange(FACT), session.exchange(), session.statement()]
    session.generation = 1
    seen = session.view(forgotten={FACT: 1})
    assert all(seen.shows(turn, "durable") for turn in turns)


def test_a_fact_that_was_not_forgotten_voids_nothing() -> None:
    session = Session()
    session.exchange(FACT)
    session.generation = 1
    assert session.view(forgotten={OTHER: 1}).hidden == frozenset()


def test_replies_after_a_message_that_was_excluded_are_void_up_to_the_forget() -> None:
    session = Session()
    before = session.exchange()
    excluded = session.exchange()
    session.generation = 1
    later = session.exchange()
    seen = session.view({excluded: 1})
    assert shown(seen, session, "durable") == [before, before + 1, later, later + 1]


def test_an_excluded_statement_voids_no_reply_since_it_was_never_replayed() -> None:
    session = Session()
    statement = session.statement()
    turn = session.exchange()
    session.generation = 1
    assert session.view({statement: 1}).hidden == frozenset({statement})
    assert session.view({statement: 1}).shows(turn + 1, "durable")


def test_a_reply_asked_before_the_forget_is_void_though_it_was_recorded_after_it() -> None:
    """The generation of a record is the one its request was made under."""
    session = Session()
    session.exchange(FACT)
    session.generation = 1
    session.exchange()
    session.generation = 0
    late = session.reply(session.next_seq, FACT)
    assert late in session.view(forgotten={FACT: 1}).hidden


def test_each_of_two_forgets_reaches_up_to_itself() -> None:
    session = Session()
    one = session.exchange(FACT)
    session.generation = 1
    two = session.exchange(OTHER)
    session.generation = 2
    three = session.exchange()
    seen = session.view(forgotten={FACT: 1, OTHER: 2})
    assert {one + 1, two + 1} <= seen.hidden
    assert three + 1 not in seen.hidden
    assert two + 1 not in session.view(forgotten={FACT: 1}).hidden


def test_a_record_that_may_have_carried_any_fact_is_void_after_any_forget() -> None:
    session = Session()
    turn = session.exchange(ANY_FACT)
    session.generation = 1
    assert session.view().hidden == frozenset()
    assert turn + 1 in session.view(forgotten={FACT: 1}).hidden


def test_a_reply_is_void_that_carried_a_record_of_another_session_that_was_taken_since() -> None:
    session = Session()
    before = session.exchange(KEPT)
    carrying = session.exchange(TAKEN)
    between = session.exchange()
    session.generation = 2
    later = session.exchange(KEPT)
    seen = view(session.entries, {}, {}, taken=lambda one, _: 2 if one == TAKEN else 0)
    assert shown(seen, session, "durable") == [
        before,
        before + 1,
        carrying,
        between,
        later,
        later + 1,
    ]


def test_of_a_persons_message_nobody_asks_what_became_of_carried_records() -> None:
    session = Session()
    turn = session.exchange(TAKEN)

    def taken(reference: str, since: int) -> int:
        raise AssertionError(reference, since)

    seen = view(session.entries, {}, {}, taken=taken)
    assert seen.shows(turn, "durable")
    with pytest.raises(AssertionError, match=TAKEN):
        seen.shows(turn + 1, "durable")


OPERATIONS = st.lists(
    st.sampled_from(["exchange", "carrying", "statement", "undo", "redo", "clear"]), max_size=25
)


def played(operations: Sequence[str]) -> Session:
    session = Session()
    for operation in operations:
        match operation:
            case "exchange":
                session.exchange()
            case "carrying":
                session.exchange(FACT)
            case "statement":
                session.statement()
            case "undo":
                session.undo()
            case "redo":
                session.redo()
            case "clear":
                session.event("clear")
    return session


@given(OPERATIONS, st.integers(1, 4))
def test_undo_then_redo_is_identity(operations: Sequence[str], n_times: int) -> None:
    session = played(operations)
    before = [shown(session.view(), session, purpose) for purpose in ("working", "durable")]
    undone = [turn for turn in (session.undo() for _ in range(n_times)) if turn is not None]
    redone = [session.redo() for _ in undone]
    assert redone == undone[::-1]
    assert [shown(session.view(), session, p) for p in ("working", "durable")] == before


@given(OPERATIONS)
def test_undo_hides_exactly_one_visible_exchange(operations: Sequence[str]) -> None:
    session = played(operations)
    before = set(shown(session.view(), session))
    turn = session.undo()
    after = set(shown(session.view(), session))
    if turn is None:
        assert after == before
    else:
        assert turn in before
        assert {session.entries[seq - 1].turn for seq in before - after} == {turn}


@given(OPERATIONS)
def test_what_shows_for_work_shows_as_evidence(operations: Sequence[str]) -> None:
    session = played(operations)
    seen = session.view()
    assert set(shown(seen, session)) <= set(shown(seen, session, "durable"))


@given(OPERATIONS)
def test_statements_stay_evidence_whatever_is_undone(operations: Sequence[str]) -> None:
    session = played(operations)
    seen = session.view()
    for entry in session.entries:
        if entry.type == "user" and not entry.asks:
            assert seen.shows(entry.seq, "durable")


@given(OPERATIONS, OPERATIONS)
def test_a_forget_voids_all_replies_from_the_first_that_carried_it_and_none_after(
    before: Sequence[str], after: Sequence[str]
) -> None:
    session = played(before)
    carried = [entry.seq for entry in session.entries if FACT in entry.carried]
    n_before = len(session.entries)
    session.generation = 1
    for operation in after:
        session.statement() if operation == "statement" else session.exchange()
    hidden = session.view(forgotten={FACT: 1}).hidden
    first = min(carried, default=n_before + 1)
    replies = {entry.seq for entry in session.entries if entry.type == "assistant"}
    assert hidden == {seq for seq in replies if first <= seq <= n_before}


@given(OPERATIONS, st.sets(st.integers(1, 40)), st.sampled_from(["working", "durable"]))
def test_an_exclusion_only_ever_hides_more(
    operations: Sequence[str], excluded: set[int], purpose: Purpose
) -> None:
    session = played(operations)
    without = set(shown(session.view(), session, purpose))
    with_it = set(shown(session.view(dict.fromkeys(excluded, 1)), session, purpose))
    assert with_it <= without - excluded
