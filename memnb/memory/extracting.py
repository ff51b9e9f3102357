"""Extracting: a model proposes what to keep of a session, and the contract of evidence decides.

1. What was supplied is compared again after the model answered: when anything was forgotten,
   undone, cleared or changed meanwhile, the whole answer is void.
2. Nothing is written here, and no failure of a model is raised: it is a reason.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field

from memnb.core import extraction
from memnb.core.candidates import Candidate, Extraction, Reason
from memnb.core.canonical import clean_text
from memnb.core.extraction import Supplied
from memnb.core.extraction_prompt import INSTRUCTIONS
from memnb.core.extraction_replies import (
    BYTES_PER_TOKEN,
    SCHEMAS,
    Claimed,
    Form,
    quoted_claims,
    selected_claims,
)
from memnb.core.messages import Call, Cancel, Event, Message, Model, Request, Stop, Text, Usage
from memnb.errors import MemnbError
from memnb.memory.history import Histories
from memnb.memory.stores import Stores
from memnb.memory.supplying import output_tokens, supply
from memnb.memory.validation import Validator

__all__ = ["Form", "extract", "failed", "preview", "settle"]


def extract(
    stores: Stores,
    validator: Validator,
    histories: Histories,
    model: Model,
    *,
    session_id: str,
    mined: Collection[int] = (),
    turns: Collection[int] | None = None,
    cancel: Cancel,
    fence: str,
    form: Form = "quoting",
    timeout_seconds: float = 120.0,
) -> Extraction:
    """Ask a model what of a session should be kept, and give what of it holds.

    Without seqs nothing was waiting and no model was asked. Of a request that was cancelled
    nothing is known: it counts as incomplete, and what was supplied may be supplied again.

    Raises:
        As `supply`; never for what a model does.
    """
    composed = supply(
        stores,
        validator,
        histories,
        session_id=session_id,
        mined=mined,
        turns=turns,
        context_tokens=model.context_tokens,
        fence=fence,
        form=form,
    )
    if composed is None:
        return Extraction(session_id, ())
    request = Request(
        guidance=INSTRUCTIONS[form],
        memory="",
        messages=(Message("user", composed.text),),
        output_tokens=output_tokens(model.context_tokens),
        timeout_seconds=timeout_seconds,
        schema=SCHEMAS[form],
    )
    reply = _Reply(request.output_tokens * BYTES_PER_TOKEN)
    failure = reply.take(model, request, cancel)
    supplied = composed.supplied
    if failure is not None:
        return failed(supplied, failure, model=model.name, usage=reply.usage)
    claims = (
        quoted_claims(reply.text)
        if form == "quoting"
        else selected_claims(reply.text, composed.spans)
    )
    if isinstance(claims, str):
        return failed(supplied, claims, model=model.name, usage=reply.usage)
    return settle(stores, histories, supplied, claims, model=model.name, usage=reply.usage)


def settle(
    stores: Stores,
    histories: Histories,
    supplied: Supplied,
    claims: Sequence[Claimed | Reason],
    *,
    model: str,
    usage: Usage | None,
) -> Extraction:
    """The candidates among claims about what was supplied, if it is still as it was then."""
    try:
        if _is_stale(stores, histories, supplied):
            return failed(supplied, "stale_context", model=model, usage=usage)
        judged = extraction.judge(claims, supplied)
        kept = _with_same_facts(stores, judged.candidates)
    except MemnbError:
        return failed(supplied, "extraction_error", model=model, usage=usage)
    reasons: dict[Reason, int] = dict(judged.reasons)
    if len(kept) < len(judged.candidates):
        reasons["stale_context"] = len(judged.candidates) - len(kept)
    return Extraction(supplied.session_id, supplied.seqs, kept, reasons, model=model, usage=usage)


def failed(supplied: Supplied, reason: Reason, *, model: str, usage: Usage | None) -> Extraction:
    """A call that gave nothing, for one reason."""
    return Extraction(
        supplied.session_id,
        supplied.seqs,
        reasons={reason: 1},
        failure=reason,
        model=model,
        usage=usage,
    )


def preview(
    stores: Stores,
    validator: Validator,
    histories: Histories,
    *,
    session_id: str,
    mined: Collection[int] = (),
    turns: Collection[int] | None = None,
    context_tokens: int | None = None,
    fence: str,
    form: Form = "quoting",
) -> str:
    """What an extractor would be sent next, to the letter: instructions, a blank line, the data.

    Empty when nothing is waiting. Nobody is asked.

    Raises:
        As `supply`.
    """
    composed = supply(
        stores,
        validator,
        histories,
        session_id=session_id,
        mined=mined,
        turns=turns,
        context_tokens=context_tokens,
        fence=fence,
        form=form,
    )
    return "" if composed is None else f"{INSTRUCTIONS[form]}\n\n{composed.text}"


@dataclass(slots=True)
class _Reply:
    """A reply as far as it came, at most so many bytes of it."""

    max_bytes: int
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    _n_bytes: int = 0
    _called: bool = False
    _stop: str = ""

    def take(self, model: Model, request: Request, cancel: Cancel) -> Reason | None:
        """Take the reply to a request; gives why it is of no use, if it isn't."""
        events = model.stream(request, cancel)
        try:
            with contextlib.closing(_closable(events)):
                for event in events:
                    self._add(event)
                    if self._called or self._n_bytes > self.max_bytes:
                        break
        except MemnbError:
            return "extraction_error"
        if self._called or self._stop == "calls":
            return "unexpected_tool_calls"
        if self._n_bytes > self.max_bytes:
            return "output_too_large"
        return None if self._stop == "end" else "incomplete_response"

    def _add(self, event: Event) -> None:
        if isinstance(event, Text):
            self.text += event.text
            self._n_bytes += len(clean_text(event.text).encode())
        elif isinstance(event, Call):
            self._called = True
        elif isinstance(event, Usage):
            self.usage = event.credible()
        elif isinstance(event, Stop):
            self._stop = event.reason


def _closable(events: Iterator[Event]) -> Generator[Event] | _Nothing:
    return events if isinstance(events, Generator) else _Nothing()


class _Nothing:
    def close(self) -> None:
        """Nothing is held open."""


def _is_stale(stores: Stores, histories: Histories, supplied: Supplied) -> bool:
    """Whether what was supplied isn't as it was, or may not be used any more."""
    if stores.facts.generation() != supplied.generation:
        return True
    session = histories.evidence(supplied.session_id, supplied.seqs, ())
    if session is None or not session.is_whole or session.store_id != supplied.store_id:
        return True
    return any(
        session.pins.get(seq) != pin or not session.seen.shows(seq, "working")
        for seq, pin in supplied.pins.items()
    )


def _with_same_facts(stores: Stores, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that contradict no fact which was changed since it was supplied."""
    named = {reference for one in candidates for reference in one.conflicts}
    if not named:
        return tuple(candidates)
    ids = sorted({reference.partition("@")[0] for reference in named})
    facts = stores.facts.facts(ids, at=stores.now())
    now = {fact.current.reference for fact in facts}
    return tuple(one for one in candidates if now.issuperset(one.conflicts))
