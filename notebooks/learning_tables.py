"""The tables of `learning.ipynb`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from learning_protocol import ARMS, COMPACT_EVERY, Run, run
from learning_script import WINDOW, Scenario
from memnb.api.rendering import Block, Grid, Line, Result

__all__ = [
    "Figures",
    "attribution",
    "by_trap",
    "costs",
    "descriptions",
    "holds",
    "lineage",
    "outcomes",
    "quality",
    "repeated",
    "settings",
    "supplied",
    "unwanted",
]


@dataclass(frozen=True, slots=True, repr=False)
class Figures(Result):
    """A small table under a heading."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Figures:
        """A table of anything that says itself in a word."""
        return cls(title, tuple(columns), tuple(tuple(map(str, row)) for row in rows))

    def blocks(self) -> Sequence[Block]:
        """The heading and the table."""
        return [Line(self.title, strong=True), Grid(self.columns, self.rows)]


def settings() -> Figures:
    """What is the same for all arms, and what isn't."""
    rows = [
        ("answers", "a scripted model, the same in all arms; it never says what is to be kept"),
        ("window", f"{WINDOW:,} tokens"),
        ("learning.mode", "off in the baseline, auto in the others"),
        ("extractors", "memnb's own rules; a scripted model that quotes whatever it may"),
        ("triggers", "after each turn when it is due, and with each summary"),
        ("summaries", f"every {COMPACT_EVERY} exchanges in the long session, else at the end"),
        ("memory before", "none: no facts, no notes"),
        ("sampling", "none: everything here gives the same each time"),
    ]
    return Figures.of("settings", ("what", "how"), rows)


def descriptions(script: Sequence[Scenario]) -> Figures:
    """How large the script is."""
    rows = [
        (
            one.name,
            one.about,
            len(one.sessions),
            len(one.exchanges),
            sum(bool(e.keep) for e in one.exchanges),
            sum(bool(e.drop) for e in one.exchanges),
        )
        for one in script
    ]
    total = ("all", "", *(sum(row[at] for row in rows) for at in range(2, 6)))  # type: ignore[misc]
    columns = ("project", "about", "sessions", "exchanges", "to keep", "traps")
    return Figures.of("the script", columns, [*rows, total])


def quality(runs: Sequence[Run]) -> Figures:
    """Supported precision, missed, unwanted."""
    rows = []
    for one in runs:
        kept, waits, missed = (one.count(found) for found in ("kept", "waits", ""))
        waits_not = sum(j.found == "waits" and bool(j.exchange.trap) for j in one.judged)
        waits_not += len(one.others_wait)
        rows.append(
            (
                one.arm.name,
                one.n_facts,
                kept,
                f"{kept / one.n_facts:.2f}" if one.n_facts else "-",
                one.n_unwanted,
                waits,
                waits_not,
                missed,
                f"{kept / (kept + waits + missed):.2f}",
                f"{(kept + waits) / (kept + waits + missed):.2f}",
            )
        )
    columns = ("arm", "facts", "supported", "precision", "unwanted", "waiting: right", "wrong",
               "missed", "recall", "with waiting")  # fmt: skip
    return Figures.of("what became a fact by itself, and what waits for a person", columns, rows)


def by_trap(runs: Sequence[Run]) -> Figures:
    """What became of each kind of trap."""
    traps = sorted({one.exchange.trap for one in runs[0].judged if one.exchange.trap})
    rows = []
    for trap in traps:
        row: list[object] = [trap, sum(one.exchange.trap == trap for one in runs[0].judged)]
        for one in runs:
            if one.arm.extractor == "eager":
                row.append(one.proposed[trap])
            row += [one.count("kept", trap=trap), one.count("waits", trap=trap)]
        rows.append(row)
    rest: list[object] = ["any other text", "-"]
    for one in runs:
        rest += ["-"] if one.arm.extractor == "eager" else []
        rest += [len(one.others), len(one.others_wait)]
    rows.append(rest)
    columns = ["trap", "in the script"]
    for one in runs:
        if one.arm.extractor == "eager":
            columns.append("eager: proposed")
        short = one.arm.name.rpartition(" ")[2].replace("quoting", "eager")
        columns += [f"{short}: facts", "wait"]
    return Figures.of("traps", columns, rows)


