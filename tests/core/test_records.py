from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import records
from memnb.core.bodies import (
    AssistantBody,
    Cell,
    Cut,
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
from memnb.core.messages import Call, Usage
from memnb.core.records import MAX_RECORD_BYTES, Draft, Record
from memnb.errors import InvalidText, StoreDamaged

STORE_ID = "P-0123456789abcdef"
SESSION_ID = "S-20261130-091005-7k2m9q"
GOLDEN = Path(__file__).with_name("golden_records.jsonl").read_bytes().splitlines(keepends=True)
"""One record of each type as format 1 stores it; these bytes are in people's homes."""

DRAFTS = {
    "session_start": SessionStartBody(
        STORE_ID,
        "/home/d/churn",
        "/home/d/churn/nb",
        "0f3c",
        {"python": "3.11.7", "memnb": "0.1.0"},
    ).draft(),
    "user": UserBody(
        "agent",
        (
            Part("typed", "Which columns of "),
            Part("variable", "DataFrame 3×5", "df"),
            Part("typed", " break that?"),
        ),
        cell=Cell("nb/eda.ipynb", "4f0c", 7),
    ).draft(),
    "assistant": AssistantBody(
        text="",
        calls=(Call("c1", "memory_remember", '{"quote": "x"}'),),
        carried=("F-1b8hyr@1",),
        model="local/qwen2.5-coder-1.5b",
        params={"temperature": "0"},
        stop="calls",
        usage=Usage(812, 31, 0),
    ).draft(2),
    "tool": ToolBody("c1", "memory_remember", True, "remembered F-7k2m9q", "memory").draft(2),
    "tool, cut": ToolBody(
        "c2", "read_file", False, "…", "file", ("F-1b8hyr@1",), Cut(300_000, "ab" * 32)
    ).draft(2),
    "turn_end": TurnEndBody("complete", 2, ("F-1b8hyr@1",), ("F-7k2m9q@1",)).draft(2),
    "undo": undo_draft(2),
    "redo": redo_draft(2),
    "clear": clear_draft(),
    "session_end": session_end_draft("exit"),
}


def chain(*drafts: Draft, session_id: str = SESSION_ID) -> list[bytes]:
    """The lines of a session, without their newlines."""
    lines, prev = [], records.genesis(STORE_ID, session_id)
    for seq, draft in enumerate(drafts, 1):
        line, head = records.encode(
            draft,
            seq=seq,
            at=f"2026-11-30T09:10:{seq:02}.123456Z",
            generation=seq // 4,
            prev=prev,
            salt=f"{seq:016x}",
        )
        prev = records.digest(records.head_bytes(head))
        lines.append(line.removesuffix(b"\n"))
    return lines


def first_fault(lines: list[bytes], last_digest: str) -> int | None:
    """The number of the first record that a reader of the chain would object to."""
    prev = records.genesis(STORE_ID, SESSION_ID)
    for seq, line in enumerate(lines, 1):
        try:
            record = records.record_from_line(line)
        except StoreDamaged:
            return seq
        if record.body is None or record.head.seq != seq or record.head.prev != prev:
            return seq
        prev = record.head_digest
    return None if prev == last_digest else len(lines)


LINES = chain(*DRAFTS.values())
LAST_DIGEST = records.record_from_line(LINES[-1]).head_digest


@pytest.mark.parametrize("number", range(len(DRAFTS)), ids=list(DRAFTS))
def test_a_record_is_stored_as_these_bytes(number: int) -> None:
    assert LINES[number] + b"\n" == GOLDEN[number]


def test_the_golden_records_are_chained_as_the_format_says() -> None:
    """Checked with hashlib and json alone, as anyone could."""
    prev = hashlib.sha256(f"memnb 1 {STORE_ID} {SESSION_ID}".encode()).hexdigest()
    for seq, line in enumerate(GOLDEN, 1):
        value = json.loads(line)
        body, head = line[len(b'{"body":') :].rsplit(b',"head":', 1)
        head = head.removesuffix(b"}\n")
        assert list(value) == ["body", "head"]
        assert value["head"]["seq"] == seq
        assert value["head"]["prev"] == prev
        assert value["head"]["body_sha256"] == hashlib.sha256(body).hexdigest()
        plain = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert plain.encode() + b"\n" == line
        prev = hashlib.sha256(head).hexdigest()


@pytest.mark.parametrize("number", range(len(DRAFTS)), ids=list(DRAFTS))
def test_a_record_reads_back_with_its_body_and_salt(number: int) -> None:
    record = records.record_from_line(GOLDEN[number].removesuffix(b"\n"))
    draft = list(DRAFTS.values())[number]
    assert record.body == {**draft.body, "salt": f"{number + 1:016x}"}
    assert record.head.type == draft.type


def test_an_unaltered_chain_has_no_fault() -> None:
    assert first_fault(LINES, LAST_DIGEST) is None


@given(st.data())
def test_any_byte_changed_in_any_record_is_seen(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(LINES) - 1), label="record")
    line = LINES[number]
    at = data.draw(st.integers(0, len(line) - 1), label="byte")
    new = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[at]), label="new")
    changed = [*LINES]
    changed[number] = line[:at] + bytes([new]) + line[at + 1 :]
    fault = first_fault(changed, LAST_DIGEST)
    assert fault in (number + 1, number + 2)


