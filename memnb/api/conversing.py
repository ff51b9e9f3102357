"""The verbs of a conversation: ask, begin anew, go on, summarise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, get_args

from memnb.agent.ask import Ask
from memnb.agent.file_tools import file_tools
from memnb.agent.own_tools import as_tool
from memnb.agent.reply import Approve, Observe, TurnEvent
from memnb.agent.tools import Change, Tool
from memnb.agent.turn import Turn
from memnb.api.learning import Learning
from memnb.api.session_results import Reply
from memnb.api.working_results import CompactReceipt, HandoffReceipt
from memnb.core.bodies import NO_CELL, Cell, Part, Via
from memnb.core.messages import Model
from memnb.core.permissions import Mode
from memnb.errors import BadModelOutput, InputError
from memnb.memory.compacting import compact_session
from memnb.memory.handing_off import hand_off
from memnb.memory.remembering import require_fact
from memnb.speaking import in_tool_call, require_person

__all__ = ["Conversing"]

MAX_STEPS: Final = 50


class Conversing(Learning):
    """Ask a model; end a session or go on in an earlier one."""

    def new(self) -> str:
        """End the session; the next message begins another. Gives the id of the ended one."""
        require_person()
        ended = self._memory.session.session_id
        self._memory.session.end("new")
        self._answers.clear()
        return ended or ""

    def resume(self, session_id: str) -> str:
        """Go on in an earlier session; gives its id.

        Raises:
            UnknownId: no such session. SessionHeld: another process writes it.
        """
        require_person()
        self._memory.session.resume(session_id)
        self._answers.clear()
        return session_id

    def compact(self, *, rules: bool = False, model: str | Model | None = None) -> CompactReceipt:
        """Summarise all of the session but its last messages, now.

        Args:
            rules: write it by rules alone; no model is asked.
            model: who writes, instead of the configured one.

        Raises:
            InputError: there is nothing to summarise. Refused: a turn is running.
            BadModelOutput: the reply was no summary, and nothing was changed.
            GenerationChanged: something was forgotten meanwhile; the summary was discarded.
        """
        require_person()
        runtime = self._runtime
        runtime.require_same_history()
        window, writer = self._writing(rules=rules, model=model)
        done = compact_session(self._memory, fence=runtime.fence, window=window, writer=writer)
        if done.written:
            session_id = self._memory.session.session_id or ""
            return CompactReceipt.of(session_id, done, self._learn_with("compaction", session_id))
        if done.refusal is not None:
            raise BadModelOutput(
                f"nothing was changed: the model's reply was {done.refusal}. Try again,"
                " or `%memory compact --rules` does without a model."
            )
        raise InputError(
            "there is nothing to summarise: the last four messages always stay as they were said."
        )

    def handoff(self, *, rules: bool = False, model: str | Model | None = None) -> HandoffReceipt:
        """End the session, and go on in another that begins with a summary of it.

        Args:
            rules: write it by rules alone; no model is asked.
            model: who writes, instead of the configured one.

        Raises:
            InputError: there is nothing to hand over. Refused: a turn is running.
        """
        require_person()
        runtime = self._runtime
        runtime.require_same_history()
        window, writer = self._writing(rules=rules, model=model)
        done = hand_off(self._memory, fence=runtime.fence, window=window, writer=writer)
        self._answers.clear()
        return HandoffReceipt.of(done, self._learn_with("handoff", done.ended))

    def ask(
        self,
        text: str | Sequence[Part],
        *,
        model: str | Model | None = None,
        mode: Mode | None = None,
        system: str | None = None,
        tools: Sequence[Tool | Callable[..., object]] = (),
        memory: bool = True,
        private: bool = False,
        without: Sequence[str] = (),
        max_steps: int | None = None,
        on_event: Observe | None = None,
        approve: Approve | None = None,
        via: Via = "api",
        cell: Cell = NO_CELL,
    ) -> Reply:
        """Ask a model, with what the project remembers.

        Args:
            text: the message, or its parts.
            model: who answers, instead of the configured one.
            mode: `readonly`, `ask` or `auto`, instead of the configured one.
            system: replaces the constant guidance.
            tools: further tools, or typed functions with a docstring that become tools.
            memory: False: memory is neither read nor written in this turn.
            private: nothing of the turn is recorded.
            without: the ids of facts to answer without, as if they weren't known. It is a probe:
                recorded, but no later turn sees it and nothing is learned from it.
            max_steps: most requests of the turn.
            on_event: shown every event as it comes.
            approve: asked about each change; without it nobody is there to ask.
            via: how the message came.
            cell: the cell it came from.

        Raises:
            UnknownId: there is no fact to answer without; nothing was sent.
            InvalidText: the message is empty or too long; nothing was recorded.
            ModelError: the model failed; the turn is recorded as failed.
            GenerationChanged: something was forgotten meanwhile; the reply was discarded.
        """
        require_person()
        _check_ask(mode, max_steps)
        runtime = self._runtime
        runtime.require_same_history()
        settings = runtime.settings
        with_memory = memory and self._is_on
        left_out = self._left_out(without, with_memory=with_memory)
        answering = runtime.model(model)
        generation = self._memory.generation()
        asked = Ask(
            parts=(Part("typed", text),) if isinstance(text, str) else tuple(text),
            model=answering,
            mode=mode or settings.agent.mode,
            limits=runtime.limits(answering.context_tokens),
            system=system or "",
            with_memory=with_memory,
            private=private,
            auto_recall=settings.memory.auto_recall,
            without=left_out,
            learning=settings.learning.mode if self._is_learning else "off",
            tools=(
                *file_tools(runtime.files, max_bytes=settings.tools.output_bytes),
                *map(as_tool, tools),
            ),
            via=via,
            cell=cell,
            max_steps=max_steps or settings.agent.max_steps,
            output_tokens=settings.agent.output_tokens,
            timeout_seconds=float(settings.agent.timeout_seconds),
            shown_bytes=settings.tools.output_bytes,
            recorded_bytes=settings.tools.record_bytes,
            write_approval=settings.memory.write_approval,
            buffer_tokens=settings.compaction.buffer_tokens,
            threshold=settings.compaction.mid_turn_threshold,
        )
        answer = Turn(
            self._memory,
            asked,
            observe=on_event or _unseen,
            approve=approve or _nobody,
            fence=runtime.fence,
            seconds=runtime.seconds,
            in_tool_call=in_tool_call,
            calibration=runtime.calibration,
        ).run()
        if answer.message_seq is not None:
            self._answers[answer.message_seq] = (generation, answer)
        return Reply(answer)

    def _left_out(self, without: Sequence[str], *, with_memory: bool) -> tuple[str, ...]:
        """The facts that a probe leaves out: each is there, and would be looked for.

        Raises:
            UnknownId: one isn't. InputError: memory isn't read, so there is nothing to leave out.
        """
        if isinstance(without, str):
            raise InputError('without is a list of ids, such as ["F-7k2m9q"].')
        if without and not with_memory:
            raise InputError("memory isn't read in this turn, so there is nothing to leave out.")
        for fact_id in without:
            require_fact(self._memory.stores, fact_id)
        return tuple(dict.fromkeys(without))


def _check_ask(mode: str | None, max_steps: int | None) -> None:
    if mode is not None and mode not in get_args(Mode):
        raise InputError(f"mode must be {', '.join(get_args(Mode))}.")
    if max_steps is not None and not 1 <= max_steps <= MAX_STEPS:
        raise InputError(f"max_steps must be a whole number from 1 to {MAX_STEPS}.")


def _unseen(event: TurnEvent) -> None:
    del event


def _nobody(change: Change) -> bool | None:
    del change
    return None
