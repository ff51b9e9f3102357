"""The SQLite file: who may touch it, how a change becomes durable, what its faults mean.

1. Every write holds the store's lock, checks that the file is still the one that was opened, and is
   one `BEGIN IMMEDIATE` transaction with synchronous=FULL.
2. The file is never opened by anything but SQLite: closing such a descriptor would drop SQLite's
   locks, and another kernel could then delete the live WAL.
3. All rows are fetched at once: a half-read cursor keeps deleted text in the WAL.
4. One connection a thread; none is used or closed in a forked child.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from memnb.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMoved,
    StoreReadOnly,
    StoreTooNew,
    UnsafeFileSystem,
)
from memnb.storage.files import fsync_folder, open_private, shown, translated
from memnb.storage.locks import (
    FileLock,
    interrupts_wait,
    on_fork_in_child,
    require_same_process,
)
from memnb.storage.schema import APPLICATION_ID, MIGRATIONS

__all__ = ["Database", "Row"]

Row = tuple[Any, ...]

_READ_WAIT_MS: Final = 5000
_SCRUB_WAIT_MS: Final = 50
_TOO_NEW: Final = (
    "this store was written by a newer memnb and can be read only, as far as it can; upgrade memnb."
)


class Database:
    """One fact database; it exists from the first write on."""

    def __init__(
        self, path: Path, lock: FileLock, *, wait_ms: Callable[[], int], read_only: bool = False
    ) -> None:
        """Keep facts at `path`; `wait_ms` gives the longest wait for another writer."""
        self.path = path
        self._lock = lock
        self._wait_ms = wait_ms
        self._read_only = read_only
        self._pid = os.getpid()
        self._identity: tuple[int, int] | None = None
        self._too_new = False
        self._is_empty = False
        self._open: dict[threading.Thread, apsw.Connection] = {}
        on_fork_in_child(self, Database._leak)

    @property
    def exists(self) -> bool:
        """Whether anything was ever written; an empty file is what a crash left at creation."""
        if self._identity is not None:
            return True
        try:
            return self.path.lstat().st_size > 0
        except OSError:
            return False

    @property
    def is_too_new(self) -> bool:
        """Whether a newer memnb wrote it, so that it may be read only."""
        return self._too_new

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query; none when nothing was ever written.

        Raises:
            StoreDamaged, StoreMoved, StoreReadOnly, StoreError.
        """
        require_same_process(self._pid)
        if not self.exists:
            return []
        try:
            with _translated(self.path):
                connection = self._connection()
                return [] if self._is_empty else connection.execute(sql, arguments).fetchall()
        except StoreDamaged:
            if self._too_new:
                raise StoreTooNew(_TOO_NEW) from None
            raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """All `rows` of this thread inside the block see one state of the store."""
        require_same_process(self._pid)
        if not self.exists:
            yield
            return
        # An interrupt between BEGIN and the block would leave the transaction open.
        with interrupts_wait():
            with _translated(self.path):
                connection = self._connection()
                is_ours = not connection.in_transaction
                if is_ours:
                    connection.execute("BEGIN").fetchall()
            try:
                yield
            finally:
                if is_ours and connection.in_transaction:
                    connection.execute("COMMIT").fetchall()

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """One write transaction, committed when the block ends and undone when it raises.

        Args:
            durable: False leaves out the fsync, for what may be lost together with its cause.

        Raises:
            StoreBusy: another process held the store too long. StoreReadOnly, StoreFull,
                StoreDamaged, StoreMoved, StoreTooNew, StoreError: nothing was changed.
        """
        if self._read_only:
            raise StoreReadOnly("this memory was opened read-only; open it anew to change it.")
        with self._lock.held(self._wait_ms()), _translated(self.path):
            connection = self._connection(create=True)
            if self._too_new:
                raise StoreTooNew(_TOO_NEW)
            if not durable:
                connection.execute("PRAGMA synchronous=NORMAL").fetchall()
            try:
                connection.execute("BEGIN IMMEDIATE").fetchall()
                yield connection
                connection.execute("COMMIT").fetchall()
            finally:
                # After FULL or IOERR SQLite has rolled back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK").fetchall()
                if not durable:
                    connection.execute("PRAGMA synchronous=FULL").fetchall()

    def scrub(self) -> bool:
        """Write the WAL back and truncate it, so that deleted bytes are gone from both files.

        Returns:
            Whether it succeeded; False while another process reads.
        """
        require_same_process(self._pid)
        if not self.exists:
            return True
        if self._read_only:
            return False
        with self._lock.held(self._wait_ms()), _translated(self.path):
            connection = self._connection(held=True)
            connection.set_busy_timeout(_SCRUB_WAIT_MS)
            try:
                rows = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except apsw.BusyError:
                return False
            finally:
                connection.set_busy_timeout(_READ_WAIT_MS)
            busy, n_log, n_done = rows[0]
            return busy == 0 and n_log == n_done

    def close(self) -> None:
        """Close every connection; under the lock, since the last one checkpoints."""
        if os.getpid() != self._pid:
            return
        if not self._open:
            self._lock.close()
            return
        # Somebody who writes just now keeps the lock, and closes when this process ends.
        with contextlib.suppress(StoreBusy):
            if self._read_only:
                self._close_all()
            else:
                with self._lock_to_close():
                    self._close_all()
            self._lock.close()

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

    def _close_all(self) -> None:
        for connection in self._open.values():
            with contextlib.suppress(apsw.Error):
                connection.close()
        self._open.clear()
        self._identity = None
        self._too_new = self._is_empty = False

    def _close_ended(self) -> None:
        """Close the connections of threads that ended; the lock is held."""
        for thread in [thread for thread in self._open if not thread.is_alive()]:
            with contextlib.suppress(apsw.Error):
                self._open.pop(thread).close()

    def _connection(self, *, create: bool = False, held: bool = False) -> apsw.Connection:
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
        if not self._read_only and not self._too_new and not connection.readonly("main"):
            _migrate(connection, self._lock, self._wait_ms(), held=create or held)
        self._open[thread] = connection
        if create or held:
            self._close_ended()
        elif not self._read_only and any(not other.is_alive() for other in self._open):
            with contextlib.suppress(StoreBusy), self._lock.held(0):
                self._close_ended()
        if self._identity is None:
            self._identity = self._identity_of_file()
        self._require_same_file()
        return connection

    def _create(self) -> None:
        with translated(self.path):
            os.close(open_private(self.path, os.O_WRONLY | os.O_CREAT))
            fsync_folder(self.path.parent)

    def _connect(self) -> apsw.Connection:
        if self.path.is_symlink():
            raise UnsafeFileSystem(
                f"{shown(self.path)} is a symlink; memnb's own files must be real ones."
            )
        can_write = not self._read_only and _is_writable(self.path)
        connection = _open_to_write(self.path) if can_write else _open_to_read(self.path)
        try:
            # Before anything could write: a database of others is left as it is.
            version = _version(connection, self.path)
            self._too_new = version > len(MIGRATIONS)
            self._is_empty = not version and not can_write
            _configure(connection, to_write=can_write and not self._too_new)
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


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _open_to_write(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)


