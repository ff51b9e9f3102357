"""Who may write now: one lock for threads and processes, interrupts that wait, forks that let go.

1. flock doesn't exclude threads that share a descriptor, so a thread lock goes around it.
2. The wait is bounded, and the lock file names its holder for the message.
3. Waiting at least 5 ms after our own last release keeps eight writers fair: without it the
   holder takes the lock again before a sleeper wakes.
4. In the critical section Ctrl-C waits: a handler that only notes it is put in place and the
   interrupt is raised afterwards. Masking the signal isn't enough, since another thread takes it.
   While waiting for the lock, what was noted acts at the next look.
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
from memnb.storage.files import open_private, shown, translated

if sys.platform != "win32":
    import fcntl

__all__ = [
    "FileLock",
    "Interrupts",
    "interrupts_wait",
    "is_locked",
    "on_fork_in_child",
    "require_same_process",
]

_POLL_SECONDS: Final = 0.001
_BREATH_SECONDS: Final = 0.005
_THREAD_POLL_SECONDS: Final = 0.02
_PATIENCE_SECONDS: Final = 0.1
_HOLDER_BYTES: Final = 200
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe under a lock's name must not hold us up


class FileLock:
    """A lock on one file, for one process and its threads; not re-entrant."""

    def __init__(self, path: Path, *, label: str) -> None:
        """Name the lock file and what to call ourselves to those who wait, such as a notebook."""
        self._path = path
        self._pid = os.getpid()
        self._signature = _signature(label, self._pid)
        self._threads = threading.Lock()
        self._fd: int | None = None
        self._released_at = 0.0
        on_fork_in_child(self, FileLock.close)

    @contextlib.contextmanager
    def held(self, wait_ms: int) -> Iterator[None]:
        """Hold the lock; inside, interrupts wait. While waiting for it they are heard.

        Raises:
            StoreBusy: another process held it for all of `wait_ms`.
        """
        require_same_process(self._pid)
        deadline = time.monotonic() + wait_ms / 1000
        with interrupts_wait() as interrupts:
            self._await_threads(deadline, interrupts)
            try:
                fd = self._await_processes(deadline, wait_ms, interrupts)
                try:
                    yield
                finally:
                    fcntl.flock(fd, fcntl.LOCK_UN)
                    self._released_at = time.monotonic()
            finally:
                self._threads.release()

    def try_hold(self) -> bool:
        """Take the lock for as long as this object is open; False when someone else has it."""
        require_same_process(self._pid)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        with interrupts_wait():
            while not self._take():
                # Somebody may only be asking whether it is held.
                if time.monotonic() >= deadline:
                    return False
                time.sleep(_POLL_SECONDS)
            return True

    def holder(self) -> str:
        """Who wrote their name into the lock file last."""
        try:
            name = os.pread(self._open(), _HOLDER_BYTES, 0).decode(errors="replace").strip()
        except OSError:
            return "another process"
        return shown(name) or "another process"

    def close(self) -> None:
        """Let go of the file, and of the lock with it."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _await_threads(self, deadline: float, interrupts: Interrupts) -> None:
        while not self._threads.acquire(timeout=_THREAD_POLL_SECONDS):
            interrupts.deliver()
            if time.monotonic() >= deadline:
                raise StoreBusy("another cell of this kernel is writing; run the cell again.")

    def _await_processes(self, deadline: float, wait_ms: int, interrupts: Interrupts) -> int:
        breath = self._released_at + _BREATH_SECONDS - time.monotonic()
        if breath > 0:
            time.sleep(breath)
        while not self._take():
            interrupts.deliver()
            if time.monotonic() >= deadline:
                holder = self.holder()
                raise StoreBusy(
                    f"{holder} has held the store for {wait_ms / 1000:g} s. Run the cell again, or"
                    " stop that cell.",
                    holder=holder,
                )
            # Unequal naps: waiters that poll in step starve each other.
            time.sleep(_POLL_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311
        return self._open()

    def _take(self) -> bool:
        """Take the lock of the file that is there now, and sign it."""
        while True:
            fd = self._open()
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if self._is_there(fd):
                break
            # It was deleted, as people do with lock files that look stale: ours locks nothing.
            self.close()
        with contextlib.suppress(OSError):
            os.pwrite(fd, self._signature, 0)
        return True

    def _open(self) -> int:
        require_same_process(self._pid)
        if self._fd is None:
            with translated(self._path):
                self._fd = open_private(self._path, os.O_RDWR | os.O_CREAT | _NO_WAIT)
        return self._fd

    def _is_there(self, fd: int) -> bool:
        try:
            there = self._path.lstat()
        except OSError:
            return False
        ours = os.fstat(fd)
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock of this file; asking leaves nothing behind."""
    try:
        fd = open_private(path, os.O_RDONLY | _NO_WAIT)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


class Interrupts:
    """Interrupts that came while they had to wait."""

    def __init__(self, handler: Callable[[int, FrameType | None], Any] | None) -> None:
        """Hand them to `handler` in the end; None when this thread gets none."""
        self._handler = handler
        self._noted: list[tuple[int, FrameType | None]] = []

    def note(self, number: int, frame: FrameType | None) -> None:
        """Keep an interrupt for later."""
        self._noted.append((number, frame))

    def deliver(self) -> None:
        """Let an interrupt that came act now; mostly that raises KeyboardInterrupt."""
        if self._noted and self._handler is not None:
            first, self._noted = self._noted[0], []
            self._handler(*first)


@contextlib.contextmanager
def interrupts_wait() -> Iterator[Interrupts]:
    """Run the block to its end; a Ctrl-C that comes meanwhile is raised after it."""
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield Interrupts(None)
        return
    interrupts = Interrupts(previous)
    signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, previous)
        interrupts.deliver()


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


def _signature(label: str, pid: int) -> bytes:
    """A holder's name in the lock file: one printable line of a fixed length."""
    end = f" (pid {pid})".encode()
    name = shown(label).encode()[: _HOLDER_BYTES - len(end)].decode(errors="ignore")
    return (name.encode() + end).ljust(_HOLDER_BYTES)
