"""A probe in a real kernel: told from an answer at once, and nothing goes on from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from running_kernel import LOAD, running_kernel

pytestmark = pytest.mark.kernel

TABS = "We use tabs for indentation in this repo."
MODEL = "seen = []\nsaid = memnb.ScriptedModel([lambda r: seen.append(r) or 'So it is.'] * 9)\n"


def test_a_probe_is_unmistakable_and_leaves_no_trace_in_the_conversation(tmp_path: Path) -> None:
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + MODEL)
        kept = kernel.run(f"%memory remember {TABS}").shown
        (fact_id,) = re.findall(r"F-[0-9a-z]{6}", kept)[:1]
        probe = kernel.run(f"%%agent -m said --without {fact_id}\nHow do I indent?").shown
        sent = kernel.run("print(seen[-1].memory)").text
        redo = kernel.run("%memory redo").shown
        kernel.run("%%agent -m said\nAnd now?")
        later = kernel.run("print(seen[-1].memory, seen[-1].messages)").text
    assert f"▸ probe without {fact_id}, not carried on · turn 1 · " in probe
    assert TABS not in sent
    assert "nothing to redo" in redo
    assert TABS in later
    assert "How do I indent?" not in later


@pytest.mark.parametrize("typed", ["F-zzzzzz", "tabs"])
def test_what_isnt_there_cant_be_left_out_and_nothing_is_sent(tmp_path: Path, typed: str) -> None:
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + MODEL)
        outcome = kernel.run(f"%%agent -m said --without {typed}\nHow do I indent?")
        sent = kernel.run("print(len(seen))").text
        sessions = kernel.run("%memory sessions").shown
    assert outcome.error
    assert len(outcome.traceback.strip().splitlines()) == 1
    assert sent == "0\n"
    assert "0 sessions" in sessions
