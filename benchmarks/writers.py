"""Eight kernels that write to one project at once: is anyone kept waiting, is anything lost?

Each kernel is a process of its own. Beside them, in turn and in the same folder: eight processes
that append + fsync to files of their own, and eight that write the same rows, through SQLite's busy
handler instead of our lock, after such an append. What was acknowledged is looked up afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

import memnb
import memnb.api.memory
import report
from filled_store import FilledStore, Place, new_place
from memnb import ScriptedModel
from memnb.core.facts import Quote, Revision, Source, SourceRef
from memnb.errors import GenerationChanged, StoreBusy
from memnb.storage.fact_rows import insert_revision
from memnb.storage.schema import MIGRATIONS
from raw_disk import RawDisk

N_KERNELS = 8
SECONDS = 1.0 if "--quick" in sys.argv else 5.0
SIZES = report.sizes(100, 1_000, 10_000, 100_000)
WORST_MS = 500.0
LEAST_SHARE = 0.5
BUSY_MS = 30_000
FORGET_EVERY = 10

Write = Callable[[int], dict[str, Any]]
"""Writes the n-th thing of a kernel; gives what was acknowledged, with its kind."""


@dataclass(frozen=True)
class Run:
    """What eight processes did at once: for each of them what it wrote, as it said."""

    kernels: Sequence[Sequence[dict[str, Any]]]
    seconds: float

    @property
    def written(self) -> list[dict[str, Any]]:
        return [one for kernel in self.kernels for one in kernel]

    @property
    def per_second(self) -> float:
        return len(self.written) / self.seconds

    @property
    def least_share(self) -> float:
        """What the slowest kernel wrote, of what would be its even share."""
        return min(map(len, self.kernels)) / max(1e-9, len(self.written) / len(self.kernels))

    def waits(self, kind: str = "") -> list[float]:
        """Milliseconds until each was acknowledged."""
        found = [one["ms"] for one in self.written if kind in ("", one["kind"])]
        return found or [float("inf")]

    def as_items(self) -> dict[str, Any]:
        counts, waits = [len(kernel) for kernel in self.kernels], self.waits()
        return {
            "counts": counts,
            "per_second": self.per_second,
            "least_share": self.least_share,
            "ms": {f"p{p}": report.percentile(waits, p) for p in (50, 90, 99, 100)},
        }


def main() -> None:
    items: dict[str, Any] = {}
    rows: list[report.Row] = []
    with new_place() as place:
        raw, sqlite = _run(place, "raw"), _run(place, "sqlite")
        facts = _run(place, "facts")
        rows += _fact_rows(facts, raw, sqlite, lost=_lost(place, facts))
        items |= {"raw": raw.as_items(), "sqlite": sqlite.as_items(), "facts": facts.as_items()}
    for kind in ("turns", "notes", "mixed"):
        with new_place() as place:
            run = _run(place, kind)
            rows += _rows(kind, run, raw, lost=_lost(place, run))
            items[kind] = run.as_items()
    grown = _grown()
    rows.append(_largest_row(grown))
    items["by facts"] = {size: run.as_items() for size, run in grown.items()}
    report.show(f"{N_KERNELS} kernels that write for {SECONDS:g} s", rows, items=items)


def _fact_rows(facts: Run, raw: Run, sqlite: Run, *, lost: int) -> Iterator[report.Row]:
    worst, base = max(facts.waits()), max(sqlite.waits())
    yield report.Row(
        "facts: worst wait; beside SQLite's own", worst, base, "ms", f"≤ {WORST_MS:g} ms",
        worst <= WORST_MS,
    )  # fmt: skip
    yield report.Row(
        "least share of a kernel; beside SQLite's own", facts.least_share, sqlite.least_share,
        "of an even one", f"≥ {LEAST_SHARE:g}", facts.least_share >= LEAST_SHARE,
    )  # fmt: skip
    yield report.Row(
        "commits in all; beside SQLite's own", facts.per_second, sqlite.per_second, "a second"
    )
    yield _p50_row("facts: p50; beside two raw appends", facts, raw, n_appends=2)
    n_busy = sum(one["kind"] == "StoreBusy" for one in facts.written)
    yield report.Row("facts refused, since the store was busy", n_busy, None, "", "0", not n_busy)
    yield report.Row("facts lost or changed", lost, None, f"of {len(facts.written)}", "0", not lost)


def _rows(kind: str, run: Run, raw: Run, *, lost: int) -> Iterator[report.Row]:
    yield report.Row(f"{kind}: worst wait; beside raw", max(run.waits()), max(raw.waits()), "ms")
    yield report.Row(
        f"{kind}: least share of a kernel; beside raw", run.least_share, raw.least_share,
        "of an even one", f"≥ {LEAST_SHARE:g}", run.least_share >= LEAST_SHARE,
    )  # fmt: skip
    yield report.Row(f"{kind}: in all; beside raw", run.per_second, raw.per_second, "a second")
    if kind == "turns":
        yield _p50_row("turns: p50; beside two raw appends", run, raw, n_appends=2)
    if kind == "mixed":
        n_discarded = sum(one["kind"] == "GenerationChanged" for one in run.written)
        n_turns = sum(one["kind"] == "turn" for one in run.written)
        yield report.Row(
            "mixed: replies discarded by a forget", n_discarded, None, f"of {n_turns + n_discarded}"
        )
        worst = max(run.waits("fact"))
        yield report.Row(
            "mixed: worst wait of a fact", worst, None, "ms", f"≤ {WORST_MS:g} ms",
            worst <= WORST_MS,
        )  # fmt: skip
    n_all = f"of {len(run.written)}"
    yield report.Row(f"{kind}: lost or changed", lost, None, n_all, "0", not lost)


def _p50_row(name: str, run: Run, raw: Run, *, n_appends: int) -> report.Row:
    base = n_appends * report.median(raw.waits())
    return report.Row(name, report.median(run.waits()), base, "ms")


def _grown() -> dict[int, Run]:
    """Fact commits into stores that hold some already."""
    runs: dict[int, Run] = {}
    with new_place() as place:
        store = FilledStore(place)
        for size in SIZES:
            store.grow(size)
            runs[size] = _run(place, "facts")
    curves = [
        report.Curve("worst wait of a fact", "ms", [max(run.waits()) for run in runs.values()]),
        report.Curve("p50", "ms", [report.median(run.waits()) for run in runs.values()]),
        report.Curve("commits in all", "a second", [run.per_second for run in runs.values()]),
        report.Curve("least share", "of an even one", [run.least_share for run in runs.values()]),
    ]
    report.show_growth(f"{N_KERNELS} kernels, by the number of facts there are", SIZES, curves)
    return runs


def _largest_row(grown: dict[int, Run]) -> report.Row:
    worst, base = max(grown[SIZES[-1]].waits()), max(grown[SIZES[0]].waits())
    name = f"facts: worst wait, {SIZES[-1]:,} there; beside {SIZES[0]:,}"
    return report.Row(name, worst, base, "ms", f"≤ {WORST_MS:g} ms", worst <= WORST_MS)


def _run(place: Place, kind: str) -> Run:
    """Let eight processes write at once; each begins when all are ready."""
    if kind == "sqlite":
        _make_copy_of_schema(place)
    command = [sys.executable, __file__, "kernel", kind, str(place.folder), str(SECONDS)]
    kernels = [
        subprocess.Popen(
            [*command, str(number)], env=place.environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for number in range(N_KERNELS)
    ]  # fmt: skip
    for kernel in kernels:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "ready\n", "a kernel couldn't begin"
    for kernel in kernels:
        assert kernel.stdin is not None
        kernel.stdin.write("go\n")
        kernel.stdin.flush()
    said = [json.loads(kernel.communicate()[0]) for kernel in kernels]
    return Run(said, SECONDS)


def _kernel(kind: str, place: Place, seconds: float, number: int) -> None:
    """In a process of its own: write what is asked for until the time is over."""
    with _WRITERS[kind](place, number) as writer:
        writer.write(0)  # a session, a connection, a file of one's own
        print("ready", flush=True)
        assert sys.stdin.readline() == "go\n"
        done: list[dict[str, Any]] = []
        end, n = time.perf_counter() + seconds, 0
        while time.perf_counter() < end:
            n += 1
            start = time.perf_counter()
            try:
                said = writer.write(n)
            except (GenerationChanged, StoreBusy) as error:
                said = {"kind": type(error).__name__}
            done.append({**said, "ms": (time.perf_counter() - start) * 1e3})
    print(json.dumps(done))


class _Kernel:
    """A process that has the memory open, as a notebook's kernel has."""

    def __init__(self, place: Place, number: int) -> None:
        model = ScriptedModel(["I will keep to that."], repeat_last=True)
        self._memory = place.open(model=model)
        self._number = number
        self._mark = f"{number}-{time.time_ns()}"
        self._kept: list[str] = []

    def __enter__(self) -> _Kernel:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.close()


