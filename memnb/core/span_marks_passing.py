"""Marks of what is said in passing, in English: a part of `span_marks.py`.

It asks, tells what is, was or may be, or points at something near; and how it looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["PASSING"]

_PAST: Final = (
    r"\w{2,}ed|ate|became|began|bought|broke|came|chose|did|fell|felt|forgot|found|gave|got|had"
    r"|heard"
    "|kept|knew|left|lost|made|met|ran|read|said|saw|sent|spent|started|thought|told|took|tried"
    "|was|went|were|won|wrote"
)
_KIN: Final = (
    "aunt|boss|boyfriend|brother|child|client|colleague|cousin|coworker|dad|daughter|doctor|family"
    "|father|flatmate|friend|girlfriend|grand\\w+|husband|kids?|manager|mom|mother|mum|neighbou?r"
    "|partner|roommate|sister|son|supervisor|teacher|uncle|wife"
)
_THING: Final = (
    "answer|article|book|bug|cell|chapter|chart|code|column|document|email|error|example|exercise"
    "|figure|file|function|idea|image|letter|line|list|loop|meeting|message|model|one|option|page"
    "|paragraph|part|plan|plot|point|poem|problem|question|recipe|result|row|script|section"
    "|sentence|slide|scene|step|story|table|task|text|thing|time|title|trip|trick|variable|version"
    "|way"
)

PASSING: Final[Mapping[str, str]] = {
    # asking
    "question_mark": r"[?\u061f]",
    "asks": r"^(?:(?:and|but|so|also|hm+),? )*(?:what|which|who|whom|whose|why|how|can|could"
    r"|would|will|should|shall)\b(?! i say)|^(?:(?:and|but|so|also|hm+),? )*(?:when|where|do"
    r"|does"
    r"|did|is|are|was|were|am|has|have|had|any|may)\b(?=.*\?)",
    "can_you": r"\b(?:can|could|would|will) you\b|\b(?:help|tell|show|give|suggest"
    r"|recommend)(?: me)? (?:with|some|more|a few)\b|\bany (?:tips|ideas|advice|suggestions"
    r"|recommendations)\b",
    "asks_within": r"\b(?:check|explain|find out|know|list|say|see|show|tell)(?: me| us)? (?:how|if"
    r"|what|where|whether|which|who|why)\b",
    "wonders": r"\b(?:i wonder|wondering|curious|interested in|any idea|do you (?:know|think"
    r"|have))\b",
    # telling what is, was or may be
    "past": r"\b(?!it was (?:agreed|decided|settled))(?:i|we|it|you)(?: \w+ly| just| also"
    r"| never"
    rf"| always| finally| only)? (?:{_PAST})\b(?! to use)",
    "used_to": r"\bused to\b|\bwas going to\b|\bwere going to\b|\bended up\b|\bhaven't\b",
    "perfect": r"\b(?:i|we)(?:'ve| have|'d| had)(?: \w+)? (?:been|\w+ed|got|done|made|paid"
    r"|seen|read|ridden|taken|written)\b",
    "never_been": r"\b(?:never|always) (?:a \w+|been|done|eaten|felt|found|gone|got|gotten|had"
    r"|heard"
    r"|knew|known|made|meant|met|paid|ridden|said|seen|spent|taken|thought|understood|used to"
    r"|written|\w{3,}ed)\b",
    "sometimes": r"\b(?:sometimes|often|at times|now and then|most of the time|mostly)\b",
    "recalls": r"\bi(?:'ll| still| do| can)? remember\b|\bremember (?:to|the|this"
    r"|that (?:i had|it|the"
    r"|this|we))\b|\bremembering\b",
    "mentions_preference": r"\b(?:my|our|your) preferences?\b(?! (?:is|are|for|to))",
    "progress": r"\b(?:i|we)(?:'m| am|'re| are)(?: \w+)? (?!going with|switching"
    r"|moving)\w{2,}ing\b",
    "planning": r"\b(?:i|we)(?:'m| am|'re| are|'ve been| was)?(?: also| just| still| kinda"
    r"| really)? (?:trying|thinking|planning|looking|considering|hoping|wondering|working"
    r"|getting"
    r"|struggling|going(?! with)|plan|about)\b",
    "starting": r"\b(?:as of|beginning|during|from|in|since|starting(?: on)?|until) (?:next"
    r"|the (?:next|trip|summer|winter|holidays|audit)|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|week)\b",
    "the_plan": r"\b(?:my|our|the) (?:aim|goal|plan|idea)s?(?: for \w+(?: \w+)?)? (?:is|are"
    r"|stands?"
    r"|was)\b",
    "so_plan": r"\bso (?:far|i(?:'ll|'d|'m| (?:will|am|would|need|have|want|think|went|saw|can"
    r"|could|don't waste))"
    r"|it|just|something|that|the|these|this|we(?:'ll| will| can| need))\b",
    "hope": r"\b(?:i hope|hopefully|i wish|i'd love)\b",
    "future": r"\b(?:i'll|we'll|i will|we will|going to|gonna|plan to|one day|some day)\b",
    "hypothetical": r"\b(?:if (?:we|i|it|you were)|maybe|perhaps|might|could|suppose|imagine"
    r"|let's assume|what if|would (?:be|have|probably)|had we|say we|it would)\b",
    "hedge": r"\b(?:i think|i guess|i feel|not sure|probably|hard to say|seems?|sort of|kind of"
    r"|kinda)\b",
    "should": r"\b(?:we|i) (?:should|ought)\b",
    "third_habit": r"(?<!\bi )(?<!we )(?<!you )\b(?:always|never|only|usually|ever) (?!pass"
    r"|miss"
    r"|less|this|us)\w+[^s]s\b",
    "third_mind": r"^(?!our|we\b|i\b|it\b)\w[\w' -]*? (?:asks|believes|doesn't|drinks|eats"
    r"|hates"
    r"|insists|keeps|knows|likes|loves|needs|prefers|refuses|says|thinks|tells|wants|won't)\b",
    "he_she": r"\b(?:he|she|they|him|his|her|their|them)\b",
    "kin": rf"\bmy (?:\w+ )?(?:{_KIN})(?:'s)?\b|\b(?:a friend|friends? of)\b",
    "others": r"^(?:the|some|most|many|this|that|these) \w+(?: \w+)? (?:says?|said|wants?"
    r"|prefers?|recommends?|requires?|argues?|asked|complained|always|never|is|are|has|have"
    r"|keeps?|decided|insists)\b|^(?:nobody|people|everyone|someone|most|some)\b",
    "reported": r"\b(?:said|says|told|wrote|writes|argues|claims|recommends|according to"
    r"|insists"
    r"|complained|reviewer|tutorial|readme|docs say|manual|article|author)\b",
    "quotes": r"\"[^\"]*\w \w[^\"]*\"|(?<!\w)'[^']*\w \w[^']*'(?!\w)",
    "language": r"\b(?:translate|fill in|write an? (?:email|poem|story|letter))\b",
    "result": r"\b(?:works?|worked|fail(?:s|ed)|pass(?:es|ed)?|error|errors|warning|exception"
    r"|crash\w*|broken|breaks|returns|finished|runs? out|dies|installed|attached|added"
    r"|saved)\b",
    "acks": r"^(?:thanks?|thank you|great|nice|ok(?:ay)?|sure|perfect|cool|wow|yes|yeah|no|hi"
    r"|hello|hey|got it|sounds|good|see|hm+|haha)\b",
    "thanks": r"\bthank|\bawesome|\bamazing|\bexcited|\bglad\b",
    "exclaims": r"!",
    # what it points at
    "this_thing": rf"\b(?:this|that|these|those) (?:\w+ )?(?:{_THING})s?\b",
    "this": r"\b(?:this|that|these|those)\b(?! (?:project|repo|codebase|i|we|is how))",
    "it": r"\bit\b",
    "ordinal": r"\b(?:first|second|third|last|next|previous|other|above|below|option \d)\b",
    "the_thing": rf"\bthe (?:\w+ )?(?:{_THING})s?\b",
    "again": r"\b(?:again|then|already|still|yet|back)\b",
    # its form
    "digits": r"\d",
    "big_number": r"\d{3}|\$|%|\d+ (?:euro|dollars?|minutes|hours|days|weeks|months|years"
    r"|miles)",
    "code_sign": r"`|\w\(|[{}<>]|==|[-+]=| = |;$|^(?:import|from|select|def|class|for|if not"
    r"|assert|git|pip|export) .*[=()*.]|^\w+: error|^[a-z]+error:",
    "shout": r"^(?:error|warning|info|note|fatal)\b:?",
    "name_like": r"\w_\w|\w/\w|\w\.(?:py|csv|json|md|txt|yaml|toml|xlsx)\b",
    "colon": r":(?:\s|$)",
    "list_like": r",[^,]+,[^,]+,",
    "parens": r"\(.*\)",
    "arabic": r"[\u0621-\u064a]",
    "foreign": r"[\u0400-\u05ff\u0900-\u0dff\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff"
    r""
    r"\uac00-\ud7af]",
    "it_first": r"^(?:and |but |so )?(?:it|that|there|this)(?:'s| is| was|'ll| will| would"
    r"| has| doesn't)\b",
    "comments_on": r"\bit(?:'s| is|'ll be| would be| has been|'s been)(?: \w+)? (?:amazing"
    r"|better|convenient|crazy|easy|fascinating|fun|funny|good|great|hard|important|interesting"
    r"|nice|essential|frustrating|helpful|sad)\b",
    "fragment": r"^(?:of|to|or|than|which|who|whose|by|but|nor|that)\b(?!'s| is| was)",
    "i_first": r"^i\b|^i'|^my\b",
    "we_first": r"^(?:we|our)\b",
    "ends": r"[.!\u3002\u061f?]['\")]*$",
}
