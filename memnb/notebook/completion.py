"""What may come next in a line of our magics: verbs, options, their values, ids and names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
)

from memnb.errors import MemnbError
from memnb.notebook.commands import (
    AGENT,
    VERBS,
    Argument,
    ArgumentType,
    Command,
)
from memnb.notebook.names import AGENT_NAMES, MEMORY_NAMES

__all__ = ["Candidates", "candidates", "complete"]

Candidates = Mapping[ArgumentType, Callable[[], Iterable[str]]]
"""What there is of each type: fact ids, session ids, note names, settings, models."""

_NAMES: Final = "|".join((*MEMORY_NAMES, *AGENT_NAMES))
_LINE: Final = re.compile(rf"\s*(?:[\w.,\[\]\"' ]+=\s*)?%(?P<name>{_NAMES})[ \t]+(?P<typed>.*)\Z")
_CELL: Final = re.compile(rf"\s*%%(?P<name>{'|'.join(AGENT_NAMES)})[ \t]+(?P<typed>.*)\Z")
_MAX_SHOWN: Final = 50


def complete(context: CompletionContext, known: Candidates) -> SimpleMatcherResult:
    """What may come next, for IPython; nothing when the line isn't one of ours."""
    found, fragment = _matches(context.text_until_cursor, context.cursor_line, known)
    return SimpleMatcherResult(
        completions=[SimpleCompletion(text, type="memnb") for text in found],
        matched_fragment=fragment,
        suppress=bool(found),
        ordered=True,
    )


def candidates(name: str, typed: str, known: Candidates) -> tuple[list[str], str]:
    """What may complete the last word of `typed`, which stands after the magic `name`.

    Returns:
        The whole words, and how much of one was typed.
    """
    words, last = _words(typed)
    if name in AGENT_NAMES:
        command = AGENT
    else:
        if not words:
            return _beginning([verb.name for verb in VERBS], last), last
        verb = next((verb for verb in VERBS if verb.name == words[0]), None)
        if verb is None:
            return [], last
        command, words = verb, words[1:]
    return _following(command, words, last, known)


def _following(
    command: Command, words: Sequence[str], last: str, known: Candidates
) -> tuple[list[str], str]:
    if words and (sub := command.subcommand(words[0])) is not None:
        return _following(sub, words[1:], last, known)
    place = _Place(command)
    for word in words:
        place.take(word)
    if place.is_text:
        return [], last
    flag, equals, value = last.partition("=")
    if equals and (option := command.option(flag)) is not None and option.values:
        return _listed(option.values[0], value, known)
    if place.values:
        return _listed(place.values[0], last, known)
    flags = [option.flag for option in command.options if option.name not in place.given]
    if last.startswith("-"):
        return _beginning(flags, last), last
    words_next = [] if words else [sub.name.split()[-1] for sub in command.subcommands]
    skipped = [argument for argument in place.arguments[:1] if argument.skipped]
    for argument in place.arguments[: 1 + len(skipped)]:
        words_next += _values(argument, known)
    return _beginning(words_next + ([] if last else flags), last), last


def _listed(argument: Argument, typed: str, known: Candidates) -> tuple[list[str], str]:
    """Values of an option; of ids, which may be several, those that aren't named yet."""
    *named, last = typed.split(",") if argument.type == "fact" else [typed]
    values = [value for value in _values(argument, known) if value not in named]
    return _beginning(values, last), last


class _Place:
    """Where in a command the words so far lead to."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self.arguments = list(command.arguments)
        self.values: list[Argument] = []
        self.given: set[str] = set()
        self.is_text = False

    def take(self, word: str) -> None:
        if self.is_text:
            return
        if self.values:
            self.values.pop(0)
            return
        option = self._command.option(word.partition("=")[0])
        if option is not None:
            self.given.add(option.name)
            self.values = list(option.values[1:] if "=" in word else option.values)
        elif self.arguments:
            is_skipped = self.arguments[0].skipped and word.startswith("F-")
            del self.arguments[: 1 + is_skipped]
        else:
            self.is_text = True


def _values(argument: Argument, known: Candidates) -> list[str]:
    if argument.type == "choice":
        return list(argument.choices)
    if argument.type == "verb":
        return [verb.name for verb in VERBS]
    source = known.get(argument.type)
    if source is None:
        return []
    try:
        return list(source())
    except MemnbError:
        return []  # a store that can't be read is reported when it is used, not while typing


def _beginning(words: Iterable[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed)][:_MAX_SHOWN]


def _words(typed: str) -> tuple[list[str], str]:
    """The finished words, and the one that is being typed."""
    words = re.split(r"[ \t]+", typed.lstrip())
    return words[:-1], words[-1]


def _matches(line: str, line_number: int, known: Candidates) -> tuple[list[str], str]:
    found = _LINE.match(line) or (_CELL.match(line) if line_number == 0 else None)
    if found is None:
        return [], ""
    return candidates(found["name"], found["typed"], known)
