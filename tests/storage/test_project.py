from __future__ import annotations

import json
import multiprocessing
import os
import re
import stat
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.errors import ConfigError, StoreDamaged, StoreMoved, StoreTooNew, UnsafeFileSystem
from memnb.storage.places import Places
from memnb.storage.project import SLUG, Project, ensure, slug
from storage.opening import NOW, open_at, places_in, written
from storage.repositories import commit, git, make_repository, needs_git


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return places_in(tmp_path.resolve())


@pytest.fixture
def work(places: Places) -> Path:
    return places.user_home / "work"


# --- the slug ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "readable"),
    [
        ("/w/churn-model", "churn-model"),
        ("/w/Meine Projekte (2)", "meine-projekte-2"),
        ("/w/Café Zürich", "cafe-zurich"),
        ("/w/данные", "project"),
        ("/w/..hidden--", "hidden"),
        ("/w/" + "x" * 60, "x" * 32),
        ("/w/churn.git", "churn"),
        ("/w/churn/.bare", "churn"),
        ("/w/a\nb\x1b", "a-b"),
        ("/", "root"),
    ],
)
def test_a_slug_is_the_readable_name_and_a_short_hash(root: str, readable: str) -> None:
    assert re.fullmatch(re.escape(readable) + "-[0-9a-f]{8}", slug(Path(root)))


@given(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=80))
def test_every_slug_has_the_form_that_attach_accepts(name: str) -> None:
    root = Path("/w") / name.encode("utf-8", "replace").decode()
    assert SLUG.match(slug(root))


def test_folders_of_one_name_have_different_slugs() -> None:
    assert slug(Path("/a/churn")) != slug(Path("/b/churn"))


# --- opening -------------------------------------------------------------------------------------


def test_opening_a_new_project_creates_nothing(places: Places, work: Path) -> None:
    project = open_at(work, places)
    assert (project.is_new, project.store_id, project.name) == (True, "P-" + "a" * 16, "work")
    assert project.folder == places.projects / slug(work)
    assert not places.home.exists()


@needs_git
def test_a_worktree_opens_the_main_checkouts_project(places: Places, work: Path) -> None:
    repo = make_repository(work / "churn")
    git(repo, "worktree", "add", "-q", "../tree")
    ensure(open_at(repo, places, "a"))
    project = open_at(work / "tree", places, "b")
    assert (project.store_id, project.is_new) == ("P-" + "a" * 16, False)
    assert (project.root, project.checkout) == (repo, work / "tree")


def test_a_notebook_in_the_home_folder_lets_tools_read_nothing(places: Places) -> None:
    assert not open_at(places.user_home, places).reads_files


@needs_git
@pytest.mark.parametrize("chosen", [False, True], ids=["by default", "by MEMNB_HOME"])
def test_only_a_chosen_home_may_lie_inside_the_repository(
    places: Places, work: Path, chosen: bool
) -> None:
    repo = make_repository(work / "churn")
    inside = replace(places, home=repo / "memnb", home_is_chosen=chosen)
    if chosen:
        assert open_at(repo, inside).root == repo
    else:
        with pytest.raises(ConfigError, match="MEMNB_HOME"):
            open_at(repo, inside)


# --- writing down --------------------------------------------------------------------------------


def test_the_first_record_makes_a_private_folder_and_a_canonical_file(
    places: Places, work: Path
) -> None:
    project = ensure(open_at(work, places))
    status = work.stat()
    body = {
        "device": str(status.st_dev),
        "first_seen_at": NOW,
        "format": 1,
        "inode": str(status.st_ino),
        "root": str(work),
        "root_commit": None,
        "store_id": "P-" + "a" * 16,
    }
    path = project.folder / "project.json"
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert path.read_bytes() == canonical.encode()
    assert [path.name for path in project.folder.iterdir()] == ["project.json"]
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for folder in (places.home, places.projects, project.folder):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_kept_project_has_the_same_id_next_time(places: Places, work: Path) -> None:
    ensure(open_at(work, places, "a"))
    again = ensure(open_at(work, places, "b"))
    assert (again.store_id, again.is_new, again.first_seen_at) == ("P-" + "a" * 16, False, NOW)


def test_the_second_of_two_new_kernels_takes_over_the_first_ones_id(
    places: Places, work: Path
) -> None:
    first, second = open_at(work, places, "a"), open_at(work, places, "b")
    ensure(first)
    assert ensure(second).store_id == "P-" + "a" * 16


def _race(
    places: Places, work: Path, first: str, barrier: Barrier, ids: multiprocessing.Queue[str]
) -> None:
    project = open_at(work, places, first)
    barrier.wait()
    ids.put(ensure(project).store_id)


