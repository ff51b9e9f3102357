from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memnb.core import records
from memnb.core.bodies import clear_draft, session_end_draft, undo_draft
from memnb.core.records import Draft
from memnb.errors import (
    InvalidText,
    SessionHeld,
    StoreDamaged,
    StoreError,
    StoreMoved,
    StoreTooNew,
    UnknownId,
    UnsafeFileSystem,
)
from memnb.storage.session_store import SessionStore

STORE_ID = "P-0123456789abcdef"
SESSION_ID = "S-20261130-091005-7k2m9q"
OTHER_ID = "S-20261130-091006-000000"
START = Draft("session_start", {"format": 1})


def clock() -> Callable[[], str]:
    ticks = count(1)
    return lambda: f"2026-11-30T09:10:05.{next(ticks):06}Z"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return open_store(tmp_path)


def open_store(folder: Path, store_id: str = STORE_ID, label: str = "nb.ipynb") -> SessionStore:
    return SessionStore(folder, lambda: store_id, label=label, clock=clock())


def written(store: SessionStore, *drafts: Draft, session_id: str = SESSION_ID) -> Path:
    """A session of these records that nobody holds."""
    writer = store.writer(session_id)
    writer.append(*drafts, generation=0)
    writer.close()
    return writer.path


def test_threads_append_one_after_another(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def wait_for_the_other() -> str:
        with contextlib.suppress(threading.BrokenBarrierError):  # who may not come in meanwhile
            both.wait(timeout=0.2)
        return "2026-11-30T09:10:05.000000Z"

    store = SessionStore(tmp_path, lambda: STORE_ID, label="nb.ipynb", clock=wait_for_the_other)
    writer = store.writer(SESSION_ID)
    writer.append(START, generation=0)
    both.reset()
    with ThreadPoolExecutor(2) as threads:
        seqs = threads.map(lambda turn: writer.append(undo_draft(turn), generation=0), (1, 2))
    assert sorted(seqs) == [(2,), (3,)]
    writer.close()
    reader = store.reader(SESSION_ID)
    assert reader.chain_head.seq == 3


def three(store: SessionStore, session_id: str = SESSION_ID) -> Path:
    return written(store, START, undo_draft(1), undo_draft(2), session_id=session_id)


def whole(store: SessionStore, session_id: str = SESSION_ID) -> list[str]:
    """The types of a session's records, after a check that each is whole and in its place."""
    reader = store.reader(session_id)
    seqs = range(1, reader.last_seq + 1)
    found = reader.records(seqs)
    assert list(found) == list(seqs)
    types = []
    for seq, record in found.items():
        assert record is not None, seq
        assert record.body is not None, seq
        assert record.head.seq == seq
        assert record.head_digest == reader.digest_at(seq)
        types.append(record.head.type)
    assert reader.torn_bytes == 0
    return types


def test_what_was_appended_reads_back_with_numbers_from_one(store: SessionStore) -> None:
    writer = store.writer(SESSION_ID)
    assert writer.append(START, undo_draft(1), generation=3) == (1, 2)
    assert writer.append(clear_draft(), generation=4) == (3,)
    assert whole(store) == ["session_start", "undo", "clear"]
    found = store.reader(SESSION_ID).records([1, 2, 3]).values()
    assert [(record.head.generation, record.head.at) for record in found if record] == [
        (3, "2026-11-30T09:10:05.000001Z"),
        (3, "2026-11-30T09:10:05.000002Z"),
        (4, "2026-11-30T09:10:05.000003Z"),
    ]


def test_the_file_is_what_the_format_says(store: SessionStore) -> None:
    path = three(store)
    prev = records.genesis(STORE_ID, SESSION_ID)
    for seq, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        assert line.endswith(b"}}\n")
        value = json.loads(line)
        assert value["head"]["seq"] == seq
        assert value["head"]["prev"] == prev
        assert len(value["body"]["salt"]) == 16
        _, head = records.split(line[:-1])
        prev = records.digest(head)


def test_whole_records_are_pinned_by_the_digests_of_their_heads(store: SessionStore) -> None:
    three(store)
    reader = store.reader(SESSION_ID)
    expected = {seq: reader.digest_at(seq) for seq in (1, 2, 3)}
    assert reader.pins([1, 2, 3]) == expected
    assert reader.pins([0, 3, 1, 4]) == {3: expected[3], 1: expected[1]}
    assert reader.pins([]) == {}


@pytest.mark.parametrize("is_fresh", [False, True], ids=["indexed before", "indexed anew"])
@pytest.mark.parametrize("seq", [1, 2, 3])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b'"target":', b'"tarGet":', id="body"),
        pytest.param(b'"at":"2026', b'"at":"2025', id="head"),
        pytest.param(b'{"body":', b'{"Body":', id="no record"),
        pytest.param(b"}}\n", b"}} ", id="no newline"),
    ],
)
def test_exactly_the_records_that_read_back_whole_are_pinned(
    store: SessionStore, seq: int, old: bytes, new: bytes, is_fresh: bool
) -> None:
    path = written(store, *(undo_draft(n) for n in (1, 2, 3)))
    readers = [one.reader(SESSION_ID) for one in (store, open_store(path.parent))]
    before = readers[0].pins([1, 2, 3])
    lines = path.read_bytes().splitlines(keepends=True)
    lines[seq - 1] = lines[seq - 1].replace(old, new)
    path.write_bytes(b"".join(lines))
    if is_fresh:
        readers = [open_store(path.parent).reader(SESSION_ID) for _ in readers]
    pinned, found = readers[0].pins([1, 2, 3]), readers[1].records([1, 2, 3])
    assert pinned != before
    assert pinned == {
        n: record.head_digest if record is not None and record.body is not None else None
        for n, record in found.items()
    }


