"""How somebody edits a store at rest who knows all its formats, and has neither key nor anchor."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from memnb.core import canonical, records
from memnb.core.records import ChainHead, Draft

__all__ = [
    "Line",
    "database",
    "hidden_indexes",
    "lose_session_head",
    "put_in_twice",
    "read_lines",
    "write_lines",
]


@dataclass
class Line:
    """A record of a session without its place in the chain; `opens` says that it begins a turn."""

    type: str
    at: str
    generation: int
    body: dict[str, Any]
    turn: int
    opens: bool

    @property
    def is_message(self) -> bool:
        """Whether a person asked something with it."""
        return self.type == "user" and bool(self.body["asks"])

    @property
    def text(self) -> str:
        """What the person typed."""
        return "".join(part["text"] for part in self.body["parts"])


def read_lines(path: Path) -> list[Line]:
    """All records of a session's file."""
    found = []
    for raw in path.read_bytes().splitlines():
        body, head_bytes = records.split(raw)
        head = records.decode_head(head_bytes)
        found.append(
            Line(
                head.type,
                head.at,
                head.generation,
                canonical.decode(body),
                head.turn,
                head.turn == head.seq,
            )
        )
    return found


def write_lines(path: Path, store_id: str, lines: Sequence[Line]) -> ChainHead:
    """Write a session's file anew: numbered and chained as if it had always been so."""
    prev = records.genesis(store_id, path.stem)
    turns: dict[int, int] = {}  # what a turn was called, and is called now
    data = b""
    for seq, line in enumerate(lines, 1):
        if line.opens:
            turns[line.turn] = seq
        body = {key: value for key, value in line.body.items() if key != "salt"}
        draft = Draft(line.type, body, turns.get(line.turn, line.turn))
        encoded, _ = records.encode(
            draft,
            seq=seq,
            at=line.at,
            generation=line.generation,
            prev=prev,
            salt=line.body["salt"],
        )
        prev = records.digest(records.split(encoded.rstrip())[1])
        data += encoded
    path.write_bytes(data)
    return ChainHead(path.stem, len(lines), prev, len(data))


@contextmanager
def database(folder: Path) -> Iterator[apsw.Connection]:
    """The fact database, as any tool opens it."""
    connection = apsw.Connection(str(folder / "facts.sqlite3"))
    try:
        connection.execute("PRAGMA foreign_keys=ON").fetchall()
        yield connection
    finally:
        connection.close()


@contextmanager
def hidden_indexes(folder: Path, *names: str) -> Iterator[None]:
    """What is changed inside the block isn't changed in these indexes, or in none: they stay.

    SQLite keeps every index by itself; who takes it out of the list of what there is, and puts it
    back afterwards, has a table and an index that say different things.
    """
    where = "WHERE type='index' AND sql IS NOT NULL"
    where += " AND name IN (SELECT value FROM json_each(?))" if names else ""
    wanted = (json.dumps(names),) if names else ()
    with database(folder) as connection:
        connection.execute("PRAGMA writable_schema=ON").fetchall()
        rows = connection.execute(f"SELECT * FROM sqlite_schema {where}", wanted).fetchall()  # noqa: S608
        connection.execute(f"DELETE FROM sqlite_schema {where}", wanted)  # noqa: S608
        _reread(connection)
    yield
    with database(folder) as connection:
        connection.execute("PRAGMA writable_schema=ON").fetchall()
        for row in rows:
            connection.execute("INSERT INTO sqlite_schema VALUES(?,?,?,?,?)", row)
        _reread(connection)


def lose_session_head(folder: Path, session_id: str) -> None:
    """Have the head of a session still in its table, but not where it is looked for.

    Rows lie in a page in the order of their keys, which is how one is found; here two change
    places. Nothing else of the file changes.
    """
    with database(folder) as connection:
        sql = "SELECT rootpage FROM sqlite_schema WHERE name='heads'"
        start = (connection.execute(sql).fetchall()[0][0] - 1) * connection.pragma("page_size")
        ids = [row[0] for row in connection.execute("SELECT session_id FROM heads").fetchall()]
    if not _is_found(folder, session_id):
        return
    file = folder / "facts.sqlite3"
    whole = file.read_bytes()
    mine = ids.index(session_id)
    for other in range(len(ids)):
        page = bytearray(whole)
        here, there = (slice(at, at + 2) for at in (start + 8 + 2 * n for n in (mine, other)))
        page[here], page[there] = page[there], page[here]
        file.write_bytes(page)
        if not _is_found(folder, session_id):
            return
    raise AssertionError("the head is found wherever it is")


def put_in_twice(folder: Path, table: str, row: Sequence[Any]) -> None:
    """Have a row twice in a table whose key allows it once."""
    with database(folder) as connection:
        sql = "SELECT sql FROM sqlite_schema WHERE name=?"
        was = connection.execute(sql, (table,)).fetchall()[0][0]
    is_other = was.replace("_id TEXT", "_id TEXT COLLATE other", 1)
    for made in (is_other, was):
        with database(folder) as connection:
            # A collation by which a key is like no other.
            connection.create_collation("other", lambda one, another: 1)
            connection.execute("PRAGMA foreign_keys=OFF").fetchall()
            connection.execute("PRAGMA writable_schema=ON").fetchall()
            connection.execute("UPDATE sqlite_schema SET sql=? WHERE name=?", (made, table))
            _reread(connection)
        with database(folder) as connection:
            connection.create_collation("other", lambda one, another: 1)
            for _ in range(2 if made is is_other else 0):
                marks = ",".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} VALUES({marks})", row)


def _is_found(folder: Path, session_id: str) -> bool:
    with database(folder) as connection:
        sql = "SELECT 1 FROM heads WHERE session_id=?"
        return bool(connection.execute(sql, (session_id,)).fetchall())


def _reread(connection: apsw.Connection) -> None:
    """Have every connection read anew what there is."""
    version = connection.pragma("schema_version")
    connection.execute(f"PRAGMA schema_version={version + 1}").fetchall()
