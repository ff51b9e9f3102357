"""What vectors add to words, on public sets: alone, as equals, and as memnb weighs them.

    MEMNB_DATA=FOLDER python benchmarks/vectors.py [SET …] [--questions N] [--embeddings FILE]
                                                   [--json FILE]

The sets are those of recall.py. It needs memnb[vectors]; embedding all of LongMemEval takes a core
some ten minutes, and with --embeddings that is kept for the next run. As in memnb, what an
assistant said has no vector.

    words                  memnb without vectors
    vectors alone          all passages by how near their meaning is
    words = vectors        both rankings as equals, by reciprocal rank (RRF, k = 60)
    words, then vectors    memnb with vectors: what words propose, with nearness as a part
    … and the nearest      the same, and the 50 nearest passages proposed as well, whatever they say
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import apsw
import numpy as np

import recall_sets
from memnb.core.passages import Passage
from memnb.core.query import understand
from memnb.core.ranking import Candidate, Candidates, by_session, rank
from memnb.llm.embedding import MiniLM
from memnb.storage import passage_table
from recall import asked, option, sampled, where
from recall_measures import figure
from recall_sets import Memory

LIMIT = 200
NEAREST = 50
RRF = 60
AT_ONCE = 16
SHOWN = ("R@5", "all@5", "R@10", "nDCG@10")


class Embeddings:
    """Vectors of texts, each embedded once."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._embed = file, MiniLM()
        self._known: dict[bytes, Any] = {}
        if file is not None and file.exists():
            with np.load(file) as kept:
                keys = kept["keys"].tobytes()
                parts = (keys[at : at + 8] for at in range(0, len(keys), 8))
                self._known = dict(zip(parts, kept["vectors"], strict=True))

    def learn(self, texts: Sequence[str]) -> None:
        """Embed what isn't known; of like length together."""
        new = {key(text): text for text in texts}
        rest = sorted((one for one in new.items() if one[0] not in self._known), key=length)
        for n in range(0, len(rest), AT_ONCE):
            few = rest[n : n + AT_ONCE]
            vectors = np.array(self._embed([text for _, text in few]), np.float16)
            self._known.update(zip((one for one, _ in few), vectors, strict=True))

    def keep(self) -> None:
        """Write all of them to the file."""
        if self._file is not None:
            keys = np.frombuffer(b"".join(self._known), np.uint8)
            np.savez(self._file, keys=keys, vectors=np.array(list(self._known.values())))

    def of(self, texts: Sequence[str]) -> Any:
        found = [self._known[key(text)] for text in texts]
        return np.array(found, np.float32).reshape(-1, 384)


def key(text: str) -> bytes:
    return blake2b(text.encode(errors="replace"), digest_size=8).digest()


def length(one: tuple[bytes, str]) -> int:
    return len(one[1])


