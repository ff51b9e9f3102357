"""The sessions of a project: one append-only file for each conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memnb.core.ids import SESSION_ID, require_session_id
from memnb.storage.locks import is_locked
from memnb.storage.session_reader import SessionReader
from memnb.storage.session_writer import SessionWriter

__all__ = ["SessionStore"]


class SessionStore:
    """The sessions of one project."""

    def __init__(
        self, folder: Path, store_id: Callable[[], str], *, label: str, clock: Callable[[], str]
    ) -> None:
        """Keep sessions in `folder`.

        Args:
            folder: made by whoever begins the first session.
            store_id: the store's id, which is settled when the project's folder is made.
            label: what we are called to those who wait for us.
            clock: the present as a UTC stamp.
        """
        self._folder = folder
        self._store_id = store_id
        self._label = label
        self._clock = clock
        self._readers: dict[str, SessionReader] = {}

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

    def exists(self, session_id: str) -> bool:
        """Whether there is a session of exactly this id."""
        return bool(SESSION_ID.match(session_id)) and self._path(session_id).is_file()

    def reader(self, session_id: str) -> SessionReader:
        """The reader of a session, up to date.

        Raises:
            UnknownId: no such session. StoreTooNew: a newer version of memnb wrote it.
        """
        require_session_id(session_id)
        reader = self._readers.get(session_id)
        if reader is None:
            reader = SessionReader(self._path(session_id), self._store_id(), session_id)
            self._readers[session_id] = reader
        reader.refresh()
        return reader

    def writer(self, session_id: str) -> SessionWriter:
        """Become the writer of a session, new or existing; a torn tail is set aside first.

        Raises:
            SessionHeld: another process writes it.
        """
        require_session_id(session_id)
        return SessionWriter(
            self._path(session_id), self._store_id(), session_id, self._label, self._clock
        )

    def is_held(self, session_id: str) -> bool:
        """Whether some process writes this session now."""
        return is_locked(self._path(session_id).with_suffix(".lock"))

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.jsonl"
