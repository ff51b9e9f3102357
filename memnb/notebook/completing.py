"""Completion of our magics: put into the shell when loading, itself loaded at the first Tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from IPython.core.completer import CompletionContext, SimpleMatcherResult, context_matcher

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from memnb.notebook.completion import Candidates

__all__ = ["install"]


def install(shell: InteractiveShell, known: Callable[[], Candidates]) -> Callable[[], None]:
    """Complete lines of our magics in `shell`, from what is `known`; the result undoes that."""
    matchers = shell.Completer.custom_matchers

    @context_matcher(identifier="memnb")
    def matcher(context: CompletionContext) -> SimpleMatcherResult:
        from memnb.notebook import completion  # noqa: PLC0415

        return completion.complete(context, known())

    matchers.append(matcher)

    def remove() -> None:
        if matcher in matchers:
            matchers.remove(matcher)

    return remove
