"""The schema of the fact database, as a list of migrations; frozen once landed.

Migration n brings a database from `user_version` n-1 to n. A change is a new entry at the end,
never an edit, and comes with a test that opens the stores of earlier versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

__all__ = [
    "APPLICATION_ID",
    "DIGESTS",
    "INBOX_SINCE",
    "MIGRATIONS",
    "SCHEMA",
    "SEALED",
    "SEALED_SINCE",
    "SIGNED",
    "Sealed",
    "schema_digest",
]

APPLICATION_ID: Final = 0x6D656D62
"""`memb` in ASCII: tells our databases from others."""

_V1: Final = """
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE facts(
  fact_id TEXT PRIMARY KEY CHECK(fact_id GLOB 'F-*'),
  scope TEXT NOT NULL CHECK(scope IN('project','user','shared')),
  kind TEXT NOT NULL CHECK(kind IN(
    'preference','convention','observation','decision','reference','procedure'))
) STRICT, WITHOUT ROWID;

CREATE TABLE revisions(
  fact_id TEXT NOT NULL REFERENCES facts ON DELETE CASCADE,
  revision INTEGER NOT NULL CHECK(revision >= 1),
  text TEXT NOT NULL CHECK(length(CAST(text AS BLOB)) BETWEEN 1 AND 512),
  text_key BLOB NOT NULL,
  basis TEXT CHECK(basis IN('quote','statement','file_line','canonical')),
  rule TEXT,
  confidence INTEGER CHECK(confidence BETWEEN 0 AND 1000),
  origin TEXT NOT NULL CHECK(origin IN(
    'person','agent','learned','promoted','merged','imported')),
  valid_from TEXT,
  valid_to TEXT,
  recorded_at TEXT NOT NULL,
  generation INTEGER NOT NULL,
  mac BLOB NOT NULL,
  PRIMARY KEY(fact_id, revision),
  CHECK(valid_to IS NULL OR valid_from IS NULL OR valid_from < valid_to)
) STRICT, WITHOUT ROWID;
CREATE INDEX revisions_by_text ON revisions(text_key);
CREATE INDEX revisions_by_time ON revisions(recorded_at, fact_id, revision);

