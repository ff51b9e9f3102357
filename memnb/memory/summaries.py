"""The working summary of a session that holds now, checked anew at each use.

1. It holds when every record that it covers can be seen and is byte for byte the same, and so on
   down its chain. Otherwise it is inert, and the one before it may still hold.
2. A seed is the summary of another session: it holds as long as that one does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memnb.core.bodies import read_user
from memnb.core.entries import ANY_FACT
from memnb.core.evidence import check_source
from memnb.core.facts import MAX_SOURCE_SEQS, Source, SourceRef
from memnb.core.records import combined
from memnb.core.summary_bodies import CompactBody, Prior, read_compact, read_handoff
from memnb.core.visibility import Purpose, View
from memnb.errors import MemnbError, StoreDamaged
from memnb.memory.history import Histories, History

__all__ = ["SEED_ESSENTIALS", "SEED_SUMMARY", "Summaries", "Summary", "extended"]

SEED_SUMMARY: Final = "summary"
SEED_ESSENTIALS: Final = "essentials"
"""What a seed's parts are called."""

_HANDOFF_SEQ: Final = 2
_SEED_SEQ: Final = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """A working summary that holds.

    Args:
        seq: its record, or that of the seed.
        digest: of that record's head.
        text: what a model wrote; "" when none did.
        essentials: what rules found that must survive.
        evidence: the records that it covers, all of them.
        cutoff: the first record that it doesn't stand for.
        carried: references of the facts that were in sight of what it covers.
        holds_data: whether what it covers held inserted data or a tool's output.
        n_chained: how many summaries it is the last of.
    """

    seq: int
    digest: str
    text: str
    essentials: str
    evidence: tuple[SourceRef, ...]
    cutoff: int
    carried: tuple[str, ...]
    holds_data: bool
    n_chained: int

    @property
    def prior(self) -> Prior:
        """How the next summary names it."""
        return Prior(self.seq, self.digest)

    @property
    def seqs(self) -> tuple[int, ...]:
        """The records that it covers."""
        return tuple(seq for ref in self.evidence for seq in ref.seqs)

    @property
    def whole(self) -> str:
        """All that it says."""
        return "\n\n".join(text for text in (self.text, self.essentials) if text)


@dataclass(frozen=True, slots=True)
class _Checked:
    """Under which marks, for what, and with which bytes of the file a summary was checked.

    With all of them the same it needn't be checked record by record again.
    """

    marks: Hashable
    purpose: Purpose
    span: str


