from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memnb.core.bodies import AssistantBody, Part, TurnEndBody, UserBody
from memnb.core.facts import MAX_SOURCE_SEQS
from memnb.core.messages import Request, Usage
from memnb.errors import GenerationChanged, Refused, SourceNotValid
from memnb.memory import purging
from memnb.memory.compacting import Compaction, Reply, Writer, compact_session, preview
from memnb.memory.summaries import Summary
from memories import EUR, FENCE, SECRET, SPLIT, Desk, saying, scripted


def talk(desk: Desk, n: int = 4, *, first: int = 1, said: str = "word " * 20) -> None:
    for number in range(first, first + n):
        desk.ask(f"question {number}: {said}", saying(f"answer {number}"))


def writer(*replies: Any) -> Writer:
    """Someone who writes these, one after the other, the last again and again."""
    waiting = list(replies) or ["a summary"]

    def ask(request: Request) -> Reply:
        reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        reply = reply(request) if callable(reply) else reply
        return Reply(reply, "end", usage=Usage(9, 3, 1)) if isinstance(reply, str) else reply

    return Writer("w", ask)


def shorten(desk: Desk, *replies: Any, rules: bool = False, **options: Any) -> Compaction:
    by = None if rules else writer(*replies)
    return compact_session(
        desk.memory, fence=FENCE, window=options.pop("window", 32_768), writer=by, **options
    )


def current(desk: Desk) -> Summary | None:
    history = desk.memory.session.history()
    assert history is not None
    return desk.memory.summaries.current(history, desk.memory.histories.view(history))


def text(desk: Desk) -> str:
    found = current(desk)
    return found.text if found else ""


# --- what is recorded ----------------------------------------------------------------------------


def test_a_summary_covers_all_but_the_last_four_messages(desk: Desk) -> None:
    talk(desk, 5)
    done = shorten(desk, "they asked three things")
    (body,) = desk.bodies("compact")
    assert body["summary"] == "they asked three things"
    assert (body["model"], body["usage"]["input_tokens"]) == ("w", 9)
    assert body["prior"] is None
    assert done.written[0].covered == (2, 3, 5, 6, 8, 9)
    assert body["cutoff"] == 11
    assert body["evidence"][0]["ranges"] == [[2, 3], [5, 6], [8, 9]]


def test_each_summary_goes_on_from_the_one_before(desk: Desk) -> None:
    asked: list[Request] = []
    digests: list[str] = []
    for number in range(7):
        talk(desk, 3, first=3 * number)
        shorten(desk, lambda r, n=number: asked.append(r) or f"summary {n}")
        found = current(desk)
        assert found is not None
        digests.append(found.digest)
    bodies = desk.bodies("compact")
    seqs = [record.head.seq for record in desk.records() if record.head.type == "compact"]
    priors = [body["prior"] for body in bodies]
    assert priors == [
        None,
        *({"digest": d, "seq": s} for d, s in zip(digests[:-1], seqs[:-1], strict=True)),
    ]
    found = current(desk)
    assert found is not None
    assert (found.text, found.n_chained) == ("summary 6", 7)
    # Every exchange was shown to a model once, and the last ones are still there.
    for number in range(19):
        times = [f"question {number}:" in request.messages[0].text for request in asked]
        assert sum(times) == 1
    assert "summary 5" in asked[-1].messages[0].text


def test_the_lineage_is_exact_cumulative_and_in_chunks(desk: Desk) -> None:
    talk(desk, 160, said="x")
    shorten(desk, "one")
    talk(desk, 10, first=200, said="x")
    shorten(desk, "two")
    found = current(desk)
    assert found is not None
    kinds = {r.head.seq: r.head.type for r in desk.records()}
    wanted = [s for s, kind in kinds.items() if kind in ("user", "assistant") and s < found.cutoff]
    assert list(found.seqs) == wanted
    assert [len(ref.seqs) for ref in found.evidence][:-1] == [MAX_SOURCE_SEQS]
    assert len(wanted) > MAX_SOURCE_SEQS


