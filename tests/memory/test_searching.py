from __future__ import annotations

import shutil
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core.bodies import Part
from memnb.core.passages import SOURCES, Passage, Source
from memnb.errors import InputError
from memnb.memory import compacting, indexing, noting
from memnb.memory.matching import How
from memnb.memory.searching import MAX_HITS, Found, Hit, Search, search, sources_of
from memnb.memory.unindexed import every_passage
from memnb.storage import passage_table
from memories import EUR, FENCE, SECRET, SPLIT, Desk, saying

AT = "2026-11-30T09:00:00.000000Z"
HOWS: list[How] = ["words", "literal", "regex"]
EACH_WAY = pytest.mark.parametrize("how", HOWS)


def looked(desk: Desk, text: str, how: How = "words", **options: Any) -> Found:
    return search(desk.memory, Search(text, how, **options))


def found(desk: Desk, text: str, how: How = "words", **options: Any) -> list[str]:
    return [hit.passage.reference for hit in looked(desk, text, how, **options).hits]


def one(desk: Desk, text: str, how: How = "words", **options: Any) -> Hit:
    (hit,) = looked(desk, text, how, **options).hits
    return hit


def note(desk: Desk, name: str, text: str) -> None:
    noting.append(desk.stores, noting.find(desk.stores, name), text)


def marked(hit: Hit) -> list[str]:
    return [hit.snippet.text[start:end] for start, end in hit.snippet.marks]


# --- what is found -------------------------------------------------------------------------------


def test_facts_notes_and_what_was_said_are_found_ranked(desk: Desk) -> None:
    fact_id = desk.remember("revenue in EUR").fact_id
    note(desk, "plan", "nothing\n\nplot the revenue\n")
    desk.ask("Which columns are there?", saying("Columns of revenue and churn."))
    hits = looked(desk, "revenue").hits
    assert {hit.passage.reference for hit in hits} == {
        f"{fact_id}@1",
        "notes/plan.md:3",
        f"{desk.session_id}:4",
    }
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(hit.score == sum(hit.parts.values()) and "words" in hit.parts for hit in hits)
    assert all(marked(hit) == ["revenue"] for hit in hits)


@pytest.mark.parametrize("how", ["literal", "regex"])
def test_texts_are_looked_through_facts_first_newest_first(desk: Desk, how: How) -> None:
    first = desk.remember("revenue in EUR").fact_id
    second = desk.remember("revenue monthly").fact_id
    note(desk, "scratchpad", "nothing\nplot Revenue\n")
    desk.ask("the revenue?", saying("yes, revenue"))
    assert found(desk, "REVENUE", how) == [
        f"{second}@1",
        f"{first}@1",
        "scratchpad.md:2",
        f"{desk.session_id}:5",
        f"{desk.session_id}:4",
    ]


@pytest.mark.parametrize(
    ("names", "n_hits"),
    [(("facts",), 1), (("notes",), 1), (("messages",), 2), (("facts", "messages"), 3)],
    ids=["facts", "notes", "messages", "two"],
)
@EACH_WAY
def test_only_where_it_is_asked_to_look_is_looked(
    desk: Desk, how: How, names: tuple[str, ...], n_hits: int
) -> None:
    desk.remember("revenue in EUR")
    note(desk, "scratchpad", "plot revenue")
    desk.ask("the revenue?", saying("yes, revenue"))
    hits = looked(desk, "revenue", how, sources=sources_of(names)).hits
    assert len(hits) == n_hits
    assert {hit.passage.source for hit in hits} == set(sources_of(names))


@EACH_WAY
def test_a_summary_that_holds_is_found(desk: Desk, how: How) -> None:
    for text in ("Never drop outliers.", "And then?", "And then more?", "so?", "and?", "go on"):
        desk.ask(text, saying("Well."))
    compacting.compact_session(desk.memory, fence=FENCE, window=None, writer=None)
    hit = one(desk, "outliers", how, sources=("summary",))
    assert (hit.passage.source, hit.status) == ("summary", "holds")
    desk.memory.session.clear()
    assert found(desk, "outliers", how, sources=("summary",)) == []


@pytest.mark.parametrize("names", [(), ("fact",), ("facts", "x"), "facts"])
def test_an_unknown_place_to_look_is_refused(names: Any) -> None:
    with pytest.raises(InputError):
        sources_of(names)


