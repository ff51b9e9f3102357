from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memnb.core.bodies import Cell, Part, UserBody
from memnb.core.candidates import Candidate, Extraction
from memnb.core.canonical_rules import canonical
from memnb.core.facts import Source
from memnb.core.summary_bodies import HandoffBody
from memnb.memory import inbox, remembering, repeating, stating
from memnb.memory.inbox import Circumstances
from memnb.memory.promoting import CONFIDENCE, promotions
from memnb.memory.remembering import Claim, Kept
from memnb.memory.stating import Said
from memories import SECRET, TESTS, BareModel, Children, Clock, Desk, scripted

PNPM = "Use pnpm as the package manager."
SAYING = ("I prefer pnpm.", "Please use pnpm by default. What is new?", "أفضل pnpm")
"""Three messages that say the same."""


def promoted(desk: Desk, turn: int | None) -> Extraction:
    assert turn is not None
    memory = desk.memory
    return promotions(memory.stores, memory.validator, memory.histories, desk.session_id, turn)


def say(desk: Desk, text: str, cell: Cell | None = None, **options: object) -> Extraction:
    """One turn of this session, and what it promotes."""
    cell = cell or Cell("eda.ipynb", f"cell-{os.urandom(4).hex()}", 1)
    answer = desk.ask(text, scripted("Noted."), cell=cell, **options)
    return promoted(desk, answer.message_seq)


def session(desk: Desk, *texts: str) -> None:
    """A session in which a person says this."""
    for text in texts:
        say(desk, text)
    desk.memory.session.end("new")


def keep(desk: Desk, candidate: Candidate) -> Kept:
    """What an inbox does with a candidate that it applies."""
    claim = Claim(
        candidate.text,
        candidate.basis,
        candidate.sources,
        candidate.origin,
        rule=candidate.rule,
        confidence=candidate.confidence,
    )
    return remembering.remember(desk.stores, desk.memory.validator, claim, kind=candidate.kind)


def promote(desk: Desk, *texts: str) -> Kept:
    """Says each in a session of its own, and keeps what the last one promotes."""
    session(desk, texts[0])
    session(desk, texts[1])
    (candidate,) = say(desk, texts[2]).candidates
    desk.memory.session.end("new")
    return keep(desk, candidate)


# --- three sessions ------------------------------------------------------------------------------


def test_what_was_said_in_three_sessions_is_promoted_once_with_a_source_for_each(
    desk: Desk,
) -> None:
    ids = []
    for text in SAYING[:2]:
        assert say(desk, text) == Extraction(desk.session_id, ())
        ids.append(desk.session_id)
        desk.memory.session.end("new")
    found = say(desk, SAYING[2])
    (candidate,) = found.candidates
    assert (found.session_id, found.seqs, found.model) == (desk.session_id, (), "")
    assert (candidate.text, candidate.kind, candidate.basis) == (PNPM, "preference", "canonical")
    assert (candidate.origin, candidate.rule) == ("promoted", "package-manager@1")
    assert (candidate.confidence, candidate.is_proposal) == (CONFIDENCE, False)
    assert [source.ref.session_id for source in candidate.sources] == [*ids, desk.session_id]
    quotes = [quoted(desk, source) for source in candidate.sources]
    assert quotes == ["I prefer pnpm.", "Please use pnpm by default.", "أفضل pnpm"]
    kept = keep(desk, candidate)
    assert desk.status(kept.fact_id) == "valid"
    assert PNPM in desk.section()


def quoted(desk: Desk, source: Source) -> str:
    assert source.quote is not None
    (body,) = (
        record.body or {}
        for record in desk.records(source.ref.session_id)
        if record.head.seq == source.quote.seq
    )
    parts: list[dict[str, str]] = body["parts"]  # type: ignore[assignment]
    return parts[source.quote.part]["text"][source.quote.start : source.quote.end]


def test_a_fourth_session_adds_nothing_in_these_or_other_words(desk: Desk) -> None:
    kept = promote(desk, *SAYING)
    for text in ("Always use pnpm.", "I prefer pnpm."):
        found = say(desk, text)
        assert (found.candidates, found.reasons) == ((), {"duplicate": 1})
        desk.memory.session.end("new")
    (fact,) = desk.stores.facts.facts([kept.fact_id], history=True)
    assert (desk.stores.facts.count(), len(fact.revisions)) == (1, 1)
    assert len(fact.current.sources) == 3


