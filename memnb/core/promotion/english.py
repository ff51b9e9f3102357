"""English sentences that state a standing preference, as patterns of the whole sentence.

What makes a wish a standing one is always in the words: `prefer`, `always`, `never`, `by default`,
`from now on`, a habit in the simple present (`we use …`). A bare request (`use tabs`) has none. See
Quirk et al., A Comprehensive Grammar of the English Language (1985): 4.5-4.6 for the simple present
of habits, 11.24 for directives, 8.111-8.115 for hedges and degree, 15.33 for conditions, 16.30 for
indirect speech.
"""

from __future__ import annotations

from typing import Final

from memnb.core.promotion.values import COMMAND, NAME, PATH, any_of, words

__all__ = [
    "avoided",
    "chosen",
    "project_uses",
    "replies_in",
    "replies_kept",
    "run_by",
    "stored",
    "wanted",
]

_PLEASE: Final = "(?:please,? )?"
_PROJECT: Final = (
    "(?:this|the|our|my) (?:project|repo|repository|codebase|code base|workspace|package)"
)
_IN: Final = f"(?:in {_PROJECT},? )?"
_TAIL: Final = f"(?:,? (?:in|for) {_PROJECT})?(?:,? please)?"
_NOW: Final = "(?:from now on|going forward|from here on)"


def _whole(*patterns: str) -> tuple[str, ...]:
    return tuple(f"{_IN}{pattern}{_TAIL}" for pattern in patterns)


def chosen(value: str, *, use: str = "use") -> tuple[str, ...]:
    """Sentences by which `value` (a pattern) is what someone has chosen for good."""
    return _whole(
        "(?:i|we)(?:'d| would)?(?: (?:always|strongly|really|still))? prefer"
        f" (?:to use |using |the use of )?{value}(?: by default)?",
        f"(?:my|our) (?:strong |general )?preference is (?:to use |using )?{value}",
        f"{value} is (?:my|our) (?:preference|default|default choice)",
        f"(?:my|our) default is {value}",
        f"{_PLEASE}(?:always )?prefer {value}(?: by default)?",
        f"{_PLEASE}(?:always )?default to (?:using )?{value}",
        f"{_PLEASE}always {use} {value}",
        f"{_PLEASE}{use} {value} (?:always|by default|{_NOW})",
        f"(?:by default|{_NOW}),? {_PLEASE}(?:always )?{use} {value}",
        f"{_PLEASE}{use} {value} as (?:the|my|our) default",
        f"{_PLEASE}switch to {value} (?:by default|{_NOW})",
        f"(?:i|we) always {use} {value}",
        f"(?:i|we) {use} {value} (?:by default|everywhere)",
    )


def wanted(value: str, *, use: str = "use") -> tuple[str, ...]:
    """As `chosen`, and that it is so here: only for what is nothing else but a choice of style."""
    return (*chosen(value, use=use), *_whole(f"we {use} {value}"))


def avoided(value: str, *, use: str = "use") -> tuple[str, ...]:
    """Sentences by which `value` is unwanted for good."""
    return _whole(
        f"{_PLEASE}never {use} {value}",
        f"{_PLEASE}always avoid (?:using )?{value}",
        f"(?:i|we) never {use} {value}",
        f"we (?:don't|do not) {use} {value}",
        f"{_PLEASE}(?:don't|do not) {use} {value} (?:by default|{_NOW})",
        f"(?:by default|{_NOW}),? {_PLEASE}(?:don't|do not|never) {use} {value}",
        f"(?:i|we)(?:'d| would)? prefer (?:no|not to {use}) {value}",
    )


_REPLIES: Final = "(?:(?:your|all|all your|the) )?(?:replies|answers|responses|explanations)"
_REPLY: Final = "(?:reply|answer|respond)"