def test_what_was_recorded_before_or_since_is_found_alone(desk: Desk) -> None:
    before = desk.remember("revenue in EUR").fact_id
    between = desk.stores.now()
    after = desk.remember("revenue monthly").fact_id
    for how in HOWS:
        assert found(desk, "revenue", how, since=between) == [f"{after}@1"]
        assert found(desk, "revenue", how, until=between) == [f"{before}@1"]


@EACH_WAY
def test_what_is_skipped_is_no_hit_and_takes_no_place(desk: Desk, how: How) -> None:
    desk.remember("revenue in EUR")
    desk.ask("the revenue?", saying("yes, revenue"))
    skips: Callable[[Passage], bool] = lambda one: one.source == "message"  # noqa: E731
    assert len(found(desk, "revenue", how, skips=skips, limit=1)) == 1


def test_what_only_answers_a_message_with_the_words_is_found_when_that_is_asked_for(
    desk: Desk,
) -> None:
    desk.ask("the revenue?", saying("I don't know."))
    assert len(found(desk, "revenue")) == 1
    assert len(found(desk, "revenue", in_context=True)) == 2


def test_a_hit_says_who_said_it_when_and_in_which_cell(desk: Desk) -> None:
    desk.ask("the revenue?", saying("yes, revenue"))
    (reply, question) = sorted(looked(desk, "revenue").hits, key=lambda hit: hit.passage.speaker)
    assert (question.passage.speaker, reply.passage.speaker) == ("person", "assistant")
    assert question.passage.at == desk.records()[1].head.at
    assert (question.status, desk.remember(EUR) and one(desk, "EUR").status) == ("visible", "valid")


@pytest.mark.parametrize(
    ("text", "words", "marks"),
    [
        ("We buy data from ACME", "bought", ["buy"]),
        ("Reports are monthly", "reporting each month", ["Reports", "monthly"]),
        ("The trainingLoop of user_name", "loop name", ["trainingLoop", "name"]),
        ("Die Größe zählt", "größe", ["Größe"]),
    ],
)
def test_words_are_marked_in_the_form_in_which_they_were_found(
    desk: Desk, text: str, words: str, marks: list[str]
) -> None:
    desk.remember(text)
    assert marked(one(desk, words)) == marks


def test_a_hit_in_a_long_text_is_a_snippet_around_the_words(desk: Desk) -> None:
    desk.ask("x " * 3000 + "needle" + " y" * 3000, saying("ok"))
    for how in HOWS:
        hit = one(desk, "needle", how)
        assert marked(hit) == ["needle"]
        assert len(hit.snippet.text) < 250
    assert len(one(desk, "needle", width=1000).snippet.text) > 900


def test_a_hit_in_a_note_is_the_line_of_the_first_match(desk: Desk) -> None:
    note(desk, "plan", "# Plan\n\none\ntwo needle\nthree needle\n")
    for how in HOWS:
        assert one(desk, "needle", how).passage.reference == "notes/plan.md:4"


@pytest.mark.parametrize("how", ["literal", "regex"])
def test_what_stands_between_escapes_in_a_note_is_marked_on_its_line(desk: Desk, how: How) -> None:
    note(desk, "plan", "- first \\* one\n- the use\\_case \\[now\\] ends\n")
    hit = one(desk, "the use_case", how)
    assert hit.passage.reference == "notes/plan.md:2"
    assert marked(hit) == ["the use\\_case"]


def test_a_fact_in_a_note_is_found_by_its_text(desk: Desk) -> None:
    fact = r"Use `uv run` | never pip_ in C:\data [x]"
    note(desk, "plan", noting.fact_line(fact))
    assert found(desk, fact, "literal") == ["notes/plan.md:1"]
    assert found(desk, noting.fact_line(fact), "literal") == ["notes/plan.md:1"]


@pytest.mark.parametrize(("limit", "n_hits"), [(0, 1), (1, 1), (5, 5), (50, 50), (999, MAX_HITS)])
def test_there_are_never_more_than_asked_and_never_more_than_50(
    many: Desk, limit: int, n_hits: int
) -> None:
    for how in HOWS:
        assert len(found(many, "word", how, limit=limit)) == n_hits


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    desk = Desk(tmp_path_factory.mktemp("many") / "project")
    for number in range(20):
        desk.remember(f"word {number}")
    note(desk, "scratchpad", "word\n\n" * 60)
    return desk


# --- what is looked for --------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\t\n"], ids=["empty", "blank", "white"])
@EACH_WAY
def test_nothing_to_look_for_is_refused_in_one_line(desk: Desk, text: str, how: How) -> None:
    with pytest.raises(InputError) as caught:
        found(desk, text, how)
    assert "\n" not in str(caught.value)


