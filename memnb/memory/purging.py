"""Purging: what was said is blanked in the session files, where a forget only bars it.

1. A person sees first which records it is, and gets a token for exactly those bytes. It is no
   longer good once one of them changed, something was forgotten, or ten minutes went by; nor once
   it was used, since then nothing is left that it stands for. Nothing of it is kept.
2. That records are barred and are to be blanked is durable before the first byte is; what a crash
   interrupts is gone on with when the memory is used next.
3. Blanking never brings anything back: what is void because of a record that is blanked is barred
   by itself.
"""

from __future__ import annotations

import contextlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from memnb.core import canonical
from memnb.core.ids import require_session_id
from memnb.errors import InputError, MemnbError, Refused, UnknownId
from memnb.memory import forgetting, indexing
from memnb.memory.consequences import GENERATED, Consequences, consequences
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.purge_targets import Chosen, Doomed, Found, find, untouched
from memnb.storage import session_purge
from memnb.storage.fact_store import FactTransaction

__all__ = ["Preview", "Purged", "finish", "preview", "purge"]

LIFETIME: Final = timedelta(minutes=10)

_NO_FORGET: Final = 0
"""The generation of what a purge bars and nobody could see before: it makes no reply void."""

_TOKEN: Final = re.compile(
    r"(?P<target>all|(?P<session>S-[0-9a-z-]+):(?P<start>[0-9]{1,9})-(?P<end>[0-9]{1,9}))"
    r"\.(?P<expires>[0-9]{1,12})\.(?P<mac>[0-9a-f]{32})\Z"
)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a purge would do; without a token there is nothing to do.

    Args:
        target: what was asked for: `all`, or a range of a session.
        records: those whose bodies would be blanked.
        consequences: replies that would be void, facts that would fall silent.
        untouched: files that stay as they are, and may hold copies.
        unread: sessions that couldn't be read, and why.
        token: makes `purge` do it.
    """

    target: str
    records: tuple[Doomed, ...]
    consequences: Consequences
    untouched: tuple[str, ...]
    unread: tuple[str, ...]
    token: str | None


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did; `failed` names sessions in which it is tried again at the next use."""

    target: str
    records: tuple[Doomed, ...]
    consequences: Consequences
    untouched: tuple[str, ...]
    failed: tuple[str, ...]
    generation: int


def preview(memory: ProjectMemory, chosen: Chosen | None = None) -> Preview:
    """What a purge would blank: what is barred or holds a secret, or what a person chose.

    Raises:
        UnknownId, InputError: there are no such records.
    """
    found = find(memory, chosen)
    expires = int((memory.stores.clock() + LIFETIME).timestamp())
    return Preview(
        target=found.target,
        records=found.records,
        consequences=consequences(memory, found.before, found.after),
        untouched=untouched(memory, found.records),
        unread=found.unread,
        token=_token(memory, found, expires) if found.records else None,
    )


def purge(memory: ProjectMemory, token: str) -> Purged:
    """Blank what a preview showed, in place; when this returns it is on the disk.

    Raises:
        InputError: that is no token.
        Refused: it is used, too old, or something changed since the preview.
    """
    chosen, expires = _read(token)
    now = memory.stores.clock()
    if not now.timestamp() <= expires <= (now + LIFETIME).timestamp():
        raise Refused("that token is over ten minutes old; preview again: `%memory purge`.")
    try:
        found = find(memory, chosen)
    except MemnbError:
        raise _no_longer_good() from None
    if not found.records or not hmac.compare_digest(_token(memory, found, expires), token):
        raise _no_longer_good()
    effects = consequences(memory, found.before, found.after)
    copies = untouched(memory, found.records)
    memory.stores.ensure()
    with memory.stores.facts.transaction(now=memory.stores.now(), firm=True) as change:
        if memory.stores.facts.generation() != found.generation:
            raise _no_longer_good()
        generation = change.next_generation() if found.bars_more else found.generation
        drops = _bar(memory, change, found, generation)
    if drops:
        forgetting.scrub(memory.stores)
    wanted: dict[str, list[int]] = {}
    for record in found.records:
        wanted.setdefault(record.session_id, []).append(record.seq)
    failed = _blank(memory, wanted)
    indexing.follow(memory)
    return Purged(found.target, found.records, effects, copies, failed, generation)


