from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.settings import resolve
from memnb.storage.settings_file import Tables, read_config, read_project_table

posix = pytest.mark.skipif(os.name == "nt", reason="no such files there")


def config(folder: Path, data: bytes) -> Tables:
    path = folder / "config.toml"
    path.write_bytes(data)
    found = read_config(path)
    assert path.read_bytes() == data
    return found


def project(folder: Path, data: bytes) -> Tables:
    (folder / "pyproject.toml").write_bytes(data)
    return read_project_table(folder)


# --- the person's file ---------------------------------------------------------------------------


def test_no_file_means_no_settings(tmp_path: Path) -> None:
    assert read_config(tmp_path / "config.toml") == ({}, ())
    assert read_config(tmp_path / "none" / "config.toml") == ({}, ())
    assert list(tmp_path.iterdir()) == []


def test_a_file_gives_its_tables(tmp_path: Path) -> None:
    data = b'[agent]\nmode = "auto"\nmax_steps = 3\n[memory]\nenabled = false\n'
    tables, notices = config(tmp_path, data)
    assert tables == {"agent": {"mode": "auto", "max_steps": 3}, "memory": {"enabled": False}}
    assert notices == ()


@pytest.mark.parametrize(
    "data",
    [b"", b"# nothing set\n", b"\xef\xbb\xbf[agent]\r\n"],
    ids=["empty", "comment", "Windows"],
)
def test_a_file_without_settings_is_fine(tmp_path: Path, data: bytes) -> None:
    tables, notices = config(tmp_path, data)
    assert not tables.get("agent")
    assert notices == ()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"[agent]\nmode = auto\n", ", line 2: not valid TOML; correct it"),
        (b"[agent]\n\nmode =\n", ", line 3: not valid TOML; correct it"),
        (b'[agent]\nmode = "auto\n\n', ", line 2: not valid TOML; correct it"),
        (b"[agent]\nmode = '''auto\n\n", ", line 2: not valid TOML; correct it"),
        (b"a = 1\na = 2\n", ", line 2: not valid TOML; correct it"),
        (b"\xef\xbb\xbf[agent]\nmode = 'caf\xe9'\n", ", line 2: not UTF-8; correct it"),
        (b"a = " + b"[" * 5000, ": a value is nested too deeply or too long; correct it"),
        (b"a = " + b"9" * 5000, ": a value is nested too deeply or too long; correct it"),
        (b"#" * (256 * 1024 + 1), " is longer than 256 KiB; shorten it"),
    ],
    ids=[
        "no quotes",
        "no value",
        "open text",
        "open long text",
        "twice",
        "Latin-1",
        "nested",
        "number",
        "long",
    ],
)
def test_a_damaged_file_is_named_and_counts_as_empty(
    tmp_path: Path, data: bytes, problem: str
) -> None:
    place = tmp_path / "config.toml"
    expected = (f"{place}{problem}; until then none of its settings count.",)
    assert config(tmp_path, data) == ({}, expected)


def test_a_notice_does_not_repeat_the_file(tmp_path: Path) -> None:
    secret = b"sk-ant-0123456789"
    for data in (secret + b" x", b"[" + secret + b"]\n[" + secret + b"]", b"\xff" + secret):
        _, notices = config(tmp_path, data)
        assert len(notices) == 1
        assert secret.decode() not in notices[0]


def test_the_size_limit_itself_is_allowed(tmp_path: Path) -> None:
    assert config(tmp_path, b"#" * (256 * 1024)) == ({}, ())


@posix
def test_a_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").write_text("[local]\nthreads = 2\n")
    (tmp_path / "config.toml").symlink_to("dotfiles")
    assert read_config(tmp_path / "config.toml") == ({"local": {"threads": 2}}, ())


@posix
@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_file_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "config.toml"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case _:
            path.symlink_to("/dev/zero")
    tables, (notice,) = read_config(path)
    assert tables == {}
    assert notice == (
        f"{path} is not a regular file; move it away; until then none of its settings count."
    )


@posix
def test_a_symlink_to_itself_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.symlink_to(path)
    tables, (notice,) = read_config(path)
    assert tables == {}
    assert notice.startswith(f"{path} can't be read (")


@posix
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.touch(mode=0o000)
    assert read_config(path)[1][0].startswith(f"{path} can't be read (")


