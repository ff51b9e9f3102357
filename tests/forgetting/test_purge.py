"""Purging: what was said is blanked in place, and nothing else is touched or comes back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memnb
from forgetting.conftest import Opener, notebook
from memnb.api.forget_results import PurgePreview, PurgeReceipt
from memnb.core import records
from memnb.core.bodies import Cell
from memnb.errors import (
    ConfigError,
    GenerationChanged,
    InputError,
    Refused,
    StoreReadOnly,
    UnknownId,
    UnsafeFileSystem,
)
from memnb.memory import forgetting, purging
from memnb.memory.purge_targets import Chosen
from memnb.memory.purging import Preview
from memnb.speaking import in_tool_call
from memnb.storage import session_purge
from memories import EUR, KEY, SECRET, SPLIT, Children, Desk, everything, saying, scripted


def lines(desk: Desk, session_id: str | None = None) -> list[bytes]:
    path = desk.folder / "sessions" / f"{session_id or desk.session_id}.jsonl"
    return path.read_bytes().splitlines()


def is_blank(line: bytes) -> bool:
    body, _ = records.split(line)
    return body == b"null".ljust(len(body))


def blanked(desk: Desk, session_id: str | None = None) -> list[int]:
    """The numbers of the records that are blank in the file."""
    return [seq for seq, line in enumerate(lines(desk, session_id), 1) if is_blank(line)]


def purge(desk: Desk, chosen: Chosen | None = None) -> purging.Purged:
    """A purge as it is meant: a preview, then its token."""
    token = purging.preview(desk.memory, chosen).token
    assert token is not None
    return purging.purge(desk.memory, token)


def whys(preview: Preview) -> dict[int, str]:
    return {record.seq: record.why for record in preview.records}


def forgotten_and_more(desk: Desk) -> str:
    """A session with a forgotten message, replies that are void, a secret, and one more fact."""
    desk.ask(f"Hello. {EUR}", saying(f"So: {EUR}"))
    fact_id = desk.remember(EUR).fact_id
    desk.ask("which unit?", saying("euro cents"))
    desk.ask(f"and {SECRET}", saying("fine"))
    kept = desk.remember(SPLIT).fact_id
    forgetting.forget(desk.stores, fact_id, find_others=lambda _: [(desk.session_id, 2)])
    return kept


# --- the preview ---------------------------------------------------------------------------------


def test_a_preview_lists_what_nobody_sees_any_more_and_why(desk: Desk) -> None:
    forgotten_and_more(desk)
    preview = purging.preview(desk.memory)
    assert whys(preview) == {
        2: "forgotten",
        3: "void",
        5: "forgotten",
        7: "void",
        9: "holds a secret",
        10: "void",
    }
    assert preview.target == "all"
    bodies = [records.split(line)[0] for line in lines(desk)]
    assert [one.n_bytes for one in preview.records] == [
        len(bodies[one.seq - 1]) for one in preview.records
    ]


def test_a_preview_changes_no_byte(memory: memnb.Memory, own_home: Path, reopen: Opener) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    memory.close()
    before = {p: p.read_bytes() for p in own_home.rglob("*") if p.is_file()}
    reader = reopen()
    assert reader.purge().rows
    reader.close()
    assert {p: p.read_bytes() for p in own_home.rglob("*") if p.is_file()} == before


def test_without_anything_to_purge_there_is_no_token(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    preview = memory.purge()
    assert isinstance(preview, PurgePreview)
    assert (preview.rows, preview.token) == ((), None)
    assert str(preview) == "nothing to purge: no such record holds anything any more"


def test_a_preview_shows_no_text_and_how_to_do_it(memory: memnb.Memory, folder: Path) -> None:
    notebook(folder / "eda.ipynb", EUR)
    notebook(folder / ".ipynb_checkpoints" / "eda-checkpoint.ipynb", EUR)
    memory.ask(EUR, model=saying("ok"), cell=Cell("eda.ipynb", "1", 1))
    memory.forget(memory.remember(EUR).fact_id)
    tail = memory.project.folder / "sessions" / "S-20261130-091005-7k2m9q.torn-0badcafe"
    tail.write_text(EUR)
    preview = memory.purge()
    text = str(preview) + preview._repr_html_() + json.dumps(preview.to_dict())
    assert "EUR" not in text
    assert f"%memory purge --confirm {preview.token}" in str(preview)
    assert "would blank 3 records (" in str(preview)
    assert (
        "not touched: sessions/S-20261130-091005-7k2m9q.torn-0badcafe, eda.ipynb,"
        " .ipynb_checkpoints/eda-checkpoint.ipynb, IPython's history, backups and other copies"
    ) in str(preview)
    assert preview.columns() == ("session_id", "seq", "type", "n_bytes", "why")
    assert [row["why"] for row in preview.records()] == ["forgotten", "void", "forgotten"]


# --- doing it ------------------------------------------------------------------------------------


def test_a_purge_blanks_the_bodies_and_leaves_everything_else_byte_for_byte(desk: Desk) -> None:
    kept = forgotten_and_more(desk)
    before = lines(desk)
    purged = purge(desk)
    after = lines(desk)
    assert blanked(desk) == [2, 3, 5, 7, 9, 10]
    assert purged.failed == ()
    assert [len(line) for line in after] == [len(line) for line in before]
    for old, new in zip(before, after, strict=True):
        assert records.split(old)[1] == records.split(new)[1]
        assert old == new or is_blank(new)
        json.loads(new)
    assert b"EUR" not in b"".join(after)
    assert desk.status(kept) == "valid"


def test_a_session_that_was_purged_goes_on_and_reads_the_same_in_another_kernel(
    desk: Desk,
) -> None:
    kept = forgotten_and_more(desk)
    purge(desk)
    desk.ask("and on", saying("yes"))
    other = desk.beside()
    assert other.status(kept) == "valid"
    history = other.memory.histories.of(desk.session_id)
    assert history.reader.digest_at(history.reader.last_seq) is not None
    assert history.reader.torn_bytes == 0
    hidden = other.memory.histories.view(history).hidden
    assert {2, 3, 5, 7, 9, 10} <= set(hidden)
    other.close()


def test_what_was_void_stays_void_when_the_message_that_made_it_so_is_blank(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.ask("which unit?", saying("Paraphrased: hundredths of a euro"))
    desk.forget(fact_id)
    (message,) = (r.seq for r in purging.preview(desk.memory).records if r.why == "forgotten")
    purge(desk, Chosen(desk.session_id, message, message))
    assert blanked(desk) == [message]
    other = desk.beside()
    other.memory.session.resume(take_over(desk))
    model = saying("ok")
    other.ask("what do you know?", model)
    assert "hundredths" not in everything(model.requests[0])
    other.close()


def take_over(desk: Desk) -> str:
    """Let another kernel write this one's session."""
    session_id = desk.session_id
    desk.memory.session.abandon()
    return session_id


