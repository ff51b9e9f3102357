"""The local model's turn, its process, and every way in which they end."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

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
    ContextTooLong,
    ModelError,
    ModelTimeout,
    ModelUnavailable,
    NoModel,
)
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.local_model import LocalModel

STAND_IN = Path(__file__).with_name("stand_in")
NAME = "local/qwen2.5-coder-0.5b"
RUN = ToolSpec("run_python", "", {"type": "object", "properties": {"code": {"type": "string"}}})
WAIT_SECONDS = 30.0
"""How long a test waits for what must happen; far more than it takes."""


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Weights for the stand-in: an order for its start, "" to start well."""
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))
    path = tmp_path / "weights.gguf"
    path.write_text("")
    return path


@pytest.fixture
def model(weights: Path) -> Iterator[LocalModel]:
    made = LocalModel(NAME, weights=weights, threads=1)
    yield made
    made.close()


def ask(order: str, *, tools: tuple[ToolSpec, ...] = (), seconds: float = 60.0) -> Request:
    return Request("guidance", "", (Message("user", order),), tools, timeout_seconds=seconds)


def events(model: LocalModel, request: Request) -> list[Event]:
    return list(model.stream(request, CancelSwitch()))


def text_of(found: list[Event]) -> str:
    return "".join(event.text for event in found if isinstance(event, Text))


def started(model: LocalModel) -> int:
    """The process id of the model's child, after an ordinary request."""
    assert events(model, ask("hello"))[-1] == Stop("end")
    assert model.child is not None
    return model.child.pid


