"""The verbs of learning: how it is set, look now, what came of it and what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from memnb.agent.summarising import writer_of
from memnb.api.face import Face
from memnb.api.instants import stamp
from memnb.api.learning_results import (
    RULES,
    Backfill,
    Diagnostics,
    LearningView,
    Mined,
    Preview,
    Previews,
    RunRow,
    UsageRow,
    UsageView,
)
from memnb.core.candidates import Reason, Trigger
from memnb.core.messages import Cancel, Model
from memnb.core.settings import setting
from memnb.errors import ConfigError, MemnbError
from memnb.llm.cancelling import CancelSwitch
from memnb.memory import compacting, extracting
from memnb.memory.compacting import Writer
from memnb.memory.finding import Quoting, Scoring, quotes
from memnb.memory.inbox import Circumstances
from memnb.memory.learning import Find, Learner, Looked, Waiting
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.usage import spent
from memnb.runtime import Runtime
from memnb.speaking import require_person

__all__ = ["Learning"]

_RULES: Final = "rules"  # in place of a model's name
_NUSD: Final = 1e-9

Progress = Callable[[int, int, str], None]
"""Told how many exchanges were looked at, of how many, and of which session."""


class Learning(Face):
    """Learn from conversations, and see what came of it."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on what `runtime` holds open; use `memnb.open()` instead."""
        super().__init__(runtime)
        self._failed_at: dict[str, int] = {}

    def learn(self, mode: str | None = None) -> LearningView:
        """How learning is set and what that means; `mode` sets it for this kernel.

        Args:
            mode: `off`, `review` or `auto`.

        Raises:
            ConfigError: there is no such mode.
        """
        if mode is not None:
            require_person()
            self._runtime.set("learning.mode", mode)
        settings = self._runtime.settings
        return LearningView(
            mode=settings.learning.mode,
            origin=settings.origin(setting("learning.mode").key),
            model=self._learner_name(),
            n_pending=self._memory.stores.candidates.count("pending"),
        )

    def populate(self, *, progress: Progress | None = None) -> Mined:
        """Look through all of this session that wasn't looked at yet.

        Raises:
            ConfigError: learning or memory is off. StoreError: memory can't be read or written.
        """
        self._require_learning()
        session_id = self._memory.session.session_id
        return self._look([session_id] if session_id else [], "populate", progress)

    def backfill(
        self,
        *,
        since: datetime | None = None,
        go: bool = False,
        progress: Progress | None = None,
    ) -> Backfill | Mined:
        """Earlier sessions that were never looked through: what it would take, or to do it.

        Without `since` these are the sessions in which learning was on, and whose kernel ended
        before all was looked through.

        Args:
            since: all sessions that began at this time or later, also those while it was off.
            go: look through them; else nothing is sent.
            progress: told how far it is.

        Raises:
            ConfigError: learning or memory is off. InputError: it isn't a time.
        """
        begins = stamp(since)
        found = list(self._learner(self._memory).never_looked_at(begins))
        if go:
            self._require_learning()
            return self._look([one.session_id for one in found], "backfill", progress, found)
        return Backfill(
            n_sessions=len(found),
            n_exchanges=sum(len(one.exchanges) for one in found),
            n_bytes=sum(one.n_bytes for one in found),
            model=self._learner_name(),
            since=begins,
        )

    def diagnostics(self, *, limit: int = 20) -> Diagnostics:
        """What the newest runs of learning came to and why; never any content."""
        runs = self._memory.stores.candidates.runs(limit=limit)
        rows = tuple(
            RunRow(
                at=run.at,
                trigger=run.trigger,
                session_id=run.session_id,
                outcome=run.outcome,
                n_supplied=run.n_supplied,
                reasons=run.reasons,
                model=run.model,
                input_tokens=run.usage.input_tokens,
                output_tokens=run.usage.output_tokens,
                run_id=run.run_id,
            )
            for run in runs
        )
        return Diagnostics(self._runtime.settings.learning.mode, rows)

    def usage(self, *, all: bool = False) -> UsageView:  # noqa: A002  # the option's name
        """What requests to models took, by what they were for; of this session, or of all."""
        memory = self._memory
        current = memory.session.session_id
        sessions = memory.stores.sessions.ids() if all else [current] if current else []
        rows = tuple(
            UsageRow(
                purpose=one.purpose,
                model=one.model,
                n_requests=one.n_requests,
                n_unknown=one.total.n_unknown,
                input_tokens=one.total.input_tokens,
                output_tokens=one.total.output_tokens,
                cost_usd=one.total.cost_nusd * _NUSD,
                n_unknown_cost=one.total.n_unknown_cost,
            )
            for one in spent(memory.stores, memory.histories, sessions)
        )
        return UsageView("all sessions" if all else "this session", rows)

    def preview(self) -> Previews:
        """Exactly what would be sent to look through this session now, and what to summarise it.

        Nothing is sent. What is too much for one request is sent in several: this is the first.
        """
        return Previews(self._preview_learning(), self._preview_compaction())

    def _preview_learning(self) -> Preview:
        memory, model = self._memory, self._model()
        session_id = memory.session.session_id
        text = ""
        if session_id is not None and model is not None and quotes(model):
            text = extracting.preview(
                memory.stores,
                memory.validator,
                memory.histories,
                session_id=session_id,
                mined=memory.stores.candidates.mined(session_id),
                context_tokens=model.context_tokens,
                fence=self._runtime.fence,
            )
        return Preview("learning", self._learner_name(), text)

    def _preview_compaction(self) -> Preview:
        try:
            window, writer = self._writing(rules=False)
        except MemnbError:  # there is no such model: who asks for a summary is told
            return Preview("compaction", self._runtime.model_name(), "")
        if writer is None:
            return Preview("compaction", RULES, "")
        fence = self._runtime.fence
        request = compacting.preview(self._memory, fence=fence, window=window, writer=writer)
        text = "" if request is None else f"{request.guidance}\n\n{request.messages[0].text}"
        return Preview("compaction", writer.name, text)

    def _writing(
        self, *, rules: bool, model: str | Model | None = None
    ) -> tuple[int | None, Writer | None]:
        """The window that a summary is for, and who writes it; None: rules alone."""
        runtime = self._runtime
        if rules:
            return runtime.window(), None
        writing = runtime.model(model)
        seconds = float(runtime.settings.agent.timeout_seconds)
        return writing.context_tokens, writer_of(writing, seconds)

    def learn_after(self, turn: int, cancel: Cancel, *, compacted: bool = False) -> tuple[str, ...]:
        """Look at what a turn said, on a thread of its own; gives lines for the person.

        Never raises for what goes wrong: the diagnostics say it.

        Args:
            turn: the number of the message that the turn answered.
            cancel: stops it.
            compacted: the conversation was compacted in the turn.
        """
        session_id = self._memory.session.session_id
        if session_id is None or not self._is_learning:
            return ()
        try:
            learner = self._learner(self._runtime.beside())
            looked = learner.after_turn(session_id, turn, cancel, compacted=compacted)
        except MemnbError:
            return ()
        return tuple(_notices(looked))

    def _learn_with(self, trigger: Trigger, session_id: str) -> Mined | None:
        """Look through a session that was just summarised or left; None when nothing is learned.

        What goes wrong is in the diagnostics: it must not fail what was done before.
        """
        if not self._is_learning:
            return None
        try:
            return self._look([session_id], trigger, None)
        except MemnbError:
            return None

    @property
    def _is_learning(self) -> bool:
        settings = self._runtime.settings
        return self._is_on and settings.learning.mode != "off" and settings.agent.mode != "readonly"

    def _require_learning(self) -> None:
        self._runtime.require_writing()
        if self._runtime.settings.learning.mode == "off":
            raise ConfigError(
                "learning is off; `%memory learn review` lets what is found wait for you,"
                " `%memory learn auto` keeps what is certain."
            )
        if self._runtime.settings.agent.mode == "readonly":
            raise ConfigError(
                "the agent may change nothing here, so nothing is learned; `%memory config"
                " agent.mode ask` lets it."
            )

    def _look(
        self,
        session_ids: Sequence[str],
        trigger: Trigger,
        progress: Progress | None,
        waiting: Iterable[Waiting] | None = None,
    ) -> Mined:
        learner, cancel = self._learner(self._memory), CancelSwitch()
        found = list(waiting) if waiting is not None else list(map(learner.waiting, session_ids))
        total = sum(len(one.exchanges) for one in found)
        looked: list[Looked] = []
        for one in found:
            done = sum(each.n_exchanges for each in looked)

            def step(n: int, so_far: int = done, what: str = one.session_id) -> None:
                if progress is not None:
                    progress(so_far + n, total, what)

            looked.append(learner.through(one.session_id, trigger, cancel, progress=step))
        return _mined(looked)

    def _learner(self, memory: ProjectMemory) -> Learner:
        settings = self._runtime.settings

        def circumstances() -> Circumstances:
            return Circumstances(
                mode=settings.learning.mode,
                agent_mode=settings.agent.mode,
                write_approval=settings.memory.write_approval,
                limits=self._runtime.limits(),
            )

        return Learner(memory, self._find(memory), circumstances, self._failed_at)

    def _find(self, memory: ProjectMemory) -> Find:
        if self._runtime.settings.learning.model == _RULES:
            return Scoring(memory)  # by the words alone: the same on every machine
        model, embed = self._model(), memory.meaning.embed
        if model is None:
            return Scoring(memory, embed=embed)
        if quotes(model):
            timeout = float(self._runtime.settings.agent.timeout_seconds)
            return Quoting(memory, model, self._runtime.fence, timeout)
        from memnb.llm.local_model import LocalModel  # noqa: PLC0415  # not at load
        from memnb.llm.span_scores import Listening  # noqa: PLC0415

        if isinstance(model, LocalModel):
            return Scoring(memory, partial(Listening, model), model.name, embed)
        return Scoring(memory, embed=embed)

    def _model(self) -> Model | None:
        """Who looks: the model that is set for learning, else the one that answers; None for rules.

        A local model whose weights aren't here is none: rules do as well as they can.
        """
        name = self._runtime.settings.learning.model
        if name == _RULES:
            return None
        try:
            model = self._runtime.model(name or None)
        except MemnbError:
            return None
        is_usable = quotes(model) or self._runtime.models.is_ready(model.name)
        return model if is_usable else None

    def _learner_name(self) -> str:
        model = self._model()
        return RULES if model is None else model.name


def _mined(looked: Sequence[Looked]) -> Mined:
    taken = [one for each in looked for one in each.taken]
    reasons: Counter[Reason] = Counter()
    for one in taken:
        reasons.update(one.reasons)
    return Mined(
        n_sessions=len(looked),
        n_exchanges=sum(each.n_exchanges for each in looked),
        learned=tuple(kept.fact_id for one in taken for kept in one.applied),
        pending=tuple(candidate for one in taken for candidate in one.pending),
        reasons=dict(reasons),
        n_failed=sum(one.outcome in ("failed", "stale") for one in taken),
        is_done=all(each.is_done for each in looked),
    )


def _notices(looked: Looked) -> Iterable[str]:
    learned = [kept.fact_id for one in looked.taken for kept in one.applied]
    n_pending = sum(len(one.pending) for one in looked.taken)
    if learned:
        yield (
            f"learned {', '.join(learned)} from what you said; `%memory recent` shows it,"
            " `%memory review undo ID` takes it back"
        )
    if n_pending:
        yield f"{n_pending} to review from what you said: `%memory review`"
