"""Probes: a turn that is answered as if some facts weren't known, and that nothing goes on from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memnb
from memnb.core.candidates import Extraction
from memnb.core.messages import Request, Text
from memnb.errors import InputError, ModelUnavailable, UnknownId
from memnb.llm.cancelling import CancelSwitch
from memnb.memory import opposing, stating
from memnb.memory.compacting import Reply, Writer, compact_session
from memnb.memory.context import Limits
from memnb.memory.conversation import Replay
from memnb.memory.promoting import promotions
from memnb.memory.stating import Said
from memnb.memory.supplying import waiting
from memories import EUR, FENCE, SPLIT, BareModel, Desk, everything, said, saying, scripted

Opener = Callable[..., memnb.Memory]

TABS = "We use tabs for indentation in this repo."


def probe(desk: Desk, text: str, *fact_ids: str) -> Request:
    """A probe that a model answers with `So it is.`; gives its first request."""
    model = scripted("So it is.")
    desk.ask(text, model, without=fact_ids)
    return model.requests[0]


# --- what is sent --------------------------------------------------------------------------------


def test_what_is_left_out_is_not_sent_and_the_rest_is(desk: Desk) -> None:
    one, _ = desk.remember(EUR), desk.remember(SPLIT)
    request = probe(desk, "What do I prefer?", one.fact_id)
    assert EUR not in everything(request)
    assert SPLIT in request.memory
    assert "1 of 1 facts" in request.memory


def test_several_are_left_out_together(desk: Desk) -> None:
    ids = [desk.remember(text).fact_id for text in (EUR, SPLIT)]
    assert probe(desk, "What do I prefer?", *ids).memory == ""


def test_what_rests_on_it_is_left_out_too(desk: Desk) -> None:
    base = desk.remember(EUR)
    desk.remember(SPLIT, derived_from=(base.fact_id,))
    assert SPLIT in desk.section()
    assert SPLIT not in probe(desk, "What do I prefer?", base.fact_id).memory


def test_without_one_side_of_a_dispute_the_other_is_sent(desk: Desk) -> None:
    older, newer = desk.remember("Indent with tabs."), desk.remember("Indent with spaces.")
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        opposing.open_dispute(change, newer.fact_id, [older.fact_id], desk.stores.now())
    assert "tabs" not in desk.section()
    memory = probe(desk, "How do I indent?", newer.fact_id).memory
    assert "Indent with tabs." in memory
    assert "spaces" not in memory


def test_it_makes_room_for_a_fact_that_had_none(desk: Desk) -> None:
    desk.remember(SPLIT)
    long = desk.remember("x" * 400)
    model = scripted("So it is.")
    limits = Limits(max_bytes=4096, facts_max_bytes=430)
    assert SPLIT not in desk.section(limits)
    desk.ask("What?", model, without=(long.fact_id,), limits=limits)
    assert SPLIT in model.requests[0].memory


def test_a_tools_result_of_before_is_shown_without_it(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.ask("What is there?", scripted(("memory_list", {}), "One."))
    assert EUR in said(probe_and_request(desk, ()))
    assert EUR not in said(probe_and_request(desk, (kept.fact_id,)))


def probe_and_request(desk: Desk, without: tuple[str, ...]) -> Request:
    model = scripted("So it is.")
    desk.ask("And now?", model, without=without)
    return model.requests[0]


def test_it_is_answered_from_the_same_conversation(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.ask("The file is sales.csv.", saying("Good."))
    assert "sales.csv" in said(probe(desk, "Which file?", kept.fact_id))


def test_memory_tools_that_would_find_it_are_off(desk: Desk) -> None:
    kept = desk.remember(EUR)
    names = [tool.name for tool in probe(desk, "What?", kept.fact_id).tools]
    assert not [name for name in names if name.startswith("memory_")]


# --- what is said of it --------------------------------------------------------------------------


def test_the_answer_says_what_it_was_given_without(desk: Desk) -> None:
    kept = desk.remember(EUR)
    answer = desk.ask("What?", saying("I don't know."), without=(kept.fact_id,))
    assert answer.without == (kept.fact_id,)
    assert answer.carried == ()
    assert answer.notices == ()


def test_a_fact_that_no_request_carries_anyway_is_named(desk: Desk) -> None:
    kept = desk.remember(EUR)
    stating.expire(desk.memory, kept.fact_id, "2026-01-01T00:00:00.000000Z", Said("expire it"))
    answer = desk.ask("What?", saying("I don't know."), without=(kept.fact_id,))
    assert answer.notices == (
        f"{kept.fact_id} isn't in the prompt anyway; `%memory fact {kept.fact_id}` says why",
    )


def test_a_fact_that_had_no_room_anyway_is_named(desk: Desk) -> None:
    kept = desk.remember("x" * 400)
    limits = Limits(max_bytes=4096, facts_max_bytes=200)
    (notice,) = desk.ask("What?", saying("Hm."), without=(kept.fact_id,), limits=limits).notices
    assert notice.startswith(f"{kept.fact_id} isn't in the prompt anyway")


def test_a_fact_that_this_conversation_says_anyway_is_named(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    (notice,) = desk.ask("What?", saying("EUR."), without=(fact_id,)).notices
    assert notice.startswith(f"what {fact_id} was taken from is in this conversation")
    desk.memory.session.end("new")
    assert desk.ask("What?", saying("Hm."), without=(fact_id,)).notices == ()


def test_the_record_says_that_it_was_a_probe(desk: Desk) -> None:
    ids = [desk.remember(text).fact_id for text in (EUR, SPLIT)]
    probe(desk, "What?", *ids)
    (reply,) = desk.bodies("assistant")
    assert reply["params"]["without"] == ",".join(ids)
    desk.ask("What?", saying("Both."))
    assert "without" not in desk.bodies("assistant")[-1]["params"]


# --- what comes of it: nothing -------------------------------------------------------------------


def test_it_is_hidden_before_the_model_is_asked(desk: Desk) -> None:
    kept = desk.remember(EUR)
    seen: list[list[str]] = []

    def reply(_: Request) -> str:
        seen.append(desk.types()[-2:])
        return "I don't know."

    desk.ask("What?", scripted(reply), without=(kept.fact_id,))
    assert seen == [["user", "undo"]]


def test_no_later_turn_sees_it(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.ask("The file is sales.csv.", saying("Good."))
    probe(desk, "Which currency, if any?", kept.fact_id)
    text = said(probe_and_request(desk, ()))
    assert "sales.csv" in text
    assert "currency" not in text
    assert "So it is." not in text


@pytest.mark.parametrize("ending", ["fails", "is stopped"])
def test_no_later_turn_sees_one_that(desk: Desk, ending: str) -> None:
    kept = desk.remember(EUR)
    if ending == "fails":
        with pytest.raises(ModelUnavailable):
            desk.ask(
                "Which currency?",
                BareModel(Text("E"), ModelUnavailable("gone; wait.")),
                without=(kept.fact_id,),
            )
    else:
        desk.ask(
            "Which currency?", BareModel(Text("E"), KeyboardInterrupt()), without=(kept.fact_id,)
        )
    assert "currency" not in said(probe_and_request(desk, ()))


def test_redo_doesnt_bring_it_back_and_undo_hides_what_was_before(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.ask("The file is sales.csv.", saying("Good."))
    probe(desk, "Which currency?", kept.fact_id)
    with pytest.raises(InputError, match="nothing to redo"):
        desk.memory.session.redo()
    assert desk.memory.session.undo() == 1
    assert "sales.csv" not in said(probe_and_request(desk, ()))


def test_nothing_is_mined_of_it(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.ask("The file is sales.csv.", saying("Good."))
    probe(desk, TABS, kept.fact_id)
    found = list(waiting(desk.memory.histories, desk.session_id))
    texts = [part.text for one in found for part in one.message.parts]
    assert texts == ["The file is sales.csv."]


def test_what_is_said_in_it_doesnt_count_as_said_again(desk: Desk) -> None:
    kept = desk.remember(EUR)
    memory = desk.memory
    for number in range(3):
        text = f"Always run the tests with pytest -q. Now fix bug {number}."
        without = (kept.fact_id,) if number == 1 else ()
        turn = desk.ask(text, saying("Yes."), without=without).message_seq
        found = promotions(
            memory.stores, memory.validator, memory.histories, desk.session_id, turn or 0
        )
        assert found == Extraction(desk.session_id, ())
        memory.session.end("new")


def test_a_summary_is_made_without_it(desk: Desk) -> None:
    kept = desk.remember(EUR)
    for number in range(4):
        desk.ask(f"question {number}", saying(f"answer {number}"))
        probe(desk, f"probing {number}", kept.fact_id)
    asked: list[str] = []

    def ask(request: Request) -> Reply:
        asked.append(request.messages[0].text)
        return Reply("They asked.", "end")

    compact_session(desk.memory, fence=FENCE, window=None, writer=Writer("w", ask))
    assert "question 0" in asked[0]
    assert "probing" not in asked[0]
    assert "So it is." not in asked[0]


def test_it_writes_no_summary_itself(desk: Desk) -> None:
    kept = desk.remember(EUR)
    for number in range(12):
        desk.ask(f"question {number} {'x' * 2000}", saying(f"answer {number}"))
    small = scripted("So it is.", context_tokens=4096)
    answer = desk.ask("And?", small, without=(kept.fact_id,), output_tokens=256)
    assert (answer.end, answer.compacted, desk.bodies("compact")) == ("complete", (), [])
    assert "a probe writes no summary" in answer.notices[-1]


def test_nothing_in_it_is_evidence(desk: Desk) -> None:
    kept = desk.remember(EUR)
    probe(desk, TABS, kept.fact_id)
    user = [r.head.seq for r in desk.records() if r.head.type == "user"][-1]
    history = desk.memory.session.history()
    assert history is not None
    seen = desk.memory.histories.view(history)
    assert not seen.shows(user, "durable")
    assert list(Replay(history, seen, lambda _: "", FENCE).newest_first()) == []


def test_with_private_nothing_of_it_is_recorded(desk: Desk) -> None:
    kept = desk.remember(EUR)
    before = desk.types()
    answer = desk.ask("What?", saying("Hm."), without=(kept.fact_id,), private=True)
    assert answer.without == (kept.fact_id,)
    assert desk.types() == before


# --- through the face ----------------------------------------------------------------------------


@pytest.fixture
def talking(reopen: Opener) -> memnb.Memory:
    return reopen(model=memnb.ScriptedModel(["So it is."], repeat_last=True))


def test_an_unknown_id_is_one_line_and_nothing_is_sent(talking: memnb.Memory) -> None:
    model = memnb.ScriptedModel(["So it is."])
    kept = talking.remember(EUR)
    with pytest.raises(UnknownId) as caught:
        talking.ask("What?", model=model, without=[kept.fact_id, "F-zzzzzz"])
    assert str(caught.value).startswith("no fact F-zzzzzz")
    assert "\n" not in str(caught.value)
    assert model.requests == []


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"without": "F-7k2m9q"}, "a list of ids"),
        ({"without": ["F-7k2m9q"], "memory": False}, "nothing to leave out"),
    ],
    ids=["one word", "without all of memory"],
)
def test_what_makes_no_sense_is_refused(
    talking: memnb.Memory, options: dict[str, object], what: str
) -> None:
    with pytest.raises(InputError, match=what):
        talking.ask("What?", **options)  # type: ignore[arg-type]


def test_why_says_that_it_was_a_probe_in_this_kernel_and_in_a_later_one(
    talking: memnb.Memory, reopen: Opener
) -> None:
    kept = talking.remember(EUR)
    session = talking.ask("What?", without=[kept.fact_id]).answer.session_id
    why = talking.why()
    assert f"probe without {kept.fact_id}" in str(why)
    assert f"left out {kept.fact_id}: asked without it" in str(why)
    talking.close()
    later = reopen()
    later.resume(session or "")
    assert later.why().without == (kept.fact_id,)


def test_a_probe_is_told_from_its_reply(talking: memnb.Memory) -> None:
    kept = talking.remember(EUR)
    assert talking.ask("What?", without=[kept.fact_id]).to_dict()["without"] == [kept.fact_id]
    assert talking.ask("What?").to_dict()["without"] == []


def test_after_a_probe_nothing_of_it_is_learned(talking: memnb.Memory) -> None:
    talking.config("learning.model", "rules")
    talking.learn("auto")
    kept = talking.remember(EUR)
    turn = talking.ask(TABS, via="agent", without=[kept.fact_id]).answer.message_seq
    assert talking.learn_after(turn or 0, CancelSwitch(), compacted=True) == ()
    assert talking.populate().n_exchanges == 0
    assert [row.text for row in talking.facts().rows] == [EUR]
