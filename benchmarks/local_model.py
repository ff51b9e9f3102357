"""The local model: does it pick the right tool, follow memory, start and stop soon enough?

    MEMNB_MODELS=FOLDER python benchmarks/local_model.py [PART …] [--json FILE]

FOLDER holds the verified weights; a part is router, memory, start or interrupt. The requests and
questions in benchmarks/data were written apart
from those the prompts were tuned on; docs/benchmarks.md says what was changed after they were run.
Beside each figure stands what it is worth by itself: never using a tool, the same question without
memory, a warm second answer, the same work not interrupted.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import report
from memnb.agent.prompt import BRIEF_GUIDANCE
from memnb.core.bodies import Part
from memnb.core.messages import Call, JsonValue, Message, Request, Stop, Text, ToolSpec, Usage
from memnb.core.words import sentences
from memnb.llm import weights
from memnb.llm.cancelling import CancelSwitch
from memnb.llm.local_model import LocalModel
from memnb.llm.model_catalog import LOCAL_MODELS

DATA = Path(__file__).with_name("data")
SPEC = LOCAL_MODELS[0]
TEXT: JsonValue = {"type": "string"}
NUMBER: JsonValue = {"type": "integer"}
KINDS: JsonValue = {
    "type": "string",
    "enum": ["preference", "convention", "decision", "observation"],
}
N_INTERRUPTS = 5
LONG = "word " * 1500


def tool(name: str, **properties: JsonValue) -> ToolSpec:
    return ToolSpec(name, "", {"type": "object", "properties": properties})


TOOLS = (
    tool("memory_remember", text=TEXT, kind=KINDS),
    tool("memory_recall", fact_id=TEXT),
    tool("read_file", path=TEXT, start=NUMBER, end=NUMBER),
    tool("run_python", code=TEXT),
)


def request(text: str, *, memory: str = "", with_tools: bool = True, limit: int = 200) -> Request:
    """A request as the agent makes it for a typed message."""
    return Request(
        BRIEF_GUIDANCE,
        memory,
        (Message("user", text),),
        TOOLS if with_tools else (),
        sentences((Part("typed", text),)),
        output_tokens=limit,
        timeout_seconds=600,
    )


def stream(model: LocalModel, asked: Request) -> Iterator[Any]:
    return model.stream(asked, CancelSwitch())


def router(model: LocalModel) -> tuple[list[report.Row], list[dict[str, Any]]]:
    """Is the right tool, or none, picked? A one-token answer says that none was."""
    cases = json.loads((DATA / "router_requests.json").read_text(encoding="utf-8"))
    items = []
    for case in cases:
        start = time.perf_counter()
        found = list(stream(model, request(case["request"], limit=1)))
        calls = [event for event in found if isinstance(event, Call)]
        items.append(
            {
                **case,
                "chosen": calls[0].name if calls else "answer",
                "arguments": calls[0].arguments if calls else "",
                "seconds": round(time.perf_counter() - start, 2),
            }
        )
    for item in items:
        if item["chosen"] != item["right"]:
            print(f"  {item['request'][:60]!r}: {item['right']} → {item['chosen']}")
    n = len(items)
    right = sum(item["chosen"] == item["right"] for item in items)
    needless = [item for item in items if item["right"] == "answer"]
    saves = [item for item in items if item["chosen"] == "memory_remember"]
    false_saves = sum(item["right"] != "memory_remember" for item in saves)
    texts = [(json.loads(item["arguments"])["text"], item) for item in saves]
    exact = sum(text in item["request"] for text, item in texts)
    whole = sum(item.get("saves", text) in text for text, item in texts)
    low, high = wilson(right, n)
    print(f"  right: {right} of {n}, 95 % interval {low:.0%} to {high:.0%}")
    rows = [
        report.Row(
            "right tool or none", right / n, len(needless) / n, "share", "≥ .85", right / n >= 0.85
        ),
        report.Row("false saves", false_saves, None, f"of {n}"),
        report.Row("saved texts that are exact", exact, None, f"of {len(saves)}"),
        report.Row("saved texts that hold the fact", whole, None, f"of {len(saves)}"),
        report.Row(
            "time to route, median", report.median([item["seconds"] for item in items]), None, "s"
        ),
    ]
    return rows, items


def memory(model: LocalModel) -> tuple[list[report.Row], list[dict[str, Any]]]:
    """Is a question answered from a remembered fact? Without memory, it can't be."""
    data = json.loads((DATA / "paraphrases.json").read_text(encoding="utf-8"))
    facts = data["facts"]
    lines = "\n".join(f"- {fact} [F-{at}k2m9q]" for at, fact in enumerate(facts))
    section = (
        f"PROJECT MEMORY [{len(facts)} of {len(facts)} facts, 0.2/8.0 KB]\n"
        f"Remembered preferences and facts about the user and project. Follow them:\n{lines}"
    )
    items = []
    for question in data["questions"]:
        item: dict[str, Any] = {"question": question}
        for name, remembered in (("with", section), ("without", "")):
            text = said(stream(model, request(question, memory=remembered)))
            item[name] = {"right": follows(text), "text": text}
        items.append(item)
        if not item["with"]["right"]:
            print(f"  {question!r} → {item['with']['text']!r}")
    n = len(items)
    right = sum(item["with"]["right"] for item in items)
    base = sum(item["without"]["right"] for item in items)
    return [
        report.Row("answered from the fact", right / n, base / n, "share", "≥ .9", right / n >= 0.9)
    ], items


