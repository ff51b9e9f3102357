"""Writing `project.json` anew, when it is damaged or gone, from what the memory beside it says."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import apsw

from memnb.core.ids import SESSION_ID, STORE_ID
from memnb.core.records import genesis, record_from_line
from memnb.errors import InputError, MemnbError, StoreDamaged
from memnb.storage.files import open_private, shown
from memnb.storage.places import Places
from memnb.storage.private import create_private, private_folder
from memnb.storage.project import Project, found_project, record_of
from memnb.storage.project_record import (
    RECORD_NAME,
    NewerRecord,
    create_record,
    read_record,
    replace_record,
)

__all__ = ["restore_record"]

_MAX_LINE_BYTES = 64 * 1024
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe under a session's name must not hold us up


def restore_record(
    start: Path, places: Places, *, now: str, environ: Mapping[str, str]
) -> tuple[Path, str]:
    """Write down anew which store the memory of the folder `start` is.

    What was there is kept in a folder `quarantine-…` beside it.

    Returns:
        The file, and the id of the store.

    Raises:
        InputError: the file is as it should be, or there is no memory.
        StoreDamaged: the memory doesn't say, or says different things.
    """
    project = found_project(start, places, now=now)
    path = project.folder / RECORD_NAME
    if not project.folder.is_dir():
        raise InputError("no memory was kept for this folder; there is nothing to repair.")
    with contextlib.suppress(StoreDamaged):
        if isinstance(read_record(project.folder), NewerRecord) or path.exists():
            raise InputError(f"{shown(path)} isn't damaged; there is nothing to repair.")
    store_id = _store_id(project)
    _write(project, store_id, now=now, environ=environ)
    return path, store_id


def _write(project: Project, store_id: str, *, now: str, environ: Mapping[str, str]) -> None:
    record = record_of(replace(project, store_id=store_id), environ=environ)
    path = project.folder / RECORD_NAME
    if not path.exists():
        create_record(project.folder, record)
        return
    stamp = "".join(filter(str.isdigit, now))
    copies = private_folder(project.folder / f"quarantine-{stamp}")
    create_private(copies / RECORD_NAME, path.read_bytes())
    replace_record(project.folder, record)


def _store_id(project: Project) -> str:
    said = {*_of_sessions(project.folder), *_of_facts(project.folder)}
    if len(said) != 1:
        what = "different things" if said else "nothing"
        raise StoreDamaged(
            f"the memory in {shown(project.folder)} says {what} of which store it is; put back a"
            f" backup of {RECORD_NAME}."
        )
    return said.pop()


def _of_sessions(folder: Path) -> Iterator[str]:
    """What sessions say whose beginning fits their name and store."""
    for path in (folder / "sessions").glob("S-*.jsonl"):
        with contextlib.suppress(MemnbError, OSError):
            fd = open_private(path, os.O_RDONLY | _NO_WAIT)
            try:
                line = os.pread(fd, _MAX_LINE_BYTES, 0).partition(b"\n")[0]
            finally:
                os.close(fd)
            record = record_from_line(line)
            store_id = str((record.body or {}).get("store_id"))
            fits = record.head.prev == genesis(store_id, path.stem)
            if fits and STORE_ID.match(store_id) and SESSION_ID.match(path.stem):
                yield store_id


def _of_facts(folder: Path) -> Iterator[str]:
    path = folder / "facts.sqlite3"
    with contextlib.suppress(apsw.Error):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            rows = connection.execute("SELECT value FROM meta WHERE key='store_id'").fetchall()
        finally:
            connection.close()
        yield from (str(row[0]) for row in rows if STORE_ID.match(str(row[0])))
