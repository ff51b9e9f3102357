from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memnb.core.bodies import AssistantBody, Part, TurnEndBody, UserBody, Via, undo_draft
from memnb.core.candidates import Candidate, Extraction
from memnb.core.messages import Usage
from memnb.core.span_head import SpanScore
from memnb.errors import ModelUnavailable
from memnb.memory import remembering, selecting, span_scoring
from memnb.memory.remembering import Claim
from memories import Desk

TABS = "We use tabs for indentation in this repo."
GERMAN = "Always answer me in German."
TASK = "Plot the histogram of income."


def talk(desk: Desk, *parts: str | Part, via: Via = "agent") -> int:
    """A whole exchange in the live session; gives the number of its message."""
    made = tuple(part if isinstance(part, Part) else Part("typed", part) for part in parts)
    (turn,) = desk.memory.session.append(UserBody(via, made).draft())
    reply = AssistantBody("All right.", (), (), "m", {}, "end", Usage())
    desk.memory.session.append(reply.draft(turn), TurnEndBody("complete").draft(turn))
    return turn


def select(desk: Desk, scorer: selecting.Scorer = span_scoring.score, **options: Any) -> Extraction:
    memory = desk.memory
    return selecting.select(
        memory.stores,
        memory.validator,
        memory.histories,
        session_id=desk.session_id,
        scorer=scorer,
        **options,
    )


def sure(texts: Sequence[str]) -> list[SpanScore]:
    return [SpanScore(900, "convention") for _ in texts]


def texts(extraction: Extraction) -> list[str]:
    return [candidate.text for candidate in extraction.candidates]


def quoted(desk: Desk, candidate: Candidate) -> str:
    """What stands at the place that a candidate quotes."""
    (source,) = candidate.sources
    assert source.quote is not None
    history = desk.memory.histories.whole(desk.session_id)
    record = history.reader.records([source.quote.seq])[source.quote.seq]
    assert record is not None
    from memnb.core.bodies import read_user

    text = read_user(record).parts[source.quote.part].text
    return text[source.quote.start : source.quote.end]


def test_a_rule_inside_a_longer_message_becomes_a_candidate_with_its_exact_span(
    desk: Desk,
) -> None:
    turn = talk(desk, f"{TASK} {TABS} What does the mean tell us?")

    (candidate,) = select(desk).candidates

    assert (candidate.text, candidate.basis, candidate.origin) == (TABS, "quote", "learned")
    assert candidate.kind == "convention"
    assert candidate.sources[0].ref.seqs == (turn,)
    assert quoted(desk, candidate) == TABS


def test_a_candidate_can_be_kept_as_a_fact(desk: Desk) -> None:
    talk(desk, TABS)
    (candidate,) = select(desk).candidates

    claim = Claim(candidate.text, candidate.basis, candidate.sources, candidate.origin)
    memory = desk.memory
    kept = remembering.remember(
        memory.stores,
        memory.validator,
        claim,
        kind=candidate.kind,
        scope="project",
        head=memory.session.chain_head,
    )

    assert kept.outcome == "new"


@pytest.mark.parametrize(
    "said",
    [
        TASK,
        "Do we use tabs in this repo?",
        f"> {TABS}",
        f"```\n{TABS}\n```",
        "For now, we use tabs in this repo.",
        "My boss says that we always use tabs.",
    ],
    ids=["task", "question", "quoted", "code", "temporary", "reported"],
)
def test_what_states_no_rule_of_theirs_becomes_none(desk: Desk, said: str) -> None:
    turn = talk(desk, said)

    found = select(desk)

    assert found.candidates == ()
    assert turn in found.seqs or not found.seqs


def test_inserted_data_is_never_scored(desk: Desk) -> None:
    seen: list[str] = []

    def scorer(given: Sequence[str]) -> list[SpanScore]:
        seen.extend(given)
        return sure(given)

    talk(desk, "Look at this.\n", Part("variable", TABS, "text"), Part("file", TABS))
    select(desk, scorer)

    assert seen == ["Look at this."]


