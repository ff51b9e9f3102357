"""A night of kills and power cuts: `make torture`, or `python -m faults.torture --help`.

Every store has a number from which all that is done to it follows, except for the time that
machines take. With `--seed` the run begins with the store of that number.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from faults import disks, weaknesses
from faults.kills import KILLS_PER_STORE, kill_kernels
from faults.outcome import Outcome
from faults.power_cuts import CUTS_PER_STORE, cut_power
from faults.processes import preload


def main(arguments: Sequence[str] | None = None) -> int:
    """Torture; 1 when a promise was broken."""
    options = _parser().parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="torture-", dir=options.folder))
    is_broken = _run(folder, options)
    if is_broken:
        print(f"the broken stores are kept in {folder}")
    else:
        shutil.rmtree(folder)
    return int(is_broken)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="faults.torture", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="of two kernels at once")
    parser.add_argument("--cuts", type=int, default=100, help="of the power, for each file system")
    parser.add_argument(
        "--on",
        nargs="*",
        default=list(disks.FILE_SYSTEMS),
        choices=list(disks.FILE_SYSTEMS),
        help="the file systems whose power is cut",
    )
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--folder", type=Path, help="where stores are made")
    parser.add_argument(
        "--weak",
        action="append",
        default=[],
        choices=weaknesses.names(),
        help="switch off a defence of memnb, to see that it is missed",
    )
    return parser


def _run(folder: Path, options: argparse.Namespace) -> bool:
    seed, weak = options.seed, options.weak
    on = [name for name in options.on if options.cuts and not _is_missing(name)]
    if on:
        disks.keep_mounts_to_ourselves()
    preload()
    outcomes = [
        _stores(
            Outcome("kills"),
            options.kills,
            KILLS_PER_STORE,
            seed,
            lambda n, seed: kill_kernels(folder, n, seed=seed, weak=weak),
        )
    ]
    for name in on:
        outcomes.append(
            _stores(
                Outcome(f"power cuts, {name}"),
                options.cuts,
                CUTS_PER_STORE,
                seed,
                lambda n, seed, name=name: cut_power(folder, name, n, seed=seed, weak=weak),
            )
        )
    print()
    for outcome in outcomes:
        print(*filter(None, (str(outcome), outcome.details())), sep="\n", flush=True)
    return any(outcome.violations for outcome in outcomes)


def _is_missing(name: str) -> bool:
    reason = disks.why_not(name)
    if reason:
        print(f"power cuts, {name}: skipped, {reason}", flush=True)
    return bool(reason)


def _stores(
    total: Outcome, n_faults: int, per_store: int, seed: int, one: Callable[[int, int], Outcome]
) -> Outcome:
    """So many faults, `per_store` on each store, with a line for each store."""
    for first in range(0, n_faults, per_store):
        outcome = one(min(per_store, n_faults - first), seed)
        print(f"store {seed}: {outcome}", flush=True)
        total.add(outcome)
        seed += 1
    return total


if __name__ == "__main__":
    sys.exit(main())
