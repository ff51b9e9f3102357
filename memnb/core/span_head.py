"""How sure it is that a sentence states something to be kept: a small calibrated head.

1. Each kind of evidence (marks in the words, an embedding, what a local model says) is summed up by
   learned weights; a line for every combination turns the sums into thousandths.
2. The scale has two fixed points, set on hard sentences that the weights weren't learned from: of
   those that score 500 and more .75 were right, of those from 700 on .95.
3. The weights are data (`span_head.json`), made by `benchmarks/train_spans.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memnb.core.extraction_replies import QuotedKind
from memnb.core.span_features import FEATURES, features

__all__ = ["LIKELY", "Linear", "SpanHead", "SpanScore", "kind_of", "read_head"]

LIKELY: Final = 500
"""In thousandths: from here on a sentence is worth a person's look."""

_MARKS: Final = "marks"
_EMBEDDING: Final = "embedding"
_BIAS: Final = "bias"
_FARTHEST: Final = 30.0  # beyond it a logistic is 0 or 1


@dataclass(frozen=True, slots=True)
class SpanScore:
    """How probable it is that a sentence is to be kept, and as what."""

    probability_thousandths: int
    kind: QuotedKind


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum."""

    weights: tuple[float, ...]
    bias: float

    def of(self, values: Sequence[float]) -> float:
        """The sum for these values; too few or too many of them are an error."""
        products = (w * v for w, v in zip(self.weights, values, strict=True))
        return math.fsum(products) + self.bias


@dataclass(frozen=True, slots=True)
class SpanHead:
    """The learned weights.

    Args:
        sums: for each kind of evidence how its values are summed up: `marks`, `embedding`, and
            the name of each local model it was made for.
        lines: for each combination of evidence (`marks`, `marks+embedding`, …) what each counts.
    """

    sums: Mapping[str, Linear]
    lines: Mapping[str, Mapping[str, float]]

    def score(
        self,
        text: str,
        *,
        embedding: Sequence[float] | None = None,
        said: Sequence[float] | None = None,
        model: str = "",
    ) -> SpanScore:
        """The score of a sentence with all the evidence there is for it.

        Args:
            text: the sentence.
            embedding: its embedding; None without an embedder.
            said: what a local model said of it; None without one.
            model: which model that was; what one says that the head wasn't made for is left out.
        """
        marks = features(text)
        values: dict[str, Sequence[float]] = {_MARKS: marks}
        if embedding is not None and _EMBEDDING in self.sums:
            values[_EMBEDDING] = embedding
        if said is not None and model in self.sums:
            values[model] = said
        line = self.lines.get("+".join(values))
        if line is None:
            values, line = {_MARKS: marks}, self.lines[_MARKS]
        total = line[_BIAS] + math.fsum(
            line[name] * self.sums[name].of(value) for name, value in values.items()
        )
        return SpanScore(_thousandths(total), _kind(marks))


def read_head(data: Mapping[str, Any]) -> SpanHead:
    """The head from its file's content; a mark that has no weight in it counts nothing."""
    marks = data["sums"][_MARKS]
    sums = {
        name: Linear(tuple(given["weights"]), given[_BIAS])
        for name, given in data["sums"].items()
        if name != _MARKS
    }
    sums[_MARKS] = Linear(tuple(marks["weights"].get(name, 0.0) for name in FEATURES), marks[_BIAS])
    return SpanHead(sums, data["lines"])


def kind_of(text: str) -> QuotedKind:
    """What a sentence states if it states something: a guess by its words."""
    return _kind(features(text))


_INDEX: Final = {name: place for place, name in enumerate(FEATURES)}
_RULES: Final = (
    "we_do",
    "our",
    "project",
    "we",
    "generic",
    "passive",
    "rule_noun",
    "modal",
    "belongs",
    "here",
)
_DECIDED: Final = ("decided", "decided_what", "decision", "going_with", "will_not")


def _kind(marks: Sequence[float]) -> QuotedKind:
    def has(*names: str) -> bool:
        return any(marks[_INDEX[name]] for name in names)

    if has(*_DECIDED) and not has("prefer", "attitude"):
        return "decision"
    if has("i", "me", "my", "you") and not has("we_do", "our", "project"):
        return "preference"
    return "convention" if has(*_RULES) else "preference"


def _thousandths(total: float) -> int:
    bounded = max(-_FARTHEST, min(_FARTHEST, total))
    return round(1000 / (1 + math.exp(-bounded)))
