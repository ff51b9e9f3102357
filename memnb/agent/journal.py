"""What of a turn is recorded: buffered, so that a plain turn costs two fsyncs, three with a fact.

The person's message is written first; all the rest in one append when the turn ends. A tool whose
effects are elsewhere has its call written before it runs.
"""

from __future__ import annotations

from typing import Protocol

from memnb.core.bodies import UserBody
from memnb.core.records import Draft
from memnb.memory.live_session import LiveSession

__all__ = ["Journal", "NoJournal", "SessionJournal"]


class Journal(Protocol):
    """Where a turn's records go."""

    def open(self, body: UserBody) -> int:
        """Record the person's message, durably; gives the number of its record."""
        ...

    def add(self, draft: Draft) -> None:
        """Take a record; it is written with the next flush."""
        ...

    def flush(self) -> None:
        """Write what was taken, durably."""
        ...


class SessionJournal:
    """Records a turn in the live session."""

    def __init__(self, session: LiveSession, generation: int) -> None:
        """Write into `session`, stamped with the generation that the turn began under."""
        self._session = session
        self._generation = generation
        self._taken: list[Draft] = []

    def open(self, body: UserBody) -> int:
        """Record the person's message, durably; gives the number of its record."""
        (seq,) = self._session.append(body.draft(), generation=self._generation)
        return seq

    def add(self, draft: Draft) -> None:
        """Take a record; it is written with the next flush."""
        self._taken.append(draft)

    def flush(self) -> None:
        """Write what was taken, durably, in one append."""
        if self._taken:
            self._session.append(*self._taken, generation=self._generation)
            self._taken.clear()


class NoJournal:
    """A private turn: nothing of it is recorded."""

    def open(self, body: UserBody) -> int:
        """Nothing is written; the record has number 0."""
        del body
        return 0

    def add(self, draft: Draft) -> None:
        """Nothing is written."""

    def flush(self) -> None:
        """Nothing is written."""
