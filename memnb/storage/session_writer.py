"""Writing a session: one process, one write and one fsync for an append of any length.

1. A record is on the disk before anything is derived from it.
2. What can't be written whole is taken back; what a crash left torn is set aside, byte for byte.
3. Threads append one after another: a record's place and predecessor are settled with its write.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from memnb.core import records
from memnb.core.records import ChainHead, Draft
from memnb.errors import SessionHeld, StoreDamaged, StoreMoved, StoreTooNew, UnknownId
from memnb.storage.files import fsync_folder, open_private, translated, write_all
from memnb.storage.locks import FileLock, interrupts_wait, on_fork_in_child, require_same_process
from memnb.storage.session_reader import SessionReader

__all__ = ["SessionWriter"]

_SALT_BYTES: Final = 8


class SessionWriter:
    """The one writer of a session, for as long as this object is open."""

    def __init__(self, reader: SessionReader, label: str, clock: Callable[[], str]) -> None:
        """Write what `reader` reads.

        Takes the session's lock and finds its end; raises SessionHeld when another has it.
        """
        self.path = path = reader.path
        self.session_id = session_id = reader.session_id
        self.torn: Path | None = None
        self._clock = clock
        self._pid = os.getpid()
        self._fd: int | None = None
        self._one_at_a_time = threading.Lock()
        self._lock = FileLock(path.with_suffix(".lock"), label=label)
        if not self._lock.try_hold():
            holder = self._lock.holder()
            self._lock.close()
            raise SessionHeld(
                f"session {session_id} is written by {holder}. Go on in your own session, or stop"
                " that kernel first.",
                holder=holder,
            )
        try:
            self._read(reader)
        except BaseException:
            self._lock.close()
            raise
        self._head = reader.chain_head
        self._seq, self._prev, self._end = reader.last_seq, reader.tail_digest, self._head.n_bytes
        on_fork_in_child(self, SessionWriter._let_go)

    @property
    def chain_head(self) -> ChainHead:
        """How far the session reaches."""
        return self._head

    def append(self, *drafts: Draft, generation: int) -> tuple[int, ...]:
        """Write records; they are durable when this returns. Interrupts wait.

        Returns:
            Their numbers.

        Raises:
            InvalidText: a record is too large. StoreFull, StoreReadOnly, StoreError: nothing of
                the append is in the session.
        """
        require_same_process(self._pid)
        with self._one_at_a_time:
            return self._append(drafts, generation)

    def close(self) -> None:
        """Let go of the session."""
        self._let_go()
        self._lock.close()

    def _append(self, drafts: Sequence[Draft], generation: int) -> tuple[int, ...]:
        if not drafts:
            return ()
        lines, heads, prev = [], [], self._prev
        for seq, draft in enumerate(drafts, self._seq + 1):
            line, head = records.encode(
                draft,
                seq=seq,
                at=self._clock(),
                generation=generation,
                prev=prev,
                salt=secrets.token_hex(_SALT_BYTES),
            )
            prev = records.digest(records.split(line.rstrip())[1])
            lines.append(line)
            heads.append(head)
        with interrupts_wait():
            self._write(b"".join(lines))
            self._prev = prev
            self._seq += len(lines)
            self._head = ChainHead(self.session_id, self._seq, prev, self._end)
        return tuple(head.seq for head in heads)

    def _let_go(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, data: bytes) -> None:
        with translated(self.path):
            if self._fd is None:
                self._fd = self._open()
            status = os.fstat(self._fd)
            if not _is_at(self.path, status):
                raise StoreMoved(
                    f"{self.path.name} was deleted, renamed or replaced while this kernel wrote it;"
                    " `%memory new` starts another session."
                )
            if status.st_size != self._end:
                raise StoreDamaged(
                    f"{self.path.name} was changed by something else than memnb; `%memory new`"
                    " starts another session, this file is left as it is."
                )
            try:
                write_all(self._fd, data)
                os.fsync(self._fd)
            except BaseException:
                # A line without its end, or one whose durability nobody promised, must not be
                # built upon.
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, self._end)
                raise
            self._end += len(data)

    def _open(self) -> int:
        """The file: made when the session is new, and never made again."""
        if self._end:
            return open_private(self.path, os.O_RDWR | os.O_APPEND)
        fd = open_private(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            fsync_folder(self.path.parent)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _read(self, reader: SessionReader) -> None:
        """Bring the reader up to date; a torn tail is set aside."""
        with contextlib.suppress(UnknownId):
            reader.refresh()
            _require_known_format(reader)
            if reader.last_seq and reader.digest_at(1) is None:
                raise StoreMoved(
                    f"session {self.session_id} doesn't begin as one of this project; `%memory new`"
                    " starts another, this file is left as it is."
                )
            if reader.torn_bytes:
                self.torn = _set_aside(self.path, reader.chain_head.n_bytes)


def _is_at(path: Path, status: os.stat_result) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (status.st_dev, status.st_ino)


def _set_aside(path: Path, n_bytes: int) -> Path:
    """Move what follows `n_bytes` into a file of its own, then cut it off."""
    with translated(path):
        fd = open_private(path, os.O_RDWR)
        try:
            tail = os.pread(fd, os.fstat(fd).st_size - n_bytes, n_bytes)
            target = path.with_name(f"{path.stem}.torn-{secrets.token_hex(4)}")
            copy = open_private(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                write_all(copy, tail)
                os.fsync(copy)
            finally:
                os.close(copy)
            fsync_folder(path.parent)
            os.ftruncate(fd, n_bytes)
            os.fsync(fd)
        finally:
            os.close(fd)
    return target


def _require_known_format(reader: SessionReader) -> None:
    first = reader.records([1]).get(1)
    if first is None or first.body is None:
        return
    written = first.body.get("format")
    if type(written) is int and written > records.FORMAT:
        raise StoreTooNew(
            f"session {reader.session_id} was written by a newer memnb; upgrade memnb, or start"
            " another with `%memory new`."
        )
