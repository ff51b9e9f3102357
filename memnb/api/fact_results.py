"""Facts as they are shown: tables, histories with their evidence, receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memnb.api.rendering import (
    Block,
    Grid,
    Line,
    Marked,
    Result,
    Table,
    count,
    fields_of,
    minute,
    names_of,
)
from memnb.core.facts import Kind, Scope
from memnb.core.section import Choice
from memnb.errors import SourceStatus
from memnb.memory.recall import Recalled as RecalledPage
from memnb.memory.search import Hit

__all__ = [
    "FactHistory",
    "FactRow",
    "Facts",
    "ForgetReceipt",
    "Hits",
    "Recalled",
    "Remembered",
    "RevisionView",
    "SourceView",
]

_HIDDEN_TEXT = "(text hidden)"


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact in a table; `text` is empty unless its status is valid."""

    fact_id: str
    revision: int
    kind: Kind
    scope: Scope
    learned: str
    status: SourceStatus
    in_prompt: bool
    reason: str
    text: str

    @classmethod
    def of(cls, choice: Choice) -> FactRow:
        """The row of a fact."""
        fact, current = choice.fact, choice.fact.current
        reason = choice.reason
        if fact.holds and reason == "held":
            reason_text = ", ".join(sorted({hold.reason.replace("_", " ") for hold in fact.holds}))
        else:
            reason_text = choice.status if reason == "not valid" else reason
        return cls(
            fact_id=fact.fact_id,
            revision=current.revision,
            kind=fact.kind,
            scope=fact.scope,
            learned=current.recorded_at[:10],
            status=choice.status,
            in_prompt=choice.is_in,
            reason=reason_text,
            text=current.text if choice.status == "valid" else "",
        )


@dataclass(frozen=True, slots=True, repr=False)
class Facts(Table):
    """All facts asked for; `limit` of them are shown, from `offset` on."""

    project: str
    rows: tuple[FactRow, ...]
    generation: int
    offset: int = 0
    limit: int = 20

    def columns(self) -> tuple[str, ...]:
        """The fields of a row."""
        return names_of(FactRow)

    def records(self) -> list[dict[str, Any]]:
        """All rows."""
        return [fields_of(row) for row in self.rows]

    def blocks(self) -> Sequence[Block]:
        """Counts, one page of the table, and where to look next."""
        n_all, n_in = len(self.rows), sum(row.in_prompt for row in self.rows)
        head = f"{self.project} · {count(n_all, 'fact')} · {n_in} in the prompt"
        n_held = sum(row.reason in ("disputed", "source changed") for row in self.rows)
        if n_held:
            head += f", {n_held} held"
        head += f" · generation {self.generation}"
        if not self.rows:
            return [Line(head, strong=True), Line("`%memory remember TEXT` keeps the first one")]
        shown = self.rows[self.offset : self.offset + self.limit]
        grid = Grid(
            ("id", "rev", "kind", "learned", "status", "in prompt", "text"),
            tuple(
                (
                    row.fact_id,
                    str(row.revision),
                    row.kind,
                    row.learned,
                    row.status,
                    "yes" if row.in_prompt else f"no: {row.reason}",
                    row.text or _HIDDEN_TEXT,
                )
                for row in shown
            ),
        )
        last = self.offset + len(shown)
        foot = f"{self.offset + 1} to {last} of {n_all} · %memory fact ID shows where it comes from"
        if last < n_all:
            foot += f" · %memory facts {last} shows more"
        return [Line(head, strong=True), grid, Line(foot)]


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
    """One wording of a fact; `text` is empty unless its status is valid."""

    revision: int
    text: str
    status: SourceStatus
    basis: str | None
    origin: str
    recorded_at: str
    valid_from: str | None
    valid_to: str | None
    sources: tuple[SourceView, ...]


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

    def blocks(self) -> Sequence[Block]:
        """Every revision, with the quote marked in its whole message."""
        place = "in the prompt" if self.in_prompt else f"not in the prompt: {self.reason}"
        head = f"{self.fact_id} · {self.kind} · {place}"
        blocks: list[Block] = [Line(head, strong=True)]
        blocks += [Line(f"held: {hold}") for hold in self.holds]
        for revision in self.revisions:
            blocks.append(
                Line(
                    f"revision {revision.revision} · {revision.status}"
                    f" · {revision.basis or 'no basis'} by {revision.origin}"
                    f" · {minute(revision.recorded_at)} UTC",
                    strong=True,
                )
            )
            blocks.append(Line(revision.text or _HIDDEN_TEXT))
            for source in revision.sources:
                blocks.append(Line(f"from {source.headline}"))
                if source.message:
                    blocks.append(Marked(source.message, source.start, source.end))
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
class Hits(Table):
    """Where a text was found."""

    pattern: str
    hits: tuple[Hit, ...]

    def columns(self) -> tuple[str, ...]:
        """The fields of a row."""
        return names_of(Hit)

    def records(self) -> list[dict[str, Any]]:
        """All hits."""
        return [fields_of(hit) for hit in self.hits]

    def blocks(self) -> Sequence[Block]:
        """A table, or that there is nothing."""
        head = Line(f"{count(len(self.hits), 'place')} with these words", strong=True)
        if not self.hits:
            return [head]
        rows = tuple(
            (
                hit.name,
                f"revision {hit.line}" if hit.where == "fact" else f"line {hit.line}",
                hit.text,
            )
            for hit in self.hits
        )
        return [head, Grid(("where", "place", "text"), rows)]


