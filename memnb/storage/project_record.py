"""What `project.json` says of a project: which store it is, and the folder it was kept for."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from memnb.core.canonical import clean_text, decode, encode
from memnb.core.ids import STORE_ID
from memnb.errors import StoreDamaged
from memnb.storage.files import shown, write_atomic
from memnb.storage.private import create_private, read_private

__all__ = [
    "FORMAT",
    "RECORD_NAME",
    "NewerRecord",
    "ProjectRecord",
    "create_record",
    "read_record",
    "replace_record",
]

FORMAT: Final = 1
"""The version of `project.json` that this version of memnb writes."""

RECORD_NAME: Final = "project.json"

_MAX_BYTES: Final = 65_536
_COMMIT: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_KEYS: Final = frozenset(
    {"device", "first_seen_at", "format", "inode", "root", "root_commit", "store_id"}
)
_FILE_URL: Final = "file://"


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """A project as it was last written down.

    `device` and `inode` are decimal text: file systems use all 64 bits, canonical JSON 53.
    """

    store_id: str
    root: Path
    first_seen_at: str
    device: str
    inode: str
    root_commit: str | None


@dataclass(frozen=True, slots=True)
class NewerRecord:
    """A project that a newer version of memnb wrote; `store_id` is "" when it isn't readable."""

    store_id: str
    format: int


def read_record(folder: Path) -> ProjectRecord | NewerRecord | None:
    """The record of the project kept in `folder`; None when there is none.

    Raises:
        StoreDamaged: the file is not what was written.
        UnsafeFileSystem: it is a symlink, or others can write it.
    """
    path = folder / RECORD_NAME
    data = read_private(path, max_bytes=_MAX_BYTES)
    if data is None:
        return None
    try:
        return _parsed(decode(data))
    except (StoreDamaged, ValueError):
        raise StoreDamaged(
            f"{shown(path)} is damaged; restore it from a backup, or write it anew with `python -m"
            " memnb doctor --repair`. The memory beside it is intact."
        ) from None


def create_record(folder: Path, record: ProjectRecord) -> bool:
    """Write the first record of a project; False when another process was first."""
    return create_private(folder / RECORD_NAME, _bytes(record))


def replace_record(folder: Path, record: ProjectRecord) -> None:
    """Write `record` in place of the one that is there, whole or not at all."""
    write_atomic(folder / RECORD_NAME, _bytes(record))


def _bytes(record: ProjectRecord) -> bytes:
    return encode(
        {
            "device": record.device,
            "first_seen_at": record.first_seen_at,
            "format": FORMAT,
            "inode": record.inode,
            "root": _root_text(record.root),
            "root_commit": record.root_commit,
            "store_id": record.store_id,
        }
    )


def _parsed(body: dict[str, Any]) -> ProjectRecord | NewerRecord:
    version, store_id = body.get("format"), body.get("store_id")
    if type(version) is not int:  # JSON's true equals 1
        raise ValueError("format")
    if version > FORMAT:
        readable = isinstance(store_id, str) and STORE_ID.match(store_id)
        return NewerRecord(store_id=str(store_id) if readable else "", format=version)
    if version != FORMAT or body.keys() != _KEYS:
        raise ValueError("not a project")
    return ProjectRecord(
        store_id=_text(body, "store_id", STORE_ID),
        root=_root(_text(body, "root")),
        first_seen_at=_text(body, "first_seen_at"),
        device=_text(body, "device"),
        inode=_text(body, "inode"),
        root_commit=None if body["root_commit"] is None else _text(body, "root_commit", _COMMIT),
    )


def _text(body: dict[str, Any], key: str, form: re.Pattern[str] | None = None) -> str:
    value = body[key]
    if not isinstance(value, str) or not value or (form and not form.match(value)):
        raise ValueError(key)
    return value


def _root_text(root: Path) -> str:
    """The path as text; as a file URL when its bytes are no UTF-8, so that it can be read back."""
    text = str(root)
    return text if clean_text(text) == text else root.as_uri()


def _root(text: str) -> Path:
    if text.startswith(_FILE_URL):
        text = os.fsdecode(unquote_to_bytes(text.removeprefix(_FILE_URL)))
    root = Path(text)
    if not root.is_absolute() or "\0" in text:
        raise ValueError("root")
    return root
