"""Learning: what was said since the last look is looked through, and what is found is handed on.

1. Who finds something is told from outside: a model that quotes, one that selects, or a score over
   the person's own sentences. What becomes of it, the inbox decides.
2. Nothing is looked at twice: what was supplied is noted in the commit that takes what was found.
   A look that failed, was stopped, or went stale is not noted, and comes again.
3. A look never fails what it follows: what goes wrong is an outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from memnb.core.bodies import LEARNING, AssistantBody, read_turn_end
from memnb.core.candidates import Extraction, Trigger
from memnb.core.extraction import SuppliedExchange
from memnb.core.extraction_prompt import own_words
from memnb.core.learning_gate import Unmined, is_due
from memnb.core.messages import Cancel
from memnb.errors import MemnbError, StoreDamaged
from memnb.memory import inbox, promoting, supplying
from memnb.memory.inbox import Circumstances, Taken
from memnb.memory.project_memory import ProjectMemory

__all__ = ["Find", "Learner", "Looked", "Waiting"]

_MOST_LOOKS: Final = 50
"""At most so many looks of one call: what is left is looked at by the next one."""


class Find(Protocol):
    """Finds what may be learned in what a session said since the last look."""

    def __call__(self, session_id: str, mined: Collection[int], cancel: Cancel) -> Extraction:
        """The next part of the session, looked through."""
        ...


@dataclass(frozen=True, slots=True)
class Looked:
    """What several looks came to."""

    n_exchanges: int = 0
    taken: tuple[Taken, ...] = ()
    is_done: bool = True


@dataclass(frozen=True, slots=True)
class Waiting:
    """What of a session wasn't looked at yet."""

    session_id: str
    exchanges: tuple[SuppliedExchange, ...]

    @property
    def n_bytes(self) -> int:
        """The bytes of the person's own words in it."""
        return sum(len(own_words(one.message.parts).encode()) for one in self.exchanges)

    @property
    def was_for_learning(self) -> bool:
        """Whether some of it was said while learning was on."""
        replies = (said for one in self.exchanges for said in one.said.values())
        return any(isinstance(one, AssistantBody) and LEARNING in one.params for one in replies)


