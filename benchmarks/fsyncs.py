"""How many fsyncs a turn costs, counted by strace in a child process.

A plain turn: the person's message, then everything else. With a fact: one more, for its commit.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import report

TARGETS = {"plain": 2, "fact": 3, "note": None}

CHILD = """
import os, sys
import memnb
from memnb import ScriptedReply
kinds, n = sys.argv[1].split(","), 0
with memnb.open(model=memnb.ScriptedModel(["Hello."])) as memory:
    memory.remember("The first fact makes the database.")
    memory.ask("The first turn begins the session.")
    for kind in kinds:
        n += 1
        text = f"We always keep rule {n}."
        calls = {
            "plain": (),
            "fact": (("memory_remember", {"text": text}),),
            "note": (("memory_write", {"name": "scratchpad", "text": "a line"}),),
        }[kind]
        model = memnb.ScriptedModel([*([ScriptedReply(calls=calls)] if calls else []), "Done."])
        try: os.stat(f"/MARK-{kind}")
        except OSError: pass
        memory.ask(text, model=model, mode="auto")
        try: os.stat("/MARK-end")
        except OSError: pass
"""


def main() -> None:
    if shutil.which("strace") is None:
        print("fsyncs of a turn: skipped, there is no strace on this machine")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "project").mkdir()
        log = folder / "log"
        environ = {
            **os.environ,
            "MEMNB_HOME": str(folder / "home"),
            "MEMNB_STATE": str(folder / "state"),
            "PYTHONPATH": os.pathsep.join(
                [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
            ),
        }
        subprocess.run(
            ["strace", "-f", "-o", log, "-e", "trace=fsync,fdatasync,stat,newfstatat",
             sys.executable, "-c", CHILD, "plain,fact,note,plain,fact"],
            cwd=folder / "project", env=environ, check=True,
        )  # fmt: skip
        counts = _counts(log.read_text())
    rows = []
    for kind, found in counts.items():
        target = TARGETS[kind]
        figure = max(found)
        rows.append(
            report.Row(
                f"fsyncs of a turn: {kind}",
                figure,
                target,
                f"of {len(found)} turns, worst",
                "" if target is None else f"≤ {target}",
                None if target is None else figure <= target,
            )
        )
    report.show("fsyncs of a turn, counted by strace", rows, items=counts)


def _counts(log: str) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    kind = ""
    for line in log.splitlines():
        mark = re.search(r"/MARK-(\w+)", line)
        if mark and mark.group(1) == "end":
            kind = ""
        elif mark:
            kind = mark.group(1)
            counts.setdefault(kind, []).append(0)
        elif kind and re.search(r"\b(fsync|fdatasync)\(", line):
            counts[kind][-1] += 1
    return counts


if __name__ == "__main__":
    main()
