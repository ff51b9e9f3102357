"""■ while an answer streams: how long until the cell is back, beside a bare sleep's interrupt."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from running_kernel import LOAD, Kernel, running_kernel

N = 7
SLOW = (
    'slow = memnb.ScriptedModel([memnb.ScriptedReply("one two three " * 400, delay_seconds=0.05)],'
    " repeat_last=True)"
)


def stopped(kernel: Kernel, code: str, sign: str) -> float:
    request = kernel.start(code)
    kernel.wait_for(request, sign)
    time.sleep(0.3)
    start = time.perf_counter()
    kernel.interrupt()
    kernel.finish(request)
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "project").mkdir()
        environ = {
            "MEMNB_HOME": str(folder / "home"),
            "MEMNB_STATE": str(folder / "state"),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1])]),
        }
        with running_kernel(folder / "project", environ) as kernel:
            kernel.run(LOAD + SLOW)
            for _ in range(N):
                ours.append(stopped(kernel, "%%agent -m slow\nCount.", "two three"))
                bare.append(
                    stopped(
                        kernel, "import time\nprint('here', flush=True)\ntime.sleep(60)", "here"
                    )
                )
    figure, base = report.median(ours), report.median(bare)
    extra = figure - base
    rows = [
        report.Row("interrupt until the cell is back", figure, base, "ms, median"),
        report.Row("more than a bare sleep", extra, None, "ms", "≤ 100 ms", extra <= 100),
    ]
    report.show("Interrupt of a streaming answer", rows, items={"agent": ours, "sleep": bare})


if __name__ == "__main__":
    main()
