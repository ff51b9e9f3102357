from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.entries import ANY_FACT, Entries, Entry
from memnb.core.lineage import Lineage

FACT, OTHER = "F-7k2m9q", "F-1b8hyr"
A, B, C = (f"S-20261130-09100{n}-7k2m9q" for n in range(3))
NOW = 5


class Sessions:
    """Sessions of exchanges; record 1 begins one, a message and its reply follow each other."""

    def __init__(self) -> None:
        self.entries: dict[str, Entries] = {}
        self.exclusions: dict[str, dict[int, int]] = {}
        self.forgotten: dict[str, int] = {}
        self.read: list[str] = []

    def exchange(self, session_id: str, *carried: str, generation: int = 0) -> str:
        """Adds a message and its reply; gives the reply's reference."""
        entries = self.entries.setdefault(session_id, Entries())
        if not entries:
            entries.append(Entry(1, "session_start", 0, 0))
        turn = len(entries) + 1
        entries.append(Entry(turn, "user", turn, generation, asks=True))
        reply = Entry(turn + 1, "assistant", turn, generation, carried=frozenset(carried))
        entries.append(reply)
        return f"{session_id}:{turn + 1}"

    def taken(self, reference: str, since: int = 0, generation: int = NOW) -> int:
        def entries(session_id: str) -> Entries | None:
            self.read.append(session_id)
            return self.entries.get(session_id)

        def forgotten(fact_ids: Collection[str]) -> Mapping[str, int]:
            return {one: self.forgotten[one] for one in fact_ids if one in self.forgotten}

        lineage = Lineage(
            generation,
            entries,
            lambda session_id: self.exclusions.get(session_id, {}),
            forgotten,
            lambda: max(self.forgotten.values(), default=0),
        )
        found = lineage.taken(reference, since)
        assert lineage.taken(reference, since) == found
        return found


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


def test_what_was_not_forgotten_is_whole(sessions: Sessions) -> None:
    assert sessions.taken(sessions.exchange(A, FACT)) == 0


def test_a_message_is_taken_when_it_is_excluded(sessions: Sessions) -> None:
    sessions.exchange(A)
    sessions.exclusions[A] = {2: 3}
    assert (sessions.taken(f"{A}:2"), sessions.taken(f"{A}:4")) == (3, 0)


def test_a_reply_is_taken_with_the_message_that_it_answers(sessions: Sessions) -> None:
    reply = sessions.exchange(A)
    sessions.exclusions[A] = {2: 3}
    assert sessions.taken(reply) == 3


def test_a_reply_is_taken_with_a_fact_that_it_carried(sessions: Sessions) -> None:
    before, reply = sessions.exchange(A), sessions.exchange(A, FACT)
    sessions.forgotten[FACT] = 4
    assert (sessions.taken(before), sessions.taken(reply)) == (0, 4)


def test_a_message_is_not_taken_with_a_fact_that_was_in_sight_when_it_was_written(
    sessions: Sessions,
) -> None:
    sessions.exchange(A, FACT)
    sessions.exchange(A)
    sessions.forgotten[FACT] = 4
    assert (sessions.taken(f"{A}:4"), sessions.taken(f"{A}:5")) == (0, 4)


def test_a_reply_made_after_the_forget_is_whole(sessions: Sessions) -> None:
    sessions.exchange(A, FACT)
    reply = sessions.exchange(A, generation=4)
    sessions.forgotten[FACT] = 4
    assert sessions.taken(reply) == 0


def test_it_is_followed_through_several_sessions(sessions: Sessions) -> None:
    first = sessions.exchange(A, FACT)
    second = sessions.exchange(B, first)
    third = sessions.exchange(C, second)
    other = sessions.exchange(C, f"{A}:2")
    sessions.forgotten[FACT] = 4
    assert [sessions.taken(one) for one in (first, second, third, other)] == [4, 4, 4, 4]
    assert sessions.taken(f"{A}:2") == 0


def test_it_is_followed_through_as_many_sessions_as_there_are(sessions: Sessions) -> None:
    reply = sessions.exchange(A, FACT)
    for n in range(2000):
        reply = sessions.exchange(f"S-20261201-{n:06}-7k2m9q", reply)
    sessions.forgotten[FACT] = 4
    assert sessions.taken(reply) == 4


def test_it_is_followed_between_sessions_that_went_on_beside_each_other(
    sessions: Sessions,
) -> None:
    in_b = sessions.exchange(B, FACT)
    in_a = sessions.exchange(A, in_b)
    again = sessions.exchange(B, in_a)
    before = f"{B}:2"
    last = sessions.exchange(A, again)
    sessions.forgotten[FACT] = 4
    assert [sessions.taken(one) for one in (in_a, again, last, before)] == [4, 4, 4, 0]


def test_what_was_recalled_before_does_not_depend_on_what_came_after(sessions: Sessions) -> None:
    in_a = sessions.exchange(A)
    in_b = sessions.exchange(B, in_a)
    sessions.exchange(A, in_b, FACT)
    sessions.forgotten[FACT] = 4
    assert sessions.taken(in_b) == 0


def test_of_a_range_one_record_is_enough(sessions: Sessions) -> None:
    sessions.exchange(A)
    sessions.exchange(A)
    sessions.exclusions[A] = {4: 3}
    assert [sessions.taken(f"{A}:{one}") for one in ("1-3", "2-5", "4-999999999")] == [0, 3, 3]


def test_what_is_excluded_of_a_session_that_is_gone_is_taken_all_the_same(
    sessions: Sessions,
) -> None:
    sessions.exclusions[A] = {4: 3}
    assert [sessions.taken(f"{A}:{seq}") for seq in (4, 5)] == [3, 0]


def test_of_a_reply_that_was_purged_anything_may_have_been_in_sight(sessions: Sessions) -> None:
    sessions.exchange(A)
    whole = Entries()
    for entry in sessions.entries[A]:
        whole.append(entry._replace(blank=entry.type == "assistant"))
    sessions.entries[A] = whole
    sessions.exclusions[A] = {3: 0}
    sessions.forgotten[FACT] = 4
    assert sessions.taken(f"{A}:3") == 4


def test_what_held_any_fact_is_taken_with_every_fact(sessions: Sessions) -> None:
    reply = sessions.exchange(A, ANY_FACT)
    sessions.forgotten[OTHER] = 4
    assert sessions.taken(reply) == 4


def test_nothing_is_read_where_no_forget_came_after(sessions: Sessions) -> None:
    sessions.forgotten[FACT] = NOW
    assert sessions.taken(sessions.exchange(A, FACT), since=NOW) == 0
    assert sessions.read == []


facts = st.sampled_from([FACT, OTHER])


@given(st.data())
def test_a_reply_is_taken_exactly_when_something_behind_it_was(data: st.DataObject) -> None:
    sessions = Sessions()
    behind: dict[str, set[str]] = {}
    for _ in range(data.draw(st.integers(1, 12))):
        session_id = data.draw(st.sampled_from([A, B, C]))
        carried = data.draw(st.sets(facts | st.sampled_from([*behind, FACT]), max_size=2))
        before = [one for one in behind if one.startswith(session_id)]
        reply = sessions.exchange(session_id, *carried)
        behind[reply] = {fact for one in (*carried, *before) for fact in behind.get(one, {one})}
    sessions.forgotten = {FACT: 3}
    assert {one: sessions.taken(one) for one in behind} == {
        one: 3 if FACT in facts_behind else 0 for one, facts_behind in behind.items()
    }
