"""memnb behind the adapter of AMSB, the benchmark in agent-memory-guard: what gets into memory.

Memory is what a later kernel has of it: the facts and notes of the next request, and what its tools
read back from facts and notes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar

from agent_memory_guard.bench.adapter import MemorySystemAdapter, RememberOutcome

import memnb
from conformance import reaching
from memnb.errors import Refused

__all__ = ["Engine"]


class Engine(MemorySystemAdapter):
    """The real engine; each adapter is a project of its own below `top`."""

    name = "memnb"
    version = memnb.__version__
    top: Path | None = None
    failed: ClassVar[list[BaseException]] = []
    """What went wrong here: the benchmark takes any error for a refusal."""

    @classmethod
    def begin(cls, top: Path) -> None:
        """Work in projects below `top` from here on."""
        cls.top = top
        cls.failed.clear()

    def __init__(self) -> None:
        self._memory: memnb.Memory | None = None
        self._facts: dict[str, str] = {}
        self._checkout: Path | None = None

    def remember(
        self, key: str, value: Any, *, source_class: str = "external_tool"
    ) -> RememberOutcome:
        try:
            self._reach(key, str(value), source_class)
        except Refused:
            return RememberOutcome.BLOCKED
        except BaseException as error:
            self.failed.append(error)
            raise
        return RememberOutcome.BLOCKED if self.recall(key) is None else RememberOutcome.STORED

    def recall(self, key: str) -> str | None:
        memory = self._open()
        fact_id = self._facts.get(key)
        if fact_id:
            page = memory.recall(fact_id).page
            is_carried = fact_id in reaching.in_the_next_request(memory)
            return page.text if is_carried else None
        found = [memory.notes.read(name).text for name in ("MEMORY", "scratchpad", "today")]
        found += [row.text for row in memory.facts(all=True).rows]
        found += [memory.notes.read(_note(key)).text]
        return "\n".join(filter(None, found)) or None

    def context_reset(self) -> None:
        self.close()

    def _reach(self, key: str, text: str, source_class: str) -> None:
        memory, note = self._open(), _note(key)
        if source_class == "user_input":
            self._facts[key] = reaching.typed(memory, text, note)
        elif source_class == "external_tool":
            reaching.by_a_tool(memory, text, note)
        else:
            reaching.inserted(memory, text, note)

    def close(self) -> None:
        """End the kernel."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _open(self) -> memnb.Memory:
        if self._checkout is None:
            self._checkout = Path(tempfile.mkdtemp(prefix="amsb-", dir=self.top))
        if self._memory is None:
            self._memory = memnb.open(self._checkout)
        return self._memory


def _note(key: str) -> str:
    """A note's name for a key."""
    return key.replace(".", "-")