def test_an_exchange_that_was_undone_stays_so(desk: Desk) -> None:
    desk.ask("first", saying("one"))
    desk.ask("second", saying("two"))
    desk.memory.session.undo()
    n_records = len(lines(desk))
    purge(desk, Chosen(desk.session_id, 1, n_records))
    assert [desk.types()[seq - 1] for seq in blanked(desk)] == ["user", "assistant"] * 2
    other = desk.beside()
    other.memory.session.resume(take_over(desk))
    model = saying("ok")
    other.ask("third", model)
    assert [m.text for m in model.requests[0].messages if m.role == "user"][-1] == "third"
    other.close()


def test_a_blanked_message_is_replayed_as_forgotten_at_most(desk: Desk) -> None:
    desk.ask(f"see {SECRET}", saying("fine"))
    desk.ask("second", saying("two"))
    purge(desk)
    assert blanked(desk) == [2]
    model = saying("ok")
    desk.ask("third", model)
    messages = [(message.role, message.text) for message in model.requests[0].messages]
    assert messages[:2] == [("user", "(forgotten)"), ("assistant", "fine")]
    assert "see" not in everything(model.requests[0])


def test_purging_twice_finds_nothing_more(desk: Desk) -> None:
    forgotten_and_more(desk)
    purge(desk)
    assert purging.preview(desk.memory).records == ()
    assert purging.preview(desk.memory).token is None


