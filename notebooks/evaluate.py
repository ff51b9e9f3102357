"""`make evaluate`: the evaluation notebook with a model, executed in a folder of its own.

python notebooks/evaluate.py FOLDER [MODEL]
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from running import LEARNING, environment, executed, fresh_project, shown

MODEL = "local/qwen2.5-coder-1.5b"
_SETTING = 'MODEL = ""'


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    name = sys.argv[2] if len(sys.argv) > 2 else MODEL
    project = fresh_project(folder, (LEARNING,))
    path = project / LEARNING
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    (cell,) = (cell for cell in notebook.cells if cell.source.startswith(_SETTING))
    cell.source = cell.source.replace(_SETTING, f"MODEL = {name!r}", 1)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
    print(f"running {LEARNING} with {name} …", flush=True)
    for _, done in executed(project, (LEARNING,), environment(folder), timeout=3600):
        for cell in done.cells:
            if cell.cell_type == "code" and shown(cell):
                print(f"\n{shown(cell)}")
    print(f"\nkept in {project}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
