"""Scoring sentences with whatever is at hand: marks in the words, an embedder, a local model.

1. Marks need nothing and take a fraction of a millisecond, so there is always a score.
2. The others are asked only about sentences that the cheaper evidence leaves open: most of what a
   person types is clearly nothing to be kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Final, Protocol

from memnb.core.span_head import SpanHead, SpanScore, read_head

__all__ = ["Embed", "Listener", "head", "score"]

_LEFT_OPEN: Final = 200
"""In thousandths: below it by the marks nothing else is asked."""

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""What gives texts their embeddings, or none at all when it can't; `Meaning.embed` is one."""


class Listener(Protocol):
    """A local model that says of a sentence how it understands it."""

    @property
    def name(self) -> str:
        """Which model it is, as in the catalog."""

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """For each text what the model says of it, always as many numbers; for fewer if stopped."""


@cache
def head() -> SpanHead:
    """The learned weights."""
    source = resources.files("memnb.core").joinpath("span_head.json")
    return read_head(json.loads(source.read_text(encoding="utf-8")))


def score(
    spans: Sequence[str], *, model: Listener | None = None, embed: Embed | None = None
) -> list[SpanScore]:
    """How probable it is that each sentence states something to be kept, and as what.

    Args:
        spans: sentences of a person.
        model: a local model to be asked; None for none.
        embed: an embedder to be asked; None for none.

    Raises:
        ModelError: the local model failed.
    """
    learned = head()
    scores = [learned.score(span) for span in spans]
    left = [at for at, one in enumerate(scores) if one.probability_thousandths >= _LEFT_OPEN]
    if not left or (model is None and embed is None):
        return scores
    texts = [spans[at] for at in left]
    embeddings = _filled(embed(texts) if embed is not None else (), len(left))
    # A model that was stopped in between said something of the first ones only.
    heard = _filled(model(texts) if model is not None else (), len(left))
    for at, embedding, said in zip(left, embeddings, heard, strict=True):
        scores[at] = learned.score(
            spans[at],
            embedding=embedding,
            said=said,
            model=model.name if model is not None else "",
        )
    return scores


def _filled(found: Sequence[Sequence[float]], n_texts: int) -> Iterator[Sequence[float] | None]:
    yield from found
    yield from [None] * (n_texts - len(found))