def test_equal_records_get_different_salts(store: SessionStore) -> None:
    lines = written(store, clear_draft(), clear_draft()).read_bytes().splitlines()
    salts = {json.loads(line)["body"]["salt"] for line in lines}
    assert len(salts) == 2


def test_the_file_appears_with_the_first_record_and_is_private(store: SessionStore) -> None:
    writer = store.writer(SESSION_ID)
    assert not writer.path.exists()
    assert not store.exists(SESSION_ID)
    assert store.ids() == []
    writer.append(START, generation=0)
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600
    assert store.exists(SESSION_ID)
    assert store.ids() == [SESSION_ID]


def test_an_append_of_nothing_writes_nothing(store: SessionStore) -> None:
    writer = store.writer(SESSION_ID)
    assert writer.append(generation=0) == ()
    assert not writer.path.exists()


def test_a_session_goes_on_where_it_ended(store: SessionStore) -> None:
    three(store)
    writer = store.writer(SESSION_ID)
    assert writer.torn is None
    assert writer.append(session_end_draft("exit"), generation=0) == (4,)
    assert whole(store) == ["session_start", "undo", "undo", "session_end"]


def test_a_record_that_is_refused_leaves_the_session_as_it_was(store: SessionStore) -> None:
    writer = store.writer(SESSION_ID)
    writer.append(START, generation=0)
    with pytest.raises(InvalidText):
        writer.append(clear_draft(), Draft("tool", {"output": "x" * 2**21}), generation=0)
    with pytest.raises(InvalidText):
        writer.append(clear_draft(), Draft("tool", {"output": "\ud800"}), generation=0)
    assert writer.append(clear_draft(), generation=0) == (2,)
    assert whole(store) == ["session_start", "clear"]


def test_ids_are_sorted_and_exact(store: SessionStore, tmp_path: Path) -> None:
    for session_id in (OTHER_ID, SESSION_ID):
        three(store, session_id)
    for name in ("S-1.jsonl", "notes.jsonl", f"{SESSION_ID}.jsonl.bak", f"x{SESSION_ID}.jsonl"):
        (tmp_path / name).touch()
    assert store.ids() == [SESSION_ID, OTHER_ID]


def test_a_folder_that_is_not_there_has_no_sessions(tmp_path: Path) -> None:
    absent = open_store(tmp_path / "none")
    assert absent.ids() == []
    assert not absent.exists(SESSION_ID)
    assert not absent.is_held(SESSION_ID)


@pytest.mark.parametrize("session_id", ["", "latest", "../x", "S-20261130", f"{SESSION_ID}\n"])
def test_what_is_no_session_id_never_becomes_a_path(store: SessionStore, session_id: str) -> None:
    assert not store.exists(session_id)
    for use in (store.reader, store.writer):
        with pytest.raises(UnknownId):
            use(session_id)


