"""What an extractor may reply: strict JSON in one of two forms, and nothing around it.

1. *Quoting*: the model writes out what it would keep and which words prove it. *Selection*: code
   cut the person's messages into numbered sentences, and the model only names numbers.
2. A duplicate key, an unknown key, a number that JSON doesn't know, text before or after: refused.
   So is a fence of Markdown around the object: what strips it would have to choose between two
   objects, and the next one to read the reply might choose the other.
3. What is wrong with a reply is a reason, never an exception, and never repeats the reply.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, TypeAlias

from memnb.core.candidates import MAX_CANDIDATES, Reason
from memnb.core.facts import Quote, check_text
from memnb.core.messages import JsonValue
from memnb.errors import InvalidText

__all__ = [
    "BYTES_PER_TOKEN",
    "QUOTED_KINDS",
    "SCHEMAS",
    "Claimed",
    "Form",
    "NumberedSpan",
    "QuotedKind",
    "quoted_claims",
    "selected_claims",
]

Form = Literal["quoting", "selection"]
"""How an extractor answers: in its own copy of the person's words, or in numbers of sentences."""

QuotedKind = Literal["preference", "convention", "decision"]
PROJECT_FACT: Final = "project_fact"

QUOTED_KINDS: Final[tuple[QuotedKind, ...]] = QuotedKind.__args__  # type: ignore[attr-defined]
"""The kinds that only a person's own words can be."""

BYTES_PER_TOKEN: Final = 3
_MAX_NUMBER: Final = 32  # characters of a number with a fraction
_THOUSAND: Final = 1000


@dataclass(frozen=True, slots=True)
class Claimed:
    """What an extractor claims, in the right form; nothing of it is proved yet.

    `place` is where the text stands when code cut it; None when the model copied it. `confidence`
    is in thousandths.
    """

    text: str
    seqs: tuple[int, ...]
    kind: QuotedKind | Literal["project_fact"]
    quote: str
    conflicts: tuple[str, ...]
    is_proposal: bool
    confidence: int
    place: Quote | None = None


@dataclass(frozen=True, slots=True)
class NumberedSpan:
    """One of the person's sentences and where it stands."""

    number: int
    text: str
    place: Quote


Parsed: TypeAlias = "Reason | list[Claimed | Reason]"
"""Why a reply is useless, or for each of its items what it claims or why it is none."""


def quoted_claims(reply: str) -> Parsed:
    """What a reply of the quoting form claims."""
    return _parsed(reply, "candidates", _quoted)


def selected_claims(reply: str, spans: Sequence[NumberedSpan]) -> Parsed:
    """What a reply of the selection form claims of these sentences."""
    known = {span.number: span for span in spans}
    return _parsed(reply, "picks", lambda item: _selected(item, known))


def _parsed(reply: str, key: str, read: Callable[[dict[str, Any]], Claimed | Reason]) -> Parsed:
    try:
        value = _DECODER.decode(reply)
    except (ValueError, RecursionError):
        return "invalid_json"
    items = value.get(key) if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(items, list) or len(items) > MAX_CANDIDATES:
        return "response_schema"
    return [read(item) if isinstance(item, dict) else "candidate_schema" for item in items]


def _quoted(item: dict[str, Any]) -> Claimed | Reason:
    if item.keys() != _CANDIDATE.keys():
        return "candidate_schema"
    kind, seqs, text, quote = item["kind"], item["source_seqs"], item["text"], item["quote"]
    conflicts, confidence = _texts(item["conflicts"]), _thousandths(item["confidence"])
    is_seqs = isinstance(seqs, list) and all(type(seq) is int for seq in seqs)
    is_kind = kind in (*QUOTED_KINDS, PROJECT_FACT) if isinstance(kind, str) else False
    if conflicts is None or confidence is None or not is_seqs or not is_kind:
        return "candidate_schema"
    if type(item["proposal"]) is not bool:
        return "candidate_schema"
    if not _may_be_kept(text) or not _is_one_line(quote):
        return "invalid_text"
    return Claimed(text, tuple(seqs), kind, quote, conflicts, item["proposal"], confidence)


def _selected(item: dict[str, Any], spans: Mapping[int, NumberedSpan]) -> Claimed | Reason:
    if item.keys() != _PICK.keys():
        return "candidate_schema"
    number, kind = item["span"], item["kind"]
    conflicts, confidence = _texts(item["conflicts"]), _thousandths(item["confidence"])
    is_kind = isinstance(kind, str) and kind in QUOTED_KINDS
    if conflicts is None or confidence is None or type(number) is not int or not is_kind:
        return "candidate_schema"
    span = spans.get(number)
    if span is None:
        return "invalid_source"
    seqs = (span.place.seq,)
    return Claimed(span.text, seqs, kind, span.text, conflicts, False, confidence, span.place)


def _may_be_kept(text: object) -> bool:
    """Whether a fact may have this text as it is."""
    try:
        return isinstance(text, str) and check_text(text) == text
    except InvalidText:
        return False


def _is_one_line(quote: object) -> bool:
    """Whether a quote is one line that isn't too long; blanks at its ends are part of it."""
    try:
        return isinstance(quote, str) and bool(check_text(quote))
    except InvalidText:
        return False


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(dict.fromkeys(value))


def _thousandths(value: object) -> int | None:
    """A confidence from 0 to 1 in thousandths, rounded down; None when it isn't one."""
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        return None
    return math.floor(value * _THOUSAND + 1e-6)  # type: ignore[operator]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if len(text) > _MAX_NUMBER or not math.isfinite(value):
        raise ValueError("no such number")
    return value


def _refuse(_: str) -> NoReturn:
    raise ValueError("not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=_finite,
    parse_constant=_refuse,
)


def _closed(properties: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _listed(key: str, item: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return _closed({key: {"type": "array", "items": _closed(item)}})


_TEXTS: Final[dict[str, JsonValue]] = {"type": "array", "items": {"type": "string"}}
_CANDIDATE: Final[dict[str, JsonValue]] = {
    "text": {"type": "string"},
    "source_seqs": {"type": "array", "items": {"type": "integer"}},
    "kind": {"type": "string", "enum": [*QUOTED_KINDS, PROJECT_FACT]},
    "quote": {"type": "string"},
    "conflicts": _TEXTS,
    "proposal": {"type": "boolean"},
    "confidence": {"type": "number"},
}
_PICK: Final[dict[str, JsonValue]] = {
    "span": {"type": "integer"},
    "kind": {"type": "string", "enum": [*QUOTED_KINDS]},
    "confidence": {"type": "number"},
    "conflicts": _TEXTS,
}

SCHEMAS: Final[Mapping[Form, Mapping[str, JsonValue]]] = {
    "quoting": _listed("candidates", _CANDIDATE),
    "selection": _listed("picks", _PICK),
}
"""The JSON schema of each form, for models that can be held to one."""
