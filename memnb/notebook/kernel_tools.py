"""The kernel as tools for a model: look at a variable, run Python."""

from __future__ import annotations

import difflib
import linecache
import traceback
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from memnb.agent.tools import Change, Plan, Tool, ToolResult, tool
from memnb.errors import InputError
from memnb.notebook.capturing import captured
from memnb.notebook.plain_text import plain, shortened
from memnb.notebook.summaries import summary, type_name

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["KernelTools"]

MAX_OUTPUT_BYTES: Final = 1024 * 1024
_MAX_LISTED: Final = 20
_MAX_ERROR: Final = 500


class KernelTools:
    """The tools of one kernel."""

    def __init__(self, shell: InteractiveShell) -> None:
        """Look at and run in `shell`."""
        self._shell = shell

    def tools(self) -> tuple[Tool, ...]:
        """All of them."""
        return (
            tool(self.inspect_variable, access="read", trust="kernel"),
            tool(self.run_python, access="write", trust="kernel", recorded_first=True),
        )

    def inspect_variable(self, name: Annotated[str, "the name alone, such as df"]) -> Plan:
        """Look at one variable of the notebook: its type, size and beginning."""
        variables = self._variables()
        if name not in variables:
            raise InputError(_no_variable(name, variables))
        return Plan(lambda: ToolResult(summary(variables[name])))

    def run_python(self, code: Annotated[str, "Python, as a cell of the notebook"]) -> Plan:
        """Run Python in the notebook, after the person agreed; gives what it printed."""
        if not code.strip():
            raise InputError("there is no code to run.")
        return Plan(lambda: self._run(code), Change("run_python", "run Python", code))

    def _variables(self) -> dict[str, Any]:
        """The variables that code of the notebook made."""
        hidden = self._shell.user_ns_hidden
        return {
            name: value
            for name, value in self._shell.user_ns.items()
            if not name.startswith("_") and hidden.get(name, hidden) is not value
        }

    def _run(self, code: str) -> ToolResult:
        shell = self._shell
        # A cell inside a cell leaves the outer one without its result.
        outer = shell.displayhook.exec_result
        try:
            output, error, bitmaps = run_captured(shell, code)
        finally:
            shell.displayhook.exec_result = outer
        for bitmap in bitmaps:
            shell.display_pub.publish(data=dict(bitmap), metadata={})
        if isinstance(error, KeyboardInterrupt):
            raise error
        if error is not None:
            output += "" if not output or output.endswith("\n") else "\n"
            output += _told(shell, error)
        return ToolResult(shortened(output, MAX_OUTPUT_BYTES) or "(no output)", ok=error is None)


def run_captured(
    shell: InteractiveShell, code: str
) -> tuple[str, BaseException | None, Sequence[Mapping[str, Any]]]:
    """Run a cell's code: what it printed and displayed, what it raised, the bitmaps it showed."""
    with captured(shell) as found:
        result = shell.run_cell(code, store_history=False)
    return found.text, result.error_before_exec or result.error_in_exec, found.bitmaps


def _told(shell: InteractiveShell, error: BaseException) -> str:
    """An error in one line, and the line of the code that raised it."""
    message = str(error.msg if isinstance(error, SyntaxError) else error)
    message = " ".join(plain(message).split())[:_MAX_ERROR]
    lines = [f"{type(error).__name__}: {message}".removesuffix(": ")]
    if isinstance(error, SyntaxError):
        lines.append(f"line {error.lineno}: {plain(error.text or '').strip()}")
        return "\n".join(lines)
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if frame.f_globals is shell.user_global_ns:
            source = linecache.getline(frame.f_code.co_filename, line)
            lines.append(f"line {line}: {plain(source).strip()}")
            break
    return "\n".join(lines)


def _no_variable(name: str, variables: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, variables, n=1)
    names = near or list(variables)[-_MAX_LISTED:]
    listed = ", ".join(f"{known} ({type_name(variables[known])})" for known in names)
    if not listed:
        return "no such variable; the notebook has made none yet."
    return f"no such variable; {'did you mean' if near else 'there are'} {listed}."
