from __future__ import annotations

import os
import random
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import pytest

from memnb.core.note_names import MEMORY, SCRATCHPAD, NoteName, daily, parse
from memnb.errors import (
    FileChanged,
    InvalidName,
    InvalidText,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    UnsafeFileSystem,
)
from memnb.storage.files import write_atomic
from memnb.storage.locks import FileLock
from memnb.storage.note_store import MAX_NOTE_BYTES, NoteStore

PLAN = NoteName("named", "plan")
DAY = daily(date(2026, 11, 30))
TODAY = date(2026, 11, 30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "churn-0f3c9a12"


@pytest.fixture
def store(folder: Path) -> NoteStore:
    return NoteStore(folder)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "relative"),
    [
        ("MEMORY", "MEMORY.md"),
        ("MEMORY.md", "MEMORY.md"),
        ("memory", "MEMORY.md"),
        ("scratchpad", "scratchpad.md"),
        ("today", "daily/2026-11-30.md"),
        ("2024-02-29", "daily/2024-02-29.md"),
        ("plan", "notes/plan.md"),
        ("0-data_plan", "notes/0-data_plan.md"),
        ("a" * 64, f"notes/{'a' * 64}.md"),
    ],
)
def test_a_name_means_one_file(text: str, relative: str) -> None:
    assert parse(text, today=TODAY).relative == relative


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "..", "../x", "a/b", "/etc/passwd", "a\\b", "a.md", "-a", "_a", "Plan"),
        *("a" * 65, "a\0", "note\n", "ｎｏｔｅ", "no\u202ete", "café", "a b", "２０２６-11-30"),
        *("con", "prn", "aux", "nul", "com1", "lpt9", "2026-13-01", "2025-02-29", "MEMORY.md.bak"),
    ],
)
def test_no_note_has_such_a_name(text: str) -> None:
    with pytest.raises(InvalidName) as caught:
        parse(text, today=TODAY)
    assert len(str(caught.value).splitlines()) == 1


def test_only_memory_is_trusted() -> None:
    assert [name.is_trusted for name in (MEMORY, SCRATCHPAD, DAY, PLAN)] == [True] + 3 * [False]


# --- reading and writing -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [MEMORY, SCRATCHPAD, DAY, PLAN], ids=str)
def test_what_was_written_is_read(store: NoteStore, folder: Path, name: NoteName) -> None:
    written = store.write(name, "# Käse\n", version="")
    assert written == store.read(name)
    assert written.text == "# Käse\n"
    assert (folder / name.relative).read_text(encoding="utf-8") == "# Käse\n"


def test_a_note_that_is_not_there_is_empty_and_nothing_is_created(
    store: NoteStore, folder: Path
) -> None:
    assert (store.read(PLAN).text, store.read(PLAN).version) == ("", "")
    assert store.names() == []
    assert not folder.exists()


def test_an_overwrite_keeps_the_old_content_as_backup(store: NoteStore, folder: Path) -> None:
    first = store.write(PLAN, "one\n", version="")
    second = store.write(PLAN, "two\n", version=first.version)
    assert (folder / "notes" / "plan.md.bak").read_text() == "one\n"
    store.write(PLAN, "two\n", version=second.version)
    assert store.read_backup(PLAN).text == "one\n", "writing the same again replaces no backup"


def test_appended_text_stands_on_lines_of_its_own(store: NoteStore, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "scratchpad.md").write_text("no end")
    store.append(SCRATCHPAD, "two")
    assert store.append(SCRATCHPAD, "three\n").text == "no end\ntwo\nthree\n"


def test_line_ends_and_a_byte_order_mark_stay(store: NoteStore, folder: Path) -> None:
    folder.mkdir(parents=True)
    data = b"\xef\xbb\xbfone\r\ntwo\r\n"
    (folder / "MEMORY.md").write_bytes(data)
    note = store.read(MEMORY)
    store.write(MEMORY, note.text + "three\n", version=note.version)
    assert (folder / "MEMORY.md").read_bytes() == data + b"three\n"


def test_files_and_folders_are_private(store: NoteStore, folder: Path) -> None:
    store.append(PLAN, "one")
    store.append(PLAN, "two")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}
    assert modes == {"notes": 0o700, "notes.lock": 0o600, "plan.md": 0o600, "plan.md.bak": 0o600}


