from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memnb.agent.reply import Answer
from memnb.core.compaction import GUIDANCE
from memnb.core.messages import Notice, Request, Usage
from memnb.core.token_estimates import request_tokens
from memnb.errors import ContextTooLong, GenerationChanged, ModelUnavailable
from memnb.llm.scripted_model import ScriptedModel, ScriptedReply
from memories import EUR, FENCE, Desk, said, saying, scripted

WINDOW = 4096


def is_for_a_summary(request: Request) -> bool:
    return request.guidance == GUIDANCE


class Both:
    """A model that answers, and writes summaries where it is asked for one."""

    def __init__(
        self,
        *answers: Any,
        summaries: tuple[Any, ...] = ("the summary",),
        context_tokens: int = WINDOW,
        capabilities: frozenset[str] = frozenset({"tools"}),
    ) -> None:
        self.answers = list(answers) or ["ok"]
        self.summaries = list(summaries)
        self.model = ScriptedModel(
            [self._reply],
            context_tokens=context_tokens,
            repeat_last=True,
            capabilities=capabilities,
        )

    def _reply(self, request: Request) -> Any:
        waiting = self.summaries if is_for_a_summary(request) else self.answers
        reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return reply(request) if callable(reply) else reply

    @property
    def asked(self) -> list[Request]:
        """The requests for answers."""
        return [request for request in self.model.requests if not is_for_a_summary(request)]

    @property
    def for_summaries(self) -> list[Request]:
        return [request for request in self.model.requests if is_for_a_summary(request)]


def talk(desk: Desk, n: int, *, first: int = 1, size: int = 900) -> None:
    for number in range(first, first + n):
        desk.ask(f"question {number} " + "x" * size, saying(f"answer {number}"))


def ask(desk: Desk, text: str, both: Both, **options: Any) -> Answer:
    options = {"output_tokens": 256, "with_memory": False, **options}
    return desk.ask(text, both.model, **options)


def read() -> str:
    """Read much."""
    return "line of a file\n" * 250


# --- before a request that wouldn't fit ----------------------------------------------------------


def test_what_does_not_fit_is_summarised_before_the_request(desk: Desk) -> None:
    talk(desk, 14)
    both = Both("fine")
    answer = ask(desk, "and now?", both)
    assert answer.text == "fine"
    (request,) = both.asked
    assert request.messages[0].text.startswith(f"<{FENCE} summary")
    assert "the summary" in request.messages[0].text
    assert request_tokens(request) + 256 <= WINDOW
    assert len(desk.bodies("compact")) == len(answer.compacted) >= 1
    assert "summarised" in answer.notices[0]
    assert any(isinstance(event, Notice) for event in desk.events)


def test_nothing_is_lost_between_summary_and_what_is_sent(desk: Desk) -> None:
    talk(desk, 14)
    both = Both()
    answer = ask(desk, "and now?", both)
    covered = {seq for one in answer.compacted for seq in one.covered}
    asked = [record.head.seq for record in desk.records() if record.head.type == "user"]
    for number, seq in enumerate(asked[:-1], 1):
        is_sent = f"question {number} " in said(both.asked[0]).replace("- question", "")
        assert (seq in covered) != is_sent


def test_what_fits_is_not_summarised(desk: Desk) -> None:
    talk(desk, 2)
    both = Both()
    answer = ask(desk, "and now?", both)
    assert (both.for_summaries, answer.notices, answer.compacted) == ([], (), ())


def test_it_is_summarised_at_the_threshold_though_it_would_fit(desk: Desk) -> None:
    talk(desk, 6, size=600)
    assert ask(desk, "once", Both(), threshold=85, buffer_tokens=256).compacted == ()
    assert ask(desk, "twice", Both(), threshold=30, buffer_tokens=256).compacted != ()


def test_the_summary_is_used_until_the_next_one(desk: Desk) -> None:
    talk(desk, 14)
    both = Both(summaries=("the first", "the second"))
    ask(desk, "and now?", both)
    n = len(both.for_summaries)
    newest = desk.bodies("compact")[-1]["summary"]
    ask(desk, "and then?", both)
    assert len(both.for_summaries) == n
    assert newest in said(both.asked[1])
    assert "question 14 " in said(both.asked[1])


def test_it_is_counted_with_the_turn_once(desk: Desk) -> None:
    talk(desk, 14)
    both = Both(
        ScriptedReply("fine", usage=Usage(100, 10, 1000)),
        summaries=(ScriptedReply("the summary", usage=Usage(50, 5, 500)),),
    )
    usage = ask(desk, "and now?", both).usage
    n = len(both.for_summaries)
    assert (usage.input_tokens, usage.output_tokens) == (100 + 50 * n, 10 + 5 * n)
    assert usage.n_unknown == 0


