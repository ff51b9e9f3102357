from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import no_var_expand

from memnb.notebook.verbatim import VerbatimMagics, install

NAMES = ("agent", "memory", "mem")


class Seen:
    """What reached the magics."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def __call__(self, name: str, *texts: str) -> str:
        self.calls.append((name, *texts))
        return name


@pytest.fixture
def seen(shell: InteractiveShell) -> Iterator[Seen]:
    calls = Seen()

    def line_magic(name: str) -> None:
        @no_var_expand
        def magic(line: str) -> str:
            return calls(name, line)

        shell.register_magic_function(magic, "line", name)

    for name in NAMES:
        line_magic(name)

    @no_var_expand
    def cell(line: str, body: str) -> str:
        return calls("%%agent", line, body)

    shell.register_magic_function(cell, "cell", "agent")
    remove = install(shell, NAMES)
    yield calls
    remove()


TEXTS = [
    "what is np.*load?",
    "why??",
    "is it $HOME or {x} or {{x}}?",
    "don't stop",
    'say """hello',
    "f(x) = [1, 2",
    r"a \frac{1}{2} b",
    "# not a comment?",
    "x = y?",
    "%memory",
    "!ls; %%agent?",
    "-- -5?",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_line_reaches_its_magic_as_it_was_typed(
    shell: InteractiveShell, seen: Seen, text: str
) -> None:
    shell.run_cell(f"x = 1\n%agent {text}\ny = 2\n%memory remember {text}\nz = 3")
    assert seen.calls == [("agent", text), ("memory", f"remember {text}")]
    assert (shell.user_ns["y"], shell.user_ns["z"]) == (2, 3)


@pytest.mark.parametrize("text", TEXTS)
def test_what_a_magic_gives_can_be_assigned(shell: InteractiveShell, seen: Seen, text: str) -> None:
    shell.run_cell(f"d = {{}}\nd['x'] = %agent {text}\ny = 2")
    assert seen.calls == [("agent", text)]
    assert (shell.user_ns["d"], shell.user_ns["y"]) == ({"x": "agent"}, 2)


def test_a_magic_inside_a_block_is_found(shell: InteractiveShell, seen: Seen) -> None:
    shell.run_cell("for n in range(2):\n    if n:\n        %mem facts?\n    d = {'a': 1}\n")
    assert seen.calls == [("mem", "facts?")]


BODIES = [
    "What is this?\n",
    ">>> x = 1\n... y\nIn [1]: z\n",
    "    indented\n  less\n",
    "%memory facts?\n!ls\n%%agent\n",
    "\n\nblank lines\n\n",
    "{{x}} {x} $x \\\n'''\n",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("before", ["", "\n \n"])
def test_a_body_reaches_the_cell_magic_as_it_was_typed(
    shell: InteractiveShell, seen: Seen, body: str, before: str
) -> None:
    shell.run_cell(f"{before}%%agent --mode auto $x {{x}}?\n{body}")
    assert seen.calls == [("%%agent", "--mode auto $x {x}?", body)]


def test_a_backslash_at_the_end_goes_on_in_the_next_line(
    shell: InteractiveShell, seen: Seen
) -> None:
    shell.run_cell("%agent one \\\ntwo?\nx = 1")
    assert seen.calls == [("agent", "one  two?")]


@pytest.mark.parametrize(
    "cell",
    [
        "%memory?",
        "%agent??",
        "%%agent?",
        "?%memory",
        "memory?",
        "%memory_usage x?",
        's = """\n%agent hi?\n"""',
        "x = 5 % agent",
        "f(\n%agent\n)",
        "%%capture\n%agent what?",
        "%%writefile x\n%memory what?",
        "# %agent what?",
        "",
        "\n",
    ],
)
def test_everything_else_is_left_to_ipython(cell: str) -> None:
    lines = cell.splitlines(keepends=True)
    assert VerbatimMagics(NAMES)(lines) is lines


def test_the_body_of_another_cell_magic_is_run_with_ours(
    shell: InteractiveShell, seen: Seen
) -> None:
    shell.run_cell("%%capture\n%agent what?")
    assert seen.calls == [("agent", "what?")]


def test_help_on_a_magic_stays_help(
    shell: InteractiveShell, seen: Seen, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("%memory?")
    assert seen.calls == []
    assert "not found" not in capsys.readouterr().out


def test_a_cell_is_not_complete_before_its_body_is_typed(
    shell: InteractiveShell, seen: Seen
) -> None:
    manager = shell.input_transformer_manager
    assert manager.check_complete("%%agent\n")[0] == "incomplete"
    assert manager.check_complete("%agent what?")[0] == "complete"


def test_removing_leaves_ipython_as_it_was(shell: InteractiveShell) -> None:
    before = list(shell.input_transformers_cleanup)
    remove = install(shell, NAMES)
    assert len(shell.input_transformers_cleanup) == len(before) + 1
    remove()
    remove()
    assert shell.input_transformers_cleanup == before
