"""Facts on disk: read by id, by time or by text; changed in one transaction or not at all."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from memnb.core.facts import Fact, Hold, Kind, Revision, Scope
from memnb.core.records import ChainHead
from memnb.core.signing import is_signed
from memnb.storage.candidate_store import CandidateChange, CandidateStore
from memnb.storage.database import Database, Row
from memnb.storage.fact_changes import FactChanges
from memnb.storage.fact_count import STORE_ID_QUERY, count_facts, require_ours
from memnb.storage.fact_order import FactOrder
from memnb.storage.fact_rows import insert_revision, load_facts, load_texts
from memnb.storage.salvage import Salvaged

__all__ = ["FactStore", "FactTransaction", "Forgotten"]


_IDS_OLDEST_FIRST = (
    "SELECT fact_id FROM revisions WHERE revision=1 ORDER BY recorded_at, fact_id LIMIT ? OFFSET ?"
)
_IDS_NEWEST_FIRST = (
    "SELECT fact_id FROM revisions WHERE revision=1"
    " ORDER BY recorded_at DESC, fact_id DESC LIMIT ? OFFSET ?"
)

_SIGNED: Final = 4_096


_KEYS_AFTER = (
    "SELECT recorded_at, fact_id FROM revisions WHERE revision=1"
    " AND (recorded_at, fact_id) > (?,?) ORDER BY recorded_at, fact_id LIMIT ?"
)
_KEYS_BEFORE = (
    "SELECT recorded_at, fact_id FROM revisions WHERE revision=1"
    " AND (recorded_at, fact_id) < (?,?) ORDER BY recorded_at DESC, fact_id DESC LIMIT ?"
)
_FIRST, _LAST = ("", ""), ("~", "~")  # before and after every stamp


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is left of a forgotten fact: which forget it was, and when."""

    generation: int
    at: str