def test_a_session_that_is_not_there_is_unknown(store: SessionStore) -> None:
    with pytest.raises(UnknownId):
        store.reader(SESSION_ID)


# Who may write


def test_a_second_writer_is_refused_and_told_who_writes(
    store: SessionStore, tmp_path: Path
) -> None:
    store.writer(SESSION_ID)
    with pytest.raises(SessionHeld) as caught:
        open_store(tmp_path, label="other.ipynb").writer(SESSION_ID)
    assert caught.value.holder == f"nb.ipynb (pid {os.getpid()})"
    assert caught.value.holder in str(caught.value)


def test_a_writer_in_another_process_is_refused_and_told_who_writes(
    store: SessionStore, tmp_path: Path, children: Any
) -> None:
    three(store)
    code = """
        import sys
        from pathlib import Path
        from memnb.storage.session_store import SessionStore
        store = SessionStore(
            Path(sys.argv[1]), lambda: sys.argv[2], label="eda.ipynb", clock=lambda: ""
        )
        writer = store.writer(sys.argv[3])
        print("held")
        sys.stdin.readline()
    """
    child = children.start(code, tmp_path, STORE_ID, SESSION_ID)
    assert child.stdout.readline() == "held\n"
    assert store.is_held(SESSION_ID)
    with pytest.raises(SessionHeld) as caught:
        store.writer(SESSION_ID)
    assert caught.value.holder == f"eda.ipynb (pid {child.pid})"
    assert whole(store) == ["session_start", "undo", "undo"]
    child.kill()
    child.wait()
    assert not store.is_held(SESSION_ID)
    assert store.writer(SESSION_ID).append(clear_draft(), generation=0) == (4,)


def test_to_ask_who_holds_a_session_does_not_take_it_or_sign_it(
    store: SessionStore, tmp_path: Path
) -> None:
    writer = store.writer(SESSION_ID)
    other = open_store(tmp_path, label="other.ipynb")
    assert other.is_held(SESSION_ID)
    writer.close()
    assert not other.is_held(SESSION_ID)
    assert not (tmp_path / f"{OTHER_ID}.lock").exists()
    assert not other.is_held(OTHER_ID)
    assert not (tmp_path / f"{OTHER_ID}.lock").exists(), "asking left a file behind"
    assert other.writer(SESSION_ID).append(START, generation=0) == (1,)


def test_a_writer_that_could_not_start_lets_the_session_go(store: SessionStore) -> None:
    path = written(store, Draft("session_start", {"format": 2}))
    with pytest.raises(StoreTooNew):
        store.writer(SESSION_ID)
    assert not store.is_held(SESSION_ID)
    assert path.exists()


# What a crash leaves


GARBAGE = {"nothing": b"", "NULs": b"\0" * 40, "no UTF-8": b"\xff\xfe\x80{\xc3"}


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_tail_torn_at_any_byte_is_set_aside_and_the_session_goes_on(
    garbage: str, tmp_path: Path
) -> None:
    path = written(open_store(tmp_path), START, undo_draft(1), clear_draft())
    data = path.read_bytes()
    start = data.rindex(b"\n", 0, -1) + 1
    for n_bytes in range(len(data) - start):
        tail = data[start : start + n_bytes] + GARBAGE[garbage]
        path.write_bytes(data[:start] + tail)
        store = open_store(tmp_path)
        writer = store.writer(SESSION_ID)
        aside = [*tmp_path.glob("*.torn-*")]
        assert [file.read_bytes() for file in aside] == ([tail] if tail else [])
        assert [writer.torn] == (aside or [None])
        assert writer.append(clear_draft(), generation=0) == (3,)
        writer.close()
        assert whole(store) == ["session_start", "undo", "clear"]
        for file in aside:
            file.unlink()


def test_what_was_set_aside_is_private_and_no_session(store: SessionStore, tmp_path: Path) -> None:
    path = three(store)
    with path.open("ab") as file:
        file.write(b"torn")
    writer = store.writer(SESSION_ID)
    assert writer.torn is not None
    assert stat.S_IMODE(writer.torn.stat().st_mode) == 0o600
    assert open_store(tmp_path).ids() == [SESSION_ID]
    writer.close()
    assert open_store(tmp_path).writer(SESSION_ID).torn is None


