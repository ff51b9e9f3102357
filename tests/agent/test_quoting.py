from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.agent.quoting import Typed, TypedMessages, find_quote
from memnb.core.bodies import Part, PartType
from memnb.errors import SourceNotValid
from memories import EUR, SECRET, SPLIT, STORE_ID, Desk, saying

SESSION = "S-20261130-091005-7k2m9q"


def message(seq: int, *parts: tuple[PartType, str]) -> Typed:
    return Typed(SESSION, seq, tuple(Part(type_, text) for type_, text in parts))


def visible(desk: Desk) -> list[str]:
    history = desk.memory.session.history()
    assert history is not None
    found = TypedMessages(history, desk.memory.histories.view(history))
    return ["".join(part.text for part in typed.parts) for typed in found]


# --- finding -------------------------------------------------------------------------------------


def test_the_first_message_that_has_the_text_is_cited() -> None:
    messages = [message(9, ("typed", f"x {EUR}")), message(2, ("typed", EUR))]
    found = find_quote(messages, EUR)
    assert found is not None
    assert (found.session_id, found.quote.seq, found.quote.start) == (SESSION, 9, 2)


def test_the_part_that_has_the_text_is_cited() -> None:
    found = find_quote([message(2, ("typed", "see "), ("variable", EUR), ("typed", EUR))], EUR)
    assert found is not None
    assert (found.quote.part, found.quote.start, found.quote.end) == (2, 0, len(EUR))


@pytest.mark.parametrize("type_", ["variable", "traceback", "file", "recall", "seed"])
def test_only_typed_parts_are_cited(type_: PartType) -> None:
    assert find_quote([message(2, ("typed", "see "), (type_, EUR))], EUR) is None


@pytest.mark.parametrize("text", ["", "something else", EUR + " "])
def test_what_stands_nowhere_is_not_found(text: str) -> None:
    assert find_quote([message(2, ("typed", EUR))], text) is None
    assert find_quote([], text) is None


@pytest.mark.parametrize(
    ("typed", "text", "sentence"),
    [
        (f"Hi! {EUR} Thanks.", EUR, EUR),
        (f"- {EUR}", EUR, EUR),
        ("Use tabs! Never spaces.", "Use tabs", "Use tabs!"),
        ("Use tabs. Use spaces.", "Use tabs. Use spaces.", "Use tabs. Use spaces."),
    ],
)
def test_a_whole_sentence_is_known_as_one(typed: str, text: str, sentence: str) -> None:
    found = find_quote([message(2, ("typed", typed))], text)
    assert found is not None
    assert (found.is_sentence, found.sentence, found.shown(text)) == (True, sentence, text)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("Never use tabs unless I say so.", "use tabs"),
        ("Hi. Should we use tabs?", "Should we use tabs?"),
        ("Hi. It is false that prices are in cents.", "prices are in cents."),
    ],
)
def test_a_part_is_shown_within_its_sentence(typed: str, text: str) -> None:
    found = find_quote([message(2, ("typed", typed))], text)
    assert found is not None
    assert not found.is_sentence
    assert found.sentence == typed.removeprefix("Hi. ")
    assert found.sentence in found.shown(text)


@pytest.mark.parametrize("text", ["usable", "un", "ns"])
def test_a_piece_of_a_word_is_no_quote(text: str) -> None:
    assert find_quote([message(2, ("typed", "Columns are unusable."))], text) is None


PARTS = st.lists(
    st.tuples(st.sampled_from(["typed", "variable", "file"]), st.text("ab`>\n ", max_size=8)),
    max_size=4,
)


@given(st.lists(PARTS, max_size=3), st.text("ab`> ", min_size=1, max_size=3))
def test_what_is_found_can_be_read_again_from_where_it_stands(
    messages: list[list[tuple[PartType, str]]], text: str
) -> None:
    typed = [message(seq, *parts) for seq, parts in enumerate(messages, 1)]
    found = find_quote(typed, text)
    if found is not None:
        part = typed[found.quote.seq - 1].parts[found.quote.part]
        assert part.type == "typed"
        assert part.text[found.quote.start : found.quote.end] == text


# --- which messages ------------------------------------------------------------------------------


def test_messages_to_the_agent_come_newest_first(desk: Desk) -> None:
    desk.ask("first", saying("one"))
    desk.remember(EUR)
    desk.ask("second", saying("two"))
    assert visible(desk) == ["second", "first"]


def test_hidden_messages_do_not_come(desk: Desk) -> None:
    desk.ask("cleared", saying("ok"))
    desk.memory.session.clear()
    fact_id = desk.learn(EUR)
    desk.forget(fact_id)
    desk.ask(f"secret {SECRET}", saying("ok"))
    desk.ask("kept", saying("ok"))
    desk.ask("undone", saying("ok"))
    desk.memory.session.undo()
    assert visible(desk) == ["kept"]


def test_the_evidence_is_pinned_to_the_record_as_it_is(desk: Desk) -> None:
    desk.ask(EUR, saying("ok"))
    found = find_quote([Typed(desk.session_id, 2, (Part("typed", EUR),))], EUR)
    assert found is not None
    source = found.source(desk.memory.validator, STORE_ID)
    assert source.ref == desk.memory.validator.source_ref(desk.session_id, [2])
    desk.memory.session.undo()
    with pytest.raises(SourceNotValid):
        found.source(desk.memory.validator, STORE_ID)
    assert SPLIT not in str(source)
