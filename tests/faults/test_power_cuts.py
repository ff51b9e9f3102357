from __future__ import annotations

from collections.abc import Callable

import pytest

from faults import disks

pytestmark = pytest.mark.faults

Torture = Callable[..., "tuple[int, str]"]


@pytest.mark.parametrize("file_system", disks.FILE_SYSTEMS)
def test_nothing_acknowledged_is_lost_to_ten_power_cuts(torture: Torture, file_system: str) -> None:
    require(file_system)
    code, out = torture("--kills", 0, "--cuts", 10, "--on", file_system)
    assert code == 0, out
    assert f"power cuts, {file_system}: 10 faults" in out


@pytest.mark.parametrize(
    "weak",
    [
        pytest.param("no-fsync", id="files are never flushed"),
        pytest.param("wal-normal", id="commits are not flushed"),
    ],
)
def test_a_weak_memory_loses_something_to_power_cuts(torture: Torture, weak: str) -> None:
    require("ext4")
    code, out = torture("--kills", 0, "--cuts", 30, "--on", "ext4", "--weak", weak)
    assert code == 1, out


def require(file_system: str) -> None:
    reason = disks.why_not(file_system)
    if reason:
        pytest.skip(reason)
