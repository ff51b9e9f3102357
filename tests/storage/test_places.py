from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from memnb.errors import ConfigError, StoreError, UnsafeFileSystem
from memnb.storage.files import shown
from memnb.storage.places import Places, UserFolders, find_places
from memnb.storage.private import create_private, private_folder, read_private
from storage.opening import bound_by_modes

posix = pytest.mark.skipif(os.name == "nt", reason="no modes there")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folders(tmp_path: Path) -> UserFolders:
    home = tmp_path.resolve() / "user"
    home.mkdir()
    return UserFolders(
        data=home / ".local" / "share" / "memnb",
        state=home / ".local" / "state" / "memnb",
        config=home / ".config" / "memnb",
        home=home,
    )


@pytest.fixture
def places(folders: UserFolders) -> Places:
    return find_places({}, folders)


# --- where things are ----------------------------------------------------------------------------


def test_by_default_the_users_folders_hold_everything(folders: UserFolders) -> None:
    assert find_places({}, folders) == Places(
        home=folders.data,
        state=folders.state,
        config_file=folders.data / "config.toml",
        models=folders.data / "models",
        key_file=folders.config / "key",
        user_home=folders.home,
    )


def test_variables_name_other_places(folders: UserFolders, tmp_path: Path) -> None:
    base = tmp_path.resolve()
    environ = {
        "MEMNB_HOME": str(base / "h"),
        "MEMNB_STATE": "~/s",
        "MEMNB_MODELS": str(base / "m"),
    }
    assert find_places(environ, folders) == Places(
        home=base / "h",
        state=folders.home / "s",
        config_file=base / "h" / "config.toml",
        models=base / "m",
        key_file=folders.home / "s" / "key",
        user_home=folders.home,
        home_is_chosen=True,
    )


def test_finding_places_creates_nothing(folders: UserFolders) -> None:
    find_places({}, folders)
    assert not list(folders.home.iterdir())


def test_where_one_folder_serves_all_purposes_the_key_still_lies_apart(tmp_path: Path) -> None:
    one = tmp_path.resolve() / "Application Support" / "memnb"
    places = find_places({}, UserFolders(data=one, state=one, config=one, home=tmp_path))
    assert not places.key_file.is_relative_to(places.home)
    assert not places.state.is_relative_to(places.home)


@pytest.mark.parametrize(
    "environ",
    [
        {"MEMNB_HOME": "relative/folder"},
        {"MEMNB_HOME": "~"},
        {"MEMNB_HOME": "/"},
        {"MEMNB_STATE": "~/.."},
        {"MEMNB_HOME": "~/memnb", "MEMNB_STATE": "~/memnb/state"},
    ],
    ids=["relative", "the home folder", "root", "above home", "state inside home"],
)
def test_a_place_that_protects_nothing_is_refused(
    folders: UserFolders, environ: dict[str, str]
) -> None:
    with pytest.raises(ConfigError, match="MEMNB_"):
        find_places(environ, folders)


def test_platformdirs_is_not_imported_with_the_module(children: Any) -> None:
    code = "import sys, memnb.storage.places; print('platformdirs' in sys.modules)"
    assert children.run(code).strip() == "False"


# --- private folders -----------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277], ids=oct)
def test_a_folder_and_its_missing_parents_are_private_under_any_umask(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        private_folder(tmp_path / "a" / "b")
        create_private(tmp_path / "a" / "b" / "file", b"x")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)
    assert mode(tmp_path / "a" / "b" / "file") == 0o600


@posix
def test_an_open_folder_of_ours_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o2775)
    private_folder(folder)
    assert mode(folder) == 0o2700


@posix
@pytest.mark.parametrize("kind", ["symlink", "dangling", "file", "shared"])
def test_what_is_no_private_folder_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "folder"
    if kind == "file":
        path.write_text("")
    elif kind == "shared":
        path.mkdir()
        path.chmod(0o1777)
    else:
        target = tmp_path / "target"
        path.symlink_to(target)
        if kind == "symlink":
            target.mkdir()
    with pytest.raises(UnsafeFileSystem):
        private_folder(path)


@posix
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root, to give files away")
def test_an_open_folder_of_someone_else_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    folder.chmod(0o755)
    os.chown(folder, 65534, 65534)
    with pytest.raises(UnsafeFileSystem, match="not yours"):
        private_folder(folder)
    assert mode(folder) == 0o755


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc, where nothing is made")
def test_a_folder_that_can_be_made_nowhere_is_said_in_one_line() -> None:
    with pytest.raises(StoreError) as caught:
        private_folder(Path("/proc/memnb/deep/folder"))
    assert "\n" not in str(caught.value)


def test_a_parent_that_is_a_file_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as caught:
        private_folder(tmp_path / "file" / "folder")
    assert "\n" not in str(caught.value)


# --- private files -------------------------------------------------------------------------------


def test_the_first_to_create_a_file_wins(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert (create_private(path, b"one"), create_private(path, b"two")) == (True, False)
    assert read_private(path, max_bytes=9) == b"one"


def test_leftovers_of_killed_processes_are_swept(tmp_path: Path) -> None:
    (tmp_path / ".file.0123abcd.tmp").write_text("half")
    create_private(tmp_path / "file", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@posix
def test_an_open_file_of_ours_is_closed_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    path.chmod(0o664)
    assert read_private(path, max_bytes=9) == b"x"
    assert mode(path) == 0o600


@posix
@pytest.mark.parametrize("kind", ["symlink", "pipe", "folder"])
def test_what_is_no_file_of_ours_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "symlink":
        (tmp_path / "target").write_text("x")
        path.symlink_to(tmp_path / "target")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(UnsafeFileSystem):
        read_private(path, max_bytes=9)


def test_a_path_is_shown_on_one_line() -> None:
    assert shown(Path("a\nb\x1b[31m/é" + os.fsdecode(b"\xe9"))) == "a\\nb\\x1b[31m/é\\udce9"


@posix
def test_a_read_only_folder_is_said(children: Any, places: Places) -> None:
    folder = places.key_file.parent
    folder.mkdir(parents=True)
    code = """
    import sys
    from pathlib import Path
    from memnb.errors import StoreReadOnly
    from memnb.storage.private import create_private
    try:
        create_private(Path(sys.argv[1]), b"x")
    except StoreReadOnly:
        print("said")
    """
    prefix = bound_by_modes()
    folder.chmod(0o500)
    try:
        said = children.run(code, folder / "key", prefix=prefix)
    finally:
        folder.chmod(0o700)
    assert said.strip() == "said"
