"""Is everything there that was acknowledged? Asked as the next kernel would, and of the bytes.

The checks come back as sentences, one for each promise that was broken.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import apsw

import memnb
from faults.index_checks import of_index, of_index_files
from faults.ledger import FactPromise, Ledger
from faults.transcripts import Transcript, read_transcript
from faults.workload import LOG, PAGE, Place, Worker, is_forgotten, unsealed
from memnb.errors import MemnbError, Refused

COMPETITION: Final = frozenset(
    {"RevisionChanged", "FileChanged", "GenerationChanged", "SessionHeld", "UnknownId"}
)
"""Errors that kernels meet because others work, too."""
DISK_ERRORS: Final = COMPETITION | {
    *("SourceNotValid", "StoreDamaged", "StoreError", "StoreFull", "StoreReadOnly")
}
"""Errors that kernels meet while a disk fails; what can't be read is no evidence."""

_NOTHING_TO_DO: Final = frozenset({"InputError"})
_N_TRIED_AGAIN: Final = 3


def verify(
    place: Place,
    ledger: Ledger,
    *,
    name: str,
    seed: int,
    allowed: frozenset[str] = COMPETITION,
    n_operations: int = 3,
) -> list[str]:
    """What of the promises in `ledger` isn't kept.

    Args:
        place: where the store is; no kernel has it open.
        ledger: what was promised; what the next kernel does here is promised in it, too.
        name: what to call the next kernel.
        seed: what it does.
        allowed: errors that kernels may have met.
        n_operations: how much the next kernel does, besides a little of everything.
    """
    try:
        found = list(_of_note_files(place, ledger))  # before the next kernel writes any
        worker = _next_kernel(place, ledger, name, seed, n_operations)
        return [*found, *_violations(place, ledger, worker, allowed)]
    except MemnbError as error:
        return [f"the next kernel can't use the store: {type(error).__name__}: {error}"]
    except Exception:
        return [f"the next kernel fails: {_last_lines(traceback.format_exc())}"]


def _next_kernel(place: Place, ledger: Ledger, name: str, seed: int, n_operations: int) -> Worker:
    worker = Worker(place, name=name, seed=seed, say=ledger.take)
    for operation in (worker.remember, worker.ask, worker.append, worker.replace):
        worker.attempt(operation)
    worker.work(n_operations)
    return worker


def _violations(
    place: Place, ledger: Ledger, worker: Worker, allowed: frozenset[str]
) -> Iterator[str]:
    memory = worker.memory
    transcripts = {t.session_id: t for t in transcripts_of(place)}
    yield from _of_errors(ledger, memory, allowed)
    yield from _of_sessions(ledger, transcripts)
    yield from _of_purges(ledger, transcripts)
    there = {row.fact_id for row in memory.facts(all=True).rows}
    gone = {f for f in ledger.facts if f not in there and is_forgotten(memory, f)}
    yield from _of_facts(ledger, there, gone)
    for fact_id in there:
        promise = ledger.facts.get(fact_id, FactPromise())
        yield from _of_fact(fact_id, promise, memory, transcripts)
    yield from _of_forgetting(ledger, memory, gone)
    yield from _of_notes(ledger, memory)
    yield from _of_litter(place, memory)
    memory.close()
    yield from _of_database(place, ledger)


def transcripts_of(place: Place) -> list[Transcript]:
    """All sessions of a store, by the letter."""
    store_id = json.loads((place.store / "project.json").read_bytes())["store_id"]
    return [read_transcript(path, store_id) for path in place.sessions]


def _of_errors(ledger: Ledger, memory: memnb.Memory, allowed: frozenset[str]) -> Iterator[str]:
    for crash in ledger.crashes:
        yield f"a kernel met what is no error of memnb's: {crash}"
    for kind, message in ledger.refusals:
        if kind not in allowed | _NOTHING_TO_DO and not message.startswith("that token "):
            yield f"a kernel was refused: {kind}: {message}"
    for message in [*(message for _, message in ledger.refusals), *memory.notices()]:
        if not message or not message.isprintable():
            yield f"what a person is told isn't one line: {message!r}"
    ledger.crashes.clear()  # told once
    ledger.refusals.clear()


