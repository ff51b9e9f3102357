from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

KILL = """
    import json, sys
    from pathlib import Path
    from faults.processes import preload
    from faults.steps import killed_at_every_step
    from faults.workload import Place

    preload()
    place = Place(Path(sys.argv[1]))
    place.make()
    operation, begun, *weak = sys.argv[2:]
    print(json.dumps(killed_at_every_step(place, operation, begun=begun == "True", weak=weak)))
"""


def killed(
    harness: Harness, folder: Path, operation: str, *weak: str, begun: bool = True
) -> tuple[int, list[str]]:
    """How many steps an operation has, and what a kill at any of them broke."""
    n_steps, found = json.loads(harness(KILL, folder / "kept", operation, begun, *weak))
    return n_steps, found


@pytest.mark.parametrize(
    ("operation", "begun"),
    [
        pytest.param("remember", False, id="the first statement of all"),
        pytest.param("correct", True, id="a correction"),
        pytest.param("forget", True, id="a forget"),
        pytest.param("purge", True, id="a purge"),
        pytest.param("replace", True, id="a note that is replaced"),
        pytest.param("compact", True, id="a compaction"),
        pytest.param("handoff", True, id="a handoff"),
    ],
)
def test_a_kill_at_any_step_breaks_no_promise_and_leaves_nothing_half_done(
    harness: Harness, tmp_path: Path, operation: str, begun: bool
) -> None:
    n_steps, found = killed(harness, tmp_path, operation, begun=begun)
    assert found == []
    assert n_steps > 8


@pytest.mark.parametrize(
    ("operation", "weak", "broken"),
    [
        ("replace", "notes-in-place", "TORN"),
        ("replace", "leftovers-stay", "litter"),
        ("forget", "forget-in-pieces", "forget, killed at step"),
    ],
)
def test_a_weak_memory_leaves_something_half_done_at_some_step(
    harness: Harness, tmp_path: Path, operation: str, weak: str, broken: str
) -> None:
    _, found = killed(harness, tmp_path, operation, weak)
    assert any(broken in text for text in found), found