def becomes(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_gone(pid: int) -> bool:
    """Whether no process of that id runs; one that nobody has waited for counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_the_first_request_says_what_it_starts_and_later_ones_do_not(model: LocalModel) -> None:
    first = events(model, ask("hello"))
    assert isinstance(first[0], Notice)
    assert "starting the local model Qwen2.5-Coder-0.5B" in first[0].text
    second = events(model, ask("hello"))
    assert not any(isinstance(event, Notice) for event in second)


def test_the_process_is_kept_for_the_next_request(model: LocalModel) -> None:
    assert started(model) == started(model)


def test_an_answer_streams_and_ends_with_what_it_cost(model: LocalModel) -> None:
    assert events(model, ask("cut"))[1:] == [
        Text("half"),
        Usage(10, 3, cost_nusd=0),
        Stop("length"),
    ]


def test_a_chosen_tool_is_called_without_an_answer(model: LocalModel) -> None:
    assert events(model, ask("call", tools=(RUN,)))[1:] == [
        Call("c1", "run_python", '{"code": "1+1"}'),
        Usage(10, 3, cost_nusd=0),
        Stop("calls"),
    ]


def test_when_no_tool_is_chosen_the_usage_of_both_steps_is_summed(model: LocalModel) -> None:
    found = events(model, ask("cut", tools=(RUN,)))
    assert Usage(20, 6, cost_nusd=0) in found


def test_the_answer_step_knows_of_no_tools(model: LocalModel) -> None:
    body = json.loads(text_of(events(model, ask("hello", tools=(RUN,)))))
    assert body["messages"] == [
        {"role": "system", "content": "guidance"},
        {"role": "user", "content": "hello"},
    ]
    assert "run_python" not in json.dumps(body)


def test_the_answer_is_held_to_a_schema_of_the_reply(model: LocalModel) -> None:
    found = events(model, replace(ask("hello"), schema={"type": "object"}))
    assert text_of(found) == '{"tool": "answer"}'  # as the stand-in answers where one is sent


def after_a_tool(result: str) -> Request:
    messages = (
        Message("user", "cut"),
        Message("assistant", "", (Call("c1", "run_python", '{"code": "1+1"}'),)),
        Message("tool", result, call_id="c1", name="run_python"),
    )
    return Request("", "", messages, (RUN,))


def test_after_a_tool_result_the_answer_follows_at_once(model: LocalModel) -> None:
    found = events(model, after_a_tool("2"))
    assert Usage(10, 3, cost_nusd=0) in found
    assert found[-1] == Stop("end")


def test_what_code_knows_for_sure_costs_no_request(model: LocalModel) -> None:
    assert events(model, after_a_tool("(no output)"))[1:] == [
        Text("It ran and printed nothing."),
        Usage(0, 0, cost_nusd=0),
        Stop("end"),
    ]


@pytest.mark.parametrize(
    ("order", "error", "said"),
    [
        pytest.param("too long", ContextTooLong, "9030 tokens", id="too long"),
        pytest.param("refuse", ModelUnavailable, "refused", id="refused"),
        pytest.param("half, then refuse", ModelUnavailable, "refused", id="refused in the stream"),
        pytest.param("die", ModelUnavailable, "stopped working", id="died"),
        pytest.param("half, then nonsense", ModelUnavailable, "stopped working", id="nonsense"),
        pytest.param("hang", ModelTimeout, "nothing for 0.5 s", id="no first token"),
        pytest.param("half, then hang", ModelTimeout, "nothing for 0.5 s", id="no next token"),
    ],
)
def test_a_failure_is_one_line_without_payload_and_the_next_request_works(
    model: LocalModel, order: str, error: type[ModelError], said: str
) -> None:
    started(model)
    with pytest.raises(error, match=said) as caught:
        events(model, ask(order, seconds=0.5))
    assert "PAYLOAD" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert started(model)


@pytest.mark.parametrize(
    ("order", "tools"),
    [
        pytest.param("hang", (), id="before the first token"),
        pytest.param("half, then hang", (), id="in the answer"),
        pytest.param("hang while routing", (RUN,), id="in the routing step"),
    ],
)
def test_a_cancelled_request_ends_without_a_stop_and_leaves_the_child_idle(
    model: LocalModel, order: str, tools: tuple[ToolSpec, ...]
) -> None:
    pid = started(model)
    cancel = CancelSwitch()
    threading.Timer(0.3, cancel.request).start()
    found = list(model.stream(ask(order, tools=tools), cancel))
    assert not any(isinstance(event, Stop) for event in found)
    child = model.child
    assert child is not None
    assert becomes(child.is_idle)
    assert started(model) == pid


@pytest.mark.parametrize("ending", ["cancelled, and nobody reads on", "dropped"])
def test_a_child_that_goes_on_after_the_end_is_replaced(model: LocalModel, ending: str) -> None:
    started(model)
    cancel = CancelSwitch()
    stream = model.stream(ask("stuck"), cancel)
    assert next(stream) == Text("half")
    child = model.child
    assert child is not None
    if ending == "dropped":
        stream.close()  # type: ignore[attr-defined]
    else:
        cancel.request()
    assert becomes(lambda: not child.alive)
    assert list(stream) == []
    assert started(model) != child.pid


def test_a_reply_that_is_dropped_halfway_leaves_the_child_idle(model: LocalModel) -> None:
    pid = started(model)
    stream = model.stream(ask("half, then hang"), CancelSwitch())
    assert next(stream) == Text("half")
    stream.close()  # type: ignore[attr-defined]
    child = model.child
    assert child is not None
    assert becomes(child.is_idle)
    assert started(model) == pid


def test_a_request_cancelled_before_it_begins_starts_nothing(model: LocalModel) -> None:
    cancel = CancelSwitch()
    cancel.request()
    assert list(model.stream(ask("hello"), cancel)) == []
    assert model.child is None


def test_a_cancel_while_the_weights_load_ends_the_request(model: LocalModel, weights: Path) -> None:
    weights.write_text("hang")
    cancel = CancelSwitch()
    stream = model.stream(ask("hello"), cancel)
    assert isinstance(next(stream), Notice)
    reading = threading.Thread(target=list, args=(stream,), daemon=True)
    reading.start()
    cancel.request()
    reading.join(WAIT_SECONDS)
    assert not reading.is_alive()
    weights.write_text("")
    assert started(model)


def test_a_cancel_while_the_weights_are_looked_for_ends_the_request(weights: Path) -> None:
    weights.write_text("hang")
    cancel = CancelSwitch()

    def find() -> Path:
        cancel.request()
        return weights

    stream = LocalModel(NAME, weights=find, threads=1).stream(ask("hello"), cancel)
    reading = threading.Thread(target=list, args=(stream,), daemon=True)
    reading.start()
    reading.join(WAIT_SECONDS)
    assert not reading.is_alive()


def test_a_cancel_after_a_reply_without_the_model_leaves_the_child(model: LocalModel) -> None:
    cancel = CancelSwitch()
    list(model.stream(after_a_tool("(no output)"), cancel))
    cancel.request()
    assert model.child is not None
    pid = model.child.pid
    assert started(model) == pid


def test_a_module_in_the_notebooks_folder_is_not_imported_by_the_child(
    model: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    assert started(model)


def test_a_cancel_after_the_end_does_nothing(model: LocalModel) -> None:
    cancel = CancelSwitch()
    list(model.stream(ask("hello"), cancel))
    pid = started(model)
    cancel.request()
    assert started(model) == pid


@pytest.mark.parametrize("order", ["abort", "no such architecture"])
def test_weights_that_cannot_be_loaded_are_one_line(
    model: LocalModel, weights: Path, order: str
) -> None:
    weights.write_text(order)
    with pytest.raises(ModelUnavailable, match="could not be started"):
        events(model, ask("hello"))
    assert model.child is None


def test_without_the_runtime_a_line_says_how_to_install_it(
    model: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(NoModel, match=r"pip install 'memnb\[local\]'"):
        events(model, ask("hello"))


def test_weights_are_looked_for_at_the_first_request_only(weights: Path) -> None:
    looked: list[str] = []

    def find() -> Path:
        looked.append("")
        return weights

    model = LocalModel(NAME, weights=find, threads=1)
    assert looked == []
    started(model)
    started(model)
    model.close()
    assert len(looked) == 1


def test_weights_that_are_not_there_are_the_callers_error() -> None:
    def find() -> Path:
        raise NoModel("fetch them")

    with pytest.raises(NoModel, match="fetch them"):
        events(LocalModel(NAME, weights=find), ask("hello"))


def test_a_closed_model_has_no_process_and_may_be_used_again(model: LocalModel) -> None:
    started(model)
    child = model.child
    assert child is not None
    model.close()
    assert not child.alive
    assert started(model) != child.pid


def test_a_child_that_was_killed_is_started_anew(model: LocalModel) -> None:
    pid = started(model)
    os.kill(pid, signal.SIGTERM)
    assert becomes(lambda: model.child is None)
    assert started(model) != pid


def test_a_model_that_is_dropped_takes_its_process_along(weights: Path) -> None:
    model = LocalModel(NAME, weights=weights, threads=1)
    started(model)
    child = model.child
    assert child is not None
    process = child._process
    del model, child
    gc.collect()
    assert process.poll() is not None


def test_the_child_refuses_whoever_has_no_key(model: LocalModel) -> None:
    started(model)
    assert model.child is not None
    model.child._key = "guessed"
    with pytest.raises(ModelUnavailable, match="refused"):
        events(model, ask("hello"))


def test_the_key_is_neither_in_the_arguments_nor_in_the_environment(model: LocalModel) -> None:
    started(model)
    child = model.child
    assert child is not None
    assert child._key not in " ".join(map(str, child._process.args))
    assert child._key not in text_of(events(model, ask("environment")))


def test_the_child_has_none_of_the_parents_keys(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-parents")
    assert "sk-parents" not in text_of(events(model, ask("environment")))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_of_the_kernel_can_neither_use_nor_stop_the_child(model: LocalModel) -> None:
    pid = started(model)
    forked = os.fork()
    if not forked:  # in the fork
        used = model.child is not None
        with contextlib.suppress(BaseException):
            model.close()
        os._exit(1 if used else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    assert started(model) == pid


PARENT = """
    import os, sys, time
    from pathlib import Path
    from memnb.core.messages import Message, Request
    from memnb.llm.cancelling import CancelSwitch
    from memnb.llm.local_model import LocalModel
    os.environ["PYTHONPATH"] = sys.argv[1]
    model = LocalModel("local/x", weights=Path(sys.argv[2]), threads=1)
    list(model.stream(Request("", "", (Message("user", "hello"),)), CancelSwitch()))
    child, forked = model.child.pid, 0
    if sys.argv[3] == "fork" and not (forked := os.fork()):
        time.sleep(300)
        os._exit(0)
    print(child, forked, flush=True)
    if sys.argv[3] == "exit":
        sys.exit()
    time.sleep(30)
"""


@on_linux
@pytest.mark.parametrize(
    "ending",
    [
        pytest.param("kill", id="killed"),
        pytest.param("fork", id="killed while a fork of it lives on"),
        pytest.param("exit", id="at its end"),
    ],
)
def test_the_child_goes_with_its_parent(children: object, weights: Path, ending: str) -> None:
    parent = children.start(PARENT, STAND_IN, weights, ending)  # type: ignore[attr-defined]
    pid, forked = map(int, parent.stdout.readline().split())
    if ending != "exit":
        parent.kill()
    parent.wait()
    try:
        assert becomes(lambda: is_gone(pid))
    finally:
        for process in filter(None, [forked]):
            os.kill(process, signal.SIGKILL)


@on_linux
def test_an_interrupt_of_the_kernel_does_not_reach_the_child(model: LocalModel) -> None:
    pid = started(model)
    assert os.getsid(pid) == pid
