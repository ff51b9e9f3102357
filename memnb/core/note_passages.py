"""A note in pieces that a search can find: paragraphs and groups of list items, with headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["MAX_PIECE_CHARACTERS", "Piece", "pieces"]

MAX_PIECE_CHARACTERS: Final = 1000
"""A longer paragraph or list is cut between its lines."""

_HEADING: Final = re.compile(r" {0,3}(?P<marks>#{1,6})(?P<text>[ \t].*)?\Z")
_FENCE: Final = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines that belong together: the first one's number, their text, the headings above them."""

    line: int
    text: str
    heading: str


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a Markdown text, in order; a heading with nothing below it is one itself."""
    headings: list[tuple[int, int, str]] = []  # level, line, text
    has_content = True
    block: list[tuple[int, str]] = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        heading = None if fence else _HEADING.match(line)
        if fence and mark and mark["marks"].startswith(fence):
            fence = ""
        elif mark and not fence:
            fence = mark["marks"]
        if heading or (not line.strip() and not fence):
            yield from _cut(block, headings)
            has_content = has_content or bool(block)
            block = []
        if heading:
            if not has_content:
                yield _alone(headings)
            level = len(heading["marks"])
            headings = [one for one in headings if one[0] < level]
            headings.append((level, number, _unclosed((heading["text"] or "").strip())))
            has_content = False
        elif line.strip() or fence:
            block.append((number, line))
    yield from _cut(block, headings)
    if not has_content and not block:
        yield _alone(headings)


def _unclosed(heading: str) -> str:
    """A heading without the marks that may close it, which stand apart."""
    bare = heading.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) else heading


def _alone(headings: list[tuple[int, int, str]]) -> Piece:
    _, line, text = headings[-1]
    return Piece(line, text, _path(headings[:-1]))


def _cut(block: list[tuple[int, str]], headings: list[tuple[int, int, str]]) -> Iterator[Piece]:
    lines: list[tuple[int, str]] = []
    n_characters = 0
    for number, line in block:
        if lines and n_characters + len(line) > MAX_PIECE_CHARACTERS:
            yield _piece(lines, headings)
            lines, n_characters = [], 0
        lines.append((number, line))
        n_characters += len(line) + 1
    if lines:
        yield _piece(lines, headings)


def _piece(lines: list[tuple[int, str]], headings: list[tuple[int, int, str]]) -> Piece:
    return Piece(lines[0][0], "\n".join(line for _, line in lines), _path(headings))


def _path(headings: list[tuple[int, int, str]]) -> str:
    return " > ".join(text for _, _, text in headings if text)
