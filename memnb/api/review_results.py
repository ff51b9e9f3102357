"""What waits for review, what was learned lately, and facts in dispute, as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memnb.api.rendering import Block, Grid, Line, Marked, Result, Table, count, minute
from memnb.core.facts import Basis, Kind

__all__ = [
    "ConflictRow",
    "Conflicts",
    "Inbox",
    "Quoted",
    "Recent",
    "RecentRow",
    "Rejected",
    "Side",
    "TakenBack",
    "WaitingRow",
]

_HIDDEN_TEXT = "(text hidden)"


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence that a candidate rests on, with the span of its text, and where it was said."""

    where: str
    sentence: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Side:
    """A fact that something contradicts; `text` is empty unless its evidence holds."""

    fact_id: str
    revision: int
    text: str
    recorded: str
    origin: str


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """One candidate that waits; `confidence` is between 0 and 1."""

    candidate_id: str
    kind: Kind
    confidence: float
    why: tuple[str, ...]
    text: str
    basis: Basis
    queued: str
    sources: tuple[Quoted, ...]
    against: tuple[Side, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Inbox(Table):
    """What waits for a person, oldest first; `limit` of them are shown."""

    row = WaitingRow

    project: str
    rows: tuple[WaitingRow, ...]
    limit: int = 20

    def blocks(self) -> Sequence[Block]:
        """Each candidate in the sentence it was found in, and how to decide."""
        head = f"{self.project} · {count(len(self.rows), 'candidate')} waiting for you"
        if not self.rows:
            return [Line(head, strong=True)]
        blocks: list[Block] = [Line(head, strong=True)]
        for row in self.rows[: self.limit]:
            blocks += self._candidate(row)
        if len(self.rows) > self.limit:
            blocks.append(Line(f"{len(self.rows) - self.limit} more once these are decided"))
        blocks.append(
            Line(
                "`%memory review apply ID` keeps one, with `--text` in your own words ·"
                " `%memory review reject ID` refuses it, `--all` refuses all"
            )
        )
        return blocks

    @staticmethod
    def _candidate(row: WaitingRow) -> list[Block]:
        head = f"{row.candidate_id} · {row.kind} · confidence {row.confidence:.2f}"
        blocks: list[Block] = [Line(head, strong=True)]
        blocks += [Line(f"waits: {why}") for why in row.why]
        if row.basis not in ("quote", "statement"):
            blocks.append(Line(row.text))
        for source in row.sources:
            if source.sentence:
                blocks.append(Marked(source.sentence, ((source.start, source.end),)))
            blocks.append(Line(f"from {source.where}"))
        if row.against:
            ours = (row.candidate_id, minute(row.queued), "proposed", row.text)
            blocks.append(Grid(_SIDES, (ours, *map(_side, row.against))))
        return blocks


@dataclass(frozen=True, slots=True)
class RecentRow:
    """A fact that was learned; `by` says what began the run, and which model or rule found it."""

    fact_id: str
    candidate_id: str
    learned: str
    kind: Kind
    by: str
    confidence: float
    in_prompt: bool
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Recent(Table):
    """What was learned lately, newest first."""

    row = RecentRow

    rows: tuple[RecentRow, ...]

    def blocks(self) -> Sequence[Block]:
        """A table, and how to take one back."""
        head = Line(f"{count(len(self.rows), 'fact')} learned lately", strong=True)
        if not self.rows:
            return [head]
        grid = Grid(
            ("fact", "candidate", "learned", "kind", "by", "in prompt", "text"),
            tuple(
                (
                    row.fact_id,
                    row.candidate_id,
                    minute(row.learned),
                    row.kind,
                    row.by,
                    "yes" if row.in_prompt else "no",
                    row.text or _HIDDEN_TEXT,
                )
                for row in self.rows
            ),
        )
        foot = "`%memory review undo ID` takes one back · `%memory fact ID` shows where it is from"
        return [head, grid, Line(foot)]


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """Two facts that contradict each other; `in_prompt` names the one that is sent, if any is."""

    older: Side
    newer: Side
    in_prompt: str


@dataclass(frozen=True, slots=True, repr=False)
class Conflicts(Table):
    """Facts in dispute, side by side."""

    row = ConflictRow

    rows: tuple[ConflictRow, ...]

    def blocks(self) -> Sequence[Block]:
        """Each pair, which of it is in the prompt, and how to decide."""
        head = Line(f"{count(len(self.rows), 'dispute')} between facts", strong=True)
        blocks: list[Block] = [head]
        for row in self.rows:
            blocks.append(Grid(_SIDES, (_side(row.older), _side(row.newer))))
            sent = f"{row.in_prompt} is in the prompt, marked" if row.in_prompt else ""
            blocks.append(Line(sent or "neither is in the prompt"))
        if self.rows:
            blocks.append(
                Line(
                    "`%memory confirm ID` keeps that one and ends the other ·"
                    " `%memory correct ID REVISION TEXT` when both are wrong"
                )
            )
        return blocks


@dataclass(frozen=True, slots=True, repr=False)
class Rejected(Result):
    """Candidates that were refused; their texts are deleted."""

    candidate_ids: tuple[str, ...]

    def blocks(self) -> Sequence[Block]:
        """A line."""
        if not self.candidate_ids:
            return [Line("nothing was waiting", strong=True)]
        return [
            Line(f"rejected {', '.join(self.candidate_ids)}", strong=True),
            Line("they aren't proposed again; `%memory remember TEXT` keeps one all the same"),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class TakenBack(Result):
    """A fact that was taken back; `is_gone` is False when an earlier wording of it is left.

    `back` names facts that hold again, since it had taken their place.
    """

    candidate_id: str
    fact_id: str
    is_gone: bool
    flagged: tuple[str, ...] = ()
    back: tuple[str, ...] = ()

    def blocks(self) -> Sequence[Block]:
        """What was done, and what wasn't."""
        what = (
            f"took back {self.fact_id}, which came from {self.candidate_id}"
            if self.is_gone
            else f"{self.fact_id} is as it was before {self.candidate_id}, and held"
        )
        blocks: list[Block] = [
            Line(what, strong=True),
            Line("your message stays, and may be evidence for others; this isn't learned again"),
        ]
        if not self.is_gone:
            blocks.append(Line(f"`%memory confirm {self.fact_id}` when it is still so"))
        if self.back:
            blocks.append(Line(f"holds again, since this had its place: {', '.join(self.back)}"))
        if self.flagged:
            blocks.append(
                Line(f"held from now on, since derived from it: {', '.join(self.flagged)}")
            )
        return blocks


_SIDES = ("id", "recorded (UTC)", "by", "text")


def _side(side: Side) -> tuple[str, str, str, str]:
    return (
        f"{side.fact_id}@{side.revision}",
        minute(side.recorded),
        side.origin,
        side.text or _HIDDEN_TEXT,
    )
