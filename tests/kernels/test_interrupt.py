"""■ in a real kernel: the display is back at once, what came is kept, nothing is left behind."""

import time

import pytest

from running_kernel import LOAD, running_kernel

pytestmark = pytest.mark.kernel

SLOW = (
    'words = "one two three four five six seven eight " * 50\n'
    "slow = memnb.ScriptedModel([memnb.ScriptedReply(words, delay_seconds=0.05)],"
    " repeat_last=True)\n"
)
LEFT = (
    "import threading\n"
    "names = [t.name for t in threading.enumerate() if t.name.startswith('memnb')]\n"
    "print([name for name in names if name != 'memnb after a cell'])"
)
"""What is left of a turn; the index may be brought up to date after any cell."""


def test_a_stopped_turn_keeps_what_came_as_partial_and_leaves_no_thread(tmp_path):
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + SLOW)
        request = kernel.start("%%agent -m slow\nCount.")
        kernel.wait_for(request, "three four")
        kernel.interrupt()
        stopped = kernel.finish(request)
        kernel.run("time_to_end = __import__('time').sleep(0.5)")
        left = kernel.run(LEFT)
        records = kernel.run(
            "sessions = %memory sessions\n"
            "get_ipython().run_line_magic('memory', 'session ' + sessions.rows[0].session_id)"
        )
        again = kernel.run("%%agent -m slow --no-stream --max-steps 1\nGo on.", timeout=120)

    assert "stopped by you, kept as partial" in stopped.shown
    assert stopped.error.startswith("Stopped")
    assert stopped.traceback == ""
    assert left.text.strip() == "[]"
    assert "interrupted" in records.shown
    assert "one two three" in records.shown
    assert "one two three" in again.shown


def test_cells_that_wait_behind_a_stopped_turn_do_not_run(tmp_path):
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + SLOW)
        request = kernel.start("%%agent -m slow\nCount.")
        queued = kernel.start("print('ran all the same')")
        kernel.wait_for(request, "three four")
        kernel.interrupt()
        kernel.finish(request)
        time.sleep(1)
        after = kernel.run("print('a new cell')")

    assert queued
    assert after.text.strip() == "a new cell"


def test_a_prompt_is_asked_in_the_cell_and_its_answer_counts(tmp_path):
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        kernel.run(
            "model = memnb.ScriptedModel([memnb.ScriptedReply(calls=(('memory_remember',"
            " {'text': 'Prices are in cents.'}),)), 'Noted.'] * 2)"
        )
        refused = kernel.run("%%agent -m model\nPrices are in cents.", answers=["n"])
        agreed = kernel.run("%%agent -m model\nPrices are in cents.", answers=["y"])

    assert "Prices are in cents." in refused.text
    assert "you said no" in refused.shown
    assert "remembered F-" in agreed.shown


def test_a_model_that_runs_python_cannot_speak_as_the_person(tmp_path):
    code = "get_ipython().run_line_magic('memory', 'remember The client pays in gold.')"
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        call = ("run_python", {"code": code})
        kernel.run(
            f"model = memnb.ScriptedModel([memnb.ScriptedReply(calls=({call!r},)), 'Done.'])"
        )
        kernel.run("%%agent -m model\nGo.", answers=["y"])
        facts = kernel.run("%memory facts")

    assert "0 facts" in facts.shown


def test_loading_twice_and_reloading_go_on_in_the_same_session(tmp_path):
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        kernel.run("%memory remember We use polars.")
        before = kernel.run("status = %memory status\nprint(status.session_id)").text
        kernel.run("%load_ext memnb")
        kernel.run("%reload_ext memnb")
        after = kernel.run("status = %memory status\nprint(status.session_id)").text
        kernel.run("%unload_ext memnb")
        gone = kernel.run("%memory facts")

    assert before == after
    assert before.startswith("S-")
    assert "UsageError" in gone.shown or "UsageError" in gone.error


def test_text_reaches_the_agent_as_typed(tmp_path):
    typed = r'Is {x} a $y? \frac{a}{b} {"a": {"b": 1}} a.*b?'
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD + "x = 1\ny = 2\n")
        kernel.run("model = memnb.ScriptedModel(['Yes.'], repeat_last=True)")
        kernel.run(f"%agent -m model {typed}")
        kernel.run(f"%%agent -m model\n{typed}")
        heard = kernel.run("print([r.messages[-1].text for r in model.requests])")

    assert heard.text.strip() == repr([typed, typed])


def test_the_cell_id_and_the_count_are_in_the_receipt(tmp_path):
    with running_kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        kernel.run("%memory remember We use polars.", cell_id="abc-123")
        kernel.run("facts = %memory facts")
        kernel.run("import memnb\nmemory = memnb.open()")
        found = kernel.run(
            "s = memory.fact(facts.rows[0].fact_id).revisions[0].sources[0]\n"
            "print(s.cell_id, s.cell_count, s.via)"
        )

    assert found.text.split() == ["abc-123", "2", "command"]
