"""A passage that was taken in once stands now, or it is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from memnb.core.bodies import Cell
from memnb.core.passages import Passage
from memnb.memory import compacting, noting
from memnb.memory.rereading import Rereading
from memnb.memory.unindexed import every_passage
from memories import EUR, FENCE, SECRET, SPLIT, Desk, saying


def taken_in(desk: Desk) -> list[Passage]:
    """Something of every source, as an index would have it."""
    desk.remember(EUR)
    noting.append(desk.stores, noting.find(desk.stores, "plan"), "plot revenue\n\nby month")
    for number in range(6):
        desk.ask(f"Never drop column {number}.", saying("ok"), cell=Cell("eda.ipynb", "a", number))
    compacting.compact_session(desk.memory, fence=FENCE, window=None, writer=None)
    desk.remember(SPLIT)  # notes how far the session reaches
    found = list(every_passage(desk.memory))
    assert {one.source for one in found} == {"fact", "note", "message", "summary"}
    return found


def stands(desk: Desk, found: list[Passage]) -> dict[str, list[str]]:
    """The references of those that stand, by source."""
    still = [one.passage for one in Rereading(desk.memory).now(found) if one is not None]
    return {
        source: [one.reference for one in still if one.source == source]
        for source in ("fact", "note", "message", "summary")
    }


def test_what_was_taken_in_stands_as_it_is(desk: Desk) -> None:
    found = taken_in(desk)
    there = [one for one in Rereading(desk.memory).now(found) if one is not None]
    assert [one.passage for one in there] == found
    said = [one for one in there if one.passage.speaker == "person" and "Never" in one.passage.text]
    assert {one.cell.notebook for one in said if one.passage.source == "message"} == {"eda.ipynb"}
    assert {one.status for one in there} == {"valid", "visible", "holds"}


def undo(desk: Desk) -> None:
    desk.memory.session.undo()


def clear(desk: Desk) -> None:
    desk.memory.session.clear()


def correct(desk: Desk) -> None:
    for fact_id in desk.stores.facts.ids(limit=9):
        desk.correct(fact_id, f"Another wording of {fact_id}.")


def forget(desk: Desk) -> None:
    for fact_id in desk.stores.facts.ids(limit=9):
        desk.forget(fact_id)


def edit(desk: Desk) -> None:
    (desk.folder / "notes" / "plan.md").write_text("something else\n\nby year")


def remove(desk: Desk) -> None:
    (desk.folder / "notes" / "plan.md").unlink()


def put_a_secret_in(desk: Desk) -> None:
    (desk.folder / "notes" / "plan.md").write_text(f"plot revenue {SECRET}\n\nby month")


def cut(desk: Desk) -> None:
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))


HARMS = [
    pytest.param(undo, {"message"}, id="undo"),
    pytest.param(clear, {"message", "summary"}, id="clear"),
    pytest.param(correct, {"fact"}, id="correct"),
    pytest.param(forget, {"fact", "message", "summary"}, id="forget, which was carried"),
    pytest.param(edit, {"note"}, id="edit"),
    pytest.param(remove, {"note"}, id="remove"),
    pytest.param(put_a_secret_in, {"note"}, id="a secret"),
    pytest.param(cut, {"message", "summary", "fact"}, id="a session that was cut"),
]


@pytest.mark.parametrize(("harm", "fallen"), HARMS)
def test_what_does_not_stand_there_any_more_is_none(
    desk: Desk, harm: Callable[[Desk], None], fallen: set[str]
) -> None:
    found = taken_in(desk)
    before = stands(desk, found)
    harm(desk)
    after = stands(desk, found)
    for source, places in before.items():
        assert set(after[source]) <= set(places)
        assert (len(after[source]) < len(places)) == (source in fallen), source


@pytest.mark.parametrize("source", ["fact", "note", "message", "summary"])
def test_what_says_something_else_than_stands_there_is_none(desk: Desk, source: str) -> None:
    found = [one for one in taken_in(desk) if one.source == source]
    for changed in ({"text": "planted"}, {"place": 99}, {"place": -1}, {"name": "no such name"}):
        wrong = [replace(one, **changed) for one in found]  # type: ignore[arg-type]
        assert Rereading(desk.memory).now(wrong) == [None] * len(wrong)


def test_what_was_said_before_is_the_message_before_that_can_be_seen(desk: Desk) -> None:
    desk.ask("one?", saying("1"))
    desk.ask("hidden?", saying("hidden"))
    desk.memory.session.undo()
    desk.ask("two? " + "x " * 400, saying("2"))
    found = [one for one in every_passage(desk.memory) if one.source == "message"]
    reply, question, *_ = found
    rereading = Rereading(desk.memory)
    earlier = rereading.before(question)
    assert earlier is not None
    assert earlier.text == "1"
    asked = rereading.before(reply)
    assert asked is not None
    assert asked.place == question.place
    assert len(asked.text) <= 402
    assert rereading.before(found[-1]) is None
