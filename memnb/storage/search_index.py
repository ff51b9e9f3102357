"""The search index: one SQLite file beside the facts that is derived, shared, and never trusted.

1. It may be deleted, cut or swapped at any time: what isn't exactly as this version of memnb makes
   it is emptied and filled anew. It is never asked what a text says without a look at where that
   stands.
2. One kernel writes at a time, under a lock; others read what was committed. Nobody waits long: who
   can't read it searches without it.
3. It holds text, so it is as private as what it was made of, and what is taken out of it is wiped.
4. A commit isn't flushed: a power cut may take the index back, with the generation it was clean at.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import apsw

from memnb.errors import IndexUnusable, MemnbError, StoreBusy
from memnb.storage.files import open_private, shown
from memnb.storage.index_connection import (
    WAIT_MS,
    Connection,
    begun,
    clear_away,
    connect,
    fill_anew,
    is_as_made,
    is_damage,
    is_made,
)
from memnb.storage.locks import FileLock, on_fork_in_child, require_same_process

__all__ = ["NAME", "READ_SECONDS", "Connection", "SearchIndex"]

T = TypeVar("T")

NAME: Final = "index.sqlite3"
READ_SECONDS: Final = 2.0
"""A search that takes longer is given up: the file may be made to take for ever."""

_SCRUB_WAIT_MS: Final = 50
_IN_MEMORY_BYTES: Final = 128 * 1024 * 1024

_MODE: Final = 0o600

_NONE: Final = "there is no search index yet."
_BROKEN: Final = "the search index was broken; it is being built anew."
_BUSY: Final = "another kernel is writing the search index."


class SearchIndex:
    """The search index of one project; it exists from the first write on."""

    def __init__(
        self,
        folder: Path,
        *,
        label: str,
        store_id: Callable[[], str],
        ensure: Callable[[], None],
        wait_ms: Callable[[], int] = lambda: WAIT_MS,
    ) -> None:
        """Keep it in the project's `folder`.

        Args:
            folder: of the project's memory.
            label: what to call ourselves to those who wait for us.
            store_id: gives the id of the store that it is made of.
            ensure: makes the folder; raises an error of ours when nothing may be written there.
            wait_ms: the longest wait for another writer.
        """
        self.path = folder / NAME
        self.notices: list[str] = []
        self._lock = FileLock(folder / "index.lock", label=label)
        self._store_id = store_id
        self._ensure = ensure
        self._wait_ms = wait_ms
        self._pid = os.getpid()
        self._one_at_a_time = threading.RLock()
        self._connection: Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._schema: object = None
        self._is_broken = False
        self._deadline: float | None = None
        on_fork_in_child(self, SearchIndex._leak)

    @property
    def exists(self) -> bool:
        """Whether there is anything under its name."""
        try:
            return self.path.lstat().st_size > 0
        except OSError:
            return False

    @property
    def n_bytes(self) -> int:
        """How large its files are."""
        n_bytes = 0
        for path in self._paths:
            with contextlib.suppress(OSError):
                n_bytes += path.lstat().st_size
        return n_bytes

    @property
    def is_broken(self) -> bool:
        """Whether it was found to be broken; it is emptied when it is written next."""
        return self._is_broken

    def make(self) -> None:
        """Make it when it isn't there, and anew when it is broken.

        Raises:
            IndexUnusable: it can't be written.
        """
        with self._ours():
            try:
                self.read(lambda connection: None)
            except IndexUnusable:
                self.write(lambda connection: None)

    def read(self, work: Callable[[Connection], T], *, seconds: float = READ_SECONDS) -> T:
        """What `work` reads, all of it of one state.

        Raises:
            IndexUnusable: there is none, it is broken or busy, or it took longer than `seconds`.
        """
        with self._ours(seconds), self._translated():
            if self._is_broken:
                raise IndexUnusable(_BROKEN)
            connection = self._opened()
            self._deadline = time.monotonic() + seconds
            try:
                with begun(connection, "BEGIN"):
                    return work(connection)
            finally:
                self._deadline = None

    def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` gives, whose changes are kept when it returns, and undone when it raises.

        An index that isn't there is made first; one that turns out to be broken is emptied.

        Raises:
            IndexUnusable: nothing was changed, except that a broken one is empty now.
        """
        with self._ours(), self._writing(), self._translated():
            try:
                connection = self._to_write()
                with begun(connection, "BEGIN IMMEDIATE"):
                    found = work(connection)
                    connection.execute("COMMIT").fetchall()
                    return found
            except (apsw.Error, UnicodeDecodeError) as error:
                if is_damage(error):
                    self._begin_anew(_BROKEN)
                raise

    def scrub(self) -> bool:
        """Wipe what was taken out from the file and its log; False while another kernel reads.

        Deleting wipes a row where it lies; where rows were moved, parts of them stay behind.

        Raises:
            IndexUnusable: it can't be done now.
        """
        if not self.exists:
            return True
        with self._ours(), self._writing(), self._translated():
            connection = self._to_write()
            in_memory = self.n_bytes <= _IN_MEMORY_BYTES
            connection.execute(f"PRAGMA temp_store={'MEMORY' if in_memory else 'FILE'}").fetchall()
            connection.set_busy_timeout(_SCRUB_WAIT_MS)
            try:
                connection.execute("VACUUM").fetchall()
                busy, n_log, n_done = connection.execute(
                    "PRAGMA wal_checkpoint(TRUNCATE)"
                ).fetchall()[0]
            except apsw.BusyError:
                return False
            finally:
                connection.set_busy_timeout(WAIT_MS)
                connection.execute("PRAGMA temp_store=MEMORY").fetchall()
            return bool(busy == 0 and n_log == n_done)

    def empty(self) -> None:
        """Make it anew, with nothing in it.

        Raises:
            IndexUnusable: it can't be written.
        """
        with self._ours(), self._writing(), self._translated():
            self._begin_anew("")

    def damage(self) -> str:
        """What is wrong with the file, in a line; "" when nothing is.

        Raises:
            IndexUnusable: it can't be looked at now.
        """

        def look(connection: Connection) -> str:
            found = connection.execute("PRAGMA integrity_check(1)").fetchall()
            return "" if found == [("ok",)] else str(found[0][0]).splitlines()[-1]

        try:
            return self.read(look, seconds=float("inf"))
        except IndexUnusable:
            if self._is_broken:
                return "it isn't as memnb made it."
            raise

    def close(self) -> None:
        """Let go of it."""
        if os.getpid() != self._pid:
            return
        with self._one_at_a_time:
            self._let_go()
            self._lock.close()

    @property
    def _paths(self) -> tuple[Path, ...]:
        return tuple(self.path.with_name(NAME + end) for end in ("", "-wal", "-shm"))

    @contextlib.contextmanager
    def _ours(self, seconds: float = float("inf")) -> Iterator[None]:
        """One thread at a time, of the process that opened it; nobody waits longer than that."""
        require_same_process(self._pid)
        if not self._one_at_a_time.acquire(timeout=min(seconds, self._wait_ms() / 1000)):
            raise IndexUnusable(_BUSY)
        try:
            yield
        finally:
            self._one_at_a_time.release()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """The lock, in a folder that is there and may be written."""
        try:
            self._ensure()
            lock = self._lock.held(self._wait_ms())
            lock.__enter__()
        except StoreBusy:
            raise IndexUnusable(_BUSY) from None
        except MemnbError as error:
            raise IndexUnusable(f"the search index can't be written: {error}") from None
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (apsw.BusyError, apsw.LockedError):
            raise IndexUnusable(_BUSY) from None
        except apsw.InterruptError:
            raise IndexUnusable(
                "a search of the index took too long, so it was given up."
            ) from None
        except (apsw.Error, UnicodeDecodeError) as error:
            if is_damage(error):
                self._is_broken = self.exists
                raise IndexUnusable(_BROKEN) from None
            raise self._out_of_reach(str(error)) from None
        except OSError as error:
            raise self._out_of_reach(os.strerror(error.errno or 0)) from None

    def _out_of_reach(self, why: str) -> IndexUnusable:
        return IndexUnusable(f"{shown(self.path)} can't be read or written: {why}.")

    def _opened(self) -> Connection:
        """A connection to what is there now.

        Raises:
            IndexUnusable: there is nothing. apsw.CorruptError: what is there isn't ours.
        """
        if self._connection is not None and self._identity == _identity(self.path):
            version = self._connection.pragma("schema_version")
            if version != self._schema and not is_as_made(self._connection, self._store_id()):
                raise apsw.CorruptError
            self._schema = version
            return self._connection
        self._let_go()
        if not self.exists:
            raise IndexUnusable(_NONE)
        mode = self.path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise apsw.CorruptError
        if stat.S_IMODE(mode) != _MODE:
            self.path.chmod(_MODE)
        connection = connect(self.path, self._is_late)
        try:
            if not is_made(connection):
                raise IndexUnusable(_NONE)
            if not is_as_made(connection, self._store_id()):
                raise apsw.CorruptError
        except BaseException:
            connection.close()
            raise
        self._connection, self._identity = connection, _identity(self.path)
        self._schema = connection.pragma("schema_version")
        return connection

    def _to_write(self) -> Connection:
        """A connection to write with; the lock is held."""
        if self._connection is None:
            for path in self._paths[1:]:
                clear_away(path)
        if not self.exists or self._is_broken:
            self._begin_anew(_BROKEN if self._is_broken else "")
        try:
            return self._opened()
        except IndexUnusable:  # what a crash left before there was anything in it
            self._begin_anew("")
        except (apsw.Error, UnicodeDecodeError) as error:
            if not is_damage(error):
                raise
            self._begin_anew(_BROKEN)
        return self._opened()

    def _begin_anew(self, notice: str) -> None:
        """Empty it, whatever there is, for all kernels that have it open; the lock is held."""
        self._let_go()
        for path in self._paths:
            clear_away(path)
        if not self.exists:
            os.close(open_private(self.path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK))
        self.path.chmod(_MODE)
        try:
            fill_anew(self.path, self._store_id())
        except apsw.Error as error:
            if not is_damage(error) and not isinstance(error, apsw.CantOpenError):
                raise
            for path in self._paths:  # SQLite can do nothing with it
                path.unlink(missing_ok=True)
            os.close(open_private(self.path, os.O_WRONLY | os.O_CREAT))
            fill_anew(self.path, self._store_id())
        self._is_broken = False
        if notice and notice not in self.notices:
            self.notices.append(notice)

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def _let_go(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                self._connection.close()
        self._connection = self._identity = None

    def _leak(self) -> None:
        """In a forked child: keep SQLite's objects alive for ever, so that nothing closes them."""
        self._one_at_a_time = threading.RLock()
        if self._connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
