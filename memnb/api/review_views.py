"""What the inbox holds, put into the results that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memnb.api import views
from memnb.api.review_results import (
    ConflictRow,
    Conflicts,
    Inbox,
    Quoted,
    Recent,
    RecentRow,
    Side,
    WaitingRow,
)
from memnb.core.bodies import read_user
from memnb.core.facts import Fact, Source
from memnb.core.inbox import GROUNDS, Queued
from memnb.core.section import Standing
from memnb.core.words import Span, sentence_around
from memnb.errors import MemnbError
from memnb.memory import context, disputes, queueing, reviewing
from memnb.memory.context import Limits
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.reviewing import Learned
from memnb.memory.standing import Standings

__all__ = ["conflicts", "recent", "waiting"]


def waiting(memory: ProjectMemory, project: str) -> Inbox:
    """What waits for a person and still holds."""
    found = queueing.waiting(memory.stores, memory.validator)
    sides = _sides(memory, (reference for one in found for reference in one.conflicts))
    rows = tuple(_waiting(memory, one, sides) for one in found)
    return Inbox(project, rows)


def recent(memory: ProjectMemory, limits: Limits, limit: int) -> Recent:
    """What was learned lately and is still there."""
    learned = reviewing.recent(memory, limit=limit)
    ids = [one.queued.fact_id or "" for one in learned]
    stores, now = memory.stores, memory.stores.now()
    with stores.facts.snapshot():
        found = Standings(stores, memory.validator, now).of(stores.facts.facts(ids, at=now))
        sent = {
            one.fact.fact_id
            for one in context.choices(stores, memory.validator, limits, memory.ranks)
            if one.is_in
        }
    texts = {
        one.fact.fact_id: one.fact.current.text if one.status == "valid" else "" for one in found
    }
    return Recent(tuple(_recent(one, texts, sent) for one in learned))


def conflicts(memory: ProjectMemory) -> Conflicts:
    """The facts in dispute."""
    stores = memory.stores
    with stores.facts.snapshot():
        pairs = disputes.pairs(stores)
        judge = Standings(stores, memory.validator, stores.now())
        standings = {
            one.fact.fact_id: one
            for one in judge.of(
                list({fact.fact_id: fact for pair in pairs for fact in pair}.values())
            )
        }
    return Conflicts(tuple(_conflict(older, newer, standings) for older, newer in pairs))


def _conflict(older: Fact, newer: Fact, standings: dict[str, Standing]) -> ConflictRow:
    sent = [one.fact_id for one in (newer, older) if not standings[one.fact_id].reason]
    return ConflictRow(
        _side(older, shown=standings[older.fact_id].status == "valid"),
        _side(newer, shown=standings[newer.fact_id].status == "valid"),
        in_prompt=sent[0] if sent else "",
    )


def _waiting(memory: ProjectMemory, queued: Queued, sides: dict[str, Side]) -> WaitingRow:
    return WaitingRow(
        candidate_id=queued.candidate_id,
        kind=queued.kind,
        confidence=queued.confidence / 1000,
        why=tuple(GROUNDS.get(ground, ground.replace("_", " ")) for ground in queued.grounds),
        text=queued.text,
        basis=queued.basis,
        queued=queued.created_at,
        sources=tuple(_quoted(memory, queued)),
        against=tuple(sides[one] for one in queued.conflicts if one in sides),
    )


def _recent(learned: Learned, texts: dict[str, str], sent: set[str]) -> RecentRow:
    queued, run = learned.queued, learned.run
    fact_id = queued.fact_id or ""
    finder = queued.rule or (run.model if run else "") or queued.origin
    return RecentRow(
        fact_id=fact_id,
        candidate_id=queued.candidate_id,
        learned=queued.decided_at or "",
        kind=queued.kind,
        by=f"{run.trigger}: {finder}" if run else finder,
        confidence=queued.confidence / 1000,
        in_prompt=fact_id in sent,
        text=texts.get(fact_id, ""),
    )


def _quoted(memory: ProjectMemory, queued: Queued) -> Iterator[Quoted]:
    """The sentences that a candidate rests on, each with its text marked in it."""
    for source in queued.sources:
        place = views.source_view(memory, source, shown=True).headline
        sentence, start = _sentence(memory, source)
        yield Quoted(place, sentence, start, start + _length(source) if sentence else 0)


def _sentence(memory: ProjectMemory, source: Source) -> tuple[str, int]:
    """The sentence that a quote stands in, and where in it; nothing for what isn't a quote."""
    quote = source.quote
    if quote is None:
        return "", 0
    try:
        record = memory.histories.of(source.ref.session_id).reader.records([quote.seq])[quote.seq]
        parts = read_user(record).parts if record else ()
        said = parts[quote.part].text[quote.start : quote.end]
    except (MemnbError, IndexError):
        return "", 0
    sentence = sentence_around(parts, Span(quote.part, quote.start, quote.end))
    return sentence, max(0, sentence.find(said))


def _length(source: Source) -> int:
    return source.quote.end - source.quote.start if source.quote else 0


def _sides(memory: ProjectMemory, references: Iterable[str]) -> dict[str, Side]:
    """The facts that are named, as `F-7k2m9q@1`, and are still at that revision."""
    named = list(dict.fromkeys(references))
    facts = memory.stores.facts.facts(list({one.partition("@")[0] for one in named}))
    statuses = memory.validator.statuses(facts)
    found = {
        fact.current.reference: _side(fact, shown=status == "valid")
        for fact, status in zip(facts, statuses, strict=True)
    }
    return {one: found[one] for one in named if one in found}


def _side(fact: Fact, *, shown: bool) -> Side:
    current = fact.current
    return Side(
        fact.fact_id,
        current.revision,
        current.text if shown else "",
        current.recorded_at,
        current.origin,
    )
