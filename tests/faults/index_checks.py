"""Is the search index what one made anew would be, and is nothing in it that was forgotten?"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import memnb
from memnb.core.passages import Passage
from memnb.errors import MemnbError
from memnb.memory import indexing
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import passage_table
from memnb.storage.search_index import SearchIndex

_UPDATES = 5


def of_index(memory: memnb.Memory, forgotten: Sequence[str]) -> Iterator[str]:
    """What is wrong with the search index, once it is up to date.

    Args:
        memory: the next kernel's.
        forgotten: texts that nobody may find.
    """
    inner = memory.runtime.memory
    index = inner.index
    if index is None or not index.exists:
        return
    with contextlib.suppress(MemnbError):
        # Before it is up to date: whatever was left there, a query cleans it first.
        yield from _holding(_all_of(inner, index), forgotten, "a query")
    if not any(indexing.update(inner, index).is_complete for _ in range(_UPDATES)):
        yield "the search index can't be brought up to date"
    if index.notices:
        yield f"the search index was BROKEN: {index.notices}"
    kept = _all_of(inner, index)
    yield from _holding(kept, forgotten, "the search index")
    indexing.rebuild(inner, index)
    made_anew = _all_of(inner, index)
    if kept != made_anew:
        differ = {one.source for one in {*kept.values()} ^ {*made_anew.values()}}
        yield f"the search index isn't what one made anew would be: {', '.join(sorted(differ))}"
    for text in forgotten:
        if any(text in row.text for row in memory.search(text).rows):
            yield "a search found what was FORGOTTEN"


def of_index_files(store: Path, forgotten: Sequence[str]) -> Iterator[str]:
    """What is left in the index's files; nothing has them open."""
    # Another process reads them: here, closing a file would drop SQLite's locks.
    files = [str(file) for file in store.glob("index.sqlite3*") if file.is_file()]
    if files:
        data = subprocess.run(["cat", *files], capture_output=True, check=True).stdout
        if any(text.encode() in data for text in forgotten):
            yield "the bytes of what was forgotten are still in the search index"


def _all_of(memory: ProjectMemory, index: SearchIndex) -> dict[str, Passage]:
    found = indexing.read(memory, index, lambda c: list(passage_table.every(c)))
    return {passage.reference: passage for passage in found}


def _holding(passages: dict[str, Passage], forgotten: Sequence[str], where: str) -> Iterator[str]:
    for passage in passages.values():
        if any(text in passage.text or text in passage.context for text in forgotten):
            yield f"{where} holds what was FORGOTTEN, as a {passage.source}"
