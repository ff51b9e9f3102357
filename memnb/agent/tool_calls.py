"""Running one tool call: planned, decided, approved, applied, and what is kept of its output."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memnb.agent import tools as known_tools
from memnb.agent.reply import Approve, Observe, ToolDone, ToolStarted
from memnb.agent.tools import MAX_RESULT_BYTES, Plan, Tool, ToolResult
from memnb.core.bodies import ToolBody
from memnb.core.canonical import clean_text
from memnb.core.cutting import cut_middle
from memnb.core.messages import Call
from memnb.core.permissions import Mode, decide
from memnb.core.screening import mask
from memnb.errors import ApprovalDenied, MemnbError, ReadOnlyMode, Refused, StoreError

__all__ = ["CallOutcome", "Rules", "run"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a turn allows, whom it asks, and how much of an output is shown and recorded."""

    mode: Mode
    write_approval: bool
    approve: Approve
    in_tool_call: Callable[[], contextlib.AbstractContextManager[None]]
    shown_bytes: int
    recorded_bytes: int


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """A call that was answered: the record, what the model is shown, what was kept."""

    body: ToolBody
    shown: str
    remembered: tuple[str, ...]
    not_done: str
    taints: bool
    forgot: bool


def run(
    tools: Sequence[Tool],
    call: Call,
    rules: Rules,
    *,
    tainted: bool,
    observe: Observe,
    before: Callable[[], None],
) -> CallOutcome:
    """Answer a tool call; every failure but an interrupt or a broken store is an answer too.

    Args:
        tools: those that exist.
        call: the model's.
        rules: what is allowed.
        tainted: the turn carried tool output or inserted data before.
        observe: shows that a tool runs.
        before: called before a tool whose effects are elsewhere: its call must be on the disk.
    """
    observe(ToolStarted(call.name))
    not_done = ""
    tool: Tool | None = None
    try:
        tool = known_tools.find(tools, call.name)
        result = _permitted(tool, call, rules, tainted=tainted, before=before)
    except StoreError:
        raise
    except Refused as error:
        not_done = str(error)
        result = ToolResult(f"not done: {error} Answer without it.", ok=False)
    except MemnbError as error:
        result = ToolResult(f"{type(error).__name__}: {error}", ok=False)
    except (Exception, SystemExit) as error:  # a tool's own fault is told, and the turn goes on
        result = ToolResult(f"{type(error).__name__} in {call.name}", ok=False)
    observe(ToolDone(call.name, result.ok, not_done))
    return _outcome(tool, call, result, rules, not_done)


def _permitted(
    tool: Tool, call: Call, rules: Rules, *, tainted: bool, before: Callable[[], None]
) -> ToolResult:
    plan = tool.plan(call.arguments)
    if plan.change is not None:
        plan = _approved(tool, call, plan, rules, tainted=tainted)
    if tool.recorded_first:
        before()
    with rules.in_tool_call() if tool.trust != "memory" else contextlib.nullcontext():
        return plan.apply()


def _approved(tool: Tool, call: Call, plan: Plan, rules: Rules, *, tainted: bool) -> Plan:
    """The plan to apply, planned again after a person's yes and found to be the same change."""
    change = plan.change
    assert change is not None  # noqa: S101  # the caller looked
    verdict = decide(change.kind, rules.mode, write_approval=rules.write_approval, tainted=tainted)
    if verdict == "deny":
        raise ReadOnlyMode(f"{change.title}: refused in readonly mode.")
    if verdict == "allow":
        return plan
    answer = rules.approve(change)
    if answer is None:
        waits_as = plan.propose() if plan.propose is not None else ""
        waits = f"; it waits as {waits_as}: `%memory review`" if waits_as else ""
        raise ApprovalDenied(f"{change.title}: nobody to ask here{waits}.")
    if not answer:
        raise ApprovalDenied(f"{change.title}: you said no.")
    again = tool.plan(call.arguments)
    if again.change is None or again.change.digest != change.digest:
        raise ApprovalDenied(f"{change.title}: what it would change is not what you were shown.")
    return again


def _outcome(
    tool: Tool | None, call: Call, result: ToolResult, rules: Rules, not_done: str
) -> CallOutcome:
    shown = cut_middle(clean_text(result.output), min(rules.shown_bytes, MAX_RESULT_BYTES))[0]
    kept = mask(clean_text(result.record or result.output))[0]
    recorded, cut = cut_middle(kept, rules.recorded_bytes)
    body = ToolBody(
        call_id=call.call_id,
        name=clean_text(call.name),
        ok=result.ok,
        output=recorded,
        trust=tool.trust if tool else "memory",
        carried=result.carried,
        cut=cut,
    )
    taints = tool is not None and result.ok and (tool.access == "read" or tool.trust != "memory")
    return CallOutcome(body, shown, result.remembered, not_done, taints, result.forgot)
