"""What `why` says of a turn, and of one fact in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import memnb
from conftest import Opener
from memnb.api.why_results import WhyFact
from memnb.errors import InputError, UnknownId
from memnb.memory import indexing
from memnb.notebook.arguments import parse_memory
from memories import EUR, SPLIT, saying

ASKED = "Which threshold did we choose for the churn alarm?"
CHOSEN = "The churn alarm threshold is 0.35 from now on."


def update(memory: memnb.Memory) -> None:
    """Bring the search index up to date, as a kernel does in idle time."""
    inside = memory.runtime.memory
    assert inside.index is not None
    indexing.update(inside, inside.index)


@pytest.fixture
def talked(memory: memnb.Memory) -> memnb.Memory:
    """An earlier session spoke about the threshold; an observation of it has no room."""
    memory.ask(CHOSEN, model=saying("Fine, the churn alarm rings at 0.35 then."))
    memory.ask("Plot the revenue of May by country.", model=saying("Here it is."))
    memory.new()
    memory.remember("Ada chose the churn alarm threshold.", kind="observation")
    memory.config("memory.facts_max_bytes", "60")
    memory.remember(EUR)
    memory.new()
    update(memory)
    return memory


def fact_id_of(memory: memnb.Memory, text: str) -> str:
    return next(row.fact_id for row in memory.facts().rows if row.text == text)


# --- a turn --------------------------------------------------------------------------------------


def test_every_fact_and_passage_that_was_considered_is_there_with_what_became_of_it(
    talked: memnb.Memory,
) -> None:
    seen = fact_id_of(talked, "Ada chose the churn alarm threshold.")
    followed = fact_id_of(talked, EUR)
    talked.ask(ASKED, model=saying(f"0.35, by {seen}"))
    why = talked.why()
    rows = {row.item: row for row in why.rows}
    assert rows[f"{followed}@1"].place == "section"
    assert CHOSEN in why.recall
    recalled = [row for row in why.rows if row.place == "recall"]
    assert {row.source for row in recalled} == {"message", "fact"}
    assert all(row.score == pytest.approx(sum(row.parts.values())) for row in recalled)
    assert [row.item for row in why.rows if row.cited] == [f"{seen}@1"] * 2
    assert (seen, "no room") in why.left_out


def test_it_shows_what_was_recalled_byte_for_byte_and_the_parts_of_every_score(
    talked: memnb.Memory,
) -> None:
    model = saying("0.35")
    talked.ask(ASKED, model=model)
    why, text = talked.why(), str(talked.why())
    assert why.recall in model.requests[0].messages[-1].text
    assert why.recall in text
    assert f"sent with {len(why.recall.encode()):,} bytes that were recalled" in text
    assert "considered for the message:" in text
    assert "words " in text
    assert "carried 2 facts and " in text.splitlines()[0]


def test_it_shows_every_part_of_a_score_however_many_there_are(talked: memnb.Memory) -> None:
    talked.ask(ASKED, model=saying("0.35"))
    why = talked.why()
    parts = {f"part{n}": 20.0 - n for n in range(12)}
    scored = replace(next(row for row in why.rows if row.score is not None), parts=parts)
    text = str(replace(why, rows=(scored,)))
    assert all(f"{name} {value:.2f}" in text for name, value in parts.items())


def test_the_frame_has_a_row_for_each(talked: memnb.Memory) -> None:
    talked.ask(ASKED, model=saying("0.35"))
    why = talked.why()
    frame = why.to_frame()
    assert list(frame.columns) == ["item", "source", "place", "reason", "score", "parts", "cited"]
    assert len(frame) == len(why.rows) > 2
    assert why.to_dict()["rows"][0]["item"] == why.rows[0].item


def test_without_an_index_it_says_why_nothing_was_recalled(memory: memnb.Memory) -> None:
    memory.ask(ASKED, model=saying("I don't know."))
    why = memory.why()
    assert why.recall == ""
    assert why.notice.startswith("nothing was recalled: ")
    assert why.notice in str(why)


def test_facts_that_are_left_out_for_the_same_reason_are_one_line(memory: memnb.Memory) -> None:
    ids = [memory.remember(f"{'x' * 60} {n}").fact_id for n in range(4)]
    memory.config("memory.facts_max_bytes", "100")
    memory.ask("hello", model=saying("hi"))
    assert f"left out {', '.join(ids[:3])}: no room" in str(memory.why())


def test_the_last_line_says_how_to_go_on(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.ask("hello", model=saying("hi"))
    last = str(memory.why()).splitlines()[-1]
    assert last.startswith("%memory why 1 ID ")
    assert f"%agent --without {fact_id} TEXT" in last


def test_of_another_kernels_turn_each_row_says_that_it_was_carried(
    talked: memnb.Memory, reopen: Opener
) -> None:
    reply = talked.ask(ASKED, model=saying("0.35"))
    talked.close()
    again = reopen()
    again.resume(reply.answer.session_id or "")
    why = again.why(1)
    assert {row.place for row in why.rows} == {"carried"}
    assert {row.source for row in why.rows} == {"fact", "message"}
    assert CHOSEN not in str(why)


# --- one fact ------------------------------------------------------------------------------------


def of(memory: memnb.Memory, fact_id: str, turn: int | None = None) -> WhyFact:
    return memory.why(turn, fact_id=fact_id)


def test_a_fact_in_the_section_says_so_and_how_to_answer_without_it(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.ask("hello", model=saying(f"by {fact_id}"))
    found = of(memory, fact_id)
    assert (found.place, found.cited, found.in_prompt) == ("section", True, True)
    assert str(found).splitlines() == [
        f"{fact_id} · turn 1 · carried in the memory section",
        "the answer names it",
        "now: in the prompt",
        f"%agent --without {fact_id} TEXT answers as if it weren't known",
    ]


def test_a_fact_that_was_recalled_shows_its_score_and_why_the_section_left_it_out(
    talked: memnb.Memory,
) -> None:
    seen = fact_id_of(talked, "Ada chose the churn alarm threshold.")
    talked.ask(ASKED, model=saying("0.35"))
    found = of(talked, seen)
    assert (found.place, found.section, found.recall) == ("recall", "no room", "")
    assert found.score == pytest.approx(sum(found.parts.values()))
    assert "threshold" in found.shared
    assert f"score {found.score:.2f}: " in str(found)
    assert "now: not in the prompt: no room" in str(found)


def test_a_fact_that_shares_no_word_with_the_message_was_not_considered(
    talked: memnb.Memory,
) -> None:
    seen = fact_id_of(talked, "Ada chose the churn alarm threshold.")
    talked.ask("Please draw me a map of Norway.", model=saying("Here."))
    found = of(talked, seen)
    assert (found.place, found.score, found.shared) == ("none", None, ())
    assert found.recall == "it shares no word with the message"
    assert "facts_max_bytes" in str(found).splitlines()[-1]


def test_a_fact_that_fits_too_little_shows_what_it_scored_and_that_it_was_cut(
    talked: memnb.Memory,
) -> None:
    seen = fact_id_of(talked, "Ada chose the churn alarm threshold.")
    talked.ask("Would an alarm clock wake the sleeping children of Norway?", model=saying("Yes."))
    found = of(talked, seen)
    assert (found.place, found.recall, found.shared) == ("none", "below the threshold", ("alarm",))
    assert found.score


def _held(memory: memnb.Memory) -> str:
    base = memory.remember("base").fact_id
    fact_id = memory.remember("child", derived_from=[base]).fact_id
    memory.correct(base, "other base", revision=1)
    return fact_id


def _over(memory: memnb.Memory) -> str:
    return memory.remember(EUR, valid_to=memory.runtime.now()).fact_id


@pytest.mark.parametrize(
    ("make", "section"),
    [
        pytest.param(_held, "source changed", id="held"),
        pytest.param(_over, "over since", id="over"),
    ],
)
def test_a_fact_that_may_not_be_sent_says_why(
    memory: memnb.Memory, make: Callable[[memnb.Memory], str], section: str
) -> None:
    fact_id = make(memory)
    memory.ask("hello", model=saying("hi"))
    found = of(memory, fact_id)
    assert found.place == "none"
    assert found.section.startswith(section)
    assert found.reason.startswith(section)


def test_a_fact_that_was_learned_since_says_so_and_how_it_stands_now(memory: memnb.Memory) -> None:
    memory.ask("hello", model=saying("hi"))
    fact_id = memory.remember(EUR).fact_id
    found = of(memory, fact_id)
    assert (found.place, found.section) == ("none", "it was learned after the message")
    assert found.in_prompt


def test_before_anything_was_asked_it_says_how_a_fact_stands(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    found = of(memory, fact_id)
    assert (found.turn, found.place, found.in_prompt) == (None, "none", True)
    assert str(found).startswith(f"{fact_id} · nothing was asked yet\n")
    with pytest.raises(UnknownId):
        of(memory, fact_id, 1)


def test_of_a_turn_without_memory_it_says_that(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.ask("hello", model=saying("hi"), memory=False)
    assert of(memory, fact_id).section == "memory wasn't read"


def test_of_another_kernels_turn_it_says_what_is_known(
    memory: memnb.Memory, reopen: Opener
) -> None:
    carried, added = memory.remember(EUR).fact_id, memory.remember(SPLIT).fact_id
    memory.expire(added, memory.runtime.now())
    reply = memory.ask("hello", model=saying("hi"))
    memory.close()
    again = reopen()
    again.resume(reply.answer.session_id or "")
    assert of(again, carried).place == "carried"
    assert "another kernel" in of(again, added).section


def test_a_turn_and_a_fact_that_are_not_there_are_unknown(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.ask("hello", model=saying("hi"))
    with pytest.raises(UnknownId):
        of(memory, fact_id, 2)
    with pytest.raises(UnknownId):
        of(memory, "F-000000")
    memory.forget(fact_id)
    with pytest.raises(UnknownId, match="was forgotten"):
        of(memory, fact_id)


def test_its_frame_is_one_row(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.ask("hello", model=saying("hi"))
    found = of(memory, fact_id)
    assert found.to_frame().loc[0, "place"] == "section"
    assert found.to_dict()["fact_id"] == fact_id


# --- as it is typed ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("why", {}),
        ("why 3", {"TURN": (3,)}),
        ("why F-1b8hyr", {"ID": ("F-1b8hyr",)}),
        ("why 3 F-1b8hyr", {"TURN": (3,), "ID": ("F-1b8hyr",)}),
    ],
)
def test_a_turn_and_a_fact_may_be_typed_or_left_out(line: str, given: dict[str, Any]) -> None:
    assert dict(parse_memory(line).given) == given


@pytest.mark.parametrize("line", ["why last", "why 0", "why F-1b8hyr 3", "why 3 F-1b8hyr 4"])
def test_anything_else_is_wrong_input(line: str) -> None:
    with pytest.raises(InputError):
        parse_memory(line)
