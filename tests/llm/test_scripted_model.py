from __future__ import annotations

import doctest
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.messages import Call, Event, Message, Model, Request, Stop, Text, Usage
from memnb.errors import BadModelOutput, ModelTimeout, ModelUnavailable
from memnb.llm import scripted_model
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.scripted_model import After, ScriptedModel, ScriptedReply


def request(text: str = "hello") -> Request:
    return Request(guidance="", memory="", messages=(Message("user", text),))


def ask(model: Model, text: str = "hello") -> list[Event]:
    return list(model.stream(request(text), CancelSwitch()))


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def test_the_example_in_the_docstring_runs() -> None:
    failed, tried = doctest.testmod(scripted_model)
    assert (failed, tried > 0) == (0, True)


@given(st.text(min_size=1))
def test_pieces_add_up_to_the_text(text: str) -> None:
    assert text_of(ask(ScriptedModel([text]))) == text


def test_an_answer_is_streamed_word_by_word_and_ends() -> None:
    assert ask(ScriptedModel(["two words"])) == [
        Text("two "),
        Text("words"),
        Usage(None, None, None),
        Stop("end"),
    ]


def test_replies_come_in_order() -> None:
    model = ScriptedModel(["one", "two"])
    assert [text_of(ask(model)), text_of(ask(model))] == ["one", "two"]


def test_every_request_is_kept() -> None:
    model = ScriptedModel(["a", "b"])
    ask(model, "first")
    ask(model, "second")
    assert [kept.messages[0].text for kept in model.requests] == ["first", "second"]


def test_calls_carry_json_or_the_text_that_was_given() -> None:
    model = ScriptedModel([ScriptedReply(calls=(("f", {"ä": 1}), ("g", "{broken")))])
    assert [event for event in ask(model) if isinstance(event, Call)] == [
        Call("c1", "f", '{"ä": 1}'),
        Call("c2", "g", "{broken"),
    ]


def test_call_ids_go_on_over_the_replies() -> None:
    model = ScriptedModel([ScriptedReply(calls=(("f", {}),))], repeat_last=True)
    ids = [event.call_id for _ in range(2) for event in ask(model) if isinstance(event, Call)]
    assert ids == ["c1", "c2"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(ScriptedReply("done"), "end", id="text"),
        pytest.param(ScriptedReply("let me see", calls=(("f", {}),)), "calls", id="calls"),
        pytest.param(ScriptedReply("cut o", stop="length"), "length", id="as told"),
    ],
)
def test_a_reply_says_why_it_stopped(reply: ScriptedReply, reason: str) -> None:
    assert ask(ScriptedModel([reply]))[-1] == Stop(reason)  # type: ignore[arg-type]


def test_usage_is_what_the_script_says() -> None:
    assert Usage(3, 1, 0) in ask(ScriptedModel([ScriptedReply("ok", usage=Usage(3, 1, 0))]))


def test_an_exception_is_raised_in_its_turn() -> None:
    model = ScriptedModel([ModelTimeout("too slow"), "fine"])
    with pytest.raises(ModelTimeout, match="too slow"):
        ask(model)
    assert text_of(ask(model)) == "fine"


def test_a_reply_can_fail_midway() -> None:
    model = ScriptedModel([After("half of", ModelUnavailable("gone"))])
    stream = model.stream(request(), CancelSwitch())
    assert [next(stream), next(stream)] == [Text("half "), Text("of")]
    with pytest.raises(ModelUnavailable, match="gone"):
        next(stream)


def test_a_function_answers_the_request() -> None:
    model = ScriptedModel([lambda asked: asked.messages[-1].text.upper()], repeat_last=True)
    assert [text_of(ask(model, "a")), text_of(ask(model, "b"))] == ["A", "B"]


def test_running_out_of_replies_says_how_many_there_were() -> None:
    model = ScriptedModel(["only"])
    ask(model)
    with pytest.raises(ModelUnavailable, match="no reply left; it was given 1"):
        ask(model)


def test_an_empty_reply_is_bad_output_as_with_every_model() -> None:
    with pytest.raises(BadModelOutput):
        ask(ScriptedModel([""]))


def test_cancel_between_pieces_ends_the_stream_without_stop() -> None:
    switch = CancelSwitch()
    stream = ScriptedModel(["a b c"]).stream(request(), switch)
    first = next(stream)
    switch.request()
    assert (first, list(stream)) == (Text("a "), [])


def test_cancel_cuts_a_pause_short() -> None:
    switch = CancelSwitch()
    model = ScriptedModel([ScriptedReply("never", delay_seconds=3600)])
    thread = threading.Thread(target=lambda: list(model.stream(request(), switch)), daemon=True)
    thread.start()
    switch.request()
    thread.join(30)
    assert not thread.is_alive()


def test_a_switch_calls_each_callback_once() -> None:
    switch = CancelSwitch()
    calls: list[str] = []
    switch.on_request(lambda: calls.append("early"))
    switch.request()
    switch.request()
    switch.on_request(lambda: calls.append("late"))
    assert (calls, switch.requested) == (["early", "late"], True)
