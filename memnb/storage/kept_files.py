"""Files that may hold a text, read whole to look for it: those of a memory's folder, and others.

1. Nothing is written. In the memory's folder no link is followed, and nothing waits anywhere: a
   pipe or device is named, not opened.
2. A file of the live database is never opened, by whatever name: closing the descriptor would drop
   SQLite's locks.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from memnb.core import note_names
from memnb.core.ids import SESSION_ID
from memnb.storage.files import open_private, translated

__all__ = ["MAX_FILE_BYTES", "KeptFile", "KeptFiles", "KeptKind", "Unread", "raw_lines"]

MAX_FILE_BYTES: Final = 64 * 1024 * 1024

KeptKind = Literal[
    "database", "session", "index", "tail", "lock", "note", "daily", "backup", "quarantine", "other"
]
"""What a file of the folder is. `tail`: what a crash tore off a session; `daily`: a daily note."""

_DATABASE: Final = re.compile(r"[a-z]+\.sqlite3(?:-wal|-shm|-journal)?\Z")
_TAIL: Final = re.compile(r"(?P<session>.+)\.torn-[0-9a-f]+\Z")
_QUARANTINE: Final = "quarantine"
_BACKUP: Final = ".bak"
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_READ: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file below a memory's folder; `name` is relative to that, with forward slashes."""

    name: str
    kind: KeptKind


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a file wasn't read."""

    why: str


class KeptFiles:
    """What lies in the folder of one memory, and how to read it."""

    def __init__(self, folder: Path) -> None:
        """Look below `folder`."""
        self.folder = folder

    def names(self) -> list[KeptFile]:
        """All files, links and whatever else has a name there, in order; none without a folder.

        A folder that can't be listed is among them, by its own name.
        """
        return sorted(self._below("", "."), key=lambda file: file.name)

    def read(self, file: KeptFile) -> bytes | Unread | None:
        """All of a file of the folder that is no database; None when it has gone."""
        return self._read(self.folder / file.name, _NO_FOLLOW)

    def read_outside(self, path: Path) -> bytes | Unread | None:
        """All of a file of a person's, such as a notebook, also by a link; None without one."""
        return self._read(path, 0)

    def _below(self, folder: str, name: str) -> Iterator[KeptFile]:
        """The files below the folder `name` in `folder`."""
        here = "/".join(part for part in (folder, name) if part not in ("", "."))
        try:
            with os.scandir(self.folder / here) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except FileNotFoundError:
            return
        except OSError:
            yield KeptFile(here or name, _kind(folder, name))
            return
        for child, is_folder in found:
            if is_folder:
                yield from self._below(here, child)
            else:
                yield KeptFile(f"{here}/{child}" if here else child, _kind(here, child))

    def _read(self, path: Path, no_follow: int) -> bytes | Unread | None:
        try:
            # Opening a device can do things, so its kind is looked at before, and again after.
            found = os.stat(path, follow_symlinks=not no_follow)  # noqa: PTH116
            why = self._why_not(found)
            if why:
                return Unread(why)
            with open(os.open(path, _READ | _NO_WAIT | no_follow), "rb") as file:  # noqa: PTH123
                why = self._why_not(os.fstat(file.fileno()))
                return Unread(why) if why else file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError:  # no path can have a NUL in it
            return None
        except OSError as error:
            return Unread(os.strerror(error.errno) if error.errno else "input/output error")

    def _why_not(self, status: os.stat_result) -> str:
        if stat.S_ISLNK(status.st_mode):
            return "a link"
        if stat.S_ISDIR(status.st_mode):
            return "a folder that can't be listed"
        if not stat.S_ISREG(status.st_mode):
            return "no regular file"
        if status.st_size > MAX_FILE_BYTES:
            return "over 64 MiB"
        return "the live database" if _identity(status) in self._live() else ""

    def _live(self) -> set[tuple[int, int]]:
        try:
            with os.scandir(self.folder) as entries:
                live = [entry for entry in entries if _DATABASE.match(entry.name)]
                return {_identity(entry.stat(follow_symlinks=False)) for entry in live}
        except FileNotFoundError:
            return set()


def raw_lines(path: Path, seqs: Collection[int], end: int) -> Iterator[tuple[int, bytes]]:
    """Lines of a session as they are in its file, by number; 0 for what follows the last whole one.

    Args:
        path: of the session.
        seqs: which lines, counted from 1.
        end: where the whole lines end, in bytes.

    Raises:
        StoreError: it can't be read.
    """
    with translated(path), open(open_private(path, _READ | _NO_WAIT), "rb") as file:  # noqa: PTH123
        if seqs:
            for seq, line in enumerate(file, 1):
                if seq in seqs:
                    yield seq, line
                if file.tell() >= end:
                    break
        file.seek(end)
        yield 0, file.read(MAX_FILE_BYTES)


def _kind(folder: str, name: str) -> KeptKind:
    top, _, _ = folder.partition("/")
    if top.startswith(_QUARANTINE) or (not folder and name.startswith(_QUARANTINE)):
        return "quarantine"
    if not folder and _DATABASE.match(name):
        return "database"
    if folder in ("", "sessions") and name.endswith(".lock"):
        return "lock"
    if folder == "sessions":
        return _kind_of_session(name)
    return _kind_of_note(folder, name) if folder in note_names.FOLDERS else "other"


def _kind_of_session(name: str) -> KeptKind:
    tail = _TAIL.match(name)
    if tail is not None and SESSION_ID.match(tail["session"]):
        return "tail"
    session_id, _, suffix = name.partition(".")
    if SESSION_ID.match(session_id):
        if suffix == "jsonl":
            return "session"
        if suffix == "idx":
            return "index"
    return "other"


def _kind_of_note(folder: str, name: str) -> KeptKind:
    note = note_names.from_file(folder, name.removesuffix(_BACKUP))
    if note is None:
        return "other"
    if name.endswith(_BACKUP):
        return "backup"
    return "daily" if note.kind == "daily" else "note"


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
