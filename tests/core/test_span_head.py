from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.candidates import MIN_CONFIDENCE
from memnb.core.span_features import FEATURES
from memnb.core.span_head import LIKELY, SpanHead, kind_of, read_head

ROOT = Path(__file__).resolve().parents[2]
CONTENT: dict[str, Any] = json.loads((ROOT / "memnb/core/span_head.json").read_text("utf-8"))
HEAD = read_head(CONTENT)
MARKS_ONLY = read_head(
    {"sums": {"marks": CONTENT["sums"]["marks"]}, "lines": {"marks": CONTENT["lines"]["marks"]}}
)


@pytest.fixture(scope="module")
def trainer() -> ModuleType:
    """The training script, which isn't part of the package."""
    pytest.importorskip("numpy")
    spec = importlib.util.spec_from_file_location("train_spans", ROOT / "benchmarks/train_spans.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def score(text: str, head: SpanHead = MARKS_ONLY) -> int:
    return head.score(text).probability_thousandths


def test_the_weights_are_what_training_makes_of_the_committed_sentences(
    trainer: ModuleType,
) -> None:
    rows = trainer.trained_on()
    names = [name for name in CONTENT["sums"] if name not in ("marks", "embedding")]
    evidence = {"marks": trainer.marks_of(rows)}
    evidence |= {name: trainer.said_of(name, rows) for name in names}

    made = trainer.learn(evidence, rows)

    for name, learned in made["sums"].items():
        assert CONTENT["sums"][name]["weights"] == pytest.approx(learned["weights"], abs=0.002)
        assert CONTENT["sums"][name]["bias"] == pytest.approx(learned["bias"], abs=0.002)
    for name, line in made["lines"].items():
        assert CONTENT["lines"][name] == pytest.approx(line, abs=0.005)


@pytest.mark.parametrize(
    ("least", "n_right", "n_flagged"),
    [(LIKELY, 43, 44), (MIN_CONFIDENCE, 23, 23)],
    ids=["worth a look", "by itself"],
)
def test_on_sentences_held_out_the_marks_alone_are_this_precise(
    trainer: ModuleType, least: int, n_right: int, n_flagged: int
) -> None:
    flagged = [row for row in trainer.labelled("spans_held.jsonl") if score(row.text) >= least]

    assert (sum(row.keep for row in flagged), len(flagged)) == (n_right, n_flagged)


def test_no_sentence_is_both_learned_from_and_held_out(trainer: ModuleType) -> None:
    learned = {row.text.casefold() for row in trainer.trained_on()}
    held = [row.text.casefold() for row in trainer.labelled("spans_held.jsonl")]

    assert len(set(held)) == len(held)
    assert learned.isdisjoint(held)


def test_the_labelled_sentences_say_what_they_are(trainer: ModuleType) -> None:
    for row in trainer.trained_on() + trainer.labelled("spans_held.jsonl"):
        assert (row.kind is not None) == row.keep, row.text
        assert row.kind in (None, "preference", "convention", "decision")
        assert row.language in ("en", "ar")


@pytest.mark.parametrize(
    "text",
    [
        "We use tabs for indentation in this repo.",
        "Always answer me in German.",
        "I strongly dislike pie charts and prefer plain tables.",
        "We decided to use PostgreSQL for the new service.",
        "Consult the handbook whenever you write a date.",
        "I always travel by night train.",
        "نستخدم polars في هذا المشروع وليس pandas.",
    ],
)
def test_what_states_a_rule_scores_high(text: str) -> None:
    assert score(text) >= LIKELY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plot the histogram of income.",
        "Do we use tabs in this repo?",
        "My boss says that we always have to use tabs.",
        "For now, use tabs in this file.",
        "Maybe we should use tabs.",
        "Look into the handbook and tell me how we write dates.",
        "The archivist always files by year.",
        "I've decided to take the night train on Friday.",
        "From Monday on I'll cycle to work.",
        "I'd rather take the one with the garden.",
        "Translate 'we never give up' to French.",
        "ما معنى هذا التحذير؟",
        "这个错误是什么意思？",
        "👍",
    ],
)
def test_what_states_none_scores_low(text: str) -> None:
    assert score(text) < LIKELY


@given(st.text())
def test_any_text_scores_between_nothing_and_a_thousand(text: str) -> None:
    assert 0 <= score(text) <= 1000


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I prefer short answers.", "preference"),
        ("Always answer me in German.", "preference"),
        ("We store durations in milliseconds.", "convention"),
        ("All figures must be exported as SVG.", "convention"),
        ("We decided against microservices.", "decision"),
        ("قررنا استخدام PostgreSQL.", "decision"),
    ],
)
def test_the_kind_is_guessed_by_the_words(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def small(**lines: dict[str, float]) -> SpanHead:
    """A head of one mark, a two-number embedding and one model's two numbers."""
    return read_head(
        {
            "sums": {
                "marks": {"weights": {"always": 2.0, "of another version": 9.0}, "bias": -1.0},
                "embedding": {"weights": [1.0, -1.0], "bias": 0.0},
                "local/m": {"weights": [3.0, 0.0], "bias": 0.0},
            },
            "lines": {"marks": {"marks": 1.0, "bias": 0.0}, **lines},
        }
    )


def test_marks_alone_are_summed_by_their_weights() -> None:
    assert small().score("always").probability_thousandths == 731  # 1 / (1 + e^-1)


def test_an_embedding_counts_where_the_head_has_a_line_for_it() -> None:
    line = {"marks": 0.0, "embedding": 1.0, "bias": 0.0}
    head = small(**{"marks+embedding": line})

    assert head.score("x", embedding=[1.0, 0.0]).probability_thousandths == 731
    assert head.score("x", embedding=[0.0, 1.0]).probability_thousandths == 269
    assert head.score("x").probability_thousandths == 269  # by the marks


def test_what_an_unknown_model_says_is_left_out() -> None:
    line = {"marks": 0.0, "local/m": 1.0, "bias": 0.0}
    head = small(**{"marks+local/m": line})

    assert head.score("x", said=[1.0, 0.0], model="local/m").probability_thousandths == 953
    assert head.score("x", said=[1.0, 0.0], model="local/n") == head.score("x")


def test_without_a_line_for_the_combination_the_marks_decide() -> None:
    assert small().score("x", embedding=[9.0, 9.0]) == small().score("x")


def test_evidence_of_another_length_is_an_error() -> None:
    line = {"marks": 0.0, "embedding": 1.0, "bias": 0.0}

    with pytest.raises(ValueError, match="zip"):
        small(**{"marks+embedding": line}).score("x", embedding=[1.0])


def test_a_mark_that_the_file_has_no_weight_for_counts_nothing() -> None:
    assert len(small().sums["marks"].weights) == len(FEATURES)
