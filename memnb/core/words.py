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

__all__ = [
    "Span",
    "find_span",
    "lead_in",
    "own_spans",
    "sentence_around",
    "sentence_spans",
    "sentences",
]

# In list items and at any depth: what might be quoted is not taken for the person's words.
_LEAD: Final = r"[ \t]*(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]+)*"
_FENCE: Final = re.compile(_LEAD + r"(?P<run>`{3,}(?!.*`)|~{3,})")
_QUOTE: Final = re.compile(_LEAD + r">")
_SENTENCE_END: Final = re.compile(
    r"(?<=[.!?…؟۔])[\"'”’)]*\s+|(?<=[。！？।])[\"'”’)]*\s*|(?<=:)\s+"  # noqa: RUF001
)
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
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


def lead_in(parts: Sequence[Part], span: Span) -> str:
    """What introduces the words at `span`: up to a colon before them, and the head of their list.

    "For this task:" says of all that follows it on its line, or in the list below it, how it is
    meant.
    """
    text = parts[span.part].text
    lines = [line for line in own_spans(parts) if line.part == span.part]
    at = next((n for n, line in enumerate(lines) if line.start <= span.start < line.end), None)
    if at is None:
        return ""
    before = text[lines[at].start : span.start]
    lead = before[: before.rfind(":") + 1]
    was_item = bool(_ITEM.match(text, lines[at].start, lines[at].end))
    for line in reversed(lines[:at]):
        said = text[line.start : line.end]
        if was_item and _ITEM.match(said):
            continue
        if said.rstrip().endswith(":") and (was_item or _follows(text, line, lines[at])):
            lead = f"{said} {lead}"
        break
    return lead.strip()


def sentences(parts: Sequence[Part], *, max_bytes: int = 512) -> tuple[str, ...]:
    """The person's own sentences, exact and in order, without list markers; long ones left out."""
    spans = sentence_spans(parts, max_bytes=max_bytes)
    return tuple(dict.fromkeys(parts[span.part].text[span.start : span.end] for span in spans))


def sentence_spans(parts: Sequence[Part], *, max_bytes: int = 512) -> tuple[Span, ...]:
    """Where the person's own sentences stand, each time they are said; long ones left out."""
    cut = (sentence for line in own_spans(parts) for sentence in _cut(parts[line.part].text, line))
    return tuple(
        span
        for span in cut
        if len(parts[span.part].text[span.start : span.end].encode(errors="replace")) <= max_bytes
    )


def _is_bounded(text: str, start: int, end: int) -> bool:
    """Whether a span begins and ends between words: `usable` isn't said by `unusable`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    cuts_before = before.isalnum() and text[start].isalnum()
    cuts_after = after.isalnum() and text[end - 1].isalnum()
    return not cuts_before and not cuts_after


def _follows(text: str, line: Span, next_line: Span) -> bool:
    """Whether a line comes right after another, without a blank one between."""
    return len(text[line.end : next_line.start].splitlines()) <= 1


def _cut(text: str, line: Span) -> Iterator[Span]:
    """The sentences of one line, without list marker and blanks around them."""
    start = _MARKER.match(text, line.start, line.end).end()  # type: ignore[union-attr]  # always
    ends = [match.end() for match in _SENTENCE_END.finditer(text, start, line.end)]
    for end in (*ends, line.end):
        sentence = text[start:end]
        first = start + len(sentence) - len(sentence.lstrip())
        if any(character.isalnum() for character in sentence):
            yield Span(line.part, first, first + len(sentence.strip()))
        start = end


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