def test_a_torn_first_record_leaves_an_empty_session(store: SessionStore) -> None:
    path = written(store, START)
    path.write_bytes(path.read_bytes()[:-1])
    writer = store.writer(SESSION_ID)
    assert writer.torn is not None
    assert writer.append(START, generation=0) == (1,)
    assert whole(store) == ["session_start"]


def test_readers_do_not_see_a_torn_tail_and_leave_it_alone(store: SessionStore) -> None:
    path = three(store)
    data = path.read_bytes()
    path.write_bytes(data + data[:30])
    reader = store.reader(SESSION_ID)
    assert (reader.last_seq, reader.torn_bytes) == (3, 30)
    assert path.read_bytes() == data + data[:30]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\n", id="empty line"),
        pytest.param(b"\0" * 40 + b"\n", id="NULs"),
        pytest.param(b"\xff\xfe\n", id="no UTF-8"),
        pytest.param(b'{"body":{},"head":{}}\n', id="record without fields"),
    ],
)
def test_a_damaged_line_at_the_end_costs_itself_only(store: SessionStore, line: bytes) -> None:
    path = three(store)
    with path.open("ab") as file:
        file.write(line)
    writer = store.writer(SESSION_ID)
    assert writer.torn is None
    assert writer.append(clear_draft(), clear_draft(), generation=0) == (5, 6)
    found = store.reader(SESSION_ID).records(range(1, 7))
    assert [seq for seq, record in found.items() if record is None] == [4]


def test_the_head_that_is_noted_is_one_that_the_session_confirms(store: SessionStore) -> None:
    """Otherwise a damaged last line would make all evidence of the session stale."""
    path = three(store)
    with path.open("ab") as file:
        file.write(b"damaged\n")
    head = store.writer(SESSION_ID).chain_head
    assert store.reader(SESSION_ID).digest_at(head.seq) == head.digest
    assert head.n_bytes == path.stat().st_size


def changed_at(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))


def test_a_changed_body_costs_that_record_only(store: SessionStore) -> None:
    path = three(store)
    changed_at(path, b'"target":1', b'"target":9')
    found = store.reader(SESSION_ID).records([1, 2, 3])
    assert found[2] is not None
    assert found[2].body is None
    assert all(record is not None and record.body for record in (found[1], found[3]))


def test_a_changed_head_breaks_the_link_to_its_successor(store: SessionStore) -> None:
    path = three(store)
    before = store.reader(SESSION_ID).digest_at(2)
    changed_at(path, b'"seq":2,"turn":0', b'"seq":2,"turn":1')
    reader = open_store(path.parent).reader(SESSION_ID)
    assert reader.digest_at(2) != before
    assert reader.digest_at(3) is None
    assert reader.records([3]) == {3: None}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b'"seq":2,"turn":0', b'"seq":2,"turn":1', id="turn"),
        pytest.param(b'"seq":2,"turn":0', b'"seq":7,"turn":0', id="number"),
        pytest.param(b"05.000002Z", b"05.000003Z", id="time"),
        pytest.param(b"05.000002Z", b"05.00000\xffZ", id="unreadable"),
    ],
)
def test_a_changed_head_costs_that_record_and_its_successor_at_most(
    store: SessionStore, old: bytes, new: bytes
) -> None:
    """One bad byte in a long session must not silence all that was said after it."""
    drafts = [START, *(undo_draft(number) for number in range(1, 5))]
    path = written(store, *drafts)
    before = [store.reader(SESSION_ID).digest_at(seq) for seq in range(1, 6)]
    changed_at(path, old, new)
    reader = open_store(path.parent).reader(SESSION_ID)
    assert [reader.digest_at(seq) for seq in (1, 4, 5)] == [before[0], *before[3:]]
    found = reader.records([1, 4, 5])
    assert all(record is not None and record.body for record in found.values())


def test_an_unreadable_line_costs_that_record_only(store: SessionStore) -> None:
    path = three(store)
    changed_at(path, b'"seq":2,', b'"seq":x,')
    found = store.reader(SESSION_ID).records([1, 2, 3])
    assert [seq for seq, record in found.items() if record is None] == [2]
    assert store.writer(SESSION_ID).append(clear_draft(), generation=0) == (4,)
    assert store.reader(SESSION_ID).records([4])[4] is not None