def test_what_was_stated_in_other_words_is_known(desk: Desk) -> None:
    desk.remember("We always use pnpm.", kind="convention")
    session(desk, SAYING[0])
    session(desk, SAYING[1])
    assert say(desk, SAYING[2]).reasons == {"duplicate": 1}


def test_saying_it_three_times_in_one_or_two_sessions_is_not_enough(desk: Desk) -> None:
    session(desk, *SAYING, "We always use pnpm.")
    assert say(desk, "I prefer pnpm!").candidates == ()
    assert say(desk, "Default to pnpm.").candidates == ()


def test_who_said_the_contrary_since_has_to_say_it_three_times_again(desk: Desk) -> None:
    session(desk, "I prefer pnpm.")
    session(desk, "Always use pnpm.", "I prefer npm.")
    session(desk, "We prefer pnpm.")
    session(desk, "I prefer uv.")  # of another kind
    assert say_once(desk, "Default to pnpm.").candidates == ()
    assert say_once(desk, "pnpm is our default.").candidates != ()


def test_a_contrary_word_that_was_undone_takes_nothing_back(desk: Desk) -> None:
    session(desk, "I prefer pnpm.")
    session(desk, "Always use pnpm.")
    say(desk, "I prefer npm.")
    desk.memory.session.undo()
    assert say(desk, "Default to pnpm.").candidates != ()


def test_what_was_said_in_this_session_counts_against_what_is_said_now(desk: Desk) -> None:
    session(desk, "I prefer pnpm.")
    session(desk, "Always use pnpm.")
    say(desk, "I prefer npm.")
    assert say(desk, "Default to pnpm.").candidates == ()


def test_a_message_that_contradicts_itself_says_nothing(desk: Desk) -> None:
    session(desk, "I prefer pnpm.")
    session(desk, "Always use pnpm.")
    assert say(desk, "Default to pnpm. Default to npm.").candidates == ()


# --- who counts ----------------------------------------------------------------------------------


def _resumed(desk: Desk) -> None:
    session(desk, SAYING[0])
    desk.memory.session.resume(desk.stores.sessions.ids()[-1])
    session(desk, SAYING[1])


def _via(via: str) -> Callable[[Desk], None]:
    def begin(desk: Desk) -> None:
        session(desk, SAYING[0])
        say(desk, "Hello.")
        say(desk, SAYING[1], via=via)
        desk.memory.session.end("new")

    return begin


def _begun_by(via: str) -> Callable[[Desk], None]:
    def begin(desk: Desk) -> None:
        session(desk, SAYING[0])
        say(desk, "Hello.", via=via)
        session(desk, SAYING[1])

    return begin


def _unattended(desk: Desk) -> None:
    session(desk, SAYING[0])
    say(desk, "Hello.")
    say(desk, SAYING[1], Cell("eda.ipynb", "other", 1, is_attended=False))
    desk.memory.session.end("new")


def _begun_unattended(desk: Desk) -> None:
    session(desk, SAYING[0])
    say(desk, "Hello.", Cell("eda.ipynb", "other", 1, is_attended=False))
    session(desk, SAYING[1])


def _handed_off(desk: Desk) -> None:
    session(desk, SAYING[0])
    desk.memory.session.append(
        HandoffBody(desk.stores.sessions.ids()[0], 2, "0" * 64).draft(),
        UserBody("command", (Part("seed", "a summary"),), asks=False).draft(),
    )
    session(desk, SAYING[1])


def _undone(desk: Desk) -> None:
    session(desk, SAYING[0])
    say(desk, SAYING[1])
    desk.memory.session.undo()
    desk.memory.session.end("new")


def _cleared(desk: Desk) -> None:
    session(desk, SAYING[0])
    say(desk, SAYING[1])
    desk.memory.session.clear()
    desk.memory.session.end("new")


def _sensitive(desk: Desk) -> None:
    session(desk, SAYING[0])
    session(desk, f"{SAYING[1]} The token is {SECRET}.")


def _private(desk: Desk) -> None:
    session(desk, SAYING[0])
    desk.ask(SAYING[1], scripted("Noted."), private=True)
    session(desk, "Hello.")


def _interrupted(desk: Desk) -> None:
    session(desk, SAYING[0])
    desk.ask(SAYING[1], BareModel(KeyboardInterrupt()), cell=Cell("eda.ipynb", "other", 1))
    desk.memory.session.end("new")


