"""What still holds a forgotten text is named, wherever it is, and left as it is."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

import memnb
from forgetting.conftest import Opener, notebook
from memnb.api.forget_results import ForgetReceipt
from memnb.core.bodies import Cell
from memnb.memory.residue import Looked
from memories import EUR, SPLIT, saying

CELL = Cell("nb/eda.ipynb", "4f0c", 7)


def looked(receipt: ForgetReceipt, store: str) -> Looked | None:
    """What the receipt says of one store; None when there is no such store."""
    return next((one for one in receipt.looked if one.store == store), None)


def forget(memory: memnb.Memory, text: str = EUR) -> ForgetReceipt:
    """Forget a fact that says `text`, after it was stated."""
    return memory.forget(memory.remember(text).fact_id)


def kept(memory: memnb.Memory, name: str, content: bytes | str) -> None:
    """Put a file into the memory's folder."""
    path = memory.project.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


# --- which stores are looked into ----------------------------------------------------------------


def test_only_stores_that_are_there_are_claimed(memory: memnb.Memory) -> None:
    receipt = forget(memory)
    assert [(one.store, one.outcome) for one in receipt.looked] == [
        ("facts", "clean"),
        ("sessions", "holds it"),
        ("other files of this memory", "clean"),
        ("IPython's history", "not looked at"),
        ("exports, backups and other copies", "not looked at"),
        ("the database's free pages and log", "clean"),
    ]
    assert receipt.still_held == ()


def test_each_store_that_is_there_is_looked_into(memory: memnb.Memory, folder: Path) -> None:
    memory.remember(EUR, said=None)
    for name in ("MEMORY", "plan", "today"):
        memory.notes.append(name, "first")
        memory.notes.append(name, "second")
    kept(memory, "sessions/S-20261130-091005-7k2m9q.torn-0badcafe", "torn")
    kept(memory, "quarantine-20261130/facts.sqlite3", b"SQLite format 3\0")
    notebook(folder / "nb" / "eda.ipynb", "something else")
    notebook(folder / "nb" / ".ipynb_checkpoints" / "eda-checkpoint.ipynb", "something else")
    memory.ask(EUR, model=saying("ok"), cell=CELL)
    receipt = memory.forget(memory.facts().rows[0].fact_id)
    assert {one.store for one in receipt.looked} == {
        *("facts", "sessions", "torn ends of sessions", "notes", "daily notes"),
        *("backups of notes", "quarantine", "other files of this memory", "source notebooks"),
        *("checkpoint copies", "IPython's history", "exports, backups and other copies"),
        "the database's free pages and log",
    }
    assert {one.outcome for one in receipt.looked} == {"clean", "holds it", "not looked at"}
    assert receipt.still_held == ()


# --- facts and sessions --------------------------------------------------------------------------


def test_another_fact_that_holds_the_text_is_named_with_its_revision(memory: memnb.Memory) -> None:
    fact_id = memory.remember("EUR cents").fact_id
    other = memory.remember(SPLIT).fact_id
    memory.correct(other, f"As we said: {EUR}", revision=1)
    memory.correct(other, "We changed our mind", revision=2)
    receipt = memory.forget(fact_id)
    facts = looked(receipt, "facts")
    assert facts is not None
    assert facts.held == (f"{other} revision 2",)
    sessions = looked(receipt, "sessions")
    assert sessions is not None
    (place,) = sessions.held  # the correction says it, too, and that fact rests on it
    assert place.startswith(memory.status().session_id or "-")
    assert sessions.n_barred == 1


def test_records_that_are_barred_are_counted_and_not_shown_as_places(memory: memnb.Memory) -> None:
    memory.ask(EUR, model=saying(f"Yes: {EUR}"))
    receipt = forget(memory)
    sessions = looked(receipt, "sessions")
    assert sessions is not None
    assert (sessions.held, sessions.n_barred, sessions.outcome) == ((), 3, "holds it")
    assert "kept in: 3 records of the session files" in str(receipt)


