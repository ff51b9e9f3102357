"""What is in the search index: all that can be found, nothing that can't be seen."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core.bodies import Part
from memnb.core.passages import Passage
from memnb.core.query import understand
from memnb.errors import IndexUnusable, MemnbError
from memnb.memory import compacting, forgetting, indexing, noting, purging, receipts, stating
from memnb.memory.compacting import Reply, Writer
from memnb.memory.context import Limits
from memnb.memory.index_sessions import session_steps
from memnb.memory.index_steps import fact_steps
from memnb.memory.indexing import Updated
from memnb.memory.purge_targets import Chosen
from memnb.memory.stating import Said
from memnb.storage import index_positions, passage_table
from memnb.storage.index_positions import SessionPosition
from memnb.storage.search_index import NAME, Connection, SearchIndex
from memories import EUR, SECRET, SPLIT, Children, Desk, saying, scripted


def index_of(desk: Desk) -> SearchIndex:
    assert desk.memory.index is not None
    return desk.memory.index


def updated(desk: Desk, **options: Any) -> Updated:
    return indexing.update(desk.memory, index_of(desk), **options)


def passages(desk: Desk) -> dict[str, Passage]:
    """All that the index holds as it is, by reference."""
    found = index_of(desk).read(lambda connection: list(passage_table.every(connection)))
    return {passage.reference: passage for passage in found}


def held(desk: Desk) -> dict[str, str]:
    """Reference → text of all that is in the index once it is up to date."""
    assert updated(desk).is_complete
    return {reference: passage.text for reference, passage in passages(desk).items()}


def proposed(desk: Desk, text: str) -> list[str]:
    """What is proposed for a query without bringing the index up to date."""
    query = understand(text, desk.stores.now())
    found = indexing.read(desk.memory, index_of(desk), lambda c: passage_table.candidates(c, query))
    return [candidate.passage.reference for candidate in found]


def note(desk: Desk, name: str, text: str) -> None:
    noting.append(desk.stores, noting.find(desk.stores, name), text)


def texts(desk: Desk) -> set[str]:
    return set(held(desk).values())


def index_bytes(folder: Path) -> bytes:
    """All bytes of its files, read by another process: here that would drop SQLite's locks."""
    files = sorted(map(str, folder.glob(f"{NAME}*")))
    return subprocess.run(["cat", *files], capture_output=True, check=True).stdout


# --- what is taken in ----------------------------------------------------------------------------