class _Facts(_Kernel):
    def write(self, n: int) -> dict[str, Any]:
        text = f"Kernel {self._mark} keeps rule {n}."
        return {"kind": "fact", "id": self._memory.remember(text).fact_id, "text": text}


class _Turns(_Kernel):
    def write(self, n: int) -> dict[str, Any]:
        text = f"What does kernel {self._mark} say to question {n}?"
        answer = self._memory.ask(text).answer
        place = {"session_id": answer.session_id, "seq": answer.message_seq}
        return {"kind": "turn", **place, "text": text}


class _Notes(_Kernel):
    def write(self, n: int) -> dict[str, Any]:
        text = f"kernel {self._mark}, line {n}"
        self._memory.notes.append("scratchpad", text)
        return {"kind": "note", "text": text}


class _Mixed(_Facts):
    """Facts, turns and notes in turn; every tenth time one of its facts is forgotten."""

    def write(self, n: int) -> dict[str, Any]:
        if n % FORGET_EVERY == FORGET_EVERY - 1 and self._kept:
            fact_id = self._kept.pop(0)
            self._memory.forget(fact_id)
            return {"kind": "forget", "id": fact_id}
        kind = (_Facts, _Turns, _Notes)[n % 3]
        said = kind.write(self, n)  # type: ignore[arg-type]
        if said["kind"] == "fact" and n:
            self._kept.append(said["id"])
        return said


