"""A short piece of a text on one line, around the words that were looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

__all__ = ["SNIPPET_CHARACTERS", "Snippet", "Span", "snippet"]

Span: TypeAlias = tuple[int, int]
"""Code points from the first to before the second."""

SNIPPET_CHARACTERS: Final = 240
"""How much of a text stands for it in a list."""

_LEAD: Final = 5
"""One part in so many of a snippet stands before the words that it is cut around."""

_WORD: Final = 24
"""How far an end is moved so that no word is cut."""

_MOST_MARKS: Final = 200
"""In a text that is full of them, the first so many are looked at."""

_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a text, with the spans of it that were looked for, in order and apart."""

    text: str
    marks: tuple[Span, ...] = ()


def snippet(text: str, spans: Iterable[Span], *, width: int = SNIPPET_CHARACTERS) -> Snippet:
    """The piece of a text that holds most of these spans, at most `width` long but for ellipses.

    Runs of blanks and line breaks become one blank; spans with nothing else between them are one.
    """
    marks = list(islice(_joined(text, spans), _MOST_MARKS))
    start, end = _window(text, marks, width)
    flat = "…" if start else ""
    kept: list[Span] = []
    at = start
    for begin, stop in marks:
        begin, stop = max(begin, start), min(stop, end)
        if begin < stop:
            flat = _with(flat, text[at:begin])
            first, flat = len(flat), _with(flat, text[begin:stop])
            kept.append((first, len(flat)))
            at = stop
    flat = _with(flat, text[at:end]).rstrip()
    length = len(flat)
    whole = tuple((first, min(last, length)) for first, last in kept if first < length)
    return Snippet(flat + "…" * (end < len(text)), whole)


def _joined(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in order; what overlaps or has only blanks between is one."""
    last: Span | None = None
    for start, end in sorted(spans):
        if last is None or text[last[1] : start].strip():
            if last is not None:
                yield last
            last = (start, end)
        else:
            last = (last[0], max(last[1], end))
    if last is not None:
        yield last


def _window(text: str, marks: Sequence[Span], width: int) -> Span:
    """Which piece of the text to show: the first that holds most of the marks."""
    if len(text) <= width:
        return 0, len(text)
    start = most = 0
    for number, (begin, _) in enumerate(marks):
        left = min(max(0, begin - width // _LEAD), len(text) - width)
        n_held = sum(end <= left + width for _, end in marks[number:])
        if n_held > most:
            most, start = n_held, left
    end = start + width
    # Where a blank is near, no word is cut.
    held = [(begin, stop) for begin, stop in marks if start <= begin and stop <= end]
    first, last = (held[0][0], held[-1][1]) if held else (end, start)
    if start:
        gap = _BLANKS.search(text, start, min(start + _WORD, first))
        start = gap.end() if gap else start
    if end < len(text):
        gaps = list(_BLANKS.finditer(text, max(end - _WORD, last, start), end))
        end = gaps[-1].start() if gaps else end
    return start, end


def _with(flat: str, piece: str) -> str:
    """`flat` with a piece after it, its blanks as one, none of them at the beginning."""
    piece = _BLANKS.sub(" ", piece)
    return flat + (piece.lstrip() if not flat or flat.endswith((" ", "…")) else piece)
