"""The memory of one project, put together from its stores."""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from memnb.core import ids
from memnb.core.bodies import SessionStartBody
from memnb.memory.history import Histories
from memnb.memory.live_session import LiveSession
from memnb.memory.meaning import Meaning
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.stores import Stores
from memnb.memory.summaries import Summaries
from memnb.memory.use import Ranks
from memnb.memory.validation import Validator
from memnb.storage.database import Database
from memnb.storage.fact_store import FactStore
from memnb.storage.note_store import NoteStore
from memnb.storage.search_index import SearchIndex
from memnb.storage.session_store import SessionStore

__all__ = ["wire"]


def wire(
    database: Database,
    folder: Path,
    *,
    label: str,
    store_id: Callable[[], str],
    ensure: Callable[[], None],
    key: Callable[[], bytes],
    clock: Callable[[], datetime],
    wait_ms: Callable[[], int],
    session_from: tuple[str, str, str],
    meaning: Meaning,
    read_only: bool = False,
) -> ProjectMemory:
    """The memory kept in `folder`; nothing is opened or created yet.

    Args:
        database: of its facts.
        folder: of the project's memory.
        label: what we are called to those who wait for us.
        store_id: gives the store's id, which is settled by the kernel that writes first.
        ensure: makes the folder, called before the first write.
        key: gives the key that signs facts.
        clock: the present, with its zone.
        wait_ms: the longest wait for another writer.
        session_from: checkout, working folder and kernel id that a session begins with.
        meaning: searches by meaning, in all threads of this kernel.
        read_only: nothing may be written, so there is no search index.
    """
    sessions = SessionStore(
        folder / "sessions",
        store_id,
        label=label,
        clock=lambda: ids.stamp(clock()),
        load_key=key,
        ensure=ensure,
    )
    facts = FactStore(database, store_id, key, heads=sessions.heads)
    stores = Stores(
        facts=facts,
        sessions=sessions,
        notes=NoteStore(folder, label=label, wait_ms=wait_ms),
        ensure=ensure,
        load_key=key,
        clock=clock,
        random_bytes=secrets.token_bytes,
    )

    def session_start() -> SessionStartBody:
        return SessionStartBody(store_id(), *session_from, versions=_versions())

    histories = Histories(sessions, facts)
    session = LiveSession(stores, histories, session_start)
    index = None
    if not read_only:
        index = SearchIndex(folder, label=label, store_id=store_id, ensure=ensure)
    return ProjectMemory(
        stores=stores,
        histories=histories,
        validator=Validator(histories),
        session=session,
        summaries=Summaries(histories),
        ranks=Ranks(facts, index, lambda: session.session_id),
        index=index,
        meaning=meaning,
    )


def _versions() -> dict[str, str]:
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in ("memnb", "ipykernel", "ipython"):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
