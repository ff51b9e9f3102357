from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.span_features import FEATURES, features
from memnb.core.span_marks import MARKS
from memnb.core.span_marks_arabic import ARABIC_MARKS


def marks(text: str) -> set[str]:
    return {name for name, value in zip(FEATURES, features(text), strict=True) if value}


@given(st.text())
def test_any_text_has_every_feature_as_zero_or_one(text: str) -> None:
    values = features(text)

    assert len(values) == len(FEATURES)
    assert set(values) <= {0.0, 1.0}


@given(st.text(alphabet="ab \"'.,:?!(`=ا لوئنi"))
def test_features_depend_on_nothing_but_the_text(text: str) -> None:
    assert features(text) == features(text[:1] + text[1:])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x00",
        "\ud800",
        "我们总是用制表符。",
        "👩‍👩‍👧‍👦" * 50,
        "a " * 10_000,
        '"a ' * 5_000,
    ],
    ids=["empty", "blank", "nul", "surrogate", "chinese", "emoji", "long", "quotes"],
)
def test_odd_texts_have_features(text: str) -> None:
    assert len(features(text)) == len(FEATURES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Always answer me in German.", {"always", "order", "order_lasting", "me"}),
        ("We use tabs for indentation in this repo.", {"we_do", "project"}),
        ("We decided to drop Spark.", {"decided", "decided_what"}),
        ("I can’t stand pie charts.", {"dislike", "attitude"}),
        ("At the moment I avoid the gym.", {"now", "avoid", "attitude+now"}),
        ("Do we use tabs here?", {"asks", "question_mark"}),
        ("My colleague prefers tabs.", {"kin"}),
        ("Maybe we should use tabs.", {"hypothetical", "should"}),
        ("Yesterday we ran the tests.", {"past", "past_time"}),
        ('He wrote: "always be kind".', {"quotes", "reported", "he_she"}),
        ("Tell me how we name branches.", {"order_once", "asks_within"}),
        ("When I ask for a plot, add the units.", {"when_asked"}),
        ("The archivist always files by year.", {"third_habit"}),
        ("I'd rather take the later ferry.", {"would_rather", "rather_this"}),
        ("I've decided on the green sofa.", {"i_decided", "decided_the"}),
        ("Starting on Monday I'll go by bike.", {"starting", "future"}),
        ("In all of our tables weights are in grams.", {"all_our"}),
        ("I'm a slow reader, so I'll need a while.", {"mood", "so_plan"}),
    ],
)
def test_a_sentence_has_the_marks_of_how_it_is_said(text: str, expected: set[str]) -> None:
    assert marks(text) >= expected


@pytest.mark.parametrize(
    ("arabic", "english"),
    [
        ("أجبني دائمًا بالعربية.", "Always answer me in Arabic."),
        ("قررنا استخدام PostgreSQL.", "We decided to use PostgreSQL."),
        ("هل نكتب الاختبارات؟", "Do we write tests?"),
    ],
)
def test_arabic_has_the_same_marks(arabic: str, english: str) -> None:
    shared = {"always", "decided", "asks", "question_mark", "order"}

    assert marks(arabic) & shared == marks(english) & shared != set()


def test_arabic_is_read_without_vowel_signs() -> None:
    assert marks("نُخَزِّن الصُّوَر دائِمًا") == marks("نخزن الصور دائما")


def test_arabic_marks_are_marks_that_english_has() -> None:
    assert ARABIC_MARKS.keys() <= MARKS.keys()


def test_no_feature_has_the_name_of_another() -> None:
    assert len(set(FEATURES)) == len(FEATURES)
