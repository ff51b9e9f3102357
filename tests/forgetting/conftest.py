"""A memory to forget in: by its processes (`desk`), and as a person has it (`memory`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import memnb

Opener = Callable[..., memnb.Memory]


def notebook(path: Path, *sources: object, outputs: object = (), ascii_only: bool = False) -> None:
    """A notebook with a cell for each source; `outputs` are those of the last one."""
    cells = [
        {"cell_type": "code", "source": source, "outputs": [], "metadata": {}} for source in sources
    ]
    cells[-1]["outputs"] = list(outputs)  # type: ignore[call-overload]
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content, ensure_ascii=ascii_only, indent=1), encoding="utf-8")
