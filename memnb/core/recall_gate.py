"""What may come to mind unasked: which messages are asked about, and which passages fit one.

1. A message is asked about when it says something: no greeting, no command, not two words.
2. A passage fits when three words of the message stand close together in it (both, of a message
   with two), and they are most of what the message says, by how rare each of them is. A reply
   needs nearly all of it: it is long, and of many things.
3. A fact that says what it is about, by names, fits when one of them is named.
4. In doubt nothing fits. A passage that is found by what stands before it only, or by its meaning
   only, is for whoever asks.

The constants were swept on development parts of public sets, see `docs/recall.md`.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from typing import Final

from memnb.core.bodies import Part
from memnb.core.passage_words import words_of
from memnb.core.passages import Ranked
from memnb.core.query import Query
from memnb.core.ranking import Candidates, has_names, rarity
from memnb.core.stop_words import without_stop_words
from memnb.core.words import own_spans

__all__ = ["Gate", "asked"]

LEAST_WORDS: Final = 3
LEAST_SHARE: Final = 0.55
LEAST_SHARE_OF_REPLY: Final = 0.8
CLOSE: Final = 25
"""So many words are close together."""

_SAID: Final = 3
_MEANT: Final = 2
"""So many words a message must have, and so many that mean something."""

_COMMAND: Final = re.compile(r"\s*(?:[%!/]\S|\?\S|\S+\?{1,2}\Z)")
_TALK: Final = """
    again alright answer bye cheers continue cool day evening everyone fine go good great greetings
    haha hallo hello help hey hi hola later lol man morning nice night ok okay perfect please
    question quick ready right see sorry start stop super sure test testing thank thanks today
    tomorrow tonight wait welcome wow yep yes yesterday yo
    danke guten gut hallo ja morgen moin nein prima servus tag tschüss weiter
    bien bonjour bonsoir ça merci salut suite oui
    adiós buenas buenos días gracias hola tardes vale
    buongiorno ciao grazie
"""
"""Words of which greetings and small talk are made."""

_SMALL_TALK: Final = frozenset(_TALK.split())


def asked(parts: Sequence[Part]) -> str:
    """What of a message is worth looking for: the person's own words, "" when they say too little.

    Fewer than three words do, a command, a greeting, and what has less than two words that mean
    something.
    """
    lines = (parts[span.part].text[span.start : span.end] for span in own_spans(parts))
    text = "\n".join(lines).strip()
    said = words_of(text)
    if len(said) < _SAID or (_COMMAND.match(text) and "\n" not in text):
        return ""
    meant = {word for word in without_stop_words(said) if word not in _SMALL_TALK}
    return text if len(meant) >= _MEANT else ""


class Gate:
    """Tells which of the candidates for a message fit it."""

    def __init__(self, query: Query, candidates: Candidates) -> None:
        """Judge what the index proposed."""
        self._weights = rarity(candidates)
        self._whole = sum(self._weights.values())
        self._least = min(LEAST_WORDS, max(_MEANT, len(query.words)))
        self._words = {one.passage.reference: one.words for one in candidates}

    def fits(self, one: Ranked) -> bool:
        """Whether enough of the message stands close together in a passage."""
        passage = one.passage
        if has_names(passage):
            return "name" in one.parts
        least = LEAST_SHARE_OF_REPLY if passage.speaker == "assistant" else LEAST_SHARE
        near: deque[tuple[int, str]] = deque()
        held: Counter[str] = Counter()
        for place, word in enumerate(self._words.get(passage.reference, ())):
            if word not in self._weights:
                continue
            near.append((place, word))
            held[word] += 1
            while place - near[0][0] >= CLOSE:
                held[near.popleft()[1]] -= 1
            there = [one for one, n in held.items() if n]
            share = sum(map(self._weights.__getitem__, there)) / self._whole
            if len(there) >= self._least and share >= least:
                return True
        return False