@pytest.mark.parametrize(
    "text",
    [
        "نستخدم polars في هذا المشروع وليس pandas.",
        "我们在这个项目里总是用制表符。",
        "We always use 👩‍👩‍👧‍👦 as the icon for families in this app.",
        "Wir benutzen immer Tabs – nie Leerzeichen.",
    ],
    ids=["arabic", "chinese", "emoji", "german"],
)
def test_spans_of_any_script_are_exact(desk: Desk, text: str) -> None:
    talk(desk, f"Hello 👋🏽!\n\n- {text}")

    found = [one for one in select(desk, sure).candidates if one.text == text]

    assert [quoted(desk, one) for one in found] == [text]


def test_the_confidence_is_the_score(desk: Desk) -> None:
    talk(desk, TABS)

    (candidate,) = select(desk).candidates

    assert candidate.confidence == span_scoring.score([TABS])[0].probability_thousandths


def test_the_least_score_can_be_set(desk: Desk) -> None:
    talk(desk, TABS)

    assert texts(select(desk, sure, least=900)) == [TABS]
    assert texts(select(desk, sure, least=901)) == []


def test_what_a_call_has_no_room_for_waits_for_the_next(desk: Desk) -> None:
    turns = [talk(desk, f"We use tool number {n}.") for n in range(6)]

    first = select(desk, sure)
    second = select(desk, sure, mined=first.seqs)

    assert len(first.candidates) == 4
    assert set(turns[:4]) < set(first.seqs)
    assert not set(turns[4:]) & set(first.seqs)
    assert texts(second) == ["We use tool number 4.", "We use tool number 5."]


def test_of_one_message_the_likeliest_four_are_taken(desk: Desk) -> None:
    def rising(given: Sequence[str]) -> list[SpanScore]:
        return [SpanScore(800 + at, "convention") for at, _ in enumerate(given)]

    talk(desk, "\n".join(f"We use tool number {n}." for n in range(6)))

    assert [one.confidence for one in select(desk, rising).candidates] == [805, 804, 803, 802]


def test_a_message_that_was_pasted_states_nothing(desk: Desk) -> None:
    talk(desk, "\n".join(f"We use {n} here." for n in range(selecting.MOST_SENTENCES + 1)))

    found = select(desk, sure)

    assert found.candidates == ()
    assert found.seqs


def test_nothing_is_said_of_what_was_looked_at_before(desk: Desk) -> None:
    talk(desk, TABS)

    assert select(desk, mined=select(desk).seqs).seqs == ()


def test_only_the_named_exchanges_are_looked_at(desk: Desk) -> None:
    talk(desk, TABS)
    turn = talk(desk, GERMAN)

    assert texts(select(desk, turns=[turn])) == [GERMAN]


def test_what_was_undone_is_not_selected(desk: Desk) -> None:
    turn = talk(desk, TABS)
    desk.memory.session.append(undo_draft(turn))

    assert select(desk).candidates == ()


def test_what_is_undone_while_a_model_scores_makes_the_answer_void(desk: Desk) -> None:
    turn = talk(desk, TABS)

    def undoes(given: Sequence[str]) -> list[SpanScore]:
        desk.memory.session.append(undo_draft(turn))
        return sure(given)

    assert select(desk, undoes).failure == "stale_context"


def test_a_model_that_fails_is_a_reason(desk: Desk) -> None:
    turn = talk(desk, TABS)

    def fails(_: Sequence[str]) -> list[SpanScore]:
        raise ModelUnavailable("the local model stopped working; ask again")

    found = select(desk, fails, model="local/m")

    assert (found.failure, found.model) == ("extraction_error", "local/m")
    assert turn in found.seqs


def test_a_second_look_at_the_same_words_finds_the_same(desk: Desk) -> None:
    talk(desk, f"{TABS} {GERMAN}")

    assert select(desk).candidates == select(desk).candidates
