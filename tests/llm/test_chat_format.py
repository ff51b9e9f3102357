from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.messages import Call, Message, Request, ToolSpec
from memnb.llm.chat_format import IncomingReply, messages_of, response_format, tools_of


def chunk(*calls: SimpleNamespace, text: str | None = None, finish: str | None = None) -> Any:
    delta = SimpleNamespace(content=text, tool_calls=list(calls))
    return SimpleNamespace(choices=[SimpleNamespace(delta=delta, finish_reason=finish)])


def piece(index: int, arguments: str, name: str | None = None, call_id: str | None = None) -> Any:
    return SimpleNamespace(
        index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments)
    )


def reply_of(*chunks: Any) -> IncomingReply:
    reply = IncomingReply()
    for one in chunks:
        reply.take(one)
    return reply


@pytest.mark.parametrize(
    ("guidance", "memory", "expected"),
    [
        pytest.param("G", "M", [("system", "G\n\nM"), ("user", "hi")], id="both"),
        pytest.param("G", "", [("system", "G"), ("user", "hi")], id="no memory"),
        pytest.param("", "", [("user", "hi")], id="neither"),
    ],
)
def test_guidance_leads_and_memory_follows(
    guidance: str, memory: str, expected: list[tuple[str, str]]
) -> None:
    sent = messages_of(Request(guidance, memory, (Message("user", "hi"),)))
    assert [(one["role"], one["content"]) for one in sent] == expected


def test_calls_and_their_results_are_paired_by_id() -> None:
    request = Request(
        "",
        "",
        (
            Message("assistant", "", calls=(Call("c1", "f", '{"a": 1}'),)),
            Message("tool", "42", call_id="c1", name="f"),
        ),
    )
    assert messages_of(request) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a": 1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "42"},
    ]


@given(st.text() | st.sampled_from(['{"a": 1}', "{}", "[1]", "null", '{"a": ', "NaN"]))
def test_arguments_are_always_sent_as_an_object(arguments: str) -> None:
    [sent] = messages_of(
        Request("", "", (Message("assistant", "", calls=(Call("c1", "f", arguments),)),))
    )
    assert isinstance(json.loads(sent["tool_calls"][0]["function"]["arguments"]), dict)


def test_a_tool_is_sent_with_its_schema() -> None:
    tool = ToolSpec("f", "does f", {"type": "object", "properties": {}})
    assert tools_of(Request("", "", (), tools=(tool,))) == [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "does f",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ]


@given(st.lists(st.text()), st.lists(st.text()))
def test_interleaved_pieces_of_two_calls_add_up(first: list[str], second: list[str]) -> None:
    reply = reply_of(
        chunk(piece(0, "", "f", "a")),
        chunk(piece(1, "", "g", "b")),
        *(chunk(piece(0, text)) for text in first),
        *(chunk(piece(1, text)) for text in second),
    )
    assert list(reply.calls(0)) == [
        Call("a", "f", "".join(first)),
        Call("b", "g", "".join(second)),
    ]


def test_calls_that_share_an_index_are_told_apart_by_id() -> None:
    reply = reply_of(chunk(piece(0, "{}", "f", "a")), chunk(piece(0, "{}", "g", "b")))
    assert list(reply.calls(0)) == [Call("a", "f", "{}"), Call("b", "g", "{}")]


def test_an_id_and_name_that_are_repeated_make_no_new_call() -> None:
    reply = reply_of(chunk(piece(0, "{", "f", "a")), chunk(piece(0, "}", "f", "a")))
    assert list(reply.calls(0)) == [Call("a", "f", "{}")]


def test_a_call_without_an_id_gets_one_that_the_conversation_has_not() -> None:
    reply = reply_of(chunk(piece(0, "{}", "f")), chunk(piece(1, "{}", "g")))
    assert [call.call_id for call in reply.calls(4)] == ["call_5", "call_6"]


@pytest.mark.parametrize(
    ("finish", "has_call", "reason"),
    [
        ("stop", False, "end"),
        ("stop", True, "calls"),
        ("tool_calls", True, "calls"),
        ("length", False, "length"),
        ("length", True, "length"),
        ("content_filter", False, "refused"),
        ("something new", False, "end"),
    ],
)
def test_the_finish_reason_is_translated(finish: str, has_call: bool, reason: str) -> None:
    calls = (piece(0, "{}", "f", "a"),) if has_call else ()
    assert reply_of(chunk(*calls), chunk(finish=finish)).stop() == reason


def test_a_chunk_without_choices_is_no_text() -> None:
    assert IncomingReply().take(SimpleNamespace(choices=[])) == ""


def test_a_schema_is_sent_as_the_form_of_the_whole_reply() -> None:
    schema = {"type": "object", "properties": {}}
    assert response_format(schema) == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": schema, "strict": True},
    }