SIGNS = ["%", "_", "*", ".", "[", "\\", '"', "^", "\0", "\ud800", "();--"]


@pytest.mark.parametrize("text", [*SIGNS, "(a+)+$", "'; drop table facts;--", "AND", "NEAR(", "$x"])
def test_no_character_means_anything_but_itself(desk: Desk, text: str) -> None:
    desk.remember("plain words only")
    desk.remember("b" * 40 + " or more")
    note(desk, "scratchpad", "just text here")
    assert found(desk, text, "literal") == found(desk, text) == []


@pytest.mark.parametrize("text", SIGNS)
def test_a_text_of_signs_alone_is_looked_for_as_it_is(desk: Desk, text: str) -> None:
    if text in ("\0", "\ud800"):
        return  # no fact holds these
    fact_id = desk.remember(f"use {text} with care").fact_id
    looked_for = looked(desk, text)
    assert looked_for.how == "literal"
    assert [hit.passage.name for hit in looked_for.hits] == [fact_id]


def test_blanks_and_composition_do_not_matter_in_a_phrase(desk: Desk) -> None:
    fact_id = desk.remember("die  Größe\tin cm").fact_id
    desk.ask("die\n  GRÖSSE in cm?", saying("ok"))
    hits = looked(desk, "Gro\u0308ße   in", "literal").hits
    assert [hit.passage.name for hit in hits] == [fact_id, desk.session_id]


def test_a_regular_expression_that_explodes_elsewhere_ends(desk: Desk) -> None:
    desk.remember("a" * 400 + "!")
    desk.ask("a" * 8_000 + "!", saying("ok"))
    assert found(desk, "(a+)+$", "regex") == []
    assert found(desk, "(a+)+!$", "regex") != []


def test_looking_through_texts_stops_when_time_is_over_and_says_so(desk: Desk) -> None:
    for number in range(40):
        desk.remember(f"rule {number} of revenue")
    ticks = iter(range(10_000))
    asked = Search("revenue", "literal")
    cut = search(desk.memory, asked, seconds=lambda: next(ticks) / 10)
    assert 0 < len(cut.hits) < 40
    assert "\n" not in cut.notice
    assert "--in narrows it" in cut.notice
    assert looked(desk, "revenue", "literal").notice == ""


def test_what_indexing_takes_is_none_of_the_time_for_texts(desk: Desk) -> None:
    desk.ask("the revenue?", saying("yes, revenue"))
    now = [0.0]

    def progress(*_: int) -> None:
        now[0] += 100

    hits = search(desk.memory, Search("reven", "regex"), progress=progress, seconds=lambda: now[0])
    assert now[0] >= 100
    assert [hit.snippet.marks for hit in hits.hits] == [((5, 10),), ((4, 9),)]
    assert hits.notice == ""


# --- only what can be seen -----------------------------------------------------------------------


@EACH_WAY
def test_only_the_present_wording_is_found(desk: Desk, how: How) -> None:
    fact_id = desk.remember(EUR).fact_id
    assert found(desk, "revenue", how) == [f"{fact_id}@1"]
    desk.correct(fact_id, SPLIT)
    assert found(desk, "revenue", how) == []
    assert found(desk, "train split", how) == [f"{fact_id}@2"]


def undo(desk: Desk) -> None:
    desk.memory.session.undo()


def clear(desk: Desk) -> None:
    desk.memory.session.clear()


def change_the_file(desk: Desk) -> None:
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"revenue", b"REVENUE"))


@pytest.mark.parametrize("hide", [undo, clear, change_the_file], ids=lambda hide: hide.__name__)
@EACH_WAY
def test_a_message_that_cannot_be_seen_is_not_found(
    desk: Desk, how: How, hide: Callable[[Desk], None]
) -> None:
    desk.ask("the revenue?", saying("yes, revenue"))
    assert len(found(desk, "revenue", how)) == 2
    hide(desk)
    assert found(desk, "revenue", how) == []


