"""Whose words a message holds: the spans that a person typed themselves, cut into sentences.

1. Only `typed` parts count: variables, files, tracebacks and recalled text are data.
2. Code fences and block quotes are not the person's words, also when a part in between
   (an inserted variable) separates their ends.
3. Every span is exact: code points of one part, so a quote can be read again from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memnb.core.bodies import Part

__all__ = ["Span", "find_span", "own_spans", "sentence_around", "sentences"]

# In list items and at any depth: what might be quoted is not taken for the person's words.
_LEAD: Final = r"[ \t]*(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]+)*"
_FENCE: Final = re.compile(_LEAD + r"(?P<run>`{3,}(?!.*`)|~{3,})")
_QUOTE: Final = re.compile(_LEAD + r">")
_SENTENCE_END: Final = re.compile(
    r"(?<=[.!?…؟۔])[\"'”’)]*\s+|(?<=[。！？।])[\"'”’)]*\s*|(?<=:)\s+"  # noqa: RUF001
)
_MARKER: Final = re.compile(r"\s*(?:[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?")


@dataclass(frozen=True, slots=True)
class Span:
    """Code points `start` to `end` of part number `part`."""

    part: int
    start: int
    end: int


def own_spans(parts: Sequence[Part]) -> tuple[Span, ...]:
    """The lines of typed text that are the person's own, without fenced and quoted ones."""
    return tuple(_own_lines(parts))


def find_span(parts: Sequence[Part], text: str) -> Span | None:
    """Where `text` stands, wholly inside one line of the person's own words; None if nowhere."""
    if not text:
        return None
    for span in own_spans(parts):
        typed = parts[span.part].text
        at = typed.find(text, span.start, span.end)
        while at >= 0:
            if _is_bounded(typed, at, at + len(text)):
                return Span(span.part, at, at + len(text))
            at = typed.find(text, at + 1, span.end)
    return None


def sentence_around(parts: Sequence[Part], span: Span) -> str:
    """The sentence, or the sentences, of the person's own words that `span` reaches into."""
    typed = parts[span.part].text
    for line in own_spans(parts):
        if line.part == span.part and line.start <= span.start and span.end <= line.end:
            start, end = line.start, line.end
            for cut in _SENTENCE_END.finditer(typed, line.start, line.end):
                if cut.end() <= span.start:
                    start = cut.end()
                elif cut.start() >= span.end:
                    end = cut.start()
                    break
            marker = _MARKER.match(typed, start, end) if start == line.start else None
            return typed[marker.end() if marker else start : end].strip()
    return typed[span.start : span.end]


def sentences(parts: Sequence[Part], *, max_bytes: int = 512) -> tuple[str, ...]:
    """The person's own sentences, exact and in order, without list markers; long ones left out."""
    found: list[str] = []
    for span in own_spans(parts):
        for sentence in _cut(parts[span.part].text[span.start : span.end]):
            if len(sentence.encode(errors="replace")) <= max_bytes and sentence not in found:
                found.append(sentence)
    return tuple(found)


def _is_bounded(text: str, start: int, end: int) -> bool:
    """Whether a span begins and ends between words: `usable` isn't said by `unusable`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    cuts_before = before.isalnum() and text[start].isalnum()
    cuts_after = after.isalnum() and text[end - 1].isalnum()
    return not cuts_before and not cuts_after


def _cut(line: str) -> Iterator[str]:
    line = line[_MARKER.match(line).end() :]  # type: ignore[union-attr]  # matches always
    start = 0
    for match in _SENTENCE_END.finditer(line):
        yield from _non_empty(line[start : match.end()])
        start = match.end()
    yield from _non_empty(line[start:])


def _non_empty(text: str) -> Iterator[str]:
    text = text.strip()
    if any(character.isalnum() for character in text):
        yield text


def _own_lines(parts: Sequence[Part]) -> Iterator[Span]:
    fence = ""  # the run of characters that opened the fence we are in
    at_line_start = True
    in_quote = False
    for number, part in enumerate(parts):
        if part.type != "typed":
            # Only a variable stands within a line; anything else is a block of its own.
            at_line_start = part.type != "variable"
            in_quote = in_quote and not at_line_start
            continue
        position = 0
        for line in part.text.splitlines(keepends=True):
            start, position = position, position + len(line)
            content = line.rstrip("\r\n")
            if at_line_start:
                in_quote = not fence and _is_quoted(content, in_quote)
                fence, fenced = _step(fence, content)
            else:
                fenced = bool(fence)
            if content.strip() and not fenced and not in_quote:
                yield Span(number, start, start + len(content))
            at_line_start = line != content


def _is_quoted(line: str, before: bool) -> bool:
    """Whether a line is in a block quote: marked, or going on with the quoted paragraph."""
    return bool(_QUOTE.match(line)) or (before and bool(line.strip()))


def _step(fence: str, line: str) -> tuple[str, bool]:
    """The fence after `line`, and whether the line belongs to one."""
    match = _FENCE.match(line)
    if match is None:
        return fence, bool(fence)
    run = match["run"]
    if not fence:
        return run, True
    closes = run[0] == fence[0] and len(run) >= len(fence) and not line[match.end() :].strip()
    return ("" if closes else fence), True
