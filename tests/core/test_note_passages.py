from __future__ import annotations

import pytest

from memnb.core.note_passages import Piece, pieces


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# plan", "plan"),
        ("## plan ##", "plan"),
        ("# plan #  ", "plan"),
        ("# C#", "C#"),
        ("#", ""),
        ("#plan", None),
    ],
)
def test_a_heading_is_given_without_its_marks(line: str, heading: str | None) -> None:
    (*_, piece) = pieces(f"{line}\n\nplot revenue")
    assert piece == Piece(3, "plot revenue", heading or "")


def test_a_heading_of_a_mebibyte_of_blanks_is_read_at_once() -> None:
    line = f"# a{' ' * 1024 * 1024}b"
    assert next(pieces(f"{line}\n\nplot")).heading == line[2:]
