"""Public sets of questions with known evidence, each read into passages and questions.

A loader for each set gives memories: passages in the order in which they came, and questions about
them, each with the passages that answer it. Nothing of an answer is put into a passage or a
question. What a set doesn't say (which second a message was sent) is filled in by counting. They
are read from the folder that MEMNB_DATA names; without it, a small part is there.
"""

from __future__ import annotations

import itertools
import json
import lzma
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memnb.core.passages import Passage, Speaker

SMALL = Path(__file__).resolve().parent / "data" / "recall"
"""A small part of the sets that may be passed on, with their licences."""

DATA = Path(os.environ.get("MEMNB_DATA") or SMALL)
CONTEXT_CHARACTERS = 400


@dataclass(frozen=True)
class Question:
    """What is asked of a memory, and which passages answer it.

    `gold` are references of passages, `sessions` names; either may be unknown (empty). `before`:
    only so many passages had come when it was asked. A question that the memory can't answer has
    no gold and `answerable` is false.
    """

    id: str
    kind: str
    text: str
    now: str
    gold: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    before: int | None = None
    answerable: bool = True


@dataclass
class Memory:
    """Passages in the order in which they came, and the questions about them."""

    name: str
    passages: list[Passage] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def lines(path: Path) -> list[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def stamp(at: datetime, seconds: int = 0) -> str:
    return (at + timedelta(seconds=seconds)).isoformat(timespec="microseconds") + "Z"


def said(
    name: str, turns: Sequence[tuple[Speaker, str]], at: datetime, *, places: Sequence[int] = ()
) -> list[Passage]:
    """The messages of a session, each with the one before it as context."""
    passages = []
    for n, (speaker, text) in enumerate(turns):
        before = turns[n - 1][1][:CONTEXT_CHARACTERS] if n else ""
        place = places[n] if places else n + 1
        passages.append(Passage("message", name, place, text, stamp(at, n), speaker, before))
    return passages


# LoCoMo: two people talk, neither is an assistant; "D1:3" is the third message of session 1.

LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def locomo(data: Path) -> Iterator[Memory]:
    for n, row in enumerate(lines(data / "locomo" / "conversations_dev.jsonl.xz")):
        memory = Memory(f"locomo-{n}")
        talk, last = row["conversation"], ""
        known = set()
        for number in range(1, 100):
            turns = talk.get(f"session_{number}")
            if not turns:
                continue
            at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            spoken: list[tuple[Speaker, str]] = [("person", locomo_text(turn)) for turn in turns]
            places = [int(turn["dia_id"].split(":")[1]) for turn in turns]
            memory.passages += said(f"C{n}-D{number}", spoken, at, places=places)
            known |= {f"C{n}-D{number}:{place}" for place in places}
            last = stamp(at + timedelta(days=1))
        for m, qa in enumerate(row["qa"]):
            found = re.findall(r"D(\d+):(\d+)", " ".join(qa["evidence"]))
            gold = frozenset(f"C{n}-D{a}:{int(b)}" for a, b in found) & known
            kind = LOCOMO_KINDS[qa["category"]]
            answerable = kind != "adversarial"
            if answerable and not gold:
                continue
            memory.questions.append(
                Question(
                    f"{n}-{m}",
                    kind,
                    qa["question"],
                    last,
                    gold if answerable else frozenset(),
                    frozenset(one.split(":")[0] for one in gold) if answerable else frozenset(),
                    answerable=answerable,
                )
            )
        yield memory


def locomo_text(turn: Mapping[str, Any]) -> str:
    return f"{turn['speaker']}: {turn['text']}"


# LongMemEval: a haystack of sessions for each question.


def longmemeval(data: Path) -> Iterator[Memory]:
    folder = data / "longmemeval"
    sessions = {
        row["key"]: row["turns"]
        for path in sorted(folder.glob("sessions_dev_*.xz"))
        for row in lines(path)
    }
    for row in lines(folder / "questions_dev.jsonl.xz"):
        memory = Memory(row["question_id"])
        answerable = not row["question_id"].endswith("_abs")
        gold = set()
        haystack = zip(
            row["haystack_dates"],
            row["haystack_session_ids"],
            row["haystack_session_keys"],
            strict=True,
        )
        for date, name, key in sorted(haystack, key=lambda one: one[0]):
            turns = sessions[key]
            spoken: list[tuple[Speaker, str]] = [
                ("person" if turn["role"] == "user" else "assistant", turn["content"])
                for turn in turns
            ]
            memory.passages += said(name, spoken, longmemeval_date(date))
            gold |= {f"{name}:{n}" for n, turn in enumerate(turns, 1) if turn.get("has_answer")}
        memory.questions.append(
            Question(
                row["question_id"],
                row["question_type"],
                row["question"],
                stamp(longmemeval_date(row["question_date"])),
                frozenset(gold) if answerable else frozenset(),
                frozenset(row["answer_session_ids"]) if answerable else frozenset(),
                answerable=answerable,
            )
        )
        yield memory


def longmemeval_date(text: str) -> datetime:
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M")


# RealMem: a person's sessions in order; a question is asked before what comes after it.


def realmem(data: Path) -> Iterator[Memory]:
    for persona, sessions in realmem_personas(data):
        memory = Memory(persona)
        for session in sessions:
            before, known = len(memory.passages), {one.name for one in memory.passages}
            at = realmem_date(session)
            turns = session["dialogue_turns"]
            for question, used in realmem_questions(turns):
                gold = frozenset(item["session_uuid"] for item in used) & known
                if gold:
                    memory.questions.append(
                        Question(
                            f"{persona}-{question['query_id']}",
                            question["category_name"],
                            question["content"],
                            stamp(at),
                            sessions=gold,
                            before=before,
                        )
                    )
            spoken: list[tuple[Speaker, str]] = [
                ("person" if turn["speaker"] == "User" else "assistant", turn["content"])
                for turn in turns
            ]
            memory.passages += said(session["session_uuid"], spoken, at)
        yield memory


def realmem_items(data: Path) -> Iterator[Memory]:
    """The same questions over what was remembered: each item is a fact."""
    for persona, sessions in realmem_personas(data):
        memory = Memory(f"{persona}, items")
        by_text: dict[tuple[str, str], str] = {}
        for session in sessions:
            before, at = len(memory.passages), realmem_date(session)
            for question, used in realmem_questions(session["dialogue_turns"]):
                keys = [(item["session_uuid"], realmem_text(item)) for item in used]
                gold = frozenset(by_text[key] for key in keys if key in by_text)
                if gold:
                    memory.questions.append(
                        Question(
                            f"{persona}-{question['query_id']}",
                            question["category_name"],
                            question["content"],
                            stamp(at),
                            gold,
                            before=before,
                        )
                    )
            for n, item in enumerate(session["extracted_memory"] or ()):
                text = realmem_text(item)
                name = f"{session['session_uuid']}-{n}"  # an index of theirs may come twice
                fact = Passage("fact", name, 1, text, stamp(at, n), "person")
                memory.passages.append(fact)
                by_text[session["session_uuid"], text] = fact.reference
        yield memory


def realmem_personas(data: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for path in sorted((data / "realmem").glob("*.json.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            yield path.name.split("_dialogues")[0], json.load(file)["dialogues"]


def realmem_questions(turns: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Any, Any]]:
    """Each question with what its answer, the message after it, used of memory."""
    for question, answer in itertools.pairwise(turns):
        if question.get("is_query") and answer.get("memory_used"):
            yield question, answer["memory_used"]


def realmem_text(item: Mapping[str, Any]) -> str:
    """What an item says; a few are made of parts."""
    content = item["content"]
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def realmem_date(session: Mapping[str, Any]) -> datetime:
    return datetime.strptime(session["current_time"].split()[0], "%Y-%m-%d")


# BEAM: the messages of one person, without what they answer; questions name messages.


def beam(data: Path) -> Iterator[Memory]:
    chats: dict[int, Memory] = {}
    start = datetime(2024, 1, 1)
    for row in lines(data / "beam" / "user_messages_dev.jsonl.xz"):
        memory = chats.setdefault(row["chat"], Memory(f"beam-{row['chat']}"))
        text = re.sub(r"\s*->->.*$", "", row["text"], flags=re.S)
        at = stamp(start + timedelta(hours=row["id"]))
        memory.passages.append(
            Passage("message", f"chat-{row['chat']}", row["id"], text, at, "person")
        )
    for n, row in enumerate(lines(data / "beam" / "questions_dev.jsonl.xz")):
        memory = chats[row["chat"]]
        known = {one.place for one in memory.passages}
        ids = [one for one in beam_ids(row["source_ids"]) if one in known]
        answerable = row["type"] != "abstention"
        if answerable and not ids:
            continue
        gold = frozenset(f"chat-{row['chat']}:{one}" for one in ids)
        question = Question(
            str(n),
            row["type"],
            row["question"],
            stamp(start + timedelta(days=60)),
            gold if answerable else frozenset(),
            answerable=answerable,
        )
        memory.questions.append(question)
    yield from chats.values()


def beam_ids(ids: Any) -> Iterator[int]:
    if isinstance(ids, int):
        yield ids
    elif isinstance(ids, Mapping):
        yield from (found for one in ids.values() for found in beam_ids(one))
    elif isinstance(ids, Sequence) and not isinstance(ids, str):
        yield from (found for one in ids for found in beam_ids(one))


SETS = {
    "locomo": ("LoCoMo", locomo),
    "longmemeval": ("LongMemEval-S", longmemeval),
    "realmem": ("RealMem", realmem),
    "realmem_items": ("RealMem, items", realmem_items),
    "beam": ("BEAM", beam),
}
"""By name on the command line: how it is called, and its loader."""


def is_there(name: str) -> bool:
    """Whether a set is where MEMNB_DATA says."""
    return (DATA / name.split("_")[0]).is_dir()


def elsewhere(memories: Sequence[Memory]) -> list[Memory]:
    """Each memory with the questions of another one, which it can't answer."""
    if len(memories) < 2:
        return [Memory(memory.name, memory.passages) for memory in memories]
    moved = []
    for memory, other in zip(memories, [*memories[1:], *memories[:1]], strict=True):
        held = {one.name for one in memory.passages}
        strange = [
            replace(one, gold=frozenset(), sessions=frozenset(), before=None, answerable=False)
            for one in other.questions
            if not one.sessions & held
        ]
        moved.append(Memory(memory.name, memory.passages, strange))
    return moved
