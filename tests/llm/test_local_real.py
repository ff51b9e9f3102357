"""The real runtime with the small model: what the stand-in can't show. No test reads its words."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memnb.core.messages import Message, Request, Stop, Text, ToolSpec, Usage
from memnb.errors import ContextTooLong
from memnb.llm import weights
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.local_model import LocalModel
from memnb.llm.model_catalog import LOCAL_MODELS
from memnb.llm.routing import route

pytestmark = pytest.mark.model

SPEC = LOCAL_MODELS[-1]
ODD = (
    'Say “prices” in € cents, "quoted".',
    "A back\\slash and a 'quote' {braces} [brackets].",
    "日本語で答えて。",  # a sentence in another script
)
REMEMBER = ToolSpec(
    "memory_remember",
    "",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "kind": {"type": "string", "enum": ["preference", "convention"]},
        },
    },
)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    folder = os.environ.get("MEMNB_MODELS")
    file = weights.find(SPEC, Path(folder)) if folder else None
    if file is None:
        reason = f"needs {SPEC.title} in the folder MEMNB_MODELS"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    made = LocalModel(SPEC.name, weights=file)
    yield made
    made.close()


def ask(text: str, *, tokens: int = 8, tools: tuple[ToolSpec, ...] = ()) -> Request:
    messages = (Message("user", text),)
    return Request("Answer briefly.", "", messages, tools, ODD, tokens, timeout_seconds=600)


def events(model: LocalModel, request: Request) -> list[Any]:
    return list(model.stream(request, CancelSwitch()))


def test_it_answers(model: LocalModel) -> None:
    *_, usage, stop = found = events(model, ask("What is 1+1?", tokens=100))
    assert any(isinstance(event, Text) for event in found)
    assert isinstance(usage, Usage)
    assert usage.input_tokens
    assert usage.output_tokens
    assert stop == Stop("end")


def test_an_answer_that_is_cut_says_so(model: LocalModel) -> None:
    assert events(model, ask("Count from 1 to 50.", tokens=3))[-1] == Stop("length")


def test_a_request_longer_than_the_window_is_refused_before_it_is_read(model: LocalModel) -> None:
    with pytest.raises(ContextTooLong, match="window 8192"):
        events(model, ask("word " * 9000))


def test_what_it_picks_to_remember_is_one_of_the_sentences_to_the_letter(
    model: LocalModel,
) -> None:
    events(model, ask("Hello"))
    step = route(ask(" ".join(ODD), tools=(REMEMBER,)))
    assert step is not None
    body: Any = json.loads(json.dumps(step.body))
    options = body["response_format"]["json_schema"]["schema"]["anyOf"]
    options[:] = [o for o in options if o["properties"]["tool"]["const"] == "remember"]
    for sentence in ODD:
        options[0]["properties"]["arguments"]["properties"]["text"]["enum"] = [sentence]
        assert model.child is not None
        with model.child.chat({"stream": True, **body}, timeout_seconds=600) as chat:
            pieces = [choice["delta"] for piece in chat.pieces() for choice in piece["choices"]]
        call = step.chosen("".join(piece.get("content") or "" for piece in pieces))
        assert call is not None
        assert json.loads(call.arguments)["text"] == sentence


def test_after_an_interrupt_while_it_reads_a_long_prompt_the_next_request_is_answered(
    model: LocalModel,
) -> None:
    events(model, ask("Hello"))
    cancel = CancelSwitch()
    threading.Timer(0.3, cancel.request).start()
    found = list(model.stream(ask("word " * 6000), cancel))
    assert not any(isinstance(event, Stop) for event in found)
    child = model.child
    deadline = time.monotonic() + 30
    while child is not None and child.alive and time.monotonic() < deadline:
        time.sleep(1.2)  # asked more often, the server wouldn't look for who has left
        if child.is_idle():
            break
    else:
        assert model.child is None
    assert isinstance(events(model, ask("What is 1+1?"))[-1], Stop)


def test_the_server_answers_nobody_without_the_key(model: LocalModel) -> None:
    events(model, ask("Hello"))
    assert model.child is not None
    connection = http.client.HTTPConnection("127.0.0.1", model.child.port, timeout=10)
    connection.request("POST", "/v1/chat/completions", "{}", {"Authorization": "Bearer guessed"})
    assert connection.getresponse().status == http.client.UNAUTHORIZED
    connection.close()
