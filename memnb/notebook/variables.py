r"""`{{expr}}` in a message, replaced by a summary of what the expression means in the notebook.

What counts as an expression, and nothing else is touched:

1. Two braces, a Python expression on one line that names something and neither begins nor ends
   with a brace, two braces.
2. Not in a code fence, and not in mathematics.
3. Not where LaTeX is meant: after a command, `^`, `]` or a closing brace, or before a lone opening
   one, as in `\frac{{a}}{b}`.
4. `\{{expr}}` stands for `{{expr}}`.

Nothing is sent when an expression fails.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memnb.core.bodies import Part
from memnb.errors import InputError
from memnb.notebook.math_spans import math_spans
from memnb.notebook.summaries import MAX_BYTES, summary

__all__ = ["message_parts"]

_MAX_EXPRESSION: Final = 1000
_BRACES: Final = re.compile(r"\{\{")
_FENCE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)")
_COMMAND: Final = re.compile(r"\\[A-Za-z]+\*?\Z")
_LONGEST_COMMAND: Final = 32


def message_parts(
    text: str, namespace: Mapping[str, Any], *, max_bytes: int = MAX_BYTES
) -> tuple[Part, ...]:
    """`text` as `typed` parts, with a `variable` part in place of each expression.

    Args:
        text: the message, as it was typed.
        namespace: the names that expressions may use.
        max_bytes: most bytes of each summary.

    Raises:
        InputError: an expression failed; the message names its line and the type of the exception.
    """
    parts: list[Part] = []
    typed = ""
    end = 0
    for found in _expressions(text):
        typed += text[end : found.start]
        end = found.end
        if found.escaped:
            typed += text[found.start + 1 : found.end]
            continue
        line = text.count("\n", 0, found.start) + 1
        value = _evaluate(found.expression, namespace, line)
        if typed:
            parts.append(Part("typed", typed))
        typed = ""
        parts.append(Part("variable", summary(value, max_bytes=max_bytes), found.expression))
    typed += text[end:]
    if typed or not parts:
        parts.append(Part("typed", typed))
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class _Found:
    """An expression with its braces, and with the backslash that escapes it."""

    start: int
    end: int
    expression: str
    escaped: bool


def _expressions(text: str) -> Iterator[_Found]:
    end = 0
    for start, stop in _open_ranges(text):
        at = max(start, end)
        while (braces := _BRACES.search(text, at, stop)) is not None:
            found = _expression(text, braces.start(), stop, end)
            if found is None:
                at = braces.start() + 1
                continue
            yield found
            at = end = found.end


def _expression(text: str, at: int, stop: int, last_end: int) -> _Found | None:
    before = text[at - 1 : at]
    is_glued = before in {"{", "^", "]"} or (before == "}" and at != last_end)
    if is_glued or _COMMAND.search(text[max(0, at - _LONGEST_COMMAND) : at]):
        return None
    line_end = text.find("\n", at, stop)
    limit = min(stop if line_end < 0 else line_end, at + _MAX_EXPRESSION)
    close = text.find("}}", at + 2, limit)
    while close >= 0:
        end = close + 2
        expression = text[at + 2 : close].strip()
        after = text[end : end + 1]
        is_argument = after == "{" and not text.startswith("{{", end)
        if after != "}" and not is_argument and _is_expression(expression):
            escaped = before == "\\"
            return _Found(at - escaped, end, expression, escaped)
        close = text.find("}}", close + 1, limit)
    return None


def _is_expression(text: str) -> bool:
    if not text or text[0] in "{}" or text[-1] in "{}":
        return False
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return any(isinstance(node, ast.Name) for node in ast.walk(tree))


def _evaluate(expression: str, namespace: Mapping[str, Any], line: int) -> Any:
    try:
        code = compile(expression, "<message>", "eval")
        # It is the person's own expression, run in their kernel like the rest of the cell.
        return eval(code, dict(namespace))  # noqa: S307
    except Exception as error:
        raise InputError(
            f"the expression in line {line} raised {type(error).__name__}, so nothing was sent."
            r" Correct it, or write \{{ to send the braces as they are."
        ) from None


class _Fence:
    """The code fence that a line may be in."""

    def __init__(self) -> None:
        self.mark = ""

    def holds(self, line: str) -> bool:
        """Whether the next line belongs to a fence; the lines come in order."""
        found = _FENCE.match(line)
        if not self.mark:
            if found is None or (found[1][0] == "`" and "`" in found[2]):
                return False
            self.mark = found[1]
        elif found and found[1].startswith(self.mark) and not found[2].strip():
            self.mark = ""
        return True


def _open_ranges(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of `text` in which expressions are looked for."""
    for start, end in _unfenced(text):
        at = start
        for span in math_spans(text[start:end]):
            yield at, start + span.start
            at = start + span.end
        yield at, end


def _unfenced(text: str) -> Iterator[tuple[int, int]]:
    fence = _Fence()
    start = at = 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        if fence.holds(line.rstrip("\r\n")):
            yield start, at - len(line)
            start = at
    yield start, at