class Summaries:
    """The summaries of a project's sessions."""

    def __init__(self, histories: Histories) -> None:
        """Read them from `histories`."""
        self._histories = histories
        self._bodies: dict[tuple[str, str], CompactBody] = {}  # by session and head digest
        self._was_checked: dict[tuple[str, int], _Checked] = {}

    def current(self, history: History, seen: View) -> Summary | None:
        """The newest summary of a session that holds, or its seed; None when there is none."""
        for seq in history.entries.summaries:
            if seq <= seen.cleared_to:
                return None
            summary = self._checked(history, seen, seq, "working")
            if summary is not None:
                return summary
        return self._seed(history, seen)

    def body(self, history: History, seq: int) -> CompactBody | None:
        """What a summary's record holds; None when it can't be read."""
        digest = history.reader.digest_at(seq)
        if digest is None:
            return None
        key = (history.session_id, digest)
        if key not in self._bodies:
            record = history.reader.records([seq]).get(seq)
            try:
                if record is None or record.head.type != "compact":
                    return None
                self._bodies[key] = read_compact(record, history.session_id)
            except StoreDamaged:
                return None
        return self._bodies[key]

    def _checked(self, history: History, seen: View, seq: int, purpose: Purpose) -> Summary | None:
        chain = list(self._chain(history, seq))
        body = chain[0][1] if chain else None
        if body is None or chain[-1][1] is None:
            return None
        first = chain[-1][1]
        if first.prior is not None and not self._goes_on_from_seed(history, seen, first.prior):
            return None
        if not self._histories.is_as_noted(history):
            return None
        checked = _Checked(seen.marks, purpose, _span(history, seq, body, chain[-1][0]))
        if self._was_checked.get((history.session_id, seq)) != checked:
            seqs = [one for one, _ in chain]
            # Most that are inert can be told without reading what they cover.
            if not all(seen.shows(one, purpose) for one in (*seqs, *body.seqs)):
                return None
            if not self._is_unchanged(history, seqs, body.evidence, purpose):
                return None
            self._was_checked[history.session_id, seq] = checked
        return Summary(
            seq=seq,
            digest=history.reader.digest_at(seq) or "",
            text=body.summary,
            essentials=body.essentials,
            evidence=body.evidence,
            cutoff=body.cutoff,
            carried=body.carried,
            holds_data=body.holds_data,
            n_chained=len(chain),
        )

    def _chain(self, history: History, seq: int) -> Iterator[tuple[int, CompactBody | None]]:
        """The summary and those before it, newest first; None where the chain doesn't hold."""
        while True:
            body = self.body(history, seq)
            yield seq, body
            if body is None or body.prior is None:
                return
            prior = body.prior
            if not 0 < prior.seq < seq or history.reader.digest_at(prior.seq) != prior.digest:
                yield prior.seq, None
                return
            if history.entries.kind(prior.seq).type != "compact":
                return
            seq = prior.seq

    def _goes_on_from_seed(self, history: History, seen: View, prior: Prior) -> bool:
        seed = self._seed(history, seen)
        return seed is not None and seed.prior == prior

    def _is_unchanged(
        self,
        history: History,
        chain: Sequence[int],
        refs: Sequence[SourceRef],
        purpose: Purpose,
    ) -> bool:
        """Whether the records are byte for byte as they were written, and as they were pinned."""
        seqs = sorted({*chain, *(seq for ref in refs for seq in ref.seqs)})
        evidence = self._histories.evidence(history.session_id, seqs, [])
        if evidence is None or any(evidence.pins.get(seq) is None for seq in chain):
            return False
        return all(
            check_source(Source(evidence.store_id, ref), evidence, purpose) == "valid"
            for ref in refs
        )

    def _seed(self, history: History, seen: View) -> Summary | None:
        entries = history.entries
        if len(entries) < _SEED_SEQ or entries.kind(_HANDOFF_SEQ).type != "handoff":
            return None
        if not seen.shows(_SEED_SEQ, "working"):
            return None
        records = history.reader.records([_HANDOFF_SEQ, _SEED_SEQ])
        handoff, seed = records.get(_HANDOFF_SEQ), records.get(_SEED_SEQ)
        try:
            if handoff is None or seed is None or seed.head.type != "user":
                return None
            origin, parts = read_handoff(handoff), read_user(seed).parts
            if not self._origin_holds(origin.session_id, origin.seq, origin.digest):
                return None
        except MemnbError:
            return None
        texts = {part.expr: part.text for part in parts if part.type == "seed"}
        ref = SourceRef(history.session_id, (_SEED_SEQ,), combined([seed.head_digest]))
        return Summary(
            seq=_SEED_SEQ,
            digest=seed.head_digest,
            text=texts.get(SEED_SUMMARY, ""),
            essentials=texts.get(SEED_ESSENTIALS, ""),
            evidence=(ref,),
            cutoff=_SEED_SEQ + 1,
            carried=(ANY_FACT,),
            holds_data=True,
            n_chained=0,
        )

    def _origin_holds(self, session_id: str, seq: int, digest: str) -> bool:
        """Whether the summary that a seed is a copy of holds; a clear there is none here."""
        origin = self._histories.of(session_id)
        if not 0 < seq <= origin.reader.last_seq or origin.reader.digest_at(seq) != digest:
            return False
        seen = self._histories.view(origin)
        return self._checked(origin, seen, seq, "durable") is not None


def _span(history: History, seq: int, body: CompactBody, oldest: int) -> str:
    """The digest of all bytes that a summary rests on: what it covers, its chain, itself."""
    return history.reader.span_digest(min((*body.seqs, oldest)), seq)


def extended(
    history: History, before: Sequence[SourceRef], seqs: Sequence[int]
) -> tuple[SourceRef, ...]:
    """References to what was covered before and to these records, in full chunks but the last.

    Raises:
        StoreDamaged: one isn't as it was written.
    """
    kept = [ref for ref in before if len(ref.seqs) == MAX_SOURCE_SEQS]
    rest = [seq for ref in before if len(ref.seqs) < MAX_SOURCE_SEQS for seq in ref.seqs]
    todo = [*rest, *seqs]
    pins = history.reader.pins(todo)
    for start in range(0, len(todo), MAX_SOURCE_SEQS):
        chunk = tuple(todo[start : start + MAX_SOURCE_SEQS])
        digests = [pin for seq in chunk if (pin := pins.get(seq)) is not None]
        if len(digests) != len(chunk):
            raise StoreDamaged(
                "a record that a summary would cover isn't as it was written; `%memory doctor`"
                " says more."
            )
        kept.append(SourceRef(history.session_id, chunk, combined(digests)))
    return tuple(kept)
