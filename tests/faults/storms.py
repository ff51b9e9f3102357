"""Ctrl-C again and again, at instants that nobody chose, while one function runs."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

__all__ = ["Storm"]


class Storm:
    """Interrupts this process for as long as the block runs; heard inside `work` only.

    So the bookkeeping around it isn't interrupted.
    """

    def __init__(self, work: Callable[..., Any], *, pause_seconds: float) -> None:
        """Interrupt `work`, after pauses of up to `pause_seconds`."""
        self.n_interrupts = 0
        self._work = work
        self._pause_seconds = pause_seconds

    def __enter__(self) -> Self:
        self._previous = signal.signal(signal.SIGINT, self._interrupt)
        us = os.getpid()
        self._sender = os.fork()
        if self._sender == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            while os.getppid() == us:
                os.kill(us, signal.SIGINT)
                time.sleep(random.uniform(0, self._pause_seconds))  # noqa: S311
            os._exit(0)
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._sender, signal.SIGKILL)
        os.waitpid(self._sender, 0)
        signal.signal(signal.SIGINT, self._previous)

    def lets_through(self, *arguments: Any) -> bool:
        """Do the work once; whether it came to its end."""
        try:
            self._work(*arguments)
        except KeyboardInterrupt:
            return False
        return True

    def _interrupt(self, number: int, _: FrameType | None) -> None:
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code is self._work.__code__:
                self.n_interrupts += 1
                raise KeyboardInterrupt
            frame = frame.f_back
