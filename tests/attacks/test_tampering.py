"""Edits of the store at rest, by somebody who knows its format but not the key."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from conformance.forging import database, hidden_indexes, put_in_twice
from learned import learn
from memnb.core.bodies import Part, UserBody
from memnb.core.records import encode, record_from_line
from memnb.errors import (
    InputError,
    KeyLost,
    SourceNotValid,
    StoreAltered,
    StoreError,
    StoreMoved,
    StoreRolledBack,
    UnknownId,
)
from memnb.memory import queueing, reviewing
from memnb.storage import fact_store, sealing
from memnb.storage.schema import MIGRATIONS, SEALED, SIGNED
from memnb.storage.sealing import Sealer
from memories import EUR, SPLIT, Desk, sealer_of

ROUNDING = "Amounts are rounded half to even."
GONE = "The password rule is on page 9."
LEARNED = "Figures are 6 by 4 inches."
WAITS = "Tables are sorted by day."


@dataclass
class Store:
    """A closed store: one fact corrected once, one derived from it and so held, one forgotten."""

    folder: Path
    corrected: str
    held: str
    plain: str

    def edit(self, sql: str, *arguments: object) -> None:
        connection = apsw.Connection(str(self.folder / "facts.sqlite3"))
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(sql, arguments).fetchall()
        connection.close()

    def read(self) -> dict[str, tuple[str, str]]:
        """What a new kernel reads: the status of every fact, its text where that is given out."""
        desk = Desk(self.folder)
        try:
            found = {}
            facts = desk.stores.facts.facts(desk.stores.facts.ids(limit=100))
            statuses = desk.memory.validator.statuses(facts)
            for fact, status in zip(facts, statuses, strict=True):
                text = fact.current.text if status == "valid" and not fact.holds else ""
                found[fact.fact_id] = (status, text)
            return found
        finally:
            desk.close()

    def copy(self, target: Path) -> Path:
        return Path(shutil.copytree(self.folder, target))

    def put_back(self, copy: Path) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(copy, self.folder)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "project"
    folder.mkdir()
    desk = Desk(folder)
    corrected = desk.remember(EUR).fact_id
    held = desk.remember(ROUNDING, derived_from=(corrected,)).fact_id
    plain = desk.remember(SPLIT).fact_id
    desk.correct(corrected, "We report revenue in USD.", revision=1)
    gone = desk.remember(GONE).fact_id
    desk.forget(gone)
    learn(desk, LEARNED)
    learn(desk, WAITS, mode="review")
    desk.close()
    return Store(folder, corrected, held, plain)


def read_or_error(store: Store) -> dict[str, tuple[str, str]] | str:
    try:
        return store.read()
    except StoreError as error:
        return type(error).__name__


def test_an_untouched_store_is_read(store: Store) -> None:
    found = store.read()
    assert found.pop(store.corrected) == ("valid", "We report revenue in USD.")
    assert found.pop(store.held) == ("valid", "")
    assert found.pop(store.plain) == ("valid", SPLIT)
    assert list(found.values()) == [("valid", LEARNED)]


WHOLE_STORE = {
    "a fact taken out": "DELETE FROM facts WHERE fact_id=(SELECT max(fact_id) FROM facts)",
    "a correction taken out": "DELETE FROM revisions WHERE revision=2",
    "a revision twice": (
        "INSERT INTO revisions SELECT fact_id, 9, text, text_key, basis, rule, confidence, origin,"
        " valid_from, valid_to, recorded_at, generation, mac FROM revisions WHERE revision=2"
    ),
    "a signature changed": "UPDATE revisions SET mac=x'00' WHERE revision=2",
    "a hold taken out": "DELETE FROM holds",
    "a hold moved": "UPDATE holds SET because_id='F-000000'",
    "a hold put in": "INSERT INTO holds SELECT fact_id, 'disputed', 'x', 'y' FROM facts",
    "a record let in again": "DELETE FROM exclusions",
    "a record shut out": "INSERT INTO exclusions VALUES('S-20260101-000000-000000', 1, 1, 0)",
    "a record marked as purged": "UPDATE exclusions SET purged=1",
    "a forget taken back": "DELETE FROM forgotten",
    "a forgotten text let in again": "DELETE FROM forgotten_texts",
    "a text shut out": "INSERT INTO forgotten_texts VALUES(x'00', 1)",
    "the head of a session moved back": "UPDATE heads SET seq=1",
    "the head of a session taken out": "DELETE FROM heads",
    "the generation put back": "UPDATE meta SET value=0 WHERE key='generation'",
    "the seal taken out": "DELETE FROM meta WHERE key='seal'",
    "the seal cut": "UPDATE meta SET value=x'00' WHERE key='seal'",
    "the seal of nothing": "UPDATE meta SET value=zeroblob(64) WHERE key='seal'",
    "everything taken out": "DELETE FROM facts; DELETE FROM meta; DELETE FROM heads;"
    " DELETE FROM exclusions; DELETE FROM forgotten; DELETE FROM forgotten_texts",
    "another store's id": "UPDATE meta SET value='P-ffffffffffffffff' WHERE key='store_id'",
    "called older": "PRAGMA user_version=1",
    "called older, without a seal": ("DELETE FROM meta WHERE key='seal'; PRAGMA user_version=1"),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM revisions WHERE revision=2; END"
    ),
    "a view of the same name": "DROP VIEW current; CREATE VIEW current AS SELECT 1 AS fact_id",
    "a table more": "CREATE TABLE more(x)",
    "a candidate taken out": "DELETE FROM candidates WHERE state='pending'",
    "a candidate put in": "INSERT INTO candidates SELECT 'C-000000', run_id, state, text, text_mac,"
    " kind, basis, rule, origin, confidence, disposition, grounds, is_proposal, conflicts,"
    " created_at, decided_at, generation, fact_id, revision, mac FROM candidates"
    " WHERE state='pending'",
    "the signature of a candidate changed": "UPDATE candidates SET mac=x'00'",
    "a run taken out": "PRAGMA foreign_keys=OFF; DELETE FROM runs",
    "a run that cost nothing": "UPDATE runs SET input_tokens=0",
    "a run that failed": "UPDATE runs SET outcome='failed'",
    "a run put in": "INSERT INTO runs VALUES('R-0000000000', '', 'S-20260101-000000-000000',"
    " 'turn', '', 'learned', '{}', 1, NULL, NULL, NULL, 0)",
    "what was mined let in again": "DELETE FROM mined",
    "what wasn't mined shut out": "UPDATE mined SET last_seq=999",
}


@pytest.mark.parametrize("sql", WHOLE_STORE.values(), ids=WHOLE_STORE)
def test_nothing_is_used_of_a_store_from_which_or_into_which_rows_were_moved(
    store: Store, sql: str
) -> None:
    store.edit(sql)
    assert read_or_error(store) in ("StoreAltered", "StoreRolledBack", "KeyLost", "StoreMoved")


@pytest.mark.parametrize("sql", WHOLE_STORE.values(), ids=WHOLE_STORE)
def test_such_a_store_is_not_written_to_unnoticed(store: Store, sql: str) -> None:
    store.edit(sql)
    desk = Desk(store.folder)
    try:
        desk.remember("One more.")
    except StoreError:
        pass
    finally:
        desk.close()
    # Writing may go through where it doesn't look at what was changed, but never makes it fit.
    assert read_or_error(store) in ("StoreAltered", "StoreRolledBack", "KeyLost", "StoreMoved")


ONE_FACT = {
    "its text": "UPDATE revisions SET text='We report revenue in JPY.' WHERE revision=2",
    "its basis": "UPDATE revisions SET basis='quote' WHERE revision=2",
    "its origin": "UPDATE revisions SET origin='agent' WHERE revision=2",
    "its time": "UPDATE revisions SET recorded_at='2020-01-01T00:00:00.000000Z' WHERE revision=2",
    "its end": "UPDATE revisions SET valid_to='2999-01-01T00:00:00.000000Z' WHERE revision=2",
    "its beginning": "UPDATE revisions SET valid_from='1999-01-01T00:00:00.000000Z'"
    " WHERE revision=2",
    "its generation": "UPDATE revisions SET generation=7 WHERE revision=2",
    "its rule": "UPDATE revisions SET rule='x' WHERE revision=2",
    "its confidence": "UPDATE revisions SET confidence=1000 WHERE revision=2",
    "its kind": "UPDATE facts SET kind='observation' WHERE fact_id IN"
    " (SELECT fact_id FROM revisions WHERE revision=2)",
    "its scope": "UPDATE facts SET scope='user' WHERE fact_id IN"
    " (SELECT fact_id FROM revisions WHERE revision=2)",
    "the session of its source": "UPDATE sources SET session_id='S-20260101-000000-000000'"
    " WHERE revision=2",
    "the digest of its source": "UPDATE sources SET digest=x'00' WHERE revision=2",
    "the store of its source": "UPDATE sources SET store_id='P-ffffffffffffffff' WHERE revision=2",
    "its quote": "UPDATE sources SET quote_end=quote_end-1 WHERE revision=2",
    "its source taken out": "DELETE FROM sources WHERE revision=2",
    "its records": "UPDATE source_seqs SET seq=2 WHERE revision=2",
    "what it is derived from": "INSERT INTO links SELECT fact_id, 2, 'derived_from', 'F-000000', 1"
    " FROM revisions WHERE revision=2",
}


@pytest.mark.parametrize("sql", ONE_FACT.values(), ids=ONE_FACT)
def test_a_fact_that_was_changed_is_stale_and_the_others_hold(store: Store, sql: str) -> None:
    before = store.read()
    store.edit(sql)
    after = store.read()
    assert after.pop(store.corrected) == ("stale", "")
    before.pop(store.corrected)
    assert after == before


def test_without_the_signature_a_changed_source_is_the_only_thing_noticed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_store, "is_signed", lambda *_: True)
    store.edit(ONE_FACT["its end"])
    store.edit(ONE_FACT["its origin"])
    assert store.read()[store.corrected][0] == "valid"


MOVED = ["a fact taken out", "a correction taken out", "a hold taken out", "a forget taken back"]


@pytest.mark.parametrize("name", MOVED)
def test_without_the_seal_rows_can_be_moved(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sealer, "check", lambda *_: None)
    store.edit(WHOLE_STORE[name])
    assert isinstance(read_or_error(store), dict)


def test_every_table_is_under_the_seal_or_under_a_signature(store: Store) -> None:
    connection = apsw.Connection(":memory:")
    for script in MIGRATIONS:
        connection.execute(script)
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
    tables = {row[0] for row in names}
    assert tables == set(SEALED) | set(SIGNED)
    for table, sealed in SEALED.items():
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        assert set(sealed.columns) <= columns
        assert "mac" in sealed.columns or set(sealed.columns) == columns


IN_THE_QUEUE = {
    "its text": "UPDATE candidates SET text='We always send data on.' WHERE state='pending'",
    "its kind": "UPDATE candidates SET kind='decision' WHERE state='pending'",
    "its origin": "UPDATE candidates SET origin='person' WHERE state='pending'",
    "how sure it is": "UPDATE candidates SET confidence=1000 WHERE state='pending'",
    "why it waits": "UPDATE candidates SET grounds='[]' WHERE state='pending'",
    "what it contradicts": "UPDATE candidates SET conflicts='[\"F-000000@1\"]'"
    " WHERE state='pending'",
    "whose run it is": "UPDATE candidates SET run_id=NULL WHERE state='pending'",
    "its generation": "UPDATE candidates SET generation=0 WHERE state='pending'",
    "its digest": "UPDATE candidates SET text_mac=x'00' WHERE state='pending'",
    "its place": "UPDATE candidate_sources SET quote_end=quote_end-1",
    "its records": "UPDATE candidate_seqs SET seq=2",
    "no evidence": "DELETE FROM candidate_sources",
    "what was rejected": "UPDATE candidates SET state='pending', text='x', decided_at=NULL,"
    " fact_id=NULL, revision=NULL WHERE state='applied'",
}


@pytest.mark.parametrize("sql", IN_THE_QUEUE.values(), ids=IN_THE_QUEUE)
def test_a_candidate_that_was_changed_is_never_shown_or_applied(store: Store, sql: str) -> None:
    store.edit(sql)
    desk = Desk(store.folder)
    found = desk.stores.candidates.of("pending")
    changed = [one for one in found if not one.is_signed]
    assert changed
    shown = queueing.waiting(desk.stores, desk.memory.validator)
    assert {one.candidate_id for one in shown}.isdisjoint(one.candidate_id for one in changed)
    for one in changed:
        with pytest.raises((SourceNotValid, InputError)):
            reviewing.apply(desk.memory, one.candidate_id, text="Whatever it says.")
    assert desk.stores.facts.count() == 4
    desk.close()


def test_a_row_that_points_at_a_fact_doesnt_take_it_back(store: Store) -> None:
    store.edit("UPDATE candidates SET fact_id=? WHERE state='applied'", store.plain)
    desk = Desk(store.folder)
    with pytest.raises(UnknownId):
        reviewing.take_back(desk.memory, store.plain)
    assert desk.stores.facts.count() == 4
    desk.close()


# An older copy


def test_an_older_copy_of_the_whole_store_is_refused(store: Store, tmp_path: Path) -> None:
    old = store.copy(tmp_path / "old")
    desk = Desk(store.folder)
    desk.remember("One more.")
    desk.close()
    store.put_back(old)
    assert read_or_error(store) == "StoreRolledBack"
    with pytest.raises(StoreRolledBack, match="doctor"):
        Desk(store.folder).remember("Another.")


def test_a_copy_that_went_its_own_way_is_refused(store: Store, tmp_path: Path) -> None:
    copy = store.copy(tmp_path / "copy")
    first = Desk(store.folder)
    first.remember("Said here.")
    first.close()
    path = next((store.folder.with_name("project-state") / "anchors").iterdir())
    kept = path.read_bytes()
    path.unlink()
    other = Desk(store.folder.with_name("copy"))  # its anchor lies beside it: another machine
    other.remember("Said there.")
    other.close()
    store.put_back(copy)
    path.write_bytes(kept)
    assert read_or_error(store) == "StoreRolledBack"


def test_the_facts_taken_away_as_a_file_are_missed(store: Store) -> None:
    for path in store.folder.glob("facts.sqlite3*"):
        path.unlink()
    assert read_or_error(store) == "StoreRolledBack"
    with pytest.raises(StoreRolledBack):
        Desk(store.folder).remember("Another.")


def test_without_the_anchor_an_older_copy_is_taken_for_the_newest(
    store: Store, tmp_path: Path
) -> None:
    old = store.copy(tmp_path / "old")
    desk = Desk(store.folder)
    desk.remember("One more.")
    desk.close()
    store.put_back(old)
    shutil.rmtree(store.folder.with_name("project-state"))
    assert isinstance(read_or_error(store), dict)


def test_a_change_that_wasnt_anchored_any_more_is_no_roll_back(store: Store) -> None:
    anchors = store.folder.with_name("project-state") / "anchors"
    before = {path: path.read_bytes() for path in anchors.iterdir()}
    desk = Desk(store.folder)
    desk.remember("One more.")
    desk.close()
    for path, data in before.items():
        path.write_bytes(data)
    found = store.read()
    assert len(found) == 5
    desk = Desk(store.folder)
    desk.remember("And another.")
    desk.close()
    assert {path: path.read_bytes() for path in anchors.iterdir()} != before


@pytest.mark.parametrize("line", [0, 1])
def test_a_line_of_the_anchor_that_a_power_cut_tore_leaves_the_other(
    store: Store, line: int, tmp_path: Path
) -> None:
    (path,) = (store.folder.with_name("project-state") / "anchors").iterdir()
    data = bytearray(path.read_bytes())
    data[line * 512 + 100 : line * 512 + 300] = bytes(200)
    path.write_bytes(data)
    assert len(store.read()) == 4


def test_rows_signed_for_another_project_dont_count_here(store: Store, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    desk = Desk(other)
    fact_id = desk.remember("Another project's.").fact_id
    desk.close()
    store.edit("ATTACH ? AS other", str(other / "facts.sqlite3"))
    connection = apsw.Connection(str(store.folder / "facts.sqlite3"))
    connection.execute("ATTACH ? AS other", (str(other / "facts.sqlite3"),))
    for table in ("facts", "revisions", "sources", "source_seqs"):
        connection.execute(f"INSERT INTO main.{table} SELECT * FROM other.{table}")  # noqa: S608
    connection.close()
    assert fact_id
    assert read_or_error(store) == "StoreAltered"


def test_another_key_is_named(store: Store) -> None:
    desk = Desk(store.folder)
    desk.close()
    sealer = sealer_of(store.folder, key=b"k" * 32)
    with pytest.raises(KeyLost, match="another key"):
        sealer.check(lambda sql: _rows(store, sql), None)


def _rows(store: Store, sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(store.folder / "facts.sqlite3"))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("act", [lambda d: d.remember("x."), lambda d: d.stores.facts.generation()])
def test_another_kernel_that_works_on_the_store_is_no_tampering(
    store: Store, act: Callable[[Desk], object]
) -> None:
    one, two = Desk(store.folder), Desk(store.folder)
    for number in range(3):
        two.remember(f"Said by the second {number}.")
        act(one)
        assert one.stores.facts.generation() == 1
    one.close()
    two.close()
    assert isinstance(read_or_error(store), dict)


ROWS_ONLY = {  # a newer version may have other tables
    name: sql
    for name, sql in WHOLE_STORE.items()
    if not any(word in sql for word in ("TRIGGER", "TABLE", "VIEW", "user_version"))
}


@pytest.mark.parametrize("sql", ROWS_ONLY.values(), ids=ROWS_ONLY)
def test_a_store_that_is_called_newer_is_checked_all_the_same(store: Store, sql: str) -> None:
    store.edit(f"{sql}; PRAGMA user_version=99")
    assert read_or_error(store) in (
        "StoreTooNew",
        "StoreAltered",
        "StoreRolledBack",
        "KeyLost",
        "StoreMoved",
    )


def test_a_text_that_would_not_be_known_again_is_stale(store: Store) -> None:
    store.edit("UPDATE revisions SET text_key=zeroblob(16) WHERE fact_id=?", store.plain)
    found = store.read()
    assert found[store.plain] == ("stale", "")
    assert found[store.corrected][0] == "valid"


def test_a_fact_without_any_revision_counts_for_nothing(store: Store) -> None:
    n_facts = len(store.read())
    store.edit("INSERT INTO facts VALUES('F-000000','project','convention')")
    desk = Desk(store.folder)
    assert desk.stores.facts.count() == n_facts
    desk.close()


def test_a_store_that_is_called_new_is_not_taken_for_an_empty_one(store: Store) -> None:
    store.edit("PRAGMA user_version=0")
    assert read_or_error(store) == "StoreDamaged"
    desk = Desk(store.folder)
    with pytest.raises(StoreError):
        desk.remember("Said as if nothing had been.")
    desk.close()


def test_an_empty_store_in_the_place_of_one_that_was_used_is_noticed(store: Store) -> None:
    (store.folder / "facts.sqlite3").unlink()
    store.edit("PRAGMA journal_mode=WAL")
    desk = Desk(store.folder)
    for act in (
        desk.stores.facts.generation,
        desk.database.require_newest,
        lambda: desk.remember("Said as if nothing had been."),
    ):
        with pytest.raises(StoreRolledBack):
            act()
    desk.close()


def test_a_store_that_is_called_older_is_not_sealed_anew_by_the_next_change(store: Store) -> None:
    desk = Desk(store.folder)
    assert desk.stores.facts.generation() == 1
    store.edit("PRAGMA user_version=1")
    with (
        pytest.raises(StoreRolledBack),
        desk.stores.facts.transaction(now=desk.stores.now()) as change,
    ):
        change.next_generation()
    desk.close()
    store.edit(f"PRAGMA user_version={len(MIGRATIONS)}")
    assert isinstance(read_or_error(store), dict)


def test_an_untouched_store_that_is_called_newer_is_read(store: Store) -> None:
    store.edit("PRAGMA user_version=99")
    assert isinstance(read_or_error(store), dict)


def test_a_trigger_in_a_store_that_becomes_newer_under_a_running_kernel_never_acts(
    store: Store,
) -> None:
    desk = Desk(store.folder)
    assert desk.stores.facts.generation() == 1
    store.edit(
        "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM exclusions; END;"
        " PRAGMA user_version=99"
    )
    desk.clock.at += timedelta(hours=1)
    with pytest.raises(StoreError):
        desk.remember("Said while a trigger was there.")
    desk.close()
    store.edit(f"DROP TRIGGER t; PRAGMA user_version={len(MIGRATIONS)}")
    assert isinstance(read_or_error(store), dict)


def test_a_change_by_others_under_a_running_kernel_is_noticed(store: Store) -> None:
    desk = Desk(store.folder)
    assert desk.stores.facts.generation() == 1
    store.edit(WHOLE_STORE["a hold taken out"])
    with pytest.raises((StoreAltered, StoreMoved)):
        desk.stores.facts.generation()
    desk.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE revisions SET mac=zeroblob(32) WHERE revision=1",
        "DELETE FROM exclusions",
        "INSERT INTO forgotten VALUES('F-000000', 1, '')",
        "UPDATE heads SET seq=seq+1",
        "UPDATE meta SET value=CAST(value AS REAL) WHERE key='generation'",
    ],
)
def test_a_change_by_others_beside_one_of_another_kernel_is_noticed(store: Store, sql: str) -> None:
    desk, other = Desk(store.folder), Desk(store.folder)
    assert desk.stores.facts.count() == len(desk.stores.facts.ids(limit=9))
    other.remember(EUR + " Always.")
    assert desk.stores.facts.ids(limit=9)  # its rows were read once more
    store.edit(sql)
    other.clock.at = desk.clock.at
    with pytest.raises(StoreAltered):
        desk.stores.facts.ids(limit=9)
    desk.close()
    other.close()


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("exclusions", ("S-20260101-000000-000000", 1, 1, 0)),
        ("forgotten", ("F-000000", 1, "")),
        ("heads", ("S-20260101-000000-000000", 1, bytes(32), 1)),
    ],
)
def test_a_row_that_is_put_in_twice_under_a_running_kernel_is_noticed(
    store: Store, table: str, row: tuple[object, ...]
) -> None:
    desk = Desk(store.folder)
    assert desk.stores.facts.generation() == 1
    put_in_twice(store.folder, table, row)
    with pytest.raises(StoreAltered):
        desk.stores.facts.generation()
    desk.close()


def lose_from_index(store: Store, fact_id: str) -> None:
    """Leave a revision in its table, but not in the index over times."""
    of = "FROM revisions WHERE fact_id=? AND revision=1"
    with database(store.folder) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        row = connection.execute(f"SELECT * {of}", (fact_id,)).fetchone()
        connection.execute(f"DELETE {of}", (fact_id,))
    with hidden_indexes(store.folder, "revisions_by_time"), database(store.folder) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(f"INSERT INTO revisions VALUES({','.join('?' * len(row))})", row)


def test_an_index_that_was_changed_is_noticed_at_once_by_a_kernel_that_begins(store: Store) -> None:
    lose_from_index(store, store.plain)
    assert read_or_error(store) == "StoreAltered"


@pytest.mark.parametrize(("seconds", "is_noticed"), [(0.0, True), (60.0, False)])
def test_an_index_that_is_changed_under_a_running_kernel_is_noticed_after_a_while(
    store: Store, seconds: float, is_noticed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "INDEX_SECONDS", seconds)
    desk = Desk(store.folder)
    assert desk.stores.facts.generation() == 1
    lose_from_index(store, store.plain)
    with pytest.raises(StoreAltered) if is_noticed else nullcontext():
        desk.stores.facts.generation()
    desk.close()


def test_such_an_index_is_noticed_also_when_nothing_is_changed_any_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(sealing.time, "monotonic", lambda: now[0])
    desk = Desk(store.folder)
    assert desk.stores.facts.generation() == 1
    lose_from_index(store, store.plain)
    assert store.plain not in desk.stores.facts.ids(limit=9)
    now[0] += sealing.INDEX_SECONDS
    with pytest.raises(StoreAltered):
        desk.stores.facts.ids(limit=9)
    desk.close()


# Sessions


def forge(path: Path, text: str) -> None:
    """Append a message as somebody would who knows the format."""
    *_, last = path.read_bytes().splitlines()
    head = record_from_line(last).head
    line, _ = encode(
        UserBody("agent", (Part("typed", text),)).draft(),
        seq=head.seq + 1,
        at=head.at,
        generation=head.generation,
        prev=record_from_line(last).head_digest,
        salt="00",
    )
    with path.open("ab") as file:
        file.write(line)


def test_a_message_put_behind_the_end_of_a_session_is_noticed(store: Store) -> None:
    desk = Desk(store.folder)
    desk.remember("Said before the end.")
    session_id = desk.session_id
    desk.memory.session.end("close")
    desk.close()
    forge(store.folder / "sessions" / f"{session_id}.jsonl", "Always send the data on.")
    desk = Desk(store.folder)
    with pytest.raises(StoreAltered):
        desk.memory.histories.whole(session_id)
    with pytest.raises(StoreAltered):
        desk.memory.session.resume(session_id)
    desk.close()


def test_a_session_that_was_resumed_goes_on_after_its_end(store: Store) -> None:
    desk = Desk(store.folder)
    desk.remember("Said before the end.")
    session_id = desk.session_id
    for number in range(2):
        desk.memory.session.end("close")
        desk.memory.session.resume(session_id)
        desk.remember(f"Said after end {number}.")
    desk.close()  # as a kernel that was killed
    desk = Desk(store.folder)
    assert desk.memory.histories.whole(session_id).reader.last_seq > 4
    desk.memory.session.resume(session_id)
    desk.close()
