"""How a benchmark says what it measured: figure, baseline and ratio, from one run."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One figure beside its baseline; `target` is the ratio or value aimed at, "" for none."""

    name: str
    figure: float
    baseline: float | None
    unit: str
    target: str = ""
    met: bool | None = None

    @property
    def ratio(self) -> float | None:
        return None if not self.baseline else self.figure / self.baseline


@dataclass(frozen=True)
class Curve:
    """One figure at each size of what it may depend on, and what stands beside it there."""

    name: str
    unit: str
    figures: Sequence[float]
    beside: Sequence[float] | None = None


def percentile(values: Sequence[float], p: float) -> float:
    """The p-th percentile of `values`, 0 ≤ p ≤ 100."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(p / 100 * (len(ordered) - 1)))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values)


def show(title: str, rows: Sequence[Row], *, items: object = None) -> None:
    """Print a table, and write it as JSON (with per-item results) where `--json FILE` says."""
    print(f"\n{title}")
    print(f"{'':44} {'figure':>10} {'baseline':>10} {'ratio':>7}  target")
    for row in rows:
        base = "" if row.baseline is None else f"{row.baseline:10.3f}"
        ratio = "" if row.ratio is None else f"{row.ratio:7.2f}"
        met = {True: " met", False: " MISSED", None: ""}[row.met]
        figures = f"{row.figure:10.3f} {base:>10} {ratio:>7}"
        print(f"{row.name:44} {figures}  {row.target}{met} [{row.unit}]")
    if "--json" in sys.argv:
        path = Path(sys.argv[sys.argv.index("--json") + 1])
        data = {"title": title, "rows": [{**asdict(r), "ratio": r.ratio} for r in rows]}
        path.write_text(json.dumps({**data, "items": items}, indent=1, default=str) + "\n")


def show_growth(title: str, sizes: Sequence[int], curves: Sequence[Curve]) -> None:
    """Print how figures grow: at each size, from the first to the last, beside the baseline."""
    print(f"\n{title}")
    columns = "".join(f"{size:>11,}" for size in sizes)
    print(f"{'':44}{columns} {'growth':>8} {'beside':>10} {'ratio':>8}")
    for curve in curves:
        figures = "".join(f"{figure:11.3f}" for figure in curve.figures)
        first, last = curve.figures[0], curve.figures[-1]
        growth = f"{last / first:8.1f}" if first else f"{'':8}"
        beside = ""
        if curve.beside is not None and curve.beside[-1]:
            beside = f"{curve.beside[-1]:10.3f} {last / curve.beside[-1]:8.1f}"
        print(f"{curve.name:44}{figures} {growth} {beside:19} [{curve.unit}]")


def sizes(*all_of_them: int) -> tuple[int, ...]:
    """The sizes to measure at: up to `--most N`, one at least; with `--quick` up to a thousand."""
    most = 1_000 if "--quick" in sys.argv else all_of_them[-1]
    if "--most" in sys.argv:
        most = int(sys.argv[sys.argv.index("--most") + 1])
    return tuple(size for size in all_of_them if size <= most) or all_of_them[:1]
