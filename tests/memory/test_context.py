from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memnb.core import section
from memnb.core.bodies import Part, UserBody
from memnb.core.facts import Fact, Quote, Revision, Source, SourceRef
from memnb.core.records import evidence_digest
from memnb.errors import SourceStatus
from memnb.memory import context, noting
from memnb.memory.context import Limits
from memnb.memory.validation import Validator
from memories import EUR, FENCE, SPLIT, STORE_ID, Desk, saying


def fill(desk: Desk, texts: list[str]) -> list[str]:
    """Facts of these texts in one commit, each said by itself; gives their ids in order."""
    said = [UserBody("command", (Part("typed", text),), asks=False).draft() for text in texts]
    seqs = desk.memory.session.append(*said)
    records = desk.stores.sessions.reader(desk.session_id).records(seqs)
    ids = []
    with desk.stores.facts.transaction(now=desk.stores.now()) as change:
        for number, (text, seq) in enumerate(zip(texts, seqs, strict=True)):
            record = records[seq]
            assert record is not None
            digest = evidence_digest([record])
            assert digest is not None
            ref = SourceRef(desk.session_id, (seq,), digest)
            fact_id = desk.stores.new_fact_id(change.is_free)
            change.insert_fact(fact_id, "project", "convention")
            revision = Revision(
                fact_id=fact_id,
                revision=1,
                text=text,
                basis="statement",
                origin="person",
                recorded_at=f"2026-11-30T10:00:00.{number:06}Z",
                generation=0,
                sources=(Source(STORE_ID, ref, Quote(seq, 0, 0, len(text))),),
            )
            mac = desk.stores.revision_mac("convention", "project", revision)
            change.insert_revision(replace(revision, mac=mac))
            ids.append(fact_id)
    return ids


def full_pass(desk: Desk, limits: Limits) -> list[str]:
    """What a look at every fact of the store puts into the prompt."""
    found = context.choices(desk.stores, desk.memory.validator, limits)
    return [choice.fact.current.reference for choice in found if choice.is_in]


# --- what is carried -----------------------------------------------------------------------------


def test_without_facts_and_notes_nothing_is_carried(desk: Desk) -> None:
    assert desk.carried() == ("", ())
    assert not desk.folder.exists()


def test_facts_stand_in_the_order_in_which_they_were_stated(desk: Desk) -> None:
    texts = [f"fact number {number}" for number in range(12)]
    ids = [desk.remember(text).fact_id for text in texts]
    desk.correct(ids[0], "fact number zero")  # a correction moves nothing
    text, carried = desk.carried()
    assert [reference.partition("@")[0] for reference in carried] == ids
    assert re.findall(r"fact number (\w+)", text) == ["zero", *map(str, range(1, 12))]


def test_what_a_person_prefers_is_to_be_followed_and_the_rest_is_reference(desk: Desk) -> None:
    desk.remember("A observation.", kind="observation")
    desk.remember("B preference.", kind="preference")
    desk.remember("C decision.", kind="decision")
    desk.remember("D convention.", kind="convention")
    follow, reference = desk.section().split(section.REFERENCE)
    assert re.findall(r"- (\w) ", follow) == ["B", "C", "D"]
    assert re.findall(r"- (\w) ", reference) == ["A"]
    assert section.FOLLOW in follow


def test_the_section_is_the_same_bytes_while_memory_is_the_same(desk: Desk) -> None:
    desk.learn(EUR)
    desk.remember(SPLIT)
    noting.append(desk.stores, noting.find(desk.stores, "scratchpad"), "todo: plot")
    before = desk.section()
    desk.ask("hello", saying("hi"))
    other = desk.beside()
    assert desk.section() == before
    assert other.section() == before
    other.close()


@pytest.mark.parametrize(
    ("times", "is_in"),
    [
        pytest.param({}, True, id="no times"),
        pytest.param({"valid_from": "2026-11-30T00:00:00.000000Z"}, True, id="since today"),
        pytest.param({"valid_to": "2027-01-01T00:00:00.000000Z"}, True, id="until next year"),
        pytest.param({"valid_from": "2026-12-01T00:00:00.000000Z"}, False, id="since tomorrow"),
        pytest.param({"valid_to": "2026-11-30T00:00:00.000000Z"}, False, id="until today"),
    ],
)
def test_a_fact_that_is_not_valid_now_is_not_carried(
    desk: Desk, times: dict[str, str], is_in: bool
) -> None:
    desk.remember(EUR, **times)
    assert (EUR in desk.section()) is is_in


def test_a_fact_becomes_valid_when_its_time_comes(desk: Desk) -> None:
    desk.remember(EUR, valid_from="2026-12-01T00:00:00.000000Z")
    desk.clock.at = desk.clock.at.replace(month=12, day=1)
    assert EUR in desk.section()


