"""AMSB, the benchmark in agent-memory-guard, over the real engine: the page says what it gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from agent_memory_guard.bench.scenarios import default_corpus

from conformance import tables
from conformance.amsb_adapter import Engine
from memnb.agent import tool_calls

ATTACKS = [scenario for scenario in default_corpus() if scenario.malicious]


def test_as_it_is_nothing_gets_in_and_nothing_harmless_is_refused(tmp_path: Path) -> None:
    report, line = tables.graded(tmp_path, default_corpus())
    assert Engine.failed == []
    assert [run.scenario_id for run in report.runs if not run.passed] == []
    assert line == ("A", "100.0", "15 of 15", "0", "0 of 6")
    assert line == tables.published("run")["as is"]


def test_the_page_says_what_becomes_of_attacks_that_the_person_types(tmp_path: Path) -> None:
    report, line = tables.graded(tmp_path, tables.typed_by_the_person())
    assert Engine.failed == []
    assert line == tables.published("run")["all typed by the person"]
    said = {attack: cells[:1] for attack, cells in tables.published("typed by the person").items()}
    assert tables.letter_for_each_way(report) == said


def test_what_is_inserted_into_a_message_doesnt_get_in_either(tmp_path: Path) -> None:
    inserted = [
        replace(one, steps=tuple(replace(step, source_class="unknown") for step in one.steps))
        for one in ATTACKS
    ]
    _, line = tables.graded(tmp_path, inserted)
    assert Engine.failed == []
    assert line[:3] == ("A", "100.0", "15 of 15")


def test_without_being_asked_about_it_would_get_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "decide", lambda *_, **__: "allow")
    report, _ = tables.graded(tmp_path, ATTACKS[:2])
    assert [run.breached for run in report.runs] == [True, True]
