"""The table of vectors beside the passages: what an embedder makes of each of them.

    vectors         384 numbers of a byte each
    vectors_wanted  passages that have none yet
    vectors_by      the embedder that they are of

1. A vector goes with its passage, by a trigger, and is wiped like the text: from what a text means
   it could be guessed.
2. Nothing is wanted before an embedder was here once. Another embedder begins anew.
3. What an assistant said isn't embedded: it is long, and questions are about what persons said.
4. Passages are taken a few at a time, and what is made of them is kept at once: a kernel that is
   killed loses little, and two that take the same ones do no harm.
5. The caller holds the transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import apsw

from memnb.core.passages import Passage, Source
from memnb.storage.passage_table import numbers_of

__all__ = [
    "DIMENSIONS",
    "VERSION",
    "Vector",
    "begin",
    "count",
    "create",
    "is_by",
    "n_wanted",
    "nearness",
    "packed",
    "put",
    "wanted",
]

VERSION: Final = 1
DIMENSIONS: Final = 384

Vector = Sequence[float]
"""Of length 1."""

_ORDER: Final[tuple[Source, ...]] = ("fact", "summary", "note", "message")
"""What is embedded first: there are few facts, and many messages."""

_CREATE: Final = """
CREATE TABLE vectors (passage INTEGER PRIMARY KEY, numbers BLOB NOT NULL) STRICT;
CREATE TABLE vectors_wanted (passage INTEGER PRIMARY KEY) STRICT;
CREATE TABLE vectors_by (embedder TEXT NOT NULL) STRICT;
CREATE TRIGGER vectors_are_wanted AFTER INSERT ON passages
  WHEN NEW.speaker <> 'assistant' AND EXISTS (SELECT 1 FROM vectors_by)
  BEGIN INSERT INTO vectors_wanted VALUES (NEW.id); END;
CREATE TRIGGER vectors_go AFTER DELETE ON passages BEGIN
  DELETE FROM vectors WHERE passage = OLD.id;
  DELETE FROM vectors_wanted WHERE passage = OLD.id; END;
"""
_BEGIN: Final = """
DELETE FROM vectors_by;
DELETE FROM vectors;
INSERT OR IGNORE INTO vectors_wanted SELECT id FROM passages WHERE speaker <> 'assistant';
"""
_WANTED: Final = """
SELECT id, source, name, place, text, at, speaker, context, valid_from, valid_to
FROM vectors_wanted JOIN passages ON id = passage
WHERE passage >= ? AND passage < ? ORDER BY passage DESC LIMIT ?
"""
_OF_PASSAGE: Final = """
SELECT numbers FROM passages JOIN vectors ON passage = id
WHERE source = ? AND name = ? AND place = ?
"""


def create(connection: apsw.Connection) -> None:
    """Make the tables beside those of passages."""
    connection.execute(_CREATE).fetchall()


def is_by(connection: apsw.Connection, embedder: str) -> bool:
    """Whether the vectors are of this embedder."""
    sql = "SELECT 1 FROM vectors_by WHERE embedder = ?"
    return bool(connection.execute(sql, (embedder,)).fetchall())


def begin(connection: apsw.Connection, embedder: str) -> None:
    """Want a vector of every passage from this embedder, and have none of another."""
    if not is_by(connection, embedder):
        connection.execute(_BEGIN).fetchall()
        connection.execute("INSERT INTO vectors_by VALUES (?)", (embedder,)).fetchall()


def n_wanted(connection: apsw.Connection) -> int:
    """How many passages have no vector yet."""
    return int(connection.execute("SELECT count(*) FROM vectors_wanted").get)


def count(connection: apsw.Connection) -> int:
    """How many passages have one."""
    return int(connection.execute("SELECT count(*) FROM vectors").get)


def wanted(connection: apsw.Connection, limit: int) -> dict[int, Passage]:
    """The next passages to be embedded, by number: facts first, the newest of each source first."""
    found: dict[int, Passage] = {}
    for source in _ORDER:
        values = *numbers_of(source), limit - len(found)
        rows: list[Any] = connection.execute(_WANTED, values).fetchall()
        found.update({number: Passage(*rest) for number, *rest in rows})
    return found


def put(connection: apsw.Connection, embedder: str, vectors: Mapping[int, Vector]) -> int:
    """Keep the vectors of passages that still want one from this embedder; how many do."""
    n_kept = 0
    if not is_by(connection, embedder):
        return n_kept
    for passage, vector in vectors.items():
        connection.execute("DELETE FROM vectors_wanted WHERE passage = ?", (passage,)).fetchall()
        if connection.changes():
            row = passage, packed(vector)
            connection.execute("INSERT INTO vectors VALUES (?,?)", row).fetchall()
            n_kept += 1
    return n_kept


def nearness(
    connection: apsw.Connection, embedder: str, vector: Vector, passages: Iterable[Passage]
) -> dict[str, float]:
    """The cosine of a vector with that of each passage, by its reference; of those that have one.

    Raises:
        apsw.CorruptError: the table holds something else.
    """
    if not is_by(connection, embedder):
        return {}
    found: dict[str, bytes] = {}
    for one in passages:
        values = one.source, one.name, one.place
        rows: list[Any] = connection.execute(_OF_PASSAGE, values).fetchall()
        if rows:
            found[one.reference] = rows[0][0]
    return dict(zip(found, _cosines(vector, list(found.values())), strict=True))


def packed(vector: Vector) -> bytes:
    """The direction of a vector, a byte a number: that changes a cosine by .002 at most."""
    import numpy as np

    numbers = np.asarray(vector, np.float32)
    scale = 127 / max(float(np.abs(numbers).max()), 1e-9)
    found: bytes = np.round(numbers * scale).astype(np.int8).tobytes()
    return found


def _cosines(vector: Vector, packed: Sequence[bytes]) -> list[float]:
    import numpy as np

    if any(len(one) != DIMENSIONS for one in packed):
        raise apsw.CorruptError
    kept = np.frombuffer(b"".join(packed), np.int8).reshape(-1, DIMENSIONS).astype(np.float32)
    lengths = np.maximum(np.sqrt((kept * kept).sum(1)), 1.0)
    found: list[float] = (kept @ np.asarray(vector, np.float32) / lengths).tolist()
    return found
