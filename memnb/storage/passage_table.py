"""The table of passages in a database that is given: put in, taken out, and proposed for a query.

    passages      a row for each passage, as it was given
    words         the inverted index over text and context: FTS5, without a copy of the text
    word_counts   in how many passages each word stands: FTS5 would have to count them

1. Each source has a range of numbers of its own, so that a search of facts doesn't pass through a
   million messages.
2. What is taken out is gone: FTS5's `secure-delete` takes the words out of the index right away,
   and the connection's `secure_delete`, which whoever opens it sets, overwrites the pages.
3. A word that stands in very many passages doesn't choose candidates when rarer ones do, since
   each passage that holds it would be scored; ranking weighs it all the same. When every word is
   one of those, the newest passages that hold the rarest are proposed.
4. The caller holds the transaction. When `VERSION` changes, the table is built anew: what the index
   holds of a text must be known to take it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final, cast

import apsw

from memnb.core.passage_words import indexed
from memnb.core.passages import SOURCES, Passage, Source
from memnb.core.query import Query
from memnb.core.ranking import Candidate, Candidates
from memnb.storage.query_forms import Forms, forms_in

__all__ = [
    "CONTEXT_CHARACTERS",
    "VERSION",
    "candidates",
    "count",
    "create",
    "drop",
    "every",
    "numbers_of",
    "places",
    "put",
]

VERSION: Final = 2

CONTEXT_CHARACTERS: Final = 400
"""How much of the message before is given as context of a message."""

_BITS: Final = 48
_RANGES: Final = {source: (n << _BITS, (n + 1) << _BITS) for n, source in enumerate(SOURCES, 1)}

_MOST_ROWS: Final = 10_000
"""How many passages the words that choose candidates may stand in together."""

_LONGEST: Final = 6_000
"""Of a long text, the words of so many characters are looked at when it is ranked."""

_LONGEST_KNOWN: Final = 32
_MOST_KNOWN: Final = 50_000
_known: dict[str, tuple[str, ...]] = {}
"""The words in what stands between blanks, as far as it was looked up."""

_TOKENIZER: Final = "porter", ["unicode61", "remove_diacritics", "2"]
_CREATE: Final = """
CREATE TABLE passages (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL,
  text TEXT NOT NULL, at TEXT NOT NULL, speaker TEXT NOT NULL, context TEXT NOT NULL,
  valid_from TEXT, valid_to TEXT) STRICT;
CREATE UNIQUE INDEX passages_by_place ON passages (source, name, place);
CREATE VIRTUAL TABLE words USING fts5(
  text, context, content='', tokenize='porter unicode61 remove_diacritics 2');
