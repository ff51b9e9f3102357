"""When facts were worded last: tells which are worth loading, of a store with very many.

Only the newest revision of a fact is looked at, and neither its signature nor its evidence.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memnb.storage.fact_rows import Fetch

__all__ = ["Class", "FactOrder", "Stated"]

_FEW: Final = 2_000
"""So many facts are sorted faster than found by going through all in the order of time."""

_BATCH: Final = 256
_LAST: Final = ("~", "~")  # after every stamp

_IS_OF_THEM: Final = (
    "coalesce(f.kind IN (SELECT value FROM json_each(?1))"
    " AND r.basis IN (SELECT value FROM json_each(?2)), 0) = ?3"
)
_IS_NEWEST: Final = (
    "r.revision = (SELECT max(x.revision) FROM revisions x WHERE x.fact_id = r.fact_id)"
)
_COLUMNS: Final = "r.fact_id, r.recorded_at, length(CAST(r.text AS BLOB))"
_NEWEST_FIRST: Final = "ORDER BY r.recorded_at DESC, r.fact_id DESC"

_WALK: Final = (
    f"SELECT {_COLUMNS} FROM revisions r INDEXED BY revisions_by_time"  # noqa: S608 - of constants
    f" CROSS JOIN facts f ON f.fact_id = r.fact_id WHERE (r.recorded_at, r.fact_id) < (?4, ?5)"
    f" AND {_IS_OF_THEM} AND {_IS_NEWEST} {_NEWEST_FIRST} LIMIT ?6"
)
_SORT: Final = (
    f"SELECT {_COLUMNS} FROM facts f CROSS JOIN revisions r ON r.fact_id = f.fact_id"  # noqa: S608
    f" WHERE {_IS_OF_THEM} AND {_IS_NEWEST} {_NEWEST_FIRST}"
)
_THESE: Final = (
    f"SELECT {_COLUMNS} FROM json_each(?4) j CROSS JOIN facts f ON f.fact_id = j.value"  # noqa: S608
    f" JOIN revisions r ON r.fact_id = f.fact_id WHERE {_IS_OF_THEM} AND {_IS_NEWEST}"
    f" {_NEWEST_FIRST}"
)
_OLDEST_FIRST: Final = (
    "SELECT r.fact_id FROM json_each(?) j CROSS JOIN revisions r"
    " ON r.fact_id = j.value AND r.revision = 1 ORDER BY r.recorded_at, r.fact_id"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """When a fact was worded last, as a UTC stamp, and how many bytes its text has."""

    fact_id: str
    at: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Class:
    """Facts of some kinds that rest on some bases, or all others."""

    kinds: Collection[str]
    bases: Collection[str]
    others: bool = False

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the queries ask for."""
        return (json.dumps(sorted(self.kinds)), json.dumps(sorted(self.bases)), not self.others)


class FactOrder:
    """The facts of one store by time."""

    def __init__(self, rows: Fetch) -> None:
        """Read through `rows`, which runs a query over a state that was checked."""
        self._rows = rows

    def newest_first(self, which: Class) -> Iterator[Stated]:
        """The facts of a class, worded last first."""
        if not which.others and self._are_few(which.kinds):
            yield from (Stated(*row) for row in self._rows(_SORT, which.arguments))
            return
        at, fact_id = _LAST
        while rows := self._rows(_WALK, (*which.arguments, at, fact_id, _BATCH)):
            fact_id, at, _ = rows[-1]
            yield from (Stated(*row) for row in rows)

    def of(self, which: Class, fact_ids: Sequence[str]) -> list[Stated]:
        """Those of these facts that are of a class, worded last first."""
        rows = self._rows(_THESE, (*which.arguments, json.dumps(list(fact_ids))))
        return [Stated(*row) for row in rows]

    def oldest_first(self, fact_ids: Sequence[str]) -> list[str]:
        """These facts by the time of their first wording; unknown ones are left out."""
        return [row[0] for row in self._rows(_OLDEST_FIRST, (json.dumps(list(fact_ids)),))]

    def _are_few(self, kinds: Collection[str]) -> bool:
        sql = "SELECT 1 FROM facts WHERE kind IN (SELECT value FROM json_each(?)) LIMIT 1 OFFSET ?"
        return not self._rows(sql, (json.dumps(sorted(kinds)), _FEW))
