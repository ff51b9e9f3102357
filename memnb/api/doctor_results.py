"""What the doctor says: a line for each thing that was looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memnb.api.rendering import Block, Line, Table, count
from memnb.memory.doctoring import Finding

__all__ = ["DoctorReport"]


@dataclass(frozen=True, slots=True, repr=False)
class DoctorReport(Table):
    """How a project's memory stands; `rows` are what was looked at, in order."""

    row = Finding

    project: str
    rows: tuple[Finding, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is wrong."""
        return all(row.state != "wrong" for row in self.rows)

    def blocks(self) -> Sequence[Block]:
        """The verdict, then a line for each thing, in full."""
        n_wrong = sum(row.state == "wrong" for row in self.rows)
        verdict = f"{count(n_wrong, 'thing')} to see to" if n_wrong else "nothing is wrong"
        head = Line(f"{self.project} · {verdict}", strong=True)
        return [head, *(Line(f"{row.state} · {row.area} · {row.text}") for row in self.rows)]