def test_a_session_that_came_back_from_a_backup_can_be_purged_again(desk: Desk) -> None:
    forgotten_and_more(desk)
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    backup = path.read_bytes()
    purge(desk)
    with path.open("r+b") as file:
        file.write(backup)
    assert len(purging.preview(desk.memory).records) == 6
    purge(desk)
    assert blanked(desk) == [2, 3, 5, 7, 9, 10]


def test_a_blank_body_without_its_row_is_stale(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    digest = desk.records()[1].head_digest
    assert session_purge.blank(path, {2: digest}) == (2,)
    assert desk.status(fact_id) == "stale"


def test_a_receipt_says_what_was_done_and_what_nobody_can_promise(memory: memnb.Memory) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    receipt = memory.purge(confirm=memory.purge().token)
    assert isinstance(receipt, PurgeReceipt)
    text = str(receipt)
    assert re.match(r"purged 1 record \([0-9,]+ bytes\) of 1 session · ", text)
    assert "the chain holds" in text
    assert "not promised: what an SSD, a copy-on-write file system, a snapshot or a backup" in text
    assert receipt.generation == 1


def test_many_records_of_many_sessions_are_purged_at_once(desk: Desk) -> None:
    session_ids = []
    for number in range(3):
        for _ in range(20):
            desk.ask(f"{number} {EUR}", saying(f"x {EUR}"))
        session_ids.append(desk.session_id)
        desk.memory.session.end("new")
    fact_id = desk.remember(EUR).fact_id
    from memnb.memory import receipts

    receipts.forget(desk.memory, fact_id)
    assert len(purge(desk).records) == 121
    assert "EUR" not in desk.transcript()
    shown = PurgePreview.of(purging.preview(desk.memory))
    assert shown.rows == ()


# --- a range that a person chooses ---------------------------------------------------------------


def test_a_chosen_range_names_first_the_facts_that_would_fall_silent(memory: memnb.Memory) -> None:
    kept = memory.remember(EUR)
    memory.ask("which unit?", model=saying("cents"))
    session_id = memory.status().session_id or ""
    preview = memory.purge(session_id, 1, 4)
    assert preview.silenced == (kept.fact_id,)
    second = str(preview).splitlines()[1]
    assert second.startswith(f"these facts would fall silent: {kept.fact_id}; they keep their text")
    assert [(row.seq, row.why) for row in preview.rows] == [
        (2, "chosen"),
        (3, "chosen"),
        (4, "chosen"),
    ]
    receipt = memory.purge(confirm=preview.token)
    assert isinstance(receipt, PurgeReceipt)
    assert receipt.silenced == (kept.fact_id,)
    assert memory.facts().rows == ()
    assert [row.status for row in memory.facts(all=True).rows] == ["hidden"]


def test_replies_after_a_message_that_was_purged_are_void_like_after_a_forget(desk: Desk) -> None:
    desk.ask("Prices are in cents.", saying("Noted."))
    desk.ask("In what?", saying("Paraphrased: hundredths"))
    chosen = Chosen(desk.session_id, 2, 2)
    preview = purging.preview(desk.memory, chosen)
    assert [one.turns for one in preview.consequences.void] == [(1, 2)]
    purge(desk, chosen)
    for kernel in (desk, desk.beside()):
        history = kernel.memory.histories.of(desk.session_id)
        seen = kernel.memory.histories.view(history)
        replies = [entry.seq for entry in history.entries if entry.type == "assistant"]
        assert [seen.shows(seq, "durable") for seq in replies] == [False, False]
        if kernel is not desk:
            kernel.close()


def test_a_turn_that_runs_meanwhile_is_discarded(desk: Desk) -> None:
    desk.ask("Prices are in cents.", saying("Noted."))
    other = desk.beside()

    def answer(_: object) -> str:
        purge(other, Chosen(desk.session_id, 2, 2))
        return "In cents."

    with pytest.raises(GenerationChanged):
        desk.ask("In what?", scripted(answer))
    other.close()


def test_records_that_hold_nothing_of_what_was_said_stay(desk: Desk) -> None:
    desk.ask("first", saying("one"))
    desk.memory.session.undo()
    desk.memory.session.redo()
    desk.memory.session.clear()
    n_records = len(lines(desk))
    purge(desk, Chosen(desk.session_id, 1, n_records))
    assert blanked(desk) == [2, 3]


@pytest.mark.parametrize(
    ("start", "end"), [(0, 2), (2, 1), (1, 99), (-1, 2)], ids=["zero", "reversed", "long", "minus"]
)
def test_a_range_that_is_not_there_is_refused(desk: Desk, start: int, end: int) -> None:
    desk.remember(EUR)
    with pytest.raises(InputError, match="has the records 1 to 2"):
        purging.preview(desk.memory, Chosen(desk.session_id, start, end))


def test_a_session_that_is_not_there_is_refused(memory: memnb.Memory) -> None:
    for session_id in ("S-20261130-091005-7k2m9q", "../../x", "all"):
        with pytest.raises(UnknownId):
            memory.purge(session_id, 1, 2)
    with pytest.raises(InputError):
        memory.purge("S-20261130-091005-7k2m9q", 1)
    with pytest.raises(InputError):
        memory.purge("S-20261130-091005-7k2m9q", 1, 2, confirm="x")


# --- the token -----------------------------------------------------------------------------------


def prepared(desk: Desk) -> str:
    desk.forget(desk.remember(EUR).fact_id)
    token = purging.preview(desk.memory).token
    assert token is not None
    return token


def change_a_byte(desk: Desk) -> None:
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"EUR cents", b"EUR cent$"))


