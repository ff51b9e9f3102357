"""A connection to the file of a search index: opened as what others may have made, or made anew."""

from __future__ import annotations

import contextlib
import secrets
import stat
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import apsw

from memnb.storage import index_positions, passage_table, vector_table
from memnb.storage.schema import SCHEMA, schema_digest

__all__ = [
    "WAIT_MS",
    "Connection",
    "begun",
    "clear_away",
    "connect",
    "fill_anew",
    "is_as_made",
    "is_damage",
    "is_made",
]

Connection = apsw.Connection
"""What the tables of an index are read and written through."""

FORMAT: Final = 1
"""Rises when what is put into the tables changes; the tables themselves are compared anyway."""

APPLICATION_ID: Final = 0x6D656D69
"""`memi` in ASCII."""

WAIT_MS: Final = 1000

_PARTS: Final = (index_positions.create, passage_table.create, vector_table.create)
_VERSION: Final = FORMAT * 10_000 + passage_table.VERSION * 100 + vector_table.VERSION
_STEPS: Final = 10_000
_LONGEST_ROW: Final = 4 * 1024 * 1024
"""Of ours, in bytes: a message has one mebibyte. A longer one isn't read, and counts as damage."""

_OPEN: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW


def connect(path: Path, is_late: Callable[[], bool]) -> Connection:
    """A connection that trusts nothing in the file; what it runs ends when `is_late` says so."""
    connection = apsw.Connection(str(path), flags=_OPEN)
    try:
        connection.set_busy_timeout(WAIT_MS)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST_ROW)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        for statement in (
            "cell_size_check=ON",
            "secure_delete=ON",
            "temp_store=MEMORY",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "cache_size=-16000",
        ):
            connection.execute(f"PRAGMA {statement}").fetchall()
        connection.set_progress_handler(is_late, _STEPS)
    except BaseException:
        connection.close()
        raise
    return connection


def fill_anew(path: Path, store_id: str) -> None:
    """Make the tables in a file of which everything else is dropped."""
    connection = apsw.Connection(str(path), flags=_OPEN)
    try:
        connection.set_busy_timeout(WAIT_MS)
        with contextlib.suppress(apsw.Error):  # it is read first, as far as that goes
            connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
        try:
            connection.execute("VACUUM").fetchall()
        finally:
            connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=NORMAL").fetchall()
        with begun(connection, "BEGIN IMMEDIATE"):
            for create in _PARTS:
                create(connection)
            index_positions.set_state(connection, "store_id", store_id)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}").fetchall()
            connection.execute(f"PRAGMA user_version={_VERSION}").fetchall()
            connection.execute("COMMIT").fetchall()
        rows = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if rows[0][0]:  # somebody still reads what was there before
            index_positions.set_state(connection, index_positions.SCRUB, 1)
    finally:
        connection.close()


def is_made(connection: Connection) -> bool:
    """Whether there are tables; not what a crash left, or what another kernel is making."""
    if connection.pragma("application_id") or connection.pragma("user_version"):
        return True
    return bool(connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall())


def is_as_made(connection: Connection, store_id: str) -> bool:
    """Whether it holds exactly the tables that we make, for this store."""
    with begun(connection, "BEGIN"):
        return (
            connection.pragma("application_id") == APPLICATION_ID
            and connection.pragma("user_version") == _VERSION
            and schema_digest(connection.execute(SCHEMA).fetchall()) == _schema()
            and index_positions.state(connection, "store_id") == store_id
        )


@cache
def _schema() -> str:
    connection = apsw.Connection(":memory:")
    try:
        for create in _PARTS:
            create(connection)
        return schema_digest(connection.execute(SCHEMA).fetchall())
    finally:
        connection.close()


@contextlib.contextmanager
def begun(connection: Connection, begin: str) -> Iterator[None]:
    """A transaction that is undone at the end of the block, unless the block committed it."""
    _undo(connection)
    connection.execute(begin).fetchall()
    try:
        yield
    finally:
        _undo(connection)


def _undo(connection: Connection) -> None:
    if connection.in_transaction:
        with contextlib.suppress(apsw.Error):
            connection.execute("ROLLBACK").fetchall()


_NO_DAMAGE: Final = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.FullError,
    apsw.InterruptError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NoMemError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
)


def is_damage(error: Exception) -> bool:
    """Whether it is the file that is wrong, and not the disk or a statement."""
    return not isinstance(error, _NO_DAMAGE) and "syntax error" not in str(error)


def clear_away(path: Path) -> None:
    """Take away what is no file of ours: a link, a pipe; a folder is put aside as it is."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISDIR(status.st_mode):
        path.rename(path.with_name(f"{path.name}.aside-{secrets.token_hex(4)}"))
    elif not stat.S_ISREG(status.st_mode):
        path.unlink()
