"""Looking a store over: what is right, what was mended, what is wrong and how to go on.

Only what is derived, or left behind by a crash, is mended without being asked. Nothing is ever
discarded: damaged files are copied aside before a person has anything put in their place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memnb.core.facts import Fact
from memnb.core.inbox import STATES, Queued
from memnb.core.passages import SOURCES
from memnb.errors import (
    IndexUnusable,
    InputError,
    KeyLost,
    MemnbError,
    StoreAltered,
    StoreDamaged,
    StoreError,
    StoreRolledBack,
)
from memnb.memory import indexing
from memnb.memory.indexing import Progress
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import passage_table
from memnb.storage.fact_store import FactTransaction
from memnb.storage.premises import Premises
from memnb.storage.salvage import Salvaged
from memnb.storage.search_index import SearchIndex

__all__ = ["Finding", "accept", "examine", "reindex", "rekey", "repair"]

_BATCH = 256
_NAMED = 5
_OLD_SECONDS = 3600.0
_HINT = re.compile(r"[;,.]? (?:(?:or|and) see |or )?`%memory doctor`[^`]*\Z")

State = Literal["ok", "mended", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it stands, and in a sentence what to do."""

    area: str
    state: State
    text: str


def examine(
    memory: ProjectMemory, premises: Premises, *, progress: Progress | None = None
) -> tuple[Finding, ...]:
    """Everything of a project's memory, looked over; what is derived is put in order.

    `progress` is told how far the search index is, when that has to be built anew.
    """
    return tuple(_findings(memory, premises, progress))


def accept(memory: ProjectMemory) -> Finding:
    """Take the store as it is for the newest, by a person's word.

    Raises:
        KeyLost: another key signed it. StoreDamaged: it has to be repaired first.
    """
    facts = memory.stores.facts
    _require_whole(facts.damage())
    is_gone = facts.is_anchored and not facts.exists
    facts.accept()
    text = "this memory, as it is now, counts as the newest from here on."
    if is_gone:
        text += " It has no facts, and what was forgotten in its sessions isn't known any more."
    return Finding("anchor", "mended", text)


def rekey(memory: ProjectMemory, premises: Premises) -> Finding:
    """Sign with this machine's key what its evidence bears out; by a person's word.

    Raises:
        StoreDamaged: it has to be repaired first.
    """
    facts, stores = memory.stores.facts, memory.stores
    _require_whole(facts.damage())
    premises.renew_key()
    facts.accept()
    found = [fact for batch in _batches(memory) for fact in batch]
    signed = [
        (fact, revision)
        for fact in found
        for revision in fact.revisions
        if memory.validator.status(replace(revision, is_signed=True)) == "valid"
    ]
    kept = {(revision.fact_id, revision.revision) for _, revision in signed}
    with facts.transaction(now=stores.now(), firm=True) as change:
        for fact, revision in signed:
            mac = stores.revision_mac(fact.kind, fact.scope, revision)
            change.sign(revision.fact_id, revision.revision, mac)
        _rekey_inbox(memory, change, kept)
    n_all = sum(len(fact.revisions) for fact in found)
    return Finding(
        "key",
        "mended",
        f"{len(signed)} of {n_all} revisions are signed with this machine's key; those whose"
        " evidence doesn't hold stay out. Texts that were forgotten under the old key aren't known"
        " again by their wording, only by their records; what was rejected may be proposed again.",
    )


def _rekey_inbox(
    memory: ProjectMemory, change: FactTransaction, kept: set[tuple[str, int]]
) -> None:
    """Sign what waits and holds, and what became a revision that was kept; the rest goes.

    What was rejected or expired is known by a digest under the old key only.
    """
    stores = memory.stores
    for queued in [one for state in STATES for one in stores.candidates.of(state)]:
        as_was = replace(queued, is_signed=True)
        holds = (queued.fact_id or "", queued.revision or 0) in kept or (
            queued.state == "pending" and memory.validator.status(as_was.as_revision) == "valid"
        )
        if not holds:
            change.candidates.delete([queued.candidate_id])
        else:
            change.candidates.set(
                replace(as_was, text_mac=stores.text_mac(queued.text or _text_of(memory, queued)))
            )


def _text_of(memory: ProjectMemory, queued: Queued) -> str:
    fact = memory.stores.facts.fact(queued.fact_id or "")
    texts = [one.text for one in fact.revisions if one.revision == queued.revision] if fact else []
    return texts[0] if texts else ""


def repair(memory: ProjectMemory) -> Finding:
    """Put what can be read of a damaged fact database into a new one; by a person's word.

    Raises:
        InputError: it isn't damaged. StoreDamaged: nothing can be read.
    """
    facts = memory.stores.facts
    if not facts.damage():
        raise InputError("the fact database isn't damaged; `%memory doctor` says what is wrong.")
    saved = facts.salvage(memory.stores.now())
    return Finding("database", "mended", _saved(saved))


