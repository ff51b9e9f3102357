"""`make notebooks`: execute the shipped notebooks, and store them with their outputs.

What differs from machine to machine is taken out: paths, times, execution metadata.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import nbformat
from running import HERE, LEARNING, QUICKSTART, RECALL, VERBS, environment, executed, fresh_project

_SECONDS = re.compile(r" · \d+(?:\.\d+)? s\b")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        for names in (QUICKSTART, (VERBS,), (LEARNING,), (RECALL,)):
            folder = Path(name).resolve() / "run"
            project = fresh_project(folder, names)
            for path, notebook in executed(project, names, environment(folder)):
                _clean(notebook, str(folder))
                nbformat.write(notebook, path)
                shutil.copy(path, HERE / path.name)
                print(f"executed {path.name}")


def _clean(notebook: nbformat.NotebookNode, folder: str) -> None:
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            if "text" in output:
                output["text"] = _neutral(output["text"], folder)
            for mime, text in output.get("data", {}).items():
                if isinstance(text, str):
                    output["data"][mime] = _neutral(text, folder)


def _neutral(text: str, folder: str) -> str:
    models = os.environ.get("MEMNB_MODELS")
    text = text.replace(models, "~/models") if models else text
    return _SECONDS.sub("", text.replace(folder, "~"))


if __name__ == "__main__":
    main()
