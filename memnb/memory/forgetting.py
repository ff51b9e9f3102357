"""Forgetting: one transaction removes a fact and bars its evidence for good.

It leaves no content, only marks that know the fact and its texts again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memnb.core.facts import Fact
from memnb.core.ids import require_fact_id
from memnb.errors import StoreBusy, StoreError
from memnb.memory.remembering import flag_dependents, require_fact
from memnb.memory.stores import Stores
from memnb.memory.wordings import Wordings
from memnb.storage.fact_store import FactTransaction

__all__ = ["Forgot", "cited", "drop_candidates", "forget", "scrub"]


@dataclass(frozen=True, slots=True)
class Forgot:
    """What a forget did. `texts` were its wordings, for looking up who else holds them."""

    fact_id: str
    first: bool
    generation: int
    n_revisions: int = 0
    n_sources: int = 0
    excluded: tuple[tuple[str, int], ...] = ()
    flagged: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def forget(
    stores: Stores,
    fact_id: str,
    *,
    find_others: Callable[[Sequence[str]], Sequence[tuple[str, int]]] = lambda texts: (),
) -> Forgot:
    """Remove a fact and bar its evidence for good; a second call changes nothing.

    Args:
        stores: where.
        fact_id: which.
        find_others: finds records, besides those cited, that hold one of its wordings; they are
            barred too. It is called again inside the transaction, for what was recorded since.

    Raises:
        UnknownId: there never was such a fact.
    """
    require_fact_id(fact_id)
    stores.ensure()
    now = stores.now()
    with stores.facts.snapshot():
        forgotten = stores.facts.forgotten().get(fact_id)
    if forgotten is not None:
        return Forgot(fact_id, first=False, generation=forgotten.generation)
    # This reads all sessions, so nobody should wait for it.
    others = find_others(_texts(require_fact(stores, fact_id)))
    with stores.facts.transaction(now=now, firm=True) as change:
        again = stores.facts.forgotten().get(fact_id)
        if again is not None:  # another kernel was faster
            return Forgot(fact_id, first=False, generation=again.generation)
        fact = require_fact(stores, fact_id)
        texts = _texts(fact)
        barred = tuple(dict.fromkeys((*cited(fact), *others, *find_others(texts))))
        generation = change.next_generation()
        for session_id, seq in barred:
            change.exclude(session_id, seq, generation)
        drop_candidates(stores, change, barred, texts)
        change.end_holds(fact_id, "disputed")
        flagged = flag_dependents(stores, change, fact_id, now)
        macs = [stores.text_mac(text) for text in texts]
        change.mark_forgotten(fact_id, macs, generation=generation, now=now)
        change.delete(fact_id)
    return Forgot(
        fact_id,
        first=True,
        generation=generation,
        n_revisions=len(fact.revisions),
        n_sources=sum(len(revision.sources) for revision in fact.revisions),
        excluded=barred,
        flagged=flagged,
        texts=texts,
    )


def drop_candidates(
    stores: Stores,
    change: FactTransaction,
    records: Sequence[tuple[str, int]],
    texts: Sequence[str] = (),
) -> tuple[str, ...]:
    """Take out of the inbox what rests on these records, or says one of these texts.

    What became a fact stays: it has no text of its own, and goes with its fact.
    """
    inbox, wordings = stores.candidates, Wordings(texts)
    resting = [one for one in inbox.candidates(inbox.resting_on(records)) if one.state != "applied"]
    saying = [one for one in inbox.of("pending") if wordings and wordings.holds(one.text)]
    known = [
        one
        for text in texts
        for one in inbox.by_text(stores.text_mac(text))
        if one.state != "applied"
    ]
    dropped = tuple(dict.fromkeys(one.candidate_id for one in (*resting, *saying, *known)))
    if dropped:
        change.candidates.delete(dropped)
    return dropped


def scrub(stores: Stores) -> bool:
    """Remove forgotten bytes from the databases; False when that is pending."""
    try:
        return stores.facts.scrub()
    except (StoreBusy, StoreError):
        # What was forgotten is forgotten; only its bytes wait for the next open.
        return False


def cited(fact: Fact) -> tuple[tuple[str, int], ...]:
    """Session and number of every record that any revision cites, once."""
    return tuple(
        dict.fromkeys(
            (source.ref.session_id, seq)
            for revision in fact.revisions
            for source in revision.sources
            for seq in source.ref.seqs
        )
    )


def _texts(fact: Fact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(revision.text for revision in fact.revisions))