# --- the limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bytes", [0, 100, 256, 300, 700, 1024, 4096])
@pytest.mark.parametrize("facts_max_bytes", [0, 60, 500, 8192])
def test_the_section_is_never_longer_than_its_limit(
    tmp_path_factory: pytest.TempPathFactory, max_bytes: int, facts_max_bytes: int
) -> None:
    desk = _filled(tmp_path_factory)
    text, carried = desk.carried(Limits(max_bytes, facts_max_bytes))
    assert len(text.encode()) <= max_bytes
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    facts = desk.stores.facts.facts(desk.stores.facts.ids(limit=99))
    assert lines == [section.fact_line(fact) for fact in facts if fact.current.reference in carried]
    assert sum(len(line.encode()) + 1 for line in lines) <= facts_max_bytes


_shared: list[Desk] = []


def _filled(factory: pytest.TempPathFactory) -> Desk:
    if not _shared:
        desk = Desk(factory.mktemp("filled") / "project")
        fill(desk, [f"Größe {number}: " + "é" * (number * 7 % 90) for number in range(30)])
        for name in ("MEMORY", "scratchpad"):
            noting.append(
                desk.stores, noting.find(desk.stores, name), "eine Zeile über Größen\n" * 40
            )
        _shared.append(desk)
    return _shared[0]


def test_the_model_s_window_limits_memory_to_a_quarter() -> None:
    assert Limits(32_768, 8192).within(4000) == Limits(3000, 3000)
    assert Limits(32_768, 8192).within(200_000) == Limits(32_768, 8192)
    assert Limits(32_768, 8192).within(None) == Limits(32_768, 8192)


def test_a_long_note_is_cut_with_a_mark_that_says_how_to_read_on(desk: Desk) -> None:
    lines = [f"line {number}" for number in range(400)]
    noting.append(desk.stores, noting.find(desk.stores, "MEMORY"), "\n".join(lines))
    text = desk.section(Limits(1024, 512))
    assert "[… cut: the rest doesn't fit; memory_read shows it]" in text
    shown = re.findall(r"^line \d+$", text, re.MULTILINE)
    assert shown == lines[: len(shown)]
    assert shown


def test_a_note_that_cannot_be_read_is_named_and_stops_nothing(desk: Desk) -> None:
    desk.remember(EUR)
    (desk.folder / "scratchpad.md").symlink_to("/etc/hostname")
    built, problems = context.memory_section(
        desk.stores, desk.memory.validator, Limits(), fence=FENCE
    )
    assert EUR in built.text
    (problem,) = problems
    assert problem.startswith("scratchpad.md was left out: ")
    assert "\n" not in problem


def test_the_header_counts_what_is_in_and_what_there_is(desk: Desk) -> None:
    fill(desk, ["x" * 100 for _ in range(9)] + ["y"])
    header = desk.section(Limits(32_768, 800)).splitlines()[0]
    n_line, n_last = len(f"- {'x' * 100} [F-7k2m9q]\n"), len("- y [F-7k2m9q]\n")
    n_in = (800 - n_last) // n_line
    used = n_last + n_in * n_line
    assert header == f"PROJECT MEMORY [{n_in + 1} of 10 facts, {used / 1024:.1f}/0.8 KB]"


@pytest.mark.parametrize(("n_facts", "is_full"), [(6, False), (8, True)])
def test_over_80_percent_a_line_asks_to_merge(desk: Desk, n_facts: int, is_full: bool) -> None:
    fill(desk, [f"{'x' * 85} {number}" for number in range(n_facts)])  # 100 bytes a line
    assert (section.FULL in desk.section(Limits(32_768, 820))) is is_full


# --- large stores --------------------------------------------------------------------------------


def test_with_10000_facts_the_early_stop_carries_what_a_full_pass_would(desk: Desk) -> None:
    fill(desk, [f"Convention {number:05}: " + "x" * (number % 120) for number in range(10_000)])
    assert list(desk.carried()[1]) == full_pass(desk, Limits())
    assert len(desk.carried()[1]) > 60


def test_a_short_fact_after_many_that_do_not_fit_is_carried_or_shown_as_left_out(
    desk: Desk,
) -> None:
    fill(desk, ["x" * 400 for _ in range(60)] + ["short"])
    limits = Limits(32_768, 1000)
    assert list(desk.carried(limits)[1]) == full_pass(desk, limits)


def test_a_fact_that_holds_no_more_opens_no_room_in_a_full_prompt(desk: Desk) -> None:
    fill(desk, ["x" * 400 for _ in range(60)])
    desk.clock.at = desk.clock.at.replace(hour=11)
    desk.remember("y" * 400, valid_to="2026-11-30T10:30:00.000000Z")
    desk.remember("short")
    limits = Limits(32_768, 1000)
    assert list(desk.carried(limits)[1]) == full_pass(desk, limits)


def test_evidence_of_what_does_not_fit_is_not_read(desk: Desk) -> None:
    ids = fill(desk, [f"{number:05} " + "x" * 60 for number in range(300)])
    facts = desk.stores.facts.facts(ids)
    judged: list[str] = []

    class Counting(Validator):
        def statuses(self, facts: Sequence[Fact], *purpose: Any) -> list[SourceStatus]:
            judged.extend(fact.fact_id for fact in facts)
            return super().statuses(facts, *purpose)

    limits = Limits(32_768, 2000)
    built, _ = context.memory_section(
        desk.stores, Counting(desk.memory.histories), limits, fence=FENCE
    )
    assert built.carried == tuple(fact.current.reference for fact in facts[-len(judged) :])
