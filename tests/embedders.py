"""An embedder that knows a few words, so that tests see what meaning does without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

from memnb.errors import NoModel
from memnb.storage.vector_table import DIMENSIONS

_SAME: dict[str, str] = {
    "car": "vehicle",
    "automobile": "vehicle",
    "doctor": "physician",
    "euros": "currency",
    "eur": "currency",
    "money": "currency",
}


class WordEmbedder:
    """A text means the sum of its words; some words mean the same.

    Args:
        name: which embedder it is.
        before: called before each few texts, with how many there were before.
    """

    def __init__(self, name: str = "words", before: Callable[[int], None] | None = None) -> None:
        self.name = name
        self.texts: list[str] = []
        self._before = before

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        if self._before is not None:
            self._before(len(self.texts))
        self.texts.extend(texts)
        return [_sum(text) for text in texts]


class NoEmbedder(WordEmbedder):
    """One whose files aren't what they should be."""

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        raise NoModel("MiniLM isn't the known file; install memnb[vectors] again")


def _sum(text: str) -> list[float]:
    import numpy as np

    words = [word.strip(".,?!").lower() for word in text.split()]
    numbers = sum((_direction(_SAME.get(word, word)) for word in words), np.zeros(DIMENSIONS))
    found: list[float] = (numbers / max(float(np.linalg.norm(numbers)), 1e-9)).tolist()
    return found


def _direction(word: str):  # type: ignore[no-untyped-def]
    import numpy as np

    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(DIMENSIONS)