class FactStore:
    """The facts of one project; creates its database at the first write."""

    def __init__(
        self,
        database: Database,
        store_id: Callable[[], str],
        key: Callable[[], bytes],
        *,
        heads: Callable[[], Iterable[ChainHead]] | None = None,
    ) -> None:
        """Keep facts in `database`, which belongs to the store of this id, signed with `key`.

        `heads` gives those of all sessions there are, which are noted when the database is made.
        """
        self._database = database
        self._heads = heads
        self._store_id = store_id
        self._key = key
        self._is_ours = False
        self._signed: dict[bytes, tuple[object, ...]] = {}  # what was compared, by its signature
        self.candidates = CandidateStore(self._rows, database.snapshot, store_id, key)
        self.changes = FactChanges(self._rows)
        self.order = FactOrder(self._rows)

    @property
    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self._database.exists

    @property
    def is_too_new(self) -> bool:
        """Whether a newer memnb wrote the store, so that it can only be read."""
        return self._database.is_too_new

    def generation(self) -> int:
        """How many forgets there were; every one makes older generated text suspect."""
        rows = self._rows("SELECT value FROM meta WHERE key='generation'")
        return int(rows[0][0]) if rows else 0

    def count(self) -> int:
        """How many facts there are."""
        return count_facts(self._database, self._store_id())

    def ids(self, *, limit: int, offset: int = 0, newest_first: bool = False) -> list[str]:
        """Ids by the time of their first revision: a correction doesn't move a fact."""
        sql = _IDS_NEWEST_FIRST if newest_first else _IDS_OLDEST_FIRST
        return [row[0] for row in self._rows(sql, (limit, offset))]

    def batches(self, size: int, *, newest_first: bool = False) -> Iterator[list[str]]:
        """All ids in the order of `ids`, so many at a time; each costs the same, however far."""
        sql, key = (_KEYS_BEFORE, _LAST) if newest_first else (_KEYS_AFTER, _FIRST)
        while keys := self._rows(sql, (*key, size)):
            key = keys[-1]
            yield [fact_id for _, fact_id in keys]

    def texts(
        self, fact_ids: Sequence[str], *, at: str | None = None, history: bool = False
    ) -> list[tuple[str, int, str]]:
        """Fact id, number and text of the revisions that `facts` would give, by id.

        They only tell which facts are worth loading: neither their signature nor their evidence is
        looked at.
        """
        return load_texts(self._rows, fact_ids, at=at, history=history)

    def facts(
        self, fact_ids: Sequence[str], *, at: str | None = None, history: bool = False
    ) -> list[Fact]:
        """The facts of these ids in this order; unknown ones are left out.

        Args:
            fact_ids: which.
            at: a UTC stamp: the revision of each that decides then, else the next that will. The
                newest when left out, which may be one that isn't in force yet.
            history: all revisions instead.
        """
        # In one state: a fact put together from two wouldn't be as it was signed.
        with self._database.snapshot():
            facts = load_facts(self._rows, fact_ids, at=at, history=history)
        return [self._compared(fact) for fact in facts]

    def fact(self, fact_id: str) -> Fact | None:
        """One fact with all its revisions, None when there is none."""
        facts = self.facts([fact_id], history=True)
        return facts[0] if facts else None

    def by_text(self, key: bytes) -> list[tuple[str, int]]:
        """Fact id and revision of every revision with this text key, oldest fact first."""
        return [
            (row[0], row[1])
            for row in self._rows(
                "SELECT fact_id, revision FROM revisions WHERE text_key=? ORDER BY recorded_at",
                (key,),
            )
        ]

    def citing(self, session_id: str, seqs: Sequence[int]) -> list[str]:
        """Ids of facts of which some revision cites one of these records."""
        rows = self._rows(
            "SELECT DISTINCT q.fact_id FROM json_each(?2) j CROSS JOIN source_seqs q"
            " ON q.session_id=?1 AND q.seq=j.value ORDER BY q.fact_id",
            (session_id, json.dumps(list(seqs))),
        )
        return [row[0] for row in rows]

    def dependents(self, fact_id: str, *, at: str | None = None) -> list[str]:
        """Ids of facts derived from this one, directly or through others.

        Args:
            fact_id: which.
            at: a UTC stamp: counts what a fact was derived from by the revision that decides then
                or a newer one; by the newest when left out.
        """
        rows = self._rows(
            "WITH RECURSIVE"
            " now(fact_id, other_id) AS (SELECT l.fact_id, l.other_id FROM links l"
            "  WHERE l.relation='derived_from' AND l.revision >= coalesce("
            "  (SELECT max(revision) FROM revisions x WHERE x.fact_id = l.fact_id"
            "  AND (?2 IS NULL OR x.valid_from IS NULL OR x.valid_from <= ?2)), 1)),"
            " d(id) AS (SELECT fact_id FROM now WHERE other_id=?1"
            "  UNION SELECT now.fact_id FROM now JOIN d ON now.other_id=d.id)"
            " SELECT id FROM d WHERE id<>?1 ORDER BY id",
            (fact_id, at),
        )
        return [row[0] for row in rows]

    def held_because(self, fact_id: str) -> list[str]:
        """Ids of facts that are held because of this one, in order."""
        sql = "SELECT DISTINCT fact_id FROM holds WHERE because_id=? ORDER BY fact_id"
        return [row[0] for row in self._rows(sql, (fact_id,))]

    def exclusions(self, session_id: str) -> dict[int, int]:
        """Excluded records of a session: seq → generation of the forget."""
        return dict(
            self._rows("SELECT seq, generation FROM exclusions WHERE session_id=?", (session_id,))
        )

    def to_blank(self) -> dict[str, list[int]]:
        """Records of which a purge has yet to blank the bodies: session id → seqs in order."""
        found: dict[str, list[int]] = {}
        sql = "SELECT session_id, seq FROM exclusions WHERE purged=1 ORDER BY session_id, seq"
        for session_id, seq in self._rows(sql):
            found.setdefault(session_id, []).append(seq)
        return found

    def excluded_by(self, generation: int) -> list[tuple[str, int]]:
        """Session and number of the records that one forget barred."""
        sql = "SELECT session_id, seq FROM exclusions WHERE generation=? ORDER BY session_id, seq"
        return [(row[0], row[1]) for row in self._rows(sql, (generation,))]

    def text_macs(self, generation: int) -> frozenset[bytes]:
        """The keyed digests of the texts that one forget took out."""
        rows = self._rows("SELECT text_mac FROM forgotten_texts WHERE generation=?", (generation,))
        return frozenset(row[0] for row in rows)

    def forgotten(self) -> dict[str, Forgotten]:
        """What was forgotten: fact id → when."""
        rows = self._rows("SELECT fact_id, generation, at FROM forgotten")
        return {row[0]: Forgotten(row[1], row[2]) for row in rows}

    def forgotten_of(self, fact_ids: Sequence[str]) -> dict[str, int]:
        """Which of these were forgotten: fact id → generation of its forget."""
        rows = self._rows(
            "SELECT f.fact_id, f.generation FROM json_each(?) j"
            " CROSS JOIN forgotten f ON f.fact_id=j.value",
            (json.dumps(list(fact_ids)),),
        )
        return dict(rows)

    def newest_forget(self) -> int:
        """The generation of the newest fact that was forgotten, 0 when none ever was."""
        rows = self._rows("SELECT max(generation) FROM forgotten")
        return (rows[0][0] or 0) if rows else 0

    def forgotten_text(self, text_mac: bytes) -> Forgotten | None:
        """When a text with this keyed digest was forgotten, None when it never was."""
        rows = self._rows(
            "SELECT t.generation, f.at FROM forgotten_texts t JOIN forgotten f"
            " ON f.generation=t.generation WHERE t.text_mac=?",
            (text_mac,),
        )
        return Forgotten(*rows[0]) if rows else None

    def any_forgotten(self, text_macs: Sequence[bytes]) -> Forgotten | None:
        """When one of these keyed digests was forgotten, None when none was."""
        if len(text_macs) == 1:
            return self.forgotten_text(text_macs[0])
        known = {row[0] for row in self._rows("SELECT text_mac FROM forgotten_texts")}
        found = next((text_mac for text_mac in text_macs if text_mac in known), None)
        return None if found is None else self.forgotten_text(found)

    def head(self, session_id: str) -> ChainHead | None:
        """How far a session reached when it was last noted here."""
        rows = self._rows(
            "SELECT seq, digest, n_bytes FROM heads WHERE session_id=?", (session_id,)
        )
        return ChainHead(session_id, rows[0][0], rows[0][1].hex(), rows[0][2]) if rows else None

    def notes_every_session(self) -> bool:
        """Whether there is a head of each session that memnb began here."""
        return bool(self._rows("SELECT 1 FROM meta WHERE key='heads'"))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads inside the block see one state of the store."""
        with self._database.snapshot():
            yield

    @contextlib.contextmanager
    def transaction(
        self, *, now: str, durable: bool = True, firm: bool = False
    ) -> Iterator[FactTransaction]:
        """One change of the store, all or nothing.

        Args:
            now: the present as a UTC stamp.
            durable: False leaves out the fsync, for what may be lost together with its cause.
            firm: have the anchor on the disk, too: no older copy may pass for this state.

        Raises:
            StoreMoved: the database belongs to another project.
            StoreError, StoreBusy: nothing was changed.
        """
        with self._database.transaction(durable=durable, firm=firm) as connection:
            inbox = CandidateChange(connection.execute, self._store_id, self._key)
            change = FactTransaction(connection.execute, inbox)
            if change.claim(self._store_id(), now) and self._heads is not None:
                change.note_every_session(self._heads())
            yield change

    def scrub(self) -> bool:
        """Remove deleted bytes from the database and its log; False when it is pending."""
        if not self._database.scrub():
            return False
        if self.is_scrub_pending():
            with self._database.transaction(durable=False) as connection:
                connection.execute("DELETE FROM meta WHERE key='scrub'").fetchall()
        return True

    def is_scrub_pending(self) -> bool:
        """Whether bytes of something forgotten may still be in the database or its log."""
        return bool(self._rows("SELECT 1 FROM meta WHERE key='scrub'"))

    @property
    def is_anchored(self) -> bool:
        """Whether this machine would notice an older copy of the store."""
        return self._database.is_anchored

    def damage(self) -> str:
        """What is wrong with the database's file, in a line; "" when nothing."""
        return self._database.damage()

    def accept(self) -> None:
        """Take the store as it is for the newest there is, and remember it on this machine.

        Raises:
            StoreBusy, StoreReadOnly, StoreDamaged, StoreError.
        """
        self._database.accept()

    def salvage(self, now: str) -> Salvaged:
        """Put what can be read of a damaged database into a new one; the old is kept beside it.

        Raises:
            StoreDamaged: nothing can be read. StoreError: nothing was changed.
        """
        stamp = re.sub(r"\D", "", now)
        return self._database.salvage(self._database.path.with_name(f"quarantine-{stamp}"))

    def close(self) -> None:
        """Close the database."""
        self._database.close()
        self._is_ours = False

    def _compared(self, fact: Fact) -> Fact:
        """The fact, with each revision marked that isn't as it was signed."""
        revisions = [
            one if self._is_signed(fact, one) else replace(one, is_signed=False)
            for one in fact.revisions
        ]
        is_signed = all(one.is_signed for one in revisions)
        return fact if is_signed else replace(fact, revisions=tuple(revisions))

    def _is_signed(self, fact: Fact, revision: Revision) -> bool:
        said = (self._key(), self._store_id(), fact.kind, fact.scope, revision)
        if self._signed.get(revision.mac) == said:
            return True
        if not is_signed(*said):
            return False
        if len(self._signed) >= _SIGNED:
            self._signed.clear()
        self._signed[revision.mac] = said
        return True

    def _rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        if not self._is_ours and self._database.exists:
            require_ours(self._database.rows(STORE_ID_QUERY), self._store_id())
            self._is_ours = True
        return self._database.rows(sql, arguments)


