from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memnb.core.bodies import Cell
from memnb.memory import noting, residue
from memories import EUR, Desk, saying, scripted


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "project")
    yield desk
    desk.close()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


def notebook(path: Path, text: str, *, ascii_only: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cell = {"cell_type": "code", "source": [text], "outputs": []}
    path.write_text(json.dumps({"cells": [cell]}, ensure_ascii=ascii_only), encoding="utf-8")


def note(desk: Desk, name: str, text: str) -> None:
    noting.append(desk.stores, noting.find(desk.stores, name), text)


def held(desk: Desk, checkout: Path, *notebooks: str, text: str = EUR) -> tuple[str, ...]:
    return residue.holders(desk.stores, [text], notebooks, checkout)


def test_nothing_holds_a_text_that_stands_nowhere(desk: Desk, checkout: Path) -> None:
    notebook(checkout / "eda.ipynb", "something else")
    assert held(desk, checkout, "eda.ipynb") == ()


def test_lines_of_notes_are_named_whatever_the_case(desk: Desk, checkout: Path) -> None:
    note(desk, "MEMORY", f"# Conventions\n- {EUR.upper()}")
    note(desk, "plan", f"first\nsecond\n{EUR}")
    assert held(desk, checkout) == ("MEMORY.md line 2", "notes/plan.md line 3")


def test_a_fact_written_into_a_note_is_found_though_it_is_escaped_there(
    desk: Desk, checkout: Path
) -> None:
    text = "Use *bold* and `code` [1]"
    note(desk, "MEMORY", noting.fact_line(text))
    assert "\\*" in desk.stores.notes.read(noting.find(desk.stores, "MEMORY")).text
    assert held(desk, checkout, text=text) == ("MEMORY.md line 1",)


def test_the_backup_of_a_note_is_named_too(desk: Desk, checkout: Path) -> None:
    note(desk, "MEMORY", EUR)
    name = noting.find(desk.stores, "MEMORY")
    noting.edit(desk.stores, name, EUR, "gone")
    assert held(desk, checkout) == ("MEMORY.md.bak line 1",)


def test_a_note_that_cannot_be_read_is_named_as_such(desk: Desk, checkout: Path) -> None:
    note(desk, "MEMORY", "text")
    (desk.folder / "scratchpad.md").write_bytes(b"x" * (1024 * 1024 + 1))
    assert held(desk, checkout) == ("scratchpad.md (couldn't be read)",)


@pytest.mark.parametrize("ascii_only", [False, True], ids=["utf-8", "ascii"])
@pytest.mark.parametrize("text", [EUR, 'say "Größe" \\ 漢'])
def test_the_notebook_and_its_checkpoint_copy_are_named(
    desk: Desk, checkout: Path, text: str, *, ascii_only: bool
) -> None:
    notebook(checkout / "nb" / "eda.ipynb", text, ascii_only=ascii_only)
    notebook(
        checkout / "nb" / ".ipynb_checkpoints" / "eda-checkpoint.ipynb", text, ascii_only=ascii_only
    )
    assert held(desk, checkout, "nb/eda.ipynb", text=text) == (
        "nb/eda.ipynb",
        "nb/.ipynb_checkpoints/eda-checkpoint.ipynb",
    )


def test_a_notebook_that_has_gone_is_not_named(desk: Desk, checkout: Path) -> None:
    assert held(desk, checkout, "gone.ipynb") == ()


def test_nothing_is_edited(desk: Desk, checkout: Path) -> None:
    note(desk, "MEMORY", EUR)
    notebook(checkout / "eda.ipynb", EUR)
    before = (checkout / "eda.ipynb").read_bytes()
    held(desk, checkout, "eda.ipynb")
    assert (checkout / "eda.ipynb").read_bytes() == before
    assert desk.stores.notes.read(noting.find(desk.stores, "MEMORY")).text == EUR + "\n"


def test_the_notebooks_of_a_fact_are_those_whose_cells_it_cites(desk: Desk) -> None:
    model = scripted(("memory_remember", {"text": EUR}), "ok")
    cell = Cell("nb/eda.ipynb", "4f0c", 7)
    (reference,) = desk.ask(EUR, model, mode="auto", cell=cell).remembered
    desk.ask("other", saying("ok"), cell=Cell("other.ipynb", "1", 1))
    fact = desk.stores.facts.fact(reference.partition("@")[0])
    assert fact is not None
    assert residue.notebooks_of(fact, desk.memory.histories) == ("nb/eda.ipynb",)


@pytest.mark.parametrize("name", ["../outside.ipynb", "/etc/hostname"])
def test_a_notebook_outside_the_checkout_stops_no_forget(
    desk: Desk, checkout: Path, name: str
) -> None:
    notebook(checkout.parent / "outside.ipynb", EUR)
    held(desk, checkout, name)
