"""Rows of the fact database as values, and values as rows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memnb.core.facts import Fact, Hold, Link, Quote, Revision, Source, SourceRef, text_key
from memnb.errors import InvalidText

__all__ = ["Fetch", "insert_revision", "load_facts", "load_texts"]

Fetch = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs a query with its arguments and gives all rows."""

_DECIDES = """coalesce(
    (SELECT max(x.revision) FROM revisions x WHERE x.fact_id = f.fact_id
     AND (?2 IS NULL OR x.valid_from IS NULL OR x.valid_from <= ?2)),
    (SELECT x.revision FROM revisions x WHERE x.fact_id = f.fact_id
     ORDER BY x.valid_from, x.revision DESC LIMIT 1))"""
"""The revision that decides at an instant, else the next that will; at none: the newest."""

_REVISIONS = f"""
SELECT r.fact_id, f.scope, f.kind,
       (SELECT max(x.revision) FROM revisions x WHERE x.fact_id = f.fact_id),
       r.revision, r.text, r.basis, r.origin, r.recorded_at,
       r.generation, r.rule, r.confidence, r.valid_from, r.valid_to, r.mac, r.text_key
FROM json_each(?1) j CROSS JOIN facts f ON f.fact_id = j.value
JOIN revisions r ON r.fact_id = f.fact_id AND (?3 OR r.revision = {_DECIDES})
ORDER BY r.fact_id, r.revision"""  # noqa: S608 - of constants

_TEXTS = f"""
SELECT r.fact_id, r.revision, r.text
FROM json_each(?1) j CROSS JOIN facts f ON f.fact_id = j.value
JOIN revisions r ON r.fact_id = f.fact_id AND (?3 OR r.revision = {_DECIDES})
ORDER BY j.key, r.revision"""  # noqa: S608 - of constants

_SOURCES = f"""
SELECT s.fact_id, s.revision, s.n, s.store_id, s.session_id, s.digest,
       s.quote_seq, s.quote_part, s.quote_start, s.quote_end,
       (SELECT json_group_array(q.seq) FROM source_seqs q
        WHERE q.fact_id = s.fact_id AND q.revision = s.revision AND q.n = s.n)
FROM json_each(?1) j CROSS JOIN facts f ON f.fact_id = j.value
JOIN sources s ON s.fact_id = f.fact_id AND (?3 OR s.revision = {_DECIDES})
ORDER BY s.fact_id, s.revision, s.n"""  # noqa: S608 - of constants

_LINKS = """
SELECT l.fact_id, l.revision, l.relation, l.other_id, l.other_revision
FROM json_each(?1) j CROSS JOIN links l ON l.fact_id = j.value
ORDER BY l.fact_id, l.revision, l.relation, l.other_id"""

_HOLDS = """
SELECT h.fact_id, h.reason, h.because_id
FROM json_each(?1) j CROSS JOIN holds h ON h.fact_id = j.value
ORDER BY h.fact_id, h.reason, h.because_id"""


def load_facts(
    fetch: Fetch, fact_ids: Sequence[str], *, at: str | None = None, history: bool = False
) -> list[Fact]:
    """The facts of these ids, in the order asked; unknown ids are left out.

    Args:
        fetch: runs a query.
        fact_ids: which.
        at: a UTC stamp: the revision of each that decides then, else the next that will. The newest
            when left out.
        history: all revisions instead.
    """
    wanted = json.dumps(list(fact_ids))
    sources = _grouped(fetch(_SOURCES, (wanted, at, history)), _source)
    links = _grouped(fetch(_LINKS, (wanted,)), lambda row: Link(*row))
    holds: dict[str, list[Hold]] = defaultdict(list)
    for fact_id, *hold in fetch(_HOLDS, (wanted,)):
        holds[fact_id].append(Hold(*hold))
    classes: dict[str, tuple[Any, Any]] = {}  # scope and kind
    newest: dict[str, int] = {}
    revisions: dict[str, list[Revision]] = defaultdict(list)
    for row in fetch(_REVISIONS, (wanted, at, history)):
        fact_id, scope, kind, newest[fact_id], number, text, basis, origin, recorded_at = row[:9]
        generation, rule, confidence, valid_from, valid_to, mac, key = row[9:]
        classes[fact_id] = (scope, kind)
        revisions[fact_id].append(
            Revision(
                fact_id=fact_id,
                revision=number,
                text=text,
                basis=basis,
                origin=origin,
                recorded_at=recorded_at,
                generation=generation,
                sources=tuple(sources.get((fact_id, number), ())),
                links=tuple(links.get((fact_id, number), ())),
                rule=rule,
                confidence=confidence,
                valid_from=valid_from,
                valid_to=valid_to,
                # By its key a text is known again, so with another it isn't as it was signed.
                mac=mac if key == text_key(text) else b"",
            )
        )
    return [
        Fact(
            fact_id,
            *classes[fact_id],
            tuple(revisions[fact_id]),
            tuple(holds[fact_id]),
            newest[fact_id],
        )
        for fact_id in fact_ids
        if fact_id in classes
    ]


