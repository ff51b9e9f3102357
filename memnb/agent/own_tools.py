"""A person's own functions as tools of the agent."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any, TypeVar, overload

from memnb.agent.tools import Access, Change, Plan, Tool, ToolResult, described, typed
from memnb.core.messages import ToolSpec
from memnb.errors import InputError

__all__ = ["as_tool", "own_tool", "registered", "tool"]

_F = TypeVar("_F", bound=Callable[..., Any])

_registered: dict[str, tuple[Callable[..., Any], Tool]] = {}


@overload
def tool(function: _F) -> _F: ...


@overload
def tool(*, access: Access = "write") -> Callable[[_F], _F]: ...


def tool(function: _F | None = None, *, access: Access = "write") -> _F | Callable[[_F], _F]:
    """Make a typed function a tool of every `%%agent` of this kernel; the function stays as it is.

    Use it as `@memnb.tool` or `@memnb.tool(access="read")`; a later function of the same name takes
    its place.

    Args:
        function: with a docstring; parameters are typed with what JSON can hold.
        access: `read` runs in every mode; `write` asks in `ask` mode and is refused in `readonly`.

    Raises:
        InputError: it has no docstring, or a parameter without a type.
    """

    def register(wrapped: _F) -> _F:
        made = own_tool(wrapped, access=access)
        _registered[made.name] = (wrapped, made)
        return wrapped

    return register if function is None else register(function)


def registered() -> tuple[Tool, ...]:
    """The tools that were registered in this kernel."""
    return tuple(made for _, made in _registered.values())


def as_tool(value: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is, or a function made one."""
    if isinstance(value, Tool):
        return value
    if not callable(value):
        raise InputError("a tool is a typed function with a docstring.")
    function, made = _registered.get(getattr(value, "__name__", ""), (None, None))
    return made if made is not None and function is value else own_tool(value)


def own_tool(function: Callable[..., Any], *, access: Access = "write") -> Tool:
    """A person's own typed function as a tool; its result is shown to the model as text or JSON.

    Args:
        function: with a docstring; parameters are typed with what JSON can hold.
        access: `read` runs in every mode; `write` asks in `ask` mode and is refused in `readonly`.

    Raises:
        InputError: it has no docstring, or a parameter without a type.
    """
    if not inspect.getdoc(function):
        raise InputError(f"give {function.__name__} a docstring: it tells the model what it does.")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.annotation is parameter.empty:
            raise InputError(f"give the parameter {parameter.name!r} of a tool a type.")
    schema, parse = typed(function)

    def plan(arguments: str) -> Plan:
        values = parse(arguments)
        change = None
        if access == "write":
            change = Change("own_tool", f"run {function.__name__}", arguments)
        return Plan(lambda: ToolResult(_as_text(function(**values))), change)

    spec = ToolSpec(function.__name__, described(function), schema)
    return Tool(spec, access, "external", plan, recorded_first=access == "write")


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)
