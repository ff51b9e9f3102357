"""Whether what answers a question is found, on public sets.

    MEMNB_DATA=FOLDER python benchmarks/recall.py [SET …] [--questions N] [--ways NAME,…]
                                                  [--json FILE]

A set is locomo, longmemeval, realmem, realmem_items, beam or precision; absent ones are skipped
with a message. Without MEMNB_DATA a small part of some is there. Each way of searching is asked
every question about its memory, in one run; memnb has one configuration for all sets. Intervals are
bootstrapped, 95 %. --questions takes so many of each set, the same at every run.

What comes unasked is measured in reminding.py; only PrecisionMemBench, which is about nothing else,
is here, too.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import precision_sets
import recall_sets
import report
from memnb.core.ranking import by_session
from recall_measures import MEASURES, SEED, figure
from recall_sets import Memory, Question
from recall_ways import Ours, Way, ways

OURS = "memnb, words"


def asked(memory: Memory, way: Any) -> Iterator[tuple[Question, Any, float]]:
    """What a way finds for each question, and the seconds that it takes."""
    done = 0
    for question in sorted(memory.questions, key=lambda one: before(one, memory)):
        if before(question, memory) > done:
            way.add(memory.passages[done : before(question, memory)])
            done = before(question, memory)
        start = time.perf_counter()
        found = way.ask(question.text, question.now)
        yield question, found, time.perf_counter() - start


def before(question: Question, memory: Memory) -> int:
    return len(memory.passages) if question.before is None else question.before


def levels(memories: Sequence[Memory]) -> list[str]:
    questions = [one for memory in memories for one in memory.questions]
    known = {"turn": any(one.gold for one in questions)}
    known["session"] = any(one.sessions for one in questions)
    return [level for level, there in known.items() if there]


Items = list[dict[str, Any]]


def searched(
    title: str, memories: Sequence[Memory], makers: dict[str, Callable[[str], Way]]
) -> Iterator[dict[str, Any]]:
    """For each question, level and way: where what answers it came."""
    for level in levels(memories):
        for name, make in makers.items():
            for memory in memories:
                for question, found, seconds in asked(memory, make(level)):
                    yield from where(title, level, name, question, found, seconds)


def where(
    title: str, level: str, way: str, question: Question, found: Sequence[str], seconds: float
) -> Iterator[dict[str, Any]]:
    gold = question.gold if level == "turn" else question.sessions
    if gold:
        named = {"set": title, "level": level, "way": way, "id": question.id}
        measured = {name: of(found, gold) for name, of in MEASURES.items()}
        yield {**named, "kind": question.kind, "ms": seconds * 1000, **measured}


def by_memnb(title: str, memories: Sequence[Memory]) -> Items:
    """The same for memnb: its messages by themselves, and the sessions that they stand in."""
    items = Items()
    for memory in memories:
        for question, ranked, seconds in asked(memory, Ours()):
            turns = [one.passage.reference for one in ranked]
            sessions = [name for name, _ in by_session(ranked)]
            items += where(title, "turn", OURS, question, turns, seconds)
            items += where(title, "session", OURS, question, sessions, seconds)
    return items


def sampled(memories: Sequence[Memory], most: int | None) -> list[Memory]:
    """Memories with so many questions in all."""
    every = [(memory, one) for memory in memories for one in memory.questions]
    if most is None or len(every) <= most:
        return list(memories)
    kept = defaultdict(list)
    for memory, one in random.Random(SEED).sample(every, most):  # noqa: S311
        kept[memory.name].append(one)
    return [
        replace(memory, questions=kept[memory.name]) for memory in memories if memory.name in kept
    ]


def show_found(items: Sequence[dict[str, Any]], *, timed: bool = True) -> None:
    """A table for each set and level: a row for each way, and one of memnb's for each kind."""
    groups: dict[tuple[str, str], dict[str, Items]] = defaultdict(dict)
    for item in items:
        groups[item["set"], item["level"]].setdefault(item["way"], []).append(item)
    for (title, level), by_way in groups.items():
        print(f"\n{title}, {level}, {len(by_way[OURS])} questions")
        print(f"{'':22}" + "".join(f"{name:>21}" for name in MEASURES) + timed * f"{'ms':>7}")
        for way, rows in by_way.items():
            ms = f"{report.median([row['ms'] for row in rows]):7.1f}"
            print(f"{way:22}{measures_of(rows)}{timed * ms}")
        kinds = sorted({row["kind"] for row in by_way[OURS]})
        for kind in kinds if len(kinds) > 1 else ():
            rows = [row for row in by_way[OURS] if row["kind"] == kind]
            print(f"  {f'{kind} ({len(rows)})'[:20]:20}{measures_of(rows)}")


def measures_of(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(f"{figure([row[name] for row in rows])!s:>21}" for name in MEASURES)


def precision(folder: Path) -> list[dict[str, Any]]:
    """PrecisionMemBench, with a table."""
    items = []
    for title, found in (
        ("PrecisionMemBench, cases", list(precision_sets.cases(folder))),
        ("PrecisionMemBench, sessions", list(precision_sets.session_cases(folder))),
    ):
        right = figure([one.precision for one in found if one.precision is not None])
        recall = figure([one.recall for one in found if one.recall is not None])
        exact = sum(set(one.shown) == one.expected for one in found)
        drift = precision_sets.drift_of(found)
        print(f"\n{title}: precision {right} of {right.n}, recall {recall} of {recall.n},", end="")
        print(f" exact {exact} of {len(found)}, drift {drift:.3f}")
        items += [
            {"set": title, "id": one.id, "shown": one.shown, "expected": sorted(one.expected)}
            for one in found
        ]
    return items


def option(arguments: Sequence[str], name: str) -> str | None:
    return arguments[arguments.index(name) + 1] if name in arguments else None


def main(arguments: Sequence[str]) -> None:
    named = [one for one in arguments if one in (*recall_sets.SETS, "precision")]
    most = option(arguments, "--questions")
    kept = option(arguments, "--ways")
    makers = {
        name: make for name, make in ways().items() if kept is None or name in kept.split(",")
    }
    if "bm25s" not in ways():
        print("bm25s isn't installed: its row is left out")
    found: list[dict[str, Any]] = []
    for name, (title, load) in recall_sets.SETS.items():
        if named and name not in named:
            continue
        if not recall_sets.is_there(name):
            print(f"skipped {title}: it isn't in {recall_sets.DATA.name}; MEMNB_DATA says where")
            continue
        memories = sampled(list(load(recall_sets.DATA)), int(most) if most else None)
        items = [*searched(title, memories, makers), *by_memnb(title, memories)]
        show_found(items)
        found += items
    exact = []
    if not named or "precision" in named:
        folder = recall_sets.DATA / "precisionmembench"
        if folder.is_dir():
            exact = precision(folder)
        else:
            print("skipped PrecisionMemBench: MEMNB_DATA says where it is")
    if file := option(arguments, "--json"):
        everything = {"found": found, "precision": exact}
        Path(file).write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
