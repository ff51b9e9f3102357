"""The contract of evidence: what of an extractor's claims may become a candidate.

1. The model proposes. Each claim is checked against the very records that were supplied, and what
   it says of itself proves nothing: not its seqs, its quote, its kind or its confidence.
2. A preference, convention or decision is an exact span of the words that a person typed in one
   message, outside code and quotations. The fact that a file held a line is proved by records too.
3. A rejected claim counts once, at the first check it fails; nothing of its text is kept.
4. What a rule finds doubtful, and whatever contradicts a fact, is left to a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memnb.core.bodies import Part, UserBody
from memnb.core.candidates import Candidate, Reason
from memnb.core.extraction_replies import Claimed, NumberedSpan
from memnb.core.facts import MAX_SOURCE_SEQS, Quote, Source, SourceRef, normalised
from memnb.core.file_lines import Said, proof
from memnb.core.markers import doubt, is_temporary
from memnb.core.records import combined
from memnb.core.words import Span, find_span, lead_in, own_spans, sentence_around, sentence_spans

__all__ = ["Judged", "Supplied", "SuppliedExchange", "judge", "numbered_spans"]

_END_MARKS: Final = ".!…。！ "  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class SuppliedExchange:
    """What an extractor was given of one exchange.

    Args:
        turn: the number of the person's message.
        said: the person's message, then replies and results, by number and in order.
        pins: for each of these the digest of its head, as it was when it was read.
    """

    turn: int
    said: Mapping[int, Said]
    pins: Mapping[int, str]

    @property
    def seqs(self) -> tuple[int, ...]:
        """The records that were supplied of it."""
        return tuple(self.said)

    @property
    def message(self) -> UserBody:
        """The person's message."""
        message = self.said[self.turn]
        assert isinstance(message, UserBody)  # noqa: S101  # that is what opens an exchange
        return message


@dataclass(frozen=True, slots=True)
class Supplied:
    """All that an extractor was given, and what it was read under.

    Args:
        session_id: of which session.
        store_id: of which store.
        generation: the generation then.
        exchanges: oldest first.
        facts: the texts of the facts for comparison, by reference such as `F-7k2m9q@1`.
    """

    session_id: str
    store_id: str
    generation: int
    exchanges: tuple[SuppliedExchange, ...]
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def seqs(self) -> tuple[int, ...]:
        """All records that were supplied."""
        return tuple(seq for exchange in self.exchanges for seq in exchange.seqs)

    @property
    def pins(self) -> dict[int, str]:
        """The digests of all heads."""
        return {seq: pin for exchange in self.exchanges for seq, pin in exchange.pins.items()}


@dataclass(frozen=True, slots=True)
class Judged:
    """The claims that hold, and for how many others which check failed first."""

    candidates: tuple[Candidate, ...]
    reasons: Mapping[Reason, int]


def judge(claims: Sequence[Claimed | Reason], supplied: Supplied) -> Judged:
    """The candidates among an extractor's claims; a reason stands for an item that was none."""
    candidates: dict[str, Candidate] = {}
    reasons: Counter[Reason] = Counter()
    for claim in claims:
        verdict = _verdict(claim, supplied) if isinstance(claim, Claimed) else claim
        if not isinstance(verdict, Candidate):
            reasons[verdict] += 1
        elif normalised(verdict.text) in candidates:
            reasons["duplicate"] += 1
        else:
            candidates[normalised(verdict.text)] = verdict
    return Judged(tuple(candidates.values()), dict(reasons))


def numbered_spans(supplied: Supplied) -> tuple[NumberedSpan, ...]:
    """The person's sentences that an extractor may select, numbered from 1.

    What is said twice is numbered where it was said first; half a sentence that goes on with
    inserted data isn't one.
    """
    found: dict[str, tuple[str, Quote]] = {}
    for exchange in supplied.exchanges:
        parts = exchange.message.parts
        for span in sentence_spans(parts):
            text = parts[span.part].text[span.start : span.end]
            if not _meets_data(parts, span):
                quote = Quote(exchange.turn, span.part, span.start, span.end)
                found.setdefault(normalised(text), (text, quote))
    return tuple(NumberedSpan(n, text, quote) for n, (text, quote) in enumerate(found.values(), 1))


def _verdict(claim: Claimed, supplied: Supplied) -> Candidate | Reason:
    """The candidate that a claim is, or the first check that it fails."""
    exchange = _source(claim.seqs, supplied)
    if exchange is None:
        return "invalid_source"
    if claim.kind == "project_fact":
        return _file_line(claim, exchange, supplied)
    return _own_words(claim, exchange, supplied)


