"""Rows of the inbox as values, and values as rows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memnb.core import canonical
from memnb.core.candidates import Reason
from memnb.core.facts import Quote, Source, SourceRef
from memnb.core.inbox import Queued, Run
from memnb.core.messages import Usage
from memnb.storage.fact_rows import Fetch

__all__ = ["insert_candidate", "insert_run", "load_candidates", "load_runs", "update_candidate"]

_CANDIDATES = """
SELECT c.candidate_id, c.state, c.text, c.text_mac, c.kind, c.basis, c.origin, c.confidence,
       c.disposition, c.created_at, c.generation, c.rule, c.grounds, c.is_proposal, c.conflicts,
       c.run_id, c.decided_at, c.fact_id, c.revision, c.mac
FROM json_each(?1) j CROSS JOIN candidates c ON c.candidate_id = j.value
ORDER BY j.key"""

_SOURCES = """
SELECT s.candidate_id, s.n, s.store_id, s.session_id, s.digest,
       s.quote_seq, s.quote_part, s.quote_start, s.quote_end,
       (SELECT json_group_array(q.seq) FROM candidate_seqs q
        WHERE q.candidate_id = s.candidate_id AND q.n = s.n)
FROM json_each(?1) j CROSS JOIN candidate_sources s ON s.candidate_id = j.value
ORDER BY s.candidate_id, s.n"""

_RUNS = """
SELECT run_id, at, session_id, begun_by, model, outcome, n_supplied, generation, reasons,
       input_tokens, output_tokens, cost_nusd
FROM runs """

Execute = Callable[[str, Sequence[Any]], Any]


def load_candidates(fetch: Fetch, candidate_ids: Sequence[str]) -> list[Queued]:
    """The candidates of these ids, in the order asked; unknown ids are left out."""
    wanted = json.dumps(list(candidate_ids))
    sources: dict[str, list[Source]] = defaultdict(list)
    for candidate_id, *row in fetch(_SOURCES, (wanted,)):
        sources[candidate_id].append(_source(row))
    return [_candidate(row, tuple(sources[row[0]])) for row in fetch(_CANDIDATES, (wanted,))]


def load_runs(fetch: Fetch, where: str, arguments: Sequence[Any]) -> list[Run]:
    """The runs that the rest of a query gives."""
    return [_run(row) for row in fetch(_RUNS + where, arguments)]


def insert_candidate(execute: Execute, queued: Queued) -> None:
    """Write a candidate with its sources."""
    execute(
        "INSERT INTO candidates(candidate_id, run_id, state, text, text_mac, kind, basis, rule,"
        " origin, confidence, disposition, grounds, is_proposal, conflicts, created_at, decided_at,"
        " generation, fact_id, revision, mac) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            queued.candidate_id,
            queued.run_id,
            queued.state,
            queued.text or None,
            queued.text_mac,
            queued.kind,
            queued.basis,
            queued.rule,
            queued.origin,
            queued.confidence,
            queued.disposition,
            _listed(queued.grounds),
            int(queued.is_proposal),
            _listed(queued.conflicts),
            queued.created_at,
            queued.decided_at,
            queued.generation,
            queued.fact_id,
            queued.revision,
            queued.mac,
        ),
    )
    for n, source in enumerate(queued.sources):
        _insert_source(execute, queued.candidate_id, n, source)


def update_candidate(execute: Execute, queued: Queued) -> None:
    """Write what a decision changes of a candidate."""
    execute(
        "UPDATE candidates SET state=?, text=?, decided_at=?, fact_id=?, revision=?, text_mac=?,"
        " mac=? WHERE candidate_id=?",
        (
            queued.state,
            queued.text or None,
            queued.decided_at,
            queued.fact_id,
            queued.revision,
            queued.text_mac,
            queued.mac,
            queued.candidate_id,
        ),
    )


def insert_run(execute: Execute, run: Run) -> None:
    """Write a run."""
    usage = run.usage
    execute(
        "INSERT INTO runs(run_id, at, session_id, begun_by, model, outcome, reasons, n_supplied,"
        " input_tokens, output_tokens, cost_nusd, generation) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            run.run_id,
            run.at,
            run.session_id,
            run.trigger,
            run.model,
            run.outcome,
            canonical.encode_plain(dict(run.reasons)).decode(),
            run.n_supplied,
            usage.input_tokens,
            usage.output_tokens,
            usage.cost_nusd,
            run.generation,
        ),
    )


def _insert_source(execute: Execute, candidate_id: str, n: int, source: Source) -> None:
    quote = source.quote
    place = (None,) * 4 if quote is None else (quote.seq, quote.part, quote.start, quote.end)
    execute(
        "INSERT INTO candidate_sources(candidate_id, n, store_id, session_id, digest, quote_seq,"
        " quote_part, quote_start, quote_end) VALUES(?,?,?,?,?,?,?,?,?)",
        (
            candidate_id,
            n,
            source.store_id,
            source.ref.session_id,
            bytes.fromhex(source.ref.digest),
            *place,
        ),
    )
    for seq in source.ref.seqs:
        execute(
            "INSERT INTO candidate_seqs(session_id, seq, candidate_id, n) VALUES(?,?,?,?)",
            (source.ref.session_id, seq, candidate_id, n),
        )


def _candidate(row: Sequence[Any], sources: tuple[Source, ...]) -> Queued:
    candidate_id, state, text, text_mac, kind, basis, origin, confidence = row[:8]
    disposition, created_at, generation, rule, grounds, is_proposal, conflicts = row[8:15]
    run_id, decided_at, fact_id, revision, mac = row[15:]
    return Queued(
        candidate_id=candidate_id,
        state=state,
        text=text or "",
        text_mac=text_mac,
        kind=kind,
        basis=basis,
        origin=origin,
        confidence=confidence,
        disposition=disposition,
        created_at=created_at,
        generation=generation,
        sources=sources,
        rule=rule,
        grounds=_list(grounds),
        is_proposal=bool(is_proposal),
        conflicts=_list(conflicts),
        run_id=run_id,
        decided_at=decided_at,
        fact_id=fact_id,
        revision=revision,
        mac=mac,
    )


def _source(row: Sequence[Any]) -> Source:
    _, store_id, session_id, digest, seq, part, start, end, seqs = row
    ref = SourceRef(session_id, tuple(sorted(json.loads(seqs))), digest.hex())
    return Source(store_id, ref, None if seq is None else Quote(seq, part, start, end))


def _listed(values: Sequence[str]) -> str:
    return canonical.encode_plain(list(values)).decode()


def _list(text: str) -> tuple[Any, ...]:
    """What `_listed` wrote; nothing when somebody else wrote it, which the signature tells."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    is_list = isinstance(values, list) and all(isinstance(value, str) for value in values)
    return tuple(values) if is_list else ()


def _run(row: Sequence[Any]) -> Run:
    run_id, at, session_id, trigger, model, outcome, n_supplied, generation = row[:8]
    reasons, *usage = row[8:]
    return Run(
        run_id=run_id,
        at=at,
        session_id=session_id,
        trigger=trigger,
        model=model,
        outcome=outcome,
        n_supplied=n_supplied,
        generation=generation,
        reasons=_reasons(reasons),
        usage=Usage(*usage),
    )


def _reasons(text: str) -> Mapping[Reason, int]:
    found: dict[Reason, int] = json.loads(text)
    return found
