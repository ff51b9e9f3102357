"""What each verb of %memory calls: one row a verb, no rule of memory in any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from memnb.api.memory import Memory
from memnb.api.rendering import Block, Line, Marked, Result
from memnb.core import note_names
from memnb.core.passages import SOURCE_NAMES
from memnb.errors import InputError, InvalidName
from memnb.memory.browsing import DEFAULT_N
from memnb.memory.matching import How
from memnb.memory.stating import Said
from memnb.notebook.arguments import Arguments, find_verb, unquoted
from memnb.notebook.commands import AGENT, help_text
from memnb.notebook.elsewhere import look_in_kernel
from memnb.notebook.names import AGENT_NAMES

__all__ = ["HANDLED", "run_verb"]

_FETCH: Final = "models fetch"
_SHOWN_HITS: Final = 10


class Progress(Protocol):
    """Shows how far a long verb is."""

    def fetched(self, done: int, total: int, what: str) -> None:
        """So many bytes of a file."""

    def looked(self, done: int, total: int, what: str) -> None:
        """So many exchanges of a session."""

    def indexed(self, done: int, total: int) -> None:
        """So many sessions that were new to the search index."""


Verb = Callable[[Memory, Arguments, Said], object]


class Help(Result):
    """The help text of all verbs, or of one."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def blocks(self) -> list[Block]:
        """The text as it is."""
        return [Marked(self.text)]