def test_records_after_one_that_was_cut_out_are_not_taken_for_others(store: SessionStore) -> None:
    path = three(store)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    reader = store.reader(SESSION_ID)
    assert reader.records([1, 2, 3]) == {1: reader.records([1])[1], 2: None}


@pytest.mark.parametrize(
    ("store_id", "session_id"),
    [
        pytest.param("P-fedcba9876543210", SESSION_ID, id="another project"),
        pytest.param(STORE_ID, OTHER_ID, id="another session"),
    ],
)
def test_a_file_copied_from_elsewhere_offers_no_record(
    store: SessionStore, tmp_path: Path, store_id: str, session_id: str
) -> None:
    path = three(store)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(path, elsewhere / f"{session_id}.jsonl")
    reader = open_store(elsewhere, store_id).reader(session_id)
    assert [record for record in reader.records([1, 2, 3]).values() if record] == []


def test_a_file_copied_from_elsewhere_is_not_written(store: SessionStore, tmp_path: Path) -> None:
    path = three(store)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copied = elsewhere / path.name
    shutil.copy(path, copied)
    with pytest.raises(StoreError):
        open_store(elsewhere, "P-fedcba9876543210").writer(SESSION_ID).append(
            clear_draft(), generation=0
        )
    assert copied.read_bytes() == path.read_bytes()


# Reading while others write


def test_a_reader_follows_what_is_appended(store: SessionStore, tmp_path: Path) -> None:
    three(store)
    reader = store.reader(SESSION_ID)
    other = open_store(tmp_path)
    writer = other.writer(SESSION_ID)
    writer.append(clear_draft(), generation=0)
    assert reader.last_seq == 3
    assert store.reader(SESSION_ID) is reader
    assert reader.last_seq == 4
    assert reader.chain_head == writer.chain_head


def test_a_reader_starts_over_when_the_file_was_replaced(store: SessionStore) -> None:
    path = three(store)
    store.reader(SESSION_ID)
    new = path.with_suffix(".new")
    new.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    new.replace(path)
    assert store.reader(SESSION_ID).last_seq == 2


def test_a_reader_starts_over_when_the_file_was_replaced_by_a_longer_one(
    store: SessionStore, tmp_path: Path
) -> None:
    path = three(store)
    before = store.reader(SESSION_ID).digest_at(1)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    written(open_store(elsewhere), *[START] * 9).replace(path)
    reader = store.reader(SESSION_ID)
    assert reader.last_seq == 9
    assert reader.digest_at(1) != before
    assert whole(store) == ["session_start"] * 9


def test_a_reader_starts_over_when_the_file_was_shortened(store: SessionStore) -> None:
    path = three(store)
    store.reader(SESSION_ID)
    os.truncate(path, path.read_bytes().index(b"\n") + 1)
    assert store.reader(SESSION_ID).last_seq == 1


def test_a_record_changed_in_place_after_it_was_indexed_is_not_given(store: SessionStore) -> None:
    path = three(store)
    reader = store.reader(SESSION_ID)
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"seq":2,"turn":0', b'"seq":2,"turn":7'))
    assert reader.records([2]) == {2: None}


def test_numbers_that_are_not_there_are_left_out(store: SessionStore) -> None:
    three(store)
    reader = store.reader(SESSION_ID)
    assert list(reader.records([-1, 0, 3, 4, 10**9])) == [3]
    assert reader.records([]) == {}
    assert [reader.digest_at(seq) for seq in (-1, 0, 4)] == [None, None, None]


def test_a_session_that_vanishes_between_two_reads_is_one_of_our_errors(
    store: SessionStore,
) -> None:
    path = three(store)
    reader = store.reader(SESSION_ID)
    path.unlink()
    with pytest.raises(StoreError):
        reader.records([1])
    with pytest.raises(UnknownId):
        store.reader(SESSION_ID)


def test_a_symlink_in_place_of_a_session_is_refused(store: SessionStore, tmp_path: Path) -> None:
    path = three(store)
    target = tmp_path / "target"
    path.rename(target)
    path.symlink_to(target)
    for use in (store.reader, store.writer):
        with pytest.raises(UnsafeFileSystem):
            use(SESSION_ID)


def test_a_folder_in_place_of_a_session_is_one_of_our_errors(
    store: SessionStore, tmp_path: Path
) -> None:
    (tmp_path / f"{SESSION_ID}.jsonl").mkdir()
    for use in (store.reader, store.writer):
        with pytest.raises(StoreError):
            use(SESSION_ID)


