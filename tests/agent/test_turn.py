from __future__ import annotations

import threading

import pytest

from memnb.agent.reply import ToolDone, ToolStarted
from memnb.agent.tools import Change
from memnb.core.bodies import Cell, Part
from memnb.core.messages import Call, Notice, Request, Stop, Text, Usage
from memnb.errors import (
    BadModelOutput,
    ContextTooLong,
    GenerationChanged,
    InvalidText,
    ModelTimeout,
    ModelUnavailable,
)
from memnb.llm.scripted_model import After, ScriptedReply
from memnb.memory import forgetting, noting
from memories import (
    EUR,
    SECRET,
    SPLIT,
    BareModel,
    Desk,
    everything,
    said,
    saying,
    scripted,
    tool_results,
)


def square(number: int) -> int:
    """Square a number."""
    return number * number


# --- what is recorded ----------------------------------------------------------------------------


def test_a_plain_turn_is_a_message_a_reply_and_an_end(desk: Desk) -> None:
    answer = desk.ask("hello", scripted(ScriptedReply("hi there", usage=Usage(12, 3, 4500))))
    assert desk.types() == ["session_start", "user", "assistant", "turn_end"]
    (user,), (reply,), (end,) = map(desk.bodies, ("user", "assistant", "turn_end"))
    assert user["parts"] == [{"text": "hello", "type": "typed"}]
    assert (user["asks"], user["via"]) == (True, "agent")
    assert (reply["text"], reply["stop"], reply["calls"]) == ("hi there", "end", [])
    assert reply["usage"] == {"cost_nusd": 4500, "input_tokens": 12, "output_tokens": 3}
    assert (end["end"], end["n_requests"], end["remembered"]) == ("complete", 1, [])
    assert {record.head.turn for record in desk.records()[1:]} == {2}
    assert (answer.text, answer.end, answer.message_seq, answer.turn) == (
        "hi there",
        "complete",
        2,
        1,
    )


def test_a_plain_turn_is_written_in_two_appends(desk: Desk) -> None:
    sizes: list[int] = []

    def answer(_: Request) -> str:
        sizes.append(len(desk.records()))
        return "hi"

    desk.ask("hello", scripted(answer, answer))
    assert sizes == [2]
    assert len(desk.records()) == 4


def test_a_turn_with_a_tool_records_calls_and_results_in_order(desk: Desk) -> None:
    model = scripted(("square", {"number": 7}), ("square", {"number": 8}), "49 and 64")
    answer = desk.ask("squares?", model, tools=[square], mode="auto")
    assert desk.types()[1:] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "turn_end",
    ]
    assert [body["output"] for body in desk.bodies("tool")] == ["49", "64"]
    assert [body["stop"] for body in desk.bodies("assistant")] == ["calls", "calls", "end"]
    assert (answer.n_tools, answer.text) == (2, "49 and 64")
    assert tool_results(model.requests[2]) == ["49", "64"]


def test_several_calls_of_one_reply_are_all_answered(desk: Desk) -> None:
    reply = ScriptedReply("wait", calls=(("square", {"number": 2}), ("square", {"number": 3})))
    model = scripted(reply, "4 and 9")
    answer = desk.ask("squares?", model, tools=[square], mode="auto")
    assert tool_results(model.requests[1]) == ["4", "9"]
    assert answer.text == "wait\n\n4 and 9"


def test_a_tool_with_effects_has_its_call_on_the_disk_before_it_runs(desk: Desk) -> None:
    seen: list[list[str]] = []

    def look() -> str:
        """Look at the session."""
        seen.append(desk.types())
        return "ok"

    desk.ask("look", scripted(("look", {}), "done"), tools=[look], mode="auto")
    assert seen == [["session_start", "user", "assistant"]]


def test_a_message_keeps_its_parts_and_its_cell(desk: Desk) -> None:
    parts = [Part("typed", "see "), Part("variable", "1 2", "df"), Part("typed", "!")]
    desk.ask(parts, saying("ok"), cell=Cell("nb/eda.ipynb", "4f0c", 7))
    (body,) = desk.bodies("user")
    assert body["parts"] == [
        {"text": "see ", "type": "typed"},
        {"expr": "df", "text": "1 2", "type": "variable"},
        {"text": "!", "type": "typed"},
    ]
    assert body["cell"] == {"count": 7, "id": "4f0c", "notebook": "nb/eda.ipynb"}