def test_no_piece_of_a_long_key_in_a_note_is_found_nor_kept_a_secret_in_a_heading(
    desk: Desk,
) -> None:
    lines = b64encode(bytes(range(256)) * 5).decode()
    cut = "\n".join(lines[at : at + 64] for at in range(0, len(lines), 64))
    key = f"-----BEGIN PRIVATE KEY-----\n{cut}\n-----END PRIVATE KEY-----"
    (desk.folder / "notes").mkdir(parents=True)
    path = desk.folder / "notes" / "plan.md"
    path.write_text(f"# token {SECRET}\n\nplot revenue\n\n{key}\n", encoding="utf-8")
    assert found(desk, "END PRIVATE KEY", "literal") == []
    assert found(desk, "revenue") == ["notes/plan.md:3"]
    assert desk.memory.index is not None
    kept = desk.memory.index.read(lambda connection: list(passage_table.every(connection)))
    assert [(passage.text, passage.context) for passage in kept] == [("plot revenue", "")]


@EACH_WAY
def test_what_holds_a_secret_is_not_found(desk: Desk, how: How) -> None:
    desk.ask(f"the token is {SECRET}", saying("I see a token"))
    note(desk, "scratchpad", "fine")
    (desk.folder / "scratchpad.md").write_text(f"my token is {SECRET}\n")
    assert found(desk, SECRET, how) == []
    assert all(hit.passage.speaker != "person" for hit in looked(desk, "token", how).hits)


@EACH_WAY
def test_inserted_data_and_tool_output_are_not_found(desk: Desk, how: How) -> None:
    parts = [Part("typed", "what is "), Part("variable", "the needle", "x"), Part("file", "needle")]
    desk.ask(parts, saying("ok"))
    assert found(desk, "needle", how) == []


@EACH_WAY
def test_a_fact_that_does_not_hold_is_not_found(desk: Desk, how: How) -> None:
    desk.learn(EUR)
    base = desk.remember("base")
    desk.remember("revenue rests on it", derived_from=(base.fact_id,))
    desk.remember("revenue once", valid_to="2026-11-01T00:00:00.000000Z")
    desk.memory.session.undo()
    desk.correct(base.fact_id, "another base")
    assert found(desk, "revenue", how) == []


# --- the index is not believed -------------------------------------------------------------------


def index_files(desk: Desk) -> list[Path]:
    return sorted(desk.folder.glob("index.sqlite3*"))


@EACH_WAY
def test_what_was_forgotten_is_not_found_though_an_old_index_holds_it(
    tmp_path: Path, desk: Desk, how: How
) -> None:
    said = desk.ask("We report revenue in EUR. Which unit?", saying("In EUR, revenue."))
    assert said.message_seq
    fact_id = desk.learn("We report revenue in EUR cents always.")
    other, session_id = desk.remember("revenue is monthly").fact_id, desk.session_id
    assert len({*found(desk, "revenue"), *found(desk, "revenue", how)}) >= 5
    desk.close()
    for path in index_files(desk):
        shutil.copy(path, tmp_path)
    again = desk.beside()
    again.forget(fact_id)
    again.close()
    for path in index_files(desk):
        path.unlink()
    for path in tmp_path.glob("index.sqlite3*"):
        shutil.copy(path, desk.folder)
    last = desk.beside()
    left = [f"{other}@1", *(f"{session_id}:{said.message_seq + n}" for n in (0, 1))]
    assert sorted(found(last, "revenue", how)) == sorted(left)
    assert found(last, "cents", how) == []
    last.close()


