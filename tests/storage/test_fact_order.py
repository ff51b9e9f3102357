from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.storage import fact_order
from memnb.storage.fact_order import Class
from memories import EUR, SPLIT, Desk

WANTED = Class({"preference", "convention", "decision"}, {"quote", "statement", "canonical"})
OTHERS = Class(WANTED.kinds, WANTED.bases, others=True)


def newest_first(desk: Desk, which: Class = WANTED) -> list[str]:
    return [one.fact_id for one in desk.stores.facts.order.newest_first(which)]


@pytest.fixture(params=["sorted", "walked"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few facts all are sorted, of many those at the end are found in the order of time."""
    if request.param == "walked":
        monkeypatch.setattr(fact_order, "_FEW", 0)
        monkeypatch.setattr(fact_order, "_BATCH", 3)


@pytest.mark.usefixtures("either_way")
def test_what_was_worded_last_comes_first(desk: Desk) -> None:
    ids = [desk.remember(f"fact {number}").fact_id for number in range(8)]
    desk.correct(ids[2], "another wording")
    assert newest_first(desk) == [ids[2], *reversed(ids[3:]), ids[1], ids[0]]
    assert desk.stores.facts.order.oldest_first(list(reversed(ids))) == ids


@pytest.mark.usefixtures("either_way")
def test_classes_share_the_facts_by_kind_and_basis(desk: Desk) -> None:
    wanted = [desk.remember(f"a {kind}", kind=kind).fact_id for kind in sorted(WANTED.kinds)]
    other = desk.remember("seen", kind="observation").fact_id
    assert newest_first(desk) == list(reversed(wanted))
    assert newest_first(desk, OTHERS) == [other]
    no_basis = Class(WANTED.kinds, {"quote"})
    assert newest_first(desk, no_basis) == []
    assert len(newest_first(desk, Class(WANTED.kinds, {"quote"}, others=True))) == 4


def test_of_these_only_those_there_are_are_given(desk: Desk) -> None:
    first, second = desk.remember(EUR).fact_id, desk.remember(SPLIT).fact_id
    order = desk.stores.facts.order
    found = order.of(WANTED, [first, "F-000000", second])
    assert [one.fact_id for one in found] == [second, first]
    assert [one.n_bytes for one in found] == [len(SPLIT), len(EUR)]
    assert order.oldest_first(["F-000000", second]) == [second]


def test_before_anything_was_written_there_is_nothing(desk: Desk) -> None:
    assert newest_first(desk) == newest_first(desk, OTHERS) == []
    assert desk.stores.facts.order.oldest_first(["F-000000"]) == []
    assert not desk.folder.exists()


@settings(max_examples=20)
@given(st.lists(st.integers(0, 5), max_size=8))
def test_both_ways_to_find_them_agree(
    tmp_path_factory: pytest.TempPathFactory, corrected: Sequence[int]
) -> None:
    desk = Desk(tmp_path_factory.mktemp("agree") / "project")
    ids = [desk.remember(f"fact {number}").fact_id for number in range(6)]
    for n, number in enumerate(corrected):
        fact_id = ids[number]
        (fact,) = desk.stores.facts.facts([fact_id])
        desk.correct(fact_id, f"wording {n}", fact.newest)
    with pytest.MonkeyPatch.context() as patched:
        by_sorting = newest_first(desk)
        patched.setattr(fact_order, "_FEW", 0)
        patched.setattr(fact_order, "_BATCH", 2)
        assert newest_first(desk) == by_sorting
    desk.close()
