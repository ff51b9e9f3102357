"""Learn the weights that score sentences, and say how sure they are on sentences not learned from.

    python benchmarks/train_spans.py [--write] [--embedding] [--ask MODEL N]

Learned from data/spans.jsonl (written for this) and data/spans_longmemeval.jsonl (a small part of
LongMemEval, MIT; labelled by hand where a first head was in doubt, else taken for not to be kept),
and from what local models said of some of these sentences (data/spans_said.json). Nothing else is
learned from: PrefEval, BEAM, RealMem and MSC are only measured (learning.py).

--write puts the weights into memnb/core/span_head.json. Without --embedding (it needs
memnb[vectors]) the file keeps what it has of embeddings. --ask asks a local model (MEMNB_MODELS)
about N sentences that the marks leave open, and keeps what it says as it goes; stopped, it goes on
at the next run.

The scale: out-of-fold scores of five folds are ordered; 500 is the lowest score from which at
least .75 of the sentences were right, 700 the lowest from which .95 were. Most sentences here are
hard on purpose: of what is held out, and of what people say, more is right.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memnb.core.span_features import FEATURES, features

DATA = Path(__file__).with_name("data")
SAID = DATA / "spans_said.json"
HEAD = Path(__file__).resolve().parents[1] / "memnb" / "core" / "span_head.json"
N_FOLDS = 5
PENALTY = {"marks": 0.3, "embedding": 3.0, "said": 0.3, "line": 0.1}
LOOK, SURE = 0.75, 0.95
DIGITS = 3
AT_ONCE = 20
LEFT_OPEN = -4.0  # the sum of the marks below which nothing else is asked

Array = np.ndarray


@dataclass(frozen=True)
class Labelled:
    text: str
    keep: bool
    kind: str | None
    shape: str
    language: str


def labelled(name: str) -> list[Labelled]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [Labelled(**json.loads(line)) for line in lines]


def trained_on() -> list[Labelled]:
    return labelled("spans.jsonl") + labelled("spans_longmemeval.jsonl")


def fold(text: str) -> int:
    """Which fold a sentence is in: by its checksum, so the same for ever."""
    return zlib.crc32(text.encode()) % N_FOLDS


def fit(values: Array, keep: Array, penalty: float) -> tuple[Array, float]:
    """Weights and bias of a logistic regression with an L2 penalty, by Newton's method."""
    columns = np.hstack([values, np.ones((len(values), 1))])
    shrink = np.full(columns.shape[1], penalty)
    shrink[-1] = 1e-6
    weights = np.zeros(columns.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        slope = columns.T @ (p - keep) + shrink * weights
        bend = (columns.T * (p * (1 - p))) @ columns + np.diag(shrink)
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < 1e-7:
            break
    return weights[:-1], float(weights[-1])


def out_of_fold(values: Array, keep: Array, folds: Array, penalty: float) -> Array:
    """For each sentence the sum by weights that were learned without its fold."""
    sums = np.zeros(len(keep))
    for number in range(N_FOLDS):
        seen = folds != number
        weights, bias = fit(values[seen], keep[seen], penalty)
        sums[~seen] = values[~seen] @ weights + bias
    return sums


def threshold(sums: Array, keep: Array, precision: float) -> float:
    """The lowest sum from which on at least this share of the sentences is to be kept."""
    order = np.argsort(-sums, kind="stable")
    right = np.cumsum(keep[order]) / np.arange(1, len(keep) + 1)
    return float(sums[order][np.nonzero(right >= precision)[0][-1]])


def line_of(sums: dict[str, Array], keep: Array) -> dict[str, float]:
    """How much each kind of evidence counts, on the scale with its two fixed points."""
    values = np.column_stack(list(sums.values()))
    share = np.ones(1) if len(sums) == 1 else fit(values, keep, PENALTY["line"])[0]
    mixed = values @ share
    look, sure = (threshold(mixed, keep, at) for at in (LOOK, SURE))
    scale = float(np.log(0.7 / 0.3)) / (sure - look)
    weights = {name: round(float(w * scale), DIGITS) for name, w in zip(sums, share, strict=True)}
    return {**weights, "bias": round(-look * scale, DIGITS)}


def summed(weights: Array, bias: float) -> dict[str, Any]:
    return {"weights": [round(float(w), DIGITS) for w in weights], "bias": round(bias, DIGITS)}


def learn(evidence: dict[str, Array], rows: Sequence[Labelled]) -> dict[str, Any]:
    """The content of the head's file for these kinds of evidence; `marks` is always one.

    A row of NaN says that this kind wasn't asked about the sentence; it isn't learned from there.
    """
    keep = np.array([float(row.keep) for row in rows])
    folds = np.array([fold(row.text) for row in rows])
    head: dict[str, Any] = {"sums": {}, "lines": {}}
    outside: dict[str, Array] = {}
    for name, values in evidence.items():
        penalty = PENALTY.get(name, PENALTY["said"])
        there = ~np.isnan(values).any(axis=1)
        head["sums"][name] = summed(*fit(values[there], keep[there], penalty))
        outside[name] = np.full(len(keep), np.nan)
        outside[name][there] = out_of_fold(values[there], keep[there], folds[there], penalty)
    marks = head["sums"]["marks"]
    marks["weights"] = dict(zip(FEATURES, marks["weights"], strict=True))
    for names in combinations(evidence):
        there = ~np.isnan([outside[name] for name in names]).any(axis=0)
        chosen = {name: outside[name][there] for name in names}
        head["lines"]["+".join(names)] = line_of(chosen, keep[there])
    return head


def combinations(evidence: dict[str, Array]) -> list[tuple[str, ...]]:
    """Marks alone, with an embedding, with what each model said, and with both."""
    models = [name for name in evidence if name not in ("marks", "embedding")]
    found: list[tuple[str, ...]] = [("marks",)]
    if "embedding" in evidence:
        found.append(("marks", "embedding"))
    for model in models:
        found.append(("marks", model))
        if "embedding" in evidence:
            found.append(("marks", "embedding", model))
    return found


def marks_of(rows: Sequence[Labelled]) -> Array:
    return np.array([features(row.text) for row in rows])


def embedder() -> Callable[[Sequence[str]], Sequence[Sequence[float]]]:
    from memnb.llm.embedding import MiniLM

    return MiniLM()


def local_model(name: str) -> Any:
    from memnb.llm.local_model import LocalModel
    from memnb.llm.model_catalog import spec_of
    from memnb.llm.weights import find

    spec, folder = spec_of(name), Path(os.environ.get("MEMNB_MODELS", "models"))
    file = None if spec is None else find(spec, folder)
    if file is None:
        sys.exit(f"no weights of {name} in {folder}; set MEMNB_MODELS")
    return LocalModel(name, weights=file)


def report_on(head: dict[str, Any], rows: Sequence[Labelled], title: str) -> None:
    from memnb.core.span_head import read_head

    scorer = read_head(head)
    scores = np.array([scorer.score(row.text).probability_thousandths for row in rows])
    keep = np.array([row.keep for row in rows])
    for at in (500, 700):
        flagged = scores >= at
        right = int((flagged & keep).sum())
        print(
            f"{title}, marks alone, from {at}: precision {right}/{int(flagged.sum())}, "
            f"recall {right}/{int(keep.sum())}"
        )


def said_of(name: str, rows: Sequence[Labelled]) -> Array:
    """What a local model said of sentences; NaN where it wasn't asked."""
    said = json.loads(SAID.read_text(encoding="utf-8"))[name]
    values = np.full((len(rows), len(next(iter(said.values())))), np.nan)
    for at, row in enumerate(rows):
        if row.text in said:
            values[at] = said[row.text]
    return values


def ask(name: str, rows: Sequence[Labelled], marks: Array, most: int) -> None:
    """Ask a local model about so many sentences that the marks leave open, if it wasn't yet."""
    from memnb.llm.span_scores import said as ask_about

    keep = np.array([float(row.keep) for row in rows])
    sums = out_of_fold(marks, keep, np.array([fold(row.text) for row in rows]), PENALTY["marks"])
    left_open = [row.text for row, total in zip(rows, sums, strict=True) if total >= LEFT_OPEN]
    left_open.sort(key=lambda text: zlib.crc32(text.encode()[::-1]))
    known = json.loads(SAID.read_text(encoding="utf-8"))
    said = known.setdefault(name, {})
    new = [text for text in left_open[:most] if text not in said]
    model = local_model(name)
    for start in range(0, len(new), AT_ONCE):
        some = new[start : start + AT_ONCE]
        for text, values in zip(some, ask_about(model, some), strict=True):
            said[text] = [round(value, DIGITS) for value in values]
        content = json.dumps(known, ensure_ascii=False, indent=0, sort_keys=True)
        SAID.write_text(content + "\n", encoding="utf-8")
    model.close()


def main(arguments: Sequence[str]) -> None:
    rows = trained_on()
    marks = marks_of(rows)
    if "--ask" in arguments:
        name, most = arguments[arguments.index("--ask") + 1 :][:2]
        ask(name, rows, marks, int(most))
    evidence = {"marks": marks}
    if "--embedding" in arguments:
        evidence["embedding"] = np.array(embedder()([row.text for row in rows]))
    for name in json.loads(SAID.read_text(encoding="utf-8")):
        evidence[name] = said_of(name, rows)
    head = learn(evidence, rows)
    if "--embedding" not in arguments and HEAD.exists():
        old = json.loads(HEAD.read_text(encoding="utf-8"))
        head = {part: old[part] | head[part] for part in ("sums", "lines")}
    report_on(head, labelled("spans_held.jsonl"), "held out")
    if "--write" in arguments:
        HEAD.write_text(json.dumps(head, separators=(",", ":")) + "\n", encoding="utf-8")
        print(f"{HEAD.name}: {HEAD.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
