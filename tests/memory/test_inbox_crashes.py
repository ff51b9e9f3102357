"""A kernel may die at any step while something is learned, applied or taken back: done, or not."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from learned import found, learn, quoted, said
from memories import EUR, TESTS, Children, Desk

TABS = "We use tabs for indentation in this repo."
PLAIN = "Figures are 6 by 4 inches."
RISKY = "Always email the report to finance."

COMMON = """
    import json, pickle, sys
    from pathlib import Path

    sys.path.insert(0, sys.argv[3])
    from forgetting.crashing import at_every_step
    from learned import take
    from memnb.memory import inbox, queueing, reviewing
    from memories import Desk

    kept, folder, given = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[4])
    extraction = pickle.loads(Path(given["extraction"]).read_bytes())

    def facts(desk):
        store = desk.stores.facts
        return sorted(one.current.text for one in store.facts(store.ids(limit=99)))

    def state(desk):
        kept_ones = desk.stores.candidates
        found = [kept_ones.of(s) for s in ("pending", "applied", "rejected")]
        states = [one.state for some in found for one in some]
        return [facts(desk), states, sorted(kept_ones.mined(extraction.session_id)),
                sorted(run.outcome for run in kept_ones.runs())]

    def look(place, wrong):
        desk = Desk(place)
        there = state(desk)
        if there not in (given["before"], given["after"]):
            wrong.append(f"half of it is done: {there}")
        if there == given["before"]:
            action(place)
            if state(desk) != given["after"]:
                wrong.append(f"going on gives something else: {state(desk)}")
        desk.close()
"""
ACTIONS = {
    "take": "take(Desk(place), extraction)",
    "apply": "reviewing.apply(Desk(place).memory, given['waits'])",
    "reject": "reviewing.reject(Desk(place).memory, [given['waits']])",
    "take back": "reviewing.take_back(Desk(place).memory, given['learned'])",
}
END = """
    def action(place):
        {action}

    steps, wrong = at_every_step(kept, folder, action, look)
    print(json.dumps([steps, wrong]))
"""


def state(
    texts: list[str], states: list[str], mined: list[int], outcomes: list[str]
) -> list[list[str] | list[int]]:
    return [sorted(texts), states, mined, sorted(outcomes)]


IN_TWO = """
        desk = Desk(place)
        stores, validator = desk.stores, desk.memory.validator
        queued = stores.candidates.candidate(given["waits"])
        with stores.facts.transaction(now=stores.now()) as change:
            kept_ = inbox.apply_in(stores, validator, change, queued, stores.now())
        with stores.facts.transaction(now=stores.now()) as change:
            change.candidates.set(queueing.became(queued, kept_, stores.now()))
"""


def deaths(
    desk: Desk, tmp_path: Path, children: Children, name: str, action: str
) -> tuple[int, list[str]]:
    """What is found wrong after a death at each step of an action that should come to `name`."""
    desk.remember(EUR)
    (learned,) = learn(desk, PLAIN).applied
    (waits,) = learn(desk, RISKY).pending
    seq = said(desk, TABS)
    extraction = found(desk, quoted(desk, seq, TABS))
    mined = sorted(desk.stores.candidates.mined(desk.session_id))
    before = state([EUR, PLAIN], ["pending", "applied"], mined, ["proposed", "learned"])
    after = {
        "take": state(
            [EUR, PLAIN, TABS],
            ["pending", "applied", "applied"],
            [*mined, seq],
            ["learned", "proposed", "learned"],
        ),
        "apply": state([EUR, PLAIN, RISKY], ["applied", "applied"], mined, before[3]),  # type: ignore[arg-type]
        "reject": state([EUR, PLAIN], ["applied", "rejected"], mined, before[3]),  # type: ignore[arg-type]
        "take back": state([EUR], ["pending", "rejected"], mined, before[3]),  # type: ignore[arg-type]
    }[name]
    desk.memory.session.end("close")
    desk.close()
    file = tmp_path / "extraction"
    file.write_bytes(pickle.dumps(extraction))
    given = {
        "extraction": str(file),
        "learned": learned.fact_id,
        "waits": waits,
        "before": before,
        "after": after,
    }
    code = COMMON + END.format(action=action)
    out = children.run(code, desk.folder, tmp_path / "deaths", TESTS, json.dumps(given))
    steps, wrong = json.loads(out.splitlines()[-1])
    return steps, wrong


@pytest.mark.parametrize("name", ACTIONS)
def test_what_a_death_at_any_step_left_is_done_or_not_and_going_on_does_it_once(
    desk: Desk, tmp_path: Path, children: Children, name: str
) -> None:
    steps, wrong = deaths(desk, tmp_path, children, name, ACTIONS[name])
    assert wrong == []
    assert steps > 5


def test_what_is_applied_in_two_transactions_is_caught(
    desk: Desk, tmp_path: Path, children: Children
) -> None:
    _, wrong = deaths(desk, tmp_path, children, "apply", IN_TWO)
    assert any("half of it is done" in text for text in wrong)
