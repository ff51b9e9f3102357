"""Who may write now: one lock for threads and processes, interrupts that wait, forks that let go.

1. flock doesn't exclude threads that share a descriptor, so a thread lock goes around it.
2. The wait is bounded, and the lock file names its holder for the message.
3. Waiting at least 5 ms after our own last release keeps eight writers fair: without it the
   holder takes the lock again before a sleeper wakes.
4. In the critical section Ctrl-C waits: a handler that only notes it is put in place and the
   interrupt is raised afterwards. Masking the signal isn't enough, since another thread takes it.
5. A forked child closes its copies of lock files, so that it neither holds nor frees them.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

from memnb.errors import StoreBusy, StoreError
from memnb.storage.files import open_private, translated

if sys.platform != "win32":
    import fcntl

__all__ = ["FileLock", "interrupts_wait", "on_fork_in_child", "require_same_process"]

_POLL_SECONDS: Final = 0.001
_BREATH_SECONDS: Final = 0.005
_HOLDER_BYTES: Final = 200


class FileLock:
    """A lock on one file, for one process and its threads; not re-entrant."""

    def __init__(self, path: Path, *, label: str) -> None:
        """Name the lock file and what to call ourselves to those who wait, such as a notebook."""
        self._path = path
        self._label = label
        self._pid = os.getpid()
        self._threads = threading.Lock()
        self._fd: int | None = None
        self._released_at = 0.0
        on_fork_in_child(self, FileLock.close)

    @contextlib.contextmanager
    def held(self, wait_ms: int) -> Iterator[None]:
        """Hold the lock; inside, interrupts wait.

        Raises:
            StoreBusy: another process held it for all of `wait_ms`.
        """
        deadline = time.monotonic() + wait_ms / 1000
        if not self._threads.acquire(timeout=wait_ms / 1000):
            raise StoreBusy("another cell of this kernel is writing; run the cell again.")
        try:
            fd = self._open()
            self._wait(fd, deadline, wait_ms)
            try:
                with interrupts_wait():
                    self._sign(fd)
                    yield
            finally:
                fcntl.flock(fd, fcntl.LOCK_UN)
                self._released_at = time.monotonic()
        finally:
            self._threads.release()

    def try_hold(self) -> bool:
        """Take the lock for as long as this object is open; False when someone else has it."""
        fd = self._open()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._sign(fd)
        return True

    def holder(self) -> str:
        """Who wrote their name into the lock file last."""
        try:
            text = os.pread(self._open(), _HOLDER_BYTES, 0).decode(errors="replace").strip()
        except OSError:
            return "another process"
        return text or "another process"

    def close(self) -> None:
        """Let go of the file, and of the lock with it."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> int:
        require_same_process(self._pid)
        if self._fd is None:
            with translated(self._path):
                self._fd = open_private(self._path, os.O_RDWR | os.O_CREAT)
        return self._fd

    def _wait(self, fd: int, deadline: float, wait_ms: int) -> None:
        breath = self._released_at + _BREATH_SECONDS - time.monotonic()
        if breath > 0:
            time.sleep(breath)
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    holder = self.holder()
                    raise StoreBusy(
                        f"{holder} has held the store for {wait_ms / 1000:g} s. Run the cell again,"
                        " or stop that cell.",
                        holder=holder,
                    ) from None
                # Unequal naps: waiters that poll in step starve each other.
                time.sleep(_POLL_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311
            else:
                return

    def _sign(self, fd: int) -> None:
        name = f"{self._label} (pid {os.getpid()})"[:_HOLDER_BYTES].encode()
        with contextlib.suppress(OSError):
            os.pwrite(fd, name.ljust(_HOLDER_BYTES), 0)


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Run the block to its end; a Ctrl-C that comes meanwhile is raised after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[tuple[int, FrameType | None]] = []
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: noted.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if noted:
            previous(*noted[0])


def require_same_process(pid: int) -> None:
    """Refuse to use in a forked child what its parent `pid` opened: SQLite and flock forbid it.

    Raises:
        StoreError: this process is another one than `pid`.
    """
    if os.getpid() != pid:
        raise StoreError(
            "this process was forked from the kernel that keeps the memory; call memnb.open()"
            " here to use it."
        )


def on_fork_in_child(owner: Any, action: Callable[[Any], None]) -> None:
    """Call `action(owner)` in every forked child, for as long as `owner` lives."""
    _fork_actions[owner] = action


_fork_actions: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()


def _after_fork_in_child() -> None:
    for owner, action in list(_fork_actions.items()):
        action(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
