from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.query import MAX_WORDS, understand

NOW = "2026-11-30T12:00:00.000000Z"  # a Monday


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What did I say about the budget?", ("budget",)),
        ("Was habe ich über das Budget gesagt?", ("budget", "gesagt")),
        ("Qu'est-ce que j'ai dit sur le budget ?", ("dit", "budget")),
        ("What did I tell you?", ("what", "did", "i", "tell", "you")),
        ("budget budget Budget", ("budget",)),
        ("I don't like plots", ("like", "plots")),
        ("", ()),
        ("?!", ()),
    ],
    ids=["English", "German", "French", "only stop words", "repeated", "n't", "empty", "marks"],
)
def test_words_are_what_is_looked_for(text: str, words: tuple[str, ...]) -> None:
    assert set(understand(text, NOW).words) <= set(words)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ('what is "net revenue" here', ("net", "revenue")),
        ("what is `net revenue` here", ("net", "revenue")),
        ("open src/main.py", ("src", "main", "py")),
        ("use snake_case", ("snake", "case")),
        ("Python 3.11", ("3", "11")),
    ],
)
def test_what_stands_together_is_a_phrase(text: str, phrase: tuple[str, ...]) -> None:
    assert understand(text, NOW).phrases == (phrase,)


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("on 2026-03-01", "2026-03-01", "2026-03-02"),
        ("in 2026-03", "2026-03-01", "2026-04-01"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("on 7 May 2023", "2023-05-07", "2023-05-08"),
        ("on May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("yesterday", "2026-11-29", "2026-11-30"),
        ("today", "2026-11-30", "2026-12-01"),
        ("last week", "2026-11-23", "2026-11-30"),
        ("this week", "2026-11-30", "2026-12-07"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last weekend", "2026-11-28", "2026-11-30"),
        ("last Tuesday", "2026-11-24", "2026-11-25"),
        ("on Monday", "2026-11-23", "2026-11-24"),
        ("three days ago", "2026-11-27", "2026-11-28"),
        ("two weeks ago", "2026-11-15", "2026-11-18"),
        ("in the past 10 days", "2026-11-20", "2026-12-01"),
    ],
)
def test_times_are_read_as_seen_from_now(text: str, begins: str, ends: str) -> None:
    (period,) = understand(f"What did we plan {text}?", NOW).periods
    assert (period.begins or "")[:10] == begins
    assert (period.ends or "")[:10] == ends


@pytest.mark.parametrize(
    "text",
    ["may I ask", "2026-13-45", "on 31 February 2024", "call 2023 people", "march on", "0 a ago"],
)
def test_what_is_no_time_is_not_read_as_one(text: str) -> None:
    assert understand(text, NOW).periods == ()


@given(st.text(max_size=300))
def test_any_text_is_understood_and_bounded(text: str) -> None:
    query = understand(text, NOW)
    assert len(query.words) <= MAX_WORDS
    assert len(set(query.words)) == len(query.words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Can you remind me what we discussed about plots?", ("plots",)),
        ("I was going through our previous conversation about plots", ("plots",)),
        ("How many different plots did I make in total?", ("plots",)),
        ("What is the order of the plots I made, from earliest to latest?", ("plots",)),
        ("How many weeks ago did I plot?", ("plot",)),
        ("Which plot did I make last week?", ("plot",)),
        ("What plot did I make 10 days ago?", ("plot",)),
        ("Which plot is of June 2023?", ("plot", "june", "2023")),
    ],
)
def test_what_only_frames_a_question_is_not_looked_for(text: str, words: tuple[str, ...]) -> None:
    assert understand(text, NOW).words == words


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("What did I say about plots?", "person"),
        ("Which editor do I use?", "person"),
        ("What did you recommend?", "person"),
        ("Which editor was it that you recommended?", "assistant"),
        ("Remind me of the editor", "assistant"),
        ("What did we finally decide? You told me", "assistant"),
        ("Draw it anew, with the legend below. " * 5, ""),
    ],
)
def test_a_question_is_about_what_the_person_said_unless_it_says_else(text: str, who: str) -> None:
    assert understand(text, NOW).said_by == who


MIB = 1024 * 1024


@pytest.mark.parametrize(
    "data",
    ["A" * MIB, "today " * (MIB // 6), "may " * (MIB // 4), "-".join("ab" * (MIB // 4))],
    ids=["a run of letters", "times", "months", "joined words"],
)
def test_a_question_with_a_mebibyte_of_data_is_understood_at_once(data: str) -> None:
    assert understand(f"Which churn threshold? {data}", NOW).words[:2] == ("churn", "threshold")


def test_a_log_of_joined_words_gives_few_phrases() -> None:
    assert len(understand(" ".join(f"12:{n}" for n in range(1000)), NOW).phrases) <= MAX_WORDS
