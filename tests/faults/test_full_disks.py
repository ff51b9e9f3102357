from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.disks import why_no_mounts

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

FILL = """
    import json, subprocess, sys
    from collections import Counter
    from pathlib import Path
    from faults import disks, weaknesses
    from faults.ledger import Ledger
    from faults.processes import crash
    from faults.verify import DISK_ERRORS, verify
    from faults.workload import Place, Worker

    disks.keep_mounts_to_ourselves()
    folder = Path(sys.argv[1])
    weaknesses.apply(*sys.argv[2:])
    disks.mount_small(folder, "700k")
    place, ledger = Place(folder), Ledger()
    place.make()
    worker = Worker(place, name="filling", seed=9, say=ledger.take)
    n_acknowledged, errors = 0, Counter()
    try:
        while len(ledger.refusals) < 60:
            worker.work(1)
        n_acknowledged, errors = ledger.n_acknowledged, Counter(k for k, _ in ledger.refusals)
        disks.enlarge(folder, "8m")
        ledger.refusals.clear()
        worker.work(30)
        worker.memory.close()
    except Exception as error:
        ledger.crashes.append(crash(error))
    refused = [kind for kind, _ in ledger.refusals if kind in ("StoreFull", "StoreError")]
    print(
        json.dumps(
            {
                "before": n_acknowledged,
                "errors": errors,
                "refused afterwards": refused,
                "violations": verify(place, ledger, name="next", seed=1, allowed=DISK_ERRORS),
            }
        )
    )
"""


@pytest.mark.skipif(bool(why_no_mounts()), reason=why_no_mounts() or "it is possible")
def test_a_full_disk_is_told_in_a_line_and_work_goes_on_when_there_is_room(
    harness: Harness, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    out = json.loads(harness(FILL, tmp_path / "full"))
    assert out["before"] > 20
    assert out["errors"]["StoreFull"] > 20
    assert out["refused afterwards"] == []
    assert out["violations"] == []


@pytest.mark.skipif(bool(why_no_mounts()), reason=why_no_mounts() or "it is possible")
def test_a_memory_that_rolls_back_regardless_hides_that_the_disk_is_full(
    harness: Harness, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    out = json.loads(harness(FILL, tmp_path / "full", "rollback-regardless"))
    assert any("no transaction is active" in text for text in out["violations"]), out


LIMIT = """
    import json, resource, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.ledger import Ledger
    from faults.processes import crash
    from faults.verify import DISK_ERRORS, verify
    from faults.workload import Place, Worker

    def limit(n_bytes):
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))

    weaknesses.apply(*sys.argv[2:])
    place, ledger = Place(Path(sys.argv[1])), Ledger()
    place.make()
    worker = Worker(place, name="limited", seed=9, say=ledger.take)
    operations = (worker.ask, worker.remember, worker.correct, worker.append, worker.replace)
    for operation in operations:
        worker.attempt(operation)
    try:
        for number in range(40):
            files = [file.stat().st_size for file in place.store.rglob("*") if file.is_file()]
            limit(sorted(files)[-1 - number % 4] + number * 37)
            worker.attempt(operations[number % len(operations)])
            limit(resource.RLIM_INFINITY)
            worker.attempt(operations[number % len(operations)])
    except Exception as error:
        limit(resource.RLIM_INFINITY)
        ledger.crashes.append(crash(error))
    worker.memory.close()
    limited = sorted({kind for kind, _ in ledger.refusals})
    found = verify(place, ledger, name="next", seed=1, allowed=DISK_ERRORS)
    print(json.dumps([limited, found]))
"""


def test_a_file_that_may_not_grow_is_told_in_a_line_and_nothing_is_half_written(
    harness: Harness, tmp_path: Path
) -> None:
    errors, found = json.loads(harness(LIMIT, tmp_path / "kept"))
    assert found == []
    assert "StoreFull" in errors


def test_a_memory_that_takes_nothing_back_is_left_with_half_a_record(
    harness: Harness, tmp_path: Path
) -> None:
    _, found = json.loads(harness(LIMIT, tmp_path / "kept", "nothing-is-cut-off"))
    assert any("is no record" in text for text in found), found