def holds(runs: Sequence[Run]) -> Figures:
    """What must hold in every run, however well something is found."""
    rows = [
        ("the baseline learns nothing", all(one.n_facts == 0 for one in runs if _is_off(one))),
        (
            f"no fact out of: {', '.join(_NEVER)}",
            not any(one.count("kept", trap=trap) for one in runs for trap in _NEVER),
        ),
        ("each fact that is kept answers", all(_kept_answer(one) for one in runs)),
        ("what answers shows its exact message", all(a == b for o in runs for a, b in o.asked)),
        ("nothing is supplied twice", all(len(set(o.supplied)) == len(o.supplied) for o in runs)),
        (
            "rules ask no model",
            not any(o.usage["learning", "requests"] for o in runs if o.arm.extractor == "rules"),
        ),
    ]
    return Figures.of("must hold", ("what", "holds"), [(what, _yes(so)) for what, so in rows])


def unwanted(runs: Sequence[Run]) -> Figures:
    """Every fact that should not be there, to the letter."""
    rows = [
        (one.arm.name, trap, text)
        for one in runs
        for trap, text in (
            *((j.exchange.trap, j.exchange.drop) for j in one.judged if j.is_unwanted),
            *(("any other text", text) for text in one.others),
        )
    ]
    return Figures.of("unwanted facts", ("arm", "trap", "fact"), rows)


def attribution(runs: Sequence[Run]) -> Figures:
    """The same questions in a new session: answered, and traced to the exact message."""
    rows = [
        (
            one.arm.name,
            len(one.asked),
            sum(answered for answered, _ in one.asked),
            sum(exact for _, exact in one.asked),
        )
        for one in runs
    ]
    columns = ("arm", "asked", "answered from memory", "recall valid, with the exact message")
    return Figures.of("asked in an independent session of the project", columns, rows)


def costs(runs: Sequence[Run]) -> Figures:
    """All requests and tokens, by purpose; what is unknown is counted."""
    rows = [
        (one.arm.name, purpose, *(f"{one.usage[purpose, what]:,}" for what in _TAKEN))
        for one in runs
        for purpose in ("answers", "compaction", "learning")
    ]
    columns = ("arm", "purpose", "requests", "of them unknown", "tokens in", "out")
    return Figures.of("what it took", columns, rows)


def outcomes(runs: Sequence[Run]) -> Figures:
    """What the looks came to, and why something wasn't kept."""
    rows = [
        (
            one.arm.name,
            sum(one.outcomes.values()),
            _counts(one.outcomes),
            _counts(one.reasons),
        )
        for one in runs
    ]
    return Figures.of("looks", ("arm", "looks", "outcomes", "reasons"), rows)


_NEVER: Final = ("pasted", "code", "tool", "secret", "quote", "question", "temporary")
"""Traps of which nothing may become a fact by itself, whoever proposes it."""


def _is_off(one: Run) -> bool:
    return one.arm.mode == "off"


def _kept_answer(one: Run) -> bool:
    return sum(answered for answered, _ in one.asked) == one.count("kept")


_TAKEN: Final = ("requests", "unknown", "in", "out")


def lineage(runs: Sequence[Run]) -> Figures:
    """The summaries of the long session; a row of the first arm, compared with the others."""
    columns = ("summary", "records covered", "newly", "names the one before", "covers what it did",
               "covers all before its cutoff", "all still there", "same in all arms")  # fmt: skip
    rows = [
        (*row, _yes(all(one.chain[at] == row for one in runs)))
        for at, row in enumerate(runs[0].chain)
    ]
    return Figures.of(f"{len(rows)} summaries of one session, chained", columns, rows)


def supplied(one: Run) -> Figures:
    """What an extractor was given, over all looks."""
    n_given, n_different = len(one.supplied), len(set(one.supplied))
    rows = [
        ("looks", sum(one.outcomes.values())),
        ("records supplied", n_given),
        ("of them supplied before", n_given - n_different),
    ]
    return Figures.of("supplied to the eager extractor", ("what", "how many"), rows)


def repeated(script: Sequence[Scenario]) -> Figures:
    """Every arm twice over a script: whether all figures are the same."""
    rows = []
    for arm in ARMS:
        first, second = (run(arm, script).figures() for _ in range(2))
        n_same = sum(first[what] == second[what] for what in first)
        rows.append((arm.name, 2, f"{n_same} of {len(first)}"))
    return Figures.of("repeats", ("arm", "runs", "groups of figures that are the same"), rows)


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items())) or "-"


def _yes(holds: bool) -> str:
    return "yes" if holds else "NO"
