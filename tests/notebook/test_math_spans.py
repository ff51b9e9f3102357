from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.notebook.math_spans import math_spans


def found(text: str) -> list[str]:
    return [text[span.start : span.end] for span in math_spans(text)]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("a $x_1$ b", ["$x_1$"]),
        ("between $5 and $6", []),
        ("$ x$ and $x $", []),
        ("costs 3$x$4", []),
        (r"\$x$ and $y$", ["$y$"]),
        (r"$\$$", [r"$\$$"]),
        ("$$\na\n= b\n$$ c", ["$$\na\n= b\n$$"]),
        (r"\(x\) and \[y\\[2pt] z\]", [r"\(x\)", r"\[y\\[2pt] z\]"]),
        (r"\begin{align*}a &= b\\c\end{align*}", [r"\begin{align*}a &= b\\c\end{align*}"]),
        ("$a\n\nb$", []),
        (r"\[a" + "\n \n" + r"b\]", []),
        ("`$x$` and ``a`$y$``", []),
        ("`a $x$", ["$x$"]),
        (r"\[ never closed $x$", ["$x$"]),
    ],
)
def test_formulas_are_found(text: str, formulas: list[str]) -> None:
    assert found(text) == formulas


@given(st.text(alphabet="$\\[]()`ab1 \n{}"))
def test_formulas_come_in_order_and_do_not_overlap(text: str) -> None:
    ends = [0]
    for span in math_spans(text):
        assert ends[-1] <= span.start < span.end <= len(text)
        ends.append(span.end)