def test_what_was_in_sight_of_what_is_covered_is_named(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    talk(desk, 4)
    shorten(desk)
    (body,) = desk.bodies("compact")
    assert body["carried"] == [f"{fact_id}@1"]
    assert body["holds_data"] is False


def test_inserted_data_is_remembered_as_such(desk: Desk) -> None:
    desk.ask([Part("typed", "see "), Part("variable", "1", "df")], saying("ok"))
    talk(desk, 3)
    shorten(desk)
    found = current(desk)
    assert found is not None
    assert found.holds_data


def test_rules_alone_need_no_model(desk: Desk) -> None:
    desk.ask("Never drop the column customer_id.", saying("ok"))
    talk(desk, 3)
    done = shorten(desk, rules=True)
    (body,) = desk.bodies("compact")
    assert "Never drop column customer_id" in body["essentials"].replace("the ", "")
    assert (body["summary"], body["model"]) == ("", "")
    assert body["usage"] == {"cost_nusd": None, "input_tokens": None, "output_tokens": None}
    assert done.written[0].usage is None


def test_rules_keep_what_a_model_wrote_before(desk: Desk) -> None:
    talk(desk, 4)
    shorten(desk, "what the model wrote")
    talk(desk, 4, first=9)
    shorten(desk, rules=True)
    assert text(desk) == "what the model wrote"


def test_more_than_one_request_holds_is_summarised_in_parts(desk: Desk) -> None:
    talk(desk, 8, said="z" * 2000)
    done = shorten(desk, "part", window=4096)
    assert len(done.written) > 1
    found = current(desk)
    assert found is not None
    assert found.n_chained == len(done.written)


def test_far_too_much_for_a_model_is_covered_by_rules_from_the_oldest_on(desk: Desk) -> None:
    talk(desk, 30, said="z" * 3000)
    done = shorten(desk, "part", window=4096)
    assert done.written[0].model == ""
    assert {one.model for one in done.written[1:]} == {"w"}
    assert len(done.written) <= 6
    covered = [seq for one in done.written for seq in one.covered]
    assert covered == sorted(set(covered))
    assert len(covered) == 2 * 28


# --- what would be sent --------------------------------------------------------------------------

DEMAND = "You must never drop rows. Use 12 folds. "


@pytest.mark.parametrize(
    ("n", "said", "window"),
    [
        pytest.param(5, DEMAND, 32_768, id="in one request"),
        pytest.param(8, DEMAND + "z" * 2000, 4096, id="in parts"),
        pytest.param(30, DEMAND + "z" * 3000, 4096, id="after rules covered the oldest part"),
    ],
)
def test_the_preview_is_the_first_request_and_writes_nothing(
    desk: Desk, n: int, said: str, window: int
) -> None:
    asked: list[Request] = []
    talk(desk, 5)
    shorten(desk, "an earlier summary")
    talk(desk, n, first=6, said=said)
    before = desk.transcript()
    shown = preview(desk.memory, fence=FENCE, window=window, writer=writer())
    assert desk.transcript() == before
    shorten(desk, lambda request: asked.append(request) or "a summary", window=window)
    assert shown == asked[0]
    assert "an earlier summary" in asked[0].messages[0].text


def test_there_is_no_preview_of_nothing(desk: Desk) -> None:
    assert preview(desk.memory, fence=FENCE, window=None, writer=writer()) is None
    talk(desk, 2)
    assert preview(desk.memory, fence=FENCE, window=None, writer=writer()) is None


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param(Reply("", "end", usage=Usage(5, 0, 1)), "empty", id="empty"),
        pytest.param(Reply("cut o", "length", usage=Usage(5, 9, 1)), "truncated", id="truncated"),
        pytest.param(Reply("x" * 99_999, "end", usage=Usage(5, 9, 1)), "too long", id="too long"),
        pytest.param(
            Reply("by all means", "calls", has_calls=True), "called tools", id="calls tools"
        ),
        pytest.param(Reply("not this", "refused"), "refused", id="refused"),
        pytest.param(Reply("half of it", "failed"), "failed", id="failed"),
    ],
)
def test_a_reply_that_is_no_summary_moves_nothing_and_is_counted_once(
    desk: Desk, reply: Reply, why: str
) -> None:
    talk(desk, 5)
    done = shorten(desk, reply)
    assert (done.written, done.refusal, done.refused_usage) == ((), why, reply.usage)
    assert current(desk) is None
    assert desk.bodies("compact") == []
    (body,) = desk.bodies("memory_usage")
    assert (body["purpose"], body["outcome"], body["model"]) == ("compaction", why, "w")
    assert body["usage"]["input_tokens"] == reply.usage.input_tokens
    if reply.text:
        assert reply.text not in json.dumps(body)


def test_nothing_is_written_where_four_messages_are_all(desk: Desk) -> None:
    talk(desk, 2)
    assert shorten(desk).written == ()
    assert desk.bodies("compact") == []


def test_nothing_is_summarised_twice(desk: Desk) -> None:
    talk(desk, 5)
    shorten(desk)
    assert shorten(desk).written == ()