def test_facts_notes_messages_and_replies_are_passages(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    note(desk, "plan", "# Plan\n\nPlot the revenue.\n\n- one\n- two\n")
    desk.ask("Which columns are there?", saying("revenue and churn"))
    session_id = desk.session_id
    assert held(desk) == {
        f"{fact_id}@1": EUR,
        "notes/plan.md:3": "Plot the revenue.",
        "notes/plan.md:5": "- one\n- two",
        f"{session_id}:3": "Which columns are there?",
        f"{session_id}:4": "revenue and churn",
    }
    found = passages(desk)
    assert (found[f"{session_id}:3"].speaker, found[f"{session_id}:3"].context) == ("person", "")
    reply = found[f"{session_id}:4"]
    assert (reply.speaker, reply.context) == ("assistant", "Which columns are there?")
    assert found["notes/plan.md:3"].context == "Plan"


def test_nothing_is_made_where_there_is_nothing_to_find(desk: Desk) -> None:
    assert updated(desk) == Updated(is_complete=True)
    assert not index_of(desk).exists


def test_a_second_look_changes_nothing(desk: Desk) -> None:
    desk.remember(EUR)
    desk.ask("Which columns?", saying("two"))
    assert updated(desk).n_put == 3
    before = (desk.folder / NAME).stat().st_mtime_ns
    assert updated(desk) == Updated(is_complete=True)
    assert (desk.folder / NAME).stat().st_mtime_ns == before


def test_of_a_message_only_what_was_typed_is_found_and_no_tools_output(desk: Desk) -> None:
    parts = (Part("typed", "Look at "), Part("variable", "quokka 1", "df"), Part("typed", "!"))

    def read_table() -> str:
        """Reads it."""
        return "numbat 2"

    desk.ask(parts, scripted(("read_table", {}), "It is fine."), tools=[read_table])
    assert texts(desk) == {"Look at !", "It is fine."}


def test_a_message_with_a_secret_is_not_found_and_one_line_of_a_note_neither(desk: Desk) -> None:
    desk.ask(f"The token is {SECRET}, keep it.", saying("I see."))
    (desk.folder / "MEMORY.md").write_text(f"One.\n\nThe token is {SECRET}.\n\nTwo.\n")
    assert texts(desk) == {"I see.", "One.", "Two."}


def test_a_summary_is_found_as_long_as_it_holds(desk: Desk) -> None:
    for number in range(5):
        desk.ask(f"question {number}", saying(f"answer {number}"))
    by = Writer("w", lambda request: Reply("they asked five things", "end"))
    compacting.compact_session(desk.memory, fence="data-0badcafe", window=32_768, writer=by)
    (summary,) = [one for one in held(desk).values() if "five things" in one]
    desk.memory.session.clear()
    assert summary not in texts(desk)


def test_how_often_facts_were_carried_is_counted_once_however_often_it_looks(desk: Desk) -> None:
    fact_id = desk.learn(EUR)
    desk.ask("Which unit?", saying(f"Cents, by {fact_id}."))
    for _ in range(2):
        updated(desk)
    (uses,) = index_of(desk).read(index_positions.uses).values()
    indexing.rebuild(desk.memory, index_of(desk))
    assert list(index_of(desk).read(index_positions.uses).values()) == [uses]
    desk.ask("And now?", saying("The same."))
    updated(desk)
    (more,) = index_of(desk).read(index_positions.uses).values()
    assert more.n_carried == uses.n_carried + 1


# --- what can't be seen any more -----------------------------------------------------------------


def test_what_is_undone_goes_and_comes_back_with_a_redo(desk: Desk) -> None:
    desk.ask("one", saying("first"))
    desk.ask("two", saying("second"))
    everything = held(desk)
    desk.memory.session.undo()
    assert set(held(desk).values()) == {"one", "first"}
    desk.memory.session.redo()
    assert held(desk) == everything


def test_a_clear_takes_out_what_was_said_and_leaves_facts(desk: Desk) -> None:
    desk.remember(EUR)
    desk.ask("one", saying("first"))
    updated(desk)
    desk.memory.session.clear()
    assert texts(desk) == {EUR}
    desk.ask("two", saying("second"))
    assert texts(desk) == {EUR, "two", "second"}


def test_the_context_of_a_message_is_the_one_before_it_that_can_be_seen(desk: Desk) -> None:
    for text in ("one", "two", "three"):
        desk.ask(text, saying(f"reply to {text}"))
    updated(desk)
    chosen = Chosen(desk.session_id, 5, 6)
    token = purging.preview(desk.memory, chosen).token
    assert token is not None
    purging.purge(desk.memory, token)
    found = {one.text: one.context for one in passages(desk).values()}
    assert "two" not in found
    assert "two" not in " ".join(found.values())
    assert found["three"] == "reply to one"


def test_a_correction_takes_the_place_of_the_wording_before(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    assert held(desk) == {f"{fact_id}@1": EUR}
    desk.correct(fact_id, SPLIT)
    assert held(desk) == {f"{fact_id}@2": SPLIT}


def test_a_wording_that_is_to_hold_later_takes_its_place_then(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    stating.correct(
        desk.memory,
        fact_id,
        SPLIT,
        Said(SPLIT),
        expected_revision=1,
        valid_from="2026-12-24T00:00:00.000000Z",
    )
    assert held(desk) == {f"{fact_id}@1": EUR}
    desk.clock.at = datetime(2026, 12, 24, 8, tzinfo=UTC)
    assert held(desk) == {f"{fact_id}@2": SPLIT}


def test_facts_are_found_whatever_the_clock_says(desk: Desk) -> None:
    desk.remember(EUR)
    updated(desk)
    desk.clock.at -= timedelta(days=400)
    desk.beside().remember(SPLIT)
    assert texts(desk) == {EUR, SPLIT}


def test_many_facts_are_taken_in_whatever_time_there_is(desk: Desk) -> None:
    for number in range(30):
        desk.remember(f"Rule {number} of the house holds.")
    for _ in range(40):
        if updated(desk, budget_seconds=0.0).is_complete:
            break
    assert len(held(desk)) == 30


# --- notes that a person edits -------------------------------------------------------------------


def test_an_edit_by_any_editor_is_taken_in(desk: Desk) -> None:
    note(desk, "plan", "One.\n")
    assert texts(desk) == {"One."}
    path = desk.folder / "notes" / "plan.md"
    path.write_text("One.\n\nTwo.\n")
    assert texts(desk) == {"One.", "Two."}
    path.unlink()
    assert texts(desk) == set()


def test_an_edit_within_one_tick_of_the_clock_is_taken_in(desk: Desk) -> None:
    note(desk, "plan", "One.\n")
    path = desk.folder / "notes" / "plan.md"
    desk.clock.at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert texts(desk) == {"One."}
    status = path.stat()
    path.write_text("Two.\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert texts(desk) == {"Two."}


def test_a_note_that_was_touched_is_not_read_into_it_again(desk: Desk) -> None:
    note(desk, "plan", "One.\n")
    desk.clock.at = datetime(2099, 1, 1, tzinfo=UTC)
    updated(desk)
    os.utime(desk.folder / "notes" / "plan.md", ns=(1, 1))
    assert updated(desk) == Updated(is_complete=True, n_put=0)
    assert texts(desk) == {"One."}


def test_a_note_that_can_not_be_read_any_more_is_not_found(desk: Desk) -> None:
    note(desk, "plan", "One.\n")
    updated(desk)
    (desk.folder / "notes" / "plan.md").write_bytes(b"x" * (2 << 20))
    assert texts(desk) == set()


# --- sessions that aren't what they were ---------------------------------------------------------


def session_file(desk: Desk) -> Path:
    return desk.folder / "sessions" / f"{desk.session_id}.jsonl"


def test_a_session_that_was_cut_is_taken_out(desk: Desk) -> None:
    desk.remember(EUR)
    desk.ask("one", saying("first"))
    desk.ask("two", saying("second"))
    desk.memory.session.end("new")
    (path,) = (desk.folder / "sessions").glob("*.jsonl")
    assert len(held(desk)) == 5
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]))
    assert texts(desk.beside()) == {EUR}


def test_a_session_that_was_swapped_for_another_is_read_anew(desk: Desk) -> None:
    desk.ask("one", saying("first"))
    path = session_file(desk)
    kept = path.read_bytes()
    desk.ask("two", saying("second"))
    assert texts(desk) == {"one", "first", "two", "second"}
    desk.memory.session.abandon()
    (desk.folder / "elsewhere").write_bytes(kept)
    (desk.folder / "elsewhere").replace(path)
    assert texts(desk.beside()) == {"one", "first"}


def test_a_session_that_went_on_otherwise_is_read_anew(desk: Desk) -> None:
    desk.ask("one", saying("first"))
    path, session_id = session_file(desk), desk.session_id
    kept = path.read_bytes()
    desk.ask("two", saying("second"))
    updated(desk)
    desk.memory.session.abandon()
    path.write_bytes(kept)
    other = desk.beside()
    other.memory.session.resume(session_id)
    other.ask("three", saying("third"))
    assert texts(other) == {"one", "first", "three", "third"}
    other.close()


def test_what_another_kernel_says_when_it_goes_on_in_a_session_is_taken_in(desk: Desk) -> None:
    desk.ask("one", saying("first"))
    updated(desk)
    session_id = desk.session_id
    desk.memory.session.end("close")
    other = desk.beside()
    other.memory.session.resume(session_id)
    other.ask("two", saying("second"))
    assert texts(desk) == {"one", "first", "two", "second"}
    assert passages(desk)[f"{session_id}:{len(other.records(session_id)) - 2}"].context == "first"
    other.close()


def test_a_session_that_has_gone_is_not_found(desk: Desk) -> None:
    desk.ask("one", saying("first"))
    updated(desk)
    path = session_file(desk)
    desk.memory.session.end("close")
    path.unlink()
    assert texts(desk) == set()


def test_a_record_that_is_damaged_is_not_found_and_the_others_are(desk: Desk) -> None:
    desk.ask("one quokka", saying("first"))
    desk.ask("two", saying("second"))
    path = session_file(desk)
    path.write_bytes(path.read_bytes().replace(b"one quokka", b"one zzzzzz"))
    assert texts(desk) == {"first", "two", "second"}


# --- forgetting ----------------------------------------------------------------------------------


QUOKKA = "Quokkas are counted in dozens."


def told(desk: Desk) -> str:
    """A fact that was said in the middle of a conversation and is in the index; gives its id."""
    desk.ask("one", saying("first"))
    fact_id = desk.learn(QUOKKA)
    desk.ask("How many quokkas?", saying("Three dozens of quokkas."))
    assert QUOKKA in texts(desk)
    return fact_id


def test_a_forget_takes_out_the_fact_what_was_said_of_it_and_every_byte(desk: Desk) -> None:
    fact_id = told(desk)
    receipt = receipts.forget(desk.memory, fact_id)
    (looked,) = [looked for looked in receipt.looked if looked.store == "search index"]
    assert looked.outcome == "clean"
    assert {one.text for one in passages(desk).values()} == {"one", "first", "How many quokkas?"}
    data = index_bytes(desk.folder)  # while it is open: closing it cuts off the log
    assert b"counted" not in data
    assert b"dozen" not in data
    assert QUOKKA.encode() not in data


def test_a_receipt_says_what_in_the_index_still_holds_the_text(desk: Desk) -> None:
    fact_id = told(desk)
    note(desk, "plan", f"Remember: {QUOKKA}\n")
    updated(desk)
    preview = receipts.preview(desk.memory, fact_id)
    receipt = receipts.forget(desk.memory, fact_id)
    for found in (preview, receipt):
        assert "the search index, of notes/plan.md:1" in found.still_held


def test_a_receipt_says_when_the_index_could_not_be_looked_into(desk: Desk) -> None:
    fact_id = told(desk)
    other = desk.beside()
    index = index_of(other)
    receipt = index.write(lambda connection: receipts.forget(desk.memory, fact_id))
    assert receipt.first
    (looked,) = [looked for looked in receipt.looked if looked.store == "search index"]
    assert looked.outcome == "couldn't be read"
    other.close()


def test_an_index_of_which_nothing_can_be_taken_out_is_emptied_by_a_forget(desk: Desk) -> None:
    fact_id = told(desk)
    index_of(desk).close()
    path = desk.folder / NAME
    path.write_bytes(path.read_bytes()[:-5000])
    receipt = receipts.forget(desk.memory, fact_id)
    assert [one.outcome for one in receipt.looked if one.store == "search index"] == ["clean"]
    desk.close()
    assert b"dozen" not in index_bytes(desk.folder)


def test_what_another_kernel_forgot_is_gone_before_the_next_query(desk: Desk) -> None:
    fact_id = told(desk)
    other = desk.beside()
    forgetting.forget(other.stores, fact_id)  # as far as the commit, and no further
    assert proposed(desk, "quokkas counted in dozens") == [f"{desk.session_id}:10"]
    assert QUOKKA not in {passage.text for passage in passages(desk).values()}
    other.close()


def test_a_forget_while_a_step_is_under_way_is_not_taken_back(desk: Desk) -> None:
    fact_id = told(desk)
    index_of(desk).empty()
    other = desk.beside()

    def forget(done: int, total: int) -> None:
        if done == 0:
            receipts.forget(other.memory, fact_id)

    indexing.update(desk.memory, index_of(desk), progress=forget)
    assert {one.text for one in passages(desk).values()} <= {"one", "first", "How many quokkas?"}
    assert texts(desk) == {"one", "first", "How many quokkas?"}
    other.close()


def test_a_step_that_was_made_before_a_forget_is_refused_after_it(desk: Desk) -> None:
    fact_id = told(desk)
    index, stamp = index_of(desk), desk.stores.sessions.stamp(desk.session_id)
    index.empty()
    indexing.clean(desk.memory, index)
    nothing = SessionPosition()
    session = session_steps(desk.memory, index, desk.session_id, stamp, nothing, 0)
    steps = [*fact_steps(desk.memory, index), *session]
    other = desk.beside()
    receipts.forget(other.memory, fact_id)
    applied = index.write(lambda connection: [step.apply(connection) for step in steps])
    assert not any(applied)
    assert QUOKKA not in {passage.text for passage in passages(desk).values()}
    other.close()


def test_a_fact_that_was_forgotten_meanwhile_is_not_put_in(desk: Desk) -> None:
    fact_id = desk.remember(QUOKKA).fact_id
    updated(desk)
    index, other = index_of(desk), desk.beside()
    index.empty()
    indexing.clean(desk.memory, index)
    steps = list(fact_steps(desk.memory, index))
    forgetting.forget(other.stores, fact_id)
    indexing.clean(other.memory, index_of(other))  # it is killed before it looks at the facts
    assert not any(index.write(lambda connection: [step.apply(connection) for step in steps]))
    assert passages(desk) == {}
    other.close()


def test_a_step_that_another_kernel_has_taken_is_refused(desk: Desk) -> None:
    told(desk)
    index, stamp = index_of(desk), desk.stores.sessions.stamp(desk.session_id)
    index.empty()
    indexing.clean(desk.memory, index)
    nothing = SessionPosition()
    steps = list(session_steps(desk.memory, index, desk.session_id, stamp, nothing, 0))
    other = desk.beside()
    desk.memory.session.undo()
    updated(other)
    before = passages(desk)
    applied = index.write(lambda connection: [step.apply(connection) for step in steps])
    assert not any(applied)
    assert passages(desk) == before
    other.close()


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from memnb.memory import forgetting
    from memories import Desk

    desk = Desk(Path(sys.argv[1]))
    forgetting.forget(desk.stores, sys.argv[2])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kernel_that_is_killed_right_after_a_forget_leaves_nothing_to_be_found(
    desk: Desk, children: Children
) -> None:
    fact_id = told(desk)
    session_id = desk.session_id
    desk.close()
    child = children.start(KILLED, desk.folder, fact_id)
    assert child.wait(timeout=60) == -9
    assert b"dozen" in index_bytes(desk.folder)  # nobody cleaned up
    after = Desk(desk.folder)
    assert proposed(after, "quokkas counted in dozens") == [f"{session_id}:10"]
    assert indexing.clean(after.memory, index_of(after))
    after.close()
    assert b"dozen" not in index_bytes(desk.folder)
    assert b"counted" not in index_bytes(desk.folder)


def test_an_index_that_was_put_back_from_before_a_forget_is_cleaned_first(desk: Desk) -> None:
    fact_id = told(desk)
    session_id = desk.session_id
    desk.close()
    shutil.copytree(desk.folder, desk.folder.with_name("backup"))
    again = Desk(desk.folder)
    receipts.forget(again.memory, fact_id)
    again.close()
    for file in desk.folder.with_name("backup").glob(f"{NAME}*"):
        shutil.copy(file, desk.folder / file.name)
    after = Desk(desk.folder)
    assert proposed(after, "quokkas counted in dozens") == [f"{session_id}:10"]
    after.close()


def test_an_index_that_is_newer_than_the_store_is_made_anew(desk: Desk) -> None:
    told(desk)
    planted = Passage("fact", "F-aaaaaa", 1, "of another store", "2026-11-30T09:00:00.000000Z")

    def change(connection: Connection) -> None:
        passage_table.put(connection, [planted])
        index_positions.set_state(connection, "generation", 9)

    index_of(desk).write(change)
    assert QUOKKA in texts(desk)
    assert planted.text not in texts(desk)
    assert index_of(desk).read(lambda c: index_positions.state(c, "generation")) == 0


def test_what_was_carried_into_another_session_goes_with_it(desk: Desk) -> None:
    fact_id = desk.remember(QUOKKA).fact_id
    desk.memory.session.end("new")
    desk.ask("How many?", saying("They come in twelves."))
    assert "They come in twelves." in texts(desk)
    receipts.forget(desk.memory, fact_id)
    assert {one.text for one in passages(desk).values()} == {"How many?"}


def test_what_was_recalled_into_a_third_session_goes_with_it(desk: Desk) -> None:
    """The third had neither the fact nor its message in sight, only what was made of them."""
    fact_id = desk.remember("Zero point three five is what Ada wants.").fact_id
    recalled = {"auto_recall": True, "limits": Limits(max_bytes=1024, facts_max_bytes=0)}
    desk.ask("Which alarm?", saying("Ada keeps the churn alarm threshold low."))
    for asked, answer in (
        ("Who keeps the churn alarm threshold low?", "Ada does."),
        ("Ada keeps the churn alarm threshold, does she?", "It is Ada's."),
    ):
        desk.memory.session.end("new")
        updated(desk)
        assert desk.ask(asked, saying(answer), **recalled).carried
    updated(desk)
    receipts.forget(desk.memory, fact_id)
    assert not {"Ada does.", "It is Ada's."} & {one.text for one in passages(desk).values()}


# --- kernels beside each other, and an index that is broken --------------------------------------


def test_kernels_that_update_it_at_once_put_everything_in_once(desk: Desk) -> None:
    for number in range(6):
        desk.ask(f"question {number}", saying(f"answer {number}"))
    other = desk.beside()
    indexing.update(
        desk.memory, index_of(desk), progress=lambda done, total: updated(other) and None
    )
    assert len(held(desk)) == 12
    other.close()


def test_it_is_complete_also_when_another_kernel_was_faster(desk: Desk) -> None:
    for number in range(2):
        desk.ask(f"question {number}", saying(f"answer {number}"))
        desk.memory.session.end("new")
    other = desk.beside()
    assert updated(desk, progress=lambda done, total: updated(other) and None).is_complete
    other.close()


def test_a_broken_index_is_filled_anew_in_the_same_call(desk: Desk) -> None:
    desk.ask("one", saying("first"))
    before = held(desk)
    index_of(desk).close()
    (desk.folder / NAME).write_bytes(b"garbage" * 1000)
    assert held(desk) == before
    assert index_of(desk).notices == ["the search index was broken; it is being built anew."]


def test_a_rebuild_says_how_far_it_is_and_gives_the_same(desk: Desk) -> None:
    told(desk)
    desk.memory.session.end("new")
    desk.ask("more", saying("of it"))
    before, heard = held(desk), []
    indexing.rebuild(
        desk.memory, index_of(desk), progress=lambda done, total: heard.append((done, total))
    )
    assert held(desk) == before
    assert heard == [(0, 2), (1, 2), (2, 2)]


def test_an_update_whose_time_is_over_goes_on_with_the_next(desk: Desk) -> None:
    for number in range(4):
        desk.ask(f"question {number}", saying(f"answer {number}"))
        desk.memory.session.end("new")
    n_updates = 0
    while not updated(desk, budget_seconds=0.0).is_complete:
        n_updates += 1
        assert n_updates < 20
    assert n_updates > 1
    assert len(held(desk)) == 8


def test_following_a_change_never_fails(desk: Desk) -> None:
    desk.ask("one", saying("first"))
    updated(desk)
    other = desk.beside()
    index_of(other).write(lambda connection: indexing.follow(desk.memory))
    index_of(desk).close()
    (desk.folder / NAME).write_bytes(b"garbage" * 1000)
    indexing.follow(desk.memory)
    other.close()


def test_a_store_that_can_not_be_read_is_no_index(desk: Desk) -> None:
    desk.remember(EUR)
    updated(desk)
    desk.close()
    (desk.folder / "facts.sqlite3").write_bytes(b"garbage" * 1000)
    after = Desk(desk.folder)
    with pytest.raises(IndexUnusable):
        updated(after)
    with pytest.raises(IndexUnusable):
        proposed(after, "revenue")
    after.close()


# --- whatever is done ----------------------------------------------------------------------------


class Doings:
    """What a person does in two kernels; each does one thing and may fail to."""

    def __init__(self, folder: Path) -> None:
        first = Desk(folder)
        self.desks = (first, first.beside())
        self.n = 0
        self.facts: list[str] = []

    def text(self) -> str:
        self.n += 1
        return f"Rule number {self.n} of the house holds."

    def remember(self, desk: Desk) -> None:
        self.facts.append(desk.remember(self.text()).fact_id)

    def learn(self, desk: Desk) -> None:
        self.facts.append(desk.learn(self.text()))

    def ask(self, desk: Desk) -> None:
        desk.ask(self.text(), saying(self.text()))

    def forget(self, desk: Desk) -> None:
        if self.facts:
            receipts.forget(desk.memory, self.facts.pop(0))

    def forget_and_die(self, desk: Desk) -> None:
        if self.facts:
            forgetting.forget(desk.stores, self.facts.pop())

    def correct(self, desk: Desk) -> None:
        if self.facts:
            fact = desk.stores.facts.fact(self.facts[0])
            assert fact is not None
            desk.correct(self.facts[0], self.text(), fact.newest)

    def undo(self, desk: Desk) -> None:
        desk.memory.session.undo()

    def redo(self, desk: Desk) -> None:
        desk.memory.session.redo()

    def clear(self, desk: Desk) -> None:
        desk.memory.session.clear()

    def end(self, desk: Desk) -> None:
        desk.memory.session.end("new")

    def write(self, desk: Desk) -> None:
        note(desk, "plan", self.text() + "\n\n")

    def purge(self, desk: Desk) -> None:
        token = purging.preview(desk.memory).token
        if token is not None:
            purging.purge(desk.memory, token)

    def compact(self, desk: Desk) -> None:
        text = self.text()
        by = Writer("w", lambda request: Reply(text, "end"))
        compacting.compact_session(desk.memory, fence="data-0badcafe", window=9_000, writer=by)

    def update(self, desk: Desk) -> None:
        updated(desk)

    def update_a_bit(self, desk: Desk) -> None:
        updated(desk, budget_seconds=0.0)

    def follow(self, desk: Desk) -> None:
        indexing.follow(desk.memory)


DOINGS = [name for name in vars(Doings) if name not in ("text",) and not name.startswith("_")]


@given(st.lists(st.tuples(st.sampled_from(DOINGS), st.integers(0, 1)), min_size=3, max_size=25))
@settings(max_examples=40)
def test_whatever_is_done_it_holds_what_one_made_anew_would(
    tmp_path_factory: pytest.TempPathFactory, done: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("project") / "p"
    doings = Doings(folder)
    for name, number in done:
        with contextlib.suppress(MemnbError):
            getattr(doings, name)(doings.desks[number])
    desk = doings.desks[0]
    if updated(desk).is_complete and index_of(desk).exists:
        kept, counted = passages(desk), word_counts(desk)
        indexing.rebuild(desk.memory, index_of(desk))
        assert kept == passages(desk)
        assert counted == word_counts(desk)
    for one in doings.desks:
        one.close()
    shutil.rmtree(folder.parent)


def word_counts(desk: Desk) -> dict[str, int]:
    def read(connection: Any) -> dict[str, int]:
        return dict(connection.execute("SELECT word, n FROM word_counts").fetchall())

    return index_of(desk).read(read)
