"""The search index under kills, failing disks and full ones: it may be lost, and never lies."""

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
    operation, *weak = sys.argv[2:]
    print(json.dumps(killed_at_every_step(place, operation, begun=True, weak=weak)))
"""

FAIL = """
    import errno, json, sys
    from pathlib import Path
    from faults.processes import preload
    from faults.steps import failed_at_every_step
    from faults.workload import Place

    preload()
    place = Place(Path(sys.argv[1]))
    place.make()
    code = getattr(errno, sys.argv[3])
    print(json.dumps(failed_at_every_step(place, sys.argv[2], code, for_ever=False)))
"""


@pytest.mark.parametrize("operation", ["search", "reindex", "forget"])
def test_a_kill_at_any_step_leaves_an_index_that_is_right_or_none(
    harness: Harness, tmp_path: Path, operation: str
) -> None:
    n_steps, found = json.loads(harness(KILL, tmp_path / "kept", operation))
    assert found == []
    assert n_steps > 4


def test_an_index_that_is_never_cleaned_is_found_out(harness: Harness, tmp_path: Path) -> None:
    _, found = json.loads(harness(KILL, tmp_path / "kept", "forget", "index-never-cleaned"))
    assert any("the search index" in text for text in found), found


@pytest.mark.parametrize("code", ["EIO", "ENOSPC"])
def test_a_step_that_fails_costs_the_index_and_never_the_search(
    harness: Harness, tmp_path: Path, code: str
) -> None:
    n_steps, found = json.loads(harness(FAIL, tmp_path / "kept", "search", code))
    assert found == []
    assert n_steps > 2
