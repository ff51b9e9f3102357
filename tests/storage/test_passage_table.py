from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core.passages import SOURCES, Passage, Source
from memnb.core.query import understand
from memnb.storage import passage_table

NOW = "2026-11-30T12:00:00.000000Z"


def said(place: int, text: str, *, name: str = "S-1", context: str = "") -> Passage:
    return Passage("message", name, place, text, NOW, "person", context)


def fact(name: str, text: str) -> Passage:
    return Passage("fact", name, 1, text, NOW, "person")


@pytest.fixture
def table() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    passage_table.create(connection)
    yield connection
    connection.close()


def found(connection: apsw.Connection, text: str, **options: object) -> list[str]:
    query = understand(text, NOW)
    proposed = passage_table.candidates(connection, query, **options)  # type: ignore[arg-type]
    return [one.passage.reference for one in proposed]


def test_what_was_put_in_comes_back_as_it_was(table: apsw.Connection) -> None:
    given_ = Passage("fact", "F-1b8hyr", 2, "Plots in EUR", NOW, "person", "money", NOW, NOW)
    passage_table.put(table, [given_])
    (one,) = passage_table.candidates(table, understand("plots", NOW))
    assert one.passage == given_


@pytest.mark.parametrize(
    "asked",
    [
        "plot",
        "PLOTS",
        "plotting",
        "the plots, please",
        "getUserName",
        "user name",
        "username_of",
        "src/main.py",
        "main.py",
        "façade",
        "facade",
        "北京",
        "what was bought",
        "children",
        "get usrname_of",
        "moongoose",
        "mongoose",
        "generously",
    ],
)
def test_a_passage_is_found_by_what_stands_in_it(table: apsw.Connection, asked: str) -> None:
    text = "Plots: call getUserName or username_of in src/main.py (a façade) 我在北京工作"
    text += " buy 3 kid moongoose generously"
    passage_table.put(table, [said(1, "something else"), said(2, text)])
    assert found(table, asked) == ["S-1:2"]


def test_a_passage_is_found_by_its_context(table: apsw.Connection) -> None:
    passage_table.put(table, [said(1, "Yes.", context="Shall we use polars?")])
    assert found(table, "polars") == ["S-1:1"]


@pytest.mark.parametrize(
    ("stands", "asked"),
    [
        ("kid", "kit"),
        ("mongo", "mango"),
        ("k8s", "k9s"),
        ("compose", "component"),
        ("2024", "2025"),
    ],
)
def test_another_word_is_not_taken_for_a_mistyped_one(
    table: apsw.Connection, stands: str, asked: str
) -> None:
    passage_table.put(table, [said(1, stands)])
    assert found(table, asked) == []


def test_what_is_put_in_its_place_replaces_a_passage(table: apsw.Connection) -> None:
    passage_table.put(table, [said(1, "apples"), said(1, "pears")])
    assert found(table, "apples") == []
    assert found(table, "pears") == ["S-1:1"]


@pytest.mark.parametrize(
    ("places", "left"), [(None, ["S-2:1"]), ([1, 3], ["S-1:2", "S-2:1"])], ids=["all", "some"]
)
def test_dropped_passages_are_found_no_more(
    table: apsw.Connection, places: list[int] | None, left: list[str]
) -> None:
    passage_table.put(table, [said(n, "apples") for n in (1, 2, 3)])
    passage_table.put(table, [said(1, "apples", name="S-2")])
    assert passage_table.drop(table, "message", "S-1", places) == 4 - len(left)
    assert sorted(found(table, "apples")) == left


def test_of_a_dropped_passage_no_word_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    connection = apsw.Connection(str(path))
    connection.pragma("secure_delete", 1)
    passage_table.create(connection)
    passage_table.put(connection, [said(n, f"apples{n} and pears{n}") for n in range(500)])
    passage_table.put(connection, [said(500, "Zanzibar quokka", context="xylophone walrus")])
    passage_table.put(connection, [said(n, f"apples{n} and plums{n}") for n in range(501, 900)])
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    passage_table.drop(connection, "message", "S-1", [500])
    connection.close()
    data = path.read_bytes().lower()
    # The index cuts what words have in common: their ends are looked for.
    assert [word for word in (b"anzibar", b"uokka", b"ylophon", b"alru") if word in data] == []


