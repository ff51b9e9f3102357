"""The private folders and files memnb keeps: ours alone, whatever the umask says.

1. Folders are 0700 and files 0600; one of ours that was opened up is closed again.
2. A symlink, or a folder or file that others own and can enter, is refused.
3. A file that several processes may create appears whole, once: the second finds the first's.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from memnb.errors import StoreDamaged, UnsafeFileSystem
from memnb.storage.files import fsync_folder, open_private, shown, translated, write_all

__all__ = ["create_private", "private_folder", "read_private", "sweep"]

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
# Without it, opening a pipe under one of our names would wait for ever.
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)


def private_folder(path: Path) -> Path:
    """The folder at `path`, made with its parents when missing, entered by nobody but us.

    Raises:
        UnsafeFileSystem: a symlink or no folder is there, others own it, or modes don't hold.
        StoreReadOnly, StoreFull: it can't be made.
    """
    with translated(path):
        _make(path)
        if os.name != "nt":  # no modes there: the user's profile is private by its access list
            _close_to_others(path)
    return path


def read_private(path: Path, *, max_bytes: int) -> bytes | None:
    """What a file of ours holds; None when there is none.

    Raises:
        UnsafeFileSystem: a symlink or no file is there, or others own and can read it.
        StoreDamaged: it is longer than `max_bytes`.
    """
    with translated(path):
        try:
            fd = open_private(path, os.O_RDONLY | _NO_WAIT)
        except FileNotFoundError:
            return None
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise UnsafeFileSystem(f"{shown(path)} is not a regular file; move it away.")
            if os.name != "nt":
                _tighten(fd, status, path)
            data = os.read(fd, max_bytes + 1)
        finally:
            os.close(fd)
    if len(data) > max_bytes:
        raise StoreDamaged(f"{shown(path)} is too long to be ours; restore it from a backup.")
    return data


def create_private(path: Path, data: bytes) -> bool:
    """Create a file that holds `data`, durably; False when another process was first.

    Nobody ever sees it empty or in part, and a crash leaves no such file.

    Raises:
        StoreReadOnly, StoreFull, StoreError: nothing was created.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    with translated(path):
        try:
            _write_new(temporary, data)
            created = _give_name(temporary, path, data)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        if created:
            fsync_folder(path.parent)
            sweep(path)
    return created


def _make(path: Path) -> None:
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        if path.parent == path:
            raise
        _make(path.parent)
        try:
            path.mkdir(mode=0o700)  # still no parent: nothing can be made here, as under /proc
        except FileExistsError:
            return
    if os.name != "nt":
        path.chmod(0o700)  # the umask may have taken our own permissions away
    fsync_folder(path.parent)


def _close_to_others(path: Path) -> None:
    try:
        # O_DIRECTORY with O_NOFOLLOW calls a symlink "not a directory" too.
        fd = open_private(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except NotADirectoryError:
        raise UnsafeFileSystem(
            f"{shown(path)} is a symlink or a file where memnb keeps a folder; move it away."
        ) from None
    try:
        status = os.fstat(fd)
        if status.st_mode & stat.S_ISVTX and status.st_mode & _OTHERS:
            raise UnsafeFileSystem(
                f"{shown(path)} is shared with others; name a folder in it instead."
            )
        _tighten(fd, status, path)
    finally:
        os.close(fd)


def _tighten(fd: int, status: os.stat_result, path: Path) -> None:
    if not status.st_mode & _OTHERS:
        return
    if status.st_uid != os.geteuid():
        raise UnsafeFileSystem(
            f"{shown(path)} is open to others and not yours; set MEMNB_HOME and MEMNB_STATE to"
            " folders that you own."
        )
    os.fchmod(fd, stat.S_IMODE(status.st_mode) & ~_OTHERS)
    if os.fstat(fd).st_mode & _OTHERS:
        raise UnsafeFileSystem(
            f"{shown(path)} stays open to others: its file system keeps no permissions. Set"
            " MEMNB_HOME and MEMNB_STATE to folders on another one."
        )


def _write_new(path: Path, data: bytes) -> None:
    fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        if os.name != "nt":
            os.fchmod(fd, 0o600)  # whatever the umask is
        write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def _give_name(temporary: Path, path: Path, data: bytes) -> bool:
    try:
        # A link fails when the name is taken, where a rename would replace the file.
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except FileNotFoundError:  # the winner's sweep took our temporary file
        return False
    except OSError:
        # A file system without hard links: create it directly, whole only if we aren't killed.
        try:
            _write_new(path, data)
        except FileExistsError:
            return False
    return True


def sweep(path: Path) -> None:
    """Remove temporary files of `path` that killed processes left."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        with contextlib.suppress(OSError):
            leftover.unlink()