@dataclass(slots=True)
class Learner:
    """Looks through sessions of one project.

    Args:
        memory: the project's; of the thread that looks.
        find: who finds something.
        circumstances: how learning is set up, asked anew for each look.
        failed_at: for each session how many exchanges waited when a look at it failed; kept by who
            makes a learner for each turn.
    """

    memory: ProjectMemory
    find: Find
    circumstances: Callable[[], Circumstances]
    failed_at: MutableMapping[str, int] = field(default_factory=dict)

    def after_turn(
        self, session_id: str, turn: int, cancel: Cancel, *, compacted: bool = False
    ) -> Looked:
        """Look at what a turn said: for what was repeated at once, for the rest when it is due.

        Args:
            session_id: which session.
            turn: the number of the message that the turn answered.
            cancel: stops it.
            compacted: the conversation was compacted in it, which makes a look due.
        """
        taken = []
        repeated = self._promoted(session_id, turn)
        if repeated is not None:
            taken.append(repeated)
        if cancel.requested or not (compacted or self._is_due(session_id)):
            return Looked(0, tuple(taken))
        looked = (
            self.through(session_id, "compaction", cancel)
            if compacted
            else self.through(session_id, "turn", cancel, most=1)
        )
        return Looked(looked.n_exchanges, (*taken, *looked.taken))

    def through(
        self,
        session_id: str,
        trigger: Trigger,
        cancel: Cancel,
        *,
        most: int = _MOST_LOOKS,
        progress: Callable[[int], None] | None = None,
    ) -> Looked:
        """Look at all of a session that wasn't looked at yet, in as many parts as it takes.

        Args:
            session_id: which session.
            trigger: what asked for it.
            cancel: stops it between two parts, and in the middle of one.
            most: at most so many parts.
            progress: told how many exchanges were looked at so far.

        Raises:
            UnknownId: there is no such session. StoreError: it, or the facts, can't be read.
        """
        taken: list[Taken] = []
        n_exchanges = 0
        for _ in range(most):
            mined = self.memory.stores.candidates.mined(session_id)
            extraction = self.find(session_id, mined, cancel)
            if not extraction.seqs:
                return Looked(n_exchanges, tuple(taken))
            if cancel.requested:  # of a look that was stopped nothing is known
                return Looked(n_exchanges, tuple(taken), is_done=False)
            taken.append(self._take(extraction, trigger))
            if extraction.failure is not None:
                self.failed_at[session_id] = self._n_waiting(session_id)
                return Looked(n_exchanges, tuple(taken), is_done=False)
            n_exchanges += self._n_exchanges(extraction)
            if progress is not None:
                progress(n_exchanges)
        return Looked(n_exchanges, tuple(taken), is_done=self._n_waiting(session_id) == 0)

    def waiting(self, session_id: str) -> Waiting:
        """What of a session wasn't looked at yet; raises as `through`."""
        mined = self.memory.stores.candidates.mined(session_id)
        found = supplying.waiting(self.memory.histories, session_id, mined=mined)
        return Waiting(session_id, tuple(found))

    def never_looked_at(self, since: str | None = None) -> Iterator[Waiting]:
        """Earlier sessions of which something waits, oldest first.

        Args:
            since: those that began at or after this UTC stamp; when left out, those in which
                something that waits was said while learning was on.
        """
        for session_id in self.memory.stores.sessions.ids():
            if session_id == self.memory.session.session_id or not _begins_by(session_id, since):
                continue
            try:
                found = self.waiting(session_id)
            except MemnbError:
                continue  # it can't be read, or isn't as it was noted: the doctor says so
            if found.exchanges and (since is not None or found.was_for_learning):
                yield found

    def _promoted(self, session_id: str, turn: int) -> Taken | None:
        memory = self.memory
        try:
            extraction = promoting.promotions(
                memory.stores, memory.validator, memory.histories, session_id, turn
            )
            return self._take(extraction, "promotion") if extraction.candidates else None
        except MemnbError:
            return None  # the next turn that says so finds it again

    def _take(self, extraction: Extraction, trigger: Trigger) -> Taken:
        memory = self.memory
        return inbox.take(
            memory.stores,
            memory.validator,
            extraction,
            trigger=trigger,
            circumstances=self.circumstances(),
        )

    def _is_due(self, session_id: str) -> bool:
        found = self.waiting(session_id).exchanges
        # After a failure only what is said since counts: else every turn would try again.
        new = found[self.failed_at.get(session_id, 0) :]
        return is_due(
            [Unmined(own_words(one.message.parts), self._has_saved(session_id, one)) for one in new]
        )

    def _has_saved(self, session_id: str, exchange: SuppliedExchange) -> bool:
        history = self.memory.histories.of(session_id)
        entries, last = history.entries, history.reader.last_seq
        after = range(exchange.seqs[-1] + 1, last + 1)
        end = next((seq for seq in after if entries.kind(seq).type == "turn_end"), None)
        record = history.reader.records([end])[end] if end is not None else None
        try:
            return record is not None and bool(read_turn_end(record).remembered)
        except StoreDamaged:
            return False

    def _n_waiting(self, session_id: str) -> int:
        return len(self.waiting(session_id).exchanges)

    def _n_exchanges(self, extraction: Extraction) -> int:
        entries = self.memory.histories.of(extraction.session_id).entries
        return sum(entries.kind(seq).asks for seq in extraction.seqs)


def _begins_by(session_id: str, since: str | None) -> bool:
    """Whether a session began at or after a UTC stamp, by its id."""
    if since is None:
        return True
    digits = "".join(filter(str.isdigit, since))[:14]
    return session_id[2:17].replace("-", "") >= digits
