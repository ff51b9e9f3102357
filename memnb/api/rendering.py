"""How a result is shown: the same blocks as plain text and as escaped static html.

Everything stored is escaped in both, and html says that it holds no mathematics to typeset.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from memnb.core.escaping import escape_html, escape_line, escape_terminal
from memnb.core.snippets import Span

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Block",
    "Grid",
    "Line",
    "Marked",
    "Result",
    "Table",
    "count",
    "minute",
]

_MAX_CELL = 96


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text; a strong one heads what follows."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Marked:
    """A text of any length in which spans are marked, in order and apart."""

    text: str
    marks: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows under columns; every cell is text, which plain text shortens unless it `is_whole`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_whole: bool = False


Block: TypeAlias = Line | Marked | Grid


class Result(ABC):
    """A value that shows itself: `str()` is plain text, notebooks show html, `to_dict()` data."""

    __slots__ = ()

    @abstractmethod
    def blocks(self) -> Sequence[Block]:
        """What is shown, top down."""

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-like values."""
        value = _plain(self)
        return value if isinstance(value, dict) else {}

    def __str__(self) -> str:
        return "\n".join(_text(block) for block in self.blocks())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        content = "".join(_html(block) for block in self.blocks())
        return f'<div class="memnb mathjax_ignore">{content}</div>'


class Table(Result):
    """A result with rows, all of them, also those that aren't shown.

    A class of tables names what its rows are: a class whose fields are the columns, or the columns
    of plain tuples.
    """

    __slots__ = ()

    row: ClassVar[type | tuple[str, ...]]
    rows: Sequence[Any]

    def columns(self) -> tuple[str, ...]:
        """The keys of every row."""
        row = self.row
        return row if isinstance(row, tuple) else tuple(field.name for field in fields(row))

    def records(self) -> list[dict[str, Any]]:
        """All rows as dicts of plain values."""
        names = self.columns()
        if isinstance(self.row, tuple):
            return [dict(zip(names, row, strict=True)) for row in self.rows]
        return [{name: getattr(row, name) for name in names} for row in self.rows]

    def to_frame(self) -> pandas.DataFrame:
        """All rows as a pandas DataFrame; needs pandas."""
        import pandas  # 0.5 s, and needed here only

        return pandas.DataFrame.from_records(self.records(), columns=list(self.columns()))


def count(n: int, noun: str) -> str:
    """`1 fact`, `2 facts`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def minute(at: str) -> str:
    """A UTC stamp to the minute, as people read it."""
    return at[:16].replace("T", " ")


def _text(block: Block) -> str:
    if isinstance(block, Line):
        return escape_line(block.text)
    if isinstance(block, Marked):
        pieces = (f"»{piece}«" if is_marked else piece for piece, is_marked in _pieces(block))
        return escape_terminal("".join(pieces))
    shortened = str if block.is_whole else _shortened
    cells = [block.columns, *(map(shortened, row) for row in block.rows)]
    clean = [[" ".join(escape_terminal(cell).splitlines()) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in clean]
    return "\n".join(line.rstrip() for line in lines)


def _html(block: Block) -> str:
    if isinstance(block, Line):
        tag = "strong" if block.strong else "span"
        return f"<div><{tag}>{escape_html(escape_line(block.text))}</{tag}></div>"
    if isinstance(block, Marked):
        shown = ((escape_html(piece), is_marked) for piece, is_marked in _pieces(block))
        text = "".join(
            f"<mark>{piece}</mark>" if is_marked else piece for piece, is_marked in shown
        )
        return f'<pre style="white-space: pre-wrap">{text}</pre>'
    head = "".join(f'<th style="text-align: left">{escape_html(c)}</th>' for c in block.columns)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align: left">{escape_html(cell)}</td>' for cell in row)
        + "</tr>"
        for row in block.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _pieces(block: Marked) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is marked; empty ones are left out."""
    at = 0
    for start, end in (*block.marks, (len(block.text), len(block.text))):
        for piece, is_marked in ((block.text[at:start], False), (block.text[start:end], True)):
            if piece:
                yield piece, is_marked
        at = max(at, end)


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)
