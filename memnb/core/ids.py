"""Ids: random, exact, in lower-case Crockford base32; never a prefix, path or alias of another."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from memnb.errors import UnknownId

__all__ = [
    "ALPHABET",
    "CANDIDATE_ID",
    "FACT_ID",
    "RECORDS",
    "SESSION_ID",
    "STORE_ID",
    "candidate_id",
    "fact_id",
    "require_candidate_id",
    "require_fact_id",
    "require_session_id",
    "run_id",
    "session_id",
    "stamp",
    "store_id",
]

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32 in lower case: no i, l, o or u, so an id can be read aloud."""

_C: Final = f"[{ALPHABET}]"
STORE_ID: Final = re.compile(rf"P-{_C}{{16}}\Z")
FACT_ID: Final = re.compile(rf"F-{_C}{{6}}\Z")
CANDIDATE_ID: Final = re.compile(rf"C-{_C}{{6}}\Z")
SESSION_ID: Final = re.compile(rf"S-[0-9]{{8}}-[0-9]{{6}}-{_C}{{6}}\Z")
RECORDS: Final = re.compile(
    rf"(S-[0-9]{{8}}-[0-9]{{6}}-{_C}{{6}}):([1-9][0-9]{{0,8}})(?:-([1-9][0-9]{{0,8}}))?\Z"
)
"""A reference to a record of a session, such as `S-…:12`, or to a range of them, `S-…:2-5`."""

RandomBytes = Callable[[int], bytes]


def store_id(random_bytes: RandomBytes) -> str:
    """A new store id: `P-` and 16 characters, 80 random bits."""
    return "P-" + _text(random_bytes(16))


def fact_id(random_bytes: RandomBytes) -> str:
    """A new fact id: `F-` and 6 characters, 30 random bits; the caller checks that it is free.

    It is random, not a hash of the text: a hash would confirm a guess after forgetting.
    """
    return "F-" + _text(random_bytes(6))


def candidate_id(random_bytes: RandomBytes) -> str:
    """A new id of a candidate: `C-` and 6 characters; the caller checks that it is free."""
    return "C-" + _text(random_bytes(6))


def run_id(random_bytes: RandomBytes) -> str:
    """A new id of a run of learning: `R-` and 10 characters, 50 random bits."""
    return "R-" + _text(random_bytes(10))


def session_id(now: datetime, random_bytes: RandomBytes) -> str:
    """A new session id: `S-`, the UTC second, 6 random characters; sorts by time."""
    return f"S-{now.astimezone(UTC):%Y%m%d-%H%M%S}-{_text(random_bytes(6))}"


def stamp(now: datetime) -> str:
    """A time as it is stored: UTC ISO 8601 with six digits, so that text order is time order."""
    # strftime doesn't pad the year everywhere.
    return now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def require_fact_id(text: str) -> str:
    """`text` when it has the form of a fact id.

    Raises:
        UnknownId: it has not.
    """
    if not FACT_ID.match(text):
        raise UnknownId(
            "not a fact id: one looks like F-7k2m9q, in small letters. `%memory facts` lists those"
            " of this project."
        )
    return text


def require_candidate_id(text: str) -> str:
    """`text` when it has the form of a candidate's id.

    Raises:
        UnknownId: it has not.
    """
    if not CANDIDATE_ID.match(text):
        raise UnknownId(
            "not an id of the inbox: one looks like C-7k2m9q. `%memory review` lists what waits."
        )
    return text


def require_session_id(text: str) -> str:
    """`text` when it has the form of a session id.

    Raises:
        UnknownId: it has not.
    """
    if not SESSION_ID.match(text):
        raise UnknownId(
            "not a session id: one looks like S-20261130-091005-7k2m9q. `%memory sessions` lists"
            " those of this project."
        )
    return text


def _text(random: bytes) -> str:
    return "".join(ALPHABET[byte & 31] for byte in random)
