"""Any provider's model, reached through litellm.

1. litellm loads on the first request, and what it would say or call at import is prevented.
2. Retries are ours: litellm's own need a package it does not install, and repeat what can never
   succeed. Nothing is sent again once a part of the reply was handed on.
3. Timeouts are ours: litellm enforces none for several providers.
4. What a provider says about a failure is never shown, see `provider_errors`.
5. Usage and cost are what the provider reported; litellm's estimates count as unknown.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from memnb.core.messages import Cancel, Event, Notice, Request, Stop, Text, Usage
from memnb.errors import BadModelOutput, ModelError, ModelRefused, ModelTimeout
from memnb.llm.chat_format import IncomingReply, messages_of, response_format, tools_of
from memnb.llm.litellm_knowledge import cost_nusd, missing_keys, model_info
from memnb.llm.litellm_loading import Litellm, load, loaded, quiet_context
from memnb.llm.own_loop import iterate
from memnb.llm.provider_errors import Failure, explain

__all__ = ["LiteLLMModel"]

RETRY_WAITS_SECONDS = (0.5, 2.0)
"""Pauses before the second and the third attempt; a provider's Retry-After lengthens them."""

LONGEST_RETRY_WAIT_SECONDS = 10.0
"""A provider that asks for a longer pause is not asked again: the person decides."""

CLOSE_SECONDS = 2.0
"""How long closing a stream may take."""

_Emit = Callable[[Event | ModelError], None]


