from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memnb
from memnb import ScriptedModel
from memnb.api.learning_results import Backfill, Mined
from memnb.core.learning_gate import EVERY_TURNS
from memnb.core.messages import Request, Usage
from memnb.errors import ConfigError, MemnbError, ModelUnavailable, Refused
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.scripted_model import ScriptedReply
from memnb.speaking import in_tool_call

Opener = Callable[..., memnb.Memory]

TABS = "We use tabs for indentation in this repo."
LONG = f"Please look at the loader, it is slow. {TABS} Which of the functions would you begin with?"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
NOTHING = '{"candidates": []}'


def is_extraction(request: Request) -> bool:
    return '{"candidates":' in request.guidance


class Talk:
    """A scripted conversation: answers are all alike, extractions are made by `find`."""

    def __init__(self) -> None:
        self.find: Callable[[Request], object] = quoting(TABS)
        self.usage: Usage | None = None
        self.model = ScriptedModel([self._reply], repeat_last=True)

    @property
    def extractions(self) -> list[Request]:
        return [request for request in self.model.requests if is_extraction(request)]

    def _reply(self, request: Request) -> Any:
        if not is_extraction(request):
            return ScriptedReply("With the first one.", usage=self.usage)
        found = self.find(request)
        if isinstance(found, BaseException):
            raise found
        return ScriptedReply(str(found), usage=self.usage)


def quoting(found: str, **said: object) -> Callable[[Request], str]:
    """Proposes `found` wherever a person's message holds it."""

    def find(request: Request) -> str:
        for line in request.messages[0].text.splitlines():
            if found in line and line.startswith("{") and '"seq"' in line:
                claim = {
                    "text": found,
                    "source_seqs": [json.loads(line)["seq"]],
                    "kind": "convention",
                    "quote": found,
                    "conflicts": [],
                    "proposal": False,
                    "confidence": 0.95,
                }
                return json.dumps({"candidates": [{**claim, **said}]})
        return NOTHING

    return find


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def memory(reopen: Opener, talk: Talk) -> memnb.Memory:
    return reopen(model=talk.model)


def ask(memory: memnb.Memory, text: str = LONG) -> int:
    """A message that a person typed; gives the number of its record."""
    seq = memory.ask(text, via="agent").answer.message_seq
    assert seq is not None
    return seq


def texts(memory: memnb.Memory) -> list[str]:
    return [row.text for row in memory.facts(all=True).rows]


# How it is set


def test_nothing_is_learned_unless_it_is_asked_for(memory: memnb.Memory, talk: Talk) -> None:
    assert memory.learn().mode == "off"
    turn = [ask(memory) for _ in range(EVERY_TURNS)][-1]
    assert memory.learn_after(turn, CancelSwitch()) == ()
    assert talk.extractions == []
    assert texts(memory) == []


@pytest.mark.parametrize("mode", ["off", "review", "auto"])
def test_each_mode_says_what_it_means(memory: memnb.Memory, mode: str) -> None:
    view = memory.learn(mode)
    assert view.mode == memory.learn().mode == mode
    assert str(view).startswith(f"agent memory · learning {mode}\n")


def test_another_mode_is_refused_with_those_there_are(memory: memnb.Memory) -> None:
    with pytest.raises(ConfigError, match="off, review or auto"):
        memory.learn("sometimes")


def test_a_model_cant_set_it(memory: memnb.Memory) -> None:
    with in_tool_call(), pytest.raises(Refused):
        memory.learn("auto")
    assert memory.learn().mode == "off"


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({}, "learning is off"),
        ({"learning.mode": "auto", "memory.enabled": "off"}, "memory is off"),
        ({"learning.mode": "auto", "agent.mode": "readonly"}, "agent.mode"),
    ],
)
def test_a_look_that_may_not_be_taken_says_what_to_set(
    memory: memnb.Memory, talk: Talk, settings: dict[str, str], hint: str
) -> None:
    ask(memory)
    for key, value in settings.items():
        memory.config(key, value)
    with pytest.raises(ConfigError, match=hint):
        memory.populate()
    assert talk.extractions == []


# To look now


