from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memnb.core import evidence, records
from memnb.core.bodies import AssistantBody, Part, PartType, SessionStartBody, ToolBody, UserBody
from memnb.core.evidence import SessionEvidence, check_revision, check_source
from memnb.core.facts import Quote, Revision, Source, SourceRef
from memnb.core.messages import Usage
from memnb.core.records import Draft, Record
from memnb.core.visibility import Entry, Purpose, view

STORE_ID = "P-0123456789abcdef"
SESSION_ID = "S-20261130-091005-7k2m9q"
TEXT = "We report in EUR cents."

DRAFTS = (
    SessionStartBody(STORE_ID, "/a", "/a", "k", {}).draft(),
    UserBody(
        "agent",
        (
            Part("typed", f"Hello. {TEXT} And "),
            Part("variable", TEXT, "v"),
            Part("typed", f"?\n```\n{TEXT}\n```\n> {TEXT}\n"),
        ),
    ).draft(),
    AssistantBody(TEXT, (), (), "m", {}, "end", Usage()).draft(2),
    ToolBody("c", "read_file", True, TEXT, "file").draft(2),
    UserBody("command", (Part("typed", TEXT),), asks=False).draft(),
)


def session_of(
    drafts: Sequence[Draft] = DRAFTS, *, exclusions: Mapping[int, int] | None = None, **changes: Any
) -> SessionEvidence:
    found: dict[int, Record | None] = {}
    prev = records.genesis(STORE_ID, SESSION_ID)
    for seq, draft in enumerate(drafts, 1):
        line, _ = records.encode(draft, seq=seq, at="", generation=0, prev=prev, salt=f"{seq:02}")
        record = records.record_from_line(line.removesuffix(b"\n"))
        found[seq], prev = record, record.head_digest
    entries = [
        Entry(seq, draft.type, 0, 0, asks=bool(draft.body.get("asks")))
        for seq, draft in enumerate(drafts, 1)
    ]
    seen = view(entries, exclusions or {}, {})
    return pinned(replace(SessionEvidence(STORE_ID, {}, found, seen), **changes))


def pinned(session: SessionEvidence) -> SessionEvidence:
    """The session with the digests of those of its records that are whole."""
    pins = {
        seq: record.head_digest if record is not None and record.body is not None else None
        for seq, record in session.records.items()
    }
    return replace(session, pins=pins)


def ref(*seqs: int, drafts: Sequence[Draft] = DRAFTS) -> SourceRef:
    whole = [record for seq, record in session_of(drafts).records.items() if seq in seqs]
    digest = records.evidence_digest([record for record in whole if record is not None])
    assert digest is not None
    return SourceRef(SESSION_ID, seqs, digest)


def source(*seqs: int, quote: Quote | None = None) -> Source:
    return Source(STORE_ID, ref(*seqs), quote)


def revision(*sources: Source, **changes: Any) -> Revision:
    whole = Revision("F-7k2m9q", 1, TEXT, "quote", "person", "", 0, sources)
    return replace(whole, **changes)


QUOTE = Quote(2, 0, 7, 7 + len(TEXT))
STATED = Quote(5, 0, 0, len(TEXT))
SESSIONS = {SESSION_ID: session_of()}


def status(of: Revision, session: SessionEvidence, purpose: Purpose = "durable") -> str:
    return check_revision(of, {SESSION_ID: session}, purpose)


def without(records_: Mapping[int, Record | None], seq: int) -> dict[int, Record | None]:
    return {key: record for key, record in records_.items() if key != seq}


def blanked(session: SessionEvidence, seq: int) -> SessionEvidence:
    """The session after the body of `seq` was blanked in place."""
    record = session.records[seq]
    assert record is not None
    return pinned(replace(session, records={**session.records, seq: replace(record, body=None)}))


def test_a_quote_of_what_was_typed_is_valid() -> None:
    assert status(revision(source(2, quote=QUOTE)), session_of()) == "valid"


def test_a_statement_is_valid() -> None:
    stated = revision(source(5, quote=STATED), basis="statement")
    assert status(stated, session_of()) == "valid"


