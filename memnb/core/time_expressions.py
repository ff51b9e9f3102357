"""Times that a question names: "last week", "in May 2023", "two days ago", "2024-03-01".

Rules read English, and dates in digits. What they give are stretches of whole days, in UTC, in the
past unless the words say otherwise: a question about memory looks back. A month or a day of the
week without more is the last one.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final

from memnb.core.facts import Interval

__all__ = ["day_of", "periods", "without_times"]

_MONTHS: Final = {
    name.lower(): number for number, name in enumerate(calendar.month_name) if number
} | {name.lower(): number for number, name in enumerate(calendar.month_abbr) if number}
_DAYS: Final = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_NUMBERS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "a couple of": 2,
    "couple of": 2,
    "a few": 3,
    "few": 3,
}
_UNITS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}

_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY: Final = "|".join(_DAYS)
_NUMBER: Final = r"\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_YEAR: Final = r"(?:19|20)\d\d"
_NTH: Final = r"\d{1,2}(?:st|nd|rd|th)?"

_Read = Callable[[re.Match[str], date], "tuple[date, date] | None"]


def _iso(m: re.Match[str], today: date) -> tuple[date, date] | None:
    year, month, day = m["iso_year"], m["iso_month"], m["iso_day"]
    return _of(int(year), int(month), int(day) if day else None)


def _month(m: re.Match[str], today: date) -> tuple[date, date] | None:
    month = _MONTHS[m["month"].lower()]
    digits = re.sub(r"\D", "", m["day_before"] or m["day_after"] or "")
    day = int(digits) if digits else None
    if m["month_year"]:
        return _of(int(m["month_year"]), month, day)
    year = today.year if (month, day or 1) <= (today.month, today.day) else today.year - 1
    return _of(year, month, day)


def _year(m: re.Match[str], today: date) -> tuple[date, date] | None:
    year = int(m["year"])
    return date(year, 1, 1), date(year + 1, 1, 1)


def _near(m: re.Match[str], today: date) -> tuple[date, date] | None:
    back = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "last night": 1}
    start = today - timedelta(back[m["near"].lower()])
    return start, start + timedelta(1)


def _weekday(m: re.Match[str], today: date) -> tuple[date, date] | None:
    back = (today.weekday() - _DAYS[m["weekday"].lower()]) % 7 or 7
    start = today - timedelta(back)
    return start, start + timedelta(1)


def _ago(m: re.Match[str], today: date) -> tuple[date, date] | None:
    unit = _UNITS[m["ago_unit"].lower()]
    start = _back(today, _number(m["ago"]), unit)
    # "two weeks ago" is a day or so before or after, "a year ago" a month or two.
    slack = max(1, unit // 6) if unit > 1 else 0
    return start - timedelta(slack), start + timedelta(slack + 1)


def _past(m: re.Match[str], today: date) -> tuple[date, date] | None:
    number = _number(m["past"]) if m["past"] else 1
    return _back(today, number, _UNITS[m["past_unit"].lower()]), today + timedelta(1)


def _last(m: re.Match[str], today: date) -> tuple[date, date] | None:
    unit, is_this = m["last_unit"].lower(), m["last"].lower() == "this"
    if unit == "weekend":
        saturday = today - timedelta((today.weekday() - 5) % 7 or (0 if is_this else 7))
        return saturday, saturday + timedelta(2)
    if unit == "week":
        monday = today - timedelta(today.weekday() + (0 if is_this else 7))
        return monday, monday + timedelta(7)
    if unit == "month":
        first = today.replace(day=1)
        first = first if is_this else (first - timedelta(1)).replace(day=1)
        return _of(first.year, first.month, None)
    year = today.year - (0 if is_this else 1)
    return date(year, 1, 1), date(year + 1, 1, 1)


_PATTERNS: Final[tuple[tuple[str, _Read], ...]] = (
    (rf"(?P<iso_year>{_YEAR})-(?P<iso_month>\d\d?)(?:-(?P<iso_day>\d\d?))?", _iso),
    (
        rf"(?:(?P<day_before>{_NTH})\s+(?:of\s+)?)?(?P<month>{_MONTH})\b\.?"
        rf"(?:\s+(?P<day_after>{_NTH})(?!\d))?(?:,?\s+(?P<month_year>{_YEAR}))?",
        _month,
    ),
    (rf"(?:(?:in|of|during|since|year)\s+)(?P<year>{_YEAR})(?![-\d])", _year),
    ("(?P<near>today|tonight|this morning|yesterday|last night)", _near),
    (rf"(?:(?:last|on|this|past)\s+)(?P<weekday>{_DAY})", _weekday),
    (rf"(?P<ago>{_NUMBER})\s+(?P<ago_unit>day|week|month|year)s?\s+ago", _ago),
    (
        rf"(?:past|last|previous)\s+(?:(?P<past>{_NUMBER})\s+)(?P<past_unit>day|week|month|year)s?",
        _past,
    ),
    ("(?P<last>last|this|past)\\s+(?P<last_unit>weekend|week|month|year)", _last),
)
_COMPILED: Final = tuple((re.compile(rf"\b(?:{p})\b", re.I), read) for p, read in _PATTERNS)
_RELATIVE: Final = _COMPILED[3:]
"""Those that say how long before now it was."""

_ORDINARY: Final = frozenset(("may", "mar", "sat", "sun", "march", "dec", "sep", "jan"))
"""Words that name a month only with a day, a year or a preposition beside them."""


def periods(text: str, now: str) -> tuple[Interval, ...]:
    """The stretches of time that a text names, as seen at a UTC stamp, without repeats."""
    today = day_of(now)
    found = dict.fromkeys(span for _, _, span in _read(text, today))
    return tuple(Interval(_stamp(start), _stamp(end)) for start, end in found)


def without_times(text: str, now: str) -> str:
    """The text without the words that name a time as seen from now, a blank instead of each.

    A date stays: it may stand in a text as it is.
    """
    cut, position = [], 0
    for start, end, _ in sorted(_read(text, day_of(now), _RELATIVE)):
        if start >= position:
            cut += [text[position:start], " "]
            position = end
    return "".join(cut) + text[position:]


def day_of(stamp: str) -> date:
    """The day of a UTC stamp."""
    return datetime.fromisoformat(stamp).date()


def _read(
    text: str, today: date, patterns: Sequence[tuple[re.Pattern[str], _Read]] = _COMPILED
) -> list[tuple[int, int, tuple[date, date]]]:
    found: list[tuple[int, int, tuple[date, date]]] = []
    for pattern, read in patterns:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end, _ in found):
                continue
            if "month" in pattern.groupindex and _is_ordinary(match, text):
                continue
            try:
                span = read(match, today)
            except (OverflowError, ValueError):
                continue
            if span is not None:
                found.append((start, end, span))
    return found


def _is_ordinary(match: re.Match[str], text: str) -> bool:
    """Whether what looks like a month is another word: "may I", "march on"."""
    if match["day_before"] or match["day_after"] or match["month_year"]:
        return False
    word = match["month"]
    if word.lower() not in _ORDINARY:
        return False
    before = text[: match.start()].rstrip().rsplit(None, 1)[-1:]
    prepositions = ("in", "since", "last", "this", "of", "until", "before", "after", "during")
    return not word[0].isupper() or not before or before[0].lower() not in prepositions


def _of(year: int, month: int, day: int | None) -> tuple[date, date]:
    if day is not None:
        start = date(year, month, day)
        return start, start + timedelta(1)
    start = date(year, month, 1)
    return start, (start + timedelta(31)).replace(day=1)


def _back(today: date, number: int, unit: int) -> date:
    return today - timedelta(number * unit)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[re.sub(r"\s+", " ", text.lower())]


def _stamp(day: date) -> str:
    return datetime.combine(day, time.min).isoformat(timespec="microseconds") + "Z"
