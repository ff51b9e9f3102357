"""Reading memory back: facts with their status, and the records behind them, page by page.

Text is given out only while its evidence is valid, checked anew for every page.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from memnb.core.facts import MAX_SOURCE_SEQS, Revision, SourceRef
from memnb.core.records import Record
from memnb.errors import InputError, SourceStatus, UnknownId
from memnb.memory.history import Histories
from memnb.memory.remembering import require_fact
from memnb.memory.stores import Stores
from memnb.memory.validation import Validator

__all__ = ["Recalled", "read", "recall", "records_of"]

MAX_BYTES: Final = 16_384
DEFAULT_LIMIT: Final = 4_096
MAX_LIMIT: Final = 8_192


@dataclass(frozen=True, slots=True)
class Recalled:
    """A page of evidence. `text` and `source_text` are None unless the status is valid.

    `source_text` is a page, in characters, of a JSON array of the records; `next_offset` is None
    on the last page.
    """

    status: SourceStatus
    fact_id: str | None = None
    revision: int | None = None
    text: str | None = None
    source: SourceRef | None = None
    source_text: str | None = None
    offset: int = 0
    next_offset: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The page as JSON values."""
        source = self.source
        return {
            "fact_id": self.fact_id,
            "next_offset": self.next_offset,
            "offset": self.offset,
            "revision": self.revision,
            "source": source
            and {
                "digest": source.digest,
                "seqs": list(source.seqs),
                "session_id": source.session_id,
            },
            "source_text": self.source_text,
            "status": self.status,
            "text": self.text,
        }

    def as_json(self) -> str:
        """The page as the model gets it, at most 16 KiB."""
        return json.dumps(self.as_dict(), ensure_ascii=False, sort_keys=True)


def recall(
    stores: Stores,
    histories: Histories,
    validator: Validator,
    fact_id: str,
    *,
    offset: int = 0,
    limit: int = DEFAULT_LIMIT,
    max_bytes: int = MAX_BYTES,
) -> Recalled:
    """A fact in the wording of now, with a page of the records that justify it.

    Raises:
        UnknownId: no such fact. InputError: an offset beyond the end.
    """
    revision = require_fact(stores, fact_id).as_of(stores.now()).current
    status = validator.status(revision)
    source = revision.sources[0].ref if revision.sources else None
    bare = Recalled(status, fact_id, revision.revision, source=source, offset=offset)
    if status != "valid":
        return bare
    whole = json.dumps(
        [
            entry
            for one in revision.sources
            for entry in records_of(histories, one.ref.session_id, one.ref.seqs)
        ],
        ensure_ascii=False,
    )
    return _page(bare, revision, whole, limit, max_bytes)


def read(
    histories: Histories,
    validator: Validator,
    session_id: str,
    start: int,
    end: int,
    *,
    offset: int = 0,
    limit: int = DEFAULT_LIMIT,
    max_bytes: int = MAX_BYTES,
) -> Recalled:
    """A page of what can be seen of records `start` to `end` of a session.

    Raises:
        UnknownId: no such session. InputError: not a range of at most 200 records of it.
    """
    history = histories.whole(session_id)
    if not 1 <= start <= end or end - start >= MAX_SOURCE_SEQS:
        raise InputError(
            f"give a range of 1 to {MAX_SOURCE_SEQS} records, first and last included, such as 2 5."
        )
    if start > history.reader.last_seq:
        raise UnknownId(f"session {session_id} ends at record {history.reader.last_seq}.")
    seen = histories.view(history)
    wanted = range(start, min(end, history.reader.last_seq) + 1)
    # A summary repeats what other records say; it is no source.
    kinds = history.entries.kind
    seqs = [s for s in wanted if seen.shows(s, "working") and kinds(s).type != "compact"]
    if not seqs:
        return Recalled("hidden", offset=offset)
    records = history.reader.records(seqs)
    whole = [
        seq for seq in seqs if (record := records[seq]) is not None and record.body is not None
    ]
    if not whole:
        return Recalled("stale", offset=offset)
    source = validator.source_ref(session_id, whole)
    text = json.dumps(records_of(histories, session_id, whole), ensure_ascii=False)
    return _page(Recalled("valid", source=source, offset=offset), None, text, limit, max_bytes)


def records_of(
    histories: Histories, session_id: str, seqs: tuple[int, ...] | list[int]
) -> list[dict[str, Any]]:
    """Records as JSON values: number, time, type and body without its salt."""
    records = histories.of(session_id).reader.records(seqs)
    return [_record_value(record) for record in records.values() if record is not None]


def _record_value(record: Record) -> dict[str, Any]:
    body = {key: value for key, value in (record.body or {}).items() if key != "salt"}
    return {"at": record.head.at, "seq": record.head.seq, "type": record.head.type, **body}


def _page(
    bare: Recalled, revision: Revision | None, whole: str, limit: int, max_bytes: int
) -> Recalled:
    if not 0 <= bare.offset <= len(whole):
        raise InputError(f"the offset is beyond the end; the text has {len(whole):,} characters.")
    size = max(1, min(limit, MAX_LIMIT))
    while True:
        end = bare.offset + size
        page = Recalled(
            status=bare.status,
            fact_id=bare.fact_id,
            revision=bare.revision,
            text=revision.text if revision else None,
            source=bare.source,
            source_text=whole[bare.offset : end],
            offset=bare.offset,
            next_offset=end if end < len(whole) else None,
        )
        # Escaping can double a page; it shrinks until it fits.
        if size == 1 or len(page.as_json().encode()) <= max_bytes:
            return page
        size = size * 3 // 4
