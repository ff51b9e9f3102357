"""The promise of the whole: what one kernel was told, another one knows; others don't."""

import subprocess

import pytest

from running_kernel import LOAD, running_kernel

pytestmark = pytest.mark.kernel

ECHO = (
    "model = memnb.ScriptedModel([lambda request: request.memory or 'nothing remembered'],"
    " repeat_last=True)\n"
)


def git(*arguments, cwd):
    subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@t", "-c", "protocol.file.allow=always",
         *arguments],
        cwd=cwd, check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "churn model"
    root.mkdir()
    git("init", "-q", cwd=root)
    (root / "a.txt").write_text("a")
    git("add", ".", cwd=root)
    git("commit", "-qm", "first", cwd=root)
    return root


def recalled(folder):
    with running_kernel(folder) as kernel:
        kernel.run(LOAD + ECHO)
        return kernel.run("%%agent -m model\nWhat do we use?").shown


def test_what_a_killed_kernel_was_told_is_known_in_a_nested_folder_and_in_a_worktree(
    repository, tmp_path
):
    with running_kernel(repository) as kernel:
        loaded = kernel.run(LOAD)
        assert "project churn model · 0 facts" in loaded.shown
        said = kernel.run("%memory remember We use polars, never pandas.", cell_id="c-1")
        assert "remembered F-" in said.shown
        kernel.kill()
    nested = repository / "notebooks" / "eda"
    nested.mkdir(parents=True)
    git("worktree", "add", "-q", str(tmp_path / "worktree"), cwd=repository)

    assert "We use polars, never pandas." in recalled(nested)
    assert "We use polars, never pandas." in recalled(tmp_path / "worktree")


def test_neither_a_submodule_nor_another_project_knows_it(repository, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git("clone", "-q", str(repository), str(tmp_path / "library"), cwd=tmp_path)
    git("submodule", "add", "-q", str(tmp_path / "library"), "library", cwd=repository)
    with running_kernel(repository) as kernel:
        kernel.run(LOAD)
        kernel.run("%memory remember We use polars, never pandas.")

    assert "nothing remembered" in recalled(repository / "library")
    assert "nothing remembered" in recalled(other)


def test_the_receipt_names_the_cell_and_marks_the_words(repository):
    with running_kernel(repository) as kernel:
        kernel.run(LOAD)
        kernel.run("%memory remember --kind decision We use polars.", cell_id="c-77")
        kernel.kill()
    with running_kernel(repository) as kernel:
        kernel.run(LOAD)
        kernel.run("facts = %memory facts")
        shown = kernel.run(
            "get_ipython().run_line_magic('memory', 'fact ' + facts.rows[0].fact_id)"
        )

    assert "»We use polars.«" in shown.shown
    assert "<mark>We use polars.</mark>" in shown.html
    assert "via command" in shown.shown