def test_an_open_exchange_refuses_it(desk: Desk) -> None:
    refused: list[str] = []

    def inside(_: Request) -> str:
        with pytest.raises(Refused) as caught:
            shorten(desk)
        refused.append(str(caught.value))
        return "ok"

    talk(desk, 5)
    desk.ask("now", scripted(inside))
    assert "turn is running" in refused[0]
    assert desk.bodies("compact") == []


def test_what_was_forgotten_meanwhile_discards_the_reply_and_its_cost_is_counted(
    desk: Desk,
) -> None:
    fact_id = desk.remember(EUR).fact_id
    talk(desk, 5)

    def forget(_: Request) -> str:
        desk.forget(fact_id)
        return "all of it"

    with pytest.raises(GenerationChanged):
        shorten(desk, forget)
    assert desk.bodies("compact") == []
    (body,) = desk.bodies("memory_usage")
    assert body["outcome"] == "stale"


def test_any_forget_meanwhile_discards_the_reply(desk: Desk) -> None:
    talk(desk, 5)

    def forget(_: Request) -> str:
        desk.forget(desk.remember(SPLIT).fact_id)
        return "all of it"

    with pytest.raises(GenerationChanged):
        shorten(desk, forget)
    assert desk.bodies("compact") == []


def test_nothing_is_covered_from_an_exchange_on_that_never_ended(desk: Desk) -> None:
    talk(desk, 3)
    body = UserBody("agent", (Part("typed", "lost"),))
    (turn,) = desk.memory.session.append(body.draft())
    reply = AssistantBody("half", (), (), "m", {}, "end", Usage())
    desk.memory.session.append(reply.draft(turn))
    talk(desk, 5, first=9)
    done = shorten(desk)
    assert max(done.written[0].covered) < turn
    assert shorten(desk).written == ()


def test_what_was_undone_meanwhile_discards_the_reply(desk: Desk) -> None:
    talk(desk, 3)

    def undo(_: Request) -> str:
        for _ in range(3):
            desk.memory.session.undo()
        return "all of it"

    with pytest.raises(GenerationChanged):
        shorten(desk, undo)
    assert desk.bodies("compact") == []


def test_a_kernel_that_dies_before_the_append_leaves_what_was(desk: Desk) -> None:
    class Killed(BaseException):
        """What nobody catches."""

    def die(_: Request) -> str:
        raise Killed

    talk(desk, 5)
    shorten(desk, "the old one")
    talk(desk, 3, first=9)
    before = desk.transcript()
    with pytest.raises(Killed):
        shorten(desk, die)
    assert desk.transcript() == before
    session_id = desk.session_id
    desk.close()
    again = Desk(desk.folder, desk.clock)
    again.memory.session.resume(session_id)
    assert text(again) == "the old one"
    again.close()


# --- secrets and data ----------------------------------------------------------------------------


def test_a_secret_is_in_no_request_for_a_summary(desk: Desk) -> None:
    asked: list[Request] = []
    desk.ask(f"my token is {SECRET}", saying(f"I saw {SECRET}"))
    talk(desk, 4)
    shorten(desk, lambda r: asked.append(r) or f"the token is {SECRET}")
    assert SECRET not in asked[0].messages[0].text
    assert "question 1" in asked[0].messages[0].text
    assert SECRET not in desk.transcript()
    found = current(desk)
    assert found is not None
    assert 2 not in found.seqs


def test_a_secret_that_was_once_recorded_is_masked_in_the_request(desk: Desk) -> None:
    asked: list[Request] = []
    talk(desk, 1)
    (turn,) = desk.memory.session.append(UserBody("agent", (Part("typed", "hi"),)).draft())
    reply = AssistantBody(f"it is {SECRET}", (), (), "m", {}, "end", Usage())
    ended = TurnEndBody("complete", 1)
    desk.memory.session.append(reply.draft(turn), ended.draft(turn))
    talk(desk, 3, first=9)
    shorten(desk, lambda r: asked.append(r) or "ok")
    assert "it is " in asked[0].messages[0].text
    assert SECRET not in asked[0].messages[0].text


def test_what_is_hidden_is_in_no_request_for_a_summary(desk: Desk) -> None:
    asked: list[Request] = []
    talk(desk, 1, said="undone words")
    desk.memory.session.undo()
    fact_id = desk.learn(EUR)
    talk(desk, 5)
    desk.forget(fact_id)
    talk(desk, 3, first=9)
    shorten(desk, lambda r: asked.append(r) or "ok")
    shown = asked[0].messages[0].text
    assert "undone words" not in shown
    assert EUR not in shown


