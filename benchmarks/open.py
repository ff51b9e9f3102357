"""Opening a long session: with its index, with a tail behind the index, and without one.

Opening means all that a turn needs before it can begin: the records found, and what of them can be
seen. Each opening is the first of a process of its own. Beside it: reading the session and parsing
each line, as one without an index has to.

    python benchmarks/open.py [--json FILE] [--quick] [--most N]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import report
from filled_store import Place, new_place
from long_session import SESSION_ID, LongSession

TARGET_RECORDS = 100_000
TARGET_MS = 150
TAIL = 100
N = 5


@dataclass(frozen=True)
class Size:
    """What was measured of a session of one size; times in milliseconds."""

    n_records: int
    megabytes: float
    reread: float
    anew: float
    kept: float
    tail: float
    followed: float
    index_bytes: float
    anew_mb: float
    kept_mb: float


def main() -> None:
    if "--open" in sys.argv:
        print(json.dumps(opened(Place(Path(sys.argv[-1])))))
        return
    with new_place() as place:
        session = LongSession(place)
        sizes = report.sizes(1_000, 10_000, TARGET_RECORDS, 1_000_000)
        measured = [measure(place, session, n_records) for n_records in sizes]
    report.show_growth(
        "Opening a session, by its number of records",
        sizes,
        [
            curve("the session's file", "MB", measured, "megabytes"),
            curve("open, with its index", "ms", measured, "kept", "reread"),
            curve(f"open, {TAIL} records after its index", "ms", measured, "tail", "reread"),
            curve("open without: read, index, keep the index", "ms", measured, "anew", "reread"),
            curve(f"{TAIL} more records, in a kernel that has it open", "ms", measured, "followed"),
            curve("the index, for each record", "bytes", measured, "index_bytes"),
            curve("memory taken, with its index", "MB", measured, "kept_mb", "megabytes"),
            curve("memory taken, without", "MB", measured, "anew_mb", "megabytes"),
        ],
    )
    at = max((one for one in measured if one.n_records <= TARGET_RECORDS), key=lambda x: x.kept)
    target = f"≤ {TARGET_MS} ms"
    rows = [
        report.Row("open, with its index", at.kept, at.reread, "ms", target, at.kept <= TARGET_MS),
        report.Row(
            f"{TAIL} records after it", at.tail, at.reread, "ms", target, at.tail <= TARGET_MS
        ),
    ]
    title = f"Opening a session of {at.n_records:,} records, {at.megabytes:.0f} MB"
    report.show(title, rows, items=[asdict(one) for one in measured])


def measure(place: Place, session: LongSession, n_records: int) -> Size:
    session.grow(n_records - session.n_records)
    megabytes = session.megabytes
    index = session.path.with_suffix(".idx")
    index.unlink(missing_ok=True)
    reread = min(rereading(session.path) for _ in range(2))
    anew = opening(place)
    n_index = index.stat().st_size if index.exists() else 0
    kept = [opening(place) for _ in range(N)]
    with place.open() as memory:
        histories = memory.runtime.memory.histories
        histories.of(SESSION_ID)
        session.grow(TAIL)
        start = time.perf_counter()
        histories.view(histories.of(SESSION_ID))
        followed = (time.perf_counter() - start) * 1e3
    tail = [opening(place) for _ in range(N)]
    return Size(
        n_records=n_records,
        megabytes=megabytes,
        reread=reread,
        anew=anew["ms"],
        kept=statistics.median(one["ms"] for one in kept),
        tail=statistics.median(one["ms"] for one in tail),
        followed=followed,
        index_bytes=n_index / n_records,
        anew_mb=anew["mb"],
        kept_mb=statistics.median(one["mb"] for one in kept),
    )


def opening(place: Place) -> dict[str, float]:
    command = [sys.executable, __file__, "--open", str(place.folder)]
    out = subprocess.run(command, env=place.environ, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(out.stdout)
    return found


def opened(place: Place) -> Mapping[str, float]:
    """Open the session for the first time in this process."""
    with place.open() as memory:
        histories = memory.runtime.memory.histories
        memory.runtime.memory.stores.facts.generation()  # opens the facts: no part of this
        before = resident_mb()
        start = time.perf_counter()
        seen = histories.view(histories.of(SESSION_ID))
        spent = time.perf_counter() - start
        assert seen.shows(2, "durable")
        return {"ms": spent * 1e3, "mb": resident_mb() - before}


def rereading(path: Path) -> float:
    start = time.perf_counter()
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
    return (time.perf_counter() - start) * 1e3


def resident_mb() -> float:
    """The most memory that this process had so far."""
    status = Path("/proc/self/status")
    if status.exists():  # a forked child's rusage begins with its parent's
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1e3
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def curve(
    name: str, unit: str, measured: list[Size], figure: str, beside: str = ""
) -> report.Curve:
    def all_of(field: str) -> list[float]:
        return [getattr(one, field) for one in measured]

    return report.Curve(name, unit, all_of(figure), all_of(beside) if beside else None)


if __name__ == "__main__":
    main()
