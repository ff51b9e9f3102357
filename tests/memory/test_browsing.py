from __future__ import annotations

import pytest

from memnb.errors import InputError, UnknownId
from memnb.memory.browsing import MAX_N, around
from memories import EUR, Desk, saying


@pytest.fixture
def talk(desk: Desk) -> Desk:
    """A session of which records 2, 3, 5, 6, 8, 9, 11 and 12 are messages."""
    for number in range(4):
        desk.ask(f"question {number}", saying(f"answer {number}"))
    return desk


@pytest.mark.parametrize(
    ("seq", "n", "seqs"),
    [
        pytest.param(6, 1, [6], id="only it"),
        pytest.param(6, 3, [5, 6, 8], id="one on each side"),
        pytest.param(6, 4, [3, 5, 6, 8], id="an even number"),
        pytest.param(2, 5, [2, 3, 5, 6, 8], id="the beginning"),
        pytest.param(1, 2, [2, 3], id="before the first message"),
        pytest.param(12, 5, [6, 8, 9, 11, 12], id="the end"),
        pytest.param(7, 2, [6, 8], id="an event between messages"),
        pytest.param(6, MAX_N, [2, 3, 5, 6, 8, 9, 11, 12], id="all there is"),
        pytest.param(None, 3, [9, 11, 12], id="no record: the last"),
    ],
)
def test_an_excerpt_holds_so_many_messages_around_a_record(
    talk: Desk, seq: int | None, n: int, seqs: list[int]
) -> None:
    assert around(talk.memory.histories, talk.session_id, seq, n=n).seqs == tuple(seqs)


@pytest.mark.parametrize(
    ("seq", "n", "more"),
    [
        pytest.param(6, 3, (True, True), id="in the middle"),
        pytest.param(2, 5, (False, True), id="the beginning"),
        pytest.param(12, 5, (True, False), id="the end"),
        pytest.param(None, 3, (True, False), id="the last"),
        pytest.param(None, 8, (False, False), id="as many as there are"),
    ],
)
def test_it_says_whether_there_is_more_before_and_behind(
    talk: Desk, seq: int | None, n: int, more: tuple[bool, bool]
) -> None:
    found = around(talk.memory.histories, talk.session_id, seq, n=n)
    assert (found.has_earlier, found.has_later) == more


def test_what_is_hidden_is_passed_over(talk: Desk) -> None:
    talk.memory.session.undo()
    assert around(talk.memory.histories, talk.session_id, 9, n=3).seqs == (6, 8, 9)
    with pytest.raises(UnknownId):
        around(talk.memory.histories, talk.session_id, 11)


def test_what_was_cleared_is_not_shown(talk: Desk) -> None:
    talk.memory.session.clear()
    talk.ask("again", saying("ok"))
    assert len(around(talk.memory.histories, talk.session_id, n=5).seqs) == 2


def test_what_was_forgotten_is_not_shown(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    seq = next(record.head.seq for record in desk.records() if record.head.type == "user")
    desk.forget(fact_id)
    with pytest.raises(UnknownId):
        around(desk.memory.histories, desk.session_id, seq)
    assert around(desk.memory.histories, desk.session_id).seqs == ()


@pytest.mark.parametrize("seq", [0, -1, 99, 10**9])
def test_a_record_that_is_not_there_is_told(talk: Desk, seq: int) -> None:
    with pytest.raises(UnknownId):
        around(talk.memory.histories, talk.session_id, seq)


@pytest.mark.parametrize("n", [0, -1, MAX_N + 1])
def test_an_excerpt_has_bounds(talk: Desk, n: int) -> None:
    with pytest.raises(InputError):
        around(talk.memory.histories, talk.session_id, 2, n=n)
