"""Sealing: every change of the fact database is accounted for, and what isn't is noticed.

1. Temporary triggers of our own connection account for each row that is put in, changed or taken
   out, so that no statement can forget to.
2. A changed database gets a new seal in the same transaction.
3. Before facts are used they are checked against the seal, and the seal against the anchor; once
   for as long as no other process has changed the database. Then all rows are read again, but only
   those that weren't there before cost a digest.
"""

from __future__ import annotations

import secrets
import time
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import xor
from typing import Any, Final

import apsw

from memnb.core.seal import NONCE_BYTES, Seal, element
from memnb.errors import KeyLost, StoreAltered, StoreRolledBack
from memnb.storage.anchor import Anchor, Anchored
from memnb.storage.schema import SEALED, SEALED_SINCE, SIGNED

__all__ = ["INDEX_SECONDS", "Change", "Rows", "Sealer", "is_found"]

Rows = Callable[[str], list[tuple[Any, ...]]]
"""Runs a query and gives all rows."""

INDEX_SECONDS: Final = 60.0
"""For how long a kernel goes by its last look at the indexes while others change the facts."""

_GET_SEAL: Final = "SELECT value FROM meta WHERE key='seal'"
_SET_SEAL: Final = (
    "INSERT INTO meta(key, value) VALUES('seal', ?) ON CONFLICT DO UPDATE SET value=excluded.value"
)


@dataclass(slots=True)
class Change:
    """What a transaction has changed so far: the combination of rows before and now."""

    version: int
    before: int
    total: int
    new: Seal | None = None


class Sealer:
    """Seals the fact database of one store, and checks it."""

    def __init__(
        self, key: Callable[[], bytes], store_id: Callable[[], str], anchor: Anchor
    ) -> None:
        """Seal with `key`; `anchor` says which version this machine saw last."""
        self._key = key
        self._store_id = store_id
        self._watched: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._changes: dict[int, Change] = {}  # by connection
        self._found_at: float | None = None
        self._is_unlooked = False
        self._known: dict[str, tuple[bytes, frozenset[tuple[Any, ...]], int]] = {}
        self.anchor = anchor
        self.is_noted = True
        self._is_synced = True

    def prepare(self) -> None:
        """Have the key before the first thing is signed with it."""
        self._key()

    def watch(self, connection: apsw.Connection) -> None:
        """Account for what this connection changes; outside a transaction."""
        if connection in self._watched:
            return

        def account(*row: Any) -> None:
            change = self._changes.get(id(connection))
            if change is not None:
                change.total ^= element(self._key(), row[0], row[1:])

        connection.create_scalar_function("memnb_row", account)
        connection.execute("PRAGMA temp_store=MEMORY").fetchall()
        connection.execute("".join(_triggers())).fetchall()
        self._watched.add(connection)

    def first(self, connection: apsw.Connection) -> Seal:
        """Seal a database that is being made, or that a version without seals wrote.

        The anchor is begun before there is anything to anchor: afterwards a crash could come
        between, and leave a store that this machine hasn't seen.
        """
        if not self.anchor.exists:
            self.anchor.create(Anchored(0, b""))
        seal = self._seal(self._total(lambda sql: connection.execute(sql).fetchall()), 1)
        connection.execute(_SET_SEAL, (bytes(seal),)).fetchall()
        return seal

    def begin(self, connection: apsw.Connection) -> None:
        """Begin to account for a transaction.

        Raises:
            KeyLost, StoreAltered, StoreRolledBack: the store isn't one to build upon.
        """
        anchored = self.anchor.read()
        seal = self._stored(lambda sql: connection.execute(sql).fetchall(), anchored)
        self._require_newest(seal, anchored)
        total = seal.total(self._key(), self._store_id())
        self._changes[id(connection)] = Change(seal.version, total, total)

    def end(self, connection: apsw.Connection) -> None:
        """Seal what the transaction changed, before it is committed."""
        change = self._changes[id(connection)]
        if change.total != change.before:
            change.new = self._seal(change.total, change.version + 1)
            connection.execute(_SET_SEAL, (bytes(change.new),)).fetchall()

    def finish(self, connection: apsw.Connection) -> Change | None:
        """Stop to account, whatever became of the transaction."""
        return self._changes.pop(id(connection), None)

    def note(self, seal: Seal, *, sync: bool) -> None:
        """Anchor a version that is durable."""
        self.is_noted = self.anchor.note(Anchored(seal.version, bytes(seal)), sync=sync)
        self._is_synced = sync

    def sync(self) -> None:
        """Have on the disk what was anchored."""
        if not self._is_synced:
            self.anchor.sync()
            self._is_synced = True

    def check(self, rows: Rows, anchored: Anchored | None) -> None:
        """Refuse a database that isn't the newest that was sealed.

        Args:
            rows: queries one state of it.
            anchored: what the anchor said before that state was read.

        Raises:
            KeyLost, StoreAltered, StoreRolledBack.
        """
        if _version(rows) < SEALED_SINCE:
            self.require_none(anchored)
            return
        seal = self._stored(rows, anchored)
        self._require_newest(seal, anchored)
        is_sealed = self._total(rows) == seal.total(self._key(), self._store_id())
        if not is_sealed or not self._is_found(rows):
            raise StoreAltered(
                "the fact database was changed by something else than memnb, so none of it is"
                " used; `%memory doctor` says more."
            )

    @property
    def owes_a_look(self) -> bool:
        """Whether a check put off its look at the indexes, and the time for it has come."""
        return self._is_unlooked and self._is_look_due(time.monotonic())

    def require_newest(self, rows: Rows) -> None:
        """As `check`, without a look at the rows themselves."""
        anchored = self.anchor.read()
        if _version(rows) < SEALED_SINCE:
            self.require_none(anchored)
        else:
            self._require_newest(self._stored(rows, anchored), anchored)

    def require_none(self, anchored: Anchored | None) -> None:
        """Refuse a store without a seal, or that is gone, when there was one; StoreRolledBack."""
        if anchored is not None and anchored.version:
            raise _rolled_back(0, anchored)

    def accept(self, connection: apsw.Connection, anchored: Anchored | None) -> Seal:
        """Seal what is there as it is, newer than all that was seen."""
        rows: Rows = lambda sql: connection.execute(sql).fetchall()  # noqa: E731
        found = rows(_GET_SEAL)
        try:
            version = Seal.from_bytes(found[0][0]).version if found else 0
        except StoreAltered:
            version = 0
        version = max(version, anchored.version if anchored else 0) + 1
        seal = self._seal(self._total(rows), version)
        connection.execute(_SET_SEAL, (bytes(seal),)).fetchall()
        return seal

    def _seal(self, total: int, version: int) -> Seal:
        return Seal.over(
            total,
            version=version,
            nonce=secrets.token_bytes(NONCE_BYTES),
            key=self._key(),
            store_id=self._store_id(),
        )

    def _stored(self, rows: Rows, anchored: Anchored | None) -> Seal:
        found = rows(_GET_SEAL)
        seal = Seal.from_bytes(found[0][0] if found else None)
        if not seal.is_by(self._key()):
            # Which key made a seal stands in it for everybody to write; the anchor is signed.
            if anchored is not None and anchored.version:
                raise StoreAltered(
                    "the seal of the fact database isn't by this machine's key, which sealed it"
                    " last: it was changed, or another machine took it over; `%memory doctor`"
                    " says more."
                )
            raise KeyLost(
                "the facts were signed with another key than this machine's; put the key of the"
                " machine that wrote them in its place, or see `%memory doctor`."
            )
        return seal

    def _total(self, rows: Rows) -> int:
        total, version = 0, _version(rows)
        for table, sealed in SEALED.items():
            if sealed.since > version:
                continue
            where = f" WHERE {sealed.where}" if sealed.where else ""
            columns = ", ".join(sealed.columns)
            query = f"SELECT {columns} FROM {table}{where}"  # noqa: S608  # of constants
            total ^= self._combined(table, rows(query))
        return total

    def _combined(self, table: str, found: list[tuple[Any, ...]]) -> int:
        """The combination of a table's rows; only those are computed that weren't there before."""
        key, rows = self._key(), frozenset(found)
        if len(rows) != len(found):  # none of ours: a key is among the columns of every table
            # Two of a kind would cancel each other out: the second counts as something else.
            counted = Counter(found).items()
            names = ((table if n == 1 else f"{n} of {table}", fields) for fields, n in counted)
            return reduce(xor, (element(key, name, fields) for name, fields in names))
        known = None if table == "meta" else self._known.get(table)  # 1 and 1.0 are alike to Python
        before, total = known[1:] if known and known[0] == key else (frozenset(), 0)
        for fields in rows ^ before:
            total ^= element(key, table, fields)
        self._known[table] = (key, rows, total)
        return total

    def _is_found(self, rows: Rows) -> bool:
        """Whether a scan and every index find the same, for as long as that was looked at lately.

        The look takes three times as long as all the rows, and other kernels commit often.
        """
        now = time.monotonic()
        self._is_unlooked = not self._is_look_due(now)
        if not self._is_unlooked:
            self._found_at = now if is_found(rows) else None
        return self._found_at is not None

    def _is_look_due(self, now: float) -> bool:
        return self._found_at is None or now >= self._found_at + INDEX_SECONDS

    def _require_newest(self, seal: Seal, anchored: Anchored | None) -> None:
        if anchored is None or seal.version > anchored.version:
            return
        if seal.version < anchored.version or bytes(seal) != anchored.seal:
            raise _rolled_back(seal.version, anchored)


