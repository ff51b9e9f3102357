"""PrecisionMemBench: for each case, exactly which beliefs may be shown unasked, and which not.

A belief is a fact; its name and aliases are its context. What a system knows of a belief apart from
its text is used as memnb uses it: what is superseded or resolved doesn't hold now (valid time),
scopes are projects, another person's beliefs are another memory, and what is pinned, universal or
an open question stands in the memory section or elsewhere anyway, so it isn't recalled. The cases'
answers are looked at only to count.

Precision as its authors count: over the cases that expect something or show something, 0 when
nothing is shown though something was expected. Drift of a turn of a session: the share of what is
shown that wasn't expected.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from memnb.core.passages import Passage
from memnb.core.query import understand
from memnb.core.ranking import rank
from memnb.core.recall_gate import Gate
from memnb.storage import passage_table

NOW = "2026-10-08T00:00:00.000000Z"
PERSON = "test-user"


@dataclass(frozen=True)
class Case:
    """What is shown for one question, and what may be."""

    id: str
    shown: tuple[str, ...]
    expected: frozenset[str]
    drift: bool = False

    @property
    def precision(self) -> float | None:
        if not self.shown and not self.expected:
            return None
        return len(self.expected & set(self.shown)) / len(self.shown) if self.shown else 0.0

    @property
    def recall(self) -> float | None:
        if not self.expected:
            return None
        return len(self.expected & set(self.shown)) / len(self.expected)


@dataclass
class Beliefs:
    """All beliefs, as they are at the moment of a session."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def shown(self, query: str, scopes: Sequence[str], person: str, most: int | None) -> list[str]:
        """The ids that are recalled for a question, best first."""
        connection = apsw.Connection(":memory:")
        passage_table.create(connection)
        held = [row for row in self.rows.values() if self._is_seen(row, scopes, person)]
        with connection:
            passage_table.put(connection, map(passage, (r for r in held if is_recalled(r))))
        asked = understand(query, NOW)
        proposed = passage_table.candidates(connection, asked, sources=("fact",))
        fits = Gate(asked, proposed).fits
        found = [one for one in rank(asked, proposed, now=NOW) if fits(one)]
        room = None if most is None else max(0, most - sum(bool(r["pinned"]) for r in held))
        return [one.passage.name for one in found][:room]

    def _is_seen(self, row: Mapping[str, Any], scopes: Sequence[str], person: str) -> bool:
        return row["user_id"] == person and bool(set(row["scope"]) & set(scopes)) and holds(row)


def holds(row: Mapping[str, Any]) -> bool:
    resolved = row["resolved_at"] is not None and row["resolved_at"] < NOW
    return row["superseded_by"] is None and not resolved


def is_recalled(row: Mapping[str, Any]) -> bool:
    """Whether it isn't before the model anyway."""
    always = row["pinned"] or "user:universal" in row["scope"]
    return not always and row["type"] != "open_question"


def passage(row: Mapping[str, Any]) -> Passage:
    names = [row["canonical_name"], *row["aliases"]]
    return Passage(
        "fact", row["_id"], 1, row["content"], stamp(row["created_at"]), "person", "; ".join(names)
    )


def stamp(text: str) -> str:
    return text.replace("Z", ".000000Z")


def cases(folder: Path) -> Iterator[Case]:
    """The single questions."""
    beliefs = read(folder)
    for case in loaded(folder, "retrieval.cases.json"):
        most = case.get("budget", {}).get("maxBeliefs")
        person = case.get("userId", PERSON)
        expect = case["expect"].get("relevantBeliefs", {})
        shown = beliefs.shown(case["query"], case["scope"], person, most)
        yield Case(case["caseId"], tuple(shown), frozenset(expect.get("shouldOnlyInclude", ())))


def session_cases(folder: Path) -> Iterator[Case]:
    """The turns of its sessions; beliefs come and change between them."""
    beliefs = read(folder)
    for case in loaded(folder, "session-retrieval.cases.json"):
        for turn in case["turns"]:
            expect = turn["expect"].get("relevantBeliefs", {})
            shown = beliefs.shown(turn["userMessage"], turn["scope"], PERSON, None)
            yield Case(
                f"{case['caseId']} {turn['turnIndex']}",
                tuple(shown),
                frozenset(expect.get("shouldOnlyInclude", ())),
                drift=True,
            )
            if created := turn.get("createBeliefAtTurn"):
                beliefs.rows[created["_id"]] = created
            if changed := turn.get("updateBeliefAtTurn"):
                row = beliefs.rows[changed["beliefId"]]
                aliases = [*row["aliases"], *changed.get("addAliases", ())]
                beliefs.rows[row["_id"]] = {**row, "aliases": aliases}


def read(folder: Path) -> Beliefs:
    return Beliefs({row["_id"]: row for row in loaded(folder, "beliefs.seed.json")})


def loaded(folder: Path, name: str) -> Any:
    path = folder / f"{name}.xz"
    if path.exists():
        return json.loads(lzma.decompress(path.read_bytes()))
    return json.loads((folder / name).read_text(encoding="utf-8"))


def drift_of(turns: Sequence[Case]) -> float:
    """The mean share of what a turn shows that it shouldn't."""
    shares = [
        1 - turn.precision if turn.shown and turn.precision is not None else 0.0 for turn in turns
    ]
    return sum(shares) / len(shares)