def _commanded(desk: Desk) -> None:
    session(desk, SAYING[0])
    stating.record(desk.memory, SAYING[1], Said(SAYING[1]))
    desk.memory.session.end("new")


def _inserted(desk: Desk) -> None:
    session(desk, SAYING[0])
    parts = (Part("typed", "Explain this:\n"), Part("file", "I prefer pnpm."))
    desk.ask(parts, scripted("Noted."), cell=Cell("eda.ipynb", "other", 1))
    desk.memory.session.end("new")


@pytest.mark.parametrize(
    "before",
    [
        _resumed,
        _via("api"),
        _via("mcp"),
        _via("child"),
        _begun_by("api"),
        _begun_by("mcp"),
        _begun_by("child"),
        _unattended,
        _begun_unattended,
        _handed_off,
        _undone,
        _cleared,
        _sensitive,
        _private,
        _interrupted,
        _commanded,
        _inserted,
    ],
    ids=lambda value: value.__qualname__.split(".")[0],
)
def test_only_what_a_person_said_in_two_sessions_that_they_began_counts(
    desk: Desk, before: Callable[[Desk], None]
) -> None:
    before(desk)
    found = say(desk, SAYING[2])
    assert (found.candidates, dict(found.reasons)) == ((), {})
    desk.memory.session.end("new")
    found = say(desk, "We always use pnpm.")  # which is the third that counts
    assert [one.text for one in found.candidates] == [PNPM]


@pytest.mark.parametrize("begun", ["handed off", "by Python", "unattended"])
def test_the_turns_own_session_must_be_a_root_session(desk: Desk, begun: str) -> None:
    session(desk, SAYING[0])
    session(desk, SAYING[1])
    if begun == "handed off":
        desk.memory.session.append(
            HandoffBody(desk.stores.sessions.ids()[0], 2, "0" * 64).draft(),
            UserBody("command", (Part("seed", "a summary"),), asks=False).draft(),
        )
    elif begun == "by Python":
        say(desk, "Hello.", via="api")
    else:
        say(desk, "Hello.", Cell("eda.ipynb", "other", 1, is_attended=False))
    assert say(desk, SAYING[2]).candidates == ()


@pytest.mark.parametrize(
    "cell", [Cell("eda.ipynb", "c", 1, is_attended=False), None], ids=["unattended", "by Python"]
)
def test_the_turn_itself_counts_only_when_a_person_was_there(desk: Desk, cell: Cell | None) -> None:
    session(desk, SAYING[0])
    session(desk, SAYING[1])
    options = {"via": "api"} if cell is None else {}
    assert say(desk, SAYING[2], cell, **options).candidates == ()


def test_a_session_that_was_cut_since_is_no_evidence(desk: Desk) -> None:
    session(desk, SAYING[0])
    session(desk, SAYING[1])
    desk.remember("Something else.")  # notes how far it reaches
    desk.memory.session.end("new")
    cut = desk.stores.sessions.ids()[-1]
    say(desk, SAYING[2])
    desk.memory.session.end("new")
    desk.memory.session.note_head()
    path = desk.folder / "sessions" / f"{cut}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1]) + b"{}\n")
    again = desk.beside()
    try:
        assert say(again, "Default to pnpm.").candidates != ()  # the other two still hold
    finally:
        again.close()


# --- re-runs -------------------------------------------------------------------------------------

NOTEBOOK = (
    "I prefer pnpm.",
    "Always reply in German.",
    "We use tabs.",
    "We use tabs. Plot the sales.",
    "This project uses DuckDB.",
    "Run tests with make test.",
    "أفضل الردود المختصرة",
    "Raw data is stored under data/raw.",
    "I prefer pnpm. And plot the costs.",
    "Always use pnpm.",
)


def run_all(desk: Desk, name: Callable[[int], Cell]) -> list[Candidate]:
    """A kernel that runs all cells of a notebook."""
    found: list[Candidate] = []
    for number, text in enumerate(NOTEBOOK):
        found += say(desk, text, name(number)).candidates
    desk.memory.session.end("new")
    return found


