"""The verbs over what was learned: only a person decides what waits."""

from __future__ import annotations

from collections.abc import Sequence

from memnb.api import review_views
from memnb.api.changing import Changing
from memnb.api.fact_results import Remembered
from memnb.api.review_results import Conflicts, Inbox, Recent, Rejected, TakenBack
from memnb.errors import InputError
from memnb.memory import reviewing
from memnb.memory.stating import Said
from memnb.speaking import require_person

__all__ = ["Reviewing"]


class Reviewing(Changing):
    """Review, apply, reject, undo; what was learned lately, and what contradicts."""

    def review(self) -> Inbox:
        """What waits for you, each in the sentence it was found in.

        What holds no more, since its message was undone, forgotten or changed, expires by this.
        """
        require_person()
        return review_views.waiting(self._memory, self.project.name)

    def apply(
        self, candidate_id: str, *, text: str | None = None, said: Said | None = None
    ) -> Remembered:
        """Keep a candidate that waits as a fact.

        Args:
            candidate_id: which, as `review` shows it.
            text: your own wording in its place: it is recorded, and is the evidence.
            said: the command as typed, for a front end.

        Raises:
            UnknownId, InputError: it isn't there, or doesn't wait any more.
            SourceNotValid: what it rests on holds no more, so it expired.
            InvalidText, SecretFound, HiddenText, Refused, StoreError: nothing was kept.
        """
        self._runtime.require_writing()
        kept = reviewing.apply(self._memory, candidate_id, text=text, said=said)
        return self._outcome(kept)

    def reject(self, *candidate_ids: str, all: bool = False) -> Rejected:  # noqa: A002  # the option
        """Refuse candidates that wait; their texts are deleted, and aren't proposed again.

        Args:
            candidate_ids: which.
            all: all that wait.

        Raises:
            UnknownId, InputError: one isn't there, or doesn't wait any more; nothing was refused.
        """
        self._runtime.require_writing()
        if bool(candidate_ids) == all:
            raise InputError("name the candidates to reject, or reject all: `--all`.")
        ids: Sequence[str] | None = None if all else candidate_ids
        return Rejected(reviewing.reject(self._memory, ids))

    def unapply(self, any_id: str) -> TakenBack:
        """Take back a fact that came from the inbox; your message isn't excluded.

        Args:
            any_id: of the candidate or of its fact, as `recent` shows them.

        Raises:
            UnknownId, InputError: nothing of that id was applied.
            Refused: the fact was changed since.
        """
        self._runtime.require_writing()
        done = reviewing.take_back(self._memory, any_id)
        return TakenBack(done.candidate_id, done.fact_id, done.is_gone, done.flagged, done.back)

    def recent(self, *, limit: int = 20) -> Recent:
        """What was learned lately, newest first, and by what."""
        return review_views.recent(self._memory, self._runtime.limits(), limit)

    def conflicts(self) -> Conflicts:
        """Facts that contradict each other, side by side."""
        return review_views.conflicts(self._memory)