def test_a_reply_lists_the_facts_that_its_request_carried(desk: Desk) -> None:
    first = desk.remember(EUR).fact_id
    model = scripted(("memory_remember", {"text": SPLIT}), f"as {first} says")
    answer = desk.ask(SPLIT, model, mode="auto")
    second = answer.remembered[0]
    assert [body["carried"] for body in desk.bodies("assistant")] == [
        [f"{first}@1"],
        [f"{first}@1", second],
    ]
    assert answer.carried == (f"{first}@1", second)
    assert answer.cited == (f"{first}@1",)
    (end,) = desk.bodies("turn_end")
    assert (end["cited"], end["remembered"]) == ([f"{first}@1"], [second])


def test_only_facts_that_were_carried_are_cited(desk: Desk) -> None:
    desk.remember(EUR)
    assert desk.ask("hello", saying("as F-zzzzzz and *@1 say")).cited == ()


def test_the_text_of_a_fact_is_in_no_record_but_the_persons(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    calls = (
        ("memory_list", {}),
        ("memory_recall", {"fact_id": fact_id}),
        ("memory_recall", {"session_id": desk.session_id, "start": 1, "end": 3}),
        ("memory_search", {"query": "revenue"}),
    )
    model = scripted(*calls, "done")
    desk.ask("look everything up", model)
    assert sum(EUR in text for text in tool_results(model.requests[4])) == 4
    assert [EUR in str(body) for body in desk.bodies("tool")] == [False] * 4
    assert desk.transcript().count(EUR) == 1


def test_the_text_of_a_note_is_in_no_record(desk: Desk) -> None:
    noting.append(desk.stores, noting.find(desk.stores, "plan"), EUR)
    model = scripted(("memory_read", {"name": "plan"}), "done")
    desk.ask("read it", model)
    assert EUR in tool_results(model.requests[1])[0]
    assert EUR not in desk.transcript()


# --- what a request holds ------------------------------------------------------------------------


def test_memory_is_read_anew_before_every_request(desk: Desk) -> None:
    model = scripted(("memory_remember", {"text": EUR}), "noted")
    desk.ask(EUR, model, mode="auto")
    assert [EUR in request.memory for request in model.requests] == [False, True]


def test_guidance_is_the_same_bytes_whatever_memory_holds(desk: Desk) -> None:
    models = [saying("1"), saying("2")]
    desk.ask("hello", models[0])
    desk.remember(EUR)
    desk.ask("hello", models[1])
    assert models[0].requests[0].guidance == models[1].requests[0].guidance
    assert EUR not in models[1].requests[0].guidance


def test_a_system_text_takes_the_place_of_the_guidance(desk: Desk) -> None:
    model = saying("arr")
    desk.ask("hello", model, system="Speak like a pirate.")
    assert model.requests[0].guidance == "Speak like a pirate."


def test_the_spans_of_the_last_message_are_offered_for_quoting(desk: Desk) -> None:
    model = saying("ok")
    desk.ask([Part("typed", f"{EUR} See "), Part("variable", "Obey me.", "df")], model)
    assert model.requests[0].sentences == (EUR, "See")


def test_readonly_offers_no_tool_that_writes(desk: Desk) -> None:
    model = saying("ok")
    desk.ask("hello", model, mode="readonly", tools=[square])
    names = {tool.name for tool in model.requests[0].tools}
    assert names == {"memory_recall", "memory_list", "memory_search", "memory_read"}


# --- endings -------------------------------------------------------------------------------------


def test_an_interrupt_while_a_tool_runs_ends_the_turn_whole(desk: Desk) -> None:
    def stop() -> str:
        """Stop."""
        raise KeyboardInterrupt

    reply = ScriptedReply("starting", calls=(("stop", {}), ("square", {"number": 2})))
    answer = desk.ask("go", scripted(reply), tools=[stop, square], mode="auto")
    assert (answer.end, answer.text, answer.n_tools) == ("interrupted", "starting", 0)
    assert desk.types()[1:] == ["user", "assistant", "tool", "tool", "turn_end"]
    assert [(body["call_id"], body["ok"]) for body in desk.bodies("tool")] == [
        ("c1", False),
        ("c2", False),
    ]
    assert all(body["output"].startswith("not run") for body in desk.bodies("tool"))
    assert desk.bodies("turn_end")[0]["end"] == "interrupted"


def test_an_interrupt_while_the_model_answers_keeps_what_came(desk: Desk) -> None:
    call = Call("a", "square", '{"number": 2}')
    model = BareModel(Text("one "), Text("two"), call, KeyboardInterrupt())
    answer = desk.ask("count", model, tools=[square], mode="auto")
    assert (answer.end, answer.text) == ("interrupted", "one two")
    (reply,) = desk.bodies("assistant")
    assert (reply["text"], reply["stop"]) == ("one two", "interrupted")
    assert [body["output"] for body in desk.bodies("tool")] == ["not run: the turn ended before"]


def test_an_interrupt_while_a_person_is_asked_ends_the_turn_whole(desk: Desk) -> None:
    desk.answer = KeyboardInterrupt()
    answer = desk.ask(EUR, scripted(("memory_remember", {"text": EUR})))
    assert answer.end == "interrupted"
    assert desk.stores.facts.count() == 0
    assert desk.types()[-2:] == ["tool", "turn_end"]


def test_a_model_that_fails_midway_leaves_its_beginning_and_a_failed_turn(desk: Desk) -> None:
    model = scripted(After("one two", ModelTimeout("no answer in 120 s; run the cell again.")))
    with pytest.raises(ModelTimeout):
        desk.ask("count", model)
    (reply,), (end,) = desk.bodies("assistant"), desk.bodies("turn_end")
    assert (reply["text"], reply["stop"], end["end"]) == ("one two", "failed", "failed")


def test_a_model_with_a_fault_of_its_own_leaves_a_failed_reply_and_a_failed_turn(
    desk: Desk,
) -> None:
    with pytest.raises(ZeroDivisionError):
        desk.ask("count", scripted(After("one two", ZeroDivisionError())))
    (reply,), (end,) = desk.bodies("assistant"), desk.bodies("turn_end")
    assert (reply["text"], reply["stop"], end["end"]) == ("one two", "failed", "failed")


def test_after_a_failed_turn_the_next_one_goes_on(desk: Desk) -> None:
    with pytest.raises(ModelUnavailable):
        desk.ask("count", scripted(After("one", ModelUnavailable("gone; try again."))))
    model = saying("two")
    answer = desk.ask("go on", model)
    assert answer.turn == 2
    assert [message.text for message in model.requests[0].messages] == ["count", "one", "go on"]


@pytest.mark.parametrize(
    "events",
    [
        pytest.param((Stop("end"),), id="nothing"),
        pytest.param((Text("  \n"), Stop("end")), id="blanks"),
        pytest.param((), id="no end"),
        pytest.param((Notice("loading"), Usage(1, 0, 0), Stop("length")), id="a notice"),
    ],
)
def test_an_empty_reply_is_told_and_recorded_as_failed(
    desk: Desk, events: tuple[Text | Stop, ...]
) -> None:
    with pytest.raises(BadModelOutput, match="empty reply"):
        desk.ask("hello", BareModel(*events))
    assert desk.bodies("assistant")[0]["stop"] == "failed"
    assert desk.bodies("turn_end")[0]["end"] == "failed"


@pytest.mark.parametrize("stop", ["end", "length", "refused"])
def test_how_a_reply_ended_is_recorded(desk: Desk, stop: str) -> None:
    desk.ask("hello", scripted(ScriptedReply("text", stop=stop)))  # type: ignore[arg-type]
    assert desk.bodies("assistant")[0]["stop"] == stop


@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_a_turn_makes_no_more_requests_than_allowed(desk: Desk, n_steps: int) -> None:
    model = scripted(("square", {"number": 7}), repeat_last=True)
    answer = desk.ask("go", model, tools=[square], mode="auto", max_steps=n_steps)
    assert len(model.requests) == n_steps
    assert answer.end == "steps"
    assert desk.bodies("turn_end")[0]["end"] == "steps"
    assert len(desk.bodies("tool")) == n_steps


def test_no_thread_is_left_after_any_ending(desk: Desk) -> None:
    before = set(threading.enumerate())
    desk.ask("hello", saying("hi"))
    desk.ask("hello", BareModel(Text("x"), KeyboardInterrupt()))
    with pytest.raises(ModelUnavailable):
        desk.ask("hello", scripted(After("x", ModelUnavailable("gone; try again."))))
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before


# --- nothing in a message makes an append fail ---------------------------------------------------


@pytest.mark.parametrize(
    "events",
    [
        pytest.param((Text("half \ud83d of a pair"), Stop("end")), id="surrogate in text"),
        pytest.param((Call("\ud800", "square", "{}"), Stop("calls")), id="surrogate in call id"),
        pytest.param((Call("a", "sq\ud800", "{}"), Stop("calls")), id="surrogate in name"),
        pytest.param((Call("a", "square", '{"x":"\ud800'), Stop("calls")), id="in arguments"),
        pytest.param((Text("NUL \0 \x1b[31m"), Stop("end")), id="controls"),
        pytest.param((Text("x" * 3_000_000), Stop("end")), id="3 MB"),
        pytest.param((Text("\x01" * 1_000_000), Stop("end")), id="1 MB of controls"),
        pytest.param((Call("a", "square", "\x01" * 1_000_000), Stop("calls")), id="arguments"),
        pytest.param((Call("a", "s" * 3_000_000, "{}"), Stop("calls")), id="a long name"),
        pytest.param((Call("a" * 3_000_000, "square", "{}"), Stop("calls")), id="a long id"),
        pytest.param(
            (*(Call(f"c{n}", "nothing", "{}") for n in range(1000)), Stop("calls")),
            id="1,000 calls",
        ),
        pytest.param((Text("x"), Usage(2**60, 1, 2**70), Stop("end")), id="huge usage"),
    ],
)
def test_whatever_a_model_sends_the_turn_is_recorded_to_its_end(
    desk: Desk, events: tuple[Text | Stop, ...]
) -> None:
    desk.ask("hello", BareModel(*events), tools=[square], mode="auto", max_steps=1)
    assert desk.types()[1] == "user"
    assert desk.types()[-1] == "turn_end"
    desk.ask("and again", saying("ok"))


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("half \ud83d", id="surrogate"),
        pytest.param("\x01" * 1_000_000, id="1 MB of controls"),
        pytest.param("é" * 3_000_000, id="6 MB"),
    ],
)
@pytest.mark.parametrize("recorded_bytes", [4096, 262_144])
def test_whatever_a_tool_returns_the_turn_is_recorded_to_its_end(
    desk: Desk, output: str, recorded_bytes: int
) -> None:
    def give() -> str:
        """Give it."""
        return output

    model = scripted(("give", {}), "done")
    desk.ask("go", model, tools=[give], mode="auto", recorded_bytes=recorded_bytes)
    assert desk.bodies("turn_end")[0]["end"] == "complete"
    assert len(desk.bodies("tool")[0]["output"].encode()) <= recorded_bytes


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([Part("typed", "half \ud83d of a pair")], id="surrogate"),
        pytest.param([Part("typed", "x"), Part("variable", "1", "d\ud800")], id="expression"),
        pytest.param([Part("typed", "NUL \0")], id="NUL"),
    ],
)
def test_whatever_a_person_types_can_be_recorded(desk: Desk, parts: list[Part]) -> None:
    desk.ask(parts, saying("ok"))
    assert desk.types()[1:] == ["user", "assistant", "turn_end"]


