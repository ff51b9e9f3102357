"""The tools with which a model reads memory: facts, notes, and what was said in any session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from memnb.agent.findings import findings
from memnb.agent.tools import Plan, Tool, ToolResult, tool
from memnb.core.facts import Fact
from memnb.core.passages import SOURCE_NAMES, Passage
from memnb.core.section import Standing, fact_line
from memnb.core.snippets import SNIPPET_CHARACTERS
from memnb.core.visibility import ANY_FACT
from memnb.errors import InputError
from memnb.memory import noting, recall, searching
from memnb.memory.matching import How
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.remembering import require_fact
from memnb.memory.rereading import Rereading
from memnb.memory.searching import Search, sources_of
from memnb.memory.standing import Standings

__all__ = ["ReadingTools"]

_PER_PAGE: Final = 20
_FAR: Final = 1_000_000_000
_NOTE_BYTES: Final = 12_288
_MARK_BYTES: Final = 64
_INDEX_SECONDS: Final = 2.0
"""How long a model waits for what is new to be indexed."""
_PASSAGES: Final = 5
_MOST_PASSAGES: Final = 10
_PASSAGE_CHARACTERS: Final = 2_000

SourceName = Literal["facts", "notes", "messages", "summaries"]


@dataclass(frozen=True, slots=True)
class ReadingTools:
    """Memory as tools of one turn that change nothing.

    Args:
        memory: the project's.
        turn: the record of the message that is answered: from there on a search finds nothing.
        max_bytes: the most that a result may put before the model.
    """

    memory: ProjectMemory
    turn: int = 0
    max_bytes: int = recall.MAX_BYTES

    def tools(self) -> tuple[Tool, ...]:
        """All of them."""
        return (
            tool(self.memory_recall, access="read", trust="memory"),
            tool(self.memory_list, access="read", trust="memory"),
            tool(self.memory_search, access="read", trust="memory"),
            tool(self.memory_read, access="read", trust="memory"),
        )

    def memory_recall(
        self,
        query: str = "",
        fact_id: str = "",
        session_id: str = "",
        start: int = 0,
        end: int = 0,
        offset: int = 0,
        limit: int = 0,
    ) -> Plan:
        """Read passages for a query, a fact with its source, or records of a session.

        One of the first three says which; `limit` counts passages of a query, up to ten, else
        characters of a page.
        """
        if sum(map(bool, (query.strip(), fact_id, session_id))) != 1:
            raise InputError("give a query, or fact_id, or session_id with start and end.")

        def apply() -> ToolResult:
            if query.strip():
                return self._passages(query, limit)
            return self._page(fact_id, session_id, start, end, offset, limit)

        return Plan(apply)

    def memory_list(self, offset: int = 0) -> Plan:
        """List remembered facts with id, revision, kind and status, twenty a page."""

        def apply() -> ToolResult:
            stores = self.memory.stores
            first = min(max(0, offset), _FAR)
            ids, now = stores.facts.ids(limit=_PER_PAGE, offset=first), stores.now()
            found = self._standings(stores.facts.facts(ids, at=now), now)
            lines = [_listed(standing) for standing in found]
            n_facts = stores.facts.count()
            shown = f"{first + 1}-{first + len(found)}" if found else "none"
            head = f"{shown} of {n_facts} facts"
            carried = tuple(standing.fact.current.reference for standing in found)
            return ToolResult("\n".join([head, *lines]), record=head, carried=carried)

        return Plan(apply)

    def memory_search(
        self,
        query: str,
        how: How = "words",
        sources: Annotated[tuple[SourceName, ...], "where to look; everywhere when empty"] = (),
        limit: int = _PER_PAGE,
    ) -> Plan:
        """Find the places where facts, notes and past conversations hold these words."""

        def apply() -> ToolResult:
            return findings(self._found(query, how, sources, limit), max_bytes=self.max_bytes)

        return Plan(apply)

    def memory_read(self, name: str) -> Plan:
        """Read a note: MEMORY, scratchpad, today, a day such as 2026-11-30, or a named note."""

        def apply() -> ToolResult:
            note_name = noting.find(self.memory.stores, name)
            page = noting.preview(
                self.memory.stores,
                note_name,
                max_bytes=min(_NOTE_BYTES, self.max_bytes - _MARK_BYTES),
            )
            text = page.text or "(empty)"
            if page.is_cut:
                text += f"\n[… cut: {page.n_bytes:,} of {page.n_all_bytes:,} bytes]"
            record = f"read {note_name.relative}, {page.n_bytes:,} bytes"
            return ToolResult(text, record=record, carried=(ANY_FACT,))

        return Plan(apply)

    def _page(
        self, fact_id: str, session_id: str, start: int, end: int, offset: int, limit: int
    ) -> ToolResult:
        """A page of a fact with its source, or of records."""
        memory = self.memory
        size, max_bytes = limit or recall.DEFAULT_LIMIT, self.max_bytes
        if session_id:
            page = recall.read(
                memory.histories,
                memory.validator,
                session_id,
                start,
                end,
                offset=offset,
                limit=size,
                max_bytes=max_bytes,
            )
            shown = f"{session_id}:{start}-{end}"
            carried = (ANY_FACT, shown) if page.source is not None else ()
            return ToolResult(page.as_json(), record=f"{shown} {page.status}", carried=carried)
        now = memory.stores.now()
        (standing,) = self._standings([require_fact(memory.stores, fact_id)], now)
        reason = _why_out(standing)
        if reason:
            return ToolResult(f"{fact_id} is not in use: {reason}")
        page = recall.recall(
            memory.stores,
            memory.histories,
            memory.validator,
            fact_id,
            offset=offset,
            limit=size,
            max_bytes=max_bytes,
        )
        reference = f"{fact_id}@{page.revision}"
        return ToolResult(page.as_json(), record=f"{fact_id} {page.status}", carried=(reference,))

    def _passages(self, query: str, limit: int) -> ToolResult:
        """The passages that fit a query best, as long as there is room for them."""
        n = max(1, min(limit or _PASSAGES, _MOST_PASSAGES))
        width = min(_PASSAGE_CHARACTERS, self.max_bytes // (2 * n))
        found = self._found(query, "words", (), n, width=width, in_context=True)
        rereading = Rereading(self.memory)
        before = [rereading.before(hit.passage) for hit in found.hits]
        return findings(found, max_bytes=self.max_bytes, before=before)

    def _found(
        self,
        query: str,
        how: How,
        sources: Sequence[str],
        limit: int,
        *,
        width: int = SNIPPET_CHARACTERS,
        in_context: bool = False,
    ) -> searching.Found:
        where, skips = sources_of(sources or tuple(SOURCE_NAMES)), self._is_running
        asked = Search(query, how, where, limit, None, None, skips, width, in_context)
        return searching.search(self.memory, asked, update_seconds=_INDEX_SECONDS)

    def _is_running(self, passage: Passage) -> bool:
        """Whether it is of the exchange that is running: the model has that in sight."""
        is_here = passage.source == "message" and passage.name == self.memory.session.session_id
        return is_here and bool(self.turn) and passage.place >= self.turn

    def _standings(self, facts: Sequence[Fact], now: str) -> list[Standing]:
        """How facts stand now, in the wording of now."""
        judge = Standings(self.memory.stores, self.memory.validator, now)
        return judge.of([fact.as_of(now) for fact in facts])


def _listed(standing: Standing) -> str:
    fact, reason = standing.fact, _why_out(standing)
    if reason:
        return f"- ({reason}) [{fact.fact_id}] revision {fact.newest}"
    return f"{fact_line(fact)} revision {fact.newest}, {fact.kind}"


def _why_out(standing: Standing) -> str:
    """Why the fact's text may not be sent; "" when it may."""
    return standing.status if standing.reason == "not valid" else standing.reason
