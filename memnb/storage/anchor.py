"""The anchor: what this machine saw of a store last, kept apart from the store.

Whoever puts an older copy of a store back, or restores a backup, has every byte of it right; only
what was kept elsewhere tells that it is old.

1. Two lines of fixed length take turns, each signed: a line torn by a power cut leaves the other.
2. A line is written after the change that it names is durable, so the anchor is never ahead of the
   store. It is synced when it matters that it is there: after a forget, and at the end.
"""

from __future__ import annotations

import contextlib
import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memnb.core import canonical
from memnb.errors import MemnbError
from memnb.storage.files import open_private, translated
from memnb.storage.private import create_private, private_folder, sweep

__all__ = ["Anchor", "Anchored", "anchor_file"]

_LINE_BYTES: Final = 512  # a sector: what a disk writes whole
_LINES: Final = 2
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe under its name must not hold us up


@dataclass(frozen=True, slots=True)
class Anchored:
    """The newest version of a store that this machine saw, and its seal."""

    version: int
    seal: bytes


def anchor_file(state: Path, store_id: str) -> Path:
    """Where the anchor of a store is."""
    return state / "anchors" / f"{store_id}.jsonl"


class Anchor:
    """The anchor of one store on this machine."""

    def __init__(
        self, path: Callable[[], Path], store_id: Callable[[], str], key: Callable[[], bytes]
    ) -> None:
        """Keep it at `path`, for the store of this id, signed with `key`."""
        self._path = path
        self._store_id = store_id
        self._key = key
        self._is_swept = False

    @property
    def exists(self) -> bool:
        """Whether this machine has one, readable or not."""
        return self._path().is_file()

    def read(self) -> Anchored | None:
        """What was anchored last; None when there is none, or none that this key signed.

        Raises:
            StoreError: it can't be read.
        """
        path = self._path()
        try:
            with translated(path):
                fd = open_private(path, os.O_RDONLY | _NO_WAIT)
                try:
                    data = os.pread(fd, _LINES * _LINE_BYTES, 0)
                finally:
                    os.close(fd)
        except MemnbError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise
        lines = (data[start : start + _LINE_BYTES] for start in range(0, len(data), _LINE_BYTES))
        return max(filter(None, map(self._parsed, lines)), key=lambda a: a.version, default=None)

    def create(self, anchored: Anchored) -> None:
        """Begin to anchor the store on this machine, or begin anew.

        Raises:
            StoreError: it can't be written.
        """
        path = self._path()
        line = self._line(anchored)
        private_folder(path.parent)
        if not create_private(path, line * _LINES):
            self._write(line * _LINES, 0, sync=True)

    def note(self, anchored: Anchored, *, sync: bool) -> bool:
        """Note a newer version, if this machine anchors the store; False when that failed."""
        if not self.exists:
            return True
        if not self._is_swept:
            self._is_swept = True
            sweep(self._path())
        try:
            offset = anchored.version % _LINES * _LINE_BYTES
            self._write(self._line(anchored), offset, sync=sync)
        except (MemnbError, OSError):
            # What was changed is kept; only that it is the newest isn't noted.
            return False
        return True

    def sync(self) -> None:
        """Make what was noted durable; a courtesy, so it doesn't fail."""
        with contextlib.suppress(MemnbError, OSError):
            fd = open_private(self._path(), os.O_RDWR)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def _write(self, data: bytes, offset: int, *, sync: bool) -> None:
        path = self._path()
        with translated(path):
            fd = open_private(path, os.O_RDWR)
            try:
                os.pwrite(fd, data, offset)
                if sync:
                    os.fsync(fd)
            finally:
                os.close(fd)

    def _line(self, anchored: Anchored) -> bytes:
        body: dict[str, canonical.Value] = {
            "mac": self._mac(anchored),
            "seal": anchored.seal.hex(),
            "store_id": self._store_id(),
            "version": anchored.version,
        }
        return canonical.encode(body).ljust(_LINE_BYTES - 1) + b"\n"

    def _parsed(self, line: bytes) -> Anchored | None:
        try:
            body = canonical.decode(line.rstrip())
            anchored = Anchored(int(body["version"]), bytes.fromhex(body["seal"]))
            mac = str(body["mac"])
        except (MemnbError, KeyError, TypeError, ValueError):
            return None
        return anchored if hmac.compare_digest(mac, self._mac(anchored)) else None

    def _mac(self, anchored: Anchored) -> str:
        data = f"anchor {self._store_id()} {anchored.version} {anchored.seal.hex()}".encode()
        return hmac.digest(self._key(), data, "sha256").hex()
