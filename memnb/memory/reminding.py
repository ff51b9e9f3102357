"""Automatic recall: what fits a message of earlier talks, notes and facts, found before it is sent.

1. It must never hold a turn up or end it: what can't be found in a blink isn't looked for, and
   whatever goes wrong is a line of `why`.
2. The index is read as it is. It only proposes: each passage is read again from where it stands,
   and nothing is shown that can't be seen any more.
3. A block is for one message. The next is asked about anew, so that a change of topic leaves
   nothing behind.
4. Summaries are left out: the messages that they stand for are looked through themselves, and
   whether a summary holds can't be told in a blink.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final

from memnb.core import recall_block
from memnb.core.bodies import Part
from memnb.core.passages import Passage, Source
from memnb.core.query import Query, understand
from memnb.core.ranking import Candidates, rank
from memnb.core.recall_block import Recall, WhyOut, Wording
from memnb.core.recall_gate import Gate, asked
from memnb.core.section import Section
from memnb.errors import IndexUnusable
from memnb.memory.index_steps import GENERATION
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.rereading import Rereading
from memnb.storage import index_positions, passage_table
from memnb.storage.search_index import Connection

__all__ = ["CONSIDERED", "Places", "proposed", "remind"]

_SOURCES: Final[tuple[Source, ...]] = ("fact", "note", "message")
_CANDIDATES: Final = 20
CONSIDERED: Final = 20
"""Of each source are weighed so many, and of all together considered."""

_LONGEST: Final = 50_000
_MOST_PLACES: Final = 200
_STEM: Final = 4
"""A word of so many letters may have an ending."""

_SECONDS: Final = 0.1
"""The longest that the index is read; it takes a tenth of that when it is large and warm."""


def remind(
    memory: ProjectMemory,
    parts: Sequence[Part],
    section: Section,
    *,
    fence: str,
    window: int | None = None,
    without: Collection[str] = (),
) -> Recall:
    """What a message is sent with.

    Args:
        memory: the project's.
        parts: the message.
        section: the memory that the request carries anyway.
        fence: a random word, which stored text can't know.
        window: of the model, in tokens; None when unknown.
        without: the ids of facts that a probe leaves out, with what they were taken from.
    """
    try:
        return _reminded(memory, parts, section, fence, window, without)
    except IndexUnusable as error:
        return Recall(notice=f"nothing was recalled: {error}")
    except Exception as error:  # whatever it is, the turn goes on
        return Recall(notice=f"nothing was recalled: {type(error).__name__}")


def _reminded(
    memory: ProjectMemory,
    parts: Sequence[Part],
    section: Section,
    fence: str,
    window: int | None,
    without: Collection[str],
) -> Recall:
    text = asked(parts)
    if not text:
        return Recall(notice="nothing was recalled: the message says too little to look for")
    now = memory.stores.now()
    query = understand(text, now)
    candidates = _candidates(memory, query)
    reading = _Reading(memory, section, query, candidates, without)
    return recall_block.compose(
        rank(query, candidates, now=now)[:CONSIDERED],
        Gate(query, candidates).fits,
        reading.read,
        fence=fence,
        room=recall_block.max_bytes(window),
    )


def _candidates(memory: ProjectMemory, query: Query) -> Candidates:
    """What the index proposes, as it is; the running session is in sight anyway."""
    if memory.index is None:
        raise IndexUnusable("there is no search index.")
    generation, session_id = memory.generation(), memory.session.session_id

    def propose(connection: Connection) -> Candidates:
        if index_positions.state(connection, GENERATION) != generation:
            raise IndexUnusable("the search index is yet to be cleaned of what was forgotten.")
        return proposed(connection, query, without=() if session_id is None else (session_id,))

    return memory.index.read(propose, seconds=_SECONDS)


def proposed(connection: Connection, query: Query, *, without: Collection[str] = ()) -> Candidates:
    """What an index proposes for a message, but for what is of these sessions."""
    return passage_table.candidates(
        connection, query, sources=_SOURCES, limit=_CANDIDATES, without=without
    )


def _taken_from(memory: ProjectMemory, fact_ids: Collection[str]) -> frozenset[str]:
    """References of facts, without their revision, and of the records that they rest on."""
    facts = memory.stores.facts.facts(list(fact_ids))
    records = (
        f"{source.ref.session_id}:{seq}"
        for fact in facts
        for revision in fact.revisions
        for source in revision.sources
        for seq in source.ref.seqs
    )
    return frozenset((*fact_ids, *records))


class Places:
    """Where texts hold the words of a message, well enough to cut them there, and at once."""

    def __init__(self, query: Query, candidates: Candidates) -> None:
        """Look for the words of `query`, as they were typed and as the index knows them."""
        words = sorted({*query.words, *candidates.forms.values()}, key=len, reverse=True)
        self._any = re.compile("|".join(map(_in_a_text, words)) or r"(?!)", re.IGNORECASE)

    def of(self, text: str) -> tuple[tuple[int, int], ...]:
        """The first of these places."""
        found = self._any.finditer(text, 0, _LONGEST)
        return tuple(match.span() for match in islice(found, _MOST_PLACES))


def _is_of_the_same(passage: Passage, stands: Passage) -> bool:
    """Whether the index tells right who said a message, and when: a block says both."""
    told = (passage.speaker, passage.at) == (stands.speaker, stands.at)
    return told or passage.source != "message"


def _in_a_text(word: str) -> str:
    """A pattern for a word with whatever ending; scripts without blanks have no ends of words."""
    if not word.isascii():
        return re.escape(word)
    return rf"\b{word}\w*" if len(word) >= _STEM else rf"\b{word}\b"


class _Reading:
    """Reads passages again for one message, as far as they may be sent with it."""

    def __init__(
        self,
        memory: ProjectMemory,
        section: Section,
        query: Query,
        candidates: Candidates,
        without: Collection[str],
    ) -> None:
        self._section = section
        self._without = without
        self._left_out = _taken_from(memory, without)
        self._carried = {reference.partition("@")[0] for reference in section.carried}
        self._rereading = Rereading(memory)
        self._places = Places(query, candidates)

    def read(self, passage: Passage) -> Wording | WhyOut:
        """How a passage reads now, or why it may not be sent."""
        # A message that a fact was taken from may say what the fact says, and nothing else.
        if passage.name in self._carried or passage.text.strip() in self._section.text:
            return "in the memory section already"
        if passage.name in self._left_out or passage.reference in self._left_out:
            return "asked without it"
        stands = self._rereading.now([passage])[0]
        if stands is None or not _is_of_the_same(passage, stands.passage):
            return "hidden now"
        if self._without and self._rereading.knew(passage, self._without):
            return "asked without it"
        text = stands.passage.text
        return Wording(text, self._places.of(text))
