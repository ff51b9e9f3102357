"""Marks in the words of a sentence, in English: one pattern for each, over folded text.

A mark says how something is said, never what about: how long it is to hold, who speaks, whether it
asks, orders, or tells what happened. What a mark is worth is learned (`span_head.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memnb.core.span_marks_passing import PASSING
from memnb.core.span_marks_speaker import SPEAKER

__all__ = ["MARKS"]

_VERBS: Final = (
    "add|address|answer|apply|ask|assume|build|call|change|check|cite|close|commit|compute"
    "|confirm|continue|convert|count|create|delete|deploy|describe|display|document|draft|draw|drop"
    "|edit|exclude|explain|export|fill|find|fix|follow|format|generate|give|go|group|highlight"
    "|import|include|install|keep|leave|limit|list|load|log|look|make|mention|merge|move|name|open"
    "|order|pick|pin|plot|point|prefer|print|provide|put|read|recommend|remove|rename|replace"
    "|reply|respond|return|rewrite|round|run|save|say|send|separate|set|show|skip|sort|speak"
    "|split|spell|start|state|stick|stop|store|suggest|sum|summari[sz]e|take|talk|tell|test|train"
    "|translate|treat|try|turn|undo|update|use|wrap|write"
)
_NOW: Final = (
    "for now|for the moment|at the moment|right now|just now|this time|this once|just once|today"
    "|tonight|tomorrow|tmrw|this (?:week|morning|afternoon|evening|weekend)|temporar\\w+"
    "|for a moment|until|while i|for the next|in the meantime|currently|just for|only for"
)

MARKS: Final[Mapping[str, str]] = {
    # how long it is meant to hold
    "always": r"\b(?:always|at all times|every time|each time|consistently)\b",
    "never": r"\b(?:never|not ever|don't ever)\b|\bany ?more\b(?=[.,;!]|$)",
    "lasting": r"\bfrom (?:now|here|today|this \w+) on|\bstarting (?:now|today)\b"
    r"|\bgoing forward|\bin (?:the )?future\b"
    r"|\bhenceforth|\bfor good\b|\bthat way\b|\bthat's (?:decided|settled)|\bfor the whole\b"
    r"|\bas (?:a (?:general )?rule|of this)\b|\bby default\b|\bfor future reference"
    r"|\bin every session",
    "throughout": r"\b(?:throughout|everywhere|nowhere else|without exception"
    r"|for everything)\b",
    "unless": r"\bunless (?:i|told|stated|otherwise|we)\b",
    "whenever": r"\b(?:whenever|whatever|wherever|whichever|when(?:ever)? (?:i|you|we"
    r"|\w+ing))\b",
    "when_asked": r"\b(?:when|whenever|(?:each|every) time) (?:i|you) (?:ask|change|delete"
    r"|finish"
    r"|give|install|paste|pick|quote|request|send|show|talk|touch|write)\b|\b(?:if|unless) i"
    r" (?:ask|paste|request|tell)\b|\bif you (?:change|delete|touch)\b",
    "ask_first": r"\bbefore you (?!start)\w+|\bwithout asking|\bask(?:ing)? me (?:before"
    r"|first)",
    "stays": r"\b(?:stays?|is final|(?:keep|leave) (?:it|them) that way)\b",
    "remember": r"\b(?:remember(?: that|:)|(?:keep|bear) in mind|note (?:that|for)"
    r"|just so you know|as i said|i told you|for what it's worth)",
    "by_the_way": r"\b(?:by the way|btw|one more thing|before you start)\b|^(?:ps|oh|also)\b",
    "habit": r"\b(?:usually|generally|typically|normally|rarely|mostly|tend to|exclusively"
    r"|strictly|only ever)\b",
    "now": rf"\b(?:{_NOW})\b",
    "exception": r"\b(?:just|only) (?:this|in this|here|for this)\b|\bexception\b|\b(?:for"
    r"|in) this (?:one|only|\w+ only)\b|\bfor (?:this|that) (?!project|repo)\w+\b",
    "past_time": r"\b(?:yesterday|ago|recently|earlier|last (?:\w+day|night|week|month|year"
    r"|time"
    r"|\w+)|back then|so far|lately|previous\w*)\b",
    "clock": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:by|at|on) \d|\bnext (?:week"
    r"|month|year|spring|summer|fall|winter|weekend|\w+day)\b",
    # orders and rules
    "order": r"^(?:(?:and|also|please|so|but|ok|now|then|again|always|never|only|just|oh),? )*"
    rf"(?:don't |do not |always |never |please )*(?:{_VERBS}|avoid|ensure|let's"
    r"|remember)\b(?! \w+ is)",
    "order_lasting": r"^(?:(?:and|also|please|so),? )*(?:always|never|don't ever|do not ever"
    r"|avoid|stop \w+ing|prefer)\b|\b(?:please|and) (?:always|never|stop \w+ing|no more)\b"
    r"|, always\.$",
    "order_not": r"^(?:(?:and|also|please|so),? )*(?:don't|do not|never|avoid|no|stop|skip)\b",
    "order_speech": r"^(?:please )?(?:address|answer|call|reply to|respond to|speak to|talk to"
    r"|write(?: to)?) me\b|^(?:please )?(?:answer|reply|respond|speak|talk|write) in\b",
    "order_once": r"^(?:please )?(?:now )?(?:act|analy[sz]e|check|compare|create|design|draft"
    r"|explain|fetch|find|generate|give me|go through|help|invent|list|look|make an?|name|open"
    r"|point me|print|read|rewrite|search|see|show me|summari[sz]e|tell me|translate|write)\b"
    r"(?! (?:to )?me in\b)",
    "order_idle": r"^(?:(?:also|and|but|please),? )*(?:don't|do not|never) (?:be|forget"
    r"|give up|hesitate|let|mind|stop"
    r"|worry)\b|\blet me (?:know|think|start)\b",
    "role": r"\b(?:act as|pretend|you are (?:an?|now)|you're an?|want you to (?:act|be (?:an?"
    r"|my)|begin|pretend|reply|say|start|answer))\b|\bi (?:will|'ll) (?:call|give|paste|play|send)"
    r"\b",
    "your_one": r"^(?:the|your|this) (?:\w+ )?(?:answer|output|reply|response|suggestion"
    r"|task|text)\b",
    "order_while": rf"\b(?:please|and|, so|then) (?:{_VERBS})\b",
    "please": r"\bplease\b",
    "lets": r"\blet's\b",
    "generic": r"^(?:(?:and|so|for|in|of) )?(?:all|every|each|any|no|only the|nothing"
    r"|everything)\b",
    "every": r"\b(?:every|each|all|any|no|nobody|never)\b",
    "for_all": r"\b(?:for|in|of|on|to|with|next to) (?:all|every|each|any|everything)\b",
    "outputs": r"\b(?:answers|replies|responses|explanations|summaries|messages|reports|charts"
    r"|plots|figures|code|functions|translations|tables|commits|names|dates|tests|docstrings"
    r"|docs"
    r"|queries|exports|comments|examples)\b",
    "rule_noun": r"\b(?:convention|policy|rule|standard|guideline|style|default|command)s?\b",
    "rule_is": r"\b(?:convention|policy|rule|standard|style|default|seed|command|manager"
    r"|format)[^,.]{0,40}\bis\b",
    "modal": r"\b(?:must|(?:have|has|needs?|ought) to be|should be|may (?:not )?be|shall)\b",
    "passive": r"\b(?:is|are) (?:always |never |only )?(?:stored|kept|written|named|numbered"
    r"|measured|pinned|deployed|merged|built|called|edited|swallowed|removed|exported|formatted"
    r"|run|tagged)\b",
    "belongs": r"\b(?:live|lives|go|goes|belong|belongs|get|gets|start|starts) (?:in|at|on|to"
    r"|next|its|under|from|with)\b",
    "decided": r"\b(?:we|i|team)(?:'ve| have)? (?:decided|agreed|settled|chose|picked|opted"
    r"|ruled out|standardi[sz]ed|committed|migrated|switched|dropped|voted|moved)\b"
    r"|\bmade up (?:my|our) mind|\bchanged my mind|\bit (?:is|was) (?:agreed|settled"
    r"|decided)\b",
    "decided_what": r"\b(?:decided|agreed|settled|chose|opted|standardi[sz]ed|committed)(?: to"
    r"| on| for| that| against)? (?:use|keep|drop|support|freeze|write|\w+ over)\b",
    "decided_once": r"\b(?:decided|agreed|chose) to (?:ask|buy|call|do|get|go|have|help|invite"
    r"|join|leave|meet|order|participate|read|skip|stay|take|talk|try|visit|wait)\b",
    "decided_the": r"\b(?:decided|settled|agreed|chose|chosen|picked|going|go|opted)(?: on"
    r"| with"
    r"| for| to \w+)? (?:an?|the|this|that|these|those|your|option|it)\b",
    "i_decided": r"\bi(?:'ve| have)? (?:decided|agreed|picked|chosen|chose|committed|moved|set"
    r"|switched|dropped)\b",
    "decision": r"\b(?:decision|that's decided|it is settled|is final)\b",
    "will_not": r"\b(?:we|i) (?:won't|will not|are not going to|'re not going to)\b"
    r"|\bwe're not going to\b",
    "going_with": r"\bwe(?:'re| are) (?:going with|moving (?:to|from)|switching)\b"
    r"|\bswitching to\b",
    "instead": r"\b(?:instead of|rather than|as opposed to|\w+ over \w+"
    r"|rather \w+(?: \S+){1,6} than)\b|[,;:] (?:not|never"
    r"|nowhere)\b|\band (?:not|never)\b",
    "no_longer": r"\bno (?:more|longer)\b|\bdrop(?:ped)? support\b",
    "because": r"\b(?:because|due to|otherwise|that's where|since i|since we)\b",
    "so": r", so (?!that|can|could|what|how|do|is|far)\w+|\bso i\b",
    "correction": r"^(?:actually no|correction)|\b(?:correction|that's wrong|sorry|as i said"
    r"|you (?:used|keep))\b|^no,|^not \"",
    **SPEAKER,
    **PASSING,
}