# A format that is newer


def test_a_session_of_a_newer_format_can_be_read(store: SessionStore) -> None:
    written(store, Draft("session_start", {"format": 2}), Draft("novelty", {"x": 1}))
    assert whole(store) == ["session_start", "novelty"]


def test_a_session_of_a_newer_format_is_left_as_it_is(store: SessionStore, tmp_path: Path) -> None:
    path = written(store, Draft("session_start", {"format": 2}))
    path.write_bytes(path.read_bytes() + b"torn")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew):
        store.writer(SESSION_ID)
    assert path.read_bytes() == before
    assert list(tmp_path.glob("*.torn*")) == []


@pytest.mark.parametrize("value", ["two", None, [], {}, "2"], ids=repr)
def test_a_format_that_is_no_number_is_not_a_crash(store: SessionStore, value: Any) -> None:
    written(store, Draft("session_start", {"format": value}))
    try:
        store.writer(SESSION_ID)
    except StoreError:
        return


# A file that others change while it is written


def test_a_file_that_was_deleted_under_the_writer_is_noticed(store: SessionStore) -> None:
    writer = store.writer(SESSION_ID)
    writer.append(START, generation=0)
    writer.path.unlink()
    with pytest.raises(StoreMoved):
        writer.append(clear_draft(), generation=0)
    assert not writer.path.exists()


def test_a_file_that_was_renamed_under_the_writer_is_noticed(store: SessionStore) -> None:
    writer = store.writer(SESSION_ID)
    writer.append(START, generation=0)
    moved = writer.path.rename(writer.path.with_suffix(".moved"))
    before = moved.read_bytes()
    with pytest.raises(StoreMoved):
        writer.append(clear_draft(), generation=0)
    assert moved.read_bytes() == before


def test_a_file_that_was_replaced_under_the_writer_is_noticed(store: SessionStore) -> None:
    writer = store.writer(SESSION_ID)
    writer.append(START, generation=0)
    new = writer.path.with_suffix(".new")
    shutil.copy(writer.path, new)
    new.replace(writer.path)
    before = writer.path.read_bytes()
    with pytest.raises(StoreMoved):
        writer.append(clear_draft(), generation=0)
    assert writer.path.read_bytes() == before


def test_a_file_that_is_gone_before_the_first_append_is_not_made_anew(store: SessionStore) -> None:
    path = three(store)
    writer = store.writer(SESSION_ID)
    path.unlink()
    with pytest.raises(StoreError):
        writer.append(clear_draft(), generation=0)
    assert not path.exists()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data + b"more\n", id="longer"),
        pytest.param(lambda data: data[:-1], id="shorter"),
        pytest.param(lambda data: b"", id="emptied"),
    ],
)
def test_a_file_that_someone_else_changed_is_left_as_it_is(
    store: SessionStore, change: Callable[[bytes], bytes]
) -> None:
    writer = store.writer(SESSION_ID)
    writer.append(START, generation=0)
    changed = change(writer.path.read_bytes())
    writer.path.write_bytes(changed)
    for _ in range(2):
        with pytest.raises(StoreDamaged):
            writer.append(clear_draft(), generation=0)
    assert writer.path.read_bytes() == changed


# Faults of the machine, each in a child


CHILD = """
    import os, signal, sys, threading
    from itertools import count
    from pathlib import Path
    from memnb.core.bodies import clear_draft
    from memnb.core.records import Draft
    from memnb.errors import *
    from memnb.storage.session_store import SessionStore
    ticks = count()
    def open_store():
        return SessionStore(
            Path(sys.argv[1]), lambda: "P-0123456789abcdef", label="child",
            clock=lambda: f"{next(ticks):06}",
        )
    writer = open_store().writer("S-20261130-091005-7k2m9q")
    START = Draft("session_start", {"format": 1})
"""


def test_a_size_limit_leaves_nothing_half_written(
    store: SessionStore, tmp_path: Path, children: Any
) -> None:
    code = (
        CHILD
        + """
    import resource
    writer.append(START, generation=0)
    before = writer.path.read_bytes()
    for spare in (0, 1, 100, 600, 1100):
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + spare, resource.RLIM_INFINITY))
        try:
            writer.append(*[Draft("tool", {"output": "x" * 500})] * 3, generation=0)
        except StoreFull as error:
            print(type(error).__name__, writer.path.read_bytes() == before)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(writer.append(clear_draft(), generation=0))
    """
    )
    assert children.run(code, tmp_path) == "StoreFull True\n" * 5 + "(2,)\n"
    assert whole(store) == ["session_start", "clear"]


