"""A project as memory is kept for it: found at load, written down with its first record.

1. Opening creates nothing: a notebook that only looks leaves no trace.
2. Two kernels that write the first record at once end with one store id.
3. Nothing is written inside the repository, unless MEMNB_HOME itself names a folder there.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from memnb.errors import ConfigError, StoreDamaged, StoreMoved, StoreTooNew
from memnb.storage.files import shown, translated
from memnb.storage.git_history import root_commit
from memnb.storage.git_identity import ProjectRoot, find_root
from memnb.storage.places import Places
from memnb.storage.private import private_folder
from memnb.storage.project_record import (
    RECORD_NAME,
    NewerRecord,
    ProjectRecord,
    create_record,
    read_record,
    replace_record,
)

__all__ = ["SLUG", "Project", "ensure", "found_project", "open_project", "record_of", "slug"]

SLUG: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}-[0-9a-f]{8}\Z")
"""The form of a slug, for one that a person typed."""

_NAME_CHARS: Final = 32
_GIT_FOLDERS: Final = frozenset({".git", ".bare"})


@dataclass(frozen=True, slots=True)
class Project:
    """A project of this kernel; fixed once opened.

    Attributes:
        store_id: the identity that records are bound to; may change once, in `ensure`.
        slug: the name of its folder.
        name: what people call it: the name of its root.
        root: the main checkout, which says which project it is.
        checkout: the notebook's own checkout, which its tools see.
        folder: where its memory is kept; may not exist yet.
        notices: lines to show once.
        first_seen_at: when its memory began.
        repository: the Git folder that its checkouts share; None outside Git.
        reads_files: False when the home folder lies in the checkout: tools read no files there.
        is_new: nothing has been kept for it yet.
        read_only_reason: why nothing may be written; "" when it may.
    """

    store_id: str
    slug: str
    name: str
    root: Path
    checkout: Path
    folder: Path
    notices: tuple[str, ...]
    first_seen_at: str
    repository: Path | None
    reads_files: bool
    is_new: bool
    read_only_reason: str = ""


def slug(root: Path) -> str:
    """The folder name for a resolved root: at most 32 ASCII characters, `-`, 8 of its SHA-256."""
    plain = unicodedata.normalize("NFKD", _name(root)).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9._]+", "-", plain)[:_NAME_CHARS].strip("-._")
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
    return f"{readable or 'project'}-{digest}"


def open_project(
    start: Path, places: Places, *, now: str, new_store_id: Callable[[], str]
) -> Project:
    """The project of the folder `start`, with the memory kept for it if there is any.

    Args:
        start: the notebook's folder.
        places: where memory is kept.
        now: the time to note as first seen, should it be new.
        new_store_id: makes an id, should it be new.

    Raises:
        ConfigError: memnb's default home lies inside the repository.
        StoreDamaged: `project.json` is damaged, or missing beside kept memory.
        StoreMoved: the folder belongs to another project.
        UnsafeFileSystem: others can get at the memory.
    """
    project = found_project(start, places, now=now)
    folder = project.folder
    with translated(folder):
        is_kept = folder.exists()
    if is_kept:
        _close(folder)
    record = read_record(folder)
    if record is None:
        _require_empty(folder)
        return replace(project, store_id=new_store_id(), is_new=True)
    if isinstance(record, NewerRecord):
        reason = (
            f"{shown(folder / RECORD_NAME)} was written by a newer memnb (format {record.format});"
            " its memory is read-only here. Update memnb to write."
        )
        return replace(project, store_id=record.store_id, read_only_reason=reason)
    return _adopted(project, record)


def found_project(start: Path, places: Places, *, now: str) -> Project:
    """The project of the folder `start`, whatever was kept for it; it has no store id yet.

    Raises:
        ConfigError: memnb's default home lies inside the repository.
    """
    found = find_root(start, user_home=places.user_home)
    _require_home_outside(found, places)
    name = slug(found.root)
    return Project(
        store_id="",
        slug=name,
        name=shown(_name(found.root)),
        root=found.root,
        checkout=found.checkout,
        folder=places.projects / name,
        notices=found.notices,
        first_seen_at=now,
        repository=found.repository,
        reads_files=found.reads_files,
        is_new=False,
    )


def ensure(project: Project, *, environ: Mapping[str, str] | None = None) -> Project:
    """The project with its folder and `project.json` on disk; call it before the first record.

    When another kernel was first, its store id is taken over.

    Raises:
        StoreTooNew: a newer version of memnb wrote it.
        StoreMoved: meanwhile the folder has become another project's.
        StoreDamaged, StoreReadOnly, StoreFull, UnsafeFileSystem: see `open_project`.
    """
    if project.read_only_reason:
        raise StoreTooNew(project.read_only_reason)
    _close(project.folder)
    record = read_record(project.folder)
    if record is None:
        _require_empty(project.folder)
        create_record(project.folder, record_of(project, environ=environ))
        record = read_record(project.folder)
    if isinstance(record, NewerRecord):
        raise StoreTooNew(f"a newer memnb is writing {project.name}; update memnb here.")
    if record is None or not (project.is_new or record.store_id == project.store_id):
        raise StoreMoved(
            f"{shown(project.folder)} was replaced or removed meanwhile; restart the kernel."
        )
    if record.root_commit is None and project.repository is not None:
        commit = root_commit(project.repository, environ)
        if commit is not None:
            replace_record(project.folder, replace(record, root_commit=commit))
    return _adopted(project, record)


def record_of(project: Project, *, environ: Mapping[str, str] | None = None) -> ProjectRecord:
    """What is to be written down of `project`, with its root as it is now."""
    try:
        status = project.root.stat()
        device, inode = str(status.st_dev), str(status.st_ino)
    except OSError:  # a folder that was removed under the kernel: its memory is kept all the same
        device = inode = "0"
    commit = root_commit(project.repository, environ) if project.repository else None
    return ProjectRecord(
        store_id=project.store_id,
        root=project.root,
        first_seen_at=project.first_seen_at,
        device=device,
        inode=inode,
        root_commit=commit,
    )


def _name(root: Path) -> str:
    """The root's name; for a bare repository, that of the project it is kept for."""
    if root.name in _GIT_FOLDERS and root.parent.name:
        return root.parent.name
    return root.name.removesuffix(".git") or "root"


def _require_home_outside(found: ProjectRoot, places: Places) -> None:
    if found.repository is None or places.home_is_chosen:
        return
    if any(places.home.is_relative_to(folder) for folder in (found.root, found.checkout)):
        raise ConfigError(
            f"{shown(places.home)}, where memory is kept, lies inside this repository; set"
            " MEMNB_HOME to a folder outside."
        )


def _close(folder: Path) -> None:
    """Make the project's folder, and those above it that are memnb's, private."""
    for ours in (folder.parent.parent, folder.parent, folder):
        private_folder(ours)


def _require_empty(folder: Path) -> None:
    """Refuse to begin anew beside memory whose `project.json` is gone: it names another store."""
    if (folder / "facts.sqlite3").exists() or any((folder / "sessions").glob("S-*.jsonl")):
        raise StoreDamaged(
            f"{shown(folder / RECORD_NAME)} is missing beside kept memory; restore it from a"
            " backup, or write it anew with `python -m memnb doctor --repair`."
        )


def _adopted(project: Project, record: ProjectRecord) -> Project:
    if record.root != project.root:
        raise StoreMoved(
            f"{shown(project.folder)} belongs to {shown(record.root)}, not to this project; move"
            " it back where it was."
        )
    return replace(
        project, store_id=record.store_id, first_seen_at=record.first_seen_at, is_new=False
    )
