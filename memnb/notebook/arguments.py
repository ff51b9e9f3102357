"""The line after a magic's name, taken apart: options and arguments first, then text as it is.

1. Free text begins at the first word that is neither an option nor an argument, and reaches to the
   end of the line with every quote, backslash, brace and question mark where it was typed.
2. `--` ends the options, so that a text may begin with a dash.
3. A value that holds spaces stands between quotes; nothing inside them is special.
4. Wrong input is one line that says what to type instead, and never repeats what was typed.
"""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from memnb.errors import InputError, UnknownVerb
from memnb.notebook.commands import AGENT, MEMORY, VERBS, Argument, Command, Option, usage
from memnb.notebook.dates import WANTED, read_date
from memnb.notebook.misplaced import require_no_option_behind, require_no_rest

__all__ = ["Arguments", "Value", "find_verb", "parse_agent", "parse_memory", "unquoted"]

Value: TypeAlias = str | int
"""A word (a date is one, too), or a whole number."""

_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_BLANK: Final = re.compile(r"\s*")
_WORD: Final = re.compile(r"\S+")
_OPTION_WORD: Final = re.compile(r"[^\s=]+")
_QUOTED: Final = re.compile(r"(?P<quote>[\"'])(?P<value>.*?)(?P=quote)(?=\s|\Z)", re.DOTALL)
_SEVERAL: Final = re.compile(r"([\"'])(?:(?!\1).)*(?!\1)\S\1\s(?:.*\s)?\1\S.*", re.DOTALL)
"""A text that begins with a quotation which ends before another one begins."""

_HELP: Final = frozenset({"?", "??", "-h", "--help"})
_VERBS: Final = {command.name: command for command in VERBS}
_MEANT: Final = {
    "add": "remember",
    "delete": "forget",
    "find": "search",
    "list": "facts",
    "ls": "facts",
    "model": "models",
    "remove": "forget",
    "rm": "forget",
    "save": "remember",
    "set": "config",
    "settings": "config",
    "update": "correct",
}
"""Words of other tools, and the verb that does the same here."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was typed after a magic's name.

    `given` holds the values of each option by its name, and of each argument by its label; a switch
    has none.
    """

    command: Command
    given: Mapping[str, tuple[Value, ...]]
    text: str = ""

    def has(self, name: str) -> bool:
        """Whether the option or argument was typed."""
        return name in self.given

    def word(self, name: str) -> str | None:
        """The word given for an option or argument; None without one."""
        values = self.given.get(name, ())
        return str(values[0]) if values else None

    def number(self, name: str) -> int | None:
        """The number given for an option or argument; None without one."""
        values = self.given.get(name, ())
        return int(values[0]) if values else None

    def ids(self, name: str) -> tuple[str, ...]:
        """The ids given for an option, with commas between them; none without one."""
        return tuple(one.strip() for one in (self.word(name) or "").split(",") if one.strip())

    def date(self, name: str, now: datetime) -> datetime | None:
        """The time given for an option or argument; None without one."""
        word = self.word(name)
        return None if word is None else read_date(word, now)


def parse_memory(line: str) -> Arguments:
    """What `%memory LINE` asks for; an empty line means `status`, `VERB?` means `help VERB`.

    Raises:
        UnknownVerb: no such verb or option. InputError: a value is missing, wrong or too much.
    """
    reader = _Reader(line)
    word = reader.word()
    if word is None:
        return Arguments(_VERBS["status"], {})
    if word in _HELP:
        return Arguments(_VERBS["help"], {})
    if word.endswith("?") and reader.is_at_end and word.rstrip("?") in _VERBS:
        return Arguments(_VERBS["help"], {"VERB": (word.rstrip("?"),)})
    return _parse(find_verb(word), reader)


