from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.errors import InputError, InvalidName, MemnbError, Refused
from memnb.storage.project_files import (
    MAX_FILE_BYTES,
    MAX_LINES,
    MAX_OUTPUT_BYTES,
    ProjectFiles,
    _fitting,
)

HIDDEN = "never shown"


@pytest.fixture
def user_home(tmp_path: Path) -> Path:
    home = tmp_path.resolve() / "home"
    home.mkdir()
    return home


@pytest.fixture
def checkout(user_home: Path) -> Path:
    folder = user_home / "churn"
    folder.mkdir()
    return folder


@pytest.fixture
def memnb_home(user_home: Path) -> Path:
    folder = user_home / ".memnb"
    folder.mkdir()
    return folder


@pytest.fixture
def files(checkout: Path, memnb_home: Path, user_home: Path) -> ProjectFiles:
    return ProjectFiles(checkout, private=[memnb_home], user_home=user_home)


def put(path: Path, text: str = "one\ntwo\nthree\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# --- what is read --------------------------------------------------------------------------------


def test_a_file_comes_as_numbered_lines(files: ProjectFiles, checkout: Path) -> None:
    put(checkout / "src" / "a.py")
    read = files.read("src/a.py")
    assert (read.path, read.start, read.end, read.n_lines) == ("src/a.py", 1, 3, 3)
    assert read.lines == ("one", "two", "three")
    assert read.text == "1\tone\n2\ttwo\n3\tthree\n"
    assert not read.truncated


@pytest.mark.parametrize(
    ("start", "end", "lines", "shown_end"),
    [
        pytest.param(2, 2, ("two",), 2, id="one"),
        pytest.param(2, None, ("two", "three"), 3, id="to the end"),
        pytest.param(2, 99, ("two", "three"), 3, id="past the end"),
    ],
)
def test_a_range_is_inclusive_and_counts_from_one(
    files: ProjectFiles,
    checkout: Path,
    start: int,
    end: int | None,
    lines: tuple[str, ...],
    shown_end: int,
) -> None:
    put(checkout / "a.txt")
    read = files.read("a.txt", start, end)
    assert (read.lines, read.end, read.n_lines, read.truncated) == (lines, shown_end, 3, False)


@pytest.mark.parametrize(
    ("start", "end"), [(0, None), (-1, None), (3, 2), (4, None)], ids=["0", "-1", "back", "past"]
)
def test_lines_that_cannot_be_are_refused(
    files: ProjectFiles, checkout: Path, start: int, end: int | None
) -> None:
    put(checkout / "a.txt")
    with pytest.raises(InputError):
        files.read("a.txt", start, end)


def test_an_empty_file_has_no_lines(files: ProjectFiles, checkout: Path) -> None:
    put(checkout / "a.txt", "")
    read = files.read("a.txt")
    assert (read.lines, read.n_lines, read.truncated) == ((), 0, False)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(b"a\r\nb\r\n", ("a", "b"), id="windows"),
        pytest.param(b"a\rb", ("a", "b"), id="old mac"),
        pytest.param(b"a\x0cb\xe2\x80\xa8c\n\n", ("a\x0cb\u2028c", ""), id="other separators"),
        pytest.param(b"\xef\xbb\xbfa\n", ("a",), id="byte order mark"),
        pytest.param(b"caf\xe9\n", ("caf\ufffd",), id="latin-1"),
    ],
)
def test_lines_end_where_editors_say(
    files: ProjectFiles, checkout: Path, data: bytes, lines: tuple[str, ...]
) -> None:
    (checkout / "a.txt").write_bytes(data)
    assert files.read("a.txt").lines == lines


def test_an_absolute_path_and_a_link_inside_the_project_are_followed(
    files: ProjectFiles, checkout: Path
) -> None:
    target = put(checkout / "deep" / "a.txt")
    (checkout / "link").symlink_to(checkout / "deep")
    assert files.read(str(target)).path == "deep/a.txt"
    assert files.read("link/a.txt").path == "deep/a.txt"
    assert files.read("deep/../deep/a.txt").path == "deep/a.txt"


def test_at_most_2000_lines_come_and_it_says_that_there_are_more(
    files: ProjectFiles, checkout: Path
) -> None:
    put(checkout / "a.txt", "\n" * 3000)
    read = files.read("a.txt")
    assert (len(read.lines), read.end, read.truncated) == (MAX_LINES, MAX_LINES, True)
    assert not files.read("a.txt", 2500, 2600).truncated


def test_a_line_longer_than_the_output_is_cut_and_marked(
    files: ProjectFiles, checkout: Path
) -> None:
    put(checkout / "a.json", "é" * 40_000 + "\nnext\n")
    read = files.read("a.json")
    assert (read.end, read.truncated) == (1, True)
    assert read.lines[0].endswith("[…cut: the line has 80,000 bytes]")
    assert len(read.text.encode()) <= MAX_OUTPUT_BYTES
    assert files.read("a.json", 2).lines == ("next",)


