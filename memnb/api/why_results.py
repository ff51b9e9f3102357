"""Why a turn was given what it was given of memory: all of it, or one fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memnb.agent.reply import Answer
from memnb.api.fact_results import MAKE_ROOM, why_out
from memnb.api.rendering import Block, Grid, Line, Marked, Table, count
from memnb.core.recall_block import NO_RECALL, Considered
from memnb.core.section import Choice
from memnb.memory.verdicts import Place, Verdict

__all__ = ["Why", "WhyFact", "WhyRow"]

_PLACES: Mapping[Place, str] = {
    "section": "carried in the memory section",
    "recall": "recalled with the message",
    "carried": "carried",
    "none": "not carried",
}


@dataclass(frozen=True, slots=True)
class WhyRow:
    """One fact, or one passage of a note or a talk, that was considered for a turn.

    Args:
        item: its reference.
        source: `fact`, `note` or `message`.
        place: where it was carried: `section`, `recall`; `carried` when only that is known; "" when
            it wasn't.
        reason: why it wasn't.
        score: how well it fits the message, for what was considered for recall.
        parts: what the score is the sum of.
        cited: whether the answer names it.
    """

    item: str
    source: str
    place: str
    reason: str = ""
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    cited: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Why(Table):
    """What memory the requests of a turn carried, and what else was considered.

    `sections` holds the exact text of each request's section for turns of this kernel; it is empty
    for older ones, of which the session keeps ids only. `recall` is what the message was sent with,
    and `notice` says why it wasn't sent with anything.
    """

    row = WhyRow

    turn: int
    model: str
    sections: tuple[str, ...]
    carried: tuple[str, ...]
    cited: tuple[str, ...]
    remembered: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    n_left_out_exchanges: int = 0
    without: tuple[str, ...] = ()
    recall: str = ""
    notice: str = ""
    rows: tuple[WhyRow, ...] = ()

    @classmethod
    def of(cls, turn: int, answer: Answer) -> Why:
        """What a turn of this kernel carried."""
        traces = answer.requests
        choices = traces[-1].section.choices if traces else ()
        recall = traces[-1].recall if traces else NO_RECALL
        rows = (*map(_of_passage, recall.considered), *map(_of_choice, choices))
        return cls(
            turn=turn,
            model=answer.model,
            sections=tuple(trace.section.text for trace in traces),
            carried=answer.carried,
            cited=answer.cited,
            remembered=answer.remembered,
            left_out=tuple(
                (choice.fact.fact_id, _word(choice)) for choice in choices if not choice.is_in
            ),
            n_left_out_exchanges=traces[-1].n_left_out if traces else 0,
            without=answer.without,
            recall=recall.text,
            notice=recall.notice,
            rows=_with_cited(rows, answer.cited),
        )

    @classmethod
    def of_records(
        cls,
        turn: int,
        model: str,
        *,
        carried: Iterable[str],
        cited: tuple[str, ...],
        remembered: tuple[str, ...],
        without: tuple[str, ...],
    ) -> Why:
        """What is known of a turn by its records."""
        references = tuple(dict.fromkeys(carried))
        rows = (WhyRow(one, _source(one), "carried") for one in references)
        return cls(
            turn=turn,
            model=model,
            sections=(),
            carried=references,
            cited=cited,
            remembered=remembered,
            left_out=(),
            without=without,
            rows=_with_cited(rows, cited),
        )

    def blocks(self) -> Sequence[Block]:
        """Counts, the exact bytes, what was recalled and what not, what was left out and why."""
        probe = f" · probe without {', '.join(self.without)}" if self.without else ""
        head = f"turn {self.turn} · {self.model}{probe} · carried {self._n_carried()}"
        blocks: list[Block] = [Line(head, strong=True), *self._sections(), *self._recalled()]
        if not self.sections and self.carried:
            blocks.append(
                Line(f"carried {', '.join(self.carried)} (ids only: the text isn't kept)")
            )
        if self.cited:
            blocks.append(Line(f"used {', '.join(self.cited)}"))
        if self.remembered:
            blocks.append(Line(f"remembered {', '.join(self.remembered)}"))
        for reason in dict.fromkeys(reason for _, reason in self.left_out):
            ids = (fact_id for fact_id, why in self.left_out if why == reason)
            blocks.append(Line(f"left out {', '.join(ids)}: {reason}"))
        if self.n_left_out_exchanges:
            blocks.append(
                Line(f"left out {count(self.n_left_out_exchanges, 'earlier exchange')}: no room")
            )
        return [*blocks, Line(self._next())]

    def _n_carried(self) -> str:
        n_facts = sum(_source(reference) == "fact" for reference in self.carried)
        n_others = len(self.carried) - n_facts
        others = f" and {count(n_others, 'message')}" if n_others else ""
        return f"{count(n_facts, 'fact')}{others}"

    def _sections(self) -> Iterator[Block]:
        n = len(self.sections)
        for number, text in enumerate(self.sections, 1):
            if number > 1 and text == self.sections[number - 2]:
                yield Line(f"request {number} of {n} carried the same")
                continue
            n_bytes = len(text.encode(errors="replace"))
            yield Line(f"request {number} of {n} carried {n_bytes:,} bytes of memory:")
            yield Marked(text) if text else Line("(nothing)")

    def _recalled(self) -> Iterator[Block]:
        if self.recall:
            n_bytes = len(self.recall.encode(errors="replace"))
            yield Line(f"the message was sent with {n_bytes:,} bytes that were recalled:")
            yield Marked(self.recall)
        if self.notice:
            yield Line(self.notice)
        considered = [row for row in self.rows if row.score is not None]
        if considered:
            rows = tuple(
                (row.item, _figure(row.score), _sum(row.parts), row.reason or "recalled")
                for row in considered
            )
            yield Line("considered for the message:")
            yield Grid(("what", "score", "made of", "became of it"), rows, is_whole=True)

    def _next(self) -> str:
        known = (ref.partition("@")[0] for ref in (*self.cited, *self.carried))
        fact_id = next((one for one in known if _source(one) == "fact"), "ID")
        return (
            f"%memory why {self.turn} ID says it of one fact · %agent --without {fact_id} TEXT"
            " answers as if it weren't known"
        )


@dataclass(frozen=True, slots=True, repr=False)
class WhyFact(Table):
    """Why a turn was or wasn't given one fact, and how the fact stands now.

    Args:
        fact_id: which.
        turn: which turn; None when nothing was asked yet.
        place: where the turn was given it: `section`, `recall`; `carried` when only that is known,
            else `none`.
        section: why it wasn't in the memory section, as far as that is known.
        recall: why it wasn't recalled, as far as that is known.
        score: how well it fits the message, when recall found it.
        parts: what the score is the sum of.
        shared: its words that the message has, too.
        cited: whether the answer names it.
        in_prompt: whether the next request would carry it.
        reason: why not.
    """

    row = WhyRow

    fact_id: str
    turn: int | None
    place: Place
    section: str = ""
    recall: str = ""
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    cited: bool = False
    in_prompt: bool = False
    reason: str = ""
    rows: tuple[WhyRow, ...] = ()

    @classmethod
    def untold(cls, now: Choice, at: str) -> WhyFact:
        """How a fact stands at a UTC stamp, the present, before anything was asked."""
        reason = why_out(now, at)
        return cls(now.fact.fact_id, None, "none", in_prompt=now.is_in, reason=reason)

    @classmethod
    def of(cls, why: Why, found: Verdict, now: Choice, at: str) -> WhyFact:
        """What became of a fact in a turn; `now` is the verdict at a UTC stamp, the present."""
        fact_id, considered = now.fact.fact_id, found.considered
        section, recall = _section(why, found, at), _recall(why, found)
        row = WhyRow(
            item=fact_id,
            source="fact",
            place="" if found.place == "none" else found.place,
            reason=(recall or section) if found.place == "none" else "",
            score=None if considered is None else considered.score,
            parts={} if considered is None else considered.parts,
            cited=fact_id in {reference.partition("@")[0] for reference in why.cited},
        )
        return cls(
            fact_id=fact_id,
            turn=why.turn,
            place=found.place,
            section=section,
            recall=recall,
            score=row.score,
            parts=row.parts,
            shared=found.shared,
            cited=row.cited,
            in_prompt=now.is_in,
            reason=why_out(now, at),
            rows=(row,),
        )

    def blocks(self) -> Sequence[Block]:
        """What became of it and why, how it stands now, what to type next."""
        turn = "nothing was asked yet" if self.turn is None else f"turn {self.turn}"
        what = "" if self.turn is None else f" · {_PLACES[self.place]}"
        lines = [Line(f"{self.fact_id} · {turn}{what}", strong=True)]
        if self.cited:
            lines.append(Line("the answer names it"))
        if self.section:
            lines.append(Line(f"not in the memory section: {self.section}"))
        if self.recall:
            lines.append(Line(f"not recalled: {self.recall}"))
        if self.score is not None:
            lines.append(Line(f"score {_figure(self.score)}: {_sum(self.parts)}"))
        if self.shared:
            lines.append(Line(f"shares with the message: {', '.join(self.shared)}"))
        now = "in the prompt" if self.in_prompt else f"not in the prompt: {self.reason}"
        return [*lines, Line(f"now: {now}"), Line(self._next())]

    def _next(self) -> str:
        if self.place != "none":
            return f"%agent --without {self.fact_id} TEXT answers as if it weren't known"
        if self.reason == "no room":
            return MAKE_ROOM
        return f"%memory fact {self.fact_id} says where it comes from, and what holds it back"


def _section(why: Why, found: Verdict, at: str) -> str:
    """Why a fact wasn't in the memory section; "" when it was, or that isn't known."""
    if found.place in ("section", "carried"):
        return ""
    if found.is_newer:
        return "it was learned after the message"
    if found.choice is not None:
        return why_out(found.choice, at)
    if not why.sections:
        return "of a turn of another kernel, or before a forget, only what was carried is known"
    return "no room" if any(row.score is None for row in why.rows) else "memory wasn't read"


def _recall(why: Why, found: Verdict) -> str:
    """Why a fact wasn't recalled; "" when it was or needn't be, or that isn't known."""
    if found.place != "none" or found.is_newer or not why.sections:
        return ""
    if found.considered is not None:
        return found.considered.reason
    if why.notice:
        return why.notice
    if not found.shared:
        return "it shares no word with the message"
    return "other passages fit the message better"


def _of_passage(one: Considered) -> WhyRow:
    place = "" if one.reason else "recall"
    return WhyRow(one.reference, one.source, place, one.reason, one.score, one.parts)


def _of_choice(choice: Choice) -> WhyRow:
    place = "section" if choice.is_in else ""
    return WhyRow(choice.fact.current.reference, "fact", place, _word(choice))


def _word(choice: Choice) -> str:
    """Why a fact was left out, in a word."""
    return choice.status if choice.reason == "not valid" else choice.reason


def _with_cited(rows: Iterable[WhyRow], cited: Sequence[str]) -> tuple[WhyRow, ...]:
    return tuple(replace(row, cited=True) if row.item in cited else row for row in rows)


def _source(reference: str) -> str:
    return "fact" if reference.startswith("F-") else "message"


def _figure(score: float | None) -> str:
    return "" if score is None else f"{score:.2f}"


def _sum(parts: Mapping[str, float]) -> str:
    """What a score is made of, the most first."""
    most_first = sorted(parts.items(), key=lambda part: (-part[1], part[0]))
    return " + ".join(f"{name} {value:.2f}" for name, value in most_first)
