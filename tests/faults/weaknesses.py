"""Defences of memnb, each of which can be switched off in a process before memnb works.

With one of them off, the check that rests on it has to fail: else it checks nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import importlib
import json
import os
import pkgutil
import random
import re
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import ModuleType
from typing import Any, ClassVar, Final

import apsw

from memnb import memory, runtime, storage
from memnb.core import records
from memnb.errors import StoreDamaged
from memnb.memory import index_cleaning
from memnb.storage import connections, files, locks, note_store, private, session_writer
from memnb.storage.fact_store import FactTransaction
from memnb.storage.files import translated
from memnb.storage.locks import FileLock, Interrupts
from memnb.storage.premises import Premises

_WEAKNESSES: Final[dict[str, Callable[[], None]]] = {}
_MOMENT_SECONDS: Final = 0.003
"""Enough for a kill or another kernel to come between."""


def apply(*names: str) -> None:
    """Switch these defences off in this process."""
    for name in names:
        _WEAKNESSES[name]()


def names() -> list[str]:
    """All that can be switched off."""
    return list(_WEAKNESSES)


def _everywhere(original: object, instead: object) -> None:
    """Put something in place of a function of memnb wherever it was imported."""
    found = [
        (module, name)
        for module in _modules()
        for name, value in vars(module).items()
        if value is original
    ]
    assert found
    for module, name in found:
        setattr(module, name, instead)


def _in_every_class(name: str, instead: object) -> None:
    """Put something in place of a method in every class of memnb's storage that has it."""
    found = [
        value
        for module in _modules()
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and name in vars(value)
    ]
    assert found
    for value in found:
        setattr(value, name, instead)


def _modules() -> list[ModuleType]:
    for package in (memory, storage):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)
    return [module for name, module in sys.modules.items() if name.startswith("memnb.")]


