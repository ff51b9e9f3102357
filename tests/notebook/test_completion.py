from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from memnb.errors import StoreBusy
from memnb.notebook.commands import VERBS
from memnb.notebook.completing import install
from memnb.notebook.completion import Candidates

FACTS = ["F-1b8hyr", "F-7k2m9q"]
KNOWN: Candidates = {
    "fact": lambda: FACTS,
    "session": lambda: ["S-20261130-091005-7k2m9q"],
    "note": lambda: ["MEMORY", "data-plan"],
    "setting": lambda: ["agent.mode", "agent.model"],
    "model": lambda: ["local/small", "openai/large"],
}


@pytest.fixture
def completing(shell: InteractiveShell) -> Iterator[InteractiveShell]:
    shell.user_ns["prefer"] = 1
    remove = install(shell, lambda: KNOWN)
    yield shell
    remove()


def complete(shell: InteractiveShell, text: str) -> list[str]:
    """The lines that completing `text` at its end would give."""
    with provisionalcompleter():
        found = list(shell.Completer.completions(text, len(text)))
    return [text[: completion.start] + completion.text for completion in found]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("%memory rem", ["%memory remember"]),
        ("%mem pro", ["%mem project"]),
        ("x = %memory fac", ["x = %memory facts", "x = %memory fact"]),
        ("%memory facts --", [
            "%memory facts --all", "%memory facts --at", "%memory facts --kind"]),
        ("%memory facts --all --", ["%memory facts --all --at", "%memory facts --all --kind"]),
        ("%memory confirm F-1", ["%memory confirm F-1b8hyr"]),
        ("%memory expire F-7", ["%memory expire F-7k2m9q"]),
        ("%memory remember --derived-from F-1", ["%memory remember --derived-from F-1b8hyr"]),
        ("%memory remember --derived-from F-1b8hyr,F-", [
            "%memory remember --derived-from F-1b8hyr,F-7k2m9q"]),
        ("%agent --without F-1", ["%agent --without F-1b8hyr"]),
        ("%%agent --without=F-1b8hyr,", ["%%agent --without=F-1b8hyr,F-7k2m9q"]),
        ("%memory facts --kind p", ["%memory facts --kind preference"]),
        ("%memory facts --kind=d", ["%memory facts --kind=decision"]),
        ("%memory forget ", ["%memory forget F-1b8hyr", "%memory forget F-7k2m9q",
                             "%memory forget --dry-run"]),
        ("%memory forget F-7", ["%memory forget F-7k2m9q"]),
        ("%memory why F-7", ["%memory why F-7k2m9q"]),
        ("%memory why 3 F-7", ["%memory why 3 F-7k2m9q"]),
        ("%memory search --in ", [
            "%memory search --in facts", "%memory search --in notes",
            "%memory search --in messages", "%memory search --in summaries"]),
        ("%memory search --re", ["%memory search --regex"]),
        ("%memory read S-", ["%memory read S-20261130-091005-7k2m9q"]),
        ("%memory read S-20261130-091005-7k2m9q --a", [
            "%memory read S-20261130-091005-7k2m9q --around"]),
        ("%memory resume S-", ["%memory resume S-20261130-091005-7k2m9q"]),
        ("%memory correct F-7k2m9q 1 --from S", [
            "%memory correct F-7k2m9q 1 --from S-20261130-091005-7k2m9q"]),
        ("%memory note da", ["%memory note data-plan"]),
        ("%memory config agent.mo", ["%memory config agent.mode", "%memory config agent.model"]),
        ("%memory help forg", ["%memory help forget"]),
        ("%memory project a", [
            "%memory project attach", "%memory project accept", "%memory project aside"]),
        ("%memory models fetch l", ["%memory models fetch local/small"]),
        ("%agent --mode r", ["%agent --mode readonly"]),
        ("%agent -m o", ["%agent -m openai/large"]),
        ("%%agent --no-", ["%%agent --no-memory", "%%agent --no-stream"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_line_is_completed(
    completing: InteractiveShell, typed: str, completed: list[str]
) -> None:
    assert complete(completing, typed) == completed


def test_every_verb_is_offered(completing: InteractiveShell) -> None:
    offered = complete(completing, "%memory ")
    assert offered == [f"%memory {verb.name}" for verb in VERBS]


@pytest.mark.parametrize(
    "typed",
    [
        "%memory remember pref",
        "%agent explain pref",
        "%agent --private pref",
        "pref",
        "%%agent\npref",
        "%memory\npref",
    ],
)
def test_text_and_code_are_completed_by_ipython_alone(
    completing: InteractiveShell, typed: str
) -> None:
    offered = complete(completing, typed)
    assert all("preference" not in line for line in offered)
    assert complete(completing, "pref") == ["prefer"]


def test_a_store_that_cannot_be_read_offers_nothing_and_says_nothing(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    def busy() -> list[str]:
        raise StoreBusy("held", holder="other")

    install(shell, lambda: {"fact": busy})
    assert [line for line in complete(shell, "%memory forget F-") if "F-1" in line] == []
    assert "StoreBusy" not in "".join(capsys.readouterr())


def test_removing_leaves_the_completer_as_it_was(shell: InteractiveShell) -> None:
    remove = install(shell, lambda: KNOWN)
    remove()
    remove()
    assert shell.Completer.custom_matchers == []
