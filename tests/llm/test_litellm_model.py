from __future__ import annotations

import contextlib
import gc
import io
import json
import logging
import os
import socket
import stat
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from llm.fake_provider import (
    Behaviour,
    FakeProvider,
    call_delta,
    drops_after,
    ends_early_after,
    fails,
    fails_midway,
    hangs_after,
    is_silent,
    says,
    streams,
)
from memnb.core.messages import (
    Call,
    Event,
    Message,
    Notice,
    Request,
    Stop,
    Text,
    ToolSpec,
    Usage,
)
from memnb.errors import (
    BadModelOutput,
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    NoModel,
)
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.litellm_loading import load
from memnb.llm.litellm_model import LiteLLMModel

KEY = "0a1b2c3d4e5f6a7b8c9d0e1f22334455"
"""Of no shape that a pattern would know."""

GEMINI_KEY = "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"
REQUEST = Request("Be brief.", "", (Message("user", "hi"),), timeout_seconds=60)
TOOL = ToolSpec("f", "does f", {"type": "object", "properties": {"a": {"type": "integer"}}})
BOUND_SECONDS = 30
"""For what ends soon: a bound against hanging, not a measurement."""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith(("_key", "_token", "_proxy", "_api_base", "_base_url")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


class Waits:
    """Stands in for sleeping between attempts and keeps how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def model_at(provider: FakeProvider, name: str = "openai/fake", **options: Any) -> LiteLLMModel:
    return LiteLLMModel(name, api_base=provider.api_base, **{"sleep": Waits(), **options})


def ask(
    model: LiteLLMModel, request: Request = REQUEST, switch: CancelSwitch | None = None
) -> list[Event]:
    events = model.stream(request, switch or CancelSwitch())
    return [event for event in events if not _is_loading(event)]


def answer(*behaviours: Behaviour, request: Request = REQUEST) -> list[Event]:
    with FakeProvider(*behaviours) as provider:
        return ask(model_at(provider), request)


def _is_loading(event: Event) -> bool:
    return isinstance(event, Notice) and event.text.startswith("loading")


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + BOUND_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


# What is sent


def test_the_request_is_sent_in_chat_form() -> None:
    with FakeProvider(says("ok")) as provider:
        ask(
            model_at(provider),
            Request("G", "M", (Message("user", "hi"),), tools=(TOOL,), output_tokens=77),
        )
        [received] = provider.requests
    assert received.body["messages"] == [
        {"role": "system", "content": "G\n\nM"},
        {"role": "user", "content": "hi"},
    ]
    assert received.body["tools"][0]["function"]["name"] == "f"
    assert received.body["stream_options"] == {"include_usage": True}
    assert 77 in (received.body.get("max_tokens"), received.body.get("max_completion_tokens"))


def test_no_tools_means_no_tools_in_the_request() -> None:
    with FakeProvider(says("ok")) as provider:
        ask(model_at(provider))
        [received] = provider.requests
    assert "tools" not in received.body
    assert "response_format" not in received.body


@pytest.mark.parametrize(
    ("name", "is_sent"), [("openai/gpt-4o", True), ("openai/fake", False)], ids=["known", "unknown"]
)
def test_a_schema_of_the_reply_is_sent_to_a_model_that_is_known_to_take_one(
    name: str, is_sent: bool
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    request = Request("", "", (Message("user", "hi"),), schema=schema)
    with FakeProvider(says("ok")) as provider:
        ask(model_at(provider, name), request)
        [received] = provider.requests
    sent = received.body.get("response_format")
    assert (sent is not None and sent["json_schema"]["schema"] == schema) == is_sent


def test_a_broken_call_can_be_sent_back() -> None:
    messages = (
        Message("user", "go"),
        Message("assistant", "", calls=(Call("c1", "f", '{"a": '),)),
        Message("tool", "not JSON", call_id="c1", name="f"),
    )
    request = Request("", "", messages, tools=(TOOL,))
    assert Text("ok") in answer(says("ok"), request=request)


def test_a_proxy_in_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(says("ok")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.api_base)
        ask(LiteLLMModel("openai/fake", api_base="http://models.invalid/v1"))
        assert proxy.requests[0].path == "http://models.invalid/v1/chat/completions"


# What comes back


def test_text_is_streamed_in_its_pieces() -> None:
    assert [e for e in answer(says("Hel", "lo", " you")) if isinstance(e, Text)] == [
        Text("Hel"),
        Text("lo"),
        Text(" you"),
    ]


def test_a_piece_arrives_before_the_reply_is_complete() -> None:
    with FakeProvider(hangs_after("first")) as provider:
        stream = model_at(provider).stream(REQUEST, CancelSwitch())
        assert next(event for event in stream if not _is_loading(event)) == Text("first")
        stream.close()  # type: ignore[attr-defined]


def test_parallel_calls_are_put_together_from_their_pieces() -> None:
    events = answer(
        streams(
            call_delta(0, "", name="f", call_id="x1"),
            call_delta(0, '{"a":'),
            call_delta(1, "", name="g", call_id="x2"),
            call_delta(0, "1}"),
            call_delta(1, "{}"),
            finish="tool_calls",
        )
    )
    assert events == [Call("x1", "f", '{"a":1}'), Call("x2", "g", "{}"), Usage(), Stop("calls")]


def test_calls_without_ids_get_ids() -> None:
    events = answer(streams(call_delta(0, "{}", name="f"), call_delta(1, "{}", name="g")))
    ids = [event.call_id for event in events if isinstance(event, Call)]
    assert len(set(ids)) == 2
    assert all(ids)


def test_arguments_are_the_text_that_was_sent_broken_or_not() -> None:
    broken = '{"a": 1, "a": oops'
    events = answer(streams(call_delta(0, broken, name="f", call_id="x1"), finish="tool_calls"))
    assert events[0] == Call("x1", "f", broken)


def test_usage_is_what_the_provider_reported() -> None:
    assert Usage(12, 3, None) in answer(says("ok", usage=(12, 3)))


def test_usage_that_was_not_reported_is_unknown() -> None:
    assert Usage(None, None, None) in answer(says("ok"))


def test_a_known_price_gives_the_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    price = load().model_cost["gpt-4o-mini"]
    usd = 1000 * price["input_cost_per_token"] + 100 * price["output_cost_per_token"]
    with FakeProvider(says("ok", usage=(1000, 100))) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.api_base)
        events = ask(LiteLLMModel("openai/gpt-4o-mini"))
    assert Usage(1000, 100, round(usd * 1_000_000_000)) in events


def test_a_server_of_ones_own_has_no_price() -> None:
    with FakeProvider(says("ok", usage=(1000, 100))) as provider:
        assert Usage(1000, 100, None) in ask(model_at(provider, "openai/gpt-4o-mini"))


@pytest.mark.parametrize(
    ("finish", "reason"), [("stop", "end"), ("length", "length"), ("content_filter", "refused")]
)
def test_a_reply_says_why_it_stopped(finish: str, reason: str) -> None:
    assert answer(says("ok", finish=finish))[-1] == Stop(reason)  # type: ignore[arg-type]


# What goes wrong


@pytest.mark.parametrize(
    ("behaviour", "error", "n_requests"),
    [
        pytest.param(fails(400), ModelRefused, 1, id="400"),
        pytest.param(fails(401), ModelRefused, 1, id="401"),
        pytest.param(fails(402), ModelRefused, 1, id="402"),
        pytest.param(fails(403), ModelRefused, 1, id="403"),
        pytest.param(fails(404), ModelUnavailable, 1, id="404"),
        pytest.param(fails(408), ModelTimeout, 3, id="408"),
        pytest.param(fails(429), ModelUnavailable, 3, id="429"),
        pytest.param(fails(500), ModelUnavailable, 3, id="500"),
        pytest.param(fails(503), ModelUnavailable, 3, id="503"),
        pytest.param(fails(429, kind="insufficient_quota"), ModelRefused, 1, id="quota"),
        pytest.param(
            fails(400, "This model's maximum context length is 4096 tokens."),
            ContextTooLong,
            1,
            id="context",
        ),
        pytest.param(fails(400, kind="content_policy_violation"), ModelRefused, 1, id="policy"),
        pytest.param(drops_after(), ModelUnavailable, 3, id="dropped before text"),
        pytest.param(ends_early_after(), ModelUnavailable, 3, id="ended before text"),
        pytest.param(drops_after("Hel"), ModelUnavailable, 1, id="dropped midway"),
        pytest.param(ends_early_after("Hel"), ModelUnavailable, 1, id="ended midway"),
        pytest.param(fails_midway("Hel", message="?"), ModelUnavailable, 1, id="failed midway"),
        pytest.param(says(), BadModelOutput, 1, id="empty"),
        pytest.param(says(finish="length"), BadModelOutput, 1, id="empty at the limit"),
        pytest.param(says(finish="content_filter"), ModelRefused, 1, id="filtered to nothing"),
        pytest.param(streams(call_delta(0, "{}", call_id="x1")), BadModelOutput, 1, id="no name"),
    ],
)
def test_a_failure_has_its_class_and_is_repeated_only_if_it_may_pass(
    behaviour: Behaviour, error: type[ModelError], n_requests: int
) -> None:
    with FakeProvider(behaviour) as provider:
        with pytest.raises(error) as caught:
            ask(model_at(provider))
        assert (type(caught.value), len(provider.requests)) == (error, n_requests)


def test_a_refused_connection_is_tried_three_times() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        waits = Waits()
        model = LiteLLMModel(
            "openai/fake", api_base=f"http://127.0.0.1:{unused.getsockname()[1]}/v1", sleep=waits
        )
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            ask(model)
    assert waits.seconds == [0.5, 2.0]


def test_each_new_attempt_is_announced_and_may_succeed() -> None:
    events = answer(fails(429), fails(500), says("ok"))
    assert [type(event) for event in events] == [Notice, Notice, Text, Usage, Stop]
    assert events[0] == Notice(
        "openai/fake is limiting the rate of requests (RateLimitError, 429), "
        "trying again in 0.5 s (1 of 2)…"
    )


@pytest.mark.parametrize(
    ("retry_after", "waited"),
    [
        pytest.param("4", [4.0], id="longer than ours"),
        pytest.param("0", [0.5], id="shorter than ours"),
        pytest.param("Wed, 21 Oct 2026 07:28:00 GMT", [0.5], id="a date"),
    ],
)
def test_the_pause_a_provider_asks_for_is_kept(retry_after: str, waited: list[float]) -> None:
    waits = Waits()
    with FakeProvider(fails(429, headers={"Retry-After": retry_after}), says("ok")) as provider:
        ask(model_at(provider, sleep=waits))
    assert waits.seconds == waited


def test_a_long_pause_is_left_to_the_person() -> None:
    with FakeProvider(fails(429, headers={"Retry-After": "90"})) as provider:
        with pytest.raises(ModelUnavailable, match="Run it again in 90 s"):
            ask(model_at(provider))
        assert len(provider.requests) == 1


def test_a_pause_that_does_not_fit_the_time_is_not_begun() -> None:
    request = Request("", "", (Message("user", "hi"),), timeout_seconds=0.4)
    with FakeProvider(fails(500)) as provider, pytest.raises(ModelError):
        ask(model_at(provider), request)
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "n_pieces"), [(is_silent, 0), (hangs_after("Hel"), 1)], ids=["start", "midway"]
)
def test_silence_ends_in_a_timeout(behaviour: Behaviour, n_pieces: int) -> None:
    load()
    request = Request("", "", (Message("user", "hi"),), timeout_seconds=1.0)
    events: list[Event] = []
    with FakeProvider(behaviour) as provider:
        stream = model_at(provider).stream(request, CancelSwitch())
        with pytest.raises(ModelTimeout, match="sent nothing for 1 s"):
            events.extend(stream)
        assert len(provider.requests) == 1
    assert len(events) == n_pieces


def test_a_slow_reply_that_goes_on_is_not_timed_out() -> None:
    def slowly(exchange: Any) -> None:
        for _ in range(8):
            exchange.event(json.dumps({"choices": [{"index": 0, "delta": {"content": "x"}}]}))
            time.sleep(0.3)
        says("y")(exchange)

    request = Request("", "", (Message("user", "hi"),), timeout_seconds=2.0)
    assert answer(slowly, request=request)[-1] == Stop("end")


@pytest.mark.parametrize("name", ["nosuch/model", "nonsense"])
def test_an_unknown_provider_is_no_model(name: str) -> None:
    with pytest.raises(NoModel, match="provider/model"):
        ask(LiteLLMModel(name))


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("groq/x", "GROQ_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.0-flash", "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_anything_is_sent(name: str, named: str) -> None:
    with pytest.raises(ModelRefused, match=f"Set {named} in the environment"):
        ask(LiteLLMModel(name))


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert Text("ok") in answer(says("ok"))


# What stays secret


def _everything_shown(error: BaseException) -> str:
    """All that a traceback could show, with the local variables of its frames."""
    seen = traceback.TracebackException.from_exception(error, capture_locals=True)
    chained = (error.__cause__, error.__context__)
    return "".join(seen.format()) + repr(error) + repr(error.args) + repr(chained)


@pytest.mark.parametrize(
    ("name", "behaviour"),
    [
        pytest.param("openai/fake", fails(500, f"see http://x/?key={KEY}&a=1"), id="in a URL"),
        pytest.param("openai/fake", fails(401, f"Incorrect API key provided: {KEY}"), id="echoed"),
        pytest.param("openai/fake", fails_midway("a", message=f"Bearer {KEY}"), id="midway"),
        pytest.param("openai/fake", drops_after(), id="dropped"),
        pytest.param("gemini/gemini-2.0-flash", fails(500, GEMINI_KEY), id="Gemini's"),
        pytest.param("gemini/gemini-2.0-flash", drops_after(), id="Gemini's, dropped"),
    ],
)
def test_a_key_shows_up_nowhere(
    name: str,
    behaviour: Behaviour,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", GEMINI_KEY)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with FakeProvider(behaviour) as provider:
            # The address of a proxy may hold a key of its own.
            model = LiteLLMModel(
                name, api_base=f"{provider.api_base}?key={GEMINI_KEY}", sleep=Waits()
            )
            with pytest.raises(ModelError) as caught:
                ask(model)
        gc.collect()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    written = capfd.readouterr()
    shown = _everything_shown(caught.value) + repr(model)
    shown += log.getvalue() + written.out + written.err
    assert [key for key in (KEY, GEMINI_KEY) if key in shown] == []
    # What was asked is in the frames, but may not be written anywhere.
    assert "Be brief." not in log.getvalue() + written.out + written.err


def test_nothing_is_written_whatever_happens(capfd: pytest.CaptureFixture[str]) -> None:
    load()
    for behaviour in (says("ok"), fails(400), fails(401), drops_after("a"), ends_early_after("a")):
        with FakeProvider(behaviour) as provider:
            try:
                ask(model_at(provider))
            except ModelError:
                continue
    with pytest.raises(NoModel):
        ask(LiteLLMModel("nosuch/model"))
    gc.collect()
    assert capfd.readouterr() == ("", "")


def test_the_persons_own_use_of_litellm_is_still_logged() -> None:
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    answer(says("ok"))
    logger = logging.getLogger("LiteLLM")
    logger.addHandler(handler)
    try:
        logger.warning("theirs")
    finally:
        logger.removeHandler(handler)
    assert log.getvalue() == "theirs\n"


# How it ends


def open_sockets() -> int:
    n = 0
    for path in Path("/dev/fd").iterdir():
        with contextlib.suppress(OSError):  # the listing's own descriptor is gone by now
            n += stat.S_ISSOCK(os.fstat(int(path.name)).st_mode)
    return n


def client_threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if "process_request_thread" not in t.name}


@pytest.fixture
def leaves_nothing() -> Iterator[None]:
    """Warm up, then compare threads and sockets before and after the test."""
    answer(says("ok"))
    gc.collect()
    assert eventually(lambda: not any("asyncio" in t.name for t in threading.enumerate()))
    threads, n_sockets = client_threads(), open_sockets()
    yield
    assert eventually(lambda: client_threads() <= threads)
    assert eventually(lambda: open_sockets() <= n_sockets)


@pytest.mark.usefixtures("leaves_nothing")
@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(says("ok"), id="complete"),
        pytest.param(fails(400), id="refused"),
        pytest.param(ends_early_after("a"), id="broken off"),
    ],
)
def test_a_request_leaves_no_thread_and_no_socket(behaviour: Behaviour) -> None:
    with FakeProvider(behaviour) as provider:
        try:
            ask(model_at(provider))
        except ModelError:
            return


@pytest.mark.usefixtures("leaves_nothing")
@pytest.mark.parametrize("behaviour", [is_silent, hangs_after("Hel")], ids=["start", "midway"])
def test_cancel_ends_the_stream_and_the_connection(behaviour: Behaviour) -> None:
    switch = CancelSwitch()
    events: list[Event] = []
    with FakeProvider(behaviour) as provider:
        reader = threading.Thread(
            target=lambda: events.extend(ask(model_at(provider), switch=switch)), daemon=True
        )
        reader.start()
        assert eventually(lambda: len(provider.requests) == 1)
        switch.request()
        reader.join(BOUND_SECONDS)
        assert not reader.is_alive()
        assert provider.hung_up.wait(BOUND_SECONDS)
    assert not any(isinstance(event, Stop) for event in events)


@pytest.mark.usefixtures("leaves_nothing")
def test_a_stream_that_is_closed_early_hangs_up() -> None:
    with FakeProvider(hangs_after("Hel")) as provider:
        stream = model_at(provider).stream(REQUEST, CancelSwitch())
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert provider.hung_up.wait(BOUND_SECONDS)


def test_cancel_ends_a_pause_between_attempts() -> None:
    load()
    switch = CancelSwitch()
    with FakeProvider(fails(429, headers={"Retry-After": "9"}), says("ok")) as provider:
        model = LiteLLMModel("openai/fake", api_base=provider.api_base)
        stream = model.stream(REQUEST, switch)
        assert isinstance(next(stream), Notice)
        threading.Timer(0.1, switch.request).start()
        assert list(stream) == []
        assert len(provider.requests) == 1


def test_a_request_that_was_cancelled_before_it_began_sends_nothing() -> None:
    switch = CancelSwitch()
    switch.request()
    with FakeProvider(says("ok")) as provider:
        assert ask(model_at(provider), switch=switch) == []
        assert provider.requests == []


def test_two_threads_may_use_one_model() -> None:
    with FakeProvider(says("one ", "two ", "three")) as provider:
        model = model_at(provider)
        replies: list[list[Event]] = []
        threads = [
            threading.Thread(target=lambda: replies.append(ask(model)), daemon=True)
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(BOUND_SECONDS)
    assert len(replies) == 4
    assert all(reply == replies[0] for reply in replies)


# What is known of a model


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        pytest.param("openai/gpt-4o-mini", 5000, 128000, id="litellm knows"),
        pytest.param("openai/fake", 5000, 5000, id="given"),
        pytest.param("openai/fake", None, None, id="unknown"),
    ],
)
def test_the_window_is_litellms_else_the_given_one(
    name: str, given: int | None, expected: int | None
) -> None:
    load()
    assert LiteLLMModel(name, context_tokens=given).context_tokens == expected


def test_no_server_is_asked_what_a_model_can(monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    with FakeProvider(fails(500)) as provider:
        monkeypatch.setenv("OLLAMA_API_BASE", provider.api_base)
        model = LiteLLMModel("ollama/mine")
        assert (model.context_tokens, model.capabilities) == (None, {"tools"})
        assert provider.requests == []


def test_a_model_that_can_call_no_tools_says_so() -> None:
    known = load().model_cost
    name = next(
        name
        for name, facts in known.items()
        if facts.get("supports_function_calling") is False and facts.get("mode") == "chat"
    )
    assert LiteLLMModel(name).capabilities == frozenset()


def test_a_model_that_nobody_knows_is_taken_to_call_tools() -> None:
    assert LiteLLMModel("openai/fake").capabilities == {"tools"}


# How litellm is loaded


def run_python(code: str, folder: Path) -> Any:
    """Run `code` in a fresh interpreter inside `folder`; gives the JSON it prints."""
    tree = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": tree, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


LOADING = """
import json, os, sys
events = []
sys.addaudithook(lambda name, _: events.append(name) if name.startswith("socket.") else None)
import memnb.llm.litellm_model as ours
before = dict(os.environ)
was_lazy = "litellm" not in sys.modules
window = ours.LiteLLMModel("openai/gpt-4o-mini").context_tokens
still_lazy = "litellm" not in sys.modules
from memnb.llm.litellm_loading import load
load()
changed = {k: v for k, v in os.environ.items() if before.get(k) != v}
print(json.dumps([was_lazy, window, still_lazy, events, changed]))
"""


def test_loading_is_late_silent_and_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_BASE=http://127.0.0.1:9/elsewhere\n")
    was_lazy, window, still_lazy, events, changed = run_python(LOADING, tmp_path)
    assert (was_lazy, window, still_lazy) == (True, None, True)
    # urllib3 binds one at import to learn whether there is IPv6; it is connected to nobody.
    assert set(events) <= {"socket.__new__", "socket.bind"}
    assert changed == {"LITELLM_OFFLINE_MODE": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
