"""A kernel may die at any step of a forget or a purge: it is done for good, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memnb.memory import receipts
from memories import EUR, TESTS, Children, Desk, saying

COMMON = """
    import json, sys
    from pathlib import Path

    sys.path.insert(0, sys.argv[3])
    from forgetting.crashing import at_every_step
    from memnb.memory import forgetting, purging, receipts
    from memories import EUR, Desk, everything, saying, scripted

    kept, folder, fact_id = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[4]

    def sessions(desk):
        return sorted((desk.folder / "sessions").glob("*.jsonl"))

    def relearns(desk):
        model = scripted(("memory_remember", {"text": EUR}), "ok")
        desk.ask(EUR, model, mode="auto")
        return "was forgotten on" not in everything(model.requests[1])
"""

FORGET = """
    def action(place):
        receipts.forget(Desk(place).memory, fact_id)

    def look(place, wrong):
        desk = Desk(place)
        forgotten = desk.stores.facts.forgotten().get(fact_id)
        fact = desk.stores.facts.fact(fact_id)
        if (fact is None) != (forgotten is not None):
            wrong.append("the fact and its mark disagree")
        if fact is not None:
            whole = desk.status(fact_id) == "valid" and EUR in desk.section()
            marks = [desk.stores.facts.exclusions(path.stem) for path in sessions(desk)]
            if not whole or any(marks) or desk.stores.facts.generation():
                wrong.append("half of it is forgotten")
            if len(fact.revisions) != 2:
                wrong.append("a revision is gone")
        else:
            if EUR in desk.section() or desk.stores.facts.generation() != 1:
                wrong.append("it is still in use")
            model = saying("ok")
            desk.ask("What do you know?", model)
            if EUR in everything(model.requests[0]) or "cents" in everything(model.requests[0]):
                wrong.append("it was sent again")
        receipt = receipts.forget(desk.memory, fact_id)
        if receipt.first != (fact is not None) or receipt.pending or receipt.generation != 1:
            wrong.append("repeating it gives another receipt")
        if len(receipt.barred) != 4 or not receipt.consequences.void:
            wrong.append(f"the receipt isn't whole: {receipt}")
        if relearns(desk):
            wrong.append("it was learned again")
        if receipts.forget(desk.memory, fact_id).first:
            wrong.append("it could be forgotten twice")
        desk.close()
        if EUR.encode() in desk.database_bytes():
            wrong.append("its bytes are in the database")
"""

PURGE = """
    def action(place):
        desk = Desk(place)
        purging.purge(desk.memory, purging.preview(desk.memory).token)

    def look(place, wrong):
        desk = Desk(place)
        ordered = desk.stores.facts.to_blank()
        purging.finish(desk.memory)
        if desk.stores.facts.to_blank():
            wrong.append("it isn't finished")
        text = desk.transcript()
        left = len(purging.preview(desk.memory).records)
        if left not in (0, 5) or (ordered and left):
            wrong.append(f"{left} records are left")
        if (EUR in text) != bool(left):
            wrong.append("half of it is blank")
        if left:
            purging.purge(desk.memory, purging.preview(desk.memory).token)
        if EUR in desk.transcript() or "Paraphrased" in desk.transcript():
            wrong.append("doing it again leaves something")
        (kept_id,) = desk.stores.facts.ids(limit=9)
        if desk.status(kept_id) != "valid":
            wrong.append("other evidence doesn't hold any more")
        for path in sessions(desk):
            reader = desk.memory.histories.of(path.stem).reader
            if reader.torn_bytes or not all(map(reader.digest_at, range(1, reader.last_seq + 1))):
                wrong.append("the chain is broken")
        model = saying("ok")
        desk.memory.session.resume(sessions(desk)[0].stem)
        desk.ask("What do you know?", model)
        if "Paraphrased" in everything(model.requests[0]):
            wrong.append("a void reply is back")
        desk.close()
"""


def at_every_step(
    children: Children, desk: Desk, tmp_path: Path, code: str, fact_id: str
) -> tuple[int, list[str]]:
    """How many steps there are, and what is wrong after a death before one of them."""
    desk.close()
    end = "    print(json.dumps(at_every_step(kept, folder, action, look)))\n"
    out = children.run(COMMON + code + end, desk.folder, tmp_path / "deaths", TESTS, fact_id)
    n_steps, found = json.loads(out)
    return n_steps, found


@pytest.fixture
def told(desk: Desk) -> str:
    """A fact with two wordings, said in a message, repeated and paraphrased in replies."""
    desk.ask(f"Note: {EUR}", saying(f"Yes: {EUR}"))
    fact_id = desk.remember("We report revenue in euro cents").fact_id
    desk.correct(fact_id, EUR)
    desk.ask("Which unit?", saying("Paraphrased: hundredths of a euro"))
    return fact_id


def test_a_death_at_any_step_of_a_forget_leaves_it_undone_or_done_for_good(
    children: Children, desk: Desk, tmp_path: Path, told: str
) -> None:
    n_steps, found = at_every_step(children, desk, tmp_path, FORGET, told)
    assert found == []
    assert n_steps > 20


def test_a_death_at_any_step_of_a_purge_leaves_it_undone_or_to_be_finished(
    children: Children, desk: Desk, tmp_path: Path, told: str
) -> None:
    desk.remember("Another fact that stays")
    receipts.forget(desk.memory, told)
    n_steps, found = at_every_step(children, desk, tmp_path, PURGE, told)
    assert found == []
    assert n_steps > 20


def test_a_forget_in_two_transactions_is_caught(
    children: Children, desk: Desk, tmp_path: Path, told: str
) -> None:
    weak = """
    def action(place):
        stores = Desk(place).stores
        with stores.facts.transaction(now=stores.now()) as change:
            change.delete(fact_id)
        with stores.facts.transaction(now=stores.now()) as change:
            generation = change.next_generation()
            change.mark_forgotten(fact_id, [], generation=generation, now=stores.now())
"""
    _, found = at_every_step(children, desk, tmp_path, FORGET + weak, told)
    assert any("the fact and its mark disagree" in text for text in found)


def test_a_purge_that_blanks_before_it_says_so_is_caught(
    children: Children, desk: Desk, tmp_path: Path, told: str
) -> None:
    desk.remember("Another fact that stays")
    receipts.forget(desk.memory, told)
    weak = """
    from memnb.storage import session_purge

    def action(place):
        desk = Desk(place)
        for one in purging.preview(desk.memory).records:  # without a row that says so first
            reader = desk.memory.histories.of(one.session_id).reader
            session_purge.blank(reader.path, {one.seq: one.digests[0]})
"""
    _, found = at_every_step(children, desk, tmp_path, PURGE + weak, told)
    assert found
