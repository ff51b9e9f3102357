"""Real Git repositories for tests, made with the git binary and no configuration of the user's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git binary here")


def git(folder: Path, *arguments: str) -> str:
    """Run git in `folder` and return what it printed."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        [
            "git",
            *("-c", "user.name=Test", "-c", "user.email=test@example.org"),
            *("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"),
            *arguments,
        ],
        cwd=folder,
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def make_repository(folder: Path, *, message: str = "first") -> Path:
    """A repository at `folder` with one commit, whose id depends on `message`."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    commit(folder, message)
    return folder


def commit(folder: Path, message: str) -> str:
    """Add an empty commit and return its id."""
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")
