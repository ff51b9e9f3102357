from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.citations import Citations

FACT = "F-7k2m9q"
SAID = "S-20261130-091005-7k2m9q:12"
OPEN, CLOSE = "<memory-used>", "</memory-used>"

PIECES = (
    OPEN,
    CLOSE,
    "<memory-us",
    "<MEMORY-USED>",
    FACT,
    SAID,
    ", ",
    "\n",
    "a word ",
    "<b>",
    "<",
    "```\n",
)
answers = st.lists(st.sampled_from([*PIECES, "word " * 40])).map("".join)


def taken(pieces: Sequence[str]) -> tuple[str, list[str]]:
    citations = Citations()
    shown = "".join([*map(citations.take, pieces), citations.rest()])
    return shown, list(citations.cited)


@pytest.mark.parametrize(
    ("answer", "shown", "cited"),
    [
        pytest.param("EUR cents.", "EUR cents.", [], id="no tag"),
        pytest.param(f"EUR.{OPEN}{FACT}{CLOSE}", "EUR.", [FACT], id="one"),
        pytest.param(f"EUR.{OPEN}{FACT}, {SAID}{CLOSE}", "EUR.", [FACT, SAID], id="several"),
        pytest.param(f"EUR.{OPEN}{FACT}@2 {SAID}.{CLOSE}", "EUR.", [FACT, SAID], id="as they are"),
        pytest.param(f"a {OPEN}{FACT}{CLOSE}b", "a b", [FACT], id="in the middle"),
        pytest.param(f"EUR.{OPEN}{FACT}", "EUR.", [FACT], id="not closed"),
        pytest.param(f"EUR.{OPEN}", "EUR.", [], id="nothing in it"),
        pytest.param(f"EUR.{OPEN}none{CLOSE}", "EUR.", [], id="none"),
        pytest.param(f"EUR.{CLOSE}", "EUR.", [], id="not opened"),
        pytest.param(f"{OPEN}{FACT}{OPEN}{SAID}{CLOSE}{CLOSE}.", ".", [FACT, SAID], id="nested"),
        pytest.param(f"```\n{OPEN}{FACT}{CLOSE}\n```", "```\n\n```", [FACT], id="in a fence"),
        pytest.param("EUR.<Memory-Used >F-7k2m9q</memory-used\n>", "EUR.", [FACT], id="as spelt"),
        pytest.param('EUR.<memory-used ids="F-7k2m9q"/>', "EUR.", [FACT], id="as an attribute"),
        pytest.param(f"EUR.{OPEN}the ids you used{CLOSE}", "EUR.", [], id="other words in it"),
        pytest.param("EUR.<memory-use", "EUR.", [], id="cut off"),
        pytest.param(f"EUR.{OPEN}{FACT}</memo", "EUR.", [FACT], id="cut off at its end"),
        pytest.param("a <b> and a < b <", "a <b> and a < b <", [], id="other tags"),
        pytest.param("<memory-used-up>", "<memory-used-up>", [], id="a longer name"),
    ],
)
def test_citations_are_taken_out_and_collected(answer: str, shown: str, cited: list[str]) -> None:
    assert taken([answer]) == (shown, cited)


@pytest.mark.parametrize(
    "text", ["the rest of the answer", f"{FACT} says so", "a, b and c", f"It\nis {'so ' * 200}"]
)
def test_the_rest_of_an_answer_is_shown_when_a_tag_was_never_closed(text: str) -> None:
    assert taken([f"It is. {OPEN}{text}"]) == (f"It is. {text}", [])


@given(answers, st.data())
def test_it_makes_no_difference_how_an_answer_is_cut_into_pieces(
    answer: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(answer)))))
    ends = [0, *cuts, len(answer)]
    pieces = [answer[a:b] for a, b in pairwise(ends)]
    assert taken(pieces) == taken([answer])


@given(answers)
def test_no_tag_is_ever_shown(answer: str) -> None:
    shown, _ = taken([answer])
    assert OPEN not in shown.lower()
    assert CLOSE not in shown.lower()


@given(st.text())
def test_an_answer_without_tags_stays_as_it_is(answer: str) -> None:
    assert "memory-" in answer or taken(list(answer)) == (answer, [])


def test_an_answer_that_goes_on_after_a_tag_is_not_kept_waiting_for_its_end() -> None:
    citations = Citations()
    assert citations.take(f"{OPEN}It is so.\n") == ""
    assert citations.take("And") == "It is so.\nAnd"
    assert citations.take(" on.") == " on."
    assert citations.take(CLOSE) == ""


def test_text_is_not_kept_waiting() -> None:
    citations = Citations()
    assert [citations.take(piece) for piece in ("In ", "EUR ", "<b>", "<me", "an>")] == [
        "In ",
        "EUR ",
        "<b>",
        "",
        "<mean>",
    ]