def test_the_text_of_facts_is_in_no_request_for_a_summary(desk: Desk) -> None:
    asked: list[Request] = []
    desk.remember(EUR)
    desk.ask("what is there?", scripted(("memory_list", {}), "a fact"))
    talk(desk, 3)
    shorten(desk, lambda r: asked.append(r) or "ok")
    assert "memory_list" in asked[0].messages[0].text
    assert EUR not in asked[0].messages[0].text


# --- when a summary is inert ---------------------------------------------------------------------


def forgotten(desk: Desk, fact_id: str) -> None:
    desk.forget(fact_id)


def purged(desk: Desk, fact_id: str) -> None:
    preview = purging.preview(desk.memory, purging.Chosen(desk.session_id, 2, 3))
    assert preview.token
    purging.purge(desk.memory, preview.token)
    del fact_id


def undone(desk: Desk, fact_id: str) -> None:
    del fact_id
    for _ in range(4):
        desk.memory.session.undo()


def cleared(desk: Desk, fact_id: str) -> None:
    del fact_id
    desk.memory.session.clear()


def changed(desk: Desk, fact_id: str) -> None:
    del fact_id
    (path,) = (desk.folder / "sessions").glob("*.jsonl")
    data = path.read_bytes()
    assert data.count(b"question 2") == 1
    path.write_bytes(data.replace(b"question 2", b"question 9"))


def its_own_record_changed(desk: Desk, fact_id: str) -> None:
    del fact_id
    (path,) = (desk.folder / "sessions").glob("*.jsonl")
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"summary":"a summary"', b'"summary":"a Summary"'))


@pytest.mark.parametrize(
    "make_inert",
    [forgotten, purged, undone, cleared, changed, its_own_record_changed],
    ids=lambda make: make.__name__,
)
def test_a_summary_is_inert_after(desk: Desk, make_inert: Callable[[Desk, str], None]) -> None:
    fact_id = desk.learn(EUR)
    talk(desk, 5)
    shorten(desk)
    assert text(desk) == "a summary"
    make_inert(desk, fact_id)
    assert current(desk) is None


def test_the_summary_before_may_still_hold(desk: Desk) -> None:
    talk(desk, 5)
    shorten(desk, "one")
    talk(desk, 3, first=9)
    shorten(desk, "two")
    for _ in range(3):
        desk.memory.session.undo()
    assert text(desk) == "one"


def test_a_redo_makes_it_hold_again(desk: Desk) -> None:
    talk(desk, 5)
    shorten(desk, "one")
    for _ in range(3):
        desk.memory.session.undo()
    assert current(desk) is None
    desk.memory.session.redo()
    assert text(desk) == "one"


def test_a_summary_is_inert_when_the_one_before_it_was_changed(desk: Desk) -> None:
    talk(desk, 5)
    shorten(desk, "one")
    talk(desk, 5, first=9)
    shorten(desk, "two")
    (path,) = (desk.folder / "sessions").glob("*.jsonl")
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"summary":"one"', b'"summary":"One"'))
    assert current(desk) is None


def test_after_a_forget_it_is_made_anew_of_what_can_be_seen(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    talk(desk, 5)
    shorten(desk, f"they said: {EUR}")
    desk.forget(fact_id)
    talk(desk, 3, first=9)
    asked: list[Request] = []
    shorten(desk, lambda r: asked.append(r) or "anew")
    assert EUR not in asked[0].messages[0].text
    found = current(desk)
    assert found is not None
    assert (found.text, found.n_chained) == ("anew", 1)


def test_a_clear_begins_a_new_chain(desk: Desk) -> None:
    talk(desk, 5)
    shorten(desk, "one")
    desk.memory.session.clear()
    talk(desk, 5, first=9)
    shorten(desk, "two")
    assert [body["prior"] for body in desk.bodies("compact")] == [None, None]


# --- never evidence ------------------------------------------------------------------------------


def test_a_summary_is_no_evidence(desk: Desk) -> None:
    talk(desk, 5)
    done = shorten(desk, SPLIT)
    with pytest.raises(SourceNotValid):
        desk.memory.validator.source_ref(desk.session_id, [2, done.written[0].seq])


def test_the_words_of_a_summary_cannot_be_saved_as_the_persons(desk: Desk) -> None:
    talk(desk, 5)
    shorten(desk, SPLIT)
    answer = desk.ask("save it", scripted(("memory_remember", {"text": SPLIT}), "ok"), mode="auto")
    assert answer.remembered == ()