def _open_to_read(path: Path) -> apsw.Connection:
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


def _version(connection: apsw.Connection, path: Path) -> int:
    """The version of our schema in a database, 0 for an empty one; refuses those of others."""
    connection.set_busy_timeout(_READ_WAIT_MS)
    application_id = connection.pragma("application_id")
    version = int(connection.pragma("user_version"))
    is_empty = not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    if application_id != APPLICATION_ID and not (is_empty and not application_id and not version):
        raise StoreDamaged(f"{shown(path)} is not a memnb database; it was left as it is.")
    return version


def _configure(connection: apsw.Connection, *, to_write: bool) -> None:
    for statement in ("foreign_keys=ON", "trusted_schema=OFF", "secure_delete=ON"):
        connection.execute(f"PRAGMA {statement}").fetchall()
    if to_write:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=FULL").fetchall()


def _migrate(connection: apsw.Connection, lock: FileLock, wait_ms: int, *, held: bool) -> None:
    """Bring the schema up to date, under the lock; no copy is left, it would outlive forget."""
    if connection.pragma("user_version") == len(MIGRATIONS):
        return
    with contextlib.nullcontext() if held else lock.held(wait_ms):
        connection.execute("BEGIN IMMEDIATE").fetchall()
        try:
            for number in range(connection.pragma("user_version"), len(MIGRATIONS)):
                connection.execute(MIGRATIONS[number]).fetchall()
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}").fetchall()
            connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}").fetchall()
            connection.execute("COMMIT").fetchall()
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK").fetchall()


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError):
        raise _damaged(path) from None
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
        f"{shown(path)} is damaged; nothing was changed. Keep a copy and put back a backup."
    )
