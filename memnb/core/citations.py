"""Citations that a model writes into its answer: taken out while it streams, and collected.

    <memory-used>F-7k2m9q, S-20261130-091005-7k2m9q:12</memory-used>

1. A tag is never shown, wherever it stands and however it is cut into pieces, also without its
   counterpart, in another one, or in a code fence.
2. What stands between two tags isn't shown, when it is references or no more than a line. Other
   text after a tag is the answer, whose citations a model forgot to end: it is shown.
3. What is held back is at most the beginning of a tag, and what may stand between two: other text
   isn't kept waiting.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["CITED", "Citations"]

CITED: Final = re.compile(r"\b(?:F-[0-9a-z]{6}|S-[0-9]{8}-[0-9]{6}-[0-9a-z]{6}:[0-9]{1,9})\b")
"""What a request can have carried, as an answer names it: a fact by its id, a record."""

_NAMES: Final = ("<memory-used", "</memory-used")
_MAX_TAG: Final = 128
_BEGUN: Final = re.compile(rf"</?memory-used(?![\w-])[^<>]{{0,{_MAX_TAG}}}\Z", re.I)
_TAG: Final = re.compile(_BEGUN.pattern.removesuffix("\\Z") + ">", re.I)

_SURELY: Final = len("<memo")
"""Of an answer that is cut off: so much of a tag isn't anything else."""

_MAX_LINE: Final = 160
_MAX_HELD: Final = 2048
"""How much may be held back after a tag: any text, and references."""

_MAX_WORD: Final = 80
_BETWEEN: Final = re.compile(r"[\s,;\[\]`\"']+")
_REFERENCE: Final = re.compile(
    r"[FS]-[\w-]+(?:@\d+)?(?::\d+(?:-\d+)?)?\.?|[\w./-]+\.md(?::\d+)?|and|none|-"
)


class Citations:
    """Takes the citations out of one answer, piece by piece."""

    def __init__(self) -> None:
        self._held = ""
        self._is_inside = False
        self.has_any = False
        self.cited: dict[str, None] = {}

    def take(self, piece: str) -> str:
        """What is to be shown of the answer now that another piece of it came."""
        self._held += piece
        shown = ""
        while tag := _TAG.search(self._held):
            before, self._held = self._held[: tag.start()], self._held[tag.end() :]
            is_end = tag[0].startswith("</")
            shown += self._between(before, is_closed=is_end)
            self.has_any = True
            self._note(tag[0])
            self._is_inside = not is_end
        return shown + self._released()

    def rest(self) -> str:
        """What is to be shown at the end."""
        at = _tag_begins(self._held)
        text, begun, self._held = self._held[:at], self._held[at:], ""
        is_tag = len(begun) >= _SURELY
        self.has_any = self.has_any or is_tag
        return self._between(text, is_closed=is_tag) + ("" if is_tag else begun)

    def _between(self, text: str, *, is_closed: bool) -> str:
        """What is to be shown of the text up to a tag, or up to the end."""
        if self._is_inside and (_is_references(text) or (is_closed and _is_line(text))):
            self._note(text)
            return ""
        return text

    def _note(self, text: str) -> None:
        self.cited.update(dict.fromkeys(CITED.findall(text)))

    def _released(self) -> str:
        """What can't be the beginning of a tag, nor a citation, is shown at once."""
        at = _tag_begins(self._held)
        text, rest = self._held[:at], self._held[at:]
        if self._is_inside:
            if _is_line(text) or (len(text) <= _MAX_HELD and _may_be_references(text)):
                return ""
            self._is_inside = False
        self._held = rest
        return text


def _tag_begins(text: str) -> int:
    """Where a tag may begin that isn't there as a whole yet; the end when none does."""
    at = text.rfind("<")
    if at < 0:
        return len(text)
    begun = text[at:]
    is_tag = _BEGUN.match(begun) or any(name.startswith(begun.lower()) for name in _NAMES)
    return at if is_tag else len(text)


def _is_line(text: str) -> bool:
    return len(text) <= _MAX_LINE and "\n" not in text.strip()


def _is_references(text: str) -> bool:
    return all(_REFERENCE.fullmatch(word) for word in _BETWEEN.split(text) if word)


def _may_be_references(text: str) -> bool:
    """Whether a text may become references when more of it comes."""
    *whole, last = _BETWEEN.split(text)
    return len(last) <= _MAX_WORD and all(_REFERENCE.fullmatch(word) for word in whole if word)
