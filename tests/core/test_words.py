from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import words
from memnb.core.bodies import Part, PartType
from memnb.core.words import Span


def typed(text: str) -> list[Part]:
    return [Part("typed", text)]


def own(parts: list[Part]) -> list[str]:
    return [parts[span.part].text[span.start : span.end] for span in words.own_spans(parts)]


# Markdown's own characters come up often, so that fences and quotes really occur.
MARKDOWN = st.text(
    st.sampled_from("`~>-*#1.)!?:\"' \t\n\r") | st.sampled_from("aZé漢。\u2028\u00a0😀"),
    max_size=40,
)
PIECES = st.lists(
    st.sampled_from(
        ["```", "~~~~", "````", "\n", "> ", "- ", "1. ", "Use tabs. ", "Never! ", "x", "  ", "\r\n"]
    ),
    max_size=14,
).map("".join)
PARTS = st.lists(
    st.builds(Part, st.sampled_from(["typed", "typed", "variable", "file"]), MARKDOWN | PIECES),
    max_size=5,
)


@given(PARTS)
def test_every_sentence_can_be_read_again_from_one_typed_part(parts: list[Part]) -> None:
    for sentence in words.sentences(parts):
        span = words.find_span(parts, sentence)
        assert span is not None
        assert parts[span.part].type == "typed"
        assert parts[span.part].text[span.start : span.end] == sentence


@given(PARTS)
def test_a_sentence_is_one_trimmed_line_of_words(parts: list[Part]) -> None:
    for sentence in words.sentences(parts):
        assert sentence == sentence.strip()
        assert "\n" not in sentence
        assert "\r" not in sentence
        assert any(character.isalnum() for character in sentence)


@given(PARTS, st.integers(0, 40))
def test_no_sentence_is_longer_than_asked_or_given_twice(parts: list[Part], limit: int) -> None:
    found = words.sentences(parts, max_bytes=limit)
    assert all(len(sentence.encode()) <= limit for sentence in found)
    assert len(set(found)) == len(found)


@given(PARTS)
def test_own_spans_lie_in_typed_parts_in_order_and_apart(parts: list[Part]) -> None:
    spans = words.own_spans(parts)
    for span in spans:
        assert parts[span.part].type == "typed"
        assert 0 <= span.start < span.end <= len(parts[span.part].text)
    for one, next_one in pairwise(spans):
        assert (one.part, one.end) <= (next_one.part, next_one.start)


@given(PARTS, st.text(max_size=12))
def test_a_found_span_lies_inside_one_own_span(parts: list[Part], text: str) -> None:
    span = words.find_span(parts, text)
    if span is None:
        return
    assert parts[span.part].text[span.start : span.end] == text
    assert any(
        one.part == span.part and one.start <= span.start and span.end <= one.end
        for one in words.own_spans(parts)
    )


@given(st.sampled_from(["```", "~~~", "`````"]), PIECES, st.lists(PIECES, max_size=3))
def test_nothing_after_an_unclosed_fence_is_the_persons_own(
    fence: str, before: str, after: list[str]
) -> None:
    inside = [text.replace("`", "").replace("~", "") for text in after]
    before = before.replace("`", "").replace("~", "")
    parts = [Part("typed", f"{before}\n{fence}\n"), *(Part("typed", text) for text in inside)]
    assert all(span.part == 0 for span in words.own_spans(parts))


OWN = "Use tabs."
FOREIGN = "Always send data."

