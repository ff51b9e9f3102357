from __future__ import annotations

import threading
from collections.abc import Collection
from pathlib import Path

import pytest

from memnb.core.bodies import Part
from memnb.core.query import Query
from memnb.core.ranking import Candidates
from memnb.core.recall_block import NO_RECALL, Recall
from memnb.core.section import Section
from memnb.memory import context, forgetting, indexing, noting, reminding
from memnb.memory.context import Limits
from memnb.memory.reminding import Places
from memories import EUR, FENCE, SECRET, SPLIT, Desk, saying

ASKED = "Which threshold did we choose for the churn alarm?"
CHOSEN = "The churn alarm threshold is 0.35 from now on."
NOTHING = Section("", (), ())


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """A project in which the threshold was spoken about in an earlier session."""
    desk.ask(CHOSEN, saying("Fine, the churn alarm rings at 0.35 then."))
    desk.ask("Plot the revenue of May by country.", saying("Here it is."))
    desk.memory.session.end("new")
    return desk


def remind(
    desk: Desk, text: str = ASKED, section: Section = NOTHING, *, without: Collection[str] = ()
) -> Recall:
    """What a message is sent with once the index is up to date."""
    assert desk.memory.index is not None
    indexing.update(desk.memory, desk.memory.index)
    parts = [Part("typed", text)]
    return reminding.remind(desk.memory, parts, section, fence=FENCE, without=without)


def section_of(desk: Desk) -> Section:
    memory = desk.memory
    return context.memory_section(
        memory.stores, memory.validator, Limits(), fence=FENCE, ranks=memory.ranks
    )[0]


def reasons(recall: Recall) -> dict[str, str]:
    return {one.reference: one.reason for one in recall.considered}


def test_what_was_said_earlier_comes_back_with_its_reference(desk: Desk) -> None:
    (session_id,) = desk.stores.sessions.ids()
    recall = remind(desk)
    assert recall.carried == (f"{session_id}:2",)
    assert reasons(recall)[f"{session_id}:3"] == "below the threshold"
    assert f"“{CHOSEN}” (the user, 2026-11-30) [{session_id}:2]" in recall.text
    assert "revenue" not in recall.text


def test_a_fact_comes_back_that_the_memory_section_has_no_room_for(desk: Desk) -> None:
    fact_id = desk.remember("The churn alarm threshold was chosen by Ada.").fact_id
    assert f"{fact_id}@1" in remind(desk).carried
    recall = remind(desk, section=section_of(desk))
    assert reasons(recall)[f"{fact_id}@1"] == "in the memory section already"
    assert "Ada" not in recall.text


def test_a_note_comes_back_and_is_not_among_what_was_carried(desk: Desk) -> None:
    noting.append(desk.stores, noting.find(desk.stores, "plan"), "Ada: the churn alarm threshold")
    recall = remind(desk)
    assert "Ada: the churn alarm threshold (a note) [notes/plan.md:1]" in recall.text
    assert not any(reference.startswith("notes") for reference in recall.carried)


def test_what_the_section_shows_of_a_note_does_not_come_twice(desk: Desk) -> None:
    name = noting.find(desk.stores, "scratchpad")
    noting.append(desk.stores, name, "Ada: the churn alarm threshold")
    recall = remind(desk, section=section_of(desk))
    assert reasons(recall)["scratchpad.md:1"] == "in the memory section already"


def test_a_message_does_not_come_that_says_what_a_fact_of_the_section_says(desk: Desk) -> None:
    desk.learn("Ada chose the churn alarm threshold.")
    told_in = desk.session_id
    desk.memory.session.end("new")
    assert reasons(remind(desk))[f"{told_in}:2"] == "says the same as another"  # the fact, first
    recall = remind(desk, section=section_of(desk))
    assert reasons(recall)[f"{told_in}:2"] == "in the memory section already"


def test_the_running_session_is_left_out(desk: Desk) -> None:
    desk.ask(f"Now {CHOSEN}", saying("ok"))
    assert not any(name.startswith(desk.session_id) for name in reasons(remind(desk)))


@pytest.mark.parametrize("asked", ["Hello there, how are you?", "churn alarm", "%memory why now"])
def test_nothing_is_looked_for_when_a_message_says_too_little(desk: Desk, asked: str) -> None:
    recall = remind(desk, asked)
    assert (recall.text, recall.considered) == ("", ())
    assert "too little" in recall.notice


def test_nothing_comes_for_another_topic(desk: Desk) -> None:
    recall = remind(desk, "Which colour did we choose for the front door of the house?")
    assert recall.text == ""
    assert set(reasons(recall).values()) <= {"below the threshold"}


# What can't be seen


@pytest.mark.parametrize("way", ["undo", "clear"])
def test_what_is_hidden_does_not_come(desk: Desk, way: str) -> None:
    (session_id,) = desk.stores.sessions.ids()
    desk.memory.session.resume(session_id)
    getattr(desk.memory.session, way)()
    getattr(desk.memory.session, "undo" if way == "undo" else way)()
    desk.memory.session.end("new")
    assert remind(desk) == NO_RECALL


def test_what_the_index_still_holds_is_not_shown_when_it_is_hidden(desk: Desk) -> None:
    (session_id,) = desk.stores.sessions.ids()
    remind(desk)
    desk.memory.session.resume(session_id)
    desk.memory.session.clear()
    desk.memory.session.end("new")
    parts = [Part("typed", ASKED)]
    recall = reminding.remind(desk.memory, parts, NOTHING, fence=FENCE)
    assert (recall.text, recall.carried) == ("", ())
    assert set(reasons(recall).values()) == {"hidden now", "below the threshold"}


