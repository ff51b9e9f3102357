from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, get_args

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import facts as core
from memnb.core.facts import (
    Basis,
    Fact,
    Hold,
    Kind,
    Link,
    Origin,
    Quote,
    Relation,
    Revision,
    Scope,
    Source,
    SourceRef,
    text_key,
)
from memnb.core.ids import ALPHABET
from memnb.core.records import ChainHead
from memnb.core.signing import revision_mac
from memnb.errors import MemnbError, StoreMoved
from memnb.storage.database import Database
from memnb.storage.fact_store import FactStore, FactTransaction, Forgotten
from memnb.storage.locks import FileLock
from memories import KEY, sealer_of

STORE_ID = "P-0123456789abcdef"
SESSION_ID = "S-20261130-091005-7k2m9q"
OTHER_SESSION = "S-20261130-091006-000000"
NOW = "2026-11-30T09:10:05.123456Z"
DIGEST = "ab" * 32
TABLES = ("facts", "revisions", "sources", "source_seqs", "links", "holds")


def database(folder: Path) -> Database:
    lock = FileLock(folder / "store.lock", label="nb.ipynb")
    path = folder / "facts.sqlite3"
    return Database(path, lock, sealer_of(folder), wait_ms=lambda: 10_000)


class Stores:
    """Opens the store of one folder, as many kernels would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.databases: list[Database] = []

    def open(self, store_id: str = STORE_ID) -> FactStore:
        self.databases.append(database(self.folder))
        return FactStore(self.databases[-1], lambda: store_id, lambda: KEY)

    def n_rows(self) -> dict[str, int]:
        rows = self.databases[0].rows
        queries = {table: f"SELECT count(*) FROM {table}" for table in TABLES}  # noqa: S608 - fixed
        return {table: rows(query)[0][0] for table, query in queries.items()}


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = Stores(tmp_path)
    yield opened
    for one in opened.databases:
        one.close()


@pytest.fixture
def store(stores: Stores) -> FactStore:
    return stores.open()


def source(*seqs: int, session_id: str = SESSION_ID, quote: Quote | None = None) -> Source:
    return Source(STORE_ID, SourceRef(session_id, seqs or (2,), DIGEST), quote)


def revision(fact_id: str, number: int = 1, **changes: Any) -> Revision:
    whole = Revision(
        fact_id=fact_id,
        revision=number,
        text=f"text of {fact_id} {number}",
        basis="quote",
        origin="person",
        recorded_at=NOW,
        generation=0,
        sources=(source(2, quote=Quote(2, 0, 0, 5)),),
        mac=b"m" * 32,
    )
    return replace(whole, **changes)


def add(
    store: FactStore,
    *revisions: Revision,
    kind: Kind = "convention",
    scope: Scope = "project",
) -> None:
    with store.transaction(now=NOW) as change:
        for one in revisions:
            if one.revision == 1:
                change.insert_fact(one.fact_id, scope, kind)
            change.insert_revision(one)


def forget(store: FactStore, fact_id: str, *text_macs: bytes) -> int:
    with store.transaction(now=NOW) as change:
        generation = change.next_generation()
        change.mark_forgotten(fact_id, text_macs, generation=generation, now=NOW)
        change.delete(fact_id)
    return generation


# An empty store


def test_a_store_that_was_never_written_is_empty_and_makes_no_file(
    store: FactStore, tmp_path: Path
) -> None:
    assert not store.exists
    assert not store.is_too_new
    assert store.ids(limit=10) == []
    assert store.facts(["F-7k2m9q"]) == []
    assert store.fact("F-7k2m9q") is None
    assert store.by_text(text_key("x")) == []
    assert store.citing(SESSION_ID, [1, 2]) == []
    assert store.dependents("F-7k2m9q") == []
    assert store.exclusions(SESSION_ID) == {}
    assert store.forgotten() == {}
    assert store.forgotten_text(b"x") is None
    assert store.head(SESSION_ID) is None
    assert store.scrub()
    assert [*tmp_path.iterdir()] == []


# What is written reads back

FACT_IDS = (f"F-{number:06}" for number in count())
STAMPS = st.integers(0, 10**9).map("{:027}".format)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    lambda text: len(text.encode()) <= 512
)
IDS = st.text(st.sampled_from(ALPHABET), min_size=6, max_size=6).map("F-{}".format)
SEQS = st.lists(st.integers(1, 2**40), min_size=1, max_size=8, unique=True).map(
    lambda seqs: tuple(sorted(seqs))
)
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)
NUMBERS = st.integers(0, 2**31)
SOURCES = st.builds(
    Source,
    st.sampled_from([STORE_ID, "P-fedcba9876543210"]),
    st.builds(SourceRef, st.sampled_from([SESSION_ID, OTHER_SESSION]), SEQS, DIGESTS),
    st.none() | st.builds(Quote, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
)
LINKS = st.builds(Link, st.sampled_from(get_args(Relation)), IDS, st.integers(1, 9))
VALID_TIMES = st.tuples(st.none() | STAMPS, st.none() | STAMPS).filter(
    lambda times: times[0] is None or times[1] is None or times[0] < times[1]
)


@st.composite
def revisions(draw: st.DrawFn) -> tuple[Revision, ...]:
    fact_id = next(FACT_IDS)
    found = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        valid_from, valid_to = draw(VALID_TIMES)
        found.append(
            Revision(
                fact_id=fact_id,
                revision=number,
                text=draw(TEXTS),
                basis=draw(st.none() | st.sampled_from(get_args(Basis))),
                origin=draw(st.sampled_from(get_args(Origin))),
                recorded_at=draw(STAMPS),
                generation=draw(NUMBERS),
                sources=tuple(draw(st.lists(SOURCES, max_size=3))),
                links=tuple(
                    draw(st.lists(LINKS, max_size=3, unique_by=lambda x: (x.relation, x.other_id)))
                ),
                rule=draw(st.none() | TEXTS),
                confidence=draw(st.none() | st.integers(0, 1000)),
                valid_from=valid_from,
                valid_to=valid_to,
                mac=draw(st.binary(max_size=32)),
            )
        )
    return tuple(found)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FactStore]:
    """One store for all examples of a property: each brings facts of its own."""
    one = database(tmp_path_factory.mktemp("store"))
    yield FactStore(one, lambda: STORE_ID, lambda: KEY)
    one.close()


def without_order(of: Revision) -> Revision:
    """A revision with its links, which are a set, in one order."""
    order = sorted(of.links, key=lambda link: (link.relation, link.other_id))
    return replace(of, links=tuple(order))


@given(
    written=revisions(),
    scope=st.sampled_from(get_args(Scope)),
    kind=st.sampled_from(get_args(Kind)),
)
def test_a_fact_reads_back_as_it_was_written(
    lasting: FactStore, written: tuple[Revision, ...], scope: Scope, kind: Kind
) -> None:
    signed = tuple(
        replace(one, mac=revision_mac(KEY, STORE_ID, kind, scope, one)) for one in written
    )
    with lasting.transaction(now=NOW, durable=False) as change:
        change.insert_fact(written[0].fact_id, scope, kind)
        for one in signed:
            change.insert_revision(one)
    expected = tuple(without_order(one) for one in signed)
    fact_id = written[0].fact_id
    assert lasting.fact(fact_id) == Fact(fact_id, scope, kind, expected)
    assert lasting.facts([fact_id]) == [Fact(fact_id, scope, kind, expected[-1:])]
    for one in written:
        assert (fact_id, one.revision) in lasting.by_text(text_key(one.text))


@given(written=revisions(), kind=st.sampled_from(get_args(Kind)))
def test_the_keyed_digest_of_a_fact_is_the_same_before_and_after_storing(
    lasting: FactStore, written: tuple[Revision, ...], kind: Kind
) -> None:
    with lasting.transaction(now=NOW, durable=False) as change:
        change.insert_fact(written[0].fact_id, "project", kind)
        for one in written:
            change.insert_revision(one)
    fact = lasting.fact(written[0].fact_id)
    assert fact is not None
    for before, after in zip(written, fact.revisions, strict=True):
        payloads = [core.mac_payload(STORE_ID, kind, "project", one) for one in (before, after)]
        assert payloads[0] == payloads[1]


def test_evidence_keeps_its_records_in_order(store: FactStore) -> None:
    """The digest of a reference depends on their order, or no other order may be stored."""
    cited = source(5, 2, 9)
    try:
        add(store, revision("F-7k2m9q", sources=(cited,)))
    except MemnbError:
        return
    fact = store.fact("F-7k2m9q")
    assert fact is not None
    assert fact.current.sources == (cited,)


def test_facts_come_in_the_order_asked_and_unknown_ones_are_left_out(store: FactStore) -> None:
    add(store, revision("F-00000a"), revision("F-00000b"), revision("F-00000c"))
    asked = ["F-00000c", "F-zzzzzz", "F-00000a"]
    assert [fact.fact_id for fact in store.facts(asked)] == ["F-00000c", "F-00000a"]
    assert store.facts([]) == []


def test_an_id_is_exact(store: FactStore) -> None:
    add(store, revision("F-00000a"))
    for other in ("F-00000A", "F-0000", "F-00000a ", "F-%", "' OR 1=1 --"):
        assert store.fact(other) is None


def test_ids_come_by_the_time_of_the_first_revision(store: FactStore) -> None:
    times = {"F-00000b": "2026-01-01", "F-00000a": "2026-01-02", "F-00000c": "2026-01-02"}
    for fact_id, time in times.items():
        add(store, revision(fact_id, recorded_at=time))
    add(store, revision("F-00000b", 2, recorded_at="2026-12-31"))
    assert store.ids(limit=9) == ["F-00000b", "F-00000a", "F-00000c"]
    assert store.ids(limit=9, newest_first=True) == ["F-00000c", "F-00000a", "F-00000b"]
    assert store.ids(limit=1, offset=1) == ["F-00000a"]
    assert store.ids(limit=0) == []
    assert store.count() == 3


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100])
def test_all_ids_come_in_batches_in_their_order_each_once(
    store: FactStore, size: int, newest_first: bool
) -> None:
    later = NOW.replace("2026", "2027")
    for number in range(8):  # half of them at the same instant
        add(store, revision(f"F-{number:06}", recorded_at=NOW if number % 2 else later))
    add(store, revision("F-000000", 2, recorded_at=NOW.replace("2026", "2028")))
    found = list(store.batches(size, newest_first=newest_first))
    assert [len(batch) for batch in found[:-1]] == [size] * (len(found) - 1)
    ids = [fact_id for batch in found for fact_id in batch]
    assert ids == store.ids(limit=100, newest_first=newest_first)


@pytest.mark.parametrize(
    "asked",
    [{}, {"at": NOW}, {"at": NOW.replace("2026", "2027")}, {"history": True}],
    ids=["newest", "at an instant", "at a later one", "all"],
)
def test_texts_are_those_of_the_facts(store: FactStore, asked: dict[str, Any]) -> None:
    later = NOW.replace("2026", "2027")
    add(store, revision("F-111111"), revision("F-111111", 2, valid_from=later))
    add(store, revision("F-000000", valid_from=later), revision("F-000000", 2))
    ids = ["F-111111", "F-000000", "F-999999"]
    assert store.texts(ids, **asked) == [
        (one.fact_id, one.revision, one.text)
        for fact in store.facts(ids, **asked)
        for one in fact.revisions
    ]


def test_facts_that_are_held_because_of_another_are_found(store: FactStore) -> None:
    add(store, revision("F-222222"), revision("F-111111"), revision("F-333333"))
    with store.transaction(now=NOW) as change:
        for fact_id, because in (("F-222222", "F-999999"), ("F-111111", "F-999999")):
            change.hold(fact_id, Hold("source_changed", because), NOW)
            change.hold(fact_id, Hold("imported", because), NOW)
        change.hold("F-333333", Hold("source_changed", "F-111111"), NOW)
    assert store.held_because("F-999999") == ["F-111111", "F-222222"]
    assert store.held_because("F-333333") == []


def test_a_text_is_found_in_every_revision_oldest_fact_first(store: FactStore) -> None:
    add(store, revision("F-00000b", text="Use  TABS.", recorded_at="2026-01-02"))
    add(store, revision("F-00000a", text="use tabs.", recorded_at="2026-01-03"))
    add(store, revision("F-00000b", 2, text="Use spaces.", recorded_at="2026-01-04"))
    assert store.by_text(text_key("Use tabs.")) == [("F-00000b", 1), ("F-00000a", 1)]
    assert store.by_text(text_key("use spaces.")) == [("F-00000b", 2)]
    assert store.by_text(text_key("Use tabs")) == []


def test_facts_that_cite_a_record_are_found_whichever_revision_does(store: FactStore) -> None:
    add(store, revision("F-00000a", sources=(source(2, 3),)))
    add(store, revision("F-00000b", sources=(source(3, session_id=OTHER_SESSION),)))
    add(store, revision("F-00000b", 2, sources=(source(7), source(3, 8))))
    assert store.citing(SESSION_ID, [3]) == ["F-00000a", "F-00000b"]
    assert store.citing(SESSION_ID, [2, 4]) == ["F-00000a"]
    assert store.citing(OTHER_SESSION, [3]) == ["F-00000b"]
    assert store.citing(SESSION_ID, [9]) == []
    assert store.citing(SESSION_ID, []) == []


def test_all_records_of_a_long_session_can_be_asked_about(store: FactStore) -> None:
    add(store, revision("F-00000a", sources=(source(39_999),)))
    assert store.citing(SESSION_ID, range(1, 40_001)) == ["F-00000a"]


def derived(*fact_ids: str) -> dict[str, tuple[Link, ...]]:
    return {"links": tuple(Link("derived_from", fact_id, 1) for fact_id in fact_ids)}


def test_dependents_are_found_through_others_and_in_circles(store: FactStore) -> None:
    add(store, revision("F-00000a", **derived("F-00000d")))
    add(store, revision("F-00000b", **derived("F-00000a")))
    add(store, revision("F-00000c", **derived("F-00000b", "F-00000a")))
    add(store, revision("F-00000d", **derived("F-00000c")))
    add(store, revision("F-00000e", links=(Link("conflicts_with", "F-00000a", 1),)))
    assert store.dependents("F-00000a") == ["F-00000b", "F-00000c", "F-00000d"]
    assert store.dependents("F-00000e") == []


# Changes, all or nothing


def test_a_change_that_raises_leaves_nothing(store: FactStore, stores: Stores) -> None:
    add(store, revision("F-00000a"))
    before = stores.n_rows()

    def change_much() -> None:
        with store.transaction(now=NOW) as change:
            change.insert_fact("F-00000b", "project", "decision")
            change.insert_revision(revision("F-00000b", **derived("F-00000a")))
            change.hold("F-00000a", Hold("disputed", "F-00000b"), NOW)
            change.next_generation()
            change.exclude(SESSION_ID, 2, 1)
            change.delete("F-00000a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change_much()
    assert stores.n_rows() == before
    assert store.generation() == 0
    assert store.exclusions(SESSION_ID) == {}


def forget_twice(change: FactTransaction) -> None:
    for _ in range(2):
        change.mark_forgotten("F-00000q", (), generation=1, now=NOW)


BROKEN: dict[str, Callable[[FactTransaction], None]] = {
    "a fact twice": lambda change: change.insert_fact("F-00000a", "project", "decision"),
    "a revision twice": lambda change: change.insert_revision(revision("F-00000a")),
    "a revision of no fact": lambda change: change.insert_revision(revision("F-00000z")),
    "a text too long": lambda change: change.insert_revision(
        revision("F-00000a", 2, text="x" * 513)
    ),
    "an empty text": lambda change: change.insert_revision(revision("F-00000a", 2, text="")),
    "valid time backwards": lambda change: change.insert_revision(
        revision("F-00000a", 2, valid_from="2026-02", valid_to="2026-01")
    ),
    "confidence out of bounds": lambda change: change.insert_revision(
        revision("F-00000a", 2, confidence=1001)
    ),
    "an unknown basis": lambda change: change.insert_revision(
        revision("F-00000a", 2, basis="rumour")
    ),
    "an unknown kind": lambda change: change.insert_fact("F-00000b", "project", "rumour"),  # type: ignore[arg-type]
    "one record cited twice": lambda change: change.insert_revision(
        revision("F-00000a", 2, sources=(source(2, 2),))
    ),
    "forgotten twice": forget_twice,
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_database_refuses(store: FactStore, stores: Stores, name: str) -> None:
    add(store, revision("F-00000a"))
    before = stores.n_rows()
    with pytest.raises((apsw.ConstraintError, MemnbError)), store.transaction(now=NOW) as change:
        BROKEN[name](change)
    assert stores.n_rows() == before
    assert store.forgotten() == {}


def test_a_fact_that_is_deleted_leaves_no_row_behind(store: FactStore, stores: Stores) -> None:
    add(store, revision("F-00000a"), revision("F-00000b", **derived("F-00000a")))
    add(store, revision("F-00000b", 2, sources=(source(2, 3), source(4))))
    before = stores.n_rows()
    with store.transaction(now=NOW) as change:
        change.hold("F-00000b", Hold("source_changed", "F-00000a"), NOW)
        change.delete("F-00000b")
    assert stores.n_rows() == before | {
        "facts": 1,
        "revisions": 1,
        "sources": 1,
        "source_seqs": 1,
        "links": 0,
        "holds": 0,
    }
    assert store.fact("F-00000b") is None
    assert store.by_text(text_key("text of F-00000b 2")) == []


def test_a_fact_that_was_forgotten_is_known_by_its_mark_only(
    store: FactStore, tmp_path: Path
) -> None:
    add(store, revision("F-00000a", text="the words that must go"))
    assert forget(store, "F-00000a", b"mac of the words") == 1
    assert store.forgotten() == {"F-00000a": Forgotten(1, NOW)}
    assert store.forgotten_text(b"mac of the words") == Forgotten(1, NOW)
    assert store.forgotten_text(b"mac of other words") is None
    assert store.scrub()


def test_forgets_are_told_of_the_facts_that_are_asked_about(store: FactStore) -> None:
    assert (store.forgotten_of(["F-111111"]), store.newest_forget()) == ({}, 0)
    add(store, revision("F-111111"), revision("F-222222"), revision("F-333333"))
    generations = [forget(store, fact_id) for fact_id in ("F-222222", "F-111111")]
    assert store.forgotten_of(["F-111111", "F-333333", "*"]) == {"F-111111": generations[1]}
    assert store.newest_forget() == generations[1]


def test_each_forget_raises_the_generation_by_one(store: FactStore, stores: Stores) -> None:
    assert store.generation() == 0
    for number in (1, 2, 3):
        assert forget(store, f"F-00000{number}") == number
        assert store.generation() == stores.open().generation() == number


def test_a_text_forgotten_again_names_the_newest_forget(store: FactStore) -> None:
    forget(store, "F-00000a", b"mac")
    forget(store, "F-00000b", b"mac", b"mac")
    found = store.forgotten_text(b"mac")
    assert found is not None
    assert found.generation == 2


def test_a_person_can_state_a_forgotten_text_again(store: FactStore) -> None:
    forget(store, "F-00000a", b"one", b"other")
    with store.transaction(now=NOW) as change:
        change.unmark_text(b"one")
    assert store.forgotten_text(b"one") is None
    assert store.forgotten_text(b"other") is not None


def test_an_id_stays_taken_after_its_fact_was_forgotten(store: FactStore) -> None:
    add(store, revision("F-00000a"))
    forget(store, "F-00000b")
    with store.transaction(now=NOW) as change:
        free = [change.is_free(f"F-00000{letter}") for letter in "abc"]
        change.delete("F-00000a")
        assert change.is_free("F-00000a")
    assert free == [False, False, True]


def test_an_exclusion_stays_with_the_forget_that_made_it(store: FactStore) -> None:
    with store.transaction(now=NOW) as change:
        change.exclude(SESSION_ID, 2, 1)
        change.exclude(SESSION_ID, 2, 5)
        change.exclude(SESSION_ID, 7, 5)
        change.exclude(OTHER_SESSION, 3, 5)
    assert store.exclusions(SESSION_ID) == {2: 1, 7: 5}
    assert store.exclusions(OTHER_SESSION) == {3: 5}


def test_holds_are_kept_once_and_end_together(store: FactStore) -> None:
    add(store, revision("F-00000a"), revision("F-00000b"))
    holds = (Hold("disputed", "F-00000b"), Hold("source_changed", "F-00000c"))
    with store.transaction(now=NOW) as change:
        for hold in (*holds, holds[0]):
            change.hold("F-00000a", hold, NOW)
    assert [fact.holds for fact in store.facts(["F-00000a", "F-00000b"])] == [holds, ()]
    with store.transaction(now=NOW) as change:
        change.release("F-00000a")
    assert [fact.holds for fact in store.facts(["F-00000a"])] == [()]


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        pytest.param([(3, "aa")], (3, "aa"), id="first"),
        pytest.param([(3, "aa"), (5, "bb")], (5, "bb"), id="further"),
        pytest.param([(5, "bb"), (3, "aa")], (5, "bb"), id="never back"),
    ],
)
def test_the_noted_head_of_a_session_only_advances(
    store: FactStore, heads: Sequence[tuple[int, str]], expected: tuple[int, str]
) -> None:
    for seq, digest in heads:
        with store.transaction(now=NOW, durable=False) as change:
            change.set_head(ChainHead(SESSION_ID, seq, digest * 32, seq * 100))
            change.set_head(ChainHead(OTHER_SESSION, 1, "cc" * 32, 100))
    seq, digest = expected
    assert store.head(SESSION_ID) == ChainHead(SESSION_ID, seq, digest * 32, seq * 100)
    assert store.head(OTHER_SESSION) == ChainHead(OTHER_SESSION, 1, "cc" * 32, 100)


# Whose store it is


def test_the_database_of_another_project_is_not_written(store: FactStore, stores: Stores) -> None:
    add(store, revision("F-00000a"))
    other = stores.open("P-fedcba9876543210")
    with pytest.raises(StoreMoved), other.transaction(now=NOW):
        pytest.fail("inside")
    assert store.count() == 1


def test_the_database_of_another_project_shows_none_of_its_facts(
    store: FactStore, stores: Stores
) -> None:
    add(store, revision("F-00000a"))
    other = stores.open("P-fedcba9876543210")
    for read in (
        lambda: other.ids(limit=9),
        lambda: other.facts(["F-00000a"]),
        lambda: other.by_text(text_key("text of F-00000a 1")),
    ):
        with pytest.raises(StoreMoved):
            read()


def test_reads_in_a_snapshot_agree(store: FactStore, stores: Stores) -> None:
    add(store, revision("F-00000a"))
    with store.snapshot():
        before = (store.count(), store.generation())
        forget(stores.open(), "F-00000a")
        assert (store.count(), store.generation()) == before
        assert store.fact("F-00000a") is not None
    assert (store.count(), store.generation()) == (0, 1)
