"""What the search index costs as memory grows: to build, to keep, and to ask.

At each size a kernel of its own fills an index with so many messages and a tenth of it facts, from
a seed, in words that are as frequent as words are (Zipf); with `MEMNB_DATA` messages of LongMemEval
are repeated instead, with `--real`. Then it asks. Beside it stand FTS5 as it comes, which is asked
for any of the words, and bm25s, which has everything in memory, where that is installed.

A search waits for nothing but the processor, so times are its: others may run beside it. With
`--wall` it is the clock's time.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

import report
from memnb.core.passages import Passage
from memnb.core.query import understand
from memnb.core.ranking import rank
from memnb.core.stop_words import without_stop_words
from memnb.storage import passage_table
from memnb.storage.search_index import SearchIndex

SIZES = report.sizes(1_000, 10_000, 100_000, 1_000_000)
LARGE = 1_000_000
P50_MS, P99_MS = 10.0, 50.0
N_QUERIES = 200
LIMITS = (20, 50, 200)
"""How many candidates of each source are ranked: the first for a reminder, the last in a search."""

SEED = 20261130
NOW = "2026-11-30T09:00:00.000000Z"
VOCABULARY = 60_000
COMMIT = 512
SYLLABLES = tuple(re.findall("..", "bacedifoguhajekilomunaperisotuwixozu"))
STOP_WORDS = ("the", "of", "and", "to", "a", "in", "is", "it", "you", "that", "was", "for", "on")

Measured = dict[str, float]
CLOCK = time.perf_counter if "--wall" in sys.argv else time.process_time


def main() -> None:
    found: dict[int, dict[str, Measured]] = {
        size: {way: _in_a_process(way, size) for way in WAYS if _can(way, size)} for size in SIZES
    }
    if "bm25s" not in found[SIZES[0]]:
        print("bm25s isn't installed, so it isn't measured.")
    for what, unit in FIGURES.items():
        curves = [
            report.Curve(f"{what}, {way}", unit, [one[way][what] for one in found.values()])
            for way in WAYS
            if all(way in one and what in one[way] for one in found.values())
        ]
        report.show_growth(f"{what}, by messages", SIZES, curves)
    largest = found[SIZES[-1]]
    report.show(
        f"At {SIZES[-1]:,} messages and {SIZES[-1] // 10:,} facts",
        list(_rows(largest)),
        items=found,
    )


def _rows(measured: dict[str, Measured]) -> Iterator[report.Row]:
    ours = measured["ours"]
    for limit, (p, most) in itertools.product(LIMITS, ((50, P50_MS), (99, P99_MS))):
        what = f"p{p}, {limit} ranked"
        for beside in ("FTS5", "bm25s"):
            if beside in measured:
                is_target = SIZES[-1] == LARGE and limit < LIMITS[-1]
                yield report.Row(
                    f"{what}, beside {beside}",
                    ours[what],
                    measured[beside][f"p{p}"],
                    "ms",
                    f"≤ {most:g}" if is_target else "",
                    ours[what] <= most if is_target else None,
                )


FIGURES = {
    "build": "s",
    "size": "MB",
    "memory": "MB",
    **{f"p{p}, {limit} ranked": "ms" for limit in LIMITS for p in (50, 99)},
    "p50": "ms",
    "p99": "ms",
}


# --- ways to find --------------------------------------------------------------------------------


def ours(size: int, folder: Path) -> Measured:
    index = SearchIndex(folder, label="", store_id=lambda: "P-1", ensure=lambda: None)
    queries, batches = (
        _queries(size),
        _batches(itertools.chain(_facts(size // 10), _messages(size))),
    )
    began = CLOCK()
    for batch in batches:
        index.write(lambda connection, batch=batch: passage_table.put(connection, batch))
    measured = {"build": CLOCK() - began}
    index.close()
    measured["size"] = index.n_bytes / 1e6

    def ask(text: str, limit: int) -> None:
        query = understand(text, NOW)
        candidates = index.read(lambda c: passage_table.candidates(c, query, limit=limit))
        list(itertools.islice(rank(query, candidates, now=NOW), 10))

    for limit in LIMITS:
        times = _times(queries, lambda text, limit=limit: ask(text, limit))
        measured |= {f"p{p}, {limit} ranked": report.percentile(times, p) for p in (50, 99)}
    return measured


def fts5(size: int, folder: Path) -> Measured:
    connection = apsw.Connection(str(folder / "fts5.sqlite3"))
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL").fetchall()
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text)").fetchall()
    queries, batches = (
        _queries(size),
        _batches(itertools.chain(_facts(size // 10), _messages(size))),
    )
    began = CLOCK()
    for batch in batches:
        with connection:
            texts = [(one.text,) for one in batch]
            connection.executemany("INSERT INTO texts VALUES(?)", texts)
    measured = {"build": CLOCK() - began}
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    measured["size"] = (folder / "fts5.sqlite3").stat().st_size / 1e6

    def ask(text: str) -> None:
        match = " OR ".join(f'"{word}"' for word in text.split())
        sql = "SELECT rowid, text FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10"
        connection.execute(sql, (match,)).fetchall()

    return measured | _percentiles(_times(queries, ask))


def bm25s(size: int, folder: Path) -> Measured:
    import bm25s as library

    del folder
    queries = _queries(size)
    texts = [one.text for one in itertools.chain(_facts(size // 10), _messages(size))]
    began = CLOCK()
    words = library.tokenize(texts, stopwords="en", show_progress=False)
    retriever = library.BM25()
    retriever.index(words, show_progress=False)
    measured = {"build": CLOCK() - began}

    def ask(text: str) -> None:
        asked = library.tokenize([text], stopwords="en", show_progress=False)
        retriever.retrieve(asked, k=min(10, len(texts)), show_progress=False)

    return measured | _percentiles(_times(queries, ask))


WAYS: dict[str, Callable[[int, Path], Measured]] = {"ours": ours, "FTS5": fts5, "bm25s": bm25s}


def _can(way: str, size: int) -> bool:
    del size
    return way != "bm25s" or importlib.util.find_spec("bm25s") is not None


def _percentiles(times: Sequence[float]) -> Measured:
    return {f"p{p}": report.percentile(times, p) for p in (50, 99)}


def _times(queries: Sequence[str], ask: Callable[[str], None]) -> list[float]:
    for text in queries[:10]:  # warm
        ask(text)
    times = []
    for text in queries:
        began = CLOCK()
        ask(text)
        times.append((CLOCK() - began) * 1e3)
    return times


def _in_a_process(way: str, size: int) -> Measured:
    options = [option for option in ("--real", "--wall") if option in sys.argv]
    command = [sys.executable, __file__, "--child", way, str(size), *options]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def _child(way: str, size: int) -> None:
    with tempfile.TemporaryDirectory(prefix="memnb-recall-scale-") as folder:
        measured = WAYS[way](size, Path(folder))
    measured["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps(measured))


# --- what is said --------------------------------------------------------------------------------


class Speech:
    """Texts from a seed: words as frequent as in a language, or real messages again and again."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._real = _real_texts() if "--real" in sys.argv else []
        if not self._real:
            self._words = [*STOP_WORDS, *map(_word, range(len(STOP_WORDS), VOCABULARY))]
            ranks = (1 / (rank + 2.7) ** 1.05 for rank in range(1, VOCABULARY + 1))
            self._weights = list(itertools.accumulate(ranks))

    def text(self, n_words: int) -> str:
        if self._real:
            return self._random.choice(self._real)
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=n_words))

    def message(self) -> str:
        return self.text(min(400, max(3, int(self._random.lognormvariate(3.2, 0.9)))))