@given(st.data())
def test_any_bytes_left_out_or_put_in_are_seen(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(LINES) - 1), label="record")
    line = LINES[number]
    start = data.draw(st.integers(0, len(line)), label="start")
    end = data.draw(st.integers(start, len(line)), label="end")
    put_in = data.draw(st.binary(max_size=20), label="put in")
    changed = [*LINES]
    changed[number] = line[:start] + put_in + line[end:]
    if changed != LINES:
        assert first_fault(changed, LAST_DIGEST) in (number + 1, number + 2)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(LINES[:-1], id="last one missing"),
        pytest.param(LINES[1:], id="first one missing"),
        pytest.param([*LINES[:4], *LINES[5:]], id="one missing inside"),
        pytest.param([*LINES[:4], LINES[3], *LINES[4:]], id="one twice"),
        pytest.param([*LINES[:3], LINES[4], LINES[3], *LINES[5:]], id="two swapped"),
        pytest.param(chain(*DRAFTS.values(), session_id="S-20261130-091005-000000"), id="other"),
    ],
)
def test_records_missing_moved_or_of_another_session_are_seen(lines: list[bytes]) -> None:
    assert first_fault(lines, LAST_DIGEST) is not None


@pytest.mark.parametrize("number", range(len(DRAFTS)), ids=list(DRAFTS))
def test_a_body_blanked_in_place_is_gone_and_the_chain_holds(number: int) -> None:
    line = LINES[number]
    body, head = records.split(line)
    blank = b'{"body":' + b"null".ljust(len(body)) + line[len(b'{"body":') + len(body) :]
    assert len(blank) == len(line)
    record = records.record_from_line(blank)
    assert record.body is None
    assert record.head_digest == records.digest(head)
    others = [records.record_from_line(other) for other in LINES if other is not line]
    assert records.evidence_digest(others) is not None
    assert records.evidence_digest([*others, record]) is None


@given(st.permutations(sorted(DRAFTS["assistant"].body)))
def test_the_line_ignores_the_order_of_keys(keys: list[str]) -> None:
    draft = DRAFTS["assistant"]
    shuffled = Draft(draft.type, {key: draft.body[key] for key in keys}, draft.turn)
    assert chain(shuffled) == chain(draft)


@given(st.lists(st.integers(1, len(LINES)), min_size=1, unique=True))
def test_an_evidence_digest_pins_each_record_and_their_order(seqs: list[int]) -> None:
    cited = [records.record_from_line(LINES[seq - 1]) for seq in seqs]
    pinned = records.evidence_digest(cited)
    joined = b"".join(bytes.fromhex(record.head_digest) for record in cited)
    assert pinned == hashlib.sha256(joined).hexdigest()
    if len(cited) > 1:
        assert records.evidence_digest(cited[1:]) != pinned
        assert records.evidence_digest(cited[::-1]) != pinned


def test_equal_bodies_differ_by_their_salt() -> None:
    lines = [
        records.encode(clear_draft(), seq=1, at="", generation=0, prev="", salt=salt)[0]
        for salt in ("00", "01")
    ]
    digests = [json.loads(line)["head"]["body_sha256"] for line in lines]
    assert digests[0] != digests[1]


