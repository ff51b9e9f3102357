"""Shells of real IPython without a terminal or history file, and rendered output that is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[str, str], None]

FOLDER = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Golden:
    """Compares a text with the file of a name in golden/.

    `MEMNB_GOLDEN=write` writes the files anew; read the difference before keeping it.
    """

    def check(name: str, text: str) -> None:
        if WRITES:
            (FOLDER / name).write_text(text, encoding="utf-8")
        assert text == (FOLDER / name).read_text(encoding="utf-8")

    return check


# Read at import: the tests themselves run without variables of ours.
WRITES = os.environ.get("MEMNB_GOLDEN") == "write"
