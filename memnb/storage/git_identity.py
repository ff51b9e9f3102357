"""Which project a folder belongs to: the main checkout of its Git repository, else itself.

1. Read from `.git` alone: it works without the `git` program and runs nothing of the repository's.
2. A link counts only when both ends name each other: a `.git` file or a `core.worktree` that came
   with a downloaded folder can't claim the memory of another project.
3. A repository in the home folder or in `/` is ignored: it holds settings, not a project.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memnb.storage.files import shown
from memnb.storage.git_config import is_true, read_settings

__all__ = ["ProjectRoot", "find_root"]

_MAX_LINK_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class ProjectRoot:
    """Where a project is: `root` says which one, `checkout` is what a notebook's tools see.

    `repository` is the Git folder that all checkouts share; None outside Git. `reads_files` is
    False when the home folder lies in the checkout: tools read no files there.
    """

    root: Path
    checkout: Path
    notices: tuple[str, ...]
    repository: Path | None
    reads_files: bool


@dataclass(frozen=True, slots=True)
class _Repository:
    """The Git folder of one checkout, and the one it shares with the others."""

    own: Path
    common: Path


class _BrokenError(Exception):
    """`.git` is there and leads nowhere; the text says how."""


def find_root(start: Path, *, user_home: Path) -> ProjectRoot:
    """The project of the folder (or file) `start`; never fails for what it finds there.

    Linked worktrees and nested folders share the main checkout, a submodule is its own, a bare
    repository is the root of its worktrees, and outside Git the folder is its own root. Rules:
    memory model, section 2.
    """
    folder = start.resolve()
    if stat.S_ISREG(_mode(folder)):
        folder = folder.parent
    home = user_home.resolve()
    ignored = {home, Path(folder.anchor)}
    try:
        found = _search(folder, ignored)
    except _BrokenError as broken:
        found = (folder, folder, None, str(broken))
    root, checkout, repository, notice = found
    return ProjectRoot(
        root=root,
        checkout=checkout,
        notices=(notice,) if notice else (),
        repository=repository,
        reads_files=not home.is_relative_to(checkout),
    )


def _search(folder: Path, ignored: set[Path]) -> tuple[Path, Path, Path | None, str]:
    for candidate in (folder, *folder.parents):
        if candidate in ignored:
            continue
        repository = _repository_at(candidate)
        if repository is None:
            continue
        root, notice = _root_of(candidate, repository)
        if root in ignored:
            continue
        in_git_folder = repository.own == candidate
        return root, root if in_git_folder else candidate, repository.common, notice
    return folder, folder, None, ""


def _root_of(checkout: Path, repository: _Repository) -> tuple[Path, str]:
    """The root for `checkout`, or the checkout itself when only one end of the link says so."""
    main = _main_checkout(repository.common)
    if repository.own != repository.common:
        if _is_linked(checkout, repository):
            return main, ""
        return checkout, (
            f"{shown(checkout)} is a linked worktree that its repository doesn't know; it counts as"
            " a project of its own. Run `git worktree repair` there if it was moved."
        )
    if repository.common.is_relative_to(checkout):
        return main, ""
    # A repository kept elsewhere, as `git init --separate-git-dir` makes, doesn't say whose it is.
    return (main if main == checkout else checkout), ""


def _main_checkout(common: Path) -> Path:
    """The main checkout of a repository; a bare one is its own, or the parent of its `.git`."""
    try:
        settings = read_settings(common)
    except OSError:
        raise _unreadable(common / "config") from None
    worktree = settings.get("core.worktree")
    if worktree and not is_true(settings, "core.bare"):
        declared = _resolved(common, worktree)
        if declared is not None and _leads_to(declared, common):
            return declared
    return common.parent if common.name == ".git" else common


def _leads_to(folder: Path, common: Path) -> bool:
    try:
        repository = _repository_at(folder)
    except _BrokenError:
        return False
    return repository is not None and repository.own == common


def _is_linked(checkout: Path, repository: _Repository) -> bool:
    """Whether the repository keeps this worktree in its list, at this place."""
    own = repository.own
    if own.parent != repository.common / "worktrees":
        return False
    if own == checkout:  # we stand in the Git folder itself
        return True
    try:
        back = _link(own / "gitdir", "")
    except _BrokenError:
        return False
    return back is not None and back.parent == checkout and back.name == ".git"


def _repository_at(folder: Path) -> _Repository | None:
    """The repository whose checkout or Git folder `folder` is.

    Raises:
        _BrokenError: `.git` is no folder and doesn't lead to a repository, or can't be read.
    """
    entry = folder / ".git"
    mode = _mode(entry)
    if stat.S_ISDIR(mode):
        repository = _repository_in(entry)
        if repository is not None:  # an empty `.git` is passed by, as Git does
            return repository
    elif mode:
        target = _link(entry, "gitdir: ") if stat.S_ISREG(mode) else None
        repository = _repository_in(target) if target else None
        if repository is None:
            raise _BrokenError(
                f"{shown(entry)} doesn't lead to a Git repository; the folder counts as outside"
                " Git. Repair or remove that file."
            )
        return repository
    return _repository_in(folder)


def _repository_in(git_folder: Path) -> _Repository | None:
    """The repository in a Git folder: it has HEAD, and objects and refs there or in `commondir`."""
    # HEAD of old repositories is a symlink, and dangling before the first commit.
    if not _mode(git_folder / "HEAD", follow=False):
        return None
    own = git_folder.resolve()
    common = _link(own / "commondir", "") or own
    if stat.S_ISDIR(_mode(common / "objects")) and stat.S_ISDIR(_mode(common / "refs")):
        return _Repository(own, common)
    return None


def _link(path: Path, prefix: str) -> Path | None:
    """Where the one-line file `path` points, absolute; None when it is missing or says nothing."""
    if not stat.S_ISREG(_mode(path)):
        return None
    try:
        with path.open("rb") as file:
            text = os.fsdecode(file.read(_MAX_LINK_BYTES)).rstrip("\r\n")
    except OSError:
        raise _unreadable(path) from None
    target = text.removeprefix(prefix)
    return _resolved(path.parent, target) if target and text.startswith(prefix) else None


def _resolved(folder: Path, target: str) -> Path | None:
    """`target` seen from `folder`; None when it is no path or a loop of symlinks."""
    try:
        return (folder / target).resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _mode(path: Path, *, follow: bool = True) -> int:
    """The mode of what is at `path`; 0 when nothing is there."""
    try:
        return path.stat(follow_symlinks=follow).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except PermissionError:
        if ".git" in (path.name, path.parent.name):
            raise _unreadable(path) from None
        return 0
    except OSError:  # a loop of symlinks, a name too long
        return stat.S_IFLNK if path.is_symlink() else 0


def _unreadable(path: Path) -> _BrokenError:
    return _BrokenError(
        f"{shown(path)} can't be read; the folder counts as outside Git. Check who owns it."
    )
