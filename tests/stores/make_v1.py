"""Makes the store of format 1 that `v1/` keeps, from fixed ids, times, salts and key.

Run once, when format 1 was frozen: `python tests/stores/make_v1.py FOLDER`. What it made is kept
as it is, since people's stores are; a later version of memnb must open it.
"""

from __future__ import annotations

import hmac
import sys
from dataclasses import replace
from pathlib import Path

from memnb.core import records
from memnb.core.bodies import (
    AssistantBody,
    Cell,
    Part,
    SessionStartBody,
    ToolBody,
    TurnEndBody,
    UserBody,
    clear_draft,
    redo_draft,
    session_end_draft,
    undo_draft,
)
from memnb.core.facts import (
    Hold,
    Kind,
    Link,
    Quote,
    Revision,
    Source,
    SourceRef,
    bare,
    mac_payload,
    text_key,
)
from memnb.core.messages import Call, Usage
from memnb.core.records import ChainHead, Record
from memnb.storage.database import Database
from memnb.storage.fact_store import FactStore, FactTransaction
from memnb.storage.locks import FileLock

KEY = bytes(range(32))
STORE_ID = "P-7h3kq9z2m4x8c1vn"
SESSION_ID = "S-20261130-091005-7k2m9q"
CONVENTION, DECISION, PREFERENCE, FORGOTTEN = "F-7k2m9q", "F-1b8hyr", "F-3c9wnd", "F-qq31ac"
EUR = "We always report revenue in EUR cents."
SPLIT = "The train split ends on 2026-03-31."
SPLIT_NOW = "The train split ends on 2026-04-30."
WIDE = "我喜欢宽表格 😀, naïvely."
GONE = "The password rule is on page 9."

USAGE = Usage(812, 31, 0)
DRAFTS = (
    SessionStartBody(
        STORE_ID, "/home/d/churn", "/home/d/churn/nb", "0f3c", {"memnb": "0.1.0"}
    ).draft(),
    UserBody(
        "agent",
        (
            Part("typed", f"{EUR} Which columns of "),
            Part("variable", "DataFrame 3×5", "df"),
            Part("typed", f" break that?\n```\nnot mine\n```\n{WIDE}"),
        ),
        cell=Cell("nb/eda.ipynb", "4f0c", 7),
    ).draft(),
    AssistantBody(
        "", (Call("c1", "memory_remember", '{"quote": "…"}'),), (), "local/m", {}, "calls", USAGE
    ).draft(2),
    ToolBody("c1", "memory_remember", True, f"remembered {CONVENTION}", "memory").draft(2),
    AssistantBody("None do.", (), (f"{CONVENTION}@1",), "local/m", {}, "end", USAGE).draft(2),
    TurnEndBody("complete", 2, (), (f"{CONVENTION}@1",)).draft(2),
    UserBody("command", (Part("typed", SPLIT),), asks=False).draft(),
    UserBody("command", (Part("typed", SPLIT_NOW),), asks=False).draft(),
    UserBody("command", (Part("typed", GONE),), asks=False).draft(),
    UserBody("agent", (Part("typed", "What is the rule?"),)).draft(),
    AssistantBody("It is on page 9.", (), (f"{FORGOTTEN}@1",), "local/m", {}, "end", USAGE).draft(
        10
    ),
    TurnEndBody("complete", 1, (f"{FORGOTTEN}@1",)).draft(10),
    undo_draft(10),
    redo_draft(10),
    clear_draft(),
    session_end_draft("exit"),
)


def stamp(second: int) -> str:
    """A time on the morning it was all said."""
    return f"2026-11-30T09:10:{second:02}.123456Z"


def write_session(path: Path) -> tuple[list[Record], ChainHead]:
    """Write the session's lines; give its records and how far it reaches."""
    found, prev = [], records.genesis(STORE_ID, SESSION_ID)
    with path.open("xb") as file:
        for seq, draft in enumerate(DRAFTS, 1):
            line, _ = records.encode(
                draft, seq=seq, at=stamp(seq), generation=0, prev=prev, salt=f"{seq:016x}"
            )
            file.write(line)
            found.append(records.record_from_line(line.removesuffix(b"\n")))
            prev = found[-1].head_digest
        return found, ChainHead(SESSION_ID, len(found), prev, file.tell())


