"""What somebody prefers, side by side: tools by their names, anything else in their own words."""

from __future__ import annotations

from typing import Final

from memnb.core.promotion import arabic, english
from memnb.core.promotion.forms import Pieces, Rule, Value, group, spelled
from memnb.core.promotion.values import (
    NAME,
    known_name,
    words,
)

__all__ = ["CHOICE_RULES"]


def _tool(pieces: Pieces) -> Value | None:
    name = known_name(pieces["name"])
    other = known_name(pieces["other"]) if "other" in pieces else ""
    if name is None or other is None or name == other:
        return None
    over = f" over {other}" if other else ""
    return Value("", name + over, f"Prefer {name}{over}.")


def _anything(pieces: Pieces) -> Value | None:
    said = pieces["thing"].casefold().split()
    if said[0] in _FIRST or not _ELSEWHERE.isdisjoint(said):
        return None
    thing = " ".join(said)
    if len(thing) < _SHORTEST:
        return None
    return Value("", thing, f"I prefer {thing}.")


_SHORTEST: Final = 3  # else it is the letter of an answer to choose
_FIRST: Final = frozenset(words("the more less something someone anything nothing not no"))
"""With these begins what is chosen among things at hand, or what isn't preferred."""

_ELSEWHERE: Final = frozenset(
    words(
        "this that these those it them its one ones first second third last latter former option"
        " options version approach above below previous next other another either neither both any"
        " some here there now today tonight currently usually normally sometimes often maybe"
        " perhaps probably think guess right if unless when whenever while until because since so"
        " but although though as than or and also too instead only just please thanks you your he"
        " she they him her his their what which who how where why let's yes ok okay"
        " default answer answers reply replies response responses explanation explanations"
    )
)
"""Words that point at what is at hand, or bind a preference to something else."""

_A_NAME: Final = group("name", NAME)
_OVER: Final = " (?:over|to|instead of|rather than) "
_A_TOOL: Final = group("name", NAME) + "(?:" + _OVER + group("other", NAME) + ")?"
_ABOUT_CHOICE: Final = spelled(
    r"\b(?:prefer|default|always|everywhere|from (?:now|here) on|going forward)"
    "|فضل|دائما|دوما|افتراضي|دائم|من الآن"
)

_ANYTHING: Final = r"(?P<thing>[a-z][a-z'-]{0,24}(?: [a-z0-9][a-z0-9'-]{0,24}){0,8})"

CHOICE_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "preferred-tool",
        1,
        "tool",
        "preference",
        _ABOUT_CHOICE,
        (*english.chosen(_A_TOOL), *arabic.chosen(_A_NAME)),
        _tool,
        matches=(
            ("I prefer polars over pandas.", "Prefer Polars over pandas."),
            ("Use plotly by default", "Prefer Plotly."),
            ("أفضل GPT-5", "Prefer GPT-5."),
        ),
        misses=(
            "I prefer tea over coffee.",
            "I prefer the second one.",
            "I prefer black.",
            "أفضل القهوة",
        ),
    ),
    Rule(
        "own-words",
        1,
        "preference",
        "preference",
        r"\bprefer",
        (
            f"i(?: (?:always|strongly|really|still|much))? prefer {_ANYTHING}",
            f"my (?:strong )?preference is {_ANYTHING}",
        ),
        _anything,
        matches=(
            ("I prefer dark mode.", "I prefer dark mode."),
            ("I strongly prefer tea over coffee", "I prefer tea over coffee."),
            ("My preference is to travel by train.", "I prefer to travel by train."),
        ),
        misses=(
            "I prefer the second one.",
            "I prefer this version.",
            "I'd prefer something cheaper.",
            "I prefer tea if it is late.",
            "I prefer not to say.",
            "We prefer long walks.",
        ),
    ),
)
