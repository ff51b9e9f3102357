"""What words tell of how well a text answers: how often, how close, in a row, as a name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from memnb.core.passage_words import indexed, words_of
from memnb.core.stop_words import STOP_WORDS

__all__ = ["CONTEXT", "closeness", "names", "saturated", "stands_in", "word_fit"]

_K1: Final = 1.2
_B: Final = 0.75
CONTEXT: Final = 0.6
"""How much a word in the context counts beside one in the text."""

_SHORT: Final = 60
"""Context counts in full for texts of so many words, and less the longer they are."""

_CLOSE: Final = 4
"""How many words apart two words stand that are close."""

_BETWEEN_NAMES: Final = re.compile(r"[;,\n]")


def word_fit(
    weights: Mapping[str, float],
    text: Mapping[str, int],
    context: Mapping[str, int],
    length: float,
) -> tuple[float, float]:
    """How well a text fits by its own words (BM25), and with those of its context.

    Args:
        weights: how rare each word is that is looked for.
        text: how often each word stands in it.
        context: the same for its context.
        length: how many words a text has on average; contexts are taken to be as long.
    """
    n_text = sum(text.values())
    share = CONTEXT * min(1.0, _SHORT / max(1, n_text))
    long = n_text + share * sum(context.values())
    norm = _K1 * (1 - _B + _B * long / (max(length, 1.0) * (1 + CONTEXT)))
    words = both = 0.0
    for word, weight in weights.items():
        n, m = text.get(word, 0), share * context.get(word, 0)
        if n or m:
            words += weight * n * (_K1 + 1) / (n + norm)
            both += weight * (n + m) * (_K1 + 1) / (n + m + norm)
    return words, both


def saturated(n: int) -> float:
    """How much a word counts that stands so often in a text of usual length."""
    return n * (_K1 + 1) / (n + _K1)


def closeness(words: Sequence[str], weights: Mapping[str, float]) -> float:
    """How close the words that are looked for stand to each other, rare ones more."""
    total, last = 0.0, dict[str, int]()
    for n, word in enumerate(words):
        if word not in weights:
            continue
        total += sum(
            min(weights[word], weights[other]) / (n - m)
            for other, m in last.items()
            if other != word and n - m <= _CLOSE
        )
        last[word] = n
    return total


def stands_in(phrase: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether words stand in a row in others."""
    n, first = len(phrase), phrase[0]
    return any(word == first and words[at : at + n] == phrase for at, word in enumerate(words))


def names(context: str, context_words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The names that a context lists, without stop words, in the words of the index.

    The index has the pieces of `CamelCase` after the whole; a name is the whole.
    """
    rest = iter(context_words)
    for name in _BETWEEN_NAMES.split(context):
        kept = []
        for word in words_of(name, in_lower_case=False):
            known = [next(rest, "") for _ in words_of(indexed(word))]
            if word.lower() not in STOP_WORDS["en"]:
                kept.append(known[0])
        if kept:
            yield tuple(kept)
