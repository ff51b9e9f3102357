from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memnb
from memnb.agent.reply import ToolDone
from memnb.core.bodies import Part
from memnb.core.messages import Request, Text
from memnb.errors import (
    ConfigError,
    FileChanged,
    GenerationChanged,
    InputError,
    ModelUnavailable,
    Refused,
    SessionHeld,
    StoreReadOnly,
    UnknownId,
)
from memories import EUR, SECRET, SPLIT, BareModel, Children, everything, saying, scripted

Opener = Callable[..., memnb.Memory]


def files(memory: memnb.Memory) -> dict[str, bytes]:
    """All files that are kept for the project, but what SQLite keeps beside its own."""
    kept = memory.project.folder
    return {
        str(path.relative_to(kept)): path.read_bytes()
        for path in sorted(kept.rglob("*"))
        if path.is_file() and not path.name.startswith("facts.sqlite3")
    }


def learned(memory: memnb.Memory, text: str) -> str:
    """A fact that the model saved from a message of this session; gives its id."""
    model = scripted(("memory_remember", {"text": text}), "ok")
    (reference,) = memory.ask(text, model=model, mode="auto").answer.remembered
    return reference.partition("@")[0]


# --- opening -------------------------------------------------------------------------------------


def test_opening_and_looking_creates_nothing(memory: memnb.Memory, own_home: Path) -> None:
    memory.status()
    memory.facts()
    memory.sessions()
    memory.search("anything")
    memory.notes.names()
    memory.config()
    memory.where()
    memory.clear()
    assert not (own_home / "memnb").exists()
    assert not (own_home / "memnb-state").exists()


def test_what_one_kernel_keeps_the_next_one_has(folder: Path) -> None:
    with memnb.open(folder) as memory:
        fact_id = memory.remember(EUR).fact_id
    with memnb.open(folder) as memory:
        assert memory.recall(fact_id).page.text == EUR
        model = saying("ok")
        memory.ask("hello", model=model)
        assert EUR in model.requests[0].memory


@pytest.mark.parametrize("looks", [False, True], ids=["unseen", "after a look"])
def test_a_kernel_that_was_opened_before_anything_was_kept_sees_what_another_keeps(
    memory: memnb.Memory, reopen: Opener, *, looks: bool
) -> None:
    other = reopen()
    fact_id = other.remember(EUR).fact_id
    other.ask("hello", model=saying("hi"))
    session_id = other.status().session_id or ""
    if looks:
        assert [row.text for row in memory.facts().rows] == [EUR]
        assert [row.session_id for row in memory.sessions().rows] == [session_id]
    model = saying("ok")
    memory.ask("hello", model=model)
    assert EUR in model.requests[0].memory
    assert memory.recall(fact_id).status == "valid"
    assert [row.type for row in memory.session(session_id).rows][-1] == "turn_end"


