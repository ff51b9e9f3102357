"""The connections of this process to an SQLite file of ours, one for each thread.

1. The file is never opened by anything but SQLite: closing such a descriptor would drop SQLite's
   locks, and another kernel could then delete the live WAL.
2. None is used or closed in a forked child.
3. They are opened as far as rights go, and their faults are told in our words.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import apsw

from memnb.errors import (
    StoreAltered,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMoved,
    StoreReadOnly,
    UnsafeFileSystem,
)
from memnb.storage.files import fsync_folder, open_private, shown, translated
from memnb.storage.locks import FileLock, on_fork_in_child
from memnb.storage.schema import APPLICATION_ID, DIGESTS, MIGRATIONS, SCHEMA, schema_digest

__all__ = ["READ_WAIT_MS", "Connections", "require_schema", "sqlite_translated"]

READ_WAIT_MS: Final = 5000


class Connections:
    """The connections to one file; it exists from the first write on."""

    def __init__(
        self, path: Path, lock: FileLock, *, wait_ms: Callable[[], int], read_only: bool
    ) -> None:
        """Connect to `path`; `lock` is the one that every writer holds."""
        self.path = path
        self.is_too_new = False
        self._lock = lock
        self._wait_ms = wait_ms
        self._read_only = read_only
        self._identity: tuple[int, int] | None = None
        self._open: dict[threading.Thread, apsw.Connection] = {}
        on_fork_in_child(self, Connections._leak)

    @property
    def exists(self) -> bool:
        """Whether anything was ever written; an empty file is what a crash left at creation."""
        if self._identity is not None:
            return True
        try:
            return self.path.lstat().st_size > 0
        except OSError:
            return False

    def here(self, *, create: bool = False, held: bool = False) -> apsw.Connection:
        """This thread's connection, to the file that is there now.

        Args:
            create: make the database when there is none; the lock is held.
            held: the lock is held.
        """
        if self._identity is not None:
            self._require_same_file()
        thread = threading.current_thread()
        if thread in self._open:
            return self._open[thread]
        if create and not self.exists:
            self._create()
        connection = self._connect()
        self._open[thread] = connection
        if create or held:
            self._close_ended()
        elif not self._read_only and any(map(_has_ended, list(self._open))):
            with contextlib.suppress(StoreBusy), self._lock.held(0):
                self._close_ended()
        if self._identity is None:
            self._identity = self._identity_of_file()
        self._require_same_file()
        return connection

    def close(self) -> None:
        """Close all; under the lock, since the last one checkpoints."""
        if self._open:
            if self._read_only:
                self.close_all()
            else:
                with self._lock_to_close():
                    self.close_all()

    def close_all(self) -> None:
        """Close all; the lock is held, or nothing can be written."""
        for connection in self._open.values():
            with contextlib.suppress(apsw.Error):
                connection.close()
        self._open.clear()
        self._identity = None
        self.is_too_new = False

    @contextlib.contextmanager
    def _lock_to_close(self) -> Iterator[None]:
        try:
            lock = self._lock.held(self._wait_ms())
            lock.__enter__()
        except (StoreReadOnly, UnsafeFileSystem):
            # Without the right to write there is nothing to check in either.
            yield
            return
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    def _close_ended(self) -> None:
        """Close the connections of threads that ended; the lock is held."""
        for thread in filter(_has_ended, list(self._open)):
            with contextlib.suppress(apsw.Error):
                self._open.pop(thread).close()

    def _create(self) -> None:
        with translated(self.path):
            os.close(open_private(self.path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK))
            fsync_folder(self.path.parent)

    def _connect(self) -> apsw.Connection:
        if self.path.is_symlink() or not self.path.is_file():  # SQLite would wait for a pipe
            raise UnsafeFileSystem(
                f"{shown(self.path)} is a symlink or no file; memnb's own files must be real ones."
            )
        can_write = not self._read_only and _is_writable(self.path)
        connection = _open_to_write(self.path) if can_write else _open_to_read(self.path)
        try:
            # Before anything could write: a database of others is left as it is.
            version = _version_of(connection, self.path)
            self.is_too_new = version > len(MIGRATIONS)
            _configure(connection, to_write=can_write and not self.is_too_new)
        except BaseException:
            connection.close()
            raise
        return connection

    def _identity_of_file(self) -> tuple[int, int] | None:
        try:
            status = self.path.lstat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _require_same_file(self) -> None:
        if self._identity_of_file() != self._identity:
            raise StoreMoved(
                f"{self.path.name} was renamed, deleted or replaced while this kernel used it;"
                " put it back, or restart the kernel to use what is there now."
            )

    def _leak(self) -> None:
        """In a forked child: keep SQLite's objects alive for ever, so that nothing closes them."""
        import ctypes  # noqa: PLC0415  # needed in a forked child only

        for connection in self._open.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _has_ended(thread: threading.Thread) -> bool:
    """Whether a thread needs its connection no more.

    Python counts the main thread as ended before what is registered for the exit runs on it.
    """
    return not thread.is_alive() and thread is not threading.main_thread()


