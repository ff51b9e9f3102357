"""The index kept beside a long session: it may only ever save the reading of the session."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opening import bound_by_modes

from memnb.core import records, visibility
from memnb.core.bodies import (
    AssistantBody,
    Part,
    SessionStartBody,
    ToolBody,
    TurnEndBody,
    UserBody,
    clear_draft,
    redo_draft,
    undo_draft,
)
from memnb.core.messages import Usage
from memnb.core.records import Draft
from memnb.core.visibility import Purpose
from memnb.errors import StoreDamaged, StoreError, StoreReadOnly
from memnb.storage.session_reader import SessionReader
from memnb.storage.session_store import SessionStore

STORE_ID = "P-0123456789abcdef"
SESSION_ID = "S-20261130-091005-7k2m9q"
OTHER_ID = "S-20261130-091006-000000"
KEY = bytes(range(32))
FACTS = ("F-7k2m9q", "F-1b8hyr")
SALT = "0123456789abcdef"
PURPOSES: tuple[Purpose, ...] = ("working", "durable")

START = SessionStartBody(STORE_ID, "", "", "", {}).draft()
LONG = ToolBody("c", "read_file", True, "secret words " * 22_000, "file").draft(2)
"""A record that makes any session worth an index."""


def message(text: str = "which unit?", **options: Any) -> Draft:
    return UserBody("agent", (Part("typed", text),), **options).draft()


def statement() -> Draft:
    return UserBody("command", (Part("typed", "in cents"),), asks=False).draft()


def reply(turn: int, *facts: str) -> Draft:
    carried = tuple(f"{fact_id}@1" for fact_id in facts)
    return AssistantBody("in cents", (), carried, "m", {}, "end", Usage()).draft(turn)


def no_key() -> bytes:
    raise StoreDamaged("no key")


def open_store(
    folder: Path,
    key: bytes | Callable[[], bytes] | None = KEY,
    *,
    store_id: str = STORE_ID,
    ensure: Callable[[], None] = lambda: None,
) -> SessionStore:
    ticks = count(1)
    return SessionStore(
        folder,
        lambda: store_id,
        label="nb.ipynb",
        clock=lambda: f"{next(ticks):06}",
        load_key=(lambda: key) if isinstance(key, bytes) else key,
        ensure=ensure,
    )


def written(
    folder: Path, *drafts: Draft, session_id: str = SESSION_ID, store_id: str = STORE_ID
) -> Path:
    """A session of these records after a start, that nobody has read yet."""
    prev, lines = records.genesis(store_id, session_id), []
    for seq, draft in enumerate((START, *drafts), 1):
        line, _ = records.encode(draft, seq=seq, at="", generation=0, prev=prev, salt=SALT)
        prev = records.digest(records.split(line.rstrip())[1])
        lines.append(line)
    path = folder / f"{session_id}.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def append(folder: Path, *drafts: Draft) -> None:
    """What another kernel does, which keeps no index."""
    writer = open_store(folder, None).writer(SESSION_ID)
    writer.append(*drafts, generation=0)
    writer.close()


def all_of(reader: SessionReader) -> dict[str, Any]:
    """Everything that a reader tells."""
    return {
        "entries": list(reader.entries),
        "digests": [reader.digest_at(seq) for seq in range(reader.last_seq + 2)],
        "records": reader.records(range(reader.last_seq + 2)),
        "chain": (reader.chain_head, reader.tail_digest, reader.torn_bytes),
    }


def read_anew(folder: Path, session_id: str = SESSION_ID) -> dict[str, Any]:
    return all_of(open_store(folder, None).reader(session_id))


def read_kept(folder: Path, session_id: str = SESSION_ID) -> dict[str, Any]:
    return all_of(open_store(folder).reader(session_id))


def blank(path: Path, seq: int) -> None:
    """Purge the body of a record: nothing else of the file changes."""
    lines = path.read_bytes().splitlines(keepends=True)
    start = sum(map(len, lines[: seq - 1])) + len(b'{"body":')
    body, _ = records.split(lines[seq - 1].rstrip())
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"null".ljust(len(body)))


def overwrite(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes in place."""
    assert len(old) == len(new)
    with path.open("r+b") as file:
        at = path.read_bytes().index(old)
        file.seek(at)
        file.write(new)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A long session that was read once, so that its index is kept."""
    path = written(
        tmp_path,
        message(),
        reply(2, *FACTS),
        LONG,
        TurnEndBody("complete", 1).draft(2),
        message(sensitive=True),
        statement(),
        undo_draft(2),
        clear_draft(),
        message("again?"),
        reply(10),
    )
    open_store(tmp_path).reader(SESSION_ID)
    assert index_of(path).exists()
    return path


def index_of(path: Path) -> Path:
    return path.with_suffix(".idx")


def is_taken(path: Path) -> bool:
    """Whether the kept index is made use of: only that still knows what a blank record said."""
    whole = path.read_bytes()
    blank(path, 2)
    asks = open_store(path.parent).reader(SESSION_ID).entries[1].asks
    with path.open("r+b") as file:
        file.write(whole)
    return asks


# What is kept


def test_a_long_session_that_was_read_has_an_index_that_is_private(path: Path) -> None:
    assert stat.S_IMODE(index_of(path).stat().st_mode) == 0o600
    assert sorted(file.name for file in path.parent.iterdir()) == [
        f"{SESSION_ID}.idx",
        f"{SESSION_ID}.jsonl",
    ]
    assert is_taken(path)


def test_a_short_session_has_none(tmp_path: Path) -> None:
    path = written(tmp_path, message(), reply(2))
    open_store(tmp_path).reader(SESSION_ID)
    assert not index_of(path).exists()


def test_without_a_key_there_is_no_index(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    for key in (None, no_key):
        assert open_store(tmp_path, key).reader(SESSION_ID).last_seq == 2
    assert [*tmp_path.iterdir()] == [path]


def test_where_nothing_may_be_written_no_index_is(tmp_path: Path) -> None:
    def refuse() -> None:
        raise StoreReadOnly("opened to read")

    path = written(tmp_path, LONG)
    assert open_store(tmp_path, ensure=refuse).reader(SESSION_ID).last_seq == 2
    assert [*tmp_path.iterdir()] == [path]


def test_an_index_is_used_where_nothing_may_be_written(path: Path) -> None:
    def refuse() -> None:
        raise StoreReadOnly("opened to read")

    blank(path, 2)
    assert open_store(path.parent, ensure=refuse).reader(SESSION_ID).entries[1].asks


def test_a_folder_that_can_only_be_read_has_no_index_and_no_complaint(
    tmp_path: Path, children: Any
) -> None:
    path = written(tmp_path, LONG)
    code = """
        import sys
        from pathlib import Path
        from memnb.storage.session_store import SessionStore
        store = SessionStore(
            Path(sys.argv[1]), lambda: sys.argv[2], label="", clock=str, load_key=lambda: bytes(32)
        )
        print(store.reader(sys.argv[3]).last_seq)
    """
    tmp_path.chmod(0o500)
    out = children.run(code, tmp_path, STORE_ID, SESSION_ID, prefix=bound_by_modes())
    tmp_path.chmod(0o700)
    assert out == "2\n"
    assert [*tmp_path.iterdir()] == [path]


def test_an_index_holds_no_word_of_the_session(path: Path) -> None:
    data = index_of(path).read_bytes()
    for word in (b"secret", b"unit", b"cents", b"again", b"read_file", SALT.encode()):
        assert word in path.read_bytes()
        assert word not in data
    assert FACTS[0].encode() in data, "what it does hold"


def test_the_writer_of_a_session_starts_from_its_index(path: Path) -> None:
    blank(path, 2)
    store = open_store(path.parent)
    writer = store.writer(SESSION_ID)
    assert writer.append(clear_draft(), generation=0) == (12,)
    assert store.reader(SESSION_ID).entries[1].asks, "the session was not read again"


def test_the_index_follows_when_much_was_appended(path: Path) -> None:
    before = index_of(path).read_bytes()
    store = open_store(path.parent)
    for n_long, is_new in ((0, False), (1, True)):
        append(path.parent, message("small"), *[LONG] * n_long)
        store.reader(SESSION_ID)
        assert (index_of(path).read_bytes() != before) == is_new
    assert read_kept(path.parent) == read_anew(path.parent)


# It changes no answer


def test_a_session_read_through_its_index_is_the_one_read_anew(path: Path) -> None:
    assert read_kept(path.parent) == read_anew(path.parent)
    append(path.parent, message("more"), reply(12))
    assert read_kept(path.parent) == read_anew(path.parent)


def other_session(path: Path) -> bytes:
    written(path.parent, LONG, session_id=OTHER_ID)
    open_store(path.parent).reader(OTHER_ID)
    return index_of(path.with_stem(OTHER_ID)).read_bytes()


def other_key(path: Path) -> bytes:
    index_of(path).unlink()
    open_store(path.parent, bytes(32)).reader(SESSION_ID)
    return index_of(path).read_bytes()


def same_session_other_file(path: Path) -> bytes:
    index = index_of(path).read_bytes()
    copied = path.with_suffix(".copy")
    shutil.copy(path, copied)
    copied.replace(path)
    return index


INDEXES: dict[str, Callable[[Path], bytes]] = {
    "empty": lambda path: b"",
    "garbage": lambda path: b"garbage" * 100,
    "another version": lambda path: index_of(path).read_bytes().replace(b"index 1", b"index 2"),
    "endless header": lambda path: b"memnb session index 1\n" + b"\xff" * 4,
    "header that is no object": lambda path: b"memnb session index 1\n\x02\0\0\0[]",
    "header without fields": lambda path: b"memnb session index 1\n\x02\0\0\0{}" + bytes(32),
    "longer": lambda path: index_of(path).read_bytes() + b"\0",
    "signature of nothing": lambda path: index_of(path).read_bytes()[:-32] + bytes(32),
    "flag without signature": lambda path: (
        index_of(path).read_bytes().replace(b'"user",true,true', b'"user",true,null')
    ),
    "another session": other_session,
    "another key": other_key,
    "another file": same_session_other_file,
}


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_is_not_ours_is_made_anew(path: Path, name: str) -> None:
    data = INDEXES[name](path)
    index_of(path).write_bytes(data)
    blank(path, 2)
    kept = read_kept(path.parent)
    assert not kept["entries"][1].asks, "it was believed"
    assert kept == read_anew(path.parent)
    assert index_of(path).read_bytes() != data
    assert read_kept(path.parent) == kept


def test_an_index_in_which_any_byte_is_another_is_not_believed(path: Path) -> None:
    data = index_of(path).read_bytes()
    blank(path, 2)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 1 << position % 8
        index_of(path).write_bytes(changed)
        reader = open_store(path.parent).reader(SESSION_ID)
        assert reader.entries[1].blank, position
    index_of(path).write_bytes(data)
    assert not open_store(path.parent).reader(SESSION_ID).entries[1].blank


def test_an_index_cut_at_any_byte_is_not_believed(path: Path) -> None:
    data = index_of(path).read_bytes()
    blank(path, 2)
    for n_bytes in range(len(data)):
        index_of(path).write_bytes(data[:n_bytes])
        assert open_store(path.parent).reader(SESSION_ID).entries[1].blank, n_bytes


def test_a_session_under_another_name_is_not_believed_for_its_index(path: Path) -> None:
    renamed = path.rename(path.with_stem(OTHER_ID))
    index_of(path).rename(index_of(renamed))
    kept = read_kept(path.parent, OTHER_ID)
    assert kept == read_anew(path.parent, OTHER_ID)
    assert set(kept["records"].values()) == {None}


def test_a_session_of_another_project_is_not_believed_for_its_index(path: Path) -> None:
    reader = open_store(path.parent, store_id="P-fedcba9876543210").reader(SESSION_ID)
    assert {reader.digest_at(seq) for seq in range(1, reader.last_seq + 1)} == {None}


@pytest.mark.parametrize("kind", ["symlink", "dangling symlink", "pipe", "folder"])
def test_what_is_no_file_in_place_of_the_index_is_passed_over(path: Path, kind: str) -> None:
    index = index_of(path)
    real = index.rename(index.with_suffix(".moved"))
    before = real.read_bytes()
    match kind:
        case "symlink":
            index.symlink_to(real)
        case "dangling symlink":
            index.symlink_to(path.parent / "none")
        case "pipe":
            os.mkfifo(index)
        case "folder":
            index.mkdir()
    assert read_kept(path.parent) == read_anew(path.parent)
    assert real.read_bytes() == before
    assert not (path.parent / "none").exists()
    assert index.is_dir() or (index.is_file() and not index.is_symlink())


@pytest.mark.parametrize("leftover", [b"", b"half an index"])
def test_what_a_killed_kernel_left_of_an_index_is_in_nobodys_way(
    path: Path, leftover: bytes
) -> None:
    index_of(path).unlink()
    temporary = path.with_name(f".{SESSION_ID}.idx.tmp")
    temporary.write_bytes(leftover)
    open_store(path.parent).reader(SESSION_ID)
    assert is_taken(path)
    assert not temporary.exists()


def test_a_session_that_is_gone_is_begun_anew_whatever_is_left_of_its_index(path: Path) -> None:
    store = open_store(path.parent)
    store.reader(SESSION_ID)
    path.unlink()
    writer = store.writer(SESSION_ID)
    assert writer.append(START, LONG, generation=0) == (1, 2)
    writer.close()
    assert read_kept(path.parent) == read_anew(path.parent)


# What happens to a session whose index is kept


def test_a_purged_record_stays_known_and_costs_no_other(path: Path) -> None:
    before = read_kept(path.parent)
    blank(path, 2)
    blank(path, 11)
    after = read_kept(path.parent)
    assert after["entries"] == before["entries"]
    assert after["digests"] == before["digests"]
    for seq, record in before["records"].items():
        if seq in (2, 11):
            assert after["records"][seq].body is None
            assert after["records"][seq].head == record.head
        else:
            assert after["records"][seq] == record
    append(path.parent, message("more"))
    assert open_store(path.parent).reader(SESSION_ID).entries[1].asks, "it went on from the index"


def test_a_body_that_comes_back_is_read_again_with_what_it_says(path: Path) -> None:
    """Else one who may write the file could take the mark of a secret off a message."""
    whole = path.read_bytes()
    index_of(path).unlink()
    blank(path, 6)
    assert not read_kept(path.parent)["entries"][5].sensitive
    with path.open("r+b") as file:
        file.write(whole)
    reader = open_store(path.parent).reader(SESSION_ID)
    assert reader.records([6]) == {6: None}
    reader.refresh()
    assert reader.entries[5].sensitive
    assert all_of(reader) == read_anew(path.parent) == read_kept(path.parent)


IN_PLACE = [
    pytest.param(b'"seq":3,"turn":2', b'"seq":3,"turn":9', id="head"),
    pytest.param(b'"seq":3,"turn":2', b'"seq":4,"turn":2', id="number"),
    pytest.param(b'"seq":3,"turn":2', b'"seq":x,"turn":2', id="unreadable"),
    pytest.param(b'"seq":11,"turn":10', b'"seq":11,"turn":90', id="last head"),
]


@pytest.mark.parametrize(("old", "new"), IN_PLACE)
@pytest.mark.parametrize("is_read_before", [True, False])
def test_a_record_changed_in_place_is_not_given_and_then_read_as_it_is(
    path: Path, old: bytes, new: bytes, is_read_before: bool
) -> None:
    reader = open_store(path.parent).reader(SESSION_ID)
    before = reader.records(range(1, 12))
    overwrite(path, old, new)
    if not is_read_before:
        reader = open_store(path.parent).reader(SESSION_ID)
    anew = read_anew(path.parent)["records"]
    for seq, record in reader.records(range(1, 12)).items():
        assert record in (None, before[seq], anew[seq])
    reader.refresh()
    assert all_of(reader) == read_anew(path.parent)


def test_a_damaged_line_is_damaged_through_the_index_too(path: Path) -> None:
    index_of(path).unlink()
    overwrite(path, b'"seq":3,"turn":2', b'"seq":x,"turn":2')
    overwrite(path, b'{"body"', b"garbage")
    for _ in range(2):
        assert read_kept(path.parent) == read_anew(path.parent)
    before = index_of(path).stat().st_ino
    reader = open_store(path.parent).reader(SESSION_ID)
    reader.records([1, 3, 4])
    reader.refresh()
    assert index_of(path).stat().st_ino == before, "it was read anew once more"


def test_a_damaged_line_that_was_mended_in_place_is_read_again(path: Path) -> None:
    overwrite(path, b'"seq":3,"turn":2', b'"seq":x,"turn":2')
    index_of(path).unlink()
    assert read_kept(path.parent)["records"][3] is None
    overwrite(path, b'"seq":x,"turn":2', b'"seq":3,"turn":2')
    reader = open_store(path.parent).reader(SESSION_ID)
    assert reader.records([3]) == {3: None}
    reader.refresh()
    assert reader.records([3])[3] is not None
    assert all_of(reader) == read_anew(path.parent) == read_kept(path.parent)


def shortened(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def rewritten(path: Path) -> None:
    """Another session in the same file, which is longer and ends elsewhere."""
    with path.open("r+b") as file:
        other = path.with_suffix(".other")
        other.mkdir()
        data = written(other, LONG, LONG).read_bytes()
        shutil.rmtree(other)
        file.write(data)
        file.truncate()


def forked(path: Path) -> None:
    """An older copy that was put back and went on: it parts from what was indexed."""
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("r+b") as file:
        file.truncate(sum(map(len, lines[:-2])))
    append(path.parent, message("something else"), *[reply(10)] * 5)


@pytest.mark.parametrize("change", [shortened, rewritten, forked])
def test_a_file_that_is_not_a_longer_one_of_what_was_indexed_is_read_anew(
    path: Path, change: Callable[[Path], None]
) -> None:
    reader = open_store(path.parent).reader(SESSION_ID)
    change(path)
    reader.refresh()
    assert all_of(reader) == read_anew(path.parent)
    assert read_kept(path.parent) == read_anew(path.parent)


# Any session


@dataclass(frozen=True)
class Happening:
    """One thing that happens to a session's file."""

    name: str
    number: int


