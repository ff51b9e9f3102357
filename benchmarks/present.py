"""What is always present in the prompt, on data with known answers.

1. Standing instructions of 20 people (BEAM), those of each learned among 1,000 other facts: how
   many are in the memory section, beside the rule of before, oldest first.
2. Facts about what was said (LoCoMo's observations): how many questions can be answered from what
   fits the room that instructions leave, from what automatic recall finds, and from both.

Labelled data lie in the folder that MEMNB_DATA names (default: `data` in the project); absent sets
are skipped with a message.

    python benchmarks/present.py [--quick] [--json FILE]
"""

from __future__ import annotations

import json
import lzma
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import report
from filled_store import FilledStore, new_place
from memnb.core import ids
from memnb.core.bodies import Part
from memnb.core.facts import Kind
from memnb.core.section import Section, line_bytes
from memnb.core.uses import FULL
from memnb.memory import context, indexing, reminding
from memnb.memory.context import Limits
from memnb.storage import index_positions
from memnb.storage.index_positions import Uses

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MEMNB_DATA", PROJECT / "data"))
N_OTHERS = 1_000
MAX_TEXT = 200
FENCE = "data-0badcafe"
ROOM = Limits().facts_max_bytes

_UNANSWERABLE = 5
_NOTHING = Section("", (), ())

Fact = tuple[str, Kind]
Gold = set[str]


