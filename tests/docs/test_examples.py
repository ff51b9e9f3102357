"""The examples of the pages are run, and give what the pages say.

`python` blocks of a page run one after another in one program, `ipython` blocks in one kernel. The
`text` block right below one is what it printed. Ids are matched up, times and dates aside.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import memnb
from memnb.notebook.approval import QUESTION
from running_kernel import running_kernel

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"

_BLOCK = re.compile(
    r"^```(?P<language>\w+)\n(?P<source>.*?)^```\n(?:```text\n(?P<shown>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_ID = re.compile(r"\bF-[0-9a-z]{6}\b|\bS-\d{8}-\d{6}-[0-9a-z]{6}\b")
_DIFFERS = {
    re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"): "TIME",
    re.compile(r"(?<=  )\d{4}-\d\d-\d\d(?=  )"): "DAY",
    re.compile(r"\b\d+\.\d s\b"): "SECONDS",
    re.compile(r"cell \[\d+\]"): "CELL",
    re.compile(r"\bIn\[\d+\]"): "INPUT",
    re.compile(r"session \d+, line \d+"): "LINE",
    re.compile(r"(?<=ipynb cell )\d+"): "NUMBER",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A block of code, and what the page says that it shows."""

    language: str
    source: str
    shown: str


def examples(page: Path, language: str) -> list[Example]:
    blocks = [
        Example(found["language"], found["source"], found["shown"] or "")
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]
    return [block for block in blocks if block.language == language]


class Ids:
    """Which id of this run stands for which id of the page."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def put_into(self, text: str) -> str:
        """A text of the page with the ids of this run."""
        return _ID.sub(lambda found: self._known.get(found[0], found[0]), text)

    def check(self, said: str, shown: str) -> None:
        """What the page says is what was shown."""
        for ours, theirs in zip(_ID.findall(said), _ID.findall(shown), strict=False):
            self._known.setdefault(ours, theirs)
        assert neutral(shown) == neutral(self.put_into(said))


def neutral(text: str) -> list[str]:
    for pattern, name in _DIFFERS.items():
        text = pattern.sub(name, text)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a project with one notebook, saved with what its cells say."""
    folder = tmp_path / "churn-model"
    folder.mkdir()
    cells = [block.source for block in examples(DOCS / "magics.md", "ipython")]
    (folder / "eda.ipynb").write_text(json.dumps({"cells": [{"source": c} for c in cells]}))
    monkeypatch.chdir(folder)
    return folder


def run(source: str, namespace: dict[str, Any]) -> str:
    """What a block printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "<example>", "exec"), namespace)  # noqa: S102 - our own pages
    return out.getvalue()


def require_passing(source: str, folder: Path) -> None:
    """Run a file of tests as a person would."""
    file = folder / "test_example.py"
    file.write_text(f"import memnb\n{source}", encoding="utf-8")
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["python.md", "testing.md"])
def test_the_python_of_a_page_gives_what_the_page_says(name: str, project: Path) -> None:
    namespace: dict[str, Any] = {}
    blocks, ids = examples(DOCS / name, "python"), Ids()
    assert blocks
    for block in blocks:
        if "def test_" in block.source:
            require_passing(block.source, project)
        else:
            ids.check(block.shown, run(block.source, namespace))


@pytest.mark.kernel
@pytest.mark.parametrize("name", ["magics.md", "testing.md"])
def test_the_cells_of_a_page_show_what_the_page_says(name: str, project: Path) -> None:
    cells, ids = examples(DOCS / name, "ipython"), Ids()
    assert cells
    environ = {
        "PYTHONPATH": str(REPOSITORY),
        "JPY_SESSION_NAME": str(project / "eda.ipynb"),
    }
    with running_kernel(project, environ) as kernel:
        for cell in cells:
            lines = cell.shown.splitlines(keepends=True)
            asked = [line.rstrip("\n") for line in lines if line.startswith(QUESTION)]
            said = "".join(line for line in lines if not line.startswith(QUESTION))
            answers = [line.removeprefix(QUESTION) for line in asked] or None
            outcome = kernel.run(ids.put_into(cell.source).rstrip("\n"), answers=answers)
            ids.check(said, outcome.shown)


def test_the_python_of_the_readme_runs(project: Path) -> None:
    """As it stands, but that a scripted model answers: the real one needs a gigabyte of weights."""
    (block,) = examples(REPOSITORY / "README.md", "python")
    opened = "memnb.open()"
    assert block.source.count(opened) == 1
    model = memnb.ScriptedModel(["train_test_split(X, y, random_state=7)"])
    printed = run(block.source.replace(opened, "memnb.open(model=model)"), {"model": model})
    assert "random_state=7" in model.requests[0].memory
    assert printed.startswith("train_test_split(X, y, random_state=7) turn 1 · scripted")


@pytest.mark.parametrize(
    ("said", "shown", "same"),
    [
        ("kept F-aaaaaa\n", "kept F-bbbbbb\n", True),
        ("F-aaaaaa F-aaaaaa\n", "F-bbbbbb F-cccccc\n", False),
        ("1 tool · 0.1 s\n", "1 tool · 3.2 s\n", True),
        ("1 tool\n", "2 tools\n", False),
    ],
)
def test_what_a_page_may_say_otherwise(said: str, shown: str, same: bool) -> None:
    def matches() -> bool:
        try:
            Ids().check(said, shown)
        except AssertionError:
            return False
        return True

    assert matches() is same