CHANGES: list[Any] = [
    pytest.param(lambda desk: purge(desk), id="it was used"),
    pytest.param(change_a_byte, id="a byte is another one"),
    pytest.param(lambda d: d.forget(d.remember(SPLIT).fact_id), id="more was forgotten"),
    pytest.param(lambda d: d.ask(f"see {SECRET}", saying("x")), id="one more record is barred"),
    pytest.param(lambda d: purge(d, Chosen(d.session_id, 2, 2)), id="it was purged otherwise"),
    pytest.param(
        lambda d: (d.folder / "sessions" / f"{d.session_id}.jsonl").unlink(), id="it has gone"
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_token_stands_for_exactly_what_its_preview_showed(
    desk: Desk, change: Callable[[Desk], object]
) -> None:
    token = prepared(desk)
    change(desk)
    before = desk.transcript()
    with pytest.raises(Refused, match=r"changed since its preview; preview again: `%memory purge`"):
        purging.purge(desk.memory, token)
    assert desk.transcript() == before


def test_what_nobody_is_to_purge_may_change_meanwhile(desk: Desk) -> None:
    token = prepared(desk)
    desk.ask("and on", saying("yes"))
    desk.remember(SPLIT)
    purging.purge(desk.memory, token)
    assert blanked(desk) == [2]


@pytest.mark.parametrize(
    ("after", "is_good"),
    [
        pytest.param(timedelta(minutes=9), True, id="nine minutes"),
        pytest.param(timedelta(minutes=11), False, id="eleven minutes"),
        pytest.param(timedelta(days=-1), False, id="a clock that went back"),
    ],
)
def test_a_token_is_good_for_ten_minutes(desk: Desk, after: timedelta, is_good: bool) -> None:
    token = prepared(desk)
    desk.clock.at += after
    if is_good:
        purging.purge(desk.memory, token)
        return
    with pytest.raises(Refused, match="over ten minutes old"):
        purging.purge(desk.memory, token)
    assert blanked(desk) == []


def test_a_token_can_be_used_in_another_kernel(desk: Desk) -> None:
    token = prepared(desk)
    other = desk.beside()
    purging.purge(other.memory, token)
    assert blanked(desk) == [2]
    other.close()


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(lambda token: token[:-1] + ("0" if token[-1] != "0" else "1"), id="digest"),
        pytest.param(
            lambda token: re.sub(r"\.([0-9]+)\.", lambda m: f".{int(m[1]) + 1}.", token), id="later"
        ),
        pytest.param(lambda token: token.replace("all", "{session}:2-2"), id="another target"),
    ],
)
def test_a_token_cannot_be_made_up(desk: Desk, forge: Callable[[str], str]) -> None:
    token = forge(prepared(desk)).format(session=desk.session_id)
    with pytest.raises(Refused):
        purging.purge(desk.memory, token)
    assert blanked(desk) == []


