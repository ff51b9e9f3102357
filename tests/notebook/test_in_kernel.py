"""The parts of the notebook face in a real kernel, one for all tests of this module."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from running_kernel import Kernel, running_kernel

pytestmark = pytest.mark.kernel

SETUP = """
import time
from memnb.agent.reply import Answer, ToolStarted, UsageTotal
from memnb.agent.tools import Change
from memnb.core.messages import Text
from memnb.notebook.approval import CellApproval
from memnb.notebook.cells import front_end_runs, kernel_id, running_cell
from memnb.notebook.kernel_tools import KernelTools
from memnb.notebook.live_display import turn_display
ip = get_ipython()
tools = {tool.name: tool for tool in KernelTools(ip).tools()}
def run(code):
    return tools["run_python"].plan(__import__("json").dumps({"code": code})).apply()
def show(live):
    display = turn_display(ip, live=live, display_id="turn-1", seconds=time.monotonic)
    for event in (Text("We use "), ToolStarted("f"), Text("**cents**")):
        display.observe(event)
    display.finish(Answer("We use **cents**", "complete", "m", None, 2, 1, 1, UsageTotal(5),
                          (), (), (), (), (), (), 0.5))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    repository = str(Path(__file__).resolve().parents[2])
    with running_kernel(tmp_path_factory.mktemp("nb"), {"PYTHONPATH": repository}) as kernel:
        assert kernel.run(SETUP).error == ""
        yield kernel


def test_a_live_answer_is_one_display_that_ends_whole(kernel: Kernel) -> None:
    outcome = kernel.run("show(live=True)")
    (display,) = outcome.displays
    assert display["text/plain"] == (
        "We use **cents**\n\n▸ turn 1 · 1 tool · 5 tokens · remembered nothing · 0.5 s"
    )
    assert "<strong>cents</strong>" in display["text/html"]
    assert outcome.text == ""


def test_an_answer_that_is_not_live_is_the_same_display(kernel: Kernel) -> None:
    assert kernel.run("show(live=False)").displays == kernel.run("show(live=True)").displays


def test_the_cell_is_known_by_the_id_that_the_front_end_sends(kernel: Kernel) -> None:
    code = "cell = running_cell(ip); (cell.cell_id, cell.count == ip.execution_count - 1)"
    assert kernel.run(code, cell_id="4f0c-2a").result["text/plain"] == "('4f0c-2a', True)"
    assert kernel.run(code).result["text/plain"] == "(None, True)"


def test_a_cell_of_a_front_end_speaks_as_the_person(kernel: Kernel) -> None:
    assert kernel.run("front_end_runs(ip)").result["text/plain"] == "True"
    assert kernel.run("run('front_end_runs(ip)').output").result["text/plain"] == "'False\\n'"


ASK = "CellApproval(ip)(Change('run_python', 'run Python', 'x = 1'))"


@pytest.mark.parametrize(("answer", "agreed"), [("y", "True"), ("", "False")])
def test_a_person_is_asked_in_the_cell(kernel: Kernel, answer: str, agreed: str) -> None:
    outcome = kernel.run(f"print({ASK})", answers=[answer])
    assert outcome.text == f"▸ run Python:\n  │ x = 1\n{agreed}\n"


def test_without_a_prompt_nothing_is_shown_and_nobody_asked(kernel: Kernel) -> None:
    assert kernel.run(f"print({ASK})").text == "None\n"


def test_an_error_of_code_that_is_run_is_not_the_cells_own(kernel: Kernel) -> None:
    outcome = kernel.run("print(run('print(1)\\n1/0').output)")
    assert outcome.error == ""
    assert outcome.text == "1\nZeroDivisionError: division by zero\nline 2: 1/0\n"
    assert outcome.displays == []


def test_an_image_of_code_that_is_run_is_shown(kernel: Kernel) -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    kernel.run(f"from base64 import b64decode\nfrom IPython.display import Image\nd = '{data}'")
    outcome = kernel.run("print(run('Image(data=b64decode(d))').output)")
    assert "[image/png, 8 bytes, SHA-256" in outcome.text
    assert [list(display) for display in outcome.displays] == [["image/png"]]


def test_an_interrupt_stops_code_that_is_run_and_its_cell(kernel: Kernel) -> None:
    request = kernel.start("print('go', flush=True)\nrun('import time\\ntime.sleep(60)')\nprint(2)")
    kernel.wait_for(request, "go")
    kernel.interrupt()
    outcome = kernel.finish(request)
    assert outcome.error.startswith("KeyboardInterrupt")
    assert "2" not in outcome.text


def test_a_notebook_that_is_executed_keeps_the_last_update(tmp_path: Path) -> None:
    repository = str(Path(__file__).resolve().parents[2])
    path = f"import sys\nsys.path.insert(0, {repository!r})\n"
    cells = [nbformat.v4.new_code_cell(path + SETUP), nbformat.v4.new_code_cell("show(live=True)")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    (output,) = notebook.cells[1].outputs
    assert output["data"]["text/plain"].endswith("remembered nothing · 0.5 s")