TEXTS = ["revenue planted", "the revenue gone?", "revenue gone, yes", "revenue gone", EUR]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk with something of everything, some of it hidden."""
    desk = Desk(tmp_path_factory.mktemp("planted") / "project")
    gone = desk.remember("revenue gone").fact_id
    desk.remember("revenue in EUR")
    desk.ask("the revenue?", saying("yes, revenue"))
    desk.ask("the revenue gone?", saying("revenue gone, yes"))
    desk.memory.session.undo()
    note(desk, "plan", "plot revenue\n\nrevenue by month\n")
    desk.forget(gone)
    found(desk, "revenue")
    return desk


def names(desk: Desk) -> dict[Source, list[str]]:
    sessions = desk.stores.sessions.ids()
    facts = desk.stores.facts.ids(limit=10)
    return {
        "fact": [*facts, "F-zzzzzz"],
        "note": ["notes/plan.md", "../plan.md"],
        "message": [*sessions, "../../x"],
        "summary": [*sessions, "S-20261130-091005-7k2m9q"],
    }


PLANTED = st.lists(
    st.tuples(
        st.sampled_from(SOURCES), st.integers(0, 1), st.integers(0, 8), st.sampled_from(TEXTS)
    ),
    min_size=1,
    max_size=12,
)
"""What stands nowhere, below names and places that mostly exist."""


@settings(max_examples=60)
@given(PLANTED, st.sampled_from(HOWS), st.sampled_from([AT, AT, AT, "2026-11-30", "", "x"]))
def test_whatever_is_in_the_index_nothing_is_shown_that_does_not_stand_there(
    planted: Desk, wrong: list[tuple[Source, int, int, str]], how: How, at: str
) -> None:
    known = names(planted)
    passages = [
        Passage(source, known[source][which], place, text, at)
        for source, which, place, text in wrong
    ]
    index = planted.memory.index
    assert index is not None
    index.write(lambda connection: passage_table.put(connection, passages))
    try:
        hits = looked(planted, "revenue", how).hits
        assert hits
        stands = {(p.name, p.text): p.place for p in every_passage(planted.memory)}
        for hit in hits:
            first = stands[hit.passage.name, hit.passage.text]
            # A note's hit is a line of its passage.
            assert hit.passage.place == first or hit.passage.source == "note"
            assert "gone" not in hit.passage.text
            assert "planted" not in hit.snippet.text
    finally:
        indexing.rebuild(planted.memory, index)


def remove(desk: Desk) -> None:
    desk.close()
    for path in index_files(desk):
        path.unlink()


def garble(desk: Desk) -> None:
    desk.close()
    for path in index_files(desk):
        path.write_bytes(b"\0" * 5000)


def link_elsewhere(desk: Desk) -> None:
    remove(desk)
    (desk.folder / "index.sqlite3").symlink_to(desk.folder / "facts.sqlite3")


@pytest.mark.parametrize("harm", [remove, garble, link_elsewhere], ids=lambda harm: harm.__name__)
def test_an_index_that_is_gone_or_broken_is_made_anew(
    desk: Desk, harm: Callable[[Desk], None]
) -> None:
    desk.remember("revenue in EUR")
    desk.ask("the revenue?", saying("yes, revenue"))
    before = found(desk, "revenue")
    harm(desk)
    again = desk.beside()
    assert found(again, "revenue") == before
    again.close()


def test_an_index_with_a_longer_row_than_any_of_ours_is_made_anew(desk: Desk) -> None:
    desk.remember("revenue in EUR")
    before = found(desk, "revenue")
    other = apsw.Connection(str(desk.folder / "index.sqlite3"))
    other.execute("UPDATE passages SET context = hex(zeroblob(5000000))")
    other.close()
    hits = looked(desk, "revenue")
    assert "was broken" in hits.notice
    assert found(desk, "revenue") == before
    assert desk.memory.index is not None
    assert desk.memory.index.n_bytes < 5_000_000


def test_without_an_index_the_same_is_found_and_a_line_says_so(desk: Desk) -> None:
    desk.remember("revenue in EUR")
    note(desk, "plan", "plot revenue")
    desk.ask("the revenue?", saying("yes, revenue"))
    before = looked(desk, "revenue")
    assert before.notice == ""
    desk.memory = replace(desk.memory, index=None)
    without = looked(desk, "revenue")
    assert {hit.passage for hit in without.hits} == {hit.passage for hit in before.hits}
    assert without.notice
    assert "\n" not in without.notice


def test_an_index_that_another_kernel_writes_keeps_nobody_from_searching(desk: Desk) -> None:
    desk.remember("revenue in EUR")
    other = desk.beside()
    before, index = found(desk, "revenue"), desk.memory.index
    assert index is not None

    def inside(_: Any) -> Found:
        other.remember("revenue monthly")
        return looked(other, "revenue")

    meanwhile = index.write(inside)
    assert [hit.passage.reference for hit in meanwhile.hits] == before
    assert meanwhile.notice
    assert len(found(other, "revenue")) == 2
    other.close()


def test_searching_creates_nothing_where_nothing_is(desk: Desk) -> None:
    for how in HOWS:
        assert looked(desk, "anything", how) == Found((), how)
    assert not desk.folder.exists()


@EACH_WAY
def test_a_file_that_cannot_be_read_hides_no_other(desk: Desk, how: How) -> None:
    desk.remember(EUR)
    note(desk, "plan", "the revenue")
    (desk.folder / "scratchpad.md").symlink_to("/etc/passwd")
    (desk.folder / "MEMORY.md").write_bytes(b"revenue" * 200_000)
    (desk.folder / "sessions" / "S-20261130-091005-7k2m9q.jsonl").write_bytes(b"revenue\n\xff\n")
    assert len(found(desk, "revenue", how)) == 2
    assert found(desk, "root", how) == []
