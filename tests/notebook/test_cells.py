from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from memnb.core.bodies import Cell
from memnb.notebook.cells import front_end_runs, kernel_id, running_cell, vscode_file


def register(shell: InteractiveShell, name: str, look: Callable[[], object]) -> list[Any]:
    """A magic that stands on the stack as the package's own would; gives what it saw."""
    seen: list[Any] = []
    own: dict[str, Any] = {"__name__": "memnb.notebook.magics", "look": look, "seen": seen}
    exec("def magic(line):\n    seen.append(look())", own)  # noqa: S102  # to give it that name
    shell.register_magic_function(own["magic"], "line", name)
    return seen


@pytest.fixture
def spoken(shell: InteractiveShell) -> list[bool]:
    """Whether each call of %speak was a person's."""
    return register(shell, "speak", partial(front_end_runs, shell))


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module that calls a function, as a library might."""
    (tmp_path / "strange_library.py").write_text("def call(function):\n    return function()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "strange_library"
    sys.modules.pop("strange_library", None)


@pytest.mark.parametrize(
    "cell",
    [
        "%speak",
        "if True:\n    %speak",
        "def f():\n    %speak\nf()",
        "[get_ipython().run_line_magic('speak', '') for _ in '1']",
        "%time %speak",
        "%%capture\n%speak",
        "exec(\"get_ipython().run_line_magic('speak', '')\")",
        "class A:\n    %speak",
        "async def f():\n    %speak\nawait f()",
    ],
)
def test_a_cell_that_calls_a_magic_speaks_as_the_person(
    shell: InteractiveShell, spoken: list[bool], cell: str
) -> None:
    shell.run_cell(cell, store_history=True)
    assert spoken == [True]


SPEAK = "lambda: get_ipython().run_line_magic('speak', '')"


@pytest.mark.parametrize(
    "cell",
    [
        f"import strange_library\nstrange_library.call({SPEAK})",
        "import strange_library\nstrange_library.call(lambda: get_ipython().run_cell('%speak'))",
        "import threading\nt = threading.Thread(target=lambda: get_ipython()"
        ".run_line_magic('speak', ''))\nt.start()\nt.join()",
    ],
    ids=["library", "library that runs a cell", "thread"],
)
def test_other_code_does_not_speak_as_the_person(
    shell: InteractiveShell, spoken: list[bool], library: str, cell: str
) -> None:
    shell.run_cell(cell, store_history=True)
    assert spoken == [False]


def test_a_silent_cell_does_not_speak_as_the_person(
    shell: InteractiveShell, spoken: list[bool]
) -> None:
    shell.run_cell("%speak", silent=True)
    assert spoken == [False]


@pytest.mark.parametrize("suffix", ["py", "ipy"])
def test_a_file_that_is_run_does_not_speak_as_the_person(
    shell: InteractiveShell, spoken: list[bool], tmp_path: Path, suffix: str
) -> None:
    code = "get_ipython().run_line_magic('speak', '')" if suffix == "py" else "%speak"
    (tmp_path / f"script.{suffix}").write_text(f"{code}\n")
    shell.run_cell(f"%run -i {tmp_path}/script.{suffix}", store_history=True)
    assert spoken == [False]


def test_code_outside_a_cell_does_not_speak_as_the_person(
    shell: InteractiveShell, spoken: list[bool]
) -> None:
    shell.run_line_magic("speak", "")
    assert spoken == [False]


def with_parent(shell: InteractiveShell, metadata: Any) -> Any:
    return SimpleNamespace(
        get_parent=lambda: {"metadata": metadata},
        execution_count=shell.execution_count,
        user_ns=shell.user_ns,
    )


@pytest.mark.parametrize(
    ("metadata", "cell_id"),
    [
        ({"cellId": "4f0c2a1e-77aa"}, "4f0c2a1e-77aa"),
        (
            {"cellId": "vscode-notebook-cell:/home/d/nb/eda.ipynb#W2sZmlsZQ%3D%3D"},
            "W2sZmlsZQ%3D%3D",
        ),
        ({"cellId": "vscode-notebook-cell:/home/d/secret"}, None),
        ({"cellId": 5}, None),
        ({"cellId": "two words\x1b"}, None),
        ({"cellId": "x" * 200}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_cells_id_is_what_the_front_end_sends(
    shell: InteractiveShell, metadata: Any, cell_id: str | None
) -> None:
    cell = running_cell(with_parent(shell, metadata), "nb/eda.ipynb")
    assert cell == Cell(notebook="nb/eda.ipynb", cell_id=cell_id, count=None)


@pytest.mark.parametrize("prompts", [True, False])
def test_a_cell_is_attended_when_the_front_end_can_prompt(
    shell: InteractiveShell, prompts: bool
) -> None:
    assert running_cell(shell).is_attended  # a terminal is
    shell.kernel = SimpleNamespace(_allow_stdin=prompts)
    assert running_cell(shell).is_attended is prompts


def test_the_count_is_the_running_cells_own(shell: InteractiveShell) -> None:
    seen = register(shell, "look", partial(running_cell, shell))
    for code in ("x = 1", "%look", "%%capture\n%look"):
        shell.run_cell(code, store_history=True)
    assert [cell.count for cell in seen] == [2, 3]


def test_a_terminal_has_no_kernel_id_and_no_file(shell: InteractiveShell) -> None:
    assert (kernel_id(shell), vscode_file(shell)) == ("", None)


@pytest.mark.parametrize(
    ("file", "known"),
    [
        ("/run/user/1/jupyter/kernel-0f3c-aa.json", "0f3c-aa"),
        ("/tmp/tmpab12.json", ""),  # noqa: S108  # a name only
        ("", ""),
    ],
)
def test_the_kernels_id_is_in_its_connection_file(file: str, known: str) -> None:
    shell: Any = SimpleNamespace(
        kernel=SimpleNamespace(parent=SimpleNamespace(connection_file=file))
    )
    assert kernel_id(shell) == known


def test_vs_code_names_the_file(shell: InteractiveShell) -> None:
    shell.user_ns["__vsc_ipynb_file__"] = "/home/d/nb/eda.ipynb"
    assert vscode_file(shell) == "/home/d/nb/eda.ipynb"
