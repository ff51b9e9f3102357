"""The shipped notebooks under nbval: over memories of their own, never a person's.

The two quickstart notebooks share one memory, each in its own kernel: the second knows what the
first was told. They run the local model, so they are marked `model`, and run alone.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.model)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the environment before nbval starts a notebook's kernel."""
    if item.path.suffix != ".ipynb":
        return
    folder = _folder(item.config, item.path.stem.partition("_later")[0])
    os.environ["MEMNB_HOME"] = str(folder / "home")
    os.environ["MEMNB_STATE"] = str(folder / "state")
    os.environ["IPYTHONDIR"] = str(folder / "ipython")


def _folder(config: pytest.Config, name: str) -> Path:
    folders: dict[str, Path] = config.stash.setdefault(_FOLDERS, {})
    if name not in folders:
        factory = config._tmp_path_factory  # type: ignore[attr-defined]  # noqa: SLF001
        folders[name] = factory.mktemp(name)
    return folders[name]


_FOLDERS = pytest.StashKey[dict[str, Path]]()
