from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.essentials import (
    MAX_ITEM_BYTES,
    Essential,
    Said,
    find,
    merged,
    parse,
    written,
)

TEXTS = st.text(max_size=200)
ROLES = st.sampled_from(["user", "assistant", "tool"])
SAID = st.lists(st.builds(Said, ROLES, TEXTS), max_size=8)


def kept(*texts: str, role: str = "user") -> list[str]:
    return [one.text for one in find(Said(role, text) for text in texts)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("role", "text", "kind"),
    [
        pytest.param("user", "Never drop the column customer_id.", "rules", id="a ban"),
        pytest.param("user", "We always report revenue in EUR cents.", "rules", id="a convention"),
        pytest.param("user", "I prefer seaborn over matplotlib here.", "rules", id="a preference"),
        pytest.param("user", "We decided to use polars for loading.", "rules", id="a decision"),
        pytest.param("user", "The file is data/raw/sales_2024.csv", "facts", id="a path"),
        pytest.param("user", "The train split ends on 2026-03-31.", "facts", id="a date"),
        pytest.param("user", "Next step is writing the migration script.", "open", id="a task"),
        pytest.param("user", "Open question: awaiting strict mode.", "open", id="a question open"),
        pytest.param(
            "tool", "ValueError: could not convert string to float: 'n/a'", "errors", id="an error"
        ),
        pytest.param(
            "assistant",
            "I decided to use `read_csv` in src/load.py because it must handle 5,000 rows.",
            "rules",
            id="what the agent decided",
        ),
    ],
)
def test_what_must_survive_is_found(role: str, text: str, kind: str) -> None:
    (found,) = find([Said(role, text)])  # type: ignore[arg-type]
    assert found.kind == kind
    assert found.text == text.removesuffix(".")


@pytest.mark.parametrize(
    ("role", "text"),
    [
        pytest.param("user", "Thanks!", id="thanks"),
        pytest.param("user", "ok", id="ok"),
        pytest.param("assistant", "Acknowledged. Continuing with the plan.", id="acknowledged"),
        pytest.param("assistant", "Here is a nice overview of it.", id="small talk"),
        pytest.param("tool", "a,b,c\n1,2,3", id="rows of a tool"),
        pytest.param("user", "", id="nothing"),
        pytest.param("user", "---", id="no word"),
    ],
)
def test_what_need_not_survive_is_left(role: str, text: str) -> None:
    assert list(find([Said(role, text)])) == []  # type: ignore[arg-type]


def test_sentences_are_told_apart_and_abbreviations_do_not_end_one() -> None:
    assert kept("Never push, e.g. to main. Always run pytest before 5 pm.") == [
        "Never push, e.g. to main",
        "Always run pytest before 5 pm",
    ]


def test_a_label_is_left_off_and_counts() -> None:
    assert kept("HARD CONSTRAINT: Total spend is $500.") == ["Total spend is $500"]


def test_what_is_said_anew_with_another_value_takes_the_place_of_the_old() -> None:
    found = merged(
        find([Said("user", "The budget cap is $500 in total.")]),
        find([Said("user", "The budget cap is $900 in total.")]),
    )
    assert [one.text for one in found] == ["The budget cap is $900 in total"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Please read data/a.csv first.", "Please read data/b.csv first.", id="paths"),
        pytest.param("Never call `drop` on it.", "Never call `pop` on it.", id="names in code"),
        pytest.param(
            "The project budget is $500 at most.", "The travel budget is $300 at most.", id="words"
        ),
    ],
)
def test_what_is_of_another_thing_stays_beside_it(one: str, other: str) -> None:
    assert len(merged(find([Said("user", one)]), find([Said("user", other)]))) == 2


def test_what_was_said_twice_is_kept_once() -> None:
    said = [Said("user", "Never drop the column customer_id.")] * 3
    assert len(merged([], find(said))) == 1


def test_with_less_room_the_weightiest_stay() -> None:
    found = list(
        find(
            [
                Said("user", "SAFETY RULE: Never delete the table orders_2024 without approval."),
                Said("user", "The file is data/raw/sales.csv"),
            ]
        )
    )
    assert "orders_2024" in written(found, 90)
    assert "sales.csv" not in written(found, 90)


@given(SAID, st.integers(0, 600))
def test_it_keeps_to_its_bytes_and_cuts_no_line(said: list[Said], max_bytes: int) -> None:
    found = merged([], find(said))
    text = written(found, max_bytes)
    assert len(text.encode()) <= max_bytes
    whole = {line.casefold() for line in written(found, 10**9).splitlines()}
    for line in text.splitlines():
        folded = line.casefold()
        assert folded in whole or any(_without_articles(one) == folded for one in whole)


@given(SAID)
def test_no_item_is_long_or_has_more_than_a_line(said: list[Said]) -> None:
    for one in find(said):
        assert len(one.text.encode()) <= MAX_ITEM_BYTES
        assert len(one.text.splitlines()) == 1


@given(SAID)
def test_what_was_kept_once_is_kept_again(said: list[Said]) -> None:
    text = written(merged([], find(said)), 10**9)
    assert written(merged([], parse(text)), 10**9) == text


def test_what_no_rule_wrote_is_not_taken_for_it() -> None:
    assert parse("- never mind\nrules are:\n- no") == []
    assert [one.text for one in parse("rules:\n- never\nopen:\n- a task")] == ["never", "a task"]


def test_essentials_are_values() -> None:
    assert Essential("rules", "x", 3.0) == Essential("rules", "x", 3.0)


def _without_articles(line: str) -> str:
    import re

    return re.sub(r"(?<![`\"“\w])(?:the|a|an) (?=\w)", "", line)


def test_a_number_that_names_a_thing_is_no_newer_value() -> None:
    said = [Said("user", f"We decided to drop column {n} of the table.") for n in range(4)]
    kept = [one.text for one in merged([], find(said))]
    assert len(kept) == 4
    newer = [Said("user", f"The batch size is {n} from now on.") for n in (64, 128)]
    assert [one.text for one in merged([], find(newer))] == [newer[1].text.rstrip(".")]
