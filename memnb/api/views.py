"""What the store holds, put into the results that show it."""

from __future__ import annotations

import contextlib
from itertools import islice

from memnb.api.fact_results import FactHistory, FactRow, RevisionView, SourceView
from memnb.api.instants import when
from memnb.api.session_results import (
    Excerpt,
    MessageView,
    RecordView,
    SessionRow,
    Sessions,
    SessionView,
)
from memnb.core import visibility
from memnb.core.bodies import NO_CELL, read_assistant, read_tool, read_turn_end, read_user
from memnb.core.facts import Fact, Revision, Source
from memnb.core.records import Record
from memnb.core.section import Choice
from memnb.core.summary_bodies import read_compact, read_handoff
from memnb.errors import MemnbError, StoreDamaged
from memnb.memory import browsing, use
from memnb.memory.history import History
from memnb.memory.project_memory import ProjectMemory

__all__ = ["excerpt", "fact_history", "session", "sessions", "source_view"]

_LINE = 120
_MESSAGE = 2_000


def fact_history(memory: ProjectMemory, fact: Fact, choice: Choice) -> FactHistory:
    """A fact with its revisions, newest first, each with its evidence."""
    now = memory.stores.now()
    row = FactRow.of(choice, now)
    return FactHistory(
        fact_id=fact.fact_id,
        kind=fact.kind,
        scope=fact.scope,
        in_prompt=row.in_prompt,
        reason=row.reason,
        revisions=tuple(_revision(memory, fact, one, now) for one in reversed(fact.revisions)),
        holds=tuple(f"{hold.reason.replace('_', ' ')} ({hold.because_id})" for hold in fact.holds),
        dependents=tuple(memory.stores.facts.dependents(fact.fact_id, at=now)),
        uses=use.known_of(memory.index, fact.fact_id),
    )


def sessions(memory: ProjectMemory, limit: int, offset: int = 0) -> Sessions:
    """Sessions in which a person said something, the newest first, from `offset` on."""
    store, this = memory.stores.sessions, memory.session.session_id
    said = (
        history
        for session_id in reversed(store.ids())
        if (history := _readable(memory, session_id)) is not None
        and any(entry.type == "user" for entry in history.entries)
    )
    rows = tuple(
        SessionRow(
            session_id=history.session_id,
            started_at=_at(history, 1),
            ended_at=_at(history, history.reader.last_seq),
            notebook=_notebook(history),
            n_turns=sum(entry.asks for entry in history.entries),
            n_records=history.reader.last_seq,
            is_open=store.is_held(history.session_id),
            is_this=history.session_id == this,
            first_words=browsing.first_words(history, memory.histories.view(history)),
        )
        for history in islice(said, max(0, offset), max(0, offset) + max(0, limit))
    )
    # Within a second the ids don't tell which came first.
    newest_first = tuple(sorted(rows, key=lambda row: row.started_at, reverse=True))
    return Sessions(newest_first, max(0, offset), has_more=next(said, None) is not None)


def session(memory: ProjectMemory, session_id: str) -> SessionView:
    """The records of a session, a line each."""
    history = memory.histories.whole(session_id)
    seen = memory.histories.view(history)
    records = history.reader.records(range(1, history.reader.last_seq + 1))
    numbers = visibility.turn_numbers(history.entries)
    rows = tuple(
        RecordView(
            seq=seq,
            at=record.head.at if record else "",
            type=record.head.type if record else "damaged",
            turn=numbers.get(record.head.turn) if record else None,
            visible=seen.shows(seq, "working"),
            text=_line(record) if record and seen.shows(seq, "durable") else "",
        )
        for seq, record in records.items()
    )
    return SessionView(session_id, rows)


def excerpt(memory: ProjectMemory, session_id: str, seq: int | None, n: int) -> Excerpt:
    """The `n` messages around a record of a session, whole as far as they aren't long."""
    there = browsing.around(memory.histories, session_id, seq, n=n)
    reader = memory.histories.of(session_id).reader
    records = reader.records(there.seqs)
    rows = tuple(_message(record, seq) for record in map(records.get, there.seqs) if record)
    return Excerpt(session_id, rows, n, reader.last_seq, there.has_earlier, there.has_later)