def test_unknown_usage_is_counted_as_unknown(desk: Desk) -> None:
    talk(desk, 14)
    both = Both(ScriptedReply("fine", usage=Usage(100, 10, 1000)))
    usage = ask(desk, "and now?", both).usage
    assert usage.n_unknown == len(both.for_summaries)
    assert desk.bodies("compact")[0]["usage"]["input_tokens"] is None


def test_a_small_model_is_not_asked_and_rules_write(desk: Desk) -> None:
    desk.ask("Never drop the column customer_id.", saying("ok"))
    talk(desk, 14)
    both = Both(capabilities=frozenset({"few_tools"}))
    answer = ask(desk, "and now?", both)
    assert (answer.end, both.for_summaries) == ("complete", [])
    assert "customer_id" in said(both.asked[0])
    assert "by rules alone" in answer.notices[0]


# --- in the middle of a turn ---------------------------------------------------------------------


def test_earlier_exchanges_are_summarised_in_the_middle_of_a_turn(desk: Desk) -> None:
    talk(desk, 7)
    both = Both(ScriptedReply(calls=(("read", {}),)), "read it")
    answer = ask(desk, "read it", both, tools=[read])
    assert answer.text == "read it"
    first, second = both.asked
    assert "the summary" not in said(first)
    assert "the summary" in said(second)
    assert [message.role for message in second.messages[-3:]] == ["user", "assistant", "tool"]
    assert sum("read it" in message.text for message in second.messages) == 1
    assert desk.types().count("compact") == 1
    assert desk.bodies("turn_end")[-1]["end"] == "complete"


def test_the_running_exchange_is_never_covered(desk: Desk) -> None:
    talk(desk, 7)
    both = Both(ScriptedReply(calls=(("read", {}),)), "read it")
    answer = ask(desk, "read it", both, tools=[read])
    covered = [seq for one in answer.compacted for seq in one.covered]
    assert answer.message_seq is not None
    assert max(covered) < answer.message_seq
    assert desk.bodies("compact")[0]["cutoff"] <= answer.message_seq


# --- when it fails -------------------------------------------------------------------------------

BAD = [
    pytest.param(ScriptedReply("half", stop="length"), "truncated", id="truncated"),
    pytest.param(ScriptedReply(calls=(("read", {}),)), "called tools", id="calls tools"),
    pytest.param(ScriptedReply("  "), "empty", id="empty"),
    pytest.param(ScriptedReply("x" * 30_000), "too long", id="too long"),
    pytest.param(ModelUnavailable("gone; try again"), "failed", id="fails"),
]


@pytest.mark.parametrize(("reply", "why"), BAD)
def test_when_it_fails_and_the_request_still_fits_the_turn_goes_on_and_says_so(
    desk: Desk, reply: Any, why: str
) -> None:
    talk(desk, 6, size=600)
    both = Both("fine", summaries=(reply,))
    answer = ask(desk, "and now?", both, threshold=30)
    assert (answer.end, answer.text) == ("complete", "fine")
    assert why in answer.notices[0]
    assert desk.bodies("compact") == []
    assert desk.bodies("memory_usage")[0]["outcome"] == why
    assert "question 1 " in said(both.asked[0])


def test_a_turn_asks_once_for_a_summary_that_fails(desk: Desk) -> None:
    talk(desk, 6, size=600)
    both = Both(ScriptedReply(calls=(("read", {}),)), "fine", summaries=(BAD[0].values[0],))
    assert ask(desk, "and now?", both, threshold=30, tools=[read]).end == "complete"
    assert (len(both.asked), len(both.for_summaries)) == (2, 1)


@pytest.mark.parametrize(("reply", "why"), BAD)
def test_when_it_fails_and_nothing_fits_rules_write_the_summary(
    desk: Desk, reply: Any, why: str
) -> None:
    desk.ask("Never drop the column customer_id.", saying("ok"))
    talk(desk, 14)
    both = Both("fine", summaries=(reply,))
    answer = ask(desk, "and now?", both)
    assert answer.text == "fine"
    assert why in " ".join(answer.notices)
    assert "by rules alone" in " ".join(answer.notices)
    assert len(both.for_summaries) == 1
    (body,) = desk.bodies("compact")
    assert (body["summary"], body["model"]) == ("", "")
    assert "customer_id" in said(both.asked[0])


def test_a_conversation_that_cannot_be_made_to_fit_pauses_the_turn(desk: Desk) -> None:
    for _ in range(2):
        desk.ask("x" * 6000, saying("ok"))
    both = Both()
    answer = ask(desk, "and now?", both)
    assert (answer.end, answer.text) == ("paused", "")
    assert both.model.requests == []
    assert "%memory handoff" in answer.notices[0]
    assert "\n" not in answer.notices[0]
    assert desk.bodies("turn_end")[-1]["end"] == "paused"
    assert desk.bodies("compact") == []


