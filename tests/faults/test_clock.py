from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

JUMP = """
    import json, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.ledger import Ledger
    from faults.verify import verify
    from faults.workload import Place, Worker

    weaknesses.apply(*sys.argv[2:])
    place, ledger = Place(Path(sys.argv[1])), Ledger()
    place.make()
    for number in range(3):
        worker = Worker(place, name=f"kernel{number}", seed=number, say=ledger.take)
        worker.work(25)
        worker.memory.close()
    found = verify(place, ledger, name="next", seed=9)
    print(json.dumps([ledger.n_acknowledged, found]))
"""


def test_a_clock_that_jumps_back_thirty_days_changes_no_order_and_refuses_nothing(
    harness: Harness, tmp_path: Path
) -> None:
    n_acknowledged, found = json.loads(harness(JUMP, tmp_path / "kept", "jumping-clock"))
    assert found == []
    assert n_acknowledged > 50


def test_a_memory_that_trusts_the_clock_refuses_what_comes_earlier(
    harness: Harness, tmp_path: Path
) -> None:
    out = harness(JUMP, tmp_path / "kept", "jumping-clock", "ordered-by-clock")
    assert any("the clock goes backwards" in text for text in json.loads(out)[1])


@pytest.mark.skipif(shutil.which("faketime") is None, reason="there is no faketime here")
def test_a_kernel_of_last_month_works_on_a_store_of_today(harness: Harness, tmp_path: Path) -> None:
    for prefix in ((), ("faketime", "-f", "-30d"), ("faketime", "-f", "+30d"), ()):
        _, found = json.loads(harness(JUMP, tmp_path / "kept", prefix=prefix))
        assert found == []
