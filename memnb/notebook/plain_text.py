"""What a kernel shows, as text for a model: without colours and hidden characters, in a limit."""

from __future__ import annotations

import re
from typing import Final

from memnb.core.escaping import escape_terminal

__all__ = ["plain", "settled", "shortened"]

_ESCAPE_SEQUENCE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])"
)
"""A control sequence, an operating system command, or a short escape. Source: ECMA-48."""


def plain(text: str) -> str:
    """`text` without colours and links, every remaining hidden character spelled out."""
    return escape_terminal(_ESCAPE_SEQUENCE.sub("", text))


def settled(text: str) -> str:
    """`text` as a terminal leaves it: what a carriage return let a progress bar replace is gone."""
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def shortened(text: str, max_bytes: int) -> str:
    """`text`, or its beginning and end with a mark between, in at most `max_bytes` of UTF-8."""
    data = text.encode(errors="replace")
    if len(data) <= max_bytes:
        return data.decode()
    mark = f"\n[… {len(data):,} bytes in all …]\n"
    room = max(0, max_bytes - len(mark.encode()))
    n_head = room * 3 // 4
    head = data[:n_head].decode(errors="ignore")
    tail = data[len(data) - (room - n_head) :].decode(errors="ignore")
    return head + mark + tail