def test_each_question_is_told_how_many_passages_there_are(table: apsw.Connection) -> None:
    for n in (1, 2, 3):
        passage_table.put(table, [said(n, "apples and pears", context="fruit")])
        proposed = passage_table.candidates(table, understand("apples", NOW))
        assert (proposed.total, proposed.length, proposed.counts) == (n, 4.0, {"appl": n})


def test_only_the_named_sources_are_searched(table: apsw.Connection) -> None:
    passages = [Passage(source, f"{source}-1", 1, "apples", NOW) for source in SOURCES]
    passage_table.put(table, passages)
    assert found(table, "apples", sources=("fact",)) == ["fact-1@1"]
    assert len(found(table, "apples")) == len(SOURCES)


def test_each_source_has_candidates_of_its_own(table: apsw.Connection) -> None:
    passage_table.put(table, [said(n, "apples") for n in range(20)])
    passage_table.put(table, [fact("F-1", "apples are what we talk about, among other fruit")])
    assert "F-1@1" in found(table, "apples", limit=3)
    assert len(found(table, "apples", limit=3)) == 4


def test_a_session_that_is_left_out_takes_no_place(table: apsw.Connection) -> None:
    passage_table.put(table, [said(n, "apples", name="S-2") for n in range(5)])
    passage_table.put(table, [said(1, "apples and much more that makes it long", name="S-1")])
    assert found(table, "apples", limit=2, without={"S-2"}) == ["S-1:1"]


@pytest.mark.parametrize(
    "asked", ['"', "a AND", "NEAR(", "*", "text:", "^x", "-", "\0", "\ud800", "", "x" * 10_000]
)
def test_any_question_can_be_asked(table: apsw.Connection, asked: str) -> None:
    passage_table.put(table, [said(1, "apples")])
    assert found(table, asked) == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.sampled_from(SOURCES),
            st.sampled_from(["a", "b"]),
            st.integers(1, 3),
            st.sampled_from(["apples", "getUserName pears", "北京 plums", "Ünïcode"]),
        ),
        max_size=30,
    )
)
def test_after_any_changes_the_index_holds_what_one_built_anew_holds(
    changes: list[tuple[bool, Source, str, int, str]],
) -> None:
    kept: dict[tuple[Source, str, int], Passage] = {}
    table = apsw.Connection(":memory:")
    passage_table.create(table)
    for is_put, source, name, place, text in changes:
        if is_put:
            kept[source, name, place] = Passage(source, name, place, text, NOW)
            passage_table.put(table, [kept[source, name, place]])
        else:
            kept.pop((source, name, place), None)
            passage_table.drop(table, source, name, [place])
    anew = apsw.Connection(":memory:")
    passage_table.create(anew)
    passage_table.put(anew, kept.values())
    table.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    for word in ("apples", "pears", "user", "plums", "北", "unicode"):
        assert sorted(found(table, word)) == sorted(found(anew, word))
    assert [passage_table.count(table, source) for source in SOURCES] == [
        sum(key[0] == source for key in kept) for source in SOURCES
    ]


def test_a_word_that_stands_in_very_many_passages_gives_the_newest_of_them(
    table: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_table, "_MOST_ROWS", 5)
    passage_table.put(table, [said(place, "plots and apples") for place in range(1, 20)])
    assert found(table, "apples", limit=3) == ["S-1:19", "S-1:18", "S-1:17"]
    assert found(table, "apples plots", limit=2) == ["S-1:19", "S-1:18"]


def test_a_word_that_stands_in_very_many_passages_chooses_none_beside_a_rare_one(
    table: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_table, "_MOST_ROWS", 5)
    passage_table.put(table, [said(place, "apples") for place in range(1, 20)])
    passage_table.put(table, [said(30, "quinces")])
    assert found(table, "apples and quinces") == ["S-1:30"]


def test_in_how_many_passages_a_word_stands_is_counted_with_what_stands_before(
    table: apsw.Connection,
) -> None:
    passage_table.put(table, [said(1, "apples apples"), said(2, "plums", context="apples")])
    passage_table.drop(table, "message", "S-1", [1])
    counts = dict(table.execute("SELECT word, n FROM word_counts").fetchall())
    assert counts == {"plum": 1, "appl": 1}
