"""Passages gone through one by one: as an index has them, or put into a table for one search."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import apsw

from memnb.core.passages import SOURCES, Passage, Source
from memnb.core.query import Query
from memnb.core.ranking import Candidates
from memnb.storage import passage_table

__all__ = ["candidates_among", "newest_first"]


def newest_first(connection: apsw.Connection, sources: Collection[Source]) -> Iterator[Passage]:
    """The passages of sessions, the newest session first and of each the newest record."""
    for source in SOURCES:
        if source in sources:
            rows = connection.execute(
                "SELECT source, name, place, text, at, speaker FROM passages WHERE source = ?"
                " ORDER BY name DESC, place DESC",
                (source,),
            )
            yield from (Passage(*row) for row in rows)


def candidates_among(passages: Iterable[Passage], query: Query, *, limit: int) -> Candidates:
    """What may answer a query of these: at most `limit` of each source.

    It is found as in an index, so that ranking is the same where there is none.
    """
    connection = apsw.Connection(":memory:")
    try:
        passage_table.create(connection)
        connection.execute("BEGIN")
        passage_table.put(connection, passages)
        connection.execute("COMMIT")
        return passage_table.candidates(connection, query, limit=limit)
    finally:
        connection.close()
