"""Requests and replies in OpenAI's chat form, which litellm takes for every provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memnb.core.messages import Call, JsonValue, Message, Request, StopReason

__all__ = ["IncomingReply", "messages_of", "response_format", "tools_of"]

_STOPS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refused",
}


def messages_of(request: Request) -> list[dict[str, Any]]:
    """The conversation, led by one system message.

    Guidance comes before memory: what never changes comes first, so a provider's cache of the
    prefix holds.
    """
    system = "\n\n".join(part for part in (request.guidance, request.memory) if part)
    lead = [{"role": "system", "content": system}] if system else []
    return [*lead, *(_message(message) for message in request.messages)]


def tools_of(request: Request) -> list[dict[str, Any]]:
    """The tools, as functions."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in request.tools
    ]


def response_format(schema: Mapping[str, JsonValue]) -> dict[str, Any]:
    """What holds a reply to a JSON schema."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": dict(schema), "strict": True},
    }


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {
            "role": "tool",
            "tool_call_id": message.call_id,
            "name": message.name,
            "content": message.text,
        }
    if not message.calls:
        return {"role": message.role, "content": message.text}
    return {
        "role": "assistant",
        "content": message.text or None,
        "tool_calls": [_sent_call(call) for call in message.calls],
    }


def _sent_call(call: Call) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": _sent_arguments(call.arguments)},
    }


def _sent_arguments(arguments: str) -> str:
    # Several providers take arguments as an object, so litellm parses what is sent back to them:
    # a model's broken JSON would make every later request of the session fail.
    try:
        parsed = json.loads(arguments or "{}")
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        return json.dumps({"not_an_object": arguments}, ensure_ascii=False)
    return arguments or "{}"


@dataclass(slots=True)
class _IncomingCall:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


class IncomingReply:
    """A reply that arrives in pieces: text is handed on at once, calls when they are complete."""

    def __init__(self) -> None:
        self.has_text = False
        self._finish = ""
        self._calls: list[_IncomingCall] = []
        self._by_index: dict[int, _IncomingCall] = {}

    def take(self, chunk: Any) -> str:
        """Take one chunk; gives its text, "" for none."""
        choices = getattr(chunk, "choices", None)
        if not choices:
            return ""
        self._finish = getattr(choices[0], "finish_reason", None) or self._finish
        delta = getattr(choices[0], "delta", None)
        for piece in getattr(delta, "tool_calls", None) or ():
            self._take_call(piece)
        text = getattr(delta, "content", None)
        if not isinstance(text, str) or not text:
            return ""
        self.has_text = True
        return text

    def calls(self, n_before: int) -> Iterator[Call]:
        """The calls in the order they began.

        A call that came without an id gets one that no other call of the conversation has:
        `n_before` is how many there were.
        """
        for n, call in enumerate(self._calls, start=n_before + 1):
            yield Call(call.call_id or f"call_{n}", call.name, call.arguments)

    def stop(self) -> StopReason:
        """Why it ended. Some providers say "stop" of a reply with calls."""
        reason = _STOPS.get(self._finish, "end")
        return "calls" if reason == "end" and self._calls else reason

    def _take_call(self, piece: Any) -> None:
        function = getattr(piece, "function", None)
        call = self._call_of(getattr(piece, "index", None) or 0, getattr(piece, "id", None) or "")
        call.name = call.name or getattr(function, "name", None) or ""
        call.arguments += getattr(function, "arguments", None) or ""

    def _call_of(self, index: int, call_id: str) -> _IncomingCall:
        """The call a piece belongs to.

        Pieces of one call share an index. Some providers number every call 0 and tell them apart
        by id only, others repeat the id in each piece.
        """
        call = self._by_index.get(index)
        if call is None or (call_id and call.call_id and call.call_id != call_id):
            call = _IncomingCall()
            self._calls.append(call)
            self._by_index[index] = call
        call.call_id = call.call_id or call_id
        return call
