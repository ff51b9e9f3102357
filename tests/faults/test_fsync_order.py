from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from faults.tracing import strace, unflushed, why_no_strace

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(bool(why_no_strace()), reason=why_no_strace() or "it is here"),
]

Harness = Callable[..., str]

WORK = """
    import json, os, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.workload import Place, Worker

    def say(line):
        os.write(1, json.dumps(line).encode() + b"\\n")

    weaknesses.apply(*sys.argv[2:])
    place = Place(Path(sys.argv[1]))
    place.make()
    worker = Worker(place, name="traced", seed=3, say=say)
    worker.work(60)
    worker.memory.close()
"""


def found(harness: Harness, folder: Path, *weak: str) -> set[str]:
    """What a kernel did too early, that worked in `folder` with these weaknesses."""
    trace = folder.with_name("trace")
    folder.mkdir()
    out = harness(WORK, folder, *weak, prefix=strace(trace))
    assert out.count('"did"') > 40
    return set(unflushed(trace, folder))


def test_everything_is_flushed_before_it_is_acknowledged_or_built_upon(
    harness: Harness, tmp_path: Path
) -> None:
    assert found(harness, tmp_path / "kept") == set()


EARLY = {
    "no-fsync": (
        "SQLite is told of records in ….jsonl that are not flushed",
        "ask is acknowledged before ….jsonl is flushed",
        "page.md takes its name before it is flushed",
    ),
    "no-folder-fsync": (
        "append is acknowledged before the folder notes is flushed (new name)",
        "ask is acknowledged before the folder projects is flushed (new folder)",
    ),
    "wal-normal": ("remember is acknowledged before facts.sqlite3-wal is flushed",),
    "renamed-unflushed": ("page.md takes its name before it is flushed",),
    "notes-in-place": ("page.md is emptied before it is written anew",),
}


@pytest.mark.parametrize("weak", EARLY)
def test_what_a_weak_memory_flushes_too_late_is_found(
    harness: Harness, tmp_path: Path, weak: str
) -> None:
    assert found(harness, tmp_path / "kept", weak) >= {*EARLY[weak]}