def finish(memory: ProjectMemory) -> tuple[str, ...]:
    """Blank what a purge that was interrupted left; names the sessions in which that failed."""
    return _blank(memory, memory.stores.facts.to_blank())


def _bar(memory: ProjectMemory, change: FactTransaction, found: Found, generation: int) -> bool:
    """Bar what is purged, and what is void because of it, whatever can be read of it later.

    Returns:
        Whether something that waited in the inbox rested on it, and is taken out.
    """
    barred = [(record.session_id, record.seq) for record in found.records]
    for record in found.records:
        its_own = generation if record.why == "chosen" else _NO_FORGET
        change.exclude(record.session_id, record.seq, its_own, purged=True)
    for session_id in {record.session_id for record in found.records}:
        history = memory.histories.of(session_id)
        hidden = found.after.of(history).hidden
        for entry in history.entries:
            if entry.type in GENERATED and entry.seq in hidden:
                change.exclude(session_id, entry.seq, _NO_FORGET)
                barred.append((session_id, entry.seq))
    return bool(forgetting.drop_candidates(memory.stores, change, barred))


def _blank(memory: ProjectMemory, wanted: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """Blank records; names the sessions in which not all could be, and why."""
    done: list[tuple[str, int]] = []
    failed: list[str] = []
    for session_id, seqs in wanted.items():
        try:
            reader = memory.histories.of(session_id).reader
            digests = {seq: reader.digest_at(seq) for seq in seqs}
            known = {seq: digest for seq, digest in digests.items() if digest is not None}
            blanked = session_purge.blank(reader.path, known)
        except UnknownId:  # the whole session has gone
            blanked = tuple(seqs)
        except MemnbError as error:
            failed.append(f"{session_id} ({error})")
            continue
        done += [(session_id, seq) for seq in blanked]
        n_left = len(seqs) - len(blanked)
        if n_left:
            failed.append(f"{session_id} ({n_left} records aren't as they were written)")
    # What isn't noted, or is lost in a power cut, is blanked once more.
    with contextlib.suppress(MemnbError):
        _note(memory, done)
    return tuple(failed)


def _note(memory: ProjectMemory, blanked: Sequence[tuple[str, int]]) -> None:
    if not blanked:
        return
    with memory.stores.facts.transaction(now=memory.stores.now(), durable=False) as change:
        for session_id, seq in blanked:
            change.note_blanked(session_id, seq)


def _token(memory: ProjectMemory, found: Found, expires: int) -> str:
    """Stands for these records as they are now, in this store, up to a second since 1970."""
    stores = memory.stores
    payload = canonical.encode(
        {
            "expires": expires,
            "generation": found.generation,
            "records": [[one.session_id, one.seq, *one.digests] for one in found.records],
            "store_id": stores.store_id,
            "target": found.target,
        }
    )
    mac = hmac.digest(stores.load_key(), b"purge " + payload, "sha256").hex()[:32]
    return f"{found.target}.{expires}.{mac}"


def _read(token: str) -> tuple[Chosen | None, int]:
    parts = _TOKEN.match(token)
    if parts is None:
        raise InputError("that is no token of a purge; `%memory purge` previews one and shows it.")
    chosen = None
    if parts["session"]:
        session_id = require_session_id(parts["session"])
        chosen = Chosen(session_id, int(parts["start"]), int(parts["end"]))
    return chosen, int(parts["expires"])


def _no_longer_good() -> Refused:
    return Refused(
        "that token was used, or something changed since its preview; preview again:"
        " `%memory purge`."
    )
