"""Values given to something that is named like a credential: `password = ...`, `api_key: ...`.

1. Only the value is the secret; its name stays readable.
2. A name alone proves nothing: the value must look generated, or, behind a password's name, strong.
3. Names of what is not secret are left out: `token_url`, `secret_name`, `public_token`.
4. Every piece of the pattern is bounded, and a long value is searched for further names at its end
   only: time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memnb.core.patterns import compiled
from memnb.core.secret_values import decoded_base64, is_chosen, is_generated, is_strong

__all__ = ["SecretSpan", "assigned_secrets"]


class SecretSpan(NamedTuple):
    """One secret, in code points, end exclusive; `rule` names the format."""

    rule: str
    start: int
    end: int


_PASSWORD_NAMES = (
    "passw", "passphrase", "passcode", "pwd", "pass", "contraseña", "senha", "mot de passe",
    "пароль", "密码", "密碼", "비밀번호", "パスワード", "كلمة المرور", "סיסמה",
)  # fmt: skip
_KEY_NAMES = ("secret", "token", "credential", "creds", "apikey", "authorization", "key")

_KEY_OWNER = (
    r"(?:api|access|secret|private|auth|account|sign(?:ing)?|encrypt(?:ion)?|master|service|shared"
    r"|storage|licen[cs]e|subscription|functions?|deploy|app|application|consumer|client|webhook"
    r"|admin|cloud|iam|softlayer|hmac)[ _.-]?\Z"
)
"""What makes a `key` a credential; other keys open dictionaries, tables and songs."""
_PUBLIC_BEFORE = (
    r"(?:public|csrf|xsrf|next|page|sync|continuation|authenticity|verification)[a-z_.-]{0,8}\Z"
)
_PUBLIC_AFTER = (
    r"(?:ids?|names?|ur[il]s?|file|path|dir|len|length|size|types?|count|limit|hash|digest|salt"
    r"|selector|event|endpoint|arn|expir\w{0,10}|ttl|age|alg|algorithm|policy|fields?|label|hint"
    r"|prompt|vault|version|format|index|regex|pattern|ref)\Z"
)
_IS_OPTION = r"(?:(?:\A|[\s'\"])--?[\w-]{0,24}|\b(?:set|define) |\blogin \S{1,24}\s{1,8})\Z"
_IS_ARGUMENT = r"\(\s{0,4}[\"'`][\w.-]{0,24}\Z"

# \uff1a and \u306f are the colon and the topic marker of Chinese and Japanese text.
_GIVEN = r"""
    (?P<tail>[A-Za-z0-9_.-]{0,40}+)
    (?P<close>\\?["'`]?[\])]?)
    (?:
        [ \t]{0,8}+
        (?:(?::[ ]?)?(?:str|[sS]tring|bytes)\b[ \t]{0,4}+)?+
        (?: (?:[|?.:+]{0,3}=|\|{1,2})[=:>]{0,2}+
          | [:\uff1a\u306f]{1,2}+[*]{0,2}+
          | [>]
          | (?P<comma>,)
        )
      | \s{1,20}+value[ ]{0,2}+[:=]
      | (?:[ \t](?:for|to|of|on|at)[ \t][\w.'\ -]{1,40}?)?[ \t](?:is|was)\b:?
      | (?P<space>[ \t])
    )
    \s{0,24}+
    (?:[bBrRuUfF]{1,2}(?=["']))?+
    (?P<quote>\\?["'`*])?+
    (?:(?:Bearer|Basic|Token|ApiKey|FlyV1)[ ]{1,4}+)?+
    (?P<value>(?(quote)[^\s"'`<>{}\u27e6\u27e7\\]|[^\s"'`,;<>(){}\[\]\\\u27e6\u27e7|]){8,2000}+)
"""
_BEARER = r"[ ]{0,4}+(?P<value>[\w.~+/-]{16,2000}+={0,4})"
_BASIC = r"[ ]{0,4}+(?P<value>[\w+/-]{8,400}+={0,4})"
_ENCODED_LOGIN = r"""["']?\s{0,4}+[:=]\s{0,4}+["']?""" + _BASIC
_NEXT_PARAMETER = r"&[\w-]{1,40}="
_LOGINS = (("basic ", _BASIC), ('"auth', _ENCODED_LOGIN), ("_auth", _ENCODED_LOGIN))
"""Where a user and password stand encoded: HTTP's header, Docker's config.json, npm's .npmrc."""
_IS_NAME = r"(?:[a-z0-9](?:Token|Secret|Key|Password)|_(?i:token|secret|key|password))s?\Z"

_MAX_BEFORE = 32
_MAX_OVERLAP = 64
_STRONG_BARE = 4
_STRONG_QUOTED = 2


def assigned_secrets(text: str, lowered: str) -> Iterator[SecretSpan]:
    """The values in `text` that a credential's name introduces, in no order, perhaps twice.

    Args:
        text: What is searched.
        lowered: The same in lower case, character by character.
    """
    for name in (name for name in _PASSWORD_NAMES if name in lowered):
        givens = _givens(text, lowered, name)
        yield from (_span("assigned-password", given) for given in givens if _is_password(given))
    for name in (name for name in _KEY_NAMES if name in lowered):
        givens = _givens(text, lowered, name)
        yield from (_span("assigned-secret", given) for given in givens if _is_key(given))
    for name, follows in _LOGINS:
        logins = _matches(text, lowered, name, follows)
        yield from (_span("basic-login", given) for given in logins if _is_login(given))
    bearers = _matches(text, lowered, "bearer ", _BEARER)
    yield from (_span("bearer-token", given) for given in bearers if _is_key(given))


def _givens(text: str, lowered: str, name: str) -> Iterator[re.Match[str]]:
    for given in _matches(text, lowered, name, _GIVEN, re.ASCII | re.VERBOSE):
        at = given.start() - len(name)
        before = lowered[max(0, at - _MAX_BEFORE) : at]
        if _names_a_secret(before, name, given) and _is_closed(text, given):
            yield given


def _matches(
    text: str, lowered: str, name: str, follows: str, flags: int = re.ASCII
) -> Iterator[re.Match[str]]:
    pattern = compiled(follows, flags)
    at = lowered.find(name)
    while at >= 0:
        found = pattern.match(text, at + len(name))
        if found:
            yield found
        again = found.start("value") + len(_value(found)) - _MAX_OVERLAP if found else 0
        at = lowered.find(name, max(at + len(name), again))


def _names_a_secret(before: str, name: str, given: re.Match[str]) -> bool:
    tail = given["tail"].lower()
    if name == "key" and not compiled(_KEY_OWNER).search(before):
        return False
    if name == "pass" and (before[-1:].isalpha() or tail[:1].isalpha()):
        return False
    if given["comma"] and not (given["close"] and compiled(_IS_ARGUMENT).search(before)):
        return False
    if given["space"] and not compiled(_IS_OPTION).search(before):
        return False
    is_public = compiled(_PUBLIC_BEFORE).search(before)
    return not (is_public or compiled(_PUBLIC_AFTER).search(tail))


def _is_closed(text: str, given: re.Match[str]) -> bool:
    """Whether the value ends where its quote does, or else is no call, index or mere name."""
    after = text[given.end() : given.end() + 1]
    if given["quote"] == "*":
        return True
    if given["quote"]:
        return after in ("", '"', "'", "`", "\\")
    if after and after in "([{":
        return False
    return not compiled(_IS_NAME).search(given["value"][-_MAX_BEFORE:])


def _value(given: re.Match[str]) -> str:
    """The value without what belongs to the sentence or the URL around it."""
    own = compiled(_NEXT_PARAMETER).split(given["value"], maxsplit=1)[0]
    return own if own.endswith("...") else own.rstrip(".,:;*")


def _span(rule: str, given: re.Match[str]) -> SecretSpan:
    start = given.start("value")
    return SecretSpan(rule, start, start + len(_value(given)))


def _is_password(given: re.Match[str]) -> bool:
    n_kinds = _STRONG_QUOTED if given["quote"] else _STRONG_BARE
    return _is_key(given) or is_strong(_value(given), n_kinds=n_kinds)


def _is_key(given: re.Match[str]) -> bool:
    return is_generated(_value(given))


def _is_login(given: re.Match[str]) -> bool:
    _, colon, password = decoded_base64(_value(given)).partition(":")
    return bool(colon) and len(password) > 2 and is_chosen(password)
