from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memnb.core.bodies import Part, UserBody
from memnb.core.facts import Source
from memnb.core.records import split
from memnb.errors import SourceNotValid, UnknownId
from memnb.memory.context import Limits
from memnb.memory.history import Histories
from memnb.memory.validation import Validator
from memnb.storage.session_store import SessionStore
from memories import EUR, SPLIT, STORE_ID, Desk, saying, scripted


def path_of(desk: Desk) -> Path:
    return desk.folder / "sessions" / f"{desk.session_id}.jsonl"


# --- following -----------------------------------------------------------------------------------


def test_a_history_follows_what_another_kernel_appends(desk: Desk) -> None:
    desk.ask("first", saying("1"))
    other = desk.beside()
    history = other.memory.histories.of(desk.session_id)
    n_before = len(history.entries)
    desk.ask("second", saying("2"))
    again = other.memory.histories.of(desk.session_id)
    assert again is history
    assert [entry.type for entry in again.entries[n_before:]] == ["user", "assistant", "turn_end"]
    other.close()


def test_a_forget_in_another_kernel_hides_at_once(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    other = desk.beside()
    assert EUR in desk.section()
    other.forget(fact_id)
    assert desk.section() == ""
    assert desk.stores.facts.fact(fact_id) is None
    other.close()


def test_a_session_of_many_records_is_read_whole(desk: Desk) -> None:
    desk.remember("fact 0")
    lines = [Part("typed", f"line {number}") for number in range(1, 700)]
    drafts = [UserBody("command", (line,), asks=False).draft() for line in lines]
    desk.memory.session.append(*drafts)
    history = desk.memory.session.history()
    assert history is not None
    assert [entry.seq for entry in history.entries] == list(range(1, 702))


def test_an_unknown_session_is_unknown(desk: Desk) -> None:
    with pytest.raises(UnknownId):
        desk.memory.histories.of("S-20261130-091005-7k2m9q")


# --- what happens to evidence when files change --------------------------------------------------


def rewrite(desk: Desk, change: Callable[[bytes], bytes]) -> None:
    path = path_of(desk)
    path.write_bytes(change(path.read_bytes()))


def body_of_line(data: bytes, number: int, old: bytes, new: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    lines[number] = lines[number].replace(old, new)
    return b"".join(lines)


def replaced_by_a_symlink(desk: Desk) -> None:
    path = path_of(desk)
    real = path.with_name("moved")
    path.rename(real)
    path.symlink_to(real)


TAMPERED: list[tuple[str, Callable[[Desk], object], str]] = [
    ("the words", lambda d: rewrite(d, lambda b: b.replace(b"EUR cents", b"USD cents")), "stale"),
    (
        "one digit of a head",
        lambda d: rewrite(d, lambda b: re.sub(rb'"generation":0', b'"generation":9', b)),
        "stale",
    ),
    ("a line removed", lambda d: rewrite(d, lambda b: b"".join(b.splitlines(True)[:1])), "missing"),
    ("a line of garbage", lambda d: rewrite(d, lambda b: body_of_line(b, 1, b"{", b"[")), "stale"),
    ("the file removed", lambda d: path_of(d).unlink(), "missing"),
    ("the file emptied", lambda d: rewrite(d, lambda _: b""), "missing"),
    ("the file a symlink", replaced_by_a_symlink, "missing"),
]


@pytest.mark.parametrize(
    ("tamper", "status"), [pytest.param(*rest, id=name) for name, *rest in TAMPERED]
)
def test_evidence_that_was_changed_on_the_disk_silences_its_fact_and_stops_no_turn(
    desk: Desk, tamper: Callable[[Desk], object], status: str
) -> None:
    fact_id = desk.learn(EUR)
    desk.memory.session.end("new")
    path = next((desk.folder / "sessions").glob("*.jsonl"))
    desk.remember(SPLIT)

    class There(Desk):
        session_id = path.stem  # type: ignore[assignment]

    there = There(desk.folder, desk.clock)
    tamper(there)
    there.close()
    for one in (desk, desk.beside()):
        model = saying("ok")
        one.ask("hello", model)
        assert SPLIT in model.requests[0].memory
        assert "EUR" not in model.requests[0].memory
        assert one.status(fact_id) == status
    one.close()


def test_records_that_are_not_all_there_are_no_source(desk: Desk) -> None:
    desk.ask("hello", saying("hi"))
    with pytest.raises(SourceNotValid) as caught:
        desk.memory.validator.source_ref(desk.session_id, [2, 99])
    assert caught.value.status == "stale"
    with pytest.raises(SourceNotValid) as caught:
        desk.memory.validator.source_ref("S-20261130-091005-7k2m9q", [1])
    assert caught.value.status == "missing"


# --- through the index of a long session ---------------------------------------------------------


def opened_anew(desk: Desk, *, by_index: bool) -> Histories:
    """The sessions as a kernel finds them that was started just now."""
    facts, folder = desk.stores.facts, desk.folder / "sessions"
    load_key = desk.stores.load_key if by_index else None
    sessions = SessionStore(
        folder, lambda: STORE_ID, label="", clock=desk.stores.now, load_key=load_key
    )
    return Histories(sessions, facts)


def verdict(desk: Desk, histories: Histories) -> tuple[object, ...]:
    history = histories.of(desk.session_id)
    seen = histories.view(history)
    return seen.undone, seen.cleared_to, set(seen.hidden), list(history.entries)


def purge(desk: Desk, seq: int) -> None:
    """Blank the body of a record in place."""
    lines = path_of(desk).read_bytes().splitlines(keepends=True)
    body, _ = split(lines[seq - 1].removesuffix(b"\n"))
    with path_of(desk).open("r+b") as file:
        file.seek(sum(map(len, lines[: seq - 1])) + len(b'{"body":'))
        file.write(b"null".ljust(len(body)))


def test_a_session_opened_by_its_index_shows_and_hides_what_it_does_otherwise(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.remember(SPLIT)
    desk.ask("long " * 60_000, saying("1"))
    desk.memory.session.undo()
    desk.memory.session.redo()
    desk.ask("undone", saying("2"))
    desk.memory.session.undo()
    assert verdict(desk, opened_anew(desk, by_index=True)) == verdict(desk, desk.memory.histories)
    assert path_of(desk).with_suffix(".idx").exists()
    desk.forget(fact_id)
    desk.memory.session.clear()
    desk.ask("after it", saying("3"))
    by_index, anew = opened_anew(desk, by_index=True), opened_anew(desk, by_index=False)
    assert verdict(desk, by_index) == verdict(desk, anew) == verdict(desk, desk.memory.histories)
    facts = desk.stores.facts.facts(desk.stores.facts.ids(limit=9))
    for histories in (by_index, anew):
        assert Validator(histories).statuses(facts) == ["valid"]


def test_what_a_purged_message_voided_stays_void_when_the_session_is_read_anew(desk: Desk) -> None:
    """Whether it had asked a model stood in its body."""
    desk.ask(EUR, saying("Noted."))
    desk.ask("which unit?", saying("in cents, as you say"))
    ref = desk.memory.validator.source_ref(desk.session_id, [2])
    fact_id = desk.remember(EUR, evidence=[Source(STORE_ID, ref)]).fact_id
    desk.forget(fact_id)
    desk.ask("hello again", saying("reply"))
    before = desk.memory.histories.of(desk.session_id)
    *void, kept = [entry.seq for entry in before.entries if entry.type == "assistant"]
    purge(desk, 2)
    for histories in (desk.memory.histories, opened_anew(desk, by_index=False)):
        seen = histories.view(histories.of(desk.session_id))
        assert not any(seen.shows(seq, "durable") for seq in (2, *void))
        assert seen.shows(kept, "durable")


# --- which replies a forget voids ----------------------------------------------------------------


def shown_replies(desk: Desk) -> list[str]:
    model = saying("ok")
    desk.ask("probe", model, private=True)
    return [m.text for m in model.requests[0].messages if m.role == "assistant"]


def test_replies_that_carried_a_forgotten_fact_are_void_and_later_ones_are_not(desk: Desk) -> None:
    desk.ask("before it was known", saying("reply 1"))
    fact_id = desk.remember(EUR).fact_id
    desk.ask("which unit?", saying("reply 2 in EUR cents"))
    desk.ask("again?", saying("reply 3 paraphrases it"))
    assert shown_replies(desk) == [
        "reply 1",
        "reply 2 in EUR cents",
        "reply 3 paraphrases it",
    ]
    desk.forget(fact_id)
    desk.ask("and now?", saying("reply 4"))
    assert shown_replies(desk) == ["reply 1", "reply 4"]


def test_replies_of_another_session_that_carried_it_are_void_there_too(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    other = desk.beside()
    other.ask("which unit?", saying("reply in EUR cents"))
    desk.forget(fact_id)
    assert shown_replies(other) == []
    other.close()


def test_a_reply_that_carried_another_fact_stays(desk: Desk) -> None:
    desk.remember(SPLIT)
    desk.ask("until when?", saying("reply 1"))
    fact_id = desk.remember(EUR).fact_id
    desk.forget(fact_id)
    assert shown_replies(desk) == ["reply 1"]


def test_replies_after_a_message_that_was_forgotten_are_void(desk: Desk) -> None:
    # The fact was never carried to them, but the message that it was quoted from was.
    fact_id = desk.learn(EUR)
    desk.memory.session.clear()
    desk.ask("hello", saying("reply 2"))
    desk.forget(fact_id)
    desk.ask("hello again", saying("reply 3"))
    assert shown_replies(desk) == ["reply 3"]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("memory_recall", {"session_id": "{}", "start": 1, "end": 3}), id="recall"),
        pytest.param(("memory_search", {"query": "revenue"}), id="search"),
    ],
)
def test_a_reply_that_read_it_through_a_tool_is_void(
    desk: Desk, call: tuple[str, dict[str, object]]
) -> None:
    desk.remember(EUR)
    session_id, fact_id = desk.session_id, desk.stores.facts.ids(limit=1)[0]
    other = desk.beside()
    arguments = {key: session_id if value == "{}" else value for key, value in call[1].items()}
    # Without room for facts the section carries none: only the tool shows it.
    model = scripted((call[0], arguments), "it is in cents")
    other.ask("which unit?", model, limits=Limits(1024, 0))
    assert EUR in model.requests[1].messages[-1].text
    desk.forget(fact_id)
    assert "it is in cents" not in shown_replies(other)
    other.close()
