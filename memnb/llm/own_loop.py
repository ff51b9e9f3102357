"""An asynchronous producer read as a plain iterator.

1. Its event loop lives in the calling thread and ends with the iterator, however that ends.
2. A cancel request from any thread ends the iterator soon, without an error.
3. Nothing outlives the loop: no task, no connection, and no thread but one that is stuck in a
   blocking call; nobody waits for that one.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from memnb.core.messages import Cancel

__all__ = ["iterate"]

T = TypeVar("T")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")

GRACE_SECONDS = 2.0
"""How long what runs may take to end once it is told to."""


def iterate(
    produce: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]],
    cancel: Cancel,
    context: contextvars.Context,
) -> Generator[T, None, None]:
    """Yield what `produce` emits, as it is emitted.

    Args:
        produce: called with the function that emits; its coroutine runs only while an item is
            being waited for.
        cancel: ends the iteration; what was emitted and not yet read is dropped.
        context: the context variables that `produce` and all it starts will see.

    Raises:
        RuntimeError: an event loop is already running in this thread.
    """
    _refuse_to_nest()
    emitted: deque[T] = deque()
    loop = _Loop()

    def emit(item: T) -> None:
        emitted.append(item)
        loop.pause()

    task = loop.create_task(produce(emit), context=context)
    task.add_done_callback(lambda _: loop.pause())
    cancel.on_request(lambda: _stop_soon(loop, task))
    try:
        while not task.done() and not cancel.requested:
            loop.run_until_paused()
            while emitted and not cancel.requested:
                yield emitted.popleft()
        if task.done() and not task.cancelled():
            task.result()
    finally:
        _end(loop)


def _refuse_to_nest() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "an event loop is already running in this thread; stream from a thread of your own"
    )


class _Loop(asyncio.SelectorEventLoop):
    """A loop that can be paused and knows its connections.

    HTTP clients keep connections for a next request on the same loop, which never comes: closing
    a loop leaves them open.
    """

    def __init__(self) -> None:
        super().__init__()
        self.connections: list[asyncio.BaseTransport] = []
        self._may_pause = False
        self._coroutines: list[Coroutine[Any, Any, Any]] = []
        # asyncio would log what the provider said.
        self.set_exception_handler(lambda _loop, _context: None)

    def run_until_paused(self) -> None:
        self._may_pause = True
        try:
            self.run_forever()
        finally:
            self._may_pause = False

    def pause(self) -> None:
        # A stop that comes after the pause would break off what `_end` runs.
        if self._may_pause:
            self._may_pause = False
            self.stop()

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], R], *args: *Ts
    ) -> asyncio.Future[R]:
        return super().run_in_executor(executor, self._noting_coroutine, partial(func, *args))

    def _noting_coroutine(self, func: Callable[[], R]) -> R:
        # litellm makes its coroutine in a thread. When the request is cancelled meanwhile, nobody
        # awaits it, and Python would write a warning into the cell.
        result = func()
        if asyncio.iscoroutine(result):
            self._coroutines.append(result)
            if self.is_closed():
                _drop(result)
        return result

    def close(self) -> None:
        super().close()
        for coroutine in self._coroutines:
            _drop(coroutine)

    async def create_connection(self, *args: Any, **options: Any) -> Any:
        transport, protocol = await super().create_connection(*args, **options)
        self.connections.append(transport)
        return transport, protocol


def _drop(coroutine: Coroutine[Any, Any, Any]) -> None:
    if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
        coroutine.close()


def _stop_soon(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    # The loop may have ended a moment ago; then there is nothing to stop.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(task.cancel)


def _end(loop: _Loop) -> None:
    try:
        loop.run_until_complete(_finish_tasks())
        loop.run_until_complete(_finish_generators(loop))
        for connection in loop.connections:
            if isinstance(connection, asyncio.WriteTransport):
                connection.abort()
        loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()


async def _finish_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=GRACE_SECONDS)


async def _finish_generators(loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE_SECONDS):
            await loop.shutdown_asyncgens()
