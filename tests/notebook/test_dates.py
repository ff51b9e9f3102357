from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.api.instants import stamp
from memnb.errors import InputError
from memnb.notebook.arguments import parse_memory
from memnb.notebook.dates import WANTED, read_date

NOW = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)

In = Callable[[str], None]


@pytest.fixture
def living_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[In]:
    """Sets the time zone of this process, until the test is over."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "typed", "stored"),
    [
        ("UTC", "2026-03-01", "2026-03-01T00:00:00.000000Z"),
        ("Europe/Berlin", "2026-03-01", "2026-02-28T23:00:00.000000Z"),
        ("Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00.000000Z"),
        ("America/New_York", "2026-03-01", "2026-03-01T05:00:00.000000Z"),
        ("Europe/Berlin", "2026-03-01T09:30", "2026-03-01T08:30:00.000000Z"),
        ("Europe/Berlin", "2026-03-01 09:30:15.5", "2026-03-01T08:30:15.500000Z"),
        ("Europe/Berlin", "2026-03-01T09:30Z", "2026-03-01T09:30:00.000000Z"),
        ("Europe/Berlin", "2026-03-01T09:30+05:30", "2026-03-01T04:00:00.000000Z"),
        ("Asia/Kathmandu", "20260301", "2026-02-28T18:15:00.000000Z"),
        ("Europe/Berlin", "today", "2026-11-30T23:00:00.000000Z"),
        ("America/New_York", "today", "2026-11-30T05:00:00.000000Z"),
        # The clocks go forward: this time isn't there, and midnight isn't in São Paulo.
        ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30:00.000000Z"),
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000000Z"),
        # They go back: of the two, the first.
        ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00.000000Z"),
        ("UTC", "0001-01-01T00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("UTC", "0987-01-01T00:00Z", "0987-01-01T00:00:00.000000Z"),
        ("UTC", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"),
    ],
)
def test_a_date_is_kept_as_an_instant(living_in: In, zone: str, typed: str, stored: str) -> None:
    living_in(zone)
    assert stamp(read_date(typed, NOW)) == stored


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-03-01T09:30+01:00", "2026-03-01T08:30Z"),
        ("2026-03-01T00:00-05:00", "2026-03-01T10:30+05:30"),
        ("2026-03-01", "2026-02-28T23:00Z"),
        ("2026-03-01T00:00", "2026-03-01"),
    ],
)
def test_equal_instants_are_equal_whatever_their_zone(living_in: In, one: str, other: str) -> None:
    living_in("Europe/Berlin")
    assert stamp(read_date(one, NOW)) == stamp(read_date(other, NOW))


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "soon",
        "Today",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "2026-03-01T25:00",
        "0000-01-01",
        "10000-01-01",
        "-2026-01-01",
        "2026-03-01T09:30+25:00",
        "２０２６-03-01",
        "2026-03-01\ud800",
        "01.03.2026",
    ],
)
def test_what_is_no_date_is_refused_in_a_line_that_does_not_repeat_it(typed: str) -> None:
    with pytest.raises(InputError, match="give a date such as") as caught:
        read_date(typed, NOW)
    assert str(caught.value) == f"that is no date; give {WANTED}."


@pytest.mark.parametrize(
    ("zone", "typed"),
    [
        ("Asia/Tokyo", "0001-01-01"),
        ("America/New_York", "9999-12-31T23:59"),
        ("UTC", "0001-01-01T00:00+01:00"),
        ("UTC", "9999-12-31T23:59-01:00"),
    ],
)
def test_a_date_that_utc_cannot_express_is_refused_in_a_line(
    living_in: In, zone: str, typed: str
) -> None:
    living_in(zone)
    with pytest.raises(InputError, match="too far away") as caught:
        stamp(read_date(typed, NOW))
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_is_a_date_or_refused_when_it_is_typed(text: str) -> None:
    refused = ""
    try:
        stamp(parse_memory(f"facts --at={text}").date("at", NOW))
    except InputError as error:
        refused = str(error)
    assert "\n" not in refused


@given(st.datetimes(timezones=st.timezones() | st.none()))
def test_any_time_is_an_instant_or_refused(at: datetime) -> None:
    try:
        found = stamp(at)
    except InputError:
        assert at.year in (1, 9999)
    else:
        assert len(found) == len("2026-03-01T00:00:00.000000Z")


def test_of_a_time_that_is_there_twice_fold_says_which(living_in: In) -> None:
    living_in("Europe/Berlin")
    twice = datetime(2026, 10, 25, 2, 30)  # noqa: DTZ001 - as a person gives it
    assert stamp(twice) == "2026-10-25T00:30:00.000000Z"
    assert stamp(twice.replace(fold=1)) == "2026-10-25T01:30:00.000000Z"


@pytest.mark.parametrize("given_", ["2026-03-01", NOW.date(), 3, NOW.time()], ids=repr)
def test_what_is_not_a_datetime_is_refused_in_a_line(given_: object) -> None:
    with pytest.raises(InputError, match="must be a datetime"):
        stamp(given_)  # type: ignore[call-overload]
