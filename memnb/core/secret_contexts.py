"""The formats of credentials that are told by what stands around them: one row per rule.

As with tokens, each rule has a literal that guards it, and everything around it is bounded.
"""

from __future__ import annotations

import re

from memnb.core.secret_rules import SecretCheck, SecretRule

__all__ = ["CONTEXT_RULES"]

_BASE64_LINE = r"(?=[A-Za-z+/=]{0,63}[0-9])[A-Za-z0-9+/=]{20}"
_NO_DASHES = r"(?:[^-]|-(?!----))"
# What may stand between a key's first line and its body: anything but words, so the quotes of a
# literal in pieces too; escaped white space; markup; header fields; the time stamps of a log.
_BEFORE_BODY = (
    r"(?:\\[nrt]|</?[a-z]{1,8}/?>|[^A-Za-z0-9]|[A-Za-z][A-Za-z-]{1,24}:[ ][^\n\\]{0,120}(?:\n|\\n)"
    r"|[0-9][0-9.:,# TZ-]{0,40}[ \t]){0,60}+"
)
_CURL_USER = r"""(?:[^\n]|\\\n){0,200}?(?<=\s)(?:-u|--user)[ =]{0,2}["']?"""

_USERINFO = r"""(?P<user>[^\s:/@'"<>`]{0,64}+):(?!(?P=user)@)(?P<secret>[^\s/@,'"<>`]{5,200}+)"""
# From a member's name to its value in JSON, which may stand in a string of its own.
_VALUE = r"""\\{0,2}["']\s{0,20}+:\s{0,20}+\\{0,2}["']"""
_MEMBER = r"""\\{0,2}["']\s{0,20}+,\s{0,20}+\\{0,2}["']"""
_OPTION_P = r"""-p ?["']?(?P<secret>[^\s"'$<{]{6,100}+)"""
_HASH = "[./A-Za-z0-9]"
_ROUNDS = r"(?:rounds=\d{1,9}\$)?"

