"""One turn of the agent: the person's message, requests and tool calls, the records of it all.

1. Memory is read anew before every request, and the generation noted; when something was forgotten
   while the model answered, the reply is discarded.
2. Every ending leaves a whole exchange: interrupted and failed turns keep what came.
3. A tool that fails is told to the model; only a person's interrupt, a model's failure or a full
   disk ends the turn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from memnb.agent import prompt, tool_calls
from memnb.agent.ask import Ask, check_parts, masked
from memnb.agent.journal import Journal, NoJournal, SessionJournal
from memnb.agent.memory_tools import MemoryTools
from memnb.agent.quoting import Typed, TypedMessages
from memnb.agent.receiving import Coming, receive
from memnb.agent.reply import Answer, Approve, Observe, RequestTrace, UsageTotal
from memnb.agent.tool_calls import CallOutcome, Rules
from memnb.agent.tools import MAX_RESULT_BYTES, Change, Tool, require_distinct
from memnb.agent.working import Fitted, Paused, Working
from memnb.core.bodies import (
    LEARNING,
    WITHOUT_MEMORY,
    AssistantBody,
    ToolBody,
    TurnEnd,
    TurnEndBody,
    UserBody,
    undo_draft,
)
from memnb.core.canonical import clean_text
from memnb.core.citations import CITED
from memnb.core.cutting import cut_middle
from memnb.core.messages import Call, Message, Request
from memnb.core.recall_block import NO_RECALL, Recall
from memnb.core.screening import mask
from memnb.core.section import Section
from memnb.core.token_estimates import Calibration
from memnb.core.words import sentences
from memnb.errors import ContextTooLong, GenerationChanged, MemnbError
from memnb.memory import context, conversation, probing, reminding
from memnb.memory.project_memory import ProjectMemory
from memnb.storage.locks import interrupts_wait

__all__ = ["Turn"]

MAX_REPLY_BYTES: Final = 160 * 1024
MAX_CALLS_BYTES: Final = 96 * 1024
"""What is recorded of a reply at most: with every character escaped it still is one record."""

_AFTER_A_FORGET: Final = "not run: something was forgotten before"

_NAMED: Final = 3
"""So many of the facts that left the prompt are named in a notice."""

_EMPTY_SECTION: Final = Section("", (), ())
_TOO_LARGE: Final = Recall(notice="nothing was recalled: the window has no room for it")


class Turn:
    """One turn; `run` it once."""

    def __init__(
        self,
        memory: ProjectMemory,
        ask: Ask,
        *,
        observe: Observe,
        approve: Approve,
        fence: str,
        seconds: Callable[[], float],
        in_tool_call: Callable[[], contextlib.AbstractContextManager[None]],
        calibration: Calibration | None = None,
    ) -> None:
        """Prepare a turn.

        Args:
            memory: the project's.
            ask: what is asked.
            observe: shows events.
            approve: asks a person about a change.
            fence: a random word that stored text can't know.
            seconds: a monotonic clock.
            in_tool_call: marks the time in which a tool runs, when a model might speak as a person.
            calibration: what models have reported of their requests; nothing when left out.
        """
        self._memory = memory
        self._ask = ask
        self._observe = observe
        self._approve = approve
        self._fence = fence
        self._seconds = seconds
        self._rules = Rules(
            mode=ask.mode,
            write_approval=ask.write_approval,
            approve=self._approved,
            in_tool_call=in_tool_call,
            shown_bytes=ask.shown_bytes,
            recorded_bytes=ask.recorded_bytes,
        )
        # All that this turn generates counts as made before any forget during it.
        self._expected = generation = memory.generation()
        self._journal: Journal = (
            NoJournal() if ask.private else SessionJournal(memory.session, generation)
        )
        self._turn = 0
        self._number = 1
        self._messages: list[Message] = []
        self._working = Working(
            memory,
            ask,
            observe=observe,
            fence=fence,
            render=self._render if ask.with_memory else _no_facts,
            calibration=calibration or Calibration(),
        )
        self._typed = TypedMessages()
        self._sentences = sentences(ask.parts)
        self._open_calls: list[Call] = []
        self._outcomes: list[CallOutcome] = []
        self._traces: list[RequestTrace] = []
        self._usage = UsageTotal()
        self._notices: dict[str, None] = {}
        self._texts: list[str] = []
        self._cited: dict[str, None] = {}
        self._recall = NO_RECALL
        self._tainted = any(part.type != "typed" for part in ask.parts)

    def run(self) -> Answer:
        """Ask, answer, record.

        Returns:
            The answer; also when it was interrupted, which its `end` says.

        Raises:
            InvalidText: the message is empty or over 1 MiB; nothing was recorded.
            ModelError, GenerationChanged, StoreError: the turn is recorded as failed.
        """
        check_parts(self._ask.parts)
        require_distinct(self._tools())
        started = self._seconds()
        self._replay()
        end: TurnEnd = "failed"
        try:
            with interrupts_wait():  # what was recorded has to be ended, too
                self._open()
            end = self._steps()
        except KeyboardInterrupt:
            end = "interrupted"
        except Paused as pause:
            self._notices[str(pause)] = None
            end = "paused"
        finally:
            if self._messages:
                with interrupts_wait():
                    self._close(end)
        return self._answer(end, self._seconds() - started)

    def _replay(self) -> None:
        history = self._memory.session.history()
        if history is not None:
            self._number = 1 + sum(seq != self._turn for seq in history.entries.asked)
            seen = self._memory.histories.view(history)
            self._typed = TypedMessages(history, seen)
        self._working.read(history, self._turn)

    def _render(self, references: Iterable[str]) -> str:
        stores, validator = self._memory.stores, self._memory.validator
        without = self._ask.without
        return conversation.fact_lines(stores, validator, references, without=without)

    @property
    def _remembers(self) -> bool:
        return self._ask.with_memory

    def _open(self) -> None:
        parts = tuple(
            replace(part, text=clean_text(part.text), expr=clean_text(part.expr))
            for part in self._ask.parts
        )
        recorded, rules = masked(parts)
        body = UserBody(self._ask.via, recorded, cell=self._ask.cell, sensitive=bool(rules))
        self._turn = self._journal.open(body)
        if self._ask.without:
            self._journal.add(undo_draft(self._turn))
            self._journal.flush()  # now: whatever becomes of the turn, none carries it on
        self._working.begin(self._turn)
        if rules:
            self._notices[
                f"your message holds a secret ({', '.join(rules)}): it was sent this once, is kept"
                " masked, and will not be sent again; `%memory purge` blanks what is kept"
            ] = None
        elif not self._ask.private:
            session_id = self._memory.session.session_id or ""
            self._typed.add(Typed(session_id, self._turn, parts))
        self._messages.append(Message("user", conversation.user_text(parts, self._fence)))

    def _steps(self) -> TurnEnd:
        for _ in range(self._ask.max_steps):
            self._require_same_memory()
            tools, section = self._tools(), self._section()
            if not self._traces:
                self._remind(section)
            coming = self._request(tools, section)
            if coming.stop == "interrupted":
                return "interrupted"
            if not coming.calls:
                return "complete"
            self._call_all(tools, coming.calls)
        return "steps"

    def _section(self) -> Section:
        if not self._remembers:
            return _EMPTY_SECTION
        limits = self._ask.limits.within(self._ask.model.context_tokens)
        section, problems = context.memory_section(
            self._memory.stores,
            self._memory.validator,
            limits,
            fence=self._fence,
            without=self._ask.without,
            ranks=self._memory.ranks,
        )
        self._notices.update(dict.fromkeys((*problems, *self._caveats(section))))
        if not self._ask.without:
            self._say_what_left(self._memory.ranks.left(section.choices, limits))
        # Notes that no person vouches for are data, which may be trying to speak for them.
        self._tainted = self._tainted or section.has_untrusted_notes
        return section

    def _remind(self, section: Section) -> None:
        """Find what the message is sent with, once for all requests of the turn."""
        why_not = self._why_no_recall()
        if why_not:
            self._recall = Recall(notice=f"nothing was recalled: {why_not}")
            return
        self._recall = reminding.remind(
            self._memory,
            self._ask.parts,
            section,
            fence=self._fence,
            window=self._ask.model.context_tokens,
            without=self._ask.without,
        )
        # What was said in other sessions may repeat what a tool has read there.
        self._tainted = self._tainted or bool(self._recall.text)

    def _why_no_recall(self) -> str:
        if not self._remembers:
            return "memory isn't read in this turn"
        if self._ask.private:
            return "the turn is private"
        return "" if self._ask.auto_recall else "memory.auto_recall is off"

    def _say_what_left(self, fact_ids: Sequence[str]) -> None:
        if fact_ids:
            more = f" and {len(fact_ids) - _NAMED} more" if len(fact_ids) > _NAMED else ""
            self._notices[
                f"no room in the prompt any more for {', '.join(fact_ids[:_NAMED])}{more};"
                " `%memory facts` shows what is in"
            ] = None

    def _caveats(self, section: Section) -> Iterable[str]:
        session_id = self._memory.session.session_id
        return probing.caveats(section, self._ask.without, session_id, self._working.carries)

    def _tools(self) -> tuple[Tool, ...]:
        if not self._remembers or self._ask.private or self._ask.without:
            return self._ask.tools
        memory_tools = MemoryTools(
            self._memory,
            self._typed,
            self._expected,
            self._turn,
            max_bytes=min(self._ask.shown_bytes, MAX_RESULT_BYTES),
        ).tools()
        return (*memory_tools, *self._ask.tools)

    def _request(self, tools: Sequence[Tool], section: Section) -> Coming:
        model = self._ask.model
        offered = (
            tools if self._ask.mode != "readonly" else [t for t in tools if t.access == "read"]
        )
        fitted = self._fit(
            Request(
                guidance=self._ask.system or prompt.guidance_for(model),
                memory=section.text,
                messages=tuple(self._messages),
                tools=tuple(tool.spec for tool in offered),
                sentences=self._sentences,
                output_tokens=self._ask.output_tokens,
                timeout_seconds=self._ask.timeout_seconds,
            )
        )
        number = len(self._traces) + 1
        self._traces.append(
            RequestTrace(number, section, fitted.n_tokens, fitted.n_left_out, self._recall)
        )
        coming = Coming()
        try:
            receive(model, fitted.request, self._observe, coming)
            self._require_same_memory()
        except KeyboardInterrupt:
            coming.stop = "interrupted"
        except GenerationChanged:
            coming.discard()
            raise
        except BaseException:
            coming.stop = "failed"
            raise
        finally:
            self._take(coming)
        self._working.note(fitted, coming.usage.input_tokens)
        return coming

    def _fit(self, request: Request) -> Fitted:
        """The request with what was said before, and with what was recalled if there is room."""
        if self._recall.text:
            try:
                return self._working.fit(prompt.with_recall(request, self._recall.text))
            except (ContextTooLong, Paused):
                self._recall = _TOO_LARGE
        return self._working.fit(request)

    def _require_same_memory(self) -> None:
        """Stop when something was forgotten: what came before may hold it, in other words too."""
        if self._memory.generation() != self._expected:
            raise GenerationChanged(
                "something was forgotten while the model answered, so its reply was discarded. Run"
                " the cell again."
            )

    def _take(self, coming: Coming) -> None:
        """Record a reply as far as it came, and go on from it."""
        self._usage = self._usage.plus(coming.usage)
        text = _recordable(coming.text, MAX_REPLY_BYTES)
        calls = tuple(
            Call(
                clean_text(call.call_id),
                clean_text(call.name),
                _recordable(call.arguments, MAX_CALLS_BYTES // len(coming.calls)),
            )
            for call in coming.calls
        )
        body = AssistantBody(
            text=text,
            calls=calls,
            carried=self._traces[-1].carried,
            model=self._ask.model.name,
            params=self._params(),
            stop=coming.stop,
            usage=coming.usage,
        )
        self._journal.add(body.draft(self._turn))
        self._cited.update(dict.fromkeys((*CITED.findall(coming.text), *coming.cited)))
        if coming.text:
            self._texts.append(coming.text)
        self._messages.append(Message("assistant", coming.text, calls=tuple(coming.calls)))
        self._open_calls += coming.calls

    def _params(self) -> dict[str, str]:
        said = {
            "output_tokens": str(self._ask.output_tokens),
            **probing.params(self._ask.without),
        }
        if self._ask.learning != "off":
            said[LEARNING] = self._ask.learning
        # What was said without memory isn't learned from either.
        return said if self._remembers else {**said, WITHOUT_MEMORY: "off"}

    def _call_all(self, tools: Sequence[Tool], calls: Sequence[Call]) -> None:
        """Run the calls of one reply; once one has forgotten something, only others like it.

        What else the reply asks for was written with the forgotten text in sight.
        """
        forgot: list[tuple[Call, Message]] = []
        for call in calls:
            self._require_same_memory()
            if forgot and all(call.name != done.name for done, _ in forgot):
                self._leave_out(call, _AFTER_A_FORGET)
            elif self._call(tools, call):
                forgot.append((call, self._messages[-1]))
                self._go_on_without_what_was_forgotten(forgot)

    def _call(self, tools: Sequence[Tool], call: Call) -> bool:
        """Run one call; gives whether something was forgotten by it."""
        outcome = tool_calls.run(
            tools,
            call,
            self._rules,
            tainted=self._tainted or self._working.holds_data,
            observe=self._observe,
            before=self._journal.flush,
        )
        self._tainted = self._tainted or outcome.taints
        self._open_calls.remove(call)
        self._outcomes.append(outcome)
        self._journal.add(outcome.body.draft(self._turn))
        self._messages.append(Message("tool", outcome.shown, call_id=call.call_id, name=call.name))
        return outcome.forgot

    def _go_on_without_what_was_forgotten(self, forgot: Sequence[tuple[Call, Message]]) -> None:
        """After the turn's own forget: nothing that may hold the text is sent again.

        Of the reply nothing stays but the calls that forgot something, with their results.
        """
        self._expected = self._memory.generation()
        self._recall = NO_RECALL
        self._replay()
        excluded = self._memory.stores.facts.exclusions(self._memory.session.session_id or "")
        said, *rest = self._messages
        if self._turn in excluded:
            said, self._sentences = replace(said, text=conversation.FORGOTTEN), ()
        reply = next(message for message in reversed(rest) if message.calls)
        calls, results = zip(*forgot, strict=True)
        self._messages = [said, replace(reply, text="", calls=calls), *results]

    def _close(self, end: TurnEnd) -> None:
        body = TurnEndBody(
            end=end,
            n_requests=len(self._traces),
            cited=self._cited_of_carried(),
            remembered=self._remembered(),
        )
        for call in self._open_calls.copy():
            self._leave_out(call, conversation.NOT_RUN)
        self._journal.add(body.draft(self._turn))
        self._journal.flush()
        if self._remembers and not self._ask.private:
            # The head rides along; a store that can't take it now will with the next commit.
            with contextlib.suppress(MemnbError):
                self._memory.session.note_head()

    def _approved(self, change: Change) -> bool | None:
        """The person's answer; void when something was forgotten while they thought about it."""
        answer = self._approve(change)
        if answer:
            self._require_same_memory()
        return answer

    def _leave_out(self, call: Call, why: str) -> None:
        """Record that a call was never run."""
        self._open_calls.remove(call)
        self._journal.add(ToolBody(call.call_id, call.name, False, why, "memory").draft(self._turn))

    def _carried(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(ref for trace in self._traces for ref in trace.carried))

    def _cited_of_carried(self) -> tuple[str, ...]:
        return tuple(ref for ref in self._carried() if ref.partition("@")[0] in self._cited)

    def _remembered(self) -> tuple[str, ...]:
        return tuple(ref for outcome in self._outcomes for ref in outcome.remembered)

    def _answer(self, end: TurnEnd, seconds: float) -> Answer:
        return Answer(
            text="\n\n".join(self._texts),
            end=end,
            model=self._ask.model.name,
            session_id=None if self._ask.private else self._memory.session.session_id,
            message_seq=None if self._ask.private else self._turn,
            turn=self._number,
            n_tools=len(self._outcomes),
            usage=self._usage.with_total(self._working.usage),
            carried=self._carried(),
            cited=self._cited_of_carried(),
            remembered=self._remembered(),
            not_done=tuple(outcome.not_done for outcome in self._outcomes if outcome.not_done),
            notices=(*self._working.notices, *self._notices),
            requests=tuple(self._traces),
            seconds=seconds,
            compacted=tuple(self._working.compacted),
            without=self._ask.without,
        )


def _no_facts(_: Iterable[str]) -> str:
    return ""


def _recordable(text: str, max_bytes: int) -> str:
    return cut_middle(mask(clean_text(text))[0], max_bytes)[0]
