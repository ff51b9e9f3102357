from __future__ import annotations

import pytest

from memnb.errors import InputError
from memnb.memory import noting
from memnb.memory.search import MAX_HITS, Hit, search
from memories import EUR, SPLIT, Desk


def found(desk: Desk, pattern: str, **options: int) -> tuple[Hit, ...]:
    return search(desk.stores, desk.memory.validator, pattern, **options)


def note(desk: Desk, name: str, text: str) -> None:
    noting.append(desk.stores, noting.find(desk.stores, name), text)


def test_facts_come_first_newest_first_then_lines_of_notes(desk: Desk) -> None:
    first = desk.remember("revenue in EUR").fact_id
    second = desk.remember("revenue monthly").fact_id
    note(desk, "scratchpad", "nothing\nplot Revenue\n")
    assert found(desk, "REVENUE") == (
        Hit("fact", second, 1, "revenue monthly"),
        Hit("fact", first, 1, "revenue in EUR"),
        Hit("note", "scratchpad.md", 2, "plot Revenue"),
    )


@pytest.mark.parametrize("pattern", ["", " ", "\t\n"], ids=["empty", "blank", "white"])
def test_an_empty_pattern_is_refused(desk: Desk, pattern: str) -> None:
    with pytest.raises(InputError):
        found(desk, pattern)


def test_a_pattern_of_two_lines_is_refused_in_one_line(desk: Desk) -> None:
    desk.remember(EUR)
    with pytest.raises(InputError) as caught:
        found(desk, "a\nb")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "%",
        "_",
        "*",
        ".",
        "[",
        "\\",
        '"',
        "'; drop table facts;--",
        "AND",
        "NEAR(",
        "secret:",
        "^",
        "\0",
        "\ud800",
        "$x",
        "{x}",
    ],
)
def test_no_character_means_anything_but_itself(desk: Desk, pattern: str) -> None:
    desk.remember("plain words only")
    desk.remember("a" * 40 + " or more")
    note(desk, "scratchpad", "just text here")
    assert found(desk, pattern) == ()


def test_a_text_of_signs_is_found_literally(desk: Desk) -> None:
    fact_id = desk.remember("use the regex (a+)+$ with care").fact_id
    assert [hit.name for hit in found(desk, "(A+)+$")] == [fact_id]


def test_blanks_and_composition_do_not_matter_in_facts(desk: Desk) -> None:
    fact_id = desk.remember("die  Größe\tin cm").fact_id
    assert [hit.name for hit in found(desk, "Gro\u0308ße   in")] == [fact_id]


def test_only_the_present_wording_is_found(desk: Desk) -> None:
    fact_id = desk.remember(EUR).fact_id
    desk.correct(fact_id, SPLIT)
    assert found(desk, "revenue") == ()
    assert [hit.line for hit in found(desk, "train split")] == [2]


def test_a_fact_that_does_not_hold_is_not_found(desk: Desk) -> None:
    desk.learn(EUR)
    assert found(desk, "revenue")
    desk.memory.session.undo()
    assert found(desk, "revenue") == ()


def test_a_forgotten_fact_is_not_found(desk: Desk) -> None:
    desk.forget(desk.remember(EUR).fact_id)
    assert found(desk, "revenue") == ()


@pytest.mark.parametrize(("limit", "n_hits"), [(0, 1), (1, 1), (5, 5), (50, 50), (999, MAX_HITS)])
def test_there_are_never_more_than_asked_and_never_more_than_50(
    tmp_path_factory: pytest.TempPathFactory, limit: int, n_hits: int
) -> None:
    if not _shared:
        desk = Desk(tmp_path_factory.mktemp("many") / "project")
        for number in range(20):
            desk.remember(f"word {number}")
        note(desk, "scratchpad", "word\n" * 60)
        _shared.append(desk)
    hits = found(_shared[0], "word", limit=limit)
    assert len(hits) == n_hits
    assert [hit.where for hit in hits] == sorted(hit.where for hit in hits)


_shared: list[Desk] = []


def test_searching_creates_nothing(desk: Desk) -> None:
    assert found(desk, "anything") == ()
    assert not desk.folder.exists()


def test_a_symlink_in_place_of_a_note_is_not_looked_into(desk: Desk) -> None:
    desk.remember(EUR)
    (desk.folder / "scratchpad.md").symlink_to("/etc/passwd")
    assert found(desk, "root") == ()