# --- what a person may not ask -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n\t", id="blank"),
        pytest.param("x" * 5_000_000, id="5 MB"),
        pytest.param("\x01" * 900_000, id="too long once escaped"),
    ],
)
def test_a_message_that_cannot_be_kept_is_refused_in_a_line_and_leaves_nothing(
    desk: Desk, text: str
) -> None:
    model = saying("ok")
    with pytest.raises(InvalidText) as caught:
        desk.ask(text, model)
    assert "\n" not in str(caught.value)
    assert not model.requests
    assert not desk.stores.sessions.ids()
    assert desk.memory.session.session_id is None


# --- secrets -------------------------------------------------------------------------------------


def test_a_secret_is_sent_once_and_nowhere_kept(desk: Desk) -> None:
    first = saying("I see it.")
    answer = desk.ask(f"use {SECRET} for the call", first)
    assert SECRET in said(first.requests[0])
    (notice,) = answer.notices
    assert "github" in notice
    assert SECRET not in notice
    assert SECRET not in desk.transcript()
    assert desk.bodies("user")[0]["sensitive"] is True
    second = saying("ok")
    desk.ask("and now?", second)
    assert SECRET not in everything(second.requests[0])


def test_a_message_with_a_secret_is_no_evidence(desk: Desk) -> None:
    model = scripted(("memory_remember", {"text": EUR}), "ok")
    answer = desk.ask(f"{EUR} The token is {SECRET}.", model, mode="auto")
    assert not answer.remembered
    assert desk.stores.facts.count() == 0


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(Part("variable", f"token {SECRET}", "df"), id="a value"),
        pytest.param(Part("variable", "<Client>", f"connect('{SECRET}')"), id="an expression"),
        pytest.param(Part("traceback", f"KeyError: {SECRET}"), id="a traceback"),
    ],
)
def test_a_secret_in_inserted_data_is_nowhere_kept(desk: Desk, part: Part) -> None:
    desk.ask([Part("typed", "look at this "), part], saying("ok"))
    assert SECRET not in desk.transcript()
    assert desk.bodies("user")[0]["sensitive"] is True
    model = saying("ok")
    desk.ask("and now?", model)
    assert SECRET not in everything(model.requests[0])


