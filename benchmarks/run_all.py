"""Run every benchmark, one after another: nothing else should run meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ALL = (
    "load",
    "append",
    "fsyncs",
    "interrupt",
    "open",
    "validate",
    "integrity",
    "facts",
    "present",
    "writers",
    "forgetting",
    "screening",
    "attacks",
    "promotion",
    "recall",
    "reminding",
    "learning",
    "compaction",
    "recall_scale",
    "vectors",
    "local_model",
)


def main() -> int:
    names = sys.argv[1:] or ALL
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    codes = [
        subprocess.run([sys.executable, HERE / f"{name}.py"], env=environ).returncode
        for name in names
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
