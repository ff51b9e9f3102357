"""What a person should look at before it is remembered: sensitive matters, and other people.

1. The tables are short on purpose: a word that is missing costs a fact that a person can forget, a
   word too many costs them a look. Words that data work uses all day (`drop`, `remove`, `token`,
   `key`, `post`, `doctor`) stand here only together with what makes them sensitive.
2. English and Arabic, since promotion reads both. Arabic words are compared without vowel marks
   and with one letter for all forms of alef, and may carry the article and one-letter prefixes.
3. They decide that a person is asked, never that something is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from memnb.core.facts import normalised

__all__ = ["Risk", "is_about_another", "risk_of"]

Risk = Literal["health", "credentials", "permissions", "deleting", "sending", "paying"]
"""What is sensitive about a text."""

_ENGLISH: Final[Mapping[Risk, str]] = MappingProxyType(
    {
        # Whatever tells how somebody is; not `condition`, `treatment`, `patient`: data has those.
        "health": (
            r"allerg(?:y|ies|ic)|pregnan(?:t|cy)|diagnos(?:ed|is)|diabet(?:es|ic)|cancer|epilep\w+"
            r"|depress(?:ed|ion)|anxiety|adhd|autis\w+|dyslexi\w+|migraines?|insomnia|asthma|hiv"
            r"|medication|therap(?:y|ist)|psychiatr\w+|disabilit(?:y|ies)|surger(?:y|ies)|hospital"
            r"|my (?:doctor|health|illness|disease)|colou?r-?blind"
        ),
        # How to get in; not `token` and `key` alone: texts and tables have those.
        "credentials": (
            r"passwords?|passphrases?|passcodes?|credentials?|(?:api|secret|private|ssh)[ _-]?keys?"
            r"|(?:access|api|auth|bearer|refresh)[ _-]?tokens?|secrets?|log-?ins?|two-factor|2fa"
            r"|otp|pin (?:code|number)"
        ),
        # What widens what a program may do, and what tells it not to ask.
        "permissions": (
            r"permissions?|sudo|chmod|chown|root access|as root|admin\w* (?:rights|access)"
            r"|without (?:asking|approval|confirmation)|(?:do not|don['\u2019]t|never) ask"
            r"|no need to (?:ask|confirm)|auto-?approve\w*|always (?:allow|approve|accept)"
            r"|(?:disable|bypass|skip|ignore) (?:the )?(?:safety|security|checks?|approvals?)"
            r"|(?:skip|ignore) hooks?|whitelist\w*|allowlist\w*|grants? access|no-verify"
        ),
        # What can't be taken back; not `drop` and `remove`: columns and outliers go every day.
        "deleting": (
            r"delet(?:e|es|ed|ing|ion)|eras(?:e|es|ed|ing)|wip(?:e|es|ed|ing)|rm -\w+"
            r"|purg(?:e|es|ing)|drop (?:the )?(?:table|database|schema)s?"
            r"|overwrit(?:e|es|ten|ing)|truncate table|force[ -]?push\w*|reset --hard"
        ),
        # What leaves the machine; not `post` and `share`: posts and shares are data, too.
        "sending": (
            r"send(?:s|ing)?|sent to|e-?mail(?:s|ed|ing)?|upload(?:s|ed|ing)?|publish(?:es|ing)?"
            r"|deploy(?:s|ed|ing|ment)?|tweets?|forward (?:it|them|this|everything|all)"
            r"|post (?:it|them|this|to)|share (?:it|them|this) with|push to (?:prod\w*|main|master)"
            r"|webhooks?"
        ),
        "paying": (
            r"pay(?:s|ing|ments?)?(?! attention)|paid|purchas(?:e|es|ing)|(?:credit|debit) cards?"
            r"|iban|bank accounts?|wire transfers?|billing details|salar(?:y|ies)"
        ),
    }
)

_ARABIC: Final[Mapping[Risk, str]] = MappingProxyType(
    {
        "health": (
            "مرض|مريض|مريضه|حساسيه|سكري|سرطان|حامل|اكتئاب|قلق|دواء|ادويه|علاج|طبيب|مستشفي|اعاقه"
        ),
        "credentials": (
            "كلمه السر|كلمه المرور|كلمات المرور|مفتاح سري|مفتاح api|رمز الدخول|بيانات الدخول"
        ),
        "permissions": "صلاحيه|صلاحيات|اذن|بدون سؤال|دون ان تسال|لا تسال|لا تسالني",
        "deleting": "احذف|حذف|امسح|مسح|امح|ازاله نهائيه",
        "sending": "ارسل|ارسال|ابعث|انشر|نشر|ارفع|شارك مع",
        "paying": "ادفع|دفع|شراء|اشتر|بطاقه ائتمان|حساب بنكي|تحويل بنكي|راتب",
    }
)

_PREFIX: Final = r"(?<!\w)(?:[وف]?(?:[بلك]?ال|لل|[بلك])?)"
"""What an Arabic word may carry before it: and, so, by, for, as, the."""

_RISKS: Final = tuple(
    (
        risk,
        re.compile(rf"(?<!\w)(?:{_ENGLISH[risk]})(?!\w)|{_PREFIX}(?:{_ARABIC[risk]})(?!\w)"),
    )
    for risk in _ENGLISH
)

_VOWEL_MARKS: Final = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_LETTERS: Final = str.maketrans("أإآىةؤ", "اااي\u0647و")  # letters, not lookalikes

_RELATION: Final = (
    r"wife|husband|spouse|partner|girlfriend|boyfriend|mother|father|mom|mum|dad|parents|son"
    r"|daughter|kids?|brother|sister|boss|manager|colleagues?|co-?workers?|teammates?|team lead"
    r"|supervisor|advisor|friends?|neighbou?rs?|flatmate|roommate"
)
_PERSON_VERB: Final = (
    r"likes?|prefers?|wants?|hates?|loves?|dislikes?|thinks?|believes?|says?|said|told|asked|feels?"
    r"|knows?|lives?|insists?|hopes?|wishes|complains?|suggests?|suggested|speaks?|drinks?|eats?"
)
_ANOTHER: Final = re.compile(
    rf"\b(?:my|our|his|their)\s+(?:(?:new|old|former|late|line)\s+)?(?:{_RELATION})\b"
    r"|\b(?:he|she|him|his|her|hers|herself|himself)\b",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+[^\W\d_a-z]\w+")
_NAMED: Final = re.compile(
    r"(?:\A|[.!?;,:]\s+|\b(?:that|because|and|but|when|if|as)\s+)"
    r"(?P<name>[^\W\d_a-z][^\W\d_]+)(?:\s+(?:and|&)\s+[^\W\d_a-z]\w+|\s+[^\W\d_a-z]\w+)?"
    rf"\s+(?:(?:always|usually|also|never|really|often|only)\s+)?(?:{_PERSON_VERB})\b"
)
_NO_NAMES: Final = frozenset(
    {"i", "we", "you", "it", "they", "this", "that", "these", "those", "who", "which", "what"}
    | {"everyone", "everybody", "nobody", "someone", "somebody", "people", "user", "users", "one"}
    | {
        "both",
        "all",
        "none",
        "always",
        "never",
        "please",
        "first",
        "then",
        "git",
        "python",
        "pandas",
    }
)
_ANOTHER_ARABIC: Final = re.compile(
    rf"{_PREFIX}(?:زوجتي|زوجي|امي|ابي|والدي|والدتي|اخي|اختي|ابني|ابنتي|مديري|زميلي|زميلتي|صديقي"
    r"|صديقتي|جاري)(?!\w)|\A(?:هو|هي|هم)\s+(?:ي|ت)\w+"
)


def risk_of(text: str) -> Risk | None:
    """What is sensitive about a text, None when nothing is known to be."""
    form = _form(text)
    return next((risk for risk, words in _RISKS if words.search(form)), None)


def is_about_another(text: str) -> bool:
    """Whether a text says something of another person than who typed it, by its subject."""
    if _ANOTHER.search(text) or _TITLE.search(text):
        return True
    named = (match["name"].casefold() for match in _NAMED.finditer(text))
    if any(name not in _NO_NAMES for name in named):
        return True
    return _ANOTHER_ARABIC.search(_form(text)) is not None


def _form(text: str) -> str:
    """The text as the tables have it: folded, without Arabic vowel marks, one form a letter."""
    return _VOWEL_MARKS.sub("", normalised(text)).translate(_LETTERS)