@given(st.binary(max_size=200) | st.text("[]{}=.\"'\n#a1,-", max_size=200).map(str.encode))
def test_no_content_stops_memnb(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    for tables, notices in (config(folder, data), project(folder, b"#memnb\n" + data)):
        assert len(notices) <= 1
        resolve(tables, tables, {}, {})


# --- the project's table -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"[project]\nname = 'churn'\n[tool.memnb.agent]\nmode = 'readonly'\n",
        b"tool.memnb.agent.mode = 'readonly'\n",
        b"[tool]\nmemnb = { agent = { mode = 'readonly' } }\n",
    ],
    ids=["header", "dotted", "inline"],
)
def test_a_project_gives_its_own_table(tmp_path: Path, data: bytes) -> None:
    assert project(tmp_path, data) == ({"agent": {"mode": "readonly"}}, ())


@pytest.mark.parametrize(
    "data",
    [
        b"[project]\nname = 'churn'\n",
        b"[project]\nname = 'memnb'\n",
        b"[tool.ruff]\nsrc = ['memnb']\n",
        b"tool = 'memnb'\n",
        b"this is no TOML",
        b"\xff",
    ],
    ids=["other", "named so", "other tool", "no tools", "damaged elsewhere", "not UTF-8"],
)
def test_a_project_without_the_table_says_nothing(tmp_path: Path, data: bytes) -> None:
    assert project(tmp_path, data) == ({}, ())


def test_a_folder_without_a_project_file_says_nothing(tmp_path: Path) -> None:
    assert read_project_table(tmp_path) == ({}, ())
    assert read_project_table(tmp_path / "gone") == ({}, ())


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"[tool.memnb]\nagent = \n", ", line 2: not valid TOML; correct it"),
        (b"[tool]\nmemnb = 3\n", ": make tool.memnb a table"),
        (b"[[tool.memnb]]\n", ": make tool.memnb a table"),
        (b"#" * (1024 * 1024 + 1), " is longer than 1024 KiB; shorten it"),
        (b"#memnb\n" + b"a." * 100_000 + b"a = 1", ": a line has too many dots; shorten it"),
        (
            b"#memnb\n[" + b"a." * 400 + b"a]\n" + b"b = 1\n" * 60_000,
            ": a line has too many dots; shorten it",
        ),
    ],
    ids=["damaged", "number", "list", "long", "deep key", "deep header"],
)
def test_a_damaged_table_is_named_and_counts_as_empty(
    tmp_path: Path, data: bytes, problem: str
) -> None:
    place = tmp_path / "pyproject.toml"
    expected = (f"{place}{problem}; until then its [tool.memnb] doesn't count.",)
    assert project(tmp_path, data) == ({}, expected)


def test_a_long_ordinary_project_file_is_read(tmp_path: Path) -> None:
    pins = ", ".join(f'"package-{n}==1.{n}.0"' for n in range(200))
    lines = "".join(f'"src/file_{n}.v1.py" = ["E501", "a.b.c"]\n' for n in range(5000))
    text = f"[project]\ndependencies = [{pins}]\n[tool.a.b]\n{lines}[tool.memnb]\nmemory = 1\n"
    assert project(tmp_path, text.encode()) == ({"memory": 1}, ())


@posix
def test_a_pipe_in_place_of_a_project_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    tables, notices = read_project_table(tmp_path)
    assert tables == {}
    assert len(notices) == 1


def test_the_parser_is_loaded_only_for_a_file_that_says_something(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'churn'\n")
    program = (
        "import sys, pathlib\n"
        "from memnb.core.settings import resolve\n"
        "from memnb.storage.settings_file import read_config, read_project_table\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "file, _ = read_config(folder / 'config.toml')\n"
        "project, _ = read_project_table(folder)\n"
        "resolve(file, project, {}, {})\n"
        "print(sorted({'tomllib', 'difflib'} & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_file_and_table_together_decide(tmp_path: Path) -> None:
    file, _ = config(tmp_path, b"[agent]\nmode = 'auto'\nmax_steps = 4\n")
    table, _ = project(tmp_path, b"[tool.memnb]\nagent = { mode = 'ask', max_steps = 9 }\n")
    settings, notices = resolve(file, table, {}, {})
    assert (settings.agent.mode, settings.agent.max_steps) == ("ask", 4)
    assert notices == ("pyproject.toml: agent.max_steps stays 4: a project may only lower it.",)
