"""A memory to forget in: by its processes (`desk`), and as a person has it (`memory`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memnb
from memories import Desk

Opener = Callable[..., memnb.Memory]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "project")
    yield desk
    desk.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a project, with its notebooks."""
    folder = tmp_path / "churn-model"
    folder.mkdir()
    return folder


@pytest.fixture
def reopen(folder: Path) -> Iterator[Opener]:
    """Opens the project once more, as another kernel does."""
    opened: list[memnb.Memory] = []

    def opener(**options: Any) -> memnb.Memory:
        opened.append(memnb.open(folder, **options))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(reopen: Opener) -> memnb.Memory:
    return reopen()


def notebook(path: Path, *sources: object, outputs: object = (), ascii_only: bool = False) -> None:
    """A notebook with a cell for each source; `outputs` are those of the last one."""
    cells = [
        {"cell_type": "code", "source": source, "outputs": [], "metadata": {}} for source in sources
    ]
    cells[-1]["outputs"] = list(outputs)  # type: ignore[call-overload]
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content, ensure_ascii=ascii_only, indent=1), encoding="utf-8")