def _is_writable(path: Path) -> bool:
    """Whether we may write the file and make others beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _open_to_write(path: Path) -> apsw.Connection:
    """A connection that may write."""
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)


def _open_to_read(path: Path) -> apsw.Connection:
    """A connection that only reads, also where nothing can be written."""
    uri = path.absolute().as_uri() + "?mode=ro"
    if not _is_writable(path) and not _has_wal(path):
        # SQLite can't make the WAL's index in such a folder. Without a WAL there is nothing in it,
        # and nobody without more rights than ours writes one; with one, its commits must be read.
        uri += "&immutable=1"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _has_wal(path: Path) -> bool:
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _version_of(connection: apsw.Connection, path: Path) -> int:
    """The version of our schema in a database, 0 for an empty one; refuses those of others."""
    connection.set_busy_timeout(READ_WAIT_MS)
    # In one state: another kernel may be making it.
    connection.execute("BEGIN").fetchall()
    try:
        application_id = connection.pragma("application_id")
        version = int(connection.pragma("user_version"))
        is_empty = not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK").fetchall()
    if application_id != APPLICATION_ID and not (is_empty and not application_id and not version):
        raise StoreDamaged(f"{shown(path)} is not a memnb database; it was left as it is.")
    if not version and not is_empty:  # both are written together
        raise _damaged(path)
    return version


def require_schema(connection: apsw.Connection, version: int, path: Path) -> None:
    """Refuse a database of ours that holds more than our tables, indexes and views.

    Raises:
        StoreAltered: something was put into it or taken out.
    """
    digest = schema_digest(connection.execute(SCHEMA).fetchall())
    if digest != DIGESTS.get(version):
        raise StoreAltered(
            f"{shown(path)} has other tables or triggers than memnb makes, so none of it is used;"
            " `%memory doctor` says more."
        )


def _configure(connection: apsw.Connection, *, to_write: bool) -> None:
    """Switch on what every connection needs, and durability for one that writes."""
    for statement in ("foreign_keys=ON", "trusted_schema=OFF", "secure_delete=ON"):
        connection.execute(f"PRAGMA {statement}").fetchall()
    if to_write:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=FULL").fetchall()


@contextlib.contextmanager
def sqlite_translated(path: Path) -> Iterator[None]:
    """Turn an error of SQLite over `path` into one of ours, with what to do."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError):
        raise _damaged(path) from None
    except apsw.NoMemError:
        raise StoreError(
            "this kernel has no memory left; free some and run the cell again."
        ) from None
    except apsw.SQLError as error:
        # Our statements are constant: a table that is not there was there once.
        if not str(error).startswith(("no such table", "no such column")):
            raise
        raise _damaged(path) from None
    except apsw.FullError:
        raise StoreFull(
            f"no space left for {shown(path)}; free some and run the cell again."
        ) from None
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError):
        raise StoreReadOnly(
            f"{shown(path)} can't be written; check who owns it, or set MEMNB_HOME."
        ) from None
    except (apsw.BusyError, apsw.LockedError):
        raise StoreBusy(f"{path.name} is busy; run the cell again.") from None
    except apsw.IOError:
        raise StoreError(
            f"{shown(path)} can't be read or written; check the disk and run the cell again."
        ) from None


def _damaged(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"{shown(path)} is damaged; nothing was changed. `%memory doctor` says more."
    )