@pytest.mark.parametrize(
    "name",
    [
        lambda run: lambda n: Cell("eda.ipynb", f"id-{n}", run),
        lambda run: lambda n: Cell("eda.ipynb", None, run * 10 + n),
        lambda run: lambda n: Cell(None, None, n),
        lambda run: lambda n: Cell("eda.ipynb", f"W{n + run}sZmlsZQ%3D%3D", n),
        lambda run: lambda n: Cell(f"copy-{run}.ipynb", f"id-{n}", n),
        lambda run: lambda n: Cell("eda.ipynb" if run % 2 else None, f"id-{n}", n),
    ],
    ids=["cell ids", "no ids", "a terminal", "ids of VS Code", "copies", "notebook unknown"],
)
def test_running_all_of_a_notebook_again_and_again_promotes_nothing(
    desk: Desk, name: Callable[[int], Callable[[int], Cell]]
) -> None:
    for run in range(4):
        assert run_all(desk, name(run)) == []


def test_a_rerun_between_does_not_keep_what_is_said_anew_from_counting(desk: Desk) -> None:
    for _ in range(3):
        say(desk, SAYING[0], Cell("eda.ipynb", "one", 1))
        desk.memory.session.end("new")
    say(desk, SAYING[1], Cell("eda.ipynb", "two", 1))
    desk.memory.session.end("new")
    assert say(desk, SAYING[0], Cell("eda.ipynb", "one", 9)).candidates == ()
    (candidate,) = say(desk, SAYING[2], Cell("eda.ipynb", "three", 9)).candidates
    assert [source.ref.session_id for source in candidate.sources[:2]] == [
        desk.stores.sessions.ids()[0],
        desk.stores.sessions.ids()[3],
    ]


def test_running_the_cell_again_in_its_session_finds_the_same(desk: Desk) -> None:
    session(desk, SAYING[0])
    session(desk, SAYING[1])
    cell = Cell("eda.ipynb", "three", 1)
    first, again = (say(desk, SAYING[2], cell).candidates for _ in range(2))
    assert [one.text for one in first] == [one.text for one in again] == [PNPM]


@pytest.mark.parametrize(
    ("one", "other", "is_rerun"),
    [
        (("a.ipynb", "x", "I prefer pnpm."), ("a.ipynb", "x", "I prefer pnpm. Plot it."), True),
        (("a.ipynb", "x", "I prefer pnpm."), (None, "x", "I prefer pnpm. Plot it."), True),
        (("a.ipynb", "x", "I prefer pnpm."), ("b.ipynb", "x", "I prefer  PNPM."), True),
        (("a.ipynb", "x", "I prefer pnpm."), ("b.ipynb", "x", "I prefer pnpm. Plot it."), False),
        (("a.ipynb", "x", "I prefer pnpm."), ("a.ipynb", "y", "I prefer pnpm."), False),
        (("a.ipynb", None, "I prefer pnpm."), ("b.ipynb", "y", "I prefer pnpm."), True),
        (("a.ipynb", None, "I prefer pnpm."), ("a.ipynb", None, "I prefer pnpm. Go."), False),
        (
            ("a.ipynb", "W1sZmlsZQ==", "I prefer pnpm."),
            ("a.ipynb", "W1sZmlsZQ==", "Use pnpm by default."),
            False,
        ),
    ],
)
def test_what_is_a_rerun(
    desk: Desk,
    one: tuple[str | None, str | None, str],
    other: tuple[str | None, str | None, str],
    is_rerun: bool,
) -> None:
    for notebook, cell_id, text in (one, other):
        say(desk, text, Cell(notebook, cell_id, 1))
        desk.memory.session.end("new")
    form = canonical("I prefer pnpm.")
    assert form is not None
    first, second = repeating.heard(desk.stores, desk.memory.histories, [form])
    assert first.repeats(second) is second.repeats(first) is is_rerun


def test_the_same_words_typed_into_other_cells_count(desk: Desk) -> None:
    for number in range(2):
        say(desk, SAYING[0], Cell("eda.ipynb", f"cell-{number}", 1))
        desk.memory.session.end("new")
    assert say(desk, SAYING[0], Cell("eda.ipynb", "cell-2", 1)).candidates != ()


# --- what is known, and what was forgotten -------------------------------------------------------


def test_another_promotion_of_the_same_choice_names_the_one_whose_place_it_takes(
    desk: Desk,
) -> None:
    first = promote(desk, *SAYING)
    session(desk, "I prefer npm.")
    session(desk, "Always use npm.")
    (candidate,) = say(desk, "Default to npm.").candidates
    assert candidate.conflicts == (f"{first.fact_id}@1",)
    assert not candidate.is_proposal
    claim = Claim(candidate.text, "canonical", candidate.sources, "promoted", rule=candidate.rule)
    remembering.correct(
        desk.stores, desk.memory.validator, first.fact_id, claim, expected_revision=1
    )
    assert desk.status(first.fact_id) == "valid"
    assert "Use npm" in desk.section()
    assert "pnpm" not in desk.section()


