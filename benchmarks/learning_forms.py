"""Ways to find what is worth keeping, side by side, each through the whole contract of evidence.

    MEMNB_DATA=FOLDER python benchmarks/learning_forms.py [SET …] [--model NAME] [--turns N]
                                                          [--json FILE]

The same messages, at most N of each kind (default 20), are read by

- promotion: the rules alone, of one message (three are needed to promote anything);
- quoting: the model writes JSON with quotes, as strong models do;
- selecting: the model names numbered sentences, as JSON;
- scoring: the sentences are scored, without a model, and with this one.

Every message is a session of its own in a memory of its own. A message counts as flagged when a
candidate comes of it: what is refused by the contract isn't one. Wilson's 95 % intervals. The
samples and sets are those of `learning.py`, drawn with its seed. Of LongMemEval's turns none is
labelled: what is flagged of them is an upper bound of what is wrong.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import learning
import memnb
import report
import train_spans
from learning import SETS, Turn
from memnb.core.bodies import Part
from memnb.core.candidates import Extraction
from memnb.core.promotion import messages
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.scripted_model import ScriptedModel
from memnb.llm.span_scores import said
from memnb.memory import selecting, span_scoring
from memnb.memory.extracting import extract

FENCE = "data-0f1e2d3c"
PATIENCE_SECONDS = 600.0

Read = Callable[[Any, str], Extraction]
"""What reads one session of a project's memory."""


class Asked:
    """A local model as the scorer asks it."""

    def __init__(self, model: Any) -> None:
        self.name, self._model = model.name, model

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return said(self._model, texts)


def asking(model: Any, form: Any) -> Read:
    """The model is asked for JSON."""
    return lambda memory, session_id: extract(
        memory.stores,
        memory.validator,
        memory.histories,
        model,
        session_id=session_id,
        cancel=CancelSwitch(),
        fence=FENCE,
        form=form,
        timeout_seconds=PATIENCE_SECONDS,
    )


def scoring(listener: Any = None) -> Read:
    """The sentences are scored."""

    def scorer(texts: Sequence[str]) -> list[Any]:
        return span_scoring.score(texts, model=listener)

    return lambda memory, session_id: selecting.select(
        memory.stores, memory.validator, memory.histories, session_id=session_id, scorer=scorer
    )


def read_all(turns: Sequence[Turn], ways: dict[str, Read]) -> list[dict[str, Any]]:
    """For every turn what each way makes of it."""
    items = []
    with tempfile.TemporaryDirectory() as folder:
        memory = memnb.open(Path(folder), home=Path(folder) / "home", model=ScriptedModel([]))
        with memory:
            for n, turn in enumerate(turns, 1):
                memory.ask(turn.text, via="agent", model=ScriptedModel(["Noted."]))
                session_id = memory.status().session_id
                memory.new()
                item = {"of": turn.of, "text": turn.text[:300], "keep": turn.keep}
                item["promotion"] = {"flagged": bool(messages.said((Part("typed", turn.text),)))}
                for name, read in ways.items():
                    started = time.monotonic()
                    found = read(memory._memory, session_id)  # noqa: SLF001
                    item[name] = {
                        "flagged": bool(found.candidates),
                        "candidates": [one.text for one in found.candidates],
                        "reasons": dict(found.reasons),
                        "seconds": round(time.monotonic() - started, 1),
                    }
                items.append(item)
                if not n % 10:
                    print(f"  {n} of {len(turns)}", flush=True)
    return items


def show(items: Sequence[dict[str, Any]], ways: Sequence[str]) -> list[report.Row]:
    """What each way flags of each kind, why it refuses, and how long it takes."""
    kinds = list(dict.fromkeys(item["of"] for item in items))
    rows = []
    for way in ways:
        print(f"\n{way}")
        shares: dict[str, float] = {}
        for kind in kinds:
            some = [item for item in items if item["of"] == kind]
            flagged = sum(item[way]["flagged"] for item in some)
            low, high = learning.wilson(flagged, len(some))
            shares[kind] = flagged / len(some)
            print(
                f"  {kind:28} {flagged:5} of {len(some):5}  {shares[kind]:6.1%}"
                f"  [{low:.1%}, {high:.1%}]"
            )
            rows.append(report.Row(f"{way}: {kind}", shares[kind], shares.get(kinds[0]), "share"))
        right, wrong = (
            sum(item[way]["flagged"] for item in items if item["keep"] is keep)
            for keep in (True, False)
        )
        if right + wrong:
            low, high = learning.wilson(right, right + wrong)
            share = right / (right + wrong)
            print(f"  {'precision where labelled':28} {share:.3f}  [{low:.3f}, {high:.3f}]")
            rows.append(report.Row(f"{way}: precision where labelled", share, None, "share"))
        reasons: Counter[str] = Counter()
        seconds: defaultdict[str, float] = defaultdict(float)
        for item in items:
            reasons.update(item[way].get("reasons", {}))
            seconds[way] += item[way].get("seconds", 0.0)
        if seconds[way]:
            print(f"  {seconds[way] / len(items):.1f} s a message; refused: {dict(reasons)}")
    return rows


def main(arguments: Sequence[str]) -> None:
    options = {name: arguments[at + 1] for at, name in enumerate(arguments) if name[:2] == "--"}
    most = int(options.get("--turns", 20))
    named = [one for one in arguments if one in SETS] or list(SETS)
    turns: list[Turn] = []
    for name in ["longmemeval", *(n for n in named if n != "longmemeval")]:
        folder, load = SETS[name]
        if folder and not (learning.DATA / folder).is_dir():
            print(f"skipped {name}: no {folder} in the folder that MEMNB_DATA names")
            continue
        by_kind: defaultdict[str, list[Turn]] = defaultdict(list)
        for turn in load(4000):
            by_kind[turn.of].append(turn)
        for some in by_kind.values():
            turns += learning.sampled([t for t in some if t.text.strip()], most)
    print(f"{len(turns)} messages, at most {most} of a kind, seed {learning.SEED}")
    ways: dict[str, Read] = {"scoring": scoring()}
    model = None
    if "--model" in options:
        model = train_spans.local_model(options["--model"])
        ways |= {
            f"scoring, {model.name}": scoring(Asked(model)),
            f"selecting, {model.name}": asking(model, "selection"),
            f"quoting, {model.name}": asking(model, "quoting"),
        }
    try:
        items = read_all(turns, ways)
    finally:
        if model is not None:
            model.close()
    report.show("learning, each way", show(items, ["promotion", *ways]), items=items)


if __name__ == "__main__":
    main(sys.argv[1:])