HAPPENINGS = st.lists(
    st.builds(
        Happening,
        st.sampled_from(
            [
                *("message", "carrying", "statement", "secret", "undo", "redo", "clear", "long"),
                *("garbage", "torn", "cut", "flip", "copy", "delete", "read", "read"),
            ]
        ),
        st.integers(0, 10**6),
    ),
    max_size=12,
)


class Life:
    """A session as long as it is tampered with, read by one kernel and by others after it."""

    def __init__(self, folder: Path) -> None:
        self.path = written(folder, message(), reply(2, FACTS[0]), LONG)
        self.one = open_store(folder)
        self.read()

    def happen(self, what: Happening) -> None:
        match what.name:
            case "message":
                self.append(message(), reply(what.number % 9))
            case "carrying":
                self.append(message(), reply(what.number % 9, FACTS[what.number % 2]))
            case "statement":
                self.append(statement())
            case "secret":
                self.append(message(sensitive=True))
            case "undo":
                self.append(undo_draft(what.number % 9))
            case "redo":
                self.append(redo_draft(what.number % 9))
            case "clear":
                self.append(clear_draft())
            case "long":
                self.append(LONG)
            case "read":
                self.read()
            case _:
                self.tamper(what)

    def append(self, *drafts: Draft) -> None:
        try:
            append(self.path.parent, *drafts)
        except StoreError:
            return  # it doesn't begin as one of this project any more

    def read(self) -> None:
        assert all_of(self.one.reader(SESSION_ID)) == read_anew(self.path.parent)
        assert read_kept(self.path.parent) == read_anew(self.path.parent)

    def tamper(self, what: Happening) -> None:
        data = self.path.read_bytes()
        match what.name:
            case "garbage":
                data += b"garbage\n"
            case "torn":
                data += data[-what.number % 300 :][:200].replace(b"\n", b"")
            case "cut":
                data = data[: len(data) - what.number % 900]
            case "copy":
                copied = self.path.with_suffix(".copy")
                copied.write_bytes(data)
                copied.replace(self.path)
            case "delete":
                index_of(self.path).unlink(missing_ok=True)
            case "flip":
                # In the last head, where it is noticed at once; elsewhere only where it is read.
                n_last = len(data) - data.rfind(b"\n", 0, -1) - 1
                at = len(data) - 1 - what.number % max(1, min(150, n_last))
                data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] if data else data
        with self.path.open("r+b") as file:
            file.write(data)
            file.truncate()


