from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.facts import MAX_SOURCE_SEQS, SourceRef
from memnb.core.messages import Usage
from memnb.core.records import Draft, Head, Record
from memnb.core.summary_bodies import (
    CompactBody,
    HandoffBody,
    MemoryUsageBody,
    Prior,
    read_compact,
    read_handoff,
    read_memory_usage,
)
from memnb.errors import StoreDamaged

SESSION = "S-20261130-091005-7k2m9q"


def record(draft: Draft, **changes: Any) -> Record:
    head = Head("2026", "0" * 64, 0, "0" * 64, 9, 0, draft.type)
    return Record(head, {**draft.body, **changes}, "0" * 64)


def summary(*seqs: int, prior: Prior | None = None) -> CompactBody:
    return CompactBody(
        summary="they agreed",
        essentials="rules:\n- never",
        evidence=(SourceRef(SESSION, seqs, "d" * 64),),
        prior=prior,
        cutoff=9,
        carried=("F-7k2m9q@1",),
        holds_data=True,
        model="m",
        usage=Usage(7, None, 0),
    )


@given(
    st.sets(st.integers(1, 1000), min_size=1, max_size=MAX_SOURCE_SEQS).map(sorted),
    st.none() | st.builds(Prior, st.integers(1, 9), st.text(max_size=3)),
)
def test_a_summary_is_read_as_it_was_written(seqs: list[int], prior: Prior | None) -> None:
    body = summary(*seqs, prior=prior)
    assert read_compact(record(body.draft()), SESSION) == body
    assert body.seqs == tuple(seqs)


def test_records_side_by_side_take_few_bytes() -> None:
    evidence = summary(2, 3, 4, 7).draft().body["evidence"]
    assert evidence == [{"digest": "d" * 64, "ranges": [[2, 4], [7, 7]]}]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"summary": None}, id="no text"),
        pytest.param({"cutoff": "9"}, id="a number as text"),
        pytest.param({"holds_data": 1}, id="a number for a truth"),
        pytest.param({"prior": {"seq": 1}}, id="a prior without digest"),
        pytest.param({"evidence": [{"digest": "d"}]}, id="evidence without records"),
        pytest.param({"evidence": [{"digest": "d", "ranges": [[3, 2]]}]}, id="a range backwards"),
        pytest.param({"evidence": [{"digest": "d", "ranges": [[0, 2]]}]}, id="from nothing"),
        pytest.param({"evidence": [{"digest": "d", "ranges": [[1, 10**15]]}]}, id="a huge range"),
        pytest.param({"evidence": [{"digest": "d", "ranges": [[1, 150], [160, 260]]}]}, id="many"),
        pytest.param({"evidence": [{"digest": "d", "ranges": "all"}]}, id="no ranges"),
        pytest.param({"usage": []}, id="no usage"),
    ],
)
def test_a_body_of_another_form_is_damage(changes: dict[str, Any]) -> None:
    with pytest.raises(StoreDamaged):
        read_compact(record(summary(2).draft(), **changes), SESSION)


def test_a_handoff_and_a_refused_reply_are_read_as_they_were_written() -> None:
    handoff = HandoffBody(SESSION, 9, "d" * 64)
    refused = MemoryUsageBody("compaction", "m", Usage(), "truncated")
    assert read_handoff(record(handoff.draft())) == handoff
    assert read_memory_usage(record(refused.draft())) == refused


def test_usage_for_an_unknown_purpose_is_damage() -> None:
    draft = MemoryUsageBody("learning", "m", Usage(), "stale").draft()
    with pytest.raises(StoreDamaged):
        read_memory_usage(record(draft, purpose="fun"))
