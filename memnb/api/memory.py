"""The face for programs: one object whose methods are the verbs of `%memory`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from memnb.api.conversing import Conversing
from memnb.api.notes import Notes
from memnb.api.operating import Operating
from memnb.api.reviewing import Reviewing
from memnb.core import ids
from memnb.core.messages import Model
from memnb.runtime import Origin, Runtime
from memnb.storage.files import shown
from memnb.storage.places import find_places
from memnb.storage.project_restoring import restore_record

__all__ = ["Memory", "open_memory", "restore_project"]


def open_memory(
    path: str | os.PathLike[str] | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    model: str | Model | None = None,
    read_only: bool = False,
) -> Memory:
    """The memory of a project; close it, or use it in a `with` block.

    Args:
        path: a folder or notebook of the project; the working folder when left out.
        home: where memory is kept, instead of MEMNB_HOME and the user's data folder.
        model: who answers `ask`: a name such as `openai/gpt-5-mini`, or a model object.
        read_only: nothing is written, not even when asked to.

    Raises:
        StoreError: the store is damaged, too new, unreadable or not safe.
        ConfigError: an environment variable names a place that can't be.
    """
    runtime = Runtime(
        Origin(environ=os.environ, cwd=Path.cwd(), label="a Python script"),
        path=None if path is None else Path(path),
        home=None if home is None else Path(home),
        model=model,
        read_only=read_only,
    )
    return Memory(runtime)


def restore_project(path: str | os.PathLike[str] | None = None) -> str:
    """Write a project's damaged or missing `project.json` anew; says what was done.

    Raises:
        InputError: it isn't damaged. StoreDamaged: the memory beside it doesn't say enough.
    """
    start = Path.cwd() if path is None else Path(path)
    now = ids.stamp(datetime.now(UTC))  # noqa: TID251  # there is no runtime without a project
    places = find_places(os.environ)
    file, store_id = restore_record(start, places, now=now, environ=os.environ)
    return f"{shown(file)} is written anew, for {store_id}"


class Memory(Reviewing, Conversing, Operating):
    """The memory of one project, as `%memory` has it; every method is one of its verbs."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on what `runtime` holds open; use `memnb.open()` instead."""
        super().__init__(runtime)
        self.notes = Notes(runtime)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session and let go of files, database and model."""
        self._runtime.close("close")
