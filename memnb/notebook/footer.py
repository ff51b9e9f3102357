"""The lines below an answer: what the turn cost, carried, used, kept and left undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memnb.agent.reply import Answer, UsageTotal

__all__ = ["MARK", "footer_lines"]

MARK: Final = "▸"

_MAX_LISTED: Final = 5
_LONG_SECONDS: Final = 100


def footer_lines(answer: Answer) -> tuple[str, ...]:
    """The footer of a turn, then a line for each notice.

    The first is such as `▸ turn 1 · 1 tool · 1,412 tokens · carried 3 facts · 3.2 s`.
    """
    return (
        f"{MARK} {' · '.join(_pieces(answer))}",
        *(f"{MARK} {_one_line(notice)}" for notice in answer.notices),
    )


def _pieces(answer: Answer) -> Iterator[str]:
    if answer.without:
        yield f"probe without {', '.join(map(_one_line, answer.without))}, not carried on"
    yield "private, not recorded" if answer.message_seq is None else f"turn {answer.turn}"
    yield _count(answer.n_tools, "tool")
    yield _tokens(answer.usage)
    if answer.carried:
        yield f"carried {_carried(answer.carried)}"
    if answer.cited:
        yield f"used {_listed(answer.cited)}"
    if answer.remembered:
        yield f"remembered {_listed(answer.remembered)}"
    elif answer.n_tools:
        yield "remembered nothing"
    if answer.not_done:
        reasons = (_one_line(reason).rstrip(".") for reason in answer.not_done)
        yield f"not done: {'; '.join(dict.fromkeys(reasons))}"
    end = _end(answer)
    if end:
        yield end
    yield f"{answer.seconds:.1f} s" if answer.seconds < _LONG_SECONDS else f"{answer.seconds:.0f} s"


def _tokens(usage: UsageTotal) -> str:
    n_known = usage.input_tokens + usage.output_tokens
    if not usage.n_unknown:
        return _count(n_known, "token")
    calls = _count(usage.n_unknown, "call")
    if not n_known:
        return f"tokens unknown ({calls})"
    return f"{_count(n_known, 'token')} + {calls} unknown"


def _end(answer: Answer) -> str:
    match answer.end:
        case "complete":
            return ""
        case "interrupted":
            return (
                "stopped by you"
                if answer.message_seq is None
                else "stopped by you, kept as partial"
            )
        case "steps":
            return f"stopped after {_count(len(answer.requests), 'request')}, the most allowed"
        case "failed":
            return "failed"
        case "paused":
            return "paused: the conversation no longer fits the model"
        case "lost":
            return "lost when the kernel ended"


def _listed(references: Sequence[str]) -> str:
    """What references such as `F-7k2m9q@1` and `S-…:12` name, each once."""
    ids = list(dict.fromkeys(_one_line(ref.partition("@")[0]) for ref in references))
    n_more = len(ids) - _MAX_LISTED
    return ", ".join(ids[:_MAX_LISTED]) + (f" and {n_more:,} more" if n_more > 0 else "")


def _carried(references: Sequence[str]) -> str:
    """How many facts, and how many messages of earlier sessions that came to mind."""
    n_facts = sum(reference.startswith("F-") for reference in references)
    counts = (_count(n_facts, "fact"), _count(len(references) - n_facts, "message"))
    return " and ".join(text for text in counts if not text.startswith("0 "))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