def follows(text: str) -> bool:
    """Whether an answer uses random_state 7, in code or in words."""
    return re.search(r"random_?\s?state\b[^\n.\d]*7\b", text, re.I) is not None


def start(model: LocalModel) -> tuple[list[report.Row], list[dict[str, Any]]]:
    """How long until the first word, from nothing running and from a warm process?"""
    asked = request("What is 17+25?", limit=60)
    rows, items = [], []
    for name, with_tools in (("", False), (" after routing", True)):
        times = []
        for closes in (True, False):
            if closes:
                model.close()
            asked = request(f"What is 17+25?{' ' * len(items)}", with_tools=with_tools, limit=60)
            begun = time.perf_counter()
            first = next(event for event in timed(stream(model, asked)) if event[1])
            times.append(first[0] - begun)
            items.append({"closed": closes, "with_tools": with_tools, "seconds": times[-1]})
        first_word = report.Row(
            f"first word from cold{name}", times[0], times[1], "s", "≤ 60 s", met=times[0] <= 60
        )
        rows.append(first_word)
    return rows, items


def timed(events: Iterator[Any]) -> Iterator[tuple[float, str]]:
    """When each event came, and its text; read to the end."""
    found = [(time.perf_counter(), getattr(event, "text", "")) for event in only(events)]
    yield from found


def only(events: Iterator[Any]) -> Iterator[Any]:
    return (event for event in events if isinstance(event, (Text, Stop)))


def interrupt(model: LocalModel) -> tuple[list[report.Row], list[dict[str, Any]]]:
    """How long does the model go on after an interrupt in the middle of reading a long prompt?"""
    begun = time.perf_counter()
    whole = list(stream(model, request(LONG, with_tools=False, limit=1)))
    baseline = time.perf_counter() - begun
    assert any(isinstance(event, Usage) for event in whole)
    items = []
    for at in range(N_INTERRUPTS):
        asked = request(f"{at} {LONG}", with_tools=False)
        cancel = CancelSwitch()
        threading.Timer(0.8 + 0.3 * at, cancel.request).start()
        list(model.stream(asked, cancel))
        items.append(idle_after(model))
        said(stream(model, request("Say hi.", with_tools=False, limit=5)))
    worst = max(item["seconds"] for item in items)
    killed = sum(item["killed"] for item in items)
    return [
        report.Row(
            "interrupt to idle, worst", worst, baseline, "s", "idle or gone in 2 s", worst <= 2.3
        ),
        report.Row("of these, killed", killed, None, f"of {len(items)}"),
    ], items


def idle_after(model: LocalModel) -> dict[str, Any]:
    """Watch the child's processor time: asking it would keep it from noticing."""
    begun = last = time.perf_counter()
    child = model.child
    used = cpu_seconds(child.pid) if child else 0.0
    while child and child.alive and time.perf_counter() - last < 0.4:
        time.sleep(0.02)
        if (now := cpu_seconds(child.pid)) > used:
            used, last = now, time.perf_counter()
    killed = child is None or not child.alive
    return {"seconds": (time.perf_counter() if killed else last) - begun, "killed": killed}


def cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def said(events: Iterator[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, middle = right / n, z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return tuple((share + middle + sign * spread) / (1 + z * z / n) for sign in (-1, 1))  # type: ignore[return-value]


PARTS: dict[str, Callable[[LocalModel], tuple[list[report.Row], list[dict[str, Any]]]]] = {
    "router": router,
    "memory": memory,
    "start": start,
    "interrupt": interrupt,
}


def main(arguments: Sequence[str]) -> None:
    folder = Path(os.environ.get("MEMNB_MODELS", "models"))
    file = weights.find(SPEC, folder)
    if file is None:
        sys.exit(f"weights needed: {weights.describe(SPEC, folder)}; set MEMNB_MODELS")
    named = [argument for argument in arguments if argument in PARTS]
    rows, items = [], {}
    print(f"{SPEC.title}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    model = LocalModel(SPEC.name, weights=file)
    for name in named or PARTS:
        found, items[name] = PARTS[name](model)
        rows += found
    model.close()
    report.show("The local model", rows, items=items)


if __name__ == "__main__":
    main(sys.argv[1:])
