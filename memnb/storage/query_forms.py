"""The words of a query as an index knows them: their forms, and what was mistyped.

1. Other forms of a word count as the word itself: "bought" finds "buy".
2. A word that stands nowhere is taken for the one with a letter more or less, or two swapped, that
   begins with the same two. Numbers and short words are never guessed, nor is a word that loses an
   ending: too little of it is left to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import apsw

from memnb.core.query import Query
from memnb.core.word_forms import forms_of, is_mistyped

__all__ = ["Forms", "forms_in"]

_SHORTEST: Final = 4
_SAME: Final = 2
_SHORTENED: Final = 1
_ENDINGS: Final = ("", "e", "s", "es", "ed", "ing", "y", "ion", "al")
_MOST_COMPARED: Final = 5_000


@dataclass(slots=True)
class Forms:
    """What of a query is looked for.

    `of` has the form of each word, `counts` in how many passages each form stands, `same` the form
    that another word of the index counts as, and `spelt` for each word of the index one that FTS5
    makes it of, since what it is asked for is cut down to its stem again.
    """

    of: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    spelt: dict[str, str] = field(default_factory=dict)

    def words(self, form: str) -> tuple[str, ...]:
        """What FTS5 is to be asked for to find a form."""
        others = (word for word, known in self.same.items() if known == form)
        return tuple(self.spelt[word] for word in (form, *others))

    def read(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words of a passage, each as the form that it counts as."""
        same = self.same
        return tuple(same.get(word, word) for word in words) if same else words


def forms_in(
    connection: apsw.Connection, query: Query, tokenize: Callable[[str], tuple[str, ...]]
) -> Forms:
    """The words of a query, as this index knows them."""
    forms = Forms()
    for word in query.words:
        if not (known := tokenize(word)):
            continue
        form = forms.same.get(known[0], known[0])
        forms.of[word] = form
        if form in forms.counts:
            continue
        spelt = {one[0]: other for other in forms_of(word) if (one := tokenize(other))}
        spelt[form] = word
        counts = _counts(connection, spelt)
        is_whole = len(word) - len(form) <= _SHORTENED
        if is_whole and not any(counts.values()) and (meant := _meant(connection, form)):
            counts[meant[0]] = meant[1]
            spelt[meant[0]] = _spelt(meant[0], tokenize)
        forms.counts[form] = sum(counts.values())
        forms.spelt |= spelt
        forms.same |= {
            other: form for other, n in counts.items() if n and other not in (form, *forms.counts)
        }
    return forms


def _spelt(form: str, tokenize: Callable[[str], tuple[str, ...]]) -> str:
    """A word that has this stem: stemming a stem may shorten it further."""
    return next((form + end for end in _ENDINGS if tokenize(form + end) == (form,)), form)


def _meant(connection: apsw.Connection, form: str) -> tuple[str, int] | None:
    """The most usual word that was most likely meant, and in how many passages it stands."""
    if len(form) < _SHORTEST or not form.isalpha():
        return None
    rows = connection.execute(
        "SELECT word, n FROM word_counts WHERE word >= ? AND word < ?"
        " AND length(word) BETWEEN ? AND ? LIMIT ?",
        (
            form[:_SAME],
            form[:_SAME] + "\U0010ffff",
            max(_SHORTEST, len(form) - 1),
            len(form) + 1,
            _MOST_COMPARED,
        ),
    )
    near = [(str(word), int(n)) for word, n in rows if is_mistyped(form, str(word))]
    return max(near, key=lambda one: (one[1], one[0]), default=None)


def _counts(connection: apsw.Connection, words: Iterable[str]) -> dict[str, int]:
    """In how many passages each of these words stands."""
    sql = "SELECT n FROM word_counts WHERE word = ?"
    return {word: int(connection.execute(sql, (word,)).get or 0) for word in words}
