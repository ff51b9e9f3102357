"""Which passages answer a query best: candidates of the index, ordered by named parts.

    words       the query's words in the text, rare ones more (BM25)
    context     what they add that stands before it: most for a short answer
    near        they stand close to each other
    phrase      what should stand together does
    name        it is a fact, and a name of what it is about is said
    speaker     who is asked about said it: as a rule the person, or whom the query names
    own         a person speaks of themselves in it
    time        it is of a time that the query names
    recent      it is new
    session     the session that it stands in holds much of what is looked for
    neighbours  what stands close to it in its session fits, too
    vector      its meaning is nearer than usual, where an embedder is installed

Pure: what is weighed was read by whoever calls. The constants were swept on development parts of
public sets, see `docs/recall-measured.md`; there is one configuration for all.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memnb.core.facts import Interval
from memnb.core.passages import Passage, Ranked
from memnb.core.query import Query
from memnb.core.word_evidence import closeness, names, saturated, stands_in, word_fit

__all__ = ["Candidate", "Candidates", "by_session", "has_names", "rank", "rarity"]

_NEAR: Final = 0.5
_PHRASE: Final = 0.3
_NAME: Final = 1.0
_PERSON: Final = 1.0
_ASSISTANT: Final = 0.2
_NAMED: Final = 0.8
_OWN: Final = 1.5
_TIME: Final = 1.0
_RECENT: Final = 0.5
_NEWER_FACT: Final = 0.6
"""Of facts about one thing, the newest is most likely how it is now."""

_RECENT_DAYS: Final = 30
_SESSION: Final = 0.2
_NEIGHBOURS: Final = 0.2
_REACH: Final = 3
"""How many records away a neighbour may stand."""

_NEXT: Final = 0.3
_OF_A_SESSION: Final = 3
"""Of a session, so many messages count, each less than the one before."""

_VECTOR: Final = 24.0
_LEAST_TOTAL: Final = 500
"""How rare a word is can't be told from a few passages: more of them are taken to be there."""

_LABEL: Final = re.compile(r"\W{0,4}([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30})?)\W{0,2}:\s")
_ONESELF: Final = "i my mine me we our ich mein wir je mon ma nous yo mi io mio"
_OF_ONESELF: Final = frozenset(_ONESELF.split())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that the index proposes.

    Args:
        passage: what it is.
        rough: how well it fits by the index's own formula; more is better.
        words: the words of its text as the index knows them, in order.
        context_words: those of its context.
        nearness: the cosine of what it and the query mean; None when it isn't known.
    """

    passage: Passage
    rough: float = 0.0
    words: tuple[str, ...] = ()
    context_words: tuple[str, ...] = ()
    nearness: float | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the index proposes for a query, and what is needed to weigh it.

    Args:
        found: the candidates, the roughly best first.
        forms: each word of the query as the index knows it.
        counts: in how many passages each form stands.
        total: how many passages there are.
        length: how many words a passage has on average.
    """

    found: tuple[Candidate, ...] = ()
    forms: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    length: float = 1.0

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)


@dataclass(frozen=True, slots=True)
class _Weighing:
    """What is the same for all candidates of one query."""

    query: Query
    candidates: Candidates
    weights: Mapping[str, float]
    phrases: tuple[tuple[str, ...], ...]
    said: tuple[str, ...]
    usual_nearness: float
    now: str


def rank(query: Query, candidates: Candidates, *, now: str) -> list[Ranked]:
    """The candidates, best first.

    Args:
        query: what is looked for.
        candidates: what the index proposes.
        now: the instant of the question, as a UTC stamp.
    """
    forms = candidates.forms
    weighing = _Weighing(
        query,
        candidates,
        rarity(candidates),
        tuple(tuple(forms.get(word, word) for word in phrase) for phrase in query.phrases),
        tuple(forms[word] for word in query.words if word in forms),
        _usual_nearness(candidates),
        now,
    )
    ranked = [_ranked(one, weighing) for one in candidates]
    ranked = _lifted(ranked, _of_sessions(weighing))
    return sorted(ranked, key=lambda one: (-one.score, one.passage.reference))


def by_session(ranked: Sequence[Ranked]) -> list[tuple[str, float]]:
    """The sessions of ranked messages, best first: the best of each counts, and the next little."""
    scores, counts = dict[str, float](), Counter[str]()
    for one in sorted(ranked, key=lambda one: -one.score):
        name = one.passage.name
        if counts[name] < _OF_A_SESSION:
            scores[name] = scores.get(name, 0.0) + one.score * _NEXT ** counts[name]
            counts[name] += 1
    return sorted(scores.items(), key=lambda one: -one[1])


def has_names(passage: Passage) -> bool:
    """Whether it is a fact that says what it is about: its context is a list of names."""
    return passage.source == "fact" and bool(passage.context)


