"""The protocol of `learning.ipynb`: the same conversations with and without learning.

1. Every arm has a memory and projects of its own, and nothing of a person's is touched.
2. What a person types is fixed, whatever is answered; every message counts as typed in a notebook.
3. What was kept is judged by the words it rests on, never by how it reads.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import memnb
from learning_script import Exchange, Scenario, Script, read_page
from memnb.api.memory import Memory
from memnb.api.session_results import Reply
from memnb.llm.cancelling import CancelSwitch

__all__ = ["ARMS", "COMPACT_EVERY", "Arm", "Judged", "Run", "run", "temporary"]

COMPACT_EVERY: Final = 4
"""A long session is summarised after so many exchanges, again and again; a short one at its end."""

LONG_SESSION: Final = 20

Found = Literal["kept", "waits", ""]


@dataclass(frozen=True, slots=True)
class Arm:
    """How one of the compared memories is set."""

    name: str
    mode: Literal["off", "auto"]
    extractor: Literal["rules", "eager", "model"]


ARMS: Final = (
    Arm("baseline", "off", "rules"),
    Arm("hybrid, rules", "auto", "rules"),
    Arm("hybrid, eager quoting", "auto", "eager"),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A marked exchange: what became of it."""

    exchange: Exchange
    found: Found = ""

    @property
    def is_unwanted(self) -> bool:
        """Whether it became a fact and should not have."""
        return self.found == "kept" and bool(self.exchange.trap)


@dataclass(slots=True)
class Run:
    """What one arm came to over the whole script."""

    arm: Arm
    judged: list[Judged] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    others_wait: list[str] = field(default_factory=list)
    asked: list[tuple[bool, bool]] = field(default_factory=list)
    usage: Counter[tuple[str, str]] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    proposed: Counter[str] = field(default_factory=Counter)
    supplied: list[tuple[str, str, int]] = field(default_factory=list)
    chain: list[tuple[object, ...]] = field(default_factory=list)

    def count(self, found: Found, *, trap: str | None = None) -> int:
        """How many marked exchanges came to this; of one trap, or what is worth keeping."""
        return sum(one.found == found and one.exchange.trap == (trap or "") for one in self.judged)

    @property
    def n_unwanted(self) -> int:
        """Facts that should not be there."""
        return sum(one.is_unwanted for one in self.judged) + len(self.others)

    @property
    def n_facts(self) -> int:
        """All facts."""
        return self.count("kept") + self.n_unwanted

    def figures(self) -> dict[str, object]:
        """All that should be the same in another run."""
        return {
            "found": [(one.exchange.text, one.found) for one in self.judged],
            "others": [self.others, self.others_wait],
            "asked": self.asked,
            "usage": sorted(self.usage.items()),
            "outcomes": sorted(self.outcomes.items()),
            "reasons": sorted(self.reasons.items()),
            "chain": self.chain,
        }


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder for memories that are gone afterwards, with the key that seals them."""
    folder = Path(tempfile.mkdtemp(prefix="memnb-evaluation-")).resolve()
    before = os.environ.get("MEMNB_STATE")
    os.environ["MEMNB_STATE"] = str(folder / "state")
    try:
        yield folder
    finally:
        if before is None:
            del os.environ["MEMNB_STATE"]
        else:
            os.environ["MEMNB_STATE"] = before
        shutil.rmtree(folder, ignore_errors=True)


def run(arm: Arm, script: Sequence[Scenario], *, learner: str = "rules") -> Run:
    """Play the whole script in one arm.

    Args:
        arm: which.
        script: what is said.
        learner: the model that is set for learning where the arm doesn't name one.
    """
    done = Run(arm)
    with temporary() as folder:
        for scenario in script:
            project = folder / scenario.name
            project.mkdir()
            _play(done, scenario, project, learner)
    return done


def _play(done: Run, scenario: Scenario, project: Path, learner: str) -> None:
    script = Script(scenario)

    def opened() -> Memory:
        memory = memnb.open(project, home=project.parent / "home", model=script.model)
        memory.config("learning.model", "" if done.arm.extractor == "eager" else learner)
        memory.learn(done.arm.mode)
        return memory

    for session in scenario.sessions:
        with opened() as memory:
            for number, exchange in enumerate(session, 1):
                seq = ask(memory, exchange.text).answer.message_seq or 0
                script.session_id = memory.status().session_id or ""
                memory.learn_after(seq, CancelSwitch())
                is_long = len(session) >= LONG_SESSION
                if number == len(session) or (is_long and not number % COMPACT_EVERY):
                    memory.compact()
            if is_long:
                done.chain = chain(project.parent / "home", memory.status().session_id or "")
    with opened() as memory:
        _judge(done, scenario, memory)
        script.answers_from_memory = True
        memory.learn("off")
        _ask_later(done, scenario, memory)
        _add_up(done, memory)
    done.proposed.update(script.n_proposed)
    done.supplied += [(scenario.name, *one) for one in script.supplied]


def ask(memory: Memory, text: str) -> Reply:
    """What is answered to a message that a person typed in a cell."""
    return memory.ask(text, via="agent", tools=[read_page])


def _judge(done: Run, scenario: Scenario, memory: Memory) -> None:
    facts: dict[tuple[str, str], str] = {}
    for row in memory.facts(all=True, limit=1000).rows:
        for source in memory.fact(row.fact_id).revisions[0].sources:
            facts[source.message, source.message[source.start : source.end]] = row.fact_id
    waiting = [row.text for row in memory.review().rows]
    for exchange in scenario.exchanges:
        marked = exchange.keep or exchange.drop
        if not marked:
            continue
        its = [one for one in facts if one[0] == exchange.text and _is_same(one[1], marked)]
        fact_id = "".join(facts.pop(one) for one in its[:1])
        waits = [text for text in waiting if _is_same(text, marked)]
        waiting = [text for text in waiting if text not in waits]
        found: Found = "kept" if fact_id else "waits" if waits else ""
        done.judged.append(Judged(exchange, found))
    done.others += [quote for _, quote in facts]
    done.others_wait += waiting


def _is_same(text: str, marked: str) -> bool:
    return text in marked or marked in text


def _ask_later(done: Run, scenario: Scenario, memory: Memory) -> None:
    """Ask for what was to be kept, in a session that shares nothing but the project's memory."""
    for exchange in scenario.exchanges:
        if not exchange.keep:
            continue
        said = map(_named, ask(memory, exchange.ask).text.splitlines())
        answering = [fact_id for text, fact_id in said if exchange.expect in text]
        is_exact = any(_shows_exactly(memory, fact_id, exchange.text) for fact_id in answering)
        done.asked.append((bool(answering), is_exact))


