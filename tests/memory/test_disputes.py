"""Disputes: both sides are kept and marked; the one stated last is sent until a person decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from learned import found, learn, quoted, said, take
from memnb.core.facts import Fact, Hold, Link
from memnb.core.section import stated_last
from memnb.memory import disputes, reviewing, stating
from memnb.memory.context import Limits, choices
from memnb.memory.remembering import Kept
from memnb.memory.stating import Said
from memories import EUR, Desk

TABS = "We use tabs for indentation."
SPACES = "We use four spaces for indentation."
WIDE = "We use two spaces for indentation."


def fact(desk: Desk, fact_id: str) -> Fact:
    (found_,) = desk.stores.facts.facts([fact_id])
    return found_


def against(desk: Desk, other: str, text: str = SPACES, message: str = "") -> str:
    """A fact that a person applied though it contradicts another; gives its id."""
    reference = fact(desk, other).current.reference
    (candidate_id,) = learn(desk, message or text, text, conflicts=(reference,)).pending
    return reviewing.apply(desk.memory, candidate_id).fact_id


def confirm(desk: Desk, fact_id: str) -> Kept:
    return stating.confirm(desk.memory, fact_id, Said(f"confirm {fact_id}"))


def pairs(desk: Desk) -> list[tuple[str, str]]:
    return [(one.fact_id, two.fact_id) for one, two in disputes.pairs(desk.stores)]


def test_facts_that_contradict_are_both_kept_and_marked(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = against(desk, tabs)
    assert fact(desk, tabs).holds == (Hold("disputed", spaces),)
    assert fact(desk, spaces).holds == (Hold("disputed", tabs),)
    assert fact(desk, spaces).current.links == (Link("conflicts_with", tabs, 1),)
    assert pairs(desk) == [(tabs, spaces)]
    assert desk.status(tabs) == desk.status(spaces) == "valid"


def test_a_candidate_that_contradicts_waits_and_leaves_the_fact_alone(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    taken = learn(desk, SPACES, conflicts=(f"{tabs}@1",))
    assert taken.outcome == "proposed"
    assert fact(desk, tabs).holds == ()
    assert TABS in desk.section()


def test_what_a_person_stated_is_sent_before_what_was_learned_later(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    against(desk, tabs)
    assert f"- {TABS} [{tabs}] (disputed)" in desk.section()
    assert SPACES not in desk.section()


def test_of_two_statements_the_later_one_is_sent(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    (candidate_id,) = learn(desk, SPACES, conflicts=(f"{tabs}@1",)).pending
    spaces = reviewing.apply(desk.memory, candidate_id, text=SPACES).fact_id
    assert f"- {SPACES} [{spaces}] (disputed)" in desk.section()
    assert TABS not in desk.section()


def test_of_three_that_contradict_one_is_sent(desk: Desk) -> None:
    first = desk.remember(TABS).fact_id
    second = desk.remember(SPACES).fact_id
    third = desk.remember(WIDE).fact_id
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        disputes.open_dispute(change, first, (second, third), desk.stores.now())
        disputes.open_dispute(change, second, (third,), desk.stores.now())
    assert [one in desk.section() for one in (TABS, SPACES, WIDE)] == [False, False, True]


def test_what_nobody_said_word_for_word_isnt_sent_while_it_is_in_dispute(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = against(desk, tabs)
    theirs, other = fact(desk, tabs), fact(desk, spaces)
    by_rule = replace(other, revisions=(replace(other.current, basis="file_line"),))
    assert stated_last(theirs, [by_rule])
    assert not stated_last(by_rule, [theirs])
    assert not stated_last(by_rule, [])


def test_a_side_whose_message_was_undone_leaves_the_other_to_be_sent(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = against(desk, tabs)
    fact_id = fact(desk, tabs).fact_id
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        (seq,) = fact(desk, fact_id).current.sources[0].ref.seqs
        change.exclude(desk.session_id, seq, change.next_generation())
    assert f"- {SPACES} [{spaces}] (disputed)" in desk.section()


def test_a_disputed_fact_that_is_held_for_more_isnt_sent(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    against(desk, tabs)
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        change.hold(tabs, Hold("imported", "F-000000"), desk.stores.now())
    assert TABS not in desk.section()


def test_confirming_one_side_ends_the_other_from_now_on(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = against(desk, tabs)
    kept = confirm(desk, spaces)
    assert (kept.outcome, kept.ended) == ("confirmed", (tabs,))
    assert fact(desk, spaces).holds == fact(desk, tabs).holds == ()
    ended = fact(desk, tabs).current
    assert (ended.revision, ended.text, ended.origin) == (2, TABS, "person")
    assert ended.valid_to is not None
    assert f"- {SPACES} [{spaces}]" in desk.section()
    assert TABS not in desk.section()
    assert pairs(desk) == []


def test_the_side_that_ended_can_be_stated_again(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    confirm(desk, against(desk, tabs))
    assert desk.remember(TABS).outcome == "renewed"
    assert TABS in desk.section()


def test_confirming_one_of_three_ends_both_others(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = against(desk, tabs)
    wide = against(desk, tabs, WIDE)
    assert set(confirm(desk, tabs).ended) == {spaces, wide}
    assert pairs(desk) == []


@pytest.mark.parametrize("how", ["correct", "expire", "forget", "take back"])
def test_a_dispute_ends_with_one_of_its_sides(desk: Desk, how: str) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = against(desk, tabs)
    if how == "correct":
        desk.correct(spaces, EUR)
    elif how == "expire":
        stating.expire(desk.memory, spaces, desk.stores.now(), Said(f"expire {spaces}"))
    elif how == "forget":
        desk.forget(spaces)
    else:
        reviewing.take_back(desk.memory, spaces)
    assert fact(desk, tabs).holds == ()
    assert pairs(desk) == []
    assert f"- {TABS} [{tabs}]\n" in f"{desk.section()}\n"


def test_stating_one_side_again_makes_it_the_one_that_is_sent(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    (candidate_id,) = learn(desk, SPACES, conflicts=(f"{tabs}@1",)).pending
    spaces = reviewing.apply(desk.memory, candidate_id, text=SPACES).fact_id
    assert desk.remember(TABS).outcome == "renewed"
    assert f"- {TABS} [{tabs}] (disputed)" in desk.section()
    assert pairs(desk) == [(spaces, tabs)]


def test_a_fact_that_was_changed_since_is_in_no_dispute(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    (candidate_id,) = learn(desk, SPACES, conflicts=(f"{tabs}@1",)).pending
    desk.correct(tabs, WIDE)
    spaces = reviewing.apply(desk.memory, candidate_id).fact_id
    assert fact(desk, tabs).holds == fact(desk, spaces).holds == ()


def test_one_conflict_with_itself_is_none(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        disputes.open_dispute(change, tabs, (tabs,), desk.stores.now())
    assert fact(desk, tabs).holds == ()


def promoted(desk: Desk, text: str, *others: str) -> Kept:
    """What code would promote, if quotes were what it promotes."""
    candidate = quoted(desk, said(desk, text), text, origin="promoted", conflicts=others)
    (kept,) = take(desk, found(desk, candidate), trigger="promotion").applied
    return kept


def test_a_promotion_takes_the_place_of_a_promotion(desk: Desk) -> None:
    first = promoted(desk, TABS).fact_id
    second = promoted(desk, SPACES, f"{first}@1")
    assert second.ended == (first,)
    assert fact(desk, second.fact_id).current.links == (Link("supersedes", first, 1),)
    assert fact(desk, first).current.origin == "promoted"
    assert fact(desk, first).current.valid_to is not None
    assert pairs(desk) == []


def test_a_promotion_against_what_was_stated_opens_a_dispute(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = promoted(desk, SPACES, f"{tabs}@1").fact_id
    assert pairs(desk) == [(tabs, spaces)]
    assert f"- {TABS} [{tabs}] (disputed)" in desk.section()


def test_a_side_that_is_held_no_more_is_sent_alone_and_unmarked(desk: Desk) -> None:
    tabs, spaces = desk.remember(TABS).fact_id, desk.remember(SPACES).fact_id
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        change.hold(spaces, Hold("disputed", tabs), desk.stores.now())
    assert f"- {TABS} [{tabs}]\n" in f"{desk.section()}\n"
    assert SPACES not in desk.section()


def test_the_mark_counts_in_the_room_of_the_prompt(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    against(desk, tabs)
    found_ = {
        one.fact.fact_id: one for one in choices(desk.stores, desk.memory.validator, Limits())
    }
    assert found_[tabs].n_bytes == len(f"- {TABS} [{tabs}] (disputed)\n")
