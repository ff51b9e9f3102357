"""Facts as they are shown: tables, and histories with their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memnb.api.instants import day, not_now
from memnb.api.rendering import (
    Block,
    Grid,
    Line,
    Marked,
    Result,
    Table,
    count,
    minute,
)
from memnb.core.facts import Kind, Scope
from memnb.core.section import Choice, Standing
from memnb.errors import SourceStatus
from memnb.memory.recall import Recalled as RecalledPage
from memnb.memory.use import Uses

__all__ = [
    "MAKE_ROOM",
    "FactHistory",
    "FactRow",
    "Facts",
    "Recalled",
    "Remembered",
    "RevisionView",
    "SourceView",
    "why_out",
]

_HIDDEN_TEXT = "(text hidden)"
MAKE_ROOM = "Expire or forget what is over, or raise it: `%memory config memory.facts_max_bytes N`"
_HELD_THEN = "held then"
_DERIVED = "derived from"
_HELD = ("disputed", "source changed", "imported", _DERIVED)
"""What the reason of a fact that is held has in it."""


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact in a table; `text` is empty unless its status is valid.

    `shown` counts the requests that carried it, `used` the answers that named it; None where that
    isn't known.
    """

    fact_id: str
    revision: int
    kind: Kind
    scope: Scope
    learned: str
    status: SourceStatus
    in_prompt: bool
    reason: str
    text: str
    shown: int | None = None
    used: int | None = None

    @classmethod
    def of(cls, choice: Choice, now: str) -> FactRow:
        """The row of a fact in the wording of now; `revision` is the newest, which may be later."""
        row = cls.at(Standing(choice.fact, choice.status, ""), now)
        return replace(
            row,
            revision=choice.fact.newest,
            in_prompt=choice.is_in,
            reason=why_out(choice, now),
        )

    @classmethod
    def at(cls, standing: Standing, at: str) -> FactRow:
        """The row of a fact as it stood at a UTC stamp."""
        fact, current = standing.fact, standing.fact.current
        return cls(
            fact_id=fact.fact_id,
            revision=current.revision,
            kind=fact.kind,
            scope=fact.scope,
            learned=current.recorded_at[:10],
            status=standing.status,
            in_prompt=False,
            reason=why_out(standing, at) or _HELD_THEN,
            text=current.text if standing.status == "valid" else "",
        )


@dataclass(frozen=True, slots=True, repr=False)
class Facts(Table):
    """All facts asked for; `limit` of them are shown, from `offset` on.

    `left_out` counts those that only `everything` would have: over or to come, in dispute, or
    without evidence that holds.
    """

    row = FactRow

    project: str
    rows: tuple[FactRow, ...]
    generation: int
    offset: int = 0
    limit: int = 20
    at: str | None = None
    kind: str | None = None
    everything: bool = False
    left_out: int = 0

    def blocks(self) -> Sequence[Block]:
        """Counts, one page of the table, and where to look next."""
        n_all = len(self.rows)
        head = f"{self.project} · {count(n_all, 'fact')} · {self._summary()}"
        head += f" · generation {self.generation}"
        if not self.rows:
            return [Line(head, strong=True), Line(self._hint())]
        shown = self.rows[self.offset : self.offset + self.limit]
        grid = Grid(
            (
                *("id", "rev", "kind", "learned", "status"),
                "in prompt" if self.at is None else "then",
                "text",
            ),
            tuple(
                (
                    row.fact_id,
                    str(row.revision),
                    row.kind,
                    row.learned,
                    row.status,
                    self._place(row),
                    row.text or _HIDDEN_TEXT,
                )
                for row in shown
            ),
        )
        last = self.offset + len(shown)
        foot = f"{self.offset + 1} to {last} of {n_all} · %memory fact ID shows where it comes from"
        if last < n_all:
            foot += f" · %memory facts {self._options()}{last} shows more"
        if self.left_out:
            foot += f" · {self.left_out} more with --all"
        return [Line(head, strong=True), grid, Line(foot)]

    def _summary(self) -> str:
        if self.at is not None:
            return f"as of {day(self.at)}"
        held_back = [row for row in self.rows if not row.in_prompt]
        n_held = sum(any(word in row.reason for word in _HELD) for row in held_back)
        held = f", {n_held} held" if n_held else ""
        return f"{sum(row.in_prompt for row in self.rows)} in the prompt{held}"

    def _hint(self) -> str:
        if self.left_out and self.at is None:
            more = count(self.left_out, "more fact")
            return f"{more} with --all: over, to come, in dispute, or without valid evidence"
        if self.at is not None or self.kind is not None:
            return "`%memory facts` shows what holds now"
        return "`%memory remember TEXT` keeps the first one"

    def _options(self) -> str:
        """What was asked for, as it is typed, with a blank behind it."""
        given = ["--all"] if self.everything else []
        given += [] if self.at is None else [f"--at {self.at[:16]}Z"]
        given += [] if self.kind is None else [f"--kind {self.kind}"]
        return "".join(f"{option} " for option in given)

    def _place(self, row: FactRow) -> str:
        if self.at is not None:
            return row.reason
        if row.in_prompt:
            return f"yes, {row.reason}" if row.reason else "yes"
        return f"no: {row.reason}"