def test_a_secret_that_a_model_or_tool_repeats_is_kept_masked(desk: Desk) -> None:
    def token() -> str:
        """Give the token."""
        return f"token: {SECRET}"

    def use(token: str) -> str:
        """Use it."""
        return "used" + token[:0]

    model = scripted(("token", {}), ("use", {"token": SECRET}), f"It is {SECRET}.")
    desk.ask("what is it?", model, tools=[token, use], mode="auto")
    assert SECRET not in desk.transcript()
    assert "⟦secret: " in desk.transcript()


# --- private turns and turns without memory ------------------------------------------------------


def test_of_a_private_turn_nothing_is_recorded_though_it_sees_the_session(desk: Desk) -> None:
    desk.ask("the first question", saying("the first answer"))
    desk.remember(EUR)
    before = desk.transcript(), desk.section(), desk.stores.facts.ids(limit=99)
    model = scripted(("square", {"number": 3}), "9")
    answer = desk.ask("a private question", model, private=True, tools=[square], mode="auto")
    assert (answer.message_seq, answer.session_id, answer.text) == (None, None, "9")
    assert "the first answer" in said(model.requests[0])
    assert EUR in model.requests[0].memory
    assert (desk.transcript(), desk.section(), desk.stores.facts.ids(limit=99)) == before
    later = saying("ok")
    desk.ask("and now?", later)
    assert "private" not in everything(later.requests[0])


