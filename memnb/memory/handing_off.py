"""A handoff: another session goes on from a summary of this one, as its seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memnb.core.bodies import Part, UserBody
from memnb.core.summary_bodies import HandoffBody
from memnb.errors import InputError
from memnb.memory.compacting import Compaction, Writer, compact_session
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.summaries import SEED_ESSENTIALS, SEED_SUMMARY, Summary

__all__ = ["HandedOff", "hand_off"]


@dataclass(frozen=True, slots=True)
class HandedOff:
    """What a handoff did.

    Args:
        ended: the session that is ended.
        begun: the session that goes on.
        n_bytes: of the seed.
        compaction: what was summarised for it.
    """

    ended: str
    begun: str
    n_bytes: int
    compaction: Compaction


def hand_off(
    memory: ProjectMemory, *, fence: str, window: int | None, writer: Writer | None
) -> HandedOff:
    """Summarise all of the live session, end it, and begin another with the summary as its seed.

    Where the model's reply is no summary, rules alone write it.

    Args:
        memory: the project's.
        fence: a random word that stored text can't know.
        window: the model's window in tokens; None when unknown.
        writer: who writes; None: rules alone.

    Raises:
        InputError: there is nothing to hand over. Refused: a turn is running.
    """
    done = compact_session(memory, fence=fence, window=window, writer=writer, min_raw=0)
    if done.refusal is not None:
        more = compact_session(memory, fence=fence, window=window, writer=None, min_raw=0)
        done = replace(done, written=(*done.written, *more.written))
    summary = _summary(memory)
    ended = memory.session.session_id or ""
    handoff = HandoffBody(ended, summary.seq, summary.digest)
    texts = ((SEED_SUMMARY, summary.text), (SEED_ESSENTIALS, summary.essentials))
    parts = tuple(Part("seed", text, name) for name, text in texts if text)
    memory.session.end("handoff")
    memory.session.append(handoff.draft(), UserBody("command", parts, asks=False).draft())
    n_bytes = sum(len(part.text.encode()) for part in parts)
    return HandedOff(ended, memory.session.session_id or "", n_bytes, done)


def _summary(memory: ProjectMemory) -> Summary:
    history = memory.session.history()
    if history is not None:
        found = memory.summaries.current(history, memory.histories.view(history))
        if found is not None and found.n_chained and found.whole:
            return found
    raise InputError(
        "there is nothing to hand over: nothing in this session can be seen, or rules found nothing"
        " that must survive. `%memory new` begins an empty one."
    )