def _of_sessions(ledger: Ledger, transcripts: dict[str, Transcript]) -> Iterator[str]:
    for transcript in transcripts.values():
        yield from transcript.violations
    for (session_id, seq), text in ledger.messages.items():
        transcript = transcripts.get(session_id)
        if transcript is None:
            yield f"session {session_id} is LOST"
        elif seq not in transcript.blank and transcript.text_of(seq) != text:
            yield f"message {session_id}:{seq} is LOST"
        elif not transcript.is_answered(seq):
            yield f"the answer to {session_id}:{seq} is LOST"
    for (session_id, type_), n_records in ledger.records.items():
        transcript = transcripts.get(session_id)
        if transcript is None or Counter(transcript.types())[type_] < n_records:
            yield f"a record {type_} of {session_id} is LOST"


def _of_purges(ledger: Ledger, transcripts: dict[str, Transcript]) -> Iterator[str]:
    blank = {(t.session_id, seq) for t in transcripts.values() for seq in t.blank}
    for session_id, seq in blank - ledger.may_be_blank:
        yield f"record {session_id}:{seq} is blank, which nobody asked for"
    for session_id, seq in ledger.must_be_blank - blank:
        yield f"record {session_id}:{seq} was purged and is BACK"
    for purge in ledger.purges:
        if purge & blank and not purge <= blank:
            yield f"a purge blanked {len(purge & blank)} of {len(purge)} records"


def _of_facts(ledger: Ledger, there: set[str], gone: set[str]) -> Iterator[str]:
    for fact_id, promise in ledger.facts.items():
        if fact_id in there:
            if promise.must_be_forgotten:
                yield f"fact {fact_id} was forgotten and is BACK"
        elif fact_id in gone:
            if not promise.may_be_forgotten:
                yield f"fact {fact_id} is forgotten, which nobody asked for"
        elif promise.must_be_forgotten:
            yield f"that fact {fact_id} was forgotten is LOST"
        elif promise.revisions:
            yield f"fact {fact_id} is LOST"


def _of_fact(
    fact_id: str, promise: FactPromise, memory: memnb.Memory, transcripts: dict[str, Transcript]
) -> Iterator[str]:
    revisions = {revision.revision: revision for revision in memory.fact(fact_id).revisions}
    texts = {number: revision.text for number, revision in revisions.items()}
    if sorted(revisions) != list(range(1, len(revisions) + 1)):
        yield f"fact {fact_id} has the revisions {sorted(revisions)}"
    for number in promise.revisions.keys() - revisions.keys():
        yield f"revision {fact_id}@{number} is LOST"
    for number, revision in revisions.items():
        expected = _expected_status([source.where for source in revision.sources], transcripts)
        if revision.status != expected:
            yield f"revision {fact_id}@{number} is {revision.status}, not {expected}"
        elif expected != "valid":
            continue
        elif number in promise.revisions and texts[number] != promise.revisions[number]:
            yield f"revision {fact_id}@{number} says something else"
        elif number > 1 and texts[number] not in _sayable(promise, texts, number):
            yield f"revision {fact_id}@{number} says what nobody said"


def _expected_status(sources: Sequence[str], transcripts: dict[str, Transcript]) -> str:
    """The status of evidence: records that are there, and not undone."""
    expected = "valid"
    for where in sources:
        session_id, _, seq = where.partition(":")
        transcript = transcripts.get(session_id)
        if transcript is None:
            return "missing"
        if transcript.is_undone(int(seq)):
            expected = "hidden"
    return expected


def _sayable(promise: FactPromise, texts: dict[int, str], number: int) -> set[str]:
    """What a revision may say: what was acknowledged or begun; what an ended one said before."""
    return {*promise.begun, *promise.revisions.values(), texts[number - 1]}


