from __future__ import annotations

from collections.abc import Sequence

import pytest

from memnb.core.span_head import LIKELY
from memnb.llm.embedding import MiniLM
from memnb.memory import span_scoring

TABS = "We use tabs for indentation in this repo."
TASK = "Could you please run it again?"


class Listening:
    """A local model that notes what it is asked."""

    name = "local/unknown"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [[1.0] for _ in texts]


def test_every_sentence_gets_a_score_without_a_model() -> None:
    scores = span_scoring.score([TABS, TASK, ""])

    assert [one.probability_thousandths >= LIKELY for one in scores] == [True, False, False]


def test_nothing_gets_no_scores() -> None:
    assert span_scoring.score([], model=Listening()) == []


def test_a_model_is_asked_only_about_what_the_words_leave_open() -> None:
    model = Listening()

    span_scoring.score([TABS, TASK], model=model)

    assert model.asked == [TABS]


def test_a_model_that_the_weights_were_not_made_for_changes_nothing() -> None:
    assert span_scoring.score([TABS], model=Listening()) == span_scoring.score([TABS])


def test_an_embedder_is_asked_with_the_same_sentences() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[0.0] * 384 for _ in texts]

    span_scoring.score([TASK, TABS], embed=embed)

    assert asked == [TABS]


def test_a_model_that_was_stopped_leaves_the_rest_to_the_words() -> None:
    class Stopped(Listening):
        def __call__(self, texts: Sequence[str]) -> list[list[float]]:
            return super().__call__(texts)[:1]

    assert span_scoring.score([TABS, TABS], model=Stopped()) == span_scoring.score([TABS, TABS])


def test_an_embedder_that_fails_leaves_all_to_the_words() -> None:
    assert span_scoring.score([TABS], embed=lambda _: []) == span_scoring.score([TABS])


@pytest.mark.skipif(not MiniLM.is_installed(), reason="needs memnb[vectors]")
def test_an_embedder_finds_what_the_words_alone_leave_open() -> None:
    said = "Plots need a source line at the bottom."

    (alone,) = span_scoring.score([said])
    (meant,) = span_scoring.score([said], embed=MiniLM())

    assert alone.probability_thousandths < LIKELY <= meant.probability_thousandths
