"""The file of the search index: derived, shared by kernels, private, and never trusted."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core.passages import Passage
from memnb.errors import IndexUnusable, StoreReadOnly
from memnb.storage import passage_table
from memnb.storage.search_index import NAME, Connection, SearchIndex

STORE_ID = "P-0123456789abcdef"
AT = "2026-11-30T09:00:00.000000Z"


def opened(folder: Path, **options: Any) -> SearchIndex:
    """What one kernel holds open of the index in a folder."""
    settings = {"label": "eda.ipynb", "store_id": lambda: STORE_ID, "ensure": lambda: None}
    return SearchIndex(folder, **{**settings, **options})


def said(text: str, place: int = 2, context: str = "") -> Passage:
    return Passage("message", "S-20261130-091005-7k2m9q", place, text, AT, "person", context)


def put(index: SearchIndex, *passages: Passage) -> None:
    index.write(lambda connection: passage_table.put(connection, passages))


def texts(connection: Connection) -> list[str]:
    return [passage.text for passage in passage_table.every(connection)]


def files(folder: Path) -> bytes:
    """All bytes of the index's files. Only for when nothing has it open any more."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob(f"{NAME}*")))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    index = opened(tmp_path)
    yield index
    index.close()


def test_it_exists_from_the_first_write_on(index: SearchIndex) -> None:
    with pytest.raises(IndexUnusable, match="no search index yet"):
        index.read(texts)
    assert not index.exists
    put(index, said("we count from 1"))
    assert index.exists
    assert index.read(texts) == ["we count from 1"]


def test_its_files_are_private_whatever_the_umask_is(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        put(opened(tmp_path), said("x"))
    finally:
        os.umask(mask)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob(f"{NAME}*")}
    assert set(modes.values()) == {0o600}


def test_a_write_that_raises_changes_nothing(index: SearchIndex) -> None:
    def fail(connection: Connection) -> None:
        passage_table.put(connection, [said("half")])
        raise KeyError

    put(index, said("whole", 1))
    with pytest.raises(KeyError):
        index.write(fail)
    assert index.read(texts) == ["whole"]


def test_kernels_share_it(index: SearchIndex, tmp_path: Path) -> None:
    other = opened(tmp_path)
    put(index, said("one", 1))
    put(other, said("two", 2))
    assert sorted(index.read(texts)) == sorted(other.read(texts)) == ["one", "two"]
    other.close()


def test_a_reader_reads_while_another_kernel_writes(index: SearchIndex, tmp_path: Path) -> None:
    other = opened(tmp_path)
    put(index, said("one", 1))

    def write(connection: Connection) -> list[str]:
        passage_table.put(connection, [said("two", 2)])
        return other.read(texts)

    assert index.write(write) == ["one"]
    assert len(other.read(texts)) == 2
    other.close()


def test_who_waits_too_long_to_write_goes_without_and_a_later_one_may(
    index: SearchIndex, tmp_path: Path
) -> None:
    other = opened(tmp_path, wait_ms=lambda: 50)
    put(index, said("one", 1))

    def write(connection: Connection) -> None:
        del connection
        with pytest.raises(IndexUnusable, match="another kernel is writing"):
            put(other, said("two", 2))

    index.write(write)
    put(other, said("two", 2))
    assert len(index.read(texts)) == 2
    other.close()


def test_a_store_that_may_not_be_written_gets_no_index(tmp_path: Path) -> None:
    def refuse() -> None:
        raise StoreReadOnly("this memory was opened read-only.")

    index = opened(tmp_path, ensure=refuse)
    with pytest.raises(IndexUnusable, match="opened read-only"):
        put(index, said("x"))
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_takes_too_long_is_given_up(index: SearchIndex) -> None:
    put(index, said("x"))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT sum(i) FROM n"
    with pytest.raises(IndexUnusable, match="took too long"):
        index.read(lambda connection: connection.execute(endless).fetchall(), seconds=0.05)
    assert index.read(texts) == ["x"]


