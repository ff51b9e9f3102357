"""Who finds what may be learned: a strong model quotes; for a small one sentences are scored.

A small model's JSON can't be trusted (of whole conversations it gave four right candidates of ten),
what it makes of one sentence can, within what was measured: `docs/learning-measured.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from memnb.core.candidates import Extraction
from memnb.core.messages import Cancel, Model
from memnb.core.span_head import SpanScore
from memnb.memory import extracting, selecting, span_scoring
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.span_scoring import Embed, Listener

__all__ = ["Quoting", "Scoring", "quotes"]


def quotes(model: Model) -> bool:
    """Whether a model is asked to quote: one that takes all tools in a request."""
    return "tools" in model.capabilities


@dataclass(frozen=True, slots=True)
class Quoting:
    """Asks a model to quote what is worth keeping."""

    memory: ProjectMemory
    model: Model
    fence: str
    timeout_seconds: float

    def __call__(self, session_id: str, mined: Collection[int], cancel: Cancel) -> Extraction:
        """The next part of the session, looked through."""
        return extracting.extract(
            self.memory.stores,
            self.memory.validator,
            self.memory.histories,
            self.model,
            session_id=session_id,
            mined=mined,
            cancel=cancel,
            fence=self.fence,
            timeout_seconds=self.timeout_seconds,
        )


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores the person's own sentences; nothing leaves this machine.

    Args:
        memory: the project's.
        listen: gives a local model that is asked, too, until it is told to stop; None for none.
        name: of that model.
        embed: an embedder that is asked, too; None for none.
    """

    memory: ProjectMemory
    listen: Callable[[Cancel], Listener] | None = None
    name: str = ""
    embed: Embed | None = None

    def __call__(self, session_id: str, mined: Collection[int], cancel: Cancel) -> Extraction:
        """The next part of the session, looked through."""
        listener = None if self.listen is None else self.listen(cancel)

        def scorer(texts: Sequence[str]) -> list[SpanScore]:
            return span_scoring.score(texts, model=listener, embed=self.embed)

        return selecting.select(
            self.memory.stores,
            self.memory.validator,
            self.memory.histories,
            session_id=session_id,
            scorer=scorer,
            mined=mined,
            model=self.name,
        )
