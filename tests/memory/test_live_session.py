from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.errors import InputError, SessionHeld, UnknownId
from memories import EUR, SPLIT, TESTS, Children, Desk, saying, scripted

# --- beginning and ending ------------------------------------------------------------------------


def test_nothing_exists_before_the_first_record(desk: Desk) -> None:
    session = desk.memory.session
    assert (session.session_id, session.chain_head, session.history()) == (None, None, None)
    session.clear()
    session.note_head()
    session.end("new")
    assert not desk.folder.exists()


def test_the_first_record_begins_the_session(desk: Desk) -> None:
    desk.ask("hello", saying("hi"))
    assert desk.types() == ["session_start", "user", "assistant", "turn_end"]
    assert re.fullmatch(r"S-20261130-0900\d\d-[0-9a-z]{6}", desk.session_id)


def test_after_the_end_another_session_begins(desk: Desk) -> None:
    desk.ask("hello", saying("hi"))
    first = desk.session_id
    desk.memory.session.end("new")
    assert desk.types(first)[-1] == "session_end"
    desk.ask("hello", saying("hi"))
    assert desk.session_id != first


def test_records_follow_each_other_without_gaps(desk: Desk) -> None:
    for _ in range(3):
        desk.ask("hello", saying("hi"))
        desk.memory.session.undo()
    records = desk.records()
    assert [record.head.seq for record in records] == list(range(1, len(records) + 1))
    assert [r.head.prev for r in records[1:]] == [r.head_digest for r in records[:-1]]


# --- undo, redo, clear ---------------------------------------------------------------------------


def test_undo_names_the_turn_as_people_count(desk: Desk) -> None:
    desk.remember(EUR)  # a statement is no turn
    desk.ask("first", saying("1"))
    desk.ask("second", saying("2"))
    assert desk.memory.session.undo() == 2
    assert desk.memory.session.undo() == 1
    with pytest.raises(InputError, match="nothing to undo"):
        desk.memory.session.undo()
    assert desk.memory.session.redo() == 1
    assert desk.memory.session.redo() == 2
    with pytest.raises(InputError, match="nothing to redo"):
        desk.memory.session.redo()


