"""Facts that rest on others: held when those change, out while those can't be used, confirmed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from memnb.core.facts import Fact, Hold
from memnb.core.section import Standing
from memnb.errors import InvalidText, StoreBusy, UnknownId
from memnb.memory import context, stating
from memnb.memory.remembering import Kept
from memnb.memory.standing import Standings
from memnb.memory.stating import Said
from memories import EUR, Desk

LATER = "2027-01-01T00:00:00.000000Z"


def fact(desk: Desk, fact_id: str) -> Fact:
    found = desk.stores.facts.fact(fact_id)
    assert found is not None
    return found


def expire(desk: Desk, fact_id: str, at: str = LATER) -> Kept:
    return stating.expire(desk.memory, fact_id, at, Said(f"expire {fact_id}"))


def confirm(desk: Desk, fact_id: str) -> Kept:
    return stating.confirm(desk.memory, fact_id, Said(f"confirm {fact_id}"))


def derive(desk: Desk, text: str, *bases: str) -> str:
    return desk.remember(text, derived_from=bases).fact_id


def standing(desk: Desk, fact_id: str) -> Standing:
    now = desk.stores.now()
    facts = desk.stores.facts.facts([fact_id], at=now)
    (found,) = Standings(desk.stores, desk.memory.validator, now).of(facts)
    choice = context.choice_of(desk.stores, desk.memory.validator, context.Limits(), fact_id)
    assert (choice.reason, choice.because_id) == (found.reason, found.because_id)
    return found


def chain(desk: Desk) -> tuple[str, str, str]:
    base = desk.learn("base")
    child = derive(desk, "child", base)
    return base, child, derive(desk, "grandchild", child)


# --- what a change of the base does --------------------------------------------------------------

CHANGES: list[Callable[[Desk, str], tuple[str, ...]]] = [
    lambda desk, base: desk.correct(base, "another base").flagged,
    lambda desk, base: (
        stating.correct(
            desk.memory, base, "B", Said("B"), expected_revision=1, valid_from=LATER
        ).flagged
    ),
    lambda desk, base: expire(desk, base).flagged,
    lambda desk, base: expire(desk, base, "2026-03-01T00:00:00.000000Z").flagged,
    lambda desk, base: desk.forget(base).flagged,
]
IDS = ["corrected", "to be corrected", "to end", "ended", "forgotten"]


@pytest.mark.parametrize("change", CHANGES, ids=IDS)
def test_what_rests_on_a_fact_that_changes_is_held_until_a_person_confirms_it(
    desk: Desk, change: Callable[[Desk, str], tuple[str, ...]]
) -> None:
    base = desk.remember("base").fact_id
    child = derive(desk, "child", base)
    grandchild = derive(desk, "grandchild", child)
    alone = desk.remember("alone").fact_id
    assert sorted(change(desk, base)) == sorted([child, grandchild])
    for fact_id in (child, grandchild):
        assert fact(desk, fact_id).holds == (Hold("source_changed", base),)
        assert standing(desk, fact_id).reason == "held"
    assert standing(desk, alone).reason == ""
    assert confirm(desk, grandchild).outcome == "confirmed"
    assert standing(desk, grandchild).reason == ""
    assert standing(desk, child).reason == "held"
    confirm(desk, child)
    assert "- child" in desk.section()


def test_a_confirmed_fact_stays_in_use_when_the_end_of_its_base_comes(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    child = derive(desk, "child", base)
    expire(desk, base)
    confirm(desk, child)
    desk.clock.at = datetime.fromisoformat(LATER)
    assert "- child" in desk.section()
    assert "- base" not in desk.section()


def test_a_confirmed_fact_is_held_again_by_the_next_change(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    child = derive(desk, "child", base)
    desk.correct(base, "another base")
    confirm(desk, child)
    desk.correct(base, "a third base", 2)
    assert standing(desk, child).reason == "held"


def test_what_rested_on_another_fact_is_held_as_long_as_it_says_so_today(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    child = derive(desk, "child", base)
    stating.correct(
        desk.memory, child, "on its own", Said("on its own"), expected_revision=1, valid_from=LATER
    )
    assert desk.correct(base, "another base").flagged == (child,)
    confirm(desk, child)
    desk.clock.at = datetime.fromisoformat(LATER)
    assert desk.correct(base, "a third base", 2).flagged == ()
    assert "- on its own" in desk.section()


# --- confirm -------------------------------------------------------------------------------------


def test_a_confirmation_is_recorded_as_a_command_that_no_fact_cites(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    child = derive(desk, "child", base)
    desk.correct(base, "another base")
    before = len(desk.records())
    confirm(desk, child)
    (record,) = desk.records()[before:]
    assert record.body is not None
    assert (record.head.type, record.body["via"], record.body["asks"]) == ("user", "command", False)
    assert [part["text"] for part in record.body["parts"]] == [f"confirm {child}"]
    assert desk.stores.facts.citing(desk.session_id, [record.head.seq]) == []
    assert fact(desk, child).newest == 1


def test_confirming_what_is_not_held_changes_and_records_nothing(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    before = desk.transcript()
    assert confirm(desk, fact_id) == Kept("already", fact_id, 1)
    assert desk.transcript() == before


def test_a_fact_that_is_confirmed_against_what_it_rests_on_is_held_no_more(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    child = derive(desk, "child", base)
    desk.correct(base, "another base")
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        change.hold(child, Hold("disputed", base), desk.stores.now())
        change.hold(child, Hold("imported", "F-000000"), desk.stores.now())
    assert confirm(desk, child).ended == (base,)
    assert fact(desk, child).holds == ()
    before = desk.transcript()
    assert confirm(desk, child).outcome == "already"
    assert desk.transcript() == before


def test_only_what_is_there_can_be_confirmed(desk: Desk) -> None:
    with pytest.raises(UnknownId):
        confirm(desk, "F-zzzzzz")
    assert not desk.folder.exists()


def test_a_confirmation_that_waited_in_vain_leaves_the_fact_held(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    child = derive(desk, "child", base)
    desk.correct(base, "another base")
    other = desk.beside("training.ipynb")
    desk.wait_ms = 50
    with (
        other.stores.facts.transaction(now=other.stores.now()),
        pytest.raises(StoreBusy, match=r"training\.ipynb"),
    ):
        confirm(desk, child)
    other.close()
    assert standing(desk, child).reason == "held"


# --- what nobody's change brings about -----------------------------------------------------------


def test_what_rests_on_a_hidden_message_is_out_until_it_can_be_seen_again(desk: Desk) -> None:
    base, child, grandchild = chain(desk)
    desk.memory.session.undo()
    for fact_id in (child, grandchild):
        found = standing(desk, fact_id)
        assert (found.status, found.reason, found.because_id) == ("valid", "held", base)
    assert desk.section() == ""
    desk.memory.session.redo()
    assert [standing(desk, fact_id).reason for fact_id in (base, child, grandchild)] == ["", "", ""]


def test_what_rests_on_a_fact_is_out_when_that_ends_by_time_alone(desk: Desk) -> None:
    base = desk.remember("base", valid_to=LATER).fact_id
    child = derive(desk, "child", base)
    assert "- child" in desk.section()
    desk.clock.at = datetime.fromisoformat(LATER)
    assert standing(desk, child).because_id == base
    assert "child" not in desk.section()


def test_what_rests_on_a_fact_that_is_to_come_comes_with_it(desk: Desk) -> None:
    base = desk.remember("base", valid_from=LATER).fact_id
    child = derive(desk, "child", base)
    assert standing(desk, child).because_id == base
    desk.clock.at = datetime.fromisoformat(LATER)
    assert "- child" in desk.section()


def test_said_again_by_itself_it_rests_on_nothing(desk: Desk) -> None:
    _, child, _ = chain(desk)
    desk.memory.session.undo()
    assert desk.remember("child").outcome == "renewed"
    assert fact(desk, child).current.links == ()
    assert "- child" in desk.section()


def test_it_is_back_when_its_base_is_said_again(desk: Desk) -> None:
    _, child, grandchild = chain(desk)
    desk.memory.session.undo()
    desk.remember("base")
    assert [standing(desk, fact_id).reason for fact_id in (child, grandchild)] == ["", ""]


def test_a_fact_newer_than_what_rests_on_it_is_looked_at_too(desk: Desk) -> None:
    # The prompt goes through facts oldest first, a batch at a time.
    child = desk.remember("child", valid_to="2026-03-01T00:00:00.000000Z").fact_id
    for number in range(70):
        desk.remember(f"other {number}")
    base = desk.learn("base")
    assert derive(desk, "child", base) == child
    assert "- child" in desk.section()
    desk.memory.session.undo()
    assert "child" not in desk.section()
    assert standing(desk, child).because_id == base


def test_facts_that_rest_on_each_other_end_no_search_and_hold_nobody(desk: Desk) -> None:
    first = desk.remember("first", valid_to="2026-03-01T00:00:00.000000Z").fact_id
    second = derive(desk, "second", first)
    assert standing(desk, second).because_id == first
    derive(desk, "first", second)  # said again: a circle
    assert [standing(desk, fact_id).reason for fact_id in (first, second)] == ["", ""]
    assert sorted(desk.stores.facts.dependents(first)) == [second]


def test_a_long_line_of_derivation_is_judged_to_its_end(desk: Desk) -> None:
    base = fact_id = desk.learn("base")
    for number in range(100):
        fact_id = derive(desk, f"step {number}", fact_id)
    assert standing(desk, fact_id).reason == ""
    desk.memory.session.undo()
    assert standing(desk, fact_id).because_id == base
    assert desk.section() == ""


def test_a_fact_is_not_derived_from_itself(desk: Desk) -> None:
    fact_id = desk.remember("base", valid_to="2026-03-01T00:00:00.000000Z").fact_id
    before = desk.transcript()
    with pytest.raises(InvalidText, match="says that itself"):
        derive(desk, "base", fact_id)
    assert desk.transcript() == before
