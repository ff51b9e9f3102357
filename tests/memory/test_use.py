"""Which facts get room when there isn't enough for all, and how their use is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core.facts import Hold
from memnb.core.section import REFERENCE, fact_line, is_followed
from memnb.core.uses import FULL, rank
from memnb.errors import StoreBusy
from memnb.memory import context, use
from memnb.memory.context import Limits
from memnb.memory.use import Ranks
from memnb.storage import index_positions
from memnb.storage.index_positions import Uses
from memnb.storage.search_index import Connection, SearchIndex
from memories import EUR, SPLIT, Desk, saying, scripted

NOW = "2026-11-30T12:00:00.000000Z"
LINE = "x" * 84  # 99 bytes with what stands around it
THREE = Limits(32_768, 300)  # room for three of them


def index_of(desk: Desk) -> SearchIndex:
    assert desk.memory.index is not None
    return desk.memory.index


def used(desk: Desk, *fact_ids: str, at: str = NOW, sessions: Iterable[int] = range(FULL)) -> None:
    """Note in the index that answers of these sessions named these facts."""
    found = {fact_id: Uses(1, 1, at, at) for fact_id in fact_ids}

    def put(connection: Connection) -> None:
        for number in sessions:
            index_positions.put_uses(connection, f"S-{number}", found)

    index_of(desk).write(put)


def fill(desk: Desk, n: int, **options: Any) -> list[str]:
    """Facts that are equally long, stated one after another."""
    letters = "abcdefghijklmnop"
    return [desk.remember(f"{letters[k]}{LINE[1:]}", **options).fact_id for k in range(n)]


def carried(desk: Desk, limits: Limits = THREE) -> list[str]:
    return [reference.partition("@")[0] for reference in desk.carried(limits)[1]]


# --- who gets room -------------------------------------------------------------------------------


def test_what_was_stated_last_gets_room_and_stands_in_the_order_of_time(desk: Desk) -> None:
    ids = fill(desk, 5)
    assert carried(desk) == ids[2:]


def test_a_correction_or_a_confirmed_statement_brings_a_fact_back(desk: Desk) -> None:
    ids = fill(desk, 5)
    desk.correct(ids[0], f"z{LINE[1:]}")
    assert carried(desk) == [ids[0], *ids[3:]]


def test_what_a_person_wants_followed_comes_before_what_can_be_recalled(desk: Desk) -> None:
    wanted = fill(desk, 2)
    seen = [desk.remember(f"{n}{LINE[1:]}", kind="observation").fact_id for n in range(4)]
    assert carried(desk) == [*wanted, seen[-1]]
    assert desk.section(THREE).split(REFERENCE)[1].count("\n- ") == 1
    more = desk.remember(f"z{LINE[1:]}").fact_id
    assert carried(desk) == [*wanted, more]


def test_with_room_for_all_everything_is_in_and_the_index_is_not_looked_at(desk: Desk) -> None:
    class Unasked(SearchIndex):
        def read(self, *_: Any, **__: Any) -> Any:
            raise AssertionError

    ids = fill(desk, 3)
    unasked = Unasked(desk.folder, label="", store_id=str, ensure=lambda: None)
    ranks = Ranks(desk.stores.facts, unasked)
    assert [fact_id for batch in ranks.batches(8192) for fact_id in batch] == list(reversed(ids))
    with pytest.raises(AssertionError):
        list(ranks.batches(200))


def test_what_answers_rest_on_keeps_its_room(desk: Desk) -> None:
    ids = fill(desk, 5)
    used(desk, ids[0])
    assert carried(desk) == [ids[0], *ids[3:]]


def test_what_was_stated_just_now_has_room_however_much_others_are_used(desk: Desk) -> None:
    ids = fill(desk, 4)
    desk.clock.at = desk.clock.at.replace(hour=13)
    used(desk, *ids, sessions=range(40))
    new = desk.remember(f"z{LINE[1:]}").fact_id
    assert new in carried(desk)


def test_use_of_long_ago_counts_less_than_a_statement_since(desk: Desk) -> None:
    ids = fill(desk, 5)
    used(desk, ids[0], at="2026-01-01T00:00:00.000000Z")
    assert carried(desk) == ids[2:]


def test_that_a_fact_was_shown_counts_for_nothing(desk: Desk) -> None:
    ids = fill(desk, 5)
    found = {ids[0]: Uses(n_carried=900, last_carried=NOW)}
    index_of(desk).write(lambda c: index_positions.put_uses(c, "S-1", found))
    assert carried(desk) == ids[2:]


@pytest.mark.parametrize("harm", ["missing", "broken", "nonsense"])
def test_without_an_index_that_can_be_read_the_last_wording_counts(desk: Desk, harm: str) -> None:
    ids = fill(desk, 5)
    if harm == "broken":
        index_of(desk).path.write_bytes(b"no database" * 999)
    if harm == "nonsense":
        for n, at in enumerate(("yesterday", "-", "2026-13-45T99:00:00Z", "x" * 999)):
            used(desk, ids[0], at=at, sessions=(n,))
    assert carried(desk) == ids[2:]


# --- while nothing changes -----------------------------------------------------------------------


def test_requests_of_a_session_carry_the_same_until_memory_changes(desk: Desk) -> None:
    ids = fill(desk, 5)
    before = desk.section(THREE)
    used(desk, ids[0])
    desk.ask("hello", saying("hi"))  # to a model with room for all
    desk.clock.at = desk.clock.at.replace(year=2030)
    assert desk.section(THREE) == before
    new = desk.remember(f"z{LINE[1:]}").fact_id
    assert set(carried(desk)) == {ids[0], ids[4], new}


def test_another_session_begins_with_what_was_used_meanwhile(desk: Desk) -> None:
    ids = fill(desk, 5)
    assert carried(desk) == ids[2:]
    used(desk, ids[0])
    desk.memory.session.end("new")
    assert carried(desk) == [ids[0], *ids[3:]]


def test_a_fact_that_is_hidden_gives_its_room_to_the_next_and_gets_it_back(desk: Desk) -> None:
    ids = fill(desk, 4)
    last = desk.learn(f"z{LINE[1:]}")
    assert carried(desk) == [*ids[2:], last]
    desk.memory.session.undo()
    assert carried(desk) == ids[1:]
    desk.memory.session.redo()
    assert carried(desk) == [*ids[2:], last]


def test_an_order_that_could_not_be_read_to_its_end_is_read_again(desk: Desk) -> None:
    ids = fill(desk, 5)
    real, n_calls = desk.stores.facts.order, 0

    class Failing:
        def newest_first(self, which: Any) -> Any:
            nonlocal n_calls
            n_calls += 1
            for n, one in enumerate(real.newest_first(which)):
                # Both classes were read to see whether all fit; this is the order itself.
                if n == 2 and n_calls == 3:
                    raise StoreBusy("busy; try again.")
                yield one

        def of(self, *arguments: Any) -> Any:
            return real.of(*arguments)

        def oldest_first(self, fact_ids: Sequence[str]) -> list[str]:
            return real.oldest_first(fact_ids)

    desk.stores.facts.order = Failing()  # type: ignore[assignment]
    with pytest.raises(StoreBusy):
        carried(desk)
    assert carried(desk) == ids[2:]


KINDS = st.sampled_from(["preference", "convention", "decision", "observation"])
FACTS = st.lists(
    st.tuples(KINDS, st.integers(1, 120), st.lists(st.integers(1, 28), max_size=6)),
    min_size=1,
    max_size=14,
)


@settings(max_examples=30)
@given(FACTS, st.integers(40, 700))
def test_kernels_choose_the_same_and_what_is_left_out_ranks_below_what_is_in(
    tmp_path_factory: pytest.TempPathFactory,
    facts: list[tuple[str, int, list[int]]],
    max_bytes: int,
) -> None:
    desk = Desk(tmp_path_factory.mktemp("choose") / "project")
    uses: dict[str, list[str]] = {}
    for number, (kind, size, days) in enumerate(facts):
        fact_id = desk.remember(f"{number} " + "x" * size, kind=kind).fact_id
        uses[fact_id] = [f"2026-11-{day:02}T00:00:00.000000Z" for day in days]
        for n, at in enumerate(uses[fact_id]):
            used(desk, fact_id, at=at, sessions=(n,))
    limits = Limits(32_768, max_bytes)
    first, other = desk.beside("first"), desk.beside("other")
    assert first.carried(limits) == other.carried(limits)
    assert carried(first, limits) == _by_the_book(desk, uses, max_bytes)
    for one in (desk, first, other):
        one.close()


def _by_the_book(desk: Desk, uses: Mapping[str, list[str]], max_bytes: int) -> list[str]:
    """What the rules say, gone through one by one."""
    facts = desk.stores.facts.facts(desk.stores.facts.ids(limit=99))
    ranked = sorted(
        facts,
        key=lambda one: (
            is_followed(one),
            rank(one.current.recorded_at, uses[one.fact_id]),
            one.current.recorded_at,
        ),
        reverse=True,
    )
    found = set()
    for one in ranked:
        n_bytes = len(fact_line(one).encode()) + 1
        if n_bytes <= max_bytes:
            max_bytes -= n_bytes
            found.add(one.fact_id)
    return [one.fact_id for one in facts if one.fact_id in found]


# --- what has no room any more -------------------------------------------------------------------


def verdict(desk: Desk, fact_id: str, limits: Limits = THREE) -> tuple[bool, tuple[str, ...]]:
    memory = desk.memory
    choice, displaced = context.choice_and_displaced(
        memory.stores, memory.validator, limits, fact_id, memory.ranks
    )
    return choice.is_in, displaced


def test_what_a_fact_displaces_is_what_would_be_in_without_it(desk: Desk) -> None:
    ids = fill(desk, 3)
    assert verdict(desk, ids[2]) == (True, ())
    long = desk.remember("x" * 180).fact_id
    assert verdict(desk, long) == (True, (ids[0], ids[1]))
    seen = desk.remember("y" * 180, kind="observation").fact_id
    assert verdict(desk, seen) == (False, ())


def test_what_could_not_be_sent_anyway_is_not_displaced(desk: Desk) -> None:
    hidden = desk.learn(f"y{LINE[1:]}")
    desk.memory.session.undo()
    over = desk.remember(f"z{LINE[1:]}", valid_to="2026-11-30T10:00:00.000000Z").fact_id
    ids = fill(desk, 4)
    desk.clock.at = desk.clock.at.replace(hour=11)
    assert verdict(desk, ids[3]) == (True, (ids[0],))
    assert not {hidden, over} & set(carried(desk))


def test_a_rival_in_a_dispute_has_not_left_for_want_of_room(desk: Desk) -> None:
    ids = fill(desk, 3)
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        for one, other in ((ids[0], ids[2]), (ids[2], ids[0])):
            change.hold(one, Hold("disputed", other), NOW)
    assert carried(desk) == ids[1:]
    assert verdict(desk, ids[2]) == (True, ())


def test_what_is_followed_leaves_learning_the_room_of_what_can_be_recalled(desk: Desk) -> None:
    memory = desk.memory
    fill(desk, 1)
    before = context.room_left(memory.stores, memory.validator, THREE, memory.ranks)
    fill(desk, 3, kind="observation")
    assert context.room_left(memory.stores, memory.validator, THREE, memory.ranks) == before


# --- how use is counted --------------------------------------------------------------------------


def counted(desk: Desk) -> dict[str, Uses]:
    return use.counted(desk.records())


def test_each_request_that_carries_a_fact_shows_it_and_each_answer_that_names_it_uses_it(
    desk: Desk,
) -> None:
    first, second = desk.remember(EUR).fact_id, desk.remember(SPLIT).fact_id
    desk.ask("hello", saying(f"as {first} says"))
    desk.ask("again", scripted(("memory_list", {}), "fine"))
    found = counted(desk)
    assert (found[first].n_cited, found[second].n_cited) == (1, 0)
    # Two requests, and the list that the tool gave.
    assert (found[first].n_carried, found[second].n_carried) == (4, 4)
    assert found[first].last_cited < found[first].last_carried
    assert found[second].last_cited == ""


def test_a_probe_counts_for_nothing(desk: Desk) -> None:
    first, second = desk.remember(EUR).fact_id, desk.remember(SPLIT).fact_id
    desk.ask("hello", saying(f"as {second} says"), without=(first,))
    assert counted(desk) == {}


def test_messages_that_were_recalled_are_no_facts(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    desk.ask("hello", saying("hi"))
    for record in desk.records():
        if record.head.type == "assistant" and record.body is not None:
            record.body["carried"] = [f"{fact_id}@1", "S-20261130-091005-7k2m9q:12"]  # type: ignore[index]
            assert set(use.counted([record])) == {fact_id}


@pytest.mark.parametrize("harm", ["purged", "damaged"])
def test_what_cannot_be_read_is_not_counted(desk: Desk, harm: str) -> None:
    desk.remember(EUR)
    desk.ask("hello", saying("hi"))
    body = None if harm == "purged" else {"carried": 7}
    assert use.counted([replace(record, body=body) for record in desk.records()]) == {}


def test_an_index_that_cannot_be_read_knows_nothing_of_use(desk: Desk) -> None:
    assert use.known(None) is None
    assert use.known(index_of(desk)) is None
    used(desk, "F-000000", sessions=range(2))
    known = use.known(index_of(desk))
    assert known is not None
    assert known["F-000000"] == Uses(2, 2, NOW, NOW)
