from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import ids
from memnb.errors import UnknownId

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(
    min_value=datetime(2000, 1, 2),  # noqa: DTZ001 - hypothesis wants naive bounds
    max_value=datetime(2199, 12, 30),  # noqa: DTZ001
    timezones=ZONES,
)
BYTES_16 = st.binary(min_size=16, max_size=16)


def source(data: bytes) -> ids.RandomBytes:
    return lambda n: data[:n]


@given(BYTES_16)
def test_every_new_id_has_the_form_of_its_kind(data: bytes) -> None:
    now = datetime(2026, 11, 30, 9, 10, 5, tzinfo=UTC)
    assert ids.STORE_ID.match(ids.store_id(source(data)))
    assert ids.require_fact_id(ids.fact_id(source(data)))
    assert ids.require_session_id(ids.session_id(now, source(data)))


def test_an_id_shows_the_random_bytes_and_nothing_else() -> None:
    assert ids.fact_id(source(bytes(range(6)))) == "F-012345"
    assert ids.fact_id(source(bytes([31, 255, 32, 18, 19, 20]))) == "F-zz0jkm"
    assert ids.store_id(source(bytes(range(16)))) == "P-0123456789abcdef"


def test_a_session_id_names_its_second_in_utc() -> None:
    now = datetime(2026, 11, 30, 10, 10, 5, 999_999, tzinfo=timezone(timedelta(hours=1)))
    assert ids.session_id(now, source(bytes(6))) == "S-20261130-091005-000000"


@given(TIMES, TIMES)
def test_text_order_of_stamps_is_time_order(one: datetime, other: datetime) -> None:
    assert (ids.stamp(one) < ids.stamp(other)) == (one < other)
    assert (ids.stamp(one) == ids.stamp(other)) == (one == other)


@given(TIMES, TIMES)
def test_session_ids_sort_by_their_second(one: datetime, other: datetime) -> None:
    first, second = (ids.session_id(time, source(bytes(6))) for time in (one, other))
    seconds = [time.astimezone(UTC).replace(microsecond=0) for time in (one, other)]
    assert (first < second) == (seconds[0] < seconds[1])


def test_a_stamp_has_six_digits_also_on_the_full_second() -> None:
    assert ids.stamp(datetime(2026, 11, 30, 9, 10, 5, tzinfo=UTC)) == "2026-11-30T09:10:05.000000Z"


def test_a_stamp_of_an_early_year_is_as_long_as_any() -> None:
    assert ids.stamp(datetime(987, 1, 2, tzinfo=UTC)) == "0987-01-02T00:00:00.000000Z"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("F-", id="prefix only"),
        pytest.param("F-7k2m9", id="too short"),
        pytest.param("F-7k2m9qq", id="too long"),
        pytest.param("f-7k2m9q", id="lower-case letter of the kind"),
        pytest.param("F-7K2M9Q", id="upper case"),
        pytest.param("F-7k2m9i", id="letter left out of base32"),
        pytest.param("F-7k2m9q\n", id="newline after it"),
        pytest.param(" F-7k2m9q", id="blank before it"),
        pytest.param("F-7k2m9q@1", id="reference to a revision"),
        pytest.param("P-7k2m9q", id="another kind"),
        pytest.param("F-７k2m9q", id="full-width digit"),
    ],
)
def test_what_is_no_fact_id_is_refused(text: str) -> None:
    with pytest.raises(UnknownId):
        ids.require_fact_id(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("S-20261130-091005", id="prefix"),
        pytest.param("S-20261130-091005-7k2m9q.jsonl", id="file name"),
        pytest.param("../S-20261130-091005-7k2m9q", id="path"),
        pytest.param("S-20261130-091005-7k2m9q/", id="slash after it"),
        pytest.param("S-20261130-091005-7k2m9q\n", id="newline after it"),
        pytest.param("S-20261130-091005-7k2m9q\0", id="NUL after it"),
        pytest.param("S-20261130-091005-7K2M9Q", id="upper case"),
        pytest.param("S-20261130-091005-7k2m9l", id="letter left out of base32"),
        pytest.param("S-٢٠٢٦١١٣٠-٠٩١٠٠٥-7k2m9q", id="Arabic-Indic digits"),
        pytest.param("S-２０２６１１３０-091005-7k2m9q", id="full-width digits"),
        pytest.param("latest", id="alias"),
    ],
)
def test_what_is_no_session_id_is_refused(text: str) -> None:
    with pytest.raises(UnknownId):
        ids.require_session_id(text)


@pytest.mark.parametrize(
    "require", [ids.require_fact_id, ids.require_session_id], ids=["fact", "session"]
)
def test_the_refusal_does_not_repeat_what_was_typed(require: Callable[[str], str]) -> None:
    with pytest.raises(UnknownId) as caught:
        require("sk-secret-0123456789")
    assert "sk-secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
