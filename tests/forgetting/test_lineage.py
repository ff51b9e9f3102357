"""What was made of recalled text goes with it, in every session that it came to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memnb.core.messages import Request
from memnb.memory import compacting, indexing, purging, receipts
from memnb.memory.context import Limits
from memnb.memory.purge_targets import Chosen
from memories import FENCE, TESTS, Children, Desk, everything, saying, scripted

CHOSEN = "The churn alarm threshold is 0.35 from now on."
ASKED = "Which threshold did we choose for the churn alarm?"
SPOKEN_OF = "Ada keeps the churn alarm threshold low."
NO_FACTS = Limits(max_bytes=1024, facts_max_bytes=0)


def learn(desk: Desk) -> str:
    """A fact that was taken from what a session says of the threshold; gives its id."""
    model = scripted(("memory_remember", {"text": "0.35 from now on"}), "Noted.")
    (reference,) = desk.ask(CHOSEN, model).remembered
    return reference.partition("@")[0]


def recall(desk: Desk, answer: str, asked: str = ASKED) -> str:
    """A new session in which something is recalled and answered; gives its id."""
    desk.memory.session.end("new")
    assert desk.memory.index is not None
    indexing.update(desk.memory, desk.memory.index)
    answered = desk.ask(asked, saying(answer), auto_recall=True, limits=NO_FACTS)
    assert answered.carried
    assert all(one.startswith("S-") for one in answered.carried)
    return desk.session_id


def sent(desk: Desk, session_id: str) -> str:
    """What a model is shown when a session goes on."""
    desk.memory.session.resume(session_id)
    model = saying("ok")
    desk.ask("And now?", model)
    return everything(model.requests[0])


def forget(desk: Desk, fact_id: str) -> None:
    receipts.forget(desk.memory, fact_id)


def test_a_reply_is_void_when_the_recalled_message_is_forgotten(desk: Desk) -> None:
    fact_id = learn(desk)
    second = recall(desk, "Thirty-five percent.")
    receipt = receipts.forget(desk.memory, fact_id)
    assert {one.session_id for one in receipt.consequences.void} >= {second}
    assert "Thirty-five" not in sent(desk, second)


def test_a_reply_is_void_when_what_was_recalled_is_void_itself(desk: Desk) -> None:
    """It had neither the fact nor its message in sight, but what an answer had made of them."""
    fact_id = desk.remember("Zero point three five is what Ada wants.").fact_id
    desk.ask("Which alarm shall we take?", saying(SPOKEN_OF))
    first = desk.session_id
    desk.memory.session.end("new")
    assert desk.memory.index is not None
    indexing.update(desk.memory, desk.memory.index)
    asked = "Who keeps the churn alarm threshold low?"
    reply = desk.ask(asked, saying("Ada does."), auto_recall=True, limits=NO_FACTS)
    assert reply.carried == (f"{first}:4",)
    second = desk.session_id
    third = recall(desk, "It is Ada's.", asked="Ada keeps the churn alarm threshold, does she?")
    forget(desk, fact_id)
    for session_id, answer in ((second, "Ada does."), (third, "It is Ada's.")):
        assert answer not in sent(desk, session_id)


def test_what_was_not_forgotten_leaves_replies_as_they_are(desk: Desk) -> None:
    desk.ask(CHOSEN, saying("Noted."))
    second = recall(desk, "Thirty-five percent.")
    desk.memory.session.end("new")
    other = desk.learn("We plot with seaborn.")
    receipt = receipts.forget(desk.memory, other)
    assert second not in {one.session_id for one in receipt.consequences.void}
    assert "Thirty-five" in sent(desk, second)


def test_a_reply_given_after_the_forget_stays(desk: Desk) -> None:
    fact_id = learn(desk)
    second = recall(desk, "Thirty-five percent.")
    forget(desk, fact_id)
    desk.ask("How many rows are there?", saying("A thousand rows."))
    assert "A thousand rows." in sent(desk, second)


def test_a_preview_says_which_replies_will_be_void(desk: Desk) -> None:
    fact_id = learn(desk)
    second = recall(desk, "Thirty-five percent.")
    before = receipts.preview(desk.memory, fact_id).consequences
    assert second in {one.session_id for one in before.void}
    assert receipts.forget(desk.memory, fact_id).consequences == before
    assert receipts.forget(desk.memory, fact_id).consequences == before


def test_a_reply_is_void_when_the_recalled_message_is_purged(desk: Desk) -> None:
    desk.ask(CHOSEN, saying("Noted."))
    first = desk.session_id
    second = recall(desk, "Thirty-five percent.")
    found = purging.preview(desk.memory, Chosen(first, 2, 2))
    assert second in {one.session_id for one in found.consequences.void}
    assert found.token is not None
    purging.purge(desk.memory, found.token)
    assert "Thirty-five" not in sent(desk, second)


def test_it_stays_void_when_what_it_was_made_of_is_blanked(desk: Desk) -> None:
    fact_id = learn(desk)
    second = recall(desk, "Thirty-five percent.")
    forget(desk, fact_id)
    token = purging.preview(desk.memory).token
    assert token is not None
    done = purging.purge(desk.memory, token)
    assert second in {one.session_id for one in done.records}
    assert "Thirty-five" not in desk.transcript()
    assert "Thirty-five" not in sent(desk, second)
    desk.memory.session.end("new")
    assert "Thirty-five" not in sent(desk.beside(), second)


def test_a_summary_falls_that_covers_a_void_reply(desk: Desk) -> None:
    fact_id = learn(desk)
    second = recall(desk, "Thirty-five percent it is.")
    for n in range(3):
        desk.ask(f"Number {n}?", saying(f"Answer {n}."))
    done = compacting.compact_session(desk.memory, fence=FENCE, window=None, writer=None)
    seq = done.written[-1].seq
    before = receipts.preview(desk.memory, fact_id).consequences
    assert f"{second}:{seq}" in before.summaries
    forget(desk, fact_id)
    history = desk.memory.session.history()
    assert history is not None
    assert desk.memory.summaries.current(history, desk.memory.histories.view(history)) is None
    assert "Thirty-five" not in sent(desk, second)


def test_results_of_tools_are_void_as_well(desk: Desk) -> None:
    """They are made for a model that had the recalled text in sight, and may repeat it."""

    def look() -> str:
        """Look."""
        return "thirty-five"

    fact_id = learn(desk)
    desk.memory.session.end("new")
    assert desk.memory.index is not None
    indexing.update(desk.memory, desk.memory.index)
    model = scripted(("look", {}), "ok")
    desk.ask(ASKED, model, auto_recall=True, mode="auto", tools=[look], limits=NO_FACTS)
    second = desk.session_id
    forget(desk, fact_id)
    history = desk.memory.histories.of(second)
    hidden = desk.memory.histories.view(history).hidden
    types = [entry.type for entry in history.entries if entry.seq in hidden]
    assert types == ["assistant", "tool", "assistant"]


@pytest.mark.parametrize("tool", ["search", "recall"])
def test_records_that_a_tool_has_found_count_as_recalled(desk: Desk, tool: str) -> None:
    """The result names them; what it says is rendered anew, or not at all."""
    desk.ask(CHOSEN, saying("Noted."))
    first = desk.session_id
    desk.memory.session.end("new")
    called = {
        "search": ("memory_search", {"query": "churn alarm threshold"}),
        "recall": ("memory_recall", {"session_id": first, "start": 1, "end": 2}),
    }[tool]
    desk.ask("Look it up.", scripted(called, "Thirty-five percent."))
    second = desk.session_id
    token = purging.preview(desk.memory, Chosen(first, 2, 2)).token
    assert token is not None
    purging.purge(desk.memory, token)
    assert "Thirty-five" not in sent(desk, second)


def test_a_reply_that_comes_when_something_is_forgotten_elsewhere_is_discarded(
    desk: Desk,
) -> None:
    fact_id = learn(desk)
    desk.memory.session.end("new")
    assert desk.memory.index is not None
    indexing.update(desk.memory, desk.memory.index)
    other = desk.beside()

    def answer(request: Request) -> str:
        assert CHOSEN in everything(request)
        forget(other, fact_id)
        return "Thirty-five percent."

    with pytest.raises(Exception, match="forgotten while the model answered"):
        desk.ask(ASKED, scripted(answer), auto_recall=True)
    assert "Thirty-five" not in desk.transcript()
    other.close()


KILLED = """
    import json, sys
    from pathlib import Path

    sys.path.insert(0, sys.argv[3])
    from forgetting.crashing import at_every_step
    from memnb.memory import forgetting
    from memories import Desk, everything, saying

    kept, folder, fact_id = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[4]

    def action(place):
        forgetting.forget(Desk(place).stores, fact_id)

    def look(place, wrong):
        desk = Desk(place)
        is_gone = desk.stores.facts.fact(fact_id) is None
        desk.memory.session.resume(sys.argv[5])
        model = saying("ok")
        desk.ask("And now?", model)
        if is_gone == ("Thirty-five" in everything(model.requests[0])):
            wrong.append(f"forgotten: {is_gone}, and what was made of it says otherwise")
        desk.close()

    print(json.dumps(at_every_step(kept, folder, action, look)))
"""


def test_a_kernel_that_dies_while_it_forgets_leaves_both_or_neither(
    tmp_path: Path, desk: Desk, children: Children
) -> None:
    fact_id = learn(desk)
    second = recall(desk, "Thirty-five percent.")
    desk.close()
    for path in desk.folder.glob("index.sqlite3*"):  # what is void is told without it
        path.unlink()
    said = children.run(KILLED, desk.folder, tmp_path / "copy", TESTS, fact_id, second)
    n_steps, found = json.loads(said)
    assert found == []
    assert n_steps > 10
