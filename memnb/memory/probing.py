"""Probes: turns that are answered as if some facts weren't known, to see what these change.

A probe is recorded, and hidden as by an undo before the model is asked. So nothing of it is
context, evidence or the source of a summary later, not for an older memnb either. It stays hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from memnb.core.bodies import WITHOUT_FACTS, read_assistant
from memnb.core.section import Section
from memnb.errors import StoreDamaged
from memnb.memory.history import History

__all__ = ["caveats", "params", "probed_without"]

_BETWEEN: Final = ","


def params(without: Iterable[str]) -> dict[str, str]:
    """What the replies of a turn say of the facts that it was answered without; nothing of none."""
    named = _BETWEEN.join(without)
    return {WITHOUT_FACTS: named} if named else {}


def caveats(
    section: Section,
    without: Iterable[str],
    session_id: str | None,
    carries: Callable[[Iterable[int]], bool],
) -> Iterator[str]:
    """What to know of a probe: which facts it doesn't show the effect of, and why.

    Args:
        section: the memory of a request.
        without: the facts that are left out.
        session_id: the present session.
        carries: whether the conversation that is sent holds one of these records of it.
    """
    choices = {choice.fact.fact_id: choice for choice in section.choices}
    for fact_id in without:
        choice = choices.get(fact_id)
        if choice is None or choice.reason != "asked without it":
            yield f"{fact_id} isn't in the prompt anyway; `%memory fact {fact_id}` says why"
        elif carries(
            seq
            for source in choice.fact.current.sources
            if source.ref.session_id == session_id
            for seq in source.ref.seqs
        ):
            yield (
                f"what {fact_id} was taken from is in this conversation, which was sent as it is;"
                " `--new` leaves it behind"
            )


def probed_without(history: History, turn: int) -> tuple[str, ...]:
    """The facts that a turn was answered without; none when it was no probe.

    Args:
        history: the session.
        turn: the number of the message that was answered.
    """
    entries = history.entries
    for seq in range(turn + 1, len(entries) + 1):
        kind = entries.kind(seq)
        if kind.asks:
            break
        if kind.type != "assistant" or entries.turn(seq) != turn:
            continue
        record = history.reader.records([seq]).get(seq)
        try:
            named = "" if record is None else read_assistant(record).params.get(WITHOUT_FACTS, "")
        except StoreDamaged:
            continue
        return tuple(filter(None, named.split(_BETWEEN)))
    return ()
