"""What a fact's use is worth when room is short: how often answers rested on it, and when.

A fact ranks like one that was stated at its rank: as of the day on which its newest wording was
recorded, or later when answers rested on it since. The order of two facts doesn't depend on when it
is looked at, so nothing changes places by the passing of time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final

__all__ = ["FULL", "HALF_LIFE_DAYS", "rank"]

HALF_LIFE_DAYS: Final = 30.0
"""Use counts half as much for each month that it is old, as in the decay of episodes."""

FULL: Final = 4
"""In so many sessions just now a fact has to be used to count like one stated just now; more
doesn't count more, or what was stated last could find no room."""

_SECONDS_A_DAY: Final = 86_400.0


def rank(stated_at: str, used_at: Sequence[str] = ()) -> float:
    """Where a fact stands in line: the day as of which it counts; the later, the sooner it is in.

    Being shown counts for nothing: what is in the prompt would stay there since it is.

    Args:
        stated_at: when its newest wording was recorded, as a UTC stamp.
        used_at: when it was used last in each session in which it was.
    """
    stated = _day(stated_at)
    if not used_at:
        return stated
    days = [_day(at) for at in used_at]
    last = max(days)
    # In an order of their own, sums would differ in their last digit.
    worth = math.fsum(2 ** ((day - last) / HALF_LIFE_DAYS) for day in days) / FULL
    return max(stated, last + min(0.0, HALF_LIFE_DAYS * math.log2(worth)))


def _day(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp() / _SECONDS_A_DAY
