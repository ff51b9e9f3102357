"""Reading a session: its chain verified from the first record on, its records found by number.

1. What was read once is indexed, and the index of a long session is kept on the disk: refreshing
   takes in what was appended since.
2. The index is checked against the file: against its identity, its size, the last line that was
   indexed, and each record that is read. When they disagree the whole file is read anew.
3. Without its first record a file belongs to no session.
4. Threads share a reader: one refreshes at a time, and the others see the index before or after.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from memnb.core import records
from memnb.core.entries import Entries
from memnb.core.records import ChainHead, Record
from memnb.errors import StoreDamaged, UnknownId
from memnb.storage.files import open_private, translated, translation
from memnb.storage.index_file import IndexFile
from memnb.storage.locks import on_fork_in_child
from memnb.storage.session_index import SessionIndex

__all__ = ["SessionReader"]


_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe under its name must not hold us up
_CHUNK_BYTES: Final = 1024 * 1024
_WORTH_KEEPING_BYTES: Final = 256 * 1024
"""So much is read in some 10 ms; less than that needs no kept index."""
_WORTH_KEEPING_PART: Final = 256
"""An index is written anew for this part of a file, so that a long one isn't all the time."""


class SessionReader:
    """The records of one session, found by number through an index that is checked as it grows."""

    def __init__(
        self, path: Path, store_id: str, session_id: str, *, kept: IndexFile | None = None
    ) -> None:
        """Read from `path`; nothing is opened before `refresh`. `kept` is where its index lies."""
        self.path = path
        self.session_id = session_id
        self._genesis = records.genesis(store_id, session_id)
        self._kept = kept
        self._one_at_a_time = threading.RLock()
        on_fork_in_child(self, SessionReader._unlock)
        self._reset()

    def refresh(self) -> None:
        """Take in what was appended since; start over when the file was replaced or shortened.

        Raises:
            UnknownId: there is no such file.
        """
        with self._one_at_a_time:
            self._refresh()

    def _refresh(self) -> None:
        try:
            fd = open_private(self.path, os.O_RDONLY | _NO_WAIT)
        except FileNotFoundError:
            self._reset()
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

    @property
    def last_seq(self) -> int:
        """The number of the last whole record; 0 when there is none."""
        return self._index.last_seq

    @property
    def entries(self) -> Entries:
        """An entry for each record: what it is, and what it says about others."""
        return self._index.entries

    @property
    def chain_head(self) -> ChainHead:
        """How far the session reaches: its last record that fits, and all bytes of whole lines."""
        index = self._index
        return ChainHead(self.session_id, index.confirmed, index.confirmed_digest, index.end)

    @property
    def tail_digest(self) -> str:
        """What the next record has to name as its predecessor."""
        return self._index.prev

    @property
    def torn_bytes(self) -> int:
        """Bytes after the last whole line: what a crash left, or an append that is under way."""
        return self._torn

    def digest_at(self, seq: int) -> str | None:
        """The head digest of record `seq`, None when there is none."""
        return self._index.digest_at(seq)

    def records(self, seqs: Sequence[int]) -> dict[int, Record | None]:
        """The records of these numbers, read anew; None for a damaged one, absent ones left out."""
        wanted = [seq for seq in seqs if 0 < seq <= self.last_seq]
        if not wanted:
            return {}
        with self._one_at_a_time, translated(self.path):
            fd = open_private(self.path, os.O_RDONLY | _NO_WAIT)
            try:
                return {seq: self._record(fd, seq) for seq in wanted}
            finally:
                os.close(fd)

    def pins(self, seqs: Sequence[int]) -> dict[int, str | None]:
        """The head digests of these records, of which every byte is read anew.

        None for one that isn't as it was written, absent ones left out.
        """
        wanted = [seq for seq in seqs if 0 < seq <= self.last_seq]
        if not wanted:
            return {}
        with self._one_at_a_time, translated(self.path):
            fd = open_private(self.path, os.O_RDONLY | _NO_WAIT)
            try:
                return {seq: self._pin(line, seq) for seq, line in self._lines(fd, wanted)}
            finally:
                os.close(fd)

    def span_digest(self, first: int, last: int) -> str:
        """SHA-256 over all bytes of the records `first` to `last`, as they are in the file now."""
        index, found = self._index, sha256()
        at = index.offsets[first - 1]
        end = index.offsets[last] if last < index.last_seq else index.end
        with translated(self.path):
            fd = open_private(self.path, os.O_RDONLY | _NO_WAIT)
            try:
                while at < end and (data := os.pread(fd, min(_CHUNK_BYTES, end - at), at)):
                    found.update(data)
                    at += len(data)
            finally:
                os.close(fd)
        return found.hexdigest()

    def _record(self, fd: int, seq: int) -> Record | None:
        line = self._index.line_at(fd, seq)
        if line is None:
            self._disagrees = True  # the file can't change behind our back
            return None
        try:
            record = None if self._index.is_damaged(seq) else records.record_from_line(line)
        except StoreDamaged:
            return None
        if record and record.body is not None and self._index.entries.kind(seq).blank:
            self._disagrees = True  # a body came back: what it says isn't in the index
            return None
        return record

    def _pin(self, line: bytes, seq: int) -> str | None:
        try:
            digest = self._index.pin(line, seq)
        except StoreDamaged:
            self._disagrees = True  # the file can't change behind our back
            return None
        if digest is not None and self._index.entries.kind(seq).blank:
            self._disagrees = True  # a body came back: what it says isn't in the index
            return None
        return digest

    def _lines(self, fd: int, seqs: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Lines as they stand in the file; those that lie side by side in one reading."""
        index = self._index
        ends = [index.offsets[seq] if seq < index.last_seq else index.end for seq in seqs]
        at, data = 0, b""
        for n, seq in enumerate(seqs):
            start, end = index.offsets[seq - 1], ends[n]
            if end > at + len(data) or start < at:
                beside = n
                while beside + 1 < len(seqs) and seqs[beside + 1] == seqs[beside] + 1:
                    beside += 1
                size = max(end - start, min(ends[beside] - start, _CHUNK_BYTES))
                at, data = start, os.pread(fd, size, start)
            yield seq, data[start - at : end - at]

    def _reset(self) -> None:
        self._index = SessionIndex.empty(self._genesis)
        self._identity: tuple[int, int] | None = None
        self._disagrees = False
        self._kept_end = 0
        self._torn = 0

    def _unlock(self) -> None:
        """In a forked child, where no thread is left that would."""
        self._one_at_a_time = threading.RLock()

    def _follow(self, fd: int) -> None:
        status = os.fstat(fd)
        goes_on = self._goes_on(fd, status)
        self._identity = None  # an interrupt leaves an index that can't be gone on with
        index = self._index if goes_on else self._begun(fd)
        _take(index, fd, status.st_size)
        self._index = index
        self._identity = (status.st_dev, status.st_ino)
        self._torn = status.st_size - self._index.end
        self._keep(status.st_ino)

    def _goes_on(self, fd: int, status: os.stat_result) -> bool:
        """Whether the file is still the one that was indexed, as far as it was."""
        if self._disagrees or self._identity != (status.st_dev, status.st_ino):
            return False
        return status.st_size >= self._index.end and self._index.ends_in(fd)

    def _begun(self, fd: int) -> SessionIndex:
        """The kept index, or an empty one."""
        index = None if self._kept is None or self._disagrees else self._kept.load(fd)
        self._disagrees = False
        self._kept_end = index.end if index is not None else 0
        return index if index is not None else SessionIndex.empty(self._genesis)

    def _keep(self, inode: int) -> None:
        end = self._index.end
        worth = max(_WORTH_KEEPING_BYTES, end // _WORTH_KEEPING_PART)
        if self._kept is not None and end - self._kept_end >= worth:
            self._kept_end = end
            self._kept.save(self._index, inode)


def _take(index: SessionIndex, fd: int, size: int) -> None:
    """Index the lines up to byte `size`."""
    position = index.end
    pieces: list[bytes] = []
    while position < size and (data := os.pread(fd, min(_CHUNK_BYTES, size - position), position)):
        position += len(data)
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = b"".join((*pieces, lines[0]))
            pieces.clear()
        for line in lines:
            index.take(line)
        pieces.append(rest)