def test_notes_are_listed_with_size_and_time(store: NoteStore, folder: Path) -> None:
    for name in (daily(date(2026, 12, 1)), PLAN, DAY, SCRATCHPAD, MEMORY):
        store.write(name, "é\n", version="")
    os.utime(folder / "MEMORY.md", (0, 1_764_500_000.5))
    store.append(PLAN, "more")
    (folder / "notes" / "Not a note.md").touch()
    (folder / "notes" / "con.md").touch()
    (folder / "notes" / "memory.md").touch()
    (folder / "notes" / "folder.md").mkdir()
    (folder / "notes" / "link.md").symlink_to(folder / "MEMORY.md")
    (folder / "daily" / "2026-02-30.md").touch()
    listed = store.names()
    names = ["MEMORY", "scratchpad", "plan", "2026-11-30", "2026-12-01"]
    assert [file.name.text for file in listed] == names
    assert (listed[0].n_bytes, listed[0].modified_at) == (3, "2025-11-30T10:53:20.500000Z")
    assert store.backups() == [PLAN]


# --- drift ---------------------------------------------------------------------------------------


def same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_text("ONE\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "drift",
    [
        pytest.param(lambda path: path.write_text("theirs, longer\n"), id="other text"),
        pytest.param(same_size_and_time, id="same size and time"),
        pytest.param(lambda path: os.utime(path, (1, 1)), id="time only"),
        pytest.param(lambda path: path.unlink(), id="removed"),
    ],
)
@pytest.mark.parametrize("when", ["before", "during"])
def test_a_write_over_an_edit_not_seen_fails_and_the_edit_stays(
    store: NoteStore, folder: Path, drift: object, when: str
) -> None:
    assert callable(drift)
    path = folder / "MEMORY.md"
    note = store.write(MEMORY, "one\n", version="")

    def make(_: str) -> str:
        if when == "during":
            drift(path)
        return "ours\n"

    if when == "before":
        drift(path)
    with pytest.raises(FileChanged):
        store.change(MEMORY, make, version=note.version)
    assert not path.exists() or path.read_text() in {"one\n", "ONE\n", "theirs, longer\n"}
    assert not any(name.endswith(".tmp") for name in names_in(folder))


def test_a_file_that_appears_meanwhile_is_not_replaced(store: NoteStore, folder: Path) -> None:
    def make(_: str) -> str:
        (folder / "MEMORY.md").write_text("theirs\n")
        return "ours\n"

    with pytest.raises(FileChanged):
        store.change(MEMORY, make)
    assert (folder / "MEMORY.md").read_text() == "theirs\n"


