"""Purging a session: bodies of records are blanked in place, everything else stays as it was.

1. A body becomes `null` and blanks: the line keeps its length and its head, so the chain and all
   other evidence still hold.
2. Nothing is written before the line was read anew through the very descriptor that writes, and
   its head is the one that was asked for.
3. The descriptor doesn't append, as a writer's does: with O_APPEND a write at a place goes to the
   end. The session's writer may append meanwhile; what it wrote before never moves.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from memnb.core import records
from memnb.errors import StoreDamaged, StoreMoved, UnsafeFileSystem
from memnb.storage.files import open_private, shown, translated
from memnb.storage.locks import interrupts_wait

__all__ = ["BodyPlace", "blank", "find_bodies"]

_NOTHING: Final = b"null"
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe under a session's name must not hold us up
_BEFORE_BODY: Final = len(b'{"body":')


@dataclass(frozen=True, slots=True)
class BodyPlace:
    """Where the body of a record stands in its file, and what stands there now.

    `sha256` is that of the bytes that are there, whatever the head says of them.
    """

    seq: int
    start: int
    n_bytes: int
    sha256: str
    is_blank: bool


def find_bodies(path: Path, head_digests: Mapping[int, str]) -> dict[int, BodyPlace]:
    """The places of the bodies of these records; one whose head is another is left out.

    Args:
        path: of the session.
        head_digests: for the number of each record the digest of its head.

    Raises:
        UnsafeFileSystem: it is a symlink or no regular file. StoreMoved: it was replaced just now.
    """
    if not head_digests:
        return {}
    with translated(path), _opened(path, os.O_RDONLY) as fd:
        return {place.seq: place for place in _places(fd, head_digests)}


def blank(path: Path, head_digests: Mapping[int, str]) -> tuple[int, ...]:
    """Blank the bodies of these records; when this returns that is on the disk. Interrupts wait.

    Returns:
        The numbers of those that are blank now, also when they were before.

    Raises:
        UnsafeFileSystem, StoreMoved: nothing was written. StoreReadOnly, StoreError: what was not
            blanked can be blanked again.
    """
    if not head_digests:
        return ()
    with translated(path), interrupts_wait(), _opened(path, os.O_RDWR) as fd:
        places = list(_places(fd, head_digests))
        for place in places:
            if not place.is_blank:
                _write_at(fd, _NOTHING.ljust(place.n_bytes), place.start)
        os.fsync(fd)
    return tuple(place.seq for place in places)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    fd = open_private(path, flags | _NO_WAIT)
    try:
        ours, there = os.fstat(fd), path.lstat()
        if not stat.S_ISREG(ours.st_mode):
            raise UnsafeFileSystem(f"{shown(path)} is not a regular file; move it away.")
        if (ours.st_dev, ours.st_ino) != (there.st_dev, there.st_ino):
            raise StoreMoved(f"{path.name} was replaced just now; nothing of it was blanked.")
        yield fd
    finally:
        os.close(fd)


def _places(fd: int, head_digests: Mapping[int, str]) -> Iterator[BodyPlace]:
    last, at = max(head_digests), 0
    with open(fd, "rb", closefd=False) as file:
        for seq, line in enumerate(file, 1):
            if seq in head_digests and line.endswith(b"\n"):
                place = _place(seq, line[:-1], at, head_digests[seq])
                if place is not None:
                    yield place
            if seq >= last:
                return
            at += len(line)


def _place(seq: int, line: bytes, at: int, head_digest: str) -> BodyPlace | None:
    try:
        body, head = records.split(line)
    except StoreDamaged:
        return None
    if records.digest(head) != head_digest or len(body) < len(_NOTHING):
        return None
    is_blank = body == _NOTHING.ljust(len(body))
    return BodyPlace(seq, at + _BEFORE_BODY, len(body), sha256(body).hexdigest(), is_blank)


def _write_at(fd: int, data: bytes, start: int) -> None:
    view = memoryview(data)
    while view:
        n_written = os.pwrite(fd, view, start)
        view, start = view[n_written:], start + n_written
