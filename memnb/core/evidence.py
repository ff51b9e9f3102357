"""Evidence: whether the records that a fact points at still say what it claims.

The order of the verdicts matters: an excluded record is `hidden` even when its body was purged,
and a record that can't be found is `missing` whatever else would be wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memnb.core.bodies import read_user
from memnb.core.canonical_rules import reproduced
from memnb.core.facts import Quote, Revision, Source
from memnb.core.file_lines import proof, said_in
from memnb.core.records import Record, combined
from memnb.core.visibility import Purpose, View
from memnb.core.words import own_spans
from memnb.errors import SourceStatus, StoreDamaged

__all__ = ["SessionEvidence", "check_revision", "check_source", "quoted"]

_QUOTED_BASES = frozenset({"quote", "statement"})


@dataclass(frozen=True, slots=True)
class SessionEvidence:
    """What one session offers as evidence: its records by number, and what of them can be seen.

    `pins` has the head digest of each record, None for one that isn't as it was written; `records`
    those of which the text matters, None for one whose line can't be read. `is_whole` says whether
    the session reaches at least as far as was noted in the fact database, with the same chain.
    """

    store_id: str
    pins: Mapping[int, str | None]
    records: Mapping[int, Record | None]
    seen: View
    is_whole: bool = True


def check_revision(
    revision: Revision, sessions: Mapping[str, SessionEvidence], purpose: Purpose
) -> SourceStatus:
    """The status of a revision: `valid` when every source is and its basis holds.

    Args:
        revision: what is checked.
        sessions: by session id, those that its sources name; an absent one is missing.
        purpose: `durable` for a fact that exists, `working` for new evidence.
    """
    if not revision.is_signed:
        return "stale"
    if not revision.sources or revision.basis is None:
        return "unverified"
    for source in revision.sources:
        status = check_source(source, sessions.get(source.ref.session_id), purpose)
        if status != "valid":
            return status
    return "valid" if _basis_holds(revision, sessions) else "stale"


def check_source(source: Source, session: SessionEvidence | None, purpose: Purpose) -> SourceStatus:
    """The status of one source: its records are there, visible and byte for byte the same."""
    if session is None:
        return "missing"
    ref = source.ref
    if source.store_id != session.store_id:
        return "stale"
    if any(seq not in session.pins for seq in ref.seqs):
        return "missing"
    if not all(session.seen.shows(seq, purpose) for seq in ref.seqs):
        return "hidden"
    pins = [pin for pin in map(session.pins.get, ref.seqs) if pin is not None]
    if not session.is_whole or len(pins) != len(ref.seqs) or combined(pins) != ref.digest:
        return "stale"
    return "valid"


def quoted(records: Mapping[int, Record | None], quote: Quote, *, own: bool = True) -> str | None:
    """The text at a quote's place, when that is part of what a person typed.

    Args:
        records: those of the session.
        quote: the place.
        own: it must stand outside code fences and block quotes, too.
    """
    record = records.get(quote.seq)
    if record is None or record.head.type != "user":
        return None
    try:
        parts = read_user(record).parts
    except StoreDamaged:
        return None
    if not 0 <= quote.part < len(parts) or parts[quote.part].type != "typed":
        return None
    if own and not any(
        span.part == quote.part and span.start <= quote.start <= quote.end <= span.end
        for span in own_spans(parts)
    ):
        return None
    return parts[quote.part].text[quote.start : quote.end]


def _basis_holds(revision: Revision, sessions: Mapping[str, SessionEvidence]) -> bool:
    """Whether the text follows from the evidence in the way that the basis names.

    A basis that no rule of this version makes doesn't hold.
    """
    if revision.basis == "file_line":
        return any(
            _is_proved(revision.text, source, sessions[source.ref.session_id])
            for source in revision.sources
        )
    if revision.basis not in (*_QUOTED_BASES, "canonical"):
        return False
    quotes: Sequence[tuple[Quote, SessionEvidence]] = [
        (source.quote, sessions[source.ref.session_id])
        for source in revision.sources
        if source.quote is not None and source.quote.seq in source.ref.seqs
    ]
    if revision.basis == "canonical":
        texts = [quoted(session.records, quote) for quote, session in quotes]
        said = [text for text in texts if text is not None]
        return len(said) == len(texts) and reproduced(revision.rule, said) == revision.text
    return bool(quotes) and all(
        quoted(session.records, quote, own=revision.basis == "quote") == revision.text
        for quote, session in quotes
    )


def _is_proved(text: str, source: Source, session: SessionEvidence) -> bool:
    """Whether the records of one source show that a file held the line that a text names."""
    return proof(text, said_in([session.records.get(seq) for seq in source.ref.seqs])) is not None
