"""What rules keep of a conversation, judged by the compaction-conformance-kit."""

from __future__ import annotations

from typing import Any

import pytest
from compaction_kit.benchmark import run_budget_benchmark
from compaction_kit.generated import build_generated_session
from compaction_kit.runner import run_conformance

from conformance.compaction_adapter import HeadAndTail, Rules

SEEDS = range(1, 9)
ROUNDS = 6


@pytest.fixture(scope="module")
def entries() -> dict[tuple[str, float], Any]:
    makers = {"memnb": Rules, "head and tail": HeadAndTail}
    found = run_budget_benchmark(makers, budgets=(0.2,), seeds=SEEDS, rounds=ROUNDS)
    return {(one["compactor"], one["budget_fraction"]): one for one in found["entries"]}


def test_at_a_fifth_of_the_size_more_survives_than_the_best_that_was_published(
    entries: dict[tuple[str, float], Any],
) -> None:
    entry = entries["memnb", 0.2]
    assert entry["budget_compliant"]
    assert entry["randomized"]["overall_final_survival"] >= 0.95  # the best published: 0.85
    assert min(entry["randomized"]["final_median_by_type"].values()) >= 0.75


def test_head_and_tail_lose_nearly_all_of_it(entries: dict[tuple[str, float], Any]) -> None:
    entry = entries["head and tail", 0.2]
    assert entry["budget_compliant"]
    assert entry["randomized"]["overall_final_survival"] < 0.3


def test_what_is_said_anew_in_the_same_words_takes_the_place_of_the_old(
    entries: dict[tuple[str, float], Any],
) -> None:
    said_anew = entries["memnb", 0.2]["randomized"]["supersession"]
    assert said_anew["resolved"] == said_anew["n"]


def test_of_what_is_said_anew_in_other_words_the_latest_is_always_kept(
    entries: dict[tuple[str, float], Any],
) -> None:
    conflicts = entries["memnb", 0.2]["semantic"]["conflicts"]
    # Rules don't know that other words mean the same, so the old stays beside the new.
    assert conflicts["latest"] >= 0.9 * conflicts["n"]
    assert entries["memnb", 0.2]["semantic"]["distinct_pair_rate"] == 1.0


def test_sessions_that_the_rules_were_not_written_with_survive_too() -> None:
    n_kept = n_all = 0
    for seed in range(100, 120):
        session, canaries = build_generated_session(seed)
        run = run_conformance(
            session, Rules(), canaries=canaries, budget_fraction=0.2, rounds=ROUNDS
        )
        n_kept += sum(run.rounds[-1].survived.values())
        n_all += len(canaries)
    assert n_kept / n_all >= 0.9
