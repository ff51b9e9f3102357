"""Which records say what a fact says: once it is forgotten, they aren't sent or cited again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memnb.core.bodies import read_assistant, read_tool, read_user
from memnb.core.facts import bare, normalised
from memnb.core.records import Record
from memnb.errors import MemnbError, StoreDamaged
from memnb.memory.history import Histories
from memnb.memory.stores import Stores

__all__ = ["records_holding"]

_BATCH: Final = 256


def records_holding(
    stores: Stores, histories: Histories, texts: Sequence[str]
) -> list[tuple[str, int]]:
    """Session and number of every message, reply and tool record that holds one of `texts`.

    Case, blanks, and what ends a text don't matter. A session that can't be read is passed over: it
    can't be replayed either.
    """
    shapes = "|".join(re.escape(text) for text in map(bare, texts) if text)
    if not shapes:
        return []
    wanted = re.compile(rf"(?<!\w)(?:{shapes})(?!\w)")
    found: list[tuple[str, int]] = []
    for session_id in stores.sessions.ids():
        try:
            reader = histories.of(session_id).reader
        except MemnbError:
            continue
        for start in range(1, reader.last_seq + 1, _BATCH):
            seqs = range(start, min(start + _BATCH, reader.last_seq + 1))
            for seq, record in reader.records(seqs).items():
                if record is not None and _holds(record, wanted):
                    found.append((session_id, seq))
    return found


def _holds(record: Record, wanted: re.Pattern[str]) -> bool:
    return wanted.search(normalised("\n".join(_texts(record)))) is not None


def _texts(record: Record) -> Iterator[str]:
    try:
        if record.head.type == "user":
            body = read_user(record)
            if body.asks:
                yield from (part.text for part in body.parts)
        elif record.head.type == "assistant":
            reply = read_assistant(record)
            yield reply.text
            yield from (call.arguments for call in reply.calls)
        elif record.head.type == "tool":
            yield read_tool(record).output
    except StoreDamaged:
        return