def test_two_projects_share_nothing(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with memnb.open(tmp_path / "one") as one, memnb.open(tmp_path / "two") as two:
        fact_id = one.remember(EUR).fact_id
        one.ask("hello", model=saying("hi"))
        session_id = one.status().session_id
        assert session_id
        assert two.facts().rows == ()
        for look in (
            lambda: two.fact(fact_id),
            lambda: two.forget(fact_id),
            lambda: two.session(session_id),
            lambda: two.resume(session_id),
        ):
            with pytest.raises(UnknownId):
                look()


def test_a_home_can_be_named(folder: Path, tmp_path: Path, own_home: Path) -> None:
    with memnb.open(folder, home=tmp_path / "elsewhere") as memory:
        memory.remember(EUR)
        assert memory.project.folder.is_relative_to(tmp_path / "elsewhere")
    assert not (own_home / "memnb").exists()


def test_everything_kept_is_private(memory: memnb.Memory, own_home: Path) -> None:
    memory.remember(EUR)
    memory.notes.append("scratchpad", "todo")
    memory.ask("hello", model=saying("hi"))
    for base in (own_home / "memnb", own_home / "memnb-state"):
        for path in (base, *base.rglob("*")):
            assert path.stat().st_mode & 0o077 == 0, path


# --- read-only -----------------------------------------------------------------------------------


WRITERS: list[Any] = [
    pytest.param(lambda m: m.remember(SPLIT), id="remember"),
    pytest.param(lambda m: m.forget(m.facts().rows[0].fact_id), id="forget"),
    pytest.param(lambda m: m.correct(m.facts().rows[0].fact_id, SPLIT, revision=1), id="correct"),
    pytest.param(lambda m: m.notes.append("scratchpad", "x"), id="append"),
    pytest.param(lambda m: m.notes.write("plan", "x", version=""), id="write"),
    pytest.param(lambda m: m.ask("hello", model=saying("hi")), id="ask"),
    pytest.param(lambda m: m.resume(m.sessions().rows[0].session_id), id="resume"),
    pytest.param(lambda m: m.accept(), id="accept"),
    pytest.param(lambda m: m.aside(), id="aside"),
]


@pytest.mark.parametrize("write", WRITERS)
def test_a_memory_that_was_opened_read_only_is_not_written(
    memory: memnb.Memory, reopen: Opener, write: Callable[[memnb.Memory], object]
) -> None:
    memory.remember(EUR)
    memory.ask("hello", model=saying("hi"))
    memory.notes.append("MEMORY", "text")
    memory.close()
    before = files(memory)
    reader = reopen(read_only=True)
    with pytest.raises(StoreReadOnly) as caught:
        write(reader)
    assert "\n" not in str(caught.value)
    assert [row.text for row in reader.facts().rows] == [EUR]
    reader.close()
    assert files(memory) == before


def test_a_read_only_memory_answers_in_private(memory: memnb.Memory, reopen: Opener) -> None:
    memory.remember(EUR)
    memory.close()
    model = saying("hi")
    reader = reopen(read_only=True)
    assert reader.ask("hello", model=model, private=True).text == "hi"
    assert EUR in model.requests[0].memory


# --- remember, correct, forget -------------------------------------------------------------------


def test_a_statement_says_at_once_whether_it_is_in_the_prompt(memory: memnb.Memory) -> None:
    first = memory.remember(EUR)
    assert (first.outcome, first.revision, first.in_prompt, first.reason) == ("new", 1, True, "")
    memory.config("memory.facts_max_bytes", "60")
    long = memory.remember("x" * 60)
    assert (long.outcome, long.in_prompt, long.reason) == ("new", False, "no room")
    assert "facts_max_bytes" in str(long)


def test_a_statement_names_at_once_what_has_no_room_any_more_beside_it(
    memory: memnb.Memory,
) -> None:
    first = memory.remember(EUR)
    assert first.displaced == ()
    memory.config("memory.facts_max_bytes", "60")
    second = memory.remember(SPLIT)
    assert (second.in_prompt, second.displaced) == (True, (first.fact_id,))
    assert f"no room in the prompt any more for {first.fact_id}" in str(second)
    assert "facts_max_bytes" in str(second)
    assert memory.remember(SPLIT).displaced == ()  # that was said


def test_a_correction_names_what_it_displaces_too(memory: memnb.Memory) -> None:
    first, second = memory.remember(EUR), memory.remember(SPLIT)
    memory.config("memory.facts_max_bytes", "120")
    corrected = memory.correct(first.fact_id, "x" * 90, revision=1)
    assert (corrected.in_prompt, corrected.displaced) == (True, (second.fact_id,))


def test_a_turn_says_once_what_has_left_the_prompt_since_the_one_before(
    memory: memnb.Memory, reopen: Opener
) -> None:
    first = memory.remember(EUR)
    memory.config("memory.facts_max_bytes", "60")
    assert memory.ask("hello", model=saying("hi")).answer.notices == ()
    other = reopen()
    other.remember(SPLIT)
    other.close()
    (notice,) = memory.ask("hello", model=saying("hi")).answer.notices
    assert notice.startswith(f"no room in the prompt any more for {first.fact_id};")
    assert memory.ask("hello", model=saying("hi")).answer.notices == ()


def test_what_a_statement_has_said_no_turn_says_again(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    memory.config("memory.facts_max_bytes", "60")
    memory.ask("hello", model=saying("hi"))
    assert memory.remember(SPLIT).displaced
    assert memory.ask("hello", model=saying("hi")).answer.notices == ()


@pytest.mark.parametrize("end", ["forget", "expire"])
def test_a_fact_that_was_taken_out_has_not_left_for_want_of_room(
    memory: memnb.Memory, end: str
) -> None:
    first = memory.remember(EUR)
    memory.ask("hello", model=saying("hi"))
    if end == "forget":
        memory.forget(first.fact_id)
    else:
        memory.expire(first.fact_id, memory.runtime.now())
    assert memory.ask("hello", model=saying("hi")).answer.notices == ()


def test_what_is_said_to_be_in_the_prompt_is_what_a_request_carries(memory: memnb.Memory) -> None:
    # The window of the model that answers limits memory too.
    model = scripted("ok", context_tokens=2048, repeat_last=True)
    small = memnb.open(memory.project.root, model=model)
    said = [small.remember(f"Convention number {number}: {'x' * 150}") for number in range(12)]
    small.config("agent.output_tokens", "100")
    carried = {ref.partition("@")[0] for ref in small.ask("hello").answer.carried}
    assert {row.fact_id for row in small.facts().rows if row.in_prompt} == carried
    assert all(one.in_prompt for one in said)
    displaced = {fact_id for one in said for fact_id in one.displaced}
    assert displaced
    assert {one.fact_id for one in said} - displaced == carried
    assert small.status().n_in_prompt == len(carried)
    small.close()


def test_times_may_be_local_or_in_any_zone(memory: memnb.Memory) -> None:
    now = datetime.now(UTC)  # noqa: TID251  # the person's own clock
    current = memory.remember("current", valid_from=now - timedelta(days=1))
    ended = memory.remember("ended", valid_to=(now - timedelta(hours=1)).replace(tzinfo=None))
    assert current.in_prompt
    assert not ended.in_prompt
    assert ended.reason.startswith("over since ")
    assert [row.text for row in memory.facts().rows] == ["current"]
    assert [row.text for row in memory.facts(all=True).rows] == ["ended", "current"]


def test_facts_come_newest_first_and_can_be_filtered(memory: memnb.Memory) -> None:
    memory.remember("one", kind="preference")
    memory.remember("two", kind="decision")
    assert [row.text for row in memory.facts().rows] == ["two", "one"]
    assert [row.text for row in memory.facts(kind="preference").rows] == ["one"]
    assert memory.facts(scope="user").rows == ()


def test_a_history_shows_every_revision_with_the_words_it_rests_on(memory: memnb.Memory) -> None:
    fact_id = learned(memory, EUR)
    memory.correct(fact_id, SPLIT, revision=1)
    history = memory.fact(fact_id)
    second, first = history.revisions
    assert (first.text, first.basis, second.text, second.basis) == (
        EUR,
        "quote",
        SPLIT,
        "statement",
    )
    (source,) = first.sources
    assert source.message[source.start : source.end] == EUR
    assert (source.via, second.sources[0].via) == ("api", "api")


def test_a_source_of_records_can_be_cited(memory: memnb.Memory) -> None:
    memory.ask("hello", model=saying("hi"))
    session_id = memory.status().session_id or ""
    source = memory.source(session_id, 2, 3)
    fact_id = memory.remember(EUR, source=source).fact_id
    assert len(memory.fact(fact_id).revisions[0].sources) == 2
    memory.undo()
    assert memory.recall(fact_id).status == "hidden"


def test_a_receipt_tells_what_was_done_and_who_still_holds_the_text(
    memory: memnb.Memory, folder: Path
) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.notes.append("MEMORY", f"- {EUR}")
    receipt = memory.forget(fact_id)
    assert (receipt.first, receipt.generation, receipt.n_revisions) == (True, 1, 1)
    assert (receipt.n_excluded, receipt.pending) == (1, False)
    assert receipt.still_held == ("MEMORY.md line 1",)
    assert "IPython's history" in receipt.not_looked_at
    again = memory.forget(fact_id)
    assert (again.first, again.still_held) == (False, ("MEMORY.md line 1",))
    assert folder.is_dir()


def test_whatever_else_holds_the_words_is_not_sent_again(memory: memnb.Memory) -> None:
    memory.ask("And your name?", model=saying("memnb"))
    memory.ask(f"Is it so? {EUR.upper()}", model=saying(f"Yes: {EUR}"))
    fact_id = memory.remember(EUR).fact_id
    assert memory.forget(fact_id).n_excluded == 3
    model = saying("ok")
    memory.ask("What do you know?", model=model)
    request = everything(model.requests[0]).lower()
    assert "eur cents" not in request
    assert "your name" in request


SURFACES: list[Any] = [
    pytest.param(lambda m, _: str(m.facts(all=True)), id="facts"),
    pytest.param(lambda m, _: m.search("revenue"), id="search"),
    pytest.param(lambda m, _: m.search("revenue", how="literal"), id="search as typed"),
    pytest.param(lambda m, _: m.search("rev.*", how="regex"), id="search by expression"),
    pytest.param(lambda m, s: m.around(s), id="around"),
    pytest.param(lambda m, s: m.session(s), id="session"),
    pytest.param(lambda m, s: m.read(s, 1, 100), id="read"),
    pytest.param(lambda m, _: m.status(), id="status"),
    pytest.param(lambda m, _: m.sessions(), id="sessions"),
    pytest.param(lambda m, _: m.why(), id="why"),
]


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in another kernel"])
@pytest.mark.parametrize("look", SURFACES)
def test_a_forgotten_text_is_on_no_surface(
    memory: memnb.Memory,
    reopen: Opener,
    look: Callable[[memnb.Memory, str], object],
    *,
    elsewhere: bool,
) -> None:
    fact_id = learned(memory, EUR)
    memory.ask("which unit?", model=saying(f"As you said: {EUR}"))
    session_id = memory.status().session_id or ""
    assert EUR in str(memory.why())
    (reopen() if elsewhere else memory).forget(fact_id)
    shown = look(memory, session_id)
    assert "EUR cents" not in str(shown)
    assert "EUR cents" not in getattr(shown, "_repr_html_", str)()
    if hasattr(shown, "to_dict"):
        assert "EUR cents" not in json.dumps(shown.to_dict())


def test_a_text_that_the_model_forgot_is_not_in_why(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    model = scripted(("memory_forget", {"fact_id": fact_id}), "Forgotten.")
    memory.ask("forget it", model=model, approve=lambda _: True)
    assert memory.facts(all=True).rows == ()
    assert EUR not in str(memory.why())


def test_pending_bytes_are_gone_after_the_next_kernel_opened(
    memory: memnb.Memory, reopen: Opener, children: Children, folder: Path
) -> None:
    memory.remember(EUR)
    child = children.start(
        """
        import os, signal, sys, memnb
        memory = memnb.open(sys.argv[1])
        reader = memnb.open(sys.argv[1])
        with reader.runtime.memory.stores.facts.snapshot():
            reader.facts()
            (row,) = memory.facts().rows
            print(memory.forget(row.fact_id).pending, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        """,
        folder,
    )
    memory.close()
    assert child.stdout is not None
    assert child.stdout.readline() == "True\n"
    child.wait(60)
    again = reopen()
    assert again.facts().rows == ()
    assert again.status().generation == 1
    again.close()
    kept = memory.project.folder.glob("facts.sqlite3*")
    assert EUR.encode() not in b"".join(path.read_bytes() for path in kept)


# --- undo, redo, clear, sessions -----------------------------------------------------------------


def test_undo_and_redo_say_which_turn(memory: memnb.Memory) -> None:
    memory.ask("first", model=saying("one"))
    fact_id = learned(memory, EUR)
    assert "turn 2 is hidden" in str(memory.undo())
    assert memory.recall(fact_id).status == "hidden"
    assert "turn 2 is visible again" in str(memory.redo())
    assert memory.recall(fact_id).status == "valid"
    memory.clear()
    assert memory.recall(fact_id).status == "valid"


def test_new_ends_the_session_and_resume_continues_it(memory: memnb.Memory) -> None:
    memory.ask("first", model=saying("one"))
    first = memory.new()
    assert memory.new() == ""
    memory.ask("second", model=saying("two"))
    assert memory.resume(first) == first
    model = saying("three")
    reply = memory.ask("third", model=model)
    assert reply.answer.turn == 2
    assert "one" in [message.text for message in model.requests[0].messages]
    assert sorted(row.n_turns for row in memory.sessions().rows) == [1, 2]


def test_a_session_that_another_process_holds_is_refused_by_name(
    memory: memnb.Memory, children: Children, folder: Path
) -> None:
    child = children.start(
        """
        import sys, memnb
        memory = memnb.open(sys.argv[1])
        memory.ask("hello", model=memnb.ScriptedModel(["hi"]))
        print(memory.status().session_id, flush=True)
        sys.stdin.readline()
        """,
        folder,
    )
    assert child.stdout is not None
    session_id = child.stdout.readline().strip()
    with pytest.raises(SessionHeld, match=rf"a Python script \(pid {child.pid}\)") as caught:
        memory.resume(session_id)
    assert str(child.pid) in caught.value.holder
    memory.remember(EUR)
    (row,) = (row for row in memory.sessions().rows if row.session_id == session_id)
    assert (row.is_open, row.is_this) == (True, False)
    child.kill()
    child.wait()
    assert memory.resume(session_id) == session_id


def test_after_close_the_session_is_ended(memory: memnb.Memory, reopen: Opener) -> None:
    memory.ask("hello", model=saying("hi"))
    session_id = memory.status().session_id or ""
    memory.close()
    memory.close()
    again = reopen()
    assert [row.type for row in again.session(session_id).rows][-1] == "session_end"
    assert not again.sessions().rows[0].is_open


@pytest.mark.parametrize("verb", ["facts", "status", "sessions", "new", "doctor"])
def test_after_close_no_verb_goes_on(memory: memnb.Memory, verb: str) -> None:
    memory.remember(EUR)
    memory.close()
    with pytest.raises(InputError, match=r"was closed; `memnb\.open\(\)` opens it again"):
        getattr(memory, verb)()
    with pytest.raises(InputError, match="was closed"):
        memory.remember("Week starts on Monday.")


# --- asking --------------------------------------------------------------------------------------


def test_an_answer_comes_with_what_it_was_made_of(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    reply = memory.ask("which unit?", model=scripted(f"In EUR cents [{fact_id}]."))
    assert reply.text == f"In EUR cents [{fact_id}]."
    assert reply.answer.carried == reply.answer.cited == (f"{fact_id}@1",)
    rows = memory.session(reply.answer.session_id or "").rows
    user = next(row for row in rows if row.turn == 1)
    assert (user.type, user.text) == ("user", "which unit?")


def test_the_model_can_be_given_at_open_or_with_the_question(reopen: Opener) -> None:
    mine = scripted("mine", name="mine", repeat_last=True)
    memory = reopen(model=mine)
    assert memory.status().model == "mine"
    assert memory.ask("hello").text == "mine"
    assert memory.ask("hello", model=saying("other")).text == "other"
    assert memory.ask("hello").answer.model == "mine"


def test_without_anybody_to_ask_nothing_is_changed_and_it_is_said(memory: memnb.Memory) -> None:
    model = scripted(("memory_remember", {"text": EUR}), "ok")
    reply = memory.ask(EUR, model=model)
    (not_done,) = reply.answer.not_done
    assert "remember this convention" in not_done
    assert "nobody to ask" in not_done
    assert memory.facts().rows == ()


def test_whom_to_ask_is_shown_the_change(memory: memnb.Memory) -> None:
    shown = []

    def approve(change: Any) -> bool:
        shown.append((change.kind, change.preview))
        return True

    model = scripted(("memory_remember", {"text": EUR}), "ok")
    assert memory.ask(EUR, model=model, approve=approve).answer.remembered
    assert shown == [("remember_quote", EUR)]


def test_functions_can_be_given_as_tools(memory: memnb.Memory) -> None:
    def square(number: int) -> int:
        """Square a number."""
        return number * number

    events: list[Any] = []
    model = scripted(("square", {"number": 7}), "49")
    memory.ask("7?", model=model, tools=[square], mode="auto", on_event=events.append)
    assert ToolDone("square", ok=True, note="") in events
    assert model.requests[1].messages[-1].text == "49"


def test_files_of_the_project_can_be_read_and_private_ones_not(
    memory: memnb.Memory, folder: Path
) -> None:
    (folder / "README.md").write_text("first\nsecond\n")
    (folder / ".env").write_text(f"TOKEN={SECRET}\n")
    calls = [("read_file", {"path": path}) for path in ("README.md", ".env", "../x")]
    model = scripted(*calls, "ok")
    memory.ask("look", model=model, mode="readonly")
    results = [request.messages[-1].text for request in model.requests[1:]]
    assert results[0] == "README.md, lines 1 to 2 of 2\n1\tfirst\n2\tsecond\n"
    assert all(result.startswith("not done: ") for result in results[1:])
    assert SECRET not in str(results)


@pytest.mark.parametrize("shown_bytes", [512, 600, 8192, 65_536])
def test_what_is_read_of_a_file_is_whole_lines_in_a_row(
    memory: memnb.Memory, folder: Path, shown_bytes: int
) -> None:
    (folder / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 6001)))
    memory.config("tools.output_bytes", str(shown_bytes))
    model = scripted(("read_file", {"path": "long.txt"}), "ok")
    memory.ask("look", model=model)
    head, *lines = model.requests[1].messages[-1].text.rstrip("\n").split("\n")
    assert lines == [f"{number}\tline {number}" for number in range(1, len(lines) + 1)]
    assert head.startswith(f"long.txt, lines 1 to {len(lines)} of 6000")
    assert len(lines) >= 1


@pytest.mark.parametrize("mode", ["yolo", "AUTO", "Ask", " readonly"])
def test_a_mode_that_does_not_exist_is_refused(memory: memnb.Memory, mode: Any) -> None:
    model = scripted(("memory_write", {"name": "scratchpad", "text": "x"}), "ok")
    with pytest.raises(InputError):
        memory.ask("hello", model=model, mode=mode)
    assert memory.notes.names().rows == ()


def test_a_reply_is_discarded_when_another_process_forgot_meanwhile(
    memory: memnb.Memory, reopen: Opener
) -> None:
    fact_id = memory.remember(EUR).fact_id
    other = reopen()

    def answer(_: Request) -> str:
        other.forget(fact_id)
        return "In EUR cents."

    with pytest.raises(GenerationChanged):
        memory.ask("which unit?", model=scripted(answer))
    later = saying("ok")
    memory.ask("and now?", model=later)
    assert "EUR" not in everything(later.requests[0])


# --- memory off ----------------------------------------------------------------------------------


def test_with_memory_off_nothing_is_read_or_written_and_the_transcript_goes_on(
    memory: memnb.Memory,
) -> None:
    memory.remember(EUR)
    memory.off()
    model = scripted(("memory_remember", {"text": SPLIT}), "ok")
    memory.ask(SPLIT, model=model, mode="auto")
    assert (model.requests[0].memory, EUR in everything(model.requests[1])) == ("", False)
    for change in (
        lambda: memory.remember(SPLIT),
        lambda: memory.correct("F-7k2m9q", SPLIT, revision=1),
        lambda: memory.forget("F-7k2m9q"),
    ):
        with pytest.raises(ConfigError, match="memory is off"):
            change()
    memory.on()
    assert [row.text for row in memory.facts().rows] == [EUR]
    assert memory.sessions().rows[0].n_turns == 1


def test_with_memory_off_from_the_start_no_database_is_made(
    reopen: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMNB_MEMORY_ENABLED", "false")
    memory = reopen()
    memory.ask("hello", model=saying("hi"))
    memory.status()
    memory.facts()
    memory.undo()
    memory.close()
    assert not list(memory.project.folder.glob("facts.sqlite3*"))
    assert list(memory.project.folder.glob("sessions/S-*.jsonl"))


def test_a_note_is_not_changed_by_the_model_with_memory_off(memory: memnb.Memory) -> None:
    memory.off()
    model = scripted(("memory_write", {"name": "scratchpad", "text": "x"}), "ok")
    memory.ask("note it", model=model, mode="auto")
    assert memory.notes.names().rows == ()


# --- what a model may not do through Python ------------------------------------------------------


AS_A_PERSON: list[Any] = [
    pytest.param(lambda m: m.remember(EUR), id="remember"),
    pytest.param(lambda m: m.correct(m.facts().rows[0].fact_id, EUR, revision=1), id="correct"),
    pytest.param(lambda m: m.forget(m.facts().rows[0].fact_id), id="forget"),
    pytest.param(lambda m: m.purge(), id="purge"),
    pytest.param(lambda m: m.undo(), id="undo"),
    pytest.param(lambda m: m.review(), id="review"),
    pytest.param(lambda m: m.apply("C-000000"), id="apply"),
    pytest.param(lambda m: m.reject(all=True), id="reject"),
    pytest.param(lambda m: m.unapply("C-000000"), id="unapply"),
    pytest.param(lambda m: m.redo(), id="redo"),
    pytest.param(lambda m: m.clear(), id="clear"),
    pytest.param(lambda m: m.new(), id="new"),
    pytest.param(lambda m: m.resume(m.sessions().rows[0].session_id), id="resume"),
    pytest.param(lambda m: m.config("agent.mode", "auto"), id="config"),
    pytest.param(lambda m: m.off(), id="off"),
    pytest.param(lambda m: m.on(), id="on"),
    pytest.param(lambda m: m.ask(EUR, model=saying("ok")), id="ask"),
    pytest.param(lambda m: m.notes.append("MEMORY", EUR), id="append"),
    pytest.param(lambda m: m.notes.write("plan", EUR, version=""), id="write"),
    pytest.param(lambda m: m.notes.edit("plan", "a", EUR), id="edit"),
    pytest.param(lambda m: m.move_to(m.project.root.parent), id="project"),
    pytest.param(lambda m: m.attach(), id="attach"),
    pytest.param(lambda m: m.accept(), id="accept"),
    pytest.param(lambda m: m.aside(), id="aside"),
    pytest.param(lambda m: m.fetch_model("local/qwen2.5-coder-0.5b"), id="fetch"),
]


@pytest.mark.parametrize("verb", AS_A_PERSON)
def test_during_a_tool_call_nobody_speaks_as_the_person(
    memory: memnb.Memory, reopen: Opener, verb: Callable[[memnb.Memory], object]
) -> None:
    memory.remember(SPLIT)
    memory.ask("hello", model=saying("hi"))
    refused: list[str] = []

    def run() -> str:
        """Run it."""
        for one in (memory, reopen()):
            try:
                verb(one)
            except Refused as error:
                refused.append(str(error))
        return "done"

    memory.ask("go", model=scripted(("run", {}), "ok"), tools=[run], mode="auto")
    assert len(refused) == 2
    assert "only a person" in refused[0]
    assert [row.text for row in memory.facts().rows] == [SPLIT]
    assert memory.notes.names().rows == ()


@pytest.mark.parametrize(
    "verb", ["remember('x')", "forget('F-7k2m9q')", "notes.append('plan','x')"]
)
def test_neither_does_a_process_that_the_tool_started(
    memory: memnb.Memory, children: Children, folder: Path, verb: str
) -> None:
    said: list[str] = []

    def run() -> str:
        """Run it."""
        code = f"""
        import sys, memnb
        from memnb.errors import Refused
        try:
            memnb.open(sys.argv[1]).{verb}
        except Refused as error:
            print("refused:", error)
        """
        said.append(children.run(code, folder))
        return "done"

    memory.ask("go", model=scripted(("run", {}), "ok"), tools=[run], mode="auto")
    assert said[0].startswith("refused: only a person")
    assert "MEMNB_IN_TOOL_CALL" not in os.environ
    memory.remember(EUR)


def test_a_thread_that_the_tool_started_does_not_either_while_it_runs(memory: memnb.Memory) -> None:
    refused: list[str] = []

    def run() -> str:
        """Run it."""

        def speak() -> None:
            try:
                memory.remember(EUR)
            except Refused as error:
                refused.append(str(error))

        thread = threading.Thread(target=speak)
        thread.start()
        thread.join()
        return "done"

    memory.ask("go", model=scripted(("run", {}), "ok"), tools=[run], mode="auto")
    assert len(refused) == 1


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), ValueError("fault")], ids=["interrupt", "fault"]
)
def test_after_a_tool_that_failed_the_person_speaks_again(
    memory: memnb.Memory, error: BaseException
) -> None:
    def run() -> str:
        """Run it."""
        raise error

    memory.ask("go", model=scripted(("run", {}), "ok"), tools=[run], mode="auto")
    assert memory.remember(EUR).outcome == "new"


