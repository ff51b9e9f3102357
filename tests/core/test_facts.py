from __future__ import annotations

import unicodedata
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import facts
from memnb.core.facts import (
    MAX_TEXT_BYTES,
    Fact,
    Interval,
    Link,
    Quote,
    Revision,
    Source,
    SourceRef,
    mac_payload,
)
from memnb.errors import InvalidText, UnknownId

STORE_ID = "P-0123456789abcdef"
LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=LINE_BREAKS))


def revision(**changes: Any) -> Revision:
    whole = Revision(
        fact_id="F-7k2m9q",
        revision=1,
        text="We always report revenue in EUR cents.",
        basis="quote",
        origin="person",
        recorded_at="2026-11-30T09:10:05.123456Z",
        generation=3,
        sources=(
            Source(
                STORE_ID,
                SourceRef("S-20261130-091005-7k2m9q", (2, 3), "ab" * 32),
                Quote(2, 0, 0, 38),
            ),
            Source(STORE_ID, SourceRef("S-20261130-091005-7k2m9q", (5,), "cd" * 32)),
        ),
        links=(Link("derived_from", "F-1b8hyr", 1), Link("supersedes", "F-qq31ac", 2)),
        rule="verbosity 1",
        confidence=800,
        valid_from="2026-01-01T00:00:00.000000Z",
        valid_to="2027-01-01T00:00:00.000000Z",
        mac=b"",
    )
    return replace(whole, **changes)


def payload(of: Revision) -> bytes:
    return mac_payload(STORE_ID, "convention", "project", of)


@given(LINES)
def test_a_text_of_one_line_is_kept_without_surrounding_blanks_or_refused(text: str) -> None:
    text_bytes = len(text.strip().encode())
    if 1 <= text_bytes <= MAX_TEXT_BYTES:
        assert facts.check_text(f" {text}\t") == text.strip()
    else:
        with pytest.raises(InvalidText):
            facts.check_text(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 512, id="512 letters"),
        pytest.param("é" * 256, id="512 bytes in 256 letters"),
        pytest.param("😀" * 128, id="512 bytes in 128 characters"),
        pytest.param("a\tb", id="tab inside"),
        pytest.param("one line\n", id="newline at its end only"),
    ],
)
def test_a_text_within_the_limits_is_kept(text: str) -> None:
    assert facts.check_text(text) == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \t\n\u2028", id="blanks"),
        pytest.param("x" * 513, id="513 letters"),
        pytest.param("é" * 256 + "x", id="513 bytes"),
        pytest.param("a\ud800b", id="lone surrogate"),
    ],
)
def test_a_text_beyond_the_limits_is_refused(text: str) -> None:
    with pytest.raises(InvalidText):
        facts.check_text(text)


@pytest.mark.parametrize("character", LINE_BREAKS, ids=lambda c: f"U+{ord(c):04X}")
def test_a_line_break_inside_a_text_is_refused(character: str) -> None:
    assert len(f"a{character}b".splitlines()) == 2
    with pytest.raises(InvalidText):
        facts.check_text(f"first{character}second")


@given(st.text(min_size=1, max_size=40).filter(str.strip))
def test_a_refusal_never_repeats_the_text(text: str) -> None:
    secret = "hunter2-" + "x" * 600
    with pytest.raises(InvalidText) as caught:
        facts.check_text(text + secret)
    assert "hunter2" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Use tabs.", "use TABS.", id="case"),
        pytest.param("Use  tabs.", " Use\ttabs. ", id="blanks"),
        pytest.param("Use tabs.", "Use\u00a0tabs.", id="no-break space"),
        pytest.param("café", "cafe\u0301", id="composed and decomposed"),
        pytest.param("STRASSE", "straße", id="sharp s"),
        pytest.param("ΣΊΣΥΦΟΣ", "σίσυφος", id="final sigma"),
        pytest.param("İ", "i\u0307", id="dotted I"),
        pytest.param("\u0390", "\u03b9\u0308\u0301", id="letter with two accents"),
        pytest.param("ﬁle", "file", id="ligature"),
        pytest.param("ταΐζω", "ΤΑΪ\u0301ΖΩ", id="Greek capital with two accents"),
    ],
)
def test_texts_that_say_the_same_share_their_key(one: str, other: str) -> None:
    assert facts.text_key(one) == facts.text_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Use tabs.", "Use tabs", id="punctuation"),
        pytest.param("Use tabs", "Usetabs", id="a blank"),
        pytest.param("Use 2 spaces", "Use ２ spaces", id="full-width digit"),
        pytest.param("café", "cafe", id="accent"),
        pytest.param("a\ud800", "a?", id="lone surrogate and question mark"),
    ],
)
def test_texts_that_differ_have_different_keys(one: str, other: str) -> None:
    assert facts.text_key(one) != facts.text_key(other)


@given(LINES)
def test_the_key_is_16_bytes_and_ignores_how_characters_are_composed(text: str) -> None:
    key = facts.text_key(text)
    assert len(key) == 16
    assert facts.text_key(unicodedata.normalize("NFD", text)) == key
    assert facts.text_key(unicodedata.normalize("NFC", text)) == key


