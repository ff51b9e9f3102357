"""Learning as it is shown: how it is set, what each run came to and why, what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memnb.api.rendering import Block, Grid, Line, Marked, Result, Table, count, minute
from memnb.core.candidates import Outcome, Reason, Trigger
from memnb.core.setting_table import LearningMode
from memnb.memory.usage import Purpose

__all__ = [
    "RULES",
    "Backfill",
    "Diagnostics",
    "LearningView",
    "Mined",
    "Preview",
    "Previews",
    "RunRow",
    "UsageRow",
    "UsageView",
]

RULES: Final = "memnb's own rules"
"""Who looks when no model does."""

_MODES: Final[Mapping[LearningMode, str]] = {
    "off": "nothing is learned from conversations; what you state with `remember` is kept as ever",
    "review": (
        "what you say is looked through now and then; what may be worth keeping waits in"
        " `%memory review` until you apply or reject it"
    ),
    "auto": (
        "as review, but what is certain, harmless and in your own words becomes a fact by itself,"
        " at most three a time; `%memory recent` lists them and `%memory review undo ID` takes one"
        " back. Now and then that is wrong: review is the careful choice"
    ),
}

_OUTCOMES: Final[Mapping[Outcome, str]] = {
    "failed": "the model's answer couldn't be used",
    "stale": "what was said changed meanwhile",
    "learned": "something became a fact",
    "proposed": "something waits for your review",
    "rejected": "nothing that was found holds",
    "no_candidates": "nothing worth keeping was said",
}

_REASONS: Final[Mapping[Reason, str]] = {
    "response_schema": "the answer didn't have the form that was asked for",
    "invalid_json": "the answer wasn't JSON",
    "output_too_large": "the answer was too long",
    "unexpected_tool_calls": "the answer called tools",
    "incomplete_response": "the answer was cut off",
    "candidate_schema": "a candidate didn't have the form that was asked for",
    "invalid_text": "a candidate's text can't be a fact",
    "invalid_source": "a candidate named messages that weren't supplied",
    "invalid_preference_source": "a candidate doesn't rest on one message of yours",
    "temporary_preference": "it was meant for now only",
    "exact_text_mismatch": "a candidate isn't in your exact words",
    "invalid_conflicts": "a candidate named facts that weren't supplied",
    "unverified_project_evidence": "no file that was read says so",
    "stale_context": "something was forgotten or changed while the model answered",
    "extraction_error": "the model failed",
    "duplicate": "a fact says so already",
    "screened": "it looks like a secret, or holds hidden characters",
    "forgotten": "it was forgotten",
    "low_confidence": "too uncertain",
    "risk": "about health, credentials, permissions, deleting, sending or paying",
    "over_budget": "no room for it in the prompt",
    "third_party": "about another person",
}


@dataclass(frozen=True, slots=True, repr=False)
class LearningView(Result):
    """How learning is set, and what waits."""

    mode: LearningMode
    origin: str
    model: str
    n_pending: int

    def blocks(self) -> Sequence[Block]:
        """What the mode means."""
        lines = [Line(f"learning is {self.mode}: {_MODES[self.mode]}.")]
        if self.mode != "off":
            lines.append(Line(_who(self.model)))
        if self.origin not in ("default", "this kernel"):
            lines.append(Line(f"set by {self.origin}; `%memory learn` sets it for this kernel."))
        elif self.mode != "off":
            lines.append(
                Line(f'for always: `mode = "{self.mode}"` below `[learning]` in config.toml.')
            )
        if self.n_pending:
            lines.append(Line(f"{count(self.n_pending, 'candidate')} waiting: `%memory review`"))
        return [Line(f"agent memory · learning {self.mode}", strong=True), *lines]


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of learning, without any content."""

    at: str
    trigger: Trigger
    session_id: str
    outcome: Outcome
    n_supplied: int
    reasons: Mapping[Reason, int]
    model: str
    input_tokens: int | None
    output_tokens: int | None
    run_id: str


