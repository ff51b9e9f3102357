"""Where memory lives, as it is shown: status, project, notes, settings, models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memnb.api.rendering import Block, Grid, Line, Marked, Result, Table, count, minute
from memnb.core.setting_table import LearningMode
from memnb.memory.gauge import Gauge
from memnb.runtime import headline
from memnb.storage.note_store import Note

__all__ = ["Models", "NoteList", "NoteView", "ProjectView", "SettingsView", "Status"]

_EMPTY: Final = Gauge()


@dataclass(frozen=True, slots=True, repr=False)
class Status(Result):
    """Where memory stands in this kernel."""

    project: str
    root: str
    folder: str
    found_by: str
    store_id: str
    n_facts: int
    n_in_prompt: int
    generation: int
    enabled: bool
    mode: str
    model: str
    session_id: str | None
    notices: tuple[str, ...] = ()
    context: Gauge = _EMPTY
    window: int | None = None
    learning: LearningMode = "off"
    n_waiting: int = 0
    is_full: bool = False

    @property
    def headline(self) -> str:
        """The line that loading shows."""
        return headline(
            self.project,
            self.n_facts,
            enabled=self.enabled,
            model=self.model,
            learning=self.learning,
        )

    def blocks(self) -> Sequence[Block]:
        """The headline, then what it is made of."""
        rows = (
            ("project", f"{self.root} (by {self.found_by})"),
            ("memory in", self.folder),
            ("facts", self._facts()),
            ("memory", "on" if self.enabled else "off: neither read nor written"),
            ("learning", self._learning()),
            ("mode", self.mode),
            ("model", self.model),
            ("session", self.session_id or "not begun"),
            ("context", self._context()),
            ("generation", str(self.generation)),
        )
        lines = [Line(f"{name:<11} {value}") for name, value in rows]
        return [Line(self.headline, strong=True), *lines, *map(Line, self.notices)]

    def _facts(self) -> str:
        """How many there are, and how many of them requests carry."""
        full = ", which has no room for more: `%memory facts`" if self.is_full else ""
        return f"{self.n_facts}, {self.n_in_prompt} in the prompt{full}"

    def _learning(self) -> str:
        """What is learned from conversations, and what waits."""
        waiting = f", {count(self.n_waiting, 'candidate')} waiting: `%memory review`"
        return self.learning + (waiting if self.n_waiting else "")

    def _context(self) -> str:
        """How full the window is with what was said."""
        gauge = self.context
        window = "an unknown window" if self.window is None else f"{self.window:,} tokens"
        about = "more than" if gauge.is_more else "about"
        used = f"{about} {gauge.n_tokens:,} of {window}"
        return f"{used}, {count(gauge.n_compactions, 'compaction')}"


@dataclass(frozen=True, slots=True, repr=False)
class ProjectView(Result):
    """Which project this is, and what may be done about it."""

    name: str
    slug: str
    root: str
    checkout: str
    found_by: str
    folder: str
    notices: tuple[str, ...] = ()

    def blocks(self) -> Sequence[Block]:
        """The facts of it."""
        return [
            Line(f"project {self.name} · {self.slug}", strong=True),
            Line(f"root      {self.root} (by {self.found_by})"),
            Line(f"checkout  {self.checkout}"),
            Line(f"memory in {self.folder}"),
            *map(Line, self.notices),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class NoteView(Result):
    """A note: where it is, and its text."""

    name: str
    path: str
    version: str
    text: str
    n_bytes: int
    is_cut: bool = False

    def blocks(self) -> Sequence[Block]:
        """The path, then the text."""
        blocks: list[Block] = [
            Line(f"{self.name} · {self.n_bytes:,} bytes · {self.path}", strong=True)
        ]
        blocks.append(Marked(self.text) if self.text else Line("(empty)"))
        if self.is_cut:
            whole = "edit" if self.name == "MEMORY" else f"note {self.name}"
            blocks.append(Line(f"cut; `%memory {whole}` shows all of it"))
        return blocks

    @classmethod
    def of(cls, note: Note, path: str, text: str | None = None) -> NoteView:
        """The view of a loaded note; `text` when only its beginning is to be shown."""
        shown = note.text if text is None else text
        return cls(
            name=str(note.name),
            path=path,
            version=note.version,
            text=shown,
            n_bytes=len(note.text.encode()),
            is_cut=len(shown) < len(note.text),
        )


@dataclass(frozen=True, slots=True, repr=False)
class NoteList(Table):
    """The notes there are: name, bytes, when changed."""

    row = ("name", "n_bytes", "modified_at")

    rows: tuple[tuple[str, int, str], ...]

    def blocks(self) -> Sequence[Block]:
        """A table."""
        head = Line(count(len(self.rows), "note"), strong=True)
        if not self.rows:
            return [head]
        rows = tuple((n, f"{size:,}", minute(at)) for n, size, at in self.rows)
        return [head, Grid(("name", "bytes", "changed (UTC)"), rows)]


@dataclass(frozen=True, slots=True, repr=False)
class SettingsView(Table):
    """Settings: key, value, where the value came from, what is allowed."""

    row = ("key", "value", "from", "allowed")

    rows: tuple[tuple[str, str, str, str], ...]
    notices: tuple[str, ...] = ()

    def blocks(self) -> Sequence[Block]:
        """A table, and what was ignored."""
        grid = Grid(("setting", "value", "from", "allowed"), self.rows)
        return [grid, *map(Line, self.notices)]


@dataclass(frozen=True, slots=True, repr=False)
class Models(Table):
    """Models: name, state, what it is."""

    row = ("name", "state", "what")

    rows: tuple[tuple[str, str, str], ...]
    chosen: str

    def blocks(self) -> Sequence[Block]:
        """A table, and how to choose."""
        return [
            Line(f"answers now: {self.chosen}", strong=True),
            Grid(("model", "state", "what"), self.rows),
            Line(
                "any other: %memory config agent.model PROVIDER/MODEL (through litellm; the key"
                " from the environment)"
            ),
        ]
