"""What the `git` program knows of a repository's history, asked so that the repository can't act.

1. No variable of Git's own environment is passed on: it could point at another repository.
2. Nothing of the repository runs and nothing is fetched, whatever its configuration says.
3. No answer within two seconds, or no `git`, is "unknown", never an error.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

__all__ = ["known_commits", "root_commit"]

_TIMEOUT_SECONDS: Final = 2.0
_QUIET: Final = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would run its remote's command for an object
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SAFE: Final = (
    "--no-pager",
    "--no-optional-locks",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.fsmonitor=false",
)


def root_commit(repository: Path, environ: Mapping[str, str] | None = None) -> str | None:
    """The first commit of the repository whose shared Git folder is given; None when unknown.

    Of several the smallest, so that the answer doesn't depend on order. A shallow clone has none:
    its oldest commit changes with the next fetch.
    """
    if _is_shallow(repository):
        return None
    answer = _git(repository, ("rev-list", "--max-parents=0", "HEAD"), environ=environ)
    return min(answer.split(), default=None) if answer else None


def known_commits(
    repository: Path, commits: Collection[str], environ: Mapping[str, str] | None = None
) -> frozenset[str] | None:
    """Those of `commits` (full hex ids) that the repository has; None when unknown."""
    if not commits:
        return frozenset()
    asked = "".join(f"{commit}\n" for commit in commits)
    answer = _git(repository, ("cat-file", "--batch-check"), asked=asked, environ=environ)
    if answer is None:
        return None
    lines = (line.split() for line in answer.splitlines())
    return frozenset(words[0] for words in lines if words[1:2] == ["commit"])


def _is_shallow(repository: Path) -> bool:
    try:
        return (repository / "shallow").exists()
    except OSError:
        return True


def _git(
    repository: Path,
    arguments: tuple[str, ...],
    *,
    asked: str = "",
    environ: Mapping[str, str] | None,
) -> str | None:
    variables = os.environ if environ is None else environ
    program = _program(variables.get("PATH", ""))
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - no shell, an absolute program, arguments of ours
            (program, f"--git-dir={repository}", *_SAFE, *arguments),
            env={**{k: v for k, v in variables.items() if not k.startswith("GIT_")}, **_QUIET},
            cwd=repository,
            input=asked.encode(),
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("ascii", "replace") if done.returncode == 0 else None


def _program(search_path: str) -> str | None:
    """The `git` of the search path; a relative entry could be the notebook's own folder."""
    name = "git.exe" if os.name == "nt" else "git"
    for entry in search_path.split(os.pathsep):
        program = Path(entry) / name
        if program.is_absolute() and os.access(program, os.X_OK) and program.is_file():
            return str(program)
    return None
