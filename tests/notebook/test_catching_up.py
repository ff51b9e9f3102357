from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from IPython.core.interactiveshell import InteractiveShell

from memnb.notebook import extension

SECONDS = 30.0


@pytest.fixture
def loaded(
    shell: InteractiveShell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[InteractiveShell]:
    monkeypatch.chdir(folder)
    shell.run_line_magic("load_ext", "memnb")
    yield shell
    extension.unload_ipython_extension(shell)


def wait_until_quiet() -> None:
    for thread in threading.enumerate():
        if thread.name == "memnb after a cell":
            thread.join(SECONDS)


def indexed() -> list[str]:
    assert extension._loaded is not None
    path = extension._loaded.runtime.project.folder / "index.sqlite3"
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [text for (text,) in connection.execute("SELECT text FROM passages")]
    finally:
        connection.close()


def test_what_a_cell_kept_is_in_the_index_when_it_has_returned(loaded: InteractiveShell) -> None:
    loaded.run_cell("%memory remember We use tabs.")
    wait_until_quiet()
    assert indexed() == ["We use tabs."]


def test_it_gives_way_to_whatever_cell_begins(loaded: InteractiveShell) -> None:
    loaded.run_cell("%memory remember We use tabs.")
    loaded.run_cell(
        "from memnb.notebook import extension\n"
        "told = extension._loaded.magics._catching_up._cancel.requested"
    )
    assert loaded.user_ns["told"]


def test_status_says_that_there_is_no_searching_by_meaning(loaded: InteractiveShell) -> None:
    assert extension._loaded is not None
    runtime = extension._loaded.runtime
    runtime.memory.meaning.problem = "search by meaning is off: the embedder failed"
    assert "search by meaning is off: the embedder failed" in runtime.notices()