def reindex(memory: ProjectMemory, *, progress: Progress | None = None) -> Finding:
    """Build the search index anew.

    Raises:
        IndexUnusable: it can't be written.
    """
    if memory.index is None:
        raise IndexUnusable("this memory can only be read, so it has no search index.")
    indexing.rebuild(memory, memory.index, progress=progress)
    return Finding("search index", "mended", f"built anew: {_size_of(memory.index)}.")


def _findings(
    memory: ProjectMemory, premises: Premises, progress: Progress | None
) -> Iterator[Finding]:
    faults = [Finding(area, "wrong", text) for area, text in premises.faults()]
    yield from faults or [Finding("SQLite", "ok", f"version {premises.sqlite_version()}.")]
    usable = True
    for finding in _database(memory):
        usable = usable and finding.state != "wrong"
        yield finding
    if usable:
        yield from _facts(memory)
        yield from _inbox(memory)
        yield from _scrub(memory)
    yield from _sessions(memory, usable=usable)
    yield from _notes(memory)
    if usable:
        yield from _index(memory, progress)
    yield from _leftovers(memory, premises)


def _database(memory: ProjectMemory) -> Iterator[Finding]:
    facts = memory.stores.facts
    if damage := _said(facts.damage):
        text = (
            f"{_what(damage)} `%memory doctor --repair` copies it aside and keeps what can be read."
        )
        yield Finding("database", "wrong", text)
        return
    try:
        facts.generation()
    except KeyLost as error:
        text = f"{_what(error)} `%memory doctor --rekey` signs anew what its evidence bears out."
        yield Finding("key", "wrong", text)
        return
    except (StoreAltered, StoreRolledBack) as error:
        text = f"{_what(error)} `%memory doctor --accept` goes on with it as it is."
        yield Finding("database", "wrong", text)
        return
    except StoreDamaged as error:  # the database isn't: it is the key that can't be one
        text = f"{_what(error)} Once it is away, `%memory doctor --rekey` makes another."
        yield Finding("key", "wrong", text)
        return
    except StoreError as error:
        yield Finding("database", "wrong", str(error))
        return
    if not facts.exists:
        yield Finding("database", "ok", "nothing was remembered yet.")
        return
    yield Finding("database", "ok", "whole, and as it was sealed last.")
    if facts.is_anchored:
        yield Finding("anchor", "ok", "an older copy of this memory would be noticed.")
    else:
        text = "an older copy would pass for the newest; `%memory doctor --accept` ends that."
        yield Finding("anchor", "note", text)


def _facts(memory: ProjectMemory) -> Iterator[Finding]:
    counts: Counter[str] = Counter()
    unsigned: list[str] = []
    for facts in _batches(memory):
        counts.update(memory.validator.statuses(facts))
        unsigned += [fact.fact_id for fact in facts if not _is_signed(fact)]
    if not counts:
        return
    text = ", ".join(f"{n:,} {status}" for status, n in sorted(counts.items())) + "."
    state: State = "ok" if set(counts) <= {"valid", "hidden"} and not unsigned else "wrong"
    if state == "wrong":
        text += (
            " `%memory facts --all` names them: put back a backup, or forget and state them anew."
        )
    yield Finding("facts", state, text)
    if unsigned:
        text = f"not as they were signed, so never used: {_named(unsigned)}. Forget them, or put"
        yield Finding("facts", "wrong", f"{text} back a backup.")


def _inbox(memory: ProjectMemory) -> Iterator[Finding]:
    candidates = [one for state in STATES for one in memory.stores.candidates.of(state)]
    unsigned = [one.candidate_id for one in candidates if not one.is_signed]
    n_waiting = sum(one.state == "pending" for one in candidates)
    if unsigned:
        text = f"not as they were signed, so never shown or applied: {_named(unsigned)}."
        yield Finding("inbox", "wrong", f"{text} `%memory review` takes those that wait out.")
    elif candidates:
        yield Finding("inbox", "ok", f"{n_waiting:,} waiting for review.")


def _scrub(memory: ProjectMemory) -> Iterator[Finding]:
    facts = memory.stores.facts
    if not facts.is_scrub_pending():
        return
    if _said(lambda: "" if facts.scrub() else "busy"):
        text = "forgotten bytes are still in the log, since another kernel reads; close that one."
        yield Finding("forgotten", "wrong", text)
    else:
        yield Finding("forgotten", "mended", "forgotten bytes that were left are gone.")