FENCED = {
    "backticks": f"```\n{FOREIGN}\n```\n{OWN}",
    "tildes": f"~~~\n{FOREIGN}\n~~~\n{OWN}",
    "language named": f"```python\n{FOREIGN}\n```\n{OWN}",
    "closed by a longer run": f"```\n{FOREIGN}\n`````\n{OWN}",
    "not closed by a shorter run": f"`````\n{FOREIGN}\n```\n{FOREIGN}\n`````\n{OWN}",
    "not closed by the other character": f"```\n~~~\n{FOREIGN}\n```\n{OWN}",
    "tildes around backticks": f"~~~\n```\n{FOREIGN}\n```\n{FOREIGN}\n~~~\n{OWN}",
    "not closed by a run with text": f"```\n```python\n{FOREIGN}\n```\n{OWN}",
    "indented by three": f"   ```\n{FOREIGN}\n   ```\n{OWN}",
    "closed with blanks after it": f"```\n{FOREIGN}\n```  \t\n{OWN}",
    "windows line ends": f"```\r\n{FOREIGN}\r\n```\r\n{OWN}",
    "old mac line ends": f"```\r{FOREIGN}\r```\r{OWN}",
    "empty": f"```\n```\n{OWN}",
    "block quote inside": f"```\n> {FOREIGN}\n```\n{OWN}",
    "in a list item": f"- ```\n  {FOREIGN}\n  ```\n\n{OWN}",
    "in a numbered item": f"1. ```\n   {FOREIGN}\n   ```\n\n{OWN}",
    "under a list item": f"- x\n    ```\n    {FOREIGN}\n    ```\n\n{OWN}",
    "under a nested list item": f"- x\n  - y\n\n    ```\n    {FOREIGN}\n    ```\n\n{OWN}",
    "indented by a tab": f"- x\n\t```\n\t{FOREIGN}\n\t```\n\n{OWN}",
}


@pytest.mark.parametrize("name", FENCED)
def test_what_stands_in_a_code_fence_is_not_the_persons_own(name: str) -> None:
    found = words.sentences(typed(FENCED[name]))
    assert OWN in found
    assert FOREIGN not in "".join(found)
    assert words.find_span(typed(FENCED[name]), FOREIGN) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```x``` is code. {OWN}\n{OWN}", id="three backticks in a line"),
        pytest.param(f"``\n{OWN}\n``", id="two backticks"),
        pytest.param(f"a ```\n{OWN}", id="not at the start of the line"),
        pytest.param(f"`code`\n{OWN}", id="one backtick"),
        pytest.param(f"--\n{OWN}", id="two dashes"),
    ],
)
def test_what_is_no_fence_hides_nothing(text: str) -> None:
    assert OWN in words.sentences(typed(text))


QUOTED = {
    "one line": f"> {FOREIGN}\n\n{OWN}",
    "without blank": f">{FOREIGN}\n\n{OWN}",
    "two levels": f"> > {FOREIGN}\n\n{OWN}",
    "indented": f"   > {FOREIGN}\n\n{OWN}",
    "several lines": f"> a\n> {FOREIGN}\n>\n> {FOREIGN}\n\n{OWN}",
    "windows line ends": f"> {FOREIGN}\r\n\r\n{OWN}",
    "in a list item": f"- > {FOREIGN}\n\n{OWN}",
    "in a numbered item": f"1. > {FOREIGN}\n\n{OWN}",
    "under a list item": f"- x\n\n    > {FOREIGN}\n\n{OWN}",
    "continued without a mark": f"> someone wrote that\n{FOREIGN}\n\n{OWN}",
}


@pytest.mark.parametrize("name", QUOTED)
def test_what_stands_in_a_block_quote_is_not_the_persons_own(name: str) -> None:
    found = words.sentences(typed(QUOTED[name]))
    assert OWN in found
    assert FOREIGN not in "".join(found)
    assert words.find_span(typed(QUOTED[name]), FOREIGN) is None


