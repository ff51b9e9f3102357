"""What memory keeps, cut into the passages that a search finds.

1. Of a message only what was typed is one, of a reply only what was said: no inserted data, no
   output of a tool, no command that stated a fact.
2. What holds a secret is none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from memnb.core.bodies import UserBody, read_assistant, read_user
from memnb.core.facts import Revision
from memnb.core.note_passages import pieces
from memnb.core.passages import Passage, Speaker
from memnb.core.records import Record
from memnb.core.secret_search import secret_spans
from memnb.errors import StoreDamaged
from memnb.memory.history import History
from memnb.memory.summaries import Summary
from memnb.storage.fact_changes import FactText
from memnb.storage.note_store import Note

__all__ = ["is_message", "of_fact", "of_message", "of_note", "of_summary", "said"]

_SAID: Final = frozenset({"quote", "statement", "canonical"})


def of_fact(fact: FactText | Revision) -> Passage:
    """A fact, as the revision says it that decides now."""
    return Passage(
        "fact",
        fact.fact_id,
        fact.revision,
        fact.text,
        fact.recorded_at,
        speaker="person" if fact.basis in _SAID else "",
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
    )


def of_note(note: Note, modified_at: str) -> Iterator[Passage]:
    """The paragraphs and lists of a note; of a daily one they are of its day."""
    at = f"{note.name.text}T00:00:00.000000Z" if note.name.kind == "daily" else modified_at
    secret = _secret_lines(note.text)
    for piece in pieces(note.text):
        lines = range(piece.line, piece.line + piece.text.count("\n") + 1)
        if secret.isdisjoint(lines) and not any(secret_spans(piece.text)):
            context = "" if any(secret_spans(piece.heading)) else piece.heading
            yield Passage("note", note.name.relative, piece.line, piece.text, at, context=context)


def of_summary(session_id: str, summary: Summary, at: str) -> Passage:
    """The summary that holds of a session."""
    return Passage("summary", session_id, summary.seq, summary.whole, at)


def of_message(session_id: str, record: Record | None) -> Passage | None:
    """What is said in a record of a session, without what stands before it; None when nothing."""
    found = said(record)
    if record is None or found is None:
        return None
    speaker, text = found
    return Passage("message", session_id, record.head.seq, text, record.head.at, speaker)


def is_message(history: History, seq: int) -> bool:
    """Whether a record may be a passage: a message that asked, or a reply."""
    kind = history.entries.kind(seq)
    return kind.type == "assistant" or (kind.type == "user" and kind.asks)


def said(record: Record | None) -> tuple[Speaker, str] | None:
    """Who says what in a record; None when it says nothing that can be found."""
    if record is None or record.body is None:
        return None
    is_reply = record.head.type == "assistant"
    try:
        text = read_assistant(record).text if is_reply else _typed(read_user(record))
    except StoreDamaged:
        return None
    return ("assistant" if is_reply else "person", text) if text.strip() else None


def _secret_lines(text: str) -> set[int]:
    """The numbers of the lines in which secrets stand: a key may go through several pieces."""
    found = secret_spans(text)
    starts = list(accumulate(map(len, text.splitlines(keepends=True)), initial=0)) if found else []
    return {
        number
        for one in found
        for number in range(bisect_right(starts, one.start), bisect_right(starts, one.end - 1) + 1)
    }


def _typed(message: UserBody) -> str:
    typed = (part.text for part in message.parts if part.type == "typed")
    return "" if message.sensitive else "".join(typed)
