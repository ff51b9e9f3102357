"""A model as the writer of working summaries."""

from __future__ import annotations

from memnb.agent.receiving import Coming, receive
from memnb.agent.reply import TurnEvent
from memnb.core.messages import Model, Request
from memnb.errors import BadModelOutput, ModelError
from memnb.memory.compacting import Reply, Writer

__all__ = ["writer_of"]


def writer_of(model: Model, timeout_seconds: float) -> Writer | None:
    """The model as a writer; None for one that is too small, for which rules do better alone."""
    if "few_tools" in model.capabilities:
        return None

    def ask(request: Request) -> Reply:
        coming = Coming()
        try:
            receive(model, request, _unseen, coming)
        except BadModelOutput:
            pass  # it is empty, which is told from its text
        except ModelError:
            coming.stop = "failed"
        return Reply(coming.text, coming.stop, bool(coming.calls), coming.usage)

    return Writer(model.name, ask, timeout_seconds)


def _unseen(event: TurnEvent) -> None:
    del event