class _Raw:
    """A process that appends + fsyncs to a file of its own."""

    def __init__(self, place: Place, number: int) -> None:
        self._disk = RawDisk(place.folder)

    def __enter__(self) -> _Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self._disk.close()

    def write(self, n: int) -> dict[str, Any]:
        self._disk.append()
        return {"kind": "raw"}


class _Sqlite(_Raw):
    """A process that appends to a file of its own, then commits a fact with its evidence."""

    def __init__(self, place: Place, number: int) -> None:
        super().__init__(place, number)
        self._number = number
        self._connection = apsw.Connection(str(_copy_of_schema(place)))
        self._connection.set_busy_timeout(BUSY_MS)
        self._connection.execute("PRAGMA synchronous=FULL").fetchall()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._connection.close()

    def write(self, n: int) -> dict[str, Any]:
        self._disk.append()
        session_id = f"S-20261130-000000-{self._number:06}"
        ref = SourceRef(session_id, (n + 1,), "00" * 32)
        revision = Revision(
            fact_id=f"F-{self._number}-{n}",
            revision=1,
            text=f"Kernel {self._number} keeps rule {n} of what was said.",
            basis="statement",
            origin="person",
            recorded_at="2026-11-30T00:00:00.000000Z",
            generation=0,
            sources=(Source("P-" + "0" * 16, ref, Quote(n + 1, 0, 0, 10)),),
            mac=n.to_bytes(32),
        )
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE").fetchall()
        execute("INSERT INTO facts VALUES(?,?,?)", (revision.fact_id, "project", "convention"))
        insert_revision(execute, revision)
        execute(
            "INSERT INTO heads VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET seq=excluded.seq",
            (session_id, n + 1, bytes(32), 1000 * n),
        ).fetchall()
        execute("COMMIT").fetchall()
        return {"kind": "sqlite"}


_WRITERS: dict[str, Any] = {
    "facts": _Facts,
    "turns": _Turns,
    "notes": _Notes,
    "mixed": _Mixed,
    "raw": _Raw,
    "sqlite": _Sqlite,
}


def _copy_of_schema(place: Place) -> Path:
    return place.folder / "copy-of-schema.sqlite3"


def _make_copy_of_schema(place: Place) -> None:
    connection = apsw.Connection(str(_copy_of_schema(place)))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    for script in MIGRATIONS:
        connection.execute(script).fetchall()
    connection.close()


def _lost(place: Place, run: Run) -> int:
    """How much of what was acknowledged isn't there, or isn't as it was written."""
    with place.open() as memory:
        stores = memory.runtime.memory.stores
        forgotten = {one["id"] for one in run.written if one["kind"] == "forget"}
        n_lost = abs(stores.facts.generation() - len(forgotten))
        said = [one for one in run.written if one["kind"] == "fact"]
        there = {fact.fact_id: fact for fact in stores.facts.facts([one["id"] for one in said])}
        for one in said:
            fact = there.get(one["id"])
            if one["id"] in forgotten:
                n_lost += fact is not None
            else:
                n_lost += fact is None or fact.current.text != one["text"]
                n_lost += fact is not None and not fact.current.is_signed
        lines = set(memory.notes.read("scratchpad").text.splitlines())
        n_lost += sum(one["text"] not in lines for one in run.written if one["kind"] == "note")
        turns = [one for one in run.written if one["kind"] == "turn"]
        return n_lost + sum(not _is_recorded(memory, one) for one in turns)


def _is_recorded(memory: memnb.Memory, said: dict[str, Any]) -> bool:
    reader = memory.runtime.memory.histories.of(said["session_id"]).reader
    record = reader.records([said["seq"]]).get(said["seq"])
    return record is not None and record.body is not None and said["text"] in str(record.body)


if __name__ == "__main__":
    if sys.argv[1:2] == ["kernel"]:
        _, _, kind, folder, seconds, number = sys.argv
        _kernel(kind, Place(Path(folder)), float(seconds), int(number))
    else:
        main()
