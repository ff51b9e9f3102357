"""SIGKILL at any instant: two kernels on one store, each killed at a moment of its own.

A store lives through many kills, so that recovery itself is killed, too.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from faults.ledger import Ledger, Line, parsed
from faults.outcome import Outcome
from faults.processes import kernel, listen, verified
from faults.workload import Place

KILLS_PER_STORE = 25

_MEAN_SECONDS = 0.1
_BIRTH_SECONDS = 0.03
_BIRTHS = 0.25
"""The share of kernels that are killed while they open the store, or recover it."""


def kill_kernels(folder: Path, n_kills: int, *, seed: int, weak: Sequence[str] = ()) -> Outcome:
    """Kill kernels of one store `n_kills` times, two at a time, and verify after each time.

    Args:
        folder: where the store is made.
        n_kills: how often, unless a promise is broken before.
        seed: of what the kernels do, and of when they are killed. With an odd one the disk is
            slow, so that more kills come while files are written.
        weak: the defences that are switched off.
    """
    started = time.monotonic()
    rng = random.Random(seed)  # noqa: S311
    place, ledger, outcome = Place(folder / f"store-{seed}"), Ledger(), Outcome("kills")
    if seed % 2:
        weak = (*weak, "slow-disk")
    place.make()
    while outcome.n_faults < n_kills and not outcome.violations:
        outcome.n_faults += 1
        for line in _killed(place, rng, f"{seed}k{outcome.n_faults}", weak):
            ledger.take(line)
        name = f"{seed}v{outcome.n_faults}"
        found = verified(place, ledger, name=name, seed=rng.getrandbits(32), weak=weak)
        outcome.found(found, seed)
    if not outcome.violations:
        shutil.rmtree(place.folder)
    outcome.n_acknowledged = ledger.n_acknowledged
    outcome.seconds = time.monotonic() - started
    return outcome


def _killed(place: Place, rng: random.Random, name: str, weak: Sequence[str]) -> list[Line]:
    """All that two kernels said that worked until each was killed."""
    started = time.monotonic()
    kernels = {}
    for letter in "ab":
        process = kernel(place, name=name + letter, seed=rng.getrandbits(32), weak=weak)
        kernels[started + _delay(rng)] = process
    for moment, process in sorted(kernels.items()):
        listen(kernels.values(), moment - time.monotonic())
        process.kill()
    return [line for process in kernels.values() for line in parsed(process.data)]


def _delay(rng: random.Random) -> float:
    if rng.random() < _BIRTHS:
        return rng.uniform(0, _BIRTH_SECONDS)
    return rng.expovariate(1 / _MEAN_SECONDS)
