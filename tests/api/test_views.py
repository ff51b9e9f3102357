from __future__ import annotations

import pytest

from memnb.api import views, why_views
from memnb.core.bodies import Cell, Part
from memnb.core.section import Choice
from memnb.errors import UnknownId
from memories import EUR, SECRET, SPLIT, BareModel, Desk, saying, scripted


def history(desk: Desk, fact_id: str):
    fact = desk.stores.facts.fact(fact_id)
    assert fact is not None
    return views.fact_history(desk.memory, fact, Choice(fact, "valid", "", 1))


# --- a fact --------------------------------------------------------------------------------------


def test_the_span_of_a_quote_is_told_within_the_whole_message(desk: Desk) -> None:
    parts = [Part("typed", "Look at "), Part("variable", "1 2", "df"), Part("typed", f". {EUR}")]
    model = scripted(("memory_remember", {"text": EUR}), "ok")
    (reference,) = desk.ask(parts, model, cell=Cell("eda.ipynb", "4f0c", 7)).remembered
    (revision,) = history(desk, reference.partition("@")[0]).revisions
    (source,) = revision.sources
    assert source.message[source.start : source.end] == EUR
    assert (source.notebook, source.cell_id, source.cell_count) == ("eda.ipynb", "4f0c", 7)
    assert source.where == f"{desk.session_id}:2"