def test_a_fact_whose_message_is_undone_leaves_the_prompt_and_comes_back(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    before = desk.section()
    assert EUR in before
    desk.memory.session.undo()
    assert desk.status(fact_id) == "hidden"
    assert desk.section() == ""
    desk.memory.session.redo()
    assert desk.status(fact_id) == "valid"
    assert desk.section() == before


def test_a_statement_is_not_undone(desk: Desk) -> None:
    desk.ask("hello", saying("hi"))
    desk.remember(EUR)
    desk.memory.session.undo()
    assert EUR in desk.section()


def test_clear_keeps_facts_and_empties_the_context(desk: Desk) -> None:
    desk.learn(EUR)
    desk.memory.session.clear()
    assert EUR in desk.section()
    model = saying("hi")
    desk.ask("what was said?", model)
    assert [message.text for message in model.requests[0].messages] == ["what was said?"]


def test_a_message_before_a_clear_is_no_evidence_for_a_new_fact(desk: Desk) -> None:
    desk.ask(EUR, saying("ok"))
    desk.memory.session.clear()
    answer = desk.ask("save it", scripted(("memory_remember", {"text": EUR}), "ok"), mode="auto")
    assert not answer.remembered
    assert desk.stores.facts.count() == 0


def test_an_undone_message_is_not_sent_again(desk: Desk) -> None:
    desk.ask("the first question", saying("the first answer"))
    desk.memory.session.undo()
    model = saying("hi")
    desk.ask("the second question", model)
    assert len(model.requests[0].messages) == 1


@settings(max_examples=12)
@given(st.lists(st.sampled_from(["ask", "state", "undo", "clear"]), max_size=6))
def test_undo_then_redo_is_identity(
    tmp_path_factory: pytest.TempPathFactory, operations: list[str]
) -> None:
    desk = Desk(tmp_path_factory.mktemp("any") / "project")
    session = desk.memory.session

    def seen() -> tuple[object, ...]:
        history = session.history()
        assert history is not None
        view = desk.memory.histories.view(history)
        return view.undone, view.cleared_to, view.hidden, desk.section()

    for number, operation in enumerate(operations):
        if operation == "ask":
            desk.ask(f"question {number}", saying("answer"))
        elif operation == "state":
            desk.remember(f"fact {number}")
        elif operation == "clear":
            session.clear()
        else:
            try:
                turn = session.undo()
            except InputError:
                continue
            hidden = seen()
            assert session.redo() == turn
            shown = seen()
            assert session.undo() == turn
            assert seen() == hidden
            assert session.redo() == turn
            assert seen() == shown
    desk.close()


# --- two kernels ---------------------------------------------------------------------------------


def test_two_kernels_have_two_sessions_and_one_set_of_facts(desk: Desk) -> None:
    other = desk.beside()
    desk.remember(EUR)
    other.remember(SPLIT)
    assert desk.session_id != other.session_id
    assert desk.section() == other.section()
    other.close()


def test_a_session_that_another_kernel_holds_is_not_resumed(desk: Desk) -> None:
    desk.ask("hello", saying("hi"))
    other = desk.beside()
    with pytest.raises(SessionHeld, match=rf"eda\.ipynb \(pid {os.getpid()}\)") as caught:
        other.memory.session.resume(desk.session_id)
    assert "eda.ipynb" in caught.value.holder
    assert other.memory.session.session_id is None
    desk.ask("still mine", saying("yes"))
    other.close()


def test_a_session_can_be_resumed_when_its_kernel_let_go(desk: Desk) -> None:
    desk.ask("the first question", saying("the first answer"))
    first = desk.session_id
    desk.memory.session.end("close")
    other = desk.beside()
    other.ask("in between", saying("ok"))
    between = other.session_id
    other.memory.session.resume(first)
    model = saying("as I said")
    answer = other.ask("what did you say?", model)
    assert (answer.session_id, answer.turn) == (first, 2)
    assert "the first answer" in [message.text for message in model.requests[0].messages]
    assert other.types(between)[-1] == "session_end"
    other.close()


def test_resuming_an_unknown_session_keeps_the_present_one(desk: Desk) -> None:
    desk.ask("hello", saying("hi"))
    with pytest.raises(UnknownId):
        desk.memory.session.resume("S-20261130-091005-7k2m9q")
    desk.ask("again", saying("hi"))
    assert desk.types().count("session_start") == 1


@pytest.mark.parametrize(
    "session_id",
    ["", "..", "../S-20261130-091005-7k2m9q", "S-20261130-091005", "S-20261130-091005-7k2m9q\n"],
)
def test_what_is_no_session_id_is_unknown(desk: Desk, session_id: str) -> None:
    desk.remember(EUR)
    with pytest.raises(UnknownId):
        desk.memory.session.resume(session_id)


def test_a_dead_kernels_open_exchange_is_closed_as_lost_by_the_next(
    desk: Desk, children: Children
) -> None:
    child = children.start(
        """
        import os, signal, sys
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from memories import Desk, scripted

        desk = Desk(Path(sys.argv[1]))
        model = scripted(lambda request: os.kill(os.getpid(), signal.SIGKILL))
        print(desk.remember("We use tabs."), flush=True)
        print(desk.session_id, flush=True)
        desk.ask("a question", model)
        """,
        desk.folder,
        TESTS,
    )
    assert child.wait(60) == -signal.SIGKILL
    assert child.stdout is not None
    session_id = child.stdout.read().split()[-1]
    assert desk.types(session_id)[-1] == "user"
    assert "We use tabs." in desk.section()

    desk.ask("hello", saying("hi"))
    assert desk.types(session_id)[-1] == "turn_end"
    assert desk.bodies("turn_end", session_id)[-1]["end"] == "lost"
    desk.ask("hello", saying("hi"))
    assert desk.types(session_id).count("turn_end") == 1
    assert "We use tabs." in desk.section()


def test_the_exchange_of_a_kernel_that_lives_is_left_alone(desk: Desk) -> None:
    other = desk.beside()

    def answer(_: object) -> str:
        other.remember(EUR)
        return "hi"

    desk.ask("hello", scripted(answer))
    assert [body["end"] for body in desk.bodies("turn_end")] == ["complete"]
    other.close()


def test_a_torn_last_line_is_set_aside_told_once_and_the_session_goes_on(desk: Desk) -> None:
    desk.learn(EUR)
    session_id = desk.session_id
    desk.close()
    path = desk.folder / "sessions" / f"{session_id}.jsonl"
    torn = b'{"body":{"torn'
    with path.open("ab") as file:
        file.write(torn)
    other = desk.beside()
    other.memory.session.resume(session_id)
    (notice,) = other.memory.session.notices
    assert "\n" not in notice
    (aside,) = (desk.folder / "sessions").glob("*.torn-*")
    assert aside.name in notice
    assert aside.read_bytes() == torn
    other.ask("hello", saying("hi"))
    assert EUR in other.section()
    assert other.types()[-1] == "turn_end"
    other.close()


# --- interrupts ----------------------------------------------------------------------------------


def test_an_interrupt_while_the_first_message_is_written_leaves_a_session_that_goes_on(
    tmp_path: Path, children: Children
) -> None:
    # The signal comes when the session's file is opened for its first write.
    out = children.run(
        """
        import os, signal, sys
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from memories import Desk, saying

        signals = [signal.SIGINT]

        def interrupt(event, arguments):
            if event == "open" and str(arguments[0]).endswith(".jsonl") and signals:
                if arguments[2] & os.O_APPEND:
                    os.kill(os.getpid(), signals.pop())

        sys.addaudithook(interrupt)
        desk = Desk(Path(sys.argv[1]))
        try:
            print(desk.ask("first", saying("one")).end)
        except KeyboardInterrupt:
            print("raised")
        print(desk.ask("second", saying("two")).end)
        (first, *others) = desk.stores.sessions.ids()
        print(len(others), ",".join(body["end"] for body in desk.bodies("turn_end", first)))
        """,
        tmp_path / "project",
        TESTS,
    )
    first, second, rest = out.splitlines()
    assert second == "complete"
    # One session, in which the message that was interrupted is closed as such.
    assert rest == "0 interrupted,complete"
    assert first in ("interrupted", "raised")
