from __future__ import annotations

import json
import sys
from hashlib import sha256
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from memnb.agent.tools import Tool, ToolResult
from memnb.errors import InputError
from memnb.notebook.capturing import Captured, captured
from memnb.notebook.kernel_tools import KernelTools


@pytest.fixture
def tools(shell: InteractiveShell) -> dict[str, Tool]:
    return {tool.name: tool for tool in KernelTools(shell).tools()}


def call(tool: Tool, **arguments: Any) -> ToolResult:
    return tool.plan(json.dumps(arguments)).apply()


def run(tools: dict[str, Tool], code: str) -> ToolResult:
    return call(tools["run_python"], code=code)


def test_looking_is_read_only_and_running_is_a_change_that_is_recorded_first(
    tools: dict[str, Tool],
) -> None:
    looks, runs = tools["inspect_variable"], tools["run_python"]
    assert (looks.access, looks.trust, looks.recorded_first) == ("read", "kernel", False)
    assert (runs.access, runs.trust, runs.recorded_first) == ("write", "kernel", True)


def test_a_variable_is_summarised(shell: InteractiveShell, tools: dict[str, Tool]) -> None:
    shell.run_cell("rows = [1, 2]")
    plan = tools["inspect_variable"].plan('{"name": "rows"}')
    assert plan.change is None
    assert plan.apply() == ToolResult("list, 2 items\n[1, 2]")


@pytest.mark.parametrize(
    "name",
    ["row", "rows.append", "rows[0]", "_", "In", "Out", "get_ipython", "__name__", "", "exit"],
)
def test_only_names_that_the_notebook_made_can_be_looked_at(
    shell: InteractiveShell, tools: dict[str, Tool], name: str
) -> None:
    shell.run_cell("rows = [1, 2]", store_history=True)
    with pytest.raises(InputError, match=r"no such variable; (did you mean|there are) rows"):
        call(tools["inspect_variable"], name=name)


def test_without_variables_it_says_so(tools: dict[str, Tool]) -> None:
    with pytest.raises(InputError, match="none yet"):
        call(tools["inspect_variable"], name="df")


def test_the_change_is_the_code_in_full(shell: InteractiveShell, tools: dict[str, Tool]) -> None:
    change = tools["run_python"].plan('{"code": "x = 1\\nprint(x)"}').change
    assert change is not None
    assert (change.kind, change.preview) == ("run_python", "x = 1\nprint(x)")
    assert "x" not in shell.user_ns


def test_no_code_is_refused(tools: dict[str, Tool]) -> None:
    with pytest.raises(InputError):
        run(tools, " \n")


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("x = 1", "(no output)"),
        ("1 + 1", "2\n"),
        ("print('a')\n'b'\n", "a\n'b'\n"),
        ("print('\\x1b[31mred\\x1b[0m \\x1b]0;t\\x07')", "red \n"),
        ("import sys\n_ = sys.stderr.write('10%\\r100%\\n')", "100%\n"),
        ("from IPython.display import display\nprint(1); display(2); print(3)\n4", "1\n2\n3\n4\n"),
        ("%who_ls int", "[]\n"),
        ("None", "(no output)"),
    ],
)
def test_what_code_prints_and_gives_is_the_output(
    tools: dict[str, Tool], capsys: pytest.CaptureFixture[str], code: str, output: str
) -> None:
    assert run(tools, code) == ToolResult(output)
    assert capsys.readouterr().out == ""


