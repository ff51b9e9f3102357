from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

INTERRUPT = """
    import json, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.ledger import Ledger
    from faults.processes import crash
    from faults.storms import Storm
    from faults.verify import verify
    from faults.workload import Place, Worker

    # An interrupt in the middle of an import is Python's to tell, as whatever it finds broken.
    from pydantic import ValidationError, create_model

    n_wanted, pause_seconds, names, *weak = sys.argv[2:]
    weaknesses.apply(*weak)
    place, ledger = Place(Path(sys.argv[1])), Ledger()
    place.make()
    worker = Worker(place, name="stormy", seed=6, say=ledger.take)
    worker.attempt(worker.remember)
    operations = [getattr(worker, name) for name in names.split()]

    def work(operation):
        worker.attempt(operation)

    def is_well():
        told = {kind for kind, _ in ledger.refusals}
        return not ledger.crashes and told <= {"InputError", "UnknownId"}

    with Storm(work, pause_seconds=float(pause_seconds)) as storm:
        n_done = 0
        while is_well() and (storm.n_interrupts < int(n_wanted) or n_done < 40):
            try:
                n_done += storm.lets_through(operations[storm.n_interrupts % len(operations)])
            except Exception as error:
                ledger.crashes.append(crash(error))
    try:
        worker.memory.close()
    except Exception as error:
        ledger.crashes.append(crash(error))
    print(json.dumps([storm.n_interrupts, verify(place, ledger, name="next", seed=1)]))
"""


def test_a_storm_of_interrupts_breaks_no_promise(harness: Harness, tmp_path: Path) -> None:
    names = "remember ask correct append replace clear"
    out = harness(INTERRUPT, tmp_path / "kept", 200, 0.01, names, "slow-disk")
    n_interrupts, found = json.loads(out)
    assert found == []
    assert n_interrupts >= 200


def test_a_memory_that_interrupts_reach_anywhere_breaks(harness: Harness, tmp_path: Path) -> None:
    out = harness(INTERRUPT, tmp_path / "kept", 4000, 0.0005, "clear", "interrupts-not-held")
    assert json.loads(out)[1] != []
