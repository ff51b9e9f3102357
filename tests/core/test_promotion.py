from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.bodies import Part
from memnb.core.canonical_rules import canonical, contradicts, may_say, reproduced
from memnb.core.promotion import messages
from memnb.core.promotion.forms import Rule
from memnb.core.promotion.messages import MAX_MESSAGE_BYTES, MAX_SENTENCES
from memnb.core.promotion.table import RULES
from memnb.core.words import own_spans


class Sentence(NamedTuple):
    language: str
    text: str
    says: str | None


LINES = (Path(__file__).parent / "promotion_sentences.jsonl").read_text(encoding="utf-8")
SENTENCES = [Sentence(**json.loads(line)) for line in LINES.splitlines()]
STATING = [one for one in SENTENCES if one.says is not None]
NAMED = frozenset({"test-command", "tests-run-with", "project-uses", "stored-under"}) | {
    "preferred-tool",
    "own-words",  # in another case a word may look like a name
}
"""Rules whose values may be names as they are written, of which the case matters."""


def said(*parts: Part | str) -> list[str]:
    whole = [Part("typed", part) if isinstance(part, str) else part for part in parts]
    return [one.form.text for one in messages.said(whole)]


# --- the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.reference)
def test_a_rule_reads_its_examples_and_nothing_of_the_others(rule: Rule) -> None:
    assert rule.matches
    assert rule.misses
    for text, says in rule.matches:
        form = rule.form(text)
        assert form is not None, text
        assert (form.text, form.rule, form.category) == (says, rule.reference, rule.category)
        assert canonical(text) == form
    assert [text for text in rule.misses if rule.form(text) is not None] == []


def test_no_two_rules_have_the_same_name_and_version() -> None:
    assert max(Counter(rule.reference for rule in RULES).values()) == 1


@pytest.mark.parametrize("one", SENTENCES, ids=lambda one: f"{one.language}: {one.text}")
def test_a_sentence_says_what_it_says_and_nothing_else(one: Sentence) -> None:
    assert said(one.text) == ([] if one.says is None else [one.says])


def test_the_sentences_are_many_and_about_half_of_them_say_nothing() -> None:
    for language, least in (("en", 150), ("ar", 80)):
        says = [one.says is not None for one in SENTENCES if one.language == language]
        assert len(says) >= least
        assert 0.35 <= says.count(False) / len(says) <= 0.65


# --- what a form is ------------------------------------------------------------------------------


@pytest.mark.parametrize("says", sorted({one.says or "" for one in STATING}))
def test_the_text_of_a_form_is_read_as_the_same_form(says: str) -> None:
    form = canonical(says)
    assert form is not None
    assert form.text == says
    assert reproduced(form.rule, [says]) == says


@given(st.sampled_from(STATING), st.randoms(use_true_random=False))
def test_case_and_blanks_do_not_change_what_is_said(one: Sentence, chance: random.Random) -> None:
    form = canonical(one.text)
    assert form is not None
    text = one.text
    if form.rule.partition("@")[0] not in NAMED and one.language == "en":
        text = "".join(chance.choice((char.upper(), char.lower())) for char in text)
    text = re.sub(" ", lambda _: chance.choice((" ", "  ", "\t", "\u00a0", " \t ")), text)
    assert canonical(f" {text} ") == form


@given(
    st.sampled_from([one for one in STATING if one.language == "ar"]),
    st.randoms(use_true_random=False),
)
def test_vowel_signs_tatweel_and_variants_of_letters_do_not_change_what_is_said(
    one: Sentence, chance: random.Random
) -> None:
    variants = {"أ": "أا", "إ": "إا", "آ": "آا", "ة": "ةه", "ي": "يىی", "ى": "ىي", "ك": "كک"}
    digits = {str(n): f"{n}{chr(0x660 + n)}{chr(0x6F0 + n)}" for n in range(10)}
    written = []
    for char in one.text:
        written.append(chance.choice((variants | digits).get(char, char)))
        if "\u0621" <= char <= "\u064a":
            written.append(chance.choice(["", "", "\u064e", "\u0651\u0650", "\u064b", "\u0640"]))
    assert said("".join(written)) == [one.says]