@given(
    lines=st.lists(st.text(alphabet="aé€😀\ud800", max_size=90), max_size=40),
    max_bytes=st.integers(min_value=512, max_value=2048),
    start=st.integers(min_value=1, max_value=40),
)
def test_what_is_shown_fits_and_only_a_first_line_is_cut(
    lines: list[str], max_bytes: int, start: int
) -> None:
    shown = _fitting("a", lines, (start, None), max_bytes)
    assert len(shown.text.encode(errors="replace")) <= max_bytes
    whole = shown.lines[1:] if shown.truncated else shown.lines
    assert list(whole) == lines[start - 1 :][len(shown.lines) - len(whole) : len(shown.lines)]
    assert shown.truncated or shown.end == max(len(lines), start - 1)


# --- notebooks -----------------------------------------------------------------------------------


def notebook(*cells: dict[str, object]) -> str:
    return json.dumps({"cells": list(cells), "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


def test_a_notebook_comes_as_the_sources_of_its_cells(files: ProjectFiles, checkout: Path) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": [HIDDEN]}
    put(
        checkout / "eda.ipynb",
        notebook(
            {"cell_type": "markdown", "source": ["# Title\n", "words"], "metadata": {}},
            {"cell_type": "code", "source": "df.head()", "outputs": [output]},
            {"cell_type": "x\ny", "source": ""},
        ),
    )
    assert files.read("eda.ipynb").lines == (
        "# --- cell 1 · markdown ---",
        "# Title",
        "words",
        "",
        "# --- cell 2 · code ---",
        "df.head()",
        "",
        "# --- cell 3 · other ---",
        "",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="no json"),
        pytest.param("[]", id="a list"),
        pytest.param('{"worksheets": []}', id="format 3"),
        pytest.param('{"cells": [1]}', id="a number for a cell"),
        pytest.param('{"cells": [{"cell_type": "code", "source": [1]}]}', id="a number for a line"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"cells": ' + "9" * 5000 + "}", id="long number"),
    ],
)
def test_a_broken_notebook_is_one_line_of_error(
    files: ProjectFiles, checkout: Path, text: str
) -> None:
    put(checkout / "eda.ipynb", text)
    with pytest.raises(Refused, match="notebook"):
        files.read("eda.ipynb")


# --- what is never read --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *(".env", ".env.local", ".envrc", ".ENV", "sub/.env", ".env/lib/x.py"),
        *(".ssh/config", ".git/config", ".git", "sub/.GIT/HEAD", ".aws/credentials"),
        *(".gnupg/trustdb.gpg", ".netrc", ".pypirc", "server.pem", "deep/tls.KEY"),
        *(".htpasswd", ".Renviron", ".bash_history", "prod.env", "kaggle.json", "infra.tfstate"),
        *("my-credentials.json", "service_account.json", "secrets.yaml", ".streamlit/secrets.toml"),
        *("id_rsa", "id_ed25519", "id_rsa.pub", "ID_ECDSA", "src/../.env", "./.git/./config"),
    ],
)
@pytest.mark.parametrize("exists", [True, False], ids=["there", "not there"])
def test_private_names_are_refused_whether_or_not_they_exist(
    files: ProjectFiles, checkout: Path, path: str, exists: bool
) -> None:
    if exists:
        (checkout / "src").mkdir()
        put(checkout / path, HIDDEN)
    with pytest.raises(Refused, match="never read"):
        files.read(path)


@pytest.mark.parametrize(
    "path", [".gitignore", "environment.yml", "keys.py", "idea.md", "monkey", "id_map/cells.txt"]
)
def test_names_that_only_look_like_it_are_read(
    files: ProjectFiles, checkout: Path, path: str
) -> None:
    put(checkout / path)
    assert files.read(path).n_lines == 3


@pytest.mark.parametrize("exists", [True, False], ids=["there", "not there"])
@pytest.mark.parametrize("form", ["../other.txt", "{home}/other.txt", "/etc/passwd", "/nowhere"])
def test_nothing_outside_is_read_and_no_answer_tells_what_is_there(
    files: ProjectFiles, user_home: Path, form: str, exists: bool
) -> None:
    if exists:
        put(user_home / "other.txt", HIDDEN)
    with pytest.raises(Refused, match="outside the project"):
        files.read(form.format(home=user_home))


@pytest.mark.parametrize(
    ("target", "link"),
    [
        pytest.param("../other.txt", "a.txt", id="file outside"),
        pytest.param("..", "sub", id="folder outside"),
        pytest.param(".env", "a.txt", id="private file"),
        pytest.param("a.txt", "b.pem", id="private name"),
    ],
)
def test_a_link_opens_nothing_that_is_closed(
    files: ProjectFiles, checkout: Path, user_home: Path, target: str, link: str
) -> None:
    put(user_home / "other.txt", HIDDEN)
    put(checkout / ".env", HIDDEN)
    (checkout / link).symlink_to(target)
    with pytest.raises(Refused):
        files.read("sub/other.txt" if link == "sub" else link)


