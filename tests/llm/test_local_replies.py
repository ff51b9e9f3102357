"""After a tool, code says what it knows, and the model gets only what is left to answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.messages import Call, Message, Request
from memnb.llm.local_replies import Spoken, answer_messages, speak

SAVED = "We use polars."


def turn(asked: str, name: str, result: str, **arguments: object) -> tuple[Message, ...]:
    return (
        Message("user", asked),
        Message("assistant", "", (Call("c1", name, json.dumps(arguments)),)),
        Message("tool", result, call_id="c1", name=name),
    )


def remembered(asked: str, result: str = "remembered F-7k2m9q") -> tuple[Message, ...]:
    return turn(asked, "memory_remember", result, text=SAVED, kind="convention")


def recall_page(**changed: object) -> str:
    records = [
        {"seq": 7, "type": "user", "parts": [{"type": "typed", "text": f"{SAVED}\nPlot a."}]},
        {"seq": 8, "type": "tool", "output": "x"},
    ]
    page = {
        "fact_id": "F-7k2m9q",
        "status": "valid",
        "text": SAVED,
        "source": {"session_id": "S-1", "seqs": [7, 8]},
        "source_text": json.dumps(records),
    }
    return json.dumps(page | changed)


def test_without_a_tool_all_is_left_to_the_model() -> None:
    assert speak((Message("user", "Hi."),)) == Spoken("", "Hi.")


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        pytest.param(SAVED, "", id="nothing else"),
        pytest.param(f"{SAVED} Please remember that.", "", id="asks to remember"),
        pytest.param(f"Remember: {SAVED}", "", id="announced"),
        pytest.param(f"Hello! {SAVED} Thanks!", "", id="politeness"),
        pytest.param(f"{SAVED}\n\n<ab12 data>\nWe used pandas.\n</ab12>", "", id="recalled text"),
        pytest.param(f"{SAVED}\n\nWhat is 2+2?", "What is 2+2?", id="a question"),
        pytest.param(f"{SAVED} Do we cache?", "Do we cache?", id="a short question"),
        pytest.param(
            f"{SAVED} Remember that, and tell me what 3*7 is.",
            "Remember that, and tell me what 3*7 is.",
            id="a request in the same sentence",
        ),
        pytest.param("We  use polars.", "We  use polars.", id="not found again"),
    ],
)
def test_after_a_fact_was_kept_only_the_rest_is_asked(asked: str, left: str) -> None:
    assert speak(remembered(asked)) == Spoken("Remembered F-7k2m9q.", left)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("already remembered as F-7k2m9q", "Already remembered as F-7k2m9q."),
        (
            "not done: remember this convention: you said no. Answer without it.",
            "Not done: remember this convention: you said no.",
        ),
        ("KeyError in memory_remember", "Not done: KeyError in memory_remember."),
        ("StoreFull: no space; make room.", "No space; make room."),
    ],
)
def test_what_became_of_a_fact_is_said_as_it_is(result: str, said: str) -> None:
    assert speak(remembered(SAVED, result)) == Spoken(said, "")


def test_code_that_was_not_run_is_shown_and_no_result_is_made_up() -> None:
    spoken = speak(
        turn("Run 1+1.", "run_python", "not done: run Python: nobody to ask here.", code="1+1")
    )
    said = "Not done: run Python: nobody to ask here.\n\n```python\n1+1\n```"
    assert spoken == Spoken(said, "")


@pytest.mark.parametrize(
    ("result", "left"),
    [
        pytest.param(
            "42\n", "Run it.\n\nrun_python was run for this request. Its result:\n42\n", id="output"
        ),
        pytest.param(
            "0\nNameError: name 'a' is not defined\nline 1: a",
            "Run it.\n\nIt was run and failed with this error:\n0\n"
            "NameError: name 'a' is not defined\nline 1: a\n\nSay what went wrong.",
            id="an error",
        ),
        pytest.param(
            "Error: none\nfine",
            "Run it.\n\nrun_python was run for this request. Its result:\nError: none\nfine",
            id="a word that looks like one",
        ),
    ],
)
def test_what_code_printed_is_given_to_the_model(result: str, left: str) -> None:
    assert speak(turn("Run it.", "run_python", result, code="a")) == Spoken("", left)


def test_code_that_printed_nothing_needs_no_model() -> None:
    spoken = speak(turn("Run it.", "run_python", "(no output)", code="a = 1"))
    assert spoken == Spoken("It ran and printed nothing.", "")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("UnknownId: no such file.", "No such file."),
        ("not done: a.pem holds keys. Answer without it.", "Not done: a.pem holds keys."),
        ("OSError in read_file", "Not done: OSError in read_file."),
    ],
)
def test_a_file_that_was_not_read_is_not_described(result: str, said: str) -> None:
    assert speak(turn("Read a.pem", "read_file", result, path="a.pem")) == Spoken(said, "")


def test_a_file_that_was_read_is_given_to_the_model() -> None:
    spoken = speak(turn("Read a.py", "read_file", "a.py, lines 1 to 1 of 1\n1 x", path="a.py"))
    assert spoken.text == ""
    assert spoken.left.startswith("Read a.py\n\n")
    assert spoken.left.endswith("1 x")


def test_a_recalled_fact_is_shown_with_the_words_it_comes_from() -> None:
    spoken = speak(turn("Where is F-7k2m9q from?", "memory_recall", recall_page()))
    assert spoken.left == ""
    assert spoken.text == (
        "F-7k2m9q: We use polars.\n\n"
        "It comes from session S-1, record 7, 8:\n> We use polars.\n> Plot a."
    )


@pytest.mark.parametrize(
    ("page", "said"),
    [
        pytest.param(recall_page(source_text='[{"cut'), "record 7, 8:", id="a page that is cut"),
        pytest.param(
            recall_page(status="hidden"), "can't be shown: its source is hidden", id="not valid"
        ),
    ],
)
def test_a_recalled_fact_without_its_words_says_so(page: str, said: str) -> None:
    spoken = speak(turn("Where is F-7k2m9q from?", "memory_recall", page))
    assert said in spoken.text
    assert ">" not in spoken.text


def test_a_fact_that_was_not_recalled_is_not_described() -> None:
    spoken = speak(turn("Where is F-000000 from?", "memory_recall", "UnknownId: no such fact."))
    assert spoken == Spoken("No such fact.", "")


tools = st.sampled_from(["memory_remember", "memory_recall", "read_file", "run_python", "own"])
results = st.text() | st.sampled_from(["(no output)", "not done: no.", recall_page(), "{}", "[1]"])
arguments = st.text() | st.sampled_from(['{"text": "a"}', '{"code": 1}', "[]", '{"text": null}'])


@given(st.text(), tools, results, arguments)
def test_after_any_result_something_is_said_or_left(
    asked: str, name: str, result: str, given_arguments: str
) -> None:
    call = Call("c1", name, given_arguments)
    messages = (
        Message("user", asked),
        Message("assistant", "", (call,)),
        Message("tool", result, call_id="c1", name=name),
    )
    spoken = speak(messages)
    assert spoken.text or spoken.left


def said(*messages: Message, memory: str = "", left: str = "Now.") -> list[tuple[str, str]]:
    found = answer_messages(Request("guidance", memory, (*messages, Message("user", "x"))), left)
    assert found[0]["role"] == "system"
    return [(message["role"], message["content"]) for message in found[1:]]


def test_the_persons_last_message_is_what_is_left_of_it() -> None:
    assert said() == [("user", "Now.")]


def test_a_short_memory_stands_in_the_system_text_and_again_after_the_message() -> None:
    found = answer_messages(Request("guidance", "MEMORY", (Message("user", "x"),)), "Now.")
    assert [message["role"] for message in found] == ["system", "user", "system"]
    assert [message["content"] for message in found] == ["guidance\n\nMEMORY", "Now.", "MEMORY"]


def test_a_long_memory_stands_in_the_system_text_only() -> None:
    assert said(memory="é" * 1025) == [("user", "Now.")]


def test_earlier_turns_hold_results_but_no_calls() -> None:
    earlier = (*turn("Run it.", "run_python", "42", code="a"), Message("assistant", "It is 42."))
    assert said(*earlier) == [
        ("user", "Run it.\n\nrun_python was run for this request. Its result:\n42"),
        ("assistant", "It is 42."),
        ("user", "Now."),
    ]


def test_what_code_said_in_earlier_turns_is_not_shown_as_the_models_words() -> None:
    earlier = (
        *remembered(f"{SAVED} What is 2+2?"),
        Message("assistant", "Remembered F-7k2m9q.\n\nIt is 4."),
        *remembered(SAVED),
        Message("assistant", "Remembered F-7k2m9q."),
    )
    assert said(*earlier) == [
        ("user", "What is 2+2?"),
        ("assistant", "It is 4."),
        ("user", "Now."),
    ]


def test_a_request_without_messages_is_still_a_request() -> None:
    assert speak(()) == Spoken("", "")
    assert answer_messages(Request("", "", ()), "") == [{"role": "user", "content": ""}]
