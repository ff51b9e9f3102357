"""A forget with its receipt: what was removed, what that did, and what still holds the text.

The receipt of a forget that was done before is the same one, as far as what is left can tell: its
wordings are known again, by their keyed digests, in the records that it barred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from memnb.core.bodies import read_user
from memnb.core.facts import MAX_TEXT_BYTES, UNSPACED
from memnb.core.ids import require_fact_id
from memnb.core.visibility import View
from memnb.errors import MemnbError
from memnb.memory import forgetting, indexing, residue
from memnb.memory.consequences import Consequences, Marks, consequences, marks_now
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.remembering import require_fact
from memnb.memory.residue import Elsewhere, Looked, Search
from memnb.memory.wordings import RecordSearch, Wordings
from memnb.storage.database_readers import reading_processes

__all__ = ["Receipt", "forget", "preview"]

_MOST_TRIED: Final = 50_000
"""How many spans of messages are compared with the digests of forgotten texts."""

_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_NO_FRONT_END: Final = Looked("IPython's history", why_not="no notebook runs this")
_UNKNOWN_PLACES: Final = Looked(
    "exports, backups and other copies", why_not="memnb doesn't know where they are"
)
_TEXT_UNKNOWN: Final = Looked(
    "all stores", why_not="the words are gone, and nothing is left to know them by"
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a forget did or, when it is only a preview, would do.

    Args:
        fact_id: what was forgotten.
        first: whether this call did it; False when it was forgotten before.
        generation: of the forget.
        at: when it was forgotten, as a UTC stamp; "" when it isn't yet.
        n_revisions: how many wordings were removed.
        n_sources: how many pieces of evidence were removed with them.
        barred: the records that are never sent, cited or shown again.
        consequences: replies that are void, facts that fell silent.
        flagged: facts that are held, since they were derived from it.
        pending: whether its bytes are still in the database's files.
        looked: what looking into each store gave.
    """

    fact_id: str
    first: bool
    generation: int
    at: str
    n_revisions: int
    n_sources: int
    barred: tuple[tuple[str, int], ...]
    consequences: Consequences
    flagged: tuple[str, ...]
    pending: bool
    looked: tuple[Looked, ...]

    @property
    def still_held(self) -> tuple[str, ...]:
        """The places where the text still is, besides the records that were barred."""
        return tuple(place for looked in self.looked for place in looked.held)


def forget(memory: ProjectMemory, fact_id: str, *, elsewhere: Elsewhere | None = None) -> Receipt:
    """Forget a fact for good; done before, it gives the receipt again, of what is there now.

    Args:
        memory: the project's.
        fact_id: which.
        elsewhere: looks where only a front end can.

    Raises:
        UnknownId: there never was such a fact.
    """
    search = RecordSearch(memory.stores, memory.histories, fact_id)
    forgot = forgetting.forget(memory.stores, fact_id, find_others=search)
    is_scrubbed = forgetting.scrub(memory.stores)
    indexing.follow(memory)
    receipt = _done(memory, fact_id, forgot.generation, search, forgot.texts, elsewhere)
    return replace(
        receipt,
        first=forgot.first,
        n_revisions=forgot.n_revisions,
        n_sources=forgot.n_sources,
        flagged=forgot.flagged if forgot.first else _held_because(memory, fact_id),
        pending=not is_scrubbed,
        looked=(*receipt.looked, _database(memory, is_clean=is_scrubbed)),
    )


def preview(memory: ProjectMemory, fact_id: str, *, elsewhere: Elsewhere | None = None) -> Receipt:
    """What `forget` would give, were it done now; nothing is changed.

    Raises:
        UnknownId: there never was such a fact.
    """
    stores = memory.stores
    search = RecordSearch(stores, memory.histories, require_fact_id(fact_id))
    forgotten = stores.facts.forgotten().get(fact_id)
    if forgotten is not None:
        receipt = _done(memory, fact_id, forgotten.generation, search, (), elsewhere)
        return replace(receipt, flagged=_held_because(memory, fact_id))
    fact = require_fact(stores, fact_id)
    texts = tuple(revision.text for revision in fact.revisions)
    generation = stores.facts.generation() + 1
    barred = tuple(dict.fromkeys((*forgetting.cited(fact), *search(texts))))
    before = marks_now(memory)
    after = before.with_forget([fact_id], barred, generation)
    return Receipt(
        fact_id=fact_id,
        first=True,
        generation=generation,
        at="",
        n_revisions=len(fact.revisions),
        n_sources=sum(len(revision.sources) for revision in fact.revisions),
        barred=barred,
        consequences=consequences(memory, before, after, but=[fact_id]),
        flagged=tuple(stores.facts.dependents(fact_id, at=stores.now())),
        pending=False,
        looked=_looked(memory, search, Wordings(texts), fact_id, after, elsewhere),
    )


