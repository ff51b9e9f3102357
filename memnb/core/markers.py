"""Words that say how long, and how surely, a statement is meant.

1. A temporary marker in what would be kept rejects it: it ends with the task or the day. Whole
   words only; the list is short and fixed, so it refuses some lasting rules ("retry until it
   passes") and misses other transient wording. It is no judgement of meaning.
2. Other words don't reject: a person decides.
3. Arabic is compared without vowel signs, tatweel and the forms of alef, with the particles that
   are written onto a word (wa-, fa-, bi-, li-, ka-). The words are those that open grammars of
   temporal expressions know for "today", "now" and "till" (Duckling's `Time/AR`, Recognizers-Text's
   `ArabicDateTime`), and the dictionary equivalents of the English list; `حتى` means "even", too,
   so by itself it only asks for a look.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

__all__ = ["Doubt", "doubt", "is_temporary"]

Doubt = Literal["limited", "correcting", "unsure", "asking"]
"""Why a person should look: it may hold for one thing only, replaces something, isn't certain, or
is a question or a request."""

_ARABIC_SIGNS: Final = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_ARABIC_LETTERS: Final = str.maketrans("أإآٱى", "ااااي")
_BLANKS: Final = re.compile(r"\s+")


def _whole(*phrases: str, particles: str = "") -> re.Pattern[str]:
    """A pattern for whole words, which may have particles written onto them."""
    return re.compile(rf"(?<!\w){particles}(?:{'|'.join(phrases)})(?!\w)")


_PARTICLES: Final = "[وف]?[بلك]?"
_TEMPORARY: Final = (
    _whole(
        "this task",
        "this time",
        "for now",
        "just now",
        "today",
        "tonight",
        "temporarily",
        r"until(?=\W+\w)",
    ),
    _whole(
        "هذه المهمة",  # this task
        "هذه المرة",  # this time
        "اليوم",  # today
        "لليوم",  # for today
        "الليلة",  # tonight
        "(?<!من )الان",  # now, but not "from now on"
        "للتو",  # just now
        "حاليا",  # for now
        "في الوقت الحالي",  # for the time being
        "في الوقت الراهن",
        "موقتا",  # temporarily, in the spelling without hamza's seat
        "مؤقتا",
        "بشكل مؤقت",
        r"الي ان(?=\W+\w)",  # until
        r"الي حين(?=\W+\w)",
        "حتي (?:غد|الغد|غدا|نهاية|انتهاء|يوم|اشعار)",  # until tomorrow, the end, a day, notice
        r"حتي [0-9\u0660-\u0669]+",
        particles=_PARTICLES,
    ),
)
_LIMITED: Final = (_whole("only"), _whole("فقط", "حتي", particles="[وف]?"))
_CORRECTING: Final = (
    _whole("correction", "no longer", "any ?more", "i was wrong", "scratch that"),
    _whole("تصحيح", "لم نعد", "لم اعد", "لم يعد", particles="[وف]?"),
)
_UNSURE: Final = (
    _whole("maybe", "perhaps", "probably", "not sure", "i guess", "might", "i think"),
    _whole("ربما", "لعل", "لست متاكدا", "اظن", "اعتقد", particles="[وف]?"),
)
_LASTING: Final = (
    _whole("always", "never", "from now on", "every", "whenever", "by default"),
    _whole("remember", "keep in mind", "note that", "in future", "in the future"),
    _whole("دائما", "ابدا", "فصاعدا", "كل", "تذكر", particles="[وف]?"),
)
_QUESTION: Final = re.compile("[?؟？][\"'”’)]*$")  # noqa: RUF001
_REQUEST: Final = re.compile(r"(?:please|can|could|would|will)\s+(?:you\s+)?\w|(?:رجاء|من فضلك)")


def is_temporary(text: str) -> bool:
    """Whether a text says that it holds for a while only."""
    form = _folded(text)
    return any(pattern.search(form) for pattern in _TEMPORARY)


def doubt(text: str) -> Doubt | None:
    """Why a person should look at a text before it is kept; None when nothing asks for it."""
    form = _folded(text)
    if any(pattern.search(form) for pattern in _LIMITED):
        return "limited"
    if any(pattern.search(form) for pattern in _CORRECTING):
        return "correcting"
    if any(pattern.search(form) for pattern in _UNSURE):
        return "unsure"
    is_request = _REQUEST.match(form) and not any(one.search(form) for one in _LASTING)
    return "asking" if is_request or _QUESTION.search(form) else None


def _folded(text: str) -> str:
    """A text in the form in which its words are compared."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    arabic = _ARABIC_SIGNS.sub("", folded).translate(_ARABIC_LETTERS)
    return _BLANKS.sub(" ", arabic).strip()