@pytest.mark.parametrize(
    ("ending", "place"),
    [
        pytest.param(b'{"body":{"text":"%s', "the end of {} (torn)", id="torn"),
        pytest.param(b'{"body":{"text":"%s"}}\n', "{}:4 (damaged)", id="damaged"),
    ],
)
def test_what_is_no_record_is_searched_as_bytes(
    memory: memnb.Memory, reopen: Opener, ending: bytes, place: str
) -> None:
    memory.remember(SPLIT)
    session_id = memory.status().session_id or ""
    memory.close()
    path = memory.project.folder / "sessions" / f"{session_id}.jsonl"
    with path.open("ab") as file:
        file.write(ending % EUR.encode())
    again = reopen()
    fact_id = again.facts().rows[0].fact_id
    again.correct(fact_id, EUR, revision=1)
    sessions = looked(again.forget(fact_id), "sessions")
    assert sessions is not None
    assert sessions.held == (place.format(session_id),)


def test_a_record_that_was_tampered_with_is_searched_as_bytes(
    memory: memnb.Memory, reopen: Opener
) -> None:
    memory.ask("Prices are in cents", model=saying("ok"))
    session_id = memory.status().session_id or ""
    memory.close()
    path = memory.project.folder / "sessions" / f"{session_id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Prices are in cents", b"Prices are in EUROS"))
    receipt = forget(reopen(), "Prices are in EUROS")
    sessions = looked(receipt, "sessions")
    assert sessions is not None
    assert sessions.held == (f"{session_id}:2 (damaged)",)


def test_a_session_that_cannot_be_read_is_named(memory: memnb.Memory) -> None:
    memory.remember(SPLIT)
    outside = memory.project.folder / "elsewhere.jsonl"
    outside.write_text("")
    link = memory.project.folder / "sessions" / "S-20200101-000000-000000.jsonl"
    link.symlink_to(outside)
    sessions = looked(forget(memory), "sessions")
    assert sessions is not None
    assert sessions.unread == ("S-20200101-000000-000000",)


def test_a_set_aside_end_of_a_session_that_holds_the_text_is_named(memory: memnb.Memory) -> None:
    memory.remember(SPLIT)
    name = "sessions/S-20261130-091005-7k2m9q.torn-0badcafe"
    kept(memory, name, f'{{"body":{{"parts":[{{"text":"{EUR}","ty')
    kept(memory, "sessions/S-20261130-091005-7k2m9q.torn-0badcaff", "something else")
    tails = looked(forget(memory), "torn ends of sessions")
    assert tails == Looked("torn ends of sessions", (name,))


# --- notes ---------------------------------------------------------------------------------------


def test_lines_of_notes_are_named_whatever_the_case(memory: memnb.Memory) -> None:
    memory.notes.append("MEMORY", f"# Conventions\n- {EUR.upper()}")
    memory.notes.append("plan", f"first\nsecond\n{EUR}")
    memory.notes.append("2026-11-30", EUR)
    receipt = forget(memory)
    assert receipt.still_held == (
        "MEMORY.md line 2",
        "notes/plan.md line 3",
        "daily/2026-11-30.md line 1",
    )


def test_a_text_that_is_wrapped_in_a_note_is_found_at_its_first_line(memory: memnb.Memory) -> None:
    memory.notes.append("plan", f"first\nso: {EUR.replace(' in', chr(10) + 'in')}\nlast")
    assert forget(memory).still_held == ("notes/plan.md line 2",)


def test_the_backup_of_a_note_is_named_too(memory: memnb.Memory) -> None:
    memory.notes.append("MEMORY", EUR)
    memory.notes.edit("MEMORY", EUR, "gone")
    assert forget(memory).still_held == ("MEMORY.md.bak line 1",)


def test_what_a_killed_writer_left_beside_a_note_is_named(memory: memnb.Memory) -> None:
    memory.notes.append("MEMORY", "x")
    kept(memory, ".MEMORY.md.0badcafe.tmp", f"- {EUR}\n")
    assert forget(memory).still_held == (".MEMORY.md.0badcafe.tmp",)


