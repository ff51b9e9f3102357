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

__all__ = [
    "Excerpt",
    "MessageView",
    "RecordView",
    "Reply",
    "SessionRow",
    "SessionView",
    "Sessions",
    "Visibility",
]

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
    ended_at: str
    notebook: str | None
    n_turns: int
    n_records: int
    is_open: bool
    is_this: bool
    first_words: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Sessions(Table):
    """Sessions of the project that a person said something in, a page of them, newest first."""

    row = SessionRow

    rows: tuple[SessionRow, ...]
    offset: int = 0
    has_more: bool = False

    def blocks(self) -> Sequence[Block]:
        """A table, and where to look next."""
        head = Line(count(len(self.rows), "session"), strong=True)
        if not self.rows:
            return [head]
        rows = tuple(
            (
                row.session_id,
                minute(row.started_at),
                _last(row),
                row.notebook or "",
                str(row.n_turns),
                str(row.n_records),
                row.first_words,
                "this one" if row.is_this else "open elsewhere" if row.is_open else "",
            )
            for row in self.rows
        )
        columns = ("session", "began (UTC)", "last", "notebook", "turns", "records", "first words")
        foot = "%memory read SESSION shows the end of one"
        if self.has_more:
            foot += f" · %memory sessions {self.offset + len(self.rows)} shows earlier ones"
        return [head, Grid((*columns, ""), rows), Line(foot)]


def _last(row: SessionRow) -> str:
    """When the last record of a session was written: the time, and the day if it is another one."""
    is_same_day = row.ended_at[:10] == row.started_at[:10]
    return minute(row.ended_at)[11:] if is_same_day else minute(row.ended_at)


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


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of a session, or what a tool gave, as far as it isn't long.

    Args:
        seq: its record.
        at: when it was recorded, as a UTC stamp.
        speaker: `person`, `assistant` or `tool`.
        text: what it says.
        is_anchor: whether it is the one that was asked for.
        notebook, cell: where it was said, as far as that is known.
    """

    seq: int
    at: str
    speaker: str
    text: str
    is_anchor: bool = False
    notebook: str | None = None
    cell: int | None = None

    @property
    def headline(self) -> str:
        """One line: which record it is, who said it, when and where."""
        pieces = [str(self.seq), self.speaker, minute(self.at)]
        pieces += [] if self.notebook is None else [self.notebook]
        pieces += [] if self.cell is None else [f"cell [{self.cell}]"]
        return " · ".join(pieces)


@dataclass(frozen=True, slots=True, repr=False)
class Excerpt(Table):
    """What was said around a record of a session."""

    row = MessageView

    session_id: str
    rows: tuple[MessageView, ...]
    n: int
    n_records: int
    has_earlier: bool = False
    has_later: bool = False

    def blocks(self) -> Sequence[Block]:
        """Each message whole, and what to type to go back or on, as far as there is more."""
        head = f"{self.session_id} · {count(len(self.rows), 'message')}"
        blocks: list[Block] = [Line(f"{head} of {self.n_records:,} records", strong=True)]
        for row in self.rows:
            blocks += [Line(row.headline, strong=row.is_anchor), Marked(row.text)]
        ways = []
        if self.rows and self.has_earlier:
            ways.append(f"--around {self.rows[0].seq} goes back")
        if self.rows and self.has_later:
            ways.append(f"--around {self.rows[-1].seq} goes on")
        if ways:
            blocks.append(Line(f"%memory read {self.session_id} {' · '.join(ways)}"))
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
            "without": list(answer.without),
        }

    def blocks(self) -> Sequence[Block]:
        """The answer as text."""
        return [Marked(self.answer.text)]
