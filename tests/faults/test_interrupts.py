from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.ledger import heard
from faults.verify import verify
from faults.workload import Place

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

STORM = """
    import json, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.ledger import Ledger
    from faults.processes import crash
    from faults.storms import Storm
    from faults.verify import verify
    from faults.workload import Place, Worker

    weaknesses.apply("slow-disk")
    place, ledger = Place(Path(sys.argv[1])), Ledger()
    place.make()
    worker = Worker(place, name="stormy", seed=6, say=ledger.take)
    names = ("remember", "ask", "correct", "append", "replace", "clear")
    operations = [getattr(worker, name) for name in names]

    def work(operation):
        worker.attempt(operation)

    with Storm(work, pause_seconds=0.01) as storm:
        n_done = 0
        while not ledger.crashes and (storm.n_interrupts < 200 or n_done < 40):
            try:
                n_done += storm.lets_through(operations[storm.n_interrupts % len(operations)])
            except Exception as error:
                ledger.crashes.append(crash(error))
    worker.memory.close()
    print(json.dumps([storm.n_interrupts, verify(place, ledger, name="next", seed=1)]))
"""


def test_a_storm_of_interrupts_breaks_no_promise(harness: Harness, tmp_path: Path) -> None:
    n_interrupts, found = json.loads(harness(STORM, tmp_path / "kept"))
    assert found == []
    assert n_interrupts >= 200


ONE = """
    import json, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.workload import Place, Worker

    def say(line):
        print(json.dumps(line))

    place = Place(Path(sys.argv[1]))
    place.make()
    worker = Worker(place, name="interrupted", seed=6, say=say)
    worker.attempt(worker.remember)
    weaknesses.apply(*sys.argv[2:])
    n_interrupts = 0
    for operation in (worker.clear, worker.remember, worker.ask) * 3:
        try:
            worker.attempt(operation)
        except KeyboardInterrupt:
            n_interrupts += 1
    assert n_interrupts > 4
"""


def after_interrupts(harness: Harness, folder: Path, *weak: str) -> list[str]:
    """What is broken when Ctrl-C comes right after each write of records."""
    out = harness(ONE, folder, "interrupted-after-write", *weak)
    return verify(Place(folder), heard(out), name="next", seed=1)


def test_an_interrupt_right_after_a_write_breaks_nothing(harness: Harness, tmp_path: Path) -> None:
    assert after_interrupts(harness, tmp_path / "kept") == []


def test_a_memory_that_interrupts_reach_anywhere_breaks(harness: Harness, tmp_path: Path) -> None:
    assert after_interrupts(harness, tmp_path / "kept", "interrupts-not-held") != []
