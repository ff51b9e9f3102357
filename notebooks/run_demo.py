"""`make demo`: the quickstart on the local model, two notebooks and two kernels, from nothing.

Prints the answer that rests on a fact told in the other kernel, with its receipt, and an address to
open: a page when nobody sits at the terminal, else a JupyterLab with the two notebooks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from running import QUICKSTART, environment, executed, fresh_project, shown


def main() -> int:
    folder = Path(os.environ.get("MEMNB_DEMO") or Path.home() / ".cache" / "memnb-dev" / "demo")
    project = fresh_project(folder, QUICKSTART)
    environ = environment(folder)
    print("running the quickstart: two notebooks, each in a kernel of its own …", flush=True)
    pages = []
    for path, notebook in executed(project, QUICKSTART, environ):
        print(f"\n━━ {path.name}", flush=True)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                print(f"\n{_prompted(cell.source)}\n{shown(cell)}", flush=True)
        subprocess.run(
            [sys.executable, "-m", "nbconvert", "--log-level=ERROR", "--to", "html", str(path)],
            check=True,
            env=environ,
        )
        pages.append(path.with_suffix(".html"))
    print("\n━━ to open:")
    for page in pages:
        print(f"   {page.as_uri()}")
    if sys.stdout.isatty() and sys.stdin.isatty():
        print("   and live, in JupyterLab (Ctrl-C ends it):", flush=True)
        return subprocess.call(
            [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1",
             f"--ServerApp.root_dir={project}", "--LabApp.news_url=None"],
            env=environ,
        )  # fmt: skip
    return 0


def _prompted(source: str) -> str:
    return "\n".join(f"  │ {line}" for line in source.splitlines())


if __name__ == "__main__":
    sys.exit(main())
