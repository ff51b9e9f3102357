from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import apsw
import pytest

from memnb.core.passages import Passage, Source
from memnb.storage import passage_table, vector_table

np = pytest.importorskip("numpy")

NOW = "2026-11-30T12:00:00.000000Z"
EMBEDDER = "one"


def vector_of(text: str, *, off: float = 0.0) -> list[float]:
    """A direction of its own for each text; with `off` something beside it."""
    seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
    numbers = np.random.default_rng(seed).standard_normal(vector_table.DIMENSIONS)
    numbers /= np.linalg.norm(numbers)
    if off:
        numbers += off * np.array(vector_of(text + " beside"))
    found: list[float] = (numbers / np.linalg.norm(numbers)).tolist()
    return found


def passage(source: Source, place: int, *, name: str = "S-1") -> Passage:
    return Passage(source, name, place, f"{source} {name} {place}", NOW)


def messages(n: int) -> list[Passage]:
    return [passage("message", place) for place in range(1, n + 1)]


def embed_all(connection: apsw.Connection, embedder: str = EMBEDDER) -> None:
    vector_table.begin(connection, embedder)
    while wanted := vector_table.wanted(connection, 7):
        vectors = {number: vector_of(one.text) for number, one in wanted.items()}
        vector_table.put(connection, embedder, vectors)


def nearness(connection: apsw.Connection, text: str, passages: list[Passage]) -> dict[str, float]:
    return vector_table.nearness(connection, EMBEDDER, vector_of(text), passages)


@pytest.fixture
def table() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    passage_table.create(connection)
    vector_table.create(connection)
    yield connection
    connection.close()


def test_nothing_is_wanted_before_an_embedder_was_here(table: apsw.Connection) -> None:
    passage_table.put(table, messages(3))
    assert not vector_table.n_wanted(table)
    vector_table.begin(table, EMBEDDER)
    assert vector_table.n_wanted(table) == 3


def test_what_comes_later_is_wanted_too(table: apsw.Connection) -> None:
    vector_table.begin(table, EMBEDDER)
    passage_table.put(table, messages(2))
    assert vector_table.n_wanted(table) == 2


def test_facts_are_embedded_first_and_the_newest_messages_before_older_ones(
    table: apsw.Connection,
) -> None:
    vector_table.begin(table, EMBEDDER)
    passage_table.put(table, [*messages(2), passage("note", 1), passage("fact", 1)])
    wanted = vector_table.wanted(table, 3).values()
    assert [(one.source, one.place) for one in wanted] == [
        ("fact", 1),
        ("note", 1),
        ("message", 2),
    ]


def test_what_was_embedded_is_not_wanted_again(table: apsw.Connection) -> None:
    passage_table.put(table, messages(20))
    embed_all(table)
    vector_table.begin(table, EMBEDDER)
    assert not vector_table.n_wanted(table)
    assert vector_table.count(table) == 20


def test_a_vector_goes_with_its_passage(table: apsw.Connection) -> None:
    passage_table.put(table, messages(3))
    embed_all(table)
    passage_table.drop(table, "message", "S-1", [2])
    assert vector_table.count(table) == 2


def test_a_passage_that_is_put_in_anew_is_wanted_anew(table: apsw.Connection) -> None:
    passage_table.put(table, messages(3))
    embed_all(table)
    passage_table.put(table, [passage("message", 3)])
    assert vector_table.count(table) == 2
    assert [one.place for one in vector_table.wanted(table, 9).values()] == [3]


def test_a_vector_that_comes_after_its_passage_was_taken_out_is_not_kept(
    table: apsw.Connection,
) -> None:
    vector_table.begin(table, EMBEDDER)
    passage_table.put(table, messages(1))
    wanted = vector_table.wanted(table, 9)
    passage_table.drop(table, "message", "S-1")
    vectors = {number: vector_of("too late") for number in wanted}
    assert not vector_table.put(table, EMBEDDER, vectors)
    assert not vector_table.count(table)


def test_two_that_embed_the_same_passages_keep_one_vector_of_each(
    table: apsw.Connection,
) -> None:
    vector_table.begin(table, EMBEDDER)
    passage_table.put(table, messages(2))
    vectors = {number: vector_of(one.text) for number, one in vector_table.wanted(table, 9).items()}
    assert vector_table.put(table, EMBEDDER, vectors) == 2
    assert vector_table.put(table, EMBEDDER, vectors) == 0
    assert vector_table.count(table) == 2


def test_another_embedder_begins_anew(table: apsw.Connection) -> None:
    passage_table.put(table, messages(3))
    embed_all(table)
    vector_table.begin(table, "another")
    assert not vector_table.count(table)
    assert vector_table.n_wanted(table) == 3


def test_vectors_of_an_embedder_that_was_replaced_are_not_kept(table: apsw.Connection) -> None:
    passage_table.put(table, messages(1))
    vector_table.begin(table, "another")
    vectors = {number: vector_of("x") for number in vector_table.wanted(table, 9)}
    assert not vector_table.put(table, EMBEDDER, vectors)
    assert vector_table.n_wanted(table) == 1


def test_nearness_is_the_cosine_within_a_hundredth(table: apsw.Connection) -> None:
    passage_table.put(table, messages(5))
    embed_all(table)
    asked = vector_of("message S-1 3", off=0.7)
    exact = {one.reference: float(np.dot(asked, vector_of(one.text))) for one in messages(5)}
    assert vector_table.nearness(table, EMBEDDER, asked, messages(5)) == pytest.approx(
        exact, abs=0.01
    )


def test_nearness_says_nothing_of_what_was_not_embedded(table: apsw.Connection) -> None:
    passage_table.put(table, messages(2))
    embed_all(table)
    passage_table.put(table, [passage("message", 3)])
    assert set(nearness(table, "x", messages(3))) == {"S-1:1", "S-1:2"}


def test_vectors_of_another_embedder_are_not_compared(table: apsw.Connection) -> None:
    passage_table.put(table, messages(3))
    embed_all(table, "another")
    assert nearness(table, "x", messages(3)) == {}


def test_what_an_assistant_said_is_not_embedded(table: apsw.Connection) -> None:
    said = Passage("message", "S-1", 1, "Certainly!", NOW, "assistant")
    passage_table.put(table, [said])
    vector_table.begin(table, EMBEDDER)
    passage_table.put(table, [replace(said, place=2)])
    assert not vector_table.n_wanted(table)


def test_a_vector_of_another_length_is_damage(table: apsw.Connection) -> None:
    passage_table.put(table, messages(3))
    embed_all(table)
    table.execute(
        "UPDATE vectors SET numbers = x'00' WHERE passage = (SELECT max(id) FROM passages)"
    )
    with pytest.raises(apsw.CorruptError):
        nearness(table, "x", messages(3))


def test_the_bytes_of_a_vector_are_wiped(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA secure_delete=ON").fetchall()
    passage_table.create(connection)
    vector_table.create(connection)
    passage_table.put(connection, messages(3))
    embed_all(connection)
    numbers = vector_table.packed(vector_of("message S-1 2"))
    assert numbers in path.read_bytes()
    passage_table.drop(connection, "message", "S-1", [2])
    connection.close()
    assert numbers not in path.read_bytes()