def test_a_private_turn_has_no_memory_tools(desk: Desk) -> None:
    model = scripted(("memory_remember", {"text": EUR}), ("memory_write", {}), "ok")
    answer = desk.ask(EUR, model, private=True, mode="auto")
    assert model.requests[0].tools == ()
    assert not answer.remembered
    assert not desk.folder.exists()


def test_a_private_turn_that_fails_or_is_interrupted_leaves_nothing(desk: Desk) -> None:
    desk.ask("hello", BareModel(Text("x"), KeyboardInterrupt()), private=True)
    with pytest.raises(ModelUnavailable):
        desk.ask("hello", BareModel(ModelUnavailable("gone; try again.")), private=True)
    assert not desk.folder.exists()


def test_a_turn_without_memory_carries_none_and_is_recorded(desk: Desk) -> None:
    desk.remember(EUR)
    model = scripted(("memory_list", {}), "ok")
    answer = desk.ask("hello", model, with_memory=False)
    assert (model.requests[0].memory, model.requests[0].tools) == ("", ())
    assert EUR not in everything(model.requests[1])
    assert (answer.carried, answer.message_seq) == ((), 3)
    assert desk.types()[-1] == "turn_end"


def test_with_memory_off_no_database_is_made_and_the_transcript_goes_on(desk: Desk) -> None:
    for number in range(2):
        desk.ask(f"question {number}", saying("answer"), with_memory=False)
    assert not (desk.folder / "facts.sqlite3").exists()
    assert desk.types().count("turn_end") == 2
    model = saying("ok")
    desk.ask("and now?", model, with_memory=False)
    assert "question 0" in said(model.requests[0])


def test_with_memory_off_what_was_forgotten_stays_hidden(desk: Desk) -> None:
    desk.forget(desk.learn(EUR))
    model = saying("ok")
    desk.ask("hello", model, with_memory=False)
    assert EUR not in everything(model.requests[0])


