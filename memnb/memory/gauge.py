"""How full the window is: what the next request would carry of the conversation."""

from __future__ import annotations

from dataclasses import dataclass

from memnb.core.token_estimates import messages_tokens, text_tokens
from memnb.memory.conversation import Replay
from memnb.memory.project_memory import ProjectMemory

__all__ = ["Gauge", "gauge"]


@dataclass(frozen=True, slots=True)
class Gauge:
    """What of the live session a request would carry, in tokens by its bytes.

    `is_more`: so much at least; what doesn't fit the window wasn't counted. `n_compactions` counts
    the summaries that the one in use is the last of.
    """

    n_tokens: int = 0
    n_compactions: int = 0
    is_more: bool = False


def gauge(memory: ProjectMemory, window: int | None, *, fence: str) -> Gauge:
    """How much a request would carry of the live session, in a window of so many tokens."""
    history = memory.session.history()
    if history is None:
        return Gauge()
    replay = Replay(history, memory.histories.view(history), lambda _: "", fence)
    summary = memory.summaries.current(history, replay.seen)
    n_tokens = text_tokens(summary.whole) if summary else 0
    n_compactions = summary.n_chained if summary else 0
    for exchange in replay.newest_first(summary.cutoff if summary else 0):
        n_tokens += messages_tokens(exchange.messages)
        if window is not None and n_tokens > window:
            return Gauge(n_tokens, n_compactions, is_more=True)
    return Gauge(n_tokens, n_compactions)
