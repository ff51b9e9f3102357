"""Canonical JSON: one sequence of bytes for one value, whichever encoder is used.

1. Keys sorted, no spaces, UTF-8, no ASCII escapes.
2. Only str, int up to 2^53, bool, null, list and dict with string keys: encoders disagree on
   floats, big integers and lone surrogates.
3. Reading refuses duplicate keys, floats, NaN and infinities.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from memnb.errors import InvalidText, StoreDamaged

__all__ = ["Body", "Value", "clean_text", "decode", "encode", "encode_plain"]

Value: TypeAlias = "str | int | bool | Sequence[Value] | Mapping[str, Value] | None"
"""What a record may hold."""

Body: TypeAlias = dict[str, Any]
"""A parsed record body, as it comes from disk; each type of record checks its own."""

_MAX_INT: Final = 2**53
_MAX_DIGITS: Final = 17


def clean_text(text: str) -> str:
    """`text` with lone surrogates, which UTF-8 can't hold, replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def encode(value: Value) -> bytes:
    """The canonical bytes of `value`.

    Raises:
        InvalidText: it holds a float, a big integer, a lone surrogate or another type.
    """
    try:
        return encode_plain(_plain(value))
    except UnicodeEncodeError:
        raise InvalidText("the text holds half of a surrogate pair; type it again.") from None
    except RecursionError:
        raise InvalidText("the value is nested too deeply to be stored.") from None


def encode_plain(value: object) -> bytes:
    """The canonical bytes of what is known to hold only dicts, lists, text and small integers."""
    return _ENCODER.encode(value).encode()


def decode(data: bytes) -> Body:
    """The object that `data` holds.

    Raises:
        StoreDamaged: not one JSON object, or it holds a duplicate key, a float or NaN.
    """
    try:
        value = _DECODER.decode(data.decode())
        if b"\\u" in data:
            encode(value)  # an escape may stand for half of a surrogate pair
    except (ValueError, RecursionError, InvalidText):
        raise StoreDamaged("a record is not canonical JSON; evidence over it is stale.") from None
    if not isinstance(value, dict):
        raise StoreDamaged("a record is not a JSON object; evidence over it is stale.")
    return value


def _plain(value: object) -> object:
    """`value` with plain dicts and lists, when it holds nothing that can't be stored."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        if abs(value) > _MAX_INT:
            raise InvalidText("a number beyond 2^53 can't be stored; pass it as text.")
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise InvalidText(f"a {type(value).__name__} can't be stored; pass it as text.")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidText("a key that is not text can't be stored.")
    return key


def _bounded(digits: str) -> int:
    if len(digits) > _MAX_DIGITS or abs(int(digits)) > _MAX_INT:
        raise ValueError("beyond 2^53")
    return int(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate key")
    return result


def _refuse(_: str) -> NoReturn:
    raise ValueError("not canonical")


# Made once: json.loads and json.dumps make new ones for each call with such options.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_bounded, parse_float=_refuse, parse_constant=_refuse
)
