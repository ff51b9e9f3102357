"""How it is wired: one object that opens and closes everything, and owns clock, ids and settings.

Opening costs milliseconds: the project is found, settings are read, facts are counted. Memory is
wired when it is first used.
"""

from __future__ import annotations

import contextlib
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memnb.core import ids
from memnb.core.settings import DEFAULT_MODEL, LearningMode, Settings, parse_kernel_value, resolve
from memnb.errors import (
    ConfigError,
    InputError,
    MemnbError,
    SessionHeld,
    StoreError,
    StoreMoved,
    StoreReadOnly,
    StoreTooNew,
)
from memnb.speaking import require_person
from memnb.storage import project as projects
from memnb.storage.anchor import Anchor, anchor_file
from memnb.storage.database import Database
from memnb.storage.fact_count import count_facts
from memnb.storage.files import shown
from memnb.storage.locks import FileLock
from memnb.storage.mounts import require_local
from memnb.storage.notebook_location import Start, find_start
from memnb.storage.places import Places, find_places
from memnb.storage.private import private_folder
from memnb.storage.project import Project
from memnb.storage.project_record import RECORD_NAME
from memnb.storage.sealing import Sealer
from memnb.storage.settings_file import read_config, read_project_table
from memnb.storage.signing_key import SigningKey

if TYPE_CHECKING:
    from memnb.core.messages import Model
    from memnb.core.token_estimates import Calibration
    from memnb.llm.choosing import Models
    from memnb.memory.context import Limits
    from memnb.memory.meaning import Meaning
    from memnb.memory.project_memory import ProjectMemory
    from memnb.storage.premises import Premises
    from memnb.storage.project_files import ProjectFiles
    from memnb.storage.project_moves import Moves

__all__ = ["Origin", "Runtime", "headline"]

NOT_ON_WINDOWS = "memnb doesn't run on Windows yet: its locks need a POSIX system. Use it in WSL."


