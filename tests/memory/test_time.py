"""When a fact holds: intervals, later corrections, ends, and what is said again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core import ids
from memnb.core.facts import Fact
from memnb.errors import (
    HiddenText,
    InputError,
    InvalidText,
    MemnbError,
    RevisionChanged,
    SecretFound,
    SourceNotValid,
    UnknownId,
)
from memnb.memory import context, recall, stating
from memnb.memory.remembering import Kept
from memnb.memory.searching import Search, search
from memnb.memory.stating import Said
from memories import EUR, SECRET, Desk, saying, scripted

NOW = "2026-11-30"  # what the clock of a desk says
FIRST = "0001-01-01T00:00:00.000000Z"
LAST = "9999-12-31T23:59:59.999999Z"


def stamp(day: str | None) -> str | None:
    """`2026-03-01` and `2026-03-01T09:30:00` as stamps; a whole stamp as it is."""
    if day is None or day.endswith("Z"):
        return day
    return day + "T00:00:00.000000Z"[len(day) - 10 :]


def correct(desk: Desk, fact_id: str, text: str, since: str | None = None) -> Kept:
    return stating.correct(
        desk.memory,
        fact_id,
        text,
        Said(text),
        expected_revision=history(desk, fact_id).newest,
        valid_from=stamp(since),
    )


def expire(desk: Desk, fact_id: str, day: str) -> Kept:
    return stating.expire(desk.memory, fact_id, stamp(day) or "", Said(f"expire {fact_id} {day}"))


def remember(desk: Desk, text: str, since: str | None = None, until: str | None = None) -> Kept:
    return desk.remember(text, valid_from=stamp(since), valid_to=stamp(until))


def history(desk: Desk, fact_id: str) -> Fact:
    found = desk.stores.facts.fact(fact_id)
    assert found is not None
    return found


def held(desk: Desk, fact_id: str, day: str) -> str | None:
    """What a fact said at an instant; None when it didn't hold."""
    at = stamp(day) or ""
    (fact,) = desk.stores.facts.facts([fact_id], at=at)
    assert fact == history(desk, fact_id).as_of(at)
    return fact.current.text if fact.current.is_valid_at(at) else None


# --- a table of cases ----------------------------------------------------------------------------

