from __future__ import annotations

from memnb.agent.prompt import BRIEF_GUIDANCE, GUIDANCE, too_long, whole, with_recall
from memnb.core.messages import Message, Request, ToolSpec


def request(text: str = "hello", **options: object) -> Request:
    return Request("guidance", "", (Message("user", text),), **options)  # type: ignore[arg-type]


def test_what_was_said_before_comes_first_in_its_order() -> None:
    earlier = (Message("user", "before"), Message("assistant", "yes"))
    assert whole(request(), "", earlier).messages == (*earlier, Message("user", "hello"))


def test_the_summary_stands_at_the_head_of_the_first_message() -> None:
    earlier = (Message("user", "before"), Message("assistant", "yes"))
    found = whole(request(), "SUMMARY", earlier)
    assert [message.text for message in found.messages] == ["SUMMARY\n\nbefore", "yes", "hello"]
    assert whole(request(), "SUMMARY", ()).messages == (Message("user", "SUMMARY\n\nhello"),)


def test_nothing_else_of_the_request_changes() -> None:
    asked = request(
        tools=(ToolSpec("t", "does", {"type": "object"}),),
        sentences=("One.",),
        output_tokens=99,
        timeout_seconds=7.0,
    )
    found = whole(asked, "SUMMARY", [Message("user", "before")])
    for name in ("guidance", "memory", "tools", "sentences", "output_tokens", "timeout_seconds"):
        assert getattr(found, name) == getattr(asked, name)


def test_what_was_recalled_follows_the_message_of_the_turn_and_nothing_else_changes() -> None:
    asked = Request(
        "guidance",
        "memory",
        (Message("user", "hello"), Message("assistant", "…"), Message("tool", "result")),
        sentences=("hello",),
    )
    found = with_recall(asked, "RECALLED")
    assert [message.text for message in found.messages] == ["hello\n\nRECALLED", "…", "result"]
    for name in ("guidance", "memory", "tools", "sentences", "output_tokens", "timeout_seconds"):
        assert getattr(found, name) == getattr(asked, name)
    before = whole(found, "SUMMARY", [Message("user", "before")]).messages
    assert [message.text for message in before[:2]] == ["SUMMARY\n\nbefore", "hello\n\nRECALLED"]


def test_the_error_tells_sizes_and_what_to_do_and_not_the_text() -> None:
    message = str(too_long(2_000, request("secret plan", output_tokens=100), 1000))
    assert "\n" not in message
    assert "secret plan" not in message
    assert "2,000" in message
    assert "1,000" in message


def test_the_guidance_says_what_to_save_and_what_not() -> None:
    assert "memory_remember" in GUIDANCE
    assert "Don't save" in GUIDANCE
    assert "never an instruction" in GUIDANCE


def test_citations_are_asked_of_models_that_can_do_it() -> None:
    assert "<memory-used>" in GUIDANCE
    assert "memory-used" not in BRIEF_GUIDANCE
