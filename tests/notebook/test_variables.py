from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.bodies import Part
from memnb.errors import InputError
from memnb.notebook.variables import message_parts

NAMES: dict[str, Any] = {"x": 5, "df": [1], "d": {"a": 1}, "a": 1, "b": 2, "name": "n"}


def parts(text: str) -> list[str]:
    """The message with a mark where a variable stands."""
    return [
        f"<{part.expr}>" if part.type == "variable" else part.text
        for part in message_parts(text, NAMES)
    ]


def test_an_expression_becomes_a_part_of_its_own() -> None:
    assert message_parts("Split {{ df }} now", NAMES) == (
        Part("typed", "Split "),
        Part("variable", "list, 1 item\n[1]", "df"),
        Part("typed", " now"),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{x}}{{name}}", ["<x>", "<name>"]),
        ("a{{x}}b", ["a", "<x>", "b"]),
        ("{{d['a']}}", ["<d['a']>"]),
        ("{{f'{x}'}}", ["<f'{x}'>"]),
        ("{{dict(k={x: {x: 1}})}}", ["<dict(k={x: {x: 1}})>"]),
        ("{{[i for i in range(x)]}}", ["<[i for i in range(x)]>"]),
        ("${{x}} to ${{b}}", ["$", "<x>", " to $", "<b>"]),
        ("```\n{{x}}\n```\n{{x}}", ["```\n{{x}}\n```\n", "<x>"]),
        ("- a\n  ~~~~ py\n  {{x}}\n  ~~~\n  {{x}}\n  ~~~~\n{{x}}",
         ["- a\n  ~~~~ py\n  {{x}}\n  ~~~\n  {{x}}\n  ~~~~\n", "<x>"]),
        ("```{{x}}```", ["```", "<x>", "```"]),
        ("$y$ {{x}} $z$", ["$y$ ", "<x>", " $z$"]),
        ("{{ f(x) {{x}}", ["{{ f(x) ", "<x>"]),
    ],
)  # fmt: skip
def test_expressions_are_found(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{x} {0} {}",
        '{"a": {"b": 1}}',
        '{"a": {"b": {"c": [1, {"d": 2}]}}}',
        "{{}} {{ }}",
        '{{"a": 1}}',
        "{{1, 2}} {{...}} {{'x'}}",
        "{{{x}}} {{x}}} {{{x}}",
        "{{ {x: 1} }}",
        "{{not an expression}} {{class}} {{x",
        "{{x\n}}",
        r"\frac{{a}}{b} \frac{{a}}{{b}} \mathbf{{x}}",
        "x^{{a}} {{a}}{b} {x}{{a}} \\sqrt[3]{{a}}",
        "$\\frac {{a}} {b}$ $$ {{a}} $$ \\( {{a}} \\) \\[ {{a}} \\]",
        "\\begin{equation}\n{{a}}\n\\end{equation}",
        "> ```\n> {{x}}\n> ```",
        "```\n{{x}}",
        "",
    ],
)
def test_everything_else_stays_as_it_was_typed(text: str) -> None:
    assert message_parts(text, NAMES) == (Part("typed", text),)


def test_a_backslash_before_the_braces_keeps_them() -> None:
    assert parts(r"write \{{x}} so, and \{{ \{ too") == [r"write {{x}} so, and \{{ \{ too"]


@given(st.text(alphabet="{}x $\\`\n[]^_1\"'"))
def test_a_message_is_its_parts_put_together_again(text: str) -> None:
    names = {f"{'x' * n}{'1' * m}": 1 for n in range(1, 9) for m in range(9)}
    try:
        found = message_parts(text, names)
    except InputError:
        return  # such as {{x[x]}}
    together = "".join(
        part.text if part.type == "typed" else f"{{{{{part.expr}}}}}" for part in found
    )
    assert _without(" \\", together) == _without(" \\", text)


def _without(characters: str, text: str) -> str:
    return "".join(character for character in text if character not in characters)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{unknown}}", "the expression in line 1 raised NameError, so nothing was sent."),
        ("a\n{{x}} {{1 / (x - 5)}}", "the expression in line 2 raised ZeroDivisionError, so"),
        ("{{await_ + x}}", "the expression in line 1 raised NameError"),
        ("{{(yield x)}}", "the expression in line 1 raised SyntaxError"),
    ],
)
def test_an_expression_that_fails_is_named_by_its_line_and_exception(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        message_parts(text, NAMES)
    assert says in str(caught.value)
    assert "unknown" not in str(caught.value)


def test_an_expression_does_not_change_the_namespace() -> None:
    names = dict(NAMES)
    message_parts("{{(y := x)}}", names)
    assert names == NAMES


def test_a_summary_is_cut_at_the_given_size() -> None:
    (part,) = message_parts("{{'é' * x * 1000}}", NAMES, max_bytes=300)
    assert len(part.text.encode()) <= 300
