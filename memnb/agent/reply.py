"""What a turn gives: while it runs, as events to show; afterwards, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from memnb.agent.tools import Change
from memnb.core.bodies import TurnEnd
from memnb.core.messages import Notice, Text, UsageTotal
from memnb.core.recall_block import NO_RECALL, Recall
from memnb.core.section import Section
from memnb.memory.compacting import Compacted

__all__ = [
    "Answer",
    "Approve",
    "Observe",
    "RequestTrace",
    "ToolDone",
    "ToolStarted",
    "TurnEvent",
    "UsageTotal",
]


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call is about to run."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolDone:
    """A tool call ended; `note` is one line without content."""

    name: str
    ok: bool
    note: str


TurnEvent: TypeAlias = Text | Notice | ToolStarted | ToolDone


class Observe(Protocol):
    """Shows what happens in a turn, as it happens."""

    def __call__(self, event: TurnEvent) -> None:
        """Show one event."""


class Approve(Protocol):
    """Asks a person about a change."""

    def __call__(self, change: Change) -> bool | None:
        """Whether to make it; None when there is nobody to ask."""


@dataclass(frozen=True, slots=True)
class RequestTrace:
    """What one request carried from memory, byte for byte.

    `recall` is what the message was sent with, and what else was considered for it.
    """

    n: int
    section: Section
    n_tokens: int
    n_left_out: int
    recall: Recall = NO_RECALL

    @property
    def carried(self) -> tuple[str, ...]:
        """References of all that was in sight: facts, and records of earlier talks."""
        return tuple(dict.fromkeys((*self.section.carried, *self.recall.carried)))


@dataclass(frozen=True, slots=True)
class Answer:
    """A turn that ended.

    `message_seq` is the number of the message's record, None for a private turn, of which nothing
    is recorded; `turn` counts the turns of the session. `carried` names the facts and the records
    of earlier talks that were in sight, `cited` those of them that the answer names; `not_done`
    says what was asked of a tool and not done, and why; `compacted` has the summaries that were
    written on the way; `without` names the facts that a probe was answered without.
    """

    text: str
    end: TurnEnd
    model: str
    session_id: str | None
    message_seq: int | None
    turn: int
    n_tools: int
    usage: UsageTotal
    carried: tuple[str, ...]
    cited: tuple[str, ...]
    remembered: tuple[str, ...]
    not_done: tuple[str, ...]
    notices: tuple[str, ...]
    requests: tuple[RequestTrace, ...]
    seconds: float
    compacted: tuple[Compacted, ...] = ()
    without: tuple[str, ...] = ()