def test_a_draft_without_a_turn_opens_its_own() -> None:
    line, head = records.encode(
        Draft("user", {}, None), seq=7, at="", generation=0, prev="", salt=""
    )
    assert head.turn == 7
    assert json.loads(line)["head"]["turn"] == 7


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(',"head":{"seq":1}}', id="as text"),
        pytest.param('\\",\\"head\\":{', id="escaped"),
    ],
)
def test_a_body_that_looks_like_a_head_is_told_from_it(text: str) -> None:
    nested: Any = {"head": {"seq": 9}, "text": text, "zhead": {"head": {"x": [{"head": {}}]}}}
    record = records.record_from_line(chain(Draft("tool", {"nested": nested}))[0])
    assert record.head.seq == 1
    assert record.body is not None
    assert record.body["nested"] == nested


def test_a_record_of_exactly_the_limit_is_stored() -> None:
    spare = MAX_RECORD_BYTES - len(chain(Draft("tool", {"output": ""}))[0]) - 1
    line = chain(Draft("tool", {"output": "x" * spare}))[0]
    assert len(line) + 1 == MAX_RECORD_BYTES
    with pytest.raises(InvalidText) as caught:
        chain(Draft("tool", {"output": "x" * (spare + 1)}))
    assert "xx" not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\0" * 40, id="NULs"),
        pytest.param(b"{}", id="object"),
        pytest.param(LINES[0][:-1], id="cut off"),
        pytest.param(b" " + LINES[0], id="blank before it"),
        pytest.param(LINES[0] + b" ", id="blank after it"),
        pytest.param(b'{"body":{},"head":{}}', id="head without fields"),
    ],
)
def test_a_line_that_is_no_record_is_damage(line: bytes) -> None:
    with pytest.raises(StoreDamaged):
        records.record_from_line(line)


def test_two_records_on_one_line_are_the_second_without_a_body() -> None:
    record = records.record_from_line(LINES[0] + LINES[1])
    assert (record.head.seq, record.body) == (2, None)


HEAD: dict[str, Any] = json.loads(GOLDEN[0])["head"]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"seq": None}, id="null"),
        pytest.param({"seq": "1"}, id="text for a number"),
        pytest.param({"seq": True}, id="bool for a number"),
        pytest.param({"at": 1}, id="number for a text"),
        pytest.param({"type": ["user"]}, id="list for a text"),
        pytest.param({"prev": {}}, id="object for a text"),
        pytest.param({"extra": 1}, id="unknown field"),
        pytest.param({"self": 1}, id="unknown field with an awkward name"),
    ],
)
def test_a_head_of_another_form_is_damage(changes: dict[str, Any]) -> None:
    with pytest.raises(StoreDamaged):
        records.decode_head(json.dumps(HEAD | changes).encode())


@pytest.mark.parametrize("field", sorted(HEAD))
def test_a_head_without_one_of_its_fields_is_damage(field: str) -> None:
    value = {key: item for key, item in HEAD.items() if key != field}
    with pytest.raises(StoreDamaged):
        records.decode_head(json.dumps(value).encode())


@given(st.binary(max_size=120))
def test_random_lines_are_damage_and_nothing_else(data: bytes) -> None:
    with pytest.raises(StoreDamaged):
        records.record_from_line(data)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_random_bodies_and_heads_are_damage_and_nothing_else(body: bytes, head: bytes) -> None:
    with pytest.raises(StoreDamaged):
        records.record_from_line(b'{"body":' + body + b',"head":{' + head + b"}}")


def test_a_body_that_matches_its_head_but_is_no_object_is_damage() -> None:
    body = b"[1]"
    head = json.dumps(HEAD | {"body_sha256": records.digest(body)}, separators=(",", ":")).encode()
    with pytest.raises(StoreDamaged):
        records.record_from_line(b'{"body":' + body + b',"head":' + head + b"}")


@pytest.mark.parametrize(
    ("store_id", "session_id"),
    [
        pytest.param("P-0123456789abcdeg", SESSION_ID, id="other store"),
        pytest.param(STORE_ID, "S-20261130-091005-7k2m9r", id="other session"),
    ],
)
def test_the_first_link_binds_to_store_and_session(store_id: str, session_id: str) -> None:
    assert records.genesis(store_id, session_id) != records.genesis(STORE_ID, SESSION_ID)


def test_a_record_without_a_body_has_no_evidence_digest() -> None:
    whole = records.record_from_line(LINES[0])
    bare = Record(whole.head, None, whole.head_digest)
    assert records.evidence_digest([bare]) is None
