"""Work that waits until a cell has returned, and gives way to the next one.

It never prints: what it has to say is told with the next cell of ours.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from memnb.core.messages import Cancel
from memnb.llm.cancelling import CancelSwitch

__all__ = ["AfterCells"]

_GRACE_SECONDS: Final = 2.0
"""How long a cell waits for work that was told to stop; a commit takes milliseconds, and a local
model's step is over in less."""

Work = Callable[[Cancel], Iterable[str]]
"""Does what is to do until it is told to stop; gives lines for the person."""


class AfterCells:
    """One piece of work at a time, on a thread of its own."""

    def __init__(self, work: Work) -> None:
        """Do `work` after cells."""
        self._work = work
        self._thread: threading.Thread | None = None
        self._cancel = CancelSwitch()
        self._lines: list[str] = []
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin, unless it is at work already."""
        if self._thread is not None and self._thread.is_alive():
            return
        self._cancel = cancel = CancelSwitch()
        self._thread = threading.Thread(
            target=self._run, args=(cancel,), name="memnb after a cell", daemon=True
        )
        self._thread.start()

    def give_way(self) -> None:
        """Tell it to stop, and don't wait for it."""
        self._cancel.request()

    def stop(self) -> None:
        """Tell it to stop, and wait for it a moment."""
        thread = self._thread
        if thread is not None and thread.is_alive():
            self._cancel.request()
            thread.join(_GRACE_SECONDS)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is done; False when it isn't by then."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def take_lines(self) -> tuple[str, ...]:
        """What it had to say since this was asked last."""
        with self._lock:
            lines, self._lines = tuple(self._lines), []
        return lines

    def _run(self, cancel: Cancel) -> None:
        # What fails here must never reach a person's cell: it is in the diagnostics, or comes up
        # again with the next cell that does the same.
        try:
            lines = tuple(self._work(cancel))
        except Exception:
            return
        with self._lock:
            self._lines.extend(lines)
