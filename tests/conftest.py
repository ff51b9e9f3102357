"""The safety net of every test: a home of its own, and the real one out of reach.

1. HOME, MEMNB_HOME, MEMNB_STATE, IPYTHONDIR and the folders of Jupyter lie in a temporary folder.
2. A test that opens, lists or changes anything in memnb's real home fails, whoever did it: inside
   this process at the access, in a child by what the access left behind.
3. Children that a test started end with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from hypothesis import settings
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import memnb
from memories import Desk

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background deaf to Ctrl-C, and children would be, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

Opener = Callable[..., memnb.Memory]

REPOSITORY = Path(__file__).resolve().parents[1]
IMPORTED_FROM = os.pathsep.join(map(str, (REPOSITORY, REPOSITORY / "tests")))
CHILD_SECONDS = 60
"""How long a child may take before its test fails; far more than any needs."""

# Machines are noisy, so no example has a deadline; a failure prints how to repeat it.
settings.register_profile("memnb", deadline=None, database=None, print_blob=True)
settings.load_profile("memnb")


def _real_folders() -> tuple[str, ...]:
    named = [os.environ.get("MEMNB_HOME"), os.environ.get("MEMNB_STATE")]
    reserved = [
        platformdirs.user_data_path("memnb", appauthor=False),
        platformdirs.user_state_path("memnb", appauthor=False),
        platformdirs.user_config_path("memnb", appauthor=False),
    ]
    return tuple(sorted({os.path.realpath(folder) for folder in [*named, *reserved] if folder}))


REAL_FOLDERS = _real_folders()
MODELS = os.path.realpath(os.environ["MEMNB_MODELS"]) if os.environ.get("MEMNB_MODELS") else None
"""Weights are read-only data; they may be read wherever they are."""

_GUARDED_EVENTS = frozenset(
    {
        "open",
        "os.chmod",
        "os.link",
        "os.listdir",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.scandir",
        "os.symlink",
        "os.truncate",
        "os.utime",
        "sqlite3.connect",
    }
)


class RealHomeTouched(AssertionError):
    """A test reached for the memory of the person who runs it."""


class _Guard:
    def __init__(self) -> None:
        self.is_on = False
        self.touched: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on or event not in _GUARDED_EVENTS:
            return
        for argument in arguments[:2]:
            if isinstance(argument, (str, bytes, os.PathLike)) and _is_real(os.fsdecode(argument)):
                self.touched.append(f"{event} {os.fsdecode(argument)}")
                raise RealHomeTouched(self.touched[-1])


def _is_real(path: str) -> bool:
    if not path:
        return False
    path = os.path.abspath(path)  # noqa: PTH100 - Path.resolve() would follow our own symlinks
    if MODELS is not None and _is_in(path, MODELS):
        return False
    return any(_is_in(path, folder) for folder in REAL_FOLDERS)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


_guard = _Guard()
sys.addaudithook(_guard)


def _inventory() -> dict[str, tuple[int, int, int]]:
    found = {}
    for folder in REAL_FOLDERS:
        for parent, _, names in os.walk(folder):
            if MODELS is not None and _is_in(parent, MODELS):
                continue
            for path in [Path(parent), *(Path(parent, name) for name in names)]:
                status = path.lstat()
                found[str(path)] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


@pytest.fixture(autouse=True)
def own_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A home of the test's own, beside its `tmp_path`; what is asked about lies below it."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        # GIT_DIR and its like are set when the tests run from a hook of git.
        if name.startswith(("MEMNB_", "JUPYTER", "IPYTHON", "JPY_", "XDG_", "GIT_")):
            monkeypatch.delenv(name)
    if MODELS is not None:
        monkeypatch.setenv("MEMNB_MODELS", MODELS)
    folders = {
        "HOME": home,
        "MEMNB_HOME": home / "memnb",
        "MEMNB_STATE": home / "memnb-state",
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "jupyter" / "config",
        "JUPYTER_DATA_DIR": home / "jupyter" / "data",
        "JUPYTER_RUNTIME_DIR": home / "jupyter" / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "jupyter" / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "jupyter" / "workspaces",
    }
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    before = _inventory()
    _guard.touched.clear()
    _guard.is_on = True
    try:
        yield home
    finally:
        _guard.is_on = False
    changed = sorted(dict(before.items() ^ _inventory().items()))
    if _guard.touched or changed:
        pytest.fail(f"the test touched memnb's real home: {[*_guard.touched, *changed]}")


class Children:
    """Python processes that a test starts: they import memnb and what is beside this file."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[str]] = []

    def start(
        self, code: str, *arguments: object, prefix: tuple[str, ...] = (), **options: Any
    ) -> subprocess.Popen[str]:
        """Start a child that runs `code`; `prefix` goes before the interpreter."""
        child = subprocess.Popen(
            [*prefix, sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
            env=os.environ | {"PYTHONPATH": IMPORTED_FROM, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )
        self._running.append(child)
        return child

    def run(self, code: str, *arguments: object, prefix: tuple[str, ...] = ()) -> str:
        """What a child printed that ran `code` to a good end."""
        child = self.start(code, *arguments, prefix=prefix, stderr=subprocess.PIPE)
        out, err = child.communicate(timeout=CHILD_SECONDS)
        assert child.returncode == 0, err
        return out

    def end(self) -> None:
        """End those that still run."""
        for child in self._running:
            if child.poll() is None:
                child.kill()
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream is not None and not stream.closed:
                    # What was not read or sent no longer matters.
                    try:
                        stream.close()
                    except BrokenPipeError:
                        continue
            child.wait()


@pytest.fixture
def children() -> Iterator[Children]:
    """Starts Python children that end with the test at the latest."""
    started = Children()
    yield started
    started.end()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """What one kernel holds open of a project, process by process."""
    desk = Desk(tmp_path / "project")
    yield desk
    desk.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a project, with its notebooks."""
    folder = tmp_path / "churn-model"
    folder.mkdir()
    return folder


@pytest.fixture
def reopen(folder: Path) -> Iterator[Opener]:
    """Opens the memory of the project once more, as another kernel does; all are closed."""
    opened: list[memnb.Memory] = []

    def opener(**options: Any) -> memnb.Memory:
        opened.append(memnb.open(folder, **options))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(reopen: Opener) -> memnb.Memory:
    """The memory of a project, as a person has it."""
    return reopen()


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """Real IPython without a terminal or history file."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance(config=config)
    InteractiveShell.clear_instance()
