"""What a person asks of the agent: the message, and what the turn may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memnb.agent.tools import Tool
from memnb.core.bodies import NO_CELL, Cell, Part, Via
from memnb.core.messages import Model
from memnb.core.permissions import Mode
from memnb.core.screening import mask
from memnb.core.settings import LearningMode
from memnb.errors import InvalidText
from memnb.memory.context import Limits

__all__ = ["MAX_TYPED_BYTES", "Ask", "check_parts", "masked"]

MAX_TYPED_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ask:
    """What a person asks, and how.

    Args:
        parts: the message.
        model: who answers.
        mode: what may be changed.
        limits: how much memory a request carries.
        system: replaces the constant guidance.
        with_memory: False: no memory section and no memory tools.
        private: nothing is recorded; memory tools are off, and nothing is recalled.
        auto_recall: whether the message is sent with what fits it of earlier talks and notes.
        without: the ids of facts that this turn is answered without, as a probe: nothing of it is
            carried on, and memory tools are off, which would find those facts.
        learning: how learning is set, noted with each reply: what is said while it is on may be
            looked through later, too.
        tools: further tools: files, the kernel, the person's own.
        buffer_tokens: what of the window stays free when it is decided to compact.
        threshold: the fill of the window, in percent, at which it is compacted.
    """

    parts: tuple[Part, ...]
    model: Model
    mode: Mode = "ask"
    limits: Limits = field(default_factory=Limits)
    system: str = ""
    with_memory: bool = True
    private: bool = False
    auto_recall: bool = False
    without: tuple[str, ...] = ()
    learning: LearningMode = "off"
    tools: tuple[Tool, ...] = ()
    via: Via = "agent"
    cell: Cell = NO_CELL
    max_steps: int = 8
    output_tokens: int = 2048
    timeout_seconds: float = 120.0
    shown_bytes: int = 8192
    recorded_bytes: int = 262_144
    write_approval: bool = False
    buffer_tokens: int = 2048
    threshold: int = 85


def check_parts(parts: Sequence[Part]) -> None:
    """Refuse a message that is empty or over 1 MiB; raises InvalidText."""
    n_bytes = sum(len(part.text.encode(errors="replace")) for part in parts)
    if n_bytes > MAX_TYPED_BYTES:
        raise InvalidText(
            f"a message holds at most {MAX_TYPED_BYTES:,} bytes; this one has {n_bytes:,}. Put the"
            " data in a variable or file and name it."
        )
    if not any(part.text.strip() for part in parts):
        raise InvalidText("the message is empty; write what you want to ask below %%agent.")


def masked(parts: Sequence[Part]) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """The parts with secrets masked, as they are recorded, and the rules that found some."""
    clean: list[Part] = []
    rules: dict[str, None] = {}
    for part in parts:
        text, found = mask(part.text)
        expr, more = mask(part.expr)
        clean.append(replace(part, text=text, expr=expr))
        rules.update(dict.fromkeys((*found, *more)))
    return tuple(clean), tuple(rules)
