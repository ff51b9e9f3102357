"""The inbox on disk: candidates, the runs that gave them, and what was mined already.

It lies in the database of the facts: a candidate becomes a fact in one transaction, and a forget
takes both out.
"""

from __future__ import annotations

import contextlib
import hmac
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from memnb.core.inbox import Queued, Run, State
from memnb.core.signing import queued_mac
from memnb.storage.candidate_rows import (
    insert_candidate,
    insert_run,
    load_candidates,
    load_runs,
    update_candidate,
)
from memnb.storage.fact_rows import Fetch

__all__ = ["CandidateChange", "CandidateStore"]


class CandidateStore:
    """The candidates and runs of one project."""

    def __init__(
        self,
        fetch: Fetch,
        snapshot: Callable[[], contextlib.AbstractContextManager[None]],
        store_id: Callable[[], str],
        key: Callable[[], bytes],
    ) -> None:
        """Read through `fetch`, in one state inside a `snapshot`; signed with `key`."""
        self._fetch = fetch
        self._snapshot = snapshot
        self._store_id = store_id
        self._key = key
        self._is_there = False

    def candidates(self, candidate_ids: Sequence[str]) -> list[Queued]:
        """The candidates of these ids in this order; unknown ones are left out."""
        if not self._exists() or not candidate_ids:
            return []
        with self._snapshot():  # one put together from two states wouldn't be as it was signed
            found = load_candidates(self._fetch, candidate_ids)
        return [one if self._is_signed(one) else replace(one, is_signed=False) for one in found]

    def candidate(self, candidate_id: str) -> Queued | None:
        """One candidate, None when there is none."""
        return next(iter(self.candidates([candidate_id])), None)

    def of(self, state: State) -> list[Queued]:
        """The candidates in this state, oldest first."""
        sql = "SELECT candidate_id FROM candidates WHERE state=? ORDER BY created_at, candidate_id"
        return self.candidates([row[0] for row in self._rows(sql, (state,))])

    def count(self, state: State) -> int:
        """How many candidates are in this state."""
        rows = self._rows("SELECT count(*) FROM candidates WHERE state=?", (state,))
        return int(rows[0][0]) if rows else 0

    def of_fact(self, fact_id: str) -> list[Queued]:
        """The candidates that became a revision of this fact, oldest revision first."""
        sql = "SELECT candidate_id FROM candidates WHERE fact_id=? ORDER BY revision"
        return self.candidates([row[0] for row in self._rows(sql, (fact_id,))])

    def by_text(self, text_mac: bytes) -> list[Queued]:
        """The candidates that have or had the text of this keyed digest."""
        sql = "SELECT candidate_id FROM candidates WHERE text_mac=? ORDER BY created_at"
        return self.candidates([row[0] for row in self._rows(sql, (text_mac,))])

    def resting_on(self, records: Iterable[tuple[str, int]]) -> list[str]:
        """Ids of the candidates that cite one of these records: session and number."""
        rows = self._rows(
            "SELECT DISTINCT q.candidate_id FROM json_each(?) j CROSS JOIN candidate_seqs q"
            " ON q.session_id=j.value->>0 AND q.seq=j.value->>1 ORDER BY q.candidate_id",
            (json.dumps([list(record) for record in records]),),
        )
        return [row[0] for row in rows]

    def mined(self, session_id: str) -> frozenset[int]:
        """The numbers of the records of a session that an extractor was supplied with."""
        rows = self._rows("SELECT first_seq, last_seq FROM mined WHERE session_id=?", (session_id,))
        return frozenset(seq for first, last in rows for seq in range(first, last + 1))

    def runs(self, *, limit: int = 20, session_id: str | None = None) -> list[Run]:
        """The newest runs, newest first; of one session when it is named."""
        if not self._exists():
            return []
        return load_runs(
            self._fetch,
            "WHERE ?1 IS NULL OR session_id=?1 ORDER BY at DESC, run_id DESC LIMIT ?2",
            (session_id, limit),
        )

    def runs_of(self, run_ids: Iterable[str]) -> dict[str, Run]:
        """The runs of these ids."""
        wanted = json.dumps(sorted(set(run_ids)))
        if not self._exists():
            return {}
        where = "WHERE run_id IN (SELECT value FROM json_each(?))"
        return {run.run_id: run for run in load_runs(self._fetch, where, (wanted,))}

    def _is_signed(self, queued: Queued) -> bool:
        return hmac.compare_digest(queued.mac, queued_mac(self._key(), self._store_id(), queued))

    def _rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._fetch(sql, arguments) if self._exists() else []

    def _exists(self) -> bool:
        """Whether the database has these tables; an earlier one gets them when it is written."""
        if not self._is_there:
            sql = "SELECT 1 FROM sqlite_schema WHERE type='table' AND name='candidates'"
            self._is_there = bool(self._fetch(sql, ()))
        return self._is_there


class CandidateChange:
    """The changes of the inbox that one transaction can make."""

    def __init__(self, execute: Any, store_id: Callable[[], str], key: Callable[[], bytes]) -> None:
        """Change through `execute`, a connection's."""
        self._execute = execute
        self._store_id = store_id
        self._key = key

    def is_free(self, candidate_id: str) -> bool:
        """Whether no candidate has this id."""
        sql = "SELECT 1 FROM candidates WHERE candidate_id=?"
        return not self._execute(sql, (candidate_id,)).fetchall()

    def add(self, queued: Queued) -> None:
        """Put a candidate in, signed."""
        insert_candidate(self._execute, self._signed(queued))

    def set(self, queued: Queued) -> None:
        """Note what became of a candidate, signed anew."""
        update_candidate(self._execute, self._signed(queued))

    def delete(self, candidate_ids: Iterable[str]) -> None:
        """Take candidates out with their sources."""
        self._execute(
            "DELETE FROM candidates WHERE candidate_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(candidate_ids)),),
        )

    def add_run(self, run: Run) -> None:
        """Note a run."""
        insert_run(self._execute, run)

    def mark_mined(self, session_id: str, seqs: Iterable[int], run_id: str) -> None:
        """Note that an extractor was supplied with these records, none of which was noted yet."""
        for first, last in _ranges(sorted(set(seqs))):
            self._execute(
                "INSERT INTO mined(session_id, first_seq, last_seq, run_id) VALUES(?,?,?,?)",
                (session_id, first, last, run_id),
            )

    def _signed(self, queued: Queued) -> Queued:
        return replace(queued, mac=queued_mac(self._key(), self._store_id(), queued))


def _ranges(seqs: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers in order as stretches without gaps, first and last of each."""
    if not seqs:
        return []
    gaps = [(one, other) for one, other in pairwise(seqs) if other > one + 1]
    firsts = [seqs[0], *(other for _, other in gaps)]
    lasts = [*(one for one, _ in gaps), seqs[-1]]
    return list(zip(firsts, lasts, strict=True))
