from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memnb.errors import Refused, StoreTooNew, UnknownId
from memnb.storage.places import Places
from memnb.storage.project import Project, ensure, slug
from memnb.storage.project_moves import Moves, accept, attach, check_moves, set_aside
from storage.opening import open_at, places_in, store_ids, written
from storage.repositories import commit, git, make_repository, needs_git

pytestmark = needs_git

LATER = "2026-12-01T00:00:00.000000Z"
NO_GIT = {"PATH": ""}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return places_in(tmp_path.resolve())


@pytest.fixture
def kept(places: Places) -> Project:
    """A project with memory, at work/churn."""
    repo = make_repository(places.user_home / "work" / "churn")
    project = ensure(open_at(repo, places, "a"))
    (project.folder / "MEMORY.md").write_text("ours")
    return project


def move(project: Project, name: str = "renamed") -> Path:
    return project.root.rename(project.root.with_name(name))


# --- moved ---------------------------------------------------------------------------------------


def test_a_project_that_stayed_is_not_asked_about(kept: Project) -> None:
    assert check_moves(kept) == Moves()


def test_memory_of_a_moved_repository_is_offered(kept: Project, places: Places) -> None:
    moves = check_moves(open_at(move(kept), places, "b"))
    assert moves.attachable == (kept.slug,)
    assert f"%memory project attach {kept.slug}" in moves.notices[0]
    assert not moves.mismatch


def test_memory_of_a_repository_copied_to_another_disk_is_offered(
    kept: Project,
    places: Places,
) -> None:
    copy = shutil.copytree(kept.root, kept.root.with_name("copy"))
    shutil.rmtree(kept.root)
    commit(copy, "more")
    assert check_moves(open_at(copy, places, "b")).attachable == (kept.slug,)


@pytest.mark.parametrize("environ", [None, NO_GIT], ids=["with git", "without git"])
def test_a_renamed_folder_outside_git_is_known_by_its_inode(
    places: Places,
    environ: dict[str, str] | None,
) -> None:
    folder = places.user_home / "plain"
    folder.mkdir()
    plain = ensure(open_at(folder, places, "a"))
    moved = open_at(move(plain), places, "b")
    assert check_moves(moved, environ=environ).attachable == (plain.slug,)


def test_a_second_clone_is_not_offered_the_firsts_memory(kept: Project, places: Places) -> None:
    git(kept.root.parent, "clone", "-q", "churn", "clone")
    assert check_moves(open_at(kept.root.parent / "clone", places, "b")) == Moves()


def test_an_unrelated_repository_is_not_offered_vanished_memory(
    kept: Project,
    places: Places,
) -> None:
    shutil.rmtree(kept.root)
    other = make_repository(kept.root.with_name("other"), message="other")
    assert check_moves(open_at(other, places, "b")) == Moves()


def test_damaged_projects_do_not_stop_the_look_around(kept: Project, places: Places) -> None:
    broken = places.projects / "broken-00000000"
    broken.mkdir()
    (broken / "project.json").write_text("{")
    assert check_moves(open_at(move(kept), places, "b")).attachable == (kept.slug,)


# --- attach --------------------------------------------------------------------------------------


def test_attach_brings_the_memory_to_the_new_place(kept: Project, places: Places) -> None:
    root = move(kept)
    attached = attach(open_at(root, places, "b"), kept.slug)
    again = open_at(root, places, "c")
    assert (attached.store_id, again.store_id) == (kept.store_id, kept.store_id)
    assert (again.folder / "MEMORY.md").read_text() == "ours"
    assert written(again)["root"] == str(root)
    assert [path.name for path in places.projects.iterdir()] == [slug(root)]


def test_attach_finishes_what_a_crash_left_half_way(kept: Project, places: Places) -> None:
    new = open_at(move(kept), places, "b")
    attach(new, kept.slug)
    new.folder.rename(kept.folder)  # as if the rename had not been reached
    assert check_moves(new).attachable == (kept.slug,)
    assert attach(new, kept.slug).store_id == kept.store_id