@pytest.mark.parametrize(
    "token", ["", "x", "all", "all.1", "../etc:1-2.1." + "0" * 32, "all.1." + "0" * 33, "all.١."]
)
def test_what_is_no_token_is_told_from_one(desk: Desk, token: str) -> None:
    prepared(desk)
    with pytest.raises(InputError, match="that is no token of a purge"):
        purging.purge(desk.memory, token)


def test_a_token_is_bound_to_the_store_and_its_key(desk: Desk, tmp_path: Path) -> None:
    token = prepared(desk)
    from dataclasses import replace

    stores = replace(desk.stores, load_key=lambda: bytes(reversed(KEY)))
    with pytest.raises(Refused):
        purging.purge(replace(desk.memory, stores=stores), token)
    assert blanked(desk) == []


# --- who may, and what is refused ----------------------------------------------------------------


def test_only_a_person_may_purge(memory: memnb.Memory) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    token = memory.purge().token
    with in_tool_call():
        for call in (lambda: memory.purge(), lambda: memory.purge(confirm=token)):
            with pytest.raises(Refused, match="only a person"):
                call()
    memory.off()
    with pytest.raises(ConfigError):
        memory.purge(confirm=token)


def test_a_memory_that_was_opened_read_only_is_not_purged(
    memory: memnb.Memory, reopen: Opener
) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    token = memory.purge().token
    memory.close()
    with pytest.raises(StoreReadOnly):
        reopen(read_only=True).purge(confirm=token)
    files = (memory.project.folder / "sessions").glob("*.jsonl")
    assert EUR in "".join(path.read_text() for path in files)


def test_a_session_file_that_is_a_link_is_not_purged(desk: Desk, tmp_path: Path) -> None:
    token = prepared(desk)
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    content = path.read_bytes()
    path.rename(tmp_path / "elsewhere.jsonl")
    path.symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(Refused):
        purging.purge(desk.memory, token)
    preview = purging.preview(desk.memory)
    assert preview.records == ()
    assert "is a symlink" in preview.unread[0]
    with pytest.raises(UnsafeFileSystem):
        session_purge.blank(path, {2: "0" * 64})
    assert (tmp_path / "elsewhere.jsonl").read_bytes() == content


def test_a_file_that_was_put_in_the_place_of_a_session_is_not_written(
    desk: Desk, tmp_path: Path
) -> None:
    token = prepared(desk)
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    other = Desk(tmp_path / "other")
    other.remember(EUR)
    other.ask("x", saying("y"))
    content = (other.folder / "sessions" / f"{other.session_id}.jsonl").read_bytes()
    other.close()
    path.unlink()
    path.write_bytes(content)
    with pytest.raises(Refused):
        purging.purge(desk.memory, token)
    assert path.read_bytes() == content


def test_a_line_whose_head_is_another_is_not_written(desk: Desk) -> None:
    desk.remember(EUR)
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    before = path.read_bytes()
    assert session_purge.blank(path, {2: "0" * 64, 99: "0" * 64}) == ()
    assert session_purge.find_bodies(path, {}) == {}
    assert session_purge.blank(path, {}) == ()
    assert path.read_bytes() == before


def test_what_is_no_regular_file_is_refused_and_holds_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnsafeFileSystem, match="not a regular file"):
        session_purge.blank(tmp_path / "pipe", {1: "0" * 64})


# --- other kernels -------------------------------------------------------------------------------


def test_the_session_of_another_live_kernel_is_purged_and_it_writes_on(
    memory: memnb.Memory, children: Children, folder: Path
) -> None:
    child = children.start(
        """
        import sys, memnb
        sys.path.insert(0, sys.argv[2])
        from memories import saying
        memory = memnb.open(sys.argv[1])
        memory.ask("We always report revenue in EUR cents.", model=saying("So be it."))
        print(memory.status().session_id, flush=True)
        for line in sys.stdin:
            memory.ask("and " + line.strip(), model=saying("yes"))
            print("done", flush=True)
        """,
        folder,
        Path(__file__).parents[1],
    )
    assert child.stdin is not None
    assert child.stdout is not None
    session_id = child.stdout.readline().strip()
    fact_id = memory.remember(EUR).fact_id
    memory.forget(fact_id)
    for word in ("one", "two", "three"):
        child.stdin.write(word + "\n")
        child.stdin.flush()
        if word == "two":
            receipt = memory.purge(confirm=memory.purge().token)
            assert isinstance(receipt, PurgeReceipt)
            assert (receipt.failed, len(receipt.rows)) == ((), 3)
        assert child.stdout.readline() == "done\n"
    child.stdin.close()
    child.wait(60)
    path = memory.project.folder / "sessions" / f"{session_id}.jsonl"
    content = path.read_bytes()
    assert b"EUR" not in content
    assert content.count(b'"and ') == 3
    numbers = [records.record_from_line(line).head.seq for line in content.splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))
    rows = memory.session(session_id).rows
    assert [row.type for row in rows].count("damaged") == 0


