"""A kernel may die between a reply and what is learned of it: it is learned later, and once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import memnb
from memnb import ScriptedModel
from memnb.api.learning_results import Backfill, Mined
from memnb.core.learning_gate import EVERY_TURNS
from memories import Children

Opener = Callable[..., memnb.Memory]

TABS = "We use tabs for indentation in this repo."
LONG = f"Please look at the loader, it is slow. {TABS} Which of the functions would you begin with?"
KERNEL = """
    import os, signal, sys
    import memnb
    from memnb.llm.cancelling import CancelSwitch

    text, mode = sys.argv[2], sys.argv[3]

    def reply(request):
        if '{"candidates":' in request.guidance:  # it is looked through, just now
            os.kill(os.getpid(), signal.SIGKILL)
        return "With the first one."

    memory = memnb.open(sys.argv[1], model=memnb.ScriptedModel([reply], repeat_last=True))
    memory.learn(mode)
    for _ in range(int(sys.argv[4])):
        turn = memory.ask(text, via="agent").answer.message_seq
    memory.learn_after(turn, CancelSwitch())
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def die(children: Children, folder: Path) -> Callable[..., None]:
    """A kernel in which `n` messages were answered, and that died before any was looked through."""

    def run(n: int = EVERY_TURNS, mode: str = "auto") -> None:
        child = children.start(KERNEL, folder, LONG, mode, n)
        assert child.wait(60) == -signal.SIGKILL

    return run


@pytest.fixture
def later(reopen: Opener) -> Callable[[], memnb.Memory]:
    """The kernel after it; rules look, so that no model is needed."""

    def opener() -> memnb.Memory:
        memory = reopen(model=ScriptedModel(["Yes."], repeat_last=True))
        memory.config("learning.model", "rules")
        memory.learn("auto")
        return memory

    return opener


def texts(memory: memnb.Memory) -> list[str]:
    return [row.text for row in memory.facts(all=True).rows]


@pytest.mark.parametrize(
    "n", [EVERY_TURNS, 1], ids=["while it was looked through", "before a look was due"]
)
def test_what_a_death_left_is_learned_by_backfill_once(
    die: Callable[..., None], later: Callable[[], memnb.Memory], n: int
) -> None:
    die(n)
    memory = later()
    assert texts(memory) == []
    plan = memory.backfill()
    assert isinstance(plan, Backfill)
    assert (plan.n_sessions, plan.n_exchanges) == (1, n)
    done = memory.backfill(go=True)
    assert isinstance(done, Mined)
    assert done.n_exchanges == n
    assert texts(memory) == [TABS]
    again = memory.backfill(go=True)
    assert isinstance(again, Mined)
    assert (again.n_exchanges, texts(memory)) == (0, [TABS])
    assert [run.outcome for run in memory.diagnostics().rows] == ["learned"]


def test_what_a_death_left_is_learned_once_when_the_session_goes_on(
    die: Callable[..., None], later: Callable[[], memnb.Memory]
) -> None:
    die()
    memory = later()
    (session,) = memory.sessions().rows
    memory.resume(session.session_id)
    assert memory.populate().n_exchanges == EVERY_TURNS
    assert texts(memory) == [TABS]
    assert memory.populate().n_exchanges == 0
    assert memory.backfill(go=True).n_exchanges == 0


def test_two_deaths_are_learned_from_once_each(
    die: Callable[..., None], later: Callable[[], memnb.Memory]
) -> None:
    die()
    die()
    memory = later()
    done = memory.backfill(go=True)
    assert isinstance(done, Mined)
    assert (done.n_sessions, done.n_exchanges) == (2, 2 * EVERY_TURNS)
    assert texts(memory) == [TABS]


def test_what_was_said_while_learning_was_off_is_only_looked_through_since_a_date(
    die: Callable[..., None], later: Callable[[], memnb.Memory]
) -> None:
    die(1)
    die(1, "off")
    memory = later()
    plan = memory.backfill()
    assert isinstance(plan, Backfill)
    assert plan.n_sessions == 1
    memory.backfill(go=True)
    shown = str(memory.backfill())
    assert "no earlier session is left" in shown
    assert "--since DATE" in shown
