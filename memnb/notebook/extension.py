"""`%load_ext memnb`: what is put into the shell, and taken out again.

`%reload_ext` goes on in the same session; two kernels on one notebook have two.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.magic import no_var_expand

from memnb.core.escaping import escape_terminal
from memnb.errors import MemnbError
from memnb.notebook.commands import AGENT_NAMES, MEMORY_NAMES

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from memnb.api.memory import Memory
    from memnb.notebook import completion

__all__ = ["load_ipython_extension", "unload_ipython_extension"]


class _Loaded:
    """What one load put into the shell."""

    def __init__(self, memory: Memory, undo: Iterable[Callable[[], None]]) -> None:
        self.memory = memory
        self.undo = tuple(undo)


_loaded: _Loaded | None = None
_left: tuple[str, str] | None = None  # store and session of the load before, to go on in it


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Put `%memory`, `%mem`, `%agent` and `%%agent` into a shell, and say where memory stands."""
    global _loaded  # one kernel, one memory
    if _loaded is not None:
        _say(_loaded.memory.headline())
        return
    try:
        memory = _open(shell)
    except MemnbError as error:
        _say(f"{type(error).__name__}: {error}")
        return
    _loaded = _Loaded(memory, _install(shell, memory))
    atexit.register(_close)
    _say(memory.headline())
    for notice in memory.notices():
        _say(notice)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take everything out of the shell, and close the session, the database and the model."""
    del shell
    _close()


def _open(shell: InteractiveShell) -> Memory:
    from memnb.api.memory import Memory  # noqa: PLC0415  # kept out of `import memnb`
    from memnb.notebook.cells import kernel_id, vscode_file  # noqa: PLC0415
    from memnb.runtime import Origin, Runtime  # noqa: PLC0415

    name = Path(os.environ.get("JPY_SESSION_NAME", "")).name
    origin = Origin(
        environ=os.environ,
        cwd=Path.cwd(),
        vscode_file=vscode_file(shell),
        kernel_id=kernel_id(shell),
        label=f"notebook {name}" if name else "a kernel",
    )
    memory = Memory(Runtime(origin))
    if _left is not None and _left[0] == memory.project.store_id:
        with contextlib.suppress(MemnbError):
            memory.resume(_left[1])
    return memory


def _install(shell: InteractiveShell, memory: Memory) -> list[Callable[[], None]]:
    from memnb.notebook import completion, verbatim  # noqa: PLC0415
    from memnb.notebook.magics import KernelMagics  # noqa: PLC0415

    magics = KernelMagics(shell, memory)
    functions: dict[str, tuple[str, Callable[..., object]]] = {
        **dict.fromkeys(MEMORY_NAMES, ("line", magics.memory)),
        **dict.fromkeys(AGENT_NAMES, ("line_cell", magics.agent)),
    }
    undo: list[Callable[[], None]] = []
    ours: list[str] = []
    for name, (kind, function) in functions.items():
        if _taken(shell, name):
            _say(f"%{name} is another extension's and stays so; unload that one to use it.")
            continue
        _register(shell, name, kind, function)
        ours.append(name)
        undo.append(lambda name=name: _unregister(shell, name))  # type: ignore[misc]
    undo.append(verbatim.install(shell, ours))
    undo.append(completion.install(shell, _candidates(memory)))
    shell.events.register("post_run_cell", magics.show_rest)
    undo.append(lambda: shell.events.unregister("post_run_cell", magics.show_rest))
    return undo


def _candidates(memory: Memory) -> completion.Candidates:
    from memnb.core.settings import SETTINGS  # noqa: PLC0415

    return {
        "fact": lambda: [row.fact_id for row in memory.facts(all=True).rows],
        "session": lambda: [row.session_id for row in memory.sessions().rows],
        "note": lambda: [name for name, _, _ in memory.notes.names().rows],
        "setting": lambda: [spec.key for spec in SETTINGS],
        "model": lambda: [name for name, _, _ in memory.models().rows],
    }


def _register(
    shell: InteractiveShell, name: str, kind: str, function: Callable[..., object]
) -> None:
    # IPython would expand $x and {x} in the line: our text is taken as it was typed.
    @no_var_expand
    def magic(line: str, cell: str | None = None) -> object:
        return function(line) if cell is None else function(line, cell)

    magic.__doc__ = function.__doc__
    magic.memnb = True  # type: ignore[attr-defined]
    shell.magics_manager.register_function(magic, kind, name)


def _taken(shell: InteractiveShell, name: str) -> bool:
    known = (table.get(name) for table in shell.magics_manager.magics.values())
    return any(magic is not None and not hasattr(magic, "memnb") for magic in known)


def _unregister(shell: InteractiveShell, name: str) -> None:
    for table in shell.magics_manager.magics.values():
        if hasattr(table.get(name), "memnb"):
            del table[name]


def _close() -> None:
    """Undo the load; runs at exit too, where a kill leaves the next kernel to close the session."""
    global _loaded, _left
    if _loaded is None:
        return
    loaded, _loaded = _loaded, None
    atexit.unregister(_close)
    for undo in loaded.undo:
        undo()
    memory = loaded.memory
    session_id = memory.runtime.memory.session.session_id
    _left = None if session_id is None else (memory.project.store_id, session_id)
    memory.close()


def _say(text: str) -> None:
    sys.stdout.write(escape_terminal(text) + "\n")
