"""Learning in a real kernel: after the cell has returned, told with the next, never unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from running_kernel import LOAD, Kernel, running_kernel

pytestmark = pytest.mark.kernel

TABS = "We use tabs for indentation in this repo."
SET_UP = "%memory config learning.model rules\n%memory learn auto"
MODEL = "said = memnb.ScriptedModel(['I see.'], repeat_last=True)\n"
WAIT = (
    "import threading\n"
    "for t in threading.enumerate():\n"
    "    if t.name == 'memnb after a cell': t.join(60)\n"
)
"""What a person does who waits until it is quiet."""


def message(n: int) -> str:
    return f"%%agent -m said\nHave a look at loader number {n}. {TABS} Is it slow?"


def test_what_was_said_is_learned_after_the_cell_and_told_with_the_next_one(
    tmp_path: Path,
) -> None:
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + MODEL)
        kernel.run(SET_UP)
        for n in range(8):
            shown = kernel.run(message(n), answers=[]).shown
            assert "learned" not in shown
        kernel.run(WAIT)
        told = kernel.run("%memory status")
        facts = kernel.run("%memory facts")
        again = kernel.run("%memory status")
    assert "learned F-" in told.text
    assert TABS in facts.shown
    assert "learned F-" not in again.text


STATED = (
    "We always report revenue in EUR cents.",
    "Always run the tests with pytest -q.",
    "We use DuckDB for the warehouse in this project.",
)
"""Each in three cells, so that one run of the notebook says everything three times."""


def run_all(kernel: Kernel) -> None:
    """What Run All does with a notebook of nine statements."""
    kernel.run(LOAD + MODEL)
    kernel.run(SET_UP)
    for n in range(9):
        cell = f"%%agent -m said\nHave a look at loader number {n // 3}. {STATED[n % 3]}"
        kernel.run(cell, answers=[], cell_id=f"4f0c-cell-{n}")
        kernel.run(WAIT)
    kernel.run("%memory populate")


def test_run_all_twice_and_again_in_another_kernel_learns_nothing_twice(tmp_path: Path) -> None:
    with running_kernel(tmp_path) as kernel:
        run_all(kernel)
        first = kernel.run("%memory facts --all").shown
        run_all(kernel)
    with running_kernel(tmp_path) as kernel:
        run_all(kernel)
        kernel.run("%memory backfill --since 2020-01-01 --go")
        facts = kernel.run("%memory facts --all").shown
        waits = kernel.run("%memory review").shown
        runs = kernel.run("%memory diagnostics").shown
    assert facts == first
    assert any(text in facts for text in STATED)
    assert all((facts + waits).count(text) <= 1 for text in STATED)
    assert "promotion" not in runs


def test_a_kernel_that_dies_after_the_reply_is_learned_from_once_by_the_next(
    tmp_path: Path,
) -> None:
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + MODEL)
        kernel.run(SET_UP)
        kernel.run(message(1), answers=[])
        kernel.kill()
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        kernel.run(SET_UP)
        plan = kernel.run("%memory backfill")
        done = kernel.run("%memory backfill --go")
        again = kernel.run("%memory backfill --go")
        facts = kernel.run("%memory facts")
    assert "1 session with 1 exchange were never looked through" in plan.shown
    assert "learned F-" in done.shown
    assert "nothing new to look through" in again.shown
    assert facts.shown.count(TABS) == 1


def test_where_nobody_can_be_asked_nothing_is_learned(tmp_path: Path) -> None:
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + MODEL)
        kernel.run(SET_UP)
        for n in range(8):
            kernel.run(message(n))
        kernel.run(WAIT)
        diagnostics = kernel.run("%memory diagnostics")
        facts = kernel.run("%memory facts")
    assert "no run of learning yet" in diagnostics.shown
    assert TABS not in facts.shown
