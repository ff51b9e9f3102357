"""Ways to find what answers a question: at random, FTS5 and bm25s as they come, and memnb's own.

Each takes passages as they come and then gives, for a question, references (or names of sessions)
with the best first. What is a document for them is a message, or a whole session.
"""

from __future__ import annotations

import importlib.util
import random
import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Protocol

import apsw

from memnb.core.passages import SOURCES, Passage, Ranked
from memnb.core.query import understand
from memnb.core.ranking import rank
from memnb.core.stop_words import STOP_WORDS
from memnb.storage import passage_table
from recall_measures import SEED

LIMIT = 100
"""So many candidates are ranked of each source."""

_WORD = re.compile(r"\w+")


class Way(Protocol):
    """A way to find; `add` takes what came since, `ask` gives the best first."""

    def add(self, passages: Sequence[Passage]) -> None: ...

    def ask(self, text: str, now: str) -> list[str]: ...


def documents(passages: Sequence[Passage], level: str) -> list[tuple[str, str]]:
    """What is found, with its text: each passage, or each session as one."""
    if level == "turn":
        return [(one.reference, one.text) for one in passages]
    texts: dict[str, list[str]] = {}
    for one in passages:
        texts.setdefault(one.name, []).append(one.text)
    return [(name, "\n".join(parts)) for name, parts in texts.items()]


class AtRandom:
    """In an order that says nothing."""

    def __init__(self, level: str) -> None:
        self.level, self._names, self._draw = level, list[str](), random.Random(SEED)  # noqa: S311

    def add(self, passages: Sequence[Passage]) -> None:
        self._names += [name for name, _ in documents(passages, self.level)]

    def ask(self, text: str, now: str) -> list[str]:
        return self._draw.sample(self._names, min(10, len(self._names)))


class Fts5:
    """FTS5 with its Porter tokenizer: any of the words, by its own BM25."""

    def __init__(self, level: str, *, stop: bool = False) -> None:
        self.level, self._stop = level, STOP_WORDS["en"] if stop else frozenset[str]()
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE t USING fts5(name UNINDEXED, text, tokenize=porter)")

    def add(self, passages: Sequence[Passage]) -> None:
        self._db.executemany("INSERT INTO t VALUES (?,?)", documents(passages, self.level))

    def ask(self, text: str, now: str) -> list[str]:
        words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
        kept = [word for word in words if word not in self._stop] or list(words)
        match = " OR ".join(f'"{word}"' for word in kept)
        sql = "SELECT name FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10"
        return [row[0] for row in self._db.execute(sql, (match,))] if match else []


class Bm25s:
    """The bm25s library as its documentation begins: English stop words, no stemmer."""

    def __init__(self, level: str) -> None:
        self.level, self._names, self._texts, self._index = level, list[str](), list[str](), None

    def add(self, passages: Sequence[Passage]) -> None:
        for name, text in documents(passages, self.level):
            self._names.append(name)
            self._texts.append(text)
        self._index = None

    def ask(self, text: str, now: str) -> list[str]:
        import bm25s

        if self._index is None:
            self._index = bm25s.BM25()
            tokens = bm25s.tokenize(self._texts, stopwords="en", show_progress=False)
            self._index.index(tokens, show_progress=False)
        asked = bm25s.tokenize([text], stopwords="en", show_progress=False)
        k = min(10, len(self._names))
        found, scores = self._index.retrieve(asked, k=k, show_progress=False)
        pairs = zip(found[0], scores[0], strict=True)
        return [self._names[n] for n, score in pairs if score > 0]


class Ours:
    """memnb's table of passages and its ranking."""

    def __init__(self) -> None:
        self._db = apsw.Connection(":memory:")
        passage_table.create(self._db)

    def add(self, passages: Sequence[Passage]) -> None:
        with self._db:
            passage_table.put(self._db, passages)

    def ask(self, text: str, now: str) -> list[Ranked]:
        query = understand(text, now)
        proposed = passage_table.candidates(self._db, query, sources=SOURCES, limit=LIMIT)
        return rank(query, proposed, now=now)


def ways() -> dict[str, Callable[[str], Way]]:
    """The baselines: by name, what makes each for a level; what isn't installed is missing."""
    found: dict[str, Callable[[str], Way]] = {
        "random": AtRandom,
        "FTS5": Fts5,
        "FTS5 + stop words": lambda level: Fts5(level, stop=True),
    }
    if importlib.util.find_spec("bm25s") is not None:
        found["bm25s"] = Bm25s
    return found
