"""The memory of one project in one kernel: its stores, what is checked, and the session written."""

from __future__ import annotations

from dataclasses import dataclass

from memnb.memory.history import Histories
from memnb.memory.live_session import LiveSession
from memnb.memory.stores import Stores
from memnb.memory.summaries import Summaries
from memnb.memory.validation import Validator

__all__ = ["ProjectMemory"]


@dataclass(frozen=True, slots=True)
class ProjectMemory:
    """What a turn of the agent and a command of the person both work on."""

    stores: Stores
    histories: Histories
    validator: Validator
    session: LiveSession
    summaries: Summaries

    def generation(self) -> int:
        """How many forgets there were."""
        return self.stores.facts.generation()