# --- why -----------------------------------------------------------------------------------------


def test_why_shows_byte_for_byte_what_each_request_carried(memory: memnb.Memory) -> None:
    memory.remember(SPLIT)
    memory.notes.append("MEMORY", "# Ours\nGröße in cm")
    model = scripted(("memory_remember", {"text": EUR}), ("memory_list", {}), "ok")
    memory.ask(EUR, model=model, mode="auto")
    why = memory.why()
    assert why.sections == tuple(request.memory for request in model.requests)
    assert len(set(why.sections)) == 2
    assert why.turn == 1


def test_why_names_what_was_left_out_and_the_reason(memory: memnb.Memory) -> None:
    base = memory.remember("base").fact_id
    child = memory.remember("child", derived_from=[base]).fact_id
    memory.correct(base, "other base", revision=1)
    hidden = learned(memory, EUR)
    memory.undo()
    memory.ask("hello", model=saying("hi"))
    assert dict(memory.why().left_out) == {child: "held", hidden: "hidden"}


def test_why_of_an_older_turn_keeps_its_bytes_in_this_kernel(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    models = [saying("one"), saying("two")]
    memory.ask("first", model=models[0])
    memory.remember(SPLIT)
    memory.ask("second", model=models[1])
    assert memory.why(1).sections == (models[0].requests[0].memory,)
    assert memory.why(2).sections == (models[1].requests[0].memory,)
    assert memory.why() == memory.why(2)


def test_why_of_another_kernels_turn_gives_ids_only(memory: memnb.Memory, reopen: Opener) -> None:
    fact_id = memory.remember(EUR).fact_id
    reply = memory.ask("first", model=saying(f"see {fact_id}"))
    memory.close()
    again = reopen()
    again.resume(reply.answer.session_id or "")
    why = again.why(1)
    assert (why.sections, why.carried, why.cited) == ((), (f"{fact_id}@1",), (f"{fact_id}@1",))
    assert EUR not in str(why)


def test_a_turn_that_failed_can_be_asked_about(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    with pytest.raises(ModelUnavailable):
        memory.ask("hello", model=BareModel(Text("x"), ModelUnavailable("gone; try again.")))
    assert memory.why().carried == (f"{fact_id}@1",)


@pytest.mark.parametrize("turn", [0, -1, 2, 10**30])
def test_a_turn_that_never_was_is_unknown(memory: memnb.Memory, turn: int) -> None:
    with pytest.raises(UnknownId):
        memory.why(turn)
    memory.ask("hello", model=saying("hi"))
    with pytest.raises(UnknownId):
        memory.why(turn)


# --- settings ------------------------------------------------------------------------------------


def test_a_setting_holds_for_this_kernel_and_says_where_it_came_from(memory: memnb.Memory) -> None:
    ((key, value, origin, allowed),) = memory.config("agent.max_steps").rows
    assert (key, value, origin) == ("agent.max_steps", "8", "default")
    assert "1 to 50" in allowed
    memory.config("agent.max_steps", "1")
    assert memory.config("agent.max_steps").rows[0][1:3] == ("1", "this kernel")
    model = scripted(("memory_list", {}), repeat_last=True)
    assert memory.ask("hello", model=model).answer.end == "steps"
    assert len(model.requests) == 1


def test_a_repository_may_tighten_and_not_loosen(folder: Path, reopen: Opener) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.memnb.agent]\nmode = "auto"\nmodel = "evil/model"\nmax_steps = 2\n'
        "[tool.memnb.memory]\nwrite_approval = true\n"
    )
    memory = reopen()
    values = {row[0]: row[1] for row in memory.config().rows}
    assert values["agent.mode"] == '"ask"'
    assert values["agent.model"] == '""'
    assert values["agent.max_steps"] == "2"
    assert values["memory.write_approval"] == "true"
    notices = memory.status().notices
    assert any("agent.mode stays" in notice for notice in notices)
    assert any("agent.model is ignored" in notice for notice in notices)
    assert all("\n" not in notice for notice in notices)
    assert "evil" not in str(notices)


