from __future__ import annotations

from memnb.core.passage_words import indexed


def test_camel_case_after_digits_and_marks_is_given_whole_and_in_pieces() -> None:
    assert indexed("df1DataFrame _readCsv") == "df1DataFrame Data Frame _readCsv read Csv"


def test_a_mebibyte_of_letters_beside_camel_case_is_cut_into_words_at_once() -> None:
    run = "ACGT" * (256 * 1024)
    assert indexed(f"a DataFrame of {run}") == f"a DataFrame Data Frame of {run}"