class FactTransaction:
    """The changes that one transaction can make; `candidates` has those of the inbox."""

    def __init__(self, execute: Any, candidates: CandidateChange) -> None:
        """Change through `execute`, a connection's."""
        self._execute = execute
        self.candidates = candidates

    def claim(self, store_id: str, now: str) -> bool:
        """Make a new database ours, and give whether it is one; refuse one of another project."""
        rows = self._execute(STORE_ID_QUERY).fetchall()
        if not rows:
            self._execute(
                "INSERT INTO meta(key, value) VALUES('store_id', ?), ('generation', 0),"
                " ('created_at', ?)",
                (store_id, now),
            )
        require_ours(rows, store_id)
        return not rows

    def note_every_session(self, heads: Iterable[ChainHead]) -> None:
        """Note these, which are all there are: a session without one isn't memnb's from now on."""
        for head in heads:
            self.set_head(head)
        self._execute("INSERT INTO meta(key, value) VALUES('heads', 1)")

    def insert_fact(self, fact_id: str, scope: Scope, kind: Kind) -> None:
        """Add a fact without revisions."""
        self._execute("INSERT INTO facts VALUES(?,?,?)", (fact_id, scope, kind))

    def insert_revision(self, revision: Revision) -> None:
        """Add a revision with its sources and links."""
        insert_revision(self._execute, revision)

    def sign(self, fact_id: str, revision: int, mac: bytes) -> None:
        """Sign a revision anew."""
        self._execute(
            "UPDATE revisions SET mac=? WHERE fact_id=? AND revision=?", (mac, fact_id, revision)
        )

    def is_free(self, fact_id: str) -> bool:
        """Whether no fact has or had this id."""
        rows = self._execute(
            "SELECT 1 FROM facts WHERE fact_id=?1"
            " UNION ALL SELECT 1 FROM forgotten WHERE fact_id=?1",
            (fact_id,),
        ).fetchall()
        return not rows

    def next_generation(self) -> int:
        """Count one more forget."""
        rows = self._execute(
            "UPDATE meta SET value=value+1 WHERE key='generation' RETURNING value"
        ).fetchall()
        return int(rows[0][0])

    def exclude(self, session_id: str, seq: int, generation: int, *, purged: bool = False) -> None:
        """Bar a record for good from being evidence or context.

        Args:
            session_id: whose record.
            seq: its number.
            generation: of the forget that bars it; one that is barred already keeps its own.
            purged: its body is to be blanked, too.
        """
        self._execute(
            "INSERT INTO exclusions(session_id, seq, generation, purged) VALUES(?,?,?,?)"
            " ON CONFLICT DO UPDATE SET purged=excluded.purged"
            " WHERE excluded.purged AND purged<>excluded.purged",
            (session_id, seq, generation, int(purged)),
        )

    def note_blanked(self, session_id: str, seq: int) -> None:
        """Note that the body of a record was blanked durably."""
        self._execute(
            "UPDATE exclusions SET purged=2 WHERE session_id=? AND seq=? AND purged=1",
            (session_id, seq),
        )

    def mark_forgotten(
        self, fact_id: str, text_macs: Sequence[bytes], *, generation: int, now: str
    ) -> None:
        """Leave what recognises a retry and the same text, without any content."""
        self._execute("INSERT INTO forgotten VALUES(?,?,?)", (fact_id, generation, now))
        self._execute("INSERT INTO meta VALUES('scrub', 1) ON CONFLICT DO NOTHING")
        for text_mac in text_macs:
            self._execute(
                "INSERT INTO forgotten_texts VALUES(?,?) ON CONFLICT DO UPDATE SET generation="
                "excluded.generation",
                (text_mac, generation),
            )

    def unmark_text(self, text_mac: bytes) -> None:
        """Let a person state a forgotten text again."""
        self._execute("DELETE FROM forgotten_texts WHERE text_mac=?", (text_mac,))

    def delete(self, fact_id: str) -> None:
        """Remove a fact with its revisions, sources, links and holds."""
        self._execute("DELETE FROM facts WHERE fact_id=?", (fact_id,))

    def delete_revision(self, fact_id: str, revision: int) -> None:
        """Remove the newest revision of a fact; what it said before decides again."""
        self._execute("DELETE FROM revisions WHERE fact_id=? AND revision=?", (fact_id, revision))

    def end_holds(self, because_id: str, reason: str) -> None:
        """End the holds that facts have for this reason because of one fact."""
        self._execute("DELETE FROM holds WHERE because_id=? AND reason=?", (because_id, reason))

    def end_hold(self, fact_id: str, hold: Hold) -> None:
        """End one hold of a fact."""
        self._execute(
            "DELETE FROM holds WHERE fact_id=? AND reason=? AND because_id=?",
            (fact_id, hold.reason, hold.because_id),
        )

    def hold(self, fact_id: str, hold: Hold, now: str) -> None:
        """Keep a fact out of the prompt until a person confirms it."""
        self._execute(
            "INSERT INTO holds VALUES(?,?,?,?) ON CONFLICT DO NOTHING",
            (fact_id, hold.reason, hold.because_id, now),
        )

    def release(self, fact_id: str, reasons: Sequence[str] | None = None) -> None:
        """End every hold of a fact, or those for these reasons: a person has said what it is."""
        self._execute(
            "DELETE FROM holds WHERE fact_id=?1"
            " AND (?2 IS NULL OR reason IN (SELECT value FROM json_each(?2)))",
            (fact_id, None if reasons is None else json.dumps(list(reasons))),
        )

    def set_head(self, head: ChainHead) -> None:
        """Note how far a session reaches."""
        self._execute(
            "INSERT INTO heads VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET seq=excluded.seq,"
            " digest=excluded.digest, n_bytes=excluded.n_bytes WHERE excluded.seq>=heads.seq",
            (head.session_id, head.seq, bytes.fromhex(head.digest), head.n_bytes),
        )
