from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.ids import stamp
from memnb.core.uses import FULL, HALF_LIFE_DAYS, rank

TODAY = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAYS = st.integers(0, 3000)


def ago(days: float) -> str:
    return stamp(TODAY - timedelta(days=days))


def age(stated: float, *used: float) -> float:
    """How many days ago a fact counts as stated, that was stated and used so many days ago."""
    return rank(ago(0)) - rank(ago(stated), [ago(days) for days in used])


@pytest.mark.parametrize(
    ("stated", "used", "counts_as"),
    [
        pytest.param(0, [], 0, id="just stated"),
        pytest.param(40, [], 40, id="never used"),
        pytest.param(400, [0] * FULL, 0, id="used in enough sessions now"),
        pytest.param(400, [0] * 50, 0, id="used in many more"),
        pytest.param(400, [0] * (FULL // 2), HALF_LIFE_DAYS, id="used in half as many"),
        pytest.param(400, [HALF_LIFE_DAYS] * FULL, HALF_LIFE_DAYS, id="used a while ago"),
        pytest.param(10, [HALF_LIFE_DAYS], 10, id="stated after it was used"),
    ],
)
def test_a_fact_counts_as_stated_so_many_days_ago(
    stated: float, used: list[float], counts_as: float
) -> None:
    assert age(stated, *used) == pytest.approx(counts_as, abs=1e-6)


@given(DAYS, st.lists(DAYS, max_size=60))
def test_use_never_makes_a_fact_count_less_nor_more_than_one_that_is_stated_now(
    stated: int, used: list[int]
) -> None:
    assert 0 <= age(stated, *used) <= stated


@given(DAYS, st.lists(DAYS, min_size=1, max_size=60), DAYS)
def test_more_use_never_counts_less(stated: int, used: list[int], more: int) -> None:
    assert age(stated, *used, more) <= age(stated, *used) + 1e-6


@given(DAYS, st.lists(DAYS, max_size=40), st.randoms())
def test_the_order_of_what_is_summed_does_not_matter(
    stated: int, used: list[int], random: object
) -> None:
    shuffled = list(used)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert age(stated, *used) == age(stated, *shuffled)


def test_very_old_use_counts_for_nothing_and_breaks_nothing() -> None:
    assert math.isfinite(rank(ago(0), ["1970-01-01T00:00:00.000000Z", ago(0)]))
    assert age(5, 300_000) == pytest.approx(5)