def load_texts(
    fetch: Fetch, fact_ids: Sequence[str], *, at: str | None = None, history: bool = False
) -> list[tuple[str, int, str]]:
    """Fact id, number and text of the revisions that `load_facts` would give, in order of these."""
    return [
        (fact_id, number, text)
        for fact_id, number, text in fetch(_TEXTS, (json.dumps(list(fact_ids)), at, history))
    ]


def insert_revision(execute: Callable[[str, Sequence[Any]], Any], revision: Revision) -> None:
    """Write a revision with its sources and links."""
    key = (revision.fact_id, revision.revision)
    execute(
        "INSERT INTO revisions(fact_id, revision, text, text_key, basis, rule, confidence, origin,"
        " valid_from, valid_to, recorded_at, generation, mac)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            *key,
            revision.text,
            text_key(revision.text),
            revision.basis,
            revision.rule,
            revision.confidence,
            revision.origin,
            revision.valid_from,
            revision.valid_to,
            revision.recorded_at,
            revision.generation,
            revision.mac,
        ),
    )
    for n, source in enumerate(revision.sources):
        _require_sorted(source)
        quote = source.quote
        place = (None,) * 4 if quote is None else (quote.seq, quote.part, quote.start, quote.end)
        execute(
            "INSERT INTO sources(fact_id, revision, n, store_id, session_id, digest, quote_seq,"
            " quote_part, quote_start, quote_end) VALUES(?,?,?,?,?,?,?,?,?,?)",
            (*key, n, source.store_id, source.ref.session_id, _bytes(source.ref.digest), *place),
        )
        for seq in source.ref.seqs:
            execute(
                "INSERT INTO source_seqs(session_id, seq, fact_id, revision, n) VALUES(?,?,?,?,?)",
                (source.ref.session_id, seq, *key, n),
            )
    for link in revision.links:
        execute(
            "INSERT INTO links(fact_id, revision, relation, other_id, other_revision)"
            " VALUES(?,?,?,?,?)",
            (*key, link.relation, link.other_id, link.other_revision),
        )


def _grouped(
    rows: Iterable[tuple[Any, ...]], make: Callable[[tuple[Any, ...]], Any]
) -> dict[tuple[str, int], list[Any]]:
    grouped: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for fact_id, revision, *rest in rows:
        grouped[fact_id, revision].append(make(tuple(rest)))
    return grouped


def _source(row: tuple[Any, ...]) -> Source:
    _, store_id, session_id, digest, seq, part, start, end, seqs = row
    return Source(
        store_id=store_id,
        ref=SourceRef(session_id, tuple(sorted(json.loads(seqs))), digest.hex()),
        quote=None if seq is None else Quote(seq, part, start, end),
    )


def _bytes(digest: str) -> bytes:
    return bytes.fromhex(digest)


def _require_sorted(source: Source) -> None:
    # They are read back in order, and the digest depends on it.
    seqs = source.ref.seqs
    if not seqs or list(seqs) != sorted(set(seqs)):
        raise InvalidText("evidence names its records once each and in order.")