def test_attach_refuses_memory_whose_root_is_still_there(kept: Project, places: Places) -> None:
    git(kept.root.parent, "clone", "-q", "churn", "clone")
    new = open_at(kept.root.parent / "clone", places, "b")
    with pytest.raises(Refused, match="still exists"):
        attach(new, kept.slug)
    assert open_at(kept.root, places, "c").store_id == kept.store_id


def test_attach_refuses_a_project_with_memory_of_its_own(kept: Project, places: Places) -> None:
    new = ensure(open_at(move(kept), places, "b"))
    with pytest.raises(Refused, match="of its own"):
        attach(new, kept.slug)
    assert kept.folder.exists()


def test_attach_does_not_overwrite_notes_at_the_new_place(kept: Project, places: Places) -> None:
    new = open_at(move(kept), places, "b")
    new.folder.mkdir()
    (new.folder / "MEMORY.md").write_text("theirs")
    with pytest.raises(Refused):
        attach(new, kept.slug)
    assert (new.folder / "MEMORY.md").read_text() == "theirs"
    assert written(kept)["root"] == str(kept.root)


@pytest.mark.parametrize("name", ["", "..", "../projects", "nothing-00000000", "/etc"])
def test_attach_takes_only_slugs_that_exist(kept: Project, places: Places, name: str) -> None:
    with pytest.raises(UnknownId):
        attach(open_at(move(kept), places, "b"), name)


@pytest.mark.parametrize("way", ["../projects/{}", "./{}", "linked-00000000"])
def test_attach_follows_no_path_and_no_symlink(kept: Project, places: Places, way: str) -> None:
    new = open_at(move(kept), places, "b")
    (places.projects / "linked-00000000").symlink_to(kept.folder)
    with pytest.raises(UnknownId):
        attach(new, way.format(kept.slug))


def test_attach_leaves_memory_of_a_newer_version_alone(kept: Project, places: Places) -> None:
    (kept.folder / "project.json").write_text('{"format":2}')
    with pytest.raises(StoreTooNew):
        attach(open_at(move(kept), places, "b"), kept.slug)


# --- replaced ------------------------------------------------------------------------------------


def replaced(project: Project, places: Places) -> Project:
    """The project opened again after another repository took its place."""
    shutil.rmtree(project.root)
    return open_at(make_repository(project.root, message="another"), places, "b")


def test_another_repository_at_the_same_path_is_asked_about(kept: Project, places: Places) -> None:
    moves = check_moves(replaced(kept, places))
    assert moves.mismatch
    assert len(moves.notices) == 1


def test_without_git_a_replaced_repository_is_not_noticed(kept: Project, places: Places) -> None:
    assert check_moves(replaced(kept, places), environ=NO_GIT) == Moves()


def test_a_branch_with_a_history_of_its_own_is_the_same_repository(
    kept: Project,
    places: Places,
) -> None:
    git(kept.root, "checkout", "-q", "--orphan", "gh-pages")
    commit(kept.root, "pages")
    assert check_moves(open_at(kept.root, places)) == Moves()


def test_accept_keeps_the_memory_for_the_new_history(kept: Project, places: Places) -> None:
    project = replaced(kept, places)
    accept(project)
    assert check_moves(project) == Moves()
    assert open_at(kept.root, places, "c").store_id == kept.store_id


def test_set_aside_begins_anew_and_keeps_the_old_memory(kept: Project, places: Places) -> None:
    fresh = set_aside(replaced(kept, places), now=LATER, new_store_id=store_ids("b"))
    assert (fresh.is_new, fresh.store_id) == (True, "P-" + "b" * 16)
    assert check_moves(fresh) == Moves()
    assert ensure(fresh).first_seen_at == LATER
    assert [path.read_text() for path in places.projects.glob("*/MEMORY.md")] == ["ours"]


def test_memory_set_aside_is_offered_to_its_repository_elsewhere(
    kept: Project,
    places: Places,
) -> None:
    saved = shutil.copytree(kept.root, kept.root.with_name("saved"))
    ensure(set_aside(replaced(kept, places), now=LATER, new_store_id=store_ids("b")))
    new = open_at(saved, places, "c")
    (offered,) = check_moves(new).attachable
    assert attach(new, offered).store_id == kept.store_id