class Done(Result):
    """One line about what was done."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def blocks(self) -> list[Block]:
        """The line."""
        return [Line(self.text, strong=True)]


def run_verb(memory: Memory, arguments: Arguments, said: Said, progress: Progress) -> object:
    """Do what was typed; gives the verb's result.

    Args:
        memory: of the kernel.
        arguments: what was typed, taken apart.
        said: the command as typed, and from which cell.
        progress: shows how far it is.
    """
    if arguments.command.name == _FETCH:
        name = arguments.word("NAME") or ""
        source = arguments.word("from") or ""
        return memory.fetch_model(name, source=source, progress=progress.fetched)
    if arguments.command.name == "populate":
        return memory.populate(progress=progress.looked)
    if arguments.command.name == "backfill":
        since = arguments.date("since", memory.runtime.now())
        return memory.backfill(since=since, go=arguments.has("go"), progress=progress.looked)
    if arguments.command.name == "search":
        return _search(memory, arguments, progress)
    if arguments.command.name == "doctor":
        return _doctor(memory, arguments, progress)
    return _VERBS[arguments.command.name](memory, arguments, said)


def _help(_: Memory, arguments: Arguments, __: Said) -> Result:
    verb = arguments.word("VERB")
    if verb is None:
        return Help(help_text())
    return Help(help_text(AGENT if verb.lstrip("%") in AGENT_NAMES else find_verb(verb)))


def _facts(memory: Memory, arguments: Arguments, _: Said) -> Result:
    return memory.facts(
        kind=arguments.word("kind"),
        all=arguments.has("all"),
        at=arguments.date("at", memory.runtime.now()),
        offset=arguments.number("OFFSET") or 0,
    )


def _recall(memory: Memory, arguments: Arguments, _: Said) -> Result:
    return memory.recall(_word(arguments, "ID"), offset=arguments.number("OFFSET") or 0)


def _read(memory: Memory, arguments: Arguments, _: Said) -> Result:
    session_id, start = _word(arguments, "SESSION"), arguments.number("START")
    around, n = arguments.number("around"), arguments.number("n")
    if start is None:
        return memory.around(session_id, around, n=n or DEFAULT_N)
    if around is not None or n is not None:
        raise InputError("give START and END, or --around RECORD and --n N, not both.")
    end, offset = arguments.number("END"), arguments.number("OFFSET") or 0
    return memory.read(session_id, start, end, offset=offset)


def _search(memory: Memory, arguments: Arguments, progress: Progress) -> Result:
    text, now, where = unquoted(arguments.text), memory.runtime.now(), arguments.word("in")
    is_quoted = text != arguments.text.strip()
    how: How = "regex" if arguments.has("regex") else "literal"
    if arguments.has("regex") and arguments.has("literal"):
        raise InputError("give --literal or --regex, not both.")
    return memory.search(
        text,
        how=how if is_quoted or {"regex", "literal"} & arguments.given.keys() else "words",
        sources=tuple(SOURCE_NAMES) if where is None else (where,),
        limit=arguments.number("limit") or _SHOWN_HITS,
        since=arguments.date("since", now),
        until=arguments.date("until", now),
        progress=progress.indexed,
    )


def _doctor(memory: Memory, arguments: Arguments, progress: Progress) -> Result:
    return memory.doctor(
        accept=arguments.has("accept"),
        rekey=arguments.has("rekey"),
        repair=arguments.has("repair"),
        reindex=arguments.has("reindex"),
        progress=progress.indexed,
    )


def _remember(memory: Memory, arguments: Arguments, said: Said) -> Result:
    return memory.remember(
        unquoted(arguments.text),
        kind=arguments.word("kind") or "convention",
        valid_from=arguments.date("since", memory.runtime.now()),
        derived_from=arguments.ids("derived-from"),
        again=arguments.has("again"),
        said=said,
    )


def _correct(memory: Memory, arguments: Arguments, said: Said) -> Result:
    source = None
    if arguments.has("from"):
        session_id, start, end = arguments.given["from"]
        source = memory.source(str(session_id), int(start), int(end))
    return memory.correct(
        _word(arguments, "ID"),
        unquoted(arguments.text),
        revision=arguments.number("REVISION") or 0,
        source=source,
        valid_from=arguments.date("since", memory.runtime.now()),
        said=said,
    )


def _expire(memory: Memory, arguments: Arguments, said: Said) -> Result:
    now = memory.runtime.now()
    return memory.expire(_word(arguments, "ID"), arguments.date("DATE", now) or now, said=said)


def _forget(memory: Memory, arguments: Arguments, _: Said) -> Result:
    return memory.forget(
        _word(arguments, "ID"), dry_run=arguments.has("dry-run"), elsewhere=look_in_kernel
    )


def _purge(memory: Memory, arguments: Arguments, _: Said) -> Result:
    return memory.purge(
        arguments.word("SESSION"),
        arguments.number("START"),
        arguments.number("END"),
        confirm=arguments.word("confirm"),
    )


def _apply(memory: Memory, arguments: Arguments, said: Said) -> Result:
    return memory.apply(_word(arguments, "ID"), text=arguments.word("text"), said=said)


def _reject(memory: Memory, arguments: Arguments, _: Said) -> Result:
    ids = arguments.text.replace(",", " ").split()
    return memory.reject(*ids, all=arguments.has("all"))


def _new(memory: Memory, _: Arguments, __: Said) -> Result:
    ended = memory.new()
    before = f"; {ended} is ended" if ended else ""
    return Done(f"the next message begins a new session{before}")


def _resume(memory: Memory, arguments: Arguments, _: Said) -> Result:
    return Done(f"going on in {memory.resume(_word(arguments, 'SESSION'))}")


def _project(memory: Memory, arguments: Arguments, _: Said) -> Result:
    path = unquoted(arguments.text)
    return memory.move_to(path) if path else memory.where()


def _config(memory: Memory, arguments: Arguments, _: Said) -> Result:
    key, value = arguments.word("KEY"), arguments.text.strip()
    return memory.config(key, value or None)


def _log(memory: Memory, arguments: Arguments, _: Said) -> Result:
    word = arguments.word("DATE") or "today"
    if note_names.parse(word, today=memory.runtime.now().date()).kind != "daily":
        raise InvalidName("a daily note is named today, or by its day such as 2026-11-30.")
    return memory.notes.read(word)


def _why(memory: Memory, arguments: Arguments, _: Said) -> Result:
    turn, fact_id = arguments.number("TURN"), arguments.word("ID")
    return memory.why(turn) if fact_id is None else memory.why(turn, fact_id=fact_id)


def _word(arguments: Arguments, label: str) -> str:
    return arguments.word(label) or ""


_VERBS: Final[Mapping[str, Verb]] = {
    "status": lambda memory, _, __: memory.status(),
    "help": _help,
    "facts": _facts,
    "fact": lambda memory, given, _: memory.fact(_word(given, "ID")),
    "recall": _recall,
    "read": _read,
    "why": _why,
    "remember": _remember,
    "correct": _correct,
    "expire": _expire,
    "confirm": lambda memory, given, said: memory.confirm(_word(given, "ID"), said=said),
    "forget": _forget,
    "purge": _purge,
    "undo": lambda memory, _, __: memory.undo(),
    "redo": lambda memory, _, __: memory.redo(),
    "clear": lambda memory, _, __: memory.clear(),
    "show": lambda memory, _, __: memory.notes.show(),
    "edit": lambda memory, _, __: memory.notes.read(),
    "notes": lambda memory, _, __: memory.notes.names(),
    "note": lambda memory, given, _: memory.notes.read(_word(given, "NAME")),
    "log": _log,
    "scratchpad": lambda memory, _, __: memory.notes.read("scratchpad"),
    "sessions": lambda memory, given, _: memory.sessions(offset=given.number("OFFSET") or 0),
    "session": lambda memory, given, _: memory.session(_word(given, "SESSION")),
    "new": _new,
    "compact": lambda memory, given, _: memory.compact(rules=given.has("rules")),
    "handoff": lambda memory, given, _: memory.handoff(rules=given.has("rules")),
    "resume": _resume,
    "project": _project,
    "project attach": lambda memory, given, _: memory.attach(given.word("SLUG")),
    "project accept": lambda memory, _, __: memory.accept(),
    "project aside": lambda memory, _, __: memory.aside(),
    "config": _config,
    "on": lambda memory, _, __: memory.on(),
    "off": lambda memory, _, __: memory.off(),
    "models": lambda memory, _, __: memory.models(),
    "learn": lambda memory, given, _: memory.learn(given.word("MODE")),
    "review": lambda memory, _, __: memory.review(),
    "review apply": _apply,
    "review reject": _reject,
    "review undo": lambda memory, given, _: memory.unapply(_word(given, "ID")),
    "recent": lambda memory, _, __: memory.recent(),
    "conflicts": lambda memory, _, __: memory.conflicts(),
    "diagnostics": lambda memory, _, __: memory.diagnostics(),
    "preview": lambda memory, _, __: memory.preview(),
    "usage": lambda memory, given, _: memory.usage(all=given.has("all")),
}

HANDLED: Final = frozenset({*_VERBS, _FETCH, "populate", "backfill", "search", "doctor"})
"""Every verb that `run_verb` can do."""
