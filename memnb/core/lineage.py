"""What became of records whose text was carried into other sessions: which forget took them.

1. A person's message is taken when it is excluded; what was generated also when it is void, for
   whatever was forgotten with it in sight.
2. That may go through several sessions: what was recalled had itself been written with something
   recalled in sight. It is followed back as far as it goes, always from records to earlier ones.
3. Only forgets matter that came after a record was carried. So of most records nothing has to be
   read: there was none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from memnb.core.entries import Entries
from memnb.core.ids import RECORDS
from memnb.core.visibility import Taints, is_generated, taints

__all__ = ["Lineage"]


@dataclass(frozen=True, slots=True)
class _Session:
    """What matters of a session for what carried its records; without `entries` it is gone."""

    entries: Entries
    exclusions: Mapping[int, int]
    taints: Taints

    def fate(self, seqs: range, tainted: Taints) -> int:
        """The generation of the newest forget that took one of these records; 0 when none did."""
        barred = (made for seq, made in self.exclusions.items() if seq in seqs)
        there = range(seqs.start, min(seqs.stop, len(self.entries) + 1))
        void = (self._void(seq, tainted.at(seq)) for seq in there)
        return max((*barred, *void), default=0)

    def _void(self, seq: int, upto: int) -> int:
        is_made = is_generated(self.entries.kind(seq))
        return upto if is_made and self.entries.generation(seq) < upto else 0


class Lineage:
    """What became of carried records, by the forgets that there were up to a generation."""

    def __init__(
        self,
        generation: int,
        entries: Callable[[str], Entries | None],
        exclusions: Callable[[str], Mapping[int, int]],
        forgotten: Callable[[Collection[str]], Mapping[str, int]],
        newest: Callable[[], int],
    ) -> None:
        """Find out, when it is asked.

        Args:
            generation: how many forgets there were.
            entries: those of a session; None when it can't be read.
            exclusions: the excluded records of a session, with the generation of the forget.
            forgotten: which of these facts were forgotten, with the generation.
            newest: the generation of the newest forget of a fact.
        """
        self.generation = generation
        self.entries = entries
        self._exclusions = exclusions
        self._forgotten = forgotten
        self._newest = newest
        self._found: dict[str, int] = {}

    def taken(self, reference: str, since: int) -> int:
        """The generation of the newest forget that took one of the records; 0 when none did.

        Args:
            reference: such as `S-…:12`, or `S-…:2-5`.
            since: only later forgets are of interest; whatever they didn't take counts as whole.
        """
        if since >= self.generation:
            return 0
        if reference not in self._found:
            self._find_out(reference)
        return self._found[reference]

    def _find_out(self, reference: str) -> None:
        """Follow back what a reference stands on, then carry forward what was taken of it."""
        sessions: dict[str, _Session] = {}
        unknown: dict[str, None] = {reference: None}
        waiting = [reference]
        while waiting:
            session_id, _ = _parsed(waiting.pop())
            if session_id in sessions:
                continue
            session = sessions[session_id] = self._session(session_id)
            more = [one for one in session.entries.recalled if one not in self._found]
            waiting += [one for one in more if one not in unknown]
            unknown.update(dict.fromkeys(more))
        tainted = {session_id: session.taints for session_id, session in sessions.items()}

        def fate(one: str) -> int:
            if one in self._found:
                return self._found[one]
            session_id, seqs = _parsed(one)
            return sessions[session_id].fate(seqs, tainted[session_id])

        # Ids of sessions sort by their time, so that one round is enough, but for sessions that
        # went on beside each other.
        is_settled = False
        while not is_settled:
            is_settled = True
            for session_id in sorted(sessions):
                known, carried = tainted[session_id], sessions[session_id].entries.recalled
                found = [(start, fate(one)) for one, start in carried.items()]
                more_found = [pair for pair in found if pair[1] > known.at(pair[0])]
                if more_found:
                    tainted[session_id] = Taints([*known.marks, *more_found])
                    is_settled = False
        self._found.update({one: fate(one) for one in unknown})

    def _session(self, session_id: str) -> _Session:
        exclusions = self._exclusions(session_id)
        entries = self.entries(session_id)
        if entries is None:  # what is barred of it is so all the same
            return _Session(Entries(), exclusions, Taints())
        forgotten = self._forgotten(entries.carriers.keys())
        return _Session(
            entries, exclusions, Taints(taints(entries, exclusions, forgotten, self._newest()))
        )


def _parsed(reference: str) -> tuple[str, range]:
    match = RECORDS.match(reference)
    if match is None:
        return "", range(0)
    first = int(match[2])
    return match[1], range(first, int(match[3] or first) + 1)
