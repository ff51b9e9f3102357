"""The body of each type of record: closed schemas, checked when they come from disk.

1. Fact text is never copied into a record: `carried`, `cited` and `remembered` hold references
   such as `F-7k2m9q@1`, which are rendered anew from the store. Otherwise it would outlive forget.
2. A model's tool arguments are kept as the text it sent; costs are integers of nano-USD; unknown
   is null, never zero.
3. Only `typed` parts are a person's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from memnb.core import body_fields
from memnb.core.canonical import Body, Value
from memnb.core.messages import Call, Usage
from memnb.core.records import FORMAT, Draft, Record

__all__ = [
    "LEARNING",
    "NO_CELL",
    "WITHOUT_FACTS",
    "WITHOUT_MEMORY",
    "AssistantBody",
    "AssistantStop",
    "Cell",
    "Cut",
    "Part",
    "PartType",
    "SessionStartBody",
    "ToolBody",
    "Trust",
    "TurnEnd",
    "TurnEndBody",
    "UserBody",
    "Via",
    "clear_draft",
    "read_assistant",
    "read_session_start",
    "read_target",
    "read_tool",
    "read_turn_end",
    "read_user",
    "redo_draft",
    "session_end_draft",
    "undo_draft",
]

PartType = Literal["typed", "variable", "traceback", "file", "recall", "seed"]
Via = Literal["agent", "command", "api", "mcp", "child"]
Trust = Literal["memory", "file", "kernel", "external"]
AssistantStop = Literal["end", "calls", "length", "interrupted", "refused", "failed"]
TurnEnd = Literal["complete", "interrupted", "failed", "paused", "steps", "lost"]

_PART_TYPES: Final = frozenset(get_args(PartType))
_VIAS: Final = frozenset(get_args(Via))
_TRUSTS: Final = frozenset(get_args(Trust))
_STOPS: Final = frozenset(get_args(AssistantStop))
_ENDS: Final = frozenset(get_args(TurnEnd))


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a user's message. `expr` names the expression of a `variable` part."""

    type: PartType
    text: str
    expr: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The notebook cell that caused a message; what is unknown is None.

    `is_attended`: the front end could have asked a person; False in a run without input prompt.
    Records of before that was kept count as attended.
    """

    notebook: str | None = None
    cell_id: str | None = None
    count: int | None = None
    is_attended: bool = True


NO_CELL: Final = Cell()
"""A message that no known cell caused."""


@dataclass(frozen=True, slots=True)
class SessionStartBody:
    """Where and with what a session began."""

    store_id: str
    checkout: str
    cwd: str
    kernel_id: str
    versions: Mapping[str, str]
    format: int = FORMAT

    def draft(self) -> Draft:
        """The record to append."""
        return Draft(
            "session_start",
            {
                "checkout": self.checkout,
                "cwd": self.cwd,
                "format": self.format,
                "kernel_id": self.kernel_id,
                "store_id": self.store_id,
                "versions": dict(self.versions),
            },
        )


@dataclass(frozen=True, slots=True)
class UserBody:
    """What a person wrote.

    `asks`: a model was asked, so an exchange follows; otherwise it is a statement, complete by
    itself. `sensitive`: a secret was masked; the record is never evidence.
    """

    via: Via
    parts: tuple[Part, ...]
    asks: bool = True
    cell: Cell = NO_CELL
    sensitive: bool = False

    def draft(self) -> Draft:
        """The record to append; it opens an exchange."""
        return Draft(
            "user",
            {
                "asks": self.asks,
                "cell": _cell_value(self.cell),
                "parts": [_part_value(part) for part in self.parts],
                "sensitive": self.sensitive,
                "via": self.via,
            },
            turn=None,
        )


WITHOUT_MEMORY: Final = "memory"
"""The parameter of a reply that is `off` when memory was neither read nor written for it."""

LEARNING: Final = "learning"
"""The parameter of a reply that says how learning was set, when it was on."""

WITHOUT_FACTS: Final = "without"
"""The parameter of a reply that names, with commas between, the facts that a probe left out."""


@dataclass(frozen=True, slots=True)
class AssistantBody:
    """One reply of a model, with what its request carried from memory."""

    text: str
    calls: tuple[Call, ...]
    carried: tuple[str, ...]
    model: str
    params: Mapping[str, str]
    stop: AssistantStop
    usage: Usage

    def draft(self, turn: int) -> Draft:
        """The record to append to the exchange `turn`."""
        return Draft(
            "assistant",
            {
                "calls": [
                    {"arguments": call.arguments, "id": call.call_id, "name": call.name}
                    for call in self.calls
                ],
                "carried": list(self.carried),
                "model": self.model,
                "params": dict(self.params),
                "stop": self.stop,
                "text": self.text,
                "usage": {
                    "cost_nusd": self.usage.cost_nusd,
                    "input_tokens": self.usage.input_tokens,
                    "output_tokens": self.usage.output_tokens,
                },
            },
            turn,
        )


@dataclass(frozen=True, slots=True)
class Cut:
    """What was left out of a long output: its whole size in bytes and its digest."""

    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ToolBody:
    """The result of one tool call; `carried` names the facts whose text the model was shown."""

    call_id: str
    name: str
    ok: bool
    output: str
    trust: Trust
    carried: tuple[str, ...] = ()
    cut: Cut | None = None

    def draft(self, turn: int) -> Draft:
        """The record to append to the exchange `turn`."""
        cut: Value = None
        if self.cut is not None:
            cut = {"n_bytes": self.cut.n_bytes, "sha256": self.cut.sha256}
        return Draft(
            "tool",
            {
                "call_id": self.call_id,
                "carried": list(self.carried),
                "cut": cut,
                "name": self.name,
                "ok": self.ok,
                "output": self.output,
                "trust": self.trust,
            },
            turn,
        )


@dataclass(frozen=True, slots=True)
class TurnEndBody:
    """How an exchange ended."""

    end: TurnEnd
    n_requests: int = 0
    cited: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()

    def draft(self, turn: int) -> Draft:
        """The record to append to the exchange `turn`."""
        return Draft(
            "turn_end",
            {
                "cited": list(self.cited),
                "end": self.end,
                "n_requests": self.n_requests,
                "remembered": list(self.remembered),
            },
            turn,
        )


def undo_draft(target: int) -> Draft:
    """The event that hides the exchange `target`."""
    return Draft("undo", {"target": target})


def redo_draft(target: int) -> Draft:
    """The event that shows the exchange `target` again."""
    return Draft("redo", {"target": target})


def clear_draft() -> Draft:
    """The event that empties the working context."""
    return Draft("clear", {})


def session_end_draft(reason: str) -> Draft:
    """The last record of a session that ended in order."""
    return Draft("session_end", {"reason": reason})


def read_session_start(record: Record) -> SessionStartBody:
    """The start of a session; raises StoreDamaged when its body isn't one."""
    body = body_fields.of(record)
    return SessionStartBody(
        store_id=body_fields.text(body, "store_id"),
        checkout=body_fields.text(body, "checkout"),
        cwd=body_fields.text(body, "cwd"),
        kernel_id=body_fields.text(body, "kernel_id"),
        versions=body_fields.text_map(body, "versions"),
        format=body_fields.number(body, "format"),
    )


