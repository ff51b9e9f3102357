from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.facts import normalised
from memnb.errors import InputError
from memnb.memory.matching import MAX_PATTERN, How, Phrase, Regex, Words, matcher

TEXT = st.text(st.sampled_from("aAbß üÜéE\u0301漢\n\t .*(\ud800ﬁ한\u1112\u1161"), max_size=30)


@pytest.mark.parametrize("text", ["", " ", "\t\n"], ids=["empty", "blank", "white"])
@pytest.mark.parametrize("how", ["words", "literal", "regex"])
def test_nothing_to_look_for_is_refused(text: str, how: How) -> None:
    with pytest.raises(InputError):
        matcher(text, how)


@pytest.mark.parametrize("how", ["literal", "regex"])
def test_too_much_to_look_for_is_refused(how: How) -> None:
    with pytest.raises(InputError):
        matcher("a" * (MAX_PATTERN + 1), how)


@given(TEXT, TEXT.filter(str.strip))
def test_a_phrase_is_held_when_the_texts_that_are_compared_say_so(text: str, phrase: str) -> None:
    assert Phrase(phrase).holds(text) == (normalised(phrase) in normalised(text))


@given(TEXT, st.integers(0, 30), st.integers(1, 30))
def test_what_is_marked_of_a_phrase_says_the_phrase(text: str, start: int, length: int) -> None:
    phrase = text[start : start + length]
    if not phrase.strip():
        return
    for begin, end in Phrase(phrase).spans(text):
        assert normalised(phrase) in normalised(text[begin:end])


@pytest.mark.parametrize(
    ("phrase", "text", "marked"),
    [
        pytest.param("REVENUE", "The revenue", "revenue", id="case"),
        pytest.param("in  cm", "Gro\u0308ße in\n cm", "in\n cm", id="blanks"),
        pytest.param("GRÖSSE", "die Gro\u0308ße", "Gro\u0308ße", id="composition and sharp s"),
        pytest.param("(a+)+$", "use (a+)+$ with care", "(a+)+$", id="signs"),
        pytest.param("漢", "の漢字", "漢", id="no blanks"),
    ],
)
def test_a_phrase_is_marked_as_it_stands(phrase: str, text: str, marked: str) -> None:
    ((start, end),) = Phrase(phrase).spans(text)
    assert text[start:end] == marked


@pytest.mark.parametrize(
    ("words", "text", "marked"),
    [
        ("reporting report", "They reported it", ["reported"]),
        ("report", "reports and Reporting", ["reports", "Reporting"]),
        ("monthly", "every month, monthly", ["month", "monthly"]),
        ("naïve", "a naive Bayes", ["naive"]),
        ("name", "the user_name of userName", ["name", "userName"]),
        ("eur", "Euro and europium in EUR", ["Euro", "EUR"]),
        ("it", "items of it", ["it"]),
    ],
)
def test_words_are_marked_in_whatever_form(words: str, text: str, marked: list[str]) -> None:
    assert [text[a:b] for a, b in Words(words.split()).spans(text)] == marked


@pytest.mark.parametrize(
    ("pattern", "text", "marked"),
    [
        (r"\d{4}-\d\d", "on 2026-03-31, not 2027-04-01", ["2026-03", "2027-04"]),
        (r"^total$", "Total\nsubtotal\ntotal", ["Total", "total"]),
        (r"(?-i)EUR", "eur EUR", ["EUR"]),
        (r"größe", "GRÖẞE GRÖßE", ["GRÖẞE", "GRÖßE"]),
        (r"x*", "abc", []),
        (r"(?s)b.*", "ab\ncd", ["b\ncd"]),
        ("a|b", "abc", ["a", "b"]),
    ],
)
def test_a_regular_expression_is_marked_where_it_fits(
    pattern: str, text: str, marked: list[str]
) -> None:
    assert [text[a:b] for a, b in Regex(pattern).spans(text)] == marked


@pytest.mark.parametrize(
    "pattern", ["(", "[", "a{1001}", r"(a)\1", "(?<=a)b", "(?=a)", "a**", "\\", "(?P<n", "\ud800("]
)
def test_what_needs_more_than_linear_time_or_is_wrong_is_refused_without_repeating_it(
    pattern: str,
) -> None:
    with pytest.raises(InputError) as caught:
        Regex(pattern)
    assert "\n" not in str(caught.value)
    assert pattern not in str(caught.value).replace("--regex", "").replace("(no", "")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*a){12}x"])
def test_an_expression_that_explodes_elsewhere_is_looked_for_all_the_same(pattern: str) -> None:
    assert not Regex(pattern).holds("a" * 8_000 + "!")


def test_a_regular_expression_stops_when_time_is_over() -> None:
    looks: list[int] = []

    def is_over() -> bool:
        looks.append(1)
        return len(looks) > 3

    assert not Regex("z", is_over).holds("line\n" * 100_000 + "z")
    assert len(looks) == 4


@given(st.text(max_size=40), st.sampled_from([r"\w+", r"a.b", r"\d", "é", "^.", r"\bx"]))
def test_a_span_of_a_regular_expression_is_in_the_text(text: str, pattern: str) -> None:
    found = Regex(pattern)
    spans = found.spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert bool(spans) == found.holds(text)
    if text.isascii():
        expected = [m.span() for m in re.finditer(pattern, text, re.I | re.M)]
        assert spans == expected


def test_every_way_of_composing_a_phrase_finds_it() -> None:
    text = "Ångström and café"
    for form in ("NFC", "NFD"):
        assert Phrase(unicodedata.normalize(form, "ångström")).spans(text)  # type: ignore[arg-type]
