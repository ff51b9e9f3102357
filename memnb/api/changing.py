"""The verbs that change what is remembered: only a person may say them, or a program of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from memnb.api.face import Face
from memnb.api.fact_results import FactRow, ForgetReceipt, Remembered
from memnb.api.session_results import Visibility
from memnb.core import ids
from memnb.core.facts import Scope, Source, SourceRef, require_kind, require_scope
from memnb.memory import forgetting, residue, stating
from memnb.memory.stating import Said
from memnb.memory.wordings import records_holding
from memnb.speaking import require_person

__all__ = ["Changing"]


class Changing(Face):
    """Remember, correct, forget; undo, redo, clear."""

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
        known_kind, known_scope = require_kind(kind), require_scope(scope)
        kept = stating.remember(
            self._memory,
            text,
            said or Said(text, via="api"),
            kind=known_kind,
            scope=known_scope,
            valid_from=_stamp(valid_from),
            valid_to=_stamp(valid_to),
            derived_from=tuple(derived_from),
            evidence=self._extra(source),
            again=again,
        )
        choice = self._choice(kept.fact_id)
        return Remembered(
            outcome=kept.outcome,
            fact_id=kept.fact_id,
            revision=kept.revision,
            kind=choice.fact.kind,
            in_prompt=choice.is_in,
            reason=FactRow.of(choice).reason,
        )

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
            revision: the present revision, as `facts` shows it.
            source: further records that justify it.
            valid_from: since when it holds.
            said: the command as typed, for a front end.

        Raises:
            UnknownId, RevisionChanged, InvalidText, SecretFound, SourceNotValid: nothing changed.
        """
        self._runtime.require_writing()
        dependents = self._memory.stores.facts.dependents(fact_id)
        kept = stating.correct(
            self._memory,
            fact_id,
            text,
            said or Said(text, via="api"),
            expected_revision=revision,
            evidence=self._extra(source),
            valid_from=_stamp(valid_from),
        )
        choice = self._choice(fact_id)
        return Remembered(
            outcome="corrected",
            fact_id=fact_id,
            revision=kept.revision,
            kind=choice.fact.kind,
            in_prompt=choice.is_in,
            reason=FactRow.of(choice).reason,
            flagged=tuple(dependents),
        )

    def forget(self, fact_id: str) -> ForgetReceipt:
        """Remove a fact and bar its evidence for good; a receipt says what was done and what not.

        Raises:
            UnknownId: there never was such a fact.
        """
        self._runtime.require_writing()
        memory = self._memory
        forgot = forgetting.forget(
            memory.stores,
            fact_id,
            find_others=lambda texts: records_holding(memory.stores, memory.histories, texts),
        )
        pending = not forgetting.scrub(memory.stores)
        held: tuple[str, ...] = ()
        if forgot.fact is not None:
            notebooks = residue.notebooks_of(forgot.fact, memory.histories)
            held = residue.holders(memory.stores, forgot.texts, notebooks, self.project.checkout)
        return ForgetReceipt(
            fact_id=fact_id,
            first=forgot.first,
            generation=forgot.generation,
            n_revisions=forgot.n_revisions,
            n_excluded=len(forgot.excluded),
            pending=pending,
            silenced=forgot.silenced,
            flagged=forgot.flagged,
            still_held=held,
            not_looked_at=("IPython's history", "exports", "other copies"),
            kept_in=("the session files, never sent or cited again",) if forgot.first else (),
        )

    def undo(self) -> Visibility:
        """Hide the last exchange of this session, and facts that rest on it."""
        require_person()
        return Visibility("undo", self._memory.session.undo())

    def redo(self) -> Visibility:
        """Show the exchange that was hidden last."""
        require_person()
        return Visibility("redo", self._memory.session.redo())

    def clear(self) -> Visibility:
        """Empty the working context; facts and notes stay."""
        require_person()
        self._memory.session.clear()
        return Visibility("clear")

    def _extra(self, source: SourceRef | None) -> tuple[Source, ...]:
        return () if source is None else (Source(self.project.store_id, source),)


def _stamp(at: datetime | None) -> str | None:
    return None if at is None else ids.stamp(at.astimezone(UTC))
