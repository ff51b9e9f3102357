"""The session that this kernel writes: begun at its first record, closed in order when it can be.

What a dead kernel left open is closed by the next one that begins a session.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from memnb.core import ids, visibility
from memnb.core.bodies import (
    SessionStartBody,
    TurnEndBody,
    clear_draft,
    redo_draft,
    session_end_draft,
    undo_draft,
)
from memnb.core.records import OPEN, ChainHead, Draft
from memnb.errors import InputError, MemnbError
from memnb.memory.history import Histories, History
from memnb.memory.probing import probed_without
from memnb.memory.stores import Stores
from memnb.storage.locks import interrupts_wait
from memnb.storage.session_writer import SessionWriter

__all__ = ["LiveSession"]

_DEAD_SESSIONS_LOOKED_AT: Final = 5


class LiveSession:
    """The one session that this kernel appends to; nothing exists before the first append."""

    def __init__(
        self, stores: Stores, histories: Histories, start: Callable[[], SessionStartBody]
    ) -> None:
        """Write into `stores`; `start` says with what a session begins."""
        self._stores = stores
        self._histories = histories
        self._start = start
        self._writer: SessionWriter | None = None
        self._beginning = threading.Lock()
        self.notices: list[str] = []

    @property
    def session_id(self) -> str | None:
        """The session's id; None before its first record."""
        return self._writer.session_id if self._writer else None

    @property
    def chain_head(self) -> ChainHead | None:
        """How far the session reaches; None before its first record."""
        return self._writer.chain_head if self._writer else None

    def append(self, *drafts: Draft, generation: int | None = None) -> tuple[int, ...]:
        """Write records, durable on return; begins the session when there is none.

        Args:
            drafts: what to write.
            generation: the generation that generated text was asked under; the present one when
                left out.

        Returns:
            Their numbers.
        """
        if generation is None:
            generation = self._stores.facts.generation()
        if self._writer is not None:
            return self._writer.append(*drafts, generation=generation)
        # An interrupt has to wait, else a session could be begun and let go of unnoticed.
        with self._beginning, interrupts_wait():
            return self._begin(drafts, generation)

    def history(self) -> History | None:
        """The session as it is on the disk; None before its first record."""
        return self._histories.of(self._writer.session_id) if self._writer else None

    def note_head(self) -> None:
        """Note in the fact database how far the session reaches; not synced: a prefix is fine."""
        if self._writer is not None:
            self._note(self._writer.chain_head, durable=False)

    def undo(self) -> int:
        """Hide the last exchange; gives the number of its turn.

        Raises:
            InputError: there is none to hide.
        """
        history = self.history()
        turn = None
        if history is not None:
            turn = visibility.last_exchange(history.entries, self._histories.view(history))
        if history is None or turn is None:
            raise InputError("nothing to undo in this session.")
        self.append(undo_draft(turn))
        return visibility.turn_numbers(history.entries)[turn]

    def redo(self) -> int:
        """Show the exchange that was hidden last; gives the number of its turn.

        A probe stays hidden.

        Raises:
            InputError: none was hidden since the last message.
        """
        history = self.history()
        turn = visibility.redoable(history.entries) if history is not None else None
        if history is None or turn is None or probed_without(history, turn):
            raise InputError("nothing to redo: no exchange was undone since the last message.")
        self.append(redo_draft(turn))
        return visibility.turn_numbers(history.entries)[turn]

    def clear(self) -> None:
        """Empty the working context; facts keep their evidence."""
        if self._writer is not None:
            self.append(clear_draft())

    def resume(self, session_id: str) -> None:
        """Go on in an earlier session of the project.

        Raises:
            UnknownId: no such session. SessionHeld: another process writes it.
        """
        self._histories.whole(session_id)
        self._stores.ensure()
        if session_id == self.session_id:
            return
        writer = self._stores.sessions.writer(session_id)
        if writer.torn is not None:
            self._say_torn(writer)
        self._note(replace(writer.chain_head, n_bytes=OPEN), durable=True)
        self._close_open_exchange(writer)
        self.end("resume")
        self._writer = writer

    def end(self, reason: str) -> None:
        """End the session, if one was begun; the next append begins another."""
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        try:
            writer.append(session_end_draft(reason), generation=self._stores.facts.generation())
            self._note(writer.chain_head, durable=True)
        finally:
            writer.close()

    def abandon(self) -> None:
        """Let go of the session without a last record."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _begin(self, drafts: Sequence[Draft], generation: int) -> tuple[int, ...]:
        if self._writer is not None:  # another thread was faster
            return self._writer.append(*drafts, generation=generation)
        self._stores.ensure()
        self._finish_what_waits()
        self._close_dead_sessions()
        session_id = ids.session_id(self._stores.clock(), self._stores.random_bytes)
        # First: one that isn't noted passes for somebody else's.
        is_noted = self._note(ChainHead(session_id, 0, "", OPEN), durable=True)
        writer = self._stores.sessions.writer(session_id)
        try:
            seqs = writer.append(self._start().draft(), *drafts, generation=generation)
            if not is_noted:
                # Another kernel may have made the database meanwhile, and noted the sessions that
                # it saw; one that makes it from now on sees this one.
                self._note(writer.chain_head, durable=True)
        except BaseException:
            writer.close()
            raise
        self._writer = writer
        return seqs[1:]

    def _note(self, head: ChainHead, *, durable: bool) -> bool:
        """Note how far a session reaches, where there are facts; gives whether there are."""
        if not self._stores.facts.exists:
            return False
        with self._stores.facts.transaction(now=self._stores.now(), durable=durable) as change:
            change.set_head(head)
        return True

    def _finish_what_waits(self) -> None:
        """What an earlier kernel couldn't finish: forgotten bytes, while another was reading."""
        with contextlib.suppress(MemnbError):
            if self._stores.facts.is_scrub_pending():
                self._stores.facts.scrub()

    def _close_dead_sessions(self) -> None:
        for session_id in reversed(self._stores.sessions.ids()[-_DEAD_SESSIONS_LOOKED_AT:]):
            # What another kernel left must never keep this one from working.
            with contextlib.suppress(MemnbError):
                self._close_dead(session_id)

    def _close_dead(self, session_id: str) -> None:
        history = self._histories.of(session_id)
        last = history.entries[-1] if history.entries else None
        is_done = last is not None and last.type in ("session_end", "damaged")
        if is_done or self._stores.sessions.is_held(session_id):
            return
        if not history.reader.torn_bytes and _open_exchange(history) is None:
            return
        writer = self._stores.sessions.writer(session_id)
        try:
            if writer.torn is not None:
                self._say_torn(writer)
            self._close_open_exchange(writer)
        finally:
            writer.close()

    def _close_open_exchange(self, writer: SessionWriter) -> None:
        turn = _open_exchange(self._histories.of(writer.session_id))
        if turn is not None:
            generation = self._stores.facts.generation()
            writer.append(TurnEndBody("lost").draft(turn), generation=generation)

    def _say_torn(self, writer: SessionWriter) -> None:
        name = writer.torn.name if writer.torn else ""
        self.notices.append(
            f"session {writer.session_id} ended in the middle of a write; the torn bytes are kept"
            f" in {name}, everything before them is whole."
        )


def _open_exchange(history: History) -> int | None:
    """The last exchange, when nothing ended it."""
    for entry in reversed(history.entries):
        if entry.type == "turn_end":
            return None
        if entry.asks:
            return entry.turn
    return None
