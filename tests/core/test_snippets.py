from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.snippets import SNIPPET_CHARACTERS, Snippet, Span, snippet

PIECES = [*"ab \n\tü漢…»", "word ", "  "]
TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
SPANS = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=8)


def flat(text: str) -> str:
    return " ".join(text.split())


def spans_in(text: str, spans: list[Span]) -> list[Span]:
    inside = [(min(a, b, len(text)), min(max(a, b), len(text))) for a, b in spans]
    return [(a, b) for a, b in inside if text[a:b].strip()]


@given(TEXT, SPANS, st.integers(1, 60))
def test_a_snippet_is_a_piece_of_the_text_on_one_line_of_bounded_length(
    text: str, spans: list[Span], width: int
) -> None:
    found = snippet(text, spans_in(text, spans), width=width)
    assert "\n" not in found.text
    assert len(found.text) <= width + 2
    piece = found.text.removeprefix("…") if len(text) > width else found.text
    piece = piece.removesuffix("…") if len(text) > width else piece
    assert flat(piece) in flat(text)


@given(TEXT, SPANS, st.integers(1, 60))
def test_marks_are_in_order_apart_and_inside(text: str, spans: list[Span], width: int) -> None:
    found = snippet(text, spans_in(text, spans), width=width)
    end = -1
    for start, stop in found.marks:
        assert end < start < stop <= len(found.text)
        end = stop


@given(TEXT, SPANS)
def test_a_text_that_fits_keeps_every_mark_and_marks_what_was_looked_for(
    text: str, spans: list[Span]
) -> None:
    wanted = spans_in(text, spans)
    found = snippet(text, wanted, width=1000)
    marked = "".join("".join(found.text[a:b].split()) for a, b in found.marks)
    covered = sorted({at for a, b in wanted for at in range(a, b)})
    assert marked == "".join(text[at] for at in covered if not text[at].isspace())


LONG = "before " * 100 + "the revenue is in EUR cents " + "after " * 100


@pytest.mark.parametrize("word", ["revenue", "EUR cents"])
def test_a_long_text_is_cut_around_what_was_looked_for_at_blanks(word: str) -> None:
    at = LONG.index(word)
    found = snippet(LONG, [(at, at + len(word))])
    ((start, end),) = found.marks
    assert found.text[start:end] == word
    assert set(found.text.strip("…").split()) <= set(LONG.split())
    assert found.text[0] == found.text[-1] == "…"
    assert len(found.text) <= SNIPPET_CHARACTERS + 2


def test_the_piece_that_holds_most_is_shown() -> None:
    text = "revenue " + "x " * 300 + "revenue in EUR and revenue in USD" + " x" * 300
    at = [place for place in range(len(text)) if text.startswith("revenue", place)]
    found = snippet(text, [(place, place + 7) for place in at])
    assert len(found.marks) == 2


def test_words_that_stand_together_are_one_mark() -> None:
    assert snippet("revenue\n  in EUR", [(0, 7), (10, 12)]) == Snippet("revenue in EUR", ((0, 10),))


def test_without_anything_to_mark_it_is_the_beginning() -> None:
    assert snippet("\n one\n\n two ", []) == Snippet("one two")
    assert snippet("word " * 100, []).text.startswith("word word")


def test_a_text_full_of_what_was_looked_for_is_cut_in_no_time() -> None:
    text = "ab" * 200_000
    found = snippet(text, [(at, at + 1) for at in range(0, len(text), 2)])
    assert len(found.text) <= SNIPPET_CHARACTERS + 2
