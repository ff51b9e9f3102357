from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.learning_gate import (
    EVERY_TURNS,
    LEAST_CHARACTERS,
    Unmined,
    is_due,
    similarity,
)

REVENUE = "Group the revenue of the churn table by region and month, in EUR cents, please. " * 3
FONTS = "Which fonts does the poster of our conference need, and who prints it in Leipzig? " * 3


def same_topic(n: int) -> list[Unmined]:
    return [Unmined(REVENUE)] * n


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param([], False, id="nothing new"),
        pytest.param(same_topic(EVERY_TURNS), True, id="many exchanges"),
        pytest.param(same_topic(EVERY_TURNS - 1), False, id="one exchange less"),
        pytest.param([Unmined("ok")] * EVERY_TURNS, False, id="many, but hardly a word"),
        pytest.param(
            [Unmined("x" * (LEAST_CHARACTERS - 1))] + [Unmined("")] * EVERY_TURNS,
            False,
            id="too short",
        ),
        pytest.param(
            [Unmined("x" * LEAST_CHARACTERS)] + [Unmined("")] * EVERY_TURNS, True, id="just enough"
        ),
        pytest.param([Unmined(REVENUE), Unmined(FONTS)], True, id="another topic"),
        pytest.param(
            [Unmined(REVENUE), Unmined(REVENUE + "And yours?")], False, id="the same topic"
        ),
        pytest.param([Unmined(FONTS)], False, id="the first topic"),
        pytest.param([Unmined(REVENUE), Unmined("!?")], False, id="a message without words"),
        pytest.param(
            [*same_topic(EVERY_TURNS), Unmined(REVENUE, has_saved=True)], False, id="just saved"
        ),
        pytest.param(
            [Unmined(REVENUE, has_saved=True), *same_topic(EVERY_TURNS)], True, id="saved earlier"
        ),
    ],
)
def test_a_look_is_due(said: list[Unmined], expected: bool) -> None:
    assert is_due(said) is expected


@given(st.text(), st.text())
def test_similarity_is_the_same_either_way_and_between_0_and_1(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert 0 <= similarity(one, other) <= 1


@given(st.text())
def test_a_text_is_as_similar_to_itself_as_can_be(text: str) -> None:
    assert similarity(text, text) == 1


def test_in_a_session_of_twenty_exchanges_about_three_topics_few_looks_are_due() -> None:
    topics = [REVENUE, FONTS, "Why does the scheduler of the cluster start every job twice? " * 4]
    waiting: list[Unmined] = []
    looks = 0
    for number in range(20):
        waiting.append(Unmined(topics[number // 7] + f" number {number}"))
        if is_due(waiting):
            looks, waiting = looks + 1, []
    assert looks == 2