@dataclass(frozen=True, slots=True)
class SourceView:
    """One piece of evidence as a person sees it: the whole message, with the quote's span."""

    where: str
    at: str
    via: str
    notebook: str | None
    cell_id: str | None
    cell_count: int | None
    message: str
    start: int
    end: int

    @property
    def headline(self) -> str:
        """One line that names the place."""
        cell = ""
        if self.notebook:
            cell += f" · {self.notebook}"
        if self.cell_count is not None:
            cell += f" · cell [{self.cell_count}]"
        return f"{self.where} · {minute(self.at)} UTC · via {self.via}{cell}"


@dataclass(frozen=True, slots=True)
class RevisionView:
    """One wording of a fact; `text` is empty unless its status is valid.

    `when` says when it is so as far as is known now; `derived_from` has references to revisions.
    """

    revision: int
    text: str
    status: SourceStatus
    basis: str | None
    origin: str
    recorded_at: str
    valid_from: str | None
    valid_to: str | None
    sources: tuple[SourceView, ...]
    when: str = ""
    derived_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class FactHistory(Result):
    """A fact with all its revisions and their evidence, newest first."""

    fact_id: str
    kind: Kind
    scope: Scope
    in_prompt: bool
    reason: str
    revisions: tuple[RevisionView, ...]
    holds: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()
    uses: Uses | None = None

    def blocks(self) -> Sequence[Block]:
        """Every revision, with the quote marked in its whole message."""
        place = "in the prompt" if self.in_prompt else f"not in the prompt: {self.reason}"
        head = f"{self.fact_id} · {self.kind} · {place}"
        blocks: list[Block] = [Line(head, strong=True)]
        blocks += [Line(f"held: {hold}") for hold in self.holds]
        if self.holds:
            blocks.append(
                Line(
                    f"`%memory confirm {self.fact_id}` when it is still so, else `%memory correct"
                    f" {self.fact_id} {self.revisions[0].revision} TEXT`"
                )
            )
        elif _DERIVED in self.reason:
            blocks.append(Line("`%memory remember` its text again, to keep it without that"))
        if self.dependents:
            blocks.append(Line(f"derived from it: {', '.join(self.dependents)}"))
        if self.uses is not None and self.uses.n_carried:
            blocks.append(Line(_used(self.uses)))
        for revision in self.revisions:
            blocks += self._revision(revision)
        return blocks

    @staticmethod
    def _revision(revision: RevisionView) -> list[Block]:
        head = (
            f"revision {revision.revision} · {revision.when} · {revision.status}"
            f" · {revision.basis or 'no basis'} by {revision.origin}"
            f" · recorded {minute(revision.recorded_at)} UTC"
        )
        blocks: list[Block] = [Line(head, strong=True), Line(revision.text or _HIDDEN_TEXT)]
        if revision.derived_from:
            blocks.append(Line(f"{_DERIVED} {', '.join(revision.derived_from)}"))
        for source in revision.sources:
            blocks.append(Line(f"from {source.headline}"))
            if source.message:
                blocks.append(Marked(source.message, ((source.start, source.end),)))
        return blocks


@dataclass(frozen=True, slots=True, repr=False)
class Recalled(Result):
    """A page of a fact's or a session's records."""

    page: RecalledPage

    @property
    def status(self) -> SourceStatus:
        """Whether the evidence holds; text is there only when it does."""
        return self.page.status

    def to_dict(self) -> dict[str, Any]:
        """The page as the model would get it."""
        return self.page.as_dict()

    def blocks(self) -> Sequence[Block]:
        """What it is, the text, the page of records, and how to go on."""
        page = self.page
        what = page.fact_id or (page.source.session_id if page.source else "records")
        blocks: list[Block] = [Line(f"{what} · {page.status}", strong=True)]
        if page.text is not None:
            blocks.append(Line(page.text))
        if page.source is not None:
            blocks.append(Line(f"from {page.source}"))
        if page.source_text:
            blocks.append(Marked(page.source_text))
        if page.next_offset is not None:
            blocks.append(Line(f"more: the same with offset {page.next_offset}"))
        return blocks


