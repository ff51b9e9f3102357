"""Where a text stands in what the person typed: the evidence for everything a model saves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from memnb.core.bodies import Part, read_user
from memnb.core.facts import Quote, Source
from memnb.core.visibility import View
from memnb.core.words import find_span, sentence_around
from memnb.errors import StoreDamaged
from memnb.memory.history import History
from memnb.memory.validation import Validator

__all__ = ["Found", "Typed", "TypedMessages", "find_quote"]

_END_MARKS: Final = ".!…。！ "  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Typed:
    """One message of the person, and where it is recorded."""

    session_id: str
    seq: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A text in a message."""

    session_id: str
    quote: Quote
    sentence: str
    """The sentence or sentences that the text stands in, as they were typed."""

    @property
    def is_sentence(self) -> bool:
        """Whether the text is all of what was said there, and no question."""
        length = self.quote.end - self.quote.start
        return length >= len(self.sentence.rstrip(_END_MARKS)) and "?" not in self.sentence

    def shown(self, text: str) -> str:
        """The text for a person to approve: within its sentence when it is a part of one."""
        return text if self.is_sentence else f"{text}\n  from: {self.sentence}"

    def source(self, validator: Validator, store_id: str) -> Source:
        """The evidence, pinned to the record as it is now."""
        ref = validator.source_ref(self.session_id, [self.quote.seq])
        return Source(store_id, ref, self.quote)


def find_quote(messages: Iterable[Typed], text: str) -> Found | None:
    """Where `text` stands in the person's own words, in the first of `messages` that has it."""
    for message in messages:
        span = find_span(message.parts, text)
        if span is not None:
            quote = Quote(message.seq, span.part, span.start, span.end)
            return Found(message.session_id, quote, sentence_around(message.parts, span))
    return None


class TypedMessages:
    """What the person typed to the agent and can be seen, newest first.

    A session may be long, and most of it is never looked for, so it is read as far as it is.
    """

    def __init__(self, history: History | None = None, seen: View | None = None) -> None:
        """The messages of a session; none without one."""
        self._read: list[Typed] = []
        self._rest = iter(()) if history is None or seen is None else _earlier(history, seen)

    def add(self, message: Typed) -> None:
        """Take in the message that was typed now."""
        self._read.insert(0, message)

    def __iter__(self) -> Iterator[Typed]:
        """The messages, newest first."""
        yield from self._read
        for message in self._rest:
            self._read.append(message)
            yield message


def _earlier(history: History, seen: View) -> Iterator[Typed]:
    for seq in reversed(history.entries.asked):
        if not seen.shows(seq, "working"):
            continue
        record = history.reader.records([seq])[seq]
        if record is None:
            continue
        try:
            body = read_user(record)
        except StoreDamaged:
            continue
        yield Typed(history.session_id, seq, body.parts)
