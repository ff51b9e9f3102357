"""The magics: what a person types, handed to the verbs and to the agent."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.display import display

from memnb.agent.own_tools import registered
from memnb.agent.reply import Answer
from memnb.api.memory import Memory
from memnb.api.rendering import Result
from memnb.api.session_results import Reply
from memnb.core.bodies import Cell, Via
from memnb.core.escaping import escape_terminal
from memnb.core.messages import Cancel, Model, Notice
from memnb.core.permissions import Mode
from memnb.errors import ConfigError, GenerationChanged
from memnb.memory.stating import Said
from memnb.notebook.after_cells import AfterCells
from memnb.notebook.approval import CellApproval
from memnb.notebook.arguments import Arguments, parse_agent, parse_memory
from memnb.notebook.cells import front_end_runs, running_cell, takes_input
from memnb.notebook.footer import MARK
from memnb.notebook.kernel_tools import KernelTools
from memnb.notebook.live_display import turn_display
from memnb.notebook.variables import message_parts
from memnb.notebook.verbs import run_verb
from memnb.speaking import in_tool_call
from memnb.storage.notebook_location import notebook_path

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["KernelMagics", "Stopped"]

_QUIET_SECONDS = 2.0
"""How long a search says nothing of what it waits for."""


class Stopped(KeyboardInterrupt):
    """A person stopped the turn: cells that wait don't run, and there is nothing to explain."""

    def _render_traceback_(self) -> list[str]:
        return []


