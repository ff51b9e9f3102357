from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.ledger import heard
from faults.tracing import acknowledged_after_failure, n_injected, strace, why_no_strace
from faults.verify import DISK_ERRORS, verify
from faults.workload import Place

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

FAIL = """
    import json, sys
    from pathlib import Path
    from faults.steps import failed_at_every_step
    from faults.workload import Place

    place = Place(Path(sys.argv[1]))
    place.make()
    operation, code, for_ever, only, *weak = sys.argv[2:]
    for_ever = for_ever == "True"
    outcome = failed_at_every_step(
        place, operation, int(code), for_ever=for_ever, only=only.split(), weak=weak
    )
    print(json.dumps(outcome))
"""
OPERATIONS = {
    "ask": "a turn",
    "remember": "a fact",
    "forget": "a forget",
    "replace": "a note",
}


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=OPERATIONS.get)
def test_a_step_that_fails_is_told_in_a_line_and_loses_nothing(
    harness: Harness, tmp_path: Path, operation: str, for_ever: bool
) -> None:
    code = errno.ENOSPC if for_ever else errno.EIO
    n_steps, found = json.loads(harness(FAIL, tmp_path / "kept", operation, code, for_ever, ""))
    assert found == []
    assert n_steps > 3


@pytest.mark.parametrize("operation", ["ask", "remember", "replace"], ids=OPERATIONS.get)
def test_what_could_not_be_flushed_is_not_acknowledged(
    harness: Harness, tmp_path: Path, operation: str
) -> None:
    arguments = (operation, errno.EIO, False, "fsync")
    n_steps, found = json.loads(harness(FAIL, tmp_path / "kept", *arguments))
    assert found == []
    assert n_steps > 0
    _, found = json.loads(harness(FAIL, tmp_path / "weak", *arguments, "failed-fsync-ignored"))
    assert any("acknowledged although" in text for text in found)


WORK = """
    import json, os, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.processes import crash
    from faults.workload import Place, Worker

    def say(line):
        os.write(1, json.dumps(line).encode() + b"\\n")

    weaknesses.apply(*sys.argv[2:])
    place = Place(Path(sys.argv[1]))
    place.make()
    try:
        worker = Worker(place, name="failing", seed=5, say=say)
        worker.work(40)
        worker.memory.close()
    except Exception as error:
        say({"crashed": crash(error)})
"""
SYSTEM_CALLS = {
    "flushes of SQLite": "fdatasync:error=EIO:when=2+3",
    "flushes of SQLite, for ever": "fdatasync:error=EIO:when=6+",
    "writes of SQLite": "pwrite64:error=EIO:when=40+17",
    "writes without space": "pwrite64:error=ENOSPC:when=40+17",
    "reads": "pread64:error=EIO:when=50+23",
    "names that are removed": "unlink:error=EIO:when=2+2",
}


@pytest.mark.skipif(bool(why_no_strace()), reason=why_no_strace() or "it is here")
@pytest.mark.parametrize("name", SYSTEM_CALLS)
def test_a_system_call_that_fails_below_sqlite_loses_nothing(
    harness: Harness, tmp_path: Path, name: str
) -> None:
    trace, place = tmp_path / "trace", Place(tmp_path / "kept")
    out = harness(WORK, place.folder, prefix=strace(trace, "-e", f"inject={SYSTEM_CALLS[name]}"))
    assert n_injected(trace) > 2
    assert acknowledged_after_failure(trace) == []
    assert verify(place, heard(out), name="next", seed=1, allowed=DISK_ERRORS) == []
