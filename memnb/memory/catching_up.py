"""What is done while nobody waits: the index is brought up to date, and passages are embedded.

1. A little at a time, and each little is kept at once: it stops in between when a cell begins, and
   goes on where it was, whoever goes on.
2. It never fails: what can't be done now is left for the next time.
"""

from __future__ import annotations

import contextlib
from typing import Final

from memnb.core.messages import Cancel
from memnb.errors import IndexUnusable
from memnb.memory import indexing
from memnb.memory.meaning import Embedder
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import vector_table
from memnb.storage.search_index import SearchIndex

__all__ = ["catch_up"]

_SECONDS: Final = 0.2
_AT_ONCE: Final = 4
"""Long ones take a tenth of a second together."""


def catch_up(memory: ProjectMemory, cancel: Cancel) -> None:
    """Take what is new into the index and embed it, until told to stop."""
    index = memory.index
    if index is None:
        return
    with contextlib.suppress(IndexUnusable):
        while not (updated := indexing.update(memory, index, budget_seconds=_SECONDS)).is_complete:
            if cancel.requested or not updated.n_put:
                return
        _embed(memory, index, cancel)


def _embed(memory: ProjectMemory, index: SearchIndex, cancel: Cancel) -> None:
    """Embed the passages of the index that have no vector yet, until told to stop."""
    embedder = memory.meaning.embedder
    if embedder is None or not index.exists:
        return
    if not indexing.read(memory, index, lambda one: vector_table.is_by(one, embedder.name)):
        index.write(lambda connection: vector_table.begin(connection, embedder.name))
    while not cancel.requested and _embed_few(memory, index, embedder):
        pass


def _embed_few(memory: ProjectMemory, index: SearchIndex, embedder: Embedder) -> bool:
    """Whether some were embedded and kept; none are when another kernel was faster."""
    wanted = indexing.read(memory, index, lambda one: vector_table.wanted(one, _AT_ONCE))
    vectors = memory.meaning.embed([passage.text for passage in wanted.values()])
    if not vectors:
        return False
    found = dict(zip(wanted, vectors, strict=True))
    return index.write(lambda connection: vector_table.put(connection, embedder.name, found)) > 0
