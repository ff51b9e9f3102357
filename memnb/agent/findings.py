"""What a search found, as a model is given it: JSON of bounded size, and what it carried.

What is shown of facts, messages and summaries is named in `carried`, so that what a model makes of
it falls with it. A note is a person's file and may hold any fact.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memnb.agent.tools import ToolResult
from memnb.core.passages import Passage
from memnb.core.visibility import ANY_FACT
from memnb.memory.searching import Found, Hit

__all__ = ["findings"]


def findings(
    found: Found, *, max_bytes: int, before: Sequence[Passage | None] | None = None
) -> ToolResult:
    """The hits as a result of at most `max_bytes`; those that find no room are counted.

    Args:
        found: by a search, the best first.
        max_bytes: of the whole.
        before: for each hit what stands before it, to be given with it.
    """
    around = before or [None] * len(found.hits)
    entries = [_entry(hit, one) for hit, one in zip(found.hits, around, strict=True)]
    n_shown = len(entries)
    while len(text := _json(found, entries[:n_shown], len(entries) - n_shown)) and n_shown:
        if len(text.encode()) <= max_bytes:
            break
        n_shown -= 1
    shown = [*zip(found.hits[:n_shown], around, strict=False)]
    references = dict.fromkeys(
        _carried(passage) for hit, one in shown for passage in (hit.passage, one) if passage
    )
    return ToolResult(text, record=f"{n_shown} hits", carried=tuple(references))


def _entry(hit: Hit, before: Passage | None) -> dict[str, Any]:
    passage = hit.passage
    entry = {
        "at": passage.at[:16],
        "place": passage.reference,
        "source": passage.source,
        "speaker": passage.speaker,
        "status": hit.status,
        "text": hit.snippet.text,
    }
    if hit.parts:
        entry["score"] = f"{hit.score:.2f}"
    if before is not None:
        entry["before"] = f"{before.speaker}: {before.text}"
    return {name: value for name, value in entry.items() if value}


def _json(found: Found, entries: Sequence[dict[str, Any]], n_left_out: int) -> str:
    whole: dict[str, Any] = {"hits": entries}
    if n_left_out:
        whole["left_out"] = n_left_out
    if found.notice:
        whole["notice"] = found.notice
    return json.dumps(whole, ensure_ascii=False, sort_keys=True)


def _carried(passage: Passage) -> str:
    return ANY_FACT if passage.source == "note" else passage.reference
