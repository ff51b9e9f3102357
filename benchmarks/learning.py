"""Which sentences are taken for preferences, conventions and decisions, on sets with ground truth.

    MEMNB_DATA=FOLDER python benchmarks/learning.py [SET …] [--embedding] [--model NAME …]
                                                    [--turns N] [--said FILE] [--json FILE]

A set is own, prefeval, longmemeval, beam, realmem or msc; absent ones are skipped with a message. A
turn is flagged when one of its sentences scores enough. Weights were learned from data/spans*.jsonl
(train_spans.py), which hold a part of LongMemEval's even half: only its odd half is measured here.
PrefEval, BEAM, RealMem and MSC were never learned from. Of PrefEval the even half was looked at
while the marks were written, the odd half wasn't; both are shown.

Beside the head stand: flagging at random, as often; keyword rules, narrow and wide. Shares have
Wilson's 95 % interval. --model also scores with a local model (MEMNB_MODELS), which is asked only
about sentences that the marks leave open; --said keeps what it says between runs.
"""

from __future__ import annotations

import json
import lzma
import math
import os
import random
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import report
import train_spans
from memnb.core.bodies import Part
from memnb.core.words import sentences
from memnb.memory import span_scoring
from memnb.memory.selecting import MOST_SENTENCES

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MEMNB_DATA", PROJECT / "data"))
SEED = 20261130
BUDGET = 0.02  # of LongMemEval's turns may be flagged
LOOK, SURE = 500, 700

NARROW = re.compile(
    r"\b(?:always|never|from now on|i prefer|we use|we decided|remember that)\b", re.I
)
WIDE = re.compile(
    r"\b(?:always|never|from now on|prefer|avoid|don't like|dislike|hate|refuse|only|we use|our"
    r"|decided|must|should|please|remember)\b",
    re.I,
)


@dataclass
class Turn:
    """One message: of which set, whether something in it is to be kept (None: not said)."""

    of: str
    text: str
    keep: bool | None
    spans: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        found = sentences((Part("typed", self.text),))
        self.spans = found if len(found) <= MOST_SENTENCES else ()


def crc(text: str) -> int:
    return zlib.crc32(text.encode(errors="replace"))


