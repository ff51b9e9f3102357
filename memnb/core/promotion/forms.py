"""Canonical forms: what a sentence says, whatever the words; and the rules that read it.

1. A rule reads a whole sentence or nothing: what no wording foresees says nothing.
2. A form's text is read again as the same form, so a fact's text tells what it chooses.
3. A rule never changes under its name and version. A better one is a row with the next version;
   the old row stays, since facts name it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from memnb.core.facts import Kind

__all__ = [
    "Form",
    "Pieces",
    "Polarity",
    "Rule",
    "Value",
    "contradicts",
    "group",
    "plain",
    "reading",
    "spelled",
]

Polarity = Literal["do", "don't"]

Pieces = Mapping[str, str]
"""What a wording found in a sentence, by the names of its groups."""

MAX_CHARACTERS: Final = 120
"""Longer sentences, in code points, are incidental: nothing is read from them."""

_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'", "\u00a0": " ", "\u202f": " "})  # noqa: RUF001
_QUOTING: Final = re.compile("[\"`“”„«»‹›‘]|(?<!\\w)'|'(?!\\w)")  # noqa: RUF001
_END: Final = re.compile(r"[.!۔]+\Z")  # noqa: RUF001
_ASKS: Final = re.compile(r"[?؟…]|\.\.\Z")
_TASHKEEL: Final = re.compile("[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0640]")
"""Short vowels, nunation, shadda, small Koranic signs, and tatweel, which only stretches."""

_LETTERS: Final = str.maketrans(
    "أإآٱىیةکؤئ" + "٠١٢٣٤٥٦٧٨٩" + "۰۱۲۳۴۵۶۷۸۹" + "،؛",
    "اااايي" + "هكوي" + "0123456789" * 2 + ",;",
)
"""Alef with hamza or madda → alef, alef maksura → ya, ta marbuta → ha, hamza's seats → letters."""

_HAS_ARABIC: Final = re.compile("[\u0600-\u06ff]")


@dataclass(frozen=True, slots=True)
class Form:
    """What a sentence says.

    Args:
        category: what it is about, such as `package-manager`.
        key: of what it is one choice; forms that share a key exclude each other. "" when several
            may hold side by side.
        value: what was chosen.
        polarity: whether it is wanted.
        rule: which rule read it, as `name@version`.
        text: the one text for all that say this.
        kind: what kind of claim it is.
    """

    category: str
    key: str
    value: str
    polarity: Polarity
    rule: str
    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Value:
    """One choice: its key, its name, and the texts that say that it is wanted, or unwanted."""

    key: str
    value: str
    says: str
    says_not: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table.

    Args:
        name: of the rule.
        version: rises when it reads anything otherwise than before.
        category: what it is about.
        kind: what kind of claim its forms are.
        about: a pattern of words of which one must be in the sentence; most are told apart by it.
        wordings: patterns of whole sentences, with named groups.
        value: what the pieces of a sentence choose; None when that is nothing known.
        negated: patterns of sentences that say that something is unwanted.
        matches: sentences, each with the text that the rule makes of it.
        misses: sentences of which it makes nothing.
    """

    name: str
    version: int
    category: str
    kind: Kind
    about: str
    wordings: tuple[str, ...]
    value: Callable[[Pieces], Value | None]
    negated: tuple[str, ...] = ()
    matches: tuple[tuple[str, str], ...] = ()
    misses: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """As revisions name it: `package-manager@1`."""
        return f"{self.name}@{self.version}"

    def is_about(self, text: str) -> bool:
        """Whether a text, as rules read it, may hold a sentence that this rule reads."""
        return _compiled(self.about).search(text) is not None

    def form(self, sentence: str) -> Form | None:
        """What a sentence says by this rule; None when it says nothing."""
        text = reading(sentence)
        if text is None or not self.is_about(text):
            return None
        polarities: tuple[Polarity, ...] = ("don't", "do")
        for polarity in polarities:
            for pattern in self.wordings if polarity == "do" else self.negated:
                found = _compiled(pattern).fullmatch(text)
                if found is not None:
                    return self._form(found, polarity)
        return None

    def _form(self, found: re.Match[str], polarity: Polarity) -> Form | None:
        value = self.value({name: piece for name, piece in found.groupdict().items() if piece})
        says = "" if value is None else value.says if polarity == "do" else value.says_not
        if value is None or not says:
            return None
        return Form(
            self.category, value.key, value.value, polarity, self.reference, says, self.kind
        )


def reading(sentence: str) -> str | None:
    """A sentence as rules read it; None when it is long, asks, trails off or quotes.

    Blanks are collapsed, the end mark is left out; Arabic stands without vowel signs and tatweel,
    its variants of letters as one, its digits as ours.
    """
    if len(sentence) > MAX_CHARACTERS:
        return None
    text = plain(sentence)
    if _QUOTING.search(text) or _ASKS.search(text):
        return None
    return _END.sub("", text).strip()


def plain(text: str) -> str:
    """A text with one kind of blank and apostrophe, and Arabic in one spelling."""
    return spelled(" ".join(text.translate(_APOSTROPHES).split()))


def spelled(text: str) -> str:
    """Arabic in one spelling; other text as it is."""
    if not _HAS_ARABIC.search(text):
        return text
    return _TASHKEEL.sub("", text).translate(_LETTERS)


def group(name: str, pattern: str) -> str:
    """A pattern whose piece has a name."""
    return f"(?P<{name}>{pattern})"


def contradicts(one: Form, other: Form) -> bool:
    """Whether two forms can't both hold: other choices of one thing, or yes and no to one."""
    if not one.key or (one.category, one.key) != (other.category, other.key):
        return False
    if one.polarity != other.polarity:
        return one.value == other.value
    return one.polarity == "do" and one.value != other.value


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # ASCII: an İ or a Kelvin sign is no letter of ours.
    return re.compile(pattern, re.IGNORECASE | re.ASCII)