def _sessions(memory: ProjectMemory, *, usable: bool) -> Iterator[Finding]:
    ids, n_records, wrong = memory.stores.sessions.ids(), 0, False
    for session_id in ids:
        try:
            reader = memory.stores.sessions.reader(session_id)
            damaged = _damaged(memory, session_id, usable=usable)
        except MemnbError as error:
            wrong = True
            yield Finding("sessions", "wrong", f"{session_id}: {_what(error)}")
            continue
        n_records += reader.last_seq
        for text in (*damaged, *_end(memory, session_id, usable=usable)):
            wrong = True
            yield Finding("sessions", "wrong", f"{session_id}: {text}")
    if ids and not wrong:
        text = f"{len(ids):,} with {n_records:,} records, each chain whole."
        yield Finding("sessions", "ok", text)


def _damaged(memory: ProjectMemory, session_id: str, *, usable: bool) -> Iterator[str]:
    reader = memory.stores.sessions.reader(session_id)
    excluded = memory.stores.facts.exclusions(session_id) if usable else {}
    bad: list[str] = []
    for start in range(1, reader.last_seq + 1, _BATCH):
        seqs = range(start, min(start + _BATCH, reader.last_seq + 1))
        for seq, record in reader.records(seqs).items():
            if record is None or (record.body is None and seq not in excluded):
                bad.append(str(seq))
    if bad:
        yield (
            f"damaged records: {_named(bad)}; facts that rest on them are stale, all else is used."
        )


def _end(memory: ProjectMemory, session_id: str, *, usable: bool) -> Iterator[str]:
    reader = memory.stores.sessions.reader(session_id)
    if reader.torn_bytes and not memory.stores.sessions.is_held(session_id):
        yield "ends in the middle of a write; `%memory resume` sets that aside and goes on."
    if not usable:
        return
    history = memory.histories.of(session_id)
    if not memory.histories.is_as_noted(history):
        yield (
            "isn't as it was noted: it was cut, changed or put back. Facts that rest on it are"
            " stale, and it isn't shown."
        )
    elif not memory.histories.ends_as_noted(history):
        yield "goes on after its end: something was put in there. It isn't shown."


def _notes(memory: ProjectMemory) -> Iterator[Finding]:
    notes, n_read = memory.stores.notes, 0
    for file in notes.names():
        try:
            notes.read(file.name)
            n_read += 1
        except MemnbError as error:
            yield Finding("notes", "wrong", str(error))
    if n_read:
        yield Finding("notes", "ok", f"{n_read:,} can be read.")


def _index(memory: ProjectMemory, progress: Progress | None) -> Iterator[Finding]:
    index = memory.index
    if index is None or not index.exists:
        return
    try:
        if damage := index.damage():
            finding = reindex(memory, progress=progress)
            yield replace(finding, text=f"it was damaged ({damage}), and is {finding.text}")
        elif indexing.clean(memory, index):
            yield Finding("search index", "ok", f"{_size_of(index)}.")
        else:
            text = "forgotten bytes are still in its log, since another kernel reads; close that."
            yield Finding("search index", "wrong", text)
    except IndexUnusable as error:
        yield Finding("search index", "note", f"{error} Searching goes on without it.")


def _size_of(index: SearchIndex) -> str:
    n_passages = index.read(lambda c: sum(passage_table.count(c, source) for source in SOURCES))
    return f"{n_passages:,} passages, {index.n_bytes / 1e6:,.1f} MB"


def _leftovers(memory: ProjectMemory, premises: Premises) -> Iterator[Finding]:
    n_removed = premises.sweep(memory.stores.clock().timestamp() - _OLD_SECONDS)
    if n_removed:
        text = f"{n_removed:,} temporary files that killed processes left are removed."
        yield Finding("folder", "mended", text)


def _batches(memory: ProjectMemory) -> Iterator[list[Fact]]:
    facts = memory.stores.facts
    for batch in facts.batches(_BATCH):
        yield facts.facts(batch, history=True)


def _is_signed(fact: Fact) -> bool:
    return all(revision.is_signed for revision in fact.revisions)


def _require_whole(damage: str) -> None:
    if damage:
        raise StoreDamaged(f"{_what(damage)} `%memory doctor --repair` comes first.")


def _said(action: Callable[[], str]) -> str:
    try:
        return action()
    except StoreError as error:
        return str(error)


def _what(error: object) -> str:
    """What an error says was wrong, without the hint to ask the doctor, who speaks here."""
    return _HINT.sub(".", str(error))


def _named(items: Sequence[str]) -> str:
    more = f" and {len(items) - _NAMED:,} more" if len(items) > _NAMED else ""
    return ", ".join(items[:_NAMED]) + more


def _saved(saved: Salvaged) -> str:
    facts = "1 fact" if saved.n_facts == 1 else f"{saved.n_facts:,} facts"
    text = (
        f"{facts} could be read and are in a new database; the old one is in {saved.copies.name}."
    )
    if not saved.incomplete:
        return text + " Nothing of it is missing."
    text += f" Rows are missing in: {', '.join(saved.incomplete)}."
    if {"exclusions", "forgotten", "forgotten_texts"} & set(saved.incomplete):
        text += " What was forgotten may be said again: look through `%memory facts`."
    return text
