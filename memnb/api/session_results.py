"""Conversations as they are shown: sessions, records, what a turn carried, answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memnb.agent.reply import Answer
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

__all__ = ["RecordView", "Reply", "SessionRow", "SessionView", "Sessions", "Visibility", "Why"]

_OTHER = {"undo": "redo", "redo": "undo"}


@dataclass(frozen=True, slots=True, repr=False)
class Visibility(Result):
    """What undo, redo or clear did."""

    action: str
    turn: int | None = None

    def blocks(self) -> Sequence[Block]:
        """One line."""
        if self.action == "clear":
            return [Line("cleared the working context; facts and notes stay", strong=True)]
        done = {"undo": "hidden", "redo": "visible again"}[self.action]
        return [
            Line(f"turn {self.turn} is {done}; `%memory {_OTHER[self.action]}` reverses it", True)
        ]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in a table."""

    session_id: str
    started_at: str
    notebook: str | None
    n_turns: int
    n_records: int
    is_open: bool
    is_this: bool


@dataclass(frozen=True, slots=True, repr=False)
class Sessions(Table):
    """The newest sessions of the project that a person said something in."""

    row = SessionRow

    rows: tuple[SessionRow, ...]

    def blocks(self) -> Sequence[Block]:
        """A table, newest first."""
        head = Line(count(len(self.rows), "session"), strong=True)
        if not self.rows:
            return [head]
        rows = tuple(
            (
                row.session_id,
                minute(row.started_at),
                row.notebook or "",
                str(row.n_turns),
                "this one" if row.is_this else "open elsewhere" if row.is_open else "",
            )
            for row in self.rows
        )
        return [head, Grid(("session", "began (UTC)", "notebook", "turns", ""), rows)]


@dataclass(frozen=True, slots=True)
class RecordView:
    """One record of a session, in a line."""

    seq: int
    at: str
    type: str
    turn: int | None
    visible: bool
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class SessionView(Table):
    """The records of one session."""

    row = RecordView

    session_id: str
    rows: tuple[RecordView, ...]

    def blocks(self) -> Sequence[Block]:
        """A table of the records; `read` gives them whole."""
        head = Line(f"{self.session_id} · {count(len(self.rows), 'record')}", strong=True)
        rows = tuple(
            (
                str(row.seq),
                str(row.turn or ""),
                row.at[11:19],
                row.type,
                "" if row.visible else "hidden",
                row.text,
            )
            for row in self.rows
        )
        foot = Line(f"%memory read {self.session_id} START END shows records whole")
        return [head, Grid(("seq", "turn", "time", "type", "", "text"), rows), foot]


@dataclass(frozen=True, slots=True, repr=False)
class Why(Result):
    """What memory the requests of a turn carried.

    `sections` holds the exact text of each request's section for turns of this kernel; it is empty
    for older ones, of which the session keeps ids only.
    """

    turn: int
    model: str
    sections: tuple[str, ...]
    carried: tuple[str, ...]
    cited: tuple[str, ...]
    remembered: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    n_left_out_exchanges: int = 0

    @classmethod
    def of(cls, turn: int, answer: Answer) -> Why:
        """What a turn of this kernel carried."""
        traces = answer.requests
        last = traces[-1].section if traces else None
        return cls(
            turn=turn,
            model=answer.model,
            sections=tuple(trace.section.text for trace in traces),
            carried=answer.carried,
            cited=answer.cited,
            remembered=answer.remembered,
            left_out=tuple(
                (
                    choice.fact.fact_id,
                    choice.status if choice.reason == "not valid" else choice.reason,
                )
                for choice in (last.choices if last else ())
                if not choice.is_in
            ),
            n_left_out_exchanges=traces[-1].n_left_out if traces else 0,
        )

    def blocks(self) -> Sequence[Block]:
        """Counts, the exact bytes, what was left out and why."""
        n = len(self.sections)
        head = f"turn {self.turn} · {self.model} · carried {count(len(self.carried), 'fact')}"
        blocks: list[Block] = [Line(head, strong=True)]
        for number, text in enumerate(self.sections, 1):
            if number > 1 and text == self.sections[number - 2]:
                blocks.append(Line(f"request {number} of {n} carried the same"))
                continue
            n_bytes = len(text.encode(errors="replace"))
            blocks.append(Line(f"request {number} of {n} carried {n_bytes:,} bytes of memory:"))
            blocks.append(Marked(text) if text else Line("(nothing)"))
        if not self.sections and self.carried:
            blocks.append(
                Line(f"carried {', '.join(self.carried)} (ids only: the text isn't kept)")
            )
        if self.cited:
            blocks.append(Line(f"used {', '.join(self.cited)}"))
        if self.remembered:
            blocks.append(Line(f"remembered {', '.join(self.remembered)}"))
        blocks += [Line(f"left out {fact_id}: {reason}") for fact_id, reason in self.left_out]
        if self.n_left_out_exchanges:
            blocks.append(
                Line(f"left out {count(self.n_left_out_exchanges, 'earlier exchange')}: no room")
            )
        return blocks


@dataclass(frozen=True, slots=True, repr=False)
class Reply(Result):
    """An answer, and everything about how it came."""

    answer: Answer

    @property
    def text(self) -> str:
        """The answer, as Markdown."""
        return self.answer.text

    def to_dict(self) -> dict[str, Any]:
        """The answer and its figures."""
        answer, usage = self.answer, self.answer.usage
        return {
            "carried": list(answer.carried),
            "cited": list(answer.cited),
            "end": answer.end,
            "model": answer.model,
            "n_tools": answer.n_tools,
            "not_done": list(answer.not_done),
            "notices": list(answer.notices),
            "remembered": list(answer.remembered),
            "session_id": answer.session_id,
            "text": answer.text,
            "turn": answer.turn,
            "usage": {
                "cost_nusd": usage.cost_nusd,
                "input_tokens": usage.input_tokens,
                "n_unknown": usage.n_unknown,
                "output_tokens": usage.output_tokens,
            },
        }

    def blocks(self) -> Sequence[Block]:
        """The answer as text."""
        return [Marked(self.answer.text)]
