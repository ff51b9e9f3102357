"""Who speaks: while a tool call of a model runs, nothing may speak as the person.

A model that runs Python could otherwise state, correct or forget facts in their name. The mark is
kept for the whole process, and handed to child processes through the environment. It is a guard
rail, not a wall: code that runs as the person can do what the person can.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from memnb.errors import Refused

__all__ = ["in_tool_call", "is_in_tool_call", "require_person"]

_TOOL_CALL_VARIABLE = "MEMNB_IN_TOOL_CALL"
_began_in_tool_call = _TOOL_CALL_VARIABLE in os.environ  # of the process that started this one
_tool_calls = 0
_tool_calls_lock = threading.Lock()


@contextlib.contextmanager
def in_tool_call() -> Iterator[None]:
    """Mark that a tool call of the model is running, here and in every child process."""
    global _tool_calls  # one process, one mark
    with _tool_calls_lock:
        _tool_calls += 1
        os.environ[_TOOL_CALL_VARIABLE] = "1"
    try:
        yield
    finally:
        with _tool_calls_lock:
            _tool_calls -= 1
            if not _tool_calls and not _began_in_tool_call:
                os.environ.pop(_TOOL_CALL_VARIABLE, None)


def is_in_tool_call() -> bool:
    """Whether a tool call of a model is running, here or in the process that started this one."""
    return _tool_calls > 0 or _began_in_tool_call


def require_person() -> None:
    """Refuse what only a person may do while a model's tool call runs.

    Raises:
        Refused: a tool call is running.
    """
    if is_in_tool_call():
        raise Refused(
            "only a person may do this, and a tool call of the model is running; run it in a cell"
            " of your own."
        )
