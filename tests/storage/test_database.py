from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from memnb.errors import (
    MemnbError,
    StoreAltered,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreMoved,
    StoreReadOnly,
    StoreTooNew,
)
from memnb.storage.database import Database
from memnb.storage.locks import FileLock
from memnb.storage.schema import APPLICATION_ID, MIGRATIONS
from memories import sealer_of

Make = Callable[..., Database]
OPEN_FILES = Path("/proc/self/fd")

OPEN = """
    import os, signal, sys
    from pathlib import Path
    import apsw
    from memnb.errors import *
    from memnb.storage.database import Database
    from memnb.storage.anchor import Anchor
    from memnb.storage.locks import FileLock
    from memnb.storage.sealing import Sealer

    KEY, ID = bytes(range(32)), "P-0123456789abcdef"

    def sealer_of(folder):
        path = folder.with_name(f"{folder.name}-state") / "anchors" / f"{ID}.jsonl"
        anchor = Anchor(lambda: path, lambda: ID, lambda: KEY)
        return Sealer(lambda: KEY, lambda: ID, anchor)

    def open_database(**options):
        folder = Path(sys.argv[1])
        lock = FileLock(folder / "store.lock", label="child")
        path = folder / "facts.sqlite3"
        return Database(path, lock, sealer_of(folder), wait_ms=lambda: 30_000, **options)

    def put(database, key, value="", **options):
        with database.transaction(**options) as connection:
            connection.execute("INSERT INTO meta VALUES(?,?)", (key, value))

    def clear(database):
        with database.transaction() as connection:
            connection.execute("DELETE FROM meta")

    def keys(database):
        return sorted(row[0] for row in database.rows("SELECT key FROM meta WHERE key<>'seal'"))

    def outcome(action):
        try:
            return action()
        except MemnbError as error:
            return type(error).__name__
"""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Opens the database of the test's folder, as another kernel would."""
    opened: list[Database] = []

    def open_database(*, wait_ms: int = 10_000, **options: Any) -> Database:
        lock = FileLock(tmp_path / "store.lock", label="nb.ipynb")
        path = tmp_path / "facts.sqlite3"
        sealer = sealer_of(tmp_path)
        opened.append(Database(path, lock, sealer, wait_ms=lambda: wait_ms, **options))
        return opened[-1]

    yield open_database
    for database in opened:
        try:
            database.close()
        except MemnbError:
            continue


@pytest.fixture
def database(make: Make) -> Database:
    return make()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "facts.sqlite3"


def put(database: Database, key: str, value: Any = "", **options: Any) -> None:
    with database.transaction(**options) as connection:
        connection.execute("INSERT INTO meta VALUES(?,?)", (key, value))


def keys(database: Database) -> list[str]:
    return sorted(row[0] for row in database.rows("SELECT key FROM meta WHERE key<>'seal'"))