@dataclass(frozen=True, slots=True, repr=False)
class Diagnostics(Table):
    """The newest runs of learning, newest first: what each came to and why; never any content."""

    row = RunRow

    mode: LearningMode
    rows: tuple[RunRow, ...]

    def blocks(self) -> Sequence[Block]:
        """A table of the runs, then what their outcomes and reasons mean."""
        if not self.rows:
            return [
                Line(f"no run of learning yet; learning is {self.mode}", strong=True),
                Line(
                    "`%memory learn review` begins it."
                    if self.mode == "off"
                    else "`%memory populate` looks through this session now."
                ),
            ]
        grid = Grid(
            ("when (UTC)", "by", "outcome", "records", "why not", "model"),
            tuple(
                (
                    minute(row.at),
                    row.trigger,
                    row.outcome,
                    str(row.n_supplied),
                    ", ".join(f"{reason} {n}" for reason, n in row.reasons.items()),
                    row.model or "rules",
                )
                for row in self.rows
            ),
        )
        outcomes = Counter(row.outcome for row in self.rows)
        reasons: Counter[Reason] = Counter()
        for row in self.rows:
            reasons.update(row.reasons)
        return [
            Line(f"{count(len(self.rows), 'run')} of learning · learning {self.mode}", strong=True),
            grid,
            *(Line(f"{o}, {count(n, 'run')}: {_OUTCOMES[o]}") for o, n in outcomes.most_common()),
            *(Line(f"{r}, {count(n, 'time')}: {_REASONS[r]}") for r, n in reasons.most_common()),
        ]


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What the requests to one model for one purpose consumed; costs in US dollars.

    `n_unknown` of the requests didn't say what they consumed: the sums are of the others.
    """

    purpose: Purpose
    model: str
    n_requests: int
    n_unknown: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    n_unknown_cost: int


@dataclass(frozen=True, slots=True, repr=False)
class UsageView(Table):
    """Tokens and costs by purpose and model."""

    row = UsageRow

    scope: str
    rows: tuple[UsageRow, ...]

    def blocks(self) -> Sequence[Block]:
        """A table; what is unknown is counted, never taken for nothing."""
        n_requests = sum(row.n_requests for row in self.rows)
        head = Line(f"{count(n_requests, 'request')} to models · {self.scope}", strong=True)
        if not self.rows:
            return [head]
        grid = Grid(
            ("purpose", "model", "requests", "tokens in", "out", "unknown", "cost"),
            tuple(
                (
                    row.purpose,
                    row.model,
                    str(row.n_requests),
                    _tokens(row, row.input_tokens),
                    _tokens(row, row.output_tokens),
                    str(row.n_unknown),
                    _cost(row),
                )
                for row in self.rows
            ),
        )
        return [head, grid]


@dataclass(frozen=True, slots=True, repr=False)
class Mined(Result):
    """What looking through a session, or several, came to."""

    n_sessions: int
    n_exchanges: int
    learned: tuple[str, ...]
    pending: tuple[str, ...]
    reasons: Mapping[Reason, int]
    n_failed: int = 0
    is_done: bool = True

    def lines(self) -> list[str]:
        """What was found, and how to go on."""
        lines = []
        if self.learned:
            lines.append(f"learned {', '.join(self.learned)}; `%memory recent` says from where")
        if self.pending:
            lines.append(f"{count(len(self.pending), 'candidate')} waiting: `%memory review`")
        if self.n_exchanges and not self.learned and not self.pending:
            lines.append("nothing was worth keeping; `%memory diagnostics` says why")
        if self.n_failed:
            lines.append(f"{count(self.n_failed, 'run')} failed: `%memory diagnostics`")
        if not self.is_done:
            lines.append("more is left; run it again to go on")
        return lines

    def blocks(self) -> Sequence[Block]:
        """How much was looked through, and what was found."""
        looked = f"looked through {count(self.n_exchanges, 'exchange')}"
        if self.n_sessions > 1:
            looked += f" of {count(self.n_sessions, 'session')}"
        if not self.n_exchanges:
            looked = "nothing new to look through"
        return [Line(looked, strong=True), *map(Line, self.lines())]


@dataclass(frozen=True, slots=True, repr=False)
class Backfill(Result):
    """Earlier sessions that were never looked through: how many, and what it would take."""

    n_sessions: int
    n_exchanges: int
    n_bytes: int
    model: str
    since: str | None

    def blocks(self) -> Sequence[Block]:
        """What would be done, and how to have it done."""
        if not self.n_exchanges:
            head = Line(f"no earlier session is left for {self.model} to look through", True)
            hint = "`--since DATE` looks for sessions in which learning was off, too."
            return [head] if self.since else [head, Line(hint)]
        since = f" --since {self.since[:10]}" if self.since else ""
        return [
            Line(
                f"{count(self.n_sessions, 'session')} with {count(self.n_exchanges, 'exchange')}"
                f" were never looked through: {self.n_bytes:,} bytes for {self.model}",
                strong=True,
            ),
            Line(f"`%memory backfill{since} --go` does it; what it finds follows `%memory learn`."),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Preview(Result):
    """Exactly what a model would be sent, and nothing is."""

    purpose: Purpose
    model: str
    text: str

    def blocks(self) -> Sequence[Block]:
        """The text, byte for byte."""
        n_bytes = len(self.text.encode(errors="replace"))
        if not self.text:
            by_rules = f": {RULES} do it" if self.model == RULES else ""
            return [Line(f"nothing would be sent for {self.purpose} now{by_rules}", strong=True)]
        head = f"what {self.model} would be sent for {self.purpose}: {n_bytes:,} bytes"
        return [Line(head, strong=True), Marked(self.text)]


@dataclass(frozen=True, slots=True, repr=False)
class Previews(Result):
    """What would be sent to look through a session, and to summarise it."""

    learning: Preview
    compaction: Preview

    def blocks(self) -> Sequence[Block]:
        """Both texts, byte for byte."""
        return [*self.learning.blocks(), *self.compaction.blocks()]


def _who(model: str) -> str:
    if model == RULES:
        return f"{model} look; nothing is sent anywhere."
    return f"{model} looks; nothing is sent to anybody else."


def _tokens(row: UsageRow, n: int) -> str:
    return "unknown" if row.n_unknown == row.n_requests else f"{n:,}"


def _cost(row: UsageRow) -> str:
    if row.n_unknown_cost == row.n_requests:
        return "unknown"
    return f"${row.cost_usd:.4f}" + (" and unknown" if row.n_unknown_cost else "")
