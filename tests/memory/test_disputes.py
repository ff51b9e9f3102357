"""Disputes: both sides are kept and marked; the one stated last is sent until a person decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from learned import found, learn, quoted, said, take
from memnb.core.facts import Fact, Hold, Link
from memnb.core.section import stated_last
from memnb.memory import disputes, opposing, queueing, reviewing, stating
from memnb.memory.context import Limits, choices
from memnb.memory.remembering import Kept
from memnb.memory.stating import Said
from memories import EUR, SPLIT, Desk

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
        opposing.open_dispute(change, first, (second, third), desk.stores.now())
        opposing.open_dispute(change, second, (third,), desk.stores.now())
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
    desk.correct(tabs, EUR)
    spaces = reviewing.apply(desk.memory, candidate_id).fact_id
    assert fact(desk, tabs).holds == fact(desk, spaces).holds == ()


def test_one_conflict_with_itself_is_none(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        opposing.open_dispute(change, tabs, (tabs,), desk.stores.now())
    assert fact(desk, tabs).holds == ()


# --- what rules read as a contradiction ----------------------------------------------------------


def test_what_is_learned_against_a_fact_waits_though_no_model_named_it(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    taken = learn(desk, SPACES)
    (queued,) = desk.stores.candidates.of("pending")
    assert taken.applied == ()
    assert (queued.conflicts, queued.grounds) == ((f"{tabs}@1",), ("conflict",))
    spaces = reviewing.apply(desk.memory, queued.candidate_id).fact_id
    assert pairs(desk) == [(tabs, spaces)]


def test_of_one_run_what_contradicts_what_it_kept_waits(desk: Desk) -> None:
    seq = said(desk, f"{TABS} {SPACES}")
    taken = take(desk, found(desk, quoted(desk, seq, TABS), quoted(desk, seq, SPACES)))
    (kept,) = taken.applied
    (queued,) = desk.stores.candidates.of("pending")
    assert queued.conflicts == (kept.reference,)


def test_what_became_a_fact_while_something_waited_counts_when_that_is_applied(desk: Desk) -> None:
    (first,) = learn(desk, TABS, mode="review").pending
    (second,) = learn(desk, SPACES, mode="review").pending
    tabs = reviewing.apply(desk.memory, first).fact_id
    spaces = reviewing.apply(desk.memory, second).fact_id
    assert pairs(desk) == [(tabs, spaces)]


@pytest.mark.parametrize("text", [SPACES, "Always indent with four spaces."])
def test_what_a_person_states_against_a_fact_opens_a_dispute(desk: Desk, text: str) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = desk.remember(text).fact_id
    assert pairs(desk) == [(tabs, spaces)]
    assert f"- {text} [{spaces}] (disputed)" in desk.section()
    assert TABS not in desk.section()


def test_a_correction_that_contradicts_another_fact_opens_a_dispute(desk: Desk) -> None:
    tabs, other = desk.remember(TABS).fact_id, desk.remember(EUR).fact_id
    desk.correct(other, SPACES)
    assert pairs(desk) == [(tabs, other)]
    desk.correct(other, EUR, 2)
    assert pairs(desk) == []


def test_what_the_agent_leaves_for_review_says_what_it_contradicts(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    candidate = quoted(desk, said(desk, SPACES), SPACES)
    queueing.queue(desk.stores, desk.memory.validator, candidate, "tool")
    (queued,) = desk.stores.candidates.of("pending")
    assert queued.conflicts == (f"{tabs}@1",)
    assert set(queued.grounds) == {"tool", "conflict"}


def test_what_the_agent_keeps_of_a_persons_words_opens_one_too(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = desk.learn(SPACES)
    assert pairs(desk) == [(tabs, spaces)]


@pytest.mark.parametrize(
    "text", ["We use DuckDB.", "We use polars for plots.", EUR, "Always reply in German."]
)
def test_what_may_hold_beside_a_fact_is_in_no_dispute(desk: Desk, text: str) -> None:
    desk.remember(TABS)
    desk.remember("This project uses pandas.")
    desk.remember(text)
    assert pairs(desk) == []


def test_what_is_so_later_contradicts_nothing_yet(desk: Desk) -> None:
    desk.remember(TABS)
    desk.remember(SPACES, valid_from="2027-01-01T00:00:00.000000Z")
    assert pairs(desk) == []
    assert TABS in desk.section()


def test_what_is_over_is_contradicted_by_nothing(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    stating.expire(desk.memory, tabs, desk.stores.now(), Said(f"expire {tabs}"))
    desk.remember(SPACES)
    assert pairs(desk) == []


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


def test_what_a_promotion_replaced_holds_again_when_that_is_taken_back(desk: Desk) -> None:
    first = promoted(desk, TABS).fact_id
    derived = desk.remember(EUR, derived_from=(first,)).fact_id
    second = promoted(desk, SPACES, f"{first}@1").fact_id
    assert fact(desk, derived).holds != ()
    done = reviewing.take_back(desk.memory, second)
    assert (done.is_gone, done.back) == (True, (first,))
    assert (fact(desk, first).newest, fact(desk, first).current.valid_to) == (1, None)
    assert fact(desk, derived).holds == ()
    assert f"- {TABS} [{first}]\n" in f"{desk.section()}\n"
    assert reviewing.take_back(desk.memory, first).is_gone


def test_what_holds_again_is_in_dispute_with_what_a_person_stated(desk: Desk) -> None:
    first = promoted(desk, TABS).fact_id
    second = promoted(desk, SPACES, f"{first}@1").fact_id
    stated = desk.remember(WIDE).fact_id
    reviewing.take_back(desk.memory, second)
    assert pairs(desk) == [(first, stated)]


def test_what_was_changed_since_a_promotion_replaced_it_stays_as_it_is(desk: Desk) -> None:
    first = promoted(desk, TABS).fact_id
    second = promoted(desk, SPACES, f"{first}@1").fact_id
    desk.correct(first, EUR, 2)
    assert reviewing.take_back(desk.memory, second).back == ()
    assert fact(desk, first).current.text == EUR


def test_what_was_out_of_use_when_a_promotion_came_stays_as_it_is(desk: Desk) -> None:
    first = promoted(desk, TABS).fact_id
    desk.memory.session.undo()
    second = promoted(desk, SPACES, f"{first}@1")
    assert second.ended == ()
    assert reviewing.take_back(desk.memory, second.fact_id).back == ()
    assert fact(desk, first).newest == 1


def test_a_promotion_against_what_was_stated_opens_a_dispute(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    spaces = promoted(desk, SPACES, f"{tabs}@1").fact_id
    assert pairs(desk) == [(tabs, spaces)]
    assert f"- {TABS} [{tabs}] (disputed)" in desk.section()


def test_a_side_that_is_held_no_more_is_sent_alone_and_unmarked(desk: Desk) -> None:
    one, two = desk.remember(EUR).fact_id, desk.remember(SPLIT).fact_id
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        change.hold(two, Hold("disputed", one), desk.stores.now())
    assert f"- {EUR} [{one}]\n" in f"{desk.section()}\n"
    assert SPLIT not in desk.section()


def test_the_mark_counts_in_the_room_of_the_prompt(desk: Desk) -> None:
    tabs = desk.remember(TABS).fact_id
    against(desk, tabs)
    found_ = {
        one.fact.fact_id: one for one in choices(desk.stores, desk.memory.validator, Limits())
    }
    assert found_[tabs].n_bytes == len(f"- {TABS} [{tabs}] (disputed)\n")