def _source(seqs: tuple[int, ...], supplied: Supplied) -> SuppliedExchange | None:
    """The exchange that these are one supplied record of, or all that was supplied of it."""
    if not seqs or len(seqs) > MAX_SOURCE_SEQS:
        return None
    for exchange in supplied.exchanges:
        if seqs[0] in exchange.said:
            return exchange if len(seqs) == 1 or seqs == exchange.seqs else None
    return None


def _own_words(
    claim: Claimed, exchange: SuppliedExchange, supplied: Supplied
) -> Candidate | Reason:
    if claim.kind == "project_fact" or claim.seqs != (exchange.turn,):
        return "invalid_preference_source"
    if is_temporary(claim.quote):
        return "temporary_preference"
    quote = _place(claim, exchange)
    if claim.text != claim.quote or quote is None:
        return "exact_text_mismatch"
    if not supplied.facts.keys() >= set(claim.conflicts):
        return "invalid_conflicts"
    span = Span(quote.part, quote.start, quote.end)
    reasons = _doubts(claim.text, exchange.message.parts, span)
    return Candidate(
        text=claim.text,
        kind=claim.kind,
        basis="quote",
        sources=(_pinned(supplied, exchange, claim.seqs, quote),),
        origin="learned",
        confidence=claim.confidence,
        is_proposal=bool(reasons) or _is_proposal(claim, exchange),
        conflicts=claim.conflicts,
        reasons=reasons,
    )


def _file_line(
    claim: Claimed, exchange: SuppliedExchange, supplied: Supplied
) -> Candidate | Reason:
    if not supplied.facts.keys() >= set(claim.conflicts):
        return "invalid_conflicts"
    said = {seq: exchange.said[seq] for seq in claim.seqs}
    proving = proof(claim.text, said, output_line=claim.quote)
    if proving is None:
        return "unverified_project_evidence"
    return Candidate(
        text=claim.text,
        kind="observation",
        basis="file_line",
        sources=(_pinned(supplied, exchange, proving),),
        origin="learned",
        confidence=claim.confidence,
        is_proposal=True,  # what a file says is nobody's statement
        conflicts=claim.conflicts,
    )


def _place(claim: Claimed, exchange: SuppliedExchange) -> Quote | None:
    """Where the quote stands in the person's own words: where code cut it, else first."""
    if claim.place is not None:
        return claim.place if _is_at(claim.place, claim.quote, exchange) else None
    span = find_span(exchange.message.parts, claim.quote)
    return None if span is None else Quote(exchange.turn, span.part, span.start, span.end)


def _is_at(place: Quote, text: str, exchange: SuppliedExchange) -> bool:
    """Whether the person's own words of this message say a text just there."""
    parts = exchange.message.parts
    return place.seq == exchange.turn and any(
        own.part == place.part
        and own.start <= place.start
        and place.end <= own.end
        and parts[own.part].text[place.start : place.end] == text
        for own in own_spans(parts)
    )


def _is_proposal(claim: Claimed, exchange: SuppliedExchange) -> bool:
    # What a program said in a person's place waits for a look.
    return claim.is_proposal or bool(claim.conflicts) or exchange.message.via != "agent"


def _doubts(text: str, parts: Sequence[Part], span: Span) -> tuple[Reason, ...]:
    """Why a person should look at a quote; its sentence and what introduces it count, too."""
    sentence, lead = sentence_around(parts, span), lead_in(parts, span)
    is_whole = len(text.rstrip(_END_MARKS)) >= len(sentence.rstrip(_END_MARKS))
    found = doubt(text) or (doubt(lead) if lead else None)
    if found == "limited" or is_temporary(sentence) or is_temporary(lead):
        return ("temporary_preference",)
    if found is not None or not is_whole or _meets_data(parts, span):
        return ("low_confidence",)
    return ()


def _meets_data(parts: Sequence[Part], span: Span) -> bool:
    """Whether a sentence goes on with inserted data, before or after it on its line."""
    text = parts[span.part].text
    is_first = not text[: span.start].strip(" \t")
    is_last = not text[span.end :].strip(" \t")
    before, after = parts[max(0, span.part - 1) : span.part], parts[span.part + 1 : span.part + 2]
    ends_there = text[span.start : span.end].rstrip().endswith(tuple(_END_MARKS.strip()))
    return (is_first and any(part.type == "variable" for part in before)) or (
        is_last and not ends_there and any(part.type == "variable" for part in after)
    )


def _pinned(
    supplied: Supplied,
    exchange: SuppliedExchange,
    seqs: tuple[int, ...],
    quote: Quote | None = None,
) -> Source:
    """The evidence, pinned to the records as they were when they were supplied."""
    digest = combined([exchange.pins[seq] for seq in seqs])
    return Source(supplied.store_id, SourceRef(supplied.session_id, seqs, digest), quote)
