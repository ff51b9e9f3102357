"""The schema of the fact database, as a list of migrations; frozen once landed.

Migration n brings a database from `user_version` n-1 to n. A change is a new entry at the end,
never an edit, and comes with a test that opens the stores of earlier versions.
"""

from __future__ import annotations

from typing import Final

__all__ = ["APPLICATION_ID", "MIGRATIONS"]

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

MIGRATIONS: Final = (_V1,)
