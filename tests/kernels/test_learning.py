"""Learning in a real kernel: after the cell has returned, told with the next, never unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from running_kernel import LOAD, running_kernel

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