CREATE TABLE sources(
  fact_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  n INTEGER NOT NULL,
  store_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  quote_seq INTEGER,
  quote_part INTEGER,
  quote_start INTEGER,
  quote_end INTEGER,
  PRIMARY KEY(fact_id, revision, n),
  FOREIGN KEY(fact_id, revision) REFERENCES revisions ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE source_seqs(
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  fact_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY(session_id, seq, fact_id, revision, n),
  FOREIGN KEY(fact_id, revision, n) REFERENCES sources ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX source_seqs_by_fact ON source_seqs(fact_id, revision, n);

CREATE TABLE links(
  fact_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  relation TEXT NOT NULL CHECK(relation IN('derived_from','supersedes','conflicts_with')),
  other_id TEXT NOT NULL,
  other_revision INTEGER NOT NULL,
  PRIMARY KEY(fact_id, revision, relation, other_id),
  FOREIGN KEY(fact_id, revision) REFERENCES revisions ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_other ON links(other_id, relation);

CREATE TABLE holds(
  fact_id TEXT NOT NULL REFERENCES facts ON DELETE CASCADE,
  reason TEXT NOT NULL CHECK(reason IN('disputed','source_changed','imported')),
  because_id TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY(fact_id, reason, because_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE exclusions(
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  purged INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE forgotten(
  fact_id TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE forgotten_texts(
  text_mac BLOB PRIMARY KEY,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE heads(
  session_id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  digest BLOB NOT NULL,
  n_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIEW current AS
  SELECT r.*, f.scope, f.kind FROM revisions r JOIN facts f USING(fact_id)
  WHERE r.revision = (SELECT max(revision) FROM revisions x WHERE x.fact_id = r.fact_id);
"""

_V2: Final = """
-- No table changes: from here on `meta` holds the seal, which version 1 wouldn't keep up to date.
"""

_V3: Final = """
CREATE TABLE runs(
  run_id TEXT PRIMARY KEY CHECK(run_id GLOB 'R-*'),
  at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  begun_by TEXT NOT NULL CHECK(begun_by IN(
    'turn','compaction','populate','handoff','backfill','promotion')),
  model TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK(outcome IN(
    'failed','stale','learned','proposed','rejected','no_candidates')),
  reasons TEXT NOT NULL,
  n_supplied INTEGER NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost_nusd INTEGER,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs(at, run_id);

CREATE TABLE mined(
  session_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL CHECK(first_seq >= 1),
  last_seq INTEGER NOT NULL CHECK(last_seq >= first_seq),
  run_id TEXT NOT NULL REFERENCES runs,
  PRIMARY KEY(session_id, first_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX mined_by_run ON mined(run_id);

CREATE TABLE candidates(
  candidate_id TEXT PRIMARY KEY CHECK(candidate_id GLOB 'C-*'),
  run_id TEXT REFERENCES runs,
  state TEXT NOT NULL CHECK(state IN('pending','applied','rejected','expired')),
  text TEXT CHECK(length(CAST(text AS BLOB)) BETWEEN 1 AND 512),
  text_mac BLOB NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN(
    'preference','convention','observation','decision','reference','procedure')),
  basis TEXT NOT NULL CHECK(basis IN('quote','statement','file_line','canonical')),
  rule TEXT,
  origin TEXT NOT NULL CHECK(origin IN(
    'person','agent','learned','promoted','merged','imported')),
  confidence INTEGER NOT NULL CHECK(confidence BETWEEN 0 AND 1000),
  disposition TEXT NOT NULL CHECK(disposition IN('apply','review')),
  grounds TEXT NOT NULL,
  is_proposal INTEGER NOT NULL CHECK(is_proposal IN(0,1)),
  conflicts TEXT NOT NULL,
  created_at TEXT NOT NULL,
  decided_at TEXT,
  generation INTEGER NOT NULL,
  fact_id TEXT,
  revision INTEGER,
  mac BLOB NOT NULL,
  FOREIGN KEY(fact_id, revision) REFERENCES revisions ON DELETE CASCADE,
  CHECK((state = 'pending') = (text IS NOT NULL)),
  CHECK((state = 'pending') = (decided_at IS NULL)),
  CHECK((state = 'applied') = (fact_id IS NOT NULL)),
  CHECK((fact_id IS NULL) = (revision IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX candidates_by_state ON candidates(state, created_at, candidate_id);
CREATE INDEX candidates_by_text ON candidates(text_mac);
CREATE INDEX candidates_by_fact ON candidates(fact_id, revision);
CREATE INDEX candidates_by_run ON candidates(run_id);

CREATE TABLE candidate_sources(
  candidate_id TEXT NOT NULL REFERENCES candidates ON DELETE CASCADE,
  n INTEGER NOT NULL,
  store_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  quote_seq INTEGER,
  quote_part INTEGER,
  quote_start INTEGER,
  quote_end INTEGER,
  PRIMARY KEY(candidate_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE candidate_seqs(
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  candidate_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY(session_id, seq, candidate_id, n),
  FOREIGN KEY(candidate_id, n) REFERENCES candidate_sources ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX candidate_seqs_by_candidate ON candidate_seqs(candidate_id, n);
"""

MIGRATIONS: Final = (_V1, _V2, _V3)
"""The scripts, in order."""

SEALED_SINCE: Final = 2
"""From this version on a database has a seal: `meta.seal`."""

INBOX_SINCE: Final = 3
"""From this version on a database has the tables of learning."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What the seal covers of a table: these columns of the rows for which `where` holds.

    `since` is the version that the table came with.
    """

    columns: tuple[str, ...]
    where: str = ""
    since: int = 1


SEALED: Final[Mapping[str, Sealed]] = MappingProxyType(
    {
        "candidates": Sealed(("candidate_id", "mac"), since=INBOX_SINCE),
        "exclusions": Sealed(("session_id", "seq", "generation", "purged")),
        "forgotten": Sealed(("fact_id", "generation", "at")),
        "forgotten_texts": Sealed(("text_mac", "generation")),
        "heads": Sealed(("session_id", "seq", "digest", "n_bytes")),
        "holds": Sealed(("fact_id", "reason", "because_id", "at")),
        "meta": Sealed(("key", "value"), "key NOT IN ('seal','scrub')"),
        "mined": Sealed(("session_id", "first_seq", "last_seq", "run_id"), since=INBOX_SINCE),
        "revisions": Sealed(("fact_id", "revision", "mac")),
        "runs": Sealed(
            (
                *("run_id", "at", "session_id", "begun_by", "model", "outcome", "reasons"),
                *("n_supplied", "input_tokens", "output_tokens", "cost_nusd", "generation"),
            ),
            since=INBOX_SINCE,
        ),
    }
)
"""The tables under the seal. A revision's `mac` covers it with its fact, sources and links, a
candidate's covers it with its sources."""

SIGNED: Final[Mapping[str, int]] = MappingProxyType(
    {
        "candidate_seqs": INBOX_SINCE,
        "candidate_sources": INBOX_SINCE,
        "facts": 1,
        "links": 1,
        "source_seqs": 1,
        "sources": 1,
    }
)
"""The tables whose rows are covered by a signature, and the version that each came with."""

SCHEMA: Final = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'"
"""What a database is made of; SQLite's own statistics and indexes aside."""

DIGESTS: Final = {
    1: "c64a9a06c51450cb2482ff9c9ec5bd839e8e44e4479062d871f8443444bff45d",
    2: "c64a9a06c51450cb2482ff9c9ec5bd839e8e44e4479062d871f8443444bff45d",
    3: "beffe525dfd5d91af81921529a3fe9657091472a71a883b3cd1b083cb055ad4f",
}
"""What `schema_digest` gives for each version: a trigger or table put in by others would act in
our transactions."""


def schema_digest(rows: Iterable[tuple[Any, ...]]) -> str:
    """SHA-256 over the definitions that `SCHEMA` gives, in any order."""
    return sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