@dataclass(frozen=True, slots=True, repr=False)
class Remembered(Result):
    """What became of a statement: `new`, `already`, `renewed`, `replaced` or `corrected`."""

    outcome: str
    fact_id: str
    revision: int
    kind: Kind
    in_prompt: bool
    reason: str
    flagged: tuple[str, ...] = ()

    def blocks(self) -> Sequence[Block]:
        """One line; a second one when it isn't in the prompt."""
        said = {
            "new": f"remembered {self.fact_id} · {self.kind} · from your words",
            "already": f"already remembered as {self.fact_id}; nothing was changed",
            "renewed": f"{self.fact_id} holds again · from your words",
            "replaced": (
                f"{self.fact_id} said that once and was corrected since; nothing was changed."
                f" `%memory fact {self.fact_id}` shows it"
            ),
            "corrected": f"corrected {self.fact_id} · now revision {self.revision}",
        }[self.outcome]
        blocks = [Line(said, strong=True)]
        if not self.in_prompt:
            blocks.append(Line(_why_out(self.reason)))
        if self.flagged:
            blocks.append(
                Line(
                    f"held, since derived from it: {', '.join(self.flagged)}; correct them, or"
                    " remember them again, to have them in the prompt"
                )
            )
        return blocks


@dataclass(frozen=True, slots=True, repr=False)
class ForgetReceipt(Result):
    """What a forget did, what it left, and who else holds the text."""

    fact_id: str
    first: bool
    generation: int
    n_revisions: int
    n_excluded: int
    pending: bool
    silenced: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    still_held: tuple[str, ...] = ()
    not_looked_at: tuple[str, ...] = ()
    kept_in: tuple[str, ...] = ()

    def blocks(self) -> Sequence[Block]:
        """The receipt, and what it doesn't cover."""
        databases = "pending: another kernel reads" if self.pending else "scrubbed"
        if not self.first:
            head = f"{self.fact_id} was forgotten before · databases: {databases}"
            return [Line(head, strong=True)]
        head = (
            f"forgot {self.fact_id}: {count(self.n_revisions, 'revision')},"
            f" {count(self.n_excluded, 'message')} excluded, generation {self.generation}"
            f" · databases: {databases}"
        )
        blocks: list[Block] = [Line(head, strong=True)]
        if self.silenced:
            blocks.append(
                Line(f"fell silent, since they share its source: {', '.join(self.silenced)}")
            )
        if self.flagged:
            blocks.append(Line(f"held, since derived from it: {', '.join(self.flagged)}"))
        if self.still_held:
            blocks.append(Line(f"still in: {', '.join(self.still_held)}"))
        if self.kept_in:
            blocks.append(Line(f"kept in: {', '.join(self.kept_in)}"))
        if self.not_looked_at:
            blocks.append(Line(f"not looked at: {', '.join(self.not_looked_at)}"))
        return blocks


def _why_out(reason: str) -> str:
    if reason == "no room":
        return (
            "not in the prompt: the facts fill their room. Forget one, or raise it:"
            " `%memory config memory.facts_max_bytes N`"
        )
    return f"not in the prompt: {reason}"