@dataclass(frozen=True, slots=True, repr=False)
class Remembered(Result):
    """What became of a statement about a fact.

    Args:
        outcome: `new`, `already`, `renewed`, `replaced`, `corrected`, `expired`, `confirmed`, or
            `unheld` when there was nothing to confirm.
        fact_id: of which fact.
        revision: its newest revision.
        kind: of the fact.
        in_prompt: whether the next request carries it.
        reason: why not.
        flagged: facts that are held by this, since they were derived from it.
        when: when the fact is so in its newest revision, unless it is always.
        taken_back: what was to come, and comes no more.
        ended: facts that ended with it, since they contradicted it.
        disputed: facts that contradict it.
        came_from: what it rests on.
        not_applied: what was asked for with a text that is a fact already, and isn't so of it.
        displaced: facts that have no room in the prompt beside it.
    """

    outcome: str
    fact_id: str
    revision: int
    kind: Kind
    in_prompt: bool
    reason: str
    flagged: tuple[str, ...] = ()
    when: str = ""
    taken_back: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    came_from: str = "your words"
    not_applied: tuple[str, ...] = ()
    displaced: tuple[str, ...] = ()

    def blocks(self) -> Sequence[Block]:
        """One line; further ones when it isn't in the prompt, and for what else it changed."""
        when = f" · {self.when}" if self.when else ""
        said = {
            "new": f"remembered {self.fact_id} · {self.kind} · from {self.came_from}{when}",
            "already": f"already remembered as {self.fact_id} · {self.kind}; nothing was changed",
            "unheld": f"{self.fact_id} isn't held, so there is nothing to confirm",
            "renewed": f"{self.fact_id} holds again · from {self.came_from}{when}",
            "replaced": (
                f"{self.fact_id} said that once and was corrected since; nothing was changed."
                f" `%memory fact {self.fact_id}` shows it"
            ),
            "corrected": f"corrected {self.fact_id} · now revision {self.revision}{when}",
            "expired": f"{self.fact_id} ends · now revision {self.revision}{when}",
            "confirmed": f"confirmed {self.fact_id} · revision {self.revision}",
        }[self.outcome]
        blocks = [Line(said, strong=True)]
        blocks += [Line(f"comes no more: {what}") for what in self.taken_back]
        if self.ended:
            ended = ", ".join(self.ended)
            blocks.append(Line(f"ended now, since it contradicts that: {ended}"))
        if self.disputed:
            others = ", ".join(self.disputed)
            blocks.append(Line(f"in dispute with {others}: `%memory conflicts` shows them"))
        if self.not_applied:
            blocks.append(
                Line(
                    f"not applied: {', '.join(self.not_applied)}; `%memory forget {self.fact_id}`"
                    " first, then say it with --again"
                )
            )
        if not self.in_prompt:
            blocks.append(Line(_not_in_prompt(self.reason)))
        if self.displaced:
            blocks.append(
                Line(f"no room in the prompt any more for {', '.join(self.displaced)}. {MAKE_ROOM}")
            )
        if self.flagged:
            blocks.append(
                Line(
                    f"held from now on, since derived from it: {', '.join(self.flagged)};"
                    " `%memory confirm ID` for each that is still so"
                )
            )
        return blocks


def why_out(verdict: Choice | Standing, at: str) -> str:
    """Why a fact isn't sent, in the words of a table; "" when it is."""
    reason, fact = verdict.reason, verdict.fact
    if reason == "not valid":
        return verdict.status
    if reason == "not valid now":
        return not_now(fact.current, at)
    if reason == "held" and verdict.because_id:
        return f"{_DERIVED} {verdict.because_id}, which isn't in use"
    if reason == "held" or (not reason and fact.holds):
        return ", ".join(sorted({hold.reason.replace("_", " ") for hold in fact.holds}))
    return reason


def _used(uses: Uses) -> str:
    """How often a fact was of use."""
    carried = f"{count(uses.n_carried, 'request')} carried it"
    if not uses.n_cited:
        return f"{carried}, no answer has named it"
    return f"{carried}, {count(uses.n_cited, 'answer')} named it, last on {uses.last_cited[:10]}"


def _not_in_prompt(reason: str) -> str:
    if reason == "no room":
        return f"not in the prompt: the facts fill their room. {MAKE_ROOM}"
    return f"not in the prompt: {reason}"
