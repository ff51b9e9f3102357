r"""`<session>.idx`: the index of a long session, kept beside it so that opening is no reading.

It is derived. It may be deleted, cut, overwritten or swapped for another at any time, which costs
one reading of the session and never changes an answer; what is read of a session is checked against
its digests as ever.

    memnb session index 1\n
    length of the header, 4 bytes, little-endian
    header, canonical JSON:
        byte_order                   of the columns: the machine's own
        inode, end                   of the session: its file, and how much of it is indexed
        prev, follows, confirmed     how the chain goes on (see SessionIndex)
        kinds                        [first record, type, asks, sensitive, target, blank, carried]
        lengths                      of the columns, in items
    columns, one after another:
        offsets 8 bytes, digests 32 bytes, turns 8, generations 8, codes of kinds 4 (an item for
        each record), asked 8, events 8 (for each such record): about 62 bytes a record
    HMAC-SHA256, 32 bytes

1. It decides what of a session can be seen, so it is signed with the key of this machine, over
   all its bytes, the store's id, the session's id and the version of memnb: what another version
   made of the records isn't taken over. It is read and checked as a whole, before anything of it
   is believed: what lay on the disk until it is needed could be cut in between.
2. It is written beside its name and renamed, without an fsync: one that a crash tore has no valid
   signature. Whoever can't write it, or has no key, goes without.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from memnb import __version__
from memnb.core import canonical
from memnb.core.canonical import Body
from memnb.core.entries import Columns, Entries, Kind
from memnb.errors import MemnbError
from memnb.storage.files import open_private
from memnb.storage.session_index import DIGEST_BYTES, SessionIndex

__all__ = ["IndexFile"]

_MAGIC: Final = b"memnb session index 1\n"
_LENGTH_BYTES: Final = 4
_CODES: Final = "QBqqIQQ"
"""Of the columns, in order, as the module `array` names what they hold."""

_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe under its name must not hold us up


class IndexFile:
    """The kept index of one session."""

    def __init__(
        self,
        session: Path,
        ids: tuple[str, str],
        *,
        load_key: Callable[[], bytes],
        ensure: Callable[[], None],
    ) -> None:
        """Keep the index of the file `session` beside it.

        Args:
            session: the session's file.
            ids: of the store and of the session.
            load_key: gives the key that signs it.
            ensure: raises an error of ours when nothing may be written.
        """
        self._path = session.with_suffix(".idx")
        self._bound_to = "\0".join(("session index", __version__, *ids)).encode()
        self._load_key = load_key
        self._ensure = ensure

    def load(self, session_fd: int) -> SessionIndex | None:
        """The index, when it is ours and fits the session's file as it is; else None."""
        try:
            with os.fdopen(open_private(self._path, os.O_RDONLY | _NO_WAIT), "rb") as file:
                index = self._read(file, os.fstat(session_fd))
        except (OSError, ValueError, TypeError, KeyError, MemnbError):
            return None
        return index if index is not None and index.ends_in(session_fd) else None

    def save(self, index: SessionIndex, session_inode: int) -> None:
        """Keep `index`, when that can be done: nothing depends on it."""
        temporary = self._path.with_name(f".{self._path.name}.tmp")
        with contextlib.suppress(OSError, MemnbError):
            self._ensure()
            mac = self._mac()
            try:
                temporary.unlink(missing_ok=True)
                fd = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                with os.fdopen(fd, "wb") as file:
                    for piece in _pieces(index, session_inode):
                        mac.update(piece)
                        file.write(piece)
                    file.write(mac.digest())
                temporary.replace(self._path)
            finally:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)

    def _mac(self) -> hmac.HMAC:
        return hmac.new(self._load_key(), self._bound_to, "sha256")

    def _read(self, file: BinaryIO, session: os.stat_result) -> SessionIndex | None:
        status = os.fstat(file.fileno())
        # Nothing of it is believed yet: this only saves the reading of what can't be ours.
        if not stat.S_ISREG(status.st_mode) or status.st_size > session.st_size:
            return None
        start = file.read(len(_MAGIC) + _LENGTH_BYTES)
        n_header = int.from_bytes(start[len(_MAGIC) :], "little")
        if not start.startswith(_MAGIC) or n_header > status.st_size:
            return None
        header_bytes = file.read(n_header)
        header = canonical.decode(header_bytes)
        columns = tuple(array(code) for code in _CODES)
        n_bytes = [
            column.itemsize * n for column, n in zip(columns, header["lengths"], strict=True)
        ]
        n_all = len(start) + n_header + sum(n_bytes) + DIGEST_BYTES
        if (
            header["byte_order"] != sys.byteorder
            or header["inode"] != str(session.st_ino)
            or min(n_bytes) < 0
            or n_all != status.st_size
        ):
            return None
        mac = self._mac()
        mac.update(start + header_bytes)
        for column, n in zip(columns, n_bytes, strict=True):
            piece = file.read(n)
            mac.update(piece)
            column.frombytes(piece)
        is_signed = hmac.compare_digest(mac.digest(), file.read(DIGEST_BYTES))
        return _index(header, columns) if is_signed else None


def _pieces(index: SessionIndex, session_inode: int) -> list[bytes | array[int]]:
    """What is signed of an index, in order."""
    columns = _columns_of(index)
    header = canonical.encode(
        {
            "byte_order": sys.byteorder,
            "confirmed": [index.confirmed, index.confirmed_digest],
            "end": index.end,
            "follows": index.follows,
            "inode": str(session_inode),  # some file systems have larger ones than JSON may hold
            "kinds": [
                [first, *kind[:-1], sorted(kind.carried)]
                for first, kind in index.entries.columns.kinds
            ],
            "lengths": [len(column) for column in columns],
            "prev": index.prev,
        }
    )
    return [_MAGIC + len(header).to_bytes(_LENGTH_BYTES, "little") + header, *columns]


def _columns_of(index: SessionIndex) -> tuple[array[int], ...]:
    entries = index.entries.columns
    return (
        index.offsets,
        index.digests,
        entries.turns,
        entries.generations,
        entries.codes,
        entries.asked,
        entries.events,
    )


def _index(header: Body, columns: tuple[array[int], ...]) -> SessionIndex:
    offsets, digests, turns, generations, codes, asked, events = columns
    kinds = [
        (first, Kind(*fields)._replace(carried=frozenset(carried)))
        for first, *fields, carried in header["kinds"]
    ]
    confirmed, confirmed_digest = header["confirmed"]
    return SessionIndex(
        prev=header["prev"],
        confirmed_digest=confirmed_digest,
        confirmed=confirmed,
        follows=header["follows"],
        end=header["end"],
        offsets=offsets,
        digests=digests,
        entries=Entries(Columns(turns, generations, codes, asked, events, kinds)),
    )
