"""Which facts come first when the prompt has no room for all, and what is known of their use.

1. What a person wants followed comes before all else, which can be recalled when it fits a message.
   Of either kind what was stated or used last comes first, see `core/uses.py`.
2. The order is settled when a session begins and whenever a fact changes, not for each request. So
   while memory stays the same requests carry the same.
3. Uses are counted from records into the search index. Without it only the time of the last wording
   counts; nothing is lost by that.
"""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeVar

from memnb.core.bodies import WITHOUT_FACTS, read_assistant, read_tool, read_turn_end
from memnb.core.records import Record
from memnb.core.section import DISPUTED, FOLLOWED_BASES, FOLLOWED_KINDS, LINE_BYTES, Choice
from memnb.core.uses import rank
from memnb.errors import IndexUnusable, StoreDamaged
from memnb.storage import index_positions
from memnb.storage.fact_order import Class, Stated
from memnb.storage.fact_store import FactStore
from memnb.storage.index_positions import Uses
from memnb.storage.search_index import Connection, SearchIndex

__all__ = ["Ranks", "Uses", "counted", "known", "known_of"]

T = TypeVar("T")

_CLASSES: Final = (
    Class(FOLLOWED_KINDS, FOLLOWED_BASES),
    Class(FOLLOWED_KINDS, FOLLOWED_BASES, others=True),
)
"""What a person wants followed, then everything else."""

_BATCH: Final = 48
_LARGEST_BATCH: Final = 256

_READ_SECONDS: Final = 0.2
"""A request doesn't wait for an index: without it the order is nearly as good."""


