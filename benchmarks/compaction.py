"""What survives when a conversation is compacted, at several sizes, beside what others keep.

The sessions, what is planted in them and how it is probed are those of the
compaction-conformance-kit. No model is asked.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compaction_kit.benchmark import run_budget_benchmark
from compaction_kit.generated import build_generated_session
from compaction_kit.runner import run_conformance
from compaction_kit.semantic import SemanticChecklistCompactor

import report
from memnb.core.bodies import AssistantBody, Part, TurnEndBody, UserBody
from memnb.core.messages import Usage
from tests.conformance.compaction_adapter import HeadAndTail, Rules
from tests.memories import Desk, scripted

BUDGETS = (0.05, 0.1, 0.2, 0.3)
SEEDS = range(1, 13)
ROUNDS = 6
BEST_PUBLISHED = 85.0
MAKERS: dict[str, Callable[[], Any]] = {
    "rules": Rules,
    "head and tail": HeadAndTail,
    "the kit's best": SemanticChecklistCompactor,
}


def budgets(rows: list[report.Row], items: list[Any]) -> None:
    """Survival after six rounds at each budget."""
    found = run_budget_benchmark(MAKERS, budgets=BUDGETS, seeds=SEEDS, rounds=ROUNDS)
    items += found["entries"]
    by = {(one["compactor"], one["budget_fraction"]): one for one in found["entries"]}
    for budget in BUDGETS:
        kept = {
            name: 100 * by[name, budget]["randomized"]["overall_final_survival"] for name in MAKERS
        }
        for other in ("head and tail", "the kit's best"):
            name = f"survival at {budget:.0%}, beside {other}"
            met = kept["rules"] >= BEST_PUBLISHED if budget == 0.2 else None
            target = f">= {BEST_PUBLISHED:.0f}" if budget == 0.2 else ""
            rows.append(report.Row(name, kept["rules"], kept[other], "%", target, met))
        sizes = [100 * by[name, budget]["mean_final_output_ratio"] for name in MAKERS]
        rows.append(report.Row(f"size of it at {budget:.0%}", sizes[0], sizes[1], "%"))
    for name in MAKERS:
        conflicts = by[name, 0.2]["semantic"]["conflicts"]
        n = conflicts["n"]
        latest, alone = 100 * conflicts["latest"] / n, 100 * conflicts["resolved"] / n
        rows.append(report.Row(f"latest of reworded updates at 20%: {name}", latest, None, "%"))
        rows.append(report.Row(f"the same, without the old value: {name}", alone, None, "%"))


def generated(rows: list[report.Row]) -> None:
    """The kit's generated sessions, with which nothing was tried out while the rules were made."""
    for budget in BUDGETS:
        shares = []
        for make in (Rules, HeadAndTail):
            n_kept = n_all = 0
            for seed in range(100, 150):
                session, canaries = build_generated_session(seed)
                run = run_conformance(
                    session, make(), canaries=canaries, budget_fraction=budget, rounds=ROUNDS
                )
                n_kept += sum(run.rounds[-1].survived.values())
                n_all += len(canaries)
            shares.append(100 * n_kept / n_all)
        rows.append(report.Row(f"generated sessions at {budget:.0%}", shares[0], shares[1], "%"))


def speed(rows: list[report.Row]) -> None:
    """How long rules take for a megabyte of conversation."""
    session, _ = build_generated_session(1)
    turns = session.transcript() * 200
    n_bytes = sum(len(turn.text) for turn in turns)
    start = time.perf_counter()
    Rules().compact(turns, budget_chars=4096)
    seconds = time.perf_counter() - start
    rows.append(report.Row("rules, a megabyte", seconds * 1e6 / n_bytes, None, "s"))


def long_session(rows: list[report.Row]) -> None:
    """A turn in a long session in a small window: the first, which covers it all, and the next."""
    for n_exchanges in (1_000, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(Path(folder) / "project")
            fill(desk, n_exchanges)
            seconds = []
            for _ in range(4):
                model = scripted("a", context_tokens=8192, repeat_last=True)
                start = time.perf_counter()
                assert desk.ask("and now?", model).end == "complete"
                seconds.append(time.perf_counter() - start)
            rows.append(
                report.Row(
                    f"turn after {n_exchanges:,} exchanges, covering them",
                    seconds[0] * 1e3,
                    report.median(seconds[1:]) * 1e3,
                    "ms; beside: the next turns",
                )
            )
            desk.close()


def fill(desk: Desk, n_exchanges: int) -> None:
    """So many exchanges, each a message, a reply and an end."""
    desk.ask("hello", scripted("hi"))
    head = desk.memory.session.chain_head
    assert head is not None
    drafts = []
    for number in range(n_exchanges):
        turn = head.seq + 3 * number + 1
        said = Part("typed", f"question {number} about file{number}.csv " + "x" * 200)
        reply = AssistantBody("answer " + "y" * 200, (), (), "m", {}, "end", Usage())
        ended = TurnEndBody("complete", 1)
        drafts += [UserBody("agent", (said,)).draft(), reply.draft(turn), ended.draft(turn)]
    desk.memory.session.append(*drafts)


def main() -> None:
    rows: list[report.Row] = []
    items: list[Any] = []
    budgets(rows, items)
    generated(rows)
    speed(rows)
    long_session(rows)
    report.show("compaction by rules", rows, items=items)


if __name__ == "__main__":
    main()