def test_what_is_certain_becomes_a_fact_with_the_exact_message_behind_it(
    memory: memnb.Memory,
) -> None:
    memory.learn("auto")
    ask(memory)
    mined = memory.populate()
    (row,) = memory.facts().rows
    assert mined.learned == (row.fact_id,)
    assert row.text == TABS
    recalled = memory.recall(row.fact_id)
    assert recalled.status == "valid"
    assert LONG in (recalled.page.source_text or "")
    (run,) = memory.diagnostics().rows
    assert (run.outcome, run.trigger, dict(run.reasons)) == ("learned", "populate", {})


def test_in_review_nothing_becomes_a_fact_by_itself(memory: memnb.Memory) -> None:
    memory.learn("review")
    ask(memory)
    mined = memory.populate()
    assert texts(memory) == []
    assert mined.pending == tuple(row.candidate_id for row in memory.review().rows)
    memory.apply(mined.pending[0])
    assert texts(memory) == [TABS]


def test_what_a_program_said_in_a_persons_place_waits(memory: memnb.Memory) -> None:
    memory.learn("auto")
    memory.ask(LONG)  # via the Python API
    assert len(memory.populate().pending) == 1
    assert texts(memory) == []


def test_nothing_is_looked_at_twice(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    ask(memory)
    memory.populate()
    again = memory.populate()
    assert again.n_exchanges == 0
    assert len(talk.extractions) == 1
    ask(memory, "And what of spaces?")
    memory.populate()
    assert "Which of the functions" not in talk.extractions[-1].messages[0].text


def test_a_new_kernel_doesnt_look_again_either(
    memory: memnb.Memory, reopen: Opener, talk: Talk
) -> None:
    memory.learn("auto")
    ask(memory)
    memory.populate()
    (session,) = memory.sessions().rows
    memory.close()
    other = reopen(model=talk.model)
    other.learn("auto")
    other.resume(session.session_id)
    assert other.populate().n_exchanges == 0
    assert len(texts(other)) == 1


@pytest.mark.parametrize(
    ("reply", "outcome", "reason"),
    [
        ("no JSON", "failed", "invalid_json"),
        (ModelUnavailable("gone"), "failed", "extraction_error"),
        (NOTHING, "no_candidates", None),
    ],
)
def test_a_look_that_failed_comes_again(
    memory: memnb.Memory, talk: Talk, reply: object, outcome: str, reason: str | None
) -> None:
    memory.learn("auto")
    ask(memory)
    talk.find = lambda _: reply
    memory.populate()
    (run,) = memory.diagnostics().rows
    assert run.outcome == outcome
    assert list(run.reasons) == ([reason] if reason else [])
    talk.find = quoting(TABS)
    memory.populate()
    assert texts(memory) == ([TABS] if outcome == "failed" else [])


def test_the_persons_leave_is_asked_where_every_write_needs_it(memory: memnb.Memory) -> None:
    memory.learn("auto")
    memory.config("memory.write_approval", "on")
    ask(memory)
    assert len(memory.populate().pending) == 1


def test_a_long_session_is_looked_at_in_parts_with_its_progress(
    memory: memnb.Memory, talk: Talk
) -> None:
    memory.learn("auto")
    for number in range(12):
        ask(memory, f"Question {number}: " + "what of this column, is it needed? " * 80)
    seen: list[tuple[int, int]] = []
    mined = memory.populate(progress=lambda done, total, _: seen.append((done, total)))
    assert mined.n_exchanges == 12
    assert mined.is_done
    assert len(talk.extractions) > 1
    assert seen == sorted(seen)
    assert seen[-1] == (12, 12)


def test_what_was_forgotten_is_not_learned_again(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    ask(memory)
    memory.populate()
    (row,) = memory.facts().rows
    memory.forget(row.fact_id)
    memory.new()
    ask(memory)
    memory.populate()
    assert texts(memory) == []
    assert memory.review().rows == ()
    assert memory.diagnostics().rows[0].reasons == {"forgotten": 1}


def test_a_private_turn_is_never_looked_at(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    ask(memory, "Hello.")
    memory.ask(LONG, via="agent", private=True)
    memory.populate()
    assert all(TABS not in request.messages[0].text for request in talk.extractions)


def test_a_turn_without_memory_is_never_looked_at(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    ask(memory, "Hello.")
    memory.ask(LONG, via="agent", memory=False)
    memory.populate()
    assert texts(memory) == []
    assert all(TABS not in request.messages[0].text for request in talk.extractions)


# After a turn


def test_after_a_turn_a_look_is_taken_when_it_is_due(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    for _ in range(EVERY_TURNS - 1):
        assert memory.learn_after(ask(memory), CancelSwitch()) == ()
    assert talk.extractions == []
    (line,) = memory.learn_after(ask(memory), CancelSwitch())
    (row,) = memory.facts().rows
    assert line.startswith(f"learned {row.fact_id} ")
    assert len(talk.extractions) == 1


def test_a_look_that_is_stopped_has_seen_nothing(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    turn = [ask(memory) for _ in range(EVERY_TURNS)][-1]
    cancel = CancelSwitch()

    def find(request: Request) -> str:
        cancel.request()
        return quoting(TABS)(request)

    talk.find = find
    assert memory.learn_after(turn, cancel) == ()
    assert texts(memory) == []
    assert memory.diagnostics().rows == ()
    talk.find = quoting(TABS)
    assert memory.learn_after(turn, CancelSwitch()) != ()


def test_after_a_failure_not_every_turn_tries_again(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    talk.find = lambda _: "no JSON"
    for _ in range(EVERY_TURNS + 3):
        memory.learn_after(ask(memory), CancelSwitch())
    assert len(talk.extractions) == 1
    talk.find = quoting(TABS)
    for _ in range(EVERY_TURNS):
        memory.learn_after(ask(memory), CancelSwitch())
    assert texts(memory) == [TABS]


def test_what_goes_wrong_after_a_turn_reaches_nobody(
    memory: memnb.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.learn("auto")
    turn = ask(memory)

    def fails(*_: object, **__: object) -> None:
        raise MemnbError("no store")

    monkeypatch.setattr("memnb.memory.learning.Learner.after_turn", fails)
    assert memory.learn_after(turn, CancelSwitch()) == ()


def test_what_is_said_in_three_sessions_is_promoted_without_a_model(
    reopen: Opener, talk: Talk
) -> None:
    talk.find = lambda _: NOTHING
    for number in range(3):
        with reopen(model=talk.model) as memory:
            memory.learn("auto")
            turn = ask(memory, f"Always run the tests with pytest -q. Now fix bug {number}.")
            lines = memory.learn_after(turn, CancelSwitch())
            assert bool(lines) is (number == 2)
            found = texts(memory)
    assert len(found) == 1
    assert "pytest -q" in found[0]
    assert talk.extractions == []


def test_what_is_said_without_memory_doesnt_count_as_repeated(reopen: Opener, talk: Talk) -> None:
    talk.find = lambda _: NOTHING
    for number in range(3):
        with reopen(model=talk.model) as memory:
            memory.learn("auto")
            text = f"Always run the tests with pytest -q. Now fix bug {number}."
            seq = memory.ask(text, via="agent", memory=number != 1).answer.message_seq
            assert memory.learn_after(seq or 0, CancelSwitch()) == ()
            assert texts(memory) == []


# What a file says

LINE = 'requires-python = ">=3.12"'
FILE_FACT = f"pyproject.toml contains {json.dumps(LINE)}"


def verified(request: Request) -> str:
    """Proposes the line that `read_file` showed, with all records of its exchange."""
    lines = request.messages[0].text.splitlines()
    records = [json.loads(line) for line in lines if line.startswith('{"') and '"seq"' in line]
    claim = {
        "text": FILE_FACT,
        "source_seqs": [record["seq"] for record in records],
        "kind": "project_fact",
        "quote": f"2\t{LINE}",
        "conflicts": [],
        "proposal": False,
        "confidence": 1.0,
    }
    return json.dumps({"candidates": [claim]})


@pytest.fixture
def read(reopen: Opener, folder: Path, talk: Talk) -> memnb.Memory:
    """A memory in which the agent read a line of a file, and said it in the form of a fact."""
    (folder / "pyproject.toml").write_text(f"[project]\n{LINE}\n", encoding="utf-8")
    talk.find = verified
    memory = reopen(model=talk.model)
    memory.learn("auto")
    call = ScriptedReply(calls=(("read_file", {"path": "pyproject.toml"}),))
    memory.ask("Which Python is it?", model=ScriptedModel([call, FILE_FACT]), via="agent")
    return memory


def test_what_a_file_says_waits_in_every_mode(read: memnb.Memory) -> None:
    assert read.learn().mode == "auto"
    (candidate_id,) = read.populate().pending
    assert texts(read) == []
    shown = str(read.review())
    assert candidate_id in shown
    assert "nobody stated it" in shown


def test_a_person_makes_what_a_file_says_an_observation_with_its_own_evidence(
    read: memnb.Memory,
) -> None:
    (candidate_id,) = read.populate().pending
    read.apply(candidate_id)
    (row,) = read.facts().rows
    assert (row.kind, row.text, row.status) == ("observation", FILE_FACT, "valid")
    (revision,) = read.fact(row.fact_id).revisions
    assert (revision.basis, revision.origin) == ("file_line", "learned")
    call, result, said = json.loads(read.recall(row.fact_id).page.source_text or "")
    assert (call["type"], said["text"]) == ("assistant", FILE_FACT)
    assert f"2\t{LINE}" in result["output"]
    model = ScriptedModel(["3.12"])
    read.ask("Which Python is it?", model=model)
    memory_section = model.requests[-1].memory
    assert FILE_FACT in memory_section.partition("Reference, not instructions:")[2]
    assert "Follow them" not in memory_section


def test_what_a_file_says_can_be_taken_back(read: memnb.Memory) -> None:
    (candidate_id,) = read.populate().pending
    read.apply(candidate_id)
    read.unapply(candidate_id)
    assert texts(read) == []


# Earlier sessions


@pytest.fixture
def earlier(reopen: Opener, talk: Talk) -> None:
    """Two sessions from before learning was on."""
    for _ in range(2):
        with reopen(model=talk.model) as memory:
            ask(memory)


@pytest.mark.usefixtures("earlier")
def test_sessions_from_before_are_looked_through_only_when_asked_for(
    memory: memnb.Memory, talk: Talk
) -> None:
    memory.learn("auto")
    plan = memory.backfill()
    assert isinstance(plan, Backfill)
    assert plan.n_exchanges == 0
    plan = memory.backfill(since=LONG_AGO)
    assert isinstance(plan, Backfill)
    assert (plan.n_sessions, plan.n_exchanges) == (2, 2)
    assert plan.n_bytes == 2 * len(LONG)
    assert talk.extractions == []
    done = memory.backfill(since=LONG_AGO, go=True)
    assert isinstance(done, Mined)
    assert (done.n_sessions, done.n_exchanges) == (2, 2)
    assert texts(memory) == [TABS]
    assert {row.trigger for row in memory.diagnostics().rows} == {"backfill"}


@pytest.mark.usefixtures("earlier")
def test_a_backfill_goes_on_where_it_stopped(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    since = LONG_AGO
    talk.find = lambda _: "no JSON"
    memory.backfill(since=since, go=True)
    talk.find = quoting(TABS)
    done = memory.backfill(since=since, go=True)
    assert isinstance(done, Mined)
    assert done.n_exchanges == 2
    plan = memory.backfill(since=since)
    assert isinstance(plan, Backfill)
    assert plan.n_exchanges == 0


# What it took


def test_what_requests_took_is_told_by_purpose_and_what_is_unknown_counts_as_unknown(
    memory: memnb.Memory, talk: Talk
) -> None:
    memory.learn("auto")
    talk.usage = Usage(100, 10, 2_000_000)
    ask(memory)
    memory.populate()
    talk.usage = None
    ask(memory)
    by_purpose = {row.purpose: row for row in memory.usage().rows}
    answers, learning = by_purpose["answers"], by_purpose["learning"]
    assert (answers.n_requests, answers.n_unknown, answers.input_tokens) == (2, 1, 100)
    assert (learning.n_requests, learning.n_unknown, learning.output_tokens) == (1, 0, 10)
    assert learning.cost_usd == pytest.approx(0.002)


def test_what_is_unknown_is_never_shown_as_nothing(memory: memnb.Memory) -> None:
    ask(memory)
    (line,) = [line for line in str(memory.usage()).splitlines() if line.startswith("answers")]
    assert line.split()[2:] == ["1", "unknown", "unknown", "1", "unknown"]


def test_a_reply_that_was_refused_is_paid_for_once(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    talk.usage, talk.find = Usage(100, 10, 5), lambda _: "no JSON"
    ask(memory)
    memory.populate()
    (learning,) = [row for row in memory.usage().rows if row.purpose == "learning"]
    assert (learning.n_requests, learning.input_tokens) == (1, 100)


def test_the_preview_is_what_is_sent_to_the_letter(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    ask(memory)
    text = memory.preview().learning.text
    assert talk.extractions == []
    memory.populate()
    (request,) = talk.extractions
    assert text == f"{request.guidance}\n\n{request.messages[0].text}"
    assert memory.preview().learning.text == ""


def test_the_preview_of_a_summary_is_what_is_sent_to_the_letter(
    memory: memnb.Memory, talk: Talk
) -> None:
    assert memory.preview().compaction.text == ""
    for _ in range(6):
        ask(memory)
    shown = memory.preview()
    n_before, text = len(talk.model.requests), shown.compaction.text
    assert all(one.text in str(shown) for one in (shown.learning, shown.compaction))
    assert len(talk.model.requests) == n_before
    memory.compact()
    request = talk.model.requests[n_before]
    assert text == f"{request.guidance}\n\n{request.messages[0].text}"
    assert memory.preview().compaction.text == ""


def test_what_rules_summarise_is_sent_to_nobody(reopen: Opener) -> None:
    model = ScriptedModel(["Yes."], capabilities=frozenset({"few_tools"}), repeat_last=True)
    memory = reopen(model=model)
    for _ in range(6):
        ask(memory)
    preview = memory.preview()
    assert preview.compaction.text == ""
    assert "nothing would be sent for compaction now: memnb's own rules do it" in str(preview)


def test_diagnostics_hold_nothing_that_was_said(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    talk.find = quoting(TABS, text="We use two tabs.")
    ask(memory)
    memory.populate()
    view = memory.diagnostics()
    assert view.rows[0].reasons == {"exact_text_mismatch": 1}
    assert "tabs" not in str(view) + view._repr_html_() + str(view.to_dict())


# With a summary


def test_what_a_summary_covers_is_looked_at_once_it_is_kept(
    memory: memnb.Memory, talk: Talk
) -> None:
    memory.learn("auto")
    for _ in range(6):
        ask(memory)
    receipt = memory.compact(rules=True)
    (row,) = memory.facts().rows
    assert row.text == TABS
    assert receipt.learned is not None
    assert f"learned {row.fact_id}" in str(receipt)
    assert [run.trigger for run in memory.diagnostics().rows] == ["compaction"]


def test_a_summary_stands_whatever_becomes_of_the_look(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    talk.find = lambda _: ModelUnavailable("gone")
    for _ in range(6):
        ask(memory)
    receipt = memory.compact(rules=True)
    assert receipt.summaries
    assert "1 run failed" in str(receipt)


def test_without_learning_a_summary_says_nothing_of_it(memory: memnb.Memory) -> None:
    for _ in range(6):
        ask(memory)
    assert memory.compact(rules=True).learned is None


def test_a_session_that_is_handed_over_is_looked_at(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    for _ in range(6):
        ask(memory)
    memory.handoff(rules=True)
    assert texts(memory) == [TABS]
    assert [run.trigger for run in memory.diagnostics().rows] == ["handoff"]
    assert memory.populate().n_exchanges == 0  # the seed is nobody's words


def test_a_turn_in_which_was_compacted_makes_a_look_due(memory: memnb.Memory, talk: Talk) -> None:
    memory.learn("auto")
    turn = ask(memory)
    assert memory.learn_after(turn, CancelSwitch()) == ()
    assert memory.learn_after(turn, CancelSwitch(), compacted=True) != ()
    assert [run.trigger for run in memory.diagnostics().rows] == ["compaction"]


def test_what_the_local_model_isnt_here_for_rules_look_for(reopen: Opener) -> None:
    memory = reopen()
    memory.config("learning.model", "rules")
    memory.learn("auto")
    memory.ask(LONG, via="agent", model=ScriptedModel(["I see."]))
    assert memory.preview().learning.text == ""
    memory.populate()
    assert texts(memory) == [TABS]
    assert [row.purpose for row in memory.usage().rows] == ["answers"]
