"""The receipt of a forget: what was removed, what that did, and the same without doing it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memnb
from forgetting.conftest import Opener, notebook
from memnb.api.forget_results import ForgetReceipt
from memnb.core.bodies import Cell
from memnb.errors import Refused, StoreReadOnly, UnknownId
from memnb.memory import receipts
from memnb.memory.consequences import VoidTurns
from memnb.memory.residue import Looked
from memnb.speaking import in_tool_call
from memories import EUR, SPLIT, Children, Desk, saying, scripted

# --- what was removed ----------------------------------------------------------------------------


def test_revisions_and_sources_are_counted(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    desk.correct(fact_id, SPLIT)
    receipt = receipts.forget(desk.memory, fact_id)
    assert (receipt.first, receipt.n_revisions, receipt.n_sources) == (True, 2, 2)
    assert (receipt.generation, receipt.pending) == (1, False)
    assert len(receipt.barred) == 2


def test_other_facts_of_the_same_source_are_kept_and_named_as_silent(desk: Desk) -> None:
    model = scripted(
        ("memory_remember", {"text": EUR}), ("memory_remember", {"text": SPLIT}), "Noted."
    )
    first, second = (
        reference.partition("@")[0]
        for reference in desk.ask(f"{EUR} {SPLIT}", model, mode="auto").remembered
    )
    receipt = receipts.forget(desk.memory, first)
    assert receipt.consequences.silenced == (second,)
    assert desk.status(second) == "hidden"
    assert desk.section() == ""


def test_a_fact_that_was_silent_before_does_not_fall_silent(desk: Desk) -> None:
    model = scripted(
        ("memory_remember", {"text": EUR}), ("memory_remember", {"text": SPLIT}), "Noted."
    )
    first, second = (
        reference.partition("@")[0]
        for reference in desk.ask(f"{EUR} {SPLIT}", model, mode="auto").remembered
    )
    receipts.forget(desk.memory, first)
    receipt = receipts.forget(desk.memory, second)
    assert receipt.consequences.silenced == ()


def test_a_fact_whose_wording_now_rests_on_something_else_stays(desk: Desk) -> None:
    model = scripted(
        ("memory_remember", {"text": EUR}), ("memory_remember", {"text": SPLIT}), "Noted."
    )
    first, second = (
        reference.partition("@")[0]
        for reference in desk.ask(f"{EUR} {SPLIT}", model, mode="auto").remembered
    )
    desk.correct(second, "The split ends in May.")
    receipt = receipts.forget(desk.memory, first)
    assert receipt.consequences.silenced == ()
    assert desk.status(second) == "valid"


def test_facts_that_were_derived_from_it_are_named_as_held(desk: Desk) -> None:
    base = desk.remember(EUR).fact_id
    derived = desk.remember(SPLIT, derived_from=(base,)).fact_id
    assert receipts.preview(desk.memory, base).flagged == (derived,)
    assert receipts.forget(desk.memory, base).flagged == (derived,)
    assert receipts.forget(desk.memory, base).flagged == (derived,)


def test_turns_that_were_shown_it_are_named_by_their_numbers_in_each_session(desk: Desk) -> None:
    desk.ask("nothing yet", saying("ok"))
    fact_id = desk.learn(EUR)
    desk.ask("which unit?", saying("cents of euros"))
    desk.memory.session.end("new")
    desk.ask("hello", saying("hi"))
    other = desk.beside()
    other.ask("in another kernel", saying("ok"))
    receipt = receipts.forget(desk.memory, fact_id)
    first, second = sorted(desk.stores.sessions.ids())[:2]
    void = {one.session_id: one for one in receipt.consequences.void}
    assert sorted(one.turns for one in void.values()) == [(1,), (1,), (2, 3)]
    assert void[desk.session_id].is_live
    assert not void[other.session_id].is_live
    assert {first, second} <= void.keys()
    desk.ask("and now?", saying("ok"))
    again = receipts.forget(desk.memory, fact_id)
    assert again.consequences.void == receipt.consequences.void
    other.close()


def test_a_turn_that_was_not_shown_it_is_not_void(desk: Desk) -> None:
    desk.ask("before", saying("ok"))
    desk.memory.session.end("new")
    fact_id = desk.remember(EUR).fact_id
    desk.ask("without memory", saying("ok"), with_memory=False)
    receipt = receipts.forget(desk.memory, fact_id)
    assert receipt.consequences.void == ()
    assert receipt.consequences.n_void == 0


def test_a_message_that_came_while_the_sessions_were_read_is_barred_too(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    other = desk.beside()

    class Late:
        """Another kernel records the words right before the transaction begins."""

        def __getattr__(self, name: str) -> Any:
            if name == "transaction":
                other.ask(f"quickly: {EUR}", saying("ok"))
            return getattr(desk.stores.facts, name)

    stores = replace(desk.stores, facts=Late())  # type: ignore[arg-type]
    memory = replace(desk.memory, stores=stores)
    receipt = receipts.forget(memory, fact_id)
    assert (other.session_id, 2) in receipt.barred
    other.close()


# --- doing it again ------------------------------------------------------------------------------


def test_a_forget_that_is_repeated_gives_the_receipt_of_what_is_there_now(
    memory: memnb.Memory, folder: Path
) -> None:
    notebook(folder / "eda.ipynb", EUR)
    memory.notes.append("MEMORY", f"- {EUR}")
    memory.ask(f"Remember: {EUR}", model=saying("ok"), cell=Cell("eda.ipynb", "1", 1))
    fact_id = memory.remember(EUR).fact_id
    first = memory.forget(fact_id)
    again = memory.forget(fact_id)
    assert (first.first, again.first) == (True, False)
    assert again.still_held == first.still_held == ("MEMORY.md line 1", "eda.ipynb cell 1")
    assert again.excluded == first.excluded
    assert again.void == first.void
    assert again.generation == first.generation
    notebook(folder / "eda.ipynb", "cleared")
    assert memory.forget(fact_id).still_held == ("MEMORY.md line 1",)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Größen in mm!", id="accents"),
        pytest.param("我们总是用欧元分报告收入", id="no blanks"),
        pytest.param("don't use `pandas` (ever) - it's slow", id="marks between"),
        pytest.param("x", id="one letter"),
        pytest.param("a " * 200 + "b", id="as long as one can be"),
    ],
)
def test_the_words_are_known_again_in_the_records_that_were_barred(
    memory: memnb.Memory, text: str
) -> None:
    memory.notes.append("plan", f"first\n- {text}")
    fact_id = memory.remember(text, kind="decision").fact_id
    assert memory.forget(fact_id).still_held == ("notes/plan.md line 2",)
    assert memory.forget(fact_id).still_held == ("notes/plan.md line 2",)


def test_without_any_trace_of_the_words_the_receipt_says_so(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.forget(fact_id)
    token = memory.purge().token
    memory.purge(confirm=token)
    receipt = memory.forget(fact_id)
    assert receipt.looked[0].why_not == "the words are gone, and nothing is left to know them by"
    assert receipt.still_held == ()


def test_forgetting_what_never_was_is_an_error_also_as_a_preview(memory: memnb.Memory) -> None:
    for dry_run in (False, True):
        with pytest.raises(UnknownId):
            memory.forget("F-000000", dry_run=dry_run)
        with pytest.raises(UnknownId):
            memory.forget("nonsense", dry_run=dry_run)


# --- without doing it ----------------------------------------------------------------------------


def everything(*folders: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for f in folders for p in sorted(f.rglob("*")) if p.is_file()}


def test_a_dry_run_says_the_same_as_the_forget_and_changes_no_byte(
    memory: memnb.Memory, reopen: Opener, folder: Path, own_home: Path
) -> None:
    notebook(folder / "eda.ipynb", EUR)
    memory.notes.append("MEMORY", f"- {EUR}")
    model = scripted(
        ("memory_remember", {"text": EUR}), ("memory_remember", {"text": SPLIT}), "Noted."
    )
    reply = memory.ask(f"{EUR} {SPLIT}", model=model, mode="auto", cell=Cell("eda.ipynb", "1", 1))
    fact_id = reply.answer.remembered[0].partition("@")[0]
    memory.ask("which unit?", model=saying("euro cents"))
    memory.close()
    before = everything(folder, own_home)
    reader = reopen()
    would = reader.forget(fact_id, dry_run=True)
    reader.close()
    assert everything(folder, own_home) == before
    did = reopen().forget(fact_id)
    database = "the database's free pages and log"
    assert would.looked == tuple(one for one in did.looked if one.store != database)
    same = replace(did, dry_run=True, forgotten_at="", looked=would.looked, void=would.void)
    assert would == same
    # Another kernel: what was this session is one by its id.
    assert [one.turns for one in would.void] == [one.turns for one in did.void] == [(1, 2)]


def test_a_dry_run_reads_in_the_conditional(memory: memnb.Memory) -> None:
    base = memory.remember(EUR).fact_id
    derived = memory.remember(SPLIT, derived_from=(base,)).fact_id
    memory.ask("which unit?", model=saying("euro cents"))
    text = str(memory.forget(base, dry_run=True))
    assert f"would forget {base}: 1 revision" in text
    assert "nothing was changed" in text
    assert f"would be held, since derived from it: {derived}" in text
    assert "would be void, since the model was shown it: turn 1 of this session" in text
    assert [row.fact_id for row in memory.facts().rows] == [derived, base]


def test_a_dry_run_of_what_is_forgotten_says_that_it_is(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.forget(fact_id)
    receipt = memory.forget(fact_id, dry_run=True)
    assert not receipt.first
    assert str(receipt).startswith(f"{fact_id} was forgotten on ")


def test_a_dry_run_is_a_look_that_needs_no_right_to_write(
    memory: memnb.Memory, reopen: Opener
) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.close()
    reader = reopen(read_only=True)
    assert reader.forget(fact_id, dry_run=True).n_revisions == 1
    with pytest.raises(StoreReadOnly):
        reader.forget(fact_id)
    reader.off()
    assert reader.forget(fact_id, dry_run=True).n_revisions == 1


def test_only_a_person_may_forget(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    with in_tool_call(), pytest.raises(Refused):
        memory.forget(fact_id)
    assert memory.facts().rows


# --- who keeps the bytes -------------------------------------------------------------------------


def test_a_reader_in_another_process_makes_it_pending_and_is_named(
    memory: memnb.Memory, children: Children, folder: Path
) -> None:
    fact_id = memory.remember(EUR).fact_id
    child = children.start(
        """
        import sys, memnb
        reader = memnb.open(sys.argv[1])
        with reader.runtime.memory.stores.facts.snapshot():
            reader.facts()
            print("reading", flush=True)
            sys.stdin.readline()
        reader.close()
        """,
        folder,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "reading\n"
    receipt = memory.forget(fact_id)
    assert receipt.pending
    assert "databases: pending: another kernel reads" in str(receipt)
    assert f"the database's log, as long as process {child.pid} reads it" in str(receipt)
    child.stdin.write("\n")
    child.stdin.flush()
    child.wait(60)
    again = memory.forget(fact_id)
    assert not again.pending
    assert "databases: scrubbed" in str(again)
    memory.close()
    files = memory.project.folder.glob("facts.sqlite3*")
    assert EUR.encode() not in b"".join(path.read_bytes() for path in files)


# --- how it reads --------------------------------------------------------------------------------

BARE = ForgetReceipt("F-7k2m9q", first=True, generation=5, n_revisions=1, n_excluded=1)
RECEIPTS: list[Any] = [
    pytest.param(
        replace(
            BARE,
            looked=(
                Looked("facts"),
                Looked("sessions", n_barred=2),
                Looked("notes", ("MEMORY.md line 12",)),
                Looked("daily notes", unread=("daily/2026-11-30.md (a link)",)),
                Looked("exports", why_not="memnb doesn't know them"),
            ),
        ),
        "forgot F-7k2m9q: 1 revision, 1 message excluded, generation 5 · databases: scrubbed\n"
        "still in: MEMORY.md line 12\n"
        "kept in: 2 records of the session files, never sent, cited or shown again;"
        " `%memory purge` blanks them\n"
        "couldn't be read: daily/2026-11-30.md (a link)\n"
        "looked at and clean: facts\n"
        "not looked at: exports (memnb doesn't know them)",
        id="first",
    ),
    pytest.param(
        replace(
            BARE,
            n_revisions=2,
            n_excluded=3,
            pending=True,
            silenced=("F-1b8hyr",),
            flagged=("F-000000",),
            void=(
                VoidTurns("S-20261130-091005-7k2m9q", (1, 2, 3, 7), is_live=True),
                VoidTurns("S-20261129-091005-000000", (4,)),
            ),
        ),
        "forgot F-7k2m9q: 2 revisions, 3 messages excluded, generation 5"
        " · databases: pending: another kernel reads\n"
        "fell silent, since they share its source: F-1b8hyr\n"
        "held, since derived from it: F-000000\n"
        "void, since the model was shown it: turns 1 to 3, 7 of this session,"
        " turn 4 of S-20261129-091005-000000",
        id="pending",
    ),
    pytest.param(
        replace(BARE, first=False, forgotten_at="2026-11-30T09:10:05.000000Z"),
        "F-7k2m9q was forgotten on 2026-11-30: 1 message excluded · databases: scrubbed",
        id="again",
    ),
    pytest.param(
        replace(BARE, dry_run=True, silenced=("F-1b8hyr",)),
        "would forget F-7k2m9q: 1 revision, 1 message excluded, generation 5"
        " · nothing was changed\n"
        "would fall silent, since they share its source: F-1b8hyr",
        id="dry run",
    ),
    pytest.param(
        replace(BARE, looked=(Looked("facts", tuple(f"F-{n:06}" for n in range(30))),)),
        "forgot F-7k2m9q: 1 revision, 1 message excluded, generation 5 · databases: scrubbed\n"
        f"still in: {', '.join(f'F-{n:06}' for n in range(20))} and 10 more",
        id="many places",
    ),
]


@pytest.mark.parametrize(("receipt", "text"), RECEIPTS)
def test_a_receipt_reads_like_this(receipt: ForgetReceipt, text: str) -> None:
    assert str(receipt) == text


def test_a_receipt_as_data_has_the_outcome_in_each_store(memory: memnb.Memory) -> None:
    memory.notes.append("MEMORY", EUR)
    receipt = memory.forget(memory.remember(EUR).fact_id)
    data = json.loads(json.dumps(receipt.to_dict()))
    outcomes = {one["store"]: one["outcome"] for one in data["looked"]}
    assert (outcomes["facts"], outcomes["notes"]) == ("clean", "holds it")
    assert EUR not in json.dumps(data)
    assert EUR not in str(receipt) + receipt._repr_html_()


# --- the agent's forget --------------------------------------------------------------------------

AGENT: list[Any] = [
    pytest.param(lambda m: None, "forgot {}", id="nothing holds it"),
    pytest.param(
        lambda m: m.notes.append("MEMORY", f"x\n{EUR}"),
        "forgot {}; still in: MEMORY.md line 2",
        id="a note",
    ),
    pytest.param(
        lambda m: m.notes.append("plan", f"{EUR}\n" * 7),
        "forgot {}; still in: notes/plan.md line 1, notes/plan.md line 2, notes/plan.md line 3,"
        " notes/plan.md line 4, notes/plan.md line 5 and 2 more places",
        id="many",
    ),
]


@pytest.mark.parametrize(("put", "text"), AGENT)
def test_the_agent_is_told_what_still_holds_the_text(
    memory: memnb.Memory, put: Callable[[memnb.Memory], object], text: str
) -> None:
    put(memory)
    fact_id = memory.remember(EUR).fact_id
    model = scripted(("memory_forget", {"fact_id": fact_id}), "Done.")
    memory.ask("forget the unit", model=model, approve=lambda change: True)
    (result,) = (m.text for m in model.requests[1].messages if m.role == "tool")
    assert result == text.format(fact_id)
