from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memnb.agent.reply import Answer, UsageTotal
from memnb.notebook.footer import footer_lines

TALK = "S-20261107-091005-7k2m9q"
ANSWER = Answer(
    text="Done.",
    end="complete",
    model="scripted",
    session_id="S-20261130-091005-7k2m9q",
    message_seq=2,
    turn=1,
    n_tools=0,
    usage=UsageTotal(input_tokens=1400, output_tokens=12),
    carried=(),
    cited=(),
    remembered=(),
    not_done=(),
    notices=(),
    requests=(),
    seconds=3.21,
)


def footer(**changes: Any) -> str:
    return "\n".join(footer_lines(replace(ANSWER, **changes)))


FOOTERS: list[tuple[str, dict[str, Any]]] = [
    ("plain", {}),
    (
        "everything",
        {
            "turn": 12,
            "n_tools": 2,
            "carried": ("F-1b8hyr@1", "F-7k2m9q@2", "F-aaaaaa@1"),
            "cited": ("F-1b8hyr@1",),
            "remembered": ("F-7k2m9q@3",),
            "not_done": ("memory_forget: forget F-1b8hyr for good: you said no.",),
        },
    ),
    ("tools that kept nothing", {"n_tools": 1, "carried": ("F-1b8hyr@1",)}),
    (
        "recalled",
        {"carried": ("F-1b8hyr@1", f"{TALK}:2", f"{TALK}:3"), "cited": (f"{TALK}:2",)},
    ),
    ("only recalled", {"carried": (f"{TALK}:2",)}),
    ("unknown tokens", {"usage": UsageTotal(n_unknown=1)}),
    ("partly unknown", {"usage": UsageTotal(input_tokens=1412, n_unknown=2)}),
    ("one token", {"usage": UsageTotal(input_tokens=1)}),
    ("interrupted", {"end": "interrupted"}),
    ("private", {"message_seq": None, "session_id": None}),
    ("private interrupted", {"message_seq": None, "end": "interrupted"}),
    ("a probe", {"without": ("F-1b8hyr", "F-7k2m9q"), "carried": ("F-aaaaaa@1",)}),
    ("a private probe", {"without": ("F-1b8hyr",), "message_seq": None}),
    ("steps", {"end": "steps", "n_tools": 8}),
    ("failed", {"end": "failed"}),
    ("paused", {"end": "paused"}),
    ("lost", {"end": "lost"}),
    ("slow", {"seconds": 125.4}),
    ("many", {"remembered": tuple(f"F-{n:06}@1" for n in range(8)), "n_tools": 8}),
    (
        "the same reason twice",
        {"n_tools": 2, "not_done": ("f: run Python: nobody to ask here.",) * 2},
    ),
    ("notices", {"notices": ("the window had no room\nfor more", "MEMORY.md was cut")}),
]


def test_footers_are_as_kept(golden: Callable[[str, str], None]) -> None:
    text = "".join(f"# {name}\n{footer(**changes)}\n" for name, changes in FOOTERS)
    golden("footers.txt", text)


@pytest.mark.parametrize("changes", [changes for _, changes in FOOTERS], ids=dict(FOOTERS))
def test_a_footer_is_one_line_and_a_line_for_each_notice(changes: dict[str, Any]) -> None:
    lines = footer(**changes).split("\n")
    assert len(lines) == 1 + len(changes.get("notices", ()))
    assert all(line.startswith("▸ ") for line in lines)
