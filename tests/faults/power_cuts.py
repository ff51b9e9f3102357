"""The power goes at any instant, under two kernels: what wasn't flushed to the disk is gone.

The disk is a file system of its own in an image. It is shut down as file systems are in their own
crash tests: without a flush, whatever the system still held back. Mounted again it replays its
journal, and shows what would be there after a real cut.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

from faults.disks import Disk
from faults.ledger import Ledger, parsed
from faults.outcome import Outcome
from faults.processes import kernel, listen, verified
from faults.workload import Place

CUTS_PER_STORE = 10

_MEAN_SECONDS = 0.15
_AFTERMATH_SECONDS = 0.02
"""How long kernels live on without a disk, to see what they say then."""


def cut_power(
    folder: Path, file_system: str, n_cuts: int, *, seed: int, weak: Sequence[str] = ()
) -> Outcome:
    """Cut the power of one store `n_cuts` times, and verify after each time.

    It mounts: call `disks.keep_mounts_to_ourselves` before.

    Args:
        folder: where the image of the disk is made.
        file_system: one of `disks.FILE_SYSTEMS`.
        n_cuts: how often, unless a promise is broken before.
        seed: of what the kernels do, and of when the power goes.
        weak: the defences that are switched off.
    """
    started = time.monotonic()
    rng = random.Random(seed)  # noqa: S311
    disk = Disk(folder / f"store-{seed}", file_system)
    place, ledger = Place(disk.folder / "store"), Ledger()
    outcome = Outcome(f"power cuts, {file_system}")
    disk.mount()
    place.make()
    os.sync()
    while outcome.n_faults < n_cuts and not outcome.violations:
        outcome.n_faults += 1
        _cut(disk, place, rng, f"{seed}c{outcome.n_faults}", weak, ledger)
        disk.unmount()
        disk.mount()
        name = f"{seed}v{outcome.n_faults}"
        found = verified(place, ledger, name=name, seed=rng.getrandbits(32), weak=weak)
        outcome.found(found, seed)
    disk.unmount()
    if not outcome.violations:
        disk.discard()
    outcome.n_acknowledged = ledger.n_acknowledged
    outcome.seconds = time.monotonic() - started
    return outcome


def _cut(
    disk: Disk, place: Place, rng: random.Random, name: str, weak: Sequence[str], ledger: Ledger
) -> None:
    """Let two kernels work until the power goes; the ledger gets what was said before and after."""
    kernels = [
        kernel(place, name=name + letter, seed=rng.getrandbits(32), weak=weak) for letter in "ab"
    ]
    listen(kernels, rng.expovariate(1 / _MEAN_SECONDS))
    # What was heard here was acknowledged while there was power.
    n_heard = [process.data.count(b"\n") for process in kernels]
    disk.cut_power()
    listen(kernels, _AFTERMATH_SECONDS)
    for process, n_before in zip(kernels, n_heard, strict=True):
        process.kill()
        for number, line in enumerate(parsed(process.data)):
            ledger.take(line, before_fault=number < n_before)