@given(LINES)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = facts.normalised(text)
    assert facts.normalised(once) == once


def test_the_key_of_a_text_is_frozen() -> None:
    """It is in people's databases; another value would let duplicates in."""
    key = facts.text_key("We always  report revenue in EUR cents.")
    assert key.hex() == "cacbbc089627f6b8c0acdf0293be7959"


@pytest.mark.parametrize("kind", facts.KINDS)
def test_each_kind_that_can_be_given_is_accepted(kind: str) -> None:
    assert facts.require_kind(kind) == kind


@pytest.mark.parametrize("kind", ["", "Convention", "reference", "procedure", "fact", "quote"])
def test_another_kind_is_refused(kind: str) -> None:
    with pytest.raises(UnknownId):
        facts.require_kind(kind)


def test_the_valid_time_is_half_open() -> None:
    bounded = revision(valid_from="2026-01-01", valid_to="2026-02-01")
    at = ["2025-12-31", "2026-01-01", "2026-01-31", "2026-02-01"]
    assert [bounded.is_valid_at(time) for time in at] == [False, True, True, False]
    assert revision(valid_from=None, valid_to=None).is_valid_at("2026-01-01")
    assert revision(valid_from=None, valid_to="2026-02-01").is_valid_at("0001-01-01")


def timed(*times: tuple[str | None, str | None]) -> Fact:
    """A fact whose revisions have these times."""
    revisions = tuple(
        revision(revision=number, valid_from=begins, valid_to=ends)
        for number, (begins, ends) in enumerate(times, 1)
    )
    return Fact("F-7k2m9q", "project", "convention", revisions)


@pytest.mark.parametrize(
    ("times", "at", "decides", "shown"),
    [
        pytest.param([(None, None)], "03", 1, 1, id="always"),
        pytest.param([("03", None)], "03", 1, 1, id="as it begins"),
        pytest.param([("03", None)], "02", None, 1, id="before it begins"),
        pytest.param([(None, "03")], "03", 1, 1, id="over"),
        pytest.param([(None, None), (None, None)], "03", 2, 2, id="corrected"),
        pytest.param([(None, None), ("03", None)], "02", 1, 1, id="before a correction"),
        pytest.param([(None, None), ("03", None)], "03", 2, 2, id="after a correction"),
        pytest.param([("05", None), ("03", None)], "04", 2, 2, id="begins earlier"),
        pytest.param([("05", None), ("03", None)], "06", 2, 2, id="a newer one counts"),
        pytest.param([("03", None), ("05", None)], "02", None, 1, id="the first to come"),
        pytest.param([("03", None), ("03", "05")], "02", None, 2, id="the newest of those to come"),
    ],
)
def test_the_newest_revision_that_has_begun_decides(
    times: list[tuple[str | None, str | None]], at: str, decides: int | None, shown: int
) -> None:
    fact = timed(*times)
    found = fact.at(at)
    assert (found and found.revision) == decides
    as_of = fact.as_of(at)
    assert [one.revision for one in as_of.revisions] == [shown]
    assert as_of.newest == fact.newest == len(times)
    assert as_of.as_of(at) == as_of


@pytest.mark.parametrize(
    ("times", "in_force"),
    [
        pytest.param([(None, None)], [(None, None)], id="always"),
        pytest.param([("03", "05")], [("03", "05")], id="bounded"),
        pytest.param([(None, None), (None, None)], [None, (None, None)], id="corrected"),
        pytest.param(
            [(None, None), ("03", None)], [(None, "03"), ("03", None)], id="corrected since"
        ),
        pytest.param([("05", None), ("03", None)], [None, ("03", None)], id="since earlier"),
        pytest.param([("03", None), ("03", None)], [None, ("03", None)], id="since the same"),
        pytest.param([(None, "02"), ("03", None)], [(None, "02"), ("03", None)], id="a gap"),
        pytest.param([(None, None), (None, "03")], [None, (None, "03")], id="ended"),
        pytest.param(
            [(None, None), ("05", None), ("03", None)],
            [(None, "03"), None, ("03", None)],
            id="the earliest of the newer ones",
        ),
    ],
)
def test_a_wording_is_in_force_until_a_newer_one_decides(
    times: list[tuple[str | None, str | None]], in_force: list[tuple[str | None, str | None] | None]
) -> None:
    fact = timed(*times)
    found = [fact.in_force(one) for one in fact.revisions]
    assert found == [one and Interval(*one) for one in in_force]


TIMES = st.sampled_from([None, *"abcd"])
INTERVALS = st.tuples(TIMES, TIMES).filter(lambda t: None in t or t[0] < t[1])  # type: ignore[operator]


@given(st.lists(INTERVALS, min_size=1, max_size=5), st.sampled_from("_abcde"))
def test_what_is_in_force_at_an_instant_is_what_decides_then_and_is_not_over(
    times: list[tuple[str | None, str | None]], at: str
) -> None:
    fact = timed(*times)
    then = [
        one
        for one in fact.revisions
        if (interval := fact.in_force(one)) is not None
        and interval.reaches(at)
        and (interval.begins or "") <= at
    ]
    decides = fact.at(at)
    assert then == [decides] if decides is not None and decides.is_valid_at(at) else not then