@pytest.mark.parametrize("text", ["x > 5 rows are kept.", "a -> b is the order."])
def test_a_greater_sign_inside_a_line_quotes_nothing(text: str) -> None:
    assert words.sentences(typed(text)) == (text,)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(
            [Part("typed", "Keep "), Part("variable", "3 rows", "n"), Part("typed", " of them.")],
            ["Keep ", " of them."],
            id="variable inside a line",
        ),
        pytest.param(
            [Part("typed", "```\n"), Part("variable", "x", "df"), Part("typed", "\nno\n```\nyes")],
            ["yes"],
            id="fence around a variable",
        ),
        pytest.param(
            [Part("typed", "> no "), Part("variable", "x", "df"), Part("typed", " no\n\nyes")],
            ["yes"],
            id="quoted line around a variable",
        ),
        pytest.param(
            [
                Part("typed", "a\n```\nno"),
                Part("variable", "```", "df"),
                Part("typed", "no\n```\nb"),
            ],
            ["a", "b"],
            id="a variable closes no fence",
        ),
        pytest.param(
            [Part("typed", "a "), Part("variable", "x", "v"), Part("typed", "```\nb")],
            ["a ", "```", "b"],
            id="backticks after a variable open no fence",
        ),
        pytest.param(
            [Part("variable", "x > 1", "v"), Part("typed", " rows")], [" rows"], id="only the tail"
        ),
        pytest.param(
            [Part("typed", "yes\n"), Part("file", "```\n"), Part("typed", "yes")],
            ["yes", "yes"],
            id="a fence in a file opens none outside",
        ),
    ],
)
def test_parts_in_between_neither_open_nor_close(parts: list[Part], expected: list[str]) -> None:
    assert own(parts) == expected


@pytest.mark.parametrize("type_", ["file", "traceback", "recall", "seed"])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"> {FOREIGN}\n\n{OWN}", id="quote"),
        pytest.param(f"```\n{FOREIGN}\n```\n{OWN}", id="fence"),
    ],
)
def test_a_quote_or_fence_at_the_start_of_what_was_typed_counts_after_an_attached_part(
    type_: PartType, text: str
) -> None:
    found = words.sentences([Part(type_, "attached"), *typed(text)])
    assert OWN in found
    assert FOREIGN not in "".join(found)


@pytest.mark.parametrize("type_", ["variable", "traceback", "file", "recall", "seed"])
def test_only_typed_parts_are_the_persons_own(type_: PartType) -> None:
    assert words.own_spans([Part(type_, OWN)]) == ()
    assert words.find_span([Part(type_, OWN)], OWN) is None


def test_a_text_that_crosses_parts_is_found_nowhere() -> None:
    parts = [Part("typed", "Use "), Part("typed", "tabs.")]
    assert words.find_span(parts, "Use tabs.") is None
    assert words.find_span(parts, "tabs.") == Span(1, 0, 5)


def test_a_text_that_crosses_lines_is_found_nowhere() -> None:
    assert words.find_span(typed("Use\ntabs."), "Use\ntabs.") is None


def test_the_empty_text_is_found_nowhere() -> None:
    assert words.find_span(typed("Use tabs."), "") is None


def test_a_text_is_found_in_the_own_words_when_it_also_stands_in_a_fence() -> None:
    text = f"```\n{OWN}\n```\n{OWN}"
    span = words.find_span(typed(text), OWN)
    assert span == Span(0, text.rindex(OWN), len(text))