# name, check, literal, what follows; a group is the secret
_CONTEXTS: tuple[tuple[str, SecretCheck, str, str], ...] = (
    (
        "private-key",
        "none",
        "-----BEGIN ",
        rf"(?:[A-Z0-9]{{1,12}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----{_BEFORE_BODY}"
        rf"{_BASE64_LINE}{_NO_DASHES}{{0,20000}}+(?:-----END [A-Z0-9 ]{{0,40}}-----)?",
    ),
    (
        "private-key",
        "none",
        "PuTTY-User-Key-File-",
        rf"[23]:[^-]{{0,400}}?{_BASE64_LINE}[^-]{{0,20000}}+",
    ),
    ("age-secret-key", "none", "AGE-SECRET-KEY-1", "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    (
        "json-web-token",
        "json-token",
        "eyJ",
        r"(?:(?<![\w-]eyJ)|(?<=\\[nrt]eyJ))[\w-]{8,4000}+\.eyJ[\w-]{8,16000}+(?:\.[\w-]{0,2000}+)?",
    ),
    ("url-password", "chosen", "://", rf"{_USERINFO}@(?!example\.)[\w\[$-]"),
    # Manuals name such hosts, and so do people who hide theirs.
    ("url-password", "strong", "://", rf"{_USERINFO}@(?=example\.)"),
    ("nats-seed", "none", " NKEY SEED-----", r"[^A-Za-z0-9]{1,20}S[ACNOUX][A-Z2-7]{56}"),
    # A private key has a type and, before or after it, a part `d`; a symmetric one is its `k`.
    (
        "json-web-key",
        "generated",
        "kty",
        rf"""{_VALUE}(?:RSA|EC|OKP|oct)[^{{}}]{{0,4000}}?["'][dk]{_VALUE}"""
        r"(?P<secret>[\w-]{22,2000}+)",
    ),
    (
        "json-web-key",
        "generated",
        '"d',
        rf"""{_VALUE}(?P<secret>[\w-]{{22,2000}}+)(?=[^{{}}]{{0,4000}}?["']kty)""",
    ),
    (
        "kaggle-key",
        "generated",
        "username",
        rf"{_VALUE}[\w.-]{{1,64}}+{_MEMBER}key{_VALUE}(?P<secret>[0-9a-f]{{32}})(?![0-9a-f])",
    ),
    (
        "cloudflare-key",
        "strong",
        "loudflare",
        r"""[\w.-]{0,24}+["']?\s{0,8}+[:=]\s{0,8}+["']?"""
        r"(?P<secret>[0-9a-f]{37}|[\w-]{40})(?![\w-])",
    ),
    ("option-password", "chosen", "sshpass ", _OPTION_P),
    ("option-password", "strong", "mysql", rf"(?:dump|admin)? (?:[^\n]{{0,200}}? )?{_OPTION_P}"),
    ("password-hash", "none", "$apr1$", rf"{_HASH}{{1,8}}\$(?P<secret>{_HASH}{{22}})(?!{_HASH})"),
    ("password-hash", "none", "$1$", rf"{_HASH}{{1,8}}\$(?P<secret>{_HASH}{{22}})(?!{_HASH})"),
    (
        "password-hash",
        "none",
        "$5$",
        rf"{_ROUNDS}{_HASH}{{1,16}}\$(?P<secret>{_HASH}{{43}})(?!{_HASH})",
    ),
    (
        "password-hash",
        "none",
        "$6$",
        rf"{_ROUNDS}{_HASH}{{1,16}}\$(?P<secret>{_HASH}{{86}})(?!{_HASH})",
    ),
    ("password-hash", "none", "$2", rf"[abxy]\$\d\d\$(?P<secret>{_HASH}{{53}})(?!{_HASH})"),
    (
        "password-hash",
        "none",
        "$y$",
        rf"{_HASH}{{1,8}}\${_HASH}{{1,40}}\$(?P<secret>{_HASH}{{43}})(?!{_HASH})",
    ),
    (
        "password-hash",
        "none",
        "$argon2",
        r"(?:id|i|d)\$(?:v=\d{1,3}\$)?m=\d{1,9},t=\d{1,9},p=\d{1,4}\$[A-Za-z0-9+/]{8,100}+\$"
        r"(?P<secret>[A-Za-z0-9+/]{16,200}+)",
    ),
    ("password-hash", "generated", "{SHA}", r"(?P<secret>[A-Za-z0-9+/]{27}=)"),
    ("password-hash", "generated", "{SSHA}", r"(?P<secret>[A-Za-z0-9+/]{32,60}={0,2})"),
    ("azure-storage-key", "generated", "AccountKey=", r"(?P<secret>[A-Za-z0-9+/]{60,100}={0,2})"),
    ("azure-access-key", "generated", "AccessKey=", r"(?P<secret>[A-Za-z0-9+/]{40,60}={0,2})"),
    ("azure-sas", "generated", "sig=", r"(?P<secret>[A-Za-z0-9/+%]{42,100}+=?)"),
    ("aws-presigned-url", "generated", "X-Amz-Signature=", r"(?P<secret>[a-f0-9]{64})"),
    (
        "nuget-password",
        "generated",
        'key="ClearTextPassword"',
        r'\s{1,8}value="(?P<secret>[^"\s]{4,100}+)"',
    ),
    (
        "curl-password",
        "chosen",
        "curl ",
        rf"""{_CURL_USER}[^\s:"'$<{{]{{0,60}}+["']?:["']?"""
        r"""(?P<secret>(?![$<{%])[^\s"'<{]{6,100}+)(?=["'\s]|\Z)""",
    ),
    (
        "curl-password",
        "generated",
        "curl ",
        rf"""{_CURL_USER}(?P<secret>[^\s:"'$<{{]{{8,100}}+):["'\s]""",
    ),
)

CONTEXT_RULES = tuple(
    SecretRule(name, literal, re.escape(literal) + follows, check)
    for name, check, literal, follows in _CONTEXTS
)
"""Every such rule; a token's own format names a place before them."""
