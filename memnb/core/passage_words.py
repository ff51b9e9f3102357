"""How text is cut into words, of passages and of queries alike.

The index's own tokenizer does most of it: runs of letters and digits, without case, marks and
English endings; `snake_case` and `src/main.py` are words that stand next to each other. What it
doesn't do is done here, on the text before:

1. `CamelCase` is given whole and in its pieces.
2. Scripts without blanks between words (Chinese, Japanese, Thai …) are cut into characters.
"""

from __future__ import annotations

import re
from typing import Final

from memnb.core.facts import UNSPACED

__all__ = ["indexed", "words_of"]

_HUMPS: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:[A-Z][a-z]|[a-z][A-Z])[^\W_]*")
_HUMP: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_MAY_HAVE_HUMPS: Final = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]")
_WORD: Final = re.compile(r"[^\W_]+")


def indexed(text: str) -> str:
    """The text as the index's tokenizer is given it."""
    if _MAY_HAVE_HUMPS.search(text):
        text = _HUMPS.sub(_in_pieces, text)
    if not text.isascii():
        text = _UNSPACED.sub(r" \g<0> ", text)
    return text


def words_of(text: str, *, in_lower_case: bool = True) -> tuple[str, ...]:
    """The words of a text, in order; `CamelCase` whole, other scripts in characters.

    Unlike in the index, endings and marks stay.
    """
    if not text.isascii():
        text = _UNSPACED.sub(r" \g<0> ", text)
    words = _WORD.findall(text)
    return tuple(word.lower() for word in words) if in_lower_case else tuple(words)


def _in_pieces(match: re.Match[str]) -> str:
    whole = match[0]
    pieces = _HUMP.findall(whole)
    return f"{whole} {' '.join(pieces)}" if len(pieces) > 1 else whole
