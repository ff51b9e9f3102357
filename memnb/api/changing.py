"""The verbs that change what is remembered: only a person may say them, or a program of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memnb.api.face import Face
from memnb.api.fact_results import FactRow, Remembered
from memnb.api.forget_results import ForgetReceipt, PurgePreview, PurgeReceipt
from memnb.api.instants import bounds, stamp, taken_back
from memnb.api.session_results import Visibility
from memnb.core.facts import Scope, Source, SourceRef, require_kind, require_scope
from memnb.core.ids import require_session_id
from memnb.core.section import Choice
from memnb.errors import InputError
from memnb.memory import context, indexing, purging, receipts, remembering, stating
from memnb.memory.purge_targets import Chosen
from memnb.memory.remembering import Kept
from memnb.memory.residue import Elsewhere
from memnb.memory.stating import Said
from memnb.speaking import require_person

__all__ = ["Changing"]

_CAME_FROM = {
    "canonical": "what you said several times",
    "file_line": "a file that was read",
}
"""What a fact that isn't in somebody's words rests on, by its basis."""


class Changing(Face):
    """Remember, correct, expire, confirm, forget, purge; undo, redo, clear."""

    def remember(
        self,
        text: str,
        *,
        source: SourceRef | None = None,
        kind: str = "convention",
        scope: Scope = "project",
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        derived_from: Sequence[str] = (),
        again: bool = False,
        said: Said | None = None,
    ) -> Remembered:
        """Keep a statement as a fact, with a record of it as its evidence.

        Args:
            text: one line, at most 512 UTF-8 bytes.
            source: further records that justify it.
            kind: preference, convention, decision or observation.
            scope: whose memory; only `project` is read today.
            valid_from: since when it holds; times without a zone are local.
            valid_to: until when, not included.
            derived_from: facts that it rests on: when one changes, this one is held.
            again: state anew what was forgotten.
            said: the command as typed, for a front end.

        Raises:
            InvalidText, SecretFound, HiddenText, Refused, StoreError: nothing was kept.
        """
        self._runtime.require_writing()
        # As a sequence a text is its letters, none of which is an id.
        derived_from = [derived_from] if isinstance(derived_from, str) else derived_from
        known_kind, known_scope = require_kind(kind), require_scope(scope)
        kept = stating.remember(
            self._memory,
            text,
            said or Said(text, via="api"),
            kind=known_kind,
            scope=known_scope,
            valid_from=stamp(valid_from),
            valid_to=stamp(valid_to),
            derived_from=tuple(derived_from),
            evidence=self._extra(source),
            again=again,
        )
        outcome = self._outcome(kept)
        if kept.outcome != "already":
            return outcome
        asked = {
            "the kind": kind not in ("convention", outcome.kind),
            "its times": valid_from is not None or valid_to is not None,
            "what it is derived from": bool(derived_from),
        }
        return replace(outcome, not_applied=tuple(what for what, is_so in asked.items() if is_so))

    def correct(
        self,
        fact_id: str,
        text: str,
        *,
        revision: int,
        source: SourceRef | None = None,
        valid_from: datetime | None = None,
        said: Said | None = None,
    ) -> Remembered:
        """Say what a fact is instead; the old wording stays in its history.

        Args:
            fact_id: which.
            text: the new wording.
            revision: the newest revision, as `facts` shows it.
            source: further records that justify it.
            valid_from: since when it is so; the old wording holds before that. Without it, it was
                always so.
            said: the command as typed, for a front end.

        Raises:
            UnknownId, RevisionChanged, InvalidText, SecretFound, SourceNotValid: nothing changed.
        """
        self._runtime.require_writing()
        if not isinstance(revision, int):
            raise InputError("a revision is a whole number, such as `facts` gives it.")
        kept = stating.correct(
            self._memory,
            fact_id,
            text,
            said or Said(text, via="api"),
            expected_revision=revision,
            evidence=self._extra(source),
            valid_from=stamp(valid_from),
        )
        indexing.follow(self._memory)
        return self._outcome(kept)

    def expire(self, fact_id: str, at: datetime, *, said: Said | None = None) -> Remembered:
        """End a fact without forgetting it: from `at` on it isn't so, before that it stays so.

        Facts that are derived from it are held at once, until they are confirmed.

        Args:
            fact_id: which.
            at: the first instant at which it isn't so any more; without a zone it is local.
            said: the command as typed, for a front end.

        Raises:
            UnknownId, InputError, SourceNotValid: nothing changed.
        """
        self._runtime.require_writing()
        end = stamp(at)
        said = said or Said(f"expire {fact_id} {end}", via="api")
        kept = stating.expire(self._memory, fact_id, end, said)
        indexing.follow(self._memory)
        return self._outcome(kept)

    def confirm(self, fact_id: str, *, said: Said | None = None) -> Remembered:
        """Take a fact that is held into use again: it is still so, though its base changed.

        Raises:
            UnknownId: there is none, or it was forgotten.
        """
        self._runtime.require_writing()
        said = said or Said(f"confirm {fact_id}", via="api")
        outcome = self._outcome(stating.confirm(self._memory, fact_id, said))
        return replace(outcome, outcome="unheld") if outcome.outcome == "already" else outcome

    def forget(
        self, fact_id: str, *, dry_run: bool = False, elsewhere: Elsewhere | None = None
    ) -> ForgetReceipt:
        """Remove a fact and bar its evidence for good; a receipt says what was done and what not.

        Of a fact that was forgotten before the receipt says how things are now.

        Args:
            fact_id: which.
            dry_run: change nothing, and say what a forget would do.
            elsewhere: looks where only a front end can, such as in IPython's history.

        Raises:
            UnknownId: there never was such a fact.
        """
        if dry_run:
            return ForgetReceipt.of(
                receipts.preview(self._memory, fact_id, elsewhere=elsewhere), dry_run=True
            )
        self._runtime.require_writing()
        return ForgetReceipt.of(receipts.forget(self._memory, fact_id, elsewhere=elsewhere))

    def purge(
        self,
        session_id: str | None = None,
        start: int | None = None,
        end: int | None = None,
        *,
        confirm: str | None = None,
    ) -> PurgePreview | PurgeReceipt:
        """Blank what was said in the session files, in two steps: a preview, then its token.

        Args:
            session_id: of the records to purge; what was forgotten or holds a secret when left out.
            start: the first one.
            end: the last one.
            confirm: the token of a preview; it is good for ten minutes, once, for these bytes.

        Raises:
            UnknownId, InputError: there are no such records, or that is no token.
            Refused: the token is no longer good.
        """
        require_person()
        if confirm is not None:
            if session_id is not None:
                raise InputError("a token says itself what is purged; give it alone.")
            self._runtime.require_writing()
            return PurgeReceipt.of(purging.purge(self._memory, confirm))
        return PurgePreview.of(purging.preview(self._memory, _chosen(session_id, start, end)))

    def undo(self) -> Visibility:
        """Hide the last exchange of this session, and facts that rest on it."""
        require_person()
        turn = self._memory.session.undo()
        indexing.follow(self._memory)
        return Visibility("undo", turn)

    def redo(self) -> Visibility:
        """Show the exchange that was hidden last."""
        require_person()
        turn = self._memory.session.redo()
        indexing.follow(self._memory)
        return Visibility("redo", turn)

    def clear(self) -> Visibility:
        """Empty the working context; facts and notes stay."""
        require_person()
        self._memory.session.clear()
        indexing.follow(self._memory)
        return Visibility("clear")

    def _outcome(self, kept: Kept) -> Remembered:
        stores = self._memory.stores
        with stores.facts.snapshot():
            choice, displaced = self._choice_and_displaced(kept)
            now, fact = stores.now(), remembering.require_fact(stores, kept.fact_id)
        is_changed = kept.outcome in ("new", "renewed", "corrected", "expired")
        return Remembered(
            outcome=kept.outcome,
            fact_id=kept.fact_id,
            revision=kept.revision,
            kind=choice.fact.kind,
            in_prompt=choice.is_in,
            reason=FactRow.of(choice, now).reason,
            flagged=kept.flagged,
            when=bounds(fact.current, now) if is_changed else "",
            taken_back=tuple(taken_back(fact, now)) if is_changed and kept.revision > 1 else (),
            ended=kept.ended,
            disputed=tuple(one.because_id for one in fact.holds if one.reason == "disputed"),
            came_from=_CAME_FROM.get(fact.current.basis or "", "your words"),
            displaced=displaced,
        )

    def _choice_and_displaced(self, kept: Kept) -> tuple[Choice, tuple[str, ...]]:
        """Whether the prompt carries a fact, and what has no room any more because of it."""
        if kept.outcome in ("already", "replaced"):
            return self._choice(kept.fact_id), ()
        memory, limits = self._memory, self._runtime.limits()
        choice, displaced = context.choice_and_displaced(
            memory.stores, memory.validator, limits, kept.fact_id, memory.ranks
        )
        memory.ranks.has_said(displaced)
        return choice, displaced

    def _extra(self, source: SourceRef | None) -> tuple[Source, ...]:
        return () if source is None else (Source(self.project.store_id, source),)


def _chosen(session_id: str | None, start: int | None, end: int | None) -> Chosen | None:
    if session_id is None:
        return None
    if start is None or end is None:
        raise InputError("give the session and its first and last record, such as SESSION 2 5.")
    return Chosen(require_session_id(session_id), start, end)