def _done(
    memory: ProjectMemory,
    fact_id: str,
    generation: int,
    search: RecordSearch,
    texts: Sequence[str],
    elsewhere: Elsewhere | None,
) -> Receipt:
    """The receipt of a forget that is done, as far as what it left can tell."""
    stores = memory.stores
    after = marks_now(memory)
    barred = tuple(stores.facts.excluded_by(generation))
    wordings = Wordings(texts or _known_again(memory, barred, generation))
    search.look(wordings)
    return Receipt(
        fact_id=fact_id,
        first=False,
        generation=generation,
        at=stores.facts.forgotten()[fact_id].at,
        n_revisions=0,
        n_sources=0,
        barred=barred,
        consequences=consequences(memory, after.without(generation), after),
        flagged=(),
        pending=False,
        looked=_looked(memory, search, wordings, fact_id, after, elsewhere),
    )


def _looked(
    memory: ProjectMemory,
    search: RecordSearch,
    wordings: Wordings,
    fact_id: str,
    marks: Marks,
    elsewhere: Elsewhere | None,
) -> tuple[Looked, ...]:
    if not wordings:
        return (_TEXT_UNKNOWN,)
    views: dict[str, View] = {}

    def hides(session_id: str, seq: int) -> bool:
        if session_id not in views:
            views[session_id] = marks.of(memory.histories.of(session_id))
        return seq in views[session_id].hidden

    found = residue.look(Search(memory, wordings, fact_id=fact_id, records=search, hides=hides))
    outside = (_NO_FRONT_END,) if elsewhere is None else elsewhere(wordings.texts)
    return (*found, *outside, _UNKNOWN_PLACES)


def _database(memory: ProjectMemory, *, is_clean: bool) -> Looked:
    """What a truncating checkpoint says of the database's free pages and its log."""
    store = "the database's free pages and log"
    if is_clean:
        return Looked(store)
    readers = reading_processes(memory.stores.notes.folder / "facts.sqlite3")
    who = f"process {', '.join(map(str, readers))}" if readers else "another kernel"
    return Looked(store, held=(f"the database's log, as long as {who} reads it",))


def _held_because(memory: ProjectMemory, fact_id: str) -> tuple[str, ...]:
    """The facts that are held because of one that is forgotten."""
    return tuple(memory.stores.facts.held_because(fact_id))


def _known_again(
    memory: ProjectMemory, barred: Sequence[tuple[str, int]], generation: int
) -> tuple[str, ...]:
    """The wordings of a forgotten fact, in the messages that were barred with it."""
    missing = set(memory.stores.facts.text_macs(generation))
    found: list[str] = []
    # A command that stated it is short; whatever is long holds it as a part, if at all.
    typed = sorted(_typed(memory, barred), key=len)
    spans = islice(chain.from_iterable(map(_spans, typed)), _MOST_TRIED)
    while missing and (span := next(spans, None)) is not None:
        mac = memory.stores.text_mac(span)
        if mac in missing:
            missing.discard(mac)
            found.append(span)
    return tuple(found)


def _typed(memory: ProjectMemory, records: Sequence[tuple[str, int]]) -> Iterator[str]:
    """What a person typed in these records."""
    for session_id, seq in records:
        try:
            record = memory.histories.of(session_id).reader.records([seq]).get(seq)
            said = read_user(record) if record and record.head.type == "user" else None
        except MemnbError:
            continue
        yield from (part.text for part in said.parts if part.type == "typed") if said else ()


def _spans(text: str) -> Iterator[str]:
    """Every run of words on one line of a text that may have been a fact, longest first.

    It begins at the start of a word and reaches to the end of one; what stands around it never
    matters.
    """
    for line in text.splitlines():
        words = list(_WORD.finditer(line))
        for first, start in enumerate(words):
            for end in reversed(words[first : first + MAX_TEXT_BYTES]):
                span = line[start.start() : end.end()]
                if len(span.encode(errors="replace")) <= MAX_TEXT_BYTES:
                    yield span
