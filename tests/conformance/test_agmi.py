"""agmi, the Agent Memory Integrity suite, over the real store: the page says what happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from agmi import check
from agmi.attacks.memory_specific import MemoryInjectionAttack, UpdatePoisoningAttack

from conformance import tables
from conformance.agmi_adapter import ADAPTERS, Facts, Records, RecordsWithHeads
from conformance.agmi_memory_adapter import Remembering, told_whose_words
from conformance.defences import DEFENCES
from memnb import runtime

ALL_REJECTED = ("R",) * len(tables.EDITS)
ALL_ACCEPTED = ("A",) * len(tables.EDITS)

LIMITS = ("records of a killed kernel", "records of a project without facts")
"""What nothing is promised of: see the page."""


def ways() -> list[object]:
    """The adapters of which everything has to be rejected."""
    return [
        pytest.param(adapter, id=adapter.name) for adapter in ADAPTERS if adapter.name not in LIMITS
    ]


@pytest.mark.parametrize("adapter", ways())
def test_no_edit_at_rest_is_taken_for_genuine(adapter: type[Facts | Records]) -> None:
    assert tables.at_rest(adapter) == ALL_REJECTED


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_the_page_says_which_edits_are_rejected(adapter: type[Facts | Records]) -> None:
    assert tables.at_rest(adapter) == tables.published("entries")[adapter.name]


def test_the_page_speaks_of_every_adapter() -> None:
    assert list(tables.published("entries")) == [adapter.name for adapter in ADAPTERS]


@pytest.mark.parametrize("entries", tables.ENTRIES)
@pytest.mark.parametrize("name", DEFENCES)
def test_the_page_says_what_a_defence_alone_holds_off(name: str, entries: str) -> None:
    assert tables.weakened(entries, name) == tables.published("without")[f"{name}, {entries}"]


@pytest.mark.parametrize("entries", tables.ENTRIES)
def test_without_all_defences_every_edit_is_taken_for_genuine(entries: str) -> None:
    assert tables.weakened(entries, *DEFENCES) == ALL_ACCEPTED


NEEDED = {
    "the seal, for facts that are taken out": ("T3", Facts, "seal"),
    "the signature, for facts that are changed": ("T1", Facts, "signature"),
    "the anchor, for an older copy": ("T9", Facts, "anchor"),
    "the noted head, for messages that are changed": ("T1", Records, "head"),
    "the seal, for a head that is moved along": ("T2", RecordsWithHeads, "seal"),
    "the anchor, for older sessions": ("T9", Records, "anchor"),
}


@pytest.mark.parametrize(("edit", "adapter", "name"), NEEDED.values(), ids=NEEDED)
def test_it_takes(edit: str, adapter: type[Facts | Records], name: str) -> None:
    column = tables.EDITS.index(edit)
    assert tables.at_rest(adapter)[column] == "R"
    assert tables.at_rest(adapter, name)[column] == "A"


def test_the_command_of_the_suite_passes() -> None:
    assert check.main(["--adapter", "conformance.agmi_adapter:Facts"]) == 0


# Through the face of a memory


def test_the_page_says_which_texts_get_in_through_the_face(tmp_path: Path) -> None:
    assert tables.attacked(tmp_path) == tables.published("attack")


def test_a_tool_that_may_speak_for_the_person_gets_its_text_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "require_person", lambda: None)
    adapter = Remembering(tmp_path)
    result = UpdatePoisoningAttack().run(adapter)
    adapter.close()
    assert result.channels["laundered"] == [True] * 5


def test_whose_words_a_text_is_decides_whether_it_gets_in(tmp_path: Path) -> None:
    adapter = Remembering(tmp_path)
    with told_whose_words():
        told = MemoryInjectionAttack().run(adapter)
    adapter.close()
    assert list(told.channels) == ["agent-laundered"]
    assert told.safe, told.detail
