"""The inbox: what an extraction gave is decided, noted and applied once, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest

from learned import found, learn, quoted, said, take
from memnb.core.candidates import Candidate, Outcome
from memnb.core.facts import Quote
from memnb.core.messages import Usage
from memnb.errors import InputError, SourceNotValid, UnknownId
from memnb.memory import forgetting, purging, queueing, receipts, reviewing
from memnb.memory.context import Limits
from memnb.memory.purge_targets import Chosen
from memnb.memory.stating import Said
from memories import EUR, SECRET, SPLIT, Children, Desk

TABS = "We use tabs for indentation in this repo."
SPACES = "We use four spaces in this repo."
PLAIN = "Figures are 6 by 4 inches."


def waiting(desk: Desk) -> list[str]:
    """The texts of what waits."""
    return [one.text for one in queueing.waiting(desk.stores, desk.memory.validator)]


def facts(desk: Desk) -> list[str]:
    """The texts of all facts."""
    ids = desk.stores.facts.ids(limit=100)
    return [fact.current.text for fact in desk.stores.facts.facts(ids)]


# --- what becomes of a run -----------------------------------------------------------------------


def test_what_is_sure_becomes_a_fact_that_says_how_it_was_found(desk: Desk) -> None:
    taken = learn(desk, f"Hello. {TABS} Which files break that?", TABS, confidence=850)
    (kept,) = taken.applied
    assert (taken.outcome, taken.pending, taken.reasons) == ("learned", (), {})
    current = desk.stores.facts.facts([kept.fact_id])[0].current
    assert (current.text, current.origin, current.basis) == (TABS, "learned", "quote")
    assert current.confidence == 850
    assert TABS in desk.section()


def test_in_mode_review_everything_waits(desk: Desk) -> None:
    taken = learn(desk, TABS, mode="review")
    assert taken.outcome == "proposed"
    assert len(taken.pending) == 1
    assert waiting(desk) == [TABS]
    assert facts(desk) == []


@pytest.mark.parametrize(
    ("mode", "options"),
    [("off", {}), ("auto", {"agent_mode": "readonly"})],
    ids=["off", "readonly"],
)
def test_nothing_is_noted_while_learning_is_off(
    desk: Desk, mode: Any, options: dict[str, Any]
) -> None:
    extraction = found(desk, quoted(desk, said(desk, TABS), TABS))
    assert take(desk, extraction, mode, **options).outcome == "no_candidates"
    assert desk.stores.candidates.runs() == []
    assert desk.stores.candidates.mined(desk.session_id) == frozenset()


def test_write_approval_lets_everything_wait(desk: Desk) -> None:
    extraction = found(desk, quoted(desk, said(desk, TABS), TABS))
    assert take(desk, extraction, write_approval=True).outcome == "proposed"


def test_at_most_three_of_a_run_become_facts(desk: Desk) -> None:
    texts = [f"Table {name} is sorted by day." for name in ("one", "two", "three", "four")]
    seq = said(desk, "\n".join(texts))
    taken = take(desk, found(desk, *(quoted(desk, seq, text) for text in texts)))
    assert len(taken.applied) == 3
    assert waiting(desk) == texts[3:]


def test_what_has_no_room_in_the_prompt_waits(desk: Desk) -> None:
    extraction = found(desk, quoted(desk, said(desk, TABS), TABS))
    taken = take(desk, extraction, limits=Limits(facts_max_bytes=20))
    assert (taken.outcome, taken.reasons) == ("proposed", {"over_budget": 1})


def no_candidates(desk: Desk) -> Any:
    return take(desk, found(desk, seqs=[said(desk, "Hello.")]))


def rejected(desk: Desk) -> Any:
    return take(desk, found(desk, seqs=[said(desk, "x")], reasons={"exact_text_mismatch": 2}))


def failed(desk: Desk) -> Any:
    return take(desk, found(desk, seqs=[said(desk, "x")], failure="invalid_json"))


def stale(desk: Desk) -> Any:
    extraction = found(desk, quoted(desk, said(desk, TABS), TABS))
    desk.forget(desk.remember(EUR).fact_id)
    return take(desk, extraction, generation=0)


REACHED: dict[str, tuple[Callable[[Desk], Any], dict[str, int]]] = {
    "failed": (failed, {"invalid_json": 1}),
    "stale": (stale, {"stale_context": 1}),
    "learned": (lambda desk: learn(desk, TABS), {}),
    "proposed": (lambda desk: learn(desk, "I am allergic to nuts."), {"risk": 1}),
    "rejected": (rejected, {"exact_text_mismatch": 2}),
    "no_candidates": (no_candidates, {}),
}


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_is_reached_and_noted_with_its_reasons(desk: Desk, outcome: str) -> None:
    make, reasons = REACHED[outcome]
    taken = make(desk)
    (run,) = desk.stores.candidates.runs(limit=1)
    assert (taken.outcome, taken.reasons) == (outcome, reasons)
    assert (run.run_id, run.outcome, run.reasons) == (taken.run_id, outcome, reasons)


@pytest.mark.parametrize("usage", [None, Usage(100, None, None), Usage(100, 10, 7)])
def test_what_a_run_consumed_is_noted_and_unknown_stays_unknown(
    desk: Desk, usage: Usage | None
) -> None:
    take(desk, found(desk, seqs=[said(desk, "Hello.")], usage=usage))
    assert desk.stores.candidates.runs()[0].usage == (usage or Usage())


IGNORED: dict[str, Callable[[Desk], Any]] = {
    "duplicate": lambda desk: (desk.remember(TABS), learn(desk, TABS))[1],
    "forgotten": lambda desk: (desk.forget(desk.remember(TABS).fact_id), learn(desk, TABS))[1],
    "screened": lambda desk: _with_text(desk, f"The token is {SECRET}."),
    "invalid_text": lambda desk: _with_text(desk, "two\nlines"),
    "stale_context": lambda desk: _with_text(desk, "Nobody said this."),
    "invalid_preference_source": lambda desk: _with(desk, basis="file_line"),
}


def _with_text(desk: Desk, text: str) -> Any:
    return take(desk, found(desk, replace(quoted(desk, said(desk, TABS), TABS), text=text)))


def _with(desk: Desk, **options: Any) -> Any:
    return take(desk, found(desk, replace(quoted(desk, said(desk, TABS), TABS), **options)))


@pytest.mark.parametrize("reason", IGNORED)
def test_what_is_ignored_counts_once_and_leaves_nothing(desk: Desk, reason: str) -> None:
    before = facts(desk)
    taken = IGNORED[reason](desk)
    assert (taken.outcome, taken.reasons) == ("rejected", {reason: 1})
    assert waiting(desk) == before == []
    assert desk.database.rows("SELECT count(*) FROM candidates") == [(0,)]


@pytest.mark.parametrize("times", ["in one run", "in two"])
def test_a_text_is_taken_once(desk: Desk, times: str) -> None:
    one, two = (quoted(desk, said(desk, f"{TABS} Really."), TABS) for _ in range(2))
    if times == "in two":
        take(desk, found(desk, one), "review")
        taken = take(desk, found(desk, two), "review")
    else:
        taken = take(desk, found(desk, one, two), "review")
    assert taken.reasons["duplicate"] == 1
    assert waiting(desk) == [TABS]


# --- once, whatever happens ----------------------------------------------------------------------


def test_what_was_supplied_is_noted_so_that_it_isnt_supplied_again(desk: Desk) -> None:
    first, second = said(desk, "Hello."), said(desk, TABS)
    take(desk, found(desk, seqs=[first, first + 1, second]))
    assert desk.stores.candidates.mined(desk.session_id) == {first, first + 1, second}


@pytest.mark.parametrize("failure", ["invalid_json", "extraction_error", "stale_context"])
def test_what_nobody_answered_about_stays_open(desk: Desk, failure: Any) -> None:
    seq = said(desk, TABS)
    take(desk, found(desk, seqs=[seq], failure=failure))
    assert desk.stores.candidates.mined(desk.session_id) == frozenset()
    assert learn(desk, PLAIN).outcome == "learned"


def test_rules_without_a_model_leave_a_message_to_the_extractor(desk: Desk) -> None:
    extraction = found(desk, quoted(desk, said(desk, TABS), TABS), model="")
    assert take(desk, extraction, trigger="promotion").outcome == "learned"
    assert desk.stores.candidates.mined(desk.session_id) == frozenset()


def test_two_kernels_that_come_with_the_same_span_learn_of_it_once(desk: Desk) -> None:
    extraction = found(desk, quoted(desk, said(desk, TABS), TABS))
    other = desk.beside()
    first, second = take(desk, extraction), take(other, extraction)
    assert (first.outcome, second.outcome) == ("learned", "stale")
    assert facts(desk) == [TABS]
    assert [run.outcome for run in desk.stores.candidates.runs()] == ["stale", "learned"]
    other.close()


def test_two_kernels_that_apply_the_same_candidate_make_one_fact(desk: Desk) -> None:
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    other = desk.beside()
    reviewing.apply(other.memory, candidate_id)
    with pytest.raises(InputError, match="already"):
        reviewing.apply(desk.memory, candidate_id)
    assert facts(desk) == [TABS]
    other.close()


DIES = """
import os, sys
from pathlib import Path
from learned import learn
from memnb.storage import candidate_store
from memnb.memory import reviewing
from memories import Desk