def test_a_time_that_begins_nowhere_has_begun() -> None:
    assert revision(valid_from=None).begins_by("")
    assert [revision(valid_from="b").begins_by(at) for at in "abc"] == [False, True, True]
    assert Interval().reaches("zz")
    assert [Interval(None, "b").reaches(at) for at in "abc"] == [True, False, False]


def test_a_revision_tells_what_it_is_derived_from_apart() -> None:
    links = (Link("derived_from", "F-1b8hyr", 1), Link("supersedes", "F-qq31ac", 2))
    assert revision(links=links).derived_from == links[:1]


@pytest.mark.parametrize(
    ("seqs", "text"),
    [
        pytest.param((2,), "S-20261130-091005-7k2m9q:2", id="one record"),
        pytest.param((2, 3, 4, 5), "S-20261130-091005-7k2m9q:2-5", id="a range"),
    ],
)
def test_evidence_is_shown_as_session_and_records(seqs: tuple[int, ...], text: str) -> None:
    assert str(SourceRef("S-20261130-091005-7k2m9q", seqs, "ab")) == text


def test_the_newest_revision_is_the_current_one() -> None:
    fact = Fact("F-7k2m9q", "project", "convention", (revision(), revision(revision=2)))
    assert fact.current.reference == "F-7k2m9q@2"


REF = revision().sources[0].ref
QUOTED, UNQUOTED = revision().sources
CHANGES: dict[str, dict[str, Any]] = {
    "fact_id": {"fact_id": "F-7k2m9r"},
    "revision": {"revision": 2},
    "text": {"text": "We always report revenue in EUR cents"},
    "basis": {"basis": "statement"},
    "basis unknown": {"basis": None},
    "origin": {"origin": "learned"},
    "recorded_at": {"recorded_at": "2026-11-30T09:10:05.123457Z"},
    "generation": {"generation": 4},
    "rule": {"rule": "verbosity 2"},
    "rule none": {"rule": None},
    "confidence": {"confidence": 801},
    "confidence none": {"confidence": None},
    "valid_from": {"valid_from": None},
    "valid_to": {"valid_to": None},
    "sources: one less": {"sources": (QUOTED,)},
    "sources: other order": {"sources": (UNQUOTED, QUOTED)},
    "sources: store": {"sources": (replace(QUOTED, store_id="P-0"), UNQUOTED)},
    "sources: session": {
        "sources": (replace(QUOTED, ref=replace(REF, session_id="S-0")), UNQUOTED)
    },
    "sources: seqs": {"sources": (replace(QUOTED, ref=replace(REF, seqs=(2, 4))), UNQUOTED)},
    "sources: digest": {"sources": (replace(QUOTED, ref=replace(REF, digest="00")), UNQUOTED)},
    "sources: no quote": {"sources": (replace(QUOTED, quote=None), UNQUOTED)},
    "quote: seq": {"sources": (replace(QUOTED, quote=Quote(3, 0, 0, 38)), UNQUOTED)},
    "quote: part": {"sources": (replace(QUOTED, quote=Quote(2, 1, 0, 38)), UNQUOTED)},
    "quote: start": {"sources": (replace(QUOTED, quote=Quote(2, 0, 1, 38)), UNQUOTED)},
    "quote: end": {"sources": (replace(QUOTED, quote=Quote(2, 0, 0, 37)), UNQUOTED)},
    "links: one less": {"links": (Link("derived_from", "F-1b8hyr", 1),)},
    "links: relation": {
        "links": (Link("conflicts_with", "F-1b8hyr", 1), Link("supersedes", "F-qq31ac", 2))
    },
    "links: id": {
        "links": (Link("derived_from", "F-1b8hyz", 1), Link("supersedes", "F-qq31ac", 2))
    },
    "links: revision": {
        "links": (Link("derived_from", "F-1b8hyr", 2), Link("supersedes", "F-qq31ac", 2))
    },
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_keyed_digest_covers(name: str) -> None:
    assert payload(revision(**CHANGES[name])) != payload(revision())


def test_the_table_of_changes_names_every_field() -> None:
    covered = {field for changes in CHANGES.values() for field in changes}
    assert covered == {field.name for field in fields(Revision)} - {"mac", "is_signed"}


def test_the_keyed_digest_covers_what_the_fact_and_the_store_are() -> None:
    of = revision()
    payloads = {
        mac_payload(STORE_ID, "convention", "project", of),
        mac_payload("P-fedcba9876543210", "convention", "project", of),
        mac_payload(STORE_ID, "decision", "project", of),
        mac_payload(STORE_ID, "convention", "user", of),
    }
    assert len(payloads) == 4


def test_the_keyed_digest_does_not_cover_itself() -> None:
    assert payload(revision(mac=b"x" * 32)) == payload(revision())


def test_the_keyed_digest_ignores_the_order_of_links() -> None:
    """Links are a set: the database gives them back in an order of its own."""
    links = revision().links
    assert payload(revision(links=links[::-1])) == payload(revision(links=links))
