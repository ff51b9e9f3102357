from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.word_evidence import closeness, names, stands_in, word_fit
from memnb.core.word_forms import forms_of, is_mistyped

WEIGHTS = {"red": 1.0, "apples": 3.0}
WORDS = st.lists(st.sampled_from(["red", "apples", "and", "pears"]), max_size=30)


def fit(text: str, context: str = "") -> tuple[float, float]:
    return word_fit(WEIGHTS, Counter(text.split()), Counter(context.split()), 10)


def test_a_rare_word_counts_more_than_a_usual_one() -> None:
    assert fit("apples and pears") > fit("red and pears")


def test_a_word_that_is_said_again_counts_less_than_another() -> None:
    assert fit("red apples")[0] > fit("apples apples")[0]


def test_a_long_text_must_hold_more_to_fit_as_well() -> None:
    assert fit("apples")[0] > fit("apples" + " and" * 200)[0]


def test_context_adds_to_a_short_text_and_less_to_a_long_one() -> None:
    short, long = fit("yes", "red apples"), fit("yes " * 300, "red apples")
    assert short[0] == long[0] == 0.0
    assert short[1] > long[1] > 0.0


@given(WORDS, WORDS)
def test_context_never_takes_from_what_the_text_holds(text: list[str], context: list[str]) -> None:
    words, both = word_fit(WEIGHTS, Counter(text), Counter(context), 10)
    alone, _ = word_fit(WEIGHTS, Counter(text), Counter(), 10)
    assert 0.0 <= words <= alone
    assert both >= words


def test_words_that_stand_together_are_closer_than_words_apart() -> None:
    together, apart = "the red apples", "red and pears apples"
    far = "red" + " and" * 9 + " apples"
    found = [closeness(text.split(), WEIGHTS) for text in (together, apart, far)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[1] > found[2] == 0.0


@pytest.mark.parametrize(
    ("phrase", "there"),
    [(("red", "apples"), True), (("apples", "red"), False), (("apples",), True), (("x",), False)],
)
def test_a_phrase_stands_in_a_text_in_its_order(phrase: tuple[str, ...], there: bool) -> None:
    assert stands_in(phrase, ("two", "red", "red", "apples")) is there


def test_the_names_of_a_fact_are_read_as_the_index_has_them() -> None:
    context = "redis_cache; MongoDB, point of view\nk8s"
    words = ("redi", "cach", "mongodb", "mongo", "db", "point", "of", "view", "k8", "s")
    found = list(names(context, (*words[:8], "k8s")))
    assert found == [("redi", "cach"), ("mongodb",), ("point", "view"), ("k8s",)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("eror", "error"), ("reedis", "redis"), ("typsecript", "typescript"), ("plto", "plot")],
)
def test_a_letter_missing_or_two_swapped_is_mistyped(one: str, other: str) -> None:
    assert is_mistyped(one, other)
    assert is_mistyped(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("cat", "cat"), ("cache", "cable"), ("mango", "mongo"), ("a", "abc")]
)
def test_another_letter_makes_another_word(one: str, other: str) -> None:
    assert not is_mistyped(one, other)


@given(st.text("abc", min_size=1, max_size=8), st.integers(0, 7))
def test_dropping_any_letter_is_mistyped(word: str, place: int) -> None:
    shorter = word[: place % len(word)] + word[place % len(word) + 1 :]
    assert is_mistyped(word, shorter)


def test_forms_of_a_word_know_each_other() -> None:
    assert "bought" in forms_of("buy")
    assert "buy" in forms_of("bought")
    assert forms_of("apples") == ()
