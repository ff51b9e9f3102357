"""What a forget costs, part by part: its commit, the scrub, the search for who else says it.

The commit is what makes it last, with the anchor's sync after it; the searches before it read every
session, the one inside it only what was recorded since. fsyncs are counted by strace, for each
file. Times are told by the number of facts, by the length of a session without any, and by the
wordings of the fact, beside a raw write + fsync in the same folder.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import report
from filled_store import FilledStore, Place, new_place
from memnb.memory import forgetting
from memnb.memory.wordings import RecordSearch
from raw_disk import RawDisk

FACTS = report.sizes(100, 1_000, 10_000, 100_000)
RECORDS = report.sizes(1_000, 10_000, 100_000)
WORDINGS = (1, 10, 100)
N = 5
FSYNCS = 1

PARTS = (
    "the commit",
    "search, first in a kernel",
    "search, again",
    "search, what was recorded since",
    "scrub",
    "all of it, with its receipt",
)


def main() -> None:
    fsyncs = _fsyncs()
    facts, records, wordings = _by_facts(), _by_records(), _by_wordings()
    for title, found in (
        ("By the number of facts", facts),
        ("By the length of a session, 100 facts", records),
        ("By the wordings of the fact, 100 facts", wordings),
    ):
        report.show_growth(title, list(found), _curves(list(found.values())))
    rows = [*_fsync_rows(fsyncs)]
    first, last = facts[FACTS[0]], facts[FACTS[-1]]
    for size, one in ((FACTS[0], first), (FACTS[-1], last)):
        rows.append(
            report.Row(
                f"the commit, {size:,} facts; beside raw",
                report.median(one["the commit"]),
                report.median(one["raw"]),
                "ms",
            )
        )
    items = {"fsyncs": fsyncs, "by facts": facts, "by records": records, "by wordings": wordings}
    report.show("Forgetting", rows, items=items)


def _curves(found: Sequence[dict[str, list[float]]]) -> list[report.Curve]:
    raw = [report.median(one["raw"]) for one in found]
    return [
        report.Curve(part, "ms", [report.median(one[part]) for one in found], raw) for part in PARTS
    ]


def _by_facts() -> dict[int, dict[str, list[float]]]:
    found = {}
    with new_place() as place:
        store = FilledStore(place)
        for size in FACTS:
            store.grow(size)
            found[size] = _measured(place, store.some_ids(3 * N), n=N if size < 50_000 else 2)
    return found


def _by_records() -> dict[int, dict[str, list[float]]]:
    found = {}
    for size in RECORDS:
        with new_place() as place:
            store = FilledStore(place)
            store.grow(100)
            store.talk(size)
            found[size] = _measured(place, store.some_ids(3 * N))
    return found


def _by_wordings() -> dict[int, dict[str, list[float]]]:
    found = {}
    for size in WORDINGS:
        with new_place() as place:
            store = FilledStore(place)
            store.grow(100)
            some = store.some_ids(N + 2)
            with place.open() as memory:
                for fact_id in some:
                    for revision in range(1, size):
                        text = f"Wording {revision + 1} of {fact_id}."
                        memory.correct(fact_id, text, revision=revision)
            found[size] = _measured(place, some)
    return found


def _measured(place: Place, fact_ids: Sequence[str], n: int = N) -> dict[str, list[float]]:
    """Milliseconds of each part, in a process that opens the store anew."""
    command = [sys.executable, __file__, "kernel", str(place.folder), str(n), *fact_ids]
    done = subprocess.run(command, env=place.environ, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def _kernel(place: Place, n: int, fact_ids: Sequence[str]) -> None:
    """In a process of its own: forget facts part by part, then some at once."""
    ms: dict[str, list[float]] = {part: [] for part in (*PARTS, "raw")}
    disk = RawDisk(place.folder)
    with place.open() as memory:
        inside = memory.runtime.memory
        there = [fact.fact_id for fact in inside.stores.facts.facts(fact_ids)]
        for number, fact_id in enumerate(there[:n]):
            search = _Timed(RecordSearch(inside.stores, inside.histories, fact_id))
            start = time.perf_counter()
            forgetting.forget(inside.stores, fact_id, find_others=search)
            whole = (time.perf_counter() - start) * 1e3
            before, since = search.ms
            ms["the commit"].append(whole - before - since)
            ms[PARTS[1] if number == 0 else PARTS[2]].append(before)
            ms["search, what was recorded since"].append(since)
            start = time.perf_counter()
            assert forgetting.scrub(inside.stores)
            ms["scrub"].append((time.perf_counter() - start) * 1e3)
            ms["raw"].append(disk.append())
        for fact_id in there[n : n + 2]:
            start = time.perf_counter()
            memory.forget(fact_id)
            ms["all of it, with its receipt"].append((time.perf_counter() - start) * 1e3)
            ms["raw"].append(disk.append())
    print(json.dumps(ms))


class _Timed:
    """A search for others, with the milliseconds that each call of it took."""

    def __init__(self, search: RecordSearch) -> None:
        self._search = search
        self.ms: list[float] = []

    def __call__(self, texts: Sequence[str]) -> list[tuple[str, int]]:
        start = time.perf_counter()
        found = self._search(texts)
        self.ms.append((time.perf_counter() - start) * 1e3)
        return found


# --- fsyncs --------------------------------------------------------------------------------------

TRACED = """
import os, sys
from filled_store import Place
from memnb.memory import forgetting
from pathlib import Path
def mark(name):
    try: os.stat(f"/MARK-{name}")
    except OSError: pass
