r"""Where a text holds mathematics: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and `\begin{…}…\end{…}`.

1. A dollar opens only before a visible character and closes only after one and before no digit, so
   that `$5 and $6` are prices. Source: pandoc's tex_math_dollars.
2. Mathematics holds no blank line; a backslash escapes a dollar; code spans are passed over.
3. The search is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["MathSpan", "math_spans"]

_OPENER: Final = re.compile(r"`+|\\begin\{([A-Za-z]+\*?)\}|\\.|\$\$|\$(?=\S)", re.DOTALL)
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_INLINE: Final = re.compile(r"\$((?:[^$\\]|\\.)+)\$", re.DOTALL)
_CLOSERS: Final = {"$$": "$$", r"\(": r"\)", r"\[": r"\]"}


class MathSpan(NamedTuple):
    """One formula with its delimiters: code points `start` to `end`; `block` has a line alone."""

    start: int
    end: int
    block: bool


def math_spans(text: str) -> Iterator[MathSpan]:
    """The formulas of `text`, in order; they don't overlap."""
    nearest = _Nearest(text)
    at = 0
    while (opener := _OPENER.search(text, at)) is not None:
        at = _end(text, opener, nearest)
        if at < 0:
            at = opener.end()
        elif opener.group()[0] != "`":
            yield MathSpan(opener.start(), at, opener.group() not in {"$", r"\("})


def _end(text: str, opener: re.Match[str], nearest: _Nearest) -> int:
    """Where what `opener` began ends; -1 when it began nothing."""
    mark = opener.group()
    if mark[0] == "`":
        return nearest.after(mark, rf"(?<!`){mark}(?!`)", opener.end())
    if mark == "$":
        return _dollar_end(text, opener.start(), nearest)
    closer = rf"\end{{{opener[1]}}}" if opener[1] else _CLOSERS.get(mark)
    if closer is None:
        return -1
    end = nearest.after(closer, re.escape(closer), opener.end())
    return end if end < 0 or end <= nearest.blank(opener.end()) else -1


def _dollar_end(text: str, start: int, nearest: _Nearest) -> int:
    found = _INLINE.match(text, start)
    if found is None or found[1][-1].isspace() or found.end() > nearest.blank(start):
        return -1
    return -1 if text[found.end() : found.end() + 1].isdigit() else found.end()


class _Nearest:
    """Finds what comes next, and asks the text again only once it was passed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, tuple[int, int]] = {}

    def after(self, name: str, pattern: str, at: int) -> int:
        """Where the next match from `at` on ends; -1 when there is none."""
        return self._next(name, pattern, at)[1]

    def blank(self, at: int) -> int:
        """Where the next blank line begins; the end of the text when there is none."""
        start = self._next("blank", _BLANK_LINE.pattern, at)[0]
        return len(self._text) + 1 if start < 0 else start + 1

    def _next(self, name: str, pattern: str, at: int) -> tuple[int, int]:
        known = self._found.get(name)
        if known is None or 0 <= known[0] < at:
            found = re.compile(pattern).search(self._text, at)
            known = found.span() if found else (-1, -1)
            self._found[name] = known
        return known
