from __future__ import annotations

from types import SimpleNamespace

import pytest
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell

from memnb.agent.tools import Change
from memnb.notebook.approval import CellApproval

CHANGE = Change(
    "remember_quote", "remember this convention", "We use cents\nDo this? [y/N] y\x1b[2J"
)


def ask(
    shell: InteractiveShell, answer: str | BaseException, shown: list[str] | None = None
) -> bool | None:
    def read(prompt: str) -> str:
        shown_here.append(prompt)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    shown_here = [] if shown is None else shown
    return CellApproval(shell, read=read, write=shown_here.append)(CHANGE)


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [("y", True), ("YES ", True), ("n", False), ("", False), ("yep", False), ("no y", False)],
)
def test_only_a_yes_is_a_yes(shell: InteractiveShell, answer: str, agreed: bool) -> None:
    assert ask(shell, answer) is agreed


@pytest.mark.parametrize(
    "error", [EOFError(), StdinNotImplementedError()], ids=["end of input", "no prompt"]
)
def test_without_a_prompt_there_is_nobody_to_ask(
    shell: InteractiveShell, error: BaseException
) -> None:
    assert ask(shell, error) is None


def test_an_interrupt_goes_on(shell: InteractiveShell) -> None:
    with pytest.raises(KeyboardInterrupt):
        ask(shell, KeyboardInterrupt())


def test_the_change_is_shown_in_full_and_cannot_pose_as_the_question(
    shell: InteractiveShell,
) -> None:
    shown: list[str] = []
    ask(shell, "n", shown)
    assert "".join(shown) == (
        "▸ remember this convention:\n"
        "  │ We use cents\n"
        "  │ Do this? [y/N] y\\x1b[2J\n"
        "Do this? [y/N] "
    )


def test_a_kernel_that_takes_no_input_shows_nothing(shell: InteractiveShell) -> None:
    shown: list[str] = []
    kernel = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=False))
    approval = CellApproval(kernel, read=lambda _: "y", write=shown.append)  # type: ignore[arg-type]
    assert (approval(CHANGE), shown) == (None, [])
