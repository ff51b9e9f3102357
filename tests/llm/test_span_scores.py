from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memnb.errors import ModelUnavailable, NoModel
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.embedding import MiniLM
from memnb.llm.local_model import LocalModel
from memnb.llm.span_scores import LABELS, Listening, said

STAND_IN = Path(__file__).with_name("stand_in")
NAME = "local/qwen2.5-coder-0.5b"
N_VALUES = len(LABELS) + 2


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalModel]:
    """A model whose child finds the words likely that the sentence orders, as JSON."""
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))
    weights = tmp_path / "weights.gguf"
    weights.write_text("")
    made = LocalModel(NAME, weights=weights, threads=1)
    yield made
    made.close()


def likely(**words: float) -> str:
    return json.dumps(words)


def test_each_question_gives_its_words_around_their_mean(model: LocalModel) -> None:
    words = {"rule": -1.0, "task": -2.0, "question": -3.0, "quote": -4.0, "report": -5.0}
    text = likely(**words, chat=-6.0, yes=-0.5, no=-1.5)

    (values,) = said(model, [text])

    assert values == pytest.approx((2.5, 1.5, 0.5, -0.5, -1.5, -2.5, 0.5, -0.5))


def test_tokens_that_begin_a_word_are_taken_together(model: LocalModel) -> None:
    (values,) = said(model, [json.dumps({" Yes": -1.0, "ye": -1.0, "yellow": 0.0, "no": -1.0})])

    assert values[-2] - values[-1] == pytest.approx(0.693, abs=0.001)  # twice as likely


def test_a_word_that_is_not_among_the_likeliest_gets_the_lowest_value(model: LocalModel) -> None:
    (values,) = said(model, [likely(rule=0.0)])

    assert values[0] == max(values[: len(LABELS)])
    assert values[-2:] == (0.0, 0.0)


def test_every_sentence_gets_as_many_numbers(model: LocalModel) -> None:
    found = Listening(model)(
        ["We use tabs.", "نستخدم المسافات.", "👍", "我们用制表符。", likely(yes=0.0)]
    )

    assert [len(values) for values in found] == [N_VALUES] * 5


def test_no_sentence_starts_no_model(model: LocalModel) -> None:
    assert said(model, []) == []
    assert model.child is None


def test_a_reply_without_a_first_word_is_an_error(model: LocalModel) -> None:
    with pytest.raises(ModelUnavailable, match="said nothing"):
        said(model, ["silent"])


def test_a_model_that_dies_is_an_error(model: LocalModel) -> None:
    with pytest.raises(ModelUnavailable):
        said(model, ["die"])


def test_a_cancelled_model_says_nothing_more(model: LocalModel) -> None:
    cancel = CancelSwitch()
    threading.Timer(0.5, cancel.request).start()

    assert said(model, ["hang"], cancel) == []


def test_the_name_is_the_models(model: LocalModel) -> None:
    assert Listening(model).name == NAME


@pytest.mark.skipif(MiniLM.is_installed(), reason="memnb[vectors] is installed")
def test_without_its_packages_the_embedder_says_what_to_install() -> None:
    with pytest.raises(NoModel, match=r"memnb\[vectors\]"):
        MiniLM()(["x"])


@pytest.mark.skipif(not MiniLM.is_installed(), reason="needs memnb[vectors]")
def test_an_embedding_has_384_numbers_and_length_one() -> None:
    first, again, other = MiniLM()(["We use tabs.", "We use tabs.", "\ud800 👍"])

    assert len(first) == 384
    assert sum(one * one for one in first) == pytest.approx(1.0, abs=1e-5)
    assert first == pytest.approx(again)
    assert len(other) == 384