def test_fifty_forked_children_neither_free_the_session_nor_keep_it(
    store: SessionStore, tmp_path: Path, children: Any
) -> None:
    code = (
        CHILD
        + """
    writer.append(START, generation=0)

    def held():
        try:
            open_store().writer(writer.session_id).close()
        except SessionHeld:
            return True
        return False

    def use_it():
        try:
            writer.append(clear_draft(), generation=0)
        except StoreError as error:
            writer.close()
            os._exit(0 if "fork" in str(error) else 1)
        os._exit(2)

    outcomes = set()
    for _ in range(49):
        pid = os.fork()
        if pid == 0:
            use_it()
        outcomes.add(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(outcomes, held())
    end, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(start)
        os.read(end, 1)
        os._exit(0)
    print(writer.append(clear_draft(), generation=0))
    writer.close()
    print(held())
    os.close(start)
    os.waitpid(pid, 0)
    """
    )
    assert children.run(code, tmp_path) == "{0} True\n(2,)\nFalse\n"
    assert whole(store) == ["session_start", "clear"]


def test_a_storm_of_interrupts_keeps_the_chain_whole(
    store: SessionStore, tmp_path: Path, children: Any
) -> None:
    code = (
        CHILD
        + """
    from faults.storms import Storm

    def work():
        acknowledged.extend(writer.append(START, clear_draft(), generation=0))

    acknowledged = []
    with Storm(work, pause_seconds=0.002) as storm:
        while storm.n_interrupts < 100 or len(acknowledged) < 100:
            storm.lets_through()
            if writer.chain_head.seq > 2000:
                break
    last = writer.chain_head.seq
    print(storm.n_interrupts > 0, max(acknowledged) <= last, last)
    """
    )
    out = children.run(code, tmp_path).split()
    assert out[:2] == ["True", "True"]
    types = whole(store)
    assert types == ["session_start", "clear"] * (len(types) // 2)
    assert len(types) == int(out[2])


def test_no_acknowledged_record_is_lost_to_a_kill(
    store: SessionStore, tmp_path: Path, children: Any
) -> None:
    code = (
        CHILD
        + """
    while True:
        print(max(writer.append(START, clear_draft(), generation=0)), flush=True)
    """
    )
    last_acknowledged = 0
    for n_kill in range(15):
        child = children.start(code, tmp_path)
        for _ in range(1 + 3 * (n_kill % 4)):
            last_acknowledged = int(child.stdout.readline())
        child.kill()
        for line in child.stdout.read().split("\n"):
            last_acknowledged = max(last_acknowledged, int(line or 0))
        child.wait()
        reader = store.reader(SESSION_ID)
        assert reader.last_seq >= last_acknowledged
        assert all(reader.records(range(1, reader.last_seq + 1)).values())
    store.writer(SESSION_ID).close()
    whole(store)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_an_append_of_any_length_is_one_write_and_one_fsync(tmp_path: Path, children: Any) -> None:
    code = (
        CHILD
        + """
    writer.append(START, generation=0)
    for n in (1, 2, 50):
        os.write(1, b"mark")
        writer.append(*[clear_draft()] * n, generation=0)
    os.write(1, b"mark")
    """
    )
    trace = tmp_path / "trace"
    calls = "write,pwrite64,writev,pwritev,fsync,fdatasync,sync_file_range,ftruncate"
    prefix = ("strace", "-f", "-y", "-qq", "-e", f"trace={calls}", "-o", str(trace))
    child = children.start(code, tmp_path, prefix=prefix, stderr=subprocess.PIPE)
    _, err = child.communicate(timeout=60)
    if child.returncode != 0 and "ptrace" in err:
        pytest.skip("strace may not trace here")
    assert child.returncode == 0, err
    appends = trace.read_text().split('"mark"')[1:-1]
    names = [
        [line.split("(")[0].split()[-1] for line in lines.splitlines()[1:] if ".jsonl>" in line]
        for lines in appends
    ]
    assert names == [["write", "fsync"]] * 3