def test_kernels_that_race_end_with_one_id(places: Places, work: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, ids = context.Barrier(3), context.Queue()
    racers = [
        context.Process(target=_race, args=(places, work, first, barrier, ids)) for first in "abc"
    ]
    for racer in racers:
        racer.start()
    found = {ids.get(timeout=60) for _ in racers}
    for racer in racers:
        racer.join()
    assert found == {written(open_at(work, places))["store_id"]}


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_root_whose_name_is_not_utf_8_is_read_back(places: Places, work: Path) -> None:
    odd = work / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    project = ensure(open_at(odd, places, "a"))
    assert open_at(odd, places, "b").store_id == project.store_id


@needs_git
def test_the_first_commit_is_noted_when_there_is_one(places: Places, work: Path) -> None:
    repo = work / "churn"
    repo.mkdir()
    git(repo, "init", "-q")
    project = ensure(open_at(repo, places))
    assert written(project)["root_commit"] is None
    first = commit(repo, "first")
    ensure(open_at(repo, places))
    assert written(project)["root_commit"] == first


@needs_git
def test_without_the_git_program_a_project_is_kept_all_the_same(places: Places, work: Path) -> None:
    repo = make_repository(work / "churn")
    project = ensure(open_at(repo, places), environ={"PATH": ""})
    assert written(project)["root_commit"] is None


def test_a_folder_removed_under_the_kernel_is_kept_all_the_same(places: Places, work: Path) -> None:
    gone = work / "gone"
    gone.mkdir()
    project = open_at(gone, places)
    gone.rmdir()
    assert written(ensure(project))["inode"] == "0"


# --- damage --------------------------------------------------------------------------------------


def spoil(project: Project, **changes: object) -> None:
    body = {**written(project), **changes}
    (project.folder / "project.json").write_text(json.dumps(body))


def test_a_newer_format_is_read_only_with_a_reason(places: Places, work: Path) -> None:
    spoil(ensure(open_at(work, places)), format=2, extra={})
    project = open_at(work, places, "b")
    assert "newer memnb" in project.read_only_reason
    assert project.store_id == "P-" + "a" * 16
    with pytest.raises(StoreTooNew):
        ensure(project)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"format":1,"format":1}',
        b"[" * 60_000,
        b"{" + b" " * 70_000 + b"}",
    ],
    ids=["empty", "no keys", "list", "not text", "duplicate key", "deep", "long"],
)
def test_a_damaged_file_is_named(places: Places, work: Path, content: bytes) -> None:
    path = ensure(open_at(work, places)).folder / "project.json"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match=re.escape(str(path))):
        open_at(work, places)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "changes",
    [
        {"format": True},
        {"format": 0},
        {"store_id": "P-short"},
        {"store_id": None},
        {"root": "relative"},
        {"root": ""},
        {"root_commit": "--help"},
        {"inode": 5},
        {"unknown": 1},
    ],
    ids=str,
)
def test_a_value_out_of_form_is_damage(
    places: Places, work: Path, changes: dict[str, object]
) -> None:
    spoil(ensure(open_at(work, places)), **changes)
    with pytest.raises(StoreDamaged, match=r"project\.json"):
        open_at(work, places)


@pytest.mark.parametrize("kept", ["facts.sqlite3", "sessions/S-20261130-091005-7k2m9q.jsonl"])
def test_memory_without_its_project_file_is_not_begun_anew(
    places: Places, work: Path, kept: str
) -> None:
    project = ensure(open_at(work, places))
    (project.folder / kept).parent.mkdir(exist_ok=True)
    (project.folder / kept).write_text("")
    (project.folder / "project.json").unlink()
    with pytest.raises(StoreDamaged, match="missing"):
        open_at(work, places, "b")
    with pytest.raises(StoreDamaged, match="missing"):
        ensure(project)


def test_a_folder_of_another_project_is_refused(places: Places, work: Path) -> None:
    spoil(ensure(open_at(work, places)), root="/somewhere/else")
    with pytest.raises(StoreMoved, match="/somewhere/else"):
        open_at(work, places)


def test_a_folder_replaced_under_the_kernel_is_refused(places: Places, work: Path) -> None:
    project = ensure(open_at(work, places))
    spoil(project, store_id="P-" + "b" * 16)
    with pytest.raises(StoreMoved, match="restart"):
        ensure(project)


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
def test_memory_that_was_opened_to_others_is_closed_again(places: Places, work: Path) -> None:
    project = ensure(open_at(work, places))
    for path in (places.home, places.projects, project.folder, project.folder / "project.json"):
        path.chmod(0o777)
    open_at(work, places)
    for path in (places.home, places.projects, project.folder, project.folder / "project.json"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077


@pytest.mark.skipif(os.name == "nt", reason="no symlinks there")
@pytest.mark.parametrize("what", ["folder", "file"])
def test_memory_behind_a_symlink_is_refused(places: Places, work: Path, what: str) -> None:
    project = ensure(open_at(work, places))
    path = project.folder if what == "folder" else project.folder / "project.json"
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))
    with pytest.raises(UnsafeFileSystem):
        open_at(work, places)
