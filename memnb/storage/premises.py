"""What memory stands on: the SQLite library, the folders, and what killed processes left there."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from memnb.storage.files import shown
from memnb.storage.places import Places
from memnb.storage.signing_key import SigningKey

__all__ = ["Premises"]

_SOUND_SQLITE: Final = (3, 51, 3)
"""Before it a reset of the log could lose commits (sqlite.org/wal.html, "WAL-reset bug")."""

_LEFTOVER: Final = re.compile(r"\..+\.tmp|\.facts\.sqlite3\.salvaged|\.salvage-.+")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class Premises:
    """The folders of one project's memory, and the key of this machine."""

    def __init__(self, folder: Path, places: Places, key: SigningKey) -> None:
        """Look at `folder`, which needn't be there."""
        self._folder = folder
        self._places = places
        self._key = key

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong, as the name of an area and a sentence."""
        version = apsw.sqlite_lib_version()
        if tuple(map(int, version.split("."))) < _SOUND_SQLITE:
            yield "SQLite", f"version {version} can lose commits; upgrade the package apsw."
        for path in (self._places.home, self._folder, self._places.key_file):
            with contextlib.suppress(OSError):
                if os.name != "nt" and path.stat().st_mode & _OTHERS:
                    yield "folder", f"{shown(path)} is open to others: take their rights away."
        for path in (self._places.home, self._folder):
            if path.is_dir() and not os.access(path, os.W_OK | os.X_OK):
                text = f"{shown(path)} can't be written, so memory can only be read; check who owns"
                yield "folder", f"{text} it, or set MEMNB_HOME."
                break
        with contextlib.suppress(OSError):
            n_bytes = shutil.disk_usage(self._folder).free
            if n_bytes < 64 << 20:
                yield "folder", f"only {n_bytes >> 20} MB are left for {shown(self._folder)}."

    def sqlite_version(self) -> str:
        """Which SQLite is in use."""
        return apsw.sqlite_lib_version()

    def renew_key(self) -> None:
        """Use the key that is there now; make one when there is none."""
        self._key.forget()
        self._key.make()

    def sweep(self, before: float) -> int:
        """Remove temporary files older than `before`, in seconds since 1970; gives how many."""
        n_removed = 0
        folders = (self._folder, self._places.state, self._places.key_file.parent)
        leftovers = {path for folder in folders for path in folder.glob(".*")}
        for path in [*leftovers, *self._folder.glob("*/.*"), *self._places.state.glob("*/.*")]:
            if not _LEFTOVER.fullmatch(path.name):
                continue
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < before:
                    if path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path)
                    else:
                        path.unlink()
                    n_removed += 1
        return n_removed
