"""What the page on learning says of reasons and limits is what the contract has."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from memnb.core.candidates import MAX_CANDIDATES, Reason
from memnb.core.extraction_prompt import (
    MAX_FACTS,
    MAX_FACTS_BYTES,
    MAX_INPUT_BYTES,
    MAX_OUTPUT_TOKENS,
)
from memnb.core.extraction_replies import BYTES_PER_TOKEN
from memnb.core.facts import MAX_TEXT_BYTES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")
CONTRACT = get_args(Reason)[:15]


def test_every_reason_of_the_contract_has_a_row() -> None:
    table = PAGE[PAGE.index("| reason | of |") :].split("\n\n")[0]
    named = [line.split("`")[1] for line in table.splitlines()[2:]]
    assert sorted(named) == sorted(CONTRACT)


def test_the_limits_are_those_of_the_contract() -> None:
    n_output_bytes = MAX_OUTPUT_TOKENS * BYTES_PER_TOKEN
    for n_bytes in (MAX_INPUT_BYTES, MAX_FACTS_BYTES, n_output_bytes):
        assert f"{n_bytes:,} bytes" in PAGE.replace("\n", " ").replace("(", "")
    assert f"{MAX_TEXT_BYTES} bytes" in PAGE
    assert f"at most {MAX_FACTS} valid facts" in PAGE
    assert MAX_CANDIDATES == 4
    assert "at most four items" in PAGE
