"""Promotion: what a person stated in three sessions becomes a candidate, without any model.

1. The sentence of this turn counts with two earlier ones that say the same, each said in a root
   session of its own, none of them a re-run of another, and nothing to the contrary since.
2. What is known, in these words or others, is strengthened by nothing but being said: it stays as
   it is, and keeps its evidence.
3. A choice that excludes an earlier promotion takes its place; what a person stated is left alone,
   and the candidate says what it contradicts, for a person to decide.
4. What was forgotten doesn't come back: neither the text that a rule makes, nor the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from memnb.core.candidates import MAX_CANDIDATES, Candidate, Extraction, Reason
from memnb.core.canonical_rules import Form, contradicts
from memnb.core.facts import Source
from memnb.core.screening import Findings, screen
from memnb.errors import SourceNotValid
from memnb.memory.claims import known_claim
from memnb.memory.history import Histories
from memnb.memory.opposing import compared
from memnb.memory.repeating import Saying, heard, sayings
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = ["CONFIDENCE", "EARLIER_SESSIONS", "promotions"]

EARLIER_SESSIONS: Final = 2
"""In so many root sessions before this one it must have been said."""

CONFIDENCE: Final = 1000
"""Certain: the words are a person's own, and no model judged them."""


def promotions(
    stores: Stores, validator: Validator, histories: Histories, session_id: str, turn: int
) -> Extraction:
    """What the message of a turn makes known as a standing preference.

    No record counts as supplied to an extractor by this: a model may still be asked about them.

    Args:
        stores: those of the project.
        validator: checks the evidence.
        histories: the sessions.
        session_id: the session of the turn.
        turn: the number of the record that opened it; it must have ended.

    Raises:
        UnknownId: there is no such session.
    """
    said = _undivided({one.form: one for one in reversed(sayings(histories, session_id, turn))})
    if not said:
        return Extraction(session_id, ())
    all_said = heard(stores, histories, tuple(said))
    reasons: Counter[Reason] = Counter()
    candidates: list[Candidate] = []
    for form, one in said.items():
        before = [other for other in all_said if other.at < one.at]
        if _is_rerun(one, before):
            continue
        before = _since_contrary(one, before)
        sources = _sources(stores, validator, [one, *reversed(before)])
        if len(sources) <= EARLIER_SESSIONS:
            continue
        texts = (form.text, one.text, *(other.text for other in before))
        found = _judged(stores, validator, form, sources, texts)
        if isinstance(found, Candidate):
            candidates.append(found)
        else:
            reasons[found] += 1
    return Extraction(session_id, (), tuple(candidates[:MAX_CANDIDATES]), dict(reasons))


def _undivided(said: dict[Form, Saying]) -> dict[Form, Saying]:
    """What a message says without contradicting itself."""
    return {
        form: one
        for form, one in said.items()
        if not any(contradicts(form, other) for other in said)
    }


def _since_contrary(one: Saying, before: Sequence[Saying]) -> list[Saying]:
    """What was said anew in the sense of `one`, since somebody said the contrary; in order."""
    anew = [other for n, other in enumerate(before) if not _is_rerun(other, before[:n])]
    contrary = [other.at for other in anew if contradicts(one.form, other.form)]
    last = max(contrary, default="")
    return [other for other in anew if other.form == one.form and other.at > last]


def _sources(stores: Stores, validator: Validator, said: Sequence[Saying]) -> tuple[Source, ...]:
    """The evidence: of the newest sessions that said it, oldest first; `said` is newest first."""
    found: dict[str, Source] = {}
    for one in said:
        if one.session_id in found or len(found) > EARLIER_SESSIONS:
            continue
        try:
            ref = validator.source_ref(one.session_id, [one.quote.seq])
        except SourceNotValid:
            continue
        found[one.session_id] = Source(stores.store_id, ref, one.quote)
    return tuple(reversed(found.values()))


def _is_rerun(one: Saying, before: Sequence[Saying]) -> bool:
    """Whether another session said the same before, by the same cell or message."""
    return any(
        other.form == one.form and other.session_id != one.session_id and one.repeats(other)
        for other in before
    )


def _judged(
    stores: Stores,
    validator: Validator,
    form: Form,
    sources: tuple[Source, ...],
    texts: Sequence[str],
) -> Candidate | Reason:
    if _is_forgotten(stores, texts):
        return "forgotten"
    if _is_unfit(form.text):
        return "screened"
    now = stores.now()
    same = known_claim(stores, validator, form.text, now)
    if same is not None and same.renews is None:
        return "duplicate"
    known = compared(stores, validator, form, now)
    if known.is_said:
        return "duplicate"
    return Candidate(
        text=form.text,
        kind=form.kind,
        basis="canonical",
        sources=sources,
        origin="promoted",
        confidence=CONFIDENCE,
        is_proposal=any(fact.current.origin != "promoted" for fact in known.opposed),
        conflicts=tuple(f"{fact.fact_id}@{fact.newest}" for fact in known.opposed),
        rule=form.rule,
    )


def _is_forgotten(stores: Stores, texts: Sequence[str]) -> bool:
    if not stores.facts.exists or not stores.facts.generation():
        return False
    macs = [mac for text in dict.fromkeys(texts) for mac in stores.phrase_macs(text)]
    return stores.facts.any_forgotten(macs) is not None


def _is_unfit(text: str) -> bool:
    found = screen(text)
    return isinstance(found, Findings) and any(
        one.kind in ("secret", "hidden") for one in found.findings
    )
