"""What can be typed: each verb and option once, in the tables that parsing, help and docs use.

A verb is listed when it works.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from memnb.core.facts import KINDS
from memnb.core.passages import SOURCE_NAMES
from memnb.core.permissions import Mode
from memnb.core.setting_table import LearningMode

__all__ = [
    "AGENT",
    "GROUPS",
    "MEMORY",
    "VERBS",
    "Argument",
    "ArgumentType",
    "Command",
    "Group",
    "Option",
    "help_text",
    "usage",
]

ArgumentType = Literal[
    "word",
    "number",
    "date",
    "choice",
    "name",
    "fact",
    "candidate",
    "learned",
    "session",
    "note",
    "setting",
    "model",
    "verb",
]
"""What a value is: a choice of its `choices`, a date, a Python name, an id, a whole number, else a
word."""

Group = Literal["look", "change", "notes", "sessions", "settings", "learn", "operate"]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)

MEMORY: Final = "%memory"
"""What the magics are registered as."""


_FIRST: Final = 30
_COLUMNS: Final = 80
"""How wide the first column of help may be, and all of it: what a terminal shows in a line."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One value, as it is called in a usage line; numbers are within `bounds`, inclusive.

    A number that is `skipped` needn't be there for the id that follows it.
    """

    label: str
    type: ArgumentType = "word"
    required: bool = True
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 999_999_999)
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """One option; without values it is a switch."""

    name: str
    help: str
    values: tuple[Argument, ...] = ()
    short: str = ""

    @property
    def flag(self) -> str:
        """How it is typed in full."""
        return f"--{self.name}"

    @property
    def spellings(self) -> tuple[str, ...]:
        """How it can be typed."""
        return (self.flag, f"-{self.short}") if self.short else (self.flag,)


@dataclass(frozen=True, slots=True)
class Command:
    """What may follow a verb: options, then arguments, then free text up to the end of the line.

    Args:
        name: the verb, or a verb and what follows it, such as `project attach`.
        help: one line.
        arguments: in order; those that may be left out come last.
        options: may stand anywhere before the free text.
        text: what the free text is called in the usage line; "" = there is none.
        text_required: whether it may be left out.
        subcommands: words that make another command of it.
    """

    name: str
    help: str
    group: Group = "look"
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    text: str = ""
    text_required: bool = True
    subcommands: tuple[Command, ...] = ()

    @property
    def typed(self) -> str:
        """The command as it is typed, without what follows it."""
        return self.name if self.name.startswith("%") else f"{MEMORY} {self.name}"

    def option(self, spelling: str) -> Option | None:
        """The option that is typed so; None when there is none."""
        return next((option for option in self.options if spelling in option.spellings), None)

    def subcommand(self, word: str) -> Command | None:
        """The command that `word` makes of it; None when it makes none."""
        return next((sub for sub in self.subcommands if sub.name.split()[-1] == word), None)


_MANY: Final = 999_999_999
_MANY_OPTIONS: Final = 4
"""With more, a usage line says that there are options and help lists them."""
_FACT: Final = Argument("ID", "fact")
_CANDIDATE: Final = Argument("ID", "candidate")
_OFFSET: Final = Argument("OFFSET", "number", required=False)
_SESSION: Final = Argument("SESSION", "session")
_START: Final = Argument("START", "number", bounds=(1, _MANY))
_END: Final = Argument("END", "number", bounds=(1, _MANY))
_SOURCE: Final = Argument("SOURCE", "choice", choices=tuple(SOURCE_NAMES))
_RECORD: Final = Argument("RECORD", "number", bounds=(1, _MANY))
_DATE: Final = Argument("DATE", "date")
_SINCE: Final = Option("since", "since when it is so; before that it wasn't", (_DATE,))
_KIND: Final = Option("kind", "which kind of fact", (Argument("KIND", "choice", choices=KINDS),))

_RULES: Final = Option("rules", "without a model: what rules find that must survive")

VERBS: Final[tuple[Command, ...]] = (
    Command("status", "where memory stands: project, facts, model, session"),
    Command(
        "help",
        "all verbs, or one",
        arguments=(Argument("VERB", "verb", required=False),),
    ),
    Command(
        "facts",
        "what is remembered",
        arguments=(_OFFSET,),
        options=(
            Option("all", "also what is over, not yet so, hidden or in dispute"),
            Option("at", "what held then", (_DATE,)),
            _KIND,
        ),
    ),
    Command("fact", "one fact: its history and the words it came from", arguments=(_FACT,)),
    Command("recall", "a fact's text and source, a page at a time", arguments=(_FACT, _OFFSET)),
    Command(
        "read",
        "what was said in a session: around a record, its end, or records as they were",
        arguments=(
            _SESSION,
            replace(_START, required=False),
            replace(_END, required=False),
            _OFFSET,
        ),
        options=(
            Option("around", "the messages around this record", (_RECORD,)),
            Option("n", "how many messages", (Argument("N", "number", bounds=(1, 20)),)),
        ),
    ),
    Command(
        "search",
        "facts, notes and what was said that fit these words",
        options=(
            Option("literal", "exactly this text, also within words; or put it in quotes"),
            Option("regex", "a regular expression; takes time that is linear in the text"),
            Option("in", "where to look", (_SOURCE,)),
            Option("since", "what was recorded from then on", (_DATE,)),
            Option("until", "what was recorded before", (_DATE,)),
            Option("limit", "how many places", (Argument("N", "number", bounds=(1, 50)),)),
        ),
        text="WORDS",
    ),
    Command(
        "why",
        "what a turn was given from memory, and what was left out; or one fact's part in it",
        arguments=(
            Argument("TURN", "number", required=False, bounds=(1, _MANY), skipped=True),
            replace(_FACT, required=False),
        ),
    ),
    Command(
        "remember",
        "keep this text as a fact, in your words",
        "change",
        options=(
            _KIND,
            _SINCE,
            Option("derived-from", "facts that it rests on, with commas between", (_FACT,)),
            Option("again", "also if it was forgotten before"),
        ),
        text="TEXT",
    ),
    Command(
        "correct",
        "replace a fact's text; REVISION is its newest one",
        "change",
        arguments=(_FACT, Argument("REVISION", "number", bounds=(1, _MANY))),
        options=(
            Option("from", "the records that say so", (_SESSION, _START, _END)),
            Option("since", "since when it is so; before that the old text holds", (_DATE,)),
        ),
        text="TEXT",
    ),
    Command(
        "expire",
        "end a fact on a day, without forgetting it",
        "change",
        arguments=(_FACT, _DATE),
    ),
    Command("confirm", "say that a fact that is held is still so", "change", arguments=(_FACT,)),
    Command(
        "forget",
        "remove a fact with its sources, for good",
        "change",
        arguments=(_FACT,),
        options=(Option("dry-run", "change nothing, and say what it would do"),),
    ),
    Command(
        "purge",
        "blank what was forgotten in the sessions; shows first what that is",
        "change",
        arguments=(
            Argument("SESSION", "session", required=False),
            Argument("START", "number", required=False, bounds=(1, _MANY)),
            Argument("END", "number", required=False, bounds=(1, _MANY)),
        ),
        options=(Option("confirm", "do what a preview showed", (Argument("TOKEN"),)),),
    ),
    Command("undo", "hide the last exchange", "change"),
    Command("redo", "show it again, until the next message", "change"),
    Command("clear", "start from an empty conversation; facts stay", "change"),
    Command("show", "MEMORY.md", "notes"),
    Command("edit", "where MEMORY.md is, and all of its text", "notes"),
    Command("notes", "the names of the notes", "notes"),
    Command("note", "one note", "notes", arguments=(Argument("NAME", "note"),)),
    Command(
        "log",
        "a daily note; today's without a date",
        "notes",
        arguments=(Argument("DATE", required=False),),
    ),
    Command("scratchpad", "the scratchpad", "notes"),
    Command("sessions", "the newest sessions", "sessions", arguments=(_OFFSET,)),
    Command("session", "the records of a session", "sessions", arguments=(_SESSION,)),
    Command("new", "begin a new session", "sessions"),
    Command(
        "compact",
        "summarise all but the last messages of this session, now",
        "sessions",
        options=(_RULES,),
    ),
    Command(
        "handoff",
        "begin a new session that goes on from a summary of this one",
        "sessions",
        options=(_RULES,),
    ),
    Command("resume", "go on with an earlier session", "sessions", arguments=(_SESSION,)),
    Command(
        "project",
        "which project this is, or another folder's",
        "settings",
        text="PATH",
        text_required=False,
        subcommands=(
            Command(
                "project attach",
                "take over the memory of a project that moved",
                "settings",
                arguments=(Argument("SLUG", required=False),),
            ),
            Command(
                "project accept", "keep this memory although the repository changed", "settings"
            ),
            Command(
                "project aside", "put this memory away and begin anew in this folder", "settings"
            ),
        ),
    ),
    Command(
        "config",
        "the settings, one of them, or a new value for this kernel",
        "settings",
        arguments=(Argument("KEY", "setting", required=False),),
        text="VALUE",
        text_required=False,
    ),
    Command("on", "read and write memory again", "settings"),
    Command("off", "neither read nor write memory in this kernel", "settings"),
    Command(
        "models",
        "the models there are",
        "settings",
        subcommands=(
            Command(
                "models fetch",
                "get a local model",
                "settings",
                arguments=(Argument("NAME", "model"),),
                options=(Option("from", "where from", (Argument("hub|packages|FILE"),)),),
            ),
        ),
    ),
    Command(
        "learn",
        "what is learned from conversations: nothing, what you review, or what is sure",
        "learn",
        arguments=(Argument("MODE", "choice", required=False, choices=get_args(LearningMode)),),
    ),
    Command("populate", "look through this session now for what may be learned", "learn"),
    Command(
        "backfill",
        "earlier sessions that were never looked through: what it takes, or do it",
        "learn",
        options=(
            Option("since", "sessions from then on, also while learning was off", (_DATE,)),
            Option("go", "look through them"),
        ),
    ),
    Command(
        "review",
        "what was found in conversations and waits for you",
        "learn",
        subcommands=(
            Command(
                "review apply",
                "keep it as a fact",
                "learn",
                arguments=(_CANDIDATE,),
                options=(Option("text", "in your own words; quote them", (Argument("TEXT"),)),),
            ),
            Command(
                "review reject",
                "refuse it, with its text; it isn't proposed again",
                "learn",
                options=(Option("all", "everything that waits"),),
                text="IDS",
                text_required=False,
            ),
            Command(
                "review undo",
                "take back what was learned",
                "learn",
                arguments=(Argument("ID", "learned"),),
            ),
        ),
    ),
    Command("recent", "what was learned lately, and by what", "learn"),
    Command("conflicts", "facts that contradict each other, side by side", "learn"),
    Command("diagnostics", "what each run of learning came to, and why", "learn"),
    Command(
        "preview", "exactly what would be sent to learn from or summarise this session", "learn"
    ),
    Command(
        "usage",
        "tokens and costs, by what they were for",
        "learn",
        options=(Option("all", "of all sessions"),),
    ),
    Command(
        "doctor",
        "look the memory over: what is right, mended or wrong, and how to go on",
        "operate",
        options=(
            Option("accept", "take the store as it is for the newest, after restoring a backup"),
            Option("rekey", "sign with this machine's key what its evidence bears out"),
            Option("repair", "put what can be read of a damaged database into a new one"),
            Option("reindex", "build the search index anew"),
        ),
    ),
)
"""The verbs of %memory, in the order in which help lists them."""

AGENT: Final = Command(
    "%agent",
    "ask the agent; a longer message goes below %%agent",
    options=(
        Option("model", "who answers", (Argument("NAME", "model"),), short="m"),
        Option(
            "mode",
            "what the agent may change",
            (Argument("MODE", "choice", choices=get_args(Mode)),),
        ),
        Option("system", "what to tell the model first; quote it", (Argument("TEXT"),)),
        Option("no-memory", "neither read nor write memory"),
        Option("private", "record nothing of this turn"),
        Option(
            "without",
            "a probe: answer as if these facts weren't known, with commas between",
            (_FACT,),
        ),
        Option("new", "begin a new session first"),
        Option(
            "max-steps", "most requests to the model", (Argument("N", "number", bounds=(1, 50)),)
        ),
        Option("no-stream", "show the answer once, when it is complete"),
        Option("output", "the name to give the reply", (Argument("NAME", "name"),), short="o"),
    ),
    text="TEXT",
)
"""%agent and %%agent; below %%agent the text is the cell's body."""


