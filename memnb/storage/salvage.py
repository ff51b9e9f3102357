"""Salvage: what can still be read of a damaged fact database, put into a new one.

1. The damaged files are copied first, byte for byte, and the copies are never opened.
2. Every row that can be read and that the schema takes is kept; what a table lost is said.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw

from memnb.errors import StoreDamaged
from memnb.storage.files import fsync_folder, open_private, shown, translated, write_all
from memnb.storage.private import private_folder
from memnb.storage.schema import APPLICATION_ID, INBOX_SINCE, MIGRATIONS

__all__ = ["Salvaged", "copy_aside", "put_in_place", "rebuild"]

_PARTS: Final = ("", "-wal", "-shm")
_TABLES: Final = (
    "meta",
    "facts",
    "revisions",
    "sources",
    "source_seqs",
    "links",
    "holds",
    "exclusions",
    "forgotten",
    "forgotten_texts",
    "heads",
    "runs",
    "mined",
    "candidates",
    "candidate_sources",
    "candidate_seqs",
)
"""Parents before children, as the foreign keys want it."""

_INBOX: Final = frozenset({"runs", "mined", "candidates", "candidate_sources", "candidate_seqs"})
"""Those that an older version doesn't have."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What became of a damaged database.

    `copies` is the folder with the damaged files; `n_facts` were saved; `incomplete` names the
    tables of which not every row could be read or kept.
    """

    copies: Path
    n_facts: int
    incomplete: tuple[str, ...]


def copy_aside(path: Path, folder: Path) -> None:
    """Copy a database's files into `folder`, durably; no connection of ours may be open.

    Raises:
        StoreFull, StoreReadOnly, StoreError: nothing was changed at `path`.
    """
    private_folder(folder)
    for part in _parts_of(path):
        target = folder / part.name
        with translated(target):
            source = open_private(part, os.O_RDONLY)
            try:
                copy = open_private(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                try:
                    while data := os.read(source, 1 << 20):
                        write_all(copy, data)
                    os.fsync(copy)
                finally:
                    os.close(copy)
            finally:
                os.close(source)
    with translated(folder):
        fsync_folder(folder)


def rebuild(path: Path, copies: Path) -> tuple[Path, int, tuple[str, ...]]:
    """A new database beside `path` with what can be read of the copy.

    Returns:
        Where it is, the number of its facts, and the tables that lost rows.

    Raises:
        StoreDamaged: nothing can be read.
    """
    new = path.with_name(f".{path.name}.salvaged")
    new.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".salvage-") as scratch:
        for part in _parts_of(copies / path.name):
            shutil.copy2(part, scratch)
        source = apsw.Connection(str(Path(scratch) / path.name))
        try:
            n_facts, incomplete = _copy_rows(source, new)
        except (apsw.NotADBError, apsw.CorruptError):
            raise StoreDamaged(
                f"nothing of {shown(path)} can be read; a copy is in {copies.name}. Put back a"
                " backup; or delete the file, restart the kernel and begin anew with `%memory"
                " doctor --accept`."
            ) from None
        finally:
            source.close()
    return new, n_facts, incomplete


def put_in_place(new: Path, path: Path) -> None:
    """Let the new database take the name of the damaged one, of which there is a copy."""
    with translated(path):
        # First: a log of the old file would be written into the new one.
        for part in _PARTS[1:]:
            path.with_name(path.name + part).unlink(missing_ok=True)
        new.replace(path)
        fsync_folder(path.parent)


def _parts_of(path: Path) -> list[Path]:
    parts = (path.with_name(path.name + part) for part in _PARTS)
    return [part for part in parts if part.is_file()]


def _copy_rows(source: apsw.Connection, new: Path) -> tuple[int, tuple[str, ...]]:
    os.close(open_private(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    target = apsw.Connection(str(new))
    try:
        for statement in ("foreign_keys=ON", "secure_delete=ON", "synchronous=FULL"):
            target.execute(f"PRAGMA {statement}").fetchall()
        has_inbox = int(source.pragma("user_version")) >= INBOX_SINCE
        target.execute("BEGIN IMMEDIATE")
        for script in MIGRATIONS:
            target.execute(script)
        tables = [table for table in _TABLES if has_inbox or table not in _INBOX]
        incomplete = [table for table in tables if not _copy_table(source, target, table)]
        target.execute("DELETE FROM facts WHERE fact_id NOT IN (SELECT fact_id FROM revisions)")
        # Heads may be among what was lost, so that a session without one may be ours.
        target.execute("DELETE FROM meta WHERE key='heads'")
        n_facts: Any = target.execute("SELECT count(*) FROM facts").fetchall()[0][0]
        target.execute(f"PRAGMA application_id={APPLICATION_ID}")
        target.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
        target.execute("COMMIT")
    finally:
        target.close()
    return int(n_facts), tuple(incomplete)


def _copy_table(source: apsw.Connection, target: apsw.Connection, table: str) -> bool:
    """Copy what can be read of a table; whether that was all of it."""
    is_whole = True
    rows: dict[tuple[Any, ...], None] = {}
    # What a damaged page hides from one end may be reached from the other.
    for order in ("ASC", "DESC"):
        read, ended = _readable(source, f"SELECT * FROM {table} ORDER BY 1 {order}")  # noqa: S608  # a constant
        rows.update(dict.fromkeys(read))
        if ended:
            break
        is_whole = False
    for row in rows:
        marks = ",".join("?" * len(row))
        try:
            target.execute(f"INSERT INTO {table} VALUES({marks})", row)  # a constant
        except apsw.Error:
            is_whole = False
    return is_whole


def _readable(source: apsw.Connection, sql: str) -> tuple[list[tuple[Any, ...]], bool]:
    """The rows up to the first that can't be read, and whether there is no such."""
    rows: list[tuple[Any, ...]] = []
    try:
        for row in source.execute(sql):
            rows.append(row)
    except apsw.Error:
        return rows, False
    return rows, True