class AllWays:
    """One memory, asked in each of the ways at once."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings, self._passages = embeddings, list[Passage]()
        self._vectors = np.zeros((0, 384), np.float32)
        self._db = apsw.Connection(":memory:")
        passage_table.create(self._db)

    def add(self, passages: Sequence[Passage]) -> None:
        with self._db:
            passage_table.put(self._db, passages)
        new = [one for one in passages if one.speaker != "assistant"]
        self._passages += new
        vectors = self._embeddings.of([one.text for one in new])
        self._vectors = np.concatenate([self._vectors, vectors])

    def ask(self, text: str, now: str) -> dict[str, tuple[list[str], list[str]]]:
        """References and sessions by each way, best first."""
        query = understand(text, now)
        found = passage_table.candidates(self._db, query, limit=LIMIT)
        cosines = self._vectors @ self._embeddings.of([text])[0]
        nearest = [self._passages[n] for n in np.argsort(-cosines)[:LIMIT]]
        near = {
            one.reference: float(cosine)
            for one, cosine in zip(self._passages, cosines, strict=True)
        }
        words = rank(query, found, now=now)
        both = rank(query, compared(found, near), now=now)
        more = rank(query, compared(extended(found, nearest[:NEAREST]), near), now=now)
        alone = [(one, near[one.reference]) for one in nearest]
        return {
            "words": (refs(words), [name for name, _ in by_session(words)]),
            "vectors alone": in_order(alone),
            "words = vectors": in_order(fused([one.passage for one in words], nearest)),
            "words, then vectors": (refs(both), [name for name, _ in by_session(both)]),
            "… and the nearest": (refs(more), [name for name, _ in by_session(more)]),
        }


def extended(found: Candidates, nearest: Sequence[Passage]) -> Candidates:
    known = {one.passage.reference for one in found}
    new = [one for one in nearest if one.reference not in known]
    return replace(found, found=(*found, *map(Candidate, new)))


def compared(found: Candidates, near: dict[str, float]) -> Candidates:
    one_by_one = (replace(one, nearness=near.get(one.passage.reference)) for one in found)
    return replace(found, found=tuple(one_by_one))


def refs(ranked: Sequence[Any]) -> list[str]:
    return [one.passage.reference for one in ranked]


def fused(words: Sequence[Passage], vectors: Sequence[Passage]) -> list[tuple[Passage, float]]:
    scores: dict[Passage, float] = {}
    for ranking in (words, vectors):
        for n, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + 1 / (RRF + n)
    return sorted(scores.items(), key=lambda one: -one[1])


def in_order(scored: Sequence[tuple[Passage, float]]) -> tuple[list[str], list[str]]:
    return (
        [one.reference for one, _ in scored],
        list(dict.fromkeys(one.name for one, _ in scored)),
    )


def measured(title: str, memories: Sequence[Memory], embeddings: Embeddings) -> Iterator[Any]:
    for memory in memories:
        embedded = [one.text for one in memory.passages if one.speaker != "assistant"]
        embeddings.learn([*embedded, *(one.text for one in memory.questions)])
        for question, by_way, seconds in asked(memory, AllWays(embeddings)):
            for way, (turns, sessions) in by_way.items():
                yield from where(title, "turn", way, question, turns, seconds)
                yield from where(title, "session", way, question, sessions, seconds)


def main(arguments: Sequence[str]) -> None:
    if not MiniLM.is_installed():
        print("skipped: memnb[vectors] isn't installed")
        return
    named = [one for one in arguments if one in recall_sets.SETS]
    most, file = option(arguments, "--questions"), option(arguments, "--embeddings")
    embeddings = Embeddings(Path(file) if file else None)
    found: list[Any] = []
    for name, (title, load) in recall_sets.SETS.items():
        if named and name not in named:
            continue
        if not recall_sets.is_there(name):
            print(f"skipped {title}: MEMNB_DATA says where it is")
            continue
        start = time.perf_counter()
        memories = sampled(list(load(recall_sets.DATA)), int(most) if most else None)
        items = list(measured(title, memories, embeddings))
        embeddings.keep()
        show(items)
        show_kinds(items)
        print(f"{time.perf_counter() - start:.0f} s")
        found += items
    if file := option(arguments, "--json"):
        Path(file).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def show(items: Sequence[dict[str, Any]]) -> None:
    """A table for each level."""
    for level in dict.fromkeys(one["level"] for one in items):
        rows: dict[str, list[dict[str, Any]]] = {}
        for one in items:
            if one["level"] == level:
                rows.setdefault(one["way"], []).append(one)
        n = len(next(iter(rows.values())))
        print(f"\n{items[0]['set']}, {level}, {n} questions")
        print(f"{'':20}" + "".join(f"{name:>22}" for name in SHOWN))
        for way, found in rows.items():
            cells = (figure([one[name] for one in found]) for name in SHOWN)
            print(f"{way:20}" + "".join(f"{cell!s:>22}" for cell in cells))


def show_kinds(items: Sequence[dict[str, Any]]) -> None:
    """R@5 of each kind of question at the level of turns."""
    kinds = sorted({one["kind"] for one in items if one["level"] == "turn"})
    for kind in kinds if len(kinds) > 1 else ():
        rows: dict[str, list[float]] = {}
        for one in items:
            if one["level"] == "turn" and one["kind"] == kind:
                rows.setdefault(one["way"], []).append(one["R@5"])
        cells = "  ".join(f"{way} {np.mean(values):.3f}" for way, values in rows.items())
        print(f"  R@5 of {kind} ({len(next(iter(rows.values())))}): {cells}")


if __name__ == "__main__":
    main(sys.argv[1:])
