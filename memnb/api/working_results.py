"""What compaction and a handoff did, as it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memnb.api.learning_results import Mined
from memnb.api.rendering import Block, Line, Marked, Result, count
from memnb.memory.compacting import Compaction
from memnb.memory.handing_off import HandedOff

__all__ = ["CompactReceipt", "HandoffReceipt"]


@dataclass(frozen=True, slots=True, repr=False)
class CompactReceipt(Result):
    """What is summarised from now on.

    `covered` are the records that were covered newly; `model` is "" where rules wrote alone;
    `refusal` says why a last reply was no summary, so that what it was to cover stays as it was.
    """

    session_id: str
    summaries: tuple[int, ...]
    covered: tuple[int, ...]
    n_exchanges: int
    n_bytes_before: int
    n_bytes_after: int
    model: str
    text: str
    refusal: str | None = None
    learned: Mined | None = None

    @classmethod
    def of(cls, session_id: str, done: Compaction, learned: Mined | None = None) -> CompactReceipt:
        """The receipt of a compaction that wrote something, and of what was learned then."""
        written = done.written
        return cls(
            session_id=session_id,
            summaries=tuple(one.seq for one in written),
            covered=tuple(seq for one in written for seq in one.covered),
            n_exchanges=sum(one.n_exchanges for one in written),
            # Each goes on from the one before, whose bytes count once.
            n_bytes_before=sum(one.n_bytes_before for one in written)
            - sum(one.n_bytes_after for one in written[:-1]),
            n_bytes_after=written[-1].n_bytes_after,
            model=written[-1].model,
            text=written[-1].text,
            refusal=done.refusal,
            learned=learned,
        )

    def blocks(self) -> Sequence[Block]:
        """What it covers, how much smaller that is, and who wrote it."""
        blocks: list[Block] = [
            Line(
                f"summarised {count(self.n_exchanges, 'exchange')} of {self.session_id}, records"
                f" {self.covered[0]} to {self.covered[-1]}: {self.n_bytes_before:,} →"
                f" {self.n_bytes_after:,} bytes · by {self.model or 'rules alone'}",
                strong=True,
            ),
            Marked(self.text) if self.text else Line("(rules found nothing that must survive)"),
            Line("the records stay; undo, clear or forget what it covers, and it is made anew"),
        ]
        if self.refusal is not None:
            blocks.append(Line(f"the rest stays as it was: the reply was {self.refusal}"))
        return blocks + _learned(self.learned)


@dataclass(frozen=True, slots=True, repr=False)
class HandoffReceipt(Result):
    """Which session ended, and which one goes on from its summary."""

    ended: str
    begun: str
    n_bytes: int
    n_exchanges: int
    refusal: str | None = None
    learned: Mined | None = None

    @classmethod
    def of(cls, done: HandedOff, learned: Mined | None = None) -> HandoffReceipt:
        """The receipt of a handoff, and of what was learned of the session that ended."""
        n_exchanges = sum(one.n_exchanges for one in done.compaction.written)
        refusal = done.compaction.refusal
        return cls(done.ended, done.begun, done.n_bytes, n_exchanges, refusal, learned)

    def blocks(self) -> Sequence[Block]:
        """One line; a second one when rules had to write it."""
        blocks: list[Block] = [
            Line(
                f"{self.begun} goes on from a summary of {self.ended} ({self.n_bytes:,} bytes);"
                f" `%memory resume {self.ended}` goes back",
                strong=True,
            )
        ]
        if self.refusal is not None:
            blocks.append(Line(f"by rules alone: the model's reply was {self.refusal}"))
        return blocks + _learned(self.learned)


def _learned(mined: Mined | None) -> list[Block]:
    """What was learned with it, in a line each; nothing when learning is off."""
    return [] if mined is None else [Line(line) for line in mined.lines()]