def test_an_interrupt_while_it_is_written_acts_after_the_write(index: SearchIndex) -> None:
    def write(connection: Connection) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        passage_table.put(connection, [said("whole")])

    with pytest.raises(KeyboardInterrupt):
        index.write(write)
    assert index.read(texts) == ["whole"]


def test_a_forked_child_may_not_use_it_and_the_kernel_goes_on(index: SearchIndex) -> None:
    put(index, said("x"))
    child = os.fork()
    if child == 0:
        try:
            index.read(texts)
        except BaseException as error:
            os._exit(0 if "was forked" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert index.read(texts) == ["x"]


# --- what is wiped -------------------------------------------------------------------------------


WORDS = ("quokka", "zebrafish", "okapi", "numbat", "axolotl", "pangolin", "dugong", "caracal")


@given(
    st.lists(
        st.tuples(st.integers(1, 30), st.lists(st.sampled_from(WORDS), min_size=1, max_size=40)),
        min_size=1,
        max_size=25,
    ),
    st.sets(st.integers(1, 30)),
)
@settings(max_examples=30)
def test_what_was_taken_out_is_in_none_of_its_files_once_it_is_scrubbed(
    tmp_path_factory: pytest.TempPathFactory,
    said_: list[tuple[int, list[str]]],
    gone: set[int],
) -> None:
    folder = tmp_path_factory.mktemp("index")
    index = opened(folder)
    left: dict[int, str] = {}
    for place, words in said_:
        left[place] = f"{' '.join(words)} nr{place}x"
        put(index, said(left[place], place))
    texts_gone = [left.pop(place) for place in gone & left.keys()]
    index.write(lambda c: passage_table.drop(c, "message", said("").name, gone))
    assert index.scrub()
    index.close()
    data = files(folder)
    words_left = {word for text in left.values() for word in text.split()}
    for text in texts_gone:
        assert text.encode() not in data
        for word in set(text.split()) - words_left:
            assert word.encode() not in data
    shutil.rmtree(folder)


def test_what_was_moved_before_it_was_taken_out_is_wiped_where_it_was(tmp_path: Path) -> None:
    """Deleting wipes a row where it lies; what was there before it moved stays without a scrub."""
    rng = random.Random(4)  # noqa: S311
    index = opened(tmp_path)

    def long(place: int) -> Passage:
        words = f"word{rng.randrange(99)} " * rng.randrange(1, 200)
        return said(f"u4x{place}q {words}", place)

    left, gone = set(range(1, 200)), set[int]()
    put(index, *map(long, sorted(left)))
    for round_ in range(6):
        some = set(rng.sample(sorted(left), 20))
        left, gone = left - some, gone | some
        index.write(lambda c, some=some: passage_table.drop(c, "message", said("").name, some))
        put(index, *(long(place) for place in range(1000 + round_ * 20, 1010 + round_ * 20)))
    assert index.scrub()
    index.close()
    data = files(tmp_path)
    assert [place for place in gone if f"u4x{place}q".encode() in data] == []


def test_what_was_taken_out_stays_in_its_files_until_it_is_scrubbed(tmp_path: Path) -> None:
    index = opened(tmp_path)
    put(index, said("the quokka is secret"))
    index.write(lambda c: passage_table.drop(c, "message", said("").name))
    assert b"quokka" in files(tmp_path)  # in the log
    assert index.scrub()
    assert b"quokka" not in files(tmp_path)
    index.close()


def test_it_can_not_be_scrubbed_while_another_kernel_reads_and_can_afterwards(
    index: SearchIndex, tmp_path: Path
) -> None:
    other = opened(tmp_path)
    put(index, said("one"))
    assert other.read(lambda connection: (texts(connection), index.scrub())) == (["one"], False)
    assert index.scrub()
    other.close()


# --- what is broken ------------------------------------------------------------------------------


RANDOM = random.Random(1)  # noqa: S311

STATEMENTS = {
    "another application": "PRAGMA application_id=7",
    "another format": "PRAGMA user_version=999999",
    "no table": "DROP TABLE passages",
    "another table": "CREATE TABLE more(x)",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON sessions BEGIN DELETE FROM passages; END",
    "a view": "ALTER TABLE notes RENAME TO n; CREATE VIEW notes AS SELECT * FROM n",
    "another store": "UPDATE state SET value='P-other' WHERE key='store_id'",
    "no store": "DELETE FROM state",
}


def executed(path: Path, statements: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statements).fetchall()
    connection.close()


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink(missing_ok=True)
    make(path)


def linked(path: Path) -> None:
    shutil.move(path, path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "torn": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 100]),
    "garbage": lambda path: path.write_bytes(RANDOM.randbytes(50_000)),
    "pages of garbage": lambda path: path.write_bytes(
        path.read_bytes()[:4096] + RANDOM.randbytes(50_000)
    ),
    "garbage in the log": lambda path: log_of(path).write_bytes(RANDOM.randbytes(50_000)),
    "a folder for the log": lambda path: replaced(log_of(path), Path.mkdir),
    "no bytes": lambda path: path.write_bytes(b""),
    "a few bytes": lambda path: path.write_bytes(b"SQLite"),
    "a symlink": linked,
    "a symlink to nowhere": lambda path: replaced(
        path, lambda path: path.symlink_to(path.with_name("nowhere"))
    ),
    "a folder": lambda path: replaced(path, lambda path: (path / "inner").mkdir(parents=True)),
    "a pipe": lambda path: replaced(path, os.mkfifo),
    "nothing": lambda path: replaced(path, lambda path: None),
    **{
        name: lambda path, statement=statement: executed(path, statement)
        for name, statement in STATEMENTS.items()
    },
}
HARMLESS = {"garbage in the log", "a folder for the log"}
UNSEEN = {*HARMLESS, "no bytes", "nothing", "a pipe"}
"""What looks as if there had been no index."""


