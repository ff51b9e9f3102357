from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memnb.core.passage_words import words_of
from memnb.core.passages import Passage
from memnb.core.query import understand
from memnb.core.ranking import Candidate, Candidates, by_session, rank

NOW = "2026-11-30T12:00:00.000000Z"


def said(place: int, text: str, *, at: str = NOW, name: str = "S-1") -> Passage:
    return Passage("message", name, place, text, at, "person")


def proposed(asked: str, *passages: Passage, total: int = 1000) -> Candidates:
    """As the index would propose them, without its endings."""
    forms = {word: word for word in understand(asked, NOW).words}
    found = tuple(Candidate(one, words=words_of(one.text), context_words=()) for one in passages)
    counts = {form: sum(form in one.words for one in found) for form in forms}
    return Candidates(found, forms, counts, total, 10.0)


def near(candidates: Candidates, nearness: Sequence[float | None]) -> Candidates:
    """The candidates with how near the meaning of each is."""
    found = zip(candidates, nearness, strict=True)
    return replace(candidates, found=tuple(replace(one, nearness=value) for one, value in found))


def order(asked: str, *passages: Passage) -> list[int]:
    ranked = rank(understand(asked, NOW), proposed(asked, *passages), now=NOW)
    return [one.passage.place for one in ranked]


def test_who_holds_more_of_the_question_comes_first() -> None:
    assert order("red apples", said(1, "red cars"), said(9, "apples red")) == [9, 1]


def test_of_two_that_fit_alike_the_newer_comes_first() -> None:
    old, new = "2026-01-01T00:00:00.000000Z", "2026-11-01T00:00:00.000000Z"
    assert order("apples", said(1, "apples", at=old), said(90, "apples", at=new)) == [90, 1]


def test_of_facts_a_newer_one_that_fits_almost_as_well_comes_first() -> None:
    old, new = "2025-01-01T00:00:00.000000Z", "2026-11-29T00:00:00.000000Z"
    texts = {old: "red apples", new: "the red apples"}
    facts = [Passage("fact", f"F-{at}", 1, text, at, "person") for at, text in texts.items()]
    messages = [Passage("message", f"S-{at}", 1, text, at, "person") for at, text in texts.items()]
    asked = "red apples"
    for passages, first in ((facts, new), (messages, old)):
        ranked = rank(understand(asked, NOW), proposed(asked, *passages), now=NOW)
        assert ranked[0].passage.at == first


def test_what_is_of_the_time_that_is_named_comes_first() -> None:
    may, june = "2026-05-05T00:00:00.000000Z", "2026-06-05T00:00:00.000000Z"
    assert order("apples in May", said(1, "apples", at=june), said(90, "apples", at=may)) == [90, 1]


def test_a_score_is_the_sum_of_its_named_parts() -> None:
    asked = 'the "red apples"'
    ranked = rank(
        understand(asked, NOW),
        near(proposed(asked, said(1, "red apples"), said(2, "green apples")), [0.5, 0.3]),
        now=NOW,
    )
    assert {"words", "phrase", "vector"} <= set(ranked[0].parts)
    assert ranked[0].score == sum(ranked[0].parts.values())


def test_of_two_with_the_same_words_the_nearer_in_meaning_comes_first() -> None:
    proposals = near(proposed("apples", said(1, "apples"), said(90, "apples")), [0.2, 0.6])
    ranked = rank(understand("apples", NOW), proposals, now=NOW)
    assert [one.passage.place for one in ranked] == [90, 1]


def test_what_is_not_embedded_is_taken_to_be_as_near_as_most() -> None:
    passages = said(1, "apples"), said(90, "apples"), said(180, "apples")
    proposals = near(proposed("apples", *passages), [0.2, None, 0.6])
    ranked = rank(understand("apples", NOW), proposals, now=NOW)
    assert [one.passage.place for one in ranked] == [180, 90, 1]


def test_what_the_person_said_comes_before_what_the_assistant_said() -> None:
    answer = replace(said(90, "red apples"), speaker="assistant")
    assert order("red apples", answer, said(1, "red apples")) == [1, 90]


def test_asked_what_the_assistant_said_its_words_come_first() -> None:
    answer = replace(said(90, "red apples"), speaker="assistant")
    asked = "remind me of the red apples you recommended"
    assert order(asked, said(1, "red apples"), answer) == [90, 1]


def test_in_a_transcript_the_words_of_whom_the_question_names_come_first() -> None:
    passages = said(1, "ann: red apples, bob"), said(90, "bob: red apples, ann")
    assert order("did bob like red apples", *passages) == [90, 1]


def test_a_message_is_lifted_by_one_next_to_it_that_fits() -> None:
    passages = said(1, "red"), said(2, "red apples"), said(50, "red")
    assert order("red apples", *passages) == [2, 1, 50]


def test_a_session_is_as_good_as_its_best_message_and_a_little_of_the_next() -> None:
    passages = (
        said(1, "red apples", name="S-1"),
        said(1, "red", name="S-2"),
        said(90, "apples", name="S-3"),
        said(1, "red apples", name="S-3"),
    )
    ranked = rank(understand("red apples", NOW), proposed("red apples", *passages), now=NOW)
    names = [name for name, _ in by_session(ranked)]
    assert names == ["S-3", "S-1", "S-2"]


def test_a_fact_that_is_named_comes_before_one_that_speaks_of_it() -> None:
    named = Passage("fact", "F-1", 1, "a cache", NOW, "person", "redis; cache")
    other = Passage("fact", "F-2", 1, "redis and more redis", NOW, "person")
    found = (
        Candidate(other, words=("redis", "and", "more", "redis")),
        Candidate(named, words=("a", "cache"), context_words=("redis", "cache")),
    )
    proposals = Candidates(found, {"redis": "redis"}, {"redis": 2}, 1000, 10.0)
    ranked = rank(understand("redis", NOW), proposals, now=NOW)
    assert "name" in next(one for one in ranked if one.passage is named).parts
    assert "name" not in next(one for one in ranked if one.passage is other).parts
