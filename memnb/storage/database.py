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
)
from memnb.storage.files import fsync_folder, open_private, translated
from memnb.storage.locks import FileLock, on_fork_in_child, require_same_process
from memnb.storage.schema import APPLICATION_ID, MIGRATIONS

__all__ = ["Database", "Row"]

Row = tuple[Any, ...]

_READ_WAIT_MS: Final = 5000


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
        self._local = threading.local()
        self._open: list[apsw.Connection] = []
        on_fork_in_child(self, Database._leak)

    @property
    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self.path.exists()

    @property
    def is_too_new(self) -> bool:
        """Whether a newer memnb wrote it, so that it may be read only."""
        return self._too_new

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query; none when nothing was ever written.

        Raises:
            StoreDamaged, StoreMoved, StoreReadOnly, StoreError.
        """
        if not self.exists and self._identity is None:
            return []
        with _translated(self.path):
            return self._connection().execute(sql, arguments).fetchall()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """All `rows` of this thread inside the block see one state of the store."""
        if not self.exists:
            yield
            return
        with _translated(self.path):
            connection = self._connection()
        if connection.in_transaction:
            yield
            return
        connection.execute("BEGIN").fetchall()
        try:
            yield
        finally:
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
                raise StoreTooNew(
                    "this store was written by a newer memnb and can be read only; upgrade memnb."
                )
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
        if not self.exists:
            return True
        with self._lock.held(self._wait_ms()), _translated(self.path):
            connection = self._connection()
            connection.set_busy_timeout(50)
            try:
                busy, n_log, n_done = connection.execute(
                    "PRAGMA wal_checkpoint(TRUNCATE)"
                ).fetchall()[0]
            except apsw.BusyError:
                return False
            finally:
                connection.set_busy_timeout(_READ_WAIT_MS)
            return busy == 0 and n_log == n_done

    def close(self) -> None:
        """Close every connection; under the lock, since the last one checkpoints."""
        if os.getpid() != self._pid or not self._open:
            return
        with contextlib.suppress(StoreBusy), self._lock.held(self._wait_ms()):
            for connection in self._open:
                with contextlib.suppress(apsw.Error):
                    connection.close()
            self._open.clear()
            self._local = threading.local()
            self._identity = None

    def _connection(self, *, create: bool = False) -> apsw.Connection:
        """This thread's connection, to the file that is there now."""
        require_same_process(self._pid)
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._require_same_file()
            return connection
        if create and not self.exists:
            self._create()
        connection = _connect(self.path, read_only=self._read_only)
        self._check(connection)
        if not self._read_only and not self._too_new:
            _migrate(connection, self._lock, self._wait_ms(), held=create)
        self._local.connection = connection
        self._open.append(connection)
        status = self.path.stat()
        self._identity = self._identity or (status.st_dev, status.st_ino)
        self._require_same_file()
        return connection

    def _create(self) -> None:
        if self._identity is not None:
            self._require_same_file()
        with translated(self.path):
            os.close(open_private(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            fsync_folder(self.path.parent)

    def _require_same_file(self) -> None:
        try:
            status = self.path.stat()
            same = (status.st_dev, status.st_ino) == self._identity
        except OSError:
            same = False
        if not same:
            raise StoreMoved(
                f"{self.path.name} was renamed, deleted or replaced while this kernel used it;"
                " put it back, or restart the kernel to use what is there now."
            )

    def _check(self, connection: apsw.Connection) -> None:
        application_id = connection.pragma("application_id")
        version = connection.pragma("user_version")
        if application_id not in (0, APPLICATION_ID) or (application_id == 0 and version):
            raise StoreDamaged(f"{self.path} is not a memnb database; it was left as it is.")
        self._too_new = version > len(MIGRATIONS)

    def _leak(self) -> None:
        """In a forked child: keep SQLite's objects alive for ever, so that nothing closes them."""
        import ctypes  # noqa: PLC0415  # needed in a forked child only

        for connection in self._open:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _connect(path: Path, *, read_only: bool) -> apsw.Connection:
    if read_only:
        uri = path.absolute().as_uri() + "?mode=ro"
        if not os.access(path.parent, os.W_OK):
            # SQLite can't make the WAL's index in such a folder; nobody else can write either.
            uri += "&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(uri, flags=flags)
    else:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_READ_WAIT_MS)
    for statement in ("foreign_keys=ON", "trusted_schema=OFF", "secure_delete=ON"):
        connection.execute(f"PRAGMA {statement}").fetchall()
    if not read_only:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=FULL").fetchall()
    return connection


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
        raise StoreDamaged(
            f"{path} is damaged; nothing was changed. Keep a copy and put back a backup."
        ) from None
    except apsw.FullError:
        raise StoreFull(f"no space left for {path}; free some and run the cell again.") from None
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError):
        raise StoreReadOnly(
            f"{path} can't be written; check who owns it, or set MEMNB_HOME."
        ) from None
    except (apsw.BusyError, apsw.LockedError):
        raise StoreBusy(f"{path.name} is busy; run the cell again.") from None
    except apsw.IOError:
        raise StoreError(
            f"{path} can't be read or written; check the disk and run the cell again."
        ) from None