@pytest.mark.filterwarnings("ignore:To exit")
@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("print('a')\n1 / 0\n", "a\nZeroDivisionError: division by zero\nline 2: 1 / 0"),
        (
            "def f():\n    raise ValueError('two\\nlines')\nimport json\nf()",
            "ValueError: two lines\nline 2: raise ValueError('two\\nlines')",
        ),
        (
            "import json\njson.loads('{')",
            "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2"
            " (char 1)\nline 2: json.loads('{')",
        ),
        ("x = = 1", "SyntaxError: invalid syntax\nline 1: x = = 1"),
        ("raise SystemExit", "SystemExit\nline 1: raise SystemExit"),
        ("class E(Exception):\n    pass\nraise E", "E\nline 3: raise E"),
    ],
)
def test_an_error_is_told_in_two_lines(
    tools: dict[str, Tool], capsys: pytest.CaptureFixture[str], code: str, output: str
) -> None:
    result = run(tools, code)
    assert (result.ok, result.output) == (False, output)
    assert capsys.readouterr().out == ""


def test_an_interrupt_goes_on(tools: dict[str, Tool]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tools, "raise KeyboardInterrupt")


def test_code_changes_the_notebooks_names(shell: InteractiveShell, tools: dict[str, Tool]) -> None:
    shell.run_cell("x = 1", store_history=True)
    run(tools, "x += 1\ny = x")
    assert (shell.user_ns["x"], shell.user_ns["y"]) == (2, 2)


def test_running_leaves_the_shell_as_it_was(
    shell: InteractiveShell, tools: dict[str, Tool]
) -> None:
    before = (
        shell.display_pub,
        shell.display_trap.hook,
        sys.displayhook,
        sys.stdout,
        sys.stderr,
        shell.execution_count,
        shell.user_ns["In"],
    )
    for code in ("1", "1/0", "x = = 1"):
        run(tools, code)
    with pytest.raises(KeyboardInterrupt):
        run(tools, "raise KeyboardInterrupt")
    after = (
        shell.display_pub,
        shell.display_trap.hook,
        sys.displayhook,
        sys.stdout,
        sys.stderr,
        shell.execution_count,
        shell.user_ns["In"],
    )
    assert after == before
    assert "_showtraceback" not in vars(shell)


def test_a_cell_that_runs_code_keeps_its_own_result(
    shell: InteractiveShell, tools: dict[str, Tool]
) -> None:
    shell.user_ns["run"] = lambda code: run(tools, code).output
    result = shell.run_cell("output = run('print(1)\\n2')\noutput", store_history=True)
    assert (result.result, shell.user_ns["output"]) == ("1\n2\n", "1\n2\n")


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100


def test_an_image_is_a_mark_for_the_model_and_shown_to_the_person(
    shell: InteractiveShell, tools: dict[str, Tool]
) -> None:
    shell.user_ns["data"] = PNG
    assert shell.display_formatter is not None
    shell.display_formatter.active_types = shell.display_formatter.format_types  # as kernels do
    with captured(shell) as outside:
        result = run(
            tools, "from IPython.display import Image, display\ndisplay(Image(data=data))\n1"
        )
    mark = f"[image/png, {len(PNG)} bytes, SHA-256 {sha256(PNG).hexdigest()}]"
    assert result.output == f"<IPython.core.display.Image object>\n{mark}\n1\n"
    assert [sorted(bitmap) for bitmap in outside.bitmaps] == [["image/png"]]


def test_active_content_of_code_is_not_shown(
    shell: InteractiveShell, tools: dict[str, Tool]
) -> None:
    with captured(shell) as outside:
        run(tools, "from IPython.display import HTML, display\ndisplay(HTML('<script>1</script>'))")
    assert outside.text == ""


def test_what_is_neither_text_nor_image_becomes_a_mark() -> None:
    found = Captured()
    found.display({"application/json": {"a": 1}})
    assert found.text.startswith("[application/json, ")


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_a_flood_keeps_its_beginning_and_end(piece: int) -> None:
    found = Captured(max_characters=50)
    text = "".join(f"{n:04}\n" for n in range(1000))
    for start in range(0, len(text), piece):
        found.write(text[start : start + piece])
    assert found.text.startswith(text[:50])
    assert found.text.endswith(text[-40:])
    assert "characters dropped" in found.text
    assert len(found.text) < 50 + 50 + 2 * max(piece, 50) + 50
