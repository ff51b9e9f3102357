"""Compaction: what was said becomes a summary, with exact lineage, before the window is full.

1. Only whole exchanges are covered, oldest first; rules keep what must survive of them, and a
   model writes the summary where one is asked.
2. Before anything is written the sources are checked again: what was forgotten, hidden or changed
   while the model wrote makes nothing of its reply.
3. A reply that is no summary moves nothing. What it took is recorded all the same.
4. More than a model should read at once is covered by rules alone, from the oldest part on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

from memnb.core import compaction, essentials
from memnb.core.canonical import clean_text
from memnb.core.compaction import MIN_RAW_MESSAGES, Budget, Refusal, kept_raw
from memnb.core.essentials import Essential, Said
from memnb.core.messages import Message, Request, Usage
from memnb.core.records import Draft
from memnb.core.screening import mask
from memnb.core.summary_bodies import CompactBody, MemoryUsageBody
from memnb.core.token_estimates import messages_tokens
from memnb.errors import GenerationChanged, Refused
from memnb.memory.conversation import Exchange, Replay, carries_data
from memnb.memory.history import History
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.summaries import Summary, extended

__all__ = [
    "Compacted",
    "Compaction",
    "Reply",
    "Writer",
    "compact",
    "compact_session",
    "preview",
    "require_no_turn",
    "to_cover",
]

MAX_MODEL_PARTS: Final = 3
"""So many requests at most are made of a model for one compaction."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered to a request for a summary."""

    text: str
    stop: str
    has_calls: bool = False
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes the summary: a model, of which `ask` gives the reply."""

    name: str
    ask: Callable[[Request], Reply]
    timeout_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Compacted:
    """One summary that was written.

    Args:
        seq: its record.
        covered: the records that it covers and the one before didn't.
        n_exchanges: how many exchanges they are.
        n_bytes_before: of what it covers newly, and of the summary before.
        n_bytes_after: of the summary.
        text: all that it says.
        model: who wrote it; "" when rules did alone.
        usage: what it took; None when no model was asked.
    """

    seq: int
    covered: tuple[int, ...]
    n_exchanges: int
    n_bytes_before: int
    n_bytes_after: int
    text: str
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did.

    Args:
        written: the summaries, in order.
        refusal: why the last reply was none; None when it was one.
        refused_usage: what the refused reply took.
    """

    written: tuple[Compacted, ...] = ()
    refusal: Refusal | None = None
    refused_usage: Usage | None = None


@dataclass(slots=True)
class _Part:
    """A covered exchange on its way into a summary."""

    exchange: Exchange
    text: str

    @property
    def n_bytes(self) -> int:
        return _n_bytes(self.text)


def compact(
    memory: ProjectMemory,
    replay: Replay,
    before: Summary | None,
    exchanges: Iterable[Exchange],
    *,
    window: int | None,
    writer: Writer | None,
) -> Compaction:
    """Cover these exchanges with summaries, each going on from the one before.

    Args:
        memory: the project's.
        replay: of the live session.
        before: the summary that holds now.
        exchanges: what is to be covered, oldest first; all of it ended.
        window: the model's window in tokens; None when unknown.
        writer: who writes; None: rules alone.

    Raises:
        GenerationChanged: something was forgotten, hidden or changed meanwhile.
        StoreError: a summary couldn't be written, or a source isn't what it was.
    """
    return _cover(_Run(memory, replay, before, window), exchanges, writer)


def _cover(run: _Run, exchanges: Iterable[Exchange], writer: Writer | None) -> Compaction:
    waiting: deque[_Part] = deque()
    size = 0
    for exchange in exchanges:
        part = _Part(exchange, mask(compaction.transcript(exchange.messages))[0])
        waiting.append(part)
        size += part.n_bytes
        most = MAX_MODEL_PARTS * run.limits.input_bytes if writer else 0
        while waiting and size > most:
            first = waiting.popleft()
            size -= first.n_bytes
            run.take(first)
    if run.has_taken:
        run.write("", None)
    while waiting and writer is not None:
        sizes = [part.n_bytes for part in waiting]
        for _ in range(compaction.first_part(sizes, run.limits.input_bytes)):
            run.take(waiting.popleft())
        refused = run.ask(writer)
        if refused is not None:
            return Compaction(tuple(run.written), *refused)
    return Compaction(tuple(run.written))


