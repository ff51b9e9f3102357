"""The tables of `recall.ipynb`: the benchmark of recall, on what of the public sets is there."""

from __future__ import annotations

import sys
from pathlib import Path

import memnb

sys.path.append(str(Path(memnb.__file__).parents[1] / "benchmarks"))

import recall
import recall_sets
import recall_ways

__all__ = ["drawn", "shipped"]


def shipped() -> None:
    """The small part that is shipped: always the same figures, so times are left out."""
    makers = {name: make for name, make in recall_ways.ways().items() if name != "bm25s"}
    for name in ("longmemeval", "realmem", "realmem_items"):
        title, load = recall_sets.SETS[name]
        memories = list(load(recall_sets.SMALL))
        ours = recall.by_memnb(title, memories)
        recall.show_found([*recall.searched(title, memories, makers), *ours], timed=False)
    recall.precision(recall_sets.SMALL / "precisionmembench")


def drawn(questions: int) -> None:
    """So many questions of each whole set, when MEMNB_DATA says where they are."""
    if recall_sets.DATA == recall_sets.SMALL:
        print("MEMNB_DATA doesn't say where the whole sets are.")
    else:
        recall.main(["--questions", str(questions)])