def test_a_quote_with_tool_output_cited_beside_it_is_valid() -> None:
    assert status(revision(source(2, 3, 4, quote=QUOTE)), session_of()) == "valid"


def test_a_promotion_is_valid_when_each_of_its_quotes_is() -> None:
    both = revision(source(2, quote=QUOTE), source(5, quote=STATED))
    assert status(both, session_of()) == "valid"
    one_moved = revision(source(2, quote=QUOTE), source(5, quote=Quote(5, 0, 1, len(TEXT))))
    assert status(one_moved, session_of()) == "stale"


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(revision(), id="no source"),
        pytest.param(revision(source(2, quote=QUOTE), basis=None), id="no basis"),
    ],
)
def test_a_revision_without_evidence_is_unverified(of: Revision) -> None:
    assert status(of, session_of()) == "unverified"


@pytest.mark.parametrize(
    "sessions",
    [
        pytest.param({}, id="no session"),
        pytest.param({"S-20261130-091005-000000": session_of()}, id="another session"),
        pytest.param(
            {SESSION_ID: session_of(records=without(session_of().records, 2))}, id="no record"
        ),
    ],
)
def test_evidence_that_is_gone_is_missing(sessions: dict[str, SessionEvidence]) -> None:
    assert check_revision(revision(source(2, quote=QUOTE)), sessions, "durable") == "missing"


EDITED = (
    DRAFTS[0],
    UserBody("agent", (Part("typed", f"Hello. {TEXT} And"),)).draft(),
    *DRAFTS[2:],
)


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(session_of(EDITED), id="record edited"),
        pytest.param(session_of(store_id="P-fedcba9876543210"), id="session of another store"),
        pytest.param(session_of(records={**session_of().records, 2: None}), id="line unreadable"),
        pytest.param(blanked(session_of(), 2), id="body blanked without exclusion"),
        pytest.param(session_of(is_whole=False), id="session shorter than noted"),
    ],
)
def test_evidence_that_changed_is_stale(session: SessionEvidence) -> None:
    assert status(revision(source(2, quote=QUOTE)), session) == "stale"


def test_one_changed_record_among_those_cited_makes_the_revision_stale() -> None:
    assert status(revision(source(2, 4, quote=QUOTE)), blanked(session_of(), 4)) == "stale"
    assert status(revision(source(2, quote=QUOTE)), blanked(session_of(), 4)) == "valid"


def test_evidence_without_any_record_is_not_valid() -> None:
    nothing = records.evidence_digest([])
    assert nothing is not None
    empty = Source(STORE_ID, SourceRef(SESSION_ID, (), nothing), QUOTE)
    assert status(revision(empty), session_of()) != "valid"


@pytest.mark.parametrize("purpose", ["working", "durable"])
def test_evidence_that_was_excluded_is_hidden(purpose: Purpose) -> None:
    session = session_of(exclusions={2: 1})
    assert status(revision(source(2, quote=QUOTE)), session, purpose) == "hidden"


def test_evidence_before_a_clear_holds_for_facts_and_not_for_new_ones() -> None:
    entries = [
        *(Entry(seq, "user", seq, 0, asks=True) for seq in (1, 2, 3)),
        Entry(4, "clear", 0, 0),
    ]
    session = session_of(seen=view(entries, {}, {}))
    of = revision(source(2, quote=QUOTE))
    assert status(of, session, "durable") == "valid"
    assert status(of, session, "working") == "hidden"


def test_undone_evidence_is_hidden() -> None:
    entries = [Entry(2, "user", 2, 0, asks=True), Entry(6, "undo", 0, 0, target=2)]
    session = session_of(seen=view(entries, {}, {}))
    assert status(revision(source(2, quote=QUOTE)), session) == "hidden"


def test_a_purged_record_is_hidden_not_stale() -> None:
    session = blanked(session_of(exclusions={2: 1}), 2)
    assert status(revision(source(2, quote=QUOTE)), session) == "hidden"


def test_a_record_that_is_gone_is_missing_even_when_it_was_excluded() -> None:
    session = session_of(exclusions={2: 1}, records=without(session_of().records, 2))
    assert status(revision(source(2, quote=QUOTE)), session) == "missing"


