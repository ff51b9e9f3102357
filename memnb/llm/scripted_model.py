"""A model that says what it was told to say: for tests, and for notebooks that need no key."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from memnb.core.messages import (
    Call,
    Cancel,
    Event,
    Request,
    Stop,
    StopReason,
    Text,
    Usage,
)
from memnb.errors import BadModelOutput, ModelUnavailable

__all__ = ["After", "Scripted", "ScriptedModel", "ScriptedReply"]

_PIECES = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One scripted reply.

    `calls` are pairs of a tool's name and its arguments: a mapping, or a string to be sent as it
    is (so that a test can send broken JSON). `stop` defaults to "calls" with calls, else "end".
    `usage` defaults to unknown. `delay_seconds` passes before each piece.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    usage: Usage | None = None
    stop: StopReason | None = None
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class After:
    """A reply that fails midway: `text` is streamed, then `error` is raised."""

    text: str
    error: BaseException


_Said: TypeAlias = "str | ScriptedReply | After | BaseException"
Scripted: TypeAlias = "_Said | Callable[[Request], _Said]"
"""What one reply may be: text, a reply, a failure, or a function that answers the request."""


class ScriptedModel:
    r"""Replays `replies` in order, one a request, and keeps what it was asked in `requests`.

    It streams word by word, calls tools, fails where an exception stands, and stops when it is
    cancelled, as a real model does. Call ids are c1, c2, … over the life of the model. With
    `repeat_last` the last reply is given again and again.

    >>> from memnb.core.messages import Message, Request
    >>> from memnb.llm.cancelling import CancelSwitch
    >>> asks = ScriptedReply(calls=(("recall", {"id": "F-7k2m9q"}),))
    >>> model = ScriptedModel([asks, "In EUR cents."])
    >>> request = Request(guidance="", memory="", messages=(Message("user", "Which unit?"),))
    >>> for event in model.stream(request, CancelSwitch()):
    ...     print(event)
    Call(call_id='c1', name='recall', arguments='{"id": "F-7k2m9q"}')
    Usage(input_tokens=None, output_tokens=None, cost_nusd=None)
    Stop(reason='calls')
    >>> [event.text for event in model.stream(request, CancelSwitch()) if hasattr(event, "text")]
    ['In ', 'EUR ', 'cents.']
    >>> model.requests[0].messages[0].text
    'Which unit?'
    """

    def __init__(
        self,
        replies: Sequence[Scripted],
        *,
        name: str = "scripted",
        context_tokens: int | None = 8192,
        capabilities: frozenset[str] = frozenset({"tools"}),
        repeat_last: bool = False,
    ) -> None:
        self.requests: list[Request] = []
        self._replies = tuple(replies)
        self._name = name
        self._context_tokens = context_tokens
        self._capabilities = capabilities
        self._repeat_last = repeat_last
        self._n_calls = 0

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def context_tokens(self) -> int | None:
        """The window it was given."""
        return self._context_tokens

    @property
    def capabilities(self) -> frozenset[str]:
        """The capabilities it was given."""
        return self._capabilities

    def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
        """Yield the next reply's events; the request is recorded when the first is asked for.

        Raises:
            ModelUnavailable: there is no reply left.
            BadModelOutput: the reply has neither text nor calls, as with every model.
            BaseException: whatever the script says.
        """
        self.requests.append(request)
        reply = self._next_reply(request)
        for event in self._events(reply, _Pause(cancel)):
            if cancel.requested:
                return
            yield event

    def close(self) -> None:
        """Nothing is held open."""

    def _next_reply(self, request: Request) -> ScriptedReply | After:
        n_asked = len(self.requests)
        if n_asked > len(self._replies) and not (self._repeat_last and self._replies):
            raise ModelUnavailable(
                f"{self._name} has no reply left; it was given {len(self._replies)} and this is "
                f"request {n_asked}: add replies, or use repeat_last=True"
            )
        scripted = self._replies[min(n_asked, len(self._replies)) - 1]
        if callable(scripted):
            scripted = scripted(request)
        if isinstance(scripted, BaseException):
            raise scripted
        return ScriptedReply(scripted) if isinstance(scripted, str) else scripted

    def _events(self, reply: ScriptedReply | After, pause: _Pause) -> Iterator[Event]:
        if isinstance(reply, After):
            yield from map(Text, _PIECES.findall(reply.text))
            raise reply.error
        for piece in _PIECES.findall(reply.text):
            pause.wait(reply.delay_seconds)
            yield Text(piece)
        for name, arguments in reply.calls:
            pause.wait(reply.delay_seconds)
            yield self._call(name, arguments)
        yield reply.usage or Usage()
        if not reply.text and not reply.calls:
            raise BadModelOutput(f"{self._name} gave an empty reply; ask again")
        yield Stop(reply.stop or ("calls" if reply.calls else "end"))

    def _call(self, name: str, arguments: Mapping[str, Any] | str) -> Call:
        self._n_calls += 1
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        return Call(f"c{self._n_calls}", name, arguments)


class _Pause:
    """A wait that ends at once when the request is cancelled."""

    def __init__(self, cancel: Cancel) -> None:
        self._cancelled = threading.Event()
        cancel.on_request(self._cancelled.set)

    def wait(self, seconds: float) -> None:
        if seconds > 0:
            self._cancelled.wait(seconds)
