"""What every part of the face for programs shares: the runtime, and the memory it holds open."""

from __future__ import annotations

from memnb.agent.reply import Answer
from memnb.core.section import Choice
from memnb.memory import context
from memnb.memory.project_memory import ProjectMemory
from memnb.runtime import Runtime
from memnb.storage.project import Project

__all__ = ["Face"]


class Face:
    """The verbs over one runtime; none holds a rule: it calls a process and shows the outcome."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on what `runtime` holds open; use `memnb.open()` instead."""
        self._runtime = runtime
        self._answers: dict[int, tuple[int, Answer]] = {}  # with the generation they began under

    @property
    def project(self) -> Project:
        """The project: store_id, slug, root, checkout."""
        return self._runtime.project

    @property
    def runtime(self) -> Runtime:
        """What holds it open."""
        return self._runtime

    @property
    def _is_on(self) -> bool:
        return self._runtime.settings.memory.enabled

    @property
    def _memory(self) -> ProjectMemory:
        return self._runtime.memory

    def _choice(self, fact_id: str) -> Choice:
        memory, limits = self._memory, self._runtime.limits()
        return context.choice_of(memory.stores, memory.validator, limits, fact_id, memory.ranks)
