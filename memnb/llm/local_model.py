"""A small model on this machine, asked in two steps: is a tool needed, and what is the answer.

1. The first step sees the person's latest message only and picks at most one tool; the second
   streams the answer as plain text and knows of no tools. After a tool, what code knows for sure
   is said by code.
2. The model lives in a process of its own, started at the first request and kept for the next.
3. After an interrupt that process is idle or gone within two seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memnb.core.messages import Cancel, Event, Notice, Request, Stop, Text, Usage
from memnb.errors import ModelUnavailable
from memnb.llm.chat_format import response_format
from memnb.llm.local_child import LocalChild
from memnb.llm.local_replies import answer_messages, last_user, speak
from memnb.llm.model_catalog import spec_of
from memnb.llm.routing import route

__all__ = ["LocalModel"]


_N_FIRST = 20  # more than the server's default; a word beyond them is as good as impossible


class LocalModel:
    """A local model behind the seam. It may be used from several threads; one answers at a time."""

    def __init__(
        self,
        name: str,
        *,
        weights: Path | Callable[[], Path],
        threads: int = 0,
        context_tokens: int = 8192,
    ) -> None:
        """Name the model; nothing is started or read yet.

        Args:
            name: as in the catalog, such as `local/qwen2.5-coder-1.5b`.
            weights: the verified file, or how to find it when it is first needed.
            threads: 0 for as many as the machine has cores.
            context_tokens: the size of the window.
        """
        self._name = name
        self._weights = weights
        self._threads = threads
        self._context_tokens = context_tokens
        self._child: LocalChild | None = None
        self._starting = threading.Lock()

    @property
    def name(self) -> str:
        """The name a person would configure."""
        return self._name

    @property
    def context_tokens(self) -> int:
        """The size of the window."""
        return self._context_tokens

    @property
    def capabilities(self) -> frozenset[str]:
        """At most four tools, chosen in a step of their own."""
        return frozenset({"few_tools"})

    @property
    def child(self) -> LocalChild | None:
        """The running process, if there is one that this process may use."""
        child = self._child
        return child if child is not None and child.alive else None

    def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
        """Yield events, ending with `Stop`; after `cancel`, end within moments without it.

        Raises:
            NoModel: xllamacpp isn't installed.
            ModelUnavailable: the process can't be started, or died.
            ModelTimeout: nothing came for `request.timeout_seconds`, the first token included.
            ContextTooLong: the request doesn't fit the window.
        """
        abort = _Abort()
        cancel.on_request(abort)
        try:
            if self.child is None and not abort.requested:
                yield Notice(f"starting the local model {self._described()} on this machine …")
            if not abort.requested:
                yield from self._reply(request, abort)
        except ModelUnavailable:
            if not abort.requested:
                raise
        finally:
            abort.forget()

    def first_words(
        self, body: Mapping[str, Any], *, timeout_seconds: float, cancel: Cancel | None = None
    ) -> dict[str, float]:
        """The likeliest first tokens of a reply with their log-probabilities; {} when cancelled.

        Args:
            body: the messages, in the form of OpenAI's API.
            timeout_seconds: how long nothing may come.
            cancel: stops it from another thread.

        Raises:
            As `stream`.
        """
        abort = _Abort()
        if cancel is not None:
            cancel.on_request(abort)
        whole = {
            "temperature": 0,
            "stream": True,
            "max_tokens": 1,
            "logprobs": True,
            "top_logprobs": _N_FIRST,
            **body,
        }
        try:
            child = self._ready_child(abort)
            with child.chat(whole, timeout_seconds=timeout_seconds) as chat:
                abort.watch(chat.abort)
                found = [_likeliest(piece) for piece in chat.pieces()]
        except ModelUnavailable:
            if not abort.requested:
                raise
            return {}
        finally:
            abort.forget()
        if not any(found) and not abort.requested:
            raise ModelUnavailable("the local model said nothing; restart the kernel and ask again")
        return next(filter(None, found), {})

    def close(self) -> None:
        """End the model's process; the next request starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    def _described(self) -> str:
        spec = spec_of(self._name)
        return spec.title if spec is not None else self._name

    def _reply(self, request: Request, abort: _Abort) -> Iterator[Event]:
        """Route, then answer unless a tool was chosen."""
        child = self._ready_child(abort)
        spent = _Spent()
        step = route(request)
        if step is not None:
            written = "".join(_ask(child, step.body, request, abort, spent))
            call = step.chosen(written)
            if call is not None and not abort.requested:
                yield from (call, spent.usage(), Stop("calls"))
            if call is not None or abort.requested:
                return
        spoken = speak(request.messages[last_user(request.messages) :])
        if spoken.text:
            yield Text(spoken.text + ("\n\n" if spoken.left else ""))
        if spoken.left or not spoken.text:
            body: dict[str, Any] = {
                "messages": answer_messages(request, spoken.left),
                "max_tokens": request.output_tokens,
            }
            if request.schema is not None:
                body["response_format"] = response_format(request.schema)
            for text in _ask(child, body, request, abort, spent):
                yield Text(text)
        if not abort.requested:
            yield from (spent.usage(), Stop("length" if spent.cut else "end"))

    def _ready_child(self, abort: _Abort) -> LocalChild:
        """The running child, or a new one whose weights are loaded."""
        with self._starting:
            if self.child is not None:
                return self.child
            weights = self._weights if isinstance(self._weights, Path) else self._weights()
            child = LocalChild(weights, threads=self._threads, context_tokens=self._context_tokens)
            abort.watch(child.kill)
            child.wait_ready()
            self._child = child
            return child


