"""What people type wrong, and machines that aren't as they should be: one line, nothing lost."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import memnb
from memnb.errors import (
    ConfigError,
    FileChanged,
    HiddenText,
    InputError,
    InvalidName,
    InvalidText,
    MemnbError,
    NoModel,
    RevisionChanged,
    SecretFound,
    SessionHeld,
    SourceNotValid,
    StoreAltered,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    UnknownId,
    UnsafeFileSystem,
)
from memories import EUR, SECRET, SPLIT, Children, saying

NO_SESSION = "S-20261130-091005-7k2m9q"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "churn"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(folder: Path) -> Iterator[memnb.Memory]:
    """A memory with one fact, one note and one exchange."""
    with memnb.open(folder) as memory:
        memory.remember(EUR)
        memory.notes.append("plan", "draft one, draft two")
        memory.ask("hello", model=saying("hi"))
        yield memory


def kept(memory: memnb.Memory) -> object:
    """All that a person would miss."""
    return (
        memory.facts(all=True).rows,
        [row for row in memory.notes.names().rows if row[0] != "scratchpad"],
        memory.notes.read("plan").text,
        memory.sessions().rows[0].n_turns,
    )


def fact_id(memory: memnb.Memory) -> str:
    return memory.facts(all=True).rows[0].fact_id


def session_id(memory: memnb.Memory) -> str:
    return memory.sessions().rows[0].session_id


TYPED: dict[str, tuple[Callable[[memnb.Memory], object], type[MemnbError]]] = {
    # ids
    "no such fact": (lambda m: m.fact("F-zzzzzz"), UnknownId),
    "no fact id": (lambda m: m.fact("my fact\nid"), UnknownId),
    "recall of nothing": (lambda m: m.recall("F-zzzzzz"), UnknownId),
    "forget of nothing": (lambda m: m.forget("F-zzzzzz"), UnknownId),
    "forget of all": (lambda m: m.forget("*"), UnknownId),
    "correct of nothing": (lambda m: m.correct("F-zzzzzz", SPLIT, revision=1), UnknownId),
    "no such revision": (lambda m: m.correct(fact_id(m), SPLIT, revision=7), RevisionChanged),
    "no such session": (lambda m: m.session(NO_SESSION), UnknownId),
    "no session id": (lambda m: m.session("../../etc/passwd"), UnknownId),
    "read of no session": (lambda m: m.read(NO_SESSION, 1, 2), UnknownId),
    "read of no range": (lambda m: m.read(session_id(m), 5, 2), InputError),
    "read of a huge range": (lambda m: m.read(session_id(m), 1, 10**30), InputError),
    "read beyond the end": (lambda m: m.read(session_id(m), 900, 901), UnknownId),
    "source of no session": (lambda m: m.source(NO_SESSION, 1, 2), UnknownId),
    "source beyond the end": (lambda m: m.source(session_id(m), 2, 99), SourceNotValid),
    "source of no range": (lambda m: m.source(session_id(m), 0, 99), InputError),
    "resume of nothing": (lambda m: m.resume(NO_SESSION), UnknownId),
    "no such turn": (lambda m: m.why(9), UnknownId),
    "no such kind": (lambda m: m.remember(SPLIT, kind="secret\nkind"), UnknownId),
    "no such kind to list": (lambda m: m.facts(kind="secret"), UnknownId),
    "no such scope": (lambda m: m.remember(SPLIT, scope="galaxy"), InputError),  # type: ignore[arg-type]
    "derived from nothing": (lambda m: m.remember(SPLIT, derived_from=["F-zzzzzz"]), UnknownId),
    "a page beyond the end": (lambda m: m.facts(offset=99), InputError),
    "a negative page": (lambda m: m.facts(offset=-1), InputError),
    # texts
    "an empty fact": (lambda m: m.remember(" "), InvalidText),
    "a long fact": (lambda m: m.remember("x" * 513), InvalidText),
    "a fact of two lines": (lambda m: m.remember("one\ntwo"), InvalidText),
    "a secret fact": (lambda m: m.remember(f"token {SECRET}"), SecretFound),
    "a bidirectional fact": (lambda m: m.remember("a\u202eb"), HiddenText),
    "half a character": (lambda m: m.remember("a\ud800b"), InvalidText),
    "a correction with a secret": (
        lambda m: m.correct(fact_id(m), f"token {SECRET}", revision=1),
        SecretFound,
    ),
    "a correction that says the same": (
        lambda m: m.correct(fact_id(m), EUR, revision=1),
        InvalidText,
    ),
    "an empty question": (lambda m: m.ask(" ", model=saying("hi")), InvalidText),
    "a question of 5 MB": (lambda m: m.ask("x" * 5_000_000, model=saying("hi")), InvalidText),
    "a mode of one's own": (lambda m: m.ask("x", model=saying("hi"), mode="yolo"), InputError),  # type: ignore[arg-type]
    "negative steps": (lambda m: m.ask("x", model=saying("hi"), max_steps=-1), InputError),
    "an empty search": (lambda m: m.search(""), InputError),
    "a search in another way": (lambda m: m.search("a", how="all"), InputError),  # type: ignore[arg-type]
    "a search elsewhere": (lambda m: m.search("a", sources=["web"]), InputError),
    "an expression that is none": (lambda m: m.search("(", how="regex"), InputError),
    # notes
    "a secret in a note": (lambda m: m.notes.append("plan", f"token {SECRET}"), SecretFound),
    "a bidirectional note": (lambda m: m.notes.append("plan", "a\u202eb"), HiddenText),
    "a note elsewhere": (lambda m: m.notes.append("../plan", "x"), InvalidName),
    "a note of Windows": (lambda m: m.notes.append("con", "x"), InvalidName),
    "a note with a break": (lambda m: m.notes.read("plan\n"), InvalidName),
    "an absolute note": (lambda m: m.notes.read("/etc/passwd"), InvalidName),
    "an old version": (lambda m: m.notes.write("plan", "x", version="1-2-3"), FileChanged),
    "an edit of nothing": (lambda m: m.notes.edit("plan", "nowhere", "x"), InvalidText),
    "an edit of two places": (lambda m: m.notes.edit("plan", "draft", "x"), InvalidText),
    "an edit of no note": (lambda m: m.notes.edit("other", "a", "x"), InvalidText),
    # settings and models
    "no such setting": (lambda m: m.config("agent.colour"), ConfigError),
    "no such setting to set": (lambda m: m.config("agent.colour\n", "red"), ConfigError),
    "a value out of bounds": (lambda m: m.config("agent.max_steps", "999"), ConfigError),
    "a value of another type": (lambda m: m.config("memory.enabled", "maybe"), ConfigError),
    "no such local model": (lambda m: m.ask("x", model="local/none\nsuch"), NoModel),
    "no provider": (lambda m: m.ask("x", model="gpt\n"), NoModel),
    "no such model to fetch": (lambda m: m.fetch_model("local/none-such"), NoModel),
    # places
    "a project that isn't there": (lambda m: m.move_to("/no/such/folder"), InputError),
    "nothing to attach": (lambda m: m.attach(), InputError),
    "a slug of nothing": (lambda m: m.attach("../../etc"), UnknownId),
    "nothing to redo": (lambda m: m.redo(), InputError),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_wrong_is_told_in_a_line_and_loses_nothing(
    memory: memnb.Memory, name: str
) -> None:
    act, error = TYPED[name]
    before = kept(memory)
    with pytest.raises(error) as caught:
        act(memory)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    assert text.isprintable()
    assert SECRET not in text
    assert len(text) < 400
    assert caught.value._render_traceback_() == [f"{type(caught.value).__name__}: {text}"]
    assert kept(memory) == before
    assert memory.remember("and it goes on").outcome == "new"


# --- a symlink where a file of ours should be -----------------------------------------------------


def test_a_note_that_is_a_symlink_is_refused_and_its_target_stays(
    memory: memnb.Memory, tmp_path: Path
) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    (memory.project.folder / "scratchpad.md").symlink_to(target)
    for act in (
        lambda: memory.notes.read("scratchpad"),
        lambda: memory.notes.append("scratchpad", "x"),
        lambda: memory.notes.write("scratchpad", "x", version=""),
    ):
        with pytest.raises(UnsafeFileSystem) as caught:
            act()
        assert "\n" not in str(caught.value)
    assert target.read_text() == "mine"
    model = saying("hi")
    assert any("scratchpad" in line for line in memory.ask("x", model=model).answer.notices)
    assert EUR in model.requests[0].memory


# --- stores --------------------------------------------------------------------------------------


def closed(memory: memnb.Memory) -> Path:
    memory.close()
    return memory.project.folder


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def newer_database(folder: Path) -> None:
    connection = apsw.Connection(str(folder / "facts.sqlite3"))
    connection.execute("PRAGMA user_version=99")
    connection.close()


def emptied_database(folder: Path) -> None:
    connection = apsw.Connection(str(folder / "facts.sqlite3"))
    connection.execute("PRAGMA foreign_keys=OFF; DROP VIEW current; DROP TABLE meta")
    connection.close()


def foreign_database(folder: Path) -> None:
    (folder / "facts.sqlite3").unlink()
    connection = apsw.Connection(str(folder / "facts.sqlite3"))
    connection.execute("CREATE TABLE mine(x); PRAGMA user_version=3")
    connection.close()


def newer_project(folder: Path) -> None:
    rewritten(folder / "project.json", lambda b: b.replace(b'"format":1', b'"format":99'))


STORES: dict[str, tuple[Callable[[Path], object], type[StoreError]]] = {
    "a newer database": (newer_database, StoreTooNew),
    "a newer project": (newer_project, StoreTooNew),
    "a database of zeros": (
        lambda f: rewritten(f / "facts.sqlite3", lambda b: b"\0" * len(b)),
        StoreDamaged,
    ),
    "a database cut in half": (
        lambda f: rewritten(f / "facts.sqlite3", lambda b: b[: len(b) // 2]),
        StoreDamaged,
    ),
    "a database of text": (
        lambda f: (f / "facts.sqlite3").write_bytes(b"hello\n" * 1000),
        StoreDamaged,
    ),
    "a database without a table": (emptied_database, StoreAltered),
    "another program's database": (foreign_database, StoreDamaged),
    "a damaged project file": (
        lambda f: (f / "project.json").write_bytes(b"{"),
        StoreDamaged,
    ),
    "no project file": (lambda f: (f / "project.json").unlink(), StoreDamaged),
}


@pytest.mark.parametrize("name", STORES)
def test_a_store_that_cannot_be_written_says_so_in_a_line_and_stays_as_it_is(
    memory: memnb.Memory, folder: Path, name: str
) -> None:
    harm, error = STORES[name]
    store = closed(memory)
    harm(store)
    before = {path: path.read_bytes() for path in sorted(store.rglob("*.[jm][sd]*"))}
    with pytest.raises(error) as caught, memnb.open(folder) as again:
        again.remember(SPLIT)
    assert "\n" not in str(caught.value)
    after = {path: path.read_bytes() for path in before}
    assert {p: b for p, b in after.items() if p.suffix != ".jsonl"} == {
        p: b for p, b in before.items() if p.suffix != ".jsonl"
    }
    for path, data in before.items():
        assert after[path].startswith(data)


@pytest.mark.parametrize("harm", [newer_database, newer_project], ids=["database", "project"])
def test_a_newer_store_can_still_be_read(
    memory: memnb.Memory, folder: Path, harm: Callable[[Path], None]
) -> None:
    harm(closed(memory))
    with memnb.open(folder) as again:
        assert [row.text for row in again.facts().rows] == [EUR]
        assert again.notes.read("plan").text.startswith("draft")
        for act in (
            lambda: again.remember(SPLIT),
            lambda: again.forget(fact_id(again)),
        ):
            with pytest.raises(StoreTooNew):
                act()
        assert [row.text for row in again.facts().rows] == [EUR]


def test_a_newer_project_is_not_written_by_going_on_in_one_of_its_sessions(
    memory: memnb.Memory, folder: Path
) -> None:
    session = session_id(memory)
    store = closed(memory)
    newer_project(store)
    before = (store / "sessions" / f"{session}.jsonl").read_bytes()
    with memnb.open(folder) as again, pytest.raises(StoreTooNew):
        again.resume(session)
    assert (store / "sessions" / f"{session}.jsonl").read_bytes() == before


needs_modes = pytest.mark.skipif(
    os.name == "nt" or (os.geteuid() == 0 and shutil.which("setpriv") is None),
    reason="permissions don't hold for this user",
)
# The superuser without the right to ignore permissions.
AS_ANYBODY = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    if sys.platform == "linux" and os.geteuid() == 0
    else ()
)


@needs_modes
def test_a_store_without_the_right_to_write_is_read_and_refuses_changes(
    memory: memnb.Memory, folder: Path, children: Children
) -> None:
    store = closed(memory)
    locked = [store, *store.rglob("*")]
    for path in reversed(locked):
        path.chmod(0o500 if path.is_dir() else 0o400)
    out = children.run(
        """
        import sys, memnb
        from memnb.errors import StoreReadOnly
        for options in ({}, {"read_only": True}):
            memory = memnb.open(sys.argv[1], **options)
            print([row.text for row in memory.facts().rows])
            print(memory.notes.read("plan").text)
            for act in (
                lambda: memory.remember("new"),
                lambda: memory.notes.append("plan", "x"),
                lambda: memory.ask("hello", model=memnb.ScriptedModel(["hi"])),
            ):
                try:
                    act()
                except StoreReadOnly as error:
                    print("refused", str(error).count(chr(10)))
            memory.close()
        """,
        folder,
        prefix=AS_ANYBODY,
    )
    for path in locked:
        path.chmod(0o700 if path.is_dir() else 0o600)
    once = [f"['{EUR}']", "draft one, draft two", "", "refused 0", "refused 0", "refused 0"]
    assert out.splitlines() == once * 2


@needs_modes
def test_a_project_whose_sources_cannot_be_written_is_no_problem(
    folder: Path, children: Children
) -> None:
    folder.chmod(0o500)
    out = children.run(
        """
        import sys, memnb
        with memnb.open(sys.argv[1]) as memory:
            print(memory.remember("new").outcome)
        """,
        folder,
        prefix=AS_ANYBODY,
    )
    folder.chmod(0o700)
    assert out == "new\n"


# --- other kernels -------------------------------------------------------------------------------


def test_a_session_and_a_store_that_another_process_holds_are_told_by_its_name(
    memory: memnb.Memory, folder: Path, children: Children
) -> None:
    memory.config("storage.lock_wait_ms", "100")
    child = children.start(
        """
        import sys, memnb
        memory = memnb.open(sys.argv[1])
        memory.ask("hello", model=memnb.ScriptedModel(["hi"]))
        stores = memory.runtime.memory.stores
        with stores.facts.transaction(now=stores.now()):
            print(memory.status().session_id, flush=True)
            sys.stdin.readline()
        """,
        folder,
    )
    assert child.stdout is not None
    held = child.stdout.readline().strip()
    for act, error in (
        (lambda: memory.resume(held), SessionHeld),
        (lambda: memory.remember(SPLIT), StoreBusy),
    ):
        with pytest.raises(error) as caught:
            act()
        assert "\n" not in str(caught.value)
        assert f"pid {child.pid}" in str(caught.value)
        assert str(child.pid) in caught.value.holder  # type: ignore[attr-defined]
    child.kill()
    child.wait()
    assert memory.remember(SPLIT).outcome == "new"


# --- places --------------------------------------------------------------------------------------


def test_a_notebook_that_has_gone_leaves_its_folder(folder: Path) -> None:
    with memnb.open(folder / "gone.ipynb") as memory:
        assert memory.project.root == folder
        assert memory.remember(EUR).outcome == "new"


@pytest.mark.parametrize("path", ["gone", "gone/deeper", "gone/eda.ipynb"])
def test_a_folder_that_has_gone_is_told_in_a_line(folder: Path, path: str) -> None:
    # A slip of the pen must not keep facts in the project of the folder above.
    with pytest.raises(InputError) as caught:
        memnb.open(folder / path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_goes_while_it_is_open_loses_nothing(folder: Path) -> None:
    with memnb.open(folder) as memory:
        memory.remember(EUR)
        folder.rmdir()
        assert memory.remember(SPLIT).outcome == "new"
        assert len(memory.facts().rows) == 2
        memory.status()


@pytest.mark.parametrize("is_repository", [False, True], ids=["a folder", "a repository"])
def test_without_a_git_program_everything_works(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_repository: bool,
) -> None:
    if is_repository:
        (folder / ".git" / "objects").mkdir(parents=True)
        (folder / ".git" / "refs").mkdir()
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    (folder / "nb").mkdir()
    with memnb.open(folder / "nb") as memory:
        assert memory.project.root == (folder if is_repository else folder / "nb")
        memory.remember(EUR)
        memory.ask("hello", model=saying("hi"))
        assert all("\n" not in notice for notice in memory.status().notices)
    with memnb.open(folder / "nb") as memory:
        assert [row.text for row in memory.facts().rows] == [EUR]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMNB_HOME", "relative/folder"),
        ("MEMNB_HOME", "~"),
        ("MEMNB_STATE", "/"),
        ("MEMNB_PROJECT", "/no/such/folder"),
    ],
)
def test_a_place_that_cannot_be_is_told_in_a_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.chdir(folder)
    with pytest.raises(ConfigError) as caught:
        memnb.open()
    assert variable in str(caught.value)
    assert "\n" not in str(caught.value)


# --- settings that are wrong ---------------------------------------------------------------------

FILES: dict[str, tuple[str, str]] = {
    "no such key": ("[agent]\ncolour = 'red'\n", "agent.colour is ignored"),
    "a bad value": ("[agent]\nmax_steps = 999\n", "agent.max_steps is ignored"),
    "another type": ("[memory]\nenabled = 'maybe'\n", "memory.enabled is ignored"),
    "no TOML": ("[agent\n", "not valid TOML"),
    "no UTF-8": ("[agent]\nmodel = '\udcff'\n", "not UTF-8"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_setting_that_is_wrong_is_named_and_disables_nothing(
    folder: Path, own_home: Path, name: str
) -> None:
    text, said = FILES[name]
    (own_home / "memnb").mkdir(mode=0o700)
    config = own_home / "memnb" / "config.toml"
    config.write_bytes(text.encode("utf-8", "surrogateescape"))
    with memnb.open(folder) as memory:
        notices = memory.status().notices
        assert any(said in notice and "config.toml" in notice for notice in notices)
        assert all("\n" not in notice for notice in notices)
        assert memory.remember(EUR).in_prompt


LOOSENING: dict[str, Any] = {
    "agent.mode": 'mode = "auto"',
    "agent.model": 'model = "evil/model"',
    "agent.max_steps": "max_steps = 50",
    "agent.timeout_seconds": "timeout_seconds = 3600",
    "memory.write_approval": "write_approval = false",
    "memory.max_bytes": "max_bytes = 262144",
    "tools.record_bytes": "record_bytes = 4096",
    "storage.lock_wait_ms": "lock_wait_ms = 100",
}


@pytest.mark.parametrize("key", LOOSENING)
def test_a_repository_loosens_nothing(folder: Path, key: str) -> None:
    table = key.partition(".")[0]
    (folder / "pyproject.toml").write_text(f"[tool.memnb.{table}]\n{LOOSENING[key]}\n")
    with memnb.open(folder) as memory:
        ((_, value, origin, _),) = memory.config(key).rows
        assert origin == "default"
        assert "evil" not in value
        if key != "memory.write_approval":  # it says what holds anyway
            assert any(key in notice for notice in memory.status().notices)
