"""What texts are compared with: words, a phrase as it was typed, or a regular expression.

1. A phrase is compared without case, composition and runs of blanks; no character of it means
   anything but itself.
2. A regular expression takes time that is linear in the text, whatever the expression: RE2 looks
   for it, in pieces between which who asks may stop. Case doesn't matter unless `(?-i)` says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any, Final, Literal, Protocol

from memnb.core.facts import normalised
from memnb.core.snippets import Span
from memnb.errors import InputError

__all__ = ["MAX_PATTERN", "How", "Matcher", "Phrase", "Regex", "Words", "matcher"]

How = Literal["words", "literal", "regex"]

MAX_PATTERN: Final = 512
"""In characters: of a phrase or a regular expression."""

_MOST_SPANS: Final = 200
_LONGEST: Final = 50_000
"""Of a long text, what is marked is looked for in so many characters."""

_PIECE: Final = 8_192
"""How much of a text a regular expression is looked for in at once; a second for the worst."""

_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_ENDINGS: Final = 4
_SHORTEST: Final = 3


class Matcher(Protocol):
    """Tells whether and where a text holds what is looked for."""

    def holds(self, text: str) -> bool:
        """Whether it stands in the text."""

    def spans(self, text: str) -> list[Span]:
        """Where it stands, as far as that can be told; the first places of many."""


def matcher(text: str, how: How, *, is_over: Callable[[], bool] = lambda: False) -> Matcher:
    """What looks for `text` in that way.

    Args:
        text: what is looked for.
        how: what is meant by it.
        is_over: whether there is no time left; then nothing more is found.

    Raises:
        InputError: there is nothing to look for, or too much, or it is no regular expression.
    """
    if how not in ("words", "literal", "regex"):
        raise InputError("how to search is words, literal or regex.")
    if not text.strip():
        raise InputError("say what to look for: `%memory search WORDS`.")
    if how == "words":
        return Words(frozenset(_WORD.findall(text.lower())))
    if len(text) > MAX_PATTERN:
        raise InputError(f"look for at most {MAX_PATTERN} characters at once.")
    return Phrase(text) if how == "literal" else Regex(text, is_over)


class Words:
    """Any of some words, as the index knows them: without marks and English endings."""

    def __init__(self, words: Collection[str]) -> None:
        """Look for these words: as they were typed, and as the index knows them."""
        self._words = frozenset(_bare(word) for word in words)

    def holds(self, text: str) -> bool:
        """Whether one of them stands in the text."""
        return any(True for _ in self._found(text))

    def spans(self, text: str) -> list[Span]:
        """Where they stand, in whatever form."""
        return list(islice(self._found(text[:_LONGEST]), _MOST_SPANS))

    def _found(self, text: str) -> Iterator[Span]:
        for found in _WORD.finditer(text):
            if self._is_one(found[0]):
                yield found.span()

    def _is_one(self, word: str) -> bool:
        whole = _bare(word)
        if whole in self._words:
            return True
        pieces = _HUMP.findall(word)
        forms = [whole, *(map(_bare, pieces) if len(pieces) > 1 else ())]
        return any(_is_form(form, known) for form in forms for known in self._words)


class Phrase:
    """A phrase as it was typed."""

    def __init__(self, phrase: str) -> None:
        """Look for this phrase."""
        self._wanted = normalised(phrase)

    def holds(self, text: str) -> bool:
        """Whether the phrase stands in the text."""
        return self._wanted in normalised(text)

    def spans(self, text: str) -> list[Span]:
        """Where the phrase stands."""
        folded, starts, ends = _folded(text[:_LONGEST])
        spans: list[Span] = []
        at = folded.find(self._wanted)
        while at >= 0 and len(spans) < _MOST_SPANS:
            last = at + len(self._wanted)
            spans.append((starts[at], ends[last - 1]))
            at = folded.find(self._wanted, last)
        return spans


class Regex:
    """A regular expression that is looked for in linear time."""

    def __init__(self, pattern: str, is_over: Callable[[], bool] = lambda: False) -> None:
        """Look for this expression until time is over; raises InputError when RE2 can't.

        `^` and `$` are the ends of a line.
        """
        import re2  # 20 ms, and needed here only

        options = re2.Options()
        options.log_errors = False
        self._is_over = is_over
        try:
            self._compiled: Any = re2.compile(f"(?im){_encodable(pattern)}", options)
        except re2.error:
            raise InputError(
                "that is no regular expression that can be looked for in linear time: no"
                " look-around, no references back, no repeat above 1000. Without --regex it is"
                " taken as words, with --literal as it is."
            ) from None

    def holds(self, text: str) -> bool:
        """Whether the expression fits somewhere in the text."""
        return any(self._compiled.search(_encodable(piece)) for _, piece in self._pieces(text))

    def spans(self, text: str) -> list[Span]:
        """Where the expression fits."""
        found = (
            (start + match.start(), start + match.end())
            for start, piece in self._pieces(text[:_LONGEST])
            for match in self._compiled.finditer(_encodable(piece))
        )
        return [(start, end) for start, end in islice(found, _MOST_SPANS) if start < end]

    def _pieces(self, text: str) -> Iterator[tuple[int, str]]:
        """Whole lines together, as far as they are short enough, and where each piece begins."""
        start = 0
        while start < len(text) and not self._is_over():
            end = start + _PIECE
            if end < len(text):
                end = text.rfind("\n", start, end) + 1 or end
            yield start, text[start:end]
            start = end


def _is_form(word: str, known: str) -> bool:
    """Whether a word may be another form of one that is known, its stem perhaps."""
    stem = known[:-1] if known[-1:] in "ie" and len(known) > _SHORTEST else known
    short, long = sorted((stem, word), key=len)
    return len(short) >= _SHORTEST and long.startswith(short) and len(long) - len(short) <= _ENDINGS


def _bare(word: str) -> str:
    """A word without case and marks."""
    if word.isascii():
        return word.lower()
    letters = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """The text as phrases are compared, and for each of its characters where that begins and ends.

    It goes letter by letter with its marks, which for some scripts is not quite what composition
    makes of the whole: then a place isn't found, though the text holds the phrase.
    """
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        is_blank = text[at].isspace()
        end = at + 1
        while end < len(text) and (
            text[end].isspace() if is_blank else unicodedata.combining(text[end])
        ):
            end += 1
        piece = " " if is_blank else normalised(text[at:end])
        pieces.append(piece)
        starts += [at] * len(piece)
        ends += [end] * len(piece)
        at = end
    return "".join(pieces), starts, ends


def _encodable(text: str) -> str:
    """The text with a question mark for each half of a character, which RE2 can't be given."""
    return text.encode(errors="replace").decode()
