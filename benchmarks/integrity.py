"""What integrity costs: the same work with every check, with one left out, and with none.

Each variant is measured in child processes of its own, on the same store put back each time; the
variants take turns, and the best of the rounds counts: what else runs on the machine only adds.
What the full check of a store costs is shown by its growth.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Final

import memnb
import report
from filled_store import FilledStore, Place, new_place
from memnb.memory import context
from memnb.memory.context import Limits

SIZES = report.sizes(100, 1_000, 10_000, 100_000)
FACTS = [size for size in (50, 10_000) if size <= SIZES[-1]]
ROUNDS = 5
N = 20
FEW = 5
CHECKS: Final = ("seal", "signature", "anchor")

Times = dict[str, float]


def main() -> None:
    growth = _growth()
    report.show_growth(
        "The check of all rows against the seal, anew after another kernel's commit",
        SIZES,
        [report.Curve("check", "ms", growth), report.Curve("a fact", "µs", _by_fact(growth))],
    )
    found = _rounds()
    best = {
        variant: {task: min(one[task] for one in rounds) for task in rounds[0]}
        for variant, rounds in found.items()
    }
    whole = best["whole"]
    report.show(
        "What one check costs, beside the whole",
        [
            report.Row(f"{task}: {check}", figure - best[f"no {check}"][task], figure, "ms")
            for task, figure in whole.items()
            for check in CHECKS
        ],
    )
    report.show(
        f"With every check, beside the same with none (best of {ROUNDS} medians)",
        [report.Row(task, figure, best["none"][task], "ms") for task, figure in whole.items()],
        items={"rounds": found, "check of all rows": dict(zip(SIZES, growth, strict=True))},
    )


def _rounds() -> dict[str, list[Times]]:
    """What was measured of each variant, a round after the other."""
    found: dict[str, list[Times]] = {
        variant: [] for variant in ("whole", *(f"no {check}" for check in CHECKS), "none")
    }
    with ExitStack() as stack:
        places = [stack.enter_context(new_place()) for _ in FACTS]
        for place, n_facts in zip(places, FACTS, strict=True):
            FilledStore(place).grow(n_facts)
            _begin_anchoring(place)
            shutil.copytree(place.folder, _kept(place))
            stack.callback(shutil.rmtree, _kept(place))
        for _ in range(ROUNDS):
            for variant, rounds in found.items():
                rounds.append({})
                for place, n_facts in zip(places, FACTS, strict=True):
                    rounds[-1] |= _measured(place, n_facts, variant)
    return found


def _measured(place: Place, n_facts: int, variant: str) -> Times:
    """The medians of one variant in a process of its own, on the store as it was made."""
    shutil.rmtree(place.folder)  # in its place: where a project lies is which one it is
    shutil.copytree(_kept(place), place.folder)
    command = [sys.executable, __file__, "kernel", str(place.folder), variant]
    done = subprocess.run(command, env=place.environ, check=True, stdout=subprocess.PIPE, text=True)
    return {f"{n_facts:,} facts, {task}": ms for task, ms in json.loads(done.stdout).items()}


def _kept(place: Place) -> Path:
    return place.folder.with_name(f"{place.folder.name}-kept")


def _begin_anchoring(place: Place) -> None:
    with place.open() as memory:
        memory.remember("One more, so that there is an anchor.")
        assert memory.runtime.memory.stores.facts.is_anchored


# In a process of its own


def _kernel(place: Place, variant: str) -> None:
    """Measure one variant; prints the medians in milliseconds as JSON."""
    _leave_out(variant)
    print(json.dumps(dict(_tasks(place))))


def _tasks(place: Place) -> Iterator[tuple[str, float]]:
    model = memnb.ScriptedModel(["Noted."], repeat_last=True)
    number = count()
    first = []
    for _ in range(FEW):
        with place.open() as memory:
            first.append(_timed(lambda memory=memory: _section(memory)))
    yield "section, first", report.median(first)
    with place.open(model=model) as memory, place.open() as other:
        yield "section, steady", _median(lambda: _section(memory))
        after = []
        for _ in range(FEW):
            other.remember(f"Said in another kernel {next(number)}.")
            after.append(_timed(lambda: _section(memory)))
        yield "section, after another's", report.median(after)
        yield "fact commit", _median(lambda: memory.remember(f"Said here {next(number)}."))
        yield "plain turn", _median(lambda: memory.ask("And now?"))


def _section(memory: memnb.Memory) -> None:
    inside = memory.runtime.memory
    built, _ = context.memory_section(
        inside.stores, inside.validator, Limits(), fence="data-0", ranks=inside.ranks
    )
    assert built.carried


def _median(act: Callable[[], object]) -> float:
    return report.median([_timed(act) for _ in range(N)])


def _timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1e3


def _leave_out(variant: str) -> None:
    """Take a check out of this process."""
    from memnb.storage import fact_store
    from memnb.storage.anchor import Anchor
    from memnb.storage.sealing import Sealer

    def nothing(*_: object, **__: object) -> None:
        """What is left of a check."""

    if variant in ("no seal", "none"):
        for name in ("check", "watch", "begin", "end", "finish"):
            setattr(Sealer, name, nothing)
    if variant in ("no signature", "none"):
        fact_store.is_signed = lambda *_: True
    if variant in ("no anchor", "none"):
        for name in ("read", "sync"):
            setattr(Anchor, name, nothing)
        setattr(Anchor, "note", lambda *_, **__: True)  # noqa: B010


# Growth


def _growth() -> list[float]:
    """How long a kernel takes to look at all rows, in milliseconds at each size."""
    figures = []
    with new_place() as place:
        store = FilledStore(place, n_cited=1)
        for size in SIZES:
            store.grow(size)
            with place.open() as memory, place.open() as other:
                facts = memory.runtime.memory.stores.facts
                facts.generation()
                checks = []
                for number in range(FEW):
                    other.remember(f"Said in another kernel, {size} {number}.")
                    checks.append(_timed(facts.generation))
                figures.append(min(checks))
    return figures


def _by_fact(figures: list[float]) -> list[float]:
    return [figure * 1e3 / size for figure, size in zip(figures, SIZES, strict=True)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["kernel"]:
        _kernel(Place(Path(sys.argv[2])), sys.argv[3])
    else:
        main()