@pytest.mark.parametrize("corrected", [False, True])
def test_against_what_a_person_stated_a_promotion_is_a_proposal(
    desk: Desk, corrected: bool
) -> None:
    if corrected:
        kept = promote(desk, *SAYING)
        desk.correct(kept.fact_id, "We always use yarn as our package manager.")
    else:
        kept = desk.remember("We use yarn as our package manager.")
    session(desk, "I prefer npm.")
    session(desk, "Always use npm.")
    (candidate,) = say(desk, "Default to npm.").candidates
    assert candidate.is_proposal
    assert candidate.conflicts == (f"{kept.fact_id}@{2 if corrected else 1}",)


def test_what_is_over_or_silent_is_not_contradicted(desk: Desk) -> None:
    desk.remember("We use yarn as our package manager.", valid_to="2026-11-01T00:00:00.000000Z")
    session(desk, "I prefer npm.")
    session(desk, "Always use npm.")
    (candidate,) = say(desk, "Default to npm.").candidates
    assert (candidate.conflicts, candidate.is_proposal) == ((), False)


def test_facts_of_the_project_stand_side_by_side(desk: Desk) -> None:
    desk.remember("This project uses SQLite.")
    for text in ("This project uses DuckDB.", "We use DuckDB in this repo."):
        session(desk, text)
    (candidate,) = say(desk, "هذا المشروع يستخدم DuckDB").candidates
    assert (candidate.kind, candidate.conflicts) == ("convention", ())
    assert not candidate.is_proposal


def test_what_was_corrected_does_not_come_back_by_repetition(desk: Desk) -> None:
    kept = promote(desk, *SAYING)
    desk.correct(kept.fact_id, "Ask before choosing a package manager.")
    assert say(desk, "Always use pnpm.").reasons == {"duplicate": 1}


def test_what_was_forgotten_does_not_come_back_however_often_it_is_said(desk: Desk) -> None:
    kept = promote(desk, *SAYING)
    desk.forget(kept.fact_id)
    texts = ("Always use pnpm.", "Default to pnpm.", "We prefer pnpm.", "pnpm is our default.")
    found = [say_once(desk, text) for text in texts]
    assert [one.candidates for one in found] == [()] * 4
    assert found[-1].reasons == {"forgotten": 1}


def test_words_that_were_forgotten_are_no_evidence(desk: Desk) -> None:
    kept = desk.remember("I prefer pnpm")
    desk.forget(kept.fact_id)
    found = [say_once(desk, f"I prefer pnpm{mark}") for mark in ("", ".", "!")]
    assert [one.candidates for one in found] == [()] * 3
    assert found[-1].reasons == {"forgotten": 1}


def say_once(desk: Desk, text: str) -> Extraction:
    found = say(desk, text)
    desk.memory.session.end("new")
    return found


# --- with the inbox ------------------------------------------------------------------------------


def take(desk: Desk, extraction: Extraction) -> inbox.Taken:
    memory = desk.memory
    return inbox.take(
        memory.stores,
        memory.validator,
        extraction,
        trigger="promotion",
        circumstances=Circumstances("auto"),
    )


def repeat(desk: Desk, *texts: str) -> inbox.Taken:
    """Says each in a session of its own; what the last one promotes is taken."""
    found = [say_once(desk, text) for text in texts]
    return take(desk, found[-1])


def test_the_inbox_keeps_a_promotion_at_once(desk: Desk) -> None:
    taken = repeat(desk, *SAYING)
    assert taken.outcome == "learned"
    (kept,) = taken.applied
    (fact,) = desk.stores.facts.facts([kept.fact_id])
    assert (fact.kind, fact.current.origin, fact.current.rule) == (
        "preference",
        "promoted",
        "package-manager@1",
    )
    assert PNPM in desk.section()


