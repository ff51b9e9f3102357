"""The memory of one project in one kernel: its stores, what is checked, and the session written."""

from __future__ import annotations

from dataclasses import dataclass, field

from memnb.memory.history import Histories
from memnb.memory.live_session import LiveSession
from memnb.memory.meaning import Meaning
from memnb.memory.stores import Stores
from memnb.memory.summaries import Summaries
from memnb.memory.use import Ranks
from memnb.memory.validation import Validator
from memnb.storage.search_index import SearchIndex

__all__ = ["ProjectMemory"]


@dataclass(frozen=True, slots=True)
class ProjectMemory:
    """What a turn of the agent and a command of the person both work on.

    `index` is the search index, which is derived from the others; None where there is to be none.
    """

    stores: Stores
    histories: Histories
    validator: Validator
    session: LiveSession
    summaries: Summaries
    ranks: Ranks
    index: SearchIndex | None = None
    meaning: Meaning = field(default_factory=Meaning)

    def generation(self) -> int:
        """How many forgets there were."""
        return self.stores.facts.generation()
