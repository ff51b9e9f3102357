"""Every verb that can be typed does something, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

import memnb
from memnb.api.search_results import Hits
from memnb.errors import InputError, InvalidName
from memnb.memory.stating import Said
from memnb.notebook.arguments import parse_memory
from memnb.notebook.commands import VERBS
from memnb.notebook.magics import _Shown
from memnb.notebook.verbs import HANDLED, run_verb


class Told:
    """What a long verb told of how far it is."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []

    def fetched(self, done: int, total: int, what: str) -> None:
        self.told.append((done, total))

    def looked(self, done: int, total: int, what: str) -> None:
        self.told.append((done, total))

    def indexed(self, done: int, total: int) -> None:
        self.told.append((done, total))


def run(memory: memnb.Memory, line: str, told: Told | None = None) -> Any:
    return run_verb(memory, parse_memory(line), Said(line, via="command"), told or Told())


def test_the_verbs_that_parse_are_those_that_run():
    typed = {form.name for verb in VERBS for form in (verb, *verb.subcommands)}
    assert typed == HANDLED


@pytest.mark.parametrize("day", ["yesterday", "plan", "2026-1-1", "MEMORY"])
def test_a_log_is_of_a_day(memory: memnb.Memory, day: str) -> None:
    with pytest.raises(InvalidName, match="by its day"):
        run(memory, f"log {day}")


@pytest.fixture
def talk(memory: memnb.Memory) -> memnb.Memory:
    memory.remember("Report revenue in EUR")
    memory.remember("revenue is net, in EUR")
    memory.notes.append("plan", "plot the revenue")
    for number in range(4):
        memory.ask(f"revenue question {number}", model=memnb.ScriptedModel(["It is in EUR."]))
    return memory


@pytest.mark.parametrize(
    ("line", "how", "n_hits"),
    [
        pytest.param("search revenue", "words", 7, id="words"),
        pytest.param("search in EUR", "words", 6, id="stop words"),
        pytest.param('search "revenue in EUR"', "literal", 1, id="in quotes"),
        pytest.param("search 'reven'", "literal", 7, id="in quotes, within words"),
        pytest.param("search venue", "words", 0, id="within words"),
        pytest.param("search --literal reven", "literal", 7, id="literal"),
        pytest.param(r"search --regex net\b|question \d$", "regex", 5, id="regex"),
        pytest.param(r'search --regex "net\b"', "regex", 1, id="regex in quotes"),
        pytest.param("search --in notes revenue", "words", 1, id="in"),
        pytest.param("search --limit 2 revenue", "words", 2, id="limit"),
        pytest.param("search --until 2020-01-01 revenue", "words", 0, id="until"),
        pytest.param("search --since 2020-01-01 revenue", "words", 7, id="since"),
        pytest.param("search -- --literal", "words", 0, id="a dash"),
        pytest.param("search what's {revenue}?", "words", 7, id="signs"),
    ],
)
def test_a_search_is_typed_as_it_is_meant(
    talk: memnb.Memory, line: str, how: str, n_hits: int
) -> None:
    hits: Hits = run(talk, line)
    assert (hits.how, len(hits.rows)) == (how, n_hits)


@pytest.mark.parametrize(
    "line",
    [
        "search",
        'search ""',
        "search --literal --regex x",
        "search --in web x",
        "search --limit 51 x",
        "search --regex (",
        "search --since someday x",
        "search x --literal",
    ],
)
def test_a_search_that_cannot_be_done_is_told_in_a_line(talk: memnb.Memory, line: str) -> None:
    with pytest.raises(InputError) as caught:
        run(talk, line)
    assert "\n" not in str(caught.value)


def test_a_search_says_how_far_indexing_is(talk: memnb.Memory) -> None:
    told = Told()
    run(talk, "search revenue", told)
    assert told.told
    assert told.told[-1] == (1, 1)


def test_a_search_says_nothing_of_indexing_that_takes_no_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    shown = _Shown(lambda: now[0])
    for n_done in range(51):
        now[0] += 0.125
        shown.indexed(n_done, 50)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "indexed 16 of 50 sessions"
    assert lines[-1] == "indexed 50 of 50 sessions"
    assert len(lines) == 8


def test_what_a_search_says_to_type_next_can_be_typed(talk: memnb.Memory) -> None:
    lines = str(run(talk, "search revenue")).splitlines()
    steps = [line.split("`")[1].removeprefix("%memory ") for line in lines if line[:1] == "`"]
    assert len(steps) == 3
    shown = "\n".join(str(run(talk, step)) for step in steps)
    assert all(text in shown for text in ("EUR", "plot the revenue", "revenue question"))


def test_a_session_is_read_by_its_end_around_a_record_and_record_by_record(
    talk: memnb.Memory,
) -> None:
    (session,) = run(talk, "sessions").rows
    read = f"read {session.session_id}"
    assert session.first_words == "revenue question 0"
    assert [row.text for row in run(talk, read).rows][-1] == "It is in EUR."
    assert len(run(talk, f"{read} --n 3").rows) == 3
    assert len(run(talk, f"{read} --around 4 --n 2").rows) == 2
    assert "revenue question 0" in str(run(talk, f"{read} 4"))
    assert "revenue question 1" in str(run(talk, f"{read} 4 7"))
    with pytest.raises(InputError, match="not both"):
        run(talk, f"{read} 4 --around 4")
    with pytest.raises(InputError, match="not both"):
        run(talk, f"{read} --n 3 4 7")
