from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from collections.abc import Callable, Coroutine

import pytest

from memnb.llm.cancelling import CancelSwitch
from memnb.llm.own_loop import iterate


async def three(emit: Callable[[int], None]) -> None:
    for n in range(3):
        emit(n)
        await asyncio.sleep(0)


async def for_ever(emit: Callable[[int], None]) -> None:
    emit(1)
    await asyncio.Event().wait()


def test_items_come_in_order() -> None:
    assert list(iterate(three, CancelSwitch(), contextvars.copy_context())) == [0, 1, 2]


def test_an_item_comes_before_the_producer_has_finished() -> None:
    assert next(iterate(for_ever, CancelSwitch(), contextvars.copy_context())) == 1


def test_an_error_of_the_producer_comes_after_its_items() -> None:
    async def fails(emit: Callable[[int], None]) -> None:
        emit(1)
        raise LookupError("ours")

    items = iterate(fails, CancelSwitch(), contextvars.copy_context())
    assert next(items) == 1
    with pytest.raises(LookupError, match="ours"):
        next(items)


def test_cancel_from_another_thread_ends_the_wait() -> None:
    switch = CancelSwitch()
    items: list[int] = []

    def read() -> None:
        items.extend(iterate(for_ever, switch, contextvars.copy_context()))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    switch.request()
    reader.join(30)
    assert not reader.is_alive()


def test_what_was_left_running_is_told_to_end() -> None:
    ended: list[str] = []

    async def left_behind() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")

    async def leaves(emit: Callable[[int], None]) -> None:
        task = asyncio.create_task(left_behind())
        await asyncio.sleep(0)
        emit(int(task.done()))

    assert list(iterate(leaves, CancelSwitch(), contextvars.copy_context())) == [0]
    assert ended == ["task"]


def test_a_task_that_refuses_to_end_is_left_after_a_grace() -> None:
    async def stubborn() -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    async def leaves(emit: Callable[[int], None]) -> None:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        emit(int(task.done()))

    assert list(iterate(leaves, CancelSwitch(), contextvars.copy_context())) == [0]


def test_a_coroutine_that_a_thread_made_too_late_is_dropped_without_a_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def make() -> Coroutine[None, None, None]:
        threads.append(threading.current_thread())
        begun.set()
        may_go_on.wait(30)
        return asyncio.sleep(0)

    async def waits(emit: Callable[[int], None]) -> None:
        made = asyncio.get_running_loop().run_in_executor(None, make)
        begun.wait(30)
        emit(1)
        await made

    items = iterate(waits, CancelSwitch(), contextvars.copy_context())
    next(items)
    items.close()
    may_go_on.set()
    threads[0].join(30)
    gc.collect()
    assert list(recwarn) == []


def test_a_running_loop_in_this_thread_is_refused() -> None:
    async def inside() -> None:
        with pytest.raises(RuntimeError, match="thread of your own"):
            next(iterate(three, CancelSwitch(), contextvars.copy_context()))

    asyncio.run(inside())