def records(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        print(f"skipped {name}: not in {DATA} (set MEMNB_DATA)")
        return []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# Standing instructions


@dataclass(frozen=True)
class Case:
    """Facts in the order in which they were learned, and which of them are the person's own."""

    chat: int
    facts: list[Fact]
    gold: Gold
    are_used: bool = False


def cases(kind: str) -> Iterator[Case]:
    """One for each person; `kind` says among what, and when, the instructions were learned."""
    instructions = records("beam/standing_instructions_dev.jsonl.xz")
    messages = records("beam/user_messages_dev.jsonl.xz")
    preferences = records("prefeval/preferences_dev.jsonl.xz")
    chats = sorted({row["chat"] for row in instructions})
    for chat in chats[: 3 if "--quick" in sys.argv else None]:
        chance = random.Random(chat)  # noqa: S311
        gold = {shortened(row["gold"]) for row in instructions if row["chat"] == chat}
        own: list[Fact] = [(text, "preference") for text in sorted(gold)]
        said = [shortened(row["text"]) for row in messages if row["chat"] != chat]
        wanted = [shortened(row["preference"]) for row in preferences]
        of_observations = kind.startswith("observations")
        # More preferences than PrefEval has: what others wrote, taken for some.
        known = said if of_observations else [*wanted, *said[: 2 * N_OTHERS]]
        texts = chance.sample(sorted(set(known)), N_OTHERS)
        others: list[Fact] = [
            (text, "observation" if of_observations else "preference") for text in texts
        ]
        facts = [*own, *(other for other in others if other[0] not in gold)]
        if kind.endswith("shuffled"):
            chance.shuffle(facts)
        if kind.endswith("before"):
            facts = [*facts[len(own) :], *own]
        yield Case(chat, facts, gold, are_used=kind.endswith(" used"))


def shortened(text: str) -> str:
    """One line, no longer than facts are."""
    return " ".join(text.partition("->->")[0].split())[:MAX_TEXT].strip()


def present(case: Case) -> dict[str, float]:
    """Which share of the instructions is in the section, by each rule."""
    with new_place() as place:
        store = FilledStore(place)
        store.keep(case.facts)
        with place.open() as memory:
            inside = memory.runtime.memory
            assert inside.index is not None
            texts = dict(zip(store.ids, (text for text, _ in case.facts), strict=True))
            if case.are_used:
                at = inside.stores.now()
                used = {one: Uses(1, 1, at, at) for one in store.ids if texts[one] in case.gold}
                for n in range(FULL):
                    session_id = ids.session_id(inside.stores.clock(), random.Random(n).randbytes)  # noqa: S311
                    inside.index.write(lambda c, s=session_id: index_positions.put_uses(c, s, used))
            found = {
                "ours": _carried(inside, ranks=inside.ranks),
                "ours, without an index": _carried(inside, ranks=None),
            }
    shares = {
        how: sum(texts[one] in case.gold for one in carried) / len(case.gold)
        for how, carried in found.items()
    }
    return {**shares, "oldest first": _oldest_first(case)}


def _carried(inside: Any, *, ranks: Any) -> list[str]:
    built, _ = context.memory_section(
        inside.stores, inside.validator, Limits(), fence=FENCE, ranks=ranks
    )
    return [reference.partition("@")[0] for reference in built.carried]


def _oldest_first(case: Case) -> float:
    """The rule of before: whole facts of whatever kind, as long as there is room."""
    room, found = ROOM, 0
    for text, _ in case.facts:
        if line_bytes(text) <= room:
            room -= line_bytes(text)
            found += text in case.gold
    return found / len(case.gold)


KINDS = {
    "observations, shuffled": "among 1,000 observations, in any order",
    "instructions, before": "after 1,000 other instructions",
    "instructions, used": "before 1,000 others, and used in 4 sessions",
    "instructions, unused": "before 1,000 others, and never used",
}


def instructions() -> tuple[list[report.Row], dict[str, Any]]:
    rows, items = [], {}
    for kind, name in KINDS.items():
        found = [(case.chat, present(case)) for case in cases(kind)]
        if not found:
            break
        items[name] = dict(found)
        share = {how: 100 * report.mean([one[how] for _, one in found]) for how in found[0][1]}
        is_aim = not kind.endswith("unused")
        rows.append(
            report.Row(
                name,
                share["ours"],
                share["oldest first"],
                "% of instructions",
                "100 %" if is_aim else "",
                share["ours"] == 100 if is_aim else None,
            )
        )
        rows.append(
            report.Row("  the same without an index", share["ours, without an index"], None, "%")
        )
    return rows, items


# What can be recalled


def observations() -> tuple[list[report.Row], dict[str, Any]]:
    """For each question whether a fact of its evidence is at hand, by section, recall or both."""
    items: dict[str, dict[str, bool]] = {}
    for talk in records("locomo/conversations_dev.jsonl.xz"):
        said = dict(_said(talk))
        with new_place() as place:
            FilledStore(place).keep([(text, "observation") for text in said])
            with place.open() as memory:
                items.update(_at_hand(memory.runtime.memory, talk, said))
    if not items:
        return [], {}
    share = {
        how: 100 * report.mean([one[how] for one in items.values()])
        for how in ("section", "recall", "either")
    }
    return [
        report.Row(f"section alone, {ROOM:,} bytes of facts", share["section"], None, "%"),
        report.Row("automatic recall alone", share["recall"], None, "%"),
        report.Row("both", share["either"], share["recall"], "% of questions"),
    ], items


def _said(talk: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The facts about a conversation, in order, each with the message that it was taken from."""
    for session in talk["observation"].values():
        for facts in session.values():
            for text, evidence in facts:
                yield shortened(text), evidence if isinstance(evidence, str) else evidence[0]


def _at_hand(
    inside: Any, talk: dict[str, Any], said: dict[str, str]
) -> Iterator[tuple[str, dict[str, bool]]]:
    indexing.update(inside, inside.index)
    section, _ = context.memory_section(
        inside.stores, inside.validator, Limits(), fence=FENCE, ranks=inside.ranks
    )
    for number, qa in enumerate(talk["qa"]):
        gold = [text for text, where in said.items() if where in qa["evidence"]]
        if qa["category"] == _UNANSWERABLE or not gold:
            continue
        message = [Part("typed", qa["question"])]
        alone = reminding.remind(inside, message, _NOTHING, fence=FENCE)
        beside = reminding.remind(inside, message, section, fence=FENCE)
        in_section = any(text in section.text for text in gold)
        yield (
            f"{talk['sample_id']}-{number}",
            {
                "section": in_section,
                "recall": any(text in alone.text for text in gold),
                "either": in_section or any(text in beside.text for text in gold),
            },
        )


def main() -> None:
    rows, items = instructions()
    more, further = observations()
    report.show(
        "What is present", [*rows, *more], items={"instructions": items, "observations": further}
    )


if __name__ == "__main__":
    main()
