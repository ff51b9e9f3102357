"""What counts as saying the same, and which records say it."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.memory import noting
from memnb.memory.wordings import RecordSearch, Wordings
from memories import EUR, SPLIT, Desk, saying, scripted

ACCENTS = "Ämter zählen Café-Größen, immer."
CHINESE = "我们总是用欧元分报告收入"

SAME = [
    pytest.param(EUR, EUR, id="the same"),
    pytest.param(EUR, f"I said: {EUR} Didn't I?", id="inside a longer text"),
    pytest.param(EUR, EUR.upper(), id="another case"),
    pytest.param(EUR, EUR.replace(" ", "\n  "), id="other blanks"),
    pytest.param(EUR, EUR.replace(" ", "\u00a0"), id="hard blanks"),
    pytest.param(EUR, f"»{EUR[:-1]}«!", id="another end"),
    pytest.param(EUR, f"convention—{EUR}", id="glued to a dash"),
    pytest.param(ACCENTS, unicodedata.normalize("NFD", ACCENTS), id="decomposed"),
    pytest.param(unicodedata.normalize("NFD", ACCENTS), ACCENTS, id="composed"),
    pytest.param("Straßen zählen", "STRASSEN ZÄHLEN", id="sharp s in capitals"),
    pytest.param(CHINESE, f"请注意{CHINESE}。", id="a script without blanks"),
    pytest.param("EUR cents", "请用EUR cents报告", id="between a script without blanks"),
    pytest.param("→ ✓", "so → ✓", id="no word at all"),
]

OTHER = [
    pytest.param(EUR, SPLIT, id="another text"),
    pytest.param(EUR, EUR.replace("EUR", "USD"), id="another word"),
    pytest.param("cent", "the centre", id="the beginning of a word"),
    pytest.param("cent", "percent", id="the end of a word"),
    pytest.param(EUR, "", id="nothing"),
]


@pytest.mark.parametrize(("wording", "text"), SAME)
def test_a_wording_is_found_whatever_its_case_blanks_composition_and_ends(
    wording: str, text: str
) -> None:
    assert Wordings([wording]).holds(text)


@pytest.mark.parametrize(("wording", "text"), OTHER)
def test_another_text_is_not_taken_for_it(wording: str, text: str) -> None:
    assert not Wordings([wording]).holds(text)
    assert not Wordings([wording]).holds_written(text)


QUOTED = 'Say "Größe" \\ and *bold* with `code` & <b> 漢'


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(json.dumps(QUOTED), id="JSON in ASCII"),
        pytest.param(json.dumps(QUOTED, ensure_ascii=False), id="JSON in UTF-8"),
        pytest.param(json.dumps({"a": json.dumps({"text": QUOTED})}), id="JSON in JSON"),
        pytest.param(noting.fact_line(QUOTED), id="Markdown"),
        pytest.param(
            QUOTED.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;"), id="HTML"
        ),
        pytest.param(f"get_ipython().run_line_magic('memory', {QUOTED!r})", id="Python"),
    ],
)
def test_what_a_program_wrote_is_read_without_its_escapes(written: str) -> None:
    assert Wordings([QUOTED]).holds_written(written)


def test_an_astral_character_is_found_as_the_pair_that_json_writes() -> None:
    assert Wordings(["prices in 𝟏𝟐𝟑"]).holds_written(json.dumps("prices in 𝟏𝟐𝟑"))


def test_nothing_is_looked_for_without_a_wording() -> None:
    assert not Wordings([]).holds("anything")
    assert not Wordings(["", "  "])
    assert not Wordings([""]).holds_bytes(b"anything")


@given(st.text(min_size=1), st.text(), st.text())
def test_a_text_holds_its_own_words_wherever_blanks_stand_around_them(
    wording: str, before: str, after: str
) -> None:
    wordings = Wordings([wording])
    if wordings:
        assert wordings.holds(f"{before} {wording} {after}")
        assert wordings.holds_bytes(wording.encode(errors="surrogatepass"))


# --- records -------------------------------------------------------------------------------------


def search(desk: Desk, *texts: str, fact_id: str = "F-000000") -> list[tuple[str, int]]:
    return RecordSearch(desk.stores, desk.memory.histories, fact_id)(texts)


def test_messages_replies_calls_and_results_that_hold_the_words_are_found(desk: Desk) -> None:
    def note() -> str:
        """Read it."""
        return f'the file says "{EUR}"'

    model = scripted(("note", {}), ("note", {"why": EUR}), f"It says: {EUR}")
    desk.ask(EUR, model, tools=[note], mode="auto")
    found = [seq for _, seq in search(desk, EUR)]
    types = [record.head.type for record in desk.records() if record.head.seq in found]
    assert sorted(set(types)) == ["assistant", "tool", "user"]


def test_a_statement_that_no_other_fact_rests_on_is_found(desk: Desk) -> None:
    kept = desk.remember(EUR)
    assert len(search(desk, EUR, fact_id=kept.fact_id)) == 1


def test_a_longer_statement_that_another_fact_rests_on_may_stay(desk: Desk) -> None:
    kept = desk.remember("EUR cents")
    longer = desk.remember(EUR)
    (found,) = search(desk, "EUR cents", fact_id=kept.fact_id)
    assert found == (desk.session_id, desk.records()[1].head.seq)
    assert desk.status(longer.fact_id) == "valid"


def test_a_search_that_goes_on_gives_only_what_came_since(desk: Desk) -> None:
    desk.ask(EUR, saying("ok"))
    look = RecordSearch(desk.stores, desk.memory.histories, "F-000000")
    assert len(look([EUR])) == 1
    assert look([EUR]) == []
    desk.ask(f"again: {EUR}", saying("ok"))
    assert len(look([EUR])) == 1
    assert len(look([EUR, SPLIT])) == 2  # other words: all records anew
