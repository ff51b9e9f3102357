"""Cut the small part of the recall sets that is shipped: excerpts of those whose licence allows it.

    MEMNB_DATA=FOLDER python benchmarks/recall_small.py

Writes benchmarks/data/recall, in the form of the whole sets, with their licences beside. Of
LongMemEval: a few questions of each type with the sessions that answer them among some that don't;
of RealMem: one person's first sessions; long messages are cut. PrecisionMemBench is whole. Which
ones is drawn with a fixed seed, without looking at how well they do.
"""

from __future__ import annotations

import json
import lzma
import random
import shutil
from pathlib import Path
from typing import Any

from recall_measures import SEED
from recall_sets import DATA, SMALL, lines, realmem_personas

OF_EACH_TYPE, STRANGERS, SESSIONS = 5, 30, 70
LONGEST = 700
LICENCES = ("longmemeval/LICENSE.txt", "realmem/LICENSE", "precisionmembench/LICENSE")


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    print(f"{path.relative_to(SMALL)}: {path.stat().st_size:,} bytes")


def as_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"


def longmemeval() -> None:
    draw = random.Random(SEED)  # noqa: S311
    folder = DATA / "longmemeval"
    rows = lines(folder / "questions_dev.jsonl.xz")
    by_type: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kind = "abstention" if row["question_id"].endswith("_abs") else row["question_type"]
        by_type.setdefault(kind, []).append(row)
    chosen = [
        row
        for kind in sorted(by_type)
        for row in draw.sample(by_type[kind], min(OF_EACH_TYPE, len(by_type[kind])))
    ]
    strangers = draw.sample(dated(rows[0]), STRANGERS)
    answers = {name for row in rows for name in row["answer_session_ids"]}
    kept, keys = [], set()
    for row in chosen:
        own = [one for one in dated(row) if one[1] in row["answer_session_ids"]]
        haystack = sorted(own + [one for one in strangers if one[1] not in answers])
        keys |= {key for _, _, key in haystack}
        names = ("haystack_dates", "haystack_session_ids", "haystack_session_keys")
        kept.append(
            {**row, **dict(zip(names, map(list, zip(*haystack, strict=True)), strict=True))}
        )
    sessions = [
        {**row, "turns": [{**turn, "content": cut(turn["content"])} for turn in row["turns"]]}
        for path in sorted(folder.glob("sessions_dev_*.xz"))
        for row in lines(path)
        if row["key"] in keys
    ]
    write(SMALL / "longmemeval" / "questions_dev.jsonl.xz", as_lines(kept))
    write(SMALL / "longmemeval" / "sessions_dev_0.jsonl.xz", as_lines(sessions))


def dated(row: dict[str, Any]) -> list[tuple[str, str, str]]:
    columns = row["haystack_dates"], row["haystack_session_ids"], row["haystack_session_keys"]
    return list(zip(*columns, strict=True))


def realmem() -> None:
    persona, sessions = sorted(realmem_personas(DATA), key=lambda one: one[0])[0]
    for session in sessions[:SESSIONS]:
        for turn in session["dialogue_turns"]:
            turn["content"] = cut(turn["content"])
    data = json.dumps({"dialogues": sessions[:SESSIONS]}, ensure_ascii=False).encode()
    write(SMALL / "realmem" / f"{persona}_dialogues.json.xz", data)


def precisionmembench() -> None:
    for path in sorted((DATA / "precisionmembench").glob("*.json")):
        data = json.dumps(json.loads(path.read_text(encoding="utf-8")), ensure_ascii=False)
        write(SMALL / "precisionmembench" / f"{path.name}.xz", data.encode())


def main() -> None:
    if DATA == SMALL:
        raise SystemExit("say with MEMNB_DATA where the whole sets are.")
    longmemeval()
    realmem()
    precisionmembench()
    for name in LICENCES:
        shutil.copyfile(DATA / name, SMALL / name)


if __name__ == "__main__":
    main()