def headline(
    project: str, n_facts: int, *, enabled: bool, model: str, learning: LearningMode = "off"
) -> str:
    """The line that loading shows."""
    facts = "1 fact" if n_facts == 1 else f"{n_facts:,} facts"
    memory = f"learning {learning}" if enabled else "memory off"
    return f"memnb · project {project} · {facts} · {memory} · model {model}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a runtime is: its environment and folder, what a front end knows of the kernel.

    `mounts` is the text of the mount table; this machine's when None.
    """

    environ: Mapping[str, str]
    cwd: Path
    vscode_file: str | None = None
    kernel_id: str = ""
    label: str = ""
    mounts: str | None = None


class Runtime:
    """Everything of memnb that one kernel, script or test holds open."""

    def __init__(
        self,
        origin: Origin,
        *,
        path: Path | None = None,
        home: Path | None = None,
        model: str | Model | None = None,
        read_only: bool = False,
    ) -> None:
        """Open the project of `path`, else the one that the environment tells.

        Nothing is created on the disk before the first write.

        Raises:
            StoreError: the store can't be used. ConfigError: an environment variable is wrong.
        """
        if sys.platform == "win32":
            raise StoreError(NOT_ON_WINDOWS)
        self._origin = origin
        self._read_only = read_only
        self._kernel_settings: dict[str, str] = {}
        self._given_model = model if not isinstance(model, str) else None
        if isinstance(model, str) and model:
            self._kernel_settings["agent.model"] = model
        self.fence = "data-" + secrets.token_hex(4)
        self._calibration: Calibration | None = None
        self.places = _places(origin.environ, home)
        require_local((self.places.home, self.places.projects), table=origin.mounts)
        self._key = SigningKey(self.places, may_make=self._nothing_is_signed)
        self._models: Models | None = None
        self._memory: ProjectMemory | None = None
        self._meaning: Meaning | None = None
        self._moves: Moves | None = None
        self._is_closed = False
        self.start = self._find_start(path)
        self.project = self._find_project(self.start)
        self._resolve()
        self._database = self._find_database()

    @property
    def notebook(self) -> Path | None:
        """The notebook, when the front end says which it is."""
        return self.start.notebook

    @property
    def memory(self) -> ProjectMemory:
        """The project's memory."""
        if self._memory is None:
            self._memory = self.beside()
            self._finish_purges(self._memory)
        return self._memory

    def beside(self) -> ProjectMemory:
        """The project's memory once more, for another thread: what it reads it keeps to itself.

        Raises:
            InputError: everything was closed.
        """
        if self._is_closed:
            raise InputError("this memory was closed; `memnb.open()` opens it again.")
        from memnb.wiring import wire  # noqa: PLC0415  # loading memnb needn't load all of it

        return wire(
            self._database,
            self.project.folder,
            label=self._label,
            store_id=self._store_id,
            ensure=self._ensure,
            key=self._key,
            clock=self.now,
            wait_ms=self._wait_ms,
            session_from=(
                str(self.project.checkout),
                str(self._origin.cwd),
                self._origin.kernel_id,
            ),
            meaning=self._meaning_here(),
            read_only=self._read_only or bool(self.project.read_only_reason),
        )

    @property
    def calibration(self) -> Calibration:
        """What models have reported of their requests in this process."""
        if self._calibration is None:
            from memnb.core.token_estimates import Calibration  # noqa: PLC0415  # not at load

            self._calibration = Calibration()
        return self._calibration

    @property
    def models(self) -> Models:
        """The models that may answer."""
        if self._models is None:
            from memnb.llm.choosing import Models  # noqa: PLC0415

            self._models = Models(self.places.models)
        return self._models

    @property
    def files(self) -> ProjectFiles:
        """The files of the checkout that tools may read."""
        from memnb.storage.project_files import ProjectFiles  # noqa: PLC0415

        return ProjectFiles(
            self.project.checkout,
            private=(
                self.places.home,
                self.places.state,
                self.places.models,
                self.places.key_file.parent,
            ),
            user_home=self.places.user_home,
            notebook_folder=self.start.folder,
        )

    def headline(self) -> str:
        """Where memory stands, in a line; costs one count.

        Raises:
            StoreError: the facts can't be read.
        """
        return headline(
            self.project.name,
            count_facts(self._database, self._store_id()),
            enabled=self.settings.memory.enabled,
            model=self.model_name(),
            learning=self.settings.learning.mode,
        )

    def notices(self) -> tuple[str, ...]:
        """Lines about what was ignored, set aside or can't be written."""
        read_only = self.project.read_only_reason
        session = self._memory.session.notices if self._memory is not None else ()
        index = self._memory.index if self._memory is not None else None
        # For a new project this is a look at the others; for a kept one it would run git.
        moves = self.moves().notices if self.project.is_new else ()
        return (
            *self.project.notices,
            *moves,
            *self.settings_notices,
            *self._of_the_store(),
            *session,
            *(index.notices if index is not None else ()),
            *self._of_meaning(),
            *((read_only,) if read_only else ()),
        )

    def session_now(self) -> tuple[str, str] | None:
        """Store and id of the session that is written; None when none was begun."""
        session_id = self._memory.session.session_id if self._memory is not None else None
        return None if session_id is None else (self.project.store_id, session_id)

    def limits(self, context_tokens: int | None = None) -> Limits:
        """How much memory a request may carry, to a model of that window or to the chosen one."""
        from memnb.memory.context import Limits  # noqa: PLC0415

        memory = self.settings.memory
        limits = Limits(memory.max_bytes, memory.facts_max_bytes)
        return limits.within(context_tokens or self.window())

    def require_writing(self) -> None:
        """Refuse a change by anyone but a person, or while memory is off.

        Raises:
            Refused: a tool call runs. ConfigError: memory is off in this kernel.
        """
        require_person()
        if not self.settings.memory.enabled:
            raise ConfigError("memory is off in this kernel; `%memory on` switches it on.")

    def require_writable(self) -> None:
        """Refuse to change a store that was opened to read, or that a newer memnb wrote.

        Raises:
            StoreReadOnly, StoreTooNew.
        """
        if self._read_only:
            raise StoreReadOnly("this memory was opened read-only; open it anew to change it.")
        if self.project.read_only_reason:
            raise StoreTooNew(self.project.read_only_reason)

    def model(self, name: str | Model | None = None) -> Model:
        """The model of this name, else the one that was chosen, else the local one.

        Raises:
            NoModel, ModelUnavailable: there is none of that name.
        """
        if name is not None and not isinstance(name, str):
            return name
        if name is None and self._given_model is not None and not self._overridden():
            return self._given_model
        return self.models.choose(name or self.settings.agent.model, self.settings)

    def model_name(self) -> str:
        """The name of the model that would answer; nothing is loaded for it."""
        if self._given_model is not None and not self._overridden():
            return self._given_model.name
        return self.settings.agent.model or DEFAULT_MODEL

    def set(self, key: str, text: str) -> None:
        """Set a setting for this kernel; raises ConfigError."""
        parse_kernel_value(key, text)
        self._kernel_settings[key] = text
        self._resolve()

    def reopen(self, path: Path) -> None:
        """Close this project and open that of `path`; the old one stays open when that fails."""
        start = self._find_start(path)
        project = self._find_project(start)
        self._close_project("project")
        self.start, self.project = start, project
        self._resolve()
        self._database = self._find_database()

    def become(self, change: Callable[[], Project]) -> None:
        """Close the project, let `change` make another of it, and open that.

        Nothing is closed when it may not be changed.

        Raises:
            SessionHeld: another kernel has a session of it open.
        """
        self.require_writable()
        self._require_no_other_writer()
        self._close_project("project")
        try:
            self.project = change()
        finally:
            self._database = self._find_database()

    def set_aside(self) -> Project:
        """Put this project's memory away; gives a new project for the same folder."""
        from memnb.storage.project_moves import set_aside  # noqa: PLC0415

        return set_aside(
            self.project,
            now=ids.stamp(self.now()),
            new_store_id=lambda: ids.store_id(secrets.token_bytes),
        )

    def close(self, reason: str) -> None:
        """End the session in order and let go of everything."""
        self._close_project(reason)
        self._is_closed = True
        if self._models is not None:
            self._models.close()

    def premises(self) -> Premises:
        """What the project's memory stands on, for who examines it."""
        from memnb.storage.premises import Premises  # noqa: PLC0415

        return Premises(self.project.folder, self.places, self._key)

    def moves(self) -> Moves:
        """Whether the project was moved here or replaced; asked once, since it may run git."""
        from memnb.storage.project_moves import check_moves  # noqa: PLC0415

        if self._moves is None:
            self._moves = check_moves(self.project, environ=self._origin.environ)
        return self._moves

    def require_same_history(self) -> None:
        """Refuse to use memory that was kept for another repository at this path.

        Raises:
            StoreMoved: a person must say first what this project is.
        """
        if not self.project.is_new and self.moves().mismatch:
            raise StoreMoved(" ".join(self.moves().notices))

    def seconds(self) -> float:
        """A clock that only goes forward."""
        return time.monotonic()

    def now(self) -> datetime:
        """The present in the person's time zone."""
        return datetime.now(UTC).astimezone()  # noqa: TID251  # here is where the clock is

    def _find_start(self, path: Path | None) -> Start:
        if path is not None:
            try:
                start = _start_at(path)
            except (RuntimeError, OSError, ValueError):  # no such user, a name too long, a NUL
                start = None
            if start is None:
                raise InputError("there is no such folder or notebook; check the path.")
            return start
        return find_start(
            self._origin.environ,
            self._origin.cwd,
            Path.exists,
            vscode_file=self._origin.vscode_file,
        )

    def _find_project(self, start: Start) -> Project:
        return projects.open_project(
            start.folder,
            self.places,
            now=ids.stamp(self.now()),
            new_store_id=lambda: ids.store_id(secrets.token_bytes),
        )

    def _close_project(self, reason: str) -> None:
        if self._memory is not None:
            # The last record of a session is a courtesy: a full disk must not stop a kernel's end.
            with contextlib.suppress(MemnbError):
                self._memory.session.end(reason)
            self._memory.session.abandon()
            self._memory.stores.notes.close()
            if self._memory.index is not None:
                self._memory.index.close()
            self._memory = None
        self._meaning = None
        self._database.close()
        self._moves = None

    def _of_meaning(self) -> Iterator[str]:
        if self._meaning is not None and self._meaning.problem:
            yield self._meaning.problem

    def _meaning_here(self) -> Meaning:
        if self._meaning is None:
            from memnb.llm.embedding import MiniLM  # noqa: PLC0415  # not at load
            from memnb.memory.meaning import Meaning  # noqa: PLC0415

            self._meaning = Meaning(MiniLM() if MiniLM.is_installed() else None)
        return self._meaning

    def _finish_purges(self, memory: ProjectMemory) -> None:
        """Go on with what a crash interrupted; a store that can't be used says so when it is."""
        if self._read_only or self.project.read_only_reason:
            return
        with contextlib.suppress(MemnbError):
            if memory.stores.facts.to_blank():
                from memnb.memory import purging  # noqa: PLC0415  # hardly ever needed

                purging.finish(memory)

    def _resolve(self) -> None:
        file, problems = read_config(self.places.config_file)
        table, more = read_project_table(self.project.checkout)
        settings, notices = resolve(file, table, self._origin.environ, self._kernel_settings)
        self.settings: Settings = settings
        self.settings_notices = (*problems, *more, *notices)

    @property
    def _label(self) -> str:
        return self._origin.label or "a kernel"

    def _wait_ms(self) -> int:
        return self.settings.storage.lock_wait_ms

    def _find_database(self) -> Database:
        folder = self.project.folder
        anchor = Anchor(self._anchor_file, self._store_id, self._key)
        return Database(
            folder / "facts.sqlite3",
            FileLock(folder / "store.lock", label=self._label),
            Sealer(self._key, self._store_id, anchor),
            wait_ms=self._wait_ms,
            read_only=self._read_only or bool(self.project.read_only_reason),
        )

    def _of_the_store(self) -> Iterator[str]:
        """What is to be said of the store before it is used."""
        try:
            self._database.require_newest()
        except StoreError as error:
            yield str(error)
            return
        if not self._database.is_noted:
            yield (
                f"{shown(self._anchor_file())} couldn't be written, so an older copy of this memory"
                " may pass for the newest; check who owns it."
            )
        if self._database.exists and not self._database.is_anchored:
            yield (
                "this machine hasn't seen this memory before, so an older copy of it would pass for"
                " the newest; `%memory doctor --accept` remembers it from now on."
            )

    def _anchor_file(self) -> Path:
        return anchor_file(self.places.state, self._store_id())

    def _nothing_is_signed(self) -> bool:
        return not self._database.exists

    def _store_id(self) -> str:
        """The store's id: a new project's is settled by the kernel that writes first."""
        if self.project.is_new and (self.project.folder / RECORD_NAME).exists():
            self.project = self._find_project(self.start)
        return self.project.store_id

    def window(self) -> int | None:
        """The window of the model that would answer, as far as it is known without loading it."""
        if self._given_model is not None and not self._overridden():
            return self._given_model.context_tokens
        return self.models.window_of(self.settings.agent.model, self.settings)

    def _ensure(self) -> None:
        self.require_writable()
        self.require_same_history()
        was_new = self.project.is_new
        self.project = projects.ensure(self.project, environ=self._origin.environ)
        if was_new:  # with memory of its own it takes over none
            self._moves = None
        sessions = self.project.folder / "sessions"
        if not sessions.is_dir():
            private_folder(sessions)

    def _require_no_other_writer(self) -> None:
        sessions = self.memory.stores.sessions
        for session_id in sessions.ids():
            if session_id != self.memory.session.session_id and sessions.is_held(session_id):
                raise SessionHeld(
                    f"session {session_id} of this project is open in another kernel; stop that"
                    " first."
                )

    def _overridden(self) -> bool:
        return "agent.model" in self._kernel_settings


def _start_at(path: Path) -> Start | None:
    chosen = path.expanduser().absolute()
    is_notebook = chosen.suffix == ".ipynb"
    folder = chosen if chosen.is_dir() else chosen.parent
    if not chosen.exists() and not (is_notebook and folder.is_dir()):
        return None
    return Start(folder, "path", chosen if is_notebook else None)


def _places(environ: Mapping[str, str], home: Path | None) -> Places:
    return find_places(environ if home is None else {**environ, "MEMNB_HOME": str(home.absolute())})