def usage(command: Command) -> str:
    """How a command is typed, such as `%memory facts [OFFSET] [--all] [--kind KIND]`."""
    return " ".join([command.typed, *_pieces(command)])


def help_text(command: Command | None = None) -> str:
    """All verbs, or one with its options; the first line says what memory is meant."""
    if command is None:
        lines = ["agent memory: what the agent of this project remembers"]
        for group in GROUPS:
            lines += ["", group, *_aligned(_rows(group))]
        lines += ["", f"{MEMORY} help VERB tells more · %agent TEXT and %%agent ask the agent"]
        lines += [f"{MEMORY} help agent lists their options"]
        return "\n".join(lines)
    lines = [f"agent memory: {command.help}", ""]
    lines += [usage(form) for form in (command, *command.subcommands)]
    options = [
        (_option_usage(option), _option_help(option))
        for form in (command, *command.subcommands)
        for option in form.options
    ]
    if options:
        lines += ["", *_aligned(options)]
    if command.text:
        lines += ["", "Options come first; the text after them is taken as it is typed."]
    return "\n".join(lines)


def _pieces(command: Command) -> Iterator[str]:
    required = [argument.label for argument in command.arguments if argument.required]
    skipped = [argument.label for argument in command.arguments if argument.skipped]
    optional = [
        argument.label
        for argument in command.arguments
        if not argument.required and not argument.skipped
    ]
    yield from required
    if len(command.options) > _MANY_OPTIONS:
        yield "[OPTIONS]"
    else:
        yield from (f"[{_option_usage(option)}]" for option in command.options)
    yield from (f"[{label}]" for label in skipped)
    if command.text and command.text_required:
        optional.append(command.text)
        yield " ".join(optional)
    elif optional or command.text:
        optional += [command.text] if command.text else []
        yield " [".join(["", *optional]).strip() + "]" * len(optional)


def _option_usage(option: Option) -> str:
    return " ".join(["/".join(reversed(option.spellings)), *(v.label for v in option.values)])


def _option_help(option: Option) -> str:
    choices = [value.choices for value in option.values if value.choices]
    return f"{option.help}: {', '.join(choices[0])}" if choices else option.help


def _rows(group: Group) -> list[tuple[str, str]]:
    return [
        (usage(form).removeprefix(f"{MEMORY} "), form.help)
        for command in VERBS
        if command.group == group
        for form in (command, *command.subcommands)
    ]


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    """Two columns of text; what is too long for the first has a line of its own."""
    width = min(_FIRST, max(len(left) for left, _ in rows))
    lines = []
    for left, right in rows:
        first, *more = textwrap.wrap(right, _COLUMNS - width - 4)
        lines += [f"  {left:<{width}}  {first}"] if len(left) <= width else [f"  {left}"]
        more = more if len(left) <= width else [first, *more]
        lines += [f"{' ' * (width + 4)}{line}" for line in more]
    return lines
