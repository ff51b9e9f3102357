from __future__ import annotations

from pathlib import Path

import pytest

from memories import Children

HEAVY = (
    "litellm",
    "openai",
    "pandas",
    "numpy",
    "pydantic",
    "apsw",
    "sqlite3",
    "IPython",
    "ipywidgets",
    "xllamacpp",
    "markdown_it",
    "httpx",
    "asyncio",
    "platformdirs",
)
AT_OPEN = ("litellm", "openai", "pandas", "numpy", "pydantic", "IPython", "xllamacpp", "httpx")


def loaded(children: Children, code: str, names: tuple[str, ...], *arguments: object) -> list[str]:
    """Which of these modules a child has loaded after `code`."""
    tail = f"\nprint(*[name for name in {names!r} if name in sys.modules])"
    return children.run("import sys\n" + code + tail, *arguments).split()


def test_importing_loads_nothing_heavy(children: Children) -> None:
    assert loaded(children, "import memnb", HEAVY) == []


def test_importing_loads_our_own_top_only(children: Children) -> None:
    out = children.run(
        """
        import sys
        import memnb
        print(*sorted(name for name in sys.modules if name.split(".")[0] == "memnb"))
        """
    )
    assert out.split() == ["memnb"]


def test_importing_creates_and_prints_nothing(children: Children, own_home: Path) -> None:
    out = children.run("import memnb; memnb.open; memnb.ScriptedModel; dir(memnb)")
    assert out == ""
    assert not (own_home / "memnb").exists()


@pytest.mark.parametrize(
    "use",
    [
        pytest.param("", id="open"),
        pytest.param("memory.status(); memory.facts(); memory.headline()", id="look"),
        pytest.param(
            "memory.remember('We use tabs.'); memory.notes.append('plan', 'x')", id="keep"
        ),
    ],
)
def test_opening_looking_and_keeping_load_neither_models_nor_frames(
    children: Children, tmp_path: Path, use: str
) -> None:
    code = f"import memnb\nmemory = memnb.open(sys.argv[1])\n{use}"
    assert loaded(children, code, AT_OPEN, tmp_path) == []


def test_asking_a_model_of_ones_own_loads_neither_litellm_nor_frames(
    children: Children, tmp_path: Path
) -> None:
    code = (
        "import memnb\nmemory = memnb.open(sys.argv[1])\n"
        "memory.ask('hello', model=memnb.ScriptedModel(['hi']))"
    )
    names = tuple(name for name in AT_OPEN if name != "pydantic")
    assert loaded(children, code, names, tmp_path) == []


def test_every_public_name_is_there_and_no_other(children: Children) -> None:
    out = children.run(
        """
        import memnb
        print(*[name for name in memnb.__all__ if getattr(memnb, name) is None])
        try:
            memnb.nothing_of_that_name
        except AttributeError as error:
            print(error)
        """
    )
    assert out == "\nmodule 'memnb' has no attribute 'nothing_of_that_name'\n"


def test_on_a_system_without_its_locks_importing_works_and_opening_says_so_in_a_line(
    children: Children, tmp_path: Path
) -> None:
    # The standard library and what memnb needs are loaded first: only memnb sees the other system.
    out = children.run(
        """
        import importlib, sys
        import apsw, asyncio, ctypes, importlib.metadata, platformdirs, subprocess, tomllib

        sys.modules["fcntl"] = None
        sys.platform = "win32"
        import memnb
        print("imported", memnb.__version__)
        from memnb.errors import MemnbError
        try:
            memory = memnb.open(sys.argv[1])
            memory.remember("We use tabs.")
        except MemnbError as error:
            print("told", len(str(error).splitlines()), type(error).__name__)
        """,
        tmp_path,
    )
    imported, told = out.splitlines()
    assert imported.startswith("imported ")
    assert told.startswith("told 1 ")
