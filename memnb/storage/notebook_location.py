"""Where a kernel's notebook is, as far as its front end tells."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from memnb.core.canonical import clean_text
from memnb.errors import ConfigError

__all__ = ["Start", "find_start", "notebook_path"]


class Start(NamedTuple):
    """The folder whose project to open, who said so, and the notebook if it is known."""

    folder: Path
    chosen_by: str
    notebook: Path | None


def find_start(
    environ: Mapping[str, str],
    cwd: Path,
    exists: Callable[[Path], bool],
    *,
    vscode_file: str | None = None,
) -> Start:
    """The folder to look for the project in: MEMNB_PROJECT, else the notebook's, else `cwd`.

    Args:
        environ: the environment's variables.
        cwd: the kernel's working folder, absolute.
        exists: whether there is something at a path.
        vscode_file: what VS Code put into the namespace as `__vsc_ipynb_file__`.

    Raises:
        ConfigError: MEMNB_PROJECT names nothing that exists.
    """
    named = _named_notebook(environ, cwd, exists, vscode_file)
    chosen = environ.get("MEMNB_PROJECT", "")
    if chosen:
        folder = cwd / os.path.expanduser(chosen)  # noqa: PTH111 - expanduser of Path raises
        if not exists(folder):
            raise ConfigError(
                "MEMNB_PROJECT names a folder that doesn't exist; correct or unset it."
            )
        return Start(folder, "MEMNB_PROJECT", named.notebook if named else None)
    return named or Start(cwd, "working folder", None)


def notebook_path(notebook: Path, checkout: Path) -> str:
    """A notebook as it is recorded: relative to the resolved `checkout`, else its name alone.

    POSIX form; bytes that aren't UTF-8 are replaced.
    """
    place = notebook.parent.resolve() / notebook.name
    if place.is_relative_to(checkout):
        return clean_text(place.relative_to(checkout).as_posix())
    return clean_text(notebook.name)


def _named_notebook(
    environ: Mapping[str, str], cwd: Path, exists: Callable[[Path], bool], vscode_file: str | None
) -> Start | None:
    for text, who in (
        (vscode_file, "VS Code"),
        (environ.get("JPY_SESSION_NAME"), "JPY_SESSION_NAME"),
    ):
        if not text:
            continue
        # JupyterLab sends an absolute path, older servers one from a root that we don't know: but
        # a kernel starts in its notebook's folder.
        path = Path(text) if Path(text).is_absolute() else cwd / Path(text).name
        if exists(path):
            return Start(path.parent, who, path)
        if Path(text).is_absolute() and exists(path.parent):
            # Renamed since, never saved, or a console: the folder holds, the name doesn't.
            return Start(path.parent, who, None)
    return None
