"""What a run of a harness came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from faults.verify import summarised


@dataclass
class Outcome:
    """Faults that were made, what was acknowledged before them, and what wasn't kept of it."""

    what: str
    n_faults: int = 0
    n_acknowledged: int = 0
    seconds: float = 0.0
    violations: Counter[str] = field(default_factory=Counter)
    broken: list[int] = field(default_factory=list)
    """Seeds of the stores whose promises were broken."""

    def found(self, violations: Sequence[str], seed: int) -> None:
        """Note what wasn't kept of the store of this seed."""
        if violations:
            self.violations += summarised(violations)
            self.broken.append(seed)

    def add(self, other: Outcome) -> None:
        """Take in another outcome of the same kind."""
        self.n_faults += other.n_faults
        self.n_acknowledged += other.n_acknowledged
        self.seconds += other.seconds
        self.violations += other.violations
        self.broken += other.broken

    def __str__(self) -> str:
        return (
            f"{self.what}: {self.n_faults} faults, {self.n_acknowledged:,} operations acknowledged,"
            f" {self.violations.total()} violations, {self.seconds:.0f} s"
        )

    def details(self) -> str:
        """What wasn't kept, and in which stores, a line each."""
        lines = [f"  {n} × {violation}" for violation, n in self.violations.most_common()]
        seeds = ", ".join(map(str, self.broken))
        return "\n".join([*lines, f"  seeds of these stores: {seeds}"] if lines else [])
