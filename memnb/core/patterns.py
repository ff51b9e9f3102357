"""Regular expressions compiled at their first use, so that importing a rule table costs nothing."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["compiled"]


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`pattern`, compiled once a process. Only for the fixed patterns of this package."""
    return re.compile(pattern, flags)
