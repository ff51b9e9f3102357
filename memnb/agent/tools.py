"""Tools: typed functions that a model may call, and the change that each call would make.

A tool is asked for a plan first. A plan without a change runs at once; one with a change is decided
upon, and applied only if planning it again gives the very same change: what a person approved is
what is done.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

from memnb.core import canonical
from memnb.core.bodies import Trust
from memnb.core.canonical import Value
from memnb.core.messages import JsonValue, ToolSpec
from memnb.core.permissions import ChangeKind
from memnb.errors import InputError, UnknownVerb

__all__ = [
    "Access",
    "Change",
    "Plan",
    "Tool",
    "ToolResult",
    "described",
    "find",
    "require_distinct",
    "tool",
    "typed",
]

Access = Literal["read", "write"]

MAX_RESULT_BYTES: Final = 16_384
"""The most that any tool result puts before a model."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a call would change, in full: `preview` is everything a person approves."""

    kind: ChangeKind
    title: str
    preview: str
    state: str = ""
    """What the change was planned upon: a revision, a note's version, the generation."""

    @property
    def digest(self) -> str:
        """What an approval is bound to."""
        value: list[Value] = [self.kind, self.title, self.preview, self.state]
        return sha256(canonical.encode(value)).hexdigest()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is shown, and what is recorded in its place ("" = the same).

    `carried` names the facts whose text the output holds; `remembered` what was kept; `forgot`
    tells that something was forgotten.
    """

    output: str
    ok: bool = True
    record: str = ""
    carried: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    forgot: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call would do: `apply` does it.

    `propose` lets it wait for a person where nobody can be asked, and says as what; "" when it
    can't wait either.
    """

    apply: Callable[[], ToolResult]
    change: Change | None = None
    propose: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: how a model sees it, what it touches, and how a call is planned.

    `recorded_first`: the call is on the disk before it runs, since its effects are elsewhere.
    """

    spec: ToolSpec
    access: Access
    trust: Trust
    plan: Callable[[str], Plan]
    recorded_first: bool = False

    @property
    def name(self) -> str:
        """The name that the model calls."""
        return self.spec.name


def tool(
    function: Callable[..., Plan],
    *,
    access: Access,
    trust: Trust,
    recorded_first: bool = False,
) -> Tool:
    """A tool whose function makes a plan from typed arguments; its docstring describes it."""
    schema, parse = typed(function)
    spec = ToolSpec(function.__name__, described(function), schema)
    return Tool(spec, access, trust, lambda text: function(**parse(text)), recorded_first)


def find(tools: Iterable[Tool], name: str) -> Tool:
    """The tool of this name; raises UnknownVerb, which names those there are."""
    known = {tool.name: tool for tool in tools}
    if name not in known:
        raise UnknownVerb(f"no such tool. The tools are: {', '.join(sorted(known))}.")
    return known[name]


def require_distinct(tools: Sequence[Tool]) -> None:
    """Refuse two tools of one name: a model, and a person who approves, must know which is meant.

    Raises:
        InputError: a name is used twice.
    """
    names = [tool.name for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"there is another tool called {', '.join(twice)}; rename yours.")


def _bad_arguments(name: str, problems: Iterable[str]) -> InputError:
    """The error for arguments that don't fit a tool; never repeats a value."""
    return InputError(f"the arguments of {name} don't fit: {'; '.join(problems)}.")


_Typed: TypeAlias = tuple[Mapping[str, JsonValue], Callable[[str], dict[str, Any]]]


def typed(
    function: Callable[..., Any],
) -> _Typed:
    """The JSON schema of a function's parameters, and what turns JSON text into its arguments.

    Raises:
        InputError: a parameter is of a type that JSON can't hold, or has no name to be called by.
    """
    plain = getattr(function, "__func__", None)
    return _typed(function) if plain is None else _typed_method(plain)


@lru_cache(maxsize=64)
def _typed_method(function: Callable[..., Any]) -> _Typed:
    """As `typed`, of a method without its object: made once, since it costs half a millisecond."""
    return _typed(function, of_object=True)


def _typed(function: Callable[..., Any], *, of_object: bool = False) -> _Typed:
    from pydantic import (  # 0.1 s, first needed when an agent is asked
        ConfigDict,
        PydanticUserError,
        ValidationError,
        create_model,
    )

    name = function.__name__
    try:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
        fields: dict[str, Any] = {
            parameter.name: _field(parameter) for parameter in parameters[of_object:]
        }
        model = create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
        schema = model.model_json_schema()
    except (PydanticUserError, NameError, TypeError) as error:
        raise InputError(
            f"{name} can't be a tool: give every parameter a name and a type that JSON can hold"
            f" ({type(error).__name__})."
        ) from None
    schema.pop("title", None)
    for value in schema.get("properties", {}).values():
        value.pop("title", None)

    def parse(arguments: str) -> dict[str, Any]:
        try:
            values = model.model_validate_json(arguments or "{}")
        except ValidationError as error:
            problems = (_problem(detail) for detail in error.errors(include_input=False))
            raise _bad_arguments(name, problems) from None
        return {field: getattr(values, field) for field in model.model_fields}

    return schema, parse


def _field(parameter: inspect.Parameter) -> tuple[Any, Any]:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise TypeError("a parameter for any number of values")
    default = ... if parameter.default is parameter.empty else parameter.default
    return parameter.annotation, default


def _problem(detail: Mapping[str, Any]) -> str:
    place = ".".join(str(step) for step in detail.get("loc", ())) or "JSON"
    return f"{place}: {detail.get('type', 'invalid')}"


def described(function: Callable[..., Any]) -> str:
    """The first paragraph of a docstring, on one line."""
    paragraph = (inspect.getdoc(function) or "").split("\n\n", 1)[0]
    return " ".join(paragraph.split())