# --- notes ---------------------------------------------------------------------------------------


def test_notes_are_written_read_and_listed(memory: memnb.Memory) -> None:
    first = memory.notes.write("plan", "one\n", version="")
    memory.notes.append("plan", "two")
    assert memory.notes.edit("plan", "two", "three").text == "one\nthree\n"
    assert memory.notes.read("plan").text == "one\nthree\n"
    assert [row[0] for row in memory.notes.names().rows] == ["plan"]
    with pytest.raises(FileChanged):
        memory.notes.write("plan", "mine", version=first.version)
    assert memory.notes.read("scratchpad").text == ""


def test_inserted_data_can_be_given_as_parts(memory: memnb.Memory) -> None:
    parts = [Part("typed", "see "), Part("variable", "1 2", "df")]
    model = saying("ok")
    memory.ask(parts, model=model)
    assert "`df`" in model.requests[0].messages[0].text


@pytest.mark.parametrize("path", ["~nobody-at-all/x", "x" * 5000, "a\0b"], ids=["~", "long", "NUL"])
def test_a_path_that_cant_be_is_one_line(memory: memnb.Memory, path: str) -> None:
    with pytest.raises(InputError, match="no such folder"):
        memnb.open(path)
    with pytest.raises(InputError, match="no such folder"):
        memory.move_to(path)