class LiteLLMModel:
    """The model that litellm knows as `name`, such as `anthropic/claude-sonnet-4-5`.

    It holds nothing open between requests, and may be used by several threads.
    """

    def __init__(
        self,
        name: str,
        *,
        context_tokens: int | None = None,
        api_base: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Nothing is loaded or asked yet.

        Args:
            name: provider/model. The provider's key is taken from the environment, where litellm
                looks for it.
            context_tokens: the window, for a model that litellm doesn't know.
            api_base: the address of a server of your own; it is asked without a key if the
                environment has none.
            sleep: waits between attempts.
        """
        self._name = name
        self._context_tokens = context_tokens
        self._api_base = api_base
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"LiteLLMModel({self._name!r})"

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def context_tokens(self) -> int | None:
        """The window that litellm knows once it is loaded, else the one given, else None."""
        known = self._info().get("max_input_tokens")
        return known if isinstance(known, int) and known > 0 else self._context_tokens

    @property
    def capabilities(self) -> frozenset[str]:
        """Tools, unless litellm is loaded and knows that the model can't call any."""
        takes_none = self._info().get("supports_function_calling") is False
        return frozenset() if takes_none else frozenset({"tools"})

    def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
        """Yield the reply's events; calls come when the reply is complete, then usage and `Stop`.

        Call it in a thread whose event loop isn't running, such as a worker thread.

        Raises:
            NoModel: no such provider, or a package it needs is not installed.
            ModelRefused: no key or a wrong one, no permission, no budget, or unwanted content.
            ModelUnavailable: not reached, not found, or failing, after three attempts.
            ModelTimeout: `timeout_seconds` passed without a first or a next piece of the reply.
            ContextTooLong: the request doesn't fit the window.
            BadModelOutput: the reply is empty or has a call without a name.
        """
        if loaded() is None:
            yield Notice("loading litellm (first use)…")
        litellm = load()
        if cancel.requested:
            return
        missing = missing_keys(litellm, self._name)
        if missing and not self._api_base:
            raise ModelRefused(f"{self._name} has no key. Set {missing} in the environment.")
        answer = partial(self._answer, litellm, request, is_keyless=bool(missing))
        with contextlib.closing(iterate(answer, cancel, quiet_context())) as items:
            for item in items:
                if isinstance(item, ModelError):
                    raise item
                yield item

    def close(self) -> None:
        """Nothing is held open."""

    def _info(self) -> dict[str, Any]:
        litellm = loaded()
        return {} if litellm is None else model_info(litellm, self._name)

    def _arguments(self, request: Request, *, is_keyless: bool) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._name,
            "messages": messages_of(request),
            "max_tokens": request.output_tokens,
            # Ours comes first; this one ends what doesn't heed being cancelled.
            "timeout": request.timeout_seconds + CLOSE_SECONDS,
            "stream": True,
            "stream_options": {"include_usage": True},
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
        }
        if request.tools:
            arguments["tools"] = tools_of(request)
        # A server that doesn't know schemas may refuse the whole request.
        if request.schema is not None and self._info().get("supports_response_schema") is True:
            arguments["response_format"] = response_format(request.schema)
        if self._api_base:
            arguments["api_base"] = self._api_base
        if is_keyless:
            # OpenAI's client refuses to start without one.
            arguments["api_key"] = "none"
        return arguments

    async def _answer(
        self, litellm: Litellm, request: Request, emit: _Emit, *, is_keyless: bool
    ) -> None:
        """Emit the reply or what went wrong, after up to three attempts in one time limit."""
        arguments = self._arguments(request, is_keyless=is_keyless)
        clock = asyncio.get_running_loop().time
        deadline = clock() + request.timeout_seconds
        for n_failed, pause in enumerate((*RETRY_WAITS_SECONDS, None), start=1):
            reply = IncomingReply()
            failure = await self._attempt(litellm, request, arguments, reply, deadline, emit)
            if failure is None:
                return
            wait = _wait_before_retry(failure, pause)
            if wait is None or reply.has_text or clock() + wait >= deadline:
                emit(failure.error)
                return
            emit(
                Notice(
                    f"{failure.what}, trying again in {wait:g} s "
                    f"({n_failed} of {len(RETRY_WAITS_SECONDS)})…"
                )
            )
            await self._sleep(wait)

    async def _attempt(
        self,
        litellm: Litellm,
        request: Request,
        arguments: dict[str, Any],
        reply: IncomingReply,
        deadline: float,
        emit: _Emit,
    ) -> Failure | None:
        """Emit the reply; a failure is returned, so that no traceback carries what it held."""
        clock = asyncio.get_running_loop().time
        limit = asyncio.timeout_at(deadline)
        usage = Usage()
        try:
            async with limit:
                stream = await litellm.acompletion(**arguments)
                async with _closing(stream):
                    async for chunk in stream:
                        limit.reschedule(clock() + request.timeout_seconds)
                        text = reply.take(chunk)
                        if text:
                            emit(Text(text))
                        usage = self._usage(litellm, stream, chunk) or usage
        except Exception as exc:  # the door to the providers: whatever comes is told in our words
            if limit.expired():
                return self._timed_out(request)
            return explain(exc, self._name)
        self._finish(request, reply, usage, emit)
        return None

    def _timed_out(self, request: Request) -> Failure:
        what = f"{self._name} sent nothing for {request.timeout_seconds:g} s"
        return Failure(ModelTimeout(f"{what}. Run it again, or raise agent.timeout_seconds."), what)

    def _finish(self, request: Request, reply: IncomingReply, usage: Usage, emit: _Emit) -> None:
        n_before = sum(len(message.calls) for message in request.messages)
        calls = tuple(reply.calls(n_before))
        if not all(call.name for call in calls):
            emit(usage)
            emit(BadModelOutput(f"{self._name} called a tool without naming it. Run it again."))
            return
        for call in calls:
            emit(call)
        emit(usage)
        emit(Stop(reply.stop()) if calls or reply.has_text else self._empty(reply))

    def _empty(self, reply: IncomingReply) -> ModelError:
        reason = reply.stop()
        if reason == "refused":
            return ModelRefused(
                f"{self._name} refused the content of the request. Rephrase it, or use another "
                "model."
            )
        if reason == "length":
            return BadModelOutput(
                f"{self._name} used up its output without an answer. Raise agent.output_tokens."
            )
        return BadModelOutput(f"{self._name} gave an empty reply. Run it again.")

    def _usage(self, litellm: Litellm, stream: Any, chunk: Any) -> Usage | None:
        """The usage in `chunk`, if the provider reported one."""
        usage = getattr(chunk, "usage", None)
        # litellm fills in an estimate that looks the same; only what arrived is in `chunks`.
        arrived = getattr(stream, "chunks", ())
        if usage is None or not any(getattr(one, "usage", None) for one in arrived):
            return None
        return Usage(
            # No request has no tokens: some servers say 0 for unknown.
            input_tokens=_count(usage, "prompt_tokens") or None,
            output_tokens=_count(usage, "completion_tokens"),
            # A server of one's own doesn't charge what the model's namesake costs.
            cost_nusd=None if self._api_base else cost_nusd(litellm, self._name, usage),
        )


def _wait_before_retry(failure: Failure, pause: float | None) -> float | None:
    """Seconds to wait, None for not trying again."""
    if pause is None or not failure.transient:
        return None
    wait = max(pause, failure.retry_after_seconds or 0.0)
    return wait if wait <= LONGEST_RETRY_WAIT_SECONDS else None


@contextlib.asynccontextmanager
async def _closing(stream: Any) -> AsyncIterator[None]:
    try:
        yield
    finally:
        # Closing a broken stream may fail or hang; its connection is closed with the loop.
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSE_SECONDS):
                await stream.aclose()


def _count(usage: Any, name: str) -> int | None:
    n = getattr(usage, name, None)
    return n if isinstance(n, int) and n >= 0 else None
