"""Who else holds a forgotten text: notes and notebooks are named, never edited."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from memnb.core.bodies import read_user
from memnb.core.facts import Fact
from memnb.errors import MemnbError, StoreDamaged
from memnb.memory import noting
from memnb.memory.history import Histories
from memnb.memory.stores import Stores

__all__ = ["holders", "notebooks_of"]

_MAX_NOTEBOOK_BYTES: Final = 64 * 1024 * 1024


def notebooks_of(fact: Fact, histories: Histories) -> tuple[str, ...]:
    """The notebooks whose cells a fact cites, relative to the checkout."""
    found: dict[str, None] = {}
    for revision in fact.revisions:
        for source in revision.sources:
            try:
                records = histories.of(source.ref.session_id).reader.records(source.ref.seqs)
            except MemnbError:
                continue
            for record in records.values():
                if record is None or record.head.type != "user":
                    continue
                try:
                    notebook = read_user(record).cell.notebook
                except StoreDamaged:
                    continue
                if notebook:
                    found[notebook] = None
    return tuple(found)


def holders(
    stores: Stores, texts: Sequence[str], notebooks: Sequence[str], checkout: Path
) -> tuple[str, ...]:
    """Places that still hold one of `texts`, whatever the case; in notebooks exactly."""
    found = [*_notes(stores, texts), *_notebooks(checkout, notebooks, texts)]
    return tuple(dict.fromkeys(found))


def _notes(stores: Stores, texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        found = noting.search(stores, text, backups=True)
        for hit in found.hits:
            yield f"{hit.file} line {hit.line}"
        if found.n_all > len(found.hits):
            yield f"{found.n_all - len(found.hits)} more lines of notes"
        for file in found.unread:
            yield f"{file} (couldn't be read)"


def _notebooks(checkout: Path, notebooks: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    # In a notebook's file a text stands as JSON.
    forms = [
        json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        for text in texts
        for ascii_only in (True, False)
    ]
    for notebook in notebooks:
        path = checkout / notebook
        copy = path.parent / ".ipynb_checkpoints" / f"{path.stem}-checkpoint{path.suffix}"
        for place in (path, copy):
            if _holds(place, forms):
                yield place.relative_to(checkout).as_posix()


def _holds(path: Path, forms: Sequence[str]) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_NOTEBOOK_BYTES:
            return False
        content = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(form in content for form in forms)
