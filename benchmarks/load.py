"""`%load_ext memnb` in a running kernel, and what it loads; beside IPython's own autoreload.

Each is loaded in kernels of its own, in turn. The target is 50 ms and no heavy module.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from running_kernel import running_kernel

N = 7
HEAVY = ("litellm", "pandas", "numpy", "pydantic", "ipywidgets", "markdown_it", "openai", "httpx")
TIMED = """
import contextlib, io, sys, time
before = set(sys.modules)
start = time.perf_counter()
with contextlib.redirect_stdout(io.StringIO()):
    get_ipython().extension_manager.load_extension({name!r})
spent = time.perf_counter() - start
loaded = set(sys.modules) - before
print(spent, len(loaded), *[m for m in {heavy!r} if m in loaded])
"""


def main() -> None:
    times: dict[str, list[float]] = {"memnb": [], "autoreload": []}
    modules: dict[str, int] = {}
    heavy: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "project").mkdir()
        environ = {
            "MEMNB_HOME": str(folder / "home"),
            "MEMNB_STATE": str(folder / "state"),
            "IPYTHONDIR": str(folder / "ipython"),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1])]),
        }
        for _ in range(N):
            for extension, found in times.items():
                with running_kernel(folder / "project", environ) as kernel:
                    kernel.run("1")
                    out = kernel.run(TIMED.format(name=extension, heavy=HEAVY)).text.split()
                found.append(float(out[0]) * 1e3)
                modules[extension] = int(out[1])
                if extension == "memnb":
                    heavy.update(out[2:])
    figure, base = report.median(times["memnb"]), report.median(times["autoreload"])
    rows = [
        report.Row("%load_ext, median", figure, base, "ms", "≤ 50 ms", figure <= 50),
        report.Row("modules loaded", modules["memnb"], modules["autoreload"], "modules"),
        report.Row("heavy modules loaded", len(heavy), None, "modules", "0", not heavy),
    ]
    report.show(f"%load_ext memnb in a running kernel, {N} kernels each", rows, items=times)


if __name__ == "__main__":
    main()
