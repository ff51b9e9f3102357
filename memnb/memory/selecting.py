"""Selecting: what to keep is picked by scoring the person's own sentences, with no JSON to trust.

1. The sentences are cut by code, so text, quote and span are the same by construction.
2. The contract of evidence is the one of `extracting`: a score is only a claim.
3. At most four candidates a call. What would be a fifth waits, with its whole exchange, for the
   next call; a message that was pasted is nobody's statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from memnb.core.candidates import MAX_CANDIDATES, Extraction
from memnb.core.extraction import Supplied
from memnb.core.extraction_replies import Claimed, NumberedSpan
from memnb.core.span_head import LIKELY, SpanScore
from memnb.errors import MemnbError
from memnb.memory.extracting import failed, settle
from memnb.memory.history import Histories
from memnb.memory.stores import Stores
from memnb.memory.supplying import supply
from memnb.memory.validation import Validator

__all__ = ["MOST_SENTENCES", "Scorer", "select"]

MOST_SENTENCES: Final = 40
"""A message of more sentences was pasted from somewhere, whoever sent it."""

_FENCE: Final = "unsent"  # nobody is sent the composed text

Scorer = Callable[[Sequence[str]], Sequence[SpanScore]]
"""What scores sentences: `span_scoring.score`, with or without a model."""


def select(
    stores: Stores,
    validator: Validator,
    histories: Histories,
    *,
    session_id: str,
    scorer: Scorer,
    mined: Collection[int] = (),
    turns: Collection[int] | None = None,
    least: int = LIKELY,
    model: str = "",
) -> Extraction:
    """The sentences of a session that score high enough, as candidates.

    Without seqs nothing was waiting. No model is asked but what the scorer asks.

    Args:
        stores: the project's.
        validator: says which facts hold.
        histories: the project's.
        session_id: which session.
        scorer: what scores sentences.
        mined: the numbers of records that were supplied before.
        turns: only these exchanges, by the number of their message; all when left out.
        least: the lowest score of a candidate, in thousandths.
        model: the name of the model that the scorer asks; "" for none.

    Raises:
        As `supply`; never for what a model does.
    """
    composed = supply(
        stores,
        validator,
        histories,
        session_id=session_id,
        mined=mined,
        turns=turns,
        fence=_FENCE,
        form="selection",
    )
    if composed is None:
        return Extraction(session_id, ())
    spans = _typed(composed.spans)
    try:
        scores = scorer([span.text for span in spans])
    except MemnbError:
        return failed(composed.supplied, "extraction_error", model=model, usage=None)
    picked = [
        _claim(span, score)
        for span, score in zip(spans, scores, strict=True)
        if score.probability_thousandths >= least
    ]
    supplied, claims = _bounded(composed.supplied, picked)
    return settle(stores, histories, supplied, claims, model=model, usage=None)


def _typed(spans: Sequence[NumberedSpan]) -> list[NumberedSpan]:
    """The sentences of messages that a person may have typed."""
    by_message: defaultdict[int, list[NumberedSpan]] = defaultdict(list)
    for span in spans:
        by_message[span.place.seq].append(span)
    return [span for said in by_message.values() if len(said) <= MOST_SENTENCES for span in said]


def _claim(span: NumberedSpan, score: SpanScore) -> Claimed:
    return Claimed(
        text=span.text,
        seqs=(span.place.seq,),
        kind=score.kind,
        quote=span.text,
        conflicts=(),
        is_proposal=False,
        confidence=score.probability_thousandths,
        place=span.place,
    )


def _bounded(supplied: Supplied, picked: Sequence[Claimed]) -> tuple[Supplied, list[Claimed]]:
    """The exchanges from the first on whose picks are few enough together, and these picks."""
    taken: list[Claimed] = []
    for position, exchange in enumerate(supplied.exchanges):
        found = [claim for claim in picked if claim.seqs == (exchange.turn,)]
        if taken and len(taken) + len(found) > MAX_CANDIDATES:
            return replace(supplied, exchanges=supplied.exchanges[:position]), taken
        found.sort(key=lambda claim: -claim.confidence)
        taken += found[:MAX_CANDIDATES]
    return supplied, taken
