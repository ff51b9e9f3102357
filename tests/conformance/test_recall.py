"""Finding what answers a question, on the small part of public sets that is shipped."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import precision_sets
import recall
import recall_measures
import recall_sets

SMALL = recall_sets.SMALL
CASES = list(precision_sets.cases(SMALL / "precisionmembench"))
TURNS = list(precision_sets.session_cases(SMALL / "precisionmembench"))

BY_A_RELATION = {
    "relation-type-expands-participants",
    "relation-participant-open-question-routes-correctly",
    "session-drift-noise-10-turns-implicit-redis 5",
}
"""They expect a belief that is only linked to the one that the question names."""


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, float]]:
    """For each set and level the mean of each measure."""
    figures: dict[str, dict[str, list[float]]] = {}
    for name in ("longmemeval", "realmem", "realmem_items"):
        title, load = recall_sets.SETS[name]
        for item in recall.by_memnb(title, list(load(SMALL))):
            measures = figures.setdefault(f"{title}, {item['level']}", {})
            for measure in recall_measures.MEASURES:
                measures.setdefault(measure, []).append(item[measure])
    return {
        name: {measure: mean(values) for measure, values in measures.items()}
        for name, measures in figures.items()
    }


@pytest.mark.parametrize(
    ("where", "measure", "least"),
    [
        ("LongMemEval-S, turn", "R@5", 0.66),
        ("LongMemEval-S, turn", "nDCG@10", 0.69),
        ("LongMemEval-S, session", "all@5", 0.89),
        ("RealMem, session", "R@10", 0.78),
        ("RealMem, items, turn", "R@10", 0.45),
    ],
)
def test_what_answers_a_question_is_found_as_often_as_was_measured(
    found: dict[str, dict[str, float]], where: str, measure: str, least: float
) -> None:
    assert found[where][measure] >= least


@pytest.mark.parametrize("case", CASES + TURNS, ids=lambda case: case.id)
def test_of_beliefs_none_is_shown_unasked_but_those_that_are_expected(
    case: precision_sets.Case,
) -> None:
    assert set(case.shown) <= case.expected
    if case.id not in BY_A_RELATION:
        assert set(case.shown) == case.expected


def test_measures_are_what_they_are_called() -> None:
    ranked, gold = ["a", "b", "c", "d", "e", "f"], {"a", "f"}
    measured = {name: of(ranked, gold) for name, of in recall_measures.MEASURES.items()}
    assert measured.pop("nDCG@10") == pytest.approx((1 + 1 / 2.807) / (1 + 1 / 1.585), abs=1e-3)
    assert measured == {
        "any@5": 1.0,
        "all@5": 0.0,
        "R@5": 0.5,
        "any@10": 1.0,
        "all@10": 1.0,
        "R@10": 1.0,
    }


def test_an_interval_holds_its_mean_and_narrows_with_more_values() -> None:
    few, many = recall_measures.figure([0.0, 1.0] * 5), recall_measures.figure([0.0, 1.0] * 500)
    assert few.low <= few.mean <= few.high
    assert many.high - many.low < few.high - few.low
