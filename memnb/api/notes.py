"""Notes for programs: read, write, append, edit, by name."""

from __future__ import annotations

from memnb.api.workspace_results import NoteList, NoteView
from memnb.memory import noting
from memnb.memory.stores import Stores
from memnb.runtime import Runtime
from memnb.storage.note_store import Note

__all__ = ["Notes"]


class Notes:
    """The notes of a project: MEMORY, scratchpad, today, a date, or a name of your own."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on the notes of what `runtime` holds open."""
        self._runtime = runtime

    def read(self, name: str = "MEMORY") -> NoteView:
        """A note with all its text; empty when there is none yet.

        Raises:
            InvalidName: no note can have this name.
        """
        return self._view(self._stores.notes.read(noting.find(self._stores, name)))

    def show(self, name: str = "MEMORY") -> NoteView:
        """The beginning of a note, at most 2,048 bytes of whole lines."""
        found = noting.find(self._stores, name)
        preview = noting.preview(self._stores, found)
        return self._view(self._stores.notes.read(found), preview.text)

    def write(self, name: str, text: str, *, version: str) -> NoteView:
        """Replace a note that was read as `version` ("" for a new one).

        Raises:
            FileChanged: it was changed since. SecretFound, HiddenText: it must not be stored.
        """
        self._runtime.require_writing()
        stores = self._stores
        return self._view(noting.write(stores, noting.find(stores, name), text, version=version))

    def append(self, name: str, text: str) -> NoteView:
        """Add lines at the end of a note."""
        self._runtime.require_writing()
        stores = self._stores
        return self._view(noting.append(stores, noting.find(stores, name), text))

    def edit(self, name: str, old: str, new: str) -> NoteView:
        """Replace the one place where a note says `old`.

        Raises:
            InvalidText: it isn't there, or more than once.
        """
        self._runtime.require_writing()
        stores = self._stores
        return self._view(noting.edit(stores, noting.find(stores, name), old, new))

    def names(self) -> NoteList:
        """The notes there are."""
        files = self._stores.notes.names()
        return NoteList(tuple((str(f.name), f.n_bytes, f.modified_at) for f in files))

    @property
    def _stores(self) -> Stores:
        return self._runtime.memory.stores

    def _view(self, note: Note, text: str | None = None) -> NoteView:
        path = self._runtime.project.folder / note.name.relative
        return NoteView.of(note, str(path), text)
