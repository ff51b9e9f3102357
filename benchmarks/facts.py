"""What the verbs over facts cost as their number grows, each beside a plain table without evidence.

Every fact cites four records of a session of 197. At each size a kernel of its own is measured: the
memory section at once, again, and after another kernel's commit; then the verbs. Changes stand
beside a raw write + fsync for each of their two.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw

import memnb.api.memory
import report
from filled_store import FilledStore, Place, new_place
from memnb.memory import context
from memnb.memory.context import Limits
from raw_disk import RawDisk

SIZES = report.sizes(100, 1_000, 10_000, 100_000)
N = 20
FEW = 3
SECTION_MS = 5.0
LARGE, LARGE_SECTION_MS = 10_000, 10.0

Times = dict[str, list[float]]


def main() -> None:
    with new_place() as place:
        FilledStore(place).grow(50)
        few = _in_a_kernel(place)
    found: dict[int, dict[str, Any]] = {}
    with new_place() as place:
        store = FilledStore(place)
        for size in SIZES:
            store.grow(size)
            found[size] = _in_a_kernel(place)
    report.show_growth("By the number of facts, medians", SIZES, _curves(found))
    rows = [
        _section_row("memory section, 50 facts × 4 records", few, "steady", SECTION_MS),
        *(
            _section_row(f"the same, {LARGE:,} facts: {how}", found[LARGE], how, LARGE_SECTION_MS)
            for how in ("steady", "after another kernel's commit")
            if LARGE in found
        ),
    ]
    report.show("Memory section", rows, items={"50 × 4": few, "by facts": found})


def _section_row(name: str, measured: dict[str, Any], how: str, most: float) -> report.Row:
    key = f"memory section, {how}"
    figure = report.median(measured["ms"][key])
    base = report.median(measured["bare"]["memory section"])
    return report.Row(name, figure, base, "ms", f"≤ {most:g} ms", figure <= most)


def _curves(found: dict[int, dict[str, Any]]) -> Iterator[report.Curve]:
    measured = list(found.values())
    for name in measured[0]["ms"]:
        beside = [report.median(one["bare"][_plain(name)]) for one in measured]
        figures = [report.median(one["ms"][name]) for one in measured]
        yield report.Curve(name, "ms", figures, beside)
    for name, unit in (
        ("resident: opened", "MiB"),
        ("resident: after the section", "MiB"),
        ("resident: after all", "MiB"),
        ("database", "MiB"),
        ("database, a fact", "bytes"),
        ("sessions", "MiB"),
    ):
        yield report.Curve(name, unit, [one["sizes"][name] for one in measured])


def _plain(name: str) -> str:
    """The name of what stands beside an operation."""
    return name.partition(",")[0].partition(":")[0]


def _in_a_kernel(place: Place) -> dict[str, Any]:
    """What is measured in a process that opens the store anew."""
    command = [sys.executable, __file__, "kernel", str(place.folder)]
    done = subprocess.run(command, env=place.environ, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def _kernel(place: Place) -> None:
    """In a process of its own: measure everything, and print it as JSON."""
    ms: Times = {}
    bare: Times = {}
    sizes: dict[str, float] = {}
    clocked = _Clocked(ms)
    memory = clocked("open", place.open)
    sizes["resident: opened"] = _resident()

    def section() -> Any:
        inside = memory.runtime.memory  # put together, and checked, when it is asked for first
        built, _ = context.memory_section(
            inside.stores,
            inside.validator,
            Limits(),
            fence="data-0badcafe",
            ranks=inside.ranks,
        )
        return built

    carried = clocked("memory section, first in a kernel", section).carried
    clocked("memory section, steady", section, N)
    inside = memory.runtime.memory
    sizes["resident: after the section"] = _resident()
    with place.open() as other:
        for number in range(FEW):
            other.remember(f"Another kernel keeps rule {number} of {time.time_ns()}.")
            clocked("memory section, after another kernel's commit", section)
    fact_ids = inside.stores.facts.ids(limit=1_000_000)
    _measure_verbs(memory, clocked, fact_ids)
    _measure_changes(memory, clocked, bare, place, fact_ids)
    sizes["resident: after all"] = _resident()
    database = inside.stores.notes.folder / "facts.sqlite3"
    inside.stores.facts.scrub()
    _measure_bare(database, bare, len(carried), fact_ids)
    sizes["database"] = database.stat().st_size / 2**20
    sizes["database, a fact"] = database.stat().st_size / len(fact_ids)
    sessions = (inside.stores.notes.folder / "sessions").glob("*.jsonl")
    sizes["sessions"] = sum(path.stat().st_size for path in sessions) / 2**20
    memory.close()
    print(json.dumps({"ms": ms, "bare": bare, "sizes": sizes}))


def _measure_verbs(memory: memnb.api.memory.Memory, clocked: _Clocked, ids: list[str]) -> None:
    some = random.Random(0).choices(ids, k=N)  # noqa: S311
    memory.status()  # asks Git once
    clocked("status", memory.status, FEW)
    for fact_id in some:
        clocked("fact ID", lambda fact_id=fact_id: memory.fact(fact_id))
        clocked("recall", lambda fact_id=fact_id: memory.recall(fact_id))
    rare = memory.fact(some[0]).revisions[0].text.split()[1]
    clocked("search: a word of one fact", lambda: memory.search(rare), FEW)
    clocked("search: a word of many", lambda: memory.search("revenue"), FEW)
    clocked("facts, first in a kernel", memory.facts)
    clocked("facts, again", memory.facts, FEW if len(ids) < 50_000 else 1)
    clocked("facts: as of a day", lambda: memory.facts(at=memory.runtime.now()))


def _measure_changes(
    memory: memnb.api.memory.Memory, clocked: _Clocked, bare: Times, place: Place, ids: list[str]
) -> None:
    disk = RawDisk(place.folder)
    memory.remember(f"The first of {time.time_ns()} begins a session.")
    some = random.Random(1).sample(ids, min(len(ids), 3 * N))  # noqa: S311  # the same in each run
    fresh = [one for one in some if _is_first(memory, one)]
    for number, fact_id in enumerate(fresh[:N]):
        text = f"Rule {number} of {time.time_ns()} is kept."
        clocked("remember", lambda text=text: memory.remember(text))
        bare.setdefault("remember", []).append(disk.append() + disk.append())
        text = f"Correction {number} of {time.time_ns()}."
        clocked(
            "correct", lambda fact_id=fact_id, text=text: memory.correct(fact_id, text, revision=1)
        )
        bare.setdefault("correct", []).append(disk.append() + disk.append())
    disk.close()


def _measure_bare(database: Path, bare: Times, n_carried: int, ids: list[str]) -> None:
    """What a table of texts without evidence would cost, through the same SQLite."""
    clocked = _Clocked(bare)
    flags = apsw.SQLITE_OPEN_READONLY
    opened = clocked("open", lambda: apsw.Connection(str(database), flags=flags))

    def rows(sql: str, *arguments: object) -> None:
        opened.execute(sql, arguments).fetchall()

    newest = "SELECT fact_id, text FROM revisions WHERE revision=1 ORDER BY recorded_at"
    one = "SELECT * FROM revisions WHERE fact_id=?"
    like = "SELECT fact_id, text FROM revisions WHERE text LIKE ? LIMIT 50"
    clocked("memory section", lambda: rows(f"{newest} LIMIT ?", n_carried), N)
    clocked("facts", lambda: rows(newest), FEW)
    clocked("fact ID", lambda: rows(one, ids[len(ids) // 2]), N)
    clocked("recall", lambda: rows(one, ids[len(ids) // 2]), N)
    clocked("search", lambda: rows(like, "%no such word%"), FEW)
    clocked("status", lambda: rows("SELECT count(*) FROM facts"), N)
    opened.close()


def _is_first(memory: memnb.api.memory.Memory, fact_id: str) -> bool:
    (fact,) = memory.runtime.memory.stores.facts.facts([fact_id])
    return fact.newest == 1


class _Clocked:
    """Runs something, and adds how many milliseconds it took under its name."""

    def __init__(self, ms: Times) -> None:
        self._ms = ms

    def __call__(self, name: str, run: Callable[[], Any], n: int = 1) -> Any:
        for _ in range(n):
            start = time.perf_counter()
            result = run()
            self._ms.setdefault(name, []).append((time.perf_counter() - start) * 1e3)
        return result


def _resident() -> float:
    """Mebibytes that this process holds in memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * 4096 / 2**20


if __name__ == "__main__":
    if sys.argv[1:2] == ["kernel"]:
        _kernel(Place(Path(sys.argv[2])))
    else:
        main()
