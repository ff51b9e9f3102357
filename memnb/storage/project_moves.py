"""When a repository was moved or replaced: a person is asked, and nothing is merged silently.

1. Memory whose root has vanished is offered to a new project that looks the same; `attach` takes
   it over.
2. Memory whose repository has another history than it was kept for waits for `accept` or
   `set_aside`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from memnb.errors import MemnbError, Refused, StoreTooNew, UnknownId
from memnb.storage.files import fsync_folder, shown, translated
from memnb.storage.git_history import known_commits, root_commit
from memnb.storage.private import private_folder
from memnb.storage.project import SLUG, Project, record_of, slug
from memnb.storage.project_record import ProjectRecord, read_record, replace_record

__all__ = ["Moves", "accept", "attach", "check_moves", "set_aside"]


@dataclass(frozen=True, slots=True)
class Moves:
    """What a person should be asked about a project.

    `mismatch`: its memory was kept for another history, and must not be used before `accept`.
    `attachable`: slugs of projects that `attach` would take over.
    """

    notices: tuple[str, ...] = ()
    mismatch: bool = False
    attachable: tuple[str, ...] = ()


def check_moves(project: Project, *, environ: Mapping[str, str] | None = None) -> Moves:
    """Whether the project was moved here or replaced.

    For a new project that is a look at the others' `project.json`; `git` is asked only when the
    root of one has vanished. For a kept one in a repository `git` is asked once or twice.
    """
    if project.read_only_reason:
        return Moves()
    record = read_record(project.folder)
    if isinstance(record, ProjectRecord):
        return _check_history(project, record, environ)
    return _check_vanished(project, environ)


def attach(project: Project, old_slug: str) -> Project:
    """Take over the memory of `old_slug`, whose root has vanished, for this new project.

    No process may have a session of it open; the caller sees to that. After a crash half-way the
    same call finishes.

    Raises:
        UnknownId: no project of that slug.
        Refused: this project has memory of its own, or the other one's root is still there.
        StoreTooNew: a newer version of memnb wrote it.
    """
    old = project.folder.parent / old_slug
    record = read_record(old) if SLUG.match(old_slug) and not old.is_symlink() else None
    if record is None:
        raise UnknownId("no project of that slug; `%memory project` lists what can be attached.")
    if not isinstance(record, ProjectRecord):
        raise StoreTooNew(f"a newer memnb wrote {old_slug}; update memnb to attach it.")
    if _holds_anything(project.folder):
        raise Refused(f"{project.name} has memory of its own already; nothing was attached.")
    if not _is_orphan(old, record):
        raise Refused(f"{shown(record.root)} still exists; its memory stays with it.")
    attached = replace(
        project, store_id=record.store_id, first_seen_at=record.first_seen_at, is_new=False
    )
    # The record first: a crash in between leaves an orphan that is offered again.
    replace_record(old, record_of(attached))
    _rename(old, project.folder)
    return attached


def accept(project: Project) -> Project:
    """Keep using the project's memory for the repository that is there now: the person said so."""
    replace_record(project.folder, record_of(project))
    return project


def set_aside(project: Project, *, now: str, new_store_id: Callable[[], str]) -> Project:
    """A new project at the same root; the memory kept so far moves away and can be attached.

    No process may have a session of it open; the caller sees to that.
    """
    digest = hashlib.sha256(project.store_id.encode()).hexdigest()[:8]
    readable = project.slug.rpartition("-")[0]
    _rename(project.folder, project.folder.with_name(f"{readable}-{digest}"))
    return replace(project, store_id=new_store_id(), first_seen_at=now, is_new=True)


def _check_history(
    project: Project, record: ProjectRecord, environ: Mapping[str, str] | None
) -> Moves:
    recorded = record.root_commit
    if recorded is None or project.repository is None:
        return Moves()
    current = root_commit(project.repository, environ)
    if current is None or current == recorded:
        return Moves()
    # Another branch may have another first commit; what counts is whether the old one is there.
    known = known_commits(project.repository, [recorded], environ)
    if known is None or recorded in known:
        return Moves()
    notice = (
        f"the memory at {shown(project.root)} was kept for another repository: its first commit is"
        " not in this one. `%memory project accept` uses it here, `%memory project aside` starts"
        " with an empty one."
    )
    return Moves(notices=(notice,), mismatch=True)


def _check_vanished(project: Project, environ: Mapping[str, str] | None) -> Moves:
    orphans = list(_orphans(project.folder.parent))
    commits = {record.root_commit for _, record in orphans if record.root_commit}
    known = known_commits(project.repository, commits, environ) if project.repository else None
    same = [(name, record) for name, record in orphans if _matches(project, record, known)]
    notices = tuple(_offer(project, name, record) for name, record in same)
    return Moves(notices=notices, attachable=tuple(name for name, _ in same))


def _offer(project: Project, name: str, record: ProjectRecord) -> str:
    attach = f"`%memory project attach {name}`"
    if record.root == project.root:
        return f"earlier memory of this folder was put aside: {attach} brings it back."
    return (
        f"this looks like {shown(record.root)}, which has moved: {attach} brings its memory here."
    )


def _orphans(projects: Path) -> Iterator[tuple[str, ProjectRecord]]:
    try:
        folders = sorted(entry for entry in projects.iterdir() if SLUG.match(entry.name))
    except OSError:
        return
    for folder in folders:
        try:
            record = read_record(folder)
        except MemnbError:  # said when that project itself is opened
            continue
        if isinstance(record, ProjectRecord) and _is_orphan(folder, record):
            yield folder.name, record


def _is_orphan(folder: Path, record: ProjectRecord) -> bool:
    """Whether no notebook can reach this memory: its root is gone, or leads to another folder."""
    return folder.name != slug(record.root) or _has_vanished(record.root)


def _has_vanished(root: Path) -> bool:
    try:
        root.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # not seen is not gone
        return False
    return False


def _matches(project: Project, record: ProjectRecord, known: frozenset[str] | None) -> bool:
    if record.root_commit is not None and known is not None:
        return record.root_commit in known
    try:
        status = os.stat(project.root)  # noqa: PTH116 - the pair is compared as text
    except OSError:
        return False
    return (record.device, record.inode) == (str(status.st_dev), str(status.st_ino))


def _holds_anything(folder: Path) -> bool:
    with translated(folder):
        return folder.exists() and any(folder.iterdir())


def _rename(old: Path, new: Path) -> None:
    private_folder(old.parent)
    with translated(old):
        old.rename(new)  # fails when there is anything in `new`
        fsync_folder(old.parent)
