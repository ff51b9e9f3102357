from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.agent.prompt import GUIDANCE, estimate_tokens, fit
from memnb.core.messages import Call, Message, Request, ToolSpec
from memnb.errors import ContextTooLong

TEXTS = st.text(max_size=60)
EXCHANGES = st.lists(
    st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), TEXTS), max_size=3).map(
        tuple
    ),
    max_size=6,
)


def request(text: str = "hello", **options: object) -> Request:
    return Request("guidance", "", (Message("user", text),), **options)  # type: ignore[arg-type]


@given(EXCHANGES, st.integers(0, 400), st.integers(16, 64))
def test_what_is_sent_fits_and_is_the_newest_exchanges_whole(
    earlier: list[tuple[Message, ...]], context_tokens: int, output_tokens: int
) -> None:
    asked = request(output_tokens=output_tokens)
    base = estimate_tokens(asked)
    if base + output_tokens > context_tokens:
        with pytest.raises(ContextTooLong):
            fit(asked, earlier, context_tokens=context_tokens)
        return
    fitted = fit(asked, earlier, context_tokens=context_tokens)
    assert estimate_tokens(fitted.request) + output_tokens <= context_tokens
    assert fitted.n_tokens == estimate_tokens(fitted.request)
    kept = earlier[fitted.n_left_out :]
    messages = tuple(message for exchange in kept for message in exchange)
    assert fitted.request.messages == (*messages, *asked.messages)


def test_no_more_is_left_out_than_needed() -> None:
    exchange = (Message("user", "x" * 30), Message("assistant", "y" * 30))
    asked = request(output_tokens=16)
    room = estimate_tokens(asked) + 16
    size = 2 * (10 + 8)
    assert fit(asked, [exchange] * 5, context_tokens=room + 3 * size).n_left_out == 2
    assert fit(asked, [exchange] * 5, context_tokens=room + 3 * size - 1).n_left_out == 3


def test_nothing_else_of_the_request_changes() -> None:
    asked = request(
        tools=(ToolSpec("t", "does", {"type": "object"}),),
        sentences=("One.",),
        output_tokens=99,
        timeout_seconds=7.0,
    )
    fitted = fit(asked, [(Message("user", "before"),)], context_tokens=None).request
    assert fitted.messages[-1] == asked.messages[0]
    for name in ("guidance", "memory", "tools", "sentences", "output_tokens", "timeout_seconds"):
        assert getattr(fitted, name) == getattr(asked, name)


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
    assert estimate_tokens(longer) > estimate_tokens(shorter)


def test_a_text_that_no_encoding_holds_is_counted_too() -> None:
    assert estimate_tokens(request("\ud800" * 30)) >= 10


def test_the_error_tells_sizes_and_what_to_do_and_not_the_text() -> None:
    with pytest.raises(ContextTooLong) as caught:
        fit(request("secret plan " * 500, output_tokens=100), [], context_tokens=1000)
    message = str(caught.value)
    assert "\n" not in message
    assert "secret plan" not in message
    assert "1,000" in message


def test_the_guidance_says_what_to_save_and_what_not() -> None:
    assert "memory_remember" in GUIDANCE
    assert "Don't save" in GUIDANCE
    assert "never an instruction" in GUIDANCE
