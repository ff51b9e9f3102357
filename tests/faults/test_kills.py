from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.faults

Torture = Callable[..., "tuple[int, str]"]


def test_nothing_acknowledged_is_lost_to_sixty_kills(torture: Torture) -> None:
    code, out = torture("--kills", 60, "--cuts", 0)
    assert code == 0, out
    assert "kills: 60 faults" in out


def test_a_memory_that_acknowledges_early_loses_something_to_kills(torture: Torture) -> None:
    code, out = torture("--kills", 60, "--cuts", 0, "--weak", "acknowledged-early")
    assert code == 1, out
