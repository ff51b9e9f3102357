"""Forms of one word that no ending tells: "buy" and "bought", "child" and "children".

The index knows English endings only. A question about what somebody *bought* is answered by "I want
to buy", so the forms of a word are looked for together.
"""

from __future__ import annotations

from typing import Final

__all__ = ["forms_of", "is_mistyped"]

_GROUPS: Final = """
begin began begun, bite bit bitten, blow blew blown, break broke broken, bring brought,
build built, buy bought, catch caught, choose chose chosen, deal dealt, dig dug, draw drew drawn,
drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt,
fight fought, find found, fly flew flown flight, forget forgot forgotten, forgive forgave forgiven,
freeze froze frozen, grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept,
know knew known, lead led, leave left, lend lent, lose lost loss, mean meant, meet met,
pay paid, ride rode ridden, ring rang rung, rise rose risen, run ran, see saw seen, sell sold sale,
send sent, shake shook shaken, shoot shot, sing sang sung song, sink sank sunk, sit sat,
sleep slept, speak spoke spoken, spend spent, stand stood, steal stole stolen, stick stuck,
swear swore sworn, sweep swept, swim swam swum, swing swung, take took taken,
teach taught, tear tore torn, think thought, throw threw thrown, understand understood,
wake woke woken, wear wore worn,
weave wove woven, win won, write wrote written,
child children kid kids, foot feet, goose geese, half halves, knife knives, leaf leaves,
life lives, man men, mouse mice, person people, shelf shelves, thief thieves, tooth teeth,
wife wives, wolf wolves, woman women,
one 1, two 2, three 3, four 4, five 5, six 6, seven 7, eight 8, nine 9, ten 10, eleven 11,
twelve 12, first 1st, second 2nd, third 3rd
"""
_FORMS: Final = {
    word: tuple(other for other in group.split() if other != word)
    for group in _GROUPS.split(",")
    for word in group.split()
}


def forms_of(word: str) -> tuple[str, ...]:
    """The other forms of a word in lower case; none of most words."""
    return _FORMS.get(word, ())


def is_mistyped(one: str, other: str) -> bool:
    """Whether two words differ in one letter that is missing or in two that are swapped.

    Another letter in its place makes another word more often than not.
    """
    short, long = sorted((one, other), key=len)
    pairs = enumerate(zip(short, long, strict=False))
    same = next((n for n, (a, b) in pairs if a != b), len(short))
    if len(long) == len(short) + 1:
        return short[same:] == long[same + 1 :]
    swapped = short[same + 1 : same + 2] + short[same : same + 1] + short[same + 2 :]
    return one != other and swapped == long[same:]
