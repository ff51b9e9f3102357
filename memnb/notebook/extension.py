"""`%load_ext memnb`: what is put into the shell, and taken out again.

1. Loading opens the project and counts its facts; everything else is loaded at its first use.
2. `%reload_ext` goes on in the same session; two kernels on one notebook have two.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.magic import no_var_expand

from memnb.errors import MemnbError
from memnb.notebook.names import AGENT_NAMES, MEMORY_NAMES
from memnb.runtime import Origin, Runtime

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from memnb.api.memory import Memory
    from memnb.notebook import completion
    from memnb.notebook.magics import KernelMagics

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_loaded: _Loaded | None = None
_left: tuple[str, str] | None = None  # store and session of the load before, to go on in it


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Put `%memory`, `%mem`, `%agent` and `%%agent` into a shell, and say where memory stands."""
    global _loaded  # one kernel, one memory
    if _loaded is not None:
        _say(_first_lines(_loaded.runtime)[0])
        return
    try:
        runtime = Runtime(_origin(shell))
    except MemnbError as error:
        _say(f"{type(error).__name__}: {error}")
        return
    # Facts that can't be counted are a case for `%memory doctor`, so the magics have to be there.
    lines = _first_lines(runtime)
    _loaded = _Loaded(shell, runtime)
    atexit.register(_close)
    for line in lines:
        _say(line)


def _first_lines(runtime: Runtime) -> list[str]:
    """Where memory stands, or why its facts can't be counted; then what else is to be said."""
    failed = ""
    try:
        line = runtime.headline()
    except MemnbError as error:
        failed = str(error)
        line = f"{type(error).__name__}: {failed}"
    return [line, *(notice for notice in runtime.notices() if notice != failed)]


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take everything out of the shell, and close the session, the database and the model."""
    del shell
    _close()


class _Loaded:
    """What one load put into the shell; the magics themselves are loaded when one is used."""

    def __init__(self, shell: InteractiveShell, runtime: Runtime) -> None:
        self.runtime = runtime
        self._shell = shell
        self._magics: KernelMagics | None = None
        self._names: list[str] = []
        self._undo: list[Callable[[], None]] = []
        for name in MEMORY_NAMES:
            self._register(name, "line", lambda line: self.magics.memory(line))
        for name in AGENT_NAMES:
            self._register(name, "line_cell", lambda *given: self.magics.agent(*given))
        self._install()

    @property
    def magics(self) -> KernelMagics:
        if self._magics is None:
            from memnb.api.memory import Memory  # noqa: PLC0415  # 100 ms, at the first use
            from memnb.notebook.magics import KernelMagics  # noqa: PLC0415

            memory = Memory(self.runtime)
            if _left is not None and _left[0] == memory.project.store_id:
                with contextlib.suppress(MemnbError):
                    memory.resume(_left[1])
            self._magics = KernelMagics(self._shell, memory)
        return self._magics

    def take_out(self) -> None:
        if self._magics is not None:
            self._magics.close()
        for undo in self._undo:
            undo()

    def _install(self) -> None:
        from memnb.notebook import completing, verbatim  # noqa: PLC0415

        self._undo.append(verbatim.install(self._shell, self._names))
        self._undo.append(completing.install(self._shell, self._candidates))
        for event, callback in (
            ("pre_run_cell", self._before_cell),
            ("post_run_cell", self._after_cell),
        ):
            self._shell.events.register(event, callback)
            self._undo.append(partial(self._shell.events.unregister, event, callback))

    def _candidates(self) -> completion.Candidates:
        from memnb.core.settings import SETTINGS  # noqa: PLC0415

        def memory() -> Memory:
            return self.magics.memory_object

        return {
            "fact": lambda: [row.fact_id for row in memory().facts(all=True).rows],
            "candidate": lambda: [row.candidate_id for row in memory().review().rows],
            "learned": lambda: [row.fact_id for row in memory().recent().rows],
            "session": lambda: [row.session_id for row in memory().sessions().rows],
            "note": lambda: [name for name, _, _ in memory().notes.names().rows],
            "setting": lambda: [spec.key for spec in SETTINGS],
            "model": lambda: [name for name, _, _ in memory().models().rows],
        }

    def _before_cell(self, info: Any) -> None:
        if self._magics is not None:
            self._magics.before_cell()

    def _after_cell(self, info: Any) -> None:
        if self._magics is not None:
            self._magics.after_cell(info)

    def _register(self, name: str, kind: str, function: Callable[..., object]) -> None:
        tables = self._shell.magics_manager.magics
        known = [table[name] for table in tables.values() if name in table]
        if any(not hasattr(magic, "memnb") for magic in known):
            _say(f"%{name} is another extension's and stays so; unload that one to use ours.")
            return

        # IPython would expand $x and {x} in the line: our text is taken as it was typed.
        @no_var_expand
        def magic(line: str, cell: str | None = None) -> object:
            return function(line) if cell is None else function(line, cell)

        topic = f" {name}" if name in AGENT_NAMES else ""
        magic.__doc__ = f"%{name} of memnb; `%memory help{topic}` says more."
        magic.memnb = True  # type: ignore[attr-defined]
        self._shell.magics_manager.register_function(magic, kind, name)
        self._names.append(name)

        def unregister() -> None:
            for table in tables.values():
                if hasattr(table.get(name), "memnb"):
                    del table[name]

        self._undo.append(unregister)


def _origin(shell: InteractiveShell) -> Origin:
    from memnb.notebook.cells import kernel_id, vscode_file  # noqa: PLC0415

    name = Path(os.environ.get("JPY_SESSION_NAME", "")).name
    return Origin(
        environ=os.environ,
        cwd=Path.cwd(),
        vscode_file=vscode_file(shell),
        kernel_id=kernel_id(shell),
        label=f"notebook {name}" if name else "a kernel",
    )


def _close() -> None:
    """Undo the load; runs at exit too, where a kill leaves the next kernel to close the session."""
    global _loaded, _left
    if _loaded is None:
        return
    loaded, _loaded = _loaded, None
    atexit.unregister(_close)
    loaded.take_out()
    _left = loaded.runtime.session_now() or _left
    loaded.runtime.close("unload")


def _say(text: str) -> None:
    from memnb.core.escaping import escape_terminal  # noqa: PLC0415

    sys.stdout.write(escape_terminal(text) + "\n")