def _of_forgetting(ledger: Ledger, memory: memnb.Memory, gone: set[str]) -> Iterator[str]:
    generation = memory.status().generation
    if generation != len(gone):
        yield f"the generation is {generation} after {len(gone)} forgets"
    if len(set(ledger.generations)) < len(ledger.generations):
        yield "two forgets have one generation"
    if max(ledger.generations, default=0) > generation:
        yield "the generation went BACK"
    texts = [text for fact_id in gone for text in ledger.facts[fact_id].revisions.values()]
    model = memnb.ScriptedModel(["I see."], repeat_last=True)
    memory.ask("What do you know?", model=model)
    # All of them: a long session asks for a summary first.
    carried = "".join(f"{one.guidance} {one.memory} {one.messages}" for one in model.requests)
    for text in texts:
        if text in carried:
            yield "a request carried what was FORGOTTEN"
    yield from of_index(memory, texts)
    for text in texts[-_N_TRIED_AGAIN:]:
        try:
            memory.remember(text)
        except Refused:
            continue
        yield "what was forgotten was learned AGAIN"


def _of_notes(ledger: Ledger, memory: memnb.Memory) -> Iterator[str]:
    lines = memory.notes.read(LOG).text.splitlines()
    if any(unsealed(line) is None for line in lines):
        yield "the note that all append to is TORN"
    if len(set(lines)) < len(lines):
        yield "a line was appended twice"
    n_lost = len(ledger.log - set(lines))
    if n_lost:
        yield f"{n_lost} lines of a note are LOST"
    yield from _of_page(memory.notes.read(PAGE).text, ledger)


def _of_note_files(place: Place, ledger: Ledger) -> Iterator[str]:
    for note in place.home.glob(f"projects/*/notes/{PAGE}.md"):
        yield from _of_page(note.read_text(), ledger)
    for backup in place.home.glob("projects/*/notes/*.md.bak"):
        if any(unsealed(line) is None for line in backup.read_text().splitlines() or [""]):
            yield f"the backup {backup.name} is TORN"


def _of_page(text: str, ledger: Ledger) -> Iterator[str]:
    page = unsealed(text)
    if not text and not ledger.pages:
        return
    if page is None:
        yield "the note that all replace is TORN" if text else "the note that all replace is LOST"
    elif page not in ledger.pages_begun:
        yield "the note that all replace says what nobody wrote"
    elif page[1] < ledger.pages.get(page[0], 0):
        yield "the note that all replace is an OLD one"


def _of_database(place: Place, ledger: Ledger) -> Iterator[str]:
    connection = apsw.Connection(
        place.database.as_uri() + "?mode=ro",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )
    with contextlib.closing(connection):
        rows = connection.execute("PRAGMA integrity_check").fetchall()
        if rows != [("ok",)]:
            yield f"integrity_check: {rows[0][0]}"
        if connection.execute("PRAGMA foreign_key_check").fetchall():
            yield "foreign_key_check finds rows without their owner"
    # Another process reads the bytes: here, closing the file would drop SQLite's locks.
    files = [str(file) for file in place.store.glob("facts.sqlite3*")]
    data = subprocess.run(["cat", *files], capture_output=True, check=True).stdout
    forgotten = [p for p in ledger.facts.values() if p.must_be_forgotten]
    for text in (text for promise in forgotten for text in promise.revisions.values()):
        if text.encode() in data:
            yield "the bytes of what was forgotten are still in the database"
    texts = [text for promise in forgotten for text in promise.revisions.values()]
    yield from of_index_files(place.store, texts)


def _of_litter(place: Place, memory: memnb.Memory) -> Iterator[str]:
    for file in _temporary(place):
        os.utime(file, (0, 0))  # the doctor takes nothing away that may be under way
    for finding in memory.doctor().rows:
        if finding.state == "wrong" and " MB are left for " not in finding.text:
            yield f"the doctor says of {finding.area}: {finding.text}"
    for file in _temporary(place):
        yield f"litter: {re.sub('[0-9a-f]{8}', '…', file.name)}"


def _temporary(place: Place) -> list[Path]:
    files = [file for folder in (place.home, place.state) for file in folder.rglob("*")]
    return [f for f in files if f.suffix == ".tmp" or f.name.endswith(("~", "-journal"))]


def _last_lines(text: str, n_lines: int = 3) -> str:
    return " | ".join(line.strip() for line in text.strip().splitlines()[-n_lines:])


def summarised(violations: Sequence[str]) -> Counter[str]:
    """Violations counted by what they say, without ids and numbers."""
    return Counter(re.sub(r"[FS]-[-\w@:]+|\b\d+\b", "#", violation) for violation in violations)
