"""How good a ranking is, where what answers a question is known; and how sure that figure is."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

SEED = 20261130
ROUNDS = 1000


def any_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    return float(any(one in gold for one in ranked[:k]))


def all_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    return float(set(gold) <= set(ranked[:k]))


def recall_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    return len(set(gold) & set(ranked[:k])) / len(gold)


def ndcg_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    found = sum(1 / math.log2(n + 2) for n, one in enumerate(ranked[:k]) if one in gold)
    return found / sum(1 / math.log2(n + 2) for n in range(min(k, len(gold))))


MEASURES: Mapping[str, Callable[[Sequence[str], Collection[str]], float]] = {
    "any@5": lambda ranked, gold: any_at(5, ranked, gold),
    "all@5": lambda ranked, gold: all_at(5, ranked, gold),
    "R@5": lambda ranked, gold: recall_at(5, ranked, gold),
    "any@10": lambda ranked, gold: any_at(10, ranked, gold),
    "all@10": lambda ranked, gold: all_at(10, ranked, gold),
    "R@10": lambda ranked, gold: recall_at(10, ranked, gold),
    "nDCG@10": lambda ranked, gold: ndcg_at(10, ranked, gold),
}


@dataclass(frozen=True)
class Figure:
    """A mean with its bootstrap interval, 95 %."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.2f}, {self.high:.2f}]"


def figure(values: Sequence[float]) -> Figure:
    """The mean of `values`, and where it would lie if other questions had been asked."""
    if not values:
        return Figure(math.nan, math.nan, math.nan, 0)
    draw, n = random.Random(SEED), len(values)  # noqa: S311
    means = sorted(sum(draw.choices(values, k=n)) / n for _ in range(ROUNDS))
    low, high = means[int(0.025 * ROUNDS)], means[int(0.975 * ROUNDS) - 1]
    return Figure(sum(values) / n, low, high, n)
