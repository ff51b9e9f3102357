"""Stores of earlier versions, kept as people have them: each must open and mean the same."""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memnb.core.bodies import read_assistant, read_target, read_user
from memnb.core.evidence import SessionEvidence, check_revision, quoted
from memnb.core.facts import Fact, Hold, Link, bare, mac_payload, text_key
from memnb.core.inbox import Run
from memnb.core.records import Record
from memnb.core.visibility import Entry, view
from memnb.errors import StoreAltered, StoreRolledBack, StoreTooNew
from memnb.storage.database import Database
from memnb.storage.fact_store import FactStore, Forgotten
from memnb.storage.locks import FileLock
from memnb.storage.schema import MIGRATIONS
from memnb.storage.session_store import SessionStore
from memories import sealer_of

KEPT = Path(__file__).parent
KEY = bytes(range(32))
STORE_ID = "P-7h3kq9z2m4x8c1vn"
SESSION_ID = "S-20261130-091005-7k2m9q"
CONVENTION, DECISION, PREFERENCE, FORGOTTEN = "F-7k2m9q", "F-1b8hyr", "F-3c9wnd", "F-qq31ac"
EUR = "We always report revenue in EUR cents."
WIDE = "我喜欢宽表格 😀, naïvely."
GONE = "The password rule is on page 9."
LEARNING = ("candidate_seqs", "candidate_sources", "candidates", "mined", "runs")


