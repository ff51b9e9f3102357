"""What a search index has taken in: of which sessions, notes and facts, up to where.

state           store_id, generation, how far the facts were followed, whether to scrub
sessions        up to which record, under which marks; with it the summary that held then
carriers        what a session's replies had in sight: facts, or messages of another session
notes           the text that was cut into passages
facts           the revision that was taken in, and when another one begins to decide
uses            how often facts were carried and cited, over all sessions
session_uses    the same for each session, so that one can be read anew
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import apsw

__all__ = [
    "SCRUB",
    "FactPosition",
    "SessionPosition",
    "Uses",
    "carriers",
    "cited_at",
    "create",
    "drop_fact",
    "drop_note",
    "drop_session",
    "fact",
    "facts",
    "facts_due",
    "forget_carriers",
    "n_revisions",
    "note",
    "notes",
    "put_carriers",
    "put_fact",
    "put_note",
    "put_session",
    "put_uses",
    "session",
    "sessions",
    "set_state",
    "state",
    "uses",
    "uses_of",
]

SCRUB: Final = "scrub"
"""Under this key stands whether what was taken out is yet to be wiped."""

_TABLES: Final = """
CREATE TABLE state(
  key TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions(
  session_id TEXT PRIMARY KEY,
  stamp TEXT NOT NULL,
  seq INTEGER NOT NULL,
  digest TEXT NOT NULL,
  marks TEXT NOT NULL,
  summary INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE carriers(
  name TEXT NOT NULL,
  session_id TEXT NOT NULL,
  PRIMARY KEY(name, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX carriers_by_session ON carriers(session_id);
CREATE TABLE notes(
  name TEXT PRIMARY KEY,
  stamp TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE facts(
  fact_id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  newest INTEGER NOT NULL,
  due TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX facts_by_due ON facts(due) WHERE due IS NOT NULL;
CREATE TABLE uses(
  fact_id TEXT PRIMARY KEY,
  n_carried INTEGER NOT NULL,
  n_cited INTEGER NOT NULL,
  last_carried TEXT NOT NULL,
  last_cited TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE session_uses(
  session_id TEXT NOT NULL,
  fact_id TEXT NOT NULL,
  n_carried INTEGER NOT NULL,
  n_cited INTEGER NOT NULL,
  last_carried TEXT NOT NULL,
  last_cited TEXT NOT NULL,
  PRIMARY KEY(session_id, fact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_uses_by_fact ON session_uses(fact_id);
"""


@dataclass(frozen=True, slots=True)
class SessionPosition:
    """How far a session was taken in.

    Args:
        stamp: of its file then: while it is the same there is nothing new.
        seq: the last record that was looked at.
        digest: of that record's head.
        marks: what decided which of the records could be seen.
        summary: the record of the newest summary then, whether or not it held; 0 for none.
    """

    stamp: str = ""
    seq: int = 0
    digest: str = ""
    marks: str = ""
    summary: int = 0


@dataclass(frozen=True, slots=True)
class FactPosition:
    """Which revision of a fact was taken in, of how many, and from when on another one decides."""

    revision: int
    newest: int
    due: str | None = None


@dataclass(frozen=True, slots=True)
class Uses:
    """How often a fact was carried and cited, and when last, as UTC stamps; "" for never."""

    n_carried: int = 0
    n_cited: int = 0
    last_carried: str = ""
    last_cited: str = ""

    def __add__(self, other: Uses) -> Uses:
        return Uses(
            self.n_carried + other.n_carried,
            self.n_cited + other.n_cited,
            max(self.last_carried, other.last_carried),
            max(self.last_cited, other.last_cited),
        )


def create(connection: apsw.Connection) -> None:
    """Make the tables."""
    connection.execute(_TABLES).fetchall()


def state(connection: apsw.Connection, key: str) -> Any:
    """A value that is kept under a key; None when there is none."""
    rows = _rows(connection, "SELECT value FROM state WHERE key=?", (key,))
    return rows[0][0] if rows else None


def set_state(connection: apsw.Connection, key: str, value: str | int | bytes | None) -> None:
    """Keep a value under a key; None keeps nothing."""
    if value is None:
        connection.execute("DELETE FROM state WHERE key=?", (key,)).fetchall()
        return
    connection.execute("INSERT OR REPLACE INTO state VALUES(?,?)", (key, value)).fetchall()


def sessions(connection: apsw.Connection) -> dict[str, SessionPosition]:
    """How far each session was taken in."""
    rows = _rows(connection, "SELECT session_id, stamp, seq, digest, marks, summary FROM sessions")
    return {session_id: SessionPosition(*fields) for session_id, *fields in rows}


def session(connection: apsw.Connection, session_id: str) -> SessionPosition:
    """How far a session was taken in."""
    rows = _rows(
        connection,
        "SELECT stamp, seq, digest, marks, summary FROM sessions WHERE session_id=?",
        (session_id,),
    )
    return SessionPosition(*rows[0]) if rows else SessionPosition()


def put_session(connection: apsw.Connection, session_id: str, position: SessionPosition) -> None:
    """Note how far a session was taken in."""
    connection.execute(
        "INSERT OR REPLACE INTO sessions VALUES(?,?,?,?,?,?)",
        (
            session_id,
            position.stamp,
            position.seq,
            position.digest,
            position.marks,
            position.summary,
        ),
    ).fetchall()


def drop_session(connection: apsw.Connection, session_id: str) -> None:
    """Know nothing of a session any more, nor what it carried or used."""
    put_uses(connection, session_id, {}, anew=True)
    forget_carriers(connection, session_id)
    connection.execute("DELETE FROM sessions WHERE session_id=?", (session_id,)).fetchall()


def carriers(connection: apsw.Connection, names: Iterable[str]) -> set[str]:
    """The sessions that carried one of these."""
    found: set[str] = set()
    for name in names:
        rows = _rows(connection, "SELECT session_id FROM carriers WHERE name=?", (name,))
        found.update(row[0] for row in rows)
    return found


def put_carriers(connection: apsw.Connection, session_id: str, names: Iterable[str]) -> None:
    """Note what a session carried, besides what is noted."""
    connection.executemany(
        "INSERT OR IGNORE INTO carriers VALUES(?,?)", [(name, session_id) for name in names]
    )


def forget_carriers(connection: apsw.Connection, session_id: str) -> None:
    """Know no more what a session carried."""
    connection.execute("DELETE FROM carriers WHERE session_id=?", (session_id,)).fetchall()


def notes(connection: apsw.Connection) -> dict[str, tuple[str, str]]:
    """The notes that were taken in: name → stamp of the file, and digest of its text."""
    rows = _rows(connection, "SELECT name, stamp, digest FROM notes")
    return {name: (stamp, digest) for name, stamp, digest in rows}


def note(connection: apsw.Connection, name: str) -> tuple[str, str] | None:
    """Stamp and digest of a note as it was taken in; None when it wasn't."""
    rows = _rows(connection, "SELECT stamp, digest FROM notes WHERE name=?", (name,))
    return (rows[0][0], rows[0][1]) if rows else None


def put_note(connection: apsw.Connection, name: str, stamp: str, digest: str) -> None:
    """Note which text of a note was taken in."""
    connection.execute("INSERT OR REPLACE INTO notes VALUES(?,?,?)", (name, stamp, digest))


def drop_note(connection: apsw.Connection, name: str) -> None:
    """Know nothing of a note any more."""
    connection.execute("DELETE FROM notes WHERE name=?", (name,)).fetchall()


def facts(connection: apsw.Connection) -> dict[str, FactPosition]:
    """The facts that were taken in."""
    rows = _rows(connection, "SELECT fact_id, revision, newest, due FROM facts")
    return {fact_id: FactPosition(*fields) for fact_id, *fields in rows}


def fact(connection: apsw.Connection, fact_id: str) -> FactPosition | None:
    """What was taken in of a fact; None when nothing was."""
    rows = _rows(connection, "SELECT revision, newest, due FROM facts WHERE fact_id=?", (fact_id,))
    return FactPosition(*rows[0]) if rows else None


def n_revisions(connection: apsw.Connection) -> int:
    """How many revisions the facts had that were taken in."""
    rows = _rows(connection, "SELECT coalesce(sum(newest), 0) FROM facts")
    return int(rows[0][0])


def facts_due(connection: apsw.Connection, now: str) -> list[str]:
    """The facts of which another revision decides by now."""
    rows = _rows(connection, "SELECT fact_id FROM facts WHERE due<=?", (now,))
    return [row[0] for row in rows]


def put_fact(connection: apsw.Connection, fact_id: str, position: FactPosition) -> None:
    """Note which revision of a fact was taken in."""
    connection.execute(
        "INSERT OR REPLACE INTO facts VALUES(?,?,?,?)",
        (fact_id, position.revision, position.newest, position.due),
    ).fetchall()


def drop_fact(connection: apsw.Connection, fact_id: str) -> None:
    """Know nothing of a fact any more, nor how it was used."""
    for table in ("facts", "uses", "session_uses"):
        connection.execute(f"DELETE FROM {table} WHERE fact_id=?", (fact_id,))  # noqa: S608


def uses(connection: apsw.Connection) -> dict[str, Uses]:
    """How facts were used, over all sessions."""
    rows = _rows(
        connection, "SELECT fact_id, n_carried, n_cited, last_carried, last_cited FROM uses"
    )
    return {fact_id: Uses(*fields) for fact_id, *fields in rows}


def uses_of(connection: apsw.Connection, fact_id: str) -> Uses:
    """How one fact was used, over all sessions."""
    sql = "SELECT n_carried, n_cited, last_carried, last_cited FROM uses WHERE fact_id=?"
    rows = _rows(connection, sql, (fact_id,))
    return Uses(*rows[0]) if rows else Uses()


def cited_at(connection: apsw.Connection) -> dict[str, list[str]]:
    """When each fact was cited last in each session in which it was, as UTC stamps."""
    found: dict[str, list[str]] = {}
    sql = "SELECT fact_id, last_cited FROM session_uses WHERE last_cited<>''"
    for fact_id, at in _rows(connection, sql):
        found.setdefault(str(fact_id), []).append(str(at))
    return found


def put_uses(
    connection: apsw.Connection, session_id: str, found: Mapping[str, Uses], *, anew: bool = False
) -> None:
    """Count how a session used facts, besides what was counted of it; with `anew` instead."""
    changed = set(found)
    if anew:
        changed.update(_used_in(connection, session_id))
        connection.execute("DELETE FROM session_uses WHERE session_id=?", (session_id,))
    connection.executemany(
        "INSERT INTO session_uses VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
        " n_carried=n_carried+excluded.n_carried, n_cited=n_cited+excluded.n_cited,"
        " last_carried=max(last_carried, excluded.last_carried),"
        " last_cited=max(last_cited, excluded.last_cited)",
        [(session_id, fact_id, *_fields(one)) for fact_id, one in found.items()],
    ).fetchall()
    _sum_up(connection, sorted(changed))


def _used_in(connection: apsw.Connection, session_id: str) -> list[str]:
    rows = _rows(connection, "SELECT fact_id FROM session_uses WHERE session_id=?", (session_id,))
    return [row[0] for row in rows]


def _sum_up(connection: apsw.Connection, fact_ids: Sequence[str]) -> None:
    for fact_id in fact_ids:
        connection.execute("DELETE FROM uses WHERE fact_id=?", (fact_id,))
        connection.execute(
            "INSERT INTO uses SELECT fact_id, sum(n_carried), sum(n_cited), max(last_carried),"
            " max(last_cited) FROM session_uses WHERE fact_id=? GROUP BY fact_id",
            (fact_id,),
        )


def _fields(uses: Uses) -> tuple[int, int, str, str]:
    return uses.n_carried, uses.n_cited, uses.last_carried, uses.last_cited


def _rows(
    connection: apsw.Connection, sql: str, arguments: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    return connection.execute(sql, arguments).fetchall()
