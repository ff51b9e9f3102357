"""Where else in a kernel a forgotten text still is: its inputs and outputs, IPython's history.

They are looked into and named, never edited. The history is asked through IPython: it has the file
open, and two SQLite libraries on one file drop each other's locks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from IPython.core.getipython import get_ipython

from memnb.api.rendering import Result
from memnb.core.facts import bare
from memnb.memory.residue import Looked
from memnb.memory.wordings import Wordings

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["look_in_kernel"]

_HISTORY: Final = "IPython's history"
_LETTERS: Final = re.compile("[a-z0-9]+")


def look_in_kernel(texts: Sequence[str]) -> list[Looked]:
    """What this kernel and IPython's history hold of `texts`."""
    shell = get_ipython()
    if shell is None:
        return [Looked(_HISTORY, why_not="no IPython runs this")]
    wordings = Wordings(texts)
    return [
        Looked("this kernel's inputs", tuple(_inputs(shell.user_ns, wordings))),
        Looked(
            "this kernel's outputs (texts, memnb's results)",
            tuple(_outputs(shell.user_ns, wordings)),
        ),
        _history(shell, wordings),
    ]


def _inputs(names: Mapping[str, Any], wordings: Wordings) -> Iterator[str]:
    inputs = names.get("In")
    for number, source in enumerate(inputs if isinstance(inputs, list) else ()):
        if isinstance(source, str) and wordings.holds_written(source):
            yield f"In[{number}]"


def _outputs(names: Mapping[str, Any], wordings: Wordings) -> Iterator[str]:
    outputs = names.get("Out")
    for number, value in list(outputs.items()) if isinstance(outputs, dict) else ():
        # Others' values may take long to show, or do things.
        if isinstance(value, Result):
            text = json.dumps(value.to_dict(), ensure_ascii=False)
        elif isinstance(value, str):
            text = value
        else:
            continue
        if wordings.holds_written(text):
            yield f"Out[{number}]"


def _history(shell: InteractiveShell, wordings: Wordings) -> Looked:
    manager = shell.history_manager
    if manager is None or not manager.enabled:
        return Looked(_HISTORY, why_not="it is switched off")
    found: dict[tuple[int, int], None] = {}
    try:
        for text in wordings.texts:
            for session, line, source in manager.search(_glob(text), raw=True, search_raw=True):
                if wordings.holds_written(source):
                    found[session, line] = None
    except Exception:  # of sqlite3, of threads: whatever IPython lets through
        return Looked(_HISTORY, unread=("it can't be read just now",))
    held = (f"{_HISTORY} (session {session}, line {line})" for session, line in sorted(found))
    return Looked(_HISTORY, tuple(held))


def _glob(text: str) -> str:
    """A pattern for inputs that may hold a text: its longest word of ASCII, in any case."""
    word = max(_LETTERS.findall(bare(text)), key=len, default="")
    letters = "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in word)
    return f"*{letters}*"
