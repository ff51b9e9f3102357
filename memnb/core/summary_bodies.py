"""The bodies of what compaction leaves: a summary with its lineage, and a seed's origin.

1. A summary names every record it covers, exactly and cumulatively: references of at most 200
   records each, pinned by digest as evidence is; and the summary that it went on from.
2. What it says is never evidence. `carried` names the facts that were in sight of what it covers.
3. Unknown usage is null. That of a reply that was refused has a record of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from memnb.core import body_fields
from memnb.core.canonical import Body, Value
from memnb.core.facts import MAX_SOURCE_SEQS, SourceRef
from memnb.core.messages import Usage
from memnb.core.records import Draft, Record

__all__ = [
    "CompactBody",
    "HandoffBody",
    "MemoryUsageBody",
    "Prior",
    "Purpose",
    "read_compact",
    "read_handoff",
    "read_memory_usage",
    "texts_of",
]

Purpose = Literal["compaction", "learning"]
"""What a request besides the conversation was for."""

_PURPOSES: Final = frozenset(get_args(Purpose))


@dataclass(frozen=True, slots=True)
class Prior:
    """The record that a summary goes on from: a summary, or the seed of its session."""

    seq: int
    digest: str


@dataclass(frozen=True, slots=True)
class CompactBody:
    """A working summary.

    Args:
        summary: what the model wrote; "" when none did.
        essentials: what rules found that must survive.
        evidence: the records that it covers, all of them.
        prior: what it goes on from; None for the first.
        cutoff: the first record that it doesn't stand for.
        carried: references of the facts that were in sight of what it covers.
        holds_data: whether what it covers held inserted data or a tool's output.
        model: who wrote `summary`; "" for nobody.
        usage: what that took.
    """

    summary: str
    essentials: str
    evidence: tuple[SourceRef, ...]
    prior: Prior | None
    cutoff: int
    carried: tuple[str, ...]
    holds_data: bool
    model: str
    usage: Usage

    @property
    def seqs(self) -> tuple[int, ...]:
        """The records that it covers."""
        return tuple(seq for ref in self.evidence for seq in ref.seqs)

    def draft(self) -> Draft:
        """The record to append; it belongs to no exchange."""
        prior: Value = None
        if self.prior is not None:
            prior = {"digest": self.prior.digest, "seq": self.prior.seq}
        return Draft(
            "compact",
            {
                "carried": list(self.carried),
                "cutoff": self.cutoff,
                "essentials": self.essentials,
                "evidence": [
                    {"digest": ref.digest, "ranges": _ranges(ref.seqs)} for ref in self.evidence
                ],
                "holds_data": self.holds_data,
                "model": self.model,
                "prior": prior,
                "summary": self.summary,
                "usage": _usage_value(self.usage),
            },
        )


@dataclass(frozen=True, slots=True)
class HandoffBody:
    """Where the seed of a session comes from: a summary of another session."""

    session_id: str
    seq: int
    digest: str

    def draft(self) -> Draft:
        """The record to append before the seed."""
        return Draft(
            "handoff", {"digest": self.digest, "seq": self.seq, "session_id": self.session_id}
        )


@dataclass(frozen=True, slots=True)
class MemoryUsageBody:
    """What a request of memory's own took that no other record tells: one whose reply was refused.

    `outcome` is one word of why, never text of the reply.
    """

    purpose: Purpose
    model: str
    usage: Usage
    outcome: str

    def draft(self) -> Draft:
        """The record to append."""
        return Draft(
            "memory_usage",
            {
                "model": self.model,
                "outcome": self.outcome,
                "purpose": self.purpose,
                "usage": _usage_value(self.usage),
            },
        )


def read_compact(record: Record, session_id: str) -> CompactBody:
    """The body of a summary of a session; raises StoreDamaged when it isn't one."""
    body = body_fields.of(record)
    return CompactBody(
        summary=body_fields.text(body, "summary"),
        essentials=body_fields.text(body, "essentials"),
        evidence=tuple(_ref(session_id, item) for item in body_fields.items(body, "evidence")),
        prior=None if body["prior"] is None else _prior(body_fields.nested(body, "prior")),
        cutoff=body_fields.number(body, "cutoff"),
        carried=body_fields.texts(body, "carried"),
        holds_data=body_fields.flag(body, "holds_data"),
        model=body_fields.text(body, "model"),
        usage=body_fields.usage(body),
    )


def read_handoff(record: Record) -> HandoffBody:
    """A handoff's body; raises StoreDamaged when it isn't one."""
    body = body_fields.of(record)
    return HandoffBody(
        session_id=body_fields.text(body, "session_id"),
        seq=body_fields.number(body, "seq"),
        digest=body_fields.text(body, "digest"),
    )


def read_memory_usage(record: Record) -> MemoryUsageBody:
    """The body of a memory_usage record; raises StoreDamaged when it isn't one."""
    body = body_fields.of(record)
    return MemoryUsageBody(
        purpose=cast("Purpose", body_fields.one_of(body, "purpose", _PURPOSES)),
        model=body_fields.text(body, "model"),
        usage=body_fields.usage(body),
        outcome=body_fields.text(body, "outcome"),
    )


def texts_of(record: Record) -> tuple[str, str]:
    """What a summary says; raises StoreDamaged when it isn't one."""
    body = body_fields.of(record)
    return body_fields.text(body, "summary"), body_fields.text(body, "essentials")


def _usage_value(usage: Usage) -> Value:
    return {
        "cost_nusd": usage.cost_nusd,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


def _ranges(seqs: Sequence[int]) -> list[Value]:
    """`[[2, 4], [7, 7]]`: a long session is covered in few bytes."""
    runs: list[list[int]] = []
    for seq in seqs:
        if runs and seq == runs[-1][1] + 1:
            runs[-1][1] = seq
        else:
            runs.append([seq, seq])
    return [list(run) for run in runs]


def _prior(body: Body) -> Prior:
    return Prior(body_fields.number(body, "seq"), body_fields.text(body, "digest"))


def _ref(session_id: str, item: Body) -> SourceRef:
    return SourceRef(session_id, tuple(_seqs(item["ranges"])), body_fields.text(item, "digest"))


def _seqs(ranges: object) -> Iterator[int]:
    if not isinstance(ranges, list):
        raise body_fields.damaged()
    n_left = MAX_SOURCE_SEQS
    for run in ranges:
        if not (isinstance(run, list) and len(run) == 2 and all(type(n) is int for n in run)):
            raise body_fields.damaged()
        first, last = run
        n_left -= last - first + 1
        if not 1 <= first <= last or n_left < 0:
            raise body_fields.damaged()
        yield from range(first, last + 1)
