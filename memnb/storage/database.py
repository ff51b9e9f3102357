"""The SQLite file: who may touch it, how a change becomes durable, what its faults mean.

1. Every write holds the store's lock, checks that the file is still the one that was opened, and is
   one `BEGIN IMMEDIATE` transaction with synchronous=FULL.
2. All rows are fetched at once: a half-read cursor keeps deleted text in the WAL.
3. What is read is checked against the seal first, anew whenever another process changed the file.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import apsw

from memnb.errors import (
    StoreAltered,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
    StoreTooNew,
)
from memnb.storage.anchor import Anchored
from memnb.storage.connections import (
    READ_WAIT_MS,
    Connections,
    require_schema,
    sqlite_translated,
)
from memnb.storage.files import shown
from memnb.storage.locks import (
    FileLock,
    interrupts_wait,
    require_same_process,
)
from memnb.storage.schema import APPLICATION_ID, MIGRATIONS, SEALED_SINCE
from memnb.storage.sealing import Sealer, is_found

if TYPE_CHECKING:
    from memnb.storage.salvage import Salvaged

__all__ = ["Database", "Row"]

Row = tuple[Any, ...]

_SCRUB_WAIT_MS: Final = 50
_TOO_NEW: Final = (
    "this store was written by a newer memnb and can be read only, as far as it can; upgrade memnb."
)
_UNCHECKED: Final = (
    "this store says that a newer memnb wrote it, and can't be checked by this one, so none of it"
    " is used; upgrade memnb, or put back a backup."
)


class Database:
    """One fact database; it exists from the first write on."""

    def __init__(
        self,
        path: Path,
        lock: FileLock,
        sealer: Sealer,
        *,
        wait_ms: Callable[[], int],
        read_only: bool = False,
    ) -> None:
        """Keep facts at `path`; `wait_ms` gives the longest wait for another writer."""
        self.path = path
        self._lock = lock
        self._sealer = sealer
        self._sound: weakref.WeakKeyDictionary[apsw.Connection, int] = weakref.WeakKeyDictionary()
        self._inside: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._made: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._wait_ms = wait_ms
        self._read_only = read_only
        self._pid = os.getpid()
        self._connections = Connections(path, lock, wait_ms=wait_ms, read_only=read_only)

    @property
    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self._connections.exists

    @property
    def is_too_new(self) -> bool:
        """Whether a newer memnb wrote it, so that it may be read only."""
        return self._connections.is_too_new

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query, of a state that is sealed; none when nothing was ever written.

        Raises:
            StoreAltered, StoreRolledBack, KeyLost: the state isn't what memnb wrote last.
            StoreDamaged, StoreMoved, StoreReadOnly, StoreError.
        """
        with self._reading():
            self._require_sound()
            return self._fetch(sql, arguments)

    def unchecked_rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """As `rows`, without a look at the seal: to count, and to examine a store."""
        with self._reading():
            return self._fetch(sql, arguments)

    def require_newest(self) -> None:
        """Refuse a store that is older than what this machine saw last; costs no look at its rows.

        Raises:
            StoreRolledBack, StoreAltered, KeyLost, StoreError.
        """
        with self._reading():
            if not self._fetch("PRAGMA user_version"):
                self._sealer.require_none(self._sealer.anchor.read())
                return
            with self._as_far_as_known():
                self._sealer.require_newest(self._fetch)

    @property
    def is_noted(self) -> bool:
        """Whether the last change could be anchored."""
        return self._sealer.is_noted

    @property
    def is_anchored(self) -> bool:
        """Whether this machine would notice an older copy of the store."""
        return self._sealer.anchor.exists

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """All `rows` of this thread inside the block see one state of the store."""
        require_same_process(self._pid)
        if not self.exists:
            with self._reading():
                self._require_sound()
            yield
            return
        # Before the snapshot: the anchor of a later state would make this one look rolled back.
        anchored = self._sealer.anchor.read()
        # An interrupt between BEGIN and the block would leave the transaction open.
        with interrupts_wait(), self._reading():
            connection = self._connections.here()
            if connection in self._inside:
                yield
                return
            with self._begun(connection, "BEGIN"):
                self._check(connection, anchored)
                yield

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True, firm: bool = False) -> Iterator[apsw.Connection]:
        """One write transaction, sealed and committed when the block ends, undone when it raises.

        Args:
            durable: False leaves out the fsync, for what may be lost together with its cause.
            firm: have the anchor on the disk, too, before going on.

        Raises:
            StoreBusy: another process held the store too long. StoreReadOnly, StoreFull,
                StoreDamaged, StoreMoved, StoreTooNew, StoreAltered, StoreRolledBack, KeyLost,
                StoreError: nothing was changed.
        """
        if self._read_only:
            raise StoreReadOnly("this memory was opened read-only; open it anew to change it.")
        with self._lock.held(self._wait_ms()), sqlite_translated(self.path):
            if not self.exists:
                self._sealer.require_none(self._sealer.anchor.read())
                self._sealer.prepare()
            connection = self._writing(checked=True)
            self._sealer.watch(connection)
            if not durable:
                connection.execute("PRAGMA synchronous=NORMAL").fetchall()
            try:
                with self._begun(connection, "BEGIN IMMEDIATE"):
                    self._sealer.begin(connection)
                    yield connection
                    self._sealer.end(connection)
                    connection.execute("COMMIT").fetchall()
            except BaseException:
                self._sealer.finish(connection)
                raise
            finally:
                if not durable:
                    connection.execute("PRAGMA synchronous=FULL").fetchall()
            change = self._sealer.finish(connection)
            # The anchor must never be ahead of what survives a power cut.
            if durable and change is not None and change.new is not None:
                self._sealer.note(change.new, sync=firm)

    @contextlib.contextmanager
    def _repair(self) -> Iterator[apsw.Connection]:
        """A write transaction without a look at seal and anchor, for who mends these.

        Raises:
            As `transaction`, except for what concerns the seal.
        """
        if self._read_only:
            raise StoreReadOnly("this memory was opened read-only; open it anew to change it.")
        with self._lock.held(self._wait_ms()), sqlite_translated(self.path):
            connection = self._writing()
            with self._begun(connection, "BEGIN IMMEDIATE"):
                yield connection
                connection.execute("COMMIT").fetchall()
            self._sound.clear()

    def damage(self) -> str:
        """What is wrong with the file, by SQLite or by its tables, in a line; "" when nothing."""
        try:
            found = [row[0] for row in self.unchecked_rows("PRAGMA quick_check(1)")]
            version = self.unchecked_rows("PRAGMA user_version")
            if version and version[0][0] <= len(MIGRATIONS):
                require_schema(self._connections.here(), version[0][0], self.path)
                # Sealing it anew wouldn't help: it is looked at again whenever facts are used.
                if found == ["ok"] and not is_found(self.unchecked_rows):
                    return f"rows and indexes of {shown(self.path)} don't belong together."
        except (StoreDamaged, StoreAltered) as error:
            return str(error)
        return "" if found in ([], ["ok"]) else str(found[0]).splitlines()[-1]

    def accept(self) -> None:
        """Take the store as it is for the newest there is, and remember it on this machine.

        One that is gone begins anew.

        Raises:
            StoreBusy, StoreReadOnly, StoreDamaged, StoreError: nothing was changed.
        """
        anchored = self._sealer.anchor.read()
        if not self.exists and (anchored is None or not anchored.version):
            return
        with self._repair() as connection:
            seal = self._sealer.accept(connection, anchored)
        self._sealer.anchor.create(Anchored(seal.version, bytes(seal)))

    def salvage(self, copies: Path) -> Salvaged:
        """Put what can be read of a damaged database into a new one; the old is kept in `copies`.

        Raises:
            StoreDamaged: nothing can be read. StoreBusy, StoreFull, StoreReadOnly, StoreError:
                nothing was changed.
        """
        from memnb.storage.salvage import (  # noqa: PLC0415  # for a damaged one only
            Salvaged,
            copy_aside,
            put_in_place,
            rebuild,
        )

        with self._lock.held(self._wait_ms()):
            self._connections.close_all()
            copy_aside(self.path, copies)
            new, n_facts, incomplete = rebuild(self.path, copies)
            put_in_place(new, self.path)
        self.accept()
        return Salvaged(copies, n_facts, incomplete)

    def scrub(self) -> bool:
        """Write all pages anew and the WAL back, so that deleted bytes are gone from both files.

        secure_delete alone isn't enough: where rows moved between pages, parts of them stay behind.

        Returns:
            Whether it succeeded; False while another process reads.
        """
        require_same_process(self._pid)
        if not self.exists:
            return True
        if self._read_only:
            return False
        with self._lock.held(self._wait_ms()), sqlite_translated(self.path):
            connection = self._connections.here(held=True)
            connection.set_busy_timeout(_SCRUB_WAIT_MS)
            try:
                # What it copies through must not reach a temporary file.
                connection.execute("PRAGMA temp_store=MEMORY").fetchall()
                connection.execute("VACUUM").fetchall()
                rows = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except apsw.BusyError:
                return False
            finally:
                connection.set_busy_timeout(READ_WAIT_MS)
            busy, n_log, n_done = rows[0]
            return busy == 0 and n_log == n_done

    def close(self) -> None:
        """Close every connection; under the lock, since the last one checkpoints."""
        if os.getpid() != self._pid:
            return
        self._sealer.sync()
        # Somebody who writes just now keeps the lock, and closes when this process ends.
        with contextlib.suppress(StoreBusy):
            self._connections.close()
            self._lock.close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        require_same_process(self._pid)
        try:
            with sqlite_translated(self.path):
                yield
        except StoreDamaged:
            if self._connections.is_too_new:
                raise StoreTooNew(_TOO_NEW) from None
            raise

    @contextlib.contextmanager
    def _begun(self, connection: apsw.Connection, begin: str) -> Iterator[None]:
        """A transaction that is undone at the end of the block, unless the block committed it."""
        _undo_leftover(connection)
        connection.execute(begin).fetchall()
        self._inside.add(connection)
        try:
            yield
        finally:
            self._inside.discard(connection)
            _undo_leftover(connection)

    def _writing(self, *, checked: bool = False) -> apsw.Connection:
        """A connection to write with, to a database of this version; the lock is held.

        `checked`: refuse to make or seal one anew where there was one.
        """
        connection = self._connections.here(create=True)
        _undo_leftover(connection)
        version = int(connection.pragma("user_version"))
        # A newer kernel may have brought it up to date while this one had it open.
        if self._connections.is_too_new or version > len(MIGRATIONS):
            raise StoreTooNew(_TOO_NEW)
        if checked and version < SEALED_SINCE:
            self._sealer.require_none(self._sealer.anchor.read())
        if version != len(MIGRATIONS):
            _migrate(connection, self._sealer, self.path)
        return connection

    def _fetch(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        if not self.exists:
            return []
        connection = self._connections.here()
        return connection.execute(sql, arguments).fetchall() if self._is_made(connection) else []

    def _is_made(self, connection: apsw.Connection) -> bool:
        """Whether this connection sees tables; not what a crash left at creation.

        Another thread or process may make them meanwhile, unseen by who reads an older state.
        """
        if connection not in self._made and connection.pragma("user_version"):
            self._made.add(connection)
        return connection in self._made

    def _require_sound(self) -> None:
        """Check the state that is there now, unless it was; a snapshot was checked as it began."""
        if not self.exists:
            self._sealer.require_none(self._sealer.anchor.read())
            return
        connection = self._connections.here()
        if connection in self._inside or self._is_sound(connection):
            return
        with self.snapshot():
            pass

    @contextlib.contextmanager
    def _as_far_as_known(self) -> Iterator[None]:
        """What a newer memnb seals otherwise can't be checked here, and isn't believed either.

        The version stands in the file, for everybody to write.
        """
        try:
            yield
        except StoreAltered:
            if self._connections.is_too_new:
                raise StoreTooNew(_UNCHECKED) from None
            raise

    def _is_sound(self, connection: apsw.Connection) -> bool:
        version = int(connection.pragma("data_version"))
        # Nobody may change the file once more, so what a check put off is done by whoever reads.
        return self._sound.get(connection) == version and not self._sealer.owes_a_look

    def _check(self, connection: apsw.Connection, anchored: Anchored | None) -> None:
        if self._is_sound(connection):
            return
        version = int(connection.pragma("user_version"))
        if not self._is_made(connection):
            self._sealer.require_none(anchored)
            return
        if version > len(MIGRATIONS):  # it may have become so since it was opened
            self._connections.is_too_new = True
        else:
            require_schema(connection, version, self.path)
        with self._as_far_as_known():
            self._sealer.check(lambda sql: connection.execute(sql).fetchall(), anchored)
        self._sound[connection] = int(connection.pragma("data_version"))


def _undo_leftover(connection: apsw.Connection) -> None:
    """End a transaction that a block, or a disk error that kept it from being undone, left open.

    After FULL or IOERR SQLite has mostly rolled back by itself.
    """
    if connection.in_transaction:
        connection.execute("ROLLBACK").fetchall()


def _migrate(connection: apsw.Connection, sealer: Sealer, path: Path) -> None:
    """Bring the schema up to date, under the lock; no copy is left, it would outlive forget."""
    before = int(connection.pragma("user_version"))
    connection.execute("BEGIN IMMEDIATE").fetchall()
    try:
        if before:
            require_schema(connection, before, path)
        for script in MIGRATIONS[before:]:
            connection.execute(script).fetchall()
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}").fetchall()
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}").fetchall()
        first = sealer.first(connection) if before < SEALED_SINCE else None
        connection.execute("COMMIT").fetchall()
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK").fetchall()
    if first is not None:
        sealer.note(first, sync=True)
