"""What texts mean, where an embedder is installed: a question is compared with what words find.

1. It is an extra. Without it, or when it fails, words are what is left, and `problem` says why.
2. It helps to order what the words of a question find; by meaning alone nothing is found: to
   propose the nearest of all passages besides changes next to nothing on public sets.
3. A question takes 5 to 20 ms, and the first one loads the embedder: for whoever asks. What comes
   unasked has less time, and goes by words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memnb.core.ranking import Candidates
from memnb.errors import NoModel
from memnb.storage import vector_table
from memnb.storage.search_index import Connection
from memnb.storage.vector_table import Vector

__all__ = ["Embedder", "Meaning", "Meant"]


class Embedder(Protocol):
    """What gives texts vectors of length 1; `memnb.llm.embedding.MiniLM` is one."""

    @property
    def name(self) -> str:
        """Which model it is, of which files; vectors of another one aren't comparable."""

    def __call__(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The vector of each text; raises NoModel when it can't be loaded."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a question means to an embedder."""

    embedder: str
    vector: Vector

    def compared(self, connection: Connection, candidates: Candidates) -> Candidates:
        """The candidates, each with how near to the question it is, where that is known."""
        passages = [one.passage for one in candidates]
        near = vector_table.nearness(connection, self.embedder, self.vector, passages)
        found = (replace(one, nearness=near.get(one.passage.reference)) for one in candidates)
        return replace(candidates, found=tuple(found))


class Meaning:
    """What texts mean, for all threads of a kernel; nothing without an embedder."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        """Understand texts with `embedder`."""
        self._embedder = embedder
        self.problem = ""

    @property
    def embedder(self) -> Embedder | None:
        """What understands texts; None when there is nothing, or it failed."""
        return None if self.problem else self._embedder

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts; none at all when there is nothing to embed them."""
        embedder = self.embedder
        if embedder is None or not texts:
            return []
        try:
            return list(embedder(texts))
        except NoModel as error:
            self.problem = str(error)
        except Exception:  # whatever a runtime raises: searching by words goes on
            self.problem = "search by meaning is off: the embedder failed"
        return []

    def asked(self, text: str) -> Meant | None:
        """What a question means; None when that can't be told."""
        embedder = self.embedder
        vectors = self.embed([text])
        return Meant(embedder.name, vectors[0]) if embedder is not None and vectors else None
