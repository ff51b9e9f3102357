from __future__ import annotations

from dataclasses import replace

import apsw
import pytest

from embedders import NoEmbedder, WordEmbedder
from memnb.core.messages import Cancel
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.embedding import MiniLM
from memnb.memory import indexing
from memnb.memory.catching_up import catch_up
from memnb.memory.meaning import Embedder, Meaning
from memnb.memory.searching import Found, Search, search
from memnb.storage import vector_table
from memories import Desk, saying

pytest.importorskip("numpy")


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def desk(desk: Desk, embedder: WordEmbedder) -> Desk:
    """A desk with an embedder."""
    return with_embedder(desk, embedder)


def with_embedder(desk: Desk, embedder: Embedder) -> Desk:
    desk.memory = replace(desk.memory, meaning=Meaning(embedder))
    return desk


def caught_up(desk: Desk, cancel: Cancel | None = None) -> None:
    catch_up(desk.memory, cancel or CancelSwitch())


def looked(desk: Desk, text: str) -> Found:
    return search(desk.memory, Search(text))


def counts(desk: Desk) -> tuple[int, int]:
    """How many passages are embedded, and how many are yet to be."""
    index = desk.memory.index
    assert index is not None

    def count(connection: apsw.Connection) -> tuple[int, int]:
        return vector_table.count(connection), vector_table.n_wanted(connection)

    return indexing.read(desk.memory, index, count)


def remember(desk: Desk, n: int) -> list[str]:
    return [
        desk.remember(f"Rule {number} holds for column {number}.").fact_id for number in range(n)
    ]


def test_what_is_new_is_indexed_and_embedded(desk: Desk) -> None:
    desk.remember("We report money in cents.")
    desk.ask("Which columns are there?", saying("There are two."))
    caught_up(desk)
    assert counts(desk) == (2, 0)  # the fact and the question


def test_of_what_words_find_the_nearest_in_meaning_comes_first(desk: Desk) -> None:
    near, far = (desk.remember(f"The colour of the {noun}").fact_id for noun in ("car", "sky"))
    caught_up(desk)
    hits = looked(desk, "colour of the automobile").hits
    assert [hit.passage.name for hit in hits] == [near, far]
    assert "vector" in hits[0].parts


def test_it_stops_between_two_few_and_goes_on_later(desk: Desk) -> None:
    remember(desk, 10)
    cancel = CancelSwitch()
    with_embedder(desk, WordEmbedder(before=lambda _: cancel.request()))
    caught_up(desk, cancel)
    n_embedded, n_wanted = counts(desk)
    assert 0 < n_embedded < 10
    assert n_embedded + n_wanted == 10
    with_embedder(desk, WordEmbedder())
    caught_up(desk)
    assert counts(desk) == (10, 0)


def test_nothing_is_embedded_twice(desk: Desk, embedder: WordEmbedder) -> None:
    remember(desk, 6)
    caught_up(desk)
    caught_up(desk)
    assert len(embedder.texts) == 6


def test_a_kernel_that_is_killed_loses_only_what_it_was_at(desk: Desk) -> None:
    class Killed(BaseException):
        pass

    def die(n_before: int) -> None:
        if n_before >= 4:
            raise Killed

    remember(desk, 10)
    with_embedder(desk, WordEmbedder(before=die))
    with pytest.raises(Killed):
        caught_up(desk)
    again = WordEmbedder()
    caught_up(with_embedder(desk.beside(), again))
    assert len(again.texts) == 6
    assert counts(desk) == (10, 0)


def test_two_kernels_that_embed_at_once_do_no_harm(desk: Desk) -> None:
    remember(desk, 10)
    other = with_embedder(desk.beside(), WordEmbedder())
    with_embedder(desk, WordEmbedder(before=lambda n: caught_up(other) if n == 4 else None))
    caught_up(desk)
    assert counts(desk) == (10, 0)


def test_a_vector_is_gone_with_what_was_forgotten(desk: Desk) -> None:
    first, *_ = remember(desk, 3)
    caught_up(desk)
    desk.forget(first)
    assert counts(desk) == (2, 0)


def test_what_is_forgotten_while_it_is_embedded_gets_no_vector(desk: Desk) -> None:
    first, *_ = remember(desk, 3)
    with_embedder(desk, WordEmbedder(before=lambda n: desk.forget(first) if not n else None))
    caught_up(desk)
    assert counts(desk) == (2, 0)


def test_another_embedder_embeds_everything_anew(desk: Desk) -> None:
    remember(desk, 3)
    caught_up(desk)
    another = WordEmbedder("another")
    caught_up(with_embedder(desk, another))
    assert len(another.texts) == 3
    assert counts(desk) == (3, 0)


@pytest.fixture
def failing() -> WordEmbedder:
    def fail(_: int) -> None:
        raise RuntimeError("onnx")

    return WordEmbedder(before=fail)


def test_an_embedder_that_fails_leaves_words_and_says_so(desk: Desk, failing: WordEmbedder) -> None:
    fact_id = desk.remember("We report money in cents.").fact_id
    with_embedder(desk, failing)
    caught_up(desk)
    assert [hit.passage.name for hit in looked(desk, "cents").hits] == [fact_id]
    assert desk.memory.meaning.problem == "search by meaning is off: the embedder failed"


def test_files_that_are_not_the_known_ones_leave_words_and_say_so(desk: Desk) -> None:
    fact_id = desk.remember("We report money in cents.").fact_id
    with_embedder(desk, NoEmbedder())
    caught_up(desk)
    assert [hit.passage.name for hit in looked(desk, "cents").hits] == [fact_id]
    assert "install memnb[vectors] again" in desk.memory.meaning.problem


@pytest.mark.skipif(not MiniLM.is_installed(), reason="needs memnb[vectors]")
def test_with_the_embedder_of_the_extra_the_nearest_in_meaning_comes_first(desk: Desk) -> None:
    texts = "The meeting about the car is on Monday", "The meeting about the sky is on Monday"
    near, far = (desk.remember(text).fact_id for text in texts)
    caught_up(with_embedder(desk, MiniLM()))
    hits = looked(desk, "When is the meeting about the automobile?").hits
    assert [hit.passage.name for hit in hits] == [near, far]
    assert hits[0].parts["vector"] > hits[1].parts.get("vector", 0.0)


def test_without_an_embedder_nothing_is_wanted(desk: Desk) -> None:
    desk.memory = replace(desk.memory, meaning=Meaning())
    remember(desk, 3)
    caught_up(desk)
    assert counts(desk) == (0, 0)


def test_a_table_that_was_altered_leaves_words(desk: Desk) -> None:
    fact_id = desk.remember("We report money in cents.").fact_id
    caught_up(desk)
    index = desk.memory.index
    assert index is not None
    index.write(lambda one: one.execute("UPDATE vectors SET numbers = x'00'").fetchall())
    assert [hit.passage.name for hit in looked(desk, "cents").hits] == [fact_id]
