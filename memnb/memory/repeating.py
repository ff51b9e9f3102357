"""What a person said: the sentences of their sessions that rules read, each with where it stands.

1. Only a person's own messages count: typed in a cell that a front end ran and that could have
   asked them something, of an exchange that is complete and can still be seen.
2. Only root sessions count: those that a person began. One that began by Python, MCP or as a child,
   with a handoff, or in a run without an input prompt is none. Going on in a session that was
   resumed adds to that session; it makes no other.
3. The work is bounded: so many sessions, the newest first, and so many messages of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from memnb.core.bodies import (
    WITHOUT_MEMORY,
    Cell,
    UserBody,
    read_assistant,
    read_turn_end,
    read_user,
)
from memnb.core.canonical_rules import Form, contradicts, may_say
from memnb.core.facts import Quote, normalised
from memnb.core.promotion import messages
from memnb.core.records import Record
from memnb.core.visibility import View
from memnb.errors import MemnbError, StoreDamaged
from memnb.memory.history import Histories, History
from memnb.memory.stores import Stores

__all__ = ["MAX_MESSAGES", "MAX_SESSIONS", "Saying", "heard", "is_root", "sayings"]

MAX_SESSIONS: Final = 100
"""So many sessions are looked at, the present one included."""

MAX_MESSAGES: Final = 2000
"""So many messages of them are read."""

_BATCH: Final = 100
_BEGUN_BY_PERSON: Final = frozenset({"agent", "command"})
_SHIFTING_ID: Final = re.compile(r"[A-Za-z]\d{1,9}s[\w%=+-]+\Z", re.ASCII)
"""VS Code's: it counts cells anew whenever the notebook is opened, so it names none for long."""


@dataclass(frozen=True, slots=True)
class Saying:
    """One sentence that a rule reads, where it was said.

    Args:
        session_id: in which session.
        at: when, as a UTC stamp.
        quote: where in the record.
        form: what it says.
        cell: from which cell.
        message: a digest of the whole message, whatever its case and blanks.
        text: the sentence.
    """

    session_id: str
    at: str
    quote: Quote
    form: Form
    cell: Cell
    message: bytes
    text: str

    def repeats(self, other: Saying) -> bool:
        """Whether a re-run rather than a person said it again.

        One cell says one thing however often it runs, also in a copy of its notebook. Where no id
        names the cell, it is the same message.
        """
        if not (_names_cell(self.cell) and _names_cell(other.cell)):
            return self.message == other.message
        if self.cell.cell_id != other.cell.cell_id:
            return False
        notebooks = {self.cell.notebook, other.cell.notebook}
        return len(notebooks) == 1 or None in notebooks or self.message == other.message


def sayings(histories: Histories, session_id: str, turn: int) -> tuple[Saying, ...]:
    """What one message says; none when it, or its session, doesn't count."""
    history = histories.of(session_id)
    if not is_root(history):
        return ()
    return tuple(_in_messages(history, histories.view(history), [turn]))


def heard(
    stores: Stores,
    histories: Histories,
    forms: Sequence[Form],
    *,
    max_sessions: int = MAX_SESSIONS,
    max_messages: int = MAX_MESSAGES,
) -> tuple[Saying, ...]:
    """Where one of `forms`, or what contradicts it, was said in root sessions, oldest first."""
    found: list[Saying] = []
    categories = frozenset(form.category for form in forms)
    room = max_messages
    for session_id in reversed(stores.sessions.ids()[-max_sessions:]):
        try:
            history = histories.of(session_id)
            if not (is_root(history) and histories.is_as_noted(history)):
                continue
            asked = list(history.entries.asked[-room:])
            room -= len(asked)
            seen = histories.view(history)
            said = _in_messages(history, seen, asked, categories)
            found += [one for one in said if any(_concerns(one.form, form) for form in forms)]
        except MemnbError:
            continue  # what can't be read is no evidence, and must not stop anything
        if room <= 0:
            break
    return tuple(sorted(found, key=lambda one: (one.at, one.session_id, one.quote.seq)))


def _concerns(one: Form, form: Form) -> bool:
    return one == form or contradicts(one, form)


def is_root(history: History) -> bool:
    """Whether a person began the session."""
    for entry in history.entries:
        if entry.type == "handoff":
            return False
        if entry.type == "user":
            record = history.reader.records([entry.seq]).get(entry.seq)
            try:
                body = None if record is None else read_user(record)
            except StoreDamaged:
                body = None  # blanked by a purge, or damaged: nobody knows who began it
            return (
                body is not None
                and body.via in _BEGUN_BY_PERSON
                and body.cell.is_attended
                and not any(part.type == "seed" for part in body.parts)
            )
    return False


def _in_messages(
    history: History, seen: View, seqs: Sequence[int], categories: Collection[str] = ()
) -> Iterator[Saying]:
    """What these messages say; `categories`: only of those that may be about these."""
    for start in range(0, len(seqs), _BATCH):
        visible = [seq for seq in seqs[start : start + _BATCH] if seen.shows(seq, "working")]
        for seq, record in history.reader.records(visible).items():
            body = _own_message(record)
            if record is None or body is None:
                continue
            typed = "\n".join(part.text for part in body.parts if part.type == "typed")
            if categories and not may_say(typed, categories):
                continue
            found = messages.said(body.parts)
            if found and _is_complete(history, seq):
                message = sha256(normalised(typed).encode(errors="replace")).digest()
                for one in found:
                    part, start_at, end = one.span.part, one.span.start, one.span.end
                    yield Saying(
                        history.session_id,
                        record.head.at,
                        Quote(seq, part, start_at, end),
                        one.form,
                        body.cell,
                        message,
                        body.parts[part].text[start_at:end],
                    )


def _own_message(record: Record | None) -> UserBody | None:
    """The message of a record when a person sent it and could have been asked."""
    if record is None or record.head.type != "user":
        return None
    try:
        body = read_user(record)
    except StoreDamaged:
        return None
    is_own = body.via == "agent" and body.asks and body.cell.is_attended and not body.sensitive
    return body if is_own else None


def _is_complete(history: History, seq: int) -> bool:
    """Whether the exchange that a message opened ended in order, and memory was on in it."""
    entries = history.entries
    for number in range(seq + 1, len(entries) + 1):
        kind = entries.kind(number)
        if kind.asks:
            return False
        if entries.turn(number) != seq or kind.type not in ("assistant", "turn_end"):
            continue
        record = history.reader.records([number]).get(number)
        try:
            if record is None or (kind.type == "assistant" and _is_without_memory(record)):
                return False
            if kind.type == "turn_end":
                return read_turn_end(record).end == "complete"
        except StoreDamaged:
            return False
    return False


def _is_without_memory(reply: Record) -> bool:
    return WITHOUT_MEMORY in read_assistant(reply).params


def _names_cell(cell: Cell) -> bool:
    return cell.cell_id is not None and _SHIFTING_ID.match(cell.cell_id) is None
