"""The doctor on real stores that something happened to."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from opening import bound_by_modes

import memnb
from conformance.forging import read_lines, write_lines
from learned import quote
from memnb.__main__ import main
from memnb.core.bodies import Part, UserBody
from memnb.core.records import encode, record_from_line
from memnb.errors import (
    InputError,
    KeyLost,
    MemnbError,
    StoreAltered,
    StoreDamaged,
    StoreRolledBack,
)
from memnb.storage.premises import Premises
from memories import EUR, SPLIT, Children

Opener = Callable[..., memnb.Memory]
GONE = "The password rule is on page 9."


@pytest.fixture
def kept(reopen: Opener) -> Path:
    """The folder of a closed memory with two facts, and one that was forgotten."""
    with reopen() as memory:
        memory.remember(EUR)
        memory.remember(SPLIT)
        memory.forget(memory.remember(GONE).fact_id)
        memory.notes.write("plan", "a plan", version="")
        return memory.project.folder


def states(memory: memnb.Memory, **options: bool) -> dict[str, str]:
    return {row.area: row.state for row in memory.doctor(**options).rows}


def wrong(memory: memnb.Memory) -> str:
    rows = memory.doctor().rows
    # Who asks the doctor needn't be told to.
    assert not any("`%memory doctor`" in row.text or ".." in row.text for row in rows)
    return "\n".join(row.text for row in rows if row.state == "wrong")


def texts(memory: memnb.Memory) -> set[str]:
    return {row.text for row in memory.facts().rows}


def edit(folder: Path, sql: str, *arguments: str) -> None:
    connection = apsw.Connection(str(folder / "facts.sqlite3"))
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(sql, arguments).fetchall()
    connection.close()


def key_file() -> Path:
    return Path(os.environ["MEMNB_STATE"]) / "key"


def test_a_healthy_memory_has_nothing_wrong(kept: Path, reopen: Opener) -> None:
    memory = reopen()
    assert memory.doctor().is_healthy
    assert states(memory) == {
        "SQLite": "ok",
        "database": "ok",
        "anchor": "ok",
        "facts": "ok",
        "sessions": "ok",
        "notes": "ok",
    }


def test_a_new_project_has_nothing_wrong_and_nothing_is_made(reopen: Opener) -> None:
    memory = reopen()
    assert memory.doctor().is_healthy
    assert not memory.project.folder.exists()


def test_a_store_that_was_changed_is_named_and_goes_on_once_a_person_accepts_it(
    kept: Path, reopen: Opener
) -> None:
    edit(kept, "DELETE FROM exclusions")
    memory = reopen()
    with pytest.raises(StoreAltered, match="doctor"):
        memory.facts()
    assert "--accept" in wrong(memory)
    memory.doctor(accept=True)
    assert memory.doctor().is_healthy
    assert len(memory.facts().rows) == 2


def test_a_database_that_is_gone_begins_anew_once_a_person_accepts_it(
    kept: Path, reopen: Opener
) -> None:
    for file in kept.glob("facts.sqlite3*"):
        file.unlink()
    memory = reopen()
    assert "--accept" in wrong(memory)
    memory.doctor(accept=True)
    assert memory.doctor().is_healthy
    memory.remember(SPLIT)
    assert texts(memory) == {SPLIT}


def test_what_is_accepted_is_not_signed(kept: Path, reopen: Opener) -> None:
    edit(kept, "UPDATE revisions SET text='We use USD.' WHERE text=?", EUR)
    memory = reopen()
    memory.doctor(accept=True)
    assert texts(memory) == {SPLIT}
    assert "not as they were signed" in wrong(memory)


def test_a_backup_that_was_put_back_is_refused_until_it_is_accepted(
    kept: Path, reopen: Opener, tmp_path: Path
) -> None:
    shutil.copytree(kept, tmp_path / "backup")
    with reopen() as memory:
        memory.remember("Said after the backup.")
    shutil.rmtree(kept)
    shutil.copytree(tmp_path / "backup", kept)
    memory = reopen()
    assert any("older" in line for line in memory.notices())
    with pytest.raises(StoreRolledBack):
        memory.remember("One more.")
    assert "older" in wrong(memory)
    memory.doctor(accept=True)
    assert texts(memory) == {EUR, SPLIT}
    memory.remember("One more.")
    memory.close()
    assert reopen().doctor().is_healthy


def test_a_new_machine_is_said_until_it_is_accepted(kept: Path, reopen: Opener) -> None:
    shutil.rmtree(Path(os.environ["MEMNB_STATE"]) / "anchors")
    memory = reopen()
    assert texts(memory) == {EUR, SPLIT}
    assert any("--accept" in line for line in memory.notices())
    assert states(memory)["anchor"] == "note"
    memory.doctor(accept=True)
    memory.close()
    memory = reopen()
    assert not any("--accept" in line for line in memory.notices())
    assert states(memory)["anchor"] == "ok"


def test_a_key_that_is_gone_is_not_made_anew_and_can_be_put_back(
    kept: Path, reopen: Opener, tmp_path: Path
) -> None:
    shutil.move(key_file(), tmp_path / "key")
    memory = reopen()
    with pytest.raises(KeyLost, match="key"):
        memory.facts()
    assert not key_file().exists()
    shutil.move(tmp_path / "key", key_file())
    assert texts(memory) == {EUR, SPLIT}


def test_facts_are_signed_anew_when_their_evidence_holds(kept: Path, reopen: Opener) -> None:
    key_file().unlink()
    edit(kept, "UPDATE revisions SET text='We use USD.' WHERE text=?", EUR)
    memory = reopen()
    assert "--rekey" in wrong(memory)
    memory.doctor(rekey=True)
    assert texts(memory) == {SPLIT}
    memory.remember("Said under the new key.")
    memory.close()
    assert texts(reopen()) == {SPLIT, "Said under the new key."}


def test_what_waits_is_signed_anew_and_what_was_rejected_is_known_no_more(
    kept: Path, reopen: Opener
) -> None:
    with reopen() as memory:
        ids = queue(memory, "We use tabs.", "Tables are sorted by day.", "Plots are dark.")
        memory.reject(ids[0])
        applied = memory.apply(ids[1]).fact_id
    key_file().unlink()
    memory = reopen()
    memory.doctor(rekey=True)
    assert [row.text for row in memory.review().rows] == ["Plots are dark."]
    assert memory.runtime.memory.stores.candidates.candidate(ids[0]) is None
    assert memory.unapply(ids[1]).fact_id == applied
    assert states(memory)["inbox"] == "ok"


def test_a_candidate_that_isnt_as_it_was_signed_is_named(kept: Path, reopen: Opener) -> None:
    with reopen() as memory:
        (candidate_id,) = queue(memory, "We use tabs.")
    edit(kept, "UPDATE candidates SET text='We use spaces.'")
    memory = reopen()
    assert candidate_id in wrong(memory)
    assert memory.review().rows == ()
    assert states(memory)["inbox"] == "ok"


def test_the_inbox_is_saved_from_a_damaged_database(kept: Path, reopen: Opener) -> None:
    with reopen() as memory:
        queue(memory, "We use tabs.")
    database = kept / "facts.sqlite3"
    page = int(
        apsw.Connection(str(database))
        .execute("SELECT rootpage FROM sqlite_schema WHERE name='links'")
        .fetchall()[0][0]
    )
    damage(database, (page - 1) * 4096, 4096)
    memory = reopen()
    memory.doctor(repair=True)
    assert [row.text for row in memory.review().rows] == ["We use tabs."]
    assert memory.runtime.memory.stores.candidates.runs()


def queue(memory: memnb.Memory, *texts: str) -> list[str]:
    """Let candidates wait that quote messages; gives their ids."""
    return [quote(memory, text) for text in texts]


def test_another_machines_key_is_told_from_a_change(kept: Path, reopen: Opener) -> None:
    key_file().write_bytes(b"k" * 32)
    memory = reopen()
    with pytest.raises(KeyLost, match="another key"):
        memory.facts()


def damage(path: Path, start: int, n_bytes: int, filling: bytes = b"\xa5") -> None:
    data = bytearray(path.read_bytes())
    data[start : start + n_bytes] = filling * min(n_bytes, max(0, len(data) - start))
    path.write_bytes(data)


def test_a_damaged_database_is_repaired_from_what_can_be_read(kept: Path, reopen: Opener) -> None:
    database = kept / "facts.sqlite3"
    page = int(
        apsw.Connection(str(database))
        .execute("SELECT rootpage FROM sqlite_schema WHERE name='links'")
        .fetchall()[0][0]
    )
    damage(database, (page - 1) * 4096, 4096)
    before = database.read_bytes()
    memory = reopen()
    assert "--repair" in wrong(memory)
    report = memory.doctor(repair=True)
    assert "links" in report.rows[0].text
    (copies,) = kept.glob("quarantine-*")
    assert (copies / "facts.sqlite3").read_bytes() == before
    assert texts(memory) == {EUR, SPLIT}
    memory.remember("Goes on.")
    memory.close()
    assert reopen().doctor().is_healthy


def test_a_database_of_which_nothing_can_be_read_is_left_as_it_is(
    kept: Path, reopen: Opener
) -> None:
    database = kept / "facts.sqlite3"
    database.write_bytes(b"garbage" * 4096)
    memory = reopen()
    assert "--repair" in wrong(memory)
    with pytest.raises(StoreDamaged, match="backup"):
        memory.doctor(repair=True)
    assert database.read_bytes() == b"garbage" * 4096


def test_a_database_of_which_nothing_can_be_read_can_be_given_up(
    kept: Path, reopen: Opener
) -> None:
    (kept / "facts.sqlite3").write_bytes(b"garbage" * 4096)
    with pytest.raises(StoreDamaged, match="--accept"):
        reopen().doctor(repair=True)
    (kept / "facts.sqlite3").unlink()
    memory = reopen()
    memory.doctor(accept=True)
    memory.remember("Begun anew.")
    assert memory.doctor().is_healthy


def test_a_healthy_database_isnt_repaired(kept: Path, reopen: Opener) -> None:
    with pytest.raises(InputError, match="isn't damaged"):
        reopen().doctor(repair=True)
    assert not list(kept.glob("quarantine-*"))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        pytest.param("DELETE FROM revisions WHERE text=?", {SPLIT}, id="a row without its parent"),
        pytest.param("DELETE FROM facts", set[str](), id="rows without their parents"),
    ],
)
def test_rows_that_dont_belong_together_are_put_into_a_new_database(
    kept: Path, reopen: Opener, sql: str, expected: set[str]
) -> None:
    connection = apsw.Connection(str(kept / "facts.sqlite3"))
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute(sql, (EUR,) if "?" in sql else ()).fetchall()
    connection.close()
    memory = reopen()
    assert "--repair" in wrong(memory)
    with pytest.raises(StoreDamaged, match="--repair"):
        memory.doctor(accept=True)
    memory.doctor(repair=True)
    assert texts(memory) == expected
    memory.remember("Goes on.")
    memory.close()
    assert reopen().doctor().is_healthy


def test_what_cant_be_a_key_can_be_moved_away(kept: Path, reopen: Opener) -> None:
    key_file().write_bytes(b"short")
    memory = reopen()
    assert "--rekey" in wrong(memory)
    assert "--accept" not in wrong(memory)
    assert states(memory)["key"] == "wrong"
    key_file().unlink()
    memory.doctor(rekey=True)
    assert texts(memory) == {EUR, SPLIT}
    assert memory.doctor().is_healthy


def test_facts_without_evidence_are_said_with_what_to_do(kept: Path, reopen: Opener) -> None:
    for session in (kept / "sessions").glob("*.jsonl"):
        session.unlink()
    assert "%memory facts --all" in wrong(reopen())


def test_one_thing_at_a_time(kept: Path, reopen: Opener) -> None:
    with pytest.raises(InputError):
        reopen().doctor(accept=True, rekey=True)


def test_a_damaged_record_is_named(kept: Path, reopen: Opener) -> None:
    (session,) = (kept / "sessions").glob("*.jsonl")
    data = session.read_bytes().replace(b"EUR cents", b"USD cents")
    session.write_bytes(data)
    memory = reopen()
    assert "damaged records: 2" in wrong(memory)
    assert states(memory)["facts"] == "wrong"
    assert texts(memory) == {SPLIT}


def test_a_seal_that_names_another_key_than_the_one_that_made_it_is_no_lost_key(
    kept: Path, reopen: Opener
) -> None:
    edit(
        kept,
        "UPDATE meta SET value=CAST(substr(value, 1, length(value) - 8) || x'0000000000000000'"
        " AS BLOB) WHERE key='seal'",
    )
    memory = reopen()
    with pytest.raises(StoreAltered, match="changed"):
        memory.facts()
    assert "--rekey" not in wrong(memory)


def test_a_session_that_was_cut_is_named(kept: Path, reopen: Opener) -> None:
    (session,) = (kept / "sessions").glob("*.jsonl")
    lines = session.read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join(lines[:3]))
    memory = reopen()
    assert "cut, changed or put back" in wrong(memory)
    for look in (
        lambda: memory.session(session.stem),
        lambda: memory.read(session.stem, 1, 2),
        lambda: memory.resume(session.stem),
    ):
        with pytest.raises(StoreAltered, match="doctor"):
            look()


def forged(kept: Path) -> str:
    """A whole session that nobody had, made of one that there is."""
    (session,) = (kept / "sessions").glob("*.jsonl")
    store_id = json.loads((kept / "project.json").read_text(encoding="utf-8"))["store_id"]
    path = session.with_name("S-20260101-000000-000000.jsonl")
    write_lines(path, store_id, read_lines(session))
    return path.stem


def test_a_session_that_memnb_never_began_is_named_and_not_shown(
    kept: Path, reopen: Opener
) -> None:
    session_id = forged(kept)
    memory = reopen()
    assert session_id in wrong(memory)
    for look in (
        lambda: memory.session(session_id),
        lambda: memory.read(session_id, 1, 2),
        lambda: memory.resume(session_id),
    ):
        with pytest.raises(StoreAltered, match="doctor"):
            look()
    assert texts(memory) == {EUR, SPLIT}


def test_sessions_of_before_the_first_fact_and_of_a_killed_kernel_are_shown(
    reopen: Opener, children: Children, folder: Path
) -> None:
    with reopen() as memory:
        memory.ask("hello", model=memnb.ScriptedModel(["hi"]))
        first = memory.status().session_id or ""
    with reopen() as memory:
        memory.remember(EUR)
    children.run(
        """
        import os, sys, memnb
        memory = memnb.open(sys.argv[1])
        memory.ask("hello", model=memnb.ScriptedModel(["hi"]))
        os._exit(0)
        """,
        folder,
    )
    memory = reopen()
    ids = [row.session_id for row in memory.sessions().rows]
    assert len(ids) == 3
    assert first in ids
    for session_id in ids:
        assert memory.session(session_id).rows
    assert memory.doctor().is_healthy


def test_a_session_into_which_a_record_was_put_after_its_end_is_named(
    kept: Path, reopen: Opener
) -> None:
    (session,) = (kept / "sessions").glob("*.jsonl")
    last = record_from_line(session.read_bytes().splitlines()[-1])
    body = UserBody("agent", (Part("typed", SPLIT),), asks=True)
    line, _ = encode(
        body.draft(),
        seq=last.head.seq + 1,
        at=last.head.at,
        generation=last.head.generation,
        prev=last.head_digest,
        salt="00" * 8,
    )
    session.write_bytes(session.read_bytes() + line)
    memory = reopen()
    with pytest.raises(StoreAltered, match="doctor"):
        memory.session(session.stem)
    assert "goes on after its end" in wrong(memory)


def test_old_temporary_files_are_swept_and_new_ones_left(kept: Path, reopen: Opener) -> None:
    old, new = kept / ".MEMORY.md.00aa.tmp", kept / ".MEMORY.md.00bb.tmp"
    old.write_bytes(b"x")
    new.write_bytes(b"x")
    os.utime(old, (1, 1))
    report = reopen().doctor()
    assert "1 temporary" in str(report)
    assert not old.exists()
    assert new.exists()


def test_a_folder_open_to_others_is_named(kept: Path, reopen: Opener) -> None:
    memory = reopen()
    kept.chmod(0o755)
    assert "open to others" in wrong(memory)


def test_forgotten_bytes_that_another_kernel_kept_are_removed_later(
    kept: Path, reopen: Opener
) -> None:
    memory = reopen()
    fact_id = memory.remember("Soon forgotten.").fact_id
    reader = apsw.Connection(str(kept / "facts.sqlite3"))
    reader.execute("BEGIN").fetchall()
    reader.execute("SELECT count(*) FROM facts").fetchall()
    assert memory.forget(fact_id).pending
    assert states(memory)["forgotten"] == "wrong"
    reader.execute("COMMIT").fetchall()
    reader.close()
    assert states(memory)["forgotten"] == "mended"
    assert "forgotten" not in states(memory)


def test_a_model_may_not_accept_sign_or_repair(kept: Path, reopen: Opener) -> None:
    from memnb.speaking import in_tool_call

    memory = reopen()
    for option in ("accept", "rekey", "repair"):
        with in_tool_call(), pytest.raises(MemnbError):
            memory.doctor(**{option: True})


def test_the_version_of_sqlite_is_said(kept: Path, reopen: Opener) -> None:
    runtime = reopen().runtime
    assert isinstance(runtime.premises(), Premises)
    assert runtime.premises().sqlite_version() in str(reopen().doctor())


@pytest.mark.parametrize("how", ["missing", "damaged"])
def test_the_command_line_writes_the_projects_record_anew(
    kept: Path, folder: Path, reopen: Opener, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = kept / "project.json"
    before = record.read_bytes()
    record.unlink() if how == "missing" else record.write_bytes(b"{damaged")
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        reopen()
    assert main(["--project", str(folder), "doctor"]) == 1
    assert main(["--project", str(folder), "doctor", "--repair"]) == 0
    assert "written anew" in capsys.readouterr().out
    kept_now = texts(reopen())
    assert kept_now == {EUR, SPLIT}
    assert json.loads(record.read_bytes())["store_id"] == json.loads(before)["store_id"]
    quarantined = [path.read_bytes() for path in kept.glob("quarantine-*/project.json")]
    assert quarantined == ([] if how == "missing" else [b"{damaged"])


def test_a_record_that_is_whole_is_not_written_anew(
    kept: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (kept / "project.json").read_bytes()
    assert main(["--project", str(folder), "doctor", "--repair"]) == 1
    assert "isn't damaged" in capsys.readouterr().err
    assert (kept / "project.json").read_bytes() == before


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM revisions; END",
        "DROP TABLE links",
        "CREATE TABLE more(x)",
    ],
    ids=["a trigger", "a table less", "a table more"],
)
def test_a_database_with_other_tables_is_put_into_one_with_ours(
    kept: Path, reopen: Opener, sql: str
) -> None:
    edit(kept, sql)
    memory = reopen()
    with pytest.raises(StoreAltered, match="tables or triggers"):
        memory.remember("One more.")
    assert "--repair" in wrong(memory)
    memory.doctor(repair=True)
    assert texts(memory) == {EUR, SPLIT}
    memory.remember("One more.")
    assert memory.doctor().is_healthy


def test_an_anchor_that_cant_be_written_stops_nothing_and_is_said(
    kept: Path, folder: Path, children: Children
) -> None:
    (anchor,) = (Path(os.environ["MEMNB_STATE"]) / "anchors").iterdir()
    anchor.chmod(0o400)
    code = """
    import sys, memnb
    with memnb.open(sys.argv[1]) as memory:
        memory.remember("Kept all the same.")
        print(len(memory.facts().rows), *memory.notices())
    """
    said = children.run(code, folder, prefix=bound_by_modes())
    assert said.startswith("3 ")
    assert "couldn't be written" in said


@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_a_database_that_is_gone_is_begun_anew_once_a_person_accepts_it(
    kept: Path, reopen: Opener, how: str
) -> None:
    database = kept / "facts.sqlite3"
    database.unlink() if how == "deleted" else database.write_bytes(b"")
    memory = reopen()
    assert "--accept" in wrong(memory)
    assert "isn't known any more" in memory.doctor(accept=True).rows[0].text
    assert memory.doctor().is_healthy
    assert not texts(memory)
    memory.remember("Goes on.")
    memory.close()
    memory = reopen()
    assert texts(memory) == {"Goes on."}
    assert memory.doctor().is_healthy
    assert not memory.notices()


def test_accepting_a_project_without_facts_makes_nothing(reopen: Opener) -> None:
    memory = reopen()
    memory.doctor(accept=True)
    assert not memory.project.folder.exists()


def test_a_folder_that_cant_be_written_is_said(
    kept: Path, folder: Path, children: Children
) -> None:
    code = """
    import sys, memnb
    with memnb.open(sys.argv[1]) as memory:
        print(len(memory.facts().rows), memory.doctor())
    """
    kept.chmod(0o500)
    try:
        said = children.run(code, folder, prefix=bound_by_modes())
    finally:
        kept.chmod(0o700)
    assert said.startswith("2 ")
    assert "can't be written" in said
    assert "MEMNB_HOME" in said
