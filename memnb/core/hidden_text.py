"""Characters that a reader of the text does not see: where they are, and which are legitimate.

1. Every control, invisible, bidirectional, tag, private-use and broken code point is hidden, and
   so is a pile of combining marks that covers the lines around it.
2. Tab, line feed, a carriage return before a line feed and a byte order mark at the start are not.
3. What a script or an emoji needs is not hidden: joiners after a letter of a joining script or
   between emoji, a word break between letters of South-East Asia, variation selectors on emoji,
   the flags of England, Scotland and Wales, and a direction mark beside right-to-left text, digits
   or a word's edge.
4. What is blank but takes room, as a no-break space or an empty Braille cell, is a blank, and what
   no font knows yet is a box: neither is hidden. Planes in which nothing ever stood are.
5. Whether a character is hidden depends on it and its neighbours only: escaping the hidden ones
   never turns an allowed one into a hidden one.
6. The tables are fixed code points, not the interpreter's Unicode version: a transcript is judged
   alike by every Python.

Source of the code points: Unicode 16, Default_Ignorable_Code_Point, categories Cc, Cs, Co, Zl, Zp,
noncharacters, the format controls that show nothing, and UTS 51 for emoji sequences.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from memnb.core.patterns import compiled

__all__ = ["HiddenRule", "HiddenSpan", "hidden_spans", "stacked_marks"]

HiddenRule = Literal[
    "control",
    "invisible",
    "bidirectional",
    "joiner",
    "variation",
    "tag",
    "separator",
    "private-use",
    "noncharacter",
    "unassigned",
    "stacked-marks",
    "look-alike",
    "styled-letters",
]
"""Why a character counts as hidden. The last two name visible letters that pose as others."""


class HiddenSpan(NamedTuple):
    """One run of hidden characters, in code points, end exclusive."""

    rule: HiddenRule
    start: int
    end: int


_CLASSES: dict[HiddenRule, str] = {
    "control": r"\x00-\x08\x0b-\x1f\x7f-\x9f",
    "invisible": (
        r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164"
        r"\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f\U00016fe4\U0001bca0-\U0001bca3"
        r"\U0001d173-\U0001d17a"
    ),
    "bidirectional": r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "joiner": r"\u200c\u200d",
    "variation": r"\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "tag": r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff",
    "separator": r"\u2028\u2029",
    "private-use": r"\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd",
    "noncharacter": (
        r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
        + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(1, 17))
    ),
    "unassigned": r"\U00040000-\U000dfffd\U000e1000-\U000efffd",
}
_ASCII_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f]"
_HIDDEN = f"[{''.join(_CLASSES.values())}]"
_BY_RULE = tuple((rule, f"[{characters}]") for rule, characters in _CLASSES.items())

_MARKS = r"\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_POINTS = (
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
)
_STACK = f"[{_MARKS}]{{5,}}+|[{_POINTS}]{{8,}}+"
"""Five marks on one letter, or eight of Hebrew, Arabic, Thai or Lao: real orthographies stop at
three, and at five in a Bible with all its accents."""

_EMOJI = (
    r"\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    r"\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_SOUTH_EAST_ASIAN = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
_JOINING = (
    r"\u0600-\u061b\u061d-\u06ff\u0700-\u077f\u0840-\u08ff\u0900-\u0fff\u1000-\u109f"
    r"\u1780-\u17b3\u17b6-\u17ff\u1800-\u180a\u1810-\u18aa\u1900-\u1aaf\u1b00-\u1cff"
    r"\ua840-\ua87f\ua8e0-\ua8ff\ua900-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    r"\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_RIGHT_TO_LEFT = (
    r"\u0590-\u05ff\u0600-\u061b\u061d-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    r"\U00010800-\U00010fff\U0001e800-\U0001efff"
)
_EDGE = r" \t\n\xa0!-/:-@\[-^`{-~\u2000-\u200a\u2010-\u2027\u202f\u3000-\u303f"
_DIRECTION_MARKS = r"\u061c\u200e\u200f"

# Matched at the hidden character itself: a match means that it belongs where it stands. The
# lookbehinds that follow the character reach over it.
_FITS: dict[HiddenRule, str] = {
    "control": r"\r(?=\n)",
    "invisible": (
        r"\A\ufeff"
        rf"|(?<=[{_SOUTH_EAST_ASIAN}])\u200b(?=[{_SOUTH_EAST_ASIAN}])"
        r"|(?<=[\u1820-\u18aa])[\u180b-\u180f](?![\u180b-\u180f])"
    ),
    "joiner": (
        rf"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
        rf"|(?<=[{_JOINING}])[\u200c\u200d](?![\u200c\u200d])"
    ),
    "variation": (
        rf"(?<=[{_EMOJI}])[\ufe0e\ufe0f](?![\ufe00-\ufe0f])|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    ),
    "bidirectional": (
        rf"(?<![{_DIRECTION_MARKS}])[{_DIRECTION_MARKS}](?![{_DIRECTION_MARKS}])"
        rf"(?:(?<=[0-9{_RIGHT_TO_LEFT}{_EDGE}][{_DIRECTION_MARKS}])"
        rf"|(?=[0-9{_RIGHT_TO_LEFT}{_EDGE}])|(?<=\A[{_DIRECTION_MARKS}])|\Z)"
    ),
}

_REGIONS = ("gbeng", "gbsct", "gbwls")
"""The only flags made of tags that Unicode recommends; other tags could carry any text."""
_FLAG_TAGS = (
    "(?<![\U000e0020-\U000e007f])(?:"
    + "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in _REGIONS)
    + ")\U000e007f(?![\U000e0020-\U000e007f])"
)
"""The tags of such a flag, also where a program dropped the black flag before them."""


def hidden_spans(text: str) -> Iterator[HiddenSpan]:
    """The runs of hidden characters in `text`, in order; neighbours of one rule make one run."""
    pattern = _ASCII_CONTROL if text.isascii() else _HIDDEN
    open_run: HiddenSpan | None = None
    for rule, at in _hidden_characters(text, pattern):
        if open_run is not None and open_run.rule == rule and open_run.end == at:
            open_run = HiddenSpan(rule, open_run.start, at + 1)
            continue
        if open_run is not None:
            yield open_run
        open_run = HiddenSpan(rule, at, at + 1)
    if open_run is not None:
        yield open_run


def stacked_marks(text: str) -> Iterator[HiddenSpan]:
    """The piles of combining marks in `text`, in order."""
    if not text.isascii():
        for pile in compiled(_STACK).finditer(text):
            yield HiddenSpan("stacked-marks", pile.start(), pile.end())


def _hidden_characters(text: str, pattern: str) -> Iterator[tuple[HiddenRule, int]]:
    flag_end = 0
    for found in compiled(pattern).finditer(text):
        at = found.start()
        if at < flag_end:
            continue
        rule = _rule_of(found.group())
        flag = compiled(_FLAG_TAGS).match(text, at) if rule == "tag" else None
        if flag is not None:
            flag_end = flag.end()
        elif rule not in _FITS or not compiled(_FITS[rule]).match(text, at):
            yield rule, at


@lru_cache(maxsize=1024)
def _rule_of(character: str) -> HiddenRule:
    return next(rule for rule, one_of in _BY_RULE if compiled(one_of).match(character))
