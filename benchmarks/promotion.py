"""How often a rule of promotion reads something from what people write, and what it makes of it.

The rule of repetition (three sessions) is left aside: a figure counts single messages. Most of the
texts are about daily life, of which the rules know nothing on purpose, so the flag rate is what
matters there; whatever is flagged is printed. As if one person had said all of it, the sessions
of LongMemEval are then gone through by the rule of three, too.

Labelled data lie in the folder that MEMNB_DATA names (default: `data` in the project); absent sets
are skipped with a message.

    python benchmarks/promotion.py [--json FILE]
"""

from __future__ import annotations

import json
import lzma
import math
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memnb.core.bodies import Part
from memnb.core.canonical_rules import canonical
from memnb.core.promotion import messages

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MEMNB_DATA", PROJECT / "data"))
SENTENCES = PROJECT / "tests" / "core" / "promotion_sentences.jsonl"
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_ITEM = re.compile(r"\A\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_BEAM_MARK = re.compile(r"\s*->->\s*[\d,\s]+\Z")

Item = tuple[str, str]
"""Which session or document, and a text of it."""


def records(name: str) -> Iterator[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        print(f"skipped {name}: not in {DATA} (set MEMNB_DATA)")
        return
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def longmemeval() -> Iterator[Item]:
    for n in range(3):
        for session in records(f"longmemeval/sessions_dev_{n}.jsonl.xz"):
            for turn in session["turns"]:
                if turn["role"] == "user":
                    yield session["key"], turn["content"]


def prefeval_preferences() -> Iterator[Item]:
    for record in records("prefeval/preferences_dev.jsonl.xz"):
        if record["form"] == "explicit":
            yield record["topic"], record["preference"]


def prefeval_questions() -> Iterator[Item]:
    for record in records("prefeval/preferences_dev.jsonl.xz"):
        if record["form"] == "explicit":
            yield record["topic"], record["question"]


def msc() -> Iterator[Item]:
    for n in range(1, 5):
        for number, dialogue in enumerate(
            records(f"msc/msc_personasummary__session_{n}__valid.txt.xz")
        ):
            for turn in dialogue["dialog"]:
                yield f"{n}-{number}", turn["text"]


def rule_files() -> Iterator[Item]:
    for record in records("rules/cursor_rules_dev.jsonl.xz"):
        yield record["name"], record["text"]


def beam() -> Iterator[Item]:
    for record in records("beam/user_messages_dev.jsonl.xz"):
        yield str(record["chat"]), _BEAM_MARK.sub("", record["text"])


def beam_instructions() -> Iterator[Item]:
    for record in records("beam/standing_instructions_dev.jsonl.xz"):
        yield str(record["chat"]), record["gold"]


def realmem() -> Iterator[Item]:
    folder = DATA / "realmem"
    if not folder.exists():
        print(f"skipped realmem: not in {DATA} (set MEMNB_DATA)")
        return
    for path in sorted(folder.glob("*.json.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            yield from _user_turns(json.load(file), path.name)


def _user_turns(value: Any, name: str) -> Iterator[Item]:
    if isinstance(value, dict):
        role = str(value.get("speaker", value.get("role", ""))).lower()
        if role == "user" and isinstance(value.get("content"), str):
            yield name, value["content"]
        else:
            for inner in value.values():
                yield from _user_turns(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _user_turns(inner, name)


def own_sentences(wanted: bool) -> Callable[[], Iterator[Item]]:
    def read() -> Iterator[Item]:
        if not SENTENCES.exists():
            print(f"skipped {SENTENCES.name}: only a checkout has it")
            return
        for line in SENTENCES.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if (record["says"] is not None) == wanted:
                yield record["language"], record["text"]

    return read


SETS: tuple[tuple[str, str, Callable[[], Iterator[Item]]], ...] = (
    ("LongMemEval, messages of users", "to be left alone", longmemeval),
    ("PrefEval, questions", "to be left alone", prefeval_questions),
    ("MSC, utterances", "to be left alone", msc),
    ("RealMem, messages of users", "to be left alone", realmem),
    ("BEAM, messages of users", "few to be found", beam),
    ("rule files, as one message each", "pasted: to be left alone", rule_files),
    ("PrefEval, explicit preferences", "daily life: not meant to be found", prefeval_preferences),
    ("BEAM, standing instructions", "mostly not meant to be found", beam_instructions),
    (
        "own sentences that state something",
        "to be found; the rules were written by us",
        own_sentences(True),
    ),
    ("own sentences that don't", "to be left alone", own_sentences(False)),
)


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The interval in which a rate lies, at 95 %."""
    if not n:
        return 0.0, 1.0
    p = right / n
    middle = p + z * z / (2 * n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)


def message_says(text: str) -> list[str]:
    return [one.form.text for one in messages.said((Part("typed", text),))]


def sentences_say(text: str) -> list[str]:
    """What single sentences say, with none of the checks of the message around them."""
    forms = (canonical(_ITEM.sub("", piece).strip()) for piece in _END.split(text))
    return [form.text for form in forms if form is not None]


def rate(name: str, n_flagged: int, n: int) -> str:
    low, high = wilson(n_flagged, n)
    percent = 100 * n_flagged / n if n else 0.0
    interval = f"[{100 * max(low, 0.0):.3f}, {100 * high:.3f}]"
    return f"{name:38} {n_flagged:6} of {n:7} {percent:8.3f} % {interval}"


def main() -> int:
    items: dict[str, list[dict[str, Any]]] = {}
    print("Messages from which something is read; in brackets 95 % by Wilson\n")
    for name, meaning, read in SETS:
        texts = list(read())
        flagged = [
            {"where": where, "text": text, "says": said}
            for where, text in texts
            if (said := message_says(text))
        ]
        items[name] = flagged
        if not texts:
            continue
        loose = sum(1 for _, text in texts if sentences_say(text))
        print(rate(name, len(flagged), len(texts)), f" {meaning}")
        print(rate("   without the checks of the message", loose, len(texts)))
        for one in flagged[:12] if not name.startswith("own") else ():
            print(f"      {one['says']} ← {one['text'][:100]!r}")
    sessions: dict[str, set[str]] = defaultdict(set)
    for one in items["LongMemEval, messages of users"]:
        for said in one["says"]:
            sessions[said].add(one["where"])
    promoted = {said: len(keys) for said, keys in sessions.items() if len(keys) >= 3}
    print(
        f"\nread in three sessions of LongMemEval or more, all taken together: {promoted or 'none'}"
    )
    if "--json" in sys.argv:
        path = Path(sys.argv[sys.argv.index("--json") + 1])
        path.write_text(json.dumps(items, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