def lines(path: str) -> list[dict[str, Any]]:
    with lzma.open(DATA / path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def sampled(turns: Sequence[Turn], most: int) -> list[Turn]:
    """So many of them, the same at every run."""
    if len(turns) <= most:
        return list(turns)
    return random.Random(SEED).sample(list(turns), most)  # noqa: S311


def own(_: int) -> Iterator[Turn]:
    for row in train_spans.labelled("spans_held.jsonl"):
        yield Turn("own, held out", row.text, row.keep)


def prefeval(most: int) -> Iterator[Turn]:
    rows = {
        row["preference"]: row
        for row in lines("prefeval/preferences_dev.jsonl.xz")
        if row["form"] == "explicit"
    }
    halves = ("PrefEval, looked at", "PrefEval, not looked at")
    kept = [Turn(halves[crc(text) % 2], text, True) for text in rows]
    asked = {row["question"] for row in rows.values()}
    yield from sampled(kept, most // 5)  # all of them, unless few turns are asked for
    yield from sampled([Turn("PrefEval's questions", text, False) for text in sorted(asked)], most)


def longmemeval(most: int) -> Iterator[Turn]:
    turns = [
        Turn("LongMemEval", turn["content"], None)
        for name in sorted((DATA / "longmemeval").glob("sessions*.xz"))
        for session in lines(f"longmemeval/{name.name}")
        if crc(session["key"]) % 2
        for turn in session["turns"]
        if turn["role"] == "user"
    ]
    yield from sampled(turns, most)


def beam(most: int) -> Iterator[Turn]:
    rows = lines("beam/standing_instructions_dev.jsonl.xz")
    gold = {}
    for row in rows:
        if row["source_texts"]:
            text = re.sub(r"\s*->->.*$", "", row["source_texts"][0])
            gold[text] = f"BEAM, {row['kind'].split('_')[0]}s"
    yield from (Turn(of, text, True) for text, of in gold.items())
    others = [
        Turn("BEAM, other turns", text, None)
        for row in lines("beam/user_messages_dev.jsonl.xz")
        if not row["gold"] and (text := re.sub(r"\s*->->.*$", "", row["text"])) not in gold
    ]
    yield from sampled(others, most)


def realmem(most: int) -> Iterator[Turn]:
    static, other = [], []
    for path in sorted((DATA / "realmem").glob("*.json.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            sessions = json.load(file)["dialogues"]
        for session in sessions:
            memories: dict[str, set[str]] = {}
            for memory in session["extracted_memory"] or ():
                if memory["source_role_snapshot"] == "User":
                    text = memory["source_content_snapshot"]
                    memories.setdefault(text, set()).add(memory["type"])
            for turn in session["dialogue_turns"]:
                if turn["speaker"] != "User":
                    continue
                types = memories.get(turn["content"])
                if types is None:
                    other.append(Turn("RealMem, no memory", turn["content"], False))
                else:
                    of = "a trait" if "Static" in types else "a plan"
                    static.append(Turn(f"RealMem, {of}", turn["content"], True))
    yield from sampled(static, most)
    yield from sampled(other, most)


def msc(most: int) -> Iterator[Turn]:
    turns = [
        Turn(
            f"MSC, {'with' if said.get('persona_text') else 'without'} a fact",
            said["text"],
            bool(said.get("persona_text")),
        )
        for dialog in lines("msc/msc_personasummary__session_1__valid.txt.xz")
        for said in dialog["dialog"]
    ]
    yield from sampled(turns, most)


SETS: dict[str, tuple[str, Callable[[int], Iterator[Turn]]]] = {
    "own": ("", own),
    "prefeval": ("prefeval", prefeval),
    "longmemeval": ("longmemeval", longmemeval),
    "beam": ("beam", beam),
    "realmem": ("realmem", realmem),
    "msc": ("msc", msc),
}

Scores = list[float]
Scorer = Callable[[Sequence[str]], list[float]]


def keywords(pattern: re.Pattern[str]) -> Scorer:
    return lambda texts: [1000.0 * bool(pattern.search(text)) for text in texts]


def headed(**evidence: Any) -> Scorer:
    return lambda texts: [
        float(one.probability_thousandths) for one in span_scoring.score(texts, **evidence)
    ]


class Kept:
    """A local model whose answers are kept in a file, so that it is asked once."""

    def __init__(self, name: str, file: Path | None) -> None:
        self.name, self._file, self._model = name, file, None
        known = json.loads(file.read_text()) if file is not None and file.exists() else {}
        self.all: dict[str, dict[str, list[float]]] = known
        self.known = self.all.setdefault(name, {})

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        for start in range(0, len(new), 50):
            some = new[start : start + 50]
            self.known |= dict(zip(some, map(list, self._ask(some)), strict=True))
            print(f"  {self.name}: {start + len(some)} of {len(new)}", flush=True)
            if self._file is not None:
                self._file.write_text(json.dumps(self.all))
        return [self.known[text] for text in texts]

    def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        from memnb.llm.span_scores import said

        if self._model is None:
            self._model = train_spans.local_model(self.name)
        return said(self._model, texts)

    def close(self) -> None:
        if self._model is not None:
            self._model.close()


def agreeing(model: Kept) -> Scorer:
    """Two passes: what both the words and the model, each by itself, take for a rule."""
    learned = span_scoring.head()

    def score(texts: Sequence[str]) -> list[float]:
        alone = [learned.score(text).probability_thousandths for text in texts]
        asked = [text for text, one in zip(texts, alone, strict=True) if one >= 100]
        said = dict(zip(asked, model(asked), strict=True))
        sums = {text: learned.sums[model.name].of(values) for text, values in said.items()}
        heard = {text: 1000 / (1 + math.exp(-value)) for text, value in sums.items()}
        return [min(one, heard.get(text, 0)) for text, one in zip(texts, alone, strict=True)]

    return score


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share."""
    if not n:
        return 0.0, 1.0
    share, middle = right / n, z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = ((share + middle + sign * spread) / (1 + z * z / n) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def of_turns(turns: Sequence[Turn], score: Scorer) -> Scores:
    """The highest score among the sentences of each turn."""
    spans = list(dict.fromkeys(span for turn in turns for span in turn.spans))
    scores = dict(zip(spans, score(spans), strict=True))
    return [max((scores[span] for span in turn.spans), default=0.0) for turn in turns]


def at_budget(turns: Sequence[Turn], scores: Scores) -> float:
    """The lowest score that flags no more of LongMemEval's turns than the budget."""
    free = sorted(
        (s for turn, s in zip(turns, scores, strict=True) if turn.of == "LongMemEval"),
        reverse=True,
    )
    return free[int(BUDGET * len(free))] + 1e-9 if free else float(LOOK)


def shares(turns: Sequence[Turn], scores: Scores, least: float) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for turn, score in zip(turns, scores, strict=True):
        flagged, n = found.get(turn.of, (0, 0))
        found[turn.of] = flagged + (score >= least), n + 1
    return found


def table(name: str, turns: Sequence[Turn], scores: Scores, random_share: dict[str, float]) -> Any:
    """What a scorer flags of each set, at the budget and at the head's two fixed points."""
    rows, points = [], {"2 %": at_budget(turns, scores), "500": LOOK, "700": SURE}
    if name.startswith("keywords"):
        points = {"rules": 1.0}
    for point, least in points.items():
        print(f"\n{name}, at {point} (score {least:.0f})")
        for of, (flagged, n) in shares(turns, scores, least).items():
            low, high = wilson(flagged, n)
            print(f"  {of:28} {flagged:5} of {n:5}  {flagged / n:6.1%}  [{low:.1%}, {high:.1%}]")
            base = random_share.get(point)
            row = report.Row(f"{name} at {point}: {of}", flagged / n, base, "share")
            rows.append(row)
            if of == "LongMemEval":
                random_share[point] = flagged / n
    return rows


def main(arguments: Sequence[str]) -> None:
    most = int(arguments[arguments.index("--turns") + 1]) if "--turns" in arguments else 4000
    named = [argument for argument in arguments if argument in SETS] or list(SETS)
    turns: list[Turn] = []
    for name in ["longmemeval", *(n for n in named if n != "longmemeval")]:
        folder, load = SETS[name]
        if folder and not (DATA / folder).is_dir():
            print(f"skipped {name}: no {folder} in the folder that MEMNB_DATA names")
            continue
        turns += load(most)
    print(f"{len(turns)} turns, {sum(len(turn.spans) for turn in turns)} sentences, seed {SEED}")
    scorers: dict[str, Scorer] = {
        "keywords, narrow": keywords(NARROW),
        "keywords, wide": keywords(WIDE),
        "marks": headed(),
    }
    embed = train_spans.embedder() if "--embedding" in arguments else None
    if embed is not None:
        scorers["marks+embedding"] = headed(embed=embed)
    file = Path(arguments[arguments.index("--said") + 1]) if "--said" in arguments else None
    models = [Kept(arguments[i + 1], file) for i, a in enumerate(arguments) if a == "--model"]
    for model in models:
        scorers[f"marks+{model.name}"] = headed(model=model)
        scorers[f"agreement with {model.name}"] = agreeing(model)
        if embed is not None:
            scorers[f"marks+embedding+{model.name}"] = headed(model=model, embed=embed)
    rows: list[report.Row] = []
    items = [{"of": turn.of, "text": turn.text[:300], "keep": turn.keep} for turn in turns]
    for name, score in scorers.items():
        scores = of_turns(turns, score)
        rows += table(name, turns, scores, {})
        for item, one in zip(items, scores, strict=True):
            item[name] = round(one)
    for model in models:
        model.close()
    report.show("learning", rows, items=items)


if __name__ == "__main__":
    main(sys.argv[1:])