class KernelMagics:
    """`%memory`, `%agent` and `%%agent` over one memory."""

    def __init__(self, shell: InteractiveShell, memory: Memory) -> None:
        """Run in `shell`, over `memory`."""
        self._shell = shell
        self._memory = memory
        self._not_shown: list[Result] = []
        self._learning = AfterCells(self._learn)
        self._catching_up = AfterCells(self._catch_up)
        self._cell_runs = False
        self._said: Answer | None = None  # what is yet to be looked at

    @property
    def memory_object(self) -> Memory:
        """The memory that the magics are over."""
        return self._memory

    def memory(self, line: str) -> object:
        """`%memory VERB …`: gives the verb's result, which the cell shows."""
        self._tell()
        text = line.strip()
        said = Said(text, via="command" if self._is_person() else "api", cell=self._cell())
        shown = _Shown(self._memory.runtime.seconds)
        result = run_verb(self._memory, parse_memory(line), said, shown)
        if isinstance(result, Result):
            self._not_shown.append(result)
        return result

    def agent(self, line: str, cell: str | None = None) -> None:
        """`%%agent` and `%agent`: one turn, shown as it comes."""
        arguments = parse_agent(line, cell)
        self._learning.stop()  # whoever asks now needs the model
        self._tell()
        if arguments.has("new"):
            self._memory.new()
        reply = self._ask(arguments)
        if reply.answer.end == "complete" and takes_input(self._shell):
            self._said = reply.answer
        name = arguments.word("output")
        if name is not None:
            self._shell.user_ns[name] = reply
        if reply.answer.end == "interrupted":
            raise Stopped

    def close(self) -> None:
        """Stop what goes on between cells."""
        self._cell_runs = True
        self._learning.stop()
        self._catching_up.stop()

    def before_cell(self) -> None:
        """Give way to a cell, whatever it does."""
        self._cell_runs = True
        self._catching_up.give_way()

    def after_cell(self, info: Any) -> None:
        """Show results that nothing else shows: a receipt must not go unseen; then learn.

        What nobody waits for comes last, on its own: learning may need the whole machine.
        """
        self._show_rest(info)
        self._cell_runs = False
        if self._said is not None:
            self._learning.begin()
        else:
            self._catching_up.begin()

    def _learn(self, cancel: Cancel) -> tuple[str, ...]:
        said, self._said = self._said, None
        if said is None or said.message_seq is None:
            return ()
        compacted = bool(said.compacted)
        lines = self._memory.learn_after(said.message_seq, cancel, compacted=compacted)
        if not self._cell_runs:
            self._catching_up.begin()
        return lines

    def _catch_up(self, cancel: Cancel) -> tuple[str, ...]:
        self._memory.catch_up(cancel)
        return ()

    def _tell(self) -> None:
        """Say what was learned since the last cell of ours."""
        for line in self._learning.take_lines():
            sys.stdout.write(f"{MARK} {escape_terminal(line)}\n")

    def _show_rest(self, info: Any) -> None:
        waiting, self._not_shown = self._not_shown, []
        shown = {id(info.result), *map(id, self._shell.user_ns.values())}
        for result in waiting:
            if id(result) not in shown:
                display(result)

    def _ask(self, arguments: Arguments) -> Reply:
        runtime = self._memory.runtime
        screen = turn_display(
            self._shell,
            live=not arguments.has("no-stream"),
            display_id=secrets.token_hex(8),
            seconds=runtime.seconds,
        )
        via: Via = "agent" if self._is_person() else "api"
        with in_tool_call():  # an expression is data: what it runs doesn't speak for the person
            parts = message_parts(arguments.text, self._shell.user_ns)
        model = runtime.model(self._model(arguments.word("model")))
        # Until the first word comes, this says that something does.
        screen.observe(Notice(f"asking {model.name}…"))
        try:
            reply = self._memory.ask(
                parts,
                model=model,
                mode=_mode(arguments.word("mode")),
                system=arguments.word("system"),
                tools=(*KernelTools(self._shell).tools(), *registered()),
                memory=not arguments.has("no-memory"),
                private=arguments.has("private"),
                without=arguments.ids("without"),
                max_steps=arguments.number("max-steps"),
                on_event=screen.observe,
                approve=CellApproval(self._shell),
                via=via,
                cell=self._cell(),
            )
        except BaseException as error:
            screen.abandon(discard=isinstance(error, GenerationChanged))
            raise
        screen.finish(reply.answer)
        return reply

    def _model(self, name: str | None) -> str | Model | None:
        """A model object of the notebook by its name, else the name itself."""
        if name is None or "/" in name:
            return name
        value = self._shell.user_ns.get(name)
        if value is not None and callable(getattr(value, "stream", None)):
            model: Model = value
            return model
        raise ConfigError(
            "no model of that name: give PROVIDER/MODEL, or the name of a model object in this"
            " notebook. `%memory models` shows the local ones."
        )

    def _is_person(self) -> bool:
        return front_end_runs(self._shell)

    def _cell(self) -> Cell:
        runtime = self._memory.runtime
        notebook = runtime.notebook
        path = None if notebook is None else notebook_path(notebook, self._memory.project.checkout)
        return running_cell(self._shell, path)


def _mode(word: str | None) -> Mode | None:
    for mode in ("readonly", "ask", "auto"):
        if word == mode:
            return mode
    return None


class _Shown:
    """Shows how far a long verb is, a line for each tenth."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._began = seconds()
        self._tenths: dict[str, int] = {}

    def fetched(self, done: int, total: int, what: str) -> None:
        """So many bytes of a file."""
        self._show(done, total, what, f"{what}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")

    def looked(self, done: int, total: int, what: str) -> None:
        """So many exchanges of a session."""
        self._show(done, total, what, f"looked through {done} of {total} exchanges")

    def indexed(self, done: int, total: int) -> None:
        """So many sessions that were new to the search index; mostly it takes no time."""
        if self._seconds() - self._began > _QUIET_SECONDS:
            self._show(done, total, "index", f"indexed {done:,} of {total:,} sessions")

    def _show(self, done: int, total: int, what: str, line: str) -> None:
        tenth = done * 10 // max(1, total)
        if self._tenths.get(what) != tenth:
            self._tenths[what] = tenth
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
