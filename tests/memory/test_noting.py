from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.note_names import SCRATCHPAD, NoteName
from memnb.errors import (
    FileChanged,
    HiddenText,
    InvalidName,
    InvalidText,
    Refused,
    SecretFound,
)
from memnb.memory import noting
from memnb.memory.stores import Stores
from memnb.storage.database import Database
from memnb.storage.fact_store import FactStore
from memnb.storage.locks import FileLock
from memnb.storage.note_store import NoteStore
from memnb.storage.session_store import SessionStore
from memories import sealer_of

PLAN = NoteName("named", "plan")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEY = "ghp_" + "Zt4Q8vXn2LsRb7KdYw9HcPm3FgJ6aE1uTi5o"  # of no account


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def stores(folder: Path) -> Stores:
    lock = FileLock(folder / "store.lock", label="test")
    database = Database(folder / "facts.sqlite3", lock, sealer_of(folder), wait_ms=lambda: 100)
    return Stores(
        facts=FactStore(database, lambda: "P-0000000000000000", lambda: bytes(32)),
        sessions=SessionStore(
            folder / "sessions", lambda: "P-0000000000000000", label="test", clock=lambda: ""
        ),
        notes=NoteStore(folder),
        ensure=lambda: folder.mkdir(exist_ok=True),
        load_key=lambda: bytes(32),
        clock=lambda: NOW,
        random_bytes=os.urandom,
    )


# --- changing ------------------------------------------------------------------------------------


def test_a_name_is_found_by_the_local_day(stores: Stores) -> None:
    assert noting.find(stores, "today").text == NOW.astimezone().date().isoformat()
    with pytest.raises(InvalidName):
        noting.find(stores, "../MEMORY")


def test_writing_appending_and_editing_change_the_note(stores: Stores) -> None:
    first = noting.write(stores, PLAN, "split: 2026\n", version="")
    noting.append(stores, PLAN, "metric: AUC")
    note = noting.edit(stores, PLAN, "AUC", "log loss")
    assert note.text == "split: 2026\nmetric: log loss\n"
    with pytest.raises(FileChanged):
        noting.write(stores, PLAN, "mine\n", version=first.version)
    with pytest.raises(FileChanged):
        noting.edit(stores, PLAN, "2026", "2025", version=first.version)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param(f"token {KEY}", SecretFound, id="secret"),
        pytest.param("abc\u202edef", HiddenText, id="bidirectional"),
        pytest.param("abc\0", HiddenText, id="NUL"),
    ],
)
def test_every_writer_is_screened(
    stores: Stores, folder: Path, text: str, error: type[Refused]
) -> None:
    noting.append(stores, SCRATCHPAD, "kept")
    with pytest.raises(error):
        noting.write(stores, PLAN, text, version="")
    with pytest.raises(error):
        noting.append(stores, PLAN, text)
    with pytest.raises(error) as caught:
        noting.edit(stores, SCRATCHPAD, "kept", text)
    assert text not in str(caught.value)
    assert KEY not in str(caught.value)
    assert not (folder / "notes").exists()
    assert stores.notes.read(SCRATCHPAD).text == "kept\n"


def test_an_edit_cannot_join_two_halves_to_a_secret(stores: Stores) -> None:
    noting.append(stores, PLAN, f"token {KEY[:12]} | {KEY[12:]} end")
    with pytest.raises(SecretFound):
        noting.edit(stores, PLAN, " | ", "")


def test_what_a_person_keeps_elsewhere_in_a_note_does_not_stop_an_edit(
    stores: Stores, folder: Path
) -> None:
    folder.mkdir()
    (folder / "scratchpad.md").write_text(f"token {KEY}\nfirst\n")
    assert noting.edit(stores, SCRATCHPAD, "first", "second").text.endswith("\nsecond\n")


@pytest.mark.parametrize(
    ("text", "old", "problem"),
    [
        pytest.param("one\n", "two", "isn't in the note", id="none"),
        pytest.param("one\n", "One", "isn't in the note", id="other case"),
        pytest.param("one one one\n", "one", "3 times", id="three"),
        pytest.param("aaa\n", "aa", "2 times", id="overlapping"),
        pytest.param("one\n", "", "needs the text", id="empty"),
    ],
)
def test_an_edit_without_exactly_one_match_changes_nothing(
    stores: Stores, text: str, old: str, problem: str
) -> None:
    note = noting.write(stores, PLAN, text, version="")
    with pytest.raises(InvalidText, match=problem) as caught:
        noting.edit(stores, PLAN, old, "new")
    assert len(str(caught.value).splitlines()) == 1
    assert stores.notes.read(PLAN) == note


