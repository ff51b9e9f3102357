"""Executing the shipped notebooks, each in a kernel of its own, over one memory that is new."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
QUICKSTART = ("quickstart.ipynb", "quickstart_later.ipynb")
VERBS = "every_verb.ipynb"
LEARNING = "learning.ipynb"
RECALL = "recall.ipynb"

_BESIDE = {
    LEARNING: (
        "learning_controls.py",
        "learning_local.py",
        "learning_protocol.py",
        "learning_script.py",
        "learning_tables.py",
        "data/learning_scenarios.json",
    ),
    RECALL: ("recall_tables.py",),
}
"""What a notebook needs beside it."""


def environment(folder: Path) -> dict[str, str]:
    """What keeps a run away from the person's own memory and settings; weights are shared."""
    return {
        **os.environ,
        "MEMNB_HOME": str(folder / "home"),
        "MEMNB_STATE": str(folder / "state"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
        # The kernel of this environment, wherever the person has others.
        "JUPYTER_DATA_DIR": str(folder / "jupyter_data"),
        "JUPYTER_PATH": str(Path(sys.prefix) / "share" / "jupyter"),
    }


def fresh_project(folder: Path, names: tuple[str, ...]) -> Path:
    """A project folder with copies of these notebooks, and no memory yet."""
    shutil.rmtree(folder, ignore_errors=True)
    project = folder / "churn-model"
    project.mkdir(parents=True)
    for name in names:
        for file in (name, *_BESIDE.get(name, ())):
            (project / file).parent.mkdir(exist_ok=True)
            shutil.copy(HERE / file, project / file)
    return project


def executed(
    project: Path, names: tuple[str, ...], environ: Mapping[str, str], *, timeout: int = 600
) -> Iterator[tuple[Path, nbformat.NotebookNode]]:
    """Run each notebook from the first cell to the last, in a new kernel; saves and yields it."""
    for name in names:
        path = project / name
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            resources={"metadata": {"path": project}},
        )
        client.execute(env=dict(environ))
        nbformat.write(notebook, path)
        yield path, notebook


def shown(cell: nbformat.NotebookNode) -> str:
    """What a cell shows, as plain text."""
    texts = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        texts.append(output.get("text") or data.get("text/plain", ""))
    return "\n".join(text.rstrip() for text in texts if text)
