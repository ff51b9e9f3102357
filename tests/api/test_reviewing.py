"""The verbs over the inbox: through the face for programs, and as they are typed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memnb
from learned import quote
from memnb.api.rendering import Table
from memnb.core.facts import Hold
from memnb.errors import ConfigError, InputError, UnknownId
from memnb.memory import opposing, queueing
from memnb.memory.stating import Said
from memnb.notebook.arguments import parse_memory
from memnb.notebook.verbs import run_verb
from memories import EUR, SPLIT

Opener = Callable[..., memnb.Memory]
TABS = "We use tabs for indentation in this repo."
SPACES = "We use four spaces."
HOSTILE = "Plots <img src=x onerror=alert(1)> $x$ are \x1b[31mred.".replace("\x1b", "")


def typed(memory: memnb.Memory, line: str) -> str:
    """What a line after %memory shows."""
    return str(run_verb(memory, parse_memory(line), Said(line), lambda *_: None))


def dispute(memory: memnb.Memory) -> tuple[str, str]:
    """Two facts that contradict each other."""
    one, two = memory.remember(TABS).fact_id, memory.remember(SPACES).fact_id
    facts = memory.runtime.memory.stores.facts
    with facts.transaction(now="2026-11-30T09:00:00.000000Z") as change:
        opposing.open_dispute(change, one, (two,), "2026-11-30T09:00:00.000000Z")
    return one, two


def test_what_waits_is_shown_in_its_sentence_with_where_it_was_said(memory: memnb.Memory) -> None:
    quote(memory, TABS)
    (row,) = memory.review().rows
    assert (row.text, row.kind, row.confidence) == (TABS, "convention", 0.9)
    (source,) = row.sources
    assert source.sentence[source.start : source.end] == TABS
    assert source.where.startswith("S-")
    shown = str(memory.review())
    assert f"»{TABS}«" in shown
    assert "learning.mode" in shown
    assert "<mark>" in memory.review()._repr_html_()


def test_a_part_of_a_sentence_is_marked_in_the_whole_of_it(memory: memnb.Memory) -> None:
    from dataclasses import replace

    sentence = "Never use tabs, said the old style guide."
    project = memory.runtime.memory
    quote(memory, sentence)
    (queued,) = project.stores.candidates.of("pending")
    place = queued.sources[0].quote
    assert place is not None
    source = replace(queued.sources[0], quote=replace(place, start=6, end=14))
    part = replace(queued, text="use tabs", sources=(source,))
    with project.stores.facts.transaction(now=queued.created_at) as change:
        change.candidates.delete([queued.candidate_id])
        change.candidates.add(replace(part, text_mac=project.stores.text_mac("use tabs")))
    assert "Never »use tabs«, said the old style guide." in str(memory.review())


def test_a_candidate_is_applied_by_its_id(memory: memnb.Memory) -> None:
    candidate_id = quote(memory, TABS)
    kept = memory.apply(candidate_id)
    assert (kept.outcome, kept.in_prompt) == ("new", True)
    assert [row.text for row in memory.facts().rows] == [TABS]
    assert memory.review().rows == ()


def test_what_it_contradicts_stands_beside_it(memory: memnb.Memory) -> None:
    fact_id = memory.remember(SPACES).fact_id
    quote(memory, TABS)
    project = memory.runtime.memory
    (queued,) = project.stores.candidates.of("pending")
    from dataclasses import replace

    with project.stores.facts.transaction(now=queued.created_at) as change:
        change.candidates.delete([queued.candidate_id])
        change.candidates.add(replace(queued, conflicts=(f"{fact_id}@1",)))
    (row,) = memory.review().rows
    assert [(side.fact_id, side.text) for side in row.against] == [(fact_id, SPACES)]
    assert SPACES in str(memory.review())
    kept = memory.apply(row.candidate_id)
    assert kept.disputed == (fact_id,)
    assert "%memory conflicts" in str(kept)


def test_facts_in_dispute_stand_side_by_side_and_one_is_in_the_prompt(
    memory: memnb.Memory,
) -> None:
    one, two = dispute(memory)
    (row,) = memory.conflicts().rows
    assert (row.older.fact_id, row.newer.fact_id, row.in_prompt) == (one, two, two)
    assert TABS in str(memory.conflicts())
    rows = {row.fact_id: row for row in memory.facts(all=True).rows}
    assert (rows[two].in_prompt, rows[two].reason) == (True, "disputed")
    assert (rows[one].in_prompt, rows[one].reason) == (False, "disputed")
    assert "yes, disputed" in str(memory.facts())
    assert [row.fact_id for row in memory.facts().rows] == [two]


def test_confirming_one_side_says_what_became_of_the_other(memory: memnb.Memory) -> None:
    one, two = dispute(memory)
    kept = memory.confirm(one)
    assert kept.ended == (two,)
    assert two in str(kept)
    assert memory.conflicts().rows == ()
    assert [row.fact_id for row in memory.facts().rows] == [one]
    assert memory.runtime.memory.stores.facts.facts([two])[0].holds == ()


def test_what_was_learned_lately_says_by_what(memory: memnb.Memory) -> None:
    candidate_id = quote(memory, TABS)
    fact_id = memory.apply(candidate_id).fact_id
    (row,) = memory.recent().rows
    assert (row.fact_id, row.candidate_id, row.by) == (fact_id, candidate_id, "turn: local/m")
    assert (row.text, row.in_prompt) == (TABS, True)
    assert fact_id in str(memory.recent())


@pytest.mark.parametrize("verb", ["review", "recent", "conflicts"])
def test_every_table_has_dicts_and_a_frame(memory: memnb.Memory, verb: str) -> None:
    dispute(memory)
    memory.apply(quote(memory, EUR))
    quote(memory, SPLIT)
    table: Table = getattr(memory, verb)()
    assert len(table.rows) == len(table.to_frame()) == 1
    assert len(table.to_dict()["rows"]) == 1


TYPED: dict[str, Callable[[memnb.Memory, str], str]] = {
    "review": lambda memory, _: typed(memory, "review"),
    "review apply": lambda memory, one: typed(memory, f"review apply {one}"),
    "review apply --text": lambda memory, one: typed(
        memory, f'review apply {one} --text "Tabs, always."'
    ),
    "review reject": lambda memory, one: typed(memory, f"review reject {one}"),
    "review reject --all": lambda memory, _: typed(memory, "review reject --all"),
    "review undo": lambda memory, one: (
        typed(memory, f"review apply {one}") and typed(memory, f"review undo {one}")
    ),
    "recent": lambda memory, one: typed(memory, f"review apply {one}") and typed(memory, "recent"),
    "conflicts": lambda memory, _: (dispute(memory) and typed(memory, "conflicts")) or "",
}
SHOWN = {
    "review": "1 candidate waiting for you",
    "review apply": "remembered F-",
    "review apply --text": "remembered F-",
    "review reject": "rejected C-",
    "review reject --all": "rejected C-",
    "review undo": "took back F-",
    "recent": "1 fact learned lately",
    "conflicts": "1 dispute between facts",
}


@pytest.mark.parametrize("line", TYPED)
def test_every_verb_can_be_typed(memory: memnb.Memory, line: str) -> None:
    candidate_id = quote(memory, EUR)
    assert SHOWN[line] in TYPED[line](memory, candidate_id)


def test_ones_own_wording_is_recorded_as_the_line_that_was_typed(memory: memnb.Memory) -> None:
    candidate_id = quote(memory, TABS)
    line = f'review apply {candidate_id} --text "Tabs, always."'
    typed(memory, line)
    (row,) = memory.facts().rows
    assert row.text == "Tabs, always."
    (source,) = memory.fact(row.fact_id).revisions[0].sources
    assert source.message == line
    assert source.message[source.start : source.end] == "Tabs, always."


def test_several_ids_can_be_rejected_on_a_line(memory: memnb.Memory) -> None:
    one, two = quote(memory, TABS), quote(memory, SPACES)
    assert typed(memory, f"review reject {one}, {two}").startswith(f"rejected {one}, {two}")
    assert memory.review().rows == ()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("review reject", InputError),
        ("review reject --all C-000000", InputError),
        ("review apply F-000000", UnknownId),
        ("review apply", InputError),
        ("review undo C-000000", UnknownId),
    ],
)
def test_wrong_input_changes_nothing(
    memory: memnb.Memory, line: str, error: type[Exception]
) -> None:
    quote(memory, TABS)
    with pytest.raises(error):
        typed(memory, line)
    assert len(memory.review().rows) == 1


def test_nothing_is_decided_while_memory_is_off(memory: memnb.Memory) -> None:
    candidate_id = quote(memory, TABS)
    memory.off()
    with pytest.raises(ConfigError):
        memory.apply(candidate_id)
    with pytest.raises(ConfigError):
        memory.reject(candidate_id)
    memory.on()
    assert len(memory.review().rows) == 1


def test_a_memory_that_is_only_read_shows_what_holds_and_writes_nothing(
    memory: memnb.Memory, reopen: Opener
) -> None:
    quote(memory, TABS)
    quote(memory, SPACES)
    memory.undo()
    memory.close()
    reader = reopen(read_only=True)
    assert [row.text for row in reader.review().rows] == [TABS]
    assert reader.runtime.memory.stores.candidates.count("pending") == 2


def test_a_candidate_is_shown_escaped_everywhere(memory: memnb.Memory) -> None:
    candidate_id = quote(memory, HOSTILE)
    for result in (memory.review(), memory.apply(candidate_id), memory.recent()):
        assert "<img" not in result._repr_html_()
    assert "&lt;img" in memory.recent()._repr_html_()


def test_a_fact_held_for_a_dispute_says_with_what(memory: memnb.Memory) -> None:
    one, two = dispute(memory)
    facts = memory.runtime.memory.stores.facts.facts([one])
    assert facts[0].holds == (Hold("disputed", two),)
    assert f"disputed ({two})" in str(memory.fact(one))


def test_a_candidate_that_expired_meanwhile_isnt_listed_twice(memory: memnb.Memory) -> None:
    quote(memory, TABS)
    memory.undo()
    assert memory.review().rows == ()
    project = memory.runtime.memory
    assert queueing.waiting(project.stores, project.validator) == []
    assert project.stores.candidates.count("expired") == 1
