"""Reading a session: its chain verified from the first record on, its records found by number.

1. A line that can't be read, or that the chain doesn't fit, costs that record; the one after it
   goes on from there. What was put in or taken out shows in the head that the facts keep.
2. Without its first record a file belongs to no session.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from memnb.core import records
from memnb.core.records import ChainHead, Head, Record
from memnb.errors import StoreDamaged, UnknownId
from memnb.storage.files import open_private, translated, translation

__all__ = ["SessionReader"]


_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe under a session's name must not hold us up


class SessionReader:
    """The records of one session, found by number through offsets that are checked as they grow."""

    def __init__(self, path: Path, store_id: str, session_id: str) -> None:
        """Read from `path`; nothing is opened before `refresh`."""
        self.path = path
        self.session_id = session_id
        self._genesis = records.genesis(store_id, session_id)
        self._identity: tuple[int, int] | None = None
        self._end = 0
        self._torn = 0
        self._prev = self._genesis
        self._follows = True  # whether the next record's predecessor could be read
        self._confirmed = (0, self._genesis)  # the last record that fits, and its digest
        self._offsets: list[int] = []
        self._digests: list[str | None] = []
        self._heads: list[Head | None] = []

    def refresh(self) -> None:
        """Take in what was appended since; start over when the file was replaced or shortened.

        Raises:
            UnknownId: there is no such file.
        """
        try:
            fd = open_private(self.path, os.O_RDONLY | _NO_WAIT)
        except FileNotFoundError:
            raise UnknownId(
                f"no session {self.session_id} in this project; `%memory sessions` lists them."
            ) from None
        except OSError as error:
            raise translation(error, self.path) from error
        try:
            with translated(self.path):
                self._follow(fd)
        finally:
            os.close(fd)

    def _follow(self, fd: int) -> None:
        status = os.fstat(fd)
        identity = (status.st_dev, status.st_ino)
        if identity != self._identity or status.st_size < self._end:
            self._reset()
            self._identity = identity
        if status.st_size > self._end:
            self._take(os.pread(fd, status.st_size - self._end, self._end))

    @property
    def last_seq(self) -> int:
        """The number of the last whole record; 0 when there is none."""
        return len(self._offsets)

    @property
    def heads(self) -> Sequence[Head | None]:
        """All heads in order; None where a line can't be read."""
        return self._heads

    @property
    def chain_head(self) -> ChainHead:
        """How far the session reaches: its last record that fits, and all bytes of whole lines."""
        seq, digest = self._confirmed
        return ChainHead(self.session_id, seq, digest, self._end)

    @property
    def tail_digest(self) -> str:
        """What the next record has to name as its predecessor."""
        return self._prev

    @property
    def torn_bytes(self) -> int:
        """Bytes after the last whole line: what a crash left, or an append that is under way."""
        return self._torn

    def digest_at(self, seq: int) -> str | None:
        """The head digest of record `seq`, None when there is none."""
        return self._digests[seq - 1] if 0 < seq <= self.last_seq else None

    def records(self, seqs: Sequence[int]) -> dict[int, Record | None]:
        """The records of these numbers, read anew; None for a damaged one, absent ones left out."""
        wanted = [seq for seq in seqs if 0 < seq <= self.last_seq]
        if not wanted:
            return {}
        with translated(self.path):
            fd = open_private(self.path, os.O_RDONLY)
            try:
                return {seq: self._record(fd, seq) for seq in wanted}
            finally:
                os.close(fd)

    def _record(self, fd: int, seq: int) -> Record | None:
        start = self._offsets[seq - 1]
        end = self._offsets[seq] if seq < self.last_seq else self._end
        line = os.pread(fd, end - start, start)
        try:
            record = records.record_from_line(line.removesuffix(b"\n"))
        except StoreDamaged:
            return None
        # The digest seen when the chain was verified: the file can't change behind our back.
        return record if record.head_digest == self._digests[seq - 1] else None

    def _reset(self) -> None:
        self._identity = None
        self._end = self._torn = 0
        self._prev, self._follows = self._genesis, True
        self._confirmed = (0, self._genesis)
        self._offsets, self._digests, self._heads = [], [], []

    def _take(self, data: bytes) -> None:
        position = 0
        while (newline := data.find(b"\n", position)) >= 0:
            self._take_line(data[position:newline], self._end + position)
            position = newline + 1
        self._end += position
        self._torn = len(data) - position

    def _take_line(self, line: bytes, offset: int) -> None:
        seq = len(self._offsets) + 1
        self._offsets.append(offset)
        head, digest = _head_of(line)
        fits = (
            head is not None and head.seq == seq and (head.prev == self._prev or not self._follows)
        )
        self._heads.append(head if fits else None)
        self._digests.append(digest if fits else None)
        if fits:
            self._confirmed = (seq, digest)
        if fits or (head is not None and self._confirmed[0]):
            self._prev, self._follows = digest, True
        elif self._confirmed[0]:
            self._follows = False


def _head_of(line: bytes) -> tuple[Head | None, str]:
    try:
        _, data = records.split(line)
        return records.decode_head(data), records.digest(data)
    except StoreDamaged:
        return None, ""