@pytest.mark.parametrize("n_blanked", [0, 1, 3, 4, 5, 50, 120])
def test_a_body_that_is_half_blank_is_no_body_and_stops_nobody(desk: Desk, n_blanked: int) -> None:
    fact_id = desk.learn(EUR)
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    line = lines(desk)[1]
    start = path.read_bytes().index(line) + len(b'{"body":')
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"null".ljust(n_blanked)[:n_blanked])
    other = desk.beside()
    record = other.memory.histories.of(desk.session_id).reader.records([2])[2]
    assert record is not None
    assert (record.body is None) == (n_blanked > 0)
    assert other.status(fact_id) == ("valid" if not n_blanked else "stale")
    model = saying("ok")
    other.ask("hello", model)
    desk.ask("hello", model)
    other.close()


def test_a_kernel_that_read_the_session_before_does_not_cite_what_is_blank(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    other = desk.beside()
    assert other.status(fact_id) == "valid"
    purge(desk, Chosen(desk.session_id, 2, 2))
    assert other.status(fact_id) == "hidden"
    assert other.section() == ""
    other.close()


# --- a purge that was interrupted ----------------------------------------------------------------


def ordered(desk: Desk) -> list[tuple[str, int]]:
    """A purge that died right after its commit: nothing is blank yet."""
    forgotten_and_more(desk)
    found = [(one.session_id, one.seq) for one in purging.preview(desk.memory).records]
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        for session_id, seq in found:
            change.exclude(session_id, seq, 0, purged=True)
    return found


def test_an_interrupted_purge_is_gone_on_with(desk: Desk) -> None:
    found = ordered(desk)
    assert blanked(desk) == []
    assert desk.stores.facts.to_blank() == {desk.session_id: [seq for _, seq in found]}
    other = desk.beside()
    assert purging.finish(other.memory) == ()
    assert blanked(desk) == [seq for _, seq in found]
    assert desk.stores.facts.to_blank() == {}
    assert purging.finish(other.memory) == ()
    other.close()


def test_the_next_kernel_goes_on_with_it_at_its_first_use(
    memory: memnb.Memory, reopen: Opener
) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    stores = memory.runtime.memory.stores
    session_id = memory.status().session_id or ""
    with stores.facts.transaction(now=stores.now()) as change:
        change.exclude(session_id, 2, 1, purged=True)
    memory.close()
    path = memory.project.folder / "sessions" / f"{session_id}.jsonl"
    assert EUR in path.read_text()
    reader = reopen(read_only=True)
    reader.facts()
    reader.close()
    assert EUR in path.read_text()
    reopen().facts()
    assert EUR not in path.read_text()


def test_one_that_can_not_be_finished_is_told_of_and_stays_to_be_done(
    desk: Desk, tmp_path: Path
) -> None:
    ordered(desk)
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    path.rename(tmp_path / "kept")
    path.symlink_to(tmp_path / "kept")
    (failed,) = purging.finish(desk.memory)
    assert failed.startswith(f"{desk.session_id} (")
    assert desk.stores.facts.to_blank()
    path.unlink()
    (tmp_path / "kept").rename(path)
    assert purging.finish(desk.memory) == ()


def test_a_session_that_has_gone_has_nothing_left_to_blank(desk: Desk) -> None:
    ordered(desk)
    session_id = desk.session_id
    desk.memory.session.abandon()
    (desk.folder / "sessions" / f"{session_id}.jsonl").unlink()
    assert purging.finish(desk.memory) == ()
    assert desk.stores.facts.to_blank() == {}
