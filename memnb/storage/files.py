"""Files of ours on disk: private, never a symlink, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from memnb.errors import StoreError, StoreFull, StoreReadOnly, UnsafeFileSystem

__all__ = [
    "fsync_folder",
    "open_private",
    "shown",
    "translated",
    "translation",
    "write_all",
    "write_atomic",
]

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_READ_ONLY: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def open_private(path: Path, flags: int, *, folder_fd: int | None = None) -> int:
    """A descriptor of a file of ours, created 0600; a symlink is refused (OSError ELOOP).

    Args:
        path: where the file is.
        flags: as for os.open.
        folder_fd: the open folder in which only the last part of `path` is looked up.
    """
    return os.open(_within(path, folder_fd), flags | _NO_FOLLOW, 0o600, dir_fd=folder_fd)


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn an OSError over `path` into one of ours, with what to do."""
    try:
        yield
    except OSError as error:
        raise translation(error, path) from error


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`, however many calls it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_atomic(
    path: Path,
    data: bytes,
    *,
    folder_fd: int | None = None,
    last_check: Callable[[], None] | None = None,
) -> None:
    """Put `data` at `path` so that after a crash there is the old content or the new.

    Args:
        path: where the file is or will be.
        data: all of its content.
        folder_fd: the open folder in which only the last part of `path` is looked up, so that
            nobody can swap a folder for a symlink meanwhile.
        last_check: called when all is ready, right before the new content takes the name; what it
            raises calls the write off.

    Raises:
        StoreFull, StoreReadOnly, StoreError: nothing changed at `path`.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    source, target = _within(temporary, folder_fd), _within(path, folder_fd)
    with translated(path):
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            fd = open_private(temporary, flags, folder_fd=folder_fd)
            try:
                write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
            if last_check is not None:
                last_check()
            os.replace(source, target, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(source, dir_fd=folder_fd)
            raise
        if folder_fd is None:
            fsync_folder(path.parent)
        else:
            os.fsync(folder_fd)


def _within(path: Path, folder_fd: int | None) -> str:
    return str(path) if folder_fd is None else path.name


def fsync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: a rename is not, until this is done."""
    if os.name == "nt":  # a folder can't be opened there
        return
    fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def shown(path: Path | str) -> str:
    """A path or name on one line that can be shown and encoded, whatever its names hold."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(path))


def translation(error: OSError, path: Path) -> StoreError:
    """The error of ours for an OSError over `path`, with what to do."""
    place = shown(path)
    if error.errno in _FULL:
        return StoreFull(f"no space left for {place}; free some and run the cell again.")
    if error.errno in _READ_ONLY:
        return StoreReadOnly(f"{place} can't be written; check who owns it, or set MEMNB_HOME.")
    if error.errno == errno.ELOOP:
        return UnsafeFileSystem(f"{place} is a symlink; memnb's own files must be real ones.")
    reason = os.strerror(error.errno) if error.errno else "input/output error"
    return StoreError(f"{place}: {reason}; check the disk and run the cell again.")
