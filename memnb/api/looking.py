"""The verbs that look: nothing is changed by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import overload

from memnb.api import views, why_views
from memnb.api.face import Face
from memnb.api.fact_results import FactHistory, FactRow, Facts, Recalled
from memnb.api.instants import stamp
from memnb.api.search_results import Hits, SearchHit
from memnb.api.session_results import Excerpt, Sessions, SessionView
from memnb.api.why_results import Why, WhyFact
from memnb.api.workspace_results import Status
from memnb.core.facts import MAX_SOURCE_SEQS, Scope, SourceRef, require_kind
from memnb.core.passages import SOURCE_NAMES
from memnb.core.section import Choice, Standing
from memnb.errors import InputError
from memnb.memory import browsing, context, recall, remembering, searching, use
from memnb.memory.gauge import gauge
from memnb.memory.indexing import Progress
from memnb.memory.matching import How
from memnb.memory.recall import DEFAULT_LIMIT
from memnb.memory.searching import MAX_HITS, Search, sources_of
from memnb.memory.use import Uses

__all__ = ["Looking"]


class Looking(Face):
    """What is remembered, where it comes from, and what a turn was given of it."""

    def status(self) -> Status:
        """Where memory stands: project, counts, model, settings that were ignored."""
        n_in_prompt, is_full = self._in_prompt() if self._is_on else (0, False)
        return replace(
            self._status(),
            n_in_prompt=n_in_prompt,
            is_full=is_full,
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
        end: int | None = None,
        *,
        offset: int = 0,
        limit: int = DEFAULT_LIMIT,
    ) -> Recalled:
        """A page of what can be seen of records `start` to `end` of a session, or of one record."""
        memory = self._memory
        page = recall.read(
            memory.histories,
            memory.validator,
            session_id,
            start,
            start if end is None else end,
            offset=offset,
            limit=limit,
        )
        return Recalled(page)

    def around(
        self, session_id: str, seq: int | None = None, *, n: int = browsing.DEFAULT_N
    ) -> Excerpt:
        """What was said around record `seq` of a session, `n` messages; the last without one."""
        return views.excerpt(self._memory, session_id, seq, n)

    def search(
        self,
        pattern: str,
        *,
        how: How = "words",
        sources: Sequence[str] = tuple(SOURCE_NAMES),
        limit: int = MAX_HITS,
        since: datetime | None = None,
        until: datetime | None = None,
        progress: Progress | None = None,
    ) -> Hits:
        """Where memory holds what is looked for.

        Args:
            pattern: words, which are ranked; or a text or regular expression, by `how`.
            how: `words`, `literal` or `regex`.
            sources: where to look: `facts`, `notes`, `messages`, `summaries`.
            limit: the most hits, up to 50.
            since: only what was recorded from then on; a time without a zone is local.
            until: only what was recorded before.
            progress: told how many of the sessions that are new to the index are in it.

        Raises:
            InputError: there is nothing to look for, or nowhere, or it is no regular expression.
        """
        asked = Search(pattern, how, sources_of(sources), limit, stamp(since), stamp(until))
        found = searching.search(self._memory, asked, progress=progress)
        rows = tuple(map(SearchHit.of, found.hits))
        return Hits(pattern, found.how, rows, asked.n_wanted, found.notice)

    @overload
    def why(self, turn: int | None = None) -> Why: ...

    @overload
    def why(self, turn: int | None = None, *, fact_id: str) -> WhyFact: ...

    def why(self, turn: int | None = None, *, fact_id: str | None = None) -> Why | WhyFact:
        """What memory a turn's requests carried, and what of it came into question.

        Args:
            turn: which turn of this session; the last one when left out. Exact bytes and reasons
                are there for turns of this kernel.
            fact_id: why the turn was or wasn't given this fact.

        Raises:
            UnknownId: there is no such turn or fact.
        """
        generation = self._memory.generation()
        # What an earlier turn carried may hold what was forgotten since.
        answers = {turn: a for turn, (made, a) in self._answers.items() if made == generation}
        if fact_id is None:
            return why_views.why(self._memory, answers, turn)
        return why_views.why_fact(self._memory, answers, turn, self._choice(fact_id))

    def sessions(self, *, limit: int = 20, offset: int = 0) -> Sessions:
        """Sessions in which a person said something, the newest first, from `offset` on."""
        return views.sessions(self._memory, limit, offset)

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
            choices = context.choices(memory.stores, memory.validator, limits, memory.ranks)
        now = memory.stores.now()
        uses = use.known(memory.index)
        rows = [
            (_with_use(FactRow.of(choice, now), uses), _holds(choice, now))
            for choice in reversed(choices)
        ]
        if self._is_on:
            return rows
        off = "memory is off"
        return [(replace(row, in_prompt=False, reason=off), holds) for row, holds in rows]

    def _rows_at(self, at: str) -> list[tuple[FactRow, bool]]:
        memory = self._memory
        with memory.stores.facts.snapshot():
            standings = list(context.standings(memory.stores, memory.validator, at))
        return [(FactRow.at(one, at), _holds(one, at)) for one in reversed(standings)]

    def _in_prompt(self) -> tuple[int, bool]:
        """How many facts a request carries, and whether there was no room for one that may be."""
        memory, limits = self._memory, self._runtime.limits()
        section, _ = context.memory_section(
            memory.stores, memory.validator, limits, fence="", ranks=memory.ranks
        )
        is_full = any(choice.reason == "no room" for choice in section.choices)
        return len(section.carried), is_full


def _with_use(row: FactRow, uses: Mapping[str, Uses] | None) -> FactRow:
    if uses is None:
        return row
    used = uses.get(row.fact_id, Uses())
    return replace(row, shown=used.n_carried, used=used.n_cited)


def _holds(verdict: Choice | Standing, at: str) -> bool:
    """Whether a fact is listed without being asked for: what is held needs a person's word."""
    fact = verdict.fact
    is_disputed = any(hold.reason == "disputed" for hold in fact.holds)
    is_listed = not is_disputed or not verdict.reason  # of a dispute what is sent
    return verdict.status == "valid" and fact.current.is_valid_at(at) and is_listed
