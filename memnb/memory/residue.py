"""Who still holds a forgotten text: every store is looked into and named, none is edited.

What is looked into is one table, `_STORES`: a store that comes later gets a row there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from memnb.core.bodies import read_session_start
from memnb.core.passages import Passage
from memnb.errors import IndexUnusable, MemnbError
from memnb.memory import index_cleaning, indexing
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.wordings import RecordSearch, Wordings
from memnb.storage import passage_table
from memnb.storage.kept_files import KeptFile, KeptFiles, KeptKind, Unread, raw_lines
from memnb.storage.search_index import Connection
from memnb.storage.session_reader import SessionReader

__all__ = ["Elsewhere", "Looked", "Outcome", "Search", "look"]

Outcome = Literal["clean", "holds it", "couldn't be read", "not looked at"]

_BATCH: Final = 256
_MOST_LINES: Final = 6
"""Over how many lines of a note a text may run."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What looking into one store gave.

    Args:
        store: what was looked into.
        held: where in it the text still is, each place as a person would name it.
        unread: what of it couldn't be read, and why.
        n_barred: how many records hold the text, but are never sent, cited or shown again.
        why_not: why it wasn't looked into; "" when it was.
    """

    store: str
    held: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    n_barred: int = 0
    why_not: str = ""

    @property
    def outcome(self) -> Outcome:
        """What came of it, in a word."""
        if self.why_not:
            return "not looked at"
        if self.held or self.n_barred:
            return "holds it"
        return "couldn't be read" if self.unread else "clean"


Elsewhere = Callable[[Sequence[str]], Sequence[Looked]]
"""Looks for texts where only a front end can, such as in IPython's history."""


class Search:
    """One search for the wordings of a fact: what is looked for, and what was listed for it."""

    def __init__(
        self,
        memory: ProjectMemory,
        wordings: Wordings,
        *,
        fact_id: str,
        records: RecordSearch,
        hides: Callable[[str, int], bool],
    ) -> None:
        """Search in `memory`.

        Args:
            memory: the project's.
            wordings: what is looked for.
            fact_id: the fact that is forgotten.
            records: has looked for those that hold a wording.
            hides: whether a record is barred, by session and number.
        """
        self.memory = memory
        self.wordings = wordings
        self.fact_id = fact_id
        self.records = records
        self.hides = hides
        self.files = KeptFiles(memory.stores.notes.folder)
        self._names: list[KeptFile] | None = None

    def names(self, *kinds: KeptKind) -> list[KeptFile]:
        """The files of these kinds in the memory's folder."""
        if self._names is None:
            self._names = self.files.names()
        return [file for file in self._names if file.kind in kinds]

    def notebooks(self) -> dict[str, Path]:
        """The notebooks whose cells said it: name → path, in the checkout it was said in."""
        found: dict[str, Path] = {}
        for record in self.records.found:
            if record.notebook and record.notebook not in found:
                found[record.notebook] = self._checkout(record.session_id) / record.notebook
        return found

    def _checkout(self, session_id: str) -> Path:
        try:
            reader = self.memory.histories.of(session_id).reader
            first = reader.records([1]).get(1)
            return Path(read_session_start(first).checkout) if first else Path()
        except MemnbError:
            return Path()


def look(search: Search) -> list[Looked]:
    """What each store that there is holds of the text."""
    found = [into(search, name) for name, into in _STORES]
    return [looked for looked in found if looked is not None]


def _facts(search: Search, store: str) -> Looked | None:
    facts = search.memory.stores.facts
    held = tuple(
        f"{fact_id} revision {number}"
        for batch in facts.batches(_BATCH)
        for fact_id, number, text in facts.texts(batch, history=True)
        if fact_id != search.fact_id and search.wordings.holds(text)
    )
    return Looked(store, held)


def _inbox(search: Search, store: str) -> Looked | None:
    """What waits for review; a forget takes out of it what holds the text."""
    stores = search.memory.stores
    waiting = stores.candidates.of("pending")
    if not waiting:
        return None
    if search.fact_id not in stores.facts.forgotten():  # it is yet to be forgotten
        return Looked(store)
    return Looked(
        store, tuple(one.candidate_id for one in waiting if search.wordings.holds(one.text))
    )


def _index(search: Search, store: str) -> Looked | None:
    """The search index, which holds again what other stores hold; what was forgotten is out."""
    memory, index = search.memory, search.memory.index
    if index is None or not index.exists:
        return None
    is_forgotten = search.fact_id in memory.stores.facts.forgotten()

    def stays(passage: Passage) -> bool:
        if passage.source == "fact":
            return passage.name != search.fact_id
        return passage.source != "message" or not search.hides(passage.name, passage.place)

    def held(connection: Connection) -> Iterator[str]:
        for passage in passage_table.every(connection):
            texts = (passage.text, passage.context) if is_forgotten else (passage.text,)
            if any(map(search.wordings.holds_written, texts)) and (is_forgotten or stays(passage)):
                yield f"the search index, of {passage.reference}"
        if is_forgotten and index_cleaning.is_scrub_pending(connection):
            yield "the search index's log, as long as another kernel reads it"

    try:
        found = indexing.read(memory, index, lambda c: tuple(held(c)), seconds=float("inf"))
    except IndexUnusable as error:
        return Looked(store, unread=(f"{index.path.name} ({error})",))
    return Looked(store, found)


