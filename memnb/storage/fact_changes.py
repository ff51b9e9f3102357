"""What changed among the facts since somebody looked: found without reading all of them.

A fact is never changed in place: it gets a revision, or is forgotten. So what is new was recorded
since, or, when a clock went back, makes the number of revisions another one than it should be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["FactChanges", "FactText"]

_CURRENT: Final = """
SELECT f.fact_id, r.revision, r.text, r.basis, r.recorded_at, r.valid_from, r.valid_to,
       (SELECT max(x.revision) FROM revisions x WHERE x.fact_id=f.fact_id),
       (SELECT min(x.valid_from) FROM revisions x
        WHERE x.fact_id=f.fact_id AND x.valid_from > ?2)
FROM json_each(?1) j CROSS JOIN facts f ON f.fact_id=j.value
JOIN revisions r ON r.fact_id=f.fact_id AND r.revision=coalesce(
  (SELECT max(x.revision) FROM revisions x WHERE x.fact_id=f.fact_id
   AND (x.valid_from IS NULL OR x.valid_from <= ?2)),
  (SELECT x.revision FROM revisions x WHERE x.fact_id=f.fact_id
   ORDER BY x.valid_from, x.revision DESC LIMIT 1))
"""


@dataclass(frozen=True, slots=True)
class FactText:
    """The revision of a fact that decides at an instant; its signature wasn't looked at.

    `newest` is the number of its last revision, `due` when another one begins to decide.
    """

    fact_id: str
    revision: int
    text: str
    basis: str | None
    recorded_at: str
    valid_from: str | None
    valid_to: str | None
    newest: int
    due: str | None


class FactChanges:
    """Follows the facts of one store."""

    def __init__(self, rows: Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]) -> None:
        """Read through `rows`, which runs a query over a state that was checked."""
        self._rows = rows

    def mark(self) -> bytes:
        """Stands for the state of the store: another one after every change of it."""
        rows = self._rows("SELECT value FROM meta WHERE key='seal'", ())
        return bytes(rows[0][0]) if rows else b""

    def n_revisions(self) -> int:
        """How many revisions there are."""
        rows = self._rows("SELECT count(*) FROM revisions", ())
        return int(rows[0][0]) if rows else 0

    def last_recorded(self) -> str:
        """When the newest revision was recorded, as a UTC stamp; "" when there is none."""
        rows = self._rows("SELECT max(recorded_at) FROM revisions", ())
        return (rows[0][0] or "") if rows else ""

    def recorded_since(self, at: str) -> set[str]:
        """The facts that got a revision at a UTC stamp or after it."""
        rows = self._rows("SELECT DISTINCT fact_id FROM revisions WHERE recorded_at>=?", (at,))
        return {row[0] for row in rows}

    def newest(self) -> dict[str, int]:
        """The number of the last revision of every fact."""
        return dict(self._rows("SELECT fact_id, max(revision) FROM revisions GROUP BY fact_id", ()))

    def current(self, fact_ids: Sequence[str], at: str) -> list[FactText]:
        """What these facts say at a UTC stamp; unknown ones are left out."""
        return [FactText(*row) for row in self._rows(_CURRENT, (json.dumps(fact_ids), at))]

    def forgotten_since(self, generation: int) -> list[str]:
        """The facts that were forgotten after that generation."""
        rows = self._rows("SELECT fact_id FROM forgotten WHERE generation>?", (generation,))
        return [row[0] for row in rows]

    def barred_since(self, generation: int) -> list[str]:
        """The sessions of which records were excluded after that generation, or ever purged.

        What a purged record had in sight is known no more, so every forget may have been of it.
        """
        rows = self._rows(
            "SELECT DISTINCT session_id FROM exclusions WHERE generation>? OR purged", (generation,)
        )
        return [row[0] for row in rows]