class Store:
    """A copy of a kept store, open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database(
            folder / "facts.sqlite3",
            FileLock(folder / "store.lock", label="nb.ipynb"),
            sealer_of(folder, STORE_ID, KEY),
            wait_ms=lambda: 5000,
        )
        self.facts = FactStore(self.database, lambda: STORE_ID, lambda: KEY)
        self.sessions = SessionStore(
            folder / "sessions", lambda: STORE_ID, label="nb.ipynb", clock=lambda: ""
        )

    def fact(self, fact_id: str) -> Fact:
        fact = self.facts.fact(fact_id)
        assert fact is not None
        return fact

    def evidence(self) -> SessionEvidence:
        reader = self.sessions.reader(SESSION_ID)
        found = reader.records(range(1, reader.last_seq + 1))
        forgotten = {key: value.generation for key, value in self.facts.forgotten().items()}
        entries = [entry(record) for record in found.values() if record is not None]
        noted = self.facts.head(SESSION_ID)
        return SessionEvidence(
            STORE_ID,
            reader.pins(range(1, reader.last_seq + 1)),
            found,
            view(entries, self.facts.exclusions(SESSION_ID), forgotten),
            is_whole=noted == reader.chain_head,
        )


def entry(record: Record) -> Entry:
    head = record.head
    place = (head.seq, head.type, head.turn, head.generation)
    match head.type:
        case "user":
            user = read_user(record)
            return Entry(*place, asks=user.asks, sensitive=user.sensitive)
        case "assistant":
            carried = {name.partition("@")[0] for name in read_assistant(record).carried}
            return Entry(*place, carried=frozenset(carried))
        case "undo" | "redo":
            return Entry(*place, target=read_target(record))
    return Entry(*place)


@pytest.fixture(params=["v1", "v2"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    yield from opened(request.param, tmp_path)


@pytest.fixture
def v1(tmp_path: Path) -> Iterator[Store]:
    yield from opened("v1", tmp_path)


@pytest.fixture
def v2(tmp_path: Path) -> Iterator[Store]:
    yield from opened("v2", tmp_path)


def opened(name: str, tmp_path: Path) -> Iterator[Store]:
    folder = tmp_path / name
    shutil.copytree(KEPT / name, folder)
    store = Store(folder)
    yield store
    store.database.close()


@pytest.mark.parametrize(
    ("fact_id", "text", "n_revisions"),
    [
        pytest.param(CONVENTION, EUR, 1, id="quote"),
        pytest.param(DECISION, "The train split ends on 2026-04-30.", 2, id="statement, corrected"),
        pytest.param(PREFERENCE, WIDE, 1, id="quote after a variable, of wide characters"),
    ],
)
def test_a_fact_of_an_earlier_version_has_its_text_and_every_revision_its_evidence(
    kept: Store, fact_id: str, text: str, n_revisions: int
) -> None:
    fact = kept.fact(fact_id)
    assert fact.current.text == text
    assert len(fact.revisions) == n_revisions
    session = kept.evidence()
    for revision in fact.revisions:
        place = revision.sources[0].quote
        assert place is not None
        assert quoted(session.records, place) == revision.text
        assert check_revision(revision, {SESSION_ID: session}, "durable") == "valid"


def test_all_that_an_earlier_version_keeps_of_a_fact_is_read(kept: Store) -> None:
    fact = kept.fact(PREFERENCE)
    revision = fact.current
    assert (fact.scope, fact.kind) == ("project", "preference")
    assert fact.holds == (Hold("source_changed", CONVENTION),)
    assert [source.ref.seqs for source in revision.sources] == [(2,), (5, 6)]
    assert revision.links == (Link("derived_from", CONVENTION, 1),)
    assert (revision.origin, revision.confidence, revision.generation) == ("learned", 810, 0)
    assert revision.recorded_at == "2026-11-30T09:10:12.123456Z"
    corrected = kept.fact(DECISION)
    assert corrected.current.valid_from == "2026-11-30T00:00:00.000000Z"
    assert corrected.current.valid_to == "2027-01-01T00:00:00.000000Z"
    assert [one.sources[0].ref.seqs for one in corrected.revisions] == [(7,), (8,)]
    assert kept.fact(CONVENTION).current.sources[0].ref.seqs == (2, 3, 4, 5)


@pytest.mark.parametrize("fact_id", [CONVENTION, DECISION, PREFERENCE])
def test_the_keyed_digests_of_an_earlier_version_still_verify(kept: Store, fact_id: str) -> None:
    fact = kept.fact(fact_id)
    for revision in fact.revisions:
        payload = mac_payload(STORE_ID, fact.kind, fact.scope, revision)
        assert revision.mac == hmac.digest(KEY, b"fact " + payload, "sha256")


def test_what_was_forgotten_in_an_earlier_version_stays_forgotten(kept: Store) -> None:
    assert kept.facts.fact(FORGOTTEN) is None
    assert kept.facts.generation() == 1
    forgotten = Forgotten(1, "2026-11-30T09:10:14.123456Z")
    assert kept.facts.forgotten() == {FORGOTTEN: forgotten}
    mac = hmac.digest(KEY, b"text " + text_key(bare(GONE.upper())), "sha256")
    assert kept.facts.forgotten_text(mac) == forgotten
    seen = kept.evidence().seen
    assert not seen.shows(9, "durable"), "the statement"
    assert not seen.shows(11, "durable"), "the reply that had carried it"
    assert seen.shows(5, "durable")
    assert GONE.encode() not in (kept.folder / "facts.sqlite3").read_bytes()


def test_a_text_of_an_earlier_version_is_found_again(kept: Store) -> None:
    assert kept.facts.by_text(text_key(f"  {EUR.upper()}")) == [(CONVENTION, 1)]


def test_every_record_of_an_earlier_version_is_whole_and_the_noted_head_is_theirs(
    kept: Store,
) -> None:
    session = kept.evidence()
    assert len(session.records) == 16
    assert all(record is not None and record.body for record in session.records.values())
    assert session.is_whole


def test_a_store_of_an_earlier_version_can_be_written(kept: Store) -> None:
    writer = kept.sessions.writer(SESSION_ID)
    assert writer.chain_head.seq == 16
    with kept.facts.transaction(now="2026-12-01T00:00:00.000000Z") as change:
        change.set_head(writer.chain_head)
        change.delete(DECISION)
    writer.close()
    assert kept.facts.count() == 2


def test_a_store_of_an_earlier_version_has_the_schema_of_a_new_one_once_it_was_opened(
    kept: Store, tmp_path: Path
) -> None:
    sealer = sealer_of(tmp_path / "new", STORE_ID, KEY)
    lock = FileLock(tmp_path / "lock", label="")
    new = Database(tmp_path / "new.sqlite3", lock, sealer, wait_ms=lambda: 0)
    for database in (kept.database, new):
        with database.transaction():
            pass
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    assert kept.database.rows(schema) == new.rows(schema)
    assert kept.database.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]
    new.close()


def test_a_store_of_version_1_that_was_read_first_is_sealed_at_the_first_write(v1: Store) -> None:
    assert v1.facts.generation() >= 1
    assert v1.database.rows("PRAGMA user_version") == [(1,)]
    with v1.facts.transaction(now="2026-12-01T00:00:00.000000Z") as change:
        change.unmark_text(b"none")
    assert v1.database.rows("SELECT 1 FROM meta WHERE key='seal'") == [(1,)]
    assert v1.database.is_anchored
    v1.database.require_newest()


def test_a_sealed_store_cant_pass_for_one_of_version_1(v1: Store) -> None:
    with v1.facts.transaction(now="2026-12-01T00:00:00.000000Z") as change:
        change.release(DECISION)
    v1.database.close()
    connection = apsw.Connection(str(v1.folder / "facts.sqlite3"))
    connection.execute("DELETE FROM meta WHERE key='seal'")
    connection.execute("DELETE FROM exclusions; PRAGMA user_version=1")
    connection.execute("".join(f"DROP TABLE {table};" for table in LEARNING))
    connection.close()
    with pytest.raises(StoreRolledBack):
        v1.facts.generation()


def test_a_store_of_version_2_keeps_its_seal_and_gets_an_inbox_at_the_first_write(
    v2: Store,
) -> None:
    assert v2.facts.candidates.of("pending") == []
    assert v2.facts.candidates.mined(SESSION_ID) == frozenset()
    assert v2.database.rows("PRAGMA user_version") == [(2,)]
    with v2.facts.transaction(now="2026-12-01T00:00:00.000000Z") as change:
        change.release(DECISION)
    assert v2.database.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert v2.facts.candidates.count("pending") == 0
    assert v2.facts.count() == 3
    v2.database.close()
    assert Store(v2.folder).facts.fact(CONVENTION) is not None


def test_rows_of_learning_cant_be_taken_out_by_calling_the_store_older(v2: Store) -> None:
    with v2.facts.transaction(now="2026-12-01T00:00:00.000000Z") as change:
        run = Run("R-0123456789", "", SESSION_ID, "turn", "", "no_candidates", 1, 0)
        change.candidates.add_run(run)
    v2.database.close()
    connection = apsw.Connection(str(v2.folder / "facts.sqlite3"))
    connection.execute("".join(f"DROP TABLE {table};" for table in LEARNING))
    connection.execute("PRAGMA user_version=2")
    connection.close()
    with pytest.raises(StoreAltered):
        v2.facts.generation()


def test_a_kernel_that_had_the_store_open_when_a_newer_one_came_only_reads(v2: Store) -> None:
    assert v2.facts.count() == 3
    connection = apsw.Connection(str(v2.folder / "facts.sqlite3"))
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StoreTooNew), v2.facts.transaction(now="2026-12-01T00:00:00.000000Z"):
        pass