def _sessions(search: Search, store: str) -> Looked | None:
    session_ids = search.memory.stores.sessions.ids()
    if not session_ids:
        return None
    records = search.records.found
    barred = [search.hides(record.session_id, record.seq) for record in records]
    held = [
        f"{record.session_id}:{record.seq}"
        for record, is_barred in zip(records, barred, strict=True)
        if not is_barred
    ]
    unread = list(search.records.unread)
    for session_id in session_ids:
        if session_id in search.records.unread:
            continue
        try:
            held += _unreadable_lines(search, search.memory.histories.of(session_id).reader)
        except MemnbError:
            unread.append(session_id)
    return Looked(store, tuple(held), tuple(unread), sum(barred))


def _unreadable_lines(search: Search, reader: SessionReader) -> Iterator[str]:
    """Places in a session's file that are no whole record, and hold the text as bytes."""
    damaged = search.records.damaged.get(reader.session_id, set())
    if not damaged and not reader.torn_bytes:
        return
    for seq, line in raw_lines(reader.path, damaged, reader.chain_head.n_bytes):
        if search.wordings.holds_bytes(line):
            place = f"{reader.session_id}:{seq}" if seq else f"the end of {reader.session_id}"
            yield f"{place} ({'damaged' if seq else 'torn'})"


def _kept(*kinds: KeptKind) -> Callable[[Search, str], Looked | None]:
    """Looks into the files of these kinds in the memory's folder."""

    def into(search: Search, store: str) -> Looked | None:
        files = search.names(*kinds)
        if not files:
            return None
        held: list[str] = []
        unread: list[str] = []
        for file in files:
            content = search.files.read(file)
            if isinstance(content, Unread):
                unread.append(f"{file.name} ({content.why})")
            elif content is not None:
                held += _places(search.wordings, file.name, content)
        return Looked(store, tuple(held), tuple(unread))

    return into


def _places(wordings: Wordings, name: str, content: bytes) -> Iterator[str]:
    """Where in a file a text stands: its lines, when it is a text that has some."""
    if not wordings.holds_bytes(content):
        return
    lines = content.decode(errors="replace").split("\n")
    hits = [number for number, line in enumerate(lines, 1) if wordings.holds_written(line)]
    hits = hits or list(_over_lines(wordings, lines))
    is_text = b"\0" not in content and name.endswith((".md", ".md.bak"))
    yield from (f"{name} line {number}" for number in hits if is_text)
    if not hits or not is_text:
        yield name


def _over_lines(wordings: Wordings, lines: Sequence[str]) -> Iterator[int]:
    """The first lines of passages that hold a text which was wrapped."""
    for start in range(len(lines)):
        passages = ("\n".join(lines[start : start + n]) for n in range(2, _MOST_LINES + 1))
        if any(map(wordings.holds_written, passages)) and not wordings.holds_written(
            "\n".join(lines[start + 1 : start + _MOST_LINES])
        ):
            yield start + 1


def _notebooks(search: Search, store: str) -> Looked | None:
    notebooks = search.notebooks()
    contents = {name: search.files.read_outside(path) for name, path in notebooks.items()}
    missing = [name for name, content in contents.items() if content is None]
    return _in_notebooks(search.wordings, store, contents, missing)


def _checkpoints(search: Search, store: str) -> Looked | None:
    contents = {}
    for name, path in search.notebooks().items():
        copy = Path(".ipynb_checkpoints", f"{path.stem}-checkpoint{path.suffix}")
        content = search.files.read_outside(path.parent / copy)
        if content is not None:
            contents[(Path(name).parent / copy).as_posix()] = content
    return _in_notebooks(search.wordings, store, contents)


def _in_notebooks(
    wordings: Wordings,
    store: str,
    contents: Mapping[str, bytes | Unread | None],
    missing: Sequence[str] = (),
) -> Looked | None:
    if not contents:
        return None
    held: list[str] = []
    unread = [f"{name} (not found)" for name in missing]
    for name, content in contents.items():
        if isinstance(content, Unread):
            unread.append(f"{name} ({content.why})")
        elif content is not None:
            held += (f"{name}{place}" for place in _cells(wordings, content))
    return Looked(store, tuple(held), tuple(unread))


def _cells(wordings: Wordings, content: bytes) -> Iterator[str]:
    """Which cells of a notebook's file hold a text, and whether in what they gave."""
    try:
        notebook = json.loads(content)
        cells = notebook.pop("cells")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if wordings.holds_bytes(content):
            yield ""
        return
    for number, cell in enumerate(cells if isinstance(cells, list) else [cells], 1):
        parts = dict(cell) if isinstance(cell, dict) else {"source": cell}
        outputs = parts.pop("outputs", None)
        if any(map(wordings.holds_written, _strings(parts))):
            yield f" cell {number}"
        if any(map(wordings.holds_written, _strings(outputs))):
            yield f" output of cell {number}"
    if any(map(wordings.holds_written, _strings(notebook))):
        yield " metadata"


def _strings(value: Any) -> Iterator[str]:
    """All texts in a value of JSON; a list of lines is one text, however it was cut."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        for item in value:
            if not isinstance(item, str):
                yield from _strings(item)


Into = Callable[[Search, str], Looked | None]
"""Looks into one store, which it is told the name of; None when there is nothing of it."""

_STORES: Final[tuple[tuple[str, Into], ...]] = (
    ("facts", _facts),
    ("inbox", _inbox),
    ("search index", _index),
    ("sessions", _sessions),
    ("torn ends of sessions", _kept("tail")),
    ("notes", _kept("note")),
    ("daily notes", _kept("daily")),
    ("backups of notes", _kept("backup")),
    ("quarantine", _kept("quarantine")),
    ("other files of this memory", _kept("other")),
    ("source notebooks", _notebooks),
    ("checkpoint copies", _checkpoints),
)
"""Every store there is, in the order in which a receipt names them. The database's log and free
pages are told by the outcome of the scrub, which only SQLite can do."""