def _named(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(switch: Callable[[], None]) -> Callable[[], None]:
        _WEAKNESSES[name] = switch
        return switch

    return keep


# Not a weakness, but what makes windows wide enough to be hit.


@_named("slow-disk")
def _slow_disk() -> None:
    """Every fsync takes its time."""
    real = os.fsync

    def fsync(fd: Any) -> None:
        time.sleep(_MOMENT_SECONDS)
        real(fd)

    os.fsync = fsync


@_named("jumping-clock")
def _jumping_clock() -> None:
    """The clock goes back thirty days, and forth again, as it likes."""
    real, rng = runtime.Runtime.now, random.Random(1)  # noqa: S311

    def now(self: Any) -> Any:
        return real(self) - timedelta(days=rng.choice((0, 30)))

    runtime.Runtime.now = now  # type: ignore[method-assign]


@_named("interrupted-after-write")
def _interrupted_after_write() -> None:
    """Ctrl-C comes when records are on the disk, and their writer hasn't noted that yet."""
    real = session_writer.SessionWriter._write

    def write(self: Any, data: bytes) -> None:
        real(self, data)
        signal.raise_signal(signal.SIGINT)

    session_writer.SessionWriter._write = write  # type: ignore[method-assign]


# Durability


@_named("no-fsync")
def _no_fsync() -> None:
    """Files are written and never flushed."""
    os.fsync = lambda fd: None


@_named("no-folder-fsync")
def _no_folder_fsync() -> None:
    """Files are flushed, the folders that hold their names are not."""
    real = os.fsync

    def fsync(fd: Any) -> None:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            real(fd)

    os.fsync = fsync


@_named("wal-normal")
def _wal_normal() -> None:
    """SQLite commits without a flush."""
    _Connection.replaced["synchronous=FULL"] = "synchronous=NORMAL"
    apsw.Connection = _Connection  # type: ignore[misc]


@_named("failed-fsync-ignored")
def _failed_fsync_ignored() -> None:
    """Who asks for a flush doesn't look whether it failed."""
    real = os.fsync

    def fsync(fd: Any) -> None:
        with contextlib.suppress(OSError):
            real(fd)

    os.fsync = fsync


@_named("acknowledged-early")
def _acknowledged_early() -> None:
    """Records wait in the process until there are enough of them."""
    waiting: dict[int, bytes] = {}

    def write(fd: int, data: bytes) -> None:
        waiting[fd] = waiting.get(fd, b"") + data
        # The file grows all the same, so that nothing else notices.
        os.ftruncate(fd, os.fstat(fd).st_size + len(data))
        if len(waiting[fd]) > 20_000:
            end, kept = os.fstat(fd).st_size, waiting.pop(fd)
            fcntl.fcntl(fd, fcntl.F_SETFL, 0)  # no longer at the end
            os.pwrite(fd, kept, end - len(kept))

    session_writer.write_all = write


# Whole or not at all


@_named("notes-in-place")
def _notes_in_place() -> None:
    """A note is overwritten where it is."""

    def write(path: Any, data: bytes, *, last_check: Any = None, **_: Any) -> None:
        if last_check is not None:
            last_check()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        files.write_all(fd, data[: len(data) // 2])
        time.sleep(_MOMENT_SECONDS)
        files.write_all(fd, data[len(data) // 2 :])
        os.fsync(fd)
        os.close(fd)

    note_store.write_atomic = write


@_named("renamed-unflushed")
def _renamed_unflushed() -> None:
    """A file takes its name first and is flushed then."""

    def write(path: Any, data: bytes, *, last_check: Any = None, **_: Any) -> None:
        temporary = path.with_name(f".{path.name}.0badcafe.tmp")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with translated(path):
            files.write_all(fd, data)
            if last_check is not None:
                last_check()
            temporary.replace(path)
            os.fsync(fd)
            os.close(fd)
            files.fsync_folder(path.parent)

    _everywhere(files.write_atomic, write)


@_named("leftovers-stay")
def _leftovers_stay() -> None:
    """Nobody removes what killed writers left."""
    note_store._sweep = lambda folder_fd: None
    _everywhere(private.sweep, lambda path: None)
    Premises.sweep = lambda self, before: 0  # type: ignore[method-assign]


@_named("nothing-is-cut-off")
def _nothing_is_cut_off() -> None:
    """What is torn, or wasn't written whole, stays where it is, and is written behind."""
    real = session_writer.SessionWriter._write

    def write(self: Any, data: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._end = self.path.stat().st_size
        real(self, data)

    session_writer.SessionWriter._write = write  # type: ignore[method-assign]
    os.ftruncate = lambda fd, length: None


@_named("forget-in-pieces")
def _forget_in_pieces() -> None:
    """A forget is several transactions."""
    real = FactTransaction.exclude

    def exclude(self: Any, *arguments: Any, **options: Any) -> None:
        real(self, *arguments, **options)
        self._execute("COMMIT").fetchall()
        time.sleep(_MOMENT_SECONDS)
        self._execute("BEGIN IMMEDIATE").fetchall()

    FactTransaction.exclude = exclude  # type: ignore[method-assign]


@_named("rollback-regardless")
def _rollback_regardless() -> None:
    """ROLLBACK is said after an error without a look whether there is anything to undo."""
    _Connection.always_in_transaction = True
    apsw.Connection = _Connection  # type: ignore[misc]


# One at a time


@_named("no-lock")
def _no_lock() -> None:
    """Nobody waits for anybody."""

    @contextlib.contextmanager
    def held(self: Any, wait_ms: int) -> Iterator[None]:
        del self, wait_ms
        yield

    FileLock.held = held  # type: ignore[method-assign,assignment]


@_named("changes-overwritten")
def _changes_overwritten() -> None:
    """Nobody looks whether a note was changed since it was read."""
    real = note_store.write_atomic

    def write(*arguments: Any, last_check: Any = None, **options: Any) -> None:
        del last_check
        time.sleep(_MOMENT_SECONDS)
        real(*arguments, **options)

    note_store.write_atomic = write


@_named("no-session-lock")
def _no_session_lock() -> None:
    """Two kernels may write one session."""
    FileLock.try_hold = lambda self: True  # type: ignore[method-assign]
    _everywhere(locks.is_locked, lambda path: False)


@_named("no-fork-guard")
def _no_fork_guard() -> None:
    """A forked child uses what its parent opened."""
    _everywhere(locks.require_same_process, lambda pid: None)
    _everywhere(locks.on_fork_in_child, lambda owner, action: None)
    pid = os.getpid()
    os.getpid = lambda: pid


@_named("files-taken-for-granted")
def _files_taken_for_granted() -> None:
    """Nobody looks whether a file is still the one that was opened."""
    _in_every_class("_require_same_file", lambda self: None)
    session_writer._is_at = lambda path, status: True


@_named("interrupts-not-held")
def _interrupts_not_held() -> None:
    """Ctrl-C acts wherever it comes."""

    @contextlib.contextmanager
    def unprotected() -> Iterator[Interrupts]:
        yield Interrupts(None)

    _everywhere(locks.interrupts_wait, unprotected)


@_named("waits-for-ever")
def _waits_for_ever() -> None:
    """Who waits for the lock waits as long as it takes."""
    real = FileLock.held
    FileLock.held = lambda self, wait_ms: real(self, 10**9)  # type: ignore[method-assign]


@_named("ordered-by-clock")
def _ordered_by_clock() -> None:
    """A record has to be later than the one before."""
    real, last = session_writer.SessionWriter._write, [b""]

    def write(self: Any, data: bytes) -> None:
        for at in re.findall(rb'"head":\{"at":"([^"]+)"', data):
            if at < last[0]:
                raise StoreDamaged("the clock goes backwards; set it right.")
            last[0] = at
        real(self, data)

    session_writer.SessionWriter._write = write  # type: ignore[method-assign]


# What is read


@_named("digests-not-checked")
def _digests_not_checked() -> None:
    """A record is taken for what it says it is."""
    real = records.record_from_line

    def record_from_line(line: bytes) -> Any:
        record = real(line)
        with contextlib.suppress(ValueError):
            if record.body is None:
                record = dataclasses.replace(record, body=json.loads(line)["body"])
        return record

    records.record_from_line = record_from_line
    records.has_its_body = lambda body, head_data: True
    _everywhere(real, record_from_line)


@_named("errors-as-they-come")
def _errors_as_they_come() -> None:
    """What SQLite says is said to people."""
    _everywhere(connections.sqlite_translated, lambda path: contextlib.nullcontext())


class _Connection(apsw.Connection):
    """A connection that says other statements than it is told to."""

    replaced: ClassVar[dict[str, str]] = {}
    always_in_transaction = False

    def execute(self, statements: str, *arguments: Any, **options: Any) -> Any:
        for said, instead in self.replaced.items():
            statements = statements.replace(said, instead)
        return super().execute(statements, *arguments, **options)

    @property
    def in_transaction(self) -> bool:
        return self.always_in_transaction or super().in_transaction


@_named("index-never-cleaned")
def _index_never_cleaned() -> None:
    """What was forgotten stays in the search index, as if it were newer than the forget."""
    _everywhere(index_cleaning.clean, lambda memory, index: memory.generation())
    _everywhere(index_cleaning.cleaned_at, lambda connection: sys.maxsize)