@pytest.mark.parametrize("make", ["link", "pipe", "folder"])
def test_a_note_that_cannot_be_read_is_named_with_the_reason(
    memory: memnb.Memory, folder: Path, make: str
) -> None:
    memory.notes.append("MEMORY", "x")
    place = memory.project.folder / "notes"
    place.mkdir()
    if make == "link":
        notebook(folder / "elsewhere.md", EUR)
        (place / "plan.md").symlink_to(folder / "elsewhere.md")
    elif make == "pipe":
        os.mkfifo(place / "plan.md")
    else:
        (place / "plan.md").mkdir()
    receipt = forget(memory)
    notes = looked(receipt, "notes")
    assert notes is not None
    expected = {"link": ("notes/plan.md (a link)",), "pipe": ("notes/plan.md (no regular file)",)}
    assert notes.unread == expected.get(make, ())
    assert notes.outcome == ("clean" if make == "folder" else "couldn't be read")


# --- quarantine and whatever else ----------------------------------------------------------------


def test_quarantined_files_of_any_kind_are_searched(memory: memnb.Memory, tmp_path: Path) -> None:
    database = tmp_path / "copy.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t(x)")
        connection.execute("INSERT INTO t VALUES(?)", (EUR,))
    connection.close()
    memory.remember(SPLIT)
    kept(memory, "quarantine-1/facts.sqlite3", database.read_bytes())
    kept(memory, "quarantine-1/deep/er/notes.bin", b"\xff\0" + EUR.upper().encode())
    kept(memory, "quarantine-1/other", b"\xff\0 nothing")
    quarantine = looked(forget(memory), "quarantine")
    assert quarantine == Looked(
        "quarantine", ("quarantine-1/deep/er/notes.bin", "quarantine-1/facts.sqlite3")
    )


def test_the_live_database_is_never_opened_by_another_name(memory: memnb.Memory) -> None:
    memory.remember(SPLIT)
    place = memory.project.folder / "quarantine-1"
    place.mkdir()
    (place / "copy").hardlink_to(memory.project.folder / "facts.sqlite3")
    quarantine = looked(forget(memory), "quarantine")
    assert quarantine == Looked("quarantine", unread=("quarantine-1/copy (the live database)",))


def test_a_file_that_somebody_put_into_the_folder_is_searched(memory: memnb.Memory) -> None:
    memory.remember(SPLIT)
    kept(memory, "sessions/old.jsonl.bak", json.dumps({"text": EUR}))
    kept(memory, "export.json", json.dumps(EUR))
    assert forget(memory).still_held == ("export.json", "sessions/old.jsonl.bak")


# --- notebooks -----------------------------------------------------------------------------------

QUOTED = 'Say "Größe" \\ 漢'
HALVES = [EUR[:20], EUR[20:]]

SOURCES: list[Any] = [
    pytest.param(EUR, EUR, id="one text"),
    pytest.param(EUR, [EUR], id="a list of one line"),
    pytest.param(EUR, HALVES, id="cut in the middle of a line"),
    pytest.param(EUR, list(EUR), id="cut into letters"),
    pytest.param(EUR, ["%%agent\n", f"{EUR.lower()}\n", "ok?"], id="another case"),
    pytest.param(EUR, [EUR.replace(" in", "\n    in")], id="wrapped"),
    pytest.param(QUOTED, [f"%memory remember {QUOTED}"], id="with escapes"),
]


@pytest.mark.parametrize("ascii_only", [False, True], ids=["utf-8", "ascii"])
@pytest.mark.parametrize(("text", "source"), SOURCES)
def test_the_notebook_and_its_checkpoint_copy_are_named_with_the_cell(
    memory: memnb.Memory, folder: Path, text: str, source: object, *, ascii_only: bool
) -> None:
    copy = folder / "nb" / ".ipynb_checkpoints" / "eda-checkpoint.ipynb"
    notebook(folder / "nb" / "eda.ipynb", "first", source, ascii_only=ascii_only)
    notebook(copy, source, ascii_only=ascii_only)
    memory.ask(text, model=saying("ok"), cell=CELL)
    assert forget(memory, text).still_held == (
        "nb/eda.ipynb cell 2",
        "nb/.ipynb_checkpoints/eda-checkpoint.ipynb cell 1",
    )


