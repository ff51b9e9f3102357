"""Instants as people give and read them; the store has UTC stamps.

A time that is a day's beginning where the person is reads as that day, every other one in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import overload

from memnb.api.rendering import minute
from memnb.core import ids
from memnb.core.facts import Fact, Interval, Revision
from memnb.errors import InputError

__all__ = ["bounds", "day", "not_now", "stamp", "taken_back", "when"]


@overload
def stamp(at: datetime) -> str: ...
@overload
def stamp(at: None) -> None: ...
def stamp(at: datetime | None) -> str | None:
    """A time as it is stored; one without a zone is local.

    Raises:
        InputError: it isn't a time, or none that UTC can express.
    """
    if at is None:
        return None
    if not isinstance(at, datetime):
        raise InputError("a time must be a datetime, such as datetime(2026, 3, 1).")
    try:
        return ids.stamp(_instant(at))
    except (ArithmeticError, OSError, ValueError):
        raise InputError("the time is too far away; give one from year 2 to 9998.") from None


def day(at: str) -> str:
    """A UTC stamp in words: `2026-03-01`, `2026-03-01 09:30 UTC`."""
    try:
        local = datetime.fromisoformat(at).astimezone()
    except (ArithmeticError, OSError, ValueError):  # beyond what local time can express
        return f"{minute(at)} UTC"
    return local.date().isoformat() if local.time() == time.min else f"{minute(at)} UTC"


def when(interval: Interval, now: str) -> str:
    """When a claim holds, in words."""
    begins, ends = interval.begins, interval.ends
    if begins is not None and begins > now:
        until = "on" if ends is None else f"until {day(ends)}"
        return f"from {day(begins)} {until} (in the future)"
    if ends is not None and ends <= now:
        return f"was so {'' if begins is None else f'from {day(begins)} '}until {day(ends)}"
    words = [] if begins is None else [f"since {day(begins)}"]
    words += [] if ends is None else [f"until {day(ends)}"]
    return " ".join(words) or "always"


def bounds(revision: Revision, now: str) -> str:
    """When a newest revision is so, in words; "" for always."""
    interval = Interval(revision.valid_from, revision.valid_to)
    return "" if interval == Interval() else when(interval, now)


def taken_back(fact: Fact, now: str) -> Iterator[str]:
    """What was to come before the newest revision of a fact with its history, and comes no more."""
    before, newest = replace(fact, revisions=fact.revisions[:-1]), fact.current
    begins = newest.valid_from or ""
    for one in before.revisions:
        is_gone = before.in_force(one) is not None and fact.in_force(one) is None
        if one.valid_from is not None and is_gone and max(begins, now) < one.valid_from:
            yield f"its wording from {day(one.valid_from)} on"
    ends = before.current.valid_to
    if ends is not None and newest.valid_to is None and max(begins, now) < ends:
        yield f"its end on {day(ends)}"


def not_now(revision: Revision, at: str) -> str:
    """Why a revision that decides at a UTC stamp doesn't hold then."""
    if revision.valid_from is not None and at < revision.valid_from:
        return f"from {day(revision.valid_from)}"
    return f"over since {day(revision.valid_to or at)}"


def _instant(at: datetime) -> datetime:
    """A time without a zone as the clocks here have it.

    Where they go back and it is there twice, `fold` says which; where they go forward and leave it
    out, it is as long after that as it would have been.
    """
    if at.tzinfo is not None:
        return at
    readings = sorted(at.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    there = [one for one in readings if one.astimezone().replace(tzinfo=None) == at]
    return there[-1 if at.fold else 0] if there else readings[-1]
