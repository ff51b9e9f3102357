"""How long replies are to be, and in which language."""

from __future__ import annotations

from typing import Final

from memnb.core.promotion import arabic, english
from memnb.core.promotion.forms import Pieces, Rule, Value, group, spelled
from memnb.core.promotion.values import (
    LANGUAGES,
    any_of,
)

__all__ = ["REPLY_RULES"]


def _brief(pieces: Pieces) -> Value:
    del pieces
    return Value("reply-verbosity", "concise", "Prefer concise replies.")


def _detailed(pieces: Pieces) -> Value:
    del pieces
    return Value("reply-verbosity", "detailed", "Prefer detailed replies.")


def _reply_language(pieces: Pieces) -> Value:
    name = pieces.get("arabic", "")
    language = arabic.LANGUAGES[name] if name else LANGUAGES[pieces["language"].casefold()]
    return Value("reply-language", language, f"Always reply in {language}.")


_CONCISE: Final = "(?:concise|short|brief|terse|succinct|compact)"
_DETAILED: Final = "(?:detailed|thorough|long|in-depth|elaborate|comprehensive)"
_BRIEFLY: Final = "(?:briefly|concisely|succinctly|tersely)"
_FULLY: Final = "(?:in detail|thoroughly|at length)"
_ABOUT_REPLIES: Final = spelled(
    r"\b(?:repl|answer|respon|explanation|be |stay |language)|رد|جاب|جوب|جيب|أجب|شرح|شروح"
)

REPLY_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "reply-concise",
        1,
        "reply-verbosity",
        "preference",
        _ABOUT_REPLIES,
        (*english.replies_kept(_CONCISE, _BRIEFLY), *arabic.replies_kept(arabic.CONCISE)),
        _brief,
        matches=(
            ("Please keep your answers short.", "Prefer concise replies."),
            ("I prefer concise explanations", "Prefer concise replies."),
            ("From now on, be brief.", "Prefer concise replies."),
            ("خلّي الردود مختصرة", "Prefer concise replies."),
            ("أفضّل الإجاباتِ القصيرة.", "Prefer concise replies."),
        ),
        misses=(
            "Keep this answer short.",
            "I like short answers.",
            "Be brief.",
            "Could you keep your answers short?",
            "اجعل هذا الرد مختصرا",
            "هل يمكن أن تكون الردود مختصرة؟",
        ),
    ),
    Rule(
        "reply-detailed",
        1,
        "reply-verbosity",
        "preference",
        _ABOUT_REPLIES,
        (*english.replies_kept(_DETAILED, _FULLY), *arabic.replies_kept(arabic.DETAILED)),
        _detailed,
        matches=(
            ("I prefer detailed answers.", "Prefer detailed replies."),
            ("Always answer in detail", "Prefer detailed replies."),
            ("اجعل الإجابات مفصلة دائماً", "Prefer detailed replies."),
        ),
        misses=("Give me a detailed answer.", "I need a long explanation.", "أريد شرحا مفصلا"),
    ),
    Rule(
        "reply-language",
        1,
        "reply-language",
        "preference",
        _ABOUT_REPLIES,
        (
            *english.replies_in(group("language", any_of(LANGUAGES))),
            *arabic.replies_in(),
        ),
        _reply_language,
        matches=(
            ("Always reply in German.", "Always reply in German."),
            ("I prefer answers in French", "Always reply in French."),
            ("أجب بالعربية دائمًا", "Always reply in Arabic."),
            ("دائما رد باللغة الإنجليزية", "Always reply in English."),
        ),
        misses=(
            "Reply in German.",
            "Translate it into German by default.",
            "I prefer German.",
            "أجب بالعربية",
            "ترجم هذا إلى العربية",
        ),
    ),
)
