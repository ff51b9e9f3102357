"""How many tokens a request has, rather too many than too few, and better with what models report.

1. Nobody's tokenizer is here: bytes of UTF-8 are counted, and a frame for each message.
2. What a model reports of its requests makes later estimates of the same model closer. A model
   that reports nothing, or what can't be, stays with the careful ones.
3. An estimate rises at once and sinks slowly, and never below what the densest text would need.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from memnb.core.messages import Message, Request, ToolSpec

__all__ = [
    "BYTES_PER_TOKEN",
    "Calibration",
    "message_tokens",
    "messages_tokens",
    "request_tokens",
    "text_tokens",
]

BYTES_PER_TOKEN: Final = 3
"""Conservative: English prose has about four bytes a token, code three."""

FRAMING_TOKENS: Final = 8

FLOOR: Final = 0.65
"""About 4.6 bytes a token: no text of a notebook is denser for long."""

CEILING: Final = 3.0
_MARGIN: Final = 1.1
_ENOUGH: Final = 3
_KEPT: Final = 16
_TOO_SMALL: Final = 256
"""Of fewer tokens the frame says more than the text."""

_NOT_CREDIBLE: Final = 0.3
"""A report below that part of the estimate counts something else, such as what wasn't cached."""


@dataclass(slots=True)
class Calibration:
    """What models have reported of their requests in this process, by model."""

    _seen: dict[str, list[float]] = field(default_factory=dict)

    def note(self, model: str, estimated: int, reported: int | None) -> None:
        """Take in that a request of `estimated` tokens, by bytes, had `reported` ones."""
        if reported is None or estimated < _TOO_SMALL:
            return
        ratio = reported / estimated
        if _NOT_CREDIBLE <= ratio <= CEILING:
            self._seen.setdefault(model, []).append(ratio)
            del self._seen[model][:-_KEPT]

    def factor(self, model: str) -> float:
        """What an estimate by bytes is multiplied with for a model."""
        seen = self._seen.get(model, ())
        if not seen:
            return 1.0
        found = max(seen) * _MARGIN
        return max(FLOOR, found) if len(seen) >= _ENOUGH else max(1.0, found)

    def tokens(self, model: str, by_bytes: int) -> int:
        """An estimate by bytes, as far as is known better for this model."""
        return ceil(by_bytes * self.factor(model))


def request_tokens(request: Request) -> int:
    """About how many tokens a request has, by its bytes."""
    return (
        text_tokens(request.guidance)
        + text_tokens(request.memory)
        + sum(map(_tool_tokens, request.tools))
        + messages_tokens(request.messages)
    )


def messages_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens messages have, by their bytes."""
    return sum(map(message_tokens, messages))


def message_tokens(message: Message) -> int:
    """About how many tokens a message has, by its bytes."""
    calls = sum(text_tokens(call.name + call.arguments) for call in message.calls)
    return text_tokens(message.text) + calls + FRAMING_TOKENS


def text_tokens(text: str) -> int:
    """About how many tokens a text has, by its bytes."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def _tool_tokens(tool: ToolSpec) -> int:
    return text_tokens(tool.name + tool.description + json.dumps(dict(tool.parameters)))
