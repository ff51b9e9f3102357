"""Loading into a shell, also over a memory that something happened to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from IPython.core.interactiveshell import InteractiveShell

import memnb

Opener = Callable[..., memnb.Memory]


def test_a_damaged_database_can_be_repaired_from_the_notebook(
    shell: InteractiveShell,
    reopen: Opener,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with reopen() as memory:
        memory.remember("We report in EUR.")
        database = memory.project.folder / "facts.sqlite3"
    page = int(
        apsw.Connection(str(database))
        .execute("SELECT rootpage FROM sqlite_schema WHERE name='meta'")
        .fetchall()[0][0]
    )
    data = bytearray(database.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    database.write_bytes(data)
    monkeypatch.chdir(folder)
    shell.run_line_magic("load_ext", "memnb")
    try:
        (said,) = capsys.readouterr().out.splitlines()
        assert "StoreDamaged" in said
        assert "`%memory doctor`" in said
        assert "--repair" in str(shell.run_line_magic("memory", "doctor"))
        shell.run_line_magic("memory", "doctor --repair")
        shell.run_line_magic("memory", "remember We report in EUR.")
        assert "We report in EUR." in str(shell.run_line_magic("memory", "facts"))
    finally:
        shell.run_line_magic("unload_ext", "memnb")
