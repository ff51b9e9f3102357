"""Every passage of a memory, read from where it stands: what is searched when no index can be.

Newest first as far as that is known, so that whoever stops early has seen what matters most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from memnb.core.passages import SOURCES, Passage, Source
from memnb.core.visibility import View
from memnb.errors import MemnbError
from memnb.memory import passages
from memnb.memory.history import History
from memnb.memory.project_memory import ProjectMemory

__all__ = ["every_passage"]

_FACTS: Final = 256
_RECORDS: Final = 64
_SAID: Final = frozenset({"message", "summary"})


def every_passage(
    memory: ProjectMemory, sources: Collection[Source] = SOURCES
) -> Iterator[Passage]:
    """The passages of these sources: facts, notes, then sessions, what was said before summaries.

    Whether a fact may be used wasn't looked at.
    """
    if "fact" in sources:
        yield from _facts(memory)
    if "note" in sources:
        yield from _notes(memory)
    for source in SOURCES:
        if source in _SAID and source in sources:
            for session_id in reversed(memory.stores.sessions.ids()):
                yield from _of_session(memory, session_id, source)


def _facts(memory: ProjectMemory) -> Iterator[Passage]:
    facts, now = memory.stores.facts, memory.stores.now()
    for batch in facts.batches(_FACTS, newest_first=True):
        found = {one.fact_id: passages.of_fact(one) for one in facts.changes.current(batch, now)}
        yield from (found[fact_id] for fact_id in batch if fact_id in found)


def _notes(memory: ProjectMemory) -> Iterator[Passage]:
    notes = memory.stores.notes
    for file in notes.names():
        try:
            note = notes.read(file.name)
        except MemnbError:  # one bad file must not hide the others
            continue
        yield from passages.of_note(note, file.modified_at)


def _of_session(memory: ProjectMemory, session_id: str, source: Source) -> Iterator[Passage]:
    try:
        history = memory.histories.whole(session_id)
        seen = memory.histories.view(history)
        if source == "message":
            yield from _messages(history, seen)
        else:
            yield from _summary(memory, history, seen)
    except MemnbError:  # nor may a session that can't be read
        return


def _messages(history: History, seen: View) -> Iterator[Passage]:
    for last in range(history.reader.last_seq, 0, -_RECORDS):
        wanted = [
            seq
            for seq in range(last, max(0, last - _RECORDS), -1)
            if passages.is_message(history, seq) and seen.shows(seq, "working")
        ]
        records = history.reader.records(wanted)
        found = (passages.of_message(history.session_id, records.get(seq)) for seq in wanted)
        yield from (passage for passage in found if passage is not None)


def _summary(memory: ProjectMemory, history: History, seen: View) -> Iterator[Passage]:
    summary = memory.summaries.current(history, seen)
    if summary is not None:
        record = history.reader.records([summary.seq]).get(summary.seq)
        at = record.head.at if record else ""
        yield passages.of_summary(history.session_id, summary, at)