def compact_session(
    memory: ProjectMemory,
    *,
    fence: str,
    window: int | None,
    writer: Writer | None,
    min_raw: int = MIN_RAW_MESSAGES,
) -> Compaction:
    """Cover all of the live session but its last messages.

    Args:
        memory: the project's.
        fence: a random word that stored text can't know.
        window: the model's window in tokens; None when unknown.
        writer: who writes; None: rules alone.
        min_raw: how many messages stay as they were said.

    Returns:
        What was done; nothing when there is nothing to cover.

    Raises:
        Refused: a turn is running. GenerationChanged: something was forgotten meanwhile.
    """
    history = memory.session.history()
    if history is None:
        return Compaction()
    require_no_turn(history)
    run = _Run.begin(memory, history, fence, window)
    return _cover(run, run.to_cover(min_raw), writer)


def preview(
    memory: ProjectMemory, *, fence: str, window: int | None, writer: Writer
) -> Request | None:
    """What `compact_session` would ask the writer first; nobody is asked, nothing is written.

    None when there is nothing to cover.
    """
    asked: list[Request] = []

    def ask(request: Request) -> Reply:
        asked.append(request)
        return Reply("", "failed")

    history = memory.session.history()
    if history is not None:
        run = _Unwritten.begin(memory, history, fence, window)
        _cover(run, run.to_cover(MIN_RAW_MESSAGES), replace(writer, ask=ask))
    return asked[0] if asked else None


def require_no_turn(history: History) -> None:
    """Refuse while an exchange is open.

    Raises:
        Refused: one is.
    """
    entries = history.entries
    since = range(entries.asked[-1], len(entries) + 1) if entries.asked else ()
    if since and not any(entries.kind(seq).type == "turn_end" for seq in since):
        raise Refused("a turn is running; do this when it has ended.")


def to_cover(
    replay: Replay,
    cutoff: int,
    *,
    room: int,
    open_messages: int = 0,
    min_raw: int = MIN_RAW_MESSAGES,
) -> Iterator[Exchange]:
    """The exchanges that a summary is to cover now, oldest first.

    What didn't end may still go on, so neither it nor anything after it is covered.

    Args:
        replay: of the session.
        cutoff: where the summary before ends; 0 without one.
        room: how many tokens may stay as they were said.
        open_messages: how many messages the running exchange has.
        min_raw: how many messages stay as they were said, however large they are.
    """
    newest: list[Exchange] = []

    def pieces() -> Iterator[tuple[int, int]]:
        for exchange in replay.newest_first(cutoff):
            newest.append(exchange)
            yield exchange.n_messages, messages_tokens(exchange.messages)

    n_kept = kept_raw(pieces(), room=room, open_messages=open_messages, min_raw=min_raw)
    first_raw = newest[n_kept - 1].turn if n_kept else None
    for exchange in replay.oldest_first(cutoff):
        if exchange.turn == first_raw or not exchange.is_complete:
            return
        yield exchange