def test_threads_of_one_kernel_share_a_memory(
    memory: memnb.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memnb.storage.session_reader._WORTH_KEEPING_BYTES", 1)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def state(number: int) -> int:
        memory.remember(f"Thread {number} says so.")
        return len(memory.facts(all=True).rows)

    try:
        for start in range(0, 80, 16):  # new threads each time
            with ThreadPoolExecutor(16) as threads:
                list(threads.map(state, range(start, start + 16)))
    finally:
        sys.setswitchinterval(before)
    assert memory.doctor().is_healthy
    assert {row.status for row in memory.facts(all=True).rows} == {"valid"}


def test_a_revision_that_is_no_number_is_refused(memory: memnb.Memory) -> None:
    fact_id = memory.remember("We use polars.").fact_id
    with pytest.raises(InputError, match="whole number"):
        memory.correct(fact_id, "We use pandas.", revision="1")  # type: ignore[arg-type]


def test_one_id_is_as_good_as_a_list_of_one(memory: memnb.Memory) -> None:
    base = memory.remember("We use polars.").fact_id
    child = memory.remember("Frames have no index.", derived_from=base).fact_id
    assert memory.fact(base).dependents == (child,)


def test_without_a_moved_project_there_is_none_to_attach(memory: memnb.Memory) -> None:
    with pytest.raises(InputError, match="none to attach"):
        memory.attach()


def test_memory_that_was_put_aside_is_offered_as_that_until_there_is_other(
    memory: memnb.Memory,
) -> None:
    memory.remember("Of the first project.")
    aside = " ".join(memory.aside().notices)
    assert "was put aside" in aside
    assert "moved" not in aside
    memory.remember("Of the second project.")
    assert "attach" not in str(memory.status())
    assert not memory.where().notices


def test_memory_that_was_put_aside_can_be_brought_back(memory: memnb.Memory) -> None:
    memory.remember("Of the first project.")
    memory.aside()
    memory.attach()
    assert [row.text for row in memory.facts().rows] == ["Of the first project."]


def test_a_session_that_begins_while_another_kernel_keeps_the_first_fact_is_ours(
    reopen: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = reopen(), reopen()
    session = one.runtime.memory.session
    start = session._start

    def meanwhile() -> object:
        other.remember("We report in EUR.")
        return start()

    monkeypatch.setattr(session, "_start", meanwhile)
    kept = one.remember("Amounts are rounded half to even.")
    assert one.recall(kept.fact_id).status == "valid"
    assert other.recall(kept.fact_id).status == "valid"


def test_a_session_that_another_kernel_goes_on_with_while_it_is_read_is_whole(
    reopen: Opener,
) -> None:
    one, other = reopen(), reopen()
    one.remember("We report in EUR.")
    (session_id,) = (row.session_id for row in one.sessions().rows)
    history = other.runtime.memory.histories.of(session_id)
    one.remember("Amounts are rounded half to even.")
    assert other.runtime.memory.histories.is_as_noted(history)
