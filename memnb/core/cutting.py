"""What is kept of a text that is too long: its beginning and its end, and what the whole was."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from memnb.core.bodies import Cut

__all__ = ["cut_middle"]

_HEAD_PARTS: Final = 3
_ALL_PARTS: Final = 4
"""Three quarters of what is kept are the beginning: it says what the text is."""


def cut_middle(text: str, max_bytes: int) -> tuple[str, Cut | None]:
    """`text`, or at most `max_bytes` of it with a mark in the middle, and then what was cut."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text, None
    mark = f"\n[… {len(data):,} bytes in all …]\n"
    room = max(0, max_bytes - len(mark.encode()))
    head = room * _HEAD_PARTS // _ALL_PARTS
    beginning = data[:head].decode(errors="ignore")
    end = data[len(data) - (room - head) :].decode(errors="ignore")
    return beginning + mark + end, Cut(len(data), sha256(data).hexdigest())