def source(found: list[Record], quote: Quote | None, *seqs: int) -> Source:
    """Evidence: these records, with the quote in one of them if there is one."""
    digest = records.evidence_digest([found[seq - 1] for seq in seqs])
    assert digest is not None
    return Source(STORE_ID, SourceRef(SESSION_ID, seqs, digest), quote)


def revisions(found: list[Record]) -> list[tuple[Kind, Revision]]:
    """What was remembered, each with its evidence."""
    start = f" break that?\n```\nnot mine\n```\n{WIDE}".index(WIDE)
    eur = source(found, Quote(2, 0, 0, len(EUR)), 2, 3, 4, 5)
    wide = source(found, Quote(2, 2, start, start + len(WIDE)), 2)
    split = source(found, Quote(7, 0, 0, len(SPLIT)), 7)
    split_now = source(found, Quote(8, 0, 0, len(SPLIT_NOW)), 8)
    gone = source(found, Quote(9, 0, 0, len(GONE)), 9)
    beside = source(found, None, 5, 6)
    derived = Link("derived_from", CONVENTION, 1)
    return [
        (
            "convention",
            Revision(CONVENTION, 1, EUR, "quote", "agent", stamp(4), 0, (eur,)),
        ),
        (
            "decision",
            Revision(DECISION, 1, SPLIT, "statement", "person", stamp(7), 0, (split,)),
        ),
        (
            "decision",
            Revision(
                DECISION,
                2,
                SPLIT_NOW,
                "statement",
                "person",
                stamp(8),
                0,
                (split_now,),
                valid_from="2026-11-30T00:00:00.000000Z",
                valid_to="2027-01-01T00:00:00.000000Z",
            ),
        ),
        (
            "preference",
            Revision(
                PREFERENCE,
                1,
                WIDE,
                "quote",
                "learned",
                stamp(12),
                0,
                (wide, beside),
                (derived,),
                confidence=810,
            ),
        ),
        (
            "observation",
            Revision(FORGOTTEN, 1, GONE, "statement", "person", stamp(9), 0, (gone,)),
        ),
    ]


def write_facts(store: FactStore, found: list[Record], head: ChainHead) -> None:
    """Write what was remembered, then forget one of it."""
    with store.transaction(now=stamp(12)) as change:
        for kind, one in revisions(found):
            insert(change, kind, one)
        change.hold(PREFERENCE, Hold("source_changed", CONVENTION), stamp(12))
        change.set_head(head)
    with store.transaction(now=stamp(14)) as change:
        generation = change.next_generation()
        change.exclude(SESSION_ID, 9, generation)
        mac = hmac.digest(KEY, b"text " + text_key(bare(GONE)), "sha256")
        change.mark_forgotten(FORGOTTEN, [mac], generation=generation, now=stamp(14))
        change.delete(FORGOTTEN)
    assert store.scrub()


def insert(change: FactTransaction, kind: Kind, revision: Revision) -> None:
    """Write one revision, signed, and its fact with the first one."""
    payload = mac_payload(STORE_ID, kind, "project", revision)
    if revision.revision == 1:
        change.insert_fact(revision.fact_id, "project", kind)
    signed = replace(revision, mac=hmac.digest(KEY, b"fact " + payload, "sha256"))
    change.insert_revision(signed)


def make(folder: Path) -> None:
    """Make the whole store in `folder`, which must not hold one."""
    (folder / "sessions").mkdir(parents=True)
    found, head = write_session(folder / "sessions" / f"{SESSION_ID}.jsonl")
    lock = folder / "store.lock"
    database = Database(
        folder / "facts.sqlite3", FileLock(lock, label="make_v1"), wait_ms=lambda: 5000
    )
    write_facts(FactStore(database, lambda: STORE_ID), found, head)
    database.close()
    lock.unlink()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