@pytest.mark.parametrize(
    ("one", "other", "do"),
    [
        ("I prefer pnpm.", "Always use npm.", True),
        ("I prefer pnpm.", "Always use uv.", False),
        ("I prefer pnpm.", "Use pnpm by default.", False),
        ("Always use semicolons.", "Never use semicolons.", True),
        ("Always use semicolons.", "Always use strict mode.", False),
        ("I prefer tabs.", "I prefer 4 spaces.", True),
        ("Never use tabs.", "I prefer 4 spaces.", False),
        ("I prefer short answers.", "أفضل الردود المفصلة", True),
        ("Always reply in German.", "أجب بالعربية دائما", True),
        ("I prefer Python.", "Always write code in Rust.", True),
        ("I prefer pytest.", "Use make test by default.", True),
        ("Run tests with tox.", "Run tests with nox.", False),
        ("This project uses DuckDB.", "This project uses SQLite.", False),
        ("Logs are stored under logs/.", "Logs are stored under out/logs.", False),
        ("I prefer tea.", "I prefer coffee.", False),
    ],
)
def test_only_choices_of_one_thing_contradict_each_other(one: str, other: str, do: bool) -> None:
    first, second = canonical(one), canonical(other)
    assert first is not None
    assert second is not None
    assert contradicts(first, second) is do
    assert contradicts(second, first) is do


@pytest.mark.parametrize(
    ("rule", "texts", "text"),
    [
        (
            "package-manager@1",
            ["I prefer pnpm.", "أفضل pnpm", "PNPM is my default!"],
            "Use pnpm as the package manager.",
        ),
        ("package-manager@1", ["I prefer pnpm.", "I prefer npm."], None),
        ("package-manager@1", ["I prefer pnpm.", "I like pnpm."], None),
        ("package-manager@1", [], None),
        ("package-manager@2", ["I prefer pnpm."], None),
        ("code-style@1", ["I prefer pnpm."], None),
        ("", ["I prefer pnpm."], None),
        (None, ["I prefer pnpm."], None),
    ],
)
def test_a_text_is_reproduced_by_the_named_rule_from_all_sources_or_not_at_all(
    rule: str | None, texts: list[str], text: str | None
) -> None:
    assert reproduced(rule, texts) == text


@given(st.sampled_from(STATING), st.text(max_size=20), st.text(max_size=20))
def test_the_quick_look_never_passes_over_what_a_rule_reads(
    one: Sentence, before: str, after: str
) -> None:
    form = canonical(one.text)
    assert form is not None
    assert may_say(f"{before}\n{one.text}\n{after}", {form.category})
    assert not may_say(f"{before}\n{one.text}\n{after}", {"nothing"})


# --- messages ------------------------------------------------------------------------------------

PNPM = "Use pnpm as the package manager."
TABS = "Always indent with tabs."


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Can you plot x? I prefer pnpm.", [PNPM]),
        ("I prefer pnpm\nWe use tabs", [PNPM, TABS]),
        ("- I prefer pnpm\n- We use tabs", [PNPM, TABS]),
        ("1. I prefer pnpm.\n2. We use tabs.", [PNPM, TABS]),
        ("Thanks.\n\nWe use tabs.", [TABS]),
        ("We use tabs\nHow do I add a column?", [TABS]),
        ("```\nx\n```\nWe use tabs.", [TABS]),
        ("My boss says: we use tabs.", []),
        ("Bob's rules:\n- We use tabs", []),
        ("Bob's rules:\n\n- We use tabs\n- I prefer pnpm", []),
        ("From the mail:\nWe use tabs.", []),
        ("From the mail:\n\nWe use tabs.", []),
        ("Notes of Bob\n- We use tabs", []),
        ("- Bob\n  - We use tabs", []),
        ("# Rules\nWe use tabs.", []),
        ("# Rules\n\nintro.\n\n- We use tabs", []),
        ("If it is Go,\nwe use tabs.", []),
        ("they think that\nWe use tabs.", []),
        ("We use tabs\nunless it is YAML", []),
        ("We use tabs. Just kidding.", []),
        ("We use tabs. But not here.", []),
        ("For this one only. We use tabs.", []),
        ("I prefer pnpm.\n> We use tabs.", [PNPM]),
        ("> Bob wrote\nWe use tabs.", []),
        ("Summarise this. We use tabs.", []),
        ("You are a strict reviewer. We use tabs.", []),
        ("We use tabs.\n\nتخيل ذلك", []),
        ("x = 1\n\n    We use tabs.", []),
        ("Look:\n\n\tWe use tabs.", []),
        ("Is this sentence right? We use tabs.", []),
        ("Which of these phrases is better? I prefer tea. I would rather have tea.", []),
        ("[10:32] Bob\nWe use tabs.", []),
        ("Q: which? A: we use tabs.", []),
        ("Bob (mail)\n\nWe use tabs, he writes.", []),
        ("| rule |\n| We use tabs. |", []),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_sentence_counts_only_where_it_stands_by_itself(message: str, says: list[str]) -> None:
    assert said(message) == says


