"""Reading the fields of a record's body: what is missing or of another type is damage."""

from __future__ import annotations

from memnb.core.canonical import Body
from memnb.core.messages import Usage
from memnb.core.records import Record
from memnb.errors import StoreDamaged

__all__ = [
    "Fields",
    "damaged",
    "flag",
    "items",
    "maybe_number",
    "maybe_text",
    "nested",
    "number",
    "of",
    "one_of",
    "text",
    "text_map",
    "texts",
    "usage",
]


class Fields(dict[str, object]):
    """A body that reports a missing field as damage."""

    def __missing__(self, key: str) -> object:
        raise damaged()


def damaged() -> StoreDamaged:
    """What to raise for a body that isn't of its type's form."""
    return StoreDamaged(
        "a record's body has another form than its type; evidence over it is stale."
    )


def of(record: Record) -> Body:
    """The body of a record; raises StoreDamaged when it is gone."""
    if record.body is None:
        raise damaged()
    return Fields(record.body)


def text(body: Body, key: str) -> str:
    """A text."""
    value = body[key]
    if not isinstance(value, str):
        raise damaged()
    return value


def number(body: Body, key: str) -> int:
    """A whole number."""
    value = body[key]
    if type(value) is not int:
        raise damaged()
    return value


def maybe_number(body: Body, key: str) -> int | None:
    """A whole number, or None where null stands."""
    return None if body[key] is None else number(body, key)


def maybe_text(body: Body, key: str) -> str | None:
    """A text, or None where null stands."""
    return None if body[key] is None else text(body, key)


def flag(body: Body, key: str) -> bool:
    """True or false."""
    value = body[key]
    if not isinstance(value, bool):
        raise damaged()
    return value


def text_map(body: Body, key: str) -> dict[str, str]:
    """Texts by name."""
    value = body[key]
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise damaged()
    return dict(value)


def texts(body: Body, key: str) -> tuple[str, ...]:
    """A list of texts."""
    value = body[key]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise damaged()
    return tuple(value)


def nested(body: Body, key: str) -> Body:
    """An object in a body."""
    value = body[key]
    if not isinstance(value, dict):
        raise damaged()
    return Fields(value)


def items(body: Body, key: str) -> list[Body]:
    """A list of objects."""
    value = body[key]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise damaged()
    return [Fields(item) for item in value]


def usage(body: Body, key: str = "usage") -> Usage:
    """What a request consumed; null is unknown."""
    counts = nested(body, key)
    return Usage(
        maybe_number(counts, "input_tokens"),
        maybe_number(counts, "output_tokens"),
        maybe_number(counts, "cost_nusd"),
    )


def one_of(body: Body, key: str, allowed: frozenset[str]) -> str:
    """One of a few words."""
    value = text(body, key)
    if value not in allowed:
        raise damaged()
    return value