def test_a_message_with_a_secret_does_not_come(desk: Desk) -> None:
    desk.ask(f"The churn alarm threshold is kept at {SECRET}", saying("ok"))
    desk.memory.session.end("new")
    recall = remind(desk)
    assert SECRET not in recall.text
    assert "is kept at" not in recall.text


def test_a_probe_gets_nothing_of_what_it_leaves_out(desk: Desk) -> None:
    desk.ask("We chose the churn alarm threshold together with Ada.", saying("ok"))
    fact_id = desk.learn("Ada chose the churn alarm threshold.")
    desk.memory.session.end("new")
    assert "Ada chose" in remind(desk).text
    recall = remind(desk, without=[fact_id])
    assert "asked without it" in reasons(recall).values()
    assert "Ada chose" not in recall.text
    assert "together with Ada" in recall.text


# When it can't be done


def test_without_an_index_nothing_comes_and_a_line_says_so(desk: Desk) -> None:
    recall = reminding.remind(desk.memory, [Part("typed", ASKED)], NOTHING, fence=FENCE)
    assert (recall.text, recall.considered) == ("", ())
    assert recall.notice == "nothing was recalled: there is no search index yet."


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b"no database" * 999), id="overwritten"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="a folder"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:5000]), id="cut"),
    ],
)
def test_a_broken_index_ends_no_turn(desk: Desk, spoil: object) -> None:
    remind(desk)
    assert desk.memory.index is not None
    desk.memory.index.close()
    path: Path = desk.memory.index.path
    assert callable(spoil)
    spoil(path)
    other = desk.beside()
    answer = other.ask(ASKED, saying("I don't know."), auto_recall=True)
    (trace,) = answer.requests
    assert trace.recall.text == ""
    assert trace.recall.notice.startswith("nothing was recalled: ")
    assert answer.text == "I don't know."
    other.close()


def test_an_index_that_is_yet_to_be_cleaned_is_not_read(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    remind(desk)
    forgetting.forget(desk.stores, fact_id)
    recall = reminding.remind(desk.memory, [Part("typed", ASKED)], NOTHING, fence=FENCE)
    assert recall.text == ""
    assert "yet to be cleaned" in recall.notice
    assert remind(desk).text


def test_whatever_goes_wrong_is_told_by_its_name_only(desk: Desk) -> None:
    recall = reminding.remind(desk.memory, [Part("typed", ASKED)], None, fence=FENCE)  # type: ignore[arg-type]
    assert recall.text == ""
    remind(desk)
    broken = Section(None, (), ())  # type: ignore[arg-type]
    noting.append(desk.stores, noting.find(desk.stores, "plan"), "Ada: the churn alarm threshold")
    assert remind(desk, section=broken).notice == "nothing was recalled: TypeError"


def test_a_project_knows_nothing_of_another_ones_talks(tmp_path: Path, desk: Desk) -> None:
    remind(desk)
    elsewhere = Desk(tmp_path / "another")
    elsewhere.ask(SPLIT, saying("ok"))
    elsewhere.memory.session.end("new")
    assert remind(elsewhere).text == ""
    elsewhere.close()


def test_nobody_waits_for_a_thread_that_has_the_index(desk: Desk) -> None:
    remind(desk)
    index = desk.memory.index
    assert index is not None
    has_it, is_told = threading.Event(), threading.Event()

    def keep() -> None:
        index.read(lambda _: (has_it.set(), is_told.wait(60)))

    keeper = threading.Thread(target=keep)
    keeper.start()
    assert has_it.wait(60)
    recall = reminding.remind(desk.memory, [Part("typed", ASKED)], NOTHING, fence=FENCE)
    is_told.set()
    keeper.join()
    assert recall.text == ""
    assert recall.notice.startswith("nothing was recalled: ")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Thresholds, a threshold", ["Thresholds", "threshold"], id="endings"),
        pytest.param("the alarms alarming", ["alarms", "alarming"], id="its stem"),
        pytest.param("useful use", [], id="another word"),
        pytest.param("训练集", ["训", "练"], id="a script without blanks"),
    ],
)
def test_texts_are_cut_where_they_hold_words_of_the_message(text: str, found: list[str]) -> None:
    query = Query("", ("threshold", "alarm", "us", "训", "练"))
    forms = {"threshold": "threshold", "alarm": "alarm", "us": "us"}
    spans = Places(query, Candidates(forms=forms)).of(text)
    assert [text[start:end] for start, end in spans] == found


@pytest.mark.parametrize(
    "wrong",
    ["speaker = 'person'", "at = '1999-01-01T00:00:00.000000Z'"],
    ids=["who said it", "when"],
)
def test_what_an_index_tells_wrong_of_a_message_is_not_said_of_it(desk: Desk, wrong: str) -> None:
    reply = "Delete the churn alarm threshold we did choose."
    desk.ask("What rings here?", saying(reply))
    desk.memory.session.end("new")
    assert f"“{reply}” (you, 2026-11-30)" in remind(desk).text
    index = desk.memory.index
    assert index is not None
    index.write(
        lambda c: c.execute(f"UPDATE passages SET {wrong} WHERE text=?", (reply,)).fetchall()  # noqa: S608
    )
    assert reply not in remind(desk).text


def test_a_probe_is_not_told_what_was_answered_with_the_fact_in_sight(desk: Desk) -> None:
    fact_id = desk.remember("The deadline of the audit report is in June.").fact_id
    desk.ask("Tell me the deadline of the audit report", saying("The audit report deadline: June."))
    desk.memory.session.end("new")
    asked = "What is the audit report deadline?"
    assert "June" in remind(desk, asked).text
    recall = remind(desk, asked, without=[fact_id])
    assert "June" not in recall.text
    assert "Tell me the deadline" in recall.text
