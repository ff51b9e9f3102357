"""Passages read again from where they stand: what an index says is never shown.

1. Of a fact its wording of now, while nothing keeps it out of use; of a note what the file says;
   of a message or summary what can be seen of its session.
2. What doesn't stand there any more, word for word, is no passage.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memnb.core.bodies import NO_CELL, Cell, read_user
from memnb.core.passages import Passage
from memnb.core.snippets import snippet
from memnb.core.visibility import ANY_FACT, View, is_generated
from memnb.errors import MemnbError
from memnb.memory import passages
from memnb.memory.history import History
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.standing import Standings
from memnb.storage.note_store import NoteFile
from memnb.storage.passage_table import CONTEXT_CHARACTERS

__all__ = ["Rereading", "Stands"]

VISIBLE: Final = "visible"
HOLDS: Final = "holds"
"""The status of what was said, and of a summary."""


@dataclass(frozen=True, slots=True)
class Stands:
    """A passage as it stands now, what holds of it, and the cell that it was said in."""

    passage: Passage
    status: str
    cell: Cell = NO_CELL


class Rereading:
    """Reads passages again, all as of one instant; a session or note is opened once."""

    def __init__(self, memory: ProjectMemory) -> None:
        """Read from where `memory` keeps things."""
        self._memory = memory
        self._now = memory.stores.now()
        self._standings = Standings(memory.stores, memory.validator, self._now)
        self._sessions: dict[str, tuple[History, View] | None] = {}
        self._notes: dict[str, dict[int, Passage]] = {}
        self._files: dict[str, NoteFile] | None = None

    def now(self, found: Sequence[Passage]) -> list[Stands | None]:
        """Each of these as it stands now; None for what can't be shown."""
        wanted = [one.name for one in found if one.source == "fact"]
        facts = self._facts(list(dict.fromkeys(wanted)))
        return [self._stands(one, facts) for one in found]

    def before(self, message: Passage) -> Passage | None:
        """The message before one that stands, cut; None for what is no message."""
        opened = self._session(message.name) if message.source == "message" else None
        if opened is None:
            return None
        history, seen = opened
        for seq in range(message.place - 1, 0, -1):
            if passages.is_message(history, seq) and seen.shows(seq, "working"):
                record = history.reader.records([seq]).get(seq)
                found = passages.of_message(message.name, record)
                if found is not None:
                    text = snippet(found.text, (), width=CONTEXT_CHARACTERS).text
                    return replace(found, text=text)
        return None

    def knew(self, reply: Passage, fact_ids: Collection[str]) -> bool:
        """Whether a message that stands was generated once one of these facts was in sight."""
        opened = self._session(reply.name) if reply.source == "message" else None
        if opened is None:
            return False
        entries, seq = opened[0].entries, reply.place
        seen = (entries.carriers.get(one) for one in (*fact_ids, ANY_FACT))
        return is_generated(entries.kind(seq)) and any(one and one <= seq for one in seen)

    def _stands(self, passage: Passage, facts: dict[str, Stands]) -> Stands | None:
        try:
            if passage.source == "fact":
                stands = facts.get(passage.name)
            elif passage.source == "note":
                stands = self._note(passage)
            elif passage.source == "message":
                stands = self._message(passage)
            else:
                stands = self._summary(passage)
        except MemnbError:  # what can't be read can't be shown, and stops nothing else
            return None
        if stands is None or stands.passage.reference != passage.reference:
            return None
        return stands if stands.passage.text == passage.text else None

    def _facts(self, fact_ids: list[str]) -> dict[str, Stands]:
        facts = self._memory.stores.facts.facts(fact_ids, at=self._now)
        return {
            one.fact.fact_id: Stands(
                passages.of_fact(one.fact.current),
                f"{one.status}, in dispute" if one.fact.holds else one.status,
            )
            for one in self._standings.of(facts)
            if not one.reason
        }

    def _note(self, passage: Passage) -> Stands | None:
        if passage.name not in self._notes:
            self._notes[passage.name] = self._pieces(passage.name)
        piece = self._notes[passage.name].get(passage.place)
        return None if piece is None else Stands(piece, VISIBLE)

    def _pieces(self, relative: str) -> dict[int, Passage]:
        notes = self._memory.stores.notes
        if self._files is None:
            self._files = {file.name.relative: file for file in notes.names()}
        file = self._files.get(relative)
        if file is None:
            return {}
        found = passages.of_note(notes.read(file.name), file.modified_at)
        return {piece.place: piece for piece in found}

    def _message(self, passage: Passage) -> Stands | None:
        opened = self._session(passage.name)
        if opened is None or not 0 < passage.place <= opened[0].reader.last_seq:
            return None
        (history, seen), seq = opened, passage.place
        if not passages.is_message(history, seq) or not seen.shows(seq, "working"):
            return None
        record = history.reader.records([seq]).get(seq)
        stands = passages.of_message(passage.name, record)
        if record is None or stands is None:
            return None
        cell = read_user(record).cell if record.head.type == "user" else NO_CELL
        return Stands(stands, VISIBLE, cell)

    def _summary(self, passage: Passage) -> Stands | None:
        opened = self._session(passage.name)
        if opened is None:
            return None
        history, seen = opened
        summary = self._memory.summaries.current(history, seen)
        if summary is None:
            return None
        record = history.reader.records([summary.seq]).get(summary.seq)
        at = record.head.at if record else ""
        return Stands(passages.of_summary(passage.name, summary, at), HOLDS)

    def _session(self, session_id: str) -> tuple[History, View] | None:
        """A session with what can be seen of it; None when nothing of it may be shown."""
        if session_id not in self._sessions:
            histories = self._memory.histories
            try:
                history = histories.whole(session_id)
                self._sessions[session_id] = history, histories.view(history)
            except MemnbError:
                self._sessions[session_id] = None
        return self._sessions[session_id]
