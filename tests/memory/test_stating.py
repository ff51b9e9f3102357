from __future__ import annotations

import pytest

from memnb.core.bodies import Cell, Via, read_user
from memnb.errors import HiddenText, RevisionChanged, SecretFound, UnknownId
from memnb.memory import stating
from memnb.memory.stating import Said
from memories import EUR, SECRET, SPLIT, Desk, saying


@pytest.mark.parametrize("via", ["command", "api"])
def test_a_command_is_recorded_as_typed_with_how_it_came_and_from_where(
    desk: Desk, via: Via
) -> None:
    command = f"%memory remember --kind decision {EUR}"
    cell = Cell("nb/eda.ipynb", "4f0c", 7)
    source = stating.record(desk.memory, EUR, Said(command, via, cell))
    body = read_user(desk.records()[-1])
    assert (body.via, body.asks, body.cell, body.sensitive) == (via, False, cell, False)
    assert [part.text for part in body.parts] == [command]
    assert source.quote is not None
    assert command[source.quote.start : source.quote.end] == EUR


def test_a_command_that_does_not_hold_the_text_is_recorded_as_the_text(desk: Desk) -> None:
    source = stating.record(desk.memory, EUR, Said("something else"))
    assert [part.text for part in read_user(desk.records()[-1]).parts] == [EUR]
    assert source.quote is not None
    assert (source.quote.start, source.quote.end) == (0, len(EUR))


@pytest.mark.parametrize(
    ("command", "error"),
    [(f"remember {SECRET}", SecretFound), ("remember \u202e", HiddenText)],
    ids=["secret", "bidirectional control"],
)
def test_a_command_with_what_must_not_be_stored_is_not_recorded(
    desk: Desk, command: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        stating.record(desk.memory, "remember", Said(command))
    assert not desk.folder.exists()


def test_a_statement_is_neither_replayed_nor_undone_nor_a_turn(desk: Desk) -> None:
    desk.remember(EUR)
    model = saying("ok")
    answer = desk.ask("hello", model)
    assert answer.turn == 1
    assert len(model.requests[0].messages) == 1
    assert "EUR" in model.requests[0].memory


def test_a_correction_is_recorded_and_cites_its_own_words(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.correct(kept.fact_id, SPLIT)
    fact = desk.stores.facts.fact(kept.fact_id)
    assert fact is not None
    assert [revision.sources[0].ref.seqs for revision in fact.revisions] == [(2,), (3,)]


def test_a_correction_of_an_old_revision_is_not_recorded(desk: Desk) -> None:
    kept = desk.remember(EUR)
    before = desk.transcript()
    with pytest.raises(RevisionChanged):
        desk.correct(kept.fact_id, SPLIT, 7)
    assert desk.transcript() == before


def test_a_correction_of_no_fact_is_not_recorded(desk: Desk) -> None:
    with pytest.raises(UnknownId):
        desk.correct("F-zzzzzz", SPLIT)
    assert not desk.folder.exists()


def test_facts_of_one_session_stay_when_it_ended(desk: Desk) -> None:
    desk.remember(EUR)
    desk.memory.session.end("new")
    desk.remember(SPLIT)
    assert EUR in desk.section()
    assert SPLIT in desk.section()
