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


def percentile(values: Sequence[float], p: float) -> float:
    """The p-th percentile of `values`, 0 ≤ p ≤ 100."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(p / 100 * (len(ordered) - 1)))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


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
