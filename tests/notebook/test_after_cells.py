from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from memnb.core.messages import Cancel
from memnb.notebook.after_cells import AfterCells

SECONDS = 30.0


@pytest.fixture
def begun() -> threading.Event:
    return threading.Event()


@pytest.fixture
def until_told(begun: threading.Event) -> Callable[[Cancel], Iterator[str]]:
    """Work that goes on until it is told to stop."""

    def work(cancel: Cancel) -> Iterator[str]:
        told = threading.Event()
        cancel.on_request(told.set)
        begun.set()
        yield "stopped" if told.wait(SECONDS) else "never told"

    return work


def test_what_it_says_is_told_once() -> None:
    after = AfterCells(lambda _: ["learned F-7k2m9q"])
    after.begin()
    assert after.wait(SECONDS)
    assert after.take_lines() == ("learned F-7k2m9q",)
    assert after.take_lines() == ()


def test_a_cell_that_needs_the_model_stops_it(
    begun: threading.Event, until_told: Callable[[Cancel], Iterator[str]]
) -> None:
    after = AfterCells(until_told)
    after.begin()
    assert begun.wait(SECONDS)
    after.stop()
    assert after.wait(0)
    assert after.take_lines() == ("stopped",)


def test_work_that_was_told_to_give_way_goes_on_to_its_next_stop(begun: threading.Event) -> None:
    told, go_on = threading.Event(), threading.Event()

    def work(cancel: Cancel) -> Iterator[str]:
        cancel.on_request(told.set)
        begun.set()
        yield "gave way" if told.wait(SECONDS) and go_on.wait(SECONDS) else "never told"

    after = AfterCells(work)
    after.begin()
    assert begun.wait(SECONDS)
    after.give_way()
    assert not after.wait(0)
    go_on.set()
    assert after.wait(SECONDS)
    assert after.take_lines() == ("gave way",)


def test_it_is_begun_once_at_a_time(begun: threading.Event) -> None:
    go_on, times = threading.Event(), []

    def work(_: Cancel) -> list[str]:
        times.append(1)
        begun.set()
        go_on.wait(SECONDS)
        return []

    after = AfterCells(work)
    after.begin()
    assert begun.wait(SECONDS)
    after.begin()
    go_on.set()
    assert after.wait(SECONDS)
    assert len(times) == 1


def test_it_can_be_begun_again_after_it_was_stopped(
    begun: threading.Event, until_told: Callable[[Cancel], Iterator[str]]
) -> None:
    after = AfterCells(until_told)
    for _ in range(2):
        begun.clear()
        after.begin()
        assert begun.wait(SECONDS)
        after.stop()
    assert after.take_lines() == ("stopped", "stopped")


def test_a_failure_reaches_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    def work(_: Cancel) -> list[str]:
        raise RuntimeError("no model")

    after = AfterCells(work)
    after.begin()
    assert after.wait(SECONDS)
    assert after.take_lines() == ()
    assert capsys.readouterr() == ("", "")


def test_to_stop_what_was_never_begun_does_nothing() -> None:
    after = AfterCells(lambda _: [])
    after.stop()
    assert after.wait(0)