class _Run:
    """One compaction: what was taken since the last summary, and what was written."""

    def __init__(
        self, memory: ProjectMemory, replay: Replay, before: Summary | None, window: int | None
    ) -> None:
        self._memory = memory
        self._replay = replay
        self._before = before
        self._window = window
        self._generation = memory.generation()
        self._kept: list[Essential] = essentials.parse(before.essentials) if before else []
        self._taken: list[_Part] = []
        self.written: list[Compacted] = []

    @classmethod
    def begin(cls, memory: ProjectMemory, history: History, fence: str, window: int | None) -> Self:
        """A compaction of the live session, going on from the summary that holds now."""
        replay = Replay(history, memory.histories.view(history), lambda _: "", fence)
        return cls(memory, replay, memory.summaries.current(history, replay.seen), window)

    def to_cover(self, min_raw: int) -> Iterator[Exchange]:
        """All that wasn't covered yet, but so many messages."""
        cutoff = self._before.cutoff if self._before else 0
        return to_cover(self._replay, cutoff, room=0, min_raw=min_raw)

    @property
    def limits(self) -> Budget:
        """What of the window is for what, beside the summary before."""
        whole = self._before.whole if self._before else ""
        return compaction.budget(self._window, before=_n_bytes(whole))

    @property
    def has_taken(self) -> bool:
        """Whether something waits to be covered."""
        return bool(self._taken)

    def take(self, part: _Part) -> None:
        """Cover one more exchange with the next summary."""
        self._taken.append(part)

    def ask(self, writer: Writer) -> tuple[Refusal, Usage] | None:
        """Have a summary of what was taken written; else why it wasn't, and what that took."""
        limits = self.limits
        request = compaction.request(
            mask(self._before.whole)[0] if self._before else "",
            "\n\n".join(part.text for part in self._taken),
            fence=self._replay.fence,
            limits=limits,
            timeout_seconds=writer.timeout_seconds,
        )
        try:
            reply = writer.ask(request)
        except KeyboardInterrupt:
            self._count(writer, Usage(), "interrupted")
            raise
        refusal = compaction.refusal(
            reply.text, stop=reply.stop, has_calls=reply.has_calls, limits=limits
        )
        if refusal is not None:
            self._count(writer, reply.usage, refusal)
            return refusal, reply.usage
        try:
            self.write(mask(clean_text(reply.text.strip()))[0], (writer.name, reply.usage))
        except GenerationChanged:
            self._count(writer, reply.usage, "stale")
            raise
        return None

    def _count(self, writer: Writer, usage: Usage, outcome: str) -> None:
        """Record what a reply took that became no summary."""
        self._append(MemoryUsageBody("compaction", writer.name, usage, outcome).draft())

    def _append(self, draft: Draft) -> int:
        (seq,) = self._memory.session.append(draft, generation=self._generation)
        return seq

    def write(self, summary: str, by: tuple[str, Usage] | None) -> None:
        """Write a summary of what was taken; with nobody's text the one before stays."""
        before, taken = self._before, self._taken
        covered = tuple(seq for part in taken for seq in part.exchange.seqs)
        said = (piece for part in taken for piece in _said(part.exchange.messages))
        self._kept = essentials.merged(self._kept, essentials.find(said))
        carried = dict.fromkeys(before.carried if before else ())
        for part in taken:
            carried.update(dict.fromkeys(part.exchange.carried))
        exchanges = [part.exchange for part in taken]
        history = self._require_same(covered)
        model, usage = by or ("", Usage())
        body = CompactBody(
            summary=summary or (before.text if before else ""),
            essentials=essentials.written(self._kept, self.limits.essentials_bytes),
            evidence=extended(history, before.evidence if before else (), covered),
            prior=before.prior if before else None,
            cutoff=taken[-1].exchange.end,
            carried=tuple(carried),
            holds_data=(before is not None and before.holds_data)
            or carries_data(exchanges, self._replay.fence),
            model=model,
            usage=usage,
        )
        self._wrote(self._append(body.draft()), body, covered, by)

    def _wrote(
        self, seq: int, body: CompactBody, covered: tuple[int, ...], by: tuple[str, Usage] | None
    ) -> None:
        before = self._before
        history = self._memory.session.history()
        digest = (history.reader.digest_at(seq) if history else None) or ""
        n_before = sum(part.n_bytes for part in self._taken)
        self._before = Summary(
            seq=seq,
            digest=digest,
            text=body.summary,
            essentials=body.essentials,
            evidence=body.evidence,
            cutoff=body.cutoff,
            carried=body.carried,
            holds_data=body.holds_data,
            n_chained=(before.n_chained if before else 0) + 1,
        )
        self.written.append(
            Compacted(
                seq=seq,
                covered=covered,
                n_exchanges=len(self._taken),
                n_bytes_before=n_before + (_n_bytes(before.whole) if before else 0),
                n_bytes_after=_n_bytes(self._before.whole),
                text=self._before.whole,
                model=body.model,
                usage=by[1] if by else None,
            )
        )
        self._taken = []

    def _require_same(self, covered: Sequence[int]) -> History:
        """The session, in which all that a summary is made of still is as it was.

        Raises:
            GenerationChanged: it isn't.
        """
        memory, before = self._memory, self._before
        history = memory.session.history()
        if history is not None and memory.generation() == self._generation:
            seen = memory.histories.view(history)
            holds = memory.summaries.current(history, seen)
            is_same = before is None or (holds is not None and holds.prior == before.prior)
            if is_same and all(seen.shows(seq, "working") for seq in covered):
                return history
        raise GenerationChanged(
            "something was forgotten or hidden while a summary was written, so it was discarded."
            " Run the cell again."
        )


class _Unwritten(_Run):
    """A compaction of which nothing is recorded."""

    def _append(self, draft: Draft) -> int:
        del draft
        return 0


def _said(messages: Iterable[Message]) -> Iterable[Said]:
    for message in messages:
        yield Said(message.role, message.text)


def _n_bytes(text: str) -> int:
    return len(text.encode(errors="replace"))
