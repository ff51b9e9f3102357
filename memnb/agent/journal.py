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

    def open(self, body: UserBody, generation: int) -> int:
        """Record the person's message, durably; gives the turn's number."""
        ...

    def add(self, draft: Draft, generation: int) -> None:
        """Take a record; it is written with the next flush."""
        ...

    def flush(self) -> None:
        """Write what was taken, durably."""
        ...


class SessionJournal:
    """Records a turn in the live session."""

    def __init__(self, session: LiveSession) -> None:
        """Write into `session`."""
        self._session = session
        self._taken: list[tuple[Draft, int]] = []

    def open(self, body: UserBody, generation: int) -> int:
        """Record the person's message, durably; gives the turn's number."""
        (seq,) = self._session.append(body.draft(), generation=generation)
        return seq

    def add(self, draft: Draft, generation: int) -> None:
        """Take a record; it is written with the next flush."""
        self._taken.append((draft, generation))

    def flush(self) -> None:
        """Write what was taken, durably: one append for each run of equal generations."""
        while self._taken:
            generation = self._taken[0][1]
            n = next(
                (i for i, (_, other) in enumerate(self._taken) if other != generation),
                len(self._taken),
            )
            self._session.append(*(draft for draft, _ in self._taken[:n]), generation=generation)
            del self._taken[:n]


class NoJournal:
    """A private turn: nothing of it is recorded."""

    def open(self, body: UserBody, generation: int) -> int:
        """Nothing is written; the turn has number 0."""
        del body, generation
        return 0

    def add(self, draft: Draft, generation: int) -> None:
        """Nothing is written."""

    def flush(self) -> None:
        """Nothing is written."""
