"""`make picture`: the picture in the README, of a real JupyterLab with the quickstart just run."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from running import HERE, QUICKSTART, environment, executed, fresh_project

sys.path.insert(0, str(HERE.parent / "tests"))
from lab import browser_page, lab_server, open_notebook, run_to_end

PICTURE = HERE.parent / "docs" / "images" / "later.png"
SHOWN = ("%load_ext memnb", "%%agent", "%memory why", "facts = %memory facts")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "picture"
        project = fresh_project(folder, QUICKSTART)
        environ = environment(folder)
        for path, _ in executed(project, QUICKSTART[:1], environ):
            print(f"executed {path.name}")
        later = project / QUICKSTART[1]
        notebook = nbformat.read(later, as_version=4)
        notebook.cells = [
            cell
            for cell in notebook.cells
            if cell.cell_type == "code" and cell.source.startswith(SHOWN)
        ]
        nbformat.write(notebook, later)
        with (
            lab_server(project, folder / "lab", environ) as address,
            browser_page(1180, 860) as page,
        ):
            open_notebook(page, address, later.name)
            for number in range(len(notebook.cells)):
                run_to_end(page, number, seconds=300)
            page.locator(".jp-Notebook .jp-CodeCell").first.scroll_into_view_if_needed()
            PICTURE.parent.mkdir(parents=True, exist_ok=True)
            page.locator(".jp-NotebookPanel").screenshot(path=PICTURE)
    print(f"took {PICTURE.name}")


if __name__ == "__main__":
    main()