def rarity(candidates: Candidates) -> dict[str, float]:
    """How much each form says: the rarer, the more."""
    total = max(candidates.total, _LEAST_TOTAL, *candidates.counts.values())
    return {
        form: math.log(1 + (total - count + 0.5) / (count + 0.5))
        for form, count in candidates.counts.items()
    }


def _ranked(one: Candidate, weighing: _Weighing) -> Ranked:
    query, weights, passage = weighing.query, weighing.weights, one.passage
    text, context = Counter(one.words), Counter(one.context_words)
    words, both = word_fit(weights, text, context, weighing.candidates.length / 2)
    fit = both + _NEAR * math.log1p(closeness(one.words, weights))
    is_persons = passage.speaker != "assistant"
    asks_person = query.said_by == "person"
    own = sum(text[word] for word in _OF_ONESELF) if is_persons and asks_person else 0
    speaker = _PERSON * asks_person if is_persons else _ASSISTANT * (query.said_by == "assistant")
    newer = _NEWER_FACT if passage.source == "fact" else 0.0
    whole = sum(weights.values())
    named = _NAMED * whole * _is_said_by_one_of(passage.text, query.words)
    parts = {
        "words": words,
        "context": both - words,
        "near": fit - both,
        "phrase": _PHRASE * fit * sum(stands_in(phrase, one.words) for phrase in weighing.phrases),
        "name": _NAME * fit * _is_named(one, weighing.said),
        "speaker": fit * speaker + named,
        "own": _OWN * math.log1p(own),
        "time": _TIME * fit * max((_is_of(passage, p) for p in query.periods), default=0.0),
        "recent": (_RECENT + newer * fit) * _newness(passage.at, weighing.now),
        "vector": 0.0
        if one.nearness is None
        else _VECTOR * (one.nearness - weighing.usual_nearness),
    }
    return Ranked(passage, {name: value for name, value in parts.items() if value})


def _is_named(one: Candidate, said: tuple[str, ...]) -> bool:
    """Whether one of a fact's names stands whole in what is said."""
    return has_names(one.passage) and any(
        stands_in(name, said) for name in names(one.passage.context, one.context_words)
    )


def _is_said_by_one_of(text: str, names: Sequence[str]) -> bool:
    """Whether a text is marked, as in a transcript, as said by somebody who is named."""
    label = _LABEL.match(text)
    return label is not None and any(name in names for name in label[1].lower().split())


def _is_of(passage: Passage, period: Interval) -> float:
    """Whether it is of that time; a day says more than a year."""
    begins, ends = passage.valid_from or passage.at, passage.valid_to or passage.at
    if (period.ends and begins >= period.ends) or (period.begins and ends < period.begins):
        return 0.0
    if not (period.begins and period.ends):
        return 0.5
    return 1.5 - 0.4 * math.log10(max(1.0, _days_between(period.begins, period.ends)))


def _newness(at: str, now: str) -> float:
    return math.exp(-_days_between(at, now) / _RECENT_DAYS)


def _days_between(earlier: str, later: str) -> float:
    apart = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return max(0.0, apart.total_seconds() / 86_400)


def _usual_nearness(candidates: Candidates) -> float:
    """How near a candidate is on average: one that isn't embedded is taken to be so near."""
    known = [one.nearness for one in candidates if one.nearness is not None]
    return sum(known) / len(known) if known else 0.0


def _of_sessions(weighing: _Weighing) -> dict[str, float]:
    """How much of what is looked for each session holds, in whichever of its messages."""
    best: dict[str, dict[str, float]] = defaultdict(dict)
    for one in weighing.candidates:
        if one.passage.source != "message":
            continue
        held, text = best[one.passage.name], Counter(one.words)
        for form, weight in weighing.weights.items():
            if n := text[form]:
                held[form] = max(held.get(form, 0.0), weight * saturated(n))
    return {name: sum(held.values()) for name, held in best.items()}


def _lifted(ranked: Sequence[Ranked], of_sessions: Mapping[str, float]) -> list[Ranked]:
    """Messages, with what their session and those next to them speak for them."""
    scores = {
        (one.passage.name, one.passage.place): one.score
        for one in ranked
        if one.passage.source == "message"
    }

    def lift(one: Ranked) -> Ranked:
        name, place = one.passage.name, one.passage.place
        near = (
            scores.get((name, place + away), 0.0) for away in range(-_REACH, _REACH + 1) if away
        )
        parts = {
            "session": _SESSION * of_sessions[name],
            "neighbours": _NEIGHBOURS * max(near),
        }
        added = {part: value for part, value in parts.items() if value}
        return replace(one, parts={**one.parts, **added})

    return [lift(one) if one.passage.source == "message" else one for one in ranked]
