"""What scores a person's sentences also understands them, where an embedder is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

import memnb
from embedders import NoEmbedder, WordEmbedder
from memnb import ScriptedModel

Opener = Callable[..., memnb.Memory]

TABS = "We use tabs for indentation in this repo."
SAID = f"The loader is slow. {TABS} Where would you begin?"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What an embedder that is installed is asked about."""
    texts: list[str] = []

    class Installed(WordEmbedder):
        @staticmethod
        def is_installed() -> bool:
            return True

        def __call__(self, given: Sequence[str]) -> list[list[float]]:
            texts.extend(given)
            return super().__call__(given)

    monkeypatch.setattr("memnb.llm.embedding.MiniLM", Installed)
    return texts


def look(memory: memnb.Memory, model: str) -> None:
    """Say something, and have it looked through by what `model` names."""
    memory.config("learning.model", model)
    memory.learn("review")
    memory.ask(SAID, via="agent", model=ScriptedModel(["With the loop."]))
    memory.populate()


def test_without_a_model_an_embedder_is_asked_about_open_sentences(
    reopen: Opener, asked: list[str]
) -> None:
    pytest.importorskip("numpy")
    look(reopen(), "")

    assert TABS in asked


def test_rules_go_by_the_words_alone(reopen: Opener, asked: list[str]) -> None:
    look(reopen(), "rules")

    assert TABS not in asked


def test_an_embedder_that_fails_leaves_what_the_words_find(
    reopen: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(NoEmbedder):
        @staticmethod
        def is_installed() -> bool:
            return True

    monkeypatch.setattr("memnb.llm.embedding.MiniLM", Broken)
    memory = reopen()
    look(memory, "")

    assert [row.text for row in memory.review().rows] == [TABS]