def read_user(record: Record) -> UserBody:
    """A user record's body; raises StoreDamaged when it isn't one."""
    body = body_fields.of(record)
    cell, parts = body["cell"], body["parts"]
    if not isinstance(cell, dict) or not isinstance(parts, list):
        raise body_fields.damaged()
    return UserBody(
        via=cast("Via", body_fields.one_of(body, "via", _VIAS)),
        parts=tuple(_read_part(part) for part in parts),
        asks=body_fields.flag(body, "asks"),
        cell=_read_cell(body_fields.Fields(cell)),
        sensitive=body_fields.flag(body, "sensitive"),
    )


def read_assistant(record: Record) -> AssistantBody:
    """An assistant record's body; raises StoreDamaged when it isn't one."""
    body = body_fields.of(record)
    return AssistantBody(
        text=body_fields.text(body, "text"),
        calls=_calls(body),
        carried=body_fields.texts(body, "carried"),
        model=body_fields.text(body, "model"),
        params=body_fields.text_map(body, "params"),
        stop=cast("AssistantStop", body_fields.one_of(body, "stop", _STOPS)),
        usage=body_fields.usage(body),
    )


def read_tool(record: Record) -> ToolBody:
    """A tool record's body; raises StoreDamaged when it isn't one."""
    body = body_fields.of(record)
    cut = body["cut"]
    return ToolBody(
        call_id=body_fields.text(body, "call_id"),
        name=body_fields.text(body, "name"),
        ok=body_fields.flag(body, "ok"),
        output=body_fields.text(body, "output"),
        trust=cast("Trust", body_fields.one_of(body, "trust", _TRUSTS)),
        carried=body_fields.texts(body, "carried"),
        cut=None if cut is None else _read_cut(cut),
    )


def read_turn_end(record: Record) -> TurnEndBody:
    """A turn's end; raises StoreDamaged when its body isn't one."""
    body = body_fields.of(record)
    return TurnEndBody(
        end=cast("TurnEnd", body_fields.one_of(body, "end", _ENDS)),
        n_requests=body_fields.number(body, "n_requests"),
        cited=body_fields.texts(body, "cited"),
        remembered=body_fields.texts(body, "remembered"),
    )


def read_target(record: Record) -> int:
    """The exchange that an undo or redo names; raises StoreDamaged when it names none."""
    return body_fields.number(body_fields.of(record), "target")


def _calls(body: Body) -> tuple[Call, ...]:
    values = body["calls"]
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise body_fields.damaged()
    calls = (body_fields.Fields(value) for value in values)
    return tuple(
        Call(
            body_fields.text(c, "id"), body_fields.text(c, "name"), body_fields.text(c, "arguments")
        )
        for c in calls
    )


def _part_value(part: Part) -> dict[str, Value]:
    value: dict[str, Value] = {"text": part.text, "type": part.type}
    return {**value, "expr": part.expr} if part.expr else value


def _cell_value(cell: Cell) -> dict[str, Value]:
    value: dict[str, Value] = {"count": cell.count, "id": cell.cell_id, "notebook": cell.notebook}
    return value if cell.is_attended else {**value, "attended": False}


def _read_cell(cell: Body) -> Cell:
    return Cell(
        notebook=body_fields.maybe_text(cell, "notebook"),
        cell_id=body_fields.maybe_text(cell, "id"),
        count=body_fields.maybe_number(cell, "count"),
        is_attended=body_fields.flag(cell, "attended") if "attended" in cell else True,
    )


def _read_cut(value: object) -> Cut:
    if not isinstance(value, dict):
        raise body_fields.damaged()
    fields = body_fields.Fields(value)
    return Cut(body_fields.number(fields, "n_bytes"), body_fields.text(fields, "sha256"))


def _read_part(value: object) -> Part:
    if not isinstance(value, dict):
        raise body_fields.damaged()
    fields = body_fields.Fields(value)
    return Part(
        type=cast("PartType", body_fields.one_of(fields, "type", _PART_TYPES)),
        text=body_fields.text(fields, "text"),
        expr=body_fields.text(fields, "expr") if "expr" in fields else "",
    )