def test_memnbs_own_folders_are_not_read_even_inside_the_project(
    checkout: Path, user_home: Path
) -> None:
    home = checkout / "memory"
    put(home / "projects" / "a" / "MEMORY.md", HIDDEN)
    (checkout / "link").symlink_to(home / "projects")
    files = ProjectFiles(checkout, private=[home], user_home=user_home)
    for path in ("memory/projects/a/MEMORY.md", "memory/gone.txt", "link/a/MEMORY.md"):
        with pytest.raises(Refused, match="never read"):
            files.read(path)


def test_a_notebook_in_memnbs_own_folder_has_no_files(memnb_home: Path, user_home: Path) -> None:
    put(memnb_home / "projects" / "a" / "facts.txt", HIDDEN)
    files = ProjectFiles(memnb_home / "projects" / "a", private=[memnb_home], user_home=user_home)
    with pytest.raises(Refused, match="never read"):
        files.read("facts.txt")


def test_a_folder_is_known_by_identity_and_not_only_by_its_name(
    checkout: Path, user_home: Path
) -> None:
    # Where names ignore case, MEMORY opens the folder memory; here another path does the same.
    put(checkout / "MEMORY" / "a.txt", HIDDEN)
    (user_home / "memory").symlink_to(checkout / "MEMORY")
    files = ProjectFiles(checkout, private=[], user_home=user_home)
    files._private = (user_home / "memory",)
    with pytest.raises(Refused, match="never read"):
        files.read("MEMORY/a.txt")


def test_the_home_folder_is_no_project(user_home: Path) -> None:
    put(user_home / "a.txt", HIDDEN)
    for checkout in (user_home, user_home.parent, Path("/")):
        files = ProjectFiles(checkout, private=[], user_home=user_home, notebook_folder=user_home)
        with pytest.raises(Refused, match="home folder"):
            files.read(str(user_home / "a.txt"))


def test_in_a_home_folder_the_notebooks_own_folder_is_read(user_home: Path) -> None:
    put(user_home / "work" / "a.txt")
    put(user_home / "b.txt", HIDDEN)
    files = ProjectFiles(
        user_home, private=[], user_home=user_home, notebook_folder=user_home / "work"
    )
    assert files.read("a.txt").n_lines == 3
    with pytest.raises(Refused, match="outside"):
        files.read("../b.txt")


# --- what cannot be read -------------------------------------------------------------------------


def test_a_pipe_a_socket_and_a_folder_are_refused_at_once(
    files: ProjectFiles, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(checkout / "pipe")
    (checkout / "folder").mkdir()
    monkeypatch.chdir(checkout)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path, what in [("pipe", "no regular"), ("socket", "no regular"), ("folder", "folder")]:
            with pytest.raises(Refused, match=what):
                files.read(path)
    with pytest.raises(Refused, match="folder"):
        files.read(".")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        pytest.param(b"a" * 8000 + b"\0", "binary", id="NUL"),
        pytest.param("text".encode("utf-16"), "binary", id="utf-16"),
    ],
)
def test_a_binary_file_is_refused(
    files: ProjectFiles, checkout: Path, data: bytes, what: str
) -> None:
    (checkout / "a.bin").write_bytes(data)
    with pytest.raises(Refused, match=what):
        files.read("a.bin")


def test_a_file_over_10_mib_is_refused(files: ProjectFiles, checkout: Path) -> None:
    with (checkout / "a.csv").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(Refused, match="10 MiB"):
        files.read("a.csv")


@pytest.mark.parametrize(
    "path",
    ["", "a\0b", "a\nb", "a\u202eb", "a\ud800", "x" * 5000, "gone.txt", "a.txt/b", "x" * 300],
    ids=["empty", "NUL", "newline", "bidi", "surrogate", "long", "gone", "in a file", "long name"],
)
def test_a_path_that_is_none_is_one_line_that_does_not_repeat_it(
    files: ProjectFiles, checkout: Path, path: str
) -> None:
    put(checkout / "a.txt")
    with pytest.raises(MemnbError) as caught:
        files.read(path)
    assert isinstance(caught.value, InvalidName | Refused)
    assert "\n" not in str(caught.value)
    assert not path or path not in str(caught.value)


def test_a_folder_swapped_for_a_link_after_the_check_is_not_followed(
    files: ProjectFiles, checkout: Path, user_home: Path
) -> None:
    put(user_home / "outside" / "a.txt", HIDDEN)
    put(checkout / "sub" / "a.txt")
    parts = files._checked_parts(checkout, "sub/a.txt")
    (checkout / "sub").rename(checkout / "old")
    (checkout / "sub").symlink_to(user_home / "outside")
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        files._bytes(checkout, parts)