SAY, FIX, END = remember, correct, expire
CASES: dict[str, tuple[list[tuple[Any, ...]], dict[str, str | None]]] = {
    "open at both ends": (
        [(SAY, "A")],
        {FIRST: "A", "2026-11-30": "A", LAST: "A"},
    ),
    "since a day": (
        [(SAY, "A", "2026-03-01")],
        {FIRST: None, "2026-02-28T23:59:59.999999Z": None, "2026-03-01": "A", LAST: "A"},
    ),
    "until a day": (
        [(SAY, "A", None, "2026-03-01")],
        {FIRST: "A", "2026-02-28T23:59:59.999999Z": "A", "2026-03-01": None, LAST: None},
    ),
    "from the future on": (
        [(SAY, "A", "2027-01-01")],
        {"2026-11-30": None, "2027-01-01": "A"},
    ),
    "corrected: it was always so": (
        [(SAY, "A"), (FIX, "B")],
        {FIRST: "B", "2026-11-30": "B", LAST: "B"},
    ),
    "corrected since a day": (
        [(SAY, "A"), (FIX, "B", "2026-03-01")],
        {FIRST: "A", "2026-02-28T23:59:59.999999Z": "A", "2026-03-01": "B", LAST: "B"},
    ),
    "corrected from the future on": (
        [(SAY, "A"), (FIX, "B", "2027-01-01")],
        {"2026-11-30": "A", "2026-12-31T23:59:59.999999Z": "A", "2027-01-01": "B"},
    ),
    "corrected twice, later the second time": (
        [(SAY, "A"), (FIX, "B", "2026-03-01"), (FIX, "C", "2026-06-01")],
        {"2026-02-01": "A", "2026-03-01": "B", "2026-06-01": "C"},
    ),
    "corrected twice, earlier the second time": (
        [(SAY, "A"), (FIX, "B", "2026-06-01"), (FIX, "C", "2026-03-01")],
        {"2026-02-01": "A", "2026-03-01": "C", "2026-06-01": "C"},
    ),
    "corrected twice since the same day": (
        [(SAY, "A"), (FIX, "B", "2026-03-01"), (FIX, "C", "2026-03-01")],
        {"2026-02-01": "A", "2026-03-01": "C"},
    ),
    "corrected before it began": (
        [(SAY, "A", "2026-06-01"), (FIX, "B", "2026-03-01")],
        {"2026-02-01": None, "2026-03-01": "B", "2026-06-01": "B"},
    ),
    "corrected for always after a day": (
        [(SAY, "A", "2026-06-01"), (FIX, "B")],
        {FIRST: "B", "2026-06-01": "B"},
    ),
    "corrected back for a later time": (
        [(SAY, "A"), (FIX, "B", "2026-03-01"), (FIX, "A", "2026-06-01")],
        {"2026-02-01": "A", "2026-03-01": "B", "2026-06-01": "A"},
    ),
    "ended in the past": (
        [(SAY, "A"), (END, "2026-03-01")],
        {FIRST: "A", "2026-02-28T23:59:59.999999Z": "A", "2026-03-01": None, LAST: None},
    ),
    "ended in the future": (
        [(SAY, "A"), (END, "2027-01-01")],
        {"2026-11-30": "A", "2027-01-01": None},
    ),
    "ended earlier than its end": (
        [(SAY, "A", None, "2027-06-01"), (END, "2027-01-01")],
        {"2026-12-31": "A", "2027-01-01": None, "2027-06-01": None},
    ),
    "a future fact ended after it begins": (
        [(SAY, "A", "2027-01-01"), (END, "2027-03-01")],
        {"2026-12-31": None, "2027-01-01": "A", "2027-03-01": None},
    ),
    "ended after a correction since a day": (
        [(SAY, "A"), (FIX, "B", "2026-03-01"), (END, "2026-06-01")],
        {"2026-02-01": "A", "2026-03-01": "B", "2026-06-01": None},
    ),
    "ended before a correction that was to come": (
        [(SAY, "A"), (FIX, "B", "2027-03-01"), (END, "2027-01-01")],
        {"2026-12-31": "A", "2027-01-01": None, "2027-03-01": None},
    ),
    "ended after a correction that is to come": (
        [(SAY, "A"), (FIX, "B", "2027-03-01"), (END, "2027-06-01")],
        {"2027-01-01": "A", "2027-03-01": "B", "2027-06-01": None},
    ),
    "corrected after its end: it was always so": (
        [(SAY, "A"), (END, "2026-03-01"), (FIX, "B")],
        {FIRST: "B", "2026-03-01": "B", LAST: "B"},
    ),
    "corrected after its end since a day": (
        [(SAY, "A"), (END, "2026-03-01"), (FIX, "B", "2026-06-01")],
        {"2026-02-01": "A", "2026-03-01": None, "2026-06-01": "B"},
    ),
    "the same text corrected after its end": (
        [(SAY, "A"), (END, "2027-01-01"), (FIX, "A")],
        {"2026-11-30": "A", "2027-01-01": "A"},
    ),
    "said again after its end: since now": (
        [(SAY, "A"), (END, "2026-03-01"), (SAY, "A")],
        {"2026-02-01": "A", "2026-03-01": None, "2026-11-30": None, "2026-12-01": "A"},
    ),
    "said again after its end, since a day": (
        [(SAY, "A"), (END, "2026-03-01"), (SAY, "A", "2026-06-01")],
        {"2026-02-01": "A", "2026-03-01": None, "2026-06-01": "A"},
    ),
    "said again after its end, from the future on": (
        [(SAY, "A"), (END, "2026-03-01"), (SAY, "A", "2027-01-01")],
        {"2026-02-01": "A", "2026-12-01": None, "2027-01-01": "A"},
    ),
    "said again after its end, until a day in the past": (
        [(SAY, "A", "2026-02-01", "2026-03-01"), (SAY, "A", None, "2026-04-01")],
        {FIRST: "A", "2026-03-01": "A", "2026-04-01": None},
    ),
    "said again after its end, until a day in the future": (
        [(SAY, "A", None, "2026-03-01"), (SAY, "A", None, "2027-01-01")],
        {"2026-02-01": "A", "2026-03-01": None, "2026-12-01": "A", "2027-01-01": None},
    ),
    "said again before its end: nothing changes": (
        [(SAY, "A"), (END, "2027-01-01"), (SAY, "A")],
        {"2026-11-30": "A", "2027-01-01": None},
    ),
    "said again before it begins: nothing changes": (
        [(SAY, "A", "2027-01-01"), (SAY, "A")],
        {"2026-12-01": None, "2027-01-01": "A"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_holds_at_an_instant(desk: Desk, name: str) -> None:
    steps, expected = CASES[name]
    fact_id = ""
    for act, *arguments in steps:
        kept = act(desk, *arguments) if act is remember else act(desk, fact_id, *arguments)
        fact_id = kept.fact_id
    assert desk.stores.facts.count() == 1
    assert {day: held(desk, fact_id, day) for day in expected} == expected


# --- what is told --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        pytest.param([(SAY, "A"), (SAY, "A")], "already", id="holds"),
        pytest.param([(SAY, "A", "2027-01-01"), (SAY, "A")], "already", id="to come"),
        pytest.param([(SAY, "A"), (FIX, "B", "2027-01-01"), (SAY, "B")], "already", id="scheduled"),
        pytest.param([(SAY, "A"), (FIX, "B", "2027-01-01"), (SAY, "A")], "already", id="for now"),
        pytest.param([(SAY, "A"), (END, "2027-01-01"), (SAY, "A")], "already", id="ends later"),
        pytest.param([(SAY, "A"), (END, "2026-03-01"), (SAY, "A")], "renewed", id="over"),
        pytest.param(
            [(SAY, "A"), (END, "2026-03-01"), (SAY, "A", "2027-01-01"), (SAY, "A")],
            "already",
            id="over and to come",
        ),
        pytest.param([(SAY, "A"), (FIX, "B"), (SAY, "A")], "replaced", id="corrected"),
        pytest.param(
            [(SAY, "A"), (FIX, "B", "2026-03-01"), (SAY, "A")], "replaced", id="corrected since"
        ),
        pytest.param(
            [(SAY, "A"), (FIX, "B"), (END, "2026-03-01"), (SAY, "A")],
            "replaced",
            id="corrected and over",
        ),
    ],
)
def test_a_text_that_is_said_again(desk: Desk, steps: list[tuple[Any, ...]], outcome: str) -> None:
    fact_id, kept = "", None
    for act, *arguments in steps:
        kept = act(desk, *arguments) if act is remember else act(desk, fact_id, *arguments)
        fact_id = kept.fact_id
    assert kept is not None
    assert (kept.outcome, kept.revision) == (outcome, history(desk, fact_id).newest)
    assert desk.stores.facts.count() == 1


def test_of_two_facts_with_a_text_the_one_that_says_it_now_counts(desk: Desk) -> None:
    first = remember(desk, "A").fact_id
    correct(desk, first, "B")
    second = remember(desk, "C").fact_id
    correct(desk, second, "A")
    assert (remember(desk, "A").outcome, remember(desk, "A").fact_id) == ("already", second)


def test_what_is_said_again_after_it_was_hidden_keeps_its_time(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    expire(desk, fact_id, "2027-01-01")
    desk.memory.session.undo()
    assert remember(desk, EUR).outcome == "renewed"
    assert held(desk, fact_id, "2026-12-01") == EUR
    assert held(desk, fact_id, "2027-01-01") is None


@pytest.mark.parametrize(
    ("times", "day"),
    [
        pytest.param(("2027-01-01", None), "2027-01-01", id="as it begins"),
        pytest.param(("2027-01-01", None), "2026-06-01", id="before it begins"),
        pytest.param((None, "2026-03-01"), "2026-03-01", id="as it ends"),
        pytest.param((None, "2026-03-01"), "2026-06-01", id="after it ended"),
    ],
)
def test_an_end_that_changes_nothing_is_refused_in_a_line_and_not_recorded(
    desk: Desk, times: tuple[str | None, str | None], day: str
) -> None:
    fact_id = remember(desk, "A", *times).fact_id
    before = desk.transcript()
    with pytest.raises(InputError) as caught:
        expire(desk, fact_id, day)
    assert "\n" not in str(caught.value)
    assert desk.transcript() == before
    assert history(desk, fact_id).newest == 1


def test_what_is_to_come_can_be_ended_after_an_end(desk: Desk) -> None:
    fact_id = remember(desk, "A", None, "2026-03-01").fact_id
    remember(desk, "A", "2027-01-01")
    expire(desk, fact_id, "2026-12-01")
    assert [held(desk, fact_id, day) for day in ("2026-02-01", "2026-06-01", "2027-02-01")] == [
        "A",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("times", "since"),
    [
        pytest.param((None, None), None, id="always"),
        pytest.param((None, None), "2026-03-01", id="always, from a day on"),
        pytest.param(("2026-03-01", None), "2026-03-01", id="since the same day"),
        pytest.param(("2026-03-01", None), "2026-06-01", id="since a later day"),
    ],
)
def test_a_correction_that_says_the_same_for_the_same_time_is_refused(
    desk: Desk, times: tuple[str | None, str | None], since: str | None
) -> None:
    fact_id = remember(desk, "A", *times).fact_id
    with pytest.raises(InvalidText, match="says that already"):
        correct(desk, fact_id, "a", since)
    assert history(desk, fact_id).newest == 1


def test_the_revision_to_correct_is_the_newest_one_even_if_it_is_to_come(desk: Desk) -> None:
    fact_id = remember(desk, "A").fact_id
    correct(desk, fact_id, "B", "2027-01-01")
    with pytest.raises(RevisionChanged, match="at revision 2 now, not 1"):
        desk.correct(fact_id, "C", 1)
    desk.correct(fact_id, "C", 2)
    assert held(desk, fact_id, NOW) == "C"


# --- the present ---------------------------------------------------------------------------------


def test_a_correction_that_is_to_come_changes_nothing_that_is_read_today(desk: Desk) -> None:
    fact_id = remember(desk, "We use pandas").fact_id
    before = desk.carried()
    correct(desk, fact_id, "We use polars", "2027-01-01")
    assert desk.carried() == before
    memory = desk.memory
    hits = search(memory, Search("we use pandas", sources=("fact",))).hits
    assert [hit.passage.text for hit in hits] == ["We use pandas"]
    page = recall.recall(memory.stores, memory.histories, memory.validator, fact_id)
    assert (page.revision, page.text) == (1, "We use pandas")
    assert "polars" not in (page.source_text or "")


def test_when_the_day_comes_the_later_wording_is_read(desk: Desk) -> None:
    fact_id = remember(desk, "We use pandas").fact_id
    correct(desk, fact_id, "We use polars", "2027-01-01")
    desk.clock.at = datetime.fromisoformat("2027-01-01T00:00:00Z")
    text, carried = desk.carried()
    assert "- We use polars [" in text
    assert "pandas" not in text
    assert carried == (f"{fact_id}@2",)


def test_a_result_of_a_tool_is_shown_again_in_the_wording_of_its_time_only(desk: Desk) -> None:
    fact_id = remember(desk, "We use pandas").fact_id
    correct(desk, fact_id, "We use polars", "2027-01-01")
    desk.ask("what is there?", scripted(("memory_list", {}), "A list."))
    model = saying("ok")
    desk.ask("and?", model)
    assert "- We use pandas [" in str(model.requests[0].messages)
    desk.clock.at = datetime.fromisoformat("2027-01-01T00:00:00Z")
    model = saying("ok")
    desk.ask("and?", model)
    assert "We use" not in str(model.requests[0].messages)


def test_a_held_fact_stays_held_while_its_correction_is_to_come(desk: Desk) -> None:
    base = remember(desk, "base").fact_id
    child = desk.remember("child", derived_from=(base,)).fact_id
    correct(desk, base, "another base")
    correct(desk, child, "another child", "2027-01-01")
    assert history(desk, child).holds
    assert "child" not in desk.section()
    correct(desk, child, "a third child")
    assert "- a third child" in desk.section()


# --- the evidence of an end ----------------------------------------------------------------------


def test_an_end_rests_on_the_words_of_the_fact_and_on_the_command(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    expire(desk, fact_id, "2027-01-01")
    first, second = history(desk, fact_id).revisions
    *sources, command = second.sources
    assert tuple(sources) == first.sources
    assert command.quote is None
    (record,) = [one for one in desk.records() if one.head.seq in command.ref.seqs]
    assert record.body is not None
    assert (record.body["via"], record.body["asks"]) == ("command", False)
    assert record.body["parts"][0]["text"] == f"expire {fact_id} 2027-01-01"
    assert (second.text, second.basis, second.origin) == (EUR, "quote", "person")
    assert desk.status(fact_id) == "valid"


def test_an_end_holds_after_the_conversation_was_cleared(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.memory.session.clear()
    expire(desk, fact_id, "2027-01-01")
    assert desk.status(fact_id) == "valid"
    assert EUR in desk.section()


def test_a_fact_whose_words_are_hidden_is_not_ended(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.memory.session.undo()
    before = desk.transcript()
    with pytest.raises(SourceNotValid, match="hidden"):
        expire(desk, fact_id, "2027-01-01")
    assert desk.transcript() == before


def test_no_fact_is_ended_that_is_not_there(desk: Desk) -> None:
    with pytest.raises(UnknownId):
        expire(desk, "F-zzzzzz", "2027-01-01")
    forgotten = remember(desk, EUR).fact_id
    desk.forget(forgotten)
    with pytest.raises(UnknownId, match="forgotten"):
        expire(desk, forgotten, "2027-01-01")


@pytest.mark.parametrize(
    ("command", "error"),
    [(f"expire {SECRET}", SecretFound), ("expire \u202e", HiddenText)],
    ids=["secret", "bidirectional control"],
)
def test_a_command_with_what_must_not_be_stored_ends_nothing(
    desk: Desk, command: str, error: type[MemnbError]
) -> None:
    fact_id = remember(desk, EUR).fact_id
    before = desk.transcript()
    with pytest.raises(error):
        stating.expire(desk.memory, fact_id, f"{stamp('2027-01-01')}", Said(command))
    assert desk.transcript() == before
    assert history(desk, fact_id).newest == 1


def test_forgetting_a_fact_bars_the_command_that_ended_it_too(desk: Desk) -> None:
    fact_id = remember(desk, EUR).fact_id
    expire(desk, fact_id, "2027-01-01")
    cited = {
        seq for one in history(desk, fact_id).revisions for s in one.sources for seq in s.ref.seqs
    }
    desk.forget(fact_id)
    assert cited <= desk.stores.facts.exclusions(desk.session_id).keys()
    assert len(cited) == 2


# --- any sequence --------------------------------------------------------------------------------

DAYS = [f"2026-{month:02}-{day:02}" for month in (11, 12) for day in (1, 10, 20, 30)]
WHEN = st.sampled_from([None, *DAYS])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("correct"), st.sampled_from("ABC"), WHEN),
        st.tuples(st.just("expire"), st.sampled_from(DAYS)),
        st.tuples(st.just("remember"), st.sampled_from("ABC"), WHEN),
        st.tuples(st.just("wait"), st.integers(1, 20)),
    ),
    max_size=8,
)


class Replay:
    """What was said of one fact, in order: from a time on a text, or None for its end."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | None]] = []

    def at(self, at: str) -> str | None:
        text = None
        for since, what in self.said:
            if since <= at:
                text = what
        return text

    def from_on(self, at: str) -> set[str | None]:
        """What holds at a time or later."""
        return {self.at(max(at, since)) for since in ["", *(since for since, _ in self.said)]}

    def begins_before(self, at: str) -> bool:
        return any(since < at for since, what in self.said if what is not None)


def say(desk: Desk, replay: Replay, fact_id: str, step: tuple[Any, ...]) -> None:
    """Take a step; what is told agrees with what was said before."""
    match step:
        case ("wait", days):
            desk.clock.at += timedelta(days=days)
        case ("correct", text, since):
            at = stamp(since) or ""
            before = replay.from_on(at)
            try:
                correct(desk, fact_id, text, since)
            except InvalidText:
                assert before == {text}
            else:
                replay.said.append((at, text))
        case ("expire", day):
            at = stamp(day) or ""
            if replay.begins_before(at) and replay.from_on(at) != {None}:
                assert expire(desk, fact_id, day).outcome == "expired"
                replay.said.append((at, None))
            else:
                with pytest.raises(InputError):
                    expire(desk, fact_id, day)
        case ("remember", text, since) if text in {what for _, what in replay.said}:
            now = ids.stamp(desk.clock.at)
            known = replay.from_on(now)
            outcome = remember(desk, text, since).outcome
            assert (outcome == "already") is (text in known)
            if outcome == "renewed":
                assert replay.at(now) is None
                replay.said.append((history(desk, fact_id).current.valid_from or "", text))


@settings(max_examples=60)
@given(WHEN, STEPS)
def test_after_any_sequence_the_text_at_an_instant_is_what_a_naive_replay_says(
    tmp_path_factory: pytest.TempPathFactory, since: str | None, steps: list[tuple[Any, ...]]
) -> None:
    desk, replay = Desk(tmp_path_factory.mktemp("any") / "project"), Replay()
    fact_id = remember(desk, "A", since).fact_id
    replay.said.append((stamp(since) or "", "A"))
    instants = [
        FIRST,
        *(f"{day}T{hour}:00:00.000000Z" for day in DAYS for hour in ("00", "12")),
        LAST,
    ]
    for step in steps:
        say(desk, replay, fact_id, step)
        assert [held(desk, fact_id, at) for at in instants] == [replay.at(at) for at in instants]
    now = replay.at(ids.stamp(desk.clock.at))
    assert (f"- {now} [" in desk.section()) is (now is not None)
    assert desk.stores.facts.count() == 1
    desk.close()


def test_standings_of_then_are_those_of_the_wording_of_then(desk: Desk) -> None:
    fact_id = remember(desk, "A", "2026-06-01").fact_id
    correct(desk, fact_id, "B", "2027-01-01")
    memory = desk.memory
    found = {
        day: [
            (one.fact.current.text, one.reason)
            for one in context.standings(memory.stores, memory.validator, stamp(day) or "")
        ]
        for day in ("2026-05-01", "2026-11-30", "2027-01-01")
    }
    assert found == {
        "2026-05-01": [("A", "not valid now")],
        "2026-11-30": [("A", "")],
        "2027-01-01": [("B", "")],
    }
