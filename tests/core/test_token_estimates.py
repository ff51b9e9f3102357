from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.messages import Call, Message, Request, ToolSpec
from memnb.core.token_estimates import CEILING, FLOOR, Calibration, request_tokens


def request(text: str = "hello", **options: object) -> Request:
    return Request("guidance", "", (Message("user", text),), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("longer", "shorter"),
    [
        pytest.param(request("x" * 90), request(), id="message"),
        pytest.param(request(tools=(ToolSpec("t", "d", {}),)), request(), id="tool"),
        pytest.param(Request("guidance", "memory", request().messages), request(), id="memory"),
        pytest.param(
            Request("g", "", (Message("assistant", "", calls=(Call("c", "n", "{}" * 9),)),)),
            Request("g", "", (Message("assistant", ""),)),
            id="call",
        ),
    ],
)
def test_everything_sent_is_counted(longer: Request, shorter: Request) -> None:
    assert request_tokens(longer) > request_tokens(shorter)


def test_a_text_that_no_encoding_holds_is_counted_too() -> None:
    assert request_tokens(request("\ud800" * 30)) >= 10


def test_a_model_that_reports_nothing_stays_with_the_careful_estimate() -> None:
    calibration = Calibration()
    for _ in range(9):
        calibration.note("m", 1000, None)
    assert calibration.tokens("m", 1000) == 1000


def test_one_report_of_more_raises_the_estimate_at_once() -> None:
    calibration = Calibration()
    calibration.note("m", 1000, 1400)
    assert calibration.tokens("m", 1000) >= 1400


def test_reports_of_less_lower_it_only_when_there_are_several() -> None:
    calibration = Calibration()
    for _ in range(2):
        calibration.note("m", 1000, 700)
        assert calibration.tokens("m", 1000) == 1000
    calibration.note("m", 1000, 700)
    assert 700 < calibration.tokens("m", 1000) < 1000


@pytest.mark.parametrize(
    ("estimated", "reported"),
    [
        pytest.param(100, 900, id="too small a request"),
        pytest.param(1000, 10, id="only what wasn't cached"),
        pytest.param(1000, 10_000, id="more than bytes allow"),
    ],
)
def test_what_cannot_be_is_not_believed(estimated: int, reported: int) -> None:
    calibration = Calibration()
    for _ in range(9):
        calibration.note("m", estimated, reported)
    assert calibration.factor("m") == 1.0


def test_each_model_has_its_own() -> None:
    calibration = Calibration()
    calibration.note("a", 1000, 1900)
    assert calibration.factor("b") == 1.0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.none() | st.integers(0, 10**7)), max_size=30))
def test_the_factor_never_leaves_its_bounds(reports: list[tuple[int, int | None]]) -> None:
    calibration = Calibration()
    for estimated, reported in reports:
        calibration.note("m", estimated, reported)
    assert FLOOR <= calibration.factor("m") <= CEILING * 1.11
