"""The rules of compaction as the compaction-conformance-kit calls them; a model is never asked."""

from __future__ import annotations

from typing import Any

from compaction_kit.compacted import CompactedContext

from memnb.core import essentials
from memnb.core.essentials import Said

NO_BUDGET = 10**9


class Rules:
    """What `%memory compact --rules` keeps, round after round, as in a session."""

    name = "memnb, rules alone"

    def compact(
        self, turns: list[Any], round_num: int = 1, budget_chars: int | None = None
    ) -> CompactedContext:
        before = [one for turn in turns if turn.role == "system" for one in kept(turn.text)]
        said = [
            Said("user" if turn.role == "user" else "assistant", turn.text)
            for turn in turns
            if turn.role != "system"
        ]
        found = essentials.merged(before, essentials.find(said))
        text = essentials.written(found, budget_chars or NO_BUDGET)
        return CompactedContext(text=text, compactor_name=self.name, round_num=round_num)


class HeadAndTail:
    """The beginning and the end, as much as fits: what many do."""

    name = "head and tail"

    def compact(
        self, turns: list[Any], round_num: int = 1, budget_chars: int | None = None
    ) -> CompactedContext:
        text = "\n".join(f"[{turn.role}] {turn.text}" for turn in turns)
        room = (budget_chars or NO_BUDGET) - 1
        if len(text) > room:
            text = text[: room // 2] + "\n" + text[len(text) - room // 2 :]
        return CompactedContext(text=text, compactor_name=self.name, round_num=round_num)


def kept(text: str) -> list[essentials.Essential]:
    """What the round before kept."""
    return essentials.parse(text)
