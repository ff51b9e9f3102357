"""The verbs that look: nothing is changed by them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memnb.api import views
from memnb.api.face import Face
from memnb.api.fact_results import FactHistory, FactRow, Facts, Hits, Recalled
from memnb.api.instants import stamp
from memnb.api.session_results import Sessions, SessionView, Why
from memnb.api.workspace_results import Status
from memnb.core.facts import MAX_SOURCE_SEQS, Scope, SourceRef, require_kind
from memnb.core.section import Choice, Standing
from memnb.errors import InputError
from memnb.memory import context, recall, remembering, search
from memnb.memory.gauge import gauge
from memnb.memory.recall import DEFAULT_LIMIT

__all__ = ["Looking"]


class Looking(Face):
    """What is remembered, where it comes from, and what a turn was given of it."""

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
        at: datetime | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> Facts:
        """The facts that hold now, newest first.

        Args:
            scope: whose memory.
            kind: only facts of this kind.
            all: also those that are over, not yet so, in dispute, or whose evidence doesn't hold.
            at: what held then, in the wording of then, as far as is known now; a time without a
                zone is local.
            offset: where the rows that are shown begin.
            limit: how many are shown.
        """
        if kind is not None:
            require_kind(kind)
        then = stamp(at)
        asked_for = [
            (row, holds)
            for row, holds in (self._rows_now() if then is None else self._rows_at(then))
            if (kind is None or row.kind == kind) and (scope is None or row.scope == scope)
        ]
        rows = [row for row, holds in asked_for if all or holds]
        if offset and not 0 <= offset < max(1, len(rows)):
            raise InputError(f"the offset is beyond the end: there are {len(rows)} facts.")
        generation = self._memory.stores.facts.generation()
        return Facts(
            self.project.name,
            tuple(rows),
            generation,
            offset,
            limit,
            then,
            kind=kind,
            everything=all,
            left_out=len(asked_for) - len(rows),
        )

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
        entries = self._memory.histories.of(session_id).entries
        is_summary = {seq for seq in entries.summaries if start <= seq <= end}
        seqs = [seq for seq in range(start, end + 1) if seq not in is_summary]
        return self._memory.validator.source_ref(session_id, seqs)

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
            context=gauge(self._memory, runtime.window(), fence=runtime.fence),
            window=runtime.window(),
            learning=runtime.settings.learning.mode,
            n_waiting=self._memory.stores.candidates.count("pending"),
        )

    def _rows_now(self) -> list[tuple[FactRow, bool]]:
        """Every fact, newest first, and whether it is listed without being asked for."""
        memory, limits = self._memory, self._runtime.limits()
        with memory.stores.facts.snapshot():
            choices = list(context.choices(memory.stores, memory.validator, limits))
        now = memory.stores.now()
        rows = [(FactRow.of(choice, now), _holds(choice, now)) for choice in reversed(choices)]
        if self._is_on:
            return rows
        off = "memory is off"
        return [(replace(row, in_prompt=False, reason=off), holds) for row, holds in rows]

    def _rows_at(self, at: str) -> list[tuple[FactRow, bool]]:
        memory = self._memory
        with memory.stores.facts.snapshot():
            standings = list(context.standings(memory.stores, memory.validator, at))
        return [(FactRow.at(one, at), _holds(one, at)) for one in reversed(standings)]

    def _n_in_prompt(self) -> int:
        memory, limits = self._memory, self._runtime.limits()
        section, _ = context.memory_section(memory.stores, memory.validator, limits, fence="")
        return len(section.carried)


def _holds(verdict: Choice | Standing, at: str) -> bool:
    """Whether a fact is listed without being asked for: what is held needs a person's word."""
    fact = verdict.fact
    is_disputed = any(hold.reason == "disputed" for hold in fact.holds)
    is_listed = not is_disputed or not verdict.reason  # of a dispute what is sent
    return verdict.status == "valid" and fact.current.is_valid_at(at) and is_listed
