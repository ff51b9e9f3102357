"""Our magics are handed their text as it was typed.

IPython turns a line that ends in `?` into help or a name search, and strips prompts such as `>>>`
from the body of a cell. So the lines and cells of our magics become calls before it looks at them:

1. `%agent …?`, `%memory VERB …?` and `x = %memory …`, where a statement begins, and `%%agent`.
2. `%memory?` and `%%agent?` stay help.
3. A backslash at the end of a line goes on in the next one, as in every line magic.
4. Other cell magics keep their bodies as they are.

Tried on IPython 8.18 and 9.18.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.inputtransformer2 import (
    assemble_continued_line,
    find_end_of_continued_line,
    make_tokens_by_line,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["VerbatimMagics", "install"]


def install(shell: InteractiveShell, names: Sequence[str]) -> Callable[[], None]:
    """Hand the magics of these names their text as it was typed; the result undoes that."""
    transforms: list[Any] = shell.input_transformers_cleanup
    ours = VerbatimMagics(names)
    transforms.insert(0, ours)

    def remove() -> None:
        if ours in transforms:
            transforms.remove(ours)

    return remove


class VerbatimMagics:
    """A cleanup transformer for the magics of the given names."""

    has_side_effects = True
    """It has none. IPython leaves it out when it decides whether a cell is complete: there, a first
    line that is already a call would end the cell before its body is typed."""

    def __init__(self, names: Sequence[str]) -> None:
        """Look for the magics of these names."""
        joined = "|".join(map(re.escape, names))
        self._cell = re.compile(rf"\s*%%(?P<name>{joined})(?:[ \t]+(?P<line>.*?))?\s*\Z", re.DOTALL)
        self._line = re.compile(rf"%(?P<name>{joined})(?:[ \t]+(?P<text>.*))?\Z", re.DOTALL)
        self._anywhere = re.compile(rf"%(?:{joined})\b")

    def __call__(self, lines: list[str]) -> list[str]:
        """The lines of a cell, with calls in place of our magics."""
        first = next((at for at, line in enumerate(lines) if line.strip()), None)
        if first is None:
            return lines
        if lines[first].lstrip().startswith("%%"):
            return self._cell_call(lines[first], lines[first + 1 :]) or lines
        done = 0
        while any(self._anywhere.search(line) for line in lines[done:]):
            found = self._find(lines, done)
            if found is None:
                return lines
            row, column = found
            end = find_end_of_continued_line(lines, row)
            magic = self._line.match(assemble_continued_line(lines, found, end))
            if magic is not None:
                call = _call("run_line_magic", magic["name"], magic["text"] or "")
                lines = [*lines[:row], f"{lines[row][:column]}{call}\n", *lines[end + 1 :]]
            done = row + 1
        return lines

    def _cell_call(self, first: str, body: Sequence[str]) -> list[str]:
        found = self._cell.match(first)
        if found is None:
            return []
        return [_call("run_cell_magic", found["name"], found["line"] or "", "".join(body)) + "\n"]

    def _find(self, lines: list[str], done: int) -> tuple[int, int] | None:
        """Where the next of our magics stands from line `done` on, as row and column from 0."""
        for tokens in make_tokens_by_line(lines):
            start = _magic_start(tokens)
            if start is None or start[0] - 1 < done:
                continue
            row, column = start[0] - 1, start[1]
            if self._line.match(lines[row][column:].rstrip()):
                return row, column
        return None


def _magic_start(tokens: Sequence[tokenize.TokenInfo]) -> tuple[int, int] | None:
    """Where a magic begins the statement of these tokens, or what is assigned by it."""
    code = [token for token in tokens if token.type not in {tokenize.INDENT, tokenize.DEDENT}]
    depth = 0
    for at, token in enumerate(code):
        if token.string in {"(", "[", "{"}:
            depth += 1
        elif token.string in {")", "]", "}"}:
            depth -= 1
        elif token.string == "%" and (at == 0 or (depth == 0 and code[at - 1].string == "=")):
            return token.start
    return None


def _call(method: str, *arguments: str) -> str:
    return f"get_ipython().{method}({', '.join(map(repr, arguments))})"
