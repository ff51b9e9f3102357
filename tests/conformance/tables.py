"""The tables of `docs/security.md`: measured anew here, read from the page there.

PYTHONPATH=tests python -m conformance.tables      # prints what was measured
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from agent_memory_guard.bench.harness import SystemReport, run_suite
from agent_memory_guard.bench.scenarios import Scenario, default_corpus
from agent_memory_guard.bench.scoring import score_report
from agmi import check
from agmi.attacks.memory_specific import ALL_MEMORY_ATTACKS

from conformance.agmi_adapter import ADAPTERS, Facts, Records, RecordsWithHeads
from conformance.agmi_memory_adapter import CHANNELS, Remembering, told_whose_words
from conformance.amsb_adapter import Engine
from conformance.defences import DEFENCES, without

__all__ = [
    "EDITS",
    "ENTRIES",
    "at_rest",
    "attacked",
    "graded",
    "letter_for_each_way",
    "published",
    "typed_by_the_person",
    "weakened",
]

PAGE: Final = Path(__file__).parents[2] / "docs" / "security.md"
EDITS: Final = tuple(f"T{number}" for number in range(1, 10))
ENTRIES: Final = MappingProxyType({"facts": (Facts,), "records": (Records, RecordsWithHeads)})
"""With the ways of attacking them: an edit counts as accepted when one of them is."""

_LETTERS: Final = MappingProxyType({"REJECTED": "R", "ACCEPTED": "A"})
NONE: Final = "–"
"""A cell of a channel that an attack doesn't have."""

Cells = tuple[str, ...]


def published(head: str) -> dict[str, Cells]:
    """The table of the page whose first column is headed `head`, by its first column."""
    page = PAGE.read_text(encoding="utf-8")
    lines = page[page.index(f"| {head} |") :].split("\n\n", 1)[0].splitlines()[2:]
    rows = [[cell.strip(" *") for cell in line.strip("|").split(" | ")] for line in lines]
    return {first: tuple(cells) for first, *cells in rows}


# Edits at rest


@functools.cache
def at_rest(adapter: type[Facts | Records], *switched_off: str) -> Cells:
    """R or A for each of the nine edits; another word when the suite itself couldn't tell."""
    with without(*switched_off):
        rows = check.run(adapter())
    return tuple(_LETTERS.get(row["verdict"], row["verdict"]) for row in rows)


def weakened(entries: str, *switched_off: str) -> Cells:
    """The same of all ways of attacking facts or records, without these defences."""
    ways = [at_rest(adapter, *switched_off) for adapter in ENTRIES[entries]]
    return tuple("A" if "A" in cells else cells[0] for cells in zip(*ways, strict=True))


# What gets in


def attacked(top: Path) -> dict[str, Cells]:
    """For each attack through the face of a memory: how many of the five got in on each channel.

    The last column is the third channel once more, with whose words they are told.
    """
    found = {}
    for attack in ALL_MEMORY_ATTACKS:
        cells = _outcomes(attack, top)
        if len(cells) == len(CHANNELS):
            with told_whose_words():
                cells += _outcomes(attack, top)
        found[attack.name] = (*cells, *[NONE] * (len(CHANNELS) + 1 - len(cells)))
    return found


def _outcomes(attack: type, top: Path) -> Cells:
    adapter = Remembering(top)
    try:
        result = attack().run(adapter)
    finally:
        adapter.close()
    if result.error is not None:
        return ("n/a",)
    return tuple(_share(outcomes) for outcomes in result.channels.values())


def _share(outcomes: Iterable[bool | None]) -> str:
    outcomes = list(outcomes)
    return "?" if None in outcomes else f"{sum(map(bool, outcomes))} of {len(outcomes)}"


def typed_by_the_person() -> list[Scenario]:
    """The benchmark's corpus, with every attack relabelled as what the user typed."""
    return [
        replace(one, steps=tuple(replace(step, source_class="user_input") for step in one.steps))
        for one in default_corpus()
    ]


def graded(top: Path, corpus: list[Scenario]) -> tuple[SystemReport, Cells]:
    """The report of the benchmark, and its grade in a line."""
    Engine.begin(top)
    report = run_suite(Engine, corpus)
    card = score_report(report)
    return report, (
        card.grade.value,
        f"{card.score:.1f}",
        f"{card.defended_total} of {card.malicious_total}",
        str(card.critical_breaches),
        f"{card.false_positives} of {card.benign_total}",
    )


def letter_for_each_way(report: SystemReport) -> dict[str, Cells]:
    """What became of each attack: kept or refused."""
    return {
        run.scenario_id: ("kept" if run.breached else "refused",)
        for run in report.runs
        if run.malicious
    }


def _print(head: Iterable[str], rows: Mapping[str, Cells]) -> None:
    lines = [[*head], ["---" for _ in head], *([first, *cells] for first, cells in rows.items())]
    print("\n".join(f"| {' | '.join(line)} |" for line in lines), end="\n\n")


def main() -> None:
    """Print all tables."""
    _print(("entries", *EDITS), {adapter.name: at_rest(adapter) for adapter in ADAPTERS})
    off = [(), *((name,) for name in DEFENCES), tuple(DEFENCES)]
    _print(
        ("without", *EDITS),
        {
            f"{_said(names)}, {entries}": weakened(entries, *names)
            for entries in ENTRIES
            for names in off
        },
    )
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        os.environ |= {"MEMNB_HOME": str(top / "home"), "MEMNB_STATE": str(top / "state")}
        _print(("attack", *CHANNELS, "told whose words"), attacked(top))
        as_is = graded(top, default_corpus())
        relabelled = graded(top, typed_by_the_person())
    _print(
        ("run", "grade", "score", "defended", "critical", "false positives"),
        {"as is": as_is[1], "all typed by the person": relabelled[1]},
    )
    _print(("typed by the person", "outcome"), letter_for_each_way(relabelled[0]))


def _said(names: tuple[str, ...]) -> str:
    if len(names) == len(DEFENCES):
        return "all of them"
    return ", ".join(names) or "nothing"


if __name__ == "__main__":
    main()
