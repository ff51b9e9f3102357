"""Finds the credentials in a text: own formats, assigned values, and either behind a disguise.

1. Characters that a reader doesn't see (zero-width ones, terminal colours) may split a credential:
   text that holds some is searched as it is and without them.
2. Base64 is undone once, for runs that could hold a credential.
3. A secret covers the whole run of letters and digits it stands in; overlapping ones are one,
   named by the most specific rule.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from memnb.core.patterns import compiled
from memnb.core.secret_assignments import SecretSpan, assigned_secrets
from memnb.core.secret_contexts import CONTEXT_RULES
from memnb.core.secret_rules import MIN_TOKEN, TOKEN_RULES, SecretRule
from memnb.core.secret_values import (
    decoded_base64,
    is_chosen,
    is_generated,
    is_json_token,
    is_placeholder,
    is_strong,
)

__all__ = ["SecretSpan", "secret_spans"]

_UNSEEN = (
    r"[\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    r"\U000e0000-\U000e0fff]|\x1b\[[0-9;]{0,16}m"
)
_BASE64 = r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,}+={0,2}(?![A-Za-z0-9+/_-])"
_MIN_BASE64 = 24
_STRONG_KINDS = 3
_ESCAPES = ("\\n", "\\r", "\\t")
_RUN_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")

_KUBERNETES = r"""^[ \t]{0,8}kind:[ \t]{0,4}["']?[Ss]ecret["']?[ \t]{0,40}$"""
_KUBERNETES_DATA = (
    r"^[ \t]{0,8}data:[ \t]{0,40}\n(?P<lines>(?:[ \t#][^\n]{0,4000}+(?:\n|\Z)){1,200}+)"
)
_KUBERNETES_VALUE = (
    r"""^[ \t]{1,40}[\w."'-]{1,100}+:[ \t]{0,40}(?:[>|]-?[ \t]{0,40}\n[ \t]{1,40})?["']?"""
    r"""(?P<value>[A-Za-z0-9+/]{10,100000}+={0,2})["']?[ \t]{0,40}$"""
)


def secret_spans(text: str) -> tuple[SecretSpan, ...]:
    """The secrets in `text`, in order, none overlapping another."""
    found = [*_plain_secrets(text), *_encoded_secrets(text)]
    if not text.isascii() or "\x1b" in text:
        found.extend(_split_secrets(text))
    return tuple(_merged([_whole_run(text, secret) for secret in found])) if found else ()


def _plain_secrets(text: str) -> Iterator[SecretSpan]:
    long_words = "\n".join([word for word in text.split() if len(word) >= MIN_TOKEN])
    if long_words:
        for rule in TOKEN_RULES:
            if rule.literal in long_words:
                yield from _matches(rule, text)
    for rule in CONTEXT_RULES:
        if rule.literal in text:
            yield from _matches(rule, text)
    yield from _kubernetes_secrets(text)
    yield from assigned_secrets(text, _lowered(text))


def _matches(rule: SecretRule, text: str) -> Iterator[SecretSpan]:
    pattern = compiled(rule.pattern, re.ASCII)
    at = text.find(rule.literal)
    while at >= 0:
        found = pattern.match(text, at)
        after = at + len(rule.literal)
        if found:
            after = max(after, found.end())
            secret = SecretSpan(
                rule.name, *found.span("secret" if "secret" in pattern.groupindex else 0)
            )
            whole = _whole_run(text, secret)
            if _is_real(rule, text[whole.start : whole.end]):
                yield secret
        at = text.find(rule.literal, after)


def _is_real(rule: SecretRule, secret: str) -> bool:
    match rule.check:
        case "none":
            return True
        case "chosen":
            return is_chosen(secret)
        case "strong":
            return is_generated(secret) or is_strong(secret, n_kinds=_STRONG_KINDS)
        case "json-token":
            return is_json_token(secret)
        case "generated":
            return not is_placeholder(secret.replace(rule.literal, "", 1) or secret)


def _kubernetes_secrets(text: str) -> Iterator[SecretSpan]:
    if "ecret" not in text or not compiled(_KUBERNETES, re.MULTILINE).search(text):
        return
    entries = compiled(_KUBERNETES_VALUE, re.MULTILINE)
    for block in compiled(_KUBERNETES_DATA, re.MULTILINE).finditer(text):
        for entry in entries.finditer(text, *block.span("lines")):
            if len(entry["value"]) % 4 == 0:
                yield SecretSpan("kubernetes-secret", *entry.span("value"))


def _lowered(text: str) -> str:
    """`text` in lower case, one character for one: only the dotted capital I would become two."""
    return text.replace("\u0130", "i").lower()


def _encoded_secrets(text: str) -> Iterator[SecretSpan]:
    """Secrets in the decoded text of Base64 runs; each covers its run."""
    if max(map(len, text.split()), default=0) < _MIN_BASE64:
        return
    runs: list[tuple[int, int]] = []
    starts: list[int] = []
    decoded: list[str] = []
    n_decoded = 0
    for run in compiled(_BASE64).finditer(text):
        plain = decoded_base64(run.group())
        if plain:
            runs.append(run.span())
            starts.append(n_decoded)
            decoded.append(plain)
            n_decoded += len(plain) + 1
    for secret in _plain_secrets("\n".join(decoded)) if decoded else ():
        yield SecretSpan(secret.rule, *runs[bisect_right(starts, secret.start) - 1])


def _split_secrets(text: str) -> Iterator[SecretSpan]:
    """Secrets in `text` that show when the characters nobody sees are taken out."""
    pieces: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    n_kept = end = 0
    for unseen in compiled(_UNSEEN).finditer(text):
        if unseen.start() > end:
            pieces.append(text[end : unseen.start()])
            starts.append(n_kept)
            shifts.append(end - n_kept)
            n_kept += unseen.start() - end
        end = unseen.end()
    if not end:
        return
    pieces.append(text[end:])
    starts.append(n_kept)
    shifts.append(end - n_kept)

    def in_text(position: int) -> int:
        return position + shifts[bisect_right(starts, position) - 1]

    seen = "".join(pieces)
    for secret in (*_plain_secrets(seen), *_encoded_secrets(seen)):
        yield SecretSpan(secret.rule, in_text(secret.start), in_text(secret.end - 1) + 1)


def _whole_run(text: str, secret: SecretSpan) -> SecretSpan:
    start, end = secret.start, secret.end
    while start and text[start - 1] in _RUN_CHARACTERS and text[start - 2 : start] not in _ESCAPES:
        start -= 1
    while end < len(text) and text[end] in _RUN_CHARACTERS:
        end += 1
    return SecretSpan(secret.rule, start, end)


def _merged(secrets: list[SecretSpan]) -> Iterator[SecretSpan]:
    """One secret for those that overlap; `secrets` come with the most specific rule first."""
    ranked = sorted(enumerate(secrets), key=lambda item: item[1].start)
    rank, joined = ranked[0]
    for next_rank, secret in ranked[1:]:
        if secret.start >= joined.end:
            yield joined
            rank, joined = next_rank, secret
            continue
        rule = secret.rule if next_rank < rank else joined.rule
        rank = min(rank, next_rank)
        joined = SecretSpan(rule, joined.start, max(joined.end, secret.end))
    yield joined
