"""What the doctor says of the search index, and does for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import memnb
from memnb.__main__ import main
from memnb.errors import InputError, StoreReadOnly
from memnb.storage.search_index import NAME

Opener = Callable[..., memnb.Memory]


def said_of_the_index(report: object) -> list[tuple[str, str]]:
    rows = report.rows  # type: ignore[attr-defined]
    return [(row.state, row.text) for row in rows if row.area == "search index"]


def index_file(memory: memnb.Memory) -> Path:
    return memory.runtime.project.folder / NAME


def test_a_memory_that_was_never_searched_has_no_index_to_speak_of(memory: memnb.Memory) -> None:
    memory.remember("We count from 1.")
    assert said_of_the_index(memory.doctor()) == []


def test_a_sound_index_is_told_with_its_size(memory: memnb.Memory) -> None:
    memory.remember("We count from 1.")
    memory.search("count")
    ((state, text),) = said_of_the_index(memory.doctor())
    assert state == "ok"
    assert text.startswith("1 passages, 0.")


def test_a_damaged_index_is_built_anew_unasked(memory: memnb.Memory, reopen: Opener) -> None:
    memory.remember("We count from 1.")
    memory.search("count")
    path = index_file(memory)
    memory.close()
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 200_000)
    again = reopen()
    ((state, text),) = said_of_the_index(again.doctor())
    assert state == "mended"
    assert "is built anew: 1 passages" in text
    assert [row.text for row in again.search("count").rows] == ["We count from 1."]


def test_it_is_built_anew_when_a_person_asks(memory: memnb.Memory) -> None:
    memory.remember("We count from 1.")
    heard: list[tuple[int, int]] = []
    memory.ask("Hi", model=memnb.ScriptedModel(["I see."]))
    report = memory.doctor(reindex=True, progress=lambda done, total: heard.append((done, total)))
    assert said_of_the_index(report)[0][1].startswith("built anew: 3 passages, 0.")
    assert heard == [(0, 1), (1, 1)]


def test_one_thing_at_a_time(memory: memnb.Memory) -> None:
    with pytest.raises(InputError, match="--reindex at a time"):
        memory.doctor(reindex=True, accept=True)


def test_a_memory_that_can_only_be_read_has_no_index(memory: memnb.Memory, reopen: Opener) -> None:
    memory.remember("We count from 1.")
    memory.search("count")
    memory.close()
    reader = reopen(read_only=True)
    assert reader.runtime.memory.index is None
    found = reader.search("count")
    assert [row.text for row in found.rows] == ["We count from 1."]
    assert "without the index" in found.notice
    with pytest.raises(StoreReadOnly):
        reader.doctor(reindex=True)


def test_the_command_line_builds_it_anew(memory: memnb.Memory, folder: Path) -> None:
    memory.remember("We count from 1.")
    memory.search("count")
    memory.close()
    assert main(["--project", str(folder), "doctor", "--reindex"]) == 0


def test_that_it_was_broken_is_said_in_a_line(memory: memnb.Memory, reopen: Opener) -> None:
    memory.remember("We count from 1.")
    memory.search("count")
    path = index_file(memory)
    memory.close()
    path.write_bytes(b"garbage" * 1000)
    again = reopen()
    assert [row.text for row in again.search("count").rows] == ["We count from 1."]
    assert "the search index was broken; it is being built anew." in again.notices()
