"""A durable append of a 1 KB record, beside a raw write + fsync loop in the same folder.

The two take turns, so that both meet the same disk.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import report
from memnb.core.bodies import Part, SessionStartBody, UserBody
from memnb.storage.session_store import SessionStore

N = 2000


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        store = SessionStore(
            folder,
            lambda: "P-" + "0" * 16,
            label="bench",
            clock=lambda: "2026-11-30T00:00:00.000000Z",
        )
        writer = store.writer("S-20261130-000000-000000")
        writer.append(SessionStartBody("P-" + "0" * 16, "", "", "", {}).draft(), generation=0)
        body = UserBody("agent", (Part("typed", "x" * 620),)).draft()
        size = writer.chain_head.n_bytes
        writer.append(body, generation=0)
        line = b"y" * (writer.chain_head.n_bytes - size - 1) + b"\n"
        fd = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        ours, raw = [], []
        for _ in range(N):
            start = time.perf_counter()
            writer.append(body, generation=0)
            ours.append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            os.write(fd, line)
            os.fsync(fd)
            raw.append((time.perf_counter() - start) * 1e3)
        os.close(fd)
        writer.close()
    rows = []
    for p in (50, 99):
        figure, base = report.percentile(ours, p), report.percentile(raw, p)
        rows.append(
            report.Row(f"append, p{p}", figure, base, "ms", "≤ 1.5 ×", figure <= 1.5 * base)
        )
    report.show(f"Durable append of one record of {len(line):,} bytes, {N} times", rows)


if __name__ == "__main__":
    main()
