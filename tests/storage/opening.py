"""Places in a test's own folder, projects opened there with known ids, children without rights."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memnb.storage.places import Places
from memnb.storage.project import Project, open_project

NOW = "2026-11-30T09:10:05.123456Z"


def places_in(base: Path) -> Places:
    """Places below `base`, none of which exists, and a person's home with the folder `work`."""
    (base / "user" / "work").mkdir(parents=True)
    return Places(
        home=base / "memnb",
        state=base / "state",
        config_file=base / "memnb" / "config.toml",
        models=base / "memnb" / "models",
        key_file=base / "state" / "key",
        user_home=base / "user",
    )


def store_ids(letter: str) -> Callable[[], str]:
    """Makes the store id that consists of `letter`."""
    return lambda: f"P-{letter * 16}"


def open_at(folder: Path, places: Places, letter: str = "a") -> Project:
    """The project at `folder`; a new one gets the store id that consists of `letter`."""
    return open_project(folder, places, now=NOW, new_store_id=store_ids(letter))


def written(project: Project) -> dict[str, object]:
    """What the project's file says."""
    body: dict[str, object] = json.loads((project.folder / "project.json").read_bytes())
    return body


def bound_by_modes() -> tuple[str, ...]:
    """What to start a child with so that file modes bind it, even when root runs the tests."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root here, and no setpriv to give up its rights with")
    dropped = "-dac_override,-dac_read_search"
    return ("setpriv", "--inh-caps", dropped, "--bounding-set", dropped)
