"""What a forget and a purge leave in the database, and what lies in a memory's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from memnb.storage.kept_files import KeptFile, KeptFiles, Unread
from memories import EUR, SPLIT, Desk

SESSION = "S-20261130-091005-7k2m9q"


def test_a_record_that_is_barred_keeps_the_forget_that_barred_it_when_it_is_purged(
    desk: Desk,
) -> None:
    facts = desk.stores.facts
    desk.remember(EUR)
    with facts.transaction(now=desk.stores.now()) as change:
        change.exclude(SESSION, 2, 5)
        change.exclude(SESSION, 3, 6, purged=True)
    with facts.transaction(now=desk.stores.now()) as change:
        change.exclude(SESSION, 2, 0, purged=True)
        change.exclude(SESSION, 3, 7)
    assert facts.exclusions(SESSION) == {2: 5, 3: 6}
    assert facts.to_blank() == {SESSION: [2, 3]}
    assert facts.excluded_by(5) == [(SESSION, 2)]
    with facts.transaction(now=desk.stores.now()) as change:
        change.note_blanked(SESSION, 2)
        change.exclude(SESSION, 2, 9)
    assert facts.to_blank() == {SESSION: [3]}
    with facts.transaction(now=desk.stores.now()) as change:
        change.exclude(SESSION, 2, 9, purged=True)  # what came back from a backup
    assert facts.to_blank() == {SESSION: [2, 3]}


def test_the_digests_of_a_forget_are_those_of_its_wordings(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    desk.correct(fact_id, SPLIT)
    desk.forget(fact_id)
    expected = {desk.stores.text_mac(EUR), desk.stores.text_mac(SPLIT)}
    assert desk.stores.facts.text_macs(1) == expected
    assert desk.stores.facts.text_macs(2) == frozenset()


def test_a_store_without_a_database_has_nothing_to_blank(desk: Desk) -> None:
    assert desk.stores.facts.to_blank() == {}
    assert desk.stores.facts.excluded_by(1) == []


KINDS = {
    "facts.sqlite3": "database",
    "facts.sqlite3-wal": "database",
    "index.sqlite3": "database",
    "store.lock": "lock",
    "project.json": "other",
    "MEMORY.md": "note",
    "scratchpad.md.bak": "backup",
    "other.md": "other",
    ".MEMORY.md.0badcafe.tmp": "other",
    "notes/plan.md": "note",
    "notes/plan.md.bak": "backup",
    "notes/Plan 2.md": "other",
    "daily/2026-11-30.md": "daily",
    "daily/plan.md": "other",
    f"sessions/{SESSION}.jsonl": "session",
    f"sessions/{SESSION}.idx": "index",
    f"sessions/{SESSION}.lock": "lock",
    f"sessions/{SESSION}.torn-0badcafe": "tail",
    f"sessions/{SESSION}.jsonl.bak": "other",
    "sessions/x.torn-0badcafe": "other",
    "quarantine-1/facts.sqlite3": "quarantine",
    "quarantine-1/deep/MEMORY.md": "quarantine",
    "deep/er/MEMORY.md": "other",
}


def test_every_file_of_a_memory_is_known_for_what_it_is(tmp_path: Path) -> None:
    for name in KINDS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    files = KeptFiles(tmp_path)
    assert {file.name: file.kind for file in files.names()} == KINDS
    assert files.read(KeptFile("MEMORY.md", "note")) == b"MEMORY.md"
    assert KeptFiles(tmp_path / "nowhere").names() == []


def test_links_in_a_memory_are_not_followed_and_others_are(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("text")
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").symlink_to(tmp_path / "text")
    (memory / "notes").symlink_to(tmp_path / "folder")
    files = KeptFiles(memory)
    assert [files.read(file) for file in files.names()] == [Unread("a link"), Unread("a link")]
    assert files.read_outside(memory / "MEMORY.md") == b"text"
    assert files.read_outside(tmp_path / "folder") == Unread("a folder that can't be listed")
    assert files.read_outside(tmp_path / "nothing") is None


@pytest.mark.parametrize("name", ["facts.sqlite3", "facts.sqlite3-shm"])
def test_a_file_of_the_database_is_not_opened_by_a_link_either(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    (tmp_path / "eda.ipynb").symlink_to(tmp_path / name)
    files = KeptFiles(tmp_path)
    assert files.read_outside(tmp_path / "eda.ipynb") == Unread("the live database")
    assert files.read(KeptFile(name, "database")) == Unread("the live database")
