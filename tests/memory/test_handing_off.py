from __future__ import annotations

import pytest

from memnb.errors import InputError
from memnb.memory import purging
from memnb.memory.compacting import Reply, Writer, compact_session
from memnb.memory.consequences import consequences, marks_now
from memnb.memory.gauge import gauge
from memnb.memory.handing_off import HandedOff, hand_off
from memnb.memory.purge_targets import Chosen
from memnb.memory.searching import Search, search
from memnb.memory.summaries import Summary
from memories import EUR, FENCE, Desk, said, saying, scripted

SUMMARY = "They load sales.csv and want a plot."


def talk(desk: Desk, n: int = 3) -> None:
    for number in range(n):
        desk.ask(f"question {number}", saying(f"answer {number}"))


def hand(desk: Desk, reply: Reply | None = None) -> HandedOff:
    writer = Writer("w", lambda _: reply or Reply(SUMMARY, "end"))
    return hand_off(desk.memory, fence=FENCE, window=None, writer=writer)


def current(desk: Desk) -> Summary | None:
    history = desk.memory.session.history()
    assert history is not None
    return desk.memory.summaries.current(history, desk.memory.histories.view(history))


def test_a_new_session_begins_with_the_summary_as_a_seed(desk: Desk) -> None:
    talk(desk)
    old = desk.session_id
    done = hand(desk)
    assert (done.ended, done.begun) == (old, desk.session_id)
    assert desk.types() == ["session_start", "handoff", "user"]
    (seed,) = desk.bodies("user")
    assert seed["parts"] == [{"expr": "summary", "text": SUMMARY, "type": "seed"}]
    assert (seed["asks"], seed["via"]) == (False, "command")
    assert desk.types(old)[-2:] == ["compact", "session_end"]
    assert desk.bodies("compact", old)[0]["evidence"][0]["ranges"] == [[2, 3], [5, 6], [8, 9]]


def test_the_next_request_carries_it_as_data(desk: Desk) -> None:
    talk(desk)
    hand(desk)
    model = saying("ok")
    desk.ask("go on", model)
    text = said(model.requests[0])
    assert text.startswith(f"user: <{FENCE} summary")
    assert SUMMARY in text
    assert "question 0" not in text


def test_a_summary_of_the_new_session_goes_on_from_the_seed(desk: Desk) -> None:
    talk(desk)
    hand(desk)
    talk(desk, 5)
    asked = []
    writer = Writer("w", lambda request: asked.append(request) or Reply("both", "end"))  # type: ignore[func-returns-value]
    compact_session(desk.memory, fence=FENCE, window=None, writer=writer)
    assert SUMMARY in asked[0].messages[0].text
    (body,) = desk.bodies("compact")
    assert body["prior"]["seq"] == 3
    assert body["evidence"][0]["ranges"][0][0] == 3
    found = current(desk)
    assert found is not None
    assert (found.text, found.holds_data) == ("both", True)


@pytest.mark.parametrize("with_summary", [False, True], ids=["seed", "summary upon it"])
@pytest.mark.parametrize(
    "fall", ["forget", "clear", "undo there", "change there", "session is gone"]
)
def test_it_falls_with_what_it_is_made_of(desk: Desk, fall: str, with_summary: bool) -> None:
    fact_id = desk.learn(EUR)
    talk(desk)
    old = desk.session_id
    hand(desk)
    if with_summary:
        talk(desk, 5)
        writer = Writer("w", lambda _: Reply("both", "end"))
        compact_session(desk.memory, fence=FENCE, window=None, writer=writer)
    assert current(desk) is not None
    path = desk.folder / "sessions" / f"{old}.jsonl"
    if fall == "forget":
        desk.forget(fact_id)
    elif fall == "clear":
        desk.memory.session.clear()
    elif fall == "undo there":
        new = desk.session_id
        desk.memory.session.resume(old)
        desk.memory.session.undo()
        desk.memory.session.resume(new)
    elif fall == "change there":
        path.write_bytes(path.read_bytes().replace(b"question 1", b"question 9"))
    else:
        path.unlink()
    assert current(desk) is None


def test_after_a_forget_what_came_of_the_seed_is_void(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    talk(desk)
    hand(desk)
    desk.ask("what do we report?", saying(f"as I know: {EUR}"))
    desk.forget(fact_id)
    model = saying("ok")
    desk.ask("and now?", model)
    assert EUR not in said(model.requests[0])
    assert SUMMARY not in said(model.requests[0])


def test_the_receipt_of_a_forget_names_the_summaries_and_the_seed(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    talk(desk)
    old = desk.session_id
    hand(desk)
    generation = desk.forget(fact_id).generation
    marks = marks_now(desk.memory)
    found = consequences(desk.memory, marks.without(generation), marks)
    (compact,) = [r.head.seq for r in desk.records(old) if r.head.type == "compact"]
    assert found.summaries == (f"{old}:{compact}", f"{desk.session_id}:3")


def test_the_words_of_a_seed_cannot_be_saved_as_the_persons(desk: Desk) -> None:
    talk(desk)
    hand(desk, Reply(EUR, "end"))
    answer = desk.ask("save it", scripted(("memory_remember", {"text": EUR}), "ok"), mode="auto")
    assert answer.remembered == ()


def test_rules_write_it_where_the_reply_is_no_summary(desk: Desk) -> None:
    desk.ask("Never drop the column customer_id.", saying("ok"))
    done = hand(desk, Reply("", "end"))
    assert done.compaction.refusal == "empty"
    (seed,) = desk.bodies("user")
    (part,) = seed["parts"]
    assert part["expr"] == "essentials"
    assert "customer_id" in part["text"]


def test_a_seed_can_be_handed_on_once_something_was_said(desk: Desk) -> None:
    talk(desk)
    hand(desk)
    with pytest.raises(InputError):
        hand(desk)
    talk(desk)
    hand(desk)
    assert current(desk) is not None


def test_there_is_nothing_to_hand_over_before_something_was_said(desk: Desk) -> None:
    with pytest.raises(InputError) as caught:
        hand(desk)
    assert "\n" not in str(caught.value)


def test_the_gauge_counts_what_a_request_would_carry(desk: Desk) -> None:
    assert gauge(desk.memory, 8192, fence=FENCE).n_tokens == 0
    talk(desk, 6)
    before = gauge(desk.memory, 8192, fence=FENCE)
    assert (before.n_compactions, before.is_more) == (0, False)
    writer = Writer("w", lambda _: Reply("s", "end"))
    compact_session(desk.memory, fence=FENCE, window=None, writer=writer)
    after = gauge(desk.memory, 8192, fence=FENCE)
    assert 0 < after.n_tokens < before.n_tokens
    assert after.n_compactions == 1
    assert gauge(desk.memory, 10, fence=FENCE).is_more


def test_what_was_said_with_a_seed_in_sight_falls_with_the_purge_of_what_the_seed_tells(
    desk: Desk,
) -> None:
    desk.ask("The codename is Bluefin.", saying("Bluefin it is."))
    old = desk.session_id
    hand(desk, Reply("They named it Bluefin.", "end"))
    desk.ask("go on", saying("Bluefin goes on."))
    token = purging.preview(desk.memory, Chosen(old, 2, 3)).token
    assert token is not None
    purging.purge(desk.memory, token)
    model = saying("ok")
    desk.ask("and then?", model)
    assert "Bluefin" not in said(model.requests[0])
    assert search(desk.memory, Search("Bluefin")).hits == ()
