"""How facts stand at an instant: their evidence, their time, and what they were derived from.

A change of a fact holds what is derived from it until a person confirms it. What changes without
anybody's doing is found here: the base's time is over, or its message is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from memnb.core.facts import Fact, Link
from memnb.core.section import Standing, stated_last, why_out
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = ["Standings"]


@dataclass(frozen=True, slots=True)
class _Base:
    """What matters of a fact for those that were derived from it."""

    newest: int
    is_sound: bool
    links: tuple[Link, ...]


class Standings:
    """Judges facts at one instant; what it finds out about one serves for those derived from it."""

    def __init__(
        self, stores: Stores, validator: Validator, at: str, *, without: Collection[str] = ()
    ) -> None:
        """Judge as of the UTC stamp `at`, by evidence as it is now, as if `without` weren't known.

        Nothing rests on those facts then, and they contradict nothing.
        """
        self._stores = stores
        self._validator = validator
        self._at = at
        self._without = frozenset(without)
        self._bases: dict[str, _Base | None] = {}  # None: forgotten
        self._broken: dict[str, str] = {}  # by fact: which one it can't rest on, or ""

    def of(self, facts: Sequence[Fact]) -> list[Standing]:
        """How facts stand, in the same order; each as of that instant."""
        found = self._by_themselves(facts)
        self._look_up(link for one in found for link in one.fact.current.derived_from)
        return [one if one.reason else self._with_bases(one) for one in found]

    def _by_themselves(self, facts: Sequence[Fact]) -> list[Standing]:
        found = [
            Standing(fact, status, why_out(fact, status, self._at))
            for fact, status in zip(facts, self._validator.statuses(facts), strict=True)
        ]
        found = [self._as_asked(one) for one in self._with_disputes(found)]
        for one in found:
            # A hold says that its own base changed; who confirms what is derived from both knows.
            is_sound = one.reason in ("", "held")
            links = one.fact.current.derived_from
            self._bases[one.fact.fact_id] = _Base(one.fact.newest, is_sound, links)
        return found

    def _as_asked(self, one: Standing) -> Standing:
        is_left_out = not one.reason and one.fact.fact_id in self._without
        return replace(one, reason="asked without it") if is_left_out else one

    def _with_disputes(self, found: list[Standing]) -> list[Standing]:
        """The same, but of facts in dispute the one that the person stated last may be sent."""
        disputed = [one for one in found if one.reason == "held" and _only_disputed(one.fact)]
        if not disputed:
            return found
        ids = {hold.because_id for one in disputed for hold in one.fact.holds}
        rivals = self._stores.facts.facts(sorted(ids - self._without), at=self._at)
        statuses = self._validator.statuses(rivals)
        usable = {
            fact.fact_id: fact
            for fact, status in zip(rivals, statuses, strict=True)
            if why_out(fact, status, self._at) in ("", "held") and _only_disputed(fact)
        }
        sent = {
            one.fact.fact_id
            for one in disputed
            if stated_last(
                one.fact,
                [usable[h.because_id] for h in one.fact.holds if h.because_id in usable],
            )
        }
        return [replace(one, reason="") if one.fact.fact_id in sent else one for one in found]

    def _look_up(self, links: Iterable[Link]) -> None:
        """Get to know the facts that these lead to, directly or through others."""
        waiting = self._unknown(links)
        while waiting:
            self._bases.update(dict.fromkeys(waiting))
            found = self._by_themselves(self._stores.facts.facts(sorted(waiting), at=self._at))
            waiting = self._unknown(link for one in found for link in one.fact.current.derived_from)

    def _unknown(self, links: Iterable[Link]) -> set[str]:
        # One by one: the difference of sets would go through all that are known.
        return {link.other_id for link in links if link.other_id not in self._bases}

    def _with_bases(self, standing: Standing) -> Standing:
        fact = standing.fact
        broken = self._broken[fact.fact_id] = self._find_broken(fact.current.derived_from)
        return replace(standing, reason="held", because_id=broken) if broken else standing

    def _find_broken(self, links: Sequence[Link]) -> str:
        """The fact that can't be used, of those that links lead to; "" when all can."""
        waiting, seen = list(links), set()
        while waiting:
            link = waiting.pop()
            base = self._bases.get(link.other_id)
            # One that was changed since, or forgotten, held what is derived from it then.
            if base is None or base.newest != link.other_revision or link.other_id in seen:
                continue
            seen.add(link.other_id)
            if not base.is_sound:
                return link.other_id
            if link.other_id not in self._broken:
                waiting += base.links
            elif self._broken[link.other_id]:
                return self._broken[link.other_id]
        return ""


def _only_disputed(fact: Fact) -> bool:
    """Whether nothing holds a fact but what contradicts it."""
    return all(hold.reason == "disputed" for hold in fact.holds)