def test_an_edit_of_a_note_that_is_not_there_creates_nothing(stores: Stores, folder: Path) -> None:
    with pytest.raises(InvalidText, match="no such note"):
        noting.edit(stores, PLAN, "a", "b")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        pytest.param("a\r\nb\r\n", "a\r\nx\r\ny\r\n", id="windows"),
        pytest.param("a\nb\n", "a\nx\ny\n", id="unix"),
        pytest.param("a\nb\r\nc\n", "a\nx\ny\r\nc\n", id="mixed"),
    ],
)
def test_an_edit_keeps_the_line_ends_of_the_note(text: str, after: str) -> None:
    assert noting.edited(text, "a\nb", "a\nx\ny") == after


@given(
    before=st.text("ab\n"), old=st.text("ab\n", min_size=1), after=st.text("ab\n"), new=st.text("c")
)
def test_an_edit_changes_the_one_place_or_says_why_not(
    before: str, old: str, after: str, new: str
) -> None:
    text = before + old + after
    n_places = sum(text.startswith(old, at) for at in range(len(text)))
    if n_places == 1:
        assert noting.edited(text, old, new) == before + new + after
    else:
        with pytest.raises(InvalidText):
            noting.edited(text, old, new)


def test_there_must_be_something_to_append(stores: Stores) -> None:
    with pytest.raises(InvalidText):
        noting.append(stores, PLAN, " \n")


def test_a_preview_is_whole_lines_and_says_how_much_there_is(stores: Stores) -> None:
    noting.append(stores, PLAN, "été\n" * 10)
    cut = noting.preview(stores, PLAN, max_bytes=15)
    assert (cut.text, cut.n_bytes, cut.n_all_bytes, cut.is_cut) == ("été\n" * 2, 12, 60, True)
    assert noting.preview(stores, PLAN, max_bytes=4).text == "ét"
    assert not noting.preview(stores, PLAN).is_cut


# --- a fact in a note ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("We report revenue in EUR cents.", "- We report revenue in EUR cents."),
        ("x\n## New Instructions", "- x ## New Instructions"),
        ("# Title", r"- \# Title"),
        ("- item", r"- \- item"),
        ("---", r"- \---"),
        ("> quote", r"- \> quote"),
        ("1. first", r"- 1\. first"),
        ("```python", r"- \`\`\`python"),
        ("a | b", r"- a \| b"),
        ("col_name and _x_", r"- col_name and \_x\_"),
        (r"C:\data", r"- C:\\data"),
        ("![x](https://evil.example/?q=1)", r"- !\[x](https://evil.example/?q=1)"),
        ("<script>", r"- \<script>"),
        ("AT&T &amp; R&D", r"- AT&T \&amp; R&D"),
        ("a\r\n\u2028b\x85c\fd", "- a b c d"),
    ],
)
def test_a_fact_is_one_escaped_line(text: str, line: str) -> None:
    assert noting.fact_line(text) == line


def rendered(markdown: str) -> tuple[list[str], str]:
    """The kinds of the blocks and inline pieces, and the text that a reader sees."""
    from markdown_it import MarkdownIt

    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    pieces = [piece for block in blocks for piece in block.children or []]
    kinds = [block.type for block in blocks] + [piece.type for piece in pieces]
    return kinds, "".join(piece.content for piece in pieces)


ITEM = ["bullet_list_open", "list_item_open", "paragraph_open", "inline"]
ITEM += ["paragraph_close", "list_item_close", "bullet_list_close"]
PIECES = st.sampled_from(
    [*"#-+*_`~|<>[]()!\\&$=:;^%.1aé \t\n\r", "```", "---", "&lt;", "&#35;", "](x)", "[^1]", "<!--"]
)


@given(st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(lambda text: text.strip()))
def test_a_fact_in_a_note_renders_as_its_own_words_and_nothing_else(text: str) -> None:
    line = noting.fact_line(text)
    kinds, shown = rendered(line + "\n")
    assert "\n" not in line
    assert kinds[:7] == ITEM
    assert set(kinds[7:]) <= {"text", "text_special"}
    words = " ".join(text.replace("\r", "\n").split("\n")).split()
    assert shown.split() == words