with Place(Path(sys.argv[1])).open() as memory:
    stores = memory.runtime.memory.stores
    ids = stores.facts.ids(limit=9)
    forgetting.forget(stores, ids[0])
    forgetting.scrub(stores)
    mark("commit"); forgetting.forget(stores, ids[1])
    mark("scrub"); forgetting.scrub(stores)
    mark("end"); memory.remember("So that there is something to sync.")
    mark("whole"); memory.forget(ids[2])
    mark("end"); memory.runtime.memory.session.end("close")
    mark("close"); stores.facts.close()
    mark("end")
"""


def _fsyncs() -> dict[str, dict[str, int]]:
    """For each part how often which file is synced; nothing without strace."""
    if shutil.which("strace") is None:
        print("fsyncs of a forget: skipped, there is no strace on this machine")
        return {}
    with new_place() as place:
        FilledStore(place).grow(9)
        log = place.folder / "log"
        subprocess.run(
            ["strace", "-f", "-y", "-o", log, "-e", "trace=fsync,fdatasync,stat,newfstatat",
             sys.executable, "-c", TRACED, str(place.folder)],
            cwd=Path(__file__).parent, env=place.environ, check=True,
        )  # fmt: skip
        return {part: dict(found) for part, found in _counted(log.read_text()).items()}


def _counted(log: str) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    part = "end"
    for line in log.splitlines():
        if mark := re.search(r"/MARK-(\w+)", line):
            part = mark[1]
            counts.setdefault(part, Counter())
        elif synced := re.search(r"\bf(?:data)?sync\(\d+<(.*?)>", line):
            counts.setdefault(part, Counter())[_role(Path(synced[1]))] += 1
    counts.pop("end", None)
    return counts


def _role(path: Path) -> str:
    return "anchor" if path.parent.name == "anchors" else path.name


def _fsync_rows(fsyncs: dict[str, dict[str, int]]) -> list[report.Row]:
    """The commit is what a forget lasts by; the anchor's sync after it is told apart."""
    rows = []
    for part, counted in fsyncs.items():
        found = dict(counted)
        n_anchor = found.pop("anchor", 0)
        figure, files = sum(found.values()), ", ".join(f"{n} {file}" for file, n in found.items())
        if part == "commit":
            is_met = figure <= FSYNCS
            rows.append(
                report.Row("fsyncs: the commit", figure, None, files, f"≤ {FSYNCS}", is_met)
            )
        else:
            rows.append(report.Row(f"fsyncs: {part}", figure, None, files or "none"))
        if n_anchor:
            rows.append(report.Row(f"fsyncs: {part}, the anchor's", n_anchor, None, "anchor"))
    return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["kernel"]:
        _, _, folder, n, *fact_ids = sys.argv
        _kernel(Place(Path(folder)), int(n), fact_ids)
    else:
        main()
