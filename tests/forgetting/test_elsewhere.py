"""What a kernel itself holds of a forgotten text: its inputs and outputs, IPython's history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from memnb.api.forget_results import ForgetReceipt, PurgePreview
from memnb.memory.residue import Looked
from memnb.notebook.elsewhere import look_in_kernel
from memories import EUR, Children

HISTORY = "IPython's history"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """IPython with a history file, in a project's folder, with memnb loaded."""
    (tmp_path / "churn-model").mkdir()
    monkeypatch.chdir(tmp_path / "churn-model")
    config = Config()
    config.HistoryManager.hist_file = str(tmp_path / "history.sqlite")
    config.InteractiveShell.colors = "nocolor"
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    run(shell, "%load_ext memnb")
    yield shell
    run(shell, "%unload_ext memnb")
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> Any:
    """What a cell gives."""
    done = shell.run_cell(cell, store_history=True)
    done.raise_error()
    return done.result


def looked(receipt: ForgetReceipt, store: str) -> Looked:
    (found,) = [one for one in receipt.looked if one.store == store]
    return found


def test_the_cell_that_stated_it_is_named_in_the_kernel_and_in_the_history(
    shell: InteractiveShell,
) -> None:
    fact_id = run(shell, f"%memory remember {EUR}").fact_id
    run(shell, "1 + 1")
    receipt = run(shell, f"%memory forget {fact_id}")
    session = shell.history_manager.session_number
    assert looked(receipt, "this kernel's inputs").held == ("In[2]",)
    assert looked(receipt, HISTORY).held == (f"{HISTORY} (session {session}, line 2)",)
    assert "In[2], IPython's history (session 1, line 2)" in str(receipt)
    assert "EUR" not in str(receipt)


def test_outputs_that_show_it_are_named(shell: InteractiveShell) -> None:
    fact_id = run(shell, f"%memory remember {EUR}").fact_id
    run(shell, "%memory facts")
    run(shell, f"'{EUR.upper()}'")
    run(shell, f"%memory fact {fact_id}")
    run(shell, "[1, 2]")
    receipt = run(shell, f"%memory forget {fact_id}")
    store = "this kernel's outputs (texts, memnb's results)"
    assert looked(receipt, store).held == ("Out[3]", "Out[4]", "Out[5]")


CELLS: list[Any] = [
    pytest.param(EUR.upper(), id="another case"),
    pytest.param(EUR.replace(" ", "  "), id="other blanks"),
    pytest.param(f"# {EUR[:-1]}!", id="a comment"),
    pytest.param(f'x = "{EUR}"', id="a string"),
]


@pytest.mark.parametrize("cell", CELLS)
def test_the_history_is_searched_whatever_the_case_and_blanks(
    shell: InteractiveShell, cell: str
) -> None:
    if not cell.startswith(("#", "x")):
        cell = f"'''{cell}'''"
    run(shell, cell)
    (inputs, _, history) = look_in_kernel([EUR])
    assert inputs.held == ("In[2]",)
    assert history.held == (f"{HISTORY} (session 1, line 2)",)


@pytest.mark.parametrize(
    "text", ["say 'Größe' \\ [a*b]?", "我们总是用欧元", "→ ✓"], ids=["marks", "no ASCII", "no word"]
)
def test_a_text_of_any_letters_is_found_in_the_history(shell: InteractiveShell, text: str) -> None:
    run(shell, f"x = {text!r}")
    run(shell, "y = 'another one'")
    assert look_in_kernel([text])[2].held == (f"{HISTORY} (session 1, line 2)",)


def test_earlier_sessions_of_the_history_are_searched(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    run(shell, f"x = '{EUR}'")
    shell.history_manager.reset(new_session=True)
    run(shell, "y = 1")
    held = look_in_kernel([EUR])[2].held
    assert held == (f"{HISTORY} (session 1, line 2)",)


def test_nothing_is_found_where_nothing_is(shell: InteractiveShell) -> None:
    run(shell, "x = 'revenue in cents'")
    assert [one.outcome for one in look_in_kernel([EUR])] == ["clean", "clean", "clean"]


def test_a_history_that_is_switched_off_is_not_claimed(shell: InteractiveShell) -> None:
    shell.history_manager.enabled = False
    assert look_in_kernel([EUR])[2] == Looked(HISTORY, why_not="it is switched off")
    shell.history_manager.enabled = True


def test_a_history_that_cannot_be_read_stops_no_forget(shell: InteractiveShell) -> None:
    fact_id = run(shell, f"%memory remember {EUR}").fact_id
    shell.history_manager.writeout_cache()
    whole = shell.history_manager.search
    shell.history_manager.search = lambda *_, **__: 1 / 0
    receipt = run(shell, f"%memory forget {fact_id}")
    shell.history_manager.search = whole
    assert receipt.first
    assert looked(receipt, HISTORY).unread == ("it can't be read just now",)


def test_without_ipython_it_is_said_that_it_was_not_looked_at(children: Children) -> None:
    out = children.run(
        """
        from memnb.notebook.elsewhere import look_in_kernel
        print(look_in_kernel(["x"]))
        """
    )
    assert "why_not='no IPython runs this'" in out


def test_a_dry_run_and_a_purge_are_typed_like_this(shell: InteractiveShell) -> None:
    fact_id = run(shell, f"%memory remember {EUR}").fact_id
    preview = run(shell, f"%memory forget {fact_id} --dry-run")
    assert preview.dry_run
    assert looked(preview, "this kernel's inputs").held == ("In[2]",)
    assert run(shell, f"%memory forget --dry-run {fact_id}").dry_run
    run(shell, f"%memory forget {fact_id}")
    purge = run(shell, "%memory purge")
    assert isinstance(purge, PurgePreview)
    (token,) = re.findall(r"--confirm (\S+)", str(purge))
    receipt = run(shell, f"%memory purge --confirm {token}")
    assert len(receipt.rows) == 1
    session_id = run(shell, "%memory remember Another fact") and receipt.rows[0].session_id
    (row,) = run(shell, f"%memory purge {session_id} 3 3").rows
    assert (row.seq, row.why) == (3, "chosen")
