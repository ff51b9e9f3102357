"""How tests of faults start a harness: in a process of its own, which may be killed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults.workload import Place

SECONDS = 300
"""How long a harness may take before its test fails; far more than any needs."""

Harness = Callable[..., str]
Torture = Callable[..., "tuple[int, str]"]


@pytest.fixture
def harness(children: Any) -> Harness:
    """Runs code in a process of its own, to a good end; gives what it printed."""

    def run(code: str, *arguments: object, prefix: tuple[str, ...] = ()) -> str:
        child = children.start(code, *arguments, prefix=prefix, stderr=subprocess.PIPE)
        out, err = child.communicate(timeout=SECONDS)
        assert child.returncode == 0, err
        return str(out)

    return run


@pytest.fixture
def torture(children: Any, tmp_path: Path) -> Torture:
    """Runs `faults.torture` with options; gives its exit code and what it printed."""

    def run(*options: object) -> tuple[int, str]:
        code = "import sys; from faults.torture import main; sys.exit(main(sys.argv[1:]))"
        where = ("--folder", tmp_path, "--seed", 1)
        child = children.start(code, *where, *options, stderr=subprocess.PIPE)
        out, err = child.communicate(timeout=SECONDS)
        assert child.returncode in (0, 1), err
        return child.returncode, out + err

    return run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for a store of the test's own."""
    place = Place(tmp_path / "kept")
    place.make()
    return place
