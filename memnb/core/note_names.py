"""The names of notes: which file of a project's memory each one means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from memnb.errors import InvalidName

__all__ = ["FOLDERS", "MEMORY", "SCRATCHPAD", "NoteKind", "NoteName", "daily", "from_file", "parse"]

NoteKind = Literal["memory", "scratchpad", "daily", "named"]

FOLDERS: Final = ("", "notes", "daily")
"""The folders that hold notes, below the project's own; "" is that one itself."""

_ALIASES: Final[dict[str, NoteKind]] = {
    "MEMORY": "memory",
    "MEMORY.md": "memory",
    "memory": "memory",
    "scratchpad": "scratchpad",
    "scratchpad.md": "scratchpad",
}
_FILES: Final[dict[NoteKind, str]] = {"memory": "MEMORY.md", "scratchpad": "scratchpad.md"}
_PLACES: Final[dict[NoteKind, str]] = {"daily": "daily", "named": "notes"}
_SUFFIX: Final = ".md"

_NAMED: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")
"""What Windows opens as a device, with any extension. Source: Microsoft, Naming Files."""
_TAKEN: Final = frozenset({"memory", "scratchpad", "today"})


@dataclass(frozen=True, slots=True)
class NoteName:
    """One note: `text` is the one way to write its name, `relative` the file that holds it."""

    kind: NoteKind
    text: str

    @property
    def folder(self) -> str:
        """The folder of the file below the project's: one of FOLDERS."""
        return _PLACES.get(self.kind, "")

    @property
    def file(self) -> str:
        """The name of the file in its folder."""
        return _FILES.get(self.kind, self.text + _SUFFIX)

    @property
    def relative(self) -> str:
        """The file, relative to the project's folder, with forward slashes."""
        return f"{self.folder}/{self.file}" if self.folder else self.file

    @property
    def is_trusted(self) -> bool:
        """Whether a person vouches for the text: MEMORY.md only, the rest is reference."""
        return self.kind == "memory"

    def __str__(self) -> str:
        return self.text


MEMORY: Final = NoteName("memory", "MEMORY")
SCRATCHPAD: Final = NoteName("scratchpad", "scratchpad")


def parse(text: str, *, today: date) -> NoteName:
    """The note that a name means: MEMORY, scratchpad, today, a date, or one of the person's own.

    Args:
        text: exactly what was typed; nothing is trimmed or folded.
        today: the local day, for the name `today`.

    Raises:
        InvalidName: no note can have that name.
    """
    kind = _ALIASES.get(text)
    if kind is not None:
        return MEMORY if kind == "memory" else SCRATCHPAD
    if text == "today":
        return daily(today)
    if _DATE.match(text):
        try:
            return daily(date.fromisoformat(text))
        except ValueError:
            raise InvalidName(
                "no such day in the calendar; a daily note is named like 2026-11-30."
            ) from None
    if not _NAMED.match(text):
        raise InvalidName(
            "a note is named MEMORY, scratchpad, today, a date such as 2026-11-30, or with up to 64"
            " of a-z 0-9 - _ such as data-plan."
        )
    if _DEVICES.match(text):
        raise InvalidName("Windows keeps that name for a device; add a word to it.")
    return NoteName("named", text)


def daily(day: date) -> NoteName:
    """The daily note of one day."""
    return NoteName("daily", day.isoformat())


def from_file(folder: str, file: str) -> NoteName | None:
    """The note that a file of one of the FOLDERS holds; None for any other file."""
    if folder == "":
        return next((name for name in (MEMORY, SCRATCHPAD) if name.file == file), None)
    text = file.removesuffix(_SUFFIX)
    if text == file or text in _TAKEN:
        return None
    try:
        name = parse(text, today=date.min)
    except InvalidName:
        return None
    return name if name.folder == folder else None
