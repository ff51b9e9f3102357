"""Validating evidence: 200 records scattered over a session of some 100 MB.

Beside it: rereading the session and parsing each line, and going through its lines to parse only
those 200. Cold means that the operating system let go of the file before each time; where it
doesn't, that is skipped.

    python benchmarks/validate.py [--json FILE] [--quick]
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import report
from filled_store import new_place
from long_session import SESSION_ID, LongSession
from memnb.core import evidence, records
from memnb.core.facts import Source, SourceRef
from memnb.core.records import Record

N_RECORDS = 1_000 if "--quick" in sys.argv else 87_000
N_CITED = 200
N_WARM, N_SLOW, N_COLD = 50, 3, 5
TARGET_MS, TARGET_COLD_MS, TARGET_RATIO = 10, 60, 100


def main() -> None:
    with new_place() as place:
        session = LongSession(place)
        session.grow(N_RECORDS)
        path, megabytes = session.path, session.megabytes
        with place.open() as memory:
            inner = memory.runtime.memory
            seqs = sorted(random.Random(1).sample(range(2, N_RECORDS), N_CITED))  # noqa: S311
            ref = inner.validator.source_ref(SESSION_ID, seqs)
            source = Source(session.store_id, ref)

            def validate() -> bool:
                there = inner.histories.evidence(SESSION_ID, ref.seqs, ref.seqs)
                return evidence.check_source(source, there, "durable") == "valid"

            warm = timed(validate, N_WARM)
            lines = timed(lambda: digest_of(cited(path, ref)) == ref.digest, N_SLOW)
            reread = timed(lambda: digest_of(all_parsed(path, ref)) == ref.digest, N_SLOW)
            cold = timed(validate, N_COLD, path) if lets_go(path) else []
            cold_lines = timed(lambda: digest_of(cited(path, ref)) == ref.digest, N_COLD, path)
    rows = warm_rows(warm, lines, reread)
    if cold:
        figure = report.median(cold)
        met, target = figure <= TARGET_COLD_MS, f"≤ {TARGET_COLD_MS} ms"
        base = report.median(cold_lines)
        rows.append(report.Row("cold, beside going through", figure, base, "ms", target, met))
    else:
        print("the system doesn't let go of the file: nothing is said of a cold one")
    items = {"warm": warm, "lines": lines, "reread": reread, "cold": cold}
    title = f"Validating {N_CITED} records of {N_RECORDS:,}, {megabytes:.0f} MB"
    report.show(title, rows, items=items)


def warm_rows(warm: list[float], lines: list[float], reread: list[float]) -> list[report.Row]:
    figure, base = report.median(warm), report.median(reread)
    target = f"≤ {TARGET_MS} ms, 1/{TARGET_RATIO}"
    met = figure <= TARGET_MS and figure * TARGET_RATIO <= base
    return [
        report.Row("beside rereading, median", figure, base, "ms", target, met),
        report.Row("beside rereading, p99", report.percentile(warm, 99), base, "ms"),
        report.Row("beside going through its lines", figure, report.median(lines), "ms"),
    ]


def timed(check: Callable[[], bool], n_times: int, cold: Path | None = None) -> list[float]:
    times = []
    for _ in range(n_times):
        if cold is not None:
            lets_go(cold)
        start = time.perf_counter()
        assert check()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def cited(path: Path, ref: SourceRef) -> Iterator[Record]:
    """The records of `ref`, found by counting lines."""
    seqs = set(ref.seqs)
    with path.open("rb") as file:
        for seq, line in enumerate(file, 1):
            if seq in seqs:
                yield records.record_from_line(line.rstrip(b"\n"))


def all_parsed(path: Path, ref: SourceRef) -> Iterator[Record]:
    """The records of `ref`, found by parsing each line."""
    seqs = set(ref.seqs)
    with path.open("rb") as file:
        for line in file:
            if json.loads(line)["head"]["seq"] in seqs:
                yield records.record_from_line(line.rstrip(b"\n"))


def digest_of(found: Iterator[Record]) -> str | None:
    return records.evidence_digest(list(found))


def lets_go(path: Path) -> bool:
    """Ask the system to drop the file from its cache; whether it did."""
    if not hasattr(os, "posix_fadvise") or not hasattr(os, "RWF_NOWAIT"):
        return False
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        # What is not in the cache can't be had without a wait.
        return os.preadv(fd, [bytearray(1)], path.stat().st_size // 2, os.RWF_NOWAIT) < 0
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


if __name__ == "__main__":
    main()
