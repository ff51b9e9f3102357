"""What of the session a turn's requests carry: a summary of what is long ago, the rest as it was.

1. Before a request that wouldn't fit, or that fills the window too far, earlier exchanges are
   compacted; the running one never is.
2. When that fails and the request still fits, the turn goes on and says so. When it doesn't fit,
   rules alone write the summary; when even that doesn't help, the turn pauses. Nothing is left out.
3. Only private turns and probes leave out the earliest exchanges, with a notice: nothing of them
   is carried on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from memnb.agent import prompt
from memnb.agent.ask import Ask
from memnb.agent.reply import Observe
from memnb.agent.summarising import writer_of
from memnb.core import compaction
from memnb.core.messages import Notice, Request, UsageTotal
from memnb.core.token_estimates import (
    BYTES_PER_TOKEN,
    Calibration,
    messages_tokens,
    request_tokens,
)
from memnb.errors import GenerationChanged, StoreError
from memnb.memory import conversation
from memnb.memory.compacting import Compacted, Compaction, Writer, compact, to_cover
from memnb.memory.conversation import Exchange, Replay
from memnb.memory.history import History
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.summaries import Summary

__all__ = ["Fitted", "Paused", "Working"]

_RAW_SHARE: Final = 2
"""Half of what is free is for exchanges as they were, the rest for what is yet to come."""


class Paused(Exception):
    """The conversation doesn't fit the window; what to do is in its message."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request that fits, its estimated size, and how many earlier exchanges were left out."""

    request: Request
    n_tokens: int
    n_left_out: int = 0