def _ask(
    child: LocalChild, body: Mapping[str, Any], request: Request, abort: _Abort, spent: _Spent
) -> Iterator[str]:
    """The texts of one request to the child, as they stream."""
    whole = {"temperature": 0, "stream": True, "stream_options": {"include_usage": True}, **body}
    with child.chat(whole, timeout_seconds=request.timeout_seconds) as chat:
        abort.watch(chat.abort)
        for piece in chat.pieces():
            spent.add(piece)
            for choice in piece.get("choices", ()):
                if text := choice["delta"].get("content"):
                    yield text


def _likeliest(piece: Mapping[str, Any]) -> dict[str, float]:
    """The alternatives that a piece of a reply has for its token."""
    for choice in piece.get("choices", ()):
        for token in (choice.get("logprobs") or {}).get("content") or ():
            return {one["token"]: float(one["logprob"]) for one in token["top_logprobs"]}
    return {}


class _Spent:
    """What the requests of one reply consumed, and whether the last was cut at its limit."""

    def __init__(self) -> None:
        self._input_tokens = 0
        self._output_tokens = 0
        self.cut = False

    def add(self, piece: Mapping[str, Any]) -> None:
        usage = piece.get("usage") or {}
        self._input_tokens += usage.get("prompt_tokens", 0)
        self._output_tokens += usage.get("completion_tokens", 0)
        for choice in piece.get("choices", ()):
            self.cut = choice.get("finish_reason") == "length"

    def usage(self) -> Usage:
        return Usage(self._input_tokens, self._output_tokens, cost_nusd=0)


class _Abort:
    """Stops whatever a reply is doing at the moment, from another thread."""

    def __init__(self) -> None:
        self.requested = False
        self._stop: Callable[[], None] | None = None

    def __call__(self) -> None:
        # No lock: whichever of the two sets its field last sees the other's, and stops twice at
        # most.
        self.requested = True
        if (stop := self._stop) is not None:
            stop()

    def watch(self, stop: Callable[[], None]) -> None:
        """From now on, `stop` is what ends it; at once if that was asked already."""
        self._stop = stop
        if self.requested:
            stop()

    def forget(self) -> None:
        """The reply is over; there is nothing to stop."""
        self._stop = None
