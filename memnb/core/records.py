"""The record: one line of a session, chained to the one before and never re-encoded.

A line is `{"body":…,"head":…}` in canonical JSON. The head holds the digest of the body, and the
next head holds the digest of this one, so a body can be blanked later while the chain still
verifies. The first head holds the digest of store and session, which binds the file to both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from memnb.core import canonical
from memnb.core.canonical import Body, Value
from memnb.errors import InvalidText, StoreDamaged

__all__ = [
    "FORMAT",
    "MAX_RECORD_BYTES",
    "OPEN",
    "ChainHead",
    "Draft",
    "Head",
    "Record",
    "combined",
    "decode_head",
    "digest",
    "encode",
    "evidence_digest",
    "genesis",
    "has_its_body",
    "record_from_line",
    "split",
]

FORMAT: Final = 1
MAX_RECORD_BYTES: Final = 2 * 1024 * 1024

_START: Final = b'{"body":'
_BETWEEN: Final = b',"head":'
_SEPARATOR: Final = b',"head":{'
_BODY_SHA256: Final = re.compile(rb'"body_sha256":"([0-9a-f]{64})"')


@dataclass(frozen=True, slots=True)
class Draft:
    """A record before it has a place: `turn` None means that it opens an exchange itself."""

    type: str
    body: dict[str, Value]
    turn: int | None = 0


@dataclass(frozen=True, slots=True)
class Head:
    """The part of a record that stays for good: position, time, chain."""

    at: str
    body_sha256: str
    generation: int
    prev: str
    seq: int
    turn: int
    type: str


@dataclass(frozen=True, slots=True)
class Record:
    """One record as read: `body` is None when the bytes don't match the head (or were purged)."""

    head: Head
    body: Body | None
    head_digest: str


OPEN: Final = 0
"""In place of a file's bytes: an ended session was resumed, and goes on after its end."""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """How far a session reaches: its last seq, that record's head digest, the file's bytes.

    With seq 0 it is about to be begun.
    """

    session_id: str
    seq: int
    digest: str
    n_bytes: int


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return sha256(data).hexdigest()


def genesis(store_id: str, session_id: str) -> str:
    """What the first record has in place of a predecessor's digest."""
    return digest(f"memnb {FORMAT} {store_id} {session_id}".encode())


def encode(
    draft: Draft, *, seq: int, at: str, generation: int, prev: str, salt: str
) -> tuple[bytes, Head]:
    """The line of a record with its newline, and its head. The salt makes equal bodies differ.

    Raises:
        InvalidText: the record exceeds 2 MiB or holds something that can't be stored.
    """
    body = canonical.encode({**draft.body, "salt": salt})
    head = Head(
        at=at,
        body_sha256=digest(body),
        generation=generation,
        prev=prev,
        seq=seq,
        turn=seq if draft.turn is None else draft.turn,
        type=draft.type,
    )
    line = _START + body + _BETWEEN + head_bytes(head) + b"}\n"
    if len(line) > MAX_RECORD_BYTES:
        raise InvalidText(
            f"one record holds at most {MAX_RECORD_BYTES:,} bytes; this one has {len(line):,}."
            " Keep the data in a file and name the file."
        )
    return line, head


def head_bytes(head: Head) -> bytes:
    """The canonical bytes of a head, which the next record's `prev` is a digest of."""
    return canonical.encode(
        {
            "at": head.at,
            "body_sha256": head.body_sha256,
            "generation": head.generation,
            "prev": head.prev,
            "seq": head.seq,
            "turn": head.turn,
            "type": head.type,
        }
    )


def split(line: bytes) -> tuple[bytes, bytes]:
    """Body and head bytes of a line without its newline, found without parsing.

    Raises:
        StoreDamaged: it is not a record.
    """
    at = line.rfind(_SEPARATOR)
    if at < 0 or not line.startswith(_START) or not line.endswith(b"}}"):
        raise StoreDamaged("a line is not a record; evidence over it is stale.")
    return line[len(_START) : at], line[at + len(_BETWEEN) : -1]


def decode_head(data: bytes) -> Head:
    """The head that `data` holds.

    Raises:
        StoreDamaged: a field is missing, unknown or of another type.
    """
    value = canonical.decode(data)
    try:
        head = Head(**value)
    except TypeError:
        raise StoreDamaged("a record's head has other fields than its format.") from None
    texts = (head.at, head.body_sha256, head.prev, head.type)
    numbers = (head.generation, head.seq, head.turn)
    if not all(type(x) is str for x in texts) or not all(type(x) is int for x in numbers):
        raise StoreDamaged("a record's head holds a value of another type than its format.")
    return head


_head_again = lru_cache(maxsize=2048)(decode_head)
"""The evidence of the facts that every request carries is read again and again."""


def record_from_line(line: bytes) -> Record:
    """The record of a line without its newline.

    Raises:
        StoreDamaged: it is not a record, or its head can't be read.
    """
    body, head_data = split(line)
    head = _head_again(head_data)
    matches = digest(body) == head.body_sha256
    return Record(head, canonical.decode(body) if matches else None, digest(head_data))


def evidence_digest(records: list[Record]) -> str | None:
    """What a reference to these records pins: SHA-256 over their 32-byte head digests.

    None when a body doesn't match its head. The head pins the body, so every byte of the
    records is covered.
    """
    if any(record.body is None for record in records):
        return None
    return combined([record.head_digest for record in records])


def combined(head_digests: Sequence[str]) -> str:
    """The digest over the digests of heads, which a reference to their records pins."""
    return digest(bytes.fromhex("".join(head_digests)))


def has_its_body(body: bytes, head_data: bytes) -> bool:
    """Whether a body is the one that a head names, which must be known to be one.

    Nothing is parsed.
    """
    named = _BODY_SHA256.search(head_data)
    return named is not None and named[1] == digest(body).encode()