class Working:
    """The working context of one turn."""

    def __init__(
        self,
        memory: ProjectMemory,
        ask: Ask,
        *,
        observe: Observe,
        fence: str,
        render: Callable[[Iterable[str]], str],
        calibration: Calibration,
    ) -> None:
        """Work out what `ask` is sent with; nothing is read yet.

        Args:
            memory: the project's.
            ask: what is asked, of which model.
            observe: shows that a summary is written.
            fence: a random word that stored text can't know.
            render: gives the lines of facts for references.
            calibration: what models have reported in this process.
        """
        self._memory = memory
        self._ask = ask
        self._observe = observe
        self._fence = fence
        self._render = render
        self._calibration = calibration
        self._turn = 0
        self._earlier: list[Exchange] = []  # newest first, as far as the window may hold them
        self._is_all = True
        self._summary: Summary | None = None
        self._gave_up = False
        self.notices: list[str] = []
        self.usage = UsageTotal()
        self.compacted: list[Compacted] = []

    @property
    def holds_data(self) -> bool:
        """Whether what is carried holds inserted data, or what tools have read."""
        return (self._summary is not None and self._summary.holds_data) or (
            conversation.carries_data(self._earlier, self._fence)
        )

    def carries(self, seqs: Iterable[int]) -> bool:
        """Whether what is carried of the session holds one of these records, also summarised."""
        carried = {seq for exchange in self._earlier for seq in exchange.seqs}
        return not carried.union(self._summary.seqs if self._summary else ()).isdisjoint(seqs)

    def read(self, history: History | None, turn: int) -> None:
        """Take in the session as it is now; `turn` is the running one."""
        self._turn = turn
        self._earlier, self._is_all, self._summary = [], True, None
        if history is None:
            return
        replay = self._replay(history)
        self._summary = self._memory.summaries.current(history, replay.seen)
        room = None if self._window is None else int(self._window / self._factor)
        for exchange in replay.newest_first(self._cutoff):
            if room is not None:
                room -= messages_tokens(exchange.messages)
                if room < 0:
                    self._is_all = False
                    return
            self._earlier.append(exchange)

    def begin(self, turn: int) -> None:
        """The running exchange is `turn` from now on; nothing of it is taken for an earlier one."""
        self._turn = turn

    def fit(self, request: Request) -> Fitted:
        """`request` with what was said before it.

        Args:
            request: guidance, memory, tools, and the messages of this turn.

        Raises:
            ContextTooLong: not even this message fits. Paused: the conversation doesn't.
            GenerationChanged: something was forgotten while a summary was written.
        """
        window = self._window
        if window is None:
            return self._fitted(request)
        needed = self._tokens(request) + request.output_tokens
        if needed > window:
            if len(request.messages) == 1:
                raise prompt.too_long(needed - request.output_tokens, request, window)
            raise Paused(self._cannot(needed, "what this turn has read and said"))
        if self._ask.private or self._ask.without:
            return self._cut(request, window)
        fitted = self._fitted(request)
        if not self._is_all or fitted.n_tokens > self._trigger(window):
            self._compact(request, window)
            fitted = self._fitted(request)
        if not self._fits(fitted, window):
            self._compact(request, window, by_rules=True)
            fitted = self._fitted(request)
        if not self._fits(fitted, window):
            needed = fitted.n_tokens + request.output_tokens
            raise Paused(self._cannot(needed, "the conversation"))
        return fitted

    def note(self, fitted: Fitted, reported: int | None) -> None:
        """Take in what a model reported of a request."""
        if "few_tools" not in self._ask.model.capabilities:  # it makes two of each
            name = self._ask.model.name
            self._calibration.note(name, request_tokens(fitted.request), reported)

    @property
    def _window(self) -> int | None:
        return self._ask.model.context_tokens

    @property
    def _cutoff(self) -> int:
        return self._summary.cutoff if self._summary else 0

    def _tokens(self, request: Request) -> int:
        return self._calibration.tokens(self._ask.model.name, request_tokens(request))

    @property
    def _factor(self) -> float:
        return self._calibration.factor(self._ask.model.name)

    def _trigger(self, window: int) -> int:
        buffer = min(self._ask.buffer_tokens, window // 4)
        return min(window - buffer, window * self._ask.threshold // 100)

    def _fits(self, fitted: Fitted, window: int) -> bool:
        return self._is_all and fitted.n_tokens + fitted.request.output_tokens <= window

    def _fitted(self, request: Request) -> Fitted:
        earlier = [m for exchange in reversed(self._earlier) for m in exchange.messages]
        whole = prompt.whole(request, self._block(), earlier)
        return Fitted(whole, self._tokens(whole))

    def _block(self) -> str:
        if self._summary is None:
            return ""
        return compaction.block(self._summary.text, self._summary.essentials, self._fence)

    def _cut(self, request: Request, window: int) -> Fitted:
        """The request with the newest exchanges that there is room for."""
        fitted = self._fitted(request)
        n_left_out = 0
        while self._earlier and fitted.n_tokens + request.output_tokens > window:
            self._earlier.pop()
            n_left_out += 1
            fitted = self._fitted(request)
        if n_left_out or not self._is_all:
            kind = "private turn" if self._ask.private else "probe"
            self._say(
                "the window had no room for the earliest exchanges of this session, and a"
                f" {kind} writes no summary; `%memory compact` does"
            )
        return replace(fitted, n_left_out=n_left_out)

    def _compact(self, request: Request, window: int, *, by_rules: bool = False) -> None:
        """Cover what is long ago; afterwards the session is read anew."""
        if self._gave_up and not by_rules:
            return
        history = self._memory.session.history()
        if history is None:
            return
        replay = self._replay(history)
        covered = to_cover(
            replay,
            self._cutoff,
            room=self._raw_room(request, window),
            open_messages=len(request.messages),
        )
        first = next(covered, None)
        if first is None:
            return
        writer = None if by_rules else writer_of(self._ask.model, self._ask.timeout_seconds)
        self._observe(Notice("summarising the earlier conversation"))
        try:
            done = compact(
                self._memory,
                replay,
                self._summary,
                chain([first], covered),
                window=window,
                writer=writer,
            )
        except GenerationChanged:
            raise
        except StoreError as error:
            self._gave_up = True
            self._say(f"the earlier conversation couldn't be summarised: {error}")
            return
        self._take(done, writer)
        self.read(self._memory.session.history(), self._turn)

    def _take(self, done: Compaction, writer: Writer | None) -> None:
        self.compacted += done.written
        for one in done.written:
            if one.usage is not None:
                self.usage = self.usage.plus(one.usage)
        if done.refused_usage is not None:
            self.usage = self.usage.plus(done.refused_usage)
        if done.refusal is not None:
            self._gave_up = True
            self._say(
                f"the earlier conversation wasn't summarised: the reply was {done.refusal}"
                if done.refusal in ("empty", "truncated", "too long", "refused")
                else f"the earlier conversation wasn't summarised: the model {done.refusal}"
            )
        n_exchanges = sum(one.n_exchanges for one in done.written)
        if n_exchanges:
            by = "" if writer else ", by rules alone"
            self._say(f"{n_exchanges:,} earlier exchanges are summarised from now on{by}")

    def _raw_room(self, request: Request, window: int) -> int:
        """How many tokens of what was said stay as they were, by their bytes."""
        limits = compaction.budget(window)
        summary = limits.summary_tokens + limits.essentials_bytes // BYTES_PER_TOKEN
        free = self._trigger(window) - self._tokens(request) - summary
        return int(max(0, free) / self._factor) // _RAW_SHARE

    def _replay(self, history: History) -> Replay:
        return Replay(
            history,
            self._memory.histories.view(history),
            self._render,
            self._fence,
            but_turn=self._turn,
            shown_bytes=self._ask.shown_bytes,
        )

    def _cannot(self, needed: int, what: str) -> str:
        return (
            f"{what} needs about {needed:,} tokens with the answer, and the window of"
            f" {self._ask.model.name} holds {self._window:,}: nothing was sent. `%memory handoff`"
            " begins a new session with a summary, `%memory clear` an empty conversation."
        )

    def _say(self, notice: str) -> None:
        if notice not in self.notices:
            self.notices.append(notice)
