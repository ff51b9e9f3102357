"""Since when, until when, what held then and what rests on what, as people and programs see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

import memnb
from memnb.api.instants import day, not_now, when
from memnb.core.facts import Interval
from memnb.errors import ConfigError, InputError, InvalidText, Refused, UnknownId
from memnb.memory.stating import Said
from memnb.notebook.arguments import parse_memory
from memnb.notebook.verbs import run_verb
from memnb.speaking import in_tool_call
from memories import EUR, SPLIT, saying, scripted

PAST, BEFORE = datetime(2020, 3, 1, tzinfo=UTC), datetime(2020, 2, 1, tzinfo=UTC)
FUTURE, LATER = datetime(9000, 1, 1, tzinfo=UTC), datetime(9001, 1, 1, tzinfo=UTC)
AT = "2026-11-30T09:00:00.000000Z"

Do = Callable[[str], str]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memnb.Memory]:
    (tmp_path / "churn").mkdir()
    with memnb.open(tmp_path / "churn") as memory:
        yield memory


@pytest.fixture
def do(memory: memnb.Memory) -> Do:
    """Runs a line of `%memory`; gives what it shows."""

    def run(line: str) -> str:
        return str(run_verb(memory, parse_memory(line), Said(line), lambda *_: None))

    return run


def texts(memory: memnb.Memory, at: datetime | None = None) -> list[str]:
    return [row.text for row in memory.facts(at=at).rows]


# --- what held then ------------------------------------------------------------------------------


def test_what_held_then_is_told_in_the_wording_of_then(memory: memnb.Memory) -> None:
    fact_id = memory.remember("We use pandas", valid_from=PAST).fact_id
    memory.correct(fact_id, "We use polars", revision=1, valid_from=FUTURE)
    assert texts(memory) == ["We use pandas"]
    assert texts(memory, BEFORE) == []
    assert texts(memory, PAST) == ["We use pandas"]
    assert texts(memory, FUTURE) == ["We use polars"]


def test_a_row_of_then_says_so_and_nothing_of_the_prompt(memory: memnb.Memory) -> None:
    memory.remember("We use pandas", valid_from=PAST)
    (row,) = memory.facts(at=PAST).rows
    assert (row.in_prompt, row.reason, row.revision) == (False, "held then", 1)
    shown = str(memory.facts(at=PAST))
    assert "as of 2020-03-01" in shown
    assert "prompt" not in shown
    assert "held then" in shown


def test_the_number_to_correct_is_listed_while_the_wording_of_now_is(memory: memnb.Memory) -> None:
    fact_id = memory.remember("We use pandas").fact_id
    memory.correct(fact_id, "We use polars", revision=1, valid_from=FUTURE)
    (row,) = memory.facts().rows
    assert (row.revision, row.text, row.in_prompt) == (2, "We use pandas", True)
    (then,) = memory.facts(at=PAST).rows
    assert then.revision == 1
    memory.correct(fact_id, "We use duckdb", revision=row.revision)
    assert texts(memory) == ["We use duckdb"]


def test_all_adds_what_is_over_to_come_hidden_and_in_dispute(memory: memnb.Memory) -> None:
    memory.remember("over", valid_to=PAST)
    memory.remember("to come", valid_from=FUTURE)
    memory.ask(
        "hidden",
        model=scripted(("memory_remember", {"text": "hidden"}), "ok"),
        approve=lambda _: True,
    )
    memory.undo()
    disputed = memory.remember("disputed").fact_id
    base = memory.remember("base").fact_id
    memory.remember("held", derived_from=(base,))
    memory.correct(base, "another base", revision=1)
    stores = memory.runtime.memory.stores
    with stores.facts.transaction(now=stores.now()) as change:
        change.hold(disputed, memnb.core.facts.Hold("disputed", base), stores.now())
    assert texts(memory) == ["held", "another base"]
    assert {row.text: row.reason for row in memory.facts(all=True).rows} == {
        "over": "over since 2020-03-01",
        "to come": "from 9000-01-01",
        "": "hidden",
        "disputed": "disputed",
        "another base": "",
        "held": "source changed",
    }
    assert {row.text: row.reason for row in memory.facts(all=True, at=PAST).rows} == {
        "over": "over since 2020-03-01",
        "to come": "from 9000-01-01",
        "": "hidden",
        "disputed": "disputed",
        "another base": "held then",
        "held": "source changed",
    }


def test_nothing_held_before_anything(memory: memnb.Memory) -> None:
    memory.remember(EUR, valid_from=PAST)
    shown = str(memory.facts(at=datetime(1, 1, 1, tzinfo=UTC)))
    assert "0 facts" in shown
    assert "%memory facts` shows what holds now" in shown


def test_kinds_and_pages_are_chosen_among_what_held_then(memory: memnb.Memory) -> None:
    memory.remember("one", kind="decision")
    memory.remember("two", kind="preference")
    assert [row.text for row in memory.facts(at=PAST, kind="decision").rows] == ["one"]
    with pytest.raises(InputError, match="beyond the end"):
        memory.facts(at=PAST, offset=2)


def test_equal_instants_ask_for_the_same(memory: memnb.Memory) -> None:
    memory.remember(EUR, valid_from=PAST)
    abroad = PAST.astimezone(timezone(timedelta(hours=-9, minutes=-30)))
    local = PAST.replace(tzinfo=None)
    assert memory.facts(at=abroad) == memory.facts(at=local) == memory.facts(at=PAST)
    assert texts(memory, local - timedelta(microseconds=1)) == []


def test_what_held_then_is_told_while_memory_is_off(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    memory.off()
    (row,) = memory.facts(at=PAST).rows
    assert row.reason == "held then"


# --- the verbs -----------------------------------------------------------------------------------


def test_since_and_at_are_typed_as_dates(do: Do, memory: memnb.Memory) -> None:
    assert do("remember --since 2020-03-01 We use pandas").endswith("· since 2020-03-01")
    (row,) = memory.facts().rows
    said = do(f"correct {row.fact_id} 1 --since 9000-01-01 We use polars")
    assert said == f"corrected {row.fact_id} · now revision 2 · from 9000-01-01 on (in the future)"
    assert "We use pandas" in do("facts --at 2020-03-01")
    assert "We use pandas" not in do("facts --at 2020-02-29T23:59:59")
    assert "We use polars" in do("facts --at 9000-01-01")
    assert "We use pandas" in do("facts --at today")


def test_the_words_of_a_command_with_a_date_are_its_evidence(do: Do, memory: memnb.Memory) -> None:
    do("remember --since 2020-03-01 --kind decision 2020-03-01")
    (row,) = memory.facts().rows
    (source,) = memory.fact(row.fact_id).revisions[0].sources
    assert source.message[source.start : source.end] == row.text == "2020-03-01"
    assert (source.start, row.status) == (len(source.message) - 10, "valid")


@pytest.mark.parametrize("separator", [",", ", ", ",,"])
def test_what_a_fact_is_derived_from_is_typed_as_ids(
    do: Do, memory: memnb.Memory, separator: str
) -> None:
    ids = [memory.remember(text).fact_id for text in ("one", "two")]
    do(f"remember --derived-from '{separator.join(ids)}' three")
    (revision,) = memory.fact(memory.facts().rows[0].fact_id).revisions
    assert sorted(revision.derived_from) == sorted(f"{fact_id}@1" for fact_id in ids)
    with pytest.raises(UnknownId):
        do("remember --derived-from F-000000 four")


def test_a_fact_ends_on_a_day_and_is_not_forgotten(do: Do, memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    assert do(f"expire {fact_id} 2020-03-01").splitlines() == [
        f"{fact_id} ends · now revision 2 · was so until 2020-03-01",
        "not in the prompt: over since 2020-03-01",
    ]
    assert texts(memory) == []
    assert texts(memory, BEFORE) == [EUR]
    assert do(f"remember {EUR}").startswith(f"{fact_id} holds again · from your words · since ")
    assert texts(memory) == [EUR]
    assert texts(memory, PAST) == []


def test_an_end_that_is_to_come_is_told(do: Do, memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    said = memory.expire(fact_id, FUTURE)
    assert (said.outcome, said.in_prompt, said.when) == ("expired", True, "until 9000-01-01")
    with pytest.raises(InputError, match="over by then already"):
        memory.expire(fact_id, LATER)
    assert "until 9000-01-01" in do(f"fact {fact_id}")


def test_what_comes_no_more_is_told(memory: memnb.Memory) -> None:
    fact_id = memory.remember("A").fact_id
    memory.correct(fact_id, "B", revision=1, valid_from=FUTURE)
    assert memory.expire(fact_id, LATER).taken_back == ()
    assert memory.correct(fact_id, "C", revision=3, valid_from=LATER).taken_back == ()
    said = memory.correct(fact_id, "D", revision=4)
    assert said.taken_back == (
        "its wording from 9000-01-01 on",
        "its wording from 9001-01-01 on",
    )
    memory.expire(fact_id, FUTURE)
    said = memory.correct(fact_id, "E", revision=6)
    assert said.taken_back == ("its end on 9000-01-01",)
    assert "comes no more: its end on 9000-01-01" in str(said)


def test_the_whole_path_of_a_fact_that_rests_on_another(do: Do, memory: memnb.Memory) -> None:
    base = memory.remember("We use pandas").fact_id
    child = memory.remember("Frames have an index", derived_from=(base,)).fact_id
    said = memory.correct(base, "We use polars", revision=1)
    assert said.flagged == (child,)
    assert f"held from now on, since derived from it: {child}" in str(said)
    shown = do(f"fact {child}")
    assert f"held: source changed ({base})" in shown
    assert f"`%memory confirm {child}`" in shown
    assert f"derived from {base}@1" in shown
    assert f"derived from it: {child}" in do(f"fact {base}")
    assert do(f"confirm {child}") == f"confirmed {child} · revision 1"
    assert (memory.facts().rows[0].in_prompt, memory.fact(child).holds) == (True, ())
    model = saying("ok")
    memory.ask("hello", model=model)
    assert "- Frames have an index [" in model.requests[0].memory
    assert "confirm" not in str(model.requests[0].messages)
    assert "isn't held" in do(f"confirm {child}")


def test_what_rests_on_a_forgotten_fact_can_be_confirmed(memory: memnb.Memory) -> None:
    base = memory.remember("base").fact_id
    child = memory.remember("child", derived_from=(base,)).fact_id
    memory.forget(base)
    assert memory.facts().rows[0].reason == "source changed"
    assert memory.confirm(child).in_prompt
    assert f"{base}@1" in memory.fact(child).revisions[0].derived_from


def test_what_rests_on_a_hidden_fact_says_on_which_and_what_to_do(
    do: Do, memory: memnb.Memory
) -> None:
    model = scripted(("memory_remember", {"text": EUR}), "ok")
    (base,) = memory.ask(EUR, model=model, mode="auto").answer.remembered
    base = base.partition("@")[0]
    child = memory.remember(SPLIT, derived_from=(base,)).fact_id
    memory.undo()
    (row,) = memory.facts().rows
    assert row.reason == f"derived from {base}, which isn't in use"
    assert "1 held" in do("facts")
    assert "`%memory remember` its text again" in do(f"fact {child}")
    assert not memory.confirm(child).in_prompt
    assert memory.remember(SPLIT).in_prompt


# --- the history ---------------------------------------------------------------------------------


def test_a_history_tells_when_each_wording_was_so(do: Do, memory: memnb.Memory) -> None:
    fact_id = memory.remember("A", valid_from=BEFORE).fact_id
    memory.correct(fact_id, "B", revision=1)
    memory.correct(fact_id, "C", revision=2, valid_from=PAST)
    memory.correct(fact_id, "D", revision=3, valid_from=FUTURE)
    memory.expire(fact_id, LATER)
    history = memory.fact(fact_id)
    assert [(one.text, one.when) for one in history.revisions] == [
        ("D", "from 9000-01-01 until 9001-01-01 (in the future)"),
        ("D", "replaced by revision 5"),
        ("C", "since 2020-03-01 until 9000-01-01"),
        ("B", "was so until 2020-03-01"),
        ("A", "replaced by revision 2"),
    ]
    shown = do(f"fact {fact_id}")
    assert shown.count("recorded 20") == 5
    assert "revision 3 · since 2020-03-01 until 9000-01-01 · valid · statement by person" in shown


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        pytest.param(Interval(), "always", id="open"),
        pytest.param(Interval(AT), "since 2026-11-30 09:00 UTC", id="begins now"),
        pytest.param(Interval("2026-03-01T00:00:00.000000Z"), "since 2026-03-01", id="began"),
        pytest.param(Interval(None, AT), "was so until 2026-11-30 09:00 UTC", id="ends now"),
        pytest.param(
            Interval("2026-03-01T00:00:00.000000Z", "2026-06-01T00:00:00.000000Z"),
            "was so from 2026-03-01 until 2026-06-01",
            id="over",
        ),
        pytest.param(
            Interval(None, "2027-01-01T00:00:00.000000Z"), "until 2027-01-01", id="ends later"
        ),
        pytest.param(
            Interval("2027-01-01T00:00:00.000000Z"),
            "from 2027-01-01 on (in the future)",
            id="to come",
        ),
        pytest.param(
            Interval("2027-01-01T00:00:00.000000Z", "2027-06-01T00:00:00.000000Z"),
            "from 2027-01-01 until 2027-06-01 (in the future)",
            id="to come and to end",
        ),
    ],
)
def test_an_interval_in_words(interval: Interval, words: str) -> None:
    assert when(interval, AT) == words


@pytest.mark.parametrize(
    ("zone", "at", "words"),
    [
        ("UTC", "2026-03-01T00:00:00.000000Z", "2026-03-01"),
        ("Europe/Berlin", "2026-02-28T23:00:00.000000Z", "2026-03-01"),
        ("Europe/Berlin", "2026-03-01T00:00:00.000000Z", "2026-03-01 00:00 UTC"),
        ("America/New_York", "0001-01-01T00:00:00.000000Z", "0001-01-01 00:00 UTC"),
        ("Asia/Tokyo", "9999-12-31T23:59:59.000000Z", "9999-12-31 23:59 UTC"),
    ],
)
def test_a_day_reads_as_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, zone: str, at: str, words: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    assert day(at) == words


def test_a_fact_out_of_its_time_says_since_or_until_when(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR, valid_from=PAST, valid_to=FUTURE).fact_id
    revision = memory.runtime.memory.stores.facts.facts([fact_id])[0].current
    assert not_now(revision, "2019-01-01T00:00:00.000000Z") == "from 2020-03-01"
    assert not_now(revision, "9999-01-01T00:00:00.000000Z") == "over since 9000-01-01"


# --- who may, and what is refused ----------------------------------------------------------------


def test_only_a_person_may_end_or_confirm(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    with in_tool_call():
        for act in (lambda: memory.expire(fact_id, FUTURE), lambda: memory.confirm(fact_id)):
            with pytest.raises(Refused):
                act()
    memory.off()
    for act in (lambda: memory.expire(fact_id, FUTURE), lambda: memory.confirm(fact_id)):
        with pytest.raises(ConfigError, match="memory is off"):
            act()
    assert len(memory.fact(fact_id).revisions) == 1


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda m, at: m.facts(at=at), id="facts"),
        pytest.param(lambda m, at: m.remember(EUR, valid_from=at), id="remember since"),
        pytest.param(lambda m, at: m.remember(EUR, valid_to=at), id="remember until"),
        pytest.param(lambda m, at: m.expire("F-000000", at), id="expire"),
    ],
)
@pytest.mark.parametrize(
    "at",
    [date(2026, 3, 1), "2026-03-01", datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))],
)
def test_what_is_no_time_is_refused_in_a_line(
    memory: memnb.Memory, act: Callable[[memnb.Memory, object], object], at: object
) -> None:
    with pytest.raises(InputError) as caught:
        act(memory, at)
    assert "\n" not in str(caught.value)
    assert not memory.facts(all=True).rows


def test_times_that_are_no_interval_are_refused(memory: memnb.Memory) -> None:
    abroad = PAST.astimezone(timezone(timedelta(hours=9)))
    for ends in (BEFORE, PAST, abroad):
        with pytest.raises(InvalidText, match="must end after it begins"):
            memory.remember(EUR, valid_from=PAST, valid_to=ends)
    assert not memory.facts(all=True).rows


def test_confirming_what_isnt_held_says_so(memory: memnb.Memory) -> None:
    result = memory.confirm(memory.remember(EUR).fact_id)
    assert result.outcome == "unheld"
    assert "isn't held" in str(result)


def test_what_a_text_that_is_known_already_doesnt_get_is_said(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR, kind="preference").fact_id
    assert memory.remember(EUR, kind="preference").not_applied == ()
    assert memory.remember(EUR).not_applied == ()
    assert "preference" in str(memory.remember(EUR))
    said = memory.remember(EUR, kind="decision", valid_from=PAST)
    assert said.not_applied == ("the kind", "its times")
    assert f"%memory forget {fact_id}" in str(said)
    memory.forget(fact_id)
    again = memory.remember(EUR, kind="decision", valid_from=PAST, again=True)
    assert (again.kind, again.not_applied) == ("decision", ())
