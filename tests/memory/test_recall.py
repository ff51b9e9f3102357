from __future__ import annotations

import json
from typing import Any

import pytest

from memnb.core.bodies import Part
from memnb.errors import InputError, UnknownId
from memnb.memory import recall
from memnb.memory.recall import MAX_BYTES, MAX_LIMIT, Recalled
from memories import EUR, SECRET, SPLIT, Desk, saying, scripted


def recalled(desk: Desk, fact_id: str, **options: Any) -> Recalled:
    memory = desk.memory
    return recall.recall(memory.stores, memory.histories, memory.validator, fact_id, **options)


def read(desk: Desk, start: int, end: int, **options: Any) -> Recalled:
    memory = desk.memory
    return recall.read(memory.histories, memory.validator, desk.session_id, start, end, **options)


# --- a fact --------------------------------------------------------------------------------------


def test_a_fact_is_given_with_the_records_that_justify_it(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    page = recalled(desk, fact_id)
    assert (page.status, page.fact_id, page.revision, page.text) == ("valid", fact_id, 1, EUR)
    assert page.source_text is not None
    (record,) = json.loads(page.source_text)
    assert (record["seq"], record["type"]) == (2, "user")
    assert record["parts"] == [{"text": EUR, "type": "typed"}]
    assert "salt" not in record
    assert page.next_offset is None


def test_a_fact_whose_evidence_does_not_hold_is_given_without_any_text(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.memory.session.undo()
    page = recalled(desk, fact_id)
    assert page.status == "hidden"
    assert (page.text, page.source_text) == (None, None)
    assert EUR not in page.as_json()


def test_a_forgotten_fact_is_unknown(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    desk.forget(fact_id)
    with pytest.raises(UnknownId):
        recalled(desk, fact_id)


@pytest.mark.parametrize("limit", [1, 7, 100, 4096, 10**9])
def test_the_pages_of_a_source_make_the_whole(desk: Desk, limit: int) -> None:
    text = EUR + " " + 'Größe \\ " 漢 ' * 40
    fact_id = desk.ask(
        text, scripted(("memory_remember", {"text": EUR}), "ok"), mode="auto"
    ).remembered[0][:8]
    pieces, offset = [], 0
    while True:
        page = recalled(desk, fact_id, offset=offset, limit=limit)
        assert page.source_text is not None
        assert len(page.source_text) <= min(limit, MAX_LIMIT)
        pieces.append(page.source_text)
        if page.next_offset is None:
            break
        assert page.next_offset == offset + len(page.source_text)
        offset = page.next_offset
    (record,) = json.loads("".join(pieces))
    assert record["parts"][0]["text"] == text


@pytest.mark.parametrize(
    "character", ["x", "é", "漢", "😀", '"', "\\", "\n"], ids=["x", "2", "3", "4", "q", "b", "n"]
)
def test_a_page_is_never_over_16_kib(desk: Desk, character: str) -> None:
    message = EUR + "\n" + character * 20_000
    fact_id = desk.ask(
        message, scripted(("memory_remember", {"text": EUR}), "ok"), mode="auto"
    ).remembered[0][:8]
    page = recalled(desk, fact_id, limit=MAX_LIMIT)
    assert len(page.as_json().encode()) <= MAX_BYTES
    assert json.loads(page.as_json())["status"] == "valid"
    assert page.next_offset is not None


def test_every_page_is_checked_anew(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    first = recalled(desk, fact_id, limit=10)
    assert first.next_offset == 10
    other = desk.beside()
    other.forget(fact_id)
    other.close()
    with pytest.raises(UnknownId):
        recalled(desk, fact_id, offset=10)


@pytest.mark.parametrize("offset", [-1, 10**6])
def test_an_offset_beyond_the_end_is_refused(desk: Desk, offset: int) -> None:
    fact_id = desk.remember(EUR).fact_id
    with pytest.raises(InputError, match="beyond the end"):
        recalled(desk, fact_id, offset=offset)


@pytest.mark.parametrize("fact_id", ["", "F-", "F-zzzzzz", "F-7K2M9Q", "f-7k2m9q", "F-7k2m9q;--"])
def test_an_unknown_fact_is_unknown(desk: Desk, fact_id: str) -> None:
    desk.remember(EUR)
    with pytest.raises(UnknownId):
        recalled(desk, fact_id)


# --- a range of a session ------------------------------------------------------------------------


def texts(page: Recalled) -> str:
    assert page.source_text is not None
    return page.source_text


def test_a_range_gives_what_can_be_seen_first_and_last_included(desk: Desk) -> None:
    desk.ask("first", saying("one"))
    desk.ask("second", saying("two"))
    page = read(desk, 2, 3)
    assert page.status == "valid"
    assert [record["seq"] for record in json.loads(texts(page))] == [2, 3]
    assert "second" not in texts(page)


def test_a_range_beyond_the_end_stops_there(desk: Desk) -> None:
    desk.ask("first", saying("one"))
    assert [record["seq"] for record in json.loads(texts(read(desk, 4, 200)))] == [4]


@pytest.mark.parametrize(("start", "end"), [(0, 1), (-3, 2), (3, 2), (1, 201)])
def test_what_is_no_range_is_refused(desk: Desk, start: int, end: int) -> None:
    desk.ask("first", saying("one"))
    with pytest.raises(InputError, match="range of 1 to 200"):
        read(desk, start, end)


def test_a_range_after_the_end_says_where_the_session_ends(desk: Desk) -> None:
    desk.ask("first", saying("one"))
    with pytest.raises(UnknownId, match="ends at record 4"):
        read(desk, 5, 6)


def test_what_was_undone_cleared_or_forgotten_is_not_read(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.forget(fact_id)
    desk.ask("undone", saying("undone reply"))
    desk.memory.session.undo()
    desk.ask("kept", saying("kept reply"))
    whole = texts(read(desk, 1, 100))
    assert EUR not in whole
    assert "undone" not in whole.replace('"undo"', "")
    assert "kept reply" in whole
    desk.memory.session.clear()
    assert "kept" not in (read(desk, 1, 100).source_text or "")


def test_a_range_of_hidden_records_only_is_hidden(desk: Desk) -> None:
    desk.ask("undone", saying("undone reply"))
    desk.memory.session.undo()
    page = read(desk, 2, 3)
    assert (page.status, page.source_text, page.source) == ("hidden", None, None)


def test_a_message_with_a_secret_is_not_read(desk: Desk) -> None:
    desk.ask(f"the token is {SECRET}", saying("ok"))
    assert read(desk, 2, 2).status == "hidden"


def test_a_forgotten_text_is_not_read_where_it_was_stated_a_second_time(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    desk.remember(EUR)  # known already
    desk.forget(fact_id)
    page = read(desk, 1, 100)
    assert EUR not in (page.source_text or "")


def test_inserted_data_is_told_from_words(desk: Desk) -> None:
    desk.ask([Part("typed", "see "), Part("variable", "1 2", "df")], saying("ok"))
    (record,) = json.loads(texts(read(desk, 2, 2)))
    assert [part["type"] for part in record["parts"]] == ["typed", "variable"]


def test_the_source_of_a_range_can_be_used_as_evidence(desk: Desk) -> None:
    desk.ask(EUR, saying("ok"))
    page = read(desk, 2, 3)
    assert page.source is not None
    assert desk.memory.validator.source_ref(desk.session_id, page.source.seqs) == page.source
    assert SPLIT not in str(page)
