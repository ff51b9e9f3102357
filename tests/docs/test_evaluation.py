"""The script of the evaluation notebook is sound, and apart from what was trained and measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = REPOSITORY / "notebooks" / "data" / "learning_scenarios.json"
SPANS = sorted((REPOSITORY / "benchmarks" / "data").glob("spans*.jsonl"))
FEWEST, MOST = 10, 30


def exchanges() -> Iterator[dict[str, str]]:
    for scenario in json.loads(SCRIPT.read_text(encoding="utf-8"))["scenarios"]:
        for session in scenario["sessions"]:
            yield from session


def words(text: str) -> str:
    return " ".join(text.casefold().strip(" .!?").split())


def test_what_is_marked_stands_in_its_message_or_its_tool() -> None:
    for one in exchanges():
        assert one.get("keep", "") in one["say"]
        assert one.get("drop", "") in one["say"] + one.get("tool", "")
        assert one.get("expect", "") in one.get("keep", "")


def test_no_two_messages_are_the_same() -> None:
    marked = [one["say"] for one in exchanges() if "keep" in one or "drop" in one]
    assert len(marked) == len(set(marked))


def test_every_session_is_as_long_as_the_protocol_says() -> None:
    for scenario in json.loads(SCRIPT.read_text(encoding="utf-8"))["scenarios"]:
        assert all(FEWEST <= len(session) <= MOST for session in scenario["sessions"])


@pytest.mark.parametrize("path", SPANS, ids=lambda path: path.name)
def test_no_sentence_of_it_was_trained_or_measured_with(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    spans = {words(json.loads(line)["text"]) for line in lines}
    ours = {words(one.get("keep") or one.get("drop") or one["say"]) for one in exchanges()}
    assert ours & spans == set()


def test_the_page_has_the_figures_that_the_notebook_has() -> None:
    notebook = json.loads((REPOSITORY / "notebooks" / "learning.ipynb").read_text(encoding="utf-8"))
    (table,) = (
        "".join(cell["outputs"][0]["data"]["text/plain"]).splitlines()
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and "tables.quality(runs)" in "".join(cell["source"])
    )
    page = (REPOSITORY / "docs" / "learning.md").read_text(encoding="utf-8")
    facts, keep, traps = (
        [cell.strip() for cell in line.strip("|").split("|")][1:]
        for line in page[page.index("| | learning off |") :].splitlines()[2:5]
    )
    for at, arm in enumerate(("baseline", "hybrid, rules", "hybrid, eager quoting")):
        (row,) = (line[len(arm) :].split() for line in table if line.startswith(arm))
        n_facts, supported, _, _, waiting, wrong, missed = row[:7]
        assert facts[at] in (f"{n_facts}, {supported}", n_facts)
        assert keep[at] == f"{supported}, {waiting}, {missed}"
        assert traps[at].endswith(f", {wrong}")