def parse_agent(line: str, body: str | None = None) -> Arguments:
    """What `%agent LINE` asks, or `%%agent LINE` with the cell's body as its text.

    Raises:
        UnknownVerb: no such option. InputError: a value is missing or wrong, there is no text, or
            it stands on the line of %%agent.
    """
    parsed = _parse(AGENT, _Reader(line), text_follows=body is not None)
    if body is None:
        return parsed
    if parsed.text:
        raise InputError("write the message below the %%agent line; only options stand on it.")
    return Arguments(AGENT, parsed.given, body.removesuffix("\n"))


def find_verb(word: str) -> Command:
    """The verb of this name; raises UnknownVerb, which names the nearest."""
    if word in _VERBS:
        return _VERBS[word]
    hint = _did_you_mean(word, _VERBS)
    raise UnknownVerb(f"no such verb; {hint + ' ' if hint else ''}{MEMORY} help lists them.")


def unquoted(text: str) -> str:
    """`text` without the blanks around it, and without quotes that enclose all of it."""
    text = text.strip()
    quoted = _QUOTED.fullmatch(text)
    return quoted["value"] if quoted and not _SEVERAL.fullmatch(text) else text


class _Reader:
    """Reads words from the left; what is left is text."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._skip()

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._line)

    def peek(self) -> str:
        """The next word, up to a blank; "" at the end."""
        found = _WORD.match(self._line, self._at)
        return found.group() if found else ""

    def word(self) -> str | None:
        """The next word or quoted value; None at the end."""
        quoted = _QUOTED.match(self._line, self._at)
        if quoted is not None:
            self._move(quoted.end())
            return quoted["value"]
        if self.peek().startswith(('"', "'")):
            raise InputError("a quote was opened and not closed; close it before the next word.")
        found = _WORD.match(self._line, self._at)
        if found is None:
            return None
        self._move(found.end())
        return found.group()

    def option_word(self) -> tuple[str, bool]:
        """The next word up to an equals sign, and whether a value is glued to it by one."""
        found = _OPTION_WORD.match(self._line, self._at)
        if found is None:
            return "", False
        self._at = found.end()
        if self._line.startswith("=", self._at):
            self._at += 1
            return found.group(), True
        self._skip()
        return found.group(), False

    def rest(self) -> str:
        """All that is left, as it was typed."""
        rest, self._at = self._line[self._at :], len(self._line)
        return rest

    def _move(self, at: int) -> None:
        self._at = at
        self._skip()

    def _skip(self) -> None:
        blank = _BLANK.match(self._line, self._at)
        self._at = blank.end() if blank else self._at


def _parse(command: Command, reader: _Reader, *, text_follows: bool = False) -> Arguments:
    sub = command.subcommand(reader.peek())
    if sub is not None:
        reader.word()
        command = sub
    given: dict[str, tuple[Value, ...]] = {}
    waiting = list(command.arguments)
    options_end = False
    while not reader.is_at_end:
        if not options_end and reader.peek() == "--":
            reader.word()
            options_end = True
        elif not options_end and _is_option(command, reader.peek(), waiting):
            option, values = _read_option(command, reader, given)
            given[option.name] = values
        elif waiting:
            argument = _next_argument(waiting, reader.peek())
            word = reader.word() or ""
            require_no_rest(argument, word, reader.peek(), argument.label)
            given[argument.label] = (_value(argument, word, command),)
        elif command.text:
            break
        else:
            raise _wrong(command, _too_much(command, reader.peek()))
    missing = [argument.label for argument in waiting if argument.required]
    if command.text and command.text_required and reader.is_at_end and not text_follows:
        missing.append(command.text)
    if missing:
        raise _wrong(command, f"{command.name} needs {' '.join(missing)}")
    text = reader.rest()
    if not options_end and unquoted(text) == text.strip():
        require_no_option_behind(command, text)
    return Arguments(command, given, text)


def _next_argument(waiting: list[Argument], word: str) -> Argument:
    """Take the argument that a word is for."""
    argument = waiting.pop(0)
    return waiting.pop(0) if argument.skipped and word.startswith("F-") else argument


def _is_option(command: Command, word: str, waiting: Sequence[Argument]) -> bool:
    # Where no option can stand, a leading dash begins the text.
    return len(word) > 1 and word[0] == "-" and bool(command.options or waiting or not command.text)


def _read_option(
    command: Command, reader: _Reader, given: Mapping[str, object]
) -> tuple[Option, tuple[Value, ...]]:
    spelling, is_glued = reader.option_word()
    option = command.option(spelling)
    if option is None:
        raise UnknownVerb(_no_option(command, spelling))
    if option.name in given:
        raise _wrong(command, f"give {option.flag} once")
    if is_glued and not option.values:
        raise _wrong(command, f"{option.flag} takes no value")
    values = tuple(_option_value(command, option, value, reader) for value in option.values)
    return option, values


def _option_value(command: Command, option: Option, value: Argument, reader: _Reader) -> Value:
    word = None if command.option(reader.peek()) else reader.word()
    if word is None:
        raise _wrong(command, f"{option.flag} needs {_wanted(value)}")
    require_no_rest(value, word, reader.peek(), option.flag)
    return _value(value, word, command, option.flag)


def _value(argument: Argument, word: str, command: Command, name: str = "") -> Value:
    name = name or argument.label
    if argument.type == "number":
        low, high = argument.bounds
        if not _NUMBER.fullmatch(word) or not low <= int(word) <= high:
            raise _wrong(command, f"{name} must be {_wanted(argument)}")
        return int(word)
    if argument.type == "date":
        try:
            read_date(word, datetime(2026, 1, 1, tzinfo=UTC))
        except InputError:
            raise InputError(f"{name} must be {WANTED}.") from None
    if argument.type == "choice" and word not in argument.choices:
        hint = _did_you_mean(word, argument.choices)
        raise InputError(f"{name} must be {_wanted(argument)}" + (f"; {hint}" if hint else "."))
    if argument.type == "name" and (not word.isidentifier() or keyword.iskeyword(word)):
        raise InputError(f"{name} must be {_wanted(argument)}.")
    return word


def _wanted(argument: Argument) -> str:
    if argument.type == "number":
        low, high = argument.bounds
        return f"a whole number from {low}" + (f" to {high}" if high < 10**6 else "")
    if argument.type == "choice":
        return f"{', '.join(argument.choices[:-1])} or {argument.choices[-1]}"
    if argument.type == "name":
        return "a Python name, such as reply"
    if argument.type == "date":
        return WANTED
    return argument.label


def _too_much(command: Command, word: str) -> str:
    hint = _did_you_mean(word, [sub.name.split()[-1] for sub in command.subcommands])
    return f"{command.name} takes no such word; {hint}" if hint else f"{command.name} takes no more"


def _no_option(command: Command, spelling: str) -> str:
    flags = [option.flag for option in command.options]
    if not flags:
        return f"{command.name} takes no options. Type: {usage(command)}"
    if spelling in _HELP:
        return f"no such option; `{MEMORY} help {command.name.lstrip('%')}` lists them."
    takes = f"{command.name} takes {', '.join(flags)}."
    text = f"no such option; {_did_you_mean(spelling, flags) or takes}"
    return f"{text} To begin the text with a dash, write -- before it." if command.text else text


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    known = list(known)
    word = word.lower()
    meant = _MEANT.get(word)
    near = [meant] if meant in known else difflib.get_close_matches(word, known, n=2)
    likeness = [difflib.SequenceMatcher(None, name, word).ratio() for name in near]
    near = [name for name, ratio in zip(near, likeness, strict=True) if ratio > likeness[0] - 0.1]
    return f"did you mean {' or '.join(near)}?" if near else ""


def _wrong(command: Command, what: str) -> InputError:
    forms = " or ".join(usage(form) for form in (command, *command.subcommands))
    return InputError(f"{what}{'' if what.endswith('?') else '.'} Type: {forms}")
