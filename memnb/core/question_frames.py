"""What only frames a question: "can you remind me", "how many different", "in total".

These words say how something is asked or is to be answered; what is looked for is the rest. Rules,
English only: elsewhere stop words have to do.
"""

from __future__ import annotations

import re
from typing import Final

from memnb.core.passages import Speaker

__all__ = ["said_by", "unframed"]

_TALK: Final = "chat|conversation|discussion|exchange|session|talk"
_EARLIER: Final = "previous|last|earlier|past|recent|prior"
_SPAN: Final = "second|minute|hour|day|week|month|year|time"

_FRAMES: Final = re.compile(
    r"\b(?:"
    + "|".join(
        (
            r"(?:can|could|would|will|do) you (?:please |also )?(?:remind|tell|give|show|list)"
            r"(?: (?:me|us))?(?: (?:again|of|about))?",
            r"(?:please )?remind me(?: (?:again|of|about))?",
            r"i(?:'m| am| was| have been|'ve been)? (?:just |also )?(?:wondering|curious|trying to"
            r" (?:recall|remember))(?: (?:if|whether|about))?",
            r"i (?:just )?(?:want|wanted|would like|need|needed) to (?:follow up on|clarify|confirm"
            r"|check|know|ask|make sure)(?: about)?",
            r"i(?:'m| am| was)? (?:going|looking|thinking|checking|referring)"
            r"(?: back)?(?: (?:through|at|to|on|about|over))?(?= (?:our|my|the) )",
            rf"(?:our|my|the|this|that) (?:{_EARLIER}) (?:{_TALK})s?(?: (?:about|on|of))?",
            r"we (?:\w+ly )?(?:discussed|talked about|spoke about|chatted about)",
            rf"how (?:many|much|long|often|old)(?: (?:different|total|more))?(?: (?:{_SPAN})s?"
            r"(?= (?:ago|since|between|before|after|passed|have|has|had|did|do|does|is|was)\b))?"
            r"(?: (?:have|has|had) (?:passed|it been))?(?: (?:since|between|ago))?",
            r"(?:in|of) total|altogether|in order|overall",
            r"(?:what|which) (?:is|are|was|were) the (?:total|average|number|order|name|names|list)"
            r"(?: (?:number|amount|cost|price|time))?(?: of)?",
            r"the (?:total|average) (?:number|amount)(?: of)?",
            r"(?:from )?(?:the )?(?:earliest|first|oldest) to (?:the )?(?:latest|last|newest)",
            r"(?:starting )?from the (?:earliest|first|oldest)",
            r"(?:what|which)(?: other| different)? (?:kinds?|types?|sorts?) of",
            r"(?:what|which) (?:day|date|month|year|time)(?= (?:did|was|is|were|do|does|will)\b)",
            r"(?:do|can) you (?:still )?(?:remember|recall|know)",
            r"(?:what|which) do (?:you|i|we) (?:know|remember|have)(?: about)?",
        )
    )
    + r")(?!\w)",
    re.IGNORECASE,
)
_LONGEST_QUESTION: Final = 25
"""In words."""

_SAID: Final = (
    "said|told|mentioned|suggested|recommended|provided|gave|wrote|made|listed|explained|described"
    "|showed|proposed|created|advised|shared|referred|used|came up with|were"
)
_OF_BOTH: Final = re.compile(
    r"\b(?:remind me|you(?:'ve| have)? (?:\w+ly )?(?:" + _SAID + r")|(?:our|my|the)"
    rf" (?:{_EARLIER}) (?:{_TALK}|game)s?|we (?:\w+ly )?(?:discussed|talked|decided|outlined|spoke"
    r"|chatted|agreed|settled)|last time)\b",
    re.IGNORECASE,
)


def unframed(text: str) -> str:
    """The question without what only frames it, a blank instead of each."""
    return _FRAMES.sub(" ", text)


def said_by(text: str) -> Speaker:
    """Whose words a question is most likely about: a person asks about what they said themselves.

    Unless they ask what the assistant said, or both came to. A longer message is a request, and
    about nobody's words more than another's: "".
    """
    if _OF_BOTH.search(text):
        return "assistant"
    return "person" if len(text.split()) <= _LONGEST_QUESTION else ""
