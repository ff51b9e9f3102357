from __future__ import annotations

import pytest

from memnb.core.bodies import Part
from memnb.core.passages import Passage, Ranked, Speaker
from memnb.core.query import understand
from memnb.core.ranking import Candidate, Candidates
from memnb.core.recall_gate import CLOSE, Gate, asked

NOW = "2026-11-30T12:00:00.000000Z"

# Which messages are asked about


@pytest.mark.parametrize(
    ("message", "is_asked"),
    [
        pytest.param("What did we decide about the train split?", True, id="a question"),
        pytest.param("Remember that revenue is in EUR cents.", True, id="a statement"),
        pytest.param("plot churn by segment", True, id="a task"),
        pytest.param("Wann endet der Trainingszeitraum für das Modell?", True, id="German"),
        pytest.param("训练集什么时候结束", True, id="Chinese"),
        pytest.param(
            "Hello, which currency is revenue in?", True, id="a question after a greeting"
        ),
        pytest.param("", False, id="nothing"),
        pytest.param("churn threshold", False, id="two words"),
        pytest.param("hello there", False, id="a greeting"),
        pytest.param("Good morning! How are you today?", False, id="a longer greeting"),
        pytest.param("Thanks a lot, that was great!", False, id="thanks"),
        pytest.param("Danke, sehr gut!", False, id="thanks in German"),
        pytest.param("ok, please go on with it", False, id="go on"),
        pytest.param("yes, do that again", False, id="again"),
        pytest.param("why is that so?", False, id="no word that means something"),
        pytest.param("and what about the second?", False, id="one word that means something"),
        pytest.param("%memory search train split date", False, id="a magic"),
        pytest.param("!pip install pandas numpy scipy", False, id="a shell command"),
        pytest.param("/compact the whole conversation now", False, id="a slash command"),
        pytest.param("??", False, id="signs"),
        pytest.param("```\ntrain, split, date = load()\n```", False, id="only code in a fence"),
        pytest.param("> the train split ends in March", False, id="only a quotation"),
    ],
)
def test_it_is_decided_by_the_words_whether_a_message_is_asked_about(
    message: str, is_asked: bool
) -> None:
    assert bool(asked([Part("typed", message)])) is is_asked


def test_only_the_persons_own_words_are_asked_about() -> None:
    parts = [Part("typed", "What is "), Part("variable", "secret train split date", "df")]
    assert asked(parts) == ""
    more = [*parts, Part("typed", " of the train split?\n> quoted words\n")]
    assert asked(more) == "What is \n of the train split?"


# What fits


def fits(
    question: str,
    text: str,
    *,
    speaker: Speaker = "person",
    context: str = "",
    total: int = 1000,
    **counts: int,
) -> bool:
    """Whether a text fits a question, where each word stands in as many passages as `counts` say.

    Words that aren't told stand in ten.
    """
    query = understand(question, NOW)
    passage = Passage("message", "S-1", 2, text, NOW, speaker)
    words = text.lower().split()
    found = Candidate(passage, words=tuple(words), context_words=tuple(context.lower().split()))
    forms = {word: word for word in query.words}
    known = {form: counts.get(form, 10) for form in forms}
    return Gate(query, Candidates((found,), forms, known, total, 10.0)).fits(Ranked(passage))


@pytest.mark.parametrize(
    ("question", "text", "is_fit"),
    [
        pytest.param("red apples", "apples are red", True, id="both of two"),
        pytest.param("red apples", "apples are green", False, id="one of two"),
        pytest.param("red apples baskets", "red apples in baskets", True, id="three of three"),
        pytest.param("red apples baskets", "red apples in boxes", False, id="two of three"),
        pytest.param(
            "red apples baskets rotten", "red apples in baskets", True, id="three of four"
        ),
        pytest.param("red apples baskets rotten", "rotten red apples", True, id="others of four"),
        pytest.param("red apples baskets rotten", "rotten apples", False, id="two of four"),
        pytest.param("red apples baskets rotten ripe sweet", "red sweet apples", False, id="half"),
        pytest.param("red apples", "", False, id="nothing"),
    ],
)
def test_what_fits_holds_three_words_and_most_of_what_is_asked(
    question: str, text: str, is_fit: bool
) -> None:
    assert fits(question, text) is is_fit


def test_rare_words_are_more_of_what_is_asked() -> None:
    asked_for = "red apples baskets rotten wormy"
    assert fits(asked_for, "wormy rotten apples", red=500, baskets=500)
    assert not fits(asked_for, "red apples baskets", wormy=1, rotten=1, red=500)


def test_a_word_that_stands_nowhere_is_the_rarest() -> None:
    question, text = "red apples baskets screenplay", "red apples in baskets"
    assert not fits(question, text, red=300, apples=50, screenplay=0)
    assert fits(question, text, red=300, apples=50, screenplay=50)


def test_the_words_have_to_stand_close_together() -> None:
    far = " word" * CLOSE
    assert not fits("red apples baskets", f"red apples{far} baskets")
    assert fits("red apples baskets", f"red{far} red apples baskets{far} apples")


def test_a_reply_has_to_hold_nearly_all_of_it() -> None:
    question, most = "red apples baskets rotten", "red apples in baskets"
    assert fits(question, most)
    assert not fits(question, most, speaker="assistant")
    assert fits(question, f"rotten {most}", speaker="assistant")


def test_what_stands_before_a_passage_is_not_enough() -> None:
    assert not fits("red apples baskets", "yes three of them", context="red apples in baskets")


@pytest.mark.parametrize("is_named", [True, False])
def test_a_fact_that_has_names_fits_when_it_is_named(is_named: bool) -> None:
    query = understand("red apples baskets", NOW)
    passage = Passage("fact", "F-1b8hyr", 1, "red apples in baskets", NOW, context="pomes; apples")
    parts = {"name": 1.0} if is_named else {"words": 9.0}
    found = (Candidate(passage, words=("red", "apples", "in", "baskets")),)
    forms = {word: word for word in query.words}
    gate = Gate(query, Candidates(found, forms, dict.fromkeys(forms, 1), 10, 10.0))
    assert gate.fits(Ranked(passage, parts)) is is_named


def test_in_a_small_store_words_are_taken_to_be_rare() -> None:
    counts = {"red": 3, "apples": 3, "baskets": 3, "choose": 0}
    assert fits("choose red apples baskets", "red apples in baskets", total=4, **counts)
