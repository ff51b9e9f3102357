"""Marks in the words of a sentence, in English: one pattern for each, over folded text.

A mark says how something is said, never what about: how long it is to hold, who speaks, whether it
asks, orders, or tells what happened. What a mark is worth is learned (`span_head.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
_NOW: Final = (
    "for now|for the moment|at the moment|right now|just now|this time|this once|just once|today"
    "|tonight|tomorrow|tmrw|this (?:week|morning|afternoon|evening|weekend)|temporar\\w+"
    "|for a moment|until|while i|for the next|in the meantime|currently|just for|only for"
)
_THING: Final = (
    "answer|article|book|bug|cell|chapter|chart|code|column|document|email|error|example|exercise"
    "|figure|file|function|idea|image|letter|line|list|loop|meeting|message|model|one|option|page"
    "|paragraph|part|plan|plot|point|poem|problem|question|recipe|result|row|script|section"
    "|sentence|slide|step|story|table|task|text|thing|time|title|trip|trick|variable|version|way"
)
_I: Final = (
    r"\bi(?:'m| am|'ve| have|'d| would)?"
    r"(?: \w+ly| really| just| also| so| still| always| often| tend to)?"
)

MARKS: Final[Mapping[str, str]] = {
    # how long it is meant to hold
    "always": r"\b(?:always|at all times|every time|each time|consistently)\b",
    "never": r"\b(?:never|not ever|don't ever)\b|\bany ?more\b(?=[.,;!]|$)",
    "lasting": r"\bfrom (?:now|here|today|this \w+) on|\bgoing forward|\bin (?:the )?future\b"
    r"|\bhenceforth|\bfor good\b|\bthat way\b|\bthat's (?:decided|settled)|\bfor the whole\b"
    r"|\bas (?:a (?:general )?rule|of this)\b|\bby default\b|\bfor future reference"
    r"|\bin every session",
    "throughout": r"\b(?:throughout|everywhere|nowhere else|without exception|for everything)\b",
    "unless": r"\bunless (?:i|told|stated|otherwise|we)\b",
    "whenever": r"\b(?:whenever|when(?:ever)? (?:i|you|we|\w+ing))\b",
    "remember": r"\b(?:remember(?: that|:)|(?:keep|bear) in mind|note (?:that|for)"
    r"|just so you know|as i said|i told you|for what it's worth)",
    "by_the_way": r"\b(?:by the way|btw|one more thing|before you start)\b|^(?:ps|oh|also)\b",
    "habit": r"\b(?:usually|generally|typically|normally|rarely|mostly|tend to|exclusively"
    r"|strictly|only ever)\b",
    "now": rf"\b(?:{_NOW})\b",
    "exception": r"\b(?:just|only) (?:this|in this|here|for this)\b|\bexception\b|\b(?:for"
    r"|in) this (?:one|only|\w+ only)\b|\bfor (?:this|that) (?!project|repo)\w+\b",
    "past_time": r"\b(?:yesterday|ago|recently|earlier|last (?:\w+day|night|week|month|year|time"
    r"|\w+)|back then|so far|lately|previous\w*)\b",
    "clock": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:by|at|on) \d|\bnext (?:week"
    r"|month|year|spring|summer|fall|winter|weekend|\w+day)\b",
    # who speaks, and with what attitude
    "prefer": r"\bi (?:\w+ )?(?:prefer|favou?r)\b|\bmy preference",
    "would_rather": r"\bi(?:'d| would) (?:much )?rather\b",
    "would_prefer": r"\bi(?:'d| would)(?: \w+)? prefer\b|\bi think i prefer\b",
    "dislike": rf"{_I} (?:hate|dislike|detest|despise|loathe|abhor|resent|(?:can't"
    r"|cannot) (?:stand|bear|tolerate|handle))\b",
    "avoid": rf"{_I} (?:try to |like to |prefer to )?(?:avoid|refuse|boycott|steer clear|(?:stay"
    r"|keep|shy) away|abstain|refrain)\b",
    "aversion": r"\b(?:averse|aversion|distaste|hatred|allerg\w+|intoleran\w+|phobia|fear of"
    r"|sensitiv\w+|dislike (?:of|for)|preference for|no patience|out of the question|no-go"
    r"|deal-?breaker|ruled? out|not for me)\b",
    "strongly": r"\b(?:strong|strongly|strict|strictly|deep|deeply|intense|severe|adamant\w*"
    r"|absolutely|firmly|vehement\w*|exclusively|particular about)\b",
    "no_interest": r"\bi(?:'m| am| have)(?: \w+)? (?:not (?:\w+ )?(?:interested|into|fond"
    r"|comfortable|keen|a (?:big |huge )?(?:fan|friend))|no (?:interest|friend|time for)"
    r"|uninterested|averse|opposed|against)\b|\bnot a (?:\w+ )?fan\b",
    "habit_not": r"\bi (?:don't|do not|won't|will not|can't|cannot|never)(?: \w+ly| ever| even)?"
    rf" (?:{_LIVES})\b",
    "habit_only": r"\bi (?:only|exclusively|strictly|always|rarely|never) (?:and \w+ )?"
    rf"(?:avoid|{_LIVES}|choose|purchase|consume)\b",
    "habit_often": r"\bi (?:usually|mostly|generally|normally|often|sometimes|tend to)\b",
    "happens": r"\b(?:i|we|they|you|he|she|it) always (?:get|have|enjoy|forget|end|feel|find|put"
    r"|make|look|seem|return)s?\b",
    "we_have": r"\bwe have (?:an?|two|three|some|no|\d+) ",
    "condition": r"\b(?:due to|because of) (?:my|an?) \w+|\bi (?:have"
    r"|suffer from) (?:an? )?(?:\w+ )*(?:allergy|arthritis|asthma|condition|diabetes|disease"
    r"|disability|impairment|injury|intolerance|phobia)\b",
    "weighs_on_me": r"\b(?:bores?|upsets?|exhausts?|triggers?|bothers?|annoys?|irritates?"
    r"|puts?) (?:my|me)\b|\bi (?:get|feel|become) (?:\w+ )?(?:anxious|uneasy|uncomfortable"
    r"|overwhelmed|sick|nauseous|bored)\b|\bi find (?:\S+ ){1,9}?(?:too|boring|tedious|exhausting"
    r"|unreadable|annoying|distracting|off-?putting|unpleasant|overwhelming|unbearable)\b"
    r"|\b(?:don't|doesn't|not) (?:work|interest|appeal)\w* (?:for|to)? ?me\b"
    r"|\bmakes? me (?:anxious|uneasy|uncomfortable|sick|sad|nervous)\b",
    "habit_do": r"\bi (?:use|follow|wear|insist|learn best|think in|work (?:as|with|in|on)|adhere"
    r"|stick to|value|lean|gravitate|find \w+ \w+)\b",
    "mental_not": rf"\bi (?:don't|do not|can't|cannot|never) (?:{_MINDS}|understand|find|figure)\b",
    "identity": r"\bi(?:'m| am) (?:an? \w+|(?:an? )?(?:\w+ )?(?:vegan|vegetarian)|colou?r-?blind"
    r"|left-handed|strict|committed|dedicated|passionate|diabetic|pescatarian|pregnant)\b",
    "like": rf"{_I} (?:like|love|enjoy|adore)\b",
    "like_mine": r"\bi (?:really )?like (?:to have|my|when|things|it when|\w+ (?:to be"
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
    "project": r"\b(?:in|for|of|on|across|to) (?:this|our) (?:\w+ )?(?:project|repo|repository"
    r"|code ?base|notebook|workspace|team|package|company|dataset|system|thesis|novel)\b",
    "here": r"\bhere\b",
    "you": r"\b(?:you|your)\b",
    # orders and rules
    "order": r"^(?:(?:and|also|please|so|but|ok|now|then|again|always|never|only|just|oh),? )*"
    rf"(?:don't |do not |always |never |please )*(?:{_VERBS}|avoid|ensure|let's"
    r"|remember)\b(?! \w+ is)",
    "order_lasting": r"^(?:(?:and|also|please|so),? )*(?:always|never|don't ever|do not ever"
    r"|avoid|stop \w+ing|prefer)\b|\b(?:please|and) (?:always|never|stop \w+ing|no more)\b"
    r"|, always\.$",
    "order_not": r"^(?:(?:and|also|please|so),? )*(?:don't|do not|never|avoid|no|stop|skip)\b",
    "order_while": rf"\b(?:please|and|, so|then) (?:{_VERBS})\b",
    "please": r"\bplease\b",
    "lets": r"\blet's\b",
    "generic": r"^(?:(?:and|so|for|in|of) )?(?:all|every|each|any|no|only the|nothing"
    r"|everything)\b",
    "every": r"\b(?:every|each|all|any|no|nobody|never)\b",
    "for_all": r"\b(?:for|in|of|on|to|with|next to) (?:all|every|each|any|everything)\b",
    "outputs": r"\b(?:answers|replies|responses|explanations|summaries|messages|reports|charts"
    r"|plots|figures|code|functions|translations|tables|commits|names|dates|tests|docstrings|docs"
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
    r"|\bmade up (?:my|our) mind|\bchanged my mind|\bit (?:is|was) (?:agreed|settled|decided)\b",
    "decided_what": r"\b(?:decided|agreed|settled|chose|opted|standardi[sz]ed|committed)(?: to"
    r"| on| for| that| against)? (?:use|keep|drop|support|freeze|write|\w+ over)\b",
    "decided_once": r"\b(?:decided|agreed|chose) to (?:ask|buy|call|do|get|go|have|help|invite"
    r"|join|leave|meet|order|participate|read|skip|stay|take|talk|try|visit|wait)\b",
    "decision": r"\b(?:decision|that's decided|it is settled|is final)\b",
    "will_not": r"\b(?:we|i) (?:won't|will not|are not going to|'re not going to)\b"
    r"|\bwe're not going to\b",
    "going_with": r"\bwe(?:'re| are) (?:going with|moving (?:to|from)|switching)\b"
    r"|\bswitching to\b",
    "instead": r"\b(?:instead of|rather than|as opposed to|\w+ over \w+)\b|[,;:] (?:not|never"
    r"|nowhere)\b|\band (?:not|never)\b",
    "no_longer": r"\bno (?:more|longer)\b|\bdrop(?:ped)? support\b",
    "because": r"\b(?:because|due to|otherwise|that's where|since i|since we)\b",
    "so": r", so (?!that|can|could|what|how|do|is|far)\w+|\bso i\b",
    "correction": r"^(?:actually no|correction)|\b(?:correction|that's wrong|sorry|as i said"
    r"|you (?:used|keep))\b|^no,|^not \"",
    # asking
    "question_mark": r"[?\u061f]",
    "asks": r"^(?:(?:and|but|so|also|hm+),? )*(?:what|which|who|whom|whose|why|how|can|could"
    r"|would|will|should|shall)\b(?! i say)|^(?:(?:and|but|so|also|hm+),? )*(?:when|where|do|does"
    r"|did|is|are|was|were|am|has|have|had|any|may)\b(?=.*\?)",
    "can_you": r"\b(?:can|could|would|will) you\b|\b(?:help|tell|show|give|suggest"
    r"|recommend)(?: me)? (?:with|some|more|a few)\b|\bany (?:tips|ideas|advice|suggestions"
    r"|recommendations)\b",
    "wonders": r"\b(?:i wonder|wondering|curious|interested in|any idea|do you (?:know|think"
    r"|have))\b",
    # telling what is, was or may be
    "past": r"\b(?!it was (?:agreed|decided|settled))(?:i|we|it|you)(?: \w+ly| just| also| never"
    rf"| always| finally| only)? (?:{_PAST})\b(?! to use)",
    "used_to": r"\bused to\b|\bwas going to\b|\bwere going to\b|\bended up\b|\bhaven't\b",
    "perfect": r"\b(?:i|we)(?:'ve| have|'d| had)(?: \w+)? (?:been|\w+ed|got|done|made|seen|read)\b",
    "progress": r"\b(?:i|we)(?:'m| am|'re| are)(?: \w+)? (?!going with|switching"
    r"|moving)\w{2,}ing\b",
    "planning": r"\b(?:i|we)(?:'m| am|'re| are|'ve been| was)?(?: also| just| still| kinda"
    r"| really)? (?:trying|thinking|planning|looking|considering|hoping|wondering|working|getting"
    r"|struggling|going(?! with)|plan|about)\b",
    "future": r"\b(?:i'll|we'll|i will|we will|going to|gonna|plan to|one day|some day)\b",
    "hypothetical": r"\b(?:if (?:we|i|it|you were)|maybe|perhaps|might|could|suppose|imagine"
    r"|let's assume|what if|would (?:be|have|probably)|had we|say we|it would)\b",
    "hedge": r"\b(?:i think|i guess|i feel|not sure|probably|hard to say|seems?|sort of|kind of"
    r"|kinda)\b",
    "should": r"\b(?:we|i) (?:should|ought)\b",
    "he_she": r"\b(?:he|she|they|him|his|her|their|them)\b",
    "kin": rf"\bmy (?:\w+ )?(?:{_KIN})(?:'s)?\b|\b(?:a friend|friends? of)\b",
    "others": r"^(?:the|some|most|many|this|that|these) \w+(?: \w+)? (?:says?|said|wants?"
    r"|prefers?|recommends?|requires?|argues?|asked|complained|always|never|is|are|has|have"
    r"|keeps?|decided|insists)\b|^(?:nobody|people|everyone|someone|most|some)\b",
    "reported": r"\b(?:said|says|told|wrote|writes|argues|claims|recommends|according to|insists"
    r"|complained|reviewer|tutorial|readme|docs say|manual|article|author)\b",
    "quotes": r"\"[^\"]*\w \w[^\"]*\"|(?<!\w)'[^']*\w \w[^']*'(?!\w)",
    "language": r"\b(?:translate|fill in|write an? (?:email|poem|story|letter))\b",
    "result": r"\b(?:works?|worked|fail(?:s|ed)|pass(?:es|ed)?|error|errors|warning|exception"
    r"|crash\w*|broken|breaks|returns|finished|runs? out|dies|installed|attached|added|saved)\b",
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
    "big_number": r"\d{3}|\$|%|\d+ (?:euro|dollars?|minutes|hours|days|weeks|months|years|miles)",
    "code_sign": r"`|\w\(|[{}<>]|==|[-+]=| = |;$|^(?:import|from|select|def|class|for|if not"
    r"|assert|git|pip|export) .*[=()*.]|^\w+: error|^[a-z]+error:",
    "shout": r"^(?:error|warning|info|note|fatal)\b:?",
    "name_like": r"\w_\w|\w/\w|\w\.(?:py|csv|json|md|txt|yaml|toml|xlsx)\b",
    "colon": r":(?:\s|$)",
    "list_like": r",[^,]+,[^,]+,",
    "parens": r"\(.*\)",
    "arabic": r"[\u0621-\u064a]",
    "foreign": r"[\u0400-\u05ff\u0900-\u0dff\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff"
    r"\uac00-\ud7af]",
    "i_first": r"^i\b|^i'|^my\b",
    "we_first": r"^(?:we|our)\b",
    "ends": r"[.!\u3002\u061f?]['\")]*$",
}
