from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import memnb
from memnb.core.compaction import GUIDANCE
from memnb.core.messages import Request, Usage
from memnb.errors import BadModelOutput, InputError, Refused
from memnb.llm.scripted_model import ScriptedModel, ScriptedReply
from memories import EUR, SECRET, everything, saying, scripted

Opener = Callable[..., memnb.Memory]


def both(summary: Any = "They asked.", answer: Any = "ok", **options: Any) -> ScriptedModel:
    """A model that answers, and writes this where it is asked for a summary."""

    def reply(request: Request) -> Any:
        return summary if request.guidance == GUIDANCE else answer

    return ScriptedModel([reply], repeat_last=True, **{"context_tokens": 8192, **options})


def talk(memory: memnb.Memory, n: int = 5) -> None:
    for number in range(n):
        memory.ask(f"question {number} " + "x" * 200, model=saying(f"answer {number}"))


def test_compact_says_what_it_covers_and_how_much_smaller_that_is(memory: memnb.Memory) -> None:
    talk(memory)
    done = memory.compact(model=both())
    assert (done.n_exchanges, done.covered) == (3, (2, 3, 5, 6, 8, 9))
    assert done.n_bytes_after < done.n_bytes_before
    assert done.text.startswith("They asked.")
    shown = repr(done)
    assert "3 exchanges" in shown
    assert "by scripted" in shown


def test_with_rules_no_model_is_asked(memory: memnb.Memory) -> None:
    talk(memory)
    model = both()
    memory.ask("Never drop the column customer_id.", model=model)
    talk(memory, 2)
    n_before = len(model.requests)
    done = memory.compact(rules=True, model=model)
    assert (done.model, len(model.requests)) == ("", n_before)
    assert "customer_id" in done.text
    assert "by rules alone" in repr(done)


def test_with_nothing_to_summarise_it_says_so(memory: memnb.Memory) -> None:
    with pytest.raises(InputError) as caught:
        memory.compact(model=both())
    talk(memory, 2)
    with pytest.raises(InputError):
        memory.compact(model=both())
    assert "\n" not in str(caught.value)


def test_a_reply_that_is_no_summary_is_an_error_that_does_not_repeat_it(
    memory: memnb.Memory,
) -> None:
    talk(memory)
    with pytest.raises(BadModelOutput) as caught:
        memory.compact(model=both(ScriptedReply("half of a", stop="length")))
    assert "truncated" in str(caught.value)
    assert "--rules" in str(caught.value)
    assert "half of a" not in str(caught.value)


def test_a_model_cannot_compact_or_hand_off_as_the_person(memory: memnb.Memory) -> None:
    refused: list[str] = []

    def run_python() -> str:
        """Run code of the model."""
        for verb in (memory.compact, memory.handoff):
            with pytest.raises(Refused) as caught:
                verb(rules=True)
            refused.append(str(caught.value))
        return "ran"

    talk(memory)
    model = scripted(("run_python", {}), "ok")
    memory.ask("run", model=model, tools=[run_python], mode="auto")
    assert len(refused) == 2


def test_the_status_tells_how_full_the_window_is(memory: memnb.Memory) -> None:
    assert memory.status().context.n_tokens == 0
    talk(memory)
    before = memory.status()
    memory.compact(model=both())
    after = memory.status()
    assert 0 < after.context.n_tokens < before.context.n_tokens
    assert "1 compaction" in repr(after)
    assert after.window is not None


def test_a_handoff_goes_on_in_another_session(memory: memnb.Memory) -> None:
    talk(memory)
    old = memory.status().session_id
    done = memory.handoff(model=both())
    assert (done.ended, done.begun) == (old, memory.status().session_id)
    model = saying("ok")
    memory.ask("go on", model=model)
    assert "They asked." in everything(model.requests[0])
    assert "question 0" not in everything(model.requests[0])
    assert {row.session_id for row in memory.sessions().rows} == {done.ended, done.begun}


def test_a_forget_says_which_summaries_fall(memory: memnb.Memory) -> None:
    model = scripted(("memory_remember", {"text": EUR}), "ok")
    (reference,) = memory.ask(EUR, model=model, mode="auto").answer.remembered
    fact_id = reference.partition("@")[0]
    talk(memory)
    summary = f"They report: {EUR}"
    seq = memory.compact(model=both(summary)).summaries[0]
    session_id = memory.status().session_id
    preview = memory.forget(fact_id, dry_run=True)
    assert preview.summaries == (f"{session_id}:{seq}",)
    assert "would fall" in repr(preview)
    receipt = memory.forget(fact_id)
    assert receipt.summaries == preview.summaries
    assert f"{session_id}:{seq}" in receipt.excluded
    again = saying("ok")
    memory.ask("and now?", model=again)
    assert EUR not in everything(again.requests[0])


def test_purge_blanks_a_summary_with_what_it_covers(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    talk(memory)  # with the fact in sight
    memory.compact(model=both("They said it in other words: euro cents."))
    memory.forget(fact_id)
    token = memory.purge().token
    assert token
    assert "compact" in {row.type for row in memory.purge(confirm=token).rows}
    text = "".join(
        path.read_text() for path in (memory.project.folder / "sessions").glob("*.jsonl")
    )
    assert "euro cents" not in text


def test_summaries_are_not_read_as_sources(memory: memnb.Memory) -> None:
    talk(memory)
    done = memory.compact(model=both("words of a summary"))
    session_id = memory.status().session_id
    assert session_id is not None
    (seq,) = done.summaries
    assert "words of a summary" not in (memory.read(session_id, 2, seq).page.source_text or "")
    assert seq not in memory.source(session_id, 2, seq).seqs


def test_a_secret_is_in_no_summary(memory: memnb.Memory) -> None:
    memory.ask(f"my token is {SECRET}", model=saying("ok"))
    talk(memory)
    model = both()
    memory.compact(model=model)
    assert SECRET not in everything(model.requests[0])


def test_what_models_report_is_kept_for_the_next_turn(memory: memnb.Memory) -> None:
    answer = ScriptedReply("ok", usage=Usage(3000, 5, 0))
    model = both(answer=answer, context_tokens=100_000)
    memory.ask("x" * 3000, model=model)
    assert memory.runtime.calibration.factor("scripted") > 1.0
