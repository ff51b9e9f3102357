"""What was forgotten never comes back: not by the same words, nor in others."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memnb
from forgetting.conftest import Opener
from memnb.core.messages import Request
from memnb.errors import Refused
from memories import EUR, SPLIT, Desk, everything, saying, scripted

ACCENTS = "Größen zählen wir in Millimetern."


def session_of(memory: memnb.Memory) -> list[str]:
    """A conversation in which a fact is stated, kept, repeated and paraphrased; its messages."""
    said = [f"Please note: {EUR} Ok?", "Which unit was it?", "Thanks. Anything else?"]
    keep = scripted(("memory_remember", {"text": EUR}), f"Kept: {EUR}")
    memory.ask(said[0], model=keep, mode="auto")
    memory.ask(said[1], model=saying("Hundredths of a euro it was."))
    memory.ask(said[2], model=saying("You like hundredths of a euro."))
    return said


def tries(text: str) -> memnb.ScriptedModel:
    """A model that tries to keep a text, and then says what came of it."""
    return scripted(("memory_remember", {"text": text}), "Done.")


def facts(memory: memnb.Memory) -> list[str]:
    return [row.text for row in memory.facts(all=True).rows]


# --- the same messages again ---------------------------------------------------------------------


@pytest.mark.parametrize("restart", [False, True], ids=["same kernel", "next kernel"])
def test_the_same_conversation_again_does_not_bring_it_back(
    memory: memnb.Memory, reopen: Opener, restart: bool
) -> None:
    said = session_of(memory)
    (row,) = memory.facts().rows
    memory.forget(row.fact_id)
    if restart:
        memory.close()
        memory = reopen()
    for text in said:
        model = tries(EUR)
        reply = memory.ask(text, model=model, mode="auto")
        assert reply.answer.remembered == ()
    assert facts(memory) == []


def test_messages_from_before_the_forget_can_not_be_quoted_after_it(memory: memnb.Memory) -> None:
    session_of(memory)
    memory.forget(memory.facts().rows[0].fact_id)
    for text in (EUR, EUR[:-1], "revenue in EUR", f"Please note: {EUR}"):
        model = tries(text)
        assert memory.ask("go on", model=model, mode="auto").answer.remembered == ()
    assert facts(memory) == []


VARIANTS: list[Any] = [
    pytest.param(EUR, EUR, id="the same"),
    pytest.param(EUR, EUR.upper(), id="capitals"),
    pytest.param(EUR, EUR.replace(" ", "   "), id="blanks"),
    pytest.param(EUR, EUR.replace(" ", "\u00a0"), id="hard blanks"),
    pytest.param(EUR, EUR[:-1], id="no full stop"),
    pytest.param(EUR, EUR[:-1] + "!?", id="other marks"),
    pytest.param(EUR, f"»{EUR}«", id="quotes"),
    pytest.param(ACCENTS, unicodedata.normalize("NFD", ACCENTS), id="decomposed"),
    pytest.param(unicodedata.normalize("NFD", ACCENTS), ACCENTS, id="composed"),
    pytest.param("Maße zählen.", "MASSE ZÄHLEN", id="sharp s"),
]


@pytest.mark.parametrize(("text", "variant"), VARIANTS)
def test_a_variant_of_it_is_not_kept_by_the_agent(
    memory: memnb.Memory, text: str, variant: str
) -> None:
    memory.forget(memory.remember(text).fact_id)
    model = tries(variant)
    reply = memory.ask(variant, model=model, mode="auto", approve=lambda _: True)
    assert reply.answer.remembered == ()
    assert "was forgotten on" in everything(model.requests[1])
    assert facts(memory) == []


@pytest.mark.parametrize(("text", "variant"), VARIANTS)
def test_a_person_is_told_when_it_was_forgotten_and_has_to_insist(
    memory: memnb.Memory, text: str, variant: str
) -> None:
    memory.forget(memory.remember(text).fact_id)
    with pytest.raises(Refused, match=r"was forgotten on 20.*add --again"):
        memory.remember(variant)
    assert facts(memory) == []
    assert memory.remember(variant, again=True).outcome == "new"


LONGER = [
    pytest.param(f"As I said: {EUR} And so it stays.", id="around it"),
    pytest.param(f"{EUR.upper()} ALWAYS.", id="in capitals"),
    pytest.param(f"Convention ({EUR[:-1]}) holds.", id="in brackets"),
    pytest.param(EUR.replace(" ", "  ") + " And prices too.", id="with other blanks"),
    pytest.param(f"One rule—{EUR[:-1]}—for all.", id="between dashes"),
    pytest.param(f"rule:{EUR}", id="after a colon"),
]


@pytest.mark.parametrize("longer", LONGER)
def test_a_longer_text_that_holds_it_is_not_kept_by_the_agent(
    memory: memnb.Memory, longer: str
) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    model = tries(longer)
    reply = memory.ask(longer, model=model, mode="auto", approve=lambda _: True)
    assert reply.answer.remembered == ()
    assert "was forgotten on" in everything(model.requests[1])
    assert facts(memory) == []


@pytest.mark.parametrize("longer", LONGER)
def test_a_fact_is_not_corrected_by_the_agent_into_a_longer_text_that_holds_it(
    memory: memnb.Memory, longer: str
) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    other = memory.remember(SPLIT).fact_id
    model = scripted(("memory_correct", {"fact_id": other, "revision": 1, "text": longer}), "ok")
    memory.ask(longer, model=model, mode="auto", approve=lambda _: True)
    assert "was forgotten on" in everything(model.requests[1])
    assert facts(memory) == [SPLIT]


def test_a_longer_text_in_a_script_without_blanks_is_not_kept_either(
    memory: memnb.Memory,
) -> None:
    memory.forget(memory.remember("我们总是用欧元分报告收入").fact_id)
    longer = "请注意我们总是用欧元分报告收入。"
    reply = memory.ask(longer, model=tries(longer), mode="auto", approve=lambda _: True)
    assert (reply.answer.remembered, facts(memory)) == ((), [])


def test_every_wording_that_it_had_is_known_again(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    memory.correct(fact_id, "We report revenue in USD.", revision=1)
    memory.correct(fact_id, "We report revenue in yen.", revision=2)
    memory.forget(fact_id)
    for text in (EUR, "We report revenue in USD.", "we report revenue in YEN"):
        assert memory.ask(text, model=tries(text), mode="auto").answer.remembered == ()
        with pytest.raises(Refused):
            memory.remember(text)
    assert facts(memory) == []


def test_another_fact_cannot_be_corrected_into_it(memory: memnb.Memory) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    other = memory.remember(SPLIT).fact_id
    with pytest.raises(Refused):
        memory.correct(other, EUR, revision=1)
    call = ("memory_correct", {"fact_id": other, "revision": 1, "text": EUR})
    memory.ask(EUR, model=scripted(call, "ok"), mode="auto", approve=lambda _: True)
    assert facts(memory) == [SPLIT]


def test_who_corrects_a_fact_into_it_is_told_what_helps(memory: memnb.Memory) -> None:
    memory.forget(memory.remember(EUR).fact_id)
    other = memory.remember(SPLIT).fact_id
    with pytest.raises(Refused, match="remember it with --again first"):
        memory.correct(other, EUR, revision=1)
    memory.remember(EUR, again=True)
    assert memory.correct(other, EUR, revision=1).outcome == "corrected"


def test_what_was_barred_cannot_be_cited_again(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    session_id = memory.status().session_id or ""
    memory.forget(memory.facts().rows[0].fact_id)
    with pytest.raises(Exception, match="hidden"):
        memory.source(session_id, 2, 2)


# --- in other words ------------------------------------------------------------------------------


@pytest.mark.parametrize("purged", [False, True], ids=["forgotten", "and purged"])
@pytest.mark.parametrize("restart", [False, True], ids=["same kernel", "next kernel"])
def test_a_paraphrase_of_what_was_shown_is_not_sent_to_the_model_again(
    memory: memnb.Memory, reopen: Opener, restart: bool, purged: bool
) -> None:
    session_of(memory)
    session_id = memory.status().session_id or ""
    memory.forget(memory.facts().rows[0].fact_id)
    if purged:
        memory.purge(confirm=memory.purge().token)
    if restart:
        memory.close()
        memory = reopen()
        memory.resume(session_id)
    asked: list[str] = []

    def parrot(request: Request) -> str:
        asked.append(everything(request))
        return "I know nothing of it."

    memory.ask("Which unit was it?", model=scripted(parrot))
    assert "EUR" not in asked[0]
    assert "undredths" not in asked[0]


def test_what_the_model_recalled_and_said_in_other_words_is_void(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    recall = scripted(("memory_recall", {"fact_id": fact_id}), "Hundredths of a euro, you said.")
    memory.ask("Look it up.", model=recall)
    memory.forget(fact_id)
    model = saying("ok")
    memory.ask("What did you find?", model=model)
    assert "undredths" not in everything(model.requests[0])
    assert "EUR" not in everything(model.requests[0])


def test_a_paraphrase_in_the_very_turn_that_forgets_is_void_afterwards(
    memory: memnb.Memory,
) -> None:
    fact_id = memory.remember(EUR).fact_id
    model = scripted(("memory_forget", {"fact_id": fact_id}), "Gone: the hundredths of a euro.")
    memory.ask("Forget the unit.", model=model, approve=lambda _: True)
    later = saying("ok")
    memory.ask("What was it?", model=later)
    assert "undredths" not in everything(later.requests[0])


SURFACES: list[Any] = [
    pytest.param(lambda m, s: str(m.session(s)), id="session"),
    pytest.param(lambda m, s: str(m.read(s, 1, 12)), id="read"),
    pytest.param(lambda m, s: str(m.search("undredths")), id="search"),
    pytest.param(lambda m, s: str(m.why()), id="why"),
    pytest.param(lambda m, s: str(m.facts(all=True)), id="facts"),
]


@pytest.mark.parametrize("purged", [False, True], ids=["forgotten", "and purged"])
@pytest.mark.parametrize("look", SURFACES)
def test_neither_the_words_nor_a_paraphrase_is_on_any_surface(
    memory: memnb.Memory, look: Callable[[memnb.Memory, str], str], purged: bool
) -> None:
    session_of(memory)
    session_id = memory.status().session_id or ""
    memory.forget(memory.facts().rows[0].fact_id)
    if purged:
        memory.purge(confirm=memory.purge().token)
    shown = look(memory, session_id)
    assert "EUR cents" not in shown
    assert "undredths" not in shown


# --- what a crash left ---------------------------------------------------------------------------


def test_a_statement_whose_fact_was_never_kept_is_barred_with_the_next_one(desk: Desk) -> None:
    # A kernel that died between the record and the fact; the person stated it once more.
    from memnb.memory import receipts, stating
    from memnb.memory.stating import Said

    stating.record(desk.memory, EUR, Said(f"remember {EUR}"))
    fact_id = desk.remember(EUR).fact_id
    receipt = receipts.forget(desk.memory, fact_id)
    assert len(receipt.barred) == 2
    assert desk.memory.histories.view(desk.memory.histories.of(desk.session_id)).hidden >= {2, 3}


def test_a_forgotten_text_is_forgotten_in_another_checkout_too(
    memory: memnb.Memory, folder: Path
) -> None:
    (folder / "deep").mkdir()
    memory.forget(memory.remember(EUR).fact_id)
    with memnb.open(folder) as other, pytest.raises(Refused):
        other.remember(EUR)