class Ranks:
    """The facts of a project in the order in which they get room, as it is settled for now."""

    def __init__(
        self,
        facts: FactStore,
        index: SearchIndex | None = None,
        session_id: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Put `facts` in order.

        Args:
            facts: which.
            index: knows their use; by the time of their last wording alone without one.
            session_id: which session is running: with another one the order is settled anew.
        """
        self._facts = facts
        self._index = index
        self._session_id = session_id
        self._since: object = None  # which session and which facts the orders are for
        self._orders: dict[bool, _Order] = {}
        self._n_bytes: int | None = None  # of all facts, where they were looked at
        self._carried: dict[object, dict[str, None]] = {}  # by the limits that there were

    def batches(self, max_bytes: int) -> Iterator[list[str]]:
        """Ids of all facts, those first that get room first when there are `max_bytes` for all.

        The first batch fills the room, when all of it can be sent; further ones are short.
        """
        facts, batch = iter(self._order(max_bytes)), []
        for fact in facts:
            batch.append(fact.fact_id)
            max_bytes -= fact.n_bytes + LINE_BYTES
            if max_bytes <= 0 or len(batch) == _LARGEST_BATCH:
                break
        while batch:
            yield batch
            batch = [fact.fact_id for fact in islice(facts, _BATCH)]

    def left(self, choices: Sequence[Choice], limits: object) -> tuple[str, ...]:
        """The facts that were carried until now and have no room any more.

        Args:
            choices: the verdicts of the section that is about to be sent.
            limits: how much it may hold: only sections of one size are compared.
        """
        before = self._carried.get(limits, {})
        self._carried[limits] = {one.fact.fact_id: None for one in choices if one.is_in}
        reasons = {one.fact.fact_id: one.reason for one in choices}
        gone = [one for one in before if reasons.get(one, "no room") == "no room"]
        return tuple(self._facts.order.oldest_first(gone)) if gone else ()

    def has_said(self, fact_ids: Iterable[str]) -> None:
        """Don't say again that these have left."""
        for carried in list(self._carried.values()):
            for fact_id in fact_ids:
                carried.pop(fact_id, None)

    def _order(self, max_bytes: int) -> _Order:
        changes = self._facts.changes
        edition = (self._facts.generation(), changes.n_revisions(), changes.last_recorded())
        if (now := (self._session_id(), *edition)) != self._since:
            self._orders.clear()
            self._n_bytes = None
            self._since = now
        # While there is room for all, use is of no account, and the index isn't looked at.
        is_short = not self._all_fit(max_bytes)
        order = self._orders.get(is_short)
        if order is None or order.is_broken:
            uses = self._used_at() if is_short else {}
            order = self._orders[is_short] = _Order(self._ranked(uses))
        return order

    def _all_fit(self, max_bytes: int) -> bool:
        """Whether there surely is room for every fact."""
        if self._n_bytes is None:
            if self._facts.count() * LINE_BYTES > max_bytes:
                return False
            order = self._facts.order
            found = (one for which in _CLASSES for one in order.newest_first(which))
            self._n_bytes = sum(one.n_bytes + LINE_BYTES + len(DISPUTED) for one in found)
        return self._n_bytes <= max_bytes

    def _ranked(self, used_at: Mapping[str, Sequence[str]]) -> Iterator[Stated]:
        def place(fact: Stated) -> tuple[float, str, str]:
            return _rank(fact.at, used_at.get(fact.fact_id, ())), fact.at, fact.fact_id

        for which in _CLASSES:
            used = self._facts.order.of(which, sorted(used_at)) if used_at else []
            others = (
                one for one in self._facts.order.newest_first(which) if one.fact_id not in used_at
            )
            yield from heapq.merge(
                sorted(used, key=place, reverse=True), others, key=place, reverse=True
            )

    def _used_at(self) -> Mapping[str, Sequence[str]]:
        if self._index is None:
            return {}
        try:
            return self._index.read(index_positions.cited_at, seconds=_READ_SECONDS)
        except IndexUnusable:
            return {}


class _Order:
    """An order that is found out as far as somebody looks, in whatever thread, and then known."""

    def __init__(self, facts: Iterator[Stated]) -> None:
        """Find it out from `facts`."""
        self._known: list[Stated] = []
        self._further = facts
        self._one_at_a_time = threading.Lock()
        self.is_broken = False

    def __iter__(self) -> Iterator[Stated]:
        n = 0
        while n < len(self._known) or self._find_more(n):
            yield self._known[n]
            n += 1

    def _find_more(self, n: int) -> bool:
        """Whether more than `n` are there."""
        with self._one_at_a_time:
            if n < len(self._known):
                return True
            try:
                found = list(islice(self._further, _BATCH))
            except BaseException:
                self.is_broken = True  # what failed would seem to be at its end
                raise
            self._known += found
            return bool(found)


def counted(records: Iterable[Record]) -> dict[str, Uses]:
    """How often requests carried each fact, and answers named it, by the records of a session.

    Not by probes, nor by what can't be read.
    """
    found: dict[str, Uses] = defaultdict(Uses)
    probes: set[int | None] = set()
    for record in records:
        try:
            carried, cited = _of_record(record, probes)
        except StoreDamaged:
            continue
        at = record.head.at
        for fact_id in _fact_ids(carried):
            found[fact_id] += Uses(n_carried=1, last_carried=at)
        for fact_id in _fact_ids(cited):
            found[fact_id] += Uses(n_cited=1, last_cited=at)
    return dict(found)


def known(index: SearchIndex | None) -> Mapping[str, Uses] | None:
    """How facts were used, as far as sessions were counted; None when that isn't known."""
    return _read(index, index_positions.uses)


def known_of(index: SearchIndex | None, fact_id: str) -> Uses | None:
    """The same of one fact."""
    return _read(index, lambda connection: index_positions.uses_of(connection, fact_id))


def _read(index: SearchIndex | None, work: Callable[[Connection], T]) -> T | None:
    if index is None:
        return None
    try:
        return index.read(work)
    except IndexUnusable:
        return None


def _of_record(record: Record, probes: set[int | None]) -> tuple[Sequence[str], Sequence[str]]:
    """What a record says was carried and cited; notes the turns that are probes."""
    kind, turn = record.head.type, record.head.turn
    if record.body is None or kind not in ("assistant", "tool", "turn_end"):
        return (), ()
    if kind == "assistant":
        reply = read_assistant(record)
        if WITHOUT_FACTS in reply.params:
            probes.add(turn)
        return (() if turn in probes else reply.carried), ()
    if turn in probes:
        return (), ()
    if kind == "tool":
        return read_tool(record).carried, ()
    return (), read_turn_end(record).cited


def _fact_ids(references: Iterable[str]) -> set[str]:
    return {reference.partition("@")[0] for reference in references if "@" in reference}


def _rank(stated_at: str, used_at: Sequence[str]) -> float:
    try:
        return rank(stated_at, used_at)
    except (ValueError, OverflowError):  # an index may hold anything
        return rank(stated_at)
