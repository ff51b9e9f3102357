"""Candidates for tests: what an extractor would have found in a message of a desk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import memnb
from memnb.core.candidates import Candidate, Extraction
from memnb.core.facts import Quote, Source
from memnb.core.messages import Usage
from memnb.core.settings import LearningMode
from memnb.memory import inbox
from memnb.memory.inbox import Circumstances, Taken
from memories import STORE_ID, Desk, scripted


def said(desk: Desk, message: str) -> int:
    """Say something to a model that only nods; gives the number of the message."""
    desk.ask(message, scripted("Noted."))
    return max(r.head.seq for r in desk.records() if r.head.type == "user")


def quoted(desk: Desk, seq: int, text: str, **options: Any) -> Candidate:
    """A candidate that quotes `text` from one of the desk's messages."""
    (part,) = desk.records()[seq - 1].body["parts"]  # type: ignore[index]
    start = part["text"].index(text)
    ref = desk.memory.validator.source_ref(desk.session_id, [seq])
    source = Source(STORE_ID, ref, Quote(seq, 0, start, start + len(text)))
    values: dict[str, Any] = {
        "kind": "convention",
        "basis": "quote",
        "origin": "learned",
        "confidence": 900,
        **options,
    }
    return Candidate(text, sources=(source,), **values)


def quote(memory: memnb.Memory, text: str) -> str:
    """Ask something through the face for programs, and let all of it wait; gives the id."""
    memory.ask(text, model=scripted("Noted."))
    project = memory.runtime.memory
    session_id = project.session.session_id or ""
    seq = project.histories.of(session_id).entries.asked[-1]
    ref = project.validator.source_ref(session_id, [seq])
    source = Source(project.stores.store_id, ref, Quote(seq, 0, 0, len(text)))
    candidate = Candidate(text, "convention", "quote", (source,), "learned", 900)
    taken = inbox.take(
        project.stores,
        project.validator,
        Extraction(session_id, (seq,), (candidate,), model="local/m"),
        trigger="turn",
        circumstances=Circumstances("review"),
    )
    (candidate_id,) = taken.pending
    return candidate_id


def found(
    desk: Desk, *candidates: Candidate, seqs: Sequence[int] = (), **options: Any
) -> Extraction:
    """An extraction of this session; the records of the candidates were supplied when none are
    named."""
    cited = sorted({seq for c in candidates for s in c.sources for seq in s.ref.seqs})
    values: dict[str, Any] = {"model": "local/m", "usage": Usage(100, 10, 0), **options}
    return Extraction(desk.session_id, tuple(seqs or cited), tuple(candidates), **values)


def take(desk: Desk, extraction: Extraction, mode: LearningMode = "auto", **options: Any) -> Taken:
    """Take an extraction at a desk."""
    trigger = options.pop("trigger", "turn")
    generation = options.pop("generation", None)
    return inbox.take(
        desk.stores,
        desk.memory.validator,
        extraction,
        trigger=trigger,
        circumstances=Circumstances(mode, **options),
        head=desk.memory.session.chain_head,
        generation=generation,
    )


def learn(
    desk: Desk, message: str, text: str = "", mode: LearningMode = "auto", **options: Any
) -> Taken:
    """Say a message, and take a candidate that quotes `text` from it (all of it by default)."""
    return take(
        desk, found(desk, quoted(desk, said(desk, message), text or message, **options)), mode
    )