@pytest.mark.parametrize(
    "output",
    [
        pytest.param({"output_type": "stream", "text": HALVES}, id="printed"),
        pytest.param({"data": {"text/plain": [QUOTED], "text/html": ["x"]}}, id="shown"),
        pytest.param({"data": {"text/html": ["<b>Say &quot;Größe&quot; \\ 漢</b>"]}}, id="html"),
        pytest.param({"data": {"application/json": {"a": [{"b": QUOTED}]}}}, id="json"),
    ],
)
def test_an_output_that_holds_the_text_is_named_as_one(
    memory: memnb.Memory, folder: Path, output: object
) -> None:
    text = EUR if "printed" in str(output) or "stream" in str(output) else QUOTED
    notebook(folder / "nb" / "eda.ipynb", "%memory facts", outputs=[output])
    memory.ask(text, model=saying("ok"), cell=CELL)
    assert forget(memory, text).still_held == ("nb/eda.ipynb output of cell 1",)


@pytest.mark.parametrize(
    ("content", "places"),
    [
        pytest.param(f'{{"cells": ["{EUR}', ("nb/eda.ipynb",), id="torn"),
        pytest.param(json.dumps([EUR]), ("nb/eda.ipynb",), id="another form"),
        pytest.param(
            json.dumps({"cells": [], "metadata": {"title": EUR}}),
            ("nb/eda.ipynb metadata",),
            id="metadata",
        ),
        pytest.param(json.dumps({"cells": [3, None, [EUR]]}), ("nb/eda.ipynb cell 3",), id="odd"),
        pytest.param("", (), id="empty"),
        pytest.param(json.dumps({"cells": 3}), (), id="no cells"),
    ],
)
def test_a_notebook_that_is_none_is_searched_all_the_same(
    memory: memnb.Memory, folder: Path, content: str, places: tuple[str, ...]
) -> None:
    (folder / "nb").mkdir()
    (folder / "nb" / "eda.ipynb").write_text(content)
    memory.ask(EUR, model=saying("ok"), cell=CELL)
    assert forget(memory).still_held == places


@pytest.mark.parametrize("name", ["gone.ipynb", "../outside.ipynb", "a\0b.ipynb", "nb"])
def test_a_notebook_that_is_not_to_be_read_stops_no_forget(
    memory: memnb.Memory, folder: Path, name: str
) -> None:
    (folder / "nb").mkdir()
    memory.ask(EUR, model=saying("ok"), cell=Cell(name, "1", 1))
    notebooks = looked(forget(memory), "source notebooks")
    assert notebooks is not None
    assert notebooks.outcome == "couldn't be read"


def test_a_notebook_in_another_checkout_of_the_project_is_found_there(
    memory: memnb.Memory, folder: Path, tmp_path: Path, reopen: Opener
) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for command in (
        ("init", "-q"),
        (*who, "commit", "-q", "--allow-empty", "-m", "x"),
        ("worktree", "add", "-q", str(tmp_path / "wt")),
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    other = memnb.open(tmp_path / "wt")
    notebook(tmp_path / "wt" / "nb" / "eda.ipynb", EUR)
    other.ask(EUR, model=saying("ok"), cell=CELL)
    assert other.project.checkout == tmp_path / "wt"
    other.close()
    here = reopen()
    assert here.project.store_id == other.project.store_id
    assert forget(here).still_held == ("nb/eda.ipynb cell 1",)


# --- nothing is edited ---------------------------------------------------------------------------


def test_nothing_that_is_looked_into_is_changed(memory: memnb.Memory, folder: Path) -> None:
    notebook(folder / "nb" / "eda.ipynb", EUR)
    memory.notes.append("MEMORY", EUR)
    kept(memory, "quarantine-1/x", EUR)
    memory.ask(EUR, model=saying("ok"), cell=CELL)
    fact_id = memory.remember(EUR).fact_id

    def files() -> dict[Path, bytes]:
        places = (*folder.rglob("*"), *memory.project.folder.rglob("*"))
        return {p: p.read_bytes() for p in places if p.is_file() and "facts.sqlite3" not in p.name}

    before = files()
    assert len(memory.forget(fact_id).still_held) == 3
    assert files() == before
