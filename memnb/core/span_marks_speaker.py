"""Marks of who speaks, and with what attitude, in English: a part of `span_marks.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["SPEAKER"]

_HABITS: Final = (
    "accept|address|allow|anonymise|archive|assign|bill|build|calculate|call|check|cite|commit"
    "|compare|compute|convert|count|define|deploy|do|document|encode|export|express|follow|format"
    "|have|index|keep|label|list|load|log|measure|merge|mock|name|number|order|pin|plot|prefer"
    "|prefix|print|publish|put|read|release|report|require|review|round|run|save|send|ship|sort"
    "|spell|split|squash|start|state|store|support|tag|target|test|touch|train|translate|treat|use"
    "|version|work|write"
)
_LIVES: Final = (
    "believe|buy|care for|cook|do|drink|eat|engage|enjoy|exercise|fly|follow|go|like|listen"
    "|participate|play|practi[sc]e|read|shop|sleep|stay|support|take|tolerate|travel|trust|use"
    "|want|watch|wear|work|write"
)
_MINDS: Final = "care|expect|feel|forget|get|have|know|mean|mind|need|recall|remember|see|think"
_I: Final = (
    r"\bi(?:'m| am|'ve| have|'d| would)?"
    r"(?: \w+ly| really| just| also| so| still| always| often| tend to)?"
)

SPEAKER: Final[Mapping[str, str]] = {
    # who speaks, and with what attitude
    "prefer": r"\bi (?:\w+ )?(?:prefer|favou?r)\b|\bmy preference",
    "would_rather": r"\bi(?:'d| would) (?:much )?rather\b",
    "would_prefer": r"\bi(?:'d| would)(?: \w+)? prefer\b|\bi think i prefer\b",
    "dislike": rf"{_I} (?:hate|dislike|detest|despise|loathe|abhor|resent|(?:can't"
    r"|cannot) (?:stand|bear|tolerate|handle))\b",
    "avoid": rf"{_I} (?:try to |like to |prefer to )?(?:avoid|refuse(?! to (?:accept|be"
    rf"|believe|give up|let)\b)|boycott|steer clear|(?:stay"
    r"|keep|shy) away|abstain|refrain)\b",
    "aversion": r"\b(?:averse|aversion|distaste|hatred|allerg\w+|intoleran\w+|phobia|fear of"
    r"|sensitiv(?:e to|ity)|dislike (?:of|for)|preference for|no patience|out of the question"
    r"|no-go|deal-?breaker|not for me)\b",
    "strongly": r"\b(?:strongly|strict|strictly|deeply|severe|adamant\w*|firmly|vehement\w*"
    r"|exclusively|particular about|(?:strong|deep|intense|profound) (?:\w+ )?(?:aversion"
    r"|disdain"
    r"|dislike|distaste|distrust|feelings|hatred|opinions?|preference|reservations)|absolutely"
    r" (?:cannot|can't|detest|hate|loathe|never|no|refuse|won't))\b",
    "no_interest": r"\bi(?:'m| am| have)(?: (?!not)\w+)? (?:not (?:\w+ )?(?:interested|into"
    r"|fond"
    r"|comfortable|keen|a (?:big |huge )?(?:fan|friend))|no (?:interest|friend|time for)"
    r"|uninterested|averse|opposed|against)\b|\bnot a (?:\w+ )?fan\b",
    "habit_not": r"\bi (?:don't|do not|won't|will not|can't|cannot|never)(?: \w+ly| ever"
    r"| even)?"
    rf" (?:{_LIVES})\b",
    "habit_only": r"\bi (?:only|exclusively|strictly|always|rarely|never) (?:and \w+ )?"
    rf"(?:avoid|{_LIVES}|choose|purchase|consume)\b",
    "habit_often": r"\bi (?:usually|mostly|generally|normally|often|sometimes|tend to)\b",
    "happens": r"\b(?:i|we|they|you|he|she|it) always (?:get|have|enjoy|forget|end|feel|find"
    r"|put"
    r"|make|look|seem|return)s?\b",
    "we_have": r"\bwe(?:'ve| have) (?!one rule|an? (?:rule|policy|convention)|to\b|agreed"
    r"|decided|chosen|settled)\w+|\bwe (?:don't|do not|all) (?:hear|have|know|mind|need|see"
    r"|think"
    r"|want)\b",
    "condition": r"\b(?:due to|because of) (?:my|an?) \w+|\bi (?:have"
    r"|suffer from) (?:an? )?(?:\w+ )*(?:allergy|arthritis|asthma|condition|diabetes|disease"
    r"|disability|impairment|injury|intolerance|phobia)\b",
    "weighs_on_me": r"\b(?:bores?|upsets?|exhausts?|triggers?|bothers?|annoys?|irritates?"
    r"|puts?) (?:my|me)\b|\bi (?:get|feel|become) (?:\w+ )?(?:anxious|uneasy|uncomfortable"
    r"|overwhelmed|sick|nauseous|bored)\b|\bi find (?:\S+ ){1,9}?(?:too|boring|tedious"
    r"|exhausting"
    r"|unreadable|annoying|distracting|off-?putting|unpleasant|overwhelming|unbearable)\b"
    r"|\b(?:don't|doesn't|not) (?:work|interest|appeal)\w* (?:for|to)? ?me\b"
    r"|\bmakes? me (?:anxious|uneasy|uncomfortable|sick|sad|nervous)\b",
    "habit_do": r"\bi (?:use|follow|wear|insist|learn best|think in|work (?:as|with|in|on)"
    r"|adhere"
    r"|stick to|value|lean|gravitate|find \w+ \w+)\b",
    "mental_not": rf"\bi (?:don't|do not|can't|cannot|never) (?:{_MINDS}|understand|find"
    rf"|figure)\b",
    "mood": r"\bi(?:'m| am)(?: just| also| still)? (?:an? (?:bit|little|complete|total|slow"
    r"|super"
    r"|big|huge)|absolutely|afraid|concerned|excited|glad|happy|nervous|not (?:against|opposed"
    r"|satisfied|sure|(?:\w+ )?comfortable)|pretty|really|so|sorry|sure|very(?! particular)"
    r"|worried)\b",
    "identity": r"\bi(?:'m| am) (?:an? \w+|(?:an? )?(?:\w+ )?(?:vegan|vegetarian)"
    r"|colou?r-?blind"
    r"|left-handed|strict|committed|dedicated|passionate|diabetic|pescatarian|pregnant)\b",
    "rather_this": r"\b(?:prefer|rather|favou?r)(?: \w+)? (?:a bit|both|here|it|its|not|that"
    r"|the|this|your)\b",
    "one_of_these": r"\b(?:did|do|does|go|say) (?:it|so|that|this)\b|\binterested\."
    r"|\b(?:any|none|neither|either|both) of (?:it|the|them|these|those|your)\b"
    r"|\binterested in (?:buying|it|reading|that|the|these|this|those)\b"
    r"|\bfan of (?:its|it|that|the|this)\b",
    "dont_want": r"\b(?:don't|do not) (?:want|need) (?:any\w*|her|him|it|my|that|the|them|this"
    r"|to)\b",
    "like": rf"{_I} (?:like|love|enjoy|adore)\b",
    "like_mine": r"\bi (?:really )?like (?:my|when|things|it when|\w+ (?:to be"
    r"|that come))\b",
    "like_this": r"\b(?:like|love|enjoy|hate|prefer)d? (?:this|that|these|those|the|it|how|both"
    r"|your|what)\b|\bfavou?rite\b|\bsounds? (?:good|great|like)\b",
    "would_like": r"\bi(?:'d| would)(?: really)? (?:like|love)\b|\bwanna\b",
    "want": r"\bi (?:really |just |also )?want (?:to|the|a|an|it|this|that|some|something)\b",
    "want_all": r"\bi (?:always |never |don't |do not )?(?:want|expect|need) (?:you to be|every"
    r"|all|each|any|no|my|short|to see|confidence|answers)\b",
    "need": r"\b(?:i|we) (?:need|have to|must|gotta)\b",
    "my_setting": r"\bmy (?:name|time ?zone|editor|working hours|preferred|default|native|diet"
    r"|budget|preference|pronouns)\b|\bcall me\b",
    "i": r"\bi\b",
    "my": r"\bmy\b",
    "me": r"\b(?:me|for me|to me)\b",
    "we_do": rf"\bwe(?: always| never| only| usually| all| currently)? (?:{_HABITS}|don't"
    r"|do not)\b",
    "we": r"\b(?:we|let's|us)\b",
    "our": r"\bour\b",
    "all_our": r"\b(?:all|any|each|every|none|no) (?:of )?(?:my|our)\b|\b(?:anything"
    r"|everything)"
    r" (?:i|you)\b|\bof mine\b",
    "our_is": r"^(?:our|my|the house) (?:[\w-]+ ){1,3}(?:is|are|has|have|must|starts?|lives?"
    r"|goes?|go|never|always)\b(?! (?:very|so|really|quite|too|pretty|\w+ed)\b)",
    "project": r"\b(?:in|for|of|on|across|to) (?:this|our) (?:\w+ )?(?:project|repo|repository"
    r"|code ?base|notebook|workspace|team|package|company|dataset|system|thesis|novel)\b",
    "here": r"\bhere\b",
    "you": r"\b(?:you|your)\b",
}
