"""What requests to models consumed, by what they were for; each counts once, refused ones too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from memnb.core.bodies import read_assistant
from memnb.core.messages import Usage, UsageTotal
from memnb.core.records import Record
from memnb.core.summary_bodies import read_compact, read_memory_usage
from memnb.errors import StoreDamaged
from memnb.memory.history import Histories
from memnb.memory.stores import Stores

__all__ = ["PURPOSES", "Purpose", "Spent", "spent"]

Purpose = Literal["answers", "compaction", "learning"]
"""What a request is for: a person's message, the working summary, what may be learned."""

PURPOSES: Final[tuple[Purpose, ...]] = get_args(Purpose)

_TYPES: Final = frozenset({"assistant", "compact", "memory_usage"})
_BATCH: Final = 256


@dataclass(frozen=True, slots=True)
class Spent:
    """What the requests to one model for one purpose consumed."""

    purpose: Purpose
    model: str
    n_requests: int
    total: UsageTotal


def spent(stores: Stores, histories: Histories, session_ids: Iterable[str]) -> tuple[Spent, ...]:
    """What was consumed in these sessions, by purpose and then by model.

    Raises:
        UnknownId: there is no such session. StoreError: one can't be read.
    """
    totals: dict[tuple[Purpose, str], tuple[int, UsageTotal]] = {}
    for session_id in session_ids:
        for purpose, model, usage in (
            *_of_records(histories, session_id),
            *_of_runs(stores, session_id),
        ):
            n, total = totals.get((purpose, model), (0, UsageTotal()))
            totals[purpose, model] = (n + 1, total.plus(usage))
    order = sorted(totals, key=lambda one: (PURPOSES.index(one[0]), one[1]))
    return tuple(Spent(purpose, model, *totals[purpose, model]) for purpose, model in order)


def _of_records(histories: Histories, session_id: str) -> Iterator[tuple[Purpose, str, Usage]]:
    history = histories.whole(session_id)
    seqs = [
        seq
        for seq in range(1, len(history.entries) + 1)
        if history.entries.kind(seq).type in _TYPES
    ]
    for start in range(0, len(seqs), _BATCH):
        for record in history.reader.records(seqs[start : start + _BATCH]).values():
            # What a purge blanked, or a damage took, can't be counted.
            if record is None or record.body is None:
                continue
            try:
                found = _of_record(record, session_id)
            except StoreDamaged:
                continue
            if found is not None:
                yield found


def _of_record(record: Record, session_id: str) -> tuple[Purpose, str, Usage] | None:
    if record.head.type == "assistant":
        answer = read_assistant(record)
        return "answers", answer.model, answer.usage
    if record.head.type == "compact":
        summary = read_compact(record, session_id)
        # Rules alone cost nothing.
        return ("compaction", summary.model, summary.usage) if summary.model else None
    refused = read_memory_usage(record)
    return refused.purpose, refused.model, refused.usage


def _of_runs(stores: Stores, session_id: str) -> Iterator[tuple[Purpose, str, Usage]]:
    for run in stores.candidates.runs(limit=-1, session_id=session_id):
        if run.model:
            yield "learning", run.model, run.usage