def _named(line: str) -> tuple[str, str]:
    """A fact as a request carries it, and its id."""
    text, _, fact_id = line.rpartition(" [")
    return text, fact_id.rstrip("]")


def _shows_exactly(memory: Memory, fact_id: str, message: str) -> bool:
    recalled = memory.recall(fact_id)
    records = json.loads(recalled.page.source_text or "[]")
    texts = ["".join(part["text"] for part in one.get("parts", ())) for one in records]
    return recalled.status == "valid" and texts == [message]


def _add_up(done: Run, memory: Memory) -> None:
    for row in memory.usage(all=True).rows:
        done.usage[row.purpose, "requests"] += row.n_requests
        done.usage[row.purpose, "unknown"] += row.n_unknown
        done.usage[row.purpose, "in"] += row.input_tokens
        done.usage[row.purpose, "out"] += row.output_tokens
    for one in memory.diagnostics(limit=1000).rows:
        done.outcomes[one.outcome] += 1
        done.reasons.update(one.reasons)


def chain(home: Path, session_id: str) -> list[tuple[object, ...]]:
    """Each summary of a session, checked against the file alone: no code of memnb is asked.

    A row: the number of the summary, how many records it covers, how many newly, whether it names
    the summary before it by its digest, whether it covers all that one covers, whether what it
    covers are all messages and answers before its cutoff, and whether that text is still there.
    """
    (path,) = home.rglob(f"{session_id}.jsonl")
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    digests = {one["head"]["seq"] - 1: one["head"]["prev"] for one in records}
    rows: list[tuple[object, ...]] = []
    before: set[int] = set()
    last: int | None = None
    for record in records:
        if record["head"]["type"] != "compact":
            continue
        body = record["body"]
        covered = {
            seq
            for ref in body["evidence"]
            for first, end in ref["ranges"]
            for seq in range(first, end + 1)
        }
        said = {
            one["head"]["seq"]
            for one in records
            if one["head"]["type"] in ("user", "assistant", "tool")
            and one["head"]["seq"] < body["cutoff"]
        }
        prior = body["prior"]
        names = prior is None if last is None else prior["seq"] == last
        digest_holds = prior is None or digests[prior["seq"]] == prior["digest"]
        is_there = all(records[seq - 1]["body"] is not None for seq in covered)
        rows.append(
            (
                len(rows) + 1,
                len(covered),
                len(covered - before),
                _yes(names and digest_holds),
                _yes(before <= covered),
                _yes(said <= covered),
                _yes(is_there),
            )
        )
        before, last = covered, record["head"]["seq"]
    return rows


def _yes(holds: bool) -> str:
    return "yes" if holds else "NO"
