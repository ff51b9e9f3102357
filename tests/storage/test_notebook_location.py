from __future__ import annotations

import os
from pathlib import Path

import pytest

from memnb.errors import ConfigError
from memnb.storage.notebook_location import Start, find_start, notebook_path

CWD = Path("/nbs/nb")
THERE = {Path(p) for p in ("/nbs", "/nbs/nb", "/nbs/nb/eda.ipynb", "/other", "/vs/a.ipynb")}


@pytest.mark.parametrize(
    ("environ", "vscode_file", "expected"),
    [
        ({}, None, Start(CWD, "working folder", None)),
        (
            {"MEMNB_PROJECT": "/other", "JPY_SESSION_NAME": "/nbs/nb/eda.ipynb"},
            None,
            Start(Path("/other"), "MEMNB_PROJECT", Path("/nbs/nb/eda.ipynb")),
        ),
        ({"MEMNB_PROJECT": ".."}, None, Start(CWD / "..", "MEMNB_PROJECT", None)),
        (
            {"JPY_SESSION_NAME": "/nbs/nb/eda.ipynb"},
            "/vs/a.ipynb",
            Start(Path("/vs"), "VS Code", Path("/vs/a.ipynb")),
        ),
        ({}, "Untitled-1.ipynb", Start(CWD, "working folder", None)),
        (
            {"JPY_SESSION_NAME": "/nbs/nb/eda.ipynb"},
            None,
            Start(CWD, "JPY_SESSION_NAME", CWD / "eda.ipynb"),
        ),
        (
            {"JPY_SESSION_NAME": "/other/old.ipynb"},
            None,
            Start(Path("/other"), "JPY_SESSION_NAME", None),
        ),
        ({"JPY_SESSION_NAME": "/gone/x.ipynb"}, None, Start(CWD, "working folder", None)),
        (
            {"JPY_SESSION_NAME": "nb/eda.ipynb"},
            None,
            Start(CWD, "JPY_SESSION_NAME", CWD / "eda.ipynb"),
        ),
        ({"JPY_SESSION_NAME": "console-1"}, None, Start(CWD, "working folder", None)),
    ],
    ids=[
        "nothing is told",
        "explicit wins, the notebook is still known",
        "explicit relative to the working folder",
        "VS Code before Jupyter",
        "an unsaved notebook in VS Code",
        "JupyterLab",
        "renamed since: the folder holds",
        "folder gone",
        "relative to a server root",
        "a console",
    ],
)
def test_the_first_that_tells_decides(
    environ: dict[str, str], vscode_file: str | None, expected: Start
) -> None:
    # `..` is resolved later, with symlinks in view.
    def exists(path: Path) -> bool:
        return Path(os.path.normpath(path)) in THERE

    assert find_start(environ, CWD, exists, vscode_file=vscode_file) == expected


def test_an_explicit_folder_that_is_gone_is_said() -> None:
    with pytest.raises(ConfigError, match="MEMNB_PROJECT"):
        find_start({"MEMNB_PROJECT": "/gone"}, CWD, THERE.__contains__)


def test_a_notebook_is_recorded_relative_to_its_checkout(tmp_path: Path) -> None:
    checkout = tmp_path.resolve() / "churn"
    (checkout / "nb").mkdir(parents=True)
    (tmp_path / "link").symlink_to(checkout / "nb")
    assert notebook_path(checkout / "nb" / "eda é.ipynb", checkout) == "nb/eda é.ipynb"
    assert notebook_path(tmp_path / "link" / "eda.ipynb", checkout) == "nb/eda.ipynb"


def test_a_notebook_outside_the_checkout_is_recorded_by_name(tmp_path: Path) -> None:
    assert notebook_path(tmp_path / "eda.ipynb", tmp_path / "churn") == "eda.ipynb"


def test_a_name_that_is_not_utf_8_can_be_recorded(tmp_path: Path) -> None:
    odd = tmp_path.resolve() / os.fsdecode(b"\xe9.ipynb")
    assert notebook_path(odd, tmp_path.resolve()) == "\N{REPLACEMENT CHARACTER}.ipynb"