def _revision(memory: ProjectMemory, fact: Fact, revision: Revision, now: str) -> RevisionView:
    status = memory.validator.status(revision)
    is_valid = status == "valid"
    return RevisionView(
        revision=revision.revision,
        text=revision.text if is_valid else "",
        status=status,
        basis=revision.basis,
        origin=revision.origin,
        recorded_at=revision.recorded_at,
        valid_from=revision.valid_from,
        valid_to=revision.valid_to,
        sources=tuple(source_view(memory, source, shown=is_valid) for source in revision.sources),
        when=_when(fact, revision, now),
        derived_from=tuple(
            f"{link.other_id}@{link.other_revision}" for link in revision.derived_from
        ),
    )


def _when(fact: Fact, revision: Revision, now: str) -> str:
    """When a wording is so as far as is known now."""
    interval = fact.in_force(revision)
    if interval is not None:
        return when(interval, now)
    instead = next(
        one
        for one in fact.revisions
        if one.revision > revision.revision and one.begins_by(revision.valid_from or "")
    )
    return f"replaced by revision {instead.revision}"


def source_view(memory: ProjectMemory, source: Source, *, shown: bool) -> SourceView:
    """A source with its whole message; nothing of the message when it isn't to be shown."""
    bare = SourceView(str(source.ref), "", "", None, None, None, "", 0, 0)
    history = _readable(memory, source.ref.session_id)
    if history is None:
        return bare
    seq = source.quote.seq if source.quote else source.ref.seqs[0]
    record = history.reader.records([seq]).get(seq)
    if record is None or record.head.type != "user" or not shown:
        return bare
    try:
        body = read_user(record)
    except StoreDamaged:
        return bare
    message, start, end = "".join(part.text for part in body.parts), 0, 0
    if source.quote is not None:
        before = sum(len(part.text) for part in body.parts[: source.quote.part])
        start, end = before + source.quote.start, before + source.quote.end
    return SourceView(
        where=str(source.ref),
        at=record.head.at,
        via=body.via,
        notebook=body.cell.notebook,
        cell_id=body.cell.cell_id,
        cell_count=body.cell.count,
        message=message,
        start=start,
        end=end,
    )


def _readable(memory: ProjectMemory, session_id: str) -> History | None:
    try:
        return memory.histories.of(session_id)
    except MemnbError:
        return None


def _at(history: History, seq: int) -> str:
    record = history.reader.records([seq]).get(seq)
    return record.head.at if record else ""


def _notebook(history: History) -> str | None:
    first = next((entry.seq for entry in history.entries if entry.type == "user"), None)
    record = history.reader.records([first]).get(first) if first else None
    try:
        return read_user(record).cell.notebook if record else None
    except StoreDamaged:
        return None


def _message(record: Record, anchor: int | None) -> MessageView:
    head = record.head
    speaker = "person" if head.type == "user" else head.type
    cell = NO_CELL
    with contextlib.suppress(StoreDamaged):
        cell = read_user(record).cell if head.type == "user" else NO_CELL
    text = _readable_text(record)
    text = text if len(text) <= _MESSAGE else f"{text[:_MESSAGE]}…"
    is_anchor = head.seq == anchor
    return MessageView(head.seq, head.at, speaker, text, is_anchor, cell.notebook, cell.count)


def _line(record: Record) -> str:
    text = " ".join(_readable_text(record).split())
    return text if len(text) <= _LINE else text[: _LINE - 1] + "…"


def _readable_text(record: Record) -> str:
    try:
        return _text(record)
    except StoreDamaged:
        return "(damaged)"


def _text(record: Record) -> str:
    kind = record.head.type
    if kind == "user":
        return "".join(part.text for part in read_user(record).parts)
    if kind == "assistant":
        reply = read_assistant(record)
        return reply.text or ", ".join(call.name for call in reply.calls)
    if kind == "tool":
        result = read_tool(record)
        return f"{result.name}: {result.output}"
    if kind == "turn_end":
        return read_turn_end(record).end
    if kind == "compact":
        body = read_compact(record, "")
        return f"up to record {body.cutoff - 1}, by {body.model or 'rules alone'}"
    if kind == "handoff":
        return f"from {read_handoff(record).session_id}"
    return ""
