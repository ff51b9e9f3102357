"""Looking around in sessions: how each begins, and what was said around a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from memnb.core.bodies import read_user
from memnb.core.snippets import snippet
from memnb.core.visibility import View
from memnb.errors import InputError, StoreDamaged, UnknownId
from memnb.memory.history import Histories, History

__all__ = ["DEFAULT_N", "MAX_N", "Around", "around", "first_words"]

DEFAULT_N: Final = 5
MAX_N: Final = 20
"""How many messages an excerpt holds."""

_SAID: Final = frozenset({"user", "assistant", "tool"})
_FIRST_CHARACTERS: Final = 60
_MOST_LOOKED_AT: Final = 20


@dataclass(frozen=True, slots=True)
class Around:
    """The numbers of messages, in order, and whether more can be seen before and behind them."""

    seqs: tuple[int, ...]
    has_earlier: bool = False
    has_later: bool = False


def around(
    histories: Histories, session_id: str, seq: int | None = None, *, n: int = DEFAULT_N
) -> Around:
    """The `n` messages around a record that can be seen.

    As many before as behind it, near an end of the session more on the other side; the last ones
    when `seq` is None.

    Raises:
        UnknownId: there is no such session or record, or it can't be seen any more.
        InputError: `n` is out of bounds.
    """
    if not 1 <= n <= MAX_N:
        raise InputError(f"an excerpt holds 1 to {MAX_N} messages.")
    history = histories.whole(session_id)
    last = history.reader.last_seq
    seen = histories.view(history)
    if seq is not None and not 1 <= seq <= last:
        raise UnknownId(f"session {session_id} ends at record {last}.")
    if seq is not None and not seen.shows(seq, "working"):
        raise UnknownId(f"record {seq} of session {session_id} can't be seen any more.")
    begin = last + 1 if seq is None else seq
    before = list(islice(_said(history, seen, range(begin - 1, 0, -1)), n + 1))
    later = list(islice(_said(history, seen, range(begin, last + 1)), n + 1))
    n_before = min(len(before), max(n // 2, n - len(later)))
    n_later = min(len(later), n - n_before)
    seqs = (*before[:n_before][::-1], *later[:n_later])
    return Around(seqs, len(before) > n_before, len(later) > n_later)


def first_words(history: History, seen: View) -> str:
    """How a person began to talk in a session, as far as it can be seen; "" when they didn't.

    What they stated in commands is no talk.
    """
    asked = (seq for seq in history.entries.asked if seen.shows(seq, "durable"))
    for seq in islice(asked, _MOST_LOOKED_AT):
        record = history.reader.records([seq]).get(seq)
        try:
            parts = read_user(record).parts if record else ()
        except StoreDamaged:
            continue
        typed = " ".join(part.text for part in parts if part.type == "typed")
        if typed.strip():
            return snippet(typed, (), width=_FIRST_CHARACTERS).text
    return ""


def _said(history: History, seen: View, seqs: range) -> Iterator[int]:
    kind = history.entries.kind
    return (seq for seq in seqs if kind(seq).type in _SAID and seen.shows(seq, "working"))