def in_thread(action: Callable[[], Any]) -> Any:
    """What `action` gives or raises in a thread of its own."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(action())
        except MemnbError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


# The file


def test_nothing_is_created_before_the_first_write(database: Database, tmp_path: Path) -> None:
    assert not database.exists
    assert database.rows("SELECT * FROM facts") == []
    assert database.scrub()
    with database.snapshot():
        assert database.rows("SELECT * FROM facts") == []
    database.close()
    assert [*tmp_path.iterdir()] == []


def test_the_first_write_creates_private_files(database: Database, tmp_path: Path) -> None:
    put(database, "a")
    assert database.exists
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == dict.fromkeys(
        ["facts.sqlite3", "facts.sqlite3-wal", "facts.sqlite3-shm", "store.lock"], 0o600
    )


def test_a_first_transaction_that_fails_leaves_a_usable_database(
    database: Database, make: Make
) -> None:
    with pytest.raises(ValueError, match="own"), database.transaction():
        raise ValueError("own")
    put(database, "a")
    assert keys(make()) == ["a"]


def test_the_database_has_the_settings_that_its_promises_rest_on(database: Database) -> None:
    put(database, "a")
    names = ("application_id", "user_version", "journal_mode", "synchronous", "foreign_keys")
    found = [database.rows(f"PRAGMA {name}")[0][0] for name in (*names, "secure_delete")]
    assert found == [APPLICATION_ID, len(MIGRATIONS), "wal", 2, 1, 1]
    assert database.rows("PRAGMA trusted_schema") == [(0,)]


def test_close_leaves_one_file_and_it_can_be_used_again(database: Database, tmp_path: Path) -> None:
    put(database, "a")
    database.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["facts.sqlite3", "store.lock"]
    put(database, "b")
    assert keys(database) == ["a", "b"]
    database.close()
    database.close()


def test_a_file_left_empty_by_a_crash_is_a_new_database(make: Make, path: Path) -> None:
    path.touch()
    assert keys(make()) == []
    put(make(), "a")


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda database: database.rows("SELECT key FROM meta"), id="rows"),
        pytest.param(lambda database: database.scrub(), id="scrub"),
        pytest.param(lambda database: database.close(), id="close"),
    ],
)
@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
def test_a_file_left_empty_by_a_crash_hinders_nobody(
    make: Make, path: Path, use: Callable[[Database], Any], read_only: bool
) -> None:
    path.touch()
    database = make(wait_ms=200, read_only=read_only)
    try:
        assert use(database) in ([], True, None)
    except StoreReadOnly:
        assert read_only


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
def test_a_file_without_tables_left_by_a_crash_is_empty(
    make: Make, path: Path, read_only: bool
) -> None:
    """SQLite writes its header before our tables are there."""
    sqlite_file(path, "PRAGMA journal_mode=WAL")
    assert path.stat().st_size > 0
    database = make(read_only=read_only)
    assert keys(database) == []
    assert database.scrub() or read_only


# What isn't ours


def sqlite_file(path: Path, *statements: str) -> bytes:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()
    return path.read_bytes()


FOREIGN = {
    "another application": ("PRAGMA application_id=77", "CREATE TABLE x(a)"),
    "no application named": ("CREATE TABLE x(a)",),
    "no application named, with a version": ("CREATE TABLE x(a)", "PRAGMA user_version=3"),
    "tables called like ours": ("CREATE TABLE facts(a)", "CREATE TABLE meta(key, value)"),
}


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
@pytest.mark.parametrize("name", FOREIGN)
def test_a_database_of_others_is_refused_and_left_as_it_is(
    make: Make, path: Path, name: str, read_only: bool
) -> None:
    before = sqlite_file(path, *FOREIGN[name])
    database = make(read_only=read_only)
    with pytest.raises(StoreDamaged):
        database.rows("SELECT 1")
    if not read_only:
        with pytest.raises(StoreDamaged):
            put(database, "a")
    database.close()
    assert path.read_bytes() == before
    assert not [*path.parent.glob("*-wal"), *path.parent.glob("*-journal")]


def made_newer(make: Make, path: Path) -> None:
    database = make()
    put(database, "a")
    database.close()
    sqlite_file(path, f"PRAGMA user_version={len(MIGRATIONS) + 1}")


def test_a_store_of_a_newer_version_can_be_read(make: Make, path: Path) -> None:
    made_newer(make, path)
    for read_only in (False, True):
        database = make(read_only=read_only)
        assert keys(database) == ["a"]
        assert database.is_too_new


def test_a_store_of_a_newer_version_can_not_be_written(make: Make, path: Path) -> None:
    made_newer(make, path)
    database = make()
    with pytest.raises(StoreTooNew):
        put(database, "b")
    assert keys(database) == ["a"]
    assert database.rows("PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]


def test_what_a_newer_version_keeps_elsewhere_is_not_taken_for_damage(
    make: Make, path: Path
) -> None:
    """Who is told that the store is damaged puts back a backup."""
    made_newer(make, path)
    sqlite_file(path, "ALTER TABLE meta RENAME TO things")
    with pytest.raises(StoreTooNew):
        keys(make())


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "header overwritten": lambda data: b"\xff" * 100 + data[100:],
    "no database at all": lambda data: b"this is not a database, it is a letter to my aunt " * 99,
    "cut off": lambda data: data[: len(data) // 3],
    "a page of zeros": lambda data: data[:4096] + b"\0" * (len(data) - 4096),
    "first page of garbage behind its header": lambda data: (
        data[:100] + b"\x5a" * 3996 + data[4096:]
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_reported_and_left_as_it_is(make: Make, path: Path, name: str) -> None:
    database = make()
    put(database, "a", "x" * 2000)
    database.close()
    path.write_bytes(DAMAGES[name](path.read_bytes()))
    before = path.read_bytes()
    damaged = make()
    with pytest.raises(StoreDamaged) as caught:
        put(damaged, "b")
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(StoreDamaged):
        make().rows("SELECT count(*) FROM meta, revisions, sources, facts, heads, exclusions")
    damaged.close()
    assert path.read_bytes() == before


def test_a_table_that_is_missing_is_damage(make: Make, path: Path) -> None:
    database = make()
    put(database, "a")
    database.close()
    sqlite_file(path, "DROP TABLE meta")
    with pytest.raises(StoreAltered):
        make().rows("SELECT key FROM meta")
    with pytest.raises(StoreDamaged):
        make().unchecked_rows("SELECT key FROM meta")


def test_a_symlink_in_place_of_the_database_is_refused(make: Make, path: Path) -> None:
    target = path.with_name("target")
    before = sqlite_file(target)
    path.symlink_to(target)
    with pytest.raises(StoreError):
        put(make(), "a")
    with pytest.raises(StoreError):
        make().rows("SELECT 1")
    assert target.read_bytes() == before


# A file that is moved while it is used


def moved_away(path: Path) -> None:
    path.rename(path.with_suffix(".away"))


def replaced(path: Path) -> None:
    new = path.with_suffix(".new")
    shutil.copy(path, new)
    new.replace(path)


MOVES = {"deleted": Path.unlink, "renamed": moved_away, "replaced": replaced}


@pytest.mark.parametrize("name", MOVES)
def test_a_file_that_was_moved_under_us_is_noticed(
    database: Database, path: Path, name: str
) -> None:
    put(database, "a")
    MOVES[name](path)
    for use in (keys, lambda database: put(database, "b"), Database.scrub):
        with pytest.raises(StoreMoved):
            use(database)
    assert path.exists() == (name == "replaced")


@pytest.mark.parametrize("name", MOVES)
def test_a_new_thread_notices_that_the_file_was_moved(
    database: Database, path: Path, name: str
) -> None:
    put(database, "a")
    MOVES[name](path)
    assert type(in_thread(lambda: keys(database))) is StoreMoved
    assert type(in_thread(lambda: put(database, "b"))) is StoreMoved


def test_a_file_put_in_its_place_is_not_touched_by_a_new_thread(
    database: Database, path: Path
) -> None:
    put(database, "a")
    path.unlink()
    path.touch()
    assert type(in_thread(lambda: keys(database))) is StoreMoved
    assert path.read_bytes() == b""


def test_after_close_the_file_that_is_there_now_is_used(database: Database, path: Path) -> None:
    put(database, "a")
    database.close()
    replaced(path)
    assert keys(database) == ["a"]


# Transactions


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_transaction_whose_block_raises_changes_nothing(
    database: Database, make: Make, error: type[BaseException]
) -> None:
    put(database, "a")

    def change() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO meta VALUES('b','')")
            raise error

    with pytest.raises(error):
        change()
    assert keys(database) == keys(make()) == ["a"]
    put(database, "c")
    assert keys(make()) == ["a", "c"]


def test_an_interrupt_during_a_transaction_comes_after_its_commit(
    database: Database, make: Make
) -> None:
    def change() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO meta VALUES('a','')")
            signal.raise_signal(signal.SIGINT)
            connection.execute("INSERT INTO meta VALUES('b','')")

    with pytest.raises(KeyboardInterrupt):
        change()
    assert keys(make()) == ["a", "b"]


def test_what_a_statement_refuses_undoes_the_transaction(database: Database) -> None:
    put(database, "a")

    def change() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO meta VALUES('b','')")
            connection.execute("INSERT INTO meta VALUES('a','')")

    with pytest.raises((apsw.ConstraintError, StoreError)):
        change()
    assert keys(database) == ["a"]


def test_a_transaction_sees_its_own_changes_and_others_do_not(
    database: Database, make: Make
) -> None:
    other = make()
    put(database, "a")
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES('b','')")
        assert keys(database) == ["a", "b"]
        assert keys(other) == ["a"]
        assert in_thread(lambda: keys(database)) == ["a"]
    assert keys(other) == ["a", "b"]


def test_a_transaction_that_need_not_be_durable_is_seen_and_the_next_is_durable(
    database: Database, make: Make
) -> None:
    put(database, "a", durable=False)
    put(database, "b", durable=False)
    assert keys(make()) == ["a", "b"]
    assert database.rows("PRAGMA synchronous") == [(2,)]
    with pytest.raises(ValueError, match="own"), database.transaction(durable=False):
        raise ValueError("own")
    assert database.rows("PRAGMA synchronous") == [(2,)]


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_durable_transaction_is_one_fsync_and_the_other_kind_none(
    tmp_path: Path, children: Any
) -> None:
    code = (
        OPEN
        + """
    database = open_database()
    put(database, "a")
    for n, durable in enumerate([True, True, False, False, True]):
        os.write(1, b"mark")
        put(database, f"b{n}", durable=durable)
    os.write(1, b"mark")
    """
    )
    trace = tmp_path / "trace"
    prefix = ("strace", "-f", "-qq", "-e", "trace=write,fsync,fdatasync", "-o", str(trace))
    children.run(code, tmp_path, prefix=prefix)
    parts = trace.read_text().split('"mark"')[1:-1]
    assert [part.count("sync(") for part in parts] == [1, 1, 0, 0, 1]


def test_a_writer_is_told_who_holds_the_store(
    database: Database, make: Make, tmp_path: Path, children: Any
) -> None:
    put(database, "a")
    code = (
        OPEN
        + """
    with open_database().transaction():
        print("inside")
        sys.stdin.readline()
    """
    )
    child = children.start(code, tmp_path)
    assert child.stdout.readline() == "inside\n"
    with pytest.raises(StoreBusy) as caught:
        put(make(wait_ms=50), "b")
    assert caught.value.holder == f"child (pid {child.pid})"
    assert keys(database) == ["a"]


def test_readers_do_not_wait_for_a_writer(database: Database, make: Make) -> None:
    put(database, "a")
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES('b','')")
        assert in_thread(lambda: keys(make(wait_ms=0))) == ["a"]


def test_a_read_only_database_refuses_to_write(database: Database, make: Make) -> None:
    put(database, "a")
    reader = make(read_only=True)
    assert keys(reader) == ["a"]
    with pytest.raises(StoreReadOnly):
        put(reader, "b")
    put(database, "c")
    assert keys(reader) == ["a", "c"]


def test_a_read_only_database_that_is_not_there_is_empty_and_not_made(
    make: Make, tmp_path: Path
) -> None:
    reader = make(read_only=True)
    assert reader.rows("SELECT key FROM meta WHERE key<>'seal'") == []
    with pytest.raises(StoreReadOnly):
        put(reader, "a")
    assert [*tmp_path.iterdir()] == []


def test_a_query_that_is_wrong_is_not_taken_for_damage(database: Database) -> None:
    put(database, "a")
    with pytest.raises(apsw.SQLError):
        database.rows("SELECT nonsense FROM")
    assert keys(database) == ["a"]


# Snapshots


def test_reads_in_a_snapshot_see_one_state(database: Database, make: Make) -> None:
    put(database, "a")
    with database.snapshot():
        assert keys(database) == ["a"]
        put(make(), "b")
        assert keys(database) == ["a"]
        with database.snapshot():
            assert keys(database) == ["a"]
        assert keys(database) == ["a"]
    assert keys(database) == ["a", "b"]


def test_a_snapshot_ends_when_its_block_raises(database: Database, make: Make) -> None:
    put(database, "a")

    def read() -> None:
        with database.snapshot():
            keys(database)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read()
    put(make(), "b")
    assert keys(database) == ["a", "b"]
    assert database.scrub()


def test_a_transaction_can_be_made_after_a_snapshot(database: Database) -> None:
    put(database, "a")
    with database.snapshot():
        keys(database)
    put(database, "b")
    assert keys(database) == ["a", "b"]


def test_a_snapshot_inside_a_transaction_is_that_transaction(
    database: Database, make: Make
) -> None:
    put(database, "a")
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES('b','')")
        with database.snapshot():
            assert keys(database) == ["a", "b"]
        connection.execute("INSERT INTO meta VALUES('c','')")
    assert keys(make()) == ["a", "b", "c"]


# Threads and processes


def test_threads_write_through_one_database(database: Database, make: Make) -> None:
    def write(name: int) -> None:
        for number in range(5):
            put(database, f"{name}-{number}")

    threads = [threading.Thread(target=write, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys(make())) == 15


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc")
def test_threads_that_have_ended_keep_no_file_open(database: Database) -> None:
    put(database, "a")
    in_thread(lambda: keys(database))
    n_before = len([*OPEN_FILES.iterdir()])
    for _ in range(20):
        in_thread(lambda: keys(database))
    assert len([*OPEN_FILES.iterdir()]) <= n_before + 3


def test_what_is_read_first_at_the_end_of_a_process_is_read(
    database: Database, tmp_path: Path, children: Any
) -> None:
    put(database, "a")
    code = (
        OPEN
        + """
    import atexit
    database = open_database()
    atexit.register(lambda: print(keys(database)))
    """
    )
    assert children.run(code, tmp_path) == "['a']\n"


def test_processes_that_start_on_an_empty_store_all_get_their_commits_in(
    database: Database, tmp_path: Path, children: Any
) -> None:
    code = (
        OPEN
        + """
    database = open_database()
    print("ready")
    sys.stdin.readline()
    keys(database)
    for number in range(25):
        with database.transaction() as connection:
            connection.execute(
                "INSERT INTO meta VALUES('generation',1)"
                " ON CONFLICT DO UPDATE SET value=value+1"
            )
        put(database, f"{os.getpid()}-{number}", durable=False)
    database.close()
    """
    )
    three = [children.start(code, tmp_path) for _ in range(3)]
    for child in three:
        assert child.stdout.readline() == "ready\n"
    for child in three:
        child.stdin.write("\n")
        child.stdin.flush()
    assert [child.wait(60) for child in three] == [0, 0, 0]
    assert database.rows("SELECT value FROM meta WHERE key='generation'") == [(75,)]
    assert len(keys(database)) == 76


def test_no_acknowledged_commit_is_lost_to_a_kill(
    database: Database, make: Make, tmp_path: Path, children: Any
) -> None:
    code = (
        OPEN
        + """
    from itertools import count
    database = open_database()
    for number in count(int(sys.argv[2])):
        put(database, f"{number:08}")
        print(number, flush=True)
    """
    )
    last = 0
    for n_kill in range(6):
        child = children.start(code, tmp_path, last + 100)
        for _ in range(1 + n_kill):
            acknowledged = int(child.stdout.readline())
        child.kill()
        for line in child.stdout.read().split():
            acknowledged = max(acknowledged, int(line))
        child.wait()
        reader = make()
        found = keys(reader)
        assert {f"{number:08}" for number in range(last + 100, acknowledged + 1)} <= set(found)
        assert reader.rows("PRAGMA integrity_check") == [("ok",)]
        last = int(found[-1])


def test_a_forked_child_is_told_that_the_database_is_its_parents(
    tmp_path: Path, children: Any
) -> None:
    code = (
        OPEN
        + """
    import gc
    database = open_database()
    put(database, "a")
    outcomes = set()
    for n in range(50):
        pid = os.fork()
        if pid == 0:
            good = True
            for use in (lambda: keys(database), lambda: put(database, "b"), database.scrub):
                try:
                    use()
                except StoreError as error:
                    good = good and "fork" in str(error)
                else:
                    good = False
            database.close()
            if n % 2:
                del database
                gc.collect()
            os._exit(0 if good else 1)
        outcomes.add(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    put(database, "c")
    print(outcomes, keys(database), keys(open_database()))
    """
    )
    assert children.run(code, tmp_path) == "{0} ['a', 'c'] ['a', 'c']\n"


def test_a_child_forked_inside_a_transaction_does_not_disturb_it(
    tmp_path: Path, children: Any
) -> None:
    code = (
        OPEN
        + """
    database = open_database()
    put(database, "a")
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES('b','')")
        pid = os.fork()
        if pid == 0:
            os._exit(0 if outcome(lambda: keys(database)) == "StoreError" else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        print(outcome(lambda: put(open_database_now(), "x")))
    print(keys(open_database()))
    """
    )
    code = code.replace(
        "database = open_database()\n",
        "database = open_database()\n    def open_database_now():\n"
        '        lock = FileLock(Path(sys.argv[1]) / "store.lock", label="other")\n'
        '        path = Path(sys.argv[1]) / "facts.sqlite3"\n'
        "        return Database(path, lock, sealer_of(path.parent), wait_ms=lambda: 20)\n",
        1,
    )
    assert children.run(code, tmp_path) == "0\nStoreBusy\n['a', 'b']\n"


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc")
def test_a_forked_child_closes_no_connection_of_any_thread(tmp_path: Path, children: Any) -> None:
    """Closing touches SQLite, whose locks a thread that is gone in the child may hold."""
    code = (
        OPEN
        + """
    import gc, threading
    database = open_database()
    put(database, "a")
    is_connected, may_end = threading.Event(), threading.Event()

    def read():
        keys(database)
        is_connected.set()
        may_end.wait()

    def n_open():
        links = [os.path.realpath(file) for file in Path("/proc/self/fd").iterdir()]
        return sum("facts.sqlite3" in link for link in links)

    thread = threading.Thread(target=read)
    thread.start()
    is_connected.wait()
    n_before = n_open()
    pid = os.fork()
    if pid == 0:
        n_after_fork = n_open()
        del database
        gc.collect()
        print(n_after_fork - n_before, n_open() - n_before)
        os._exit(0)
    os.waitpid(pid, 0)
    may_end.set()
    """
    )
    assert children.run(code, tmp_path) == "0 0\n"


def test_to_close_while_another_thread_writes_keeps_the_store_locked(
    database: Database, make: Make, tmp_path: Path
) -> None:
    put(database, "a")
    busy = make(wait_ms=50)
    keys(busy)
    is_inside, may_end = threading.Event(), threading.Event()
    outcome: list[object] = []

    def write() -> None:
        try:
            with busy.transaction() as connection:
                connection.execute("INSERT INTO meta VALUES('b','')")
                is_inside.set()
                may_end.wait()
            outcome.append("committed")
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    is_inside.wait()
    busy.close()
    newcomer = FileLock(tmp_path / "store.lock", label="newcomer")
    try:
        with pytest.raises(StoreBusy), newcomer.held(20):
            pytest.fail("two writers inside")
    finally:
        may_end.set()
        thread.join()
    assert outcome == ["committed"]


# A folder that can't be written

UNPRIVILEGED = (
    ("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner")
    if os.geteuid() == 0
    else ()
)
"""Root ignores the modes of files; without these capabilities it obeys them."""


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Makes the test's folder and its files read-only until the test ends."""
    if UNPRIVILEGED and shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv to obey file modes")

    def lock() -> None:
        for file in tmp_path.iterdir():
            file.chmod(0o400)
        tmp_path.chmod(0o500)

    yield lock
    tmp_path.chmod(0o700)


READ_ONLY = (
    OPEN
    + """
    database = open_database(read_only=True)
    print(keys(database), outcome(lambda: put(database, "x")))
    print(outcome(database.close))
    writable = open_database()
    print(outcome(lambda: put(writable, "x")))
    print(outcome(writable.close))
"""
)


def test_a_store_in_a_read_only_folder_can_be_read_and_not_written(
    database: Database, tmp_path: Path, locked: Callable[[], None], children: Any
) -> None:
    put(database, "a")
    database.close()
    locked()
    out = children.run(READ_ONLY, tmp_path, prefix=UNPRIVILEGED)
    assert out == "['a'] StoreReadOnly\nNone\nStoreReadOnly\nNone\n"


def test_reading_a_read_only_folder_works_also_when_it_was_opened_to_write(
    database: Database, tmp_path: Path, locked: Callable[[], None], children: Any
) -> None:
    put(database, "a")
    database.close()
    locked()
    code = (
        OPEN
        + """
    print(outcome(lambda: keys(open_database())))
    """
    )
    assert children.run(code, tmp_path, prefix=UNPRIVILEGED) == "['a']\n"


@pytest.mark.parametrize("left", ["wal and index", "wal only"])
def test_what_a_killed_kernel_committed_is_never_overlooked_in_a_read_only_folder(
    tmp_path: Path, locked: Callable[[], None], children: Any, left: str
) -> None:
    """Else what was forgotten last would be back."""
    code = (
        OPEN
        + """
    database = open_database()
    put(database, "forgotten")
    database.close()
    clear(database)
    put(database, "newer")
    os.kill(os.getpid(), signal.SIGKILL)
    """
    )
    assert children.start(code, tmp_path).wait(60) == -signal.SIGKILL
    assert (tmp_path / "facts.sqlite3-wal").stat().st_size > 0
    if left == "wal only":
        (tmp_path / "facts.sqlite3-shm").unlink()
    locked()
    code = (
        OPEN
        + """
    print(outcome(lambda: keys(open_database(read_only=True))))
    """
    )
    out = children.run(code, tmp_path, prefix=UNPRIVILEGED)
    assert out in ("['newer']\n", "StoreReadOnly\n", "StoreError\n")


def test_a_size_limit_undoes_the_transaction_and_the_next_one_works(
    database: Database, tmp_path: Path, children: Any
) -> None:
    code = (
        OPEN
        + """
    import resource
    database = open_database()
    put(database, "a")
    size = (Path(sys.argv[1]) / "facts.sqlite3-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, resource.RLIM_INFINITY))
    print(outcome(lambda: put(database, "b", "x" * 100_000)), keys(database))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    put(database, "c")
    """
    )
    out = children.run(code, tmp_path)
    assert out in ("StoreFull ['a']\n", "StoreError ['a']\n")
    assert keys(database) == ["a", "c"]


# Deleted bytes

GONE = "xyzzy-plugh-0123456789"


def bytes_of(folder: Path) -> bytes:
    """All bytes below, read by another process: in ours it would drop SQLite's locks."""
    files = sorted(map(str, folder.iterdir()))
    return subprocess.run(["cat", *files], capture_output=True, check=True).stdout


def forgotten(database: Database) -> None:
    for number in range(30):
        put(database, f"{number}", GONE * 20)
    with database.transaction() as connection:
        connection.execute("DELETE FROM meta")


def test_after_delete_and_scrub_the_bytes_are_in_no_file(
    database: Database, tmp_path: Path
) -> None:
    forgotten(database)
    assert GONE.encode() in bytes_of(tmp_path)
    assert database.scrub()
    assert GONE.encode() not in bytes_of(tmp_path)


@pytest.mark.parametrize("durable", [True, False])
def test_a_text_that_was_overwritten_is_gone_after_a_scrub(
    database: Database, tmp_path: Path, durable: bool
) -> None:
    put(database, "a", GONE * 2000)
    database.scrub()
    with database.transaction(durable=durable) as connection:
        connection.execute("UPDATE meta SET value='short'")
    assert database.scrub()
    assert GONE.encode() not in bytes_of(tmp_path)


def test_a_scrub_is_pending_while_another_process_reads_an_older_state(
    database: Database, tmp_path: Path, children: Any
) -> None:
    put(database, "a", GONE)
    code = (
        OPEN
        + """
    database = open_database()
    with database.snapshot():
        print(keys(database))
        sys.stdin.readline()
    print("over")
    sys.stdin.readline()
    """
    )
    child = children.start(code, tmp_path)
    assert child.stdout.readline() == "['a']\n"
    with database.transaction() as connection:
        connection.execute("DELETE FROM meta")
    assert not database.scrub()
    assert GONE.encode() in bytes_of(tmp_path)
    child.stdin.write("\n")
    child.stdin.flush()
    assert child.stdout.readline() == "over\n"
    assert database.scrub()
    assert GONE.encode() not in bytes_of(tmp_path)


def test_a_scrub_is_pending_while_another_thread_reads_an_older_state(
    database: Database, make: Make, tmp_path: Path
) -> None:
    put(database, "a", GONE)
    other = make()
    with other.snapshot():
        keys(other)
        with database.transaction() as connection:
            connection.execute("DELETE FROM meta")
        assert not in_thread(database.scrub)
    assert in_thread(database.scrub)
    assert GONE.encode() not in bytes_of(tmp_path)


def test_a_scrub_waits_for_the_writer_and_names_it(make: Make, database: Database) -> None:
    put(database, "a")
    with database.transaction():
        error = in_thread(make(wait_ms=20).scrub)
    assert isinstance(error, StoreBusy)
    assert error.holder.startswith("nb.ipynb")


def test_a_storm_of_interrupts_leaves_no_transaction_open(tmp_path: Path, children: Any) -> None:
    """A snapshot that never ends would show an old state for ever and keep deleted bytes."""
    code = (
        OPEN
        + """
    import random
    from faults.storms import Storm

    def work():
        with database.snapshot():
            keys(database)
        keys(database)
        if random.random() < 0.05:
            put(database, f"{random.random()}", durable=False)

    database = open_database()
    put(database, "a")
    n_left = 0
    with Storm(work, pause_seconds=0.0006) as storm:
        while storm.n_interrupts < 1000:
            storm.lets_through()
            connection = database._connections.here()
            if connection.in_transaction:
                n_left += 1
                connection.execute("ROLLBACK").fetchall()
    print(f"{n_left} left open", database.rows("PRAGMA synchronous"))
    """
    )
    assert children.run(code, tmp_path) == "0 left open [(2,)]\n"