def mended(index: SearchIndex, *passages: Passage) -> None:
    """A write, and another one when the first found out that the index is broken."""
    with contextlib.suppress(IndexUnusable):
        put(index, *passages)
        return
    put(index, *passages)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_broken_one_is_never_read_and_is_made_anew_at_the_next_write(
    tmp_path: Path, damage: str
) -> None:
    index = opened(tmp_path)
    put(index, *(said(f"a quokka and {n}", n) for n in range(1, 400)))
    before = index.read(texts)
    index.close()
    DAMAGES[damage](tmp_path / NAME)

    index = opened(tmp_path)
    if damage != "garbage in the log":
        with pytest.raises(IndexUnusable) as error:
            index.read(texts)
        assert str(error.value).isprintable()
    mended(index, said("anew", 1000))
    assert index.read(texts) == ([*before, "anew"] if damage in HARMLESS else ["anew"])
    assert index.damage() == ""
    is_said = index.notices == ["the search index was broken; it is being built anew."]
    assert is_said or (damage in UNSEEN and not index.notices)
    index.close()


def test_a_trigger_that_is_put_in_while_it_is_open_acts_in_no_write(
    index: SearchIndex, tmp_path: Path
) -> None:
    put(index, said("one"))
    executed(
        tmp_path / NAME,
        "CREATE TRIGGER t AFTER INSERT ON passages BEGIN"
        " INSERT INTO state VALUES(new.id, 'planted'); END",
    )
    mended(index, said("two", 3))
    planted = "SELECT count(*) FROM state WHERE value='planted'"
    assert index.read(lambda connection: connection.execute(planted).get) == 0
    assert index.read(texts) == ["two"]


