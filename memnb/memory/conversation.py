"""What a session says to a model: its visible exchanges as messages, oldest first.

1. A message that held a secret is not replayed, only that there was one.
2. Results of memory tools hold references; the facts are rendered anew, as far as they are still
   valid at the same revision.
3. Inserted data is told apart from the person's words, and can't imitate their end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from memnb.core.bodies import (
    AssistantBody,
    Part,
    ToolBody,
    UserBody,
    read_assistant,
    read_tool,
    read_user,
)
from memnb.core.fencing import fenced, unfenced
from memnb.core.messages import Call, Message
from memnb.core.records import Record
from memnb.core.section import fact_line
from memnb.core.visibility import View
from memnb.errors import StoreDamaged
from memnb.memory.history import History
from memnb.memory.standing import Standings
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = [
    "FORGOTTEN",
    "NOT_RUN",
    "Exchange",
    "Render",
    "carries_data",
    "exchanges",
    "fact_lines",
    "not_run",
    "user_text",
]

WITHHELD: Final = "(a message that held a secret; it is not sent again)"
INTERRUPTED: Final = "[stopped by the person]"
FORGOTTEN: Final = "(forgotten)"
NOT_RUN: Final = "not run: the turn ended before"

_GONE: Final = Message("user", FORGOTTEN)

_CONFIRMING: Final = frozenset(
    {"memory_remember", "memory_correct", "memory_forget", "memory_write", "memory_edit"}
)
"""Tools whose results only say what was done."""

Render = Callable[[Iterable[str]], str]
"""Gives the lines of facts for references, of those that are still valid."""

Exchange = tuple[Message, ...]
"""The messages of one exchange: the person's, then replies and tool results."""


def exchanges(
    history: History, seen: View, render: Render, *, fence: str, but_turn: int = 0
) -> list[Exchange]:
    """The visible exchanges of a session that a model took part in, oldest first.

    Args:
        history: the session.
        seen: what of it can be seen.
        render: gives the lines of facts for references such as `F-7k2m9q@1`.
        fence: a random word, which inserted data can't know.
        but_turn: the turn that is running, which is left out.
    """
    grouped: dict[int, list[int]] = {}
    for entry in history.entries[seen.cleared_to :]:
        if entry.turn and entry.type in ("user", "assistant", "tool"):
            if entry.asks:
                grouped[entry.turn] = [entry.seq]
            elif entry.turn in grouped:
                grouped[entry.turn].append(entry.seq)
    shown = {
        turn: seqs
        for turn, seqs in grouped.items()
        if turn not in seen.undone and turn > seen.cleared_to and turn != but_turn
    }
    wanted = [seq for seqs in shown.values() for seq in seqs]
    records = history.reader.records(wanted)
    found = (
        _exchange([records[seq] for seq in seqs], seen, render, fence) for seqs in shown.values()
    )
    return [exchange for exchange in found if exchange]


def carries_data(earlier: Iterable[Exchange], fence: str) -> bool:
    """Whether exchanges hold inserted data, or results of tools that read something."""
    return any(
        (message.role == "tool" and message.name not in _CONFIRMING)
        or (message.role == "user" and f"<{fence}" in message.text)
        for exchange in earlier
        for message in exchange
    )


def user_text(parts: Sequence[Part], fence: str) -> str:
    """A person's message as one text: inserted data follows it, each in a block of its own."""
    inline: list[str] = []
    blocks: list[str] = []
    for part in parts:
        if part.type == "typed":
            inline.append(part.text)
            continue
        label = unfenced(" ".join((part.expr or part.type).split()), fence)
        if part.type == "variable":
            inline.append(f"`{label}`")
        blocks.append(fenced(part.text, fence, label))
    return "\n\n".join(["".join(inline), *blocks])


def fact_lines(stores: Stores, validator: Validator, references: Iterable[str]) -> str:
    """Lines of the facts named by references, of those that are valid at that revision."""
    wanted = dict(reference.split("@", 1) for reference in references if "@" in reference)
    now = stores.now()
    found = Standings(stores, validator, now).of(stores.facts.facts(list(wanted), at=now))
    return "\n".join(
        fact_line(one.fact)
        for one in found
        if not one.reason and str(one.fact.current.revision) == wanted[one.fact.fact_id]
    )


def not_run(call: Call) -> Message:
    """The result of a call that was never run."""
    return Message("tool", NOT_RUN, call_id=call.call_id, name=call.name)


def _exchange(records: Sequence[Record | None], seen: View, render: Render, fence: str) -> Exchange:
    messages: list[Message] = []
    for record in records:
        if record is None:
            continue
        try:
            messages.extend(_messages(record, seen, render, fence))
        except StoreDamaged:
            continue
    # A turn that was stopped or failed before a word came would only be sent again and again.
    messages = [m for m in messages if m.role != "assistant" or m.text or m.calls]
    if not any(message.role == "assistant" for message in messages):
        return ()
    return tuple(_with_results(messages))


def _messages(record: Record, seen: View, render: Render, fence: str) -> Iterable[Message]:
    visible = seen.shows(record.head.seq, "working")
    if record.head.type == "user":
        # Without its words (purged, or damaged) it still is the message that was answered.
        is_whole = record.body is not None
        yield _user(read_user(record), fence, visible=visible) if is_whole else _GONE
    elif visible and record.head.type == "assistant":
        yield _assistant(read_assistant(record))
    elif visible and record.head.type == "tool":
        yield _tool(read_tool(record), render)


def _user(body: UserBody, fence: str, *, visible: bool) -> Message:
    if body.sensitive:
        return Message("user", WITHHELD)
    return Message("user", user_text(body.parts, fence) if visible else FORGOTTEN)


def _assistant(body: AssistantBody) -> Message:
    text = body.text
    if text and body.stop == "interrupted":
        text = f"{text} {INTERRUPTED}"
    return Message("assistant", text, calls=body.calls)


def _tool(body: ToolBody, render: Render) -> Message:
    lines = render(body.carried)
    text = f"{body.output}\n{lines}" if lines else body.output
    return Message("tool", text, call_id=body.call_id, name=body.name)


def _with_results(messages: Sequence[Message]) -> Iterable[Message]:
    """The messages with a result after every call, as every provider demands."""
    open_calls: list[Call] = []
    for message in messages:
        if message.role == "tool":
            if not any(call.call_id == message.call_id for call in open_calls):
                continue
            open_calls = [call for call in open_calls if call.call_id != message.call_id]
        else:
            yield from map(not_run, open_calls)
            open_calls = list(message.calls)
        yield message
    yield from map(not_run, open_calls)
