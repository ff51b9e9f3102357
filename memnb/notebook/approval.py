"""A person's yes or no to one change, asked in the cell that runs."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from IPython.core.error import StdinNotImplementedError

from memnb.agent.tools import Change
from memnb.core.escaping import escape_terminal
from memnb.core.screening import Findings, screen
from memnb.notebook.cells import takes_input
from memnb.notebook.footer import MARK

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["CellApproval"]

QUESTION: Final = "Do this? [y/N] "
_YES: Final = frozenset({"y", "yes"})


class CellApproval:
    """Shows a change in full and asks with the front end's input prompt."""

    def __init__(
        self,
        shell: InteractiveShell,
        *,
        read: Callable[[str], str] | None = None,
        write: Callable[[str], None] | None = None,
    ) -> None:
        """Ask in `shell`.

        Args:
            shell: where the turn runs.
            read: prompts for a line; the kernel's own `input`, which it replaces for each cell,
                unless given.
            write: shows text; standard output unless given.
        """
        self._shell = shell
        self._read = read
        self._write = write

    def __call__(self, change: Change) -> bool | None:
        """Whether to make the change; None when there is nobody to ask."""
        if not takes_input(self._shell):
            return None
        (self._write or _write)(_shown(change))
        try:
            answer = (self._read or builtins.input)(QUESTION)
        except (EOFError, StdinNotImplementedError):
            return None
        return answer.strip().lower() in _YES


def _shown(change: Change) -> str:
    # Each line of what a model wrote is set off, so that none can pose as the question.
    preview = escape_terminal(change.preview).split("\n")
    lines = [f"{MARK} {escape_terminal(change.title)}:", *(f"  │ {line}" for line in preview)]
    found = screen(change.preview)
    if isinstance(found, Findings) and any(f.kind == "injection" for f in found.findings):
        lines.append(f"{MARK} careful: part of this text speaks to the model")
    return "\n".join(lines) + "\n"


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
