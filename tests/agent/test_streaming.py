from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memnb.agent.streaming import stream
from memnb.core.messages import Cancel, Event, Message, Request, Stop, Text, Usage
from memnb.errors import ModelTimeout
from memnb.llm.scripted_model import After, ScriptedModel
from memories import TESTS, BareModel, Children, Desk

ASKED = Request("", "", (Message("user", "hello"),))


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "memnb" in thread.name]


def all_ended(threads: list[threading.Thread]) -> bool:
    for thread in threads:
        thread.join(20)
    return not any(thread.is_alive() for thread in threads)


def test_events_come_in_order_to_the_end() -> None:
    events = [Text("a"), Text("b"), Usage(1, 2, 3), Stop("end")]
    assert list(stream(BareModel(*events), ASKED)) == events


def test_the_model_works_in_a_thread_of_its_own() -> None:
    names: list[str] = []

    class Model(BareModel):
        def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
            names.append(threading.current_thread().name)
            yield from super().stream(request, cancel)

    list(stream(Model(Text("a")), ASKED))
    assert names == ["memnb model request"]


@pytest.mark.parametrize("error", [ModelTimeout("no answer; try again."), ValueError("fault")])
def test_what_the_model_raises_is_raised_here_after_what_came(error: Exception) -> None:
    came: list[Event] = []
    model = ScriptedModel([After("one two", error)])
    with pytest.raises(type(error)):
        came.extend(stream(model, ASKED))
    assert came == [Text("one "), Text("two")]


def test_a_model_that_cannot_even_begin_is_raised_here() -> None:
    class Model(BareModel):
        def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
            raise ModelTimeout("no answer; try again.")

    with pytest.raises(ModelTimeout):
        list(stream(Model(), ASKED))


def test_closing_tells_the_model_to_stop() -> None:
    told = threading.Event()

    class Model(BareModel):
        def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
            cancel.on_request(told.set)
            yield Text("one")
            told.wait(60)

    events = stream(Model(), ASKED)
    assert next(events) == Text("one")
    assert not told.is_set()
    events.close()  # type: ignore[attr-defined]
    assert told.is_set()
    assert all_ended(workers())


def test_a_model_that_ignores_the_end_holds_nobody_up() -> None:
    release = threading.Event()

    class Deaf(BareModel):
        def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
            yield Text("one")
            release.wait(60)
            yield Text("two")

    events = stream(Deaf(), ASKED)
    assert next(events) == Text("one")
    events.close()  # type: ignore[attr-defined]
    (deaf,) = workers()
    assert deaf.is_alive()
    assert deaf.daemon
    release.set()
    assert all_ended([deaf])


def test_ctrl_c_while_the_model_streams_keeps_what_came_and_ends_whole(
    tmp_path: Path, children: Children
) -> None:
    child = children.start(
        """
        import sys, threading
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from memories import BareModel, Desk, scripted
        from memnb.core.messages import Text

        desk = Desk(Path(sys.argv[1]))

        class Shown(list):
            def append(self, event):
                print("shown", event.text, flush=True)

        desk.events = Shown()
        before = set(threading.enumerate())

        class Slow(BareModel):
            # Says one word, and waits for ever unless it is told to stop.

            def stream(self, request, cancel):
                stop = threading.Event()
                cancel.on_request(stop.set)
                yield Text("one ")
                stop.wait()

        answer = desk.ask("count", Slow())
        left = [t for t in threading.enumerate() if t not in before]
        for thread in left:
            thread.join(20)
        alive = [t.name for t in left if t.is_alive()]
        print("end", answer.end, len(alive), desk.bodies("assistant")[-1]["stop"], flush=True)
        print("text", answer.text, flush=True)
        print("again", desk.ask("go on", scripted("ok")).end, flush=True)
        """,
        tmp_path / "project",
        TESTS,
    )
    assert child.stdout is not None
    lines = iter(child.stdout.readline, "")
    for line in lines:
        if line.startswith("shown one"):
            break
    child.send_signal(signal.SIGINT)
    rest = [line.split() for line in lines]
    assert child.wait(60) == 0
    assert ["end", "interrupted", "0", "interrupted"] in rest
    assert ["text", "one"] in rest
    assert rest[-1] == ["again", "complete"]
    desk = Desk(tmp_path / "project")
    (session_id,) = desk.stores.sessions.ids()
    assert [body["end"] for body in desk.bodies("turn_end", session_id)] == [
        "interrupted",
        "complete",
    ]
    desk.close()