def test_the_first_source_that_fails_gives_the_verdict() -> None:
    session = blanked(session_of(exclusions={5: 1}), 2)
    both = revision(source(2, quote=QUOTE), source(5, quote=STATED))
    assert status(both, session) == "stale"
    assert status(replace(both, sources=both.sources[::-1]), session) == "hidden"


def test_a_source_is_checked_by_itself() -> None:
    session = session_of()
    assert check_source(source(2, 3), session, "durable") == "valid"
    assert check_source(source(2, 3), None, "durable") == "missing"
    other = Source("P-fedcba9876543210", ref(2, 3))
    assert check_source(other, session, "durable") == "stale"
    pinned_otherwise = Source(STORE_ID, replace(ref(2, 3), digest="00" * 32))
    assert check_source(pinned_otherwise, session, "durable") == "stale"


FENCE_AT = 6
QUOTED_AT = FENCE_AT + len(TEXT) + 7


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(revision(source(2)), id="no quote"),
        pytest.param(revision(source(2, quote=Quote(2, 0, 6, 29))), id="quote moved"),
        pytest.param(revision(source(2, quote=QUOTE), text=TEXT[:-1]), id="text shortened"),
        pytest.param(revision(source(2, quote=QUOTE), text=TEXT.upper()), id="text edited"),
        pytest.param(revision(source(2, quote=Quote(2, 1, 0, 23))), id="variable part"),
        pytest.param(revision(source(2, quote=Quote(2, 3, 0, 23))), id="no such part"),
        pytest.param(revision(source(2, quote=Quote(2, -3, 7, 30))), id="part counted backwards"),
        pytest.param(revision(source(3, quote=Quote(3, 0, 0, 23))), id="assistant's words"),
        pytest.param(revision(source(4, quote=Quote(4, 0, 0, 23))), id="tool output"),
        pytest.param(revision(source(3, quote=QUOTE)), id="quote of a record not cited"),
        pytest.param(
            revision(source(2, quote=Quote(2, 2, FENCE_AT, FENCE_AT + 23))), id="in a code fence"
        ),
        pytest.param(
            revision(source(2, quote=Quote(2, 2, QUOTED_AT, QUOTED_AT + 23))), id="in a block quote"
        ),
        pytest.param(
            revision(source(2, quote=QUOTE), basis="file_line"), id="basis without a rule"
        ),
        pytest.param(
            revision(source(2, quote=QUOTE), basis="canonical", rule="verbosity 1"),
            id="rule that this version does not know",
        ),
    ],
)
def test_a_text_that_does_not_follow_from_its_evidence_is_stale(of: Revision) -> None:
    assert status(of, session_of()) == "stale"


def test_the_places_in_the_table_above_hold_the_text() -> None:
    parts = DRAFTS[1].body["parts"]
    assert isinstance(parts, list)
    assert parts[2]["text"][FENCE_AT : FENCE_AT + 23] == TEXT
    assert parts[2]["text"][QUOTED_AT : QUOTED_AT + 23] == TEXT


@pytest.mark.parametrize("type_", ["variable", "traceback", "file", "recall", "seed"])
def test_only_a_typed_part_can_be_quoted(type_: PartType) -> None:
    found = session_of(
        (UserBody("agent", (Part(type_, TEXT), Part("typed", TEXT))).draft(),)
    ).records
    assert evidence.quoted(found, Quote(1, 0, 0, len(TEXT))) is None
    assert evidence.quoted(found, Quote(1, 1, 0, len(TEXT))) == TEXT


@pytest.mark.parametrize(
    "found",
    [
        pytest.param({}, id="no record"),
        pytest.param({2: None}, id="line unreadable"),
        pytest.param(blanked(session_of(), 2).records, id="body blanked"),
        pytest.param(session_of((DRAFTS[0], Draft("user", {"parts": 1}))).records, id="other form"),
    ],
)
def test_a_quote_of_what_cannot_be_read_is_nothing(found: Mapping[int, Record | None]) -> None:
    assert evidence.quoted(found, QUOTE) is None
