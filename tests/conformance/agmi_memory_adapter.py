"""memnb behind the adapter of agmi's attacks through the face of a memory: who may say what.

1. A user of the suite is a project: nothing else tells memories apart.
2. What is retrieved is all that the next request carries, whatever is asked, and the notes.
3. An attacker's text comes on three channels. On two of them it can be told from what the user
   said, and takes the way on which such text reaches memnb. On the third it comes labelled and
   signed as the user's: the interface hands it over after it was decided whose words it is, which
   is what memnb decides. So there the adapter types it, as the person; `told_whose_words` runs the
   suite with that one thing told.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from agmi.adapters.semantic_base import MemoryItem, Retrieved, SemanticMemoryAdapter
from agmi.attacks import memory_specific
from agmi.signing import KEYRING

import memnb
from conformance import reaching

__all__ = ["CHANNELS", "Remembering", "told_whose_words"]

CHANNELS: Final = memory_specific.CHANNELS
"""The suite's channels of an attacker."""

_LINE = re.compile(r"^- (?P<text>.*) \[F-[0-9a-z]{6}\]$", re.MULTILINE)
_NOTE = "memo"
_CAME_BY = "came_by"

_WAYS: Final[Mapping[str, Callable[[memnb.Memory, str, str], object]]] = MappingProxyType(
    {
        "external": reaching.inserted,
        "laundered": reaching.by_a_tool_that_speaks_for_the_person,
        "agent-laundered": reaching.by_a_tool,
        "": reaching.typed,
    }
)


class Remembering(SemanticMemoryAdapter):
    """The real engine, with projects below `top`."""

    name = "memnb"

    def __init__(self, top: Path | None = None) -> None:
        self._top = top
        self._users: dict[str, memnb.Memory] = {}

    def reset(self) -> None:
        self.close()
        self._folder = Path(tempfile.mkdtemp(prefix="agmi-memory-", dir=self._top))

    def add_memory(self, item: MemoryItem) -> None:
        _WAYS[_channel(item)](self._of(item.user_id), item.text, _NOTE)

    def retrieve(self, query: str, user_id: str, k: int = 5) -> list[Retrieved]:
        del query, k
        memory = self._of(user_id)
        facts = [found["text"] for found in _LINE.finditer(reaching.in_the_next_request(memory))]
        notes = [memory.notes.read(name).text for name in ("MEMORY", "scratchpad", "today", _NOTE)]
        return [Retrieved(text, user_id) for text in (*facts, *filter(None, notes))]

    def close(self) -> None:
        for memory in self._users.values():
            memory.close()
        self._users.clear()

    def _of(self, user_id: str) -> memnb.Memory:
        if user_id not in self._users:
            checkout = self._folder / user_id
            checkout.mkdir()
            self._users[user_id] = memnb.open(checkout)
        return self._users[user_id]


@contextlib.contextmanager
def told_whose_words() -> Iterator[None]:
    """On the third channel, which alone is run, the suite tells that the words are not theirs."""
    real, channels = memory_specific.attacker_write, memory_specific.CHANNELS

    def told(text: str, user_id: str, channel: str) -> MemoryItem:
        item = real(text, user_id, channel)
        item.metadata[_CAME_BY] = channel
        return item

    memory_specific.attacker_write = told
    memory_specific.CHANNELS = channels[-1:]
    try:
        yield
    finally:
        memory_specific.attacker_write, memory_specific.CHANNELS = real, channels


def _channel(item: MemoryItem) -> str:
    """The attacker's channel, as far as it can be told; "" for what passes for the user's words."""
    if item.source != memory_specific.SOURCE_USER:
        return "external"
    if not KEYRING.verify(item.user_id, item.source, item.text, item.signature):
        return "laundered"
    return str(item.metadata.get(_CAME_BY, ""))
