"""What an extractor is supplied with: exchanges that nobody looked at yet, and the facts there are.

1. A person's words only: exchanges that a program, a command or another agent began, and those
   that were stopped, hold a secret or can't be seen, are never supplied.
2. Records are pinned as they are read, so that it can be told later whether they are still so.
3. Whole exchanges, oldest first; what doesn't fit waits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from memnb.core.bodies import WITHOUT_MEMORY, AssistantBody, UserBody, read_turn_end
from memnb.core.extraction import Supplied, SuppliedExchange
from memnb.core.extraction_prompt import (
    INSTRUCTIONS,
    MAX_INPUT_BYTES,
    MAX_OUTPUT_TOKENS,
    Composed,
    compose,
    own_words,
)
from memnb.core.extraction_replies import BYTES_PER_TOKEN, Form
from memnb.core.file_lines import said_in
from memnb.core.records import Record
from memnb.core.visibility import View
from memnb.core.words import own_spans
from memnb.errors import StoreDamaged
from memnb.memory.history import Histories, History
from memnb.memory.standing import Standings
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = ["output_tokens", "supply", "waiting"]

_MINED_VIA: Final = frozenset({"agent", "api"})
_WHOLE_ENDS: Final = frozenset({"complete", "steps"})
_SAID: Final = frozenset({"user", "assistant", "tool"})
_MOST_EXCHANGES: Final = 200
_FACTS_LOOKED_AT: Final = 1000
_FACTS_JUDGED: Final = 100
_WINDOW_SHARE: Final = 4
_WORD: Final = re.compile(r"\w{3,}")


def waiting(
    histories: Histories,
    session_id: str,
    *,
    mined: Collection[int] = (),
    turns: Collection[int] | None = None,
) -> Iterator[SuppliedExchange]:
    """The exchanges of a session that may be learned from and weren't supplied yet, oldest first.

    Args:
        histories: the project's.
        session_id: which session.
        mined: the numbers of records that were supplied before.
        turns: only these exchanges, by the number of their message; all when left out.

    Raises:
        UnknownId: there is no such session. StoreAltered: it isn't the one that was noted.
    """
    history = histories.whole(session_id)
    seen, asked = histories.view(history), history.entries.asked
    for position, turn in enumerate(asked):
        if turn in mined or (turns is not None and turn not in turns):
            continue
        is_last = position + 1 == len(asked)
        end = history.reader.last_seq + 1 if is_last else asked[position + 1]
        exchange = _exchange(history, seen, turn, end) if seen.shows(turn, "working") else None
        if exchange is not None:
            yield exchange


def supply(
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
) -> Composed | None:
    """What an extractor is given next of a session; None when nothing waits, or nothing fits.

    Whole exchanges, as many as fit; the others wait for the next call.

    Args:
        stores: the project's.
        validator: says which facts hold.
        histories: the project's.
        session_id: which session.
        mined: as for `waiting`.
        turns: as for `waiting`.
        context_tokens: the extractor's window; None when unknown.
        fence: a random word that recorded text can't know.
        form: how it will answer.

    Raises:
        As `waiting`, and StoreError when memory can't be read.
    """
    generation = stores.facts.generation()
    exchanges = tuple(_bounded(waiting(histories, session_id, mined=mined, turns=turns)))
    room = _room(context_tokens, form)
    if not exchanges or room <= 0:
        return None
    words = " ".join(own_words(exchange.message.parts) for exchange in exchanges)
    facts = _known(stores, validator, words)
    supplied = Supplied(session_id, stores.store_id, generation, exchanges, facts)
    composed = compose(supplied, form=form, fence=fence, max_bytes=room)
    return composed if composed.supplied.exchanges else None


def _room(context_tokens: int | None, form: Form) -> int:
    """The bytes that the data may have beside the instructions."""
    whole = MAX_INPUT_BYTES
    if context_tokens is not None:
        left = context_tokens - output_tokens(context_tokens)
        whole = min(whole, left * BYTES_PER_TOKEN)
    return whole - len(INSTRUCTIONS[form].encode()) - len("\n\n")


def output_tokens(context_tokens: int | None) -> int:
    """How long a reply may be of a model with this window."""
    if context_tokens is None:
        return MAX_OUTPUT_TOKENS
    return min(MAX_OUTPUT_TOKENS, context_tokens // _WINDOW_SHARE)


def _exchange(history: History, seen: View, turn: int, end: int) -> SuppliedExchange | None:
    """One exchange with what of it can be seen; None when it may not be learned from."""
    entries = history.entries
    seqs = [seq for seq in range(turn, end) if entries.turn(seq) == turn]
    shown = [seq for seq in seqs if entries.kind(seq).type in _SAID and seen.shows(seq, "working")]
    ends = [seq for seq in seqs if entries.kind(seq).type == "turn_end"]
    records = history.reader.records([*shown, *ends])
    if not any(_is_whole(records.get(seq)) for seq in ends):
        return None
    said = said_in([records.get(seq) for seq in shown])
    message = said.get(turn)
    if not isinstance(message, UserBody) or not _is_minable(message):
        return None
    if any(
        isinstance(one, AssistantBody) and WITHOUT_MEMORY in one.params for one in said.values()
    ):
        return None
    pins = {seq: record.head_digest for seq, record in records.items() if record is not None}
    return SuppliedExchange(turn, said, {seq: pins[seq] for seq in said})


def _is_whole(end: Record | None) -> bool:
    """Whether an exchange came to its end: what was stopped or failed is asked again."""
    try:
        return end is not None and read_turn_end(end).end in _WHOLE_ENDS
    except StoreDamaged:
        return False


def _is_minable(message: UserBody) -> bool:
    return message.via in _MINED_VIA and bool(own_spans(message.parts))


def _bounded(exchanges: Iterator[SuppliedExchange]) -> Iterator[SuppliedExchange]:
    """As many exchanges as could be supplied at once: a long session isn't read to its end."""
    n_bytes = 0
    for n, exchange in enumerate(exchanges):
        if n >= _MOST_EXCHANGES or n_bytes > MAX_INPUT_BYTES:
            return
        yield exchange
        n_bytes += len(own_words(exchange.message.parts).encode())


def _known(stores: Stores, validator: Validator, words: str) -> dict[str, str]:
    """The valid facts that share most words with what is supplied, newest first among equals."""
    with stores.facts.snapshot():
        now = stores.now()
        ids = stores.facts.ids(limit=_FACTS_LOOKED_AT, newest_first=True)
        said = set(_WORD.findall(words.casefold()))
        shared = {
            fact_id: len(said & set(_WORD.findall(text.casefold())))
            for fact_id, _, text in stores.facts.texts(ids, at=now)
        }
        nearest = sorted(ids, key=lambda fact_id: -shared.get(fact_id, 0))[:_FACTS_JUDGED]
        facts = stores.facts.facts(nearest, at=now)
        standings = Standings(stores, validator, now).of(facts)
    usable = [one.fact.current for one in standings if not one.reason]
    return {revision.reference: revision.text for revision in usable}