def is_found(rows: Rows) -> bool:
    """Whether what a scan of the tables finds is found by its key and by each index, too.

    SQLite doesn't look by itself. Of sources and their records the signature tells what is missing.
    """
    version = _version(rows)
    since = {**{table: sealed.since for table, sealed in SEALED.items()}, **SIGNED}
    tables = [table for table, came_with in since.items() if came_with <= version]
    is_whole = all(rows(f"PRAGMA integrity_check({table})") == [("ok",)] for table in tables)
    # `facts` has no seal of its own: a row that is gone or has another id leaves its revisions.
    return is_whole and not rows("PRAGMA foreign_key_check")


def _version(rows: Rows) -> int:
    return int(rows("PRAGMA user_version")[0][0])


def _rolled_back(version: int, anchored: Anchored) -> StoreRolledBack:
    how = (
        f"is older than the one used here last (change {version} of {anchored.version})"
        if version < anchored.version
        else "is another copy than the one used here last"
    )
    return StoreRolledBack(
        f"this memory {how}, so none of it is used; `%memory doctor` says how to go on."
    )


def _triggers() -> list[str]:
    made = []
    for table, sealed in SEALED.items():
        for event, rows in (("INSERT", "N"), ("DELETE", "O"), ("UPDATE", "ON")):
            for row in rows:
                name = {"N": "NEW", "O": "OLD"}[row]
                fields = ", ".join(f"{name}.{column}" for column in sealed.columns)
                when = f"WHEN {name}.{sealed.where} " if sealed.where else ""
                made.append(
                    f"CREATE TEMP TRIGGER IF NOT EXISTS memnb_{table}_{event}_{row}"
                    f" AFTER {event} ON main.{table} {when}"
                    f"BEGIN SELECT memnb_row('{table}', {fields}); END;"
                )
    return made