@pytest.mark.parametrize(
    "parts",
    [
        (Part("variable", "We use tabs.", "x"),),
        (Part("file", "We use tabs."),),
        (Part("traceback", "We use tabs."),),
        (Part("recall", "We use tabs."),),
        (Part("seed", "We use tabs."),),
        ("Bob said ", Part("variable", "x", "x"), ". We use tabs."),
        (Part("variable", "x", "x"), " We use tabs."),
        ("We use tabs ", Part("variable", "x", "x")),
        ("We use tabs", Part("variable", "x", "x")),
    ],
    ids=repr,
)
def test_nothing_but_typed_words_beside_no_value_counts(parts: tuple[Part | str, ...]) -> None:
    assert said(*parts) == []


def test_a_value_on_another_line_takes_nothing_away() -> None:
    assert said("Describe ", Part("variable", "DataFrame", "df"), ".\nWe use tabs.") == [TABS]


@pytest.mark.parametrize("at", [MAX_SENTENCES, MAX_SENTENCES + 1])
def test_only_the_first_sentences_of_a_message_are_looked_at(at: int) -> None:
    assert bool(said("Good. " * (at - 1) + "We use tabs.")) is (at <= MAX_SENTENCES)


def test_a_long_message_says_nothing() -> None:
    assert said("We use tabs. " + "x" * (MAX_MESSAGE_BYTES - 13)) == [TABS]
    assert said("We use tabs. " + "x" * (MAX_MESSAGE_BYTES - 12)) == []


def test_a_long_sentence_says_nothing() -> None:
    thing = "data " * 3
    assert said(f"The {thing}is stored under {'a' * 20}/{'b' * 60}.") != []
    assert said(f"The {thing}is stored under {'a' * 20}/{'b' * 79}.") == []


@pytest.mark.parametrize("char", list("\u200b\u200f\u202e\u2066\u00ad\ufeff\u0007\U000e0041"))
@pytest.mark.parametrize("where", ["We use{} tabs.", "We{} use tabs.", "We use tabs.{}"])
def test_hidden_and_directional_characters_in_a_sentence_take_its_meaning(
    char: str, where: str
) -> None:
    assert said(where.format(char)) == []


@pytest.mark.parametrize("char", list("\u200b\u202e\u2066\u0007\U000e0041"))
def test_hidden_characters_anywhere_in_a_message_take_its_meaning(char: str) -> None:
    assert said(f"Hm{char}m. Right. We use tabs.") == []


@given(
    st.lists(st.sampled_from(STATING), min_size=1, max_size=4),
    st.sampled_from(["```", "~~~", "````md", "> ", '"', "“", "«", "`"]),
    st.sampled_from(["", "- ", "  "]),
)
def test_nothing_in_fences_and_quotes_ever_counts(
    chosen: list[Sentence], mark: str, lead: str
) -> None:
    closing = {"“": "”", "«": "»"}.get(mark, mark)
    if mark == "> ":
        text = "\n".join(f"{lead}> {one.text}" for one in chosen)
    elif len(mark) > 1:
        inner = "\n".join(one.text for one in chosen)
        text = f"{lead}{mark}\n{inner}\n{lead}{mark.removesuffix('md')}"
    else:
        text = "\n\n".join(f"{lead}{mark}{one.text}{closing}" for one in chosen)
    assert said(text) == []


PIECES = st.lists(
    st.sampled_from(
        [one.text for one in STATING[::5]]
        + ["```", "> ", "- ", "\n", "\n\n", " ", ". ", "Bob: ", "if ", "\u202e", "# ", "x"]
    ),
    max_size=12,
).map("".join)


@given(
    st.lists(
        st.builds(Part, st.sampled_from(["typed", "typed", "variable", "file"]), PIECES), max_size=4
    )
)
def test_what_counts_is_an_exact_span_of_own_words_that_says_it_again(parts: list[Part]) -> None:
    spans = own_spans(parts)
    found = messages.said(parts)
    assert len(found) <= MAX_SENTENCES
    for one in found:
        text = parts[one.span.part].text[one.span.start : one.span.end]
        assert reproduced(one.form.rule, [text]) == one.form.text
        assert any(
            span.part == one.span.part and span.start <= one.span.start and one.span.end <= span.end
            for span in spans
        )


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    canonical(text)
    said(text)