def test_a_paused_message_is_not_sent_again(desk: Desk) -> None:
    for _ in range(2):
        desk.ask("x" * 6000, saying("ok"))
    ask(desk, "the paused one", Both())
    large = Both(context_tokens=32_768)
    assert ask(desk, "and now?", large).end == "complete"
    assert "the paused one" not in said(large.asked[0])


def test_a_turn_whose_own_tools_fill_the_window_pauses_and_keeps_what_came(desk: Desk) -> None:
    calls = [ScriptedReply(f"step {n}", calls=(("read", {}),)) for n in range(8)]
    both = Both(*calls, "never")
    answer = ask(desk, "read all", both, tools=[read])
    assert answer.end == "paused"
    assert answer.text.startswith("step 0")
    assert desk.types()[-1] == "turn_end"
    assert all(request_tokens(request) + 256 <= WINDOW for request in both.asked)


def test_a_message_that_alone_is_too_large_is_refused(desk: Desk) -> None:
    talk(desk, 3)
    with pytest.raises(ContextTooLong):
        ask(desk, "x" * 20_000, Both())
    assert desk.bodies("turn_end")[-1]["end"] == "failed"


def test_a_private_turn_writes_no_summary_and_says_what_was_left_out(desk: Desk) -> None:
    talk(desk, 14)
    before = desk.transcript()
    both = Both()
    answer = ask(desk, "and now?", both, private=True)
    assert answer.end == "complete"
    assert answer.requests[0].n_left_out or "no room" in answer.notices[0]
    assert "question 14 " in said(both.asked[0])
    assert "question 1 " not in said(both.asked[0])
    assert desk.transcript() == before


def test_what_is_forgotten_while_a_summary_is_written_ends_the_turn(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    talk(desk, 14)

    def forget(_: Request) -> str:
        desk.forget(fact_id)
        return "all of it"

    with pytest.raises(GenerationChanged):
        ask(desk, "and now?", Both(summaries=(forget,)))
    assert desk.bodies("compact") == []
    assert desk.bodies("turn_end")[-1]["end"] == "failed"


def test_an_interrupt_while_a_summary_is_written_ends_the_turn(desk: Desk) -> None:
    talk(desk, 14)
    answer = ask(desk, "and now?", Both(summaries=(KeyboardInterrupt(),)))
    assert answer.end == "interrupted"
    assert desk.bodies("compact") == []
    assert desk.bodies("memory_usage")[0]["outcome"] == "interrupted"


# --- what a summary means for permissions --------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "n_changes"),
    [
        pytest.param(lambda desk: talk(desk, 1), 0, id="only words"),
        pytest.param(
            lambda desk: desk.ask("read", scripted(("read", {}), "ok"), tools=[read], mode="auto"),
            1,
            id="what a tool read",
        ),
    ],
)
def test_data_that_is_summarised_still_makes_a_turn_ask(
    desk: Desk, first: Callable[[Desk], Any], n_changes: int
) -> None:
    first(desk)
    talk(desk, 14)
    both = Both(ScriptedReply(calls=(("memory_write", {"name": "plan", "text": "x"}),)), "ok")
    ask(desk, "note it", both, with_memory=True, mode="auto")
    assert len(desk.changes) == n_changes
    assert desk.bodies("compact")


# --- a long session ------------------------------------------------------------------------------


def test_five_hundred_exchanges_run_through_a_small_window_and_nothing_is_lost(
    desk: Desk,
) -> None:
    both = Both("noted " + "y" * 300, context_tokens=8192)
    for number in range(500):
        answer = ask(desk, f"question {number}: file{number}.csv " + "x" * 400, both)
        assert answer.end == "complete"
    assert all(request_tokens(r) + r.output_tokens <= 8192 for r in both.model.requests)
    bodies = desk.bodies("compact")
    seqs = [record.head.seq for record in desk.records() if record.head.type == "compact"]
    assert len(bodies) >= 6
    assert [body["prior"] and body["prior"]["seq"] for body in bodies] == [None, *seqs[:-1]]
    # Every message is covered or still sent, and each was shown to the writer of a summary once.
    covered = {
        seq
        for ref in bodies[-1]["evidence"]
        for first, last in ref["ranges"]
        for seq in range(first, last + 1)
    }
    asked = [record.head.seq for record in desk.records() if record.head.type == "user"]
    shown = [request.messages[0].text.split("after it>")[-1] for request in both.for_summaries]
    for number, seq in enumerate(asked):
        name = f"question {number}:"
        assert sum(name in text for text in shown) == (seq in covered)
        assert seq in covered or name in said(both.asked[-1])
