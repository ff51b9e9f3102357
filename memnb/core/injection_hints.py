"""Phrases that address the model instead of the reader: a label for review, never a gate.

What may become a fact is decided by who wrote it. These few phrases only help a person to look
twice; most injections use none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memnb.core.patterns import compiled

__all__ = ["InjectionHint", "injection_hints"]


class InjectionHint(NamedTuple):
    """One such phrase, in code points, end exclusive; `rule` says what it attempts."""

    rule: str
    start: int
    end: int


# rule, words of which one must occur, pattern; all in lower case
_RULES = (
    (
        "overrides-instructions",
        ("ignor", "disregard", "forget", "override", "overlook", "bypass", "vergiss", "olvid"),
        r"\b(?:ignor(?:e|er|ez|a|iere|ieren)|disregard|forget|override|overlook|bypass|vergiss"
        r"|olvid(?:a|e))\b"
        r"(?:[^.!?\n]{0,40}?\b(?:previous|prior|above|preceding|earlier|existing|your|these|all"
        r"|alle[ns]?|deine|obigen|las|todas|tes|les)\b[^.!?\n]{0,30}?\b(?:instructions?|rules?"
        r"|prompts?|directions?|guidelines?|commands?|tasks?|constraints?|safeguards?"
        r"|anweisungen|aufgaben|aufträge|richtlinien|regeln|instrucciones)\b"
        r"| (?:everything|all|alles|todo)\b(?: (?:that|above|before|davor|was|we))?"
        r" ?(?:above|before|and|we|davor|wir|,))",
    ),
    (
        "poses-as-role",
        ("system", "assistant", "<|", "[inst]", "[/inst]"),
        r"</?(?:system|assistant|tool|instructions?)>|<\|(?:im_start|im_end|system|user)\|>"
        r"|\[/?inst\]|^(?:#{2,3} ?)?(?:system|instruction):",
    ),
    (
        "asks-for-prompt",
        ("prompt", "instructions"),
        r"\b(?:reveal|print|show|repeat|output|tell me|display|spell.?check)\b[\w ,']{0,40}?"
        r"\b(?:system prompt|your (?:\w{1,12} ){0,2}(?:prompt|instructions)"
        r"|(?:prompt|instructions) above)\b",
    ),
    (
        "addresses-model",
        (" bot", " ai", "agents", "assistant", "model"),
        r"\b(?:note|message|instructions?) (?:to|for) (?:the |any |all )?(?:bots?"
        r"|ai(?: agents?| assistants?| models?)?|assistant|agents|language model)\b"
        r"|\bif you are an? (?:ai|language model|assistant)\b",
    ),
    (
        "hides-from-user",
        ("not tell", "don't tell", "without telling", "not mention", "without informing"),
        r"\b(?:do not|don't|without) (?:tell|mention|inform)(?:ing)?\b[\w ,]{0,20}?"
        r"\b(?:user|human|operator)\b",
    ),
    (
        "changes-persona",
        ("you are now", "act as", "pretend", "developer mode", "jailb"),
        r"\byou are now (?:in )?(?:developer|dan|jailbroken|unrestricted|free from)\b"
        r"|\bdeveloper mode (?:enabled|on)\b|\bjailb(?:reak|roken) mode\b"
        r"|\b(?:act as|pretend (?:to be|you are))\b[\w ,]{0,40}?"
        r"\b(?:evil|unrestricted|unfiltered|no (?:rules|restrictions|limits))\b",
    ),
)


def injection_hints(text: str) -> Iterator[InjectionHint]:
    """The phrases in `text` that look like an attempt to instruct the model, by rule."""
    lowered = text.replace("\u0130", "i").lower()
    for rule, words, pattern in _RULES:
        if any(word in lowered for word in words):
            for hint in compiled(pattern, re.MULTILINE).finditer(lowered):
                yield InjectionHint(rule, *hint.span())
