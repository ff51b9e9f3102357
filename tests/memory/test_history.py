from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memnb.core.bodies import Part, UserBody
from memnb.errors import SourceNotValid, UnknownId
from memnb.memory.context import Limits
from memories import EUR, SPLIT, Desk, saying, scripted


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "project")
    yield desk
    desk.close()


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
        pytest.param(("memory_search", {"pattern": "revenue"}), id="search"),
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