def _messages(n: int) -> Iterator[Passage]:
    speech, before = Speech(SEED), ""
    for number in range(n):
        text = speech.message()
        at = f"2026-{1 + number % 10:02d}-{1 + number % 28:02d}T09:00:00.000000Z"
        speaker = "assistant" if number % 2 else "person"
        context = before[: passage_table.CONTEXT_CHARACTERS]
        name, place = f"S-{number // 200:06d}", number % 200 + 1
        yield Passage("message", name, place, text, at, speaker, context)
        before = text


def _facts(n: int) -> Iterator[Passage]:
    speech, draw = Speech(SEED + 1), random.Random(SEED)  # noqa: S311
    for number in range(n):
        text = " ".join(speech.text(draw.randint(6, 16)).split()[:16])
        yield Passage("fact", f"F-{number:06d}", 1, text, NOW, "person")


def _queries(size: int) -> list[str]:
    """Questions in words of a message that is there: two to eight of those that mean something."""
    draw = random.Random(SEED + 2)  # noqa: S311
    speech = Speech(SEED)
    texts = (speech.message() for _ in range(min(size, 20 * N_QUERIES)))
    known = [list(dict.fromkeys(without_stop_words(text.lower().split()))) for text in texts]
    known = [words for words in known if len(words) > 2]
    asked = (draw.choice(known) for _ in range(N_QUERIES))
    return [" ".join(draw.sample(words, min(len(words), draw.randint(2, 8)))) for words in asked]


def _batches(passages: Iterator[Passage]) -> Iterator[list[Passage]]:
    while batch := list(itertools.islice(passages, COMMIT)):
        yield batch


def _word(number: int) -> str:
    found = ""
    while number:
        number, rest = divmod(number, len(SYLLABLES))
        found += SYLLABLES[rest]
    return found


def _real_texts() -> list[str]:
    import recall_sets

    memories = itertools.islice(recall_sets.longmemeval(), 40)
    return list({one.text for memory in memories for one in memory.passages})


if __name__ == "__main__":
    if "--child" in sys.argv:
        at: Any = sys.argv.index("--child")
        _child(sys.argv[at + 1], int(sys.argv[at + 2]))
    else:
        main()
