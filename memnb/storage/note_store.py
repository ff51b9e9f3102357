"""A person's Markdown notes on disk: written whole, backed up, never over an edit not yet seen.

1. A write says which version it was made from; when the file is another one now, nothing changes.
   That is looked at again right before the new content takes the name, so that an editor that
   saves meanwhile loses nothing.
2. The old content is whole in `<file>.bak` before the new one takes its name.
3. No symlink below the project's folder is followed, read or written through.
4. A note that isn't UTF-8 is shown as well as it can be, and never written.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from memnb.core import ids, note_names
from memnb.core.note_names import FOLDERS, NoteName
from memnb.errors import (
    FileChanged,
    InvalidText,
    StoreDamaged,
    StoreFull,
    UnsafeFileSystem,
)
from memnb.storage.files import open_private, translated, write_atomic
from memnb.storage.locks import FileLock
from memnb.storage.private import private_folder

__all__ = ["MAX_NOTE_BYTES", "Note", "NoteFile", "NoteStore"]

MAX_NOTE_BYTES: Final = 1024 * 1024

_BACKUP: Final = ".bak"
_LEFTOVER: Final = re.compile(r"\..+\.md(?:\.bak)?\.[0-9a-f]{8}\.tmp\Z")
_READ_ATTEMPTS: Final = 3
_ORDER: Final = {"memory": 0, "scratchpad": 1, "named": 2, "daily": 3}
# Without O_NONBLOCK, opening a pipe under a note's name would wait for ever.
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_OPEN_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_LATEST_SECONDS: Final = 253402300799  # the last one that a datetime can name


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it was loaded; `version` is "" while there is no file.

    `is_writable` is False for one that isn't UTF-8: its text shows U+FFFD for what can't be read.
    """

    name: NoteName
    text: str
    version: str
    is_writable: bool = True


@dataclass(frozen=True, slots=True)
class NoteFile:
    """An existing note: how large it is, and when it was changed (UTC stamp)."""

    name: NoteName
    n_bytes: int
    modified_at: str


class NoteStore:
    """The notes of one project."""

    def __init__(
        self, folder: Path, *, label: str = "memnb", wait_ms: Callable[[], int] = lambda: 5000
    ) -> None:
        """Keep notes in the project's `folder`.

        Args:
            folder: made at the first write.
            label: what to call ourselves to those who wait for us, such as a notebook.
            wait_ms: gives the longest wait for another writer.
        """
        self.folder = folder
        self._lock = FileLock(folder / "notes.lock", label=label)
        self._wait_ms = wait_ms

    def read(self, name: NoteName) -> Note:
        """The note as it is now; empty, with version "", when there is none.

        Raises:
            UnsafeFileSystem: a symlink or something else than a file has its name.
            StoreFull: the file is larger than 1 MiB. FileChanged: it is being written just now.
        """
        return _note(name, self._load(name, name.file))

    def read_backup(self, name: NoteName) -> Note:
        """What the note was before its last write through here; raises as `read` does."""
        return _note(name, self._load(name, name.file + _BACKUP))

    def write(self, name: NoteName, text: str, *, version: str) -> Note:
        """Replace the note by `text`, when the file is still the `version` that was loaded.

        Raises:
            FileChanged: it is another one, or is gone, or is there now; it stays as it is.
            InvalidText: more than 1 MiB. StoreDamaged: the file isn't UTF-8.
            StoreBusy, StoreFull, StoreReadOnly, UnsafeFileSystem, StoreError: nothing changed.
        """
        return self.change(name, lambda _: text, version=version)

    def append(self, name: NoteName, text: str) -> Note:
        """Add `text` as lines of their own at the end of the note; raises as `write` does."""
        return self.change(name, lambda old: _ended(old) + _ended(text))

    def change(
        self, name: NoteName, make: Callable[[str], str], *, version: str | None = None
    ) -> Note:
        """Replace the note by what `make` makes of its text; other memnb writers wait meanwhile.

        Args:
            name: which note.
            make: must be short; what it raises calls the change off.
            version: the one that must be there; None for whatever is there now.

        Returns:
            The note as it is on the disk afterwards.

        Raises:
            As `write`, and whatever `make` raises.
        """
        private_folder(self.folder)
        if name.folder:
            private_folder(self.folder / name.folder)
        with self._lock.held(self._wait_ms()):
            return self._change(name, make, version)

    def names(self) -> list[NoteFile]:
        """The notes there are: MEMORY, scratchpad, the named by name, the daily by date.

        A file that has no note's name, and a symlink, is none.
        """
        found: list[NoteFile] = []
        for folder in FOLDERS:
            found.extend(self._files(folder))
        return sorted(found, key=lambda file: (_ORDER[file.name.kind], file.name.text))

    def backups(self) -> list[NoteName]:
        """The notes that have a backup, whether or not they are still there themselves."""
        return [file.name for folder in FOLDERS for file in self._files(folder, _BACKUP)]

    def close(self) -> None:
        """Let go of the lock file."""
        self._lock.close()

    def _change(self, name: NoteName, make: Callable[[str], str], version: str | None) -> Note:
        path = self.folder / name.relative
        with translated(path), self._opened(name.folder) as folder_fd:
            old = _snapshot(folder_fd, path)
            if version is not None:
                _require(old, version)
            note = _note(name, old)
            if not note.is_writable:
                raise StoreDamaged(
                    f"{name.relative} is not UTF-8 text, so memnb leaves it alone; save it as UTF-8"
                    " in an editor first."
                )
            data = _encoded(make(note.text))
            if old is not None and data == old.data:
                return note  # the backup keeps what the last real change replaced

            def unchanged() -> None:
                _require(_snapshot(folder_fd, path), note.version)

            _sweep(folder_fd)
            if old is not None:
                write_atomic(path.with_name(path.name + _BACKUP), old.data, folder_fd=folder_fd)
            write_atomic(path, data, folder_fd=folder_fd, last_check=unchanged)
            return _note(name, _snapshot(folder_fd, path))

    def _load(self, name: NoteName, file: str) -> _Snapshot | None:
        path = self.folder / name.folder / file
        with translated(path):
            try:
                with self._opened(name.folder) as folder_fd:
                    return _snapshot(folder_fd, path)
            except FileNotFoundError:
                return None

    def _files(self, folder: str, suffix: str = "") -> list[NoteFile]:
        with translated(self.folder / folder):
            try:
                with self._opened(folder) as folder_fd, os.scandir(folder_fd) as entries:
                    files = [_note_file(folder, entry, suffix) for entry in entries]
            except FileNotFoundError:
                return []
        return [file for file in files if file is not None]

    @contextlib.contextmanager
    def _opened(self, folder: str) -> Iterator[int]:
        """The project's folder, or the one below it, held open: names are looked up in it."""
        with contextlib.ExitStack() as stack:
            folder_fd = _open_folder(self.folder, None)
            stack.callback(os.close, folder_fd)
            if folder:
                folder_fd = _open_folder(self.folder / folder, folder_fd)
                stack.callback(os.close, folder_fd)
            yield folder_fd


