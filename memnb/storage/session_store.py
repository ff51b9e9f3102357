"""The sessions of a project: one append-only file for each conversation."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from memnb.core.ids import SESSION_ID, require_session_id
from memnb.core.records import OPEN, ChainHead
from memnb.errors import MemnbError
from memnb.storage.index_file import IndexFile
from memnb.storage.locks import is_locked
from memnb.storage.session_reader import SessionReader
from memnb.storage.session_writer import SessionWriter

__all__ = ["SessionStore"]


class SessionStore:
    """The sessions of one project."""

    def __init__(
        self,
        folder: Path,
        store_id: Callable[[], str],
        *,
        label: str,
        clock: Callable[[], str],
        load_key: Callable[[], bytes] | None = None,
        ensure: Callable[[], None] = lambda: None,
    ) -> None:
        """Keep sessions in `folder`.

        Args:
            folder: made by whoever begins the first session.
            store_id: the store's id, which is settled when the project's folder is made.
            label: what we are called to those who wait for us.
            clock: the present as a UTC stamp.
            load_key: gives the key that signs what is kept of long sessions to open them faster;
                None to keep nothing.
            ensure: called before that is written; raises an error of ours when it may not be.
        """
        self._folder = folder
        self._store_id = store_id
        self._label = label
        self._clock = clock
        self._load_key = load_key
        self._ensure = ensure
        self._readers: dict[tuple[str, str], SessionReader] = {}

    @property
    def store_id(self) -> str:
        """The store whose sessions these are."""
        return self._store_id()

    def ids(self) -> list[str]:
        """All session ids, oldest first."""
        try:
            names = [path.stem for path in self._folder.glob("S-*.jsonl")]
        except OSError:
            return []
        return sorted(name for name in names if SESSION_ID.match(name))

    def stamps(self) -> dict[str, str]:
        """For each session what tells whether its file changed: its place, size and time."""
        found: dict[str, str] = {}
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                session_id, _, suffix = entry.name.partition(".")
                if suffix == "jsonl" and SESSION_ID.match(session_id):
                    with contextlib.suppress(OSError):
                        found[session_id] = _stamp(entry.stat(follow_symlinks=False))
        return found

    def stamp(self, session_id: str) -> str:
        """What `stamps` gives for one session; "" when it has no file."""
        try:
            return _stamp(self._path(session_id).lstat())
        except OSError:
            return ""

    def heads(self) -> Iterator[ChainHead]:
        """How far each session reaches; one that can't be read is left out."""
        for session_id in self.ids():
            with contextlib.suppress(MemnbError):
                head = self.reader(session_id).chain_head
                # A crash may have left one without a whole record.
                yield head if head.seq else replace(head, n_bytes=OPEN)

    def exists(self, session_id: str) -> bool:
        """Whether there is a session of exactly this id."""
        return bool(SESSION_ID.match(session_id)) and self._path(session_id).is_file()

    def reader(self, session_id: str) -> SessionReader:
        """The reader of a session, up to date.

        Raises:
            UnknownId: no such session. StoreTooNew: a newer version of memnb wrote it.
        """
        reader = self._reader(session_id)
        reader.refresh()
        return reader

    def writer(self, session_id: str) -> SessionWriter:
        """Become the writer of a session, new or existing; a torn tail is set aside first.

        Raises:
            SessionHeld: another process writes it.
        """
        return SessionWriter(self._reader(session_id), self._label, self._clock)

    def is_held(self, session_id: str) -> bool:
        """Whether some process writes this session now."""
        return is_locked(self._path(session_id).with_suffix(".lock"))

    def _reader(self, session_id: str) -> SessionReader:
        require_session_id(session_id)
        ids = (self._store_id(), session_id)
        reader = self._readers.get(ids)
        if reader is None:
            path = self._path(session_id)
            reader = SessionReader(path, *ids, kept=self._index_file(path, ids))
            reader = self._readers.setdefault(ids, reader)
        return reader

    def _index_file(self, path: Path, ids: tuple[str, str]) -> IndexFile | None:
        if self._load_key is None:
            return None
        return IndexFile(path, ids, load_key=self._load_key, ensure=self._ensure)

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.jsonl"


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"