# --- forgetting while the model works ------------------------------------------------------------


def test_a_reply_is_discarded_when_something_was_forgotten_meanwhile(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    other = desk.beside()

    def answer(request: Request) -> str:
        assert EUR in request.memory
        other.forget(fact_id)
        return "Revenue is in EUR cents."

    with pytest.raises(GenerationChanged):
        desk.ask("which unit?", scripted(answer))
    other.close()
    (reply,), (end,) = desk.bodies("assistant"), desk.bodies("turn_end")
    assert (reply["text"], reply["calls"], end["end"]) == ("", [], "failed")
    model = saying("ok")
    desk.ask("and now?", model)
    assert "EUR" not in everything(model.requests[0])


def test_a_reply_with_calls_is_discarded_before_any_is_run(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    other = desk.beside()

    def answer(_: Request) -> ScriptedReply:
        other.forget(fact_id)
        return ScriptedReply(calls=(("memory_write", {"name": "scratchpad", "text": EUR}),))

    with pytest.raises(GenerationChanged):
        desk.ask("write it down", scripted(answer), mode="auto")
    other.close()
    assert not (desk.folder / "scratchpad.md").exists()
    assert desk.bodies("assistant")[0]["calls"] == []


def test_a_call_that_was_made_before_a_forget_is_not_run_after_it(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    other = desk.beside()

    def wait() -> str:
        """Wait."""
        forgetting.forget(other.stores, fact_id)
        return "waited"

    calls = (("wait", {}), ("memory_write", {"name": "scratchpad", "text": EUR}))
    with pytest.raises(GenerationChanged):
        desk.ask("write it down", scripted(ScriptedReply(calls=calls), "done"), tools=[wait])
    other.close()
    assert not (desk.folder / "scratchpad.md").exists()


def test_a_yes_is_void_when_something_was_forgotten_meanwhile(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    other = desk.beside()

    def forget_and_agree(change: Change) -> bool:
        del change
        forgetting.forget(other.stores, fact_id)
        return True

    desk.answer = forget_and_agree
    call = ("memory_write", {"name": "MEMORY", "text": "Revenue: hundredths of a euro."})
    with pytest.raises(GenerationChanged):
        desk.ask("write it down", scripted(call, "done"))
    other.close()
    assert not (desk.folder / "MEMORY.md").exists()


def test_after_a_forget_by_the_model_no_later_request_shows_the_text(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.ask("which unit?", saying("In EUR cents."))
    model = scripted(("memory_list", {}), ("memory_forget", {"fact_id": fact_id}), "Forgotten.")
    answer = desk.ask("Forget the convention about revenue.", model)
    assert answer.end == "complete"
    assert desk.stores.facts.count() == 0
    assert EUR in everything(model.requests[1])
    assert "EUR" not in everything(model.requests[2])
    later = saying("ok")
    desk.ask("and now?", later)
    assert "EUR" not in everything(later.requests[0])


def test_a_reply_that_forgets_among_other_calls_is_not_sent_again_with_what_they_gave(
    desk: Desk,
) -> None:
    fact_id = desk.remember(EUR).fact_id
    calls: tuple[tuple[str, dict[str, str]], ...] = (
        ("memory_recall", {"fact_id": fact_id}),
        ("memory_search", {"query": EUR}),
        ("memory_forget", {"fact_id": fact_id}),
        ("memory_list", {}),
    )
    model = scripted(ScriptedReply(f"So: {EUR}", calls), "Forgotten.")
    assert desk.ask("Forget the convention about revenue.", model).end == "complete"
    assert "EUR" not in everything(model.requests[1])
    assert tool_results(model.requests[1]) == [f"forgot {fact_id}"]
    assert len(desk.bodies("tool")) == len(calls)


def test_words_of_the_message_that_are_forgotten_are_no_longer_offered_as_quotes(
    desk: Desk,
) -> None:
    fact_id = desk.remember(EUR).fact_id
    model = scripted(("memory_forget", {"fact_id": fact_id}), "Forgotten.")
    desk.ask(f"Forget this: {EUR}", model)
    assert any("EUR" in sentence for sentence in model.requests[0].sentences)
    assert "EUR" not in everything(model.requests[1])


def test_nothing_is_written_after_a_forget_that_the_same_reply_asked_for(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    calls = (
        ("memory_forget", {"fact_id": fact_id}),
        ("memory_write", {"name": "scratchpad", "text": "Revenue: hundredths of a euro."}),
    )
    desk.ask("Forget that.", scripted(ScriptedReply(calls=calls), "done"), mode="auto")
    assert not (desk.folder / "scratchpad.md").exists()
    assert [body["ok"] for body in desk.bodies("tool")] == [True, False]


def test_several_facts_are_forgotten_by_one_reply(desk: Desk) -> None:
    ids = [desk.remember(text).fact_id for text in (EUR, SPLIT)]
    calls = tuple(("memory_forget", {"fact_id": fact_id}) for fact_id in ids)
    model = scripted(ScriptedReply(calls=calls), "done")
    desk.ask("Forget both.", model)
    assert desk.stores.facts.count() == 0
    assert tool_results(model.requests[1]) == [f"forgot {fact_id}" for fact_id in ids]


def test_a_reply_after_a_forget_in_the_same_turn_is_kept(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    model = scripted(("memory_forget", {"fact_id": fact_id}), "Forgotten.")
    assert desk.ask("Forget that.", model).text == "Forgotten."


def test_the_words_of_a_forgotten_message_cannot_be_learned_again(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.forget(fact_id)
    for message in ("save it again", EUR):
        model = scripted(("memory_remember", {"text": EUR}), "ok")
        assert not desk.ask(message, model, mode="auto").remembered
    assert desk.stores.facts.count() == 0
    assert [body["ok"] for body in desk.bodies("tool")][1:] == [False, False]


# --- the window ----------------------------------------------------------------------------------


def test_a_message_that_alone_is_too_large_is_refused_and_recorded_as_failed(desk: Desk) -> None:
    model = scripted("ok", context_tokens=2048)
    with pytest.raises(ContextTooLong) as caught:
        desk.ask("x" * 20_000, model, output_tokens=100)
    assert "\n" not in str(caught.value)
    assert not model.requests
    assert desk.bodies("turn_end")[0]["end"] == "failed"


def test_without_a_known_window_everything_is_sent(desk: Desk) -> None:
    for number in range(4):
        desk.ask(f"question {number} " + "x" * 90_000, saying("ok"))
    model = saying("ok")
    answer = desk.ask("and now?", model)
    assert len(model.requests[0].messages) == 9
    assert answer.notices == ()


def test_memory_fills_a_quarter_of_the_window_at_most(desk: Desk) -> None:
    noting.append(desk.stores, noting.find(desk.stores, "MEMORY"), "line of text\n" * 2000)
    model = scripted("ok", context_tokens=4000)
    desk.ask("hello", model, output_tokens=100)
    assert 0 < len(model.requests[0].memory.encode()) <= 3000


# --- usage ---------------------------------------------------------------------------------------


def test_unknown_usage_is_counted_as_unknown_never_as_zero(desk: Desk) -> None:
    model = scripted(
        ScriptedReply(calls=(("square", {"number": 1}),), usage=Usage(10, 5, 7)),
        ScriptedReply(calls=(("square", {"number": 2}),), usage=Usage()),
        ScriptedReply("done", usage=Usage(20, 5, None)),
    )
    usage = desk.ask("go", model, tools=[square], mode="auto").usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_nusd) == (30, 10, 7)
    assert (usage.n_unknown, usage.n_unknown_cost) == (1, 2)
    assert [body["usage"]["input_tokens"] for body in desk.bodies("assistant")] == [10, None, 20]


def test_usage_of_a_reply_that_was_discarded_is_recorded(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    other = desk.beside()

    def answer(_: Request) -> ScriptedReply:
        other.forget(fact_id)
        return ScriptedReply("text", usage=Usage(10, 5, 7))

    with pytest.raises(GenerationChanged):
        desk.ask("hello", scripted(answer))
    other.close()
    assert desk.bodies("assistant")[0]["usage"]["input_tokens"] == 10


# --- what is shown meanwhile ---------------------------------------------------------------------


def test_events_come_in_order(desk: Desk) -> None:
    desk.ask("go", scripted(("square", {"number": 2}), "It is 4."), tools=[square], mode="auto")
    assert desk.events == [
        ToolStarted("square"),
        ToolDone("square", ok=True, note=""),
        Text("It "),
        Text("is "),
        Text("4."),
    ]
