"""The switch that tells a running request to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["CancelSwitch"]


class CancelSwitch:
    """Asks a running request to stop, from any thread; once asked, it stays asked."""

    def __init__(self) -> None:
        # Reentrant: an interrupt may ask again while its own thread is already asking.
        self._lock = threading.RLock()
        self._requested = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def requested(self) -> bool:
        """Whether the request should stop."""
        return self._requested

    def request(self) -> None:
        """Ask to stop. Each callback runs once, in this thread, before this returns."""
        with self._lock:
            self._requested = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_request(self, callback: Callable[[], None]) -> None:
        """Call `callback` when stopping is requested; at once if it already was.

        It runs in the thread that asks, so it must be short and must not raise.
        """
        with self._lock:
            if not self._requested:
                self._callbacks.append(callback)
                return
        callback()