def replies_kept(quality: str, adverb: str) -> tuple[str, ...]:
    """Sentences about how long replies are to be; more than one reply, or always."""
    return _whole(
        f"{_PLEASE}(?:always )?(?:keep|make) {_REPLIES} {quality}(?: by default)?",
        f"{_PLEASE}(?:always )?keep {_REPLIES} {quality} {_NOW}",
        f"{_NOW},? {_PLEASE}(?:always )?(?:keep|make) {_REPLIES} {quality}",
        f"i(?:'d| would)?(?: (?:always|strongly|really|still))? prefer (?:to get |getting )?"
        f"{quality} (?:replies|answers|responses|explanations)(?: by default)?",
        f"i(?:'d| would)?(?: (?:always|strongly|really))? prefer (?:that )?{_REPLIES}"
        f"(?: (?:to be|are))? {quality}",
        f"my preference is {quality} (?:replies|answers|responses|explanations)",
        f"{_PLEASE}(?:always )?prefer {quality} (?:replies|answers|responses|explanations)",
        f"{_PLEASE}(?:always )?default to {quality} (?:replies|answers|responses|explanations)",
        f"{_PLEASE}always (?:be|stay) {quality}",
        f"{_PLEASE}be {quality} (?:by default|{_NOW})",
        f"(?:by default|{_NOW}),? {_PLEASE}be {quality}",
        f"{_PLEASE}always {_REPLY} {adverb}",
        f"{_PLEASE}{_REPLY} {adverb} (?:by default|{_NOW})",
        f"{_PLEASE}always give(?: me)? {quality} (?:replies|answers|responses|explanations)",
        f"{_PLEASE}give(?: me)? {quality} (?:replies|answers|responses|explanations)"
        f" (?:by default|{_NOW})",
        f"i always want {quality} (?:replies|answers|responses|explanations)",
    )


def replies_in(language: str) -> tuple[str, ...]:
    """Sentences about the language of replies."""
    plural = "(?:replies|answers|responses|explanations)"
    return _whole(
        f"{_PLEASE}always {_REPLY}(?: to me| me)? in {language}",
        f"{_PLEASE}{_REPLY}(?: to me| me)? in {language} (?:always|by default|{_NOW})",
        f"(?:by default|{_NOW}),? {_PLEASE}(?:always )?{_REPLY}(?: to me| me)? in {language}",
        f"i(?:'d| would)?(?: (?:always|strongly|really|still))? prefer (?:your )?{plural}"
        f" (?:to be )?in {language}",
        f"i(?:'d| would)? prefer {language} (?:for (?:your )?{plural}|{plural})",
        f"{_PLEASE}default to {language} (?:for (?:your |all )?{plural}|{plural})",
        f"{_PLEASE}(?:always )?(?:keep|write|give) {_REPLIES} in {language}(?: by default)?",
        f"{_PLEASE}(?:always )?use {language} for {_REPLIES}(?: by default)?",
        f"(?:my|the) (?:default|preferred) (?:reply |answer )?language (?:is|for replies is)"
        f" {language}",
    )


def run_by(command: str = COMMAND) -> tuple[str, ...]:
    """Sentences that say by which command the project's tests run."""
    tests = "(?:the |our |all |all the )?(?:unit )?tests"
    by = f"(?:with|using|via|through) {command}"
    return _whole(
        f"{_PLEASE}run {tests} {by}",
        f"we run {tests} {by}",
        f"{tests} (?:are run|run) {by}",
        f"to run {tests},? (?:we )?(?:use|run) {command}",
        f"{_PROJECT}'s tests (?:are run|run) {by}",
        f"the test command is {command}",
    )


def project_uses(name: str = NAME) -> tuple[str, ...]:
    """Sentences that say what the project is built with."""
    return (
        f"{_PROJECT} (?:always )?uses {name}",
        f"(?:we|i) (?:always )?use {name} in {_PROJECT}",
        f"in {_PROJECT},? we (?:always )?use {name}",
        f"{_PROJECT} is (?:built|written) (?:with|in|on) {name}",
    )


_NOT_A_NAME: Final = any_of(
    words(
        "it this that these those they he she everything something nothing anything all which what"
        " there one ones some none each both who most many few"
    )
)


def stored(path: str = PATH) -> tuple[str, ...]:
    """Sentences that say where something lies."""
    thing = rf"(?!{_NOT_A_NAME}\b)(?P<thing>[a-z][\w-]{{1,24}}(?: [a-z][\w-]{{1,24}}){{0,3}}?)"
    lies = "(?:(?:is|are) (?:always )?(?:stored|kept|saved)|lives?)"
    return _whole(
        f"(?:the |our |all |all the |all our )?{thing} {lies} (?:under|in|at) (?P<path>{path})",
        f"we (?:always )?(?:store|keep|save) (?:the |our |all |all the |all our )?{thing}"
        f" (?:under|in|at) (?P<path>{path})",
    )