CREATE TABLE word_counts (word TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO words (words, rank) VALUES ('secure-delete', 1), ('rank', 'bm25(1.0, 0.5)');
"""
_PUT: Final = "INSERT INTO passages VALUES (?,?,?,?,?,?,?,?,?,?)"
_PROPOSED: Final = """
SELECT rowid, rank FROM words WHERE words MATCH '{match}' AND rowid >= :first AND rowid < :end
"""
_NEWEST: Final = """
SELECT * FROM (SELECT rowid, 0.0 AS rank FROM words WHERE words MATCH '{match}'
AND rowid >= :first AND rowid < :end ORDER BY rowid DESC LIMIT :limit)
"""
_BEST: Final = """
SELECT source, name, place, text, at, speaker, context, valid_from, valid_to, -best.rank
FROM ({proposed} ORDER BY rank, rowid DESC LIMIT :limit) AS best
JOIN passages ON passages.id = best.rowid ORDER BY best.rank
"""


def create(connection: apsw.Connection) -> None:
    """Make the table where there is none."""
    connection.execute(_CREATE)


def put(connection: apsw.Connection, passages: Iterable[Passage]) -> None:
    """Add passages; one with the same source, name and place is replaced."""
    tokenize, counts = _tokenizer(connection), Counter[str]()
    for one in passages:
        key = one.source, one.name, one.place
        drop(connection, one.source, one.name, (one.place,))
        number = _next_number(connection, one.source)
        rest = one.text, one.at, one.speaker, one.context, one.valid_from, one.valid_to
        connection.execute(_PUT, (number, *key, *rest))
        connection.execute(
            "INSERT INTO words (rowid, text, context) VALUES (?,?,?)",
            (number, indexed(one.text), indexed(one.context)),
        )
        counts.update({*tokenize(one.text), *tokenize(one.context)})
    _add_counts(connection, counts)


def drop(
    connection: apsw.Connection, source: Source, name: str, places: Collection[int] | None = None
) -> int:
    """Take out the passages of a fact, note or session, all or those at `places`; how many."""
    rows = connection.execute(
        "SELECT id, text, context, place FROM passages WHERE source = ? AND name = ?",
        (source, name),
    )
    if places is not None and len(places) == 1:
        rows = connection.execute(
            "SELECT id, text, context, place FROM passages"
            " WHERE source = ? AND name = ? AND place = ?",
            (source, name, *places),
        )
    gone = [row[:3] for row in rows if places is None or row[3] in places]
    tokenize, counts = _tokenizer(connection), Counter[str]()
    for number, text, context in gone:
        connection.execute(
            "INSERT INTO words (words, rowid, text, context) VALUES ('delete',?,?,?)",
            (number, indexed(str(text)), indexed(str(context))),
        )
        connection.execute("DELETE FROM passages WHERE id = ?", (number,))
        counts.subtract({*tokenize(str(text)), *tokenize(str(context))})
    _add_counts(connection, counts)
    return len(gone)


def numbers_of(source: Source) -> tuple[int, int]:
    """The numbers that the passages of a source have: from the first up to the second."""
    return _RANGES[source]


def places(connection: apsw.Connection, source: Source, name: str) -> list[int]:
    """Where the passages of a fact, note or session stand, in order."""
    sql = "SELECT place FROM passages WHERE source = ? AND name = ? ORDER BY place"
    return [int(row[0]) for row in connection.execute(sql, (source, name))]


def every(connection: apsw.Connection) -> Iterator[Passage]:
    """All passages, in no order."""
    sql = (
        "SELECT source, name, place, text, at, speaker, context, valid_from, valid_to FROM passages"
    )
    return (Passage(*row) for row in connection.execute(sql))


def count(connection: apsw.Connection, source: Source) -> int:
    """How many passages of a source there are."""
    sql = "SELECT count(*) FROM passages WHERE id >= ? AND id < ?"
    return int(connection.execute(sql, _RANGES[source]).get)


def candidates(
    connection: apsw.Connection,
    query: Query,
    *,
    sources: Collection[Source] = SOURCES,
    limit: int = 100,
    without: Collection[str] = (),
) -> Candidates:
    """What may answer a query: at most `limit` passages of each source, roughly the best first.

    Args:
        connection: to the database with the table.
        query: what is looked for.
        sources: where to look.
        limit: how many of each source.
        without: names, such as of a session, whose passages are left out.
    """
    tokenize = _tokenizer(connection)
    forms = forms_in(connection, query, tokenize)
    if not forms.of:
        return Candidates()
    total, length = _size(connection)
    proposed = _proposing(forms)
    found = [
        Candidate(
            passage,
            rough,
            forms.read(tokenize(passage.text[:_LONGEST])),
            forms.read(tokenize(passage.context[:_LONGEST])),
        )
        for source in SOURCES
        if proposed and source in sources
        for passage, rough in _best(connection, proposed, source, limit, without)
    ]
    found.sort(key=lambda candidate: -candidate.rough)
    return Candidates(tuple(found), forms.of, forms.counts, total, length)


def _choosing(counts: Mapping[str, int]) -> list[str]:
    """The rarest words, as many as together don't stand in too many passages; one at least."""
    rarest, rows = sorted(counts, key=lambda form: counts[form]), 0
    for n, form in enumerate(rarest):
        rows += counts[form]
        if n and rows > _MOST_ROWS:
            return rarest[:n]
    return rarest


def _proposing(forms: Forms) -> str:
    """The query for the passages that hold the words which choose; "" when nothing holds any."""
    there = {form: n for form, n in forms.counts.items() if n}
    chosen = _choosing(there)
    words = dict.fromkeys(word for form in chosen for word in forms.words(form))
    match = " OR ".join(map(_quoted, words))
    is_common = sum(there[form] for form in chosen) > _MOST_ROWS
    return (_NEWEST if is_common else _PROPOSED).format(match=match) if match else ""


def _quoted(form: str) -> str:
    """A word as it stands in a query of FTS5, in a text of SQL; it has letters and digits only."""
    return '"' + form.replace('"', "").replace("'", "") + '"'


def _best(
    connection: apsw.Connection,
    proposed: str,
    source: Source,
    limit: int,
    without: Collection[str],
) -> Iterator[tuple[Passage, float]]:
    first, end = _RANGES[source]
    skipped = sum(_held(connection, source, name) for name in without)
    sql = _BEST.format(proposed=proposed)
    values = {"first": first, "end": end, "limit": limit + skipped}
    found = ((Passage(*row[:-1]), row[-1]) for row in connection.execute(sql, values))
    yield from islice((one for one in found if one[0].name not in without), limit)


def _tokenizer(connection: apsw.Connection) -> Callable[[str], tuple[str, ...]]:
    """What gives the words of a text, or of a query, as the index knows them.

    What stands between blanks is looked up once: texts repeat it, and the tokenizer takes longer.
    """
    tokenizer = connection.fts5_tokenizer(*_TOKENIZER)

    def words_in(piece: str) -> tuple[str, ...]:
        data = indexed(piece).encode(errors="replace")
        reason = apsw.FTS5_TOKENIZE_DOCUMENT
        found = tokenizer(data, reason, None, include_offsets=False, include_colocated=False)
        words = tuple(cast("list[str]", found))
        if len(piece) <= _LONGEST_KNOWN:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[piece] = words
        return words

    def tokenize(text: str) -> tuple[str, ...]:
        pieces = text.split()
        try:
            words = [_known[piece] for piece in pieces]
        except KeyError:
            words = [_known.get(piece) or words_in(piece) for piece in pieces]
        return tuple(chain.from_iterable(words))

    return tokenize


def _next_number(connection: apsw.Connection, source: Source) -> int:
    first, end = _RANGES[source]
    sql = "SELECT max(id) FROM passages WHERE id >= ? AND id < ?"
    last = connection.execute(sql, (first, end)).get
    return first if last is None else int(last) + 1


def _add_counts(connection: apsw.Connection, counts: Mapping[str, int]) -> None:
    """Count the words of passages that came or, with numbers below zero, went."""
    connection.executemany(
        "INSERT INTO word_counts VALUES (?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
        counts.items(),
    )
    gone = [(word,) for word, n in counts.items() if n < 0]
    connection.executemany("DELETE FROM word_counts WHERE word = ? AND n <= 0", gone)


def _held(connection: apsw.Connection, source: Source, name: str) -> int:
    sql = "SELECT count(*) FROM passages WHERE source = ? AND name = ?"
    return int(connection.execute(sql, (source, name)).get)


def _size(connection: apsw.Connection) -> tuple[int, float]:
    """How many passages there are, and how many words each has on average."""
    connection.register_fts5_function("size_of_words", _look)
    row = connection.execute("SELECT size_of_words(words) FROM words LIMIT 1").fetchone()
    total, words = map(int, str(row[0]).split()) if row else (0, 0)
    return total, words / total if total else 1.0


def _look(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    return f"{api.row_count} {api.column_total_size()}"