def test_a_promotion_takes_the_place_of_an_earlier_one_which_only_a_person_brings_back(
    desk: Desk,
) -> None:
    repeat(desk, *SAYING)
    taken = repeat(desk, "I prefer npm.", "Always use npm.", "Default to npm.")
    assert taken.outcome == "learned"
    assert "Use npm as the package manager." in desk.section()
    assert PNPM not in desk.section()
    again = repeat(desk, "I prefer pnpm!", "Use pnpm by default.", "Always use pnpm.")
    assert again.outcome == "proposed"  # an ended fact would come back: a person is asked


def test_a_promotion_against_what_was_stated_waits_for_a_person(desk: Desk) -> None:
    stated = desk.remember("We use yarn as our package manager.")
    taken = repeat(desk, *SAYING)
    assert (taken.outcome, len(taken.pending)) == ("proposed", 1)
    assert desk.status(stated.fact_id) == "valid"
    assert PNPM not in desk.section()


def test_what_waits_already_is_not_proposed_again(desk: Desk) -> None:
    desk.remember("We use yarn as our package manager.")
    (waiting,) = repeat(desk, *SAYING).pending
    assert waiting
    assert take(desk, say_once(desk, "Always use pnpm.")).pending == ()


# --- evidence ------------------------------------------------------------------------------------


def test_a_promotion_falls_silent_when_one_of_its_sources_does(desk: Desk) -> None:
    kept = promote(desk, *SAYING)
    desk.memory.session.resume(desk.stores.sessions.ids()[1])
    desk.memory.session.undo()
    assert desk.status(kept.fact_id) == "hidden"
    assert PNPM not in desk.section()


@pytest.mark.parametrize(
    "change",
    [
        lambda one: replace(one, rule="package-manager@2"),
        lambda one: replace(one, rule="code-style@1"),
        lambda one: replace(one, rule=None),
        lambda one: replace(one, text="Use npm as the package manager."),
        lambda one: replace(one, text="use pnpm as the package manager."),
        lambda one: replace(one, sources=tuple(replace(s, quote=None) for s in one.sources)),
        lambda one: replace(
            one,
            sources=(
                *one.sources[:2],
                replace(one.sources[2], quote=replace(one.sources[2].quote, start=1)),
            ),
        ),
    ],
    ids=["version", "rule", "no rule", "text", "case of the text", "no quotes", "another span"],
)
def test_evidence_that_a_rule_does_not_reproduce_keeps_nothing(
    desk: Desk, change: Callable[[Candidate], Candidate]
) -> None:
    session(desk, SAYING[0])
    session(desk, SAYING[1])
    (candidate,) = say(desk, SAYING[2]).candidates
    with pytest.raises(remembering.SourceNotValid):
        keep(desk, change(candidate))
    assert desk.stores.facts.count() == 0


# --- bounds and kills ----------------------------------------------------------------------------


def test_only_so_many_sessions_and_messages_are_looked_at(desk: Desk) -> None:
    session(desk, SAYING[0], SAYING[1])
    session(desk, SAYING[0], "Hello.")
    session(desk, "Hello.")
    form = canonical(SAYING[0])
    assert form is not None

    def found(**bounds: int) -> list[int]:
        sayings = repeating.heard(desk.stores, desk.memory.histories, [form], **bounds)
        return [one.quote.seq for one in sayings]

    assert found() == [2, 5, 2]
    assert found(max_sessions=2) == [2]
    assert found(max_sessions=1) == []
    assert found(max_messages=4) == [5, 2]
    assert found(max_messages=3) == [2]
    assert found(max_messages=2) == []


def test_a_kernel_that_dies_before_it_promotes_loses_nothing_and_repeats_nothing(
    tmp_path: Path, children: Children
) -> None:
    child = children.start(
        """
        import os, signal, sys
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from memories import Desk, scripted
        from memnb.core.bodies import Cell

        desk = Desk(Path(sys.argv[1]))
        for number, text in enumerate(sys.argv[3:]):
            desk.memory.session.end("new")
            desk.ask(text, scripted("Noted."), cell=Cell("eda.ipynb", f"cell-{number}", 1))
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        tmp_path / "project",
        TESTS,
        *SAYING,
    )
    assert child.wait(60) == -9
    desk = Desk(tmp_path / "project", Clock(datetime(2026, 12, 1, tzinfo=UTC)))
    try:
        (candidate,) = say(desk, "Default to pnpm.").candidates
        keep(desk, candidate)
        assert desk.stores.facts.count() == 1
        assert say(desk, "Always use pnpm.").reasons == {"duplicate": 1}
        assert desk.stores.facts.count() == 1
    finally:
        desk.close()
