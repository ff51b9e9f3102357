"""Which cell is running, and whether a person ran it in a front end.

A magic speaks as the person when code of the notebook itself calls it, in a cell that a front end
sent. It does not when a library calls it, when a cell is run by other code, or outside any cell.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from memnb.core.bodies import Cell

__all__ = ["front_end_runs", "kernel_id", "running_cell", "takes_input", "vscode_file"]

_VSCODE_CELL: Final = re.compile(r"vscode-notebook-cell:[^#]*#(?P<id>[\w%=+-]{1,128})\Z", re.ASCII)
_CELL_ID: Final = re.compile(r"[\w.:%=+-]{1,128}\Z", re.ASCII)
_CONNECTION_FILE: Final = re.compile(r"kernel-(?P<id>[\w-]{1,64})\.json\Z", re.ASCII)
_MACHINERY: Final = ("IPython", "ipykernel", "memnb")
_NOT_A_CELL: Final = frozenset(
    {"run_captured", "safe_execfile", "safe_execfile_ipy", "safe_run_module"}
)
"""Functions that run other code than what stands in the cell: a file's, or a model's."""


def running_cell(shell: InteractiveShell, notebook: str | None = None) -> Cell:
    """The cell that runs now: its id where the front end sends one, its count, if anybody is there.

    Args:
        shell: the one that runs it.
        notebook: the notebook's path as it is recorded, if it is known.
    """
    from memnb.core.bodies import Cell  # noqa: PLC0415  # loading needs the rest of this only

    runs = [frame for frame in _frames() if _is_cell_run(frame)]
    count = getattr(runs[-1].f_locals.get("result"), "execution_count", None) if runs else None
    return Cell(notebook, _cell_id(shell), count, is_attended=takes_input(shell))


def takes_input(shell: InteractiveShell) -> bool:
    """Whether the front end can prompt, as far as a kernel tells; a terminal is asked."""
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", True))


def front_end_runs(shell: InteractiveShell) -> bool:
    """Whether nothing but code of the notebook stands between a front end's cell and the caller."""
    frames = list(_frames())
    runs = [at for at, frame in enumerate(frames) if _is_cell_run(frame)]
    # The outermost run is the front end's: magics such as %%capture run their body as another cell.
    if not runs or frames[runs[-1]].f_locals.get("silent", False):
        return False
    return all(
        frame.f_code.co_name not in _NOT_A_CELL
        and (_is_machinery(frame) or frame.f_globals is shell.user_global_ns)
        for frame in frames[: runs[-1]]
    )


def kernel_id(shell: InteractiveShell) -> str:
    """The id under which a server knows the kernel; "" in a terminal or when it has none."""
    application = getattr(getattr(shell, "kernel", None), "parent", None)
    found = _CONNECTION_FILE.search(Path(str(getattr(application, "connection_file", ""))).name)
    return found["id"] if found else ""


def vscode_file(shell: InteractiveShell) -> str | None:
    """The notebook's file, when VS Code put its name into the namespace."""
    value = shell.user_ns.get("__vsc_ipynb_file__")
    return value if isinstance(value, str) else None


def _cell_id(shell: InteractiveShell) -> str | None:
    get_parent = getattr(shell, "get_parent", None)
    parent: Any = get_parent() if get_parent else {}
    metadata = parent.get("metadata") if isinstance(parent, dict) else None
    sent = metadata.get("cellId") if isinstance(metadata, dict) else None
    if not isinstance(sent, str):
        return None
    found = _VSCODE_CELL.match(sent)
    if found is not None:  # what stands before the mark is the notebook's path on this machine
        return found["id"]
    return sent if _CELL_ID.match(sent) else None


def _frames() -> Iterator[FrameType]:
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_cell_run(frame: FrameType) -> bool:
    return frame.f_code.co_name == "run_cell_async" and _package(frame) == "IPython"


def _is_machinery(frame: FrameType) -> bool:
    return _package(frame) in _MACHINERY


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