def test_of_evidence_that_does_not_hold_neither_text_nor_message_is_given(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.memory.session.undo()
    view = history(desk, fact_id)
    assert EUR not in str(view)
    assert EUR not in str(view.to_dict())
    (revision,) = view.revisions
    assert (revision.status, revision.text, revision.sources[0].message) == ("hidden", "", "")


def test_an_old_wording_whose_evidence_went_is_hidden_by_itself(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.correct(fact_id, SPLIT)
    desk.memory.session.undo()
    second, first = history(desk, fact_id).revisions
    assert (second.text, first.text) == (SPLIT, "")


def test_why_it_is_held_is_told(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    child = desk.remember("child", derived_from=(base,)).fact_id
    desk.correct(base, "other base")
    assert history(desk, child).holds == (f"source changed ({base})",)


# --- sessions ------------------------------------------------------------------------------------


def test_sessions_come_newest_first_with_their_turns_and_notebook(desk: Desk) -> None:
    desk.ask("one", saying("1"), cell=Cell("eda.ipynb", "a", 1))
    desk.ask("two", saying("2"))
    desk.remember(EUR)
    first = desk.session_id
    desk.memory.session.end("new")
    desk.remember(SPLIT)
    newest, oldest = views.sessions(desk.memory, 20).rows
    assert (oldest.session_id, oldest.n_turns, oldest.notebook) == (first, 2, "eda.ipynb")
    assert (oldest.is_open, oldest.is_this, newest.is_open, newest.is_this) == (
        False,
        False,
        True,
        True,
    )
    assert (newest.n_turns, newest.notebook) == (0, None)


@pytest.mark.parametrize(("limit", "n_rows"), [(-1, 0), (0, 0), (1, 1), (2, 2), (99, 3)])
def test_no_more_sessions_are_given_than_asked(desk: Desk, limit: int, n_rows: int) -> None:
    for number in range(3):
        desk.remember(f"fact {number}")
        desk.memory.session.end("new")
    assert len(views.sessions(desk.memory, limit).rows) == n_rows


def test_a_session_is_known_by_its_first_words_that_can_be_seen(desk: Desk) -> None:
    desk.ask(f"my token is {SECRET}", saying("ok"))
    desk.ask("Which  columns\nare there? " + "x " * 100, saying("ok"))
    (row,) = views.sessions(desk.memory, 20).rows
    assert row.first_words.startswith("Which columns are there? x x")
    assert len(row.first_words) < 70
    assert row.started_at < row.ended_at
    desk.memory.session.undo()
    desk.memory.session.undo()
    assert views.sessions(desk.memory, 20).rows[0].first_words == ""


def test_sessions_are_paged(desk: Desk) -> None:
    for number in range(5):
        desk.remember(f"fact {number}")
        desk.memory.session.end("new")
    whole = views.sessions(desk.memory, 20)
    assert not whole.has_more
    page = views.sessions(desk.memory, 2, 2)
    assert page.rows == whole.rows[2:4]
    assert page.has_more
    assert "%memory sessions 4 shows earlier ones" in str(page)


def test_an_excerpt_shows_what_was_said_around_a_record_and_how_to_go_on(desk: Desk) -> None:
    for number in range(6):
        desk.ask(f"question {number}", saying(f"answer {number}"), cell=Cell("eda.ipynb", "a", 3))
    seqs = [record.head.seq for record in desk.records() if record.head.type == "user"]
    excerpt = views.excerpt(desk.memory, desk.session_id, seqs[3], 3)
    assert [row.text for row in excerpt.rows] == ["answer 2", "question 3", "answer 3"]
    assert [row.is_anchor for row in excerpt.rows] == [False, True, False]
    assert (excerpt.rows[1].notebook, excerpt.rows[1].cell) == ("eda.ipynb", 3)
    assert f"--around {excerpt.rows[0].seq} goes back" in str(excerpt)
    assert f"--around {excerpt.rows[-1].seq} goes on" in str(excerpt)
    assert "goes on" not in str(views.excerpt(desk.memory, desk.session_id, None, 3))
    assert "goes" not in str(views.excerpt(desk.memory, desk.session_id, None, 20))


def test_an_excerpt_cuts_what_is_long_and_says_nothing_of_what_is_hidden(desk: Desk) -> None:
    desk.ask("x" * 9000, saying("ok"))
    desk.ask("hide me", saying("hidden"))
    desk.memory.session.undo()
    excerpt = views.excerpt(desk.memory, desk.session_id, None, 5)
    assert [len(row.text) for row in excerpt.rows] == [2001, 2]


def test_a_session_in_which_nobody_said_anything_does_not_count(desk: Desk) -> None:
    desk.remember(EUR)
    desk.memory.session.end("new")
    writer = desk.stores.sessions.writer("S-20261130-091005-7k2m9q")
    writer.append(desk._start().draft(), generation=0)
    writer.close()
    assert len(views.sessions(desk.memory, 20).rows) == 1


def test_a_session_that_cannot_be_read_hides_no_other(desk: Desk) -> None:
    desk.remember(EUR)
    (desk.folder / "sessions" / "S-20261130-091005-7k2m9q.jsonl").symlink_to("/etc/hostname")
    (desk.folder / "sessions" / "S-20261130-091006-7k2m9q.jsonl").write_bytes(b"\0" * 5000)
    (desk.folder / "sessions" / "S-20261130-091007-7k2m9q.jsonl").mkdir()
    assert [row.session_id for row in views.sessions(desk.memory, 20).rows] == [desk.session_id]


# --- one session ---------------------------------------------------------------------------------


def test_every_record_is_a_line(desk: Desk) -> None:
    desk.ask("first\nline", scripted(("memory_list", {}), "the answer"))
    rows = views.session(desk.memory, desk.session_id).rows
    assert [(row.seq, row.type, row.turn, row.text) for row in rows] == [
        (1, "session_start", None, ""),
        (2, "user", 1, "first line"),
        (3, "assistant", 1, "memory_list"),
        (4, "tool", 1, "memory_list: none of 0 facts"),
        (5, "assistant", 1, "the answer"),
        (6, "turn_end", 1, "complete"),
    ]


def test_a_long_record_is_cut_in_its_line(desk: Desk) -> None:
    desk.ask("x" * 500, saying("ok"))
    (text,) = (r.text for r in views.session(desk.memory, desk.session_id).rows if r.type == "user")
    assert len(text) == 120
    assert text.endswith("…")


def test_what_is_hidden_is_marked_and_has_no_text(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.forget(fact_id)
    desk.ask(f"token {SECRET}", saying("ok"))
    desk.ask("undone question", saying("undone answer"))
    desk.memory.session.undo()
    view = views.session(desk.memory, desk.session_id)
    assert "EUR" not in str(view)
    assert "undone" not in str(view)
    assert "token" not in str(view)
    assert [row.visible for row in view.rows if row.type == "user"] == [False, False, False]


def test_a_session_with_a_damaged_line_shows_the_others(desk: Desk) -> None:
    desk.ask("first", saying("one"))
    desk.ask("second", saying("two"))
    session_id = desk.session_id
    desk.close()
    path = desk.folder / "sessions" / f"{session_id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"one", b"ONE")
    path.write_bytes(b"".join(lines))
    other = desk.beside()
    rows = views.session(other.memory, session_id).rows
    assert [row.text for row in rows if row.type == "assistant"][-1] == "two"
    assert "ONE" not in str(rows)
    other.close()


# --- why -----------------------------------------------------------------------------------------


def test_why_names_how_many_turns_there_are(desk: Desk) -> None:
    with pytest.raises(UnknownId, match="nothing was asked yet"):
        why_views.why(desk.memory, {}, None)
    desk.ask("hello", saying("hi"))
    with pytest.raises(UnknownId, match="there are 1"):
        why_views.why(desk.memory, {}, 7)


def test_why_of_a_recorded_turn_gives_what_its_replies_carried(desk: Desk) -> None:
    first = desk.remember(EUR).fact_id
    model = scripted(("memory_remember", {"text": SPLIT}), f"see {first}")
    (second,) = desk.ask(SPLIT, model).remembered
    why = why_views.why(desk.memory, {}, 1)
    assert why.carried == (f"{first}@1", second)
    assert (why.cited, why.remembered, why.sections) == ((f"{first}@1",), (second,), ())


def test_why_of_a_turn_without_a_reply_is_empty(desk: Desk) -> None:
    desk.ask("hello", BareModel(KeyboardInterrupt()))
    why = why_views.why(desk.memory, {}, 1)
    assert (why.carried, why.cited) == ((), ())


def test_why_of_a_damaged_turn_stops_nobody(desk: Desk) -> None:
    desk.remember(EUR)
    desk.ask("hello", saying("answer"))
    path = desk.folder / "sessions" / f"{desk.session_id}.jsonl"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"text":"answer"', b'"text":"ANSWER"'))
    other = desk.beside()
    other.memory.histories.of(desk.session_id)
    assert why_views.why(desk.memory, {}, 1).turn == 1
    other.close()
