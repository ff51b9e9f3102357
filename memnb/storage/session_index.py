"""What is known of a session without reading it again: where each record lies, and what it is.

1. It grows line by line as the file does, and verifies the chain while it grows.
2. A line that can't be read, or that the chain doesn't fit, costs that record; the one after it
   goes on from there.
3. It holds no text: offsets, digests, and an entry for each record.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass, field
from typing import Final

from memnb.core import canonical, records
from memnb.core.canonical import Body
from memnb.core.entries import DAMAGED, Entries, entry_of, needs_body
from memnb.core.records import Head, Record
from memnb.errors import StoreDamaged

__all__ = ["DIGEST_BYTES", "SessionIndex"]

DIGEST_BYTES: Final = 32


@dataclass(slots=True)
class SessionIndex:
    """The records of one session up to a byte of its file, `end`.

    `prev` is what the next record names as its predecessor, unless that one can't be read (then
    `follows` is false); `confirmed` is the last record that fits. `digests` holds 32 bytes for
    each record: the digest of its head, or of its whole line when it is damaged.
    """

    prev: str
    confirmed_digest: str
    confirmed: int = 0
    follows: bool = True
    end: int = 0
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    digests: array[int] = field(default_factory=lambda: array("B"))
    entries: Entries = field(default_factory=Entries)

    @classmethod
    def empty(cls, genesis: str) -> SessionIndex:
        """The index of a session without records, whose first one follows `genesis`."""
        return cls(prev=genesis, confirmed_digest=genesis)

    @property
    def last_seq(self) -> int:
        """The number of the last record; 0 when there is none."""
        return len(self.offsets)

    def is_damaged(self, seq: int) -> bool:
        """Whether record `seq`, which must be there, can't be read or doesn't fit the chain."""
        return self.entries.kind(seq) == DAMAGED

    def digest_at(self, seq: int) -> str | None:
        """The head digest of record `seq`; None when it is damaged or not there."""
        if not 0 < seq <= self.last_seq or self.is_damaged(seq):
            return None
        return self._digest(seq)

    def line_at(self, fd: int, seq: int) -> bytes | None:
        """The line of record `seq`, which must be there, without its newline.

        None when it isn't the line that was indexed, except for its body: that may be gone.
        """
        start = self.offsets[seq - 1]
        end = self.offsets[seq] if seq < self.last_seq else self.end
        line = os.pread(fd, end - start, start)
        if not line.endswith(b"\n"):
            return None
        line = line[:-1]
        try:
            known_by = line if self.is_damaged(seq) else records.split(line)[1]
        except StoreDamaged:
            return None
        return line if records.digest(known_by) == self._digest(seq) else None

    def pin(self, line: bytes, seq: int) -> str | None:
        """The head digest of record `seq`, which must be there, when `line` is it byte for byte.

        None when its body is gone or it is damaged.

        Raises:
            StoreDamaged: it isn't the line that was indexed.
        """
        is_damaged = self.is_damaged(seq)
        body, known_by = (b"", line[:-1]) if is_damaged else records.split(line[:-1])
        digest = records.digest(known_by)
        if not line.endswith(b"\n") or digest != self._digest(seq):
            raise StoreDamaged("a line isn't the one that was indexed.")
        return None if is_damaged or not records.has_its_body(body, known_by) else digest

    def ends_in(self, fd: int) -> bool:
        """Whether the last line is still in its place, so that only what follows it is new."""
        return not self.last_seq or self.line_at(fd, self.last_seq) is not None

    def take(self, line: bytes) -> None:
        """Add the next line, which is given without its newline."""
        seq = self.last_seq + 1
        record = _record(line)
        fits = (
            record is not None
            and record.head.seq == seq
            and (record.head.prev == self.prev or not self.follows)
        )
        self.offsets.append(self.end)
        self.end += len(line) + 1
        if record is not None and fits:
            self.digests.frombytes(bytes.fromhex(record.head_digest))
            self.entries.append(entry_of(record))
            self.confirmed, self.confirmed_digest = seq, record.head_digest
        else:
            self.digests.frombytes(bytes.fromhex(records.digest(line)))
            self.entries.append_damaged()
        if record is not None and self.confirmed:
            self.prev, self.follows = record.head_digest, True
        elif self.confirmed:
            self.follows = False

    def _digest(self, seq: int) -> str:
        return self.digests[(seq - 1) * DIGEST_BYTES : seq * DIGEST_BYTES].tobytes().hex()


def _record(line: bytes) -> Record | None:
    """The record of a line, with its body where that is needed; None when it can't be read."""
    try:
        body, head_bytes = records.split(line)
        head = records.decode_head(head_bytes)
    except StoreDamaged:
        return None
    return Record(head, _body(head, body), records.digest(head_bytes))


def _body(head: Head, data: bytes) -> Body | None:
    if not needs_body(head.type) or records.digest(data) != head.body_sha256:
        return None
    try:
        return canonical.decode(data)
    except StoreDamaged:
        return None