desk = Desk(Path(sys.argv[1]))
method = sys.argv[2]

def die(*arguments, **options):
    os._exit(9)

setattr(candidate_store.CandidateChange, method, die)
learn(desk, "We use tabs for indentation in this repo.")
"""


@pytest.mark.parametrize("method", ["add_run", "mark_mined", "add"])
def test_a_kernel_that_dies_on_the_way_has_learned_and_mined_nothing(
    desk: Desk, method: str, children: Children
) -> None:
    desk.remember(EUR)
    child = children.start(DIES, desk.folder, method)
    assert child.wait(60) == 9
    assert facts(desk) == [EUR]
    assert desk.stores.candidates.runs() == []
    for session_id in desk.stores.sessions.ids():
        assert desk.stores.candidates.mined(session_id) == frozenset()
    assert learn(desk, TABS).outcome == "learned"
    assert facts(desk) == [EUR, TABS]


# --- evidence ------------------------------------------------------------------------------------


def undone(desk: Desk) -> None:
    desk.memory.session.undo()


def purged(desk: Desk) -> None:
    (queued,) = desk.stores.candidates.of("pending")
    (seq,) = queued.sources[0].ref.seqs
    token = purging.preview(desk.memory, Chosen(desk.session_id, seq, seq)).token
    purging.purge(desk.memory, token or "")


def forgotten(desk: Desk) -> None:
    receipts.forget(desk.memory, desk.learn(TABS))


def stated(desk: Desk) -> None:
    desk.remember(TABS)


@pytest.mark.parametrize("happens", [undone, purged, forgotten, stated])
def test_what_holds_no_more_is_never_shown_and_leaves_no_text(
    desk: Desk, happens: Callable[[Desk], None]
) -> None:
    learn(desk, TABS, mode="review")
    happens(desk)
    assert waiting(desk) == []
    assert desk.stores.candidates.count("pending") == 0
    assert desk.database.rows("SELECT count(*) FROM candidates WHERE text IS NOT NULL") == [(0,)]


def test_what_holds_no_more_isnt_applied_and_expires(desk: Desk) -> None:
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    desk.memory.session.undo()
    with pytest.raises(SourceNotValid, match="expired"):
        reviewing.apply(desk.memory, candidate_id)
    queued = desk.stores.candidates.candidate(candidate_id)
    assert queued is not None
    assert (queued.state, queued.text) == ("expired", "")
    assert facts(desk) == []


def test_clearing_the_conversation_leaves_what_waits(desk: Desk) -> None:
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    desk.memory.session.clear()
    assert waiting(desk) == [TABS]
    assert reviewing.apply(desk.memory, candidate_id).outcome == "new"


def test_what_expired_may_be_proposed_when_it_is_said_again(desk: Desk) -> None:
    learn(desk, TABS, mode="review")
    desk.memory.session.undo()
    assert waiting(desk) == []
    assert learn(desk, TABS).outcome == "learned"


def test_a_quote_that_stands_elsewhere_in_the_message_is_not_taken(desk: Desk) -> None:
    candidate = quoted(desk, said(desk, f"Hello. {TABS}"), TABS)
    (source,) = candidate.sources
    assert source.quote is not None
    moved = replace(source, quote=Quote(source.quote.seq, 0, 0, len(TABS)))
    taken = take(desk, found(desk, replace(candidate, sources=(moved,))))
    assert taken.reasons == {"stale_context": 1}


@pytest.mark.parametrize(
    "message",
    [f"```\n{TABS}\n```", f"> {TABS}", f"Look:\n\n~~~\n{TABS}\n~~~"],
    ids=["code", "quotation", "fence of tildes"],
)
def test_what_a_person_pasted_is_no_evidence(desk: Desk, message: str) -> None:
    taken = learn(desk, message, TABS)
    assert (taken.outcome, taken.reasons) == ("rejected", {"stale_context": 1})


# --- forgetting ----------------------------------------------------------------------------------


def test_a_forget_takes_out_what_rests_on_the_same_message(desk: Desk) -> None:
    seq = said(desk, f"{TABS} {PLAIN}")
    (kept,) = take(desk, found(desk, quoted(desk, seq, TABS))).applied
    take(desk, found(desk, quoted(desk, seq, PLAIN), seqs=[seq, seq + 1]), "review")
    assert waiting(desk) == [PLAIN]
    desk.forget(kept.fact_id)
    assert desk.stores.candidates.of("pending") == []


@pytest.mark.parametrize("form", [TABS[:-1].upper(), f"Mind that {TABS.lower()[:-1]} always"])
def test_a_forget_takes_out_what_says_the_same_elsewhere(desk: Desk, form: str) -> None:
    desk.remember(TABS)
    fact_id = desk.stores.facts.ids(limit=1)[0]
    learn(desk, form, mode="review")
    assert waiting(desk) == [form]
    desk.forget(fact_id)
    assert desk.stores.candidates.of("pending") == []


def test_a_purge_takes_out_what_rests_on_it_and_its_bytes(desk: Desk) -> None:
    learn(desk, TABS, mode="review")
    purged(desk)
    assert desk.stores.candidates.of("pending") == []
    desk.close()
    assert TABS.encode() not in desk.database_bytes()


def test_what_was_forgotten_is_never_proposed_again(desk: Desk) -> None:
    (kept,) = learn(desk, TABS).applied
    receipts.forget(desk.memory, kept.fact_id)
    for message in (TABS, f"As I said, {TABS}", TABS.upper()):
        assert learn(desk, message, mode="review").reasons == {"forgotten": 1}
    assert waiting(desk) == []


def test_no_byte_of_what_waited_is_left_after_a_forget(desk: Desk) -> None:
    desk.remember(TABS)
    learn(desk, TABS[:-1].upper(), mode="review")
    receipt = receipts.forget(desk.memory, desk.stores.facts.ids(limit=1)[0])
    assert not receipt.pending
    desk.close()
    assert TABS[:-1].upper().encode() not in desk.database_bytes()
    assert TABS.encode() not in desk.database_bytes()


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_receipt_says_that_the_inbox_was_looked_into(desk: Desk, when: str) -> None:
    fact_id = desk.remember(TABS).fact_id
    learn(desk, TABS[:-1].upper(), mode="review")
    learn(desk, PLAIN, mode="review")
    receipt = (receipts.preview if when == "before" else receipts.forget)(desk.memory, fact_id)
    assert [one.outcome for one in receipt.looked if one.store == "inbox"] == ["clean"]


def test_a_receipt_names_what_still_waits_with_the_text(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact_id = desk.remember(TABS).fact_id
    (candidate_id,) = learn(desk, TABS[:-1].upper(), mode="review").pending
    monkeypatch.setattr(forgetting, "drop_candidates", lambda *_: ())
    receipt = receipts.forget(desk.memory, fact_id)
    assert candidate_id in receipt.still_held


def test_what_a_forget_left_waiting_isnt_shown_either(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact_id = desk.remember(TABS).fact_id
    (candidate_id,) = learn(desk, TABS[:-1].upper(), mode="review").pending
    monkeypatch.setattr(forgetting, "drop_candidates", lambda *_: ())
    desk.forget(fact_id)
    assert waiting(desk) == []
    with pytest.raises(InputError):
        reviewing.apply(desk.memory, candidate_id)


def test_a_fact_that_is_forgotten_takes_its_candidate_along(desk: Desk) -> None:
    (kept,) = learn(desk, TABS).applied
    desk.forget(kept.fact_id)
    assert desk.database.rows("SELECT count(*) FROM candidates") == [(0,)]
    assert desk.database.rows("SELECT count(*) FROM candidate_seqs") == [(0,)]


# --- what a person does --------------------------------------------------------------------------


def test_a_candidate_that_is_applied_is_a_fact_with_the_same_evidence(desk: Desk) -> None:
    (candidate_id,) = learn(desk, f"Hello. {TABS}", TABS, mode="review").pending
    kept = reviewing.apply(desk.memory, candidate_id)
    queued = desk.stores.candidates.candidate(candidate_id)
    assert queued is not None
    assert (queued.state, queued.text) == ("applied", "")
    assert (queued.fact_id, queued.revision) == (kept.fact_id, 1)
    current = desk.stores.facts.facts([kept.fact_id])[0].current
    assert (current.text, current.sources) == (TABS, queued.sources)
    assert desk.status(kept.fact_id) == "valid"


def test_a_fact_that_is_there_already_isnt_taken_back_by_a_candidate(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    fact_id = desk.remember(TABS).fact_id
    monkeypatch.setattr(queueing, "holds", lambda *_: True)  # it was stated just afterwards
    assert reviewing.apply(desk.memory, candidate_id).outcome == "already"
    with pytest.raises(InputError):
        reviewing.take_back(desk.memory, candidate_id)
    with pytest.raises(UnknownId):
        reviewing.take_back(desk.memory, fact_id)
    assert facts(desk) == [TABS]


def test_ones_own_wording_is_recorded_and_is_the_evidence(desk: Desk) -> None:
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    line = f'review apply {candidate_id} --text "{SPACES}"'
    kept = reviewing.apply(desk.memory, candidate_id, text=SPACES, said=Said(line))
    current = desk.stores.facts.facts([kept.fact_id])[0].current
    assert (current.text, current.origin, current.basis) == (SPACES, "person", "statement")
    record = desk.records()[-1]
    assert (record.head.type, record.body["via"]) == ("user", "command")  # type: ignore[index]
    assert current.sources[0].ref.seqs == (record.head.seq,)
    assert waiting(desk) == []


def test_ones_own_wording_of_a_fact_that_is_there_leaves_nothing_waiting(desk: Desk) -> None:
    fact_id = desk.remember(SPACES).fact_id
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    kept = reviewing.apply(desk.memory, candidate_id, text=SPACES)
    assert (kept.outcome, kept.fact_id) == ("already", fact_id)
    assert waiting(desk) == []


def test_what_was_rejected_has_no_text_and_isnt_proposed_again(desk: Desk) -> None:
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    assert reviewing.reject(desk.memory, [candidate_id]) == (candidate_id,)
    assert desk.database.rows("SELECT text FROM candidates") == [(None,)]
    assert learn(desk, f"{TABS} Again.", TABS).reasons == {"duplicate": 1}
    assert desk.remember(TABS).outcome == "new"


def test_all_that_waits_can_be_rejected_at_once(desk: Desk) -> None:
    ids = {learn(desk, text, mode="review").pending[0] for text in (TABS, PLAIN)}
    assert set(reviewing.reject(desk.memory)) == ids
    assert reviewing.reject(desk.memory) == ()


def test_nothing_is_rejected_when_one_of_the_ids_is_wrong(desk: Desk) -> None:
    (candidate_id,) = learn(desk, TABS, mode="review").pending
    with pytest.raises(UnknownId):
        reviewing.reject(desk.memory, [candidate_id, "C-000000"])
    assert waiting(desk) == [TABS]


@pytest.mark.parametrize("by", ["candidate", "fact"])
def test_taking_back_removes_the_fact_and_excludes_nothing(desk: Desk, by: str) -> None:
    seq = said(desk, f"{TABS} {PLAIN}")
    taken = take(desk, found(desk, quoted(desk, seq, TABS), quoted(desk, seq, PLAIN)))
    first, second = (kept.fact_id for kept in taken.applied)
    (queued,) = desk.stores.candidates.of_fact(first)
    done = reviewing.take_back(desk.memory, queued.candidate_id if by == "candidate" else first)
    assert (done.fact_id, done.is_gone) == (first, True)
    assert facts(desk) == [PLAIN]
    assert desk.status(second) == "valid"
    assert desk.stores.facts.generation() == 0
    assert desk.stores.facts.exclusions(desk.session_id) == {}


def test_what_was_taken_back_isnt_learned_again(desk: Desk) -> None:
    (kept,) = learn(desk, TABS).applied
    reviewing.take_back(desk.memory, kept.fact_id)
    assert learn(desk, f"{TABS} Again.", TABS).reasons == {"duplicate": 1}
    assert desk.remember(TABS).outcome == "new"


def test_what_was_changed_since_isnt_taken_back(desk: Desk) -> None:
    (kept,) = learn(desk, TABS).applied
    desk.correct(kept.fact_id, SPACES)
    with pytest.raises(Exception, match="changed since"):
        reviewing.take_back(desk.memory, kept.fact_id)
    assert facts(desk) == [SPACES]


def test_taking_back_holds_what_was_derived_from_it(desk: Desk) -> None:
    (kept,) = learn(desk, TABS).applied
    derived = desk.remember(PLAIN, derived_from=(kept.fact_id,)).fact_id
    assert reviewing.take_back(desk.memory, kept.fact_id).flagged == (derived,)


def over(desk: Desk) -> str:
    """A fact whose message was undone, said again since; gives its id."""
    fact_id = desk.learn(TABS)
    desk.memory.session.undo()
    return fact_id


def test_what_would_bring_a_fact_back_waits_and_can_be_taken_back(desk: Desk) -> None:
    fact_id = over(desk)
    taken = learn(desk, f"{TABS} Again.", TABS)
    (candidate_id,) = taken.pending
    kept = reviewing.apply(desk.memory, candidate_id)
    assert (kept.outcome, kept.fact_id, kept.revision) == ("renewed", fact_id, 2)
    assert TABS in desk.section()
    done = reviewing.take_back(desk.memory, candidate_id)
    assert (done.is_gone, done.fact_id) == (False, fact_id)
    assert TABS not in desk.section()
    assert [hold.because_id for hold in desk.stores.facts.facts([fact_id])[0].holds] == [
        candidate_id
    ]


WRONG: dict[str, tuple[Callable[[Desk], Any], type[Exception]]] = {
    "no id": (lambda desk: reviewing.apply(desk.memory, "tabs"), UnknownId),
    "an unknown one": (lambda desk: reviewing.apply(desk.memory, "C-000000"), UnknownId),
    "undo of one unknown": (lambda desk: reviewing.take_back(desk.memory, "C-000000"), UnknownId),
    "undo of no candidate": (
        lambda desk: reviewing.take_back(desk.memory, desk.remember(SPLIT).fact_id),
        UnknownId,
    ),
    "undo of one that waits": (
        lambda desk: reviewing.take_back(desk.memory, learn(desk, TABS, mode="review").pending[0]),
        InputError,
    ),
    "one that was rejected": (
        lambda desk: reviewing.apply(
            desk.memory,
            reviewing.reject(desk.memory, learn(desk, TABS, mode="review").pending)[0],
        ),
        InputError,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_id_that_doesnt_fit_is_one_line_that_says_what_to_type(desk: Desk, name: str) -> None:
    act, error = WRONG[name]
    said(desk, "Hello.")
    with pytest.raises(error, match="%memory"):
        act(desk)


def test_what_was_learned_last_comes_first(desk: Desk) -> None:
    ids = [learn(desk, text).applied[0].fact_id for text in (TABS, PLAIN)]
    found_ = reviewing.recent(desk.memory, limit=5)
    assert [one.queued.fact_id for one in found_] == ids[::-1]
    assert [one.run.trigger for one in found_ if one.run] == ["turn", "turn"]
    assert len(reviewing.recent(desk.memory, limit=1)) == 1


def test_one_candidate_can_be_left_for_a_person_by_a_tool(desk: Desk) -> None:
    candidate: Candidate = quoted(desk, said(desk, TABS), TABS, origin="agent")
    inbox_id = queueing.queue(desk.stores, desk.memory.validator, candidate, "tool")
    (queued,) = queueing.waiting(desk.stores, desk.memory.validator)
    assert (queued.candidate_id, queued.grounds) == (inbox_id, ("tool",))
    assert queueing.queue(desk.stores, desk.memory.validator, candidate, "tool") == ""