@settings(max_examples=60)
@given(happenings=HAPPENINGS)
def test_whatever_happens_to_a_session_its_index_changes_no_answer(
    happenings: Sequence[Happening], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("life")
    life = Life(folder)
    for what in happenings:
        life.happen(what)
    if life.path.stat().st_size:
        life.read()
    shutil.rmtree(folder)


EXCLUSIONS = st.dictionaries(st.integers(1, 20), st.integers(0, 3), max_size=4)
FORGOTTEN = st.dictionaries(st.sampled_from(FACTS), st.integers(0, 3), max_size=2)


@settings(max_examples=60)
@given(happenings=HAPPENINGS, exclusions=EXCLUSIONS, forgotten=FORGOTTEN)
def test_what_can_be_seen_through_the_index_is_what_can_be_seen_anew(
    happenings: Sequence[Happening],
    exclusions: dict[int, int],
    forgotten: dict[str, int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("view")
    life = Life(folder)
    for what in happenings:
        life.happen(what)
    through, anew = (open_store(folder, key).reader(SESSION_ID).entries for key in (KEY, None))
    seen = visibility.view(through, exclusions, forgotten)
    expected = visibility.view(list(anew), exclusions, forgotten)
    assert seen.hidden == set(expected.hidden)
    assert (seen.undone, seen.cleared_to) == (expected.undone, expected.cleared_to)
    for purpose in PURPOSES:
        for seq in range(len(anew) + 2):
            assert seen.shows(seq, purpose) == expected.shows(seq, purpose)
    assert visibility.redoable(through) == visibility.redoable(list(anew))
    assert visibility.last_exchange(through, seen) == visibility.last_exchange(list(anew), expected)
    shutil.rmtree(folder)


# Interrupts and kills


CHILD = """
    import os, signal, sys
    from pathlib import Path
    from memnb.core.bodies import ToolBody
    from memnb.core.records import Draft
    from memnb.storage.session_store import SessionStore
    def open_store():
        return SessionStore(
            Path(sys.argv[1]), lambda: "P-0123456789abcdef", label="child", clock=lambda: "",
            load_key=lambda: bytes(range(32)),
        )
    SESSION_ID = "S-20261130-091005-7k2m9q"
    SMALL = ToolBody("c", "x", True, "", "file").draft(2)
    LONG = ToolBody("c", "read_file", True, "secret words " * 22_000, "file").draft(2)
"""


def test_a_kernel_that_is_killed_while_it_writes_an_index_harms_nothing(
    path: Path, children: Any
) -> None:
    code = (
        CHILD
        + """
    store = open_store()
    writer = store.writer(SESSION_ID)
    while True:
        print(max(writer.append(*[SMALL] * 200, LONG, generation=0)), flush=True)
        store.reader(SESSION_ID)
    """
    )
    for n_kill in range(6):
        child = children.start(code, path.parent)
        for _ in range(1 + n_kill % 3):
            child.stdout.readline()
        child.kill()
        child.wait()
        child.stdout.close()
        assert read_kept(path.parent)["entries"] == read_anew(path.parent)["entries"]
    open_store(path.parent).writer(SESSION_ID).close()
    assert read_kept(path.parent) == read_anew(path.parent)


def test_interrupts_while_a_session_is_read_or_its_index_written_change_no_answer(
    path: Path, children: Any
) -> None:
    """Reading is heard to an interrupt: it takes seconds for a gigabyte."""
    n_before = path.stat().st_size
    append(path.parent, *[message()] * 400, LONG)
    code = (
        CHILD
        + """
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    session, n_before = Path(sys.argv[1]) / f"{SESSION_ID}.jsonl", int(sys.argv[2])
    data = session.read_bytes()
    expected = list(open_store().reader(SESSION_ID).entries)
    n_interrupts = n_tries = 0
    while n_interrupts < 60 and n_tries < 2000:
        n_tries += 1
        session.with_suffix(".idx").unlink()
        os.truncate(session, n_before)
        store = open_store()
        store.reader(SESSION_ID)
        with session.open("ab") as file:
            file.write(data[n_before:])
        # At a moment from the start of reading the tail to its end.
        signal.setitimer(signal.ITIMER_REAL, 0.0002 * (1 + n_tries % 100))
        try:
            store.reader(SESSION_ID)
        except KeyboardInterrupt:
            n_interrupts += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for one in (store, open_store()):
            assert list(one.reader(SESSION_ID).entries) == expected, n_tries
    print(n_interrupts > 0)
    """
    )
    assert children.run(code, path.parent, n_before) == "True\n"