@dataclass(frozen=True, slots=True)
class _Snapshot:
    data: bytes
    version: str


def _open_folder(path: Path, within_fd: int | None) -> int:
    try:
        return open_private(path, _OPEN_FOLDER, folder_fd=within_fd)
    except NotADirectoryError:  # what Linux says of a symlink when a folder is asked for
        raise UnsafeFileSystem(
            f"{path} is a symlink or a file where memnb keeps a folder; move it away."
        ) from None


def _snapshot(folder_fd: int, path: Path) -> _Snapshot | None:
    """What the file of that name in the folder holds; None when there is none."""
    for _ in range(_READ_ATTEMPTS):
        try:
            fd = open_private(path, _READ, folder_fd=folder_fd)
        except FileNotFoundError:
            return None
        with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            before = os.fstat(fd)
            if not stat.S_ISREG(before.st_mode):
                raise UnsafeFileSystem(f"{path} is not a regular file; move it away.")
            data = file.read(MAX_NOTE_BYTES + 1)
            after = os.fstat(fd)
        if len(data) > MAX_NOTE_BYTES:
            raise StoreFull(f"{path} holds more than 1 MiB; split it into several notes.")
        if len(data) == after.st_size and before.st_mtime_ns == after.st_mtime_ns:
            digest = sha256(data).hexdigest()
            return _Snapshot(data, f"{len(data)}-{after.st_mtime_ns}-{digest}")
    raise FileChanged(f"{path} is being written by another program; try again when it is done.")


def _require(now: _Snapshot | None, version: str) -> None:
    if (now.version if now is not None else "") != version:
        raise FileChanged(
            "the note was changed since it was loaded, and stays as it is; load it again and make"
            " the change there."
        )


def _note(name: NoteName, snapshot: _Snapshot | None) -> Note:
    if snapshot is None:
        return Note(name, "", "")
    try:
        return Note(name, snapshot.data.decode(), snapshot.version)
    except UnicodeDecodeError:
        text = snapshot.data.decode(errors="replace")
        return Note(name, text, snapshot.version, is_writable=False)


def _note_file(folder: str, entry: os.DirEntry[str], suffix: str) -> NoteFile | None:
    if not entry.name.endswith(suffix):
        return None
    name = note_names.from_file(folder, entry.name.removesuffix(suffix))
    if name is None or not entry.is_file(follow_symlinks=False):
        return None
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # removed since the folder was listed
        return None
    modified = datetime.fromtimestamp(min(max(status.st_mtime, 0), _LATEST_SECONDS), UTC)
    return NoteFile(name, status.st_size, ids.stamp(modified))


def _encoded(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InvalidText("the text holds half a character; type or paste it again.") from None
    if len(data) > MAX_NOTE_BYTES:
        raise InvalidText(
            f"a note holds at most 1 MiB; this would be {len(data):,} bytes. Split it into several."
        )
    return data


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _sweep(folder_fd: int) -> None:
    """Remove what killed writers left; under the lock nobody else has a file half written."""
    for name in os.listdir(folder_fd):
        if _LEFTOVER.match(name):
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder_fd)
