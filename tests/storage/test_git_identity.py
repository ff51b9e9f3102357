from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memnb.storage.git_config import _entries, is_true, read_settings
from memnb.storage.git_history import known_commits, root_commit
from memnb.storage.git_identity import ProjectRoot, find_root
from storage.opening import bound_by_modes
from storage.repositories import commit, git, make_repository, needs_git

pytestmark = needs_git


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder whose path has blanks, accents and Cyrillic letters."""
    folder = (tmp_path / "Meine Projekte" / "données Я").resolve()
    folder.mkdir(parents=True)
    return folder


def identify(folder: Path, *, user_home: Path | None = None) -> ProjectRoot:
    return find_root(folder, user_home=user_home or Path("/nonexistent-home"))


def places_of(found: ProjectRoot) -> tuple[Path, Path, tuple[str, ...]]:
    return found.root, found.checkout, found.notices


# --- what shares a project -----------------------------------------------------------------------


def test_a_nested_folder_belongs_to_the_checkout(base: Path) -> None:
    repo = make_repository(base / "churn")
    (repo / "nb" / "deep").mkdir(parents=True)
    assert places_of(identify(repo / "nb" / "deep")) == (repo, repo, ())


def test_a_notebook_file_stands_for_its_folder(base: Path) -> None:
    (base / "eda.ipynb").write_text("{}")
    assert identify(base / "eda.ipynb").root == base


def test_a_linked_worktree_shares_the_main_checkout(base: Path) -> None:
    repo = make_repository(base / "churn")
    git(repo, "worktree", "add", "-q", "-b", "fix", "../wörk tree")
    (base / "wörk tree" / "nb").mkdir()
    found = identify(base / "wörk tree" / "nb")
    assert places_of(found) == (repo, base / "wörk tree", ())
    assert found.repository == repo / ".git"


def test_relative_links_between_worktree_and_repository_are_followed(base: Path) -> None:
    repo = make_repository(base / "churn")
    git(repo, "worktree", "add", "-q", "../tree")
    own = repo / ".git" / "worktrees" / "tree"
    (base / "tree" / ".git").write_text("gitdir: ../churn/.git/worktrees/tree\n")
    (own / "gitdir").write_text("../../../../tree/.git\n")
    assert places_of(identify(base / "tree")) == (repo, base / "tree", ())


def test_a_worktree_inside_the_main_checkout_shares_it(base: Path) -> None:
    repo = make_repository(base / "churn")
    git(repo, "worktree", "add", "-q", ".trees/fix")
    assert places_of(identify(repo / ".trees" / "fix")) == (repo, repo / ".trees" / "fix", ())


def test_a_submodule_is_a_project_of_its_own(base: Path) -> None:
    library = make_repository(base / "library")
    repo = make_repository(base / "churn")
    git(repo, "submodule", "--quiet", "add", str(library), "vendor/li b")
    found = identify(repo / "vendor" / "li b")
    assert places_of(found) == (repo / "vendor" / "li b", repo / "vendor" / "li b", ())


def test_a_worktree_of_a_submodule_shares_the_submodule(base: Path) -> None:
    library = make_repository(base / "library")
    repo = make_repository(base / "churn")
    git(repo, "submodule", "--quiet", "add", str(library), "lib")
    git(repo / "lib", "worktree", "add", "-q", str(base / "lib-fix"))
    assert places_of(identify(base / "lib-fix")) == (repo / "lib", base / "lib-fix", ())


def test_a_bare_repository_is_the_root_of_its_worktrees(base: Path) -> None:
    make_repository(base / "origin")
    git(base, "clone", "-q", "--bare", "origin", "churn.git")
    git(base / "churn.git", "worktree", "add", "-q", str(base / "main-tree"), "main")
    assert places_of(identify(base / "main-tree")) == (base / "churn.git", base / "main-tree", ())
    assert identify(base / "churn.git").root == base / "churn.git"


def test_a_hidden_bare_repository_with_worktrees_beside_it_is_one_project(base: Path) -> None:
    make_repository(base / "origin")
    (base / "churn").mkdir()
    git(base, "clone", "-q", "--bare", "origin", "churn/.bare")
    (base / "churn" / ".git").write_text("gitdir: ./.bare\n")
    git(base / "churn", "worktree", "add", "-q", "main")
    roots = {identify(base / "churn" / name).root for name in ("", "main", ".bare")}
    assert roots == {base / "churn" / ".bare"}


def test_worktree_specific_configuration_keeps_the_identity(base: Path) -> None:
    make_repository(base / "origin")
    git(base, "clone", "-q", "--bare", "origin", "churn.git")
    git(base / "churn.git", "worktree", "add", "-q", str(base / "tree"), "main")
    git(base / "tree", "sparse-checkout", "set", "nb")  # moves core.bare to config.worktree
    assert is_true(read_settings(base / "churn.git"), "core.bare")
    assert identify(base / "tree").root == base / "churn.git"


def test_a_repository_turned_bare_by_accident_keeps_its_root(base: Path) -> None:
    repo = make_repository(base / "churn")
    git(repo, "config", "core.bare", "true")
    assert identify(repo).root == repo


def test_a_separate_git_folder_leaves_the_checkout_as_root(base: Path) -> None:
    git(base, "init", "-q", "--separate-git-dir", "git files", "churn")
    assert places_of(identify(base / "churn")) == (base / "churn", base / "churn", ())


def test_a_symlinked_folder_is_resolved(base: Path) -> None:
    repo = make_repository(base / "churn")
    (repo / "nb").mkdir()
    (base / "short cut").symlink_to(repo / "nb")
    assert identify(base / "short cut").root == repo


def test_an_old_repository_whose_head_is_a_dangling_symlink_is_found(base: Path) -> None:
    git(base, "init", "-q")
    (base / ".git" / "HEAD").unlink()
    (base / ".git" / "HEAD").symlink_to("refs/heads/main")
    (base / "nb").mkdir()
    assert identify(base / "nb").root == base


def test_inside_the_git_folder_the_project_is_the_checkout(base: Path) -> None:
    repo = make_repository(base / "churn")
    git(repo, "worktree", "add", "-q", "../tree")
    inside = (repo / ".git" / "objects", repo / ".git" / "worktrees" / "tree")
    assert {identify(folder).root for folder in inside} == {repo}


def test_a_path_that_is_not_utf_8_is_followed(tmp_path: Path) -> None:
    repo = make_repository(tmp_path.resolve() / os.fsdecode(b"caf\xe9"))
    git(repo, "worktree", "add", "-q", "../tree")
    assert identify(tmp_path / "tree").root == repo


# --- outside Git ---------------------------------------------------------------------------------


def test_outside_git_the_folder_is_its_own_root(base: Path) -> None:
    found = identify(base)
    assert places_of(found) == (base, base, ())
    assert found.repository is None


def test_an_empty_git_folder_is_passed_by(base: Path) -> None:
    repo = make_repository(base / "churn")
    (repo / "nb" / ".git").mkdir(parents=True)
    assert identify(repo / "nb").root == repo


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gitdir: ",
        b"gitdir: /no/such/place\n",
        b"gitdir:../x",
        b"\xff\xfe\x00",
        b"gitdir: a\0b",
    ],
    ids=["empty", "no path", "vanished", "no blank", "not text", "NUL"],
)
def test_a_broken_git_file_counts_as_outside_with_one_line(base: Path, content: bytes) -> None:
    repo = make_repository(base / "churn")
    inner = repo / "x\ny"
    (inner / "nb").mkdir(parents=True)
    (inner / ".git").write_bytes(content)
    found = identify(inner / "nb")
    assert (found.root, found.repository) == (inner / "nb", None)
    assert len(found.notices) == 1
    assert "\n" not in found.notices[0]


@pytest.mark.parametrize("kind", ["pipe", "loop"])
def test_what_is_no_file_under_the_name_of_git_counts_as_outside(base: Path, kind: str) -> None:
    entry = base / ".git"
    if kind == "pipe":
        os.mkfifo(entry)
    else:
        entry.symlink_to(entry)
    found = identify(base)
    assert found.root == base
    assert len(found.notices) == 1


READ_WHAT_MODES_FORBID = """
import sys
from pathlib import Path
from memnb.storage.git_identity import find_root
found = find_root(Path(sys.argv[1]), user_home=Path("/nonexistent-home"))
print(found.root == Path(sys.argv[1]), found.repository, "can't be read" in found.notices[0])
"""


@pytest.mark.parametrize("what", ["folder", "file"])
def test_an_unreadable_git_entry_counts_as_outside(children: Any, base: Path, what: str) -> None:
    entry = base / ".git"
    if what == "folder":
        git(base, "init", "-q")
    else:
        entry.write_text("gitdir: elsewhere")
    prefix = bound_by_modes()
    entry.chmod(0)
    try:
        said = children.run(READ_WHAT_MODES_FORBID, base, prefix=prefix)
    finally:
        entry.chmod(0o700)
    assert said.split() == ["True", "None", "True"]


# --- home and / ----------------------------------------------------------------------------------


def test_a_repository_in_the_home_folder_is_ignored(base: Path) -> None:
    home = make_repository(base / "home")
    (home / "work").mkdir()
    found = identify(home / "work", user_home=home)
    assert (found.root, found.repository, found.reads_files) == (home / "work", None, True)


def test_a_home_that_is_a_worktree_of_another_repository_is_ignored(base: Path) -> None:
    dotfiles = make_repository(base / "dotfiles")
    git(dotfiles, "worktree", "add", "-q", "../home")
    (base / "home" / "work").mkdir()
    found = identify(base / "home" / "work", user_home=base / "home")
    assert places_of(found) == (base / "home" / "work", base / "home" / "work", ())


def test_a_project_in_a_home_that_is_a_repository_is_found(base: Path) -> None:
    home = make_repository(base / "home")
    repo = make_repository(home / "work" / "churn")
    assert identify(repo, user_home=home).root == repo


def test_a_worktree_of_a_repository_in_the_home_folder_is_ignored(base: Path) -> None:
    home = make_repository(base / "home")
    git(home, "worktree", "add", "-q", "../tree")
    assert places_of(identify(base / "tree", user_home=home)) == (base / "tree", base / "tree", ())


@pytest.mark.parametrize("inside", ["", "..", "work"], ids=["home", "above", "below"])
def test_tools_read_no_files_where_the_home_folder_is_inside(base: Path, inside: str) -> None:
    home = base / "home"
    (home / "work").mkdir(parents=True)
    assert identify(home / inside, user_home=home).reads_files is (inside == "work")


# --- a folder from elsewhere can't claim another project -----------------------------------------


@pytest.fixture
def victim(base: Path) -> Path:
    return make_repository(base / "victim")


def test_a_git_file_alone_does_not_claim_a_repository(base: Path, victim: Path) -> None:
    evil = base / "evil"
    evil.mkdir()
    (evil / ".git").write_text("gitdir: ../victim/.git\n")
    assert identify(evil).root == evil


def test_a_git_symlink_alone_does_not_claim_a_repository(base: Path, victim: Path) -> None:
    evil = base / "evil"
    evil.mkdir()
    (evil / ".git").symlink_to("../victim/.git")
    assert identify(evil).root == evil


def test_a_copied_worktree_is_a_project_of_its_own(base: Path, victim: Path) -> None:
    git(victim, "worktree", "add", "-q", "../tree")
    shutil.copytree(base / "tree", base / "copy")
    found = identify(base / "copy")
    assert found.root == base / "copy"
    assert "git worktree repair" in found.notices[0]


def test_a_moved_worktree_shares_again_after_repair(base: Path, victim: Path) -> None:
    git(victim, "worktree", "add", "-q", "../tree")
    (base / "tree").rename(base / "moved")
    assert identify(base / "moved").root == base / "moved"
    git(base / "moved", "worktree", "repair")
    assert identify(base / "moved").root == victim


def test_a_common_folder_elsewhere_does_not_claim_a_repository(base: Path, victim: Path) -> None:
    evil = base / "evil"
    (evil / "g").mkdir(parents=True)
    (evil / ".git").write_text("gitdir: g\n")
    (evil / "g" / "HEAD").write_text("ref: refs/heads/main\n")
    (evil / "g" / "commondir").write_text(f"{victim}/.git\n")
    (evil / "g" / "gitdir").write_text(f"{evil}/.git\n")
    assert identify(evil).root == evil
    assert identify(evil / "g").root == evil / "g"


def test_core_worktree_alone_does_not_claim_a_folder(base: Path, victim: Path) -> None:
    evil = make_repository(base / "evil")
    git(evil, "config", "core.worktree", str(victim))
    assert identify(evil).root == evil


# --- Git's configuration files -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[core]\n\tbare = true\n", {"core.bare": "true"}),
        ("[CORE] BARE\n", {"core.bare": None}),
        ("\ufeff[core]\nbare=no # why\n", {"core.bare": "no"}),
        ('[core]\nworktree = "../a b#c" ; x\n', {"core.worktree": "../a b#c"}),
        ("[core]\nworktree = ../a b  \r\n", {"core.worktree": "../a b"}),
        ('[core]\nworktree = "../a  "\n', {"core.worktree": "../a  "}),
        ('[core]\nworktree = a\\\n  b\\\\c\\"\n', {"core.worktree": 'a  b\\c"'}),
        ('[core "x"]\nbare = true\n[core]\n', {}),
        ("# [core]\n; bare\n[a]\nx=1\n[core]\nbare=0\nbare=1\n", {"a.x": "1", "core.bare": "1"}),
        ('[core]\nworktree = "open\nbare = true\n', {"core.worktree": ""}),
        ("nothing here", {}),
    ],
    ids=[
        "plain",
        "bare key",
        "byte order mark",
        "quotes and comment",
        "trailing blanks",
        "quoted blanks",
        "continued and escaped",
        "subsection",
        "last one wins",
        "malformed",
        "no section",
    ],
)
def test_a_configuration_is_read_as_git_writes_it(
    tmp_path: Path, text: str, expected: dict[str, str | None]
) -> None:
    (tmp_path / "config").write_bytes(text.encode())
    assert read_settings(tmp_path) == expected


@given(st.text(st.sampled_from('ab "\\\n#;=.t\tя'), max_size=30))
@example("  \\")
def test_any_path_that_git_writes_is_read_back(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    assert dict(_entries(f'[core]\nworktree = "{quoted}"\n'))["core.worktree"] == text


# --- the first commit ----------------------------------------------------------------------------


def test_the_first_commit_is_the_root_of_history(base: Path) -> None:
    repo = make_repository(base / "churn")
    first = git(repo, "rev-parse", "HEAD")
    commit(repo, "second")
    assert root_commit(repo / ".git") == first


def test_a_repository_without_commits_has_no_first_commit(base: Path) -> None:
    git(base, "init", "-q")
    assert root_commit(base / ".git") is None


def test_a_shallow_clone_has_no_first_commit(base: Path) -> None:
    repo = make_repository(base / "origin")
    commit(repo, "second")
    git(base, "clone", "-q", "--depth", "1", f"file://{repo}", "clone")
    assert root_commit(base / "clone" / ".git") is None


@pytest.mark.parametrize("path", ["", ".", "/nonexistent"])
def test_without_the_git_program_the_first_commit_is_unknown(base: Path, path: str) -> None:
    repo = make_repository(base / "churn")
    assert root_commit(repo / ".git", {"PATH": path}) is None
    assert known_commits(repo / ".git", ["0" * 40], {"PATH": path}) is None


def test_a_program_named_git_in_the_working_folder_is_not_run(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)
    make_repository(base / "churn")
    for folder in (base, base / "churn" / ".git"):
        fake = folder / "git"
        fake.write_text("#!/bin/sh\necho > ran\n")
        fake.chmod(0o755)
    root_commit(base / "churn" / ".git", {"PATH": f".{os.pathsep}"})
    assert not list(base.rglob("ran"))


def test_variables_of_git_do_not_lead_to_another_repository(base: Path) -> None:
    repo, other = make_repository(base / "churn"), make_repository(base / "other", message="o")
    environ = {"PATH": os.environ["PATH"], "GIT_DIR": str(other / ".git")}
    environ["GIT_OBJECT_DIRECTORY"] = str(other / ".git" / "objects")
    assert root_commit(repo / ".git", environ) == git(repo, "rev-parse", "HEAD")


def test_only_commits_that_are_there_are_known(base: Path) -> None:
    repo = make_repository(base / "churn")
    first = git(repo, "rev-parse", "HEAD")
    assert known_commits(repo / ".git", [first, "1" * 40]) == {first}


def test_a_repository_cannot_run_a_command_when_a_commit_is_missing(base: Path) -> None:
    repo = make_repository(base / "churn")
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", "ext::sh -c touch% ran"),
        ("protocol.ext.allow", "always"),
        ("core.fsmonitor", "touch ran"),
    ):
        git(repo, "config", name, value)
    assert known_commits(repo / ".git", ["1" * 40]) in (None, frozenset())
    assert not list(base.rglob("ran"))