def test_the_last_check_comes_when_all_but_the_name_is_done(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    seen: list[str] = []

    def stop() -> None:
        (temporary,) = (other for other in tmp_path.iterdir() if other != path)
        seen.append(temporary.read_text())
        raise FileChanged("stop.")

    with pytest.raises(FileChanged):
        write_atomic(path, b"new", last_check=stop)
    assert seen == ["new"]
    assert path.read_text() == "old"
    assert names_in(tmp_path) == {"a.md"}


def test_writers_of_two_stores_lose_nothing(folder: Path) -> None:
    def add(who: str) -> None:
        store = NoteStore(folder, label=who)
        for number in range(10):
            store.append(SCRATCHPAD, f"{who} {number}")

    threads = [threading.Thread(target=add, args=(who,)) for who in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = NoteStore(folder).read(SCRATCHPAD).text.splitlines()
    assert sorted(lines) == sorted(f"{who} {number}" for who in "abc" for number in range(10))


def test_a_writer_that_waits_too_long_hears_who_holds_the_notes(folder: Path) -> None:
    store = NoteStore(folder, wait_ms=lambda: 20)
    store.append(SCRATCHPAD, "one")
    other = FileLock(folder / "notes.lock", label="eda.ipynb")
    assert other.try_hold()
    with pytest.raises(StoreBusy, match=r"eda\.ipynb"):
        store.append(SCRATCHPAD, "two")
    other.close()


# --- what is not ours to write -------------------------------------------------------------------


def test_a_note_that_is_not_utf_8_is_shown_and_never_written(
    store: NoteStore, folder: Path
) -> None:
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_bytes(b"caf\xe9\n")
    note = store.read(MEMORY)
    assert (note.text, note.is_writable) == ("caf\ufffd\n", False)
    with pytest.raises(StoreDamaged, match="UTF-8"):
        store.write(MEMORY, "new", version=note.version)
    with pytest.raises(StoreDamaged):
        store.append(MEMORY, "new")
    assert (folder / "MEMORY.md").read_bytes() == b"caf\xe9\n"


def test_a_link_is_neither_read_nor_written_through(
    store: NoteStore, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "plan.md").write_text("theirs\n")
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").symlink_to(outside / "plan.md")
    (folder / "scratchpad.md").symlink_to(outside / "gone.md")
    (folder / "notes").symlink_to(outside)
    for name in (MEMORY, SCRATCHPAD, PLAN):
        with pytest.raises(UnsafeFileSystem):
            store.read(name)
        with pytest.raises(UnsafeFileSystem):
            store.append(name, "ours")
    assert names_in(outside) == {"plan.md"}
    assert (outside / "plan.md").read_text() == "theirs\n"


def test_a_backup_replaces_a_link_of_its_name(
    store: NoteStore, folder: Path, tmp_path: Path
) -> None:
    store.append(MEMORY, "one")
    target = tmp_path / "target"
    target.write_text("theirs")
    (folder / "MEMORY.md.bak").symlink_to(target)
    store.append(MEMORY, "two")
    assert target.read_text() == "theirs"
    assert store.read_backup(MEMORY).text == "one\n"


def test_a_home_reached_through_a_link_works(store: NoteStore, folder: Path) -> None:
    store.append(PLAN, "one")
    link = folder.parents[1] / "linked"
    link.symlink_to(folder.parent)
    assert NoteStore(link / folder.name).append(PLAN, "two").text == "one\ntwo\n"


def test_a_pipe_under_a_notes_name_does_not_block(store: NoteStore, folder: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / "MEMORY.md")
    with pytest.raises(UnsafeFileSystem, match="regular"):
        store.read(MEMORY)
    assert store.names() == []


def test_a_note_holds_at_most_one_mib(store: NoteStore, folder: Path) -> None:
    largest = store.write(PLAN, "x" * MAX_NOTE_BYTES, version="")
    with pytest.raises(InvalidText, match="1 MiB"):
        store.append(PLAN, "y")
    assert store.read(PLAN) == largest
    with (folder / "notes" / "plan.md").open("a") as file:
        file.write("y")
    with pytest.raises(StoreFull, match="1 MiB"):
        store.read(PLAN)


def test_half_a_character_is_refused(store: NoteStore, folder: Path) -> None:
    with pytest.raises(InvalidText):
        store.append(PLAN, "\ud83d")
    assert names_in(folder / "notes") == set()


def test_a_full_disk_changes_nothing(store: NoteStore, folder: Path) -> None:
    note = store.write(MEMORY, "one\n", version="")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(StoreFull):
            store.append(MEMORY, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert store.read(MEMORY) == note
    assert names_in(folder) == {"MEMORY.md", "MEMORY.md.bak", "notes.lock"}


# --- crashes -------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from memnb.core.note_names import MEMORY
from memnb.storage.note_store import NoteStore
store = NoteStore(Path(sys.argv[1]))
number = int(sys.argv[2])
while True:
    number += 1
    text = f"note {number}\\n" + f"line of {number}\\n" * (number % 7 * 3000) + f"end {number}\\n"
    store.write(MEMORY, text, version=store.read(MEMORY).version)
    print(number, flush=True)
"""


def whole(text: str) -> int | None:
    """The number of the note that a text is, all of it; None for anything else."""
    found = re.fullmatch(r"note (\d+)\n(?:line of \1\n)*end \1\n", text)
    if found is None or text.count("line") != int(found[1]) % 7 * 3000:
        return None
    return int(found[1])


def test_a_killed_writer_leaves_a_whole_note_a_whole_backup_and_no_litter(folder: Path) -> None:
    chance = random.Random(20261130)  # noqa: S311 - when to kill is no secret
    acknowledged = 0
    for _ in range(20):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(acknowledged)], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            # After some writes, and somewhere within the next.
            for _ in range(chance.randint(1, 4)):
                acknowledged = int(writer.stdout.readline())
            threading.Event().wait(chance.uniform(0, 0.03))
            writer.send_signal(signal.SIGKILL)
            acknowledged = int((writer.stdout.read().split() or [acknowledged])[-1])
        store = NoteStore(folder)
        number = whole(store.read(MEMORY).text)
        assert number is not None, "the note is torn"
        assert number in {acknowledged, acknowledged + 1}, "an acknowledged write is gone"
        acknowledged = number
        if number > 1:
            assert whole(store.read_backup(MEMORY).text) in {number - 1, number}
    store.append(SCRATCHPAD, "sweeps")
    assert names_in(folder) == {"MEMORY.md", "MEMORY.md.bak", "notes.lock", "scratchpad.md"}
