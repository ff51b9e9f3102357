"""Whether a value looks like a credential that somebody generated, chose, or only hinted at.

Random text changes between lower case, upper case and digits far more often than words and names
do; that count tells `eq1kdfy6spsc3lkr2` from `sha256_digest2` where entropy does not. A capital
before a small letter is not counted, since names are written so.
"""

from __future__ import annotations

import base64
import binascii
import re

__all__ = [
    "decoded_base64",
    "is_chosen",
    "is_generated",
    "is_json_token",
    "is_placeholder",
    "is_strong",
]

_HINT = re.compile(
    r"example|placeholder|change_?-?me|redacted|your|dummy|sample|insert|replace|fake|masked"
    r"|x{4}|\*{3}|\.{3}|#{4}|0{8}|foo_?bar|lorem|anoncvs|[<>{}⟦⟧…•]|\$\(|%[(s]|\A\$\w+\Z|\A%\w+%\Z",
    re.IGNORECASE,
)
_SEQUENCE = re.compile("12345678|abcdefgh", re.IGNORECASE)
_OWN_NAME = re.compile(
    r"p(?:[a@4]|%40)ss(?:w|phrase|code|\Z)|secret|token|api[_-]?key|credential|test", re.IGNORECASE
)
_DEFAULT = re.compile(
    "admin|administrator|default|guest|minio|mysql|none|null|open ?sesame|postgres|pwd|qwerty"
    "|rabbitmq|redis|root|tiger|true|undefined|user|username",
    re.IGNORECASE,
)
_SWITCH = re.compile("(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[0-9]|(?<=[0-9])[A-Za-z]")
_WORD = re.compile("[A-Z][a-z]{2,}|[a-z]{4,}")
_HEX = re.compile("(?=[0-9]*[a-fA-F])(?=[a-fA-F]*[0-9])(?:[0-9a-f]{24,}|[0-9A-F]{24,})")
_LONG_NUMBER = re.compile("[0-9]{16,20}")
_ADDRESS = re.compile(r"https?://|[./~\\]|arn:|[A-Za-z]:[\\/]")
_SYMBOL = re.compile(r"[!@#$%^&*+=?~|]")
_KINDS = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"), _SYMBOL)

_MIN_SWITCHES = 4
_MIN_SWITCH_RATE = 0.17
"""A character: random letters and digits have .4 and more, names in code rarely over .15."""
_WORD_SHARE = 0.7
_MIN_CHOSEN = 8
_MAX_SEQUENCE = 32


def is_placeholder(value: str) -> bool:
    """Whether `value` stands for a secret instead of being one: `YOUR_KEY`, `xxxx`, `${TOKEN}`."""
    few = max(3, min(len(value) // 10, 8))
    return (
        len(set(value)) <= few
        or _HINT.search(value) is not None
        or (len(value) < _MAX_SEQUENCE and _SEQUENCE.search(value) is not None)
    )


def is_generated(value: str) -> bool:
    """Whether `value` looks like the work of a random generator: a key, not a name or a word."""
    if is_placeholder(value) or _ADDRESS.match(value):
        return False
    if "." not in value and is_json_token(value):
        return False  # the header alone, as manuals show it
    if _HEX.fullmatch(value) or _LONG_NUMBER.fullmatch(value):
        return True
    if not _KINDS[2].search(value) or _is_camel_case(value):
        return False
    n_switches = len(_SWITCH.findall(value))
    return n_switches >= _MIN_SWITCHES and n_switches >= _MIN_SWITCH_RATE * len(value)


def _is_camel_case(value: str) -> bool:
    words = "".join(_WORD.findall(value))
    return not words.islower() and len(words) >= _WORD_SHARE * len(value)


def is_strong(value: str, *, n_kinds: int) -> bool:
    """Whether `value` looks like a strong password that a person chose.

    Args:
        value: What stands in the password's place.
        n_kinds: How many of lower case, capitals, digits and symbols it must hold; one is a digit.
    """
    return (
        len(value) >= _MIN_CHOSEN
        and is_chosen(value)
        and not _ADDRESS.match(value)
        and _KINDS[2].search(value) is not None
        and sum(kind.search(value) is not None for kind in _KINDS) >= n_kinds
    )


def is_chosen(value: str) -> bool:
    """Whether `value`, which stands in a password's place, is neither a placeholder nor a default.

    A default (`postgres`, `password`) protects nothing, and manuals are full of them.
    """
    return not (is_placeholder(value) or _OWN_NAME.search(value) or _DEFAULT.fullmatch(value))


def is_json_token(value: str) -> bool:
    """Whether the first part of a dotted token is the JSON header of a signed or encrypted one."""
    header = decoded_base64(value.partition(".")[0])
    return '"alg"' in header or '"enc"' in header


def decoded_base64(value: str) -> str:
    """`value` decoded, in either alphabet, padded or not; empty unless it is printable ASCII."""
    standard = value.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    standard = standard[: len(standard) - (len(standard) % 4 == 1)]
    try:
        data = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
        text = data.decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return text if text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else ""
