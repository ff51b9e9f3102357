"""What can be seen of a sentence without any model: does it look like something to be kept?

1. Each feature is a mark in the words: how long it is meant to hold, who speaks, whether it asks,
   orders, tells what happened or what others say. None looks at what the sentence is about.
2. English and Arabic have the same features, so that what is learned from one helps the other; in
   another language only the marks of form are left, and little is ever found.
3. Any text has features; they depend on nothing but the text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from memnb.core.span_marks import MARKS
from memnb.core.span_marks_arabic import ARABIC_MARKS

__all__ = ["FEATURES", "features"]

# Arabic is matched without its vowel signs and with one form of alif, ya and ta marbuta.
_FOLDED: Final = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"'}  # noqa: RUF001
    | dict.fromkeys("أإآٱ", "ا")  # noqa: RUF001
    | {"ى": "ي", "ئ": "ي", "ؤ": "و", "ة": "ه", "ـ": None}  # noqa: RUF001
    | dict.fromkeys(map(chr, range(0x64B, 0x653)), None)
)

# Two marks together may mean what neither means alone.
_PAIRS: Final = (
    ("always", "order"),
    ("never", "order"),
    ("always", "i"),
    ("never", "i"),
    ("always", "we"),
    ("never", "we"),
    ("order", "project"),
    ("order", "for_all"),
    ("order", "whenever"),
    ("order", "lasting"),
    ("order", "instead"),
    ("order", "outputs"),
    ("like", "outputs"),
    ("decided", "clock"),
    ("question_mark", "prefer"),
    ("question_mark", "we_do"),
    ("hypothetical", "prefer"),
    ("now", "prefer"),
    ("past", "decided"),
    ("aversion", "i"),
    ("identity", "so"),
    ("we_do", "now"),
    ("project", "every"),
    ("order", "throughout"),
    ("lets", "always"),
    ("quotes", "always"),
    ("attitude", "question_mark"),
    ("attitude", "now"),
    ("attitude", "like_this"),
    ("attitude", "this"),
    ("attitude", "ordinal"),
    ("attitude", "planning"),
    ("attitude", "past"),
    ("attitude", "it"),
    ("decided", "perfect"),
    ("decided", "ordinal"),
    ("never", "perfect"),
    ("project", "perfect"),
    ("aversion", "past"),
    ("passive", "our"),
    ("he_she", "rule_noun"),
    ("he_she", "our"),
    ("he_she", "third_habit"),
    ("this", "it"),
    ("i", "future"),
    ("attitude", "words>16"),
    ("attitude", "outputs"),
    ("attitude", "never"),
    ("attitude", "so_plan"),
    ("weighs_on_me", "this"),
)
_ATTITUDES: Final = (
    "prefer",
    "would_rather",
    "dislike",
    "avoid",
    "aversion",
    "no_interest",
    "habit_not",
    "habit_only",
    "want_all",
    "condition",
)
_ATTITUDE: Final = "attitude"
"""At least one of the attitudes; `attitude>1`: more than one, which states it twice."""

_LENGTHS: Final = (4, 8, 16, 28, 45)
"""Feature `words>n`: the sentence has more than n words."""


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().translate(_FOLDED)


_PATTERNS: Final = {
    name: re.compile("|".join(filter(None, (marks, ARABIC_MARKS.get(name)))))
    for name, marks in MARKS.items()
}
_MAX_CHARS: Final = 1000  # twice what a fact may hold; nothing longer is a sentence
# What stands in quotation marks isn't said by the person; a single word is only named.
_QUOTING: Final = re.compile(_PATTERNS["quotes"].pattern)
_WORD: Final = re.compile(r"\w+(?:'\w+)?")

FEATURES: Final = (
    *_PATTERNS,
    _ATTITUDE,
    f"{_ATTITUDE}>1",
    *(f"words>{limit}" for limit in _LENGTHS),
    *(f"{first}+{second}" for first, second in _PAIRS),
)
"""The name of every feature, in the order of their values."""


def features(text: str) -> tuple[float, ...]:
    """The features of a sentence: 1 where a mark is there, 0 where it isn't."""
    folded = " ".join(_folded(text[:_MAX_CHARS]).split())
    is_quoting = _QUOTING.search(folded) is not None
    folded = _QUOTING.sub('"…"', folded)
    seen = {name: pattern.search(folded) is not None for name, pattern in _PATTERNS.items()}
    seen["quotes"] = is_quoting
    n_attitudes = sum(seen[name] for name in _ATTITUDES)
    seen[_ATTITUDE] = n_attitudes > 0
    seen[f"{_ATTITUDE}>1"] = n_attitudes > 1
    n_words = sum(1 for _ in _WORD.finditer(folded))
    seen |= {f"words>{limit}": n_words > limit for limit in _LENGTHS}
    pairs = (seen[first] and seen[second] for first, second in _PAIRS)
    return (*map(float, seen.values()), *map(float, pairs))
