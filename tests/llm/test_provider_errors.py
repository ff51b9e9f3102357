from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable, NoModel
from memnb.llm.provider_errors import explain


class InternalServerError(Exception):
    status_code = 500


class RateLimitError(Exception):
    status_code = 429


class Unheard(Exception):
    pass


class Wrapping(Exception):
    def __init__(self, original: Exception) -> None:
        super().__init__("wrapped")
        self.original_exception = original


@pytest.mark.parametrize(
    ("exc", "error"),
    [
        pytest.param(InternalServerError("Missing credentials"), ModelRefused, id="no key"),
        pytest.param(InternalServerError("Connection error."), ModelUnavailable, id="refused"),
        pytest.param(RateLimitError("insufficient_quota"), ModelRefused, id="quota used up"),
        pytest.param(
            Unheard("This model's maximum context length is 4096"), ContextTooLong, id="too long"
        ),
        pytest.param(Unheard("LLM Provider NOT provided"), NoModel, id="no provider"),
        pytest.param(ImportError("No module named 'google'"), NoModel, id="package missing"),
        pytest.param(Wrapping(RateLimitError("slow")), ModelUnavailable, id="wrapped"),
        pytest.param(Unheard("?"), ModelUnavailable, id="anything else"),
    ],
)
def test_a_failure_is_told_by_class_status_or_words(
    exc: Exception, error: type[ModelError]
) -> None:
    assert type(explain(exc, "x/y").error) is error


def test_what_cannot_pass_is_not_transient() -> None:
    assert not explain(RateLimitError("insufficient_quota"), "x/y").transient


def test_the_message_names_model_class_and_status() -> None:
    error = explain(Wrapping(RateLimitError("slow")), "x/y").error
    assert str(error).startswith("x/y is limiting the rate of requests (RateLimitError, 429). ")


@given(
    st.sampled_from([InternalServerError, RateLimitError, Unheard]),
    st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1),
    st.booleans(),
)
def test_no_message_repeats_what_the_provider_said(
    cls: type[Exception], said: str, is_wrapped: bool
) -> None:
    exc: Exception = Wrapping(cls(said)) if is_wrapped else cls(said)
    failure = explain(exc, "x/y")
    assert said not in f"{failure!r} {failure.error} {failure.what}"