def test_what_a_symlink_points_at_and_what_a_folder_holds_stay_as_they_are(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("a person's")
    (tmp_path / NAME).symlink_to(kept)
    (tmp_path / f"{NAME}-wal").mkdir()
    (tmp_path / f"{NAME}-wal" / "notes.txt").write_text("mine")
    index = opened(tmp_path)
    put(index, said("x"))
    index.close()
    assert kept.read_text() == "a person's"
    (aside,) = tmp_path.glob(f"{NAME}-wal.aside-*")
    assert (aside / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("mode", [0, 0o400, 0o666])
def test_its_rights_are_put_right(tmp_path: Path, mode: int) -> None:
    index = opened(tmp_path)
    put(index, said("x"))
    index.close()
    (tmp_path / NAME).chmod(mode)
    assert opened(tmp_path).read(texts) == ["x"]
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_other_kernels_go_on_with_one_that_was_made_anew(
    index: SearchIndex, tmp_path: Path
) -> None:
    other = opened(tmp_path)
    put(index, said("one"))
    assert other.read(texts) == ["one"]
    index.empty()
    assert other.read(texts) == []
    put(other, said("two"))
    assert index.read(texts) == ["two"]
    other.close()


def test_other_kernels_go_on_when_somebody_deletes_it(index: SearchIndex, tmp_path: Path) -> None:
    other = opened(tmp_path)
    put(index, said("one"))
    assert other.read(texts) == ["one"]
    for file in tmp_path.glob(f"{NAME}*"):
        file.unlink()
    put(index, said("two"))
    put(index, said("three", 3))
    assert sorted(other.read(texts)) == ["three", "two"]
    other.close()
    assert sorted(index.read(texts)) == ["three", "two"]


def test_one_that_was_swapped_for_another_is_read_as_it_is_now(
    index: SearchIndex, tmp_path: Path
) -> None:
    (tmp_path / "beside").mkdir()
    beside = opened(tmp_path / "beside")
    put(beside, said("other"))
    assert beside.scrub()
    beside.close()
    put(index, said("one"))
    index.read(texts)
    (tmp_path / "beside" / NAME).replace(tmp_path / NAME)
    (tmp_path / f"{NAME}-wal").unlink(missing_ok=True)
    (tmp_path / f"{NAME}-shm").unlink(missing_ok=True)
    assert index.read(texts) == ["other"]


def test_the_tables_are_made_anew_when_memnb_makes_them_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened(tmp_path)
    put(index, said("x"))
    index.close()
    monkeypatch.setattr("memnb.storage.index_connection._VERSION", 77)
    index = opened(tmp_path)
    with pytest.raises(IndexUnusable):
        index.read(texts)
    put(index, said("y"))
    assert index.read(texts) == ["y"]
    index.close()


Use = Callable[[SearchIndex], object]


def test_any_byte_of_it_may_be_another_and_nothing_but_a_line_comes_of_it(tmp_path: Path) -> None:
    index = opened(tmp_path)
    put(index, *(said(f"a quokka and {n} {'x' * n}", n) for n in range(1, 60)))
    assert index.scrub()
    index.close()
    path, rng = tmp_path / NAME, random.Random(7)  # noqa: S311
    data = path.read_bytes()
    uses: tuple[Use, ...] = (
        lambda index: index.read(texts),
        lambda index: index.read(lambda c: c.execute("SELECT rowid FROM words('quokka')").get),
        lambda index: put(index, said("more", 100)),
        lambda index: index.write(lambda c: passage_table.drop(c, "message", said("").name)),
        lambda index: put(index, said("again", 101)),
        lambda index: index.scrub(),
    )
    for _ in range(150):
        at = rng.randrange(len(data))
        path.write_bytes(data[:at] + rng.randbytes(rng.choice((1, 1, 40))) + data[at + 1 :])
        for end in ("-wal", "-shm"):
            path.with_name(NAME + end).unlink(missing_ok=True)
        index = opened(tmp_path)
        for use in uses:
            with contextlib.suppress(IndexUnusable):
                use(index)
        index.close()
