"""What goes to a model and what comes back, whichever model it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

__all__ = [
    "Call",
    "Cancel",
    "Event",
    "JsonValue",
    "Message",
    "Model",
    "Notice",
    "Request",
    "Stop",
    "StopReason",
    "Text",
    "ToolSpec",
    "Usage",
    "UsageTotal",
]

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
"""A parsed JSON value, as a tool's parameters schema holds it."""

_MAX_COUNT: Final = 10**15

StopReason = Literal["end", "calls", "length", "refused"]
"""Why a reply ended: it was complete, it asks for tools, it hit the limit, the provider cut it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply. `arguments` is the JSON text exactly as the model sent it."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    `calls` only on an assistant message; `call_id` and `name` only on a tool result.
    """

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    `guidance` is constant; `memory` changes only when memory changes ("" for none) and is placed
    after guidance and tools. `sentences` are the exact spans of the person's latest message that a
    quote may be chosen from: a small model selects one instead of quoting. `schema` is the JSON
    schema of the whole reply, for models that can be held to one; others ignore it.
    """

    guidance: str
    memory: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    sentences: tuple[str, ...] = ()
    output_tokens: int = 2048
    timeout_seconds: float = 120.0
    schema: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, as it streams."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A status line for the person while they wait, such as "loading the model"."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request consumed. `None` is unknown, never zero; cost in nano-USD."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_nusd: int | None = None

    def credible(self) -> Usage:
        """The same without counts that can't be right: these are unknown."""
        return Usage(
            _credible(self.input_tokens), _credible(self.output_tokens), _credible(self.cost_nusd)
        )


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What several requests consumed: known sums, and how many of them didn't say."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_nusd: int = 0
    n_unknown: int = 0
    n_unknown_cost: int = 0

    def plus(self, usage: Usage) -> UsageTotal:
        """The total with one more request."""
        unknown = usage.input_tokens is None or usage.output_tokens is None
        return UsageTotal(
            self.input_tokens + (usage.input_tokens or 0),
            self.output_tokens + (usage.output_tokens or 0),
            self.cost_nusd + (usage.cost_nusd or 0),
            self.n_unknown + unknown,
            self.n_unknown_cost + (usage.cost_nusd is None),
        )

    def with_total(self, other: UsageTotal) -> UsageTotal:
        """Both totals as one."""
        return UsageTotal(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_nusd + other.cost_nusd,
            self.n_unknown + other.n_unknown,
            self.n_unknown_cost + other.n_unknown_cost,
        )


@dataclass(frozen=True, slots=True)
class Stop:
    """The last event of every complete reply."""

    reason: StopReason


Event: TypeAlias = Text | Notice | Call | Usage | Stop


class Cancel(Protocol):
    """How a running request is told to stop, from another thread."""

    @property
    def requested(self) -> bool:
        """Whether the request should stop."""
        ...

    def on_request(self, callback: Callable[[], None]) -> None:
        """Call `callback` when stopping is requested; at once if it already was."""
        ...


class Model(Protocol):
    """A language model behind one seam: it streams events for a request.

    `capabilities`: "tools" (takes all tools in one request); "few_tools" (at most four, chosen in a
    step of its own).
    """

    @property
    def name(self) -> str:
        """The name a person would configure, such as `local/qwen2.5-coder-1.5b`."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """The size of the window; None when unknown."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """What the model can do."""
        ...

    def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
        """Yield events, ending with `Stop`. After `cancel` it ends soon, with or without `Stop`.

        Raises:
            ModelError: one of its subclasses; the message holds no key and no payload.
        """
        ...

    def close(self) -> None:
        """Free what the model holds open; it may be used again afterwards."""
        ...


def _credible(n: int | None) -> int | None:
    return n if n is not None and 0 <= n <= _MAX_COUNT else None
