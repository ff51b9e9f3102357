"""Dates as they are typed: `2026-03-01` is local midnight, a time without a zone is local."""

from __future__ import annotations

from datetime import datetime, time
from typing import Final

from memnb.errors import InputError

__all__ = ["WANTED", "read_date"]

WANTED: Final = "a date such as 2026-03-01, 2026-03-01T09:30 or today"
_TODAY: Final = "today"


def read_date(word: str, now: datetime) -> datetime:
    """The time that was typed, without a zone when it is local; `today` is that of `now`.

    Raises:
        InputError: it is no date.
    """
    if word == _TODAY:
        return datetime.combine(now.astimezone().date(), time.min)
    try:
        return datetime.fromisoformat(word)
    except ValueError:
        raise InputError(f"that is no date; give {WANTED}.") from None
