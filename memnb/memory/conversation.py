"""What a session says to a model: its visible exchanges as messages, oldest first.

1. A message that held a secret is not replayed, only that there was one.
2. Results of memory tools hold references; the facts are rendered anew, as far as they are still
   valid at the same revision.
3. Inserted data is told apart from the person's words, and can't imitate their end.
4. It is read from the newest exchange back, as far as somebody asks for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from memnb.core.cutting import cut_middle
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
    "Replay",
    "carries_data",
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

_REPLAYED: Final = frozenset({"user", "assistant", "tool", "turn_end"})
_FIRST_BATCH: Final = 8
_LARGEST_BATCH: Final = 256
_SHOWN_BYTES: Final = 16 * 1024

Render = Callable[[Iterable[str]], str]
"""Gives the lines of facts for references, of those that are still valid."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange as it is replayed: the person's message, then replies and tool results.

    Args:
        turn: the number of the message's record.
        end: the number of the record where the next exchange begins.
        seqs: the records that are replayed, those that can't be seen left out.
        messages: what a model is shown.
        is_complete: whether it ended; an interrupted or failed one did.
        carried: references of the facts that were in sight.
    """

    turn: int
    end: int
    seqs: tuple[int, ...]
    messages: tuple[Message, ...]
    is_complete: bool = True
    carried: tuple[str, ...] = ()

    @property
    def n_messages(self) -> int:
        """How many messages it is replayed as."""
        return len(self.messages)


@dataclass(frozen=True, slots=True)
class Replay:
    """How a session is replayed.

    Args:
        history: the session.
        seen: what of it can be seen.
        render: gives the lines of facts for references such as `F-7k2m9q@1`.
        fence: a random word, which inserted data can't know.
        but_turn: the turn that is running, which is left out.
        shown_bytes: most bytes of a tool's output, as the model was shown it when it came.
    """

    history: History
    seen: View
    render: Render
    fence: str
    but_turn: int = 0
    shown_bytes: int = _SHOWN_BYTES

    def newest_first(self, cutoff: int = 0) -> Iterator[Exchange]:
        """The visible exchanges that a model took part in, from record `cutoff` on."""
        return self._exchanges(list(reversed(self._asked(cutoff))))

    def oldest_first(self, cutoff: int = 0) -> Iterator[Exchange]:
        """The same, in the order in which they were."""
        return self._exchanges(self._asked(cutoff))

    def _asked(self, cutoff: int) -> Sequence[tuple[int, int]]:
        """Where the exchanges begin, and where the next ones do."""
        asked, first = self.history.entries.asked, max(cutoff, self.seen.cleared_to + 1)
        starts = asked[bisect_left(asked, first) :]
        ends = (*starts[1:], len(self.history.entries) + 1)
        return [
            (start, end)
            for start, end in zip(starts, ends, strict=False)
            if start not in self.seen.undone and start != self.but_turn
        ]

    def _exchanges(self, asked: Sequence[tuple[int, int]]) -> Iterator[Exchange]:
        at, size = 0, _FIRST_BATCH
        while at < len(asked):
            batch = asked[at : at + size]
            seqs = {start: self._of_turn(start, end) for start, end in batch}
            records = self.history.reader.records([seq for some in seqs.values() for seq in some])
            for start, end in batch:
                found = self._exchange(start, end, [records.get(seq) for seq in seqs[start]])
                if found is not None:
                    yield found
            at, size = at + size, min(size * 2, _LARGEST_BATCH)

    def _of_turn(self, start: int, end: int) -> list[int]:
        entries = self.history.entries
        return [
            seq
            for seq in range(start, end)
            if entries.turn(seq) == start and entries.kind(seq).type in _REPLAYED
        ]

    def _exchange(self, turn: int, end: int, records: Sequence[Record | None]) -> Exchange | None:
        messages: list[Message] = []
        seqs: list[int] = []
        carried: dict[str, None] = {}
        is_complete = False
        for record in records:
            if record is None:
                continue
            if record.head.type == "turn_end":
                is_complete = True
                continue
            try:
                messages.extend(self._messages(record, carried))
            except StoreDamaged:
                continue
            if self.seen.shows(record.head.seq, "working"):
                seqs.append(record.head.seq)
        # A turn that was stopped or failed before a word came would only be sent again and again.
        messages = [m for m in messages if m.role != "assistant" or m.text or m.calls]
        if not any(message.role == "assistant" for message in messages):
            return None
        whole = tuple(_with_results(messages))
        return Exchange(turn, end, tuple(seqs), whole, is_complete, tuple(carried))

    def _messages(self, record: Record, carried: dict[str, None]) -> Iterator[Message]:
        visible = self.seen.shows(record.head.seq, "working")
        if record.head.type == "user":
            # Without its words (purged, or damaged) it still is the message that was answered.
            is_whole = record.body is not None
            yield _user(read_user(record), self.fence, visible=visible) if is_whole else _GONE
        elif visible and record.head.type == "assistant":
            reply = read_assistant(record)
            carried.update(dict.fromkeys(reply.carried))
            yield _assistant(reply)
        elif visible and record.head.type == "tool":
            result = read_tool(record)
            carried.update(dict.fromkeys(result.carried))
            yield self._tool(result)

    def _tool(self, body: ToolBody) -> Message:
        lines = self.render(body.carried)
        output = cut_middle(body.output, self.shown_bytes)[0]
        text = f"{output}\n{lines}" if lines else output
        return Message("tool", text, call_id=body.call_id, name=body.name)


def carries_data(earlier: Iterable[Exchange], fence: str) -> bool:
    """Whether exchanges hold inserted data, or results of tools that read something."""
    return any(
        (message.role == "tool" and message.name not in _CONFIRMING)
        or (message.role == "user" and f"<{fence}" in message.text)
        for exchange in earlier
        for message in exchange.messages
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


def fact_lines(
    stores: Stores,
    validator: Validator,
    references: Iterable[str],
    *,
    without: Collection[str] = (),
) -> str:
    """Lines of the facts named by references, of those that are valid at that revision.

    Facts `without` are left out, as if they weren't known.
    """
    wanted = dict(reference.split("@", 1) for reference in references if "@" in reference)
    now = stores.now()
    facts = stores.facts.facts(list(wanted), at=now)
    found = Standings(stores, validator, now, without=without).of(facts)
    return "\n".join(
        fact_line(one.fact)
        for one in found
        if not one.reason and str(one.fact.current.revision) == wanted[one.fact.fact_id]
    )


def not_run(call: Call) -> Message:
    """The result of a call that was never run."""
    return Message("tool", NOT_RUN, call_id=call.call_id, name=call.name)


def _user(body: UserBody, fence: str, *, visible: bool) -> Message:
    if body.sensitive:
        return Message("user", WITHHELD)
    return Message("user", user_text(body.parts, fence) if visible else FORGOTTEN)


def _assistant(body: AssistantBody) -> Message:
    text = body.text
    if text and body.stop == "interrupted":
        text = f"{text} {INTERRUPTED}"
    return Message("assistant", text, calls=body.calls)


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