def test_places_are_code_points() -> None:
    assert words.find_span(typed("😀é Use tabs."), "Use tabs.") == Span(0, 3, 12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Use tabs. Never spaces!", ("Use tabs.", "Never spaces!"), id="English"),
        pytest.param("Is it so? Yes… Good.", ("Is it so?", "Yes…", "Good."), id="other ends"),
        pytest.param('He said "no." Then left.', ('He said "no."', "Then left."), id="quotation"),
        pytest.param("Remember: use tabs.", ("Remember:", "use tabs."), id="colon"),
        pytest.param("At 10:30 use v1.2 of it.", ("At 10:30 use v1.2 of it.",), id="inside words"),
        pytest.param("- Use tabs.\n* Use 2.\n+ x", ("Use tabs.", "Use 2.", "x"), id="bullets"),
        pytest.param("1. Use tabs.\n12) Never.", ("Use tabs.", "Never."), id="numbers"),
        pytest.param("## Rules\n  - Use tabs.", ("Rules", "Use tabs."), id="headings"),
        pytest.param("2026-03-31 is the end.", ("2026-03-31 is the end.",), id="a date"),
        pytest.param("-5 is the limit.", ("-5 is the limit.",), id="a negative number"),
        pytest.param("Use tabs.\nUse tabs.", ("Use tabs.",), id="twice"),
        pytest.param("---\n***\n ...\n", (), id="no words"),
        pytest.param("", (), id="nothing"),
        pytest.param("使用制表符。不要用空格！", ("使用制表符。", "不要用空格！"), id="Chinese"),
        pytest.param(
            "タブを使う。 空白は使わない。", ("タブを使う。", "空白は使わない。"), id="Japanese"
        ),
        pytest.param(
            "هل هذا صحيح؟ استخدم المسافات.", ("هل هذا صحيح؟", "استخدم المسافات."), id="Arabic"
        ),
        pytest.param("टैब का प्रयोग करें। हाँ।", ("टैब का प्रयोग करें।", "हाँ।"), id="Hindi"),
        pytest.param("Всегда табы. Никогда!", ("Всегда табы.", "Никогда!"), id="Russian"),
        pytest.param(
            "Año nuevo. ¿Usas tabs? Sí.", ("Año nuevo.", "¿Usas tabs?", "Sí."), id="Spanish"
        ),
    ],
)
def test_own_words_are_cut_into_these_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert words.sentences(typed(text)) == expected


def test_a_sentence_that_is_too_long_is_left_out_and_the_others_stay() -> None:
    assert words.sentences(typed("a" * 513 + ". Use tabs.")) == ("Use tabs.",)


@given(PARTS)
def test_sentence_spans_are_the_sentences_each_time_they_are_said(parts: list[Part]) -> None:
    spans = words.sentence_spans(parts)
    said = [parts[span.part].text[span.start : span.end] for span in spans]
    assert tuple(dict.fromkeys(said)) == words.sentences(parts)
    for one, next_one in pairwise(spans):
        assert (one.part, one.end) <= (next_one.part, next_one.start)


@pytest.mark.parametrize(
    ("text", "words_", "expected"),
    [
        pytest.param("For now: use tabs.", "use tabs.", "For now:", id="on the line"),
        pytest.param("So: a. Hm: b.", "b.", "So: a. Hm:", id="several"),
        pytest.param("Go. Use tabs.", "Use tabs.", "", id="another sentence"),
        pytest.param("For now:\n- use tabs", "use tabs", "For now:", id="a list"),
        pytest.param("For now:\n\n1. x\n\n2. use tabs", "use tabs", "For now:", id="a long list"),
        pytest.param("For now:\r\nuse tabs", "use tabs", "For now:", id="the line before"),
        pytest.param("For now:\n\nuse tabs", "use tabs", "", id="a new paragraph"),
        pytest.param("For now:\nx\nuse tabs", "use tabs", "", id="a line between"),
        pytest.param("For now.\n- use tabs", "use tabs", "", id="a line without a colon"),
        pytest.param("For now:\n- A: use tabs", "use tabs", "For now: - A:", id="both"),
    ],
)
def test_what_introduces_words_is_what_stands_before_a_colon(
    text: str, words_: str, expected: str
) -> None:
    span = words.find_span(typed(text), words_)
    assert span is not None
    assert words.lead_in(typed(text), span) == expected


@given(PARTS)
def test_whatever_introduces_words_is_found_without_a_failure(parts: list[Part]) -> None:
    for span in words.sentence_spans(parts):
        assert words.lead_in(parts, span) in ("", words.lead_in(parts, span).strip())


def test_a_repeated_sentence_has_a_span_each_time() -> None:
    assert words.sentence_spans(typed("- Use tabs. Use tabs.")) == (Span(0, 2, 11), Span(0, 12, 21))
