"""What a turn is sent with of earlier sessions, what of it is cited, and what is kept of that."""

from __future__ import annotations

import pytest

from memnb.core.bodies import Part
from memnb.core.messages import Request, Text
from memnb.core.recall_block import LABEL
from memnb.memory import indexing
from memories import EUR, SPLIT, Desk, everything, said, saying, scripted

ASKED = "Which threshold did we choose for the churn alarm?"
CHOSEN = "The churn alarm threshold is 0.35 from now on."


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """A project in which the threshold was spoken about in an earlier session."""
    desk.ask(CHOSEN, saying("Fine, the churn alarm rings at 0.35 then."))
    desk.memory.session.end("new")
    update(desk)
    return desk


def update(desk: Desk) -> None:
    assert desk.memory.index is not None
    indexing.update(desk.memory, desk.memory.index)


def earlier(desk: Desk) -> str:
    return desk.stores.sessions.ids()[0]


# What is sent


def test_the_block_follows_the_persons_words(desk: Desk) -> None:
    model = saying("0.35")
    desk.ask(ASKED, model, auto_recall=True)
    (message,) = model.requests[0].messages
    assert message.text.startswith(f"{ASKED}\n\n<")
    assert LABEL in message.text
    assert CHOSEN in message.text


def test_all_before_it_is_the_same_bytes_as_without_it(desk: Desk) -> None:
    desk.remember(EUR)
    desk.ask("Good morning to you all!", saying("Hello."))
    requests: list[Request] = []
    for is_on in (False, True):
        model = saying("0.35")
        desk.ask(ASKED, model, auto_recall=is_on, private=not is_on)
        requests += model.requests
    without, with_it = requests
    assert (without.guidance, without.memory) == (with_it.guidance, with_it.memory)
    assert without.messages[:-1] == with_it.messages[:-1]
    assert with_it.messages[-1].text.startswith(without.messages[-1].text)
    assert with_it.sentences == without.sentences


def test_it_stays_the_same_for_all_requests_of_a_turn_and_is_gone_in_the_next(desk: Desk) -> None:
    model = scripted(("memory_list", {}), "0.35", "as I said")
    desk.ask(ASKED, model, auto_recall=True)
    desk.ask("Thanks a lot for that!", model, auto_recall=True)
    first, second, later = model.requests
    assert first.messages[0] == second.messages[0]
    assert CHOSEN in first.messages[0].text
    assert CHOSEN not in everything(later)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"auto_recall": False}, id="switched off"),
        pytest.param({"auto_recall": True, "private": True}, id="private"),
        pytest.param({"auto_recall": True, "with_memory": False}, id="without memory"),
    ],
)
def test_nothing_is_recalled(desk: Desk, options: dict[str, bool]) -> None:
    model = saying("I don't know")
    answer = desk.ask(ASKED, model, **options)
    assert CHOSEN not in everything(model.requests[0])
    assert answer.carried == ()


@pytest.mark.parametrize("is_on", [False, True])
def test_a_turn_with_recalled_text_asks_before_it_writes_a_note(desk: Desk, is_on: bool) -> None:
    model = scripted(("memory_write", {"name": "scratchpad", "text": "0.35"}), "ok")
    desk.ask(ASKED, model, mode="auto", auto_recall=is_on)
    assert bool(desk.changes) is is_on


def test_what_has_no_room_beside_the_message_is_left_out(desk: Desk) -> None:
    text = f"{ASKED}\n```\n{'x' * 5_600}\n```"
    (trace,) = desk.ask(text, saying("0.35")).requests
    desk.memory.session.undo()
    model = scripted("0.35", context_tokens=trace.n_tokens + 1000 + 20)
    answer = desk.ask(text, model, auto_recall=True, output_tokens=1000)
    assert CHOSEN not in everything(model.requests[0])
    (trace,) = answer.requests
    assert trace.recall.notice == "nothing was recalled: the window has no room for it"
    assert answer.carried == ()


def test_after_a_forget_of_its_own_a_turn_goes_on_without_it(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    update(desk)
    model = scripted(("memory_forget", {"fact_id": fact_id}), "done")
    desk.ask(ASKED, model, auto_recall=True)
    assert [CHOSEN in everything(request) for request in model.requests] == [True, False]


# What is recorded


def test_a_reply_lists_the_records_that_its_request_carried(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    answer = desk.ask(ASKED, saying("0.35"), auto_recall=True)
    (reply,) = desk.bodies("assistant")
    assert reply["carried"][0] == f"{fact_id}@1"
    assert reply["carried"][1:] == [f"{earlier(desk)}:2"]
    assert answer.carried == tuple(reply["carried"])


def test_recalled_text_is_in_no_record(desk: Desk) -> None:
    desk.ask(ASKED, saying("I see"), auto_recall=True)
    assert CHOSEN not in "".join(map(str, (record.body for record in desk.records())))


def test_the_trace_has_everything_that_was_considered(desk: Desk) -> None:
    desk.ask("We spoke about another alarm threshold.", saying("ok"))
    desk.memory.session.end("new")
    update(desk)
    answer = desk.ask(ASKED, saying("0.35"), auto_recall=True)
    (trace,) = answer.requests
    found = {one.reference: one for one in trace.recall.considered}
    chosen = found[f"{earlier(desk)}:2"]
    assert (chosen.reason, chosen.source, chosen.speaker) == ("", "message", "person")
    assert chosen.score == pytest.approx(sum(chosen.parts.values()))
    assert chosen.parts["words"] > 0
    assert "below the threshold" in {one.reason for one in found.values()}


# Citations


def cite(*references: str) -> str:
    return f"It is 0.35.\n\n<memory-used>{', '.join(references)}</memory-used>"


def test_citations_are_neither_shown_nor_kept_in_the_answer(desk: Desk) -> None:
    desk.events.clear()
    model = scripted(cite(f"{earlier(desk)}:2"))
    answer = desk.ask(ASKED, model, auto_recall=True)
    shown = "".join(event.text for event in desk.events if isinstance(event, Text))
    assert answer.text == "It is 0.35."
    assert shown.strip() == answer.text
    assert "memory-used" not in desk.transcript()


def test_what_was_carried_and_cited_is_credited_and_nothing_else(desk: Desk) -> None:
    fact_id, other = desk.remember(EUR).fact_id, desk.remember(SPLIT).fact_id
    record = f"{earlier(desk)}:2"
    answer = desk.ask(
        ASKED, saying(cite(record, fact_id, "F-zzzzzz", f"{earlier(desk)}:1")), auto_recall=True
    )
    assert set(answer.cited) == {record, f"{fact_id}@1"}
    assert f"{other}@1" in answer.carried
    assert set(desk.bodies("turn_end")[0]["cited"]) == set(answer.cited)


def test_an_id_that_the_answer_names_is_cited_as_well(desk: Desk) -> None:
    record = f"{earlier(desk)}:2"
    assert desk.ask(ASKED, saying(f"See {record}."), auto_recall=True).cited == (record,)


def test_a_later_turn_is_not_shown_what_was_cited(desk: Desk) -> None:
    desk.ask(ASKED, saying(cite(f"{earlier(desk)}:2")), auto_recall=True)
    model = saying("yes")
    desk.ask([Part("typed", "Is that so?")], model, auto_recall=True)
    assert "memory-used" not in said(model.requests[0])
