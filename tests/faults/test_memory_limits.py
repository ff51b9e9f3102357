"""Memory of the other kind runs out: an allocation fails, or the system ends the kernel."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

ALLOCATE = """
    import json, resource, signal, sys
    from pathlib import Path
    from faults.ledger import Ledger
    from faults.processes import crash
    from faults.verify import DISK_ERRORS, verify
    from faults.workload import Place, Worker

    def size():
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmSize"):
                return int(line.split()[1]) * 1024

    place, ledger = Place(Path(sys.argv[1])), Ledger()
    place.make()
    worker = Worker(place, name="hungry", seed=8, say=ledger.take)
    worker.work(20)
    # No turn: it starts a thread, and Python waits for ever for one that has no room to begin.
    uses = (worker.remember, worker.correct, worker.append, worker.replace, worker.forget)
    n_failed = 0
    signal.alarm(100)
    for number in range(60):
        room = (number % 12) * 150_000
        resource.setrlimit(resource.RLIMIT_AS, (size() + room, resource.RLIM_INFINITY))
        held = []
        try:
            while True:
                held.append(bytearray(1 << (20 - number % 8)))
        except MemoryError:
            held.pop() if held and number % 3 else None
        try:
            worker.attempt(uses[number % 5])
        except MemoryError:
            n_failed += 1
        except Exception as error:
            ledger.crashes.append(crash(error))
        del held
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    n_before = ledger.n_acknowledged
    worker.work(20)
    worker.memory.close()
    n_refused = len(ledger.refusals)
    found = verify(place, ledger, name="next", seed=1, allowed=DISK_ERRORS)
    print(json.dumps([n_failed, n_refused, ledger.n_acknowledged > n_before, found]))
"""


def test_an_allocation_that_fails_loses_nothing_and_work_goes_on(
    harness: Harness, tmp_path: Path
) -> None:
    n_failed, n_refused, goes_on, found = json.loads(harness(ALLOCATE, tmp_path / "kept"))
    assert found == []
    assert n_failed + n_refused > 0
    assert goes_on


GROUPS = Path("/sys/fs/cgroup")
LIMITS = {"memory.max": GROUPS, "memory.limit_in_bytes": GROUPS / "memory"}


def group() -> tuple[Path, str] | None:
    """Where a group of processes can be limited, and by which file."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    for name, folder in LIMITS.items():
        controllers = folder / "cgroup.controllers"
        if name == "memory.max" and not (
            controllers.exists() and "memory" in (folder / "cgroup.subtree_control").read_text()
        ):
            continue
        if folder.is_dir() and os.access(folder, os.W_OK):
            return folder / f"memnb-{os.getpid()}", name
    return None


OOM = """
    import json, os, sys
    from pathlib import Path
    from faults.ledger import Ledger, parsed
    from faults.processes import Process, preload, verified
    from faults.workload import Place, Worker

    preload()
    place, ledger, group = Place(Path(sys.argv[1])), Ledger(), Path(sys.argv[2])
    place.make()

    def body(say):
        (group / "cgroup.procs").write_text(str(os.getpid()))
        worker = Worker(place, name="hungry", seed=8, say=say)
        held = []
        while True:
            worker.work(1)
            held.append(b"x" * (2 << 20))

    process = Process(body)
    process.hear_to_the_end()
    for line in parsed(process.data):
        ledger.take(line)
    n_acknowledged = ledger.n_acknowledged
    print(json.dumps([n_acknowledged, verified(place, ledger, name="next", seed=1)]))
"""


@pytest.mark.skipif(group() is None, reason="needs root, and groups whose memory can be limited")
def test_a_kernel_that_the_system_ends_for_its_memory_loses_nothing(
    harness: Harness, tmp_path: Path
) -> None:
    folder, limit = group() or (tmp_path, "")
    folder.mkdir()
    try:
        (folder / limit).write_text(str(64 << 20))
        n_acknowledged, found = json.loads(harness(OOM, tmp_path / "kept", folder))
    finally:
        folder.rmdir()
    assert found == []
    assert n_acknowledged > 3
