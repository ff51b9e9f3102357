"""The script of `learning.ipynb`: what is said in four projects, and a model that plays along."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import memnb
from memnb import ScriptedModel, ScriptedReply
from memnb.core.messages import Request, Usage

__all__ = [
    "CONFIDENCE",
    "WINDOW",
    "Exchange",
    "Scenario",
    "Script",
    "claim",
    "read_page",
    "scenarios",
]

DATA: Final = Path(__file__).parent / "data" / "learning_scenarios.json"
UNKNOWN_EVERY: Final = 10
"""Every tenth reply of the scripted model doesn't say what it took."""

WINDOW: Final = 32_768
CONFIDENCE: Final = 0.95
"""What a scripted extractor says of everything that it proposes."""

MOST_PROPOSED: Final = 4
TOKEN: Final = "ghp_" + "Qm3Vb8LxT2cRn6JdWy5KzPf9HgS1eA4uXo7i"  # of no account


@dataclass(frozen=True, slots=True)
class Exchange:
    """One message of the script, with what is worth keeping in it or only looks like it."""

    text: str
    keep: str = ""
    kind: str = "preference"
    ask: str = ""
    expect: str = ""
    trap: str = ""
    drop: str = ""
    tool: str = ""

    @classmethod
    def of(cls, said: dict[str, str]) -> Exchange:
        """One exchange of the file."""
        values = {key: value.replace("{secret}", TOKEN) for key, value in said.items()}
        return cls(text=values.pop("say"), **values)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One project: its sessions, each a run of exchanges."""

    name: str
    about: str
    sessions: tuple[tuple[Exchange, ...], ...]

    @property
    def exchanges(self) -> list[Exchange]:
        """All of them, in order."""
        return [exchange for session in self.sessions for exchange in session]


def scenarios() -> list[Scenario]:
    """The script."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    return [
        Scenario(
            one["name"],
            one["about"],
            tuple(tuple(map(Exchange.of, session)) for session in one["sessions"]),
        )
        for one in data["scenarios"]
    ]


_page: list[str] = []


@memnb.tool(access="read")
def read_page() -> str:
    """Read the page that the person named."""
    return _page[-1]


def claim(
    text: str, seq: int, kind: str = "convention", conflicts: tuple[str, ...] = ()
) -> Mapping[str, object]:
    """A candidate in the form that a quoting model answers in."""
    return {
        "text": text,
        "source_seqs": [seq],
        "kind": kind,
        "quote": text,
        "conflicts": list(conflicts),
        "proposal": False,
        "confidence": CONFIDENCE,
    }


class Script:
    """A scripted model for one project: it answers, summarises, and proposes whatever it may.

    As an extractor it is eager: it quotes each sentence of the script that is worth keeping, and
    each that only looks like it, also what it was never shown.
    """

    def __init__(self, scenario: Scenario) -> None:
        """Play `scenario`."""
        self.model = ScriptedModel([self._reply], repeat_last=True, context_tokens=WINDOW)
        self.answers_from_memory = False
        self.n_proposed: Counter[str] = Counter()
        self.supplied: list[tuple[str, int]] = []
        self.session_id = ""
        self._marked = [one for one in scenario.exchanges if one.keep or one.drop]
        self._tools = {one.text: one.tool for one in scenario.exchanges if one.tool}

    def _reply(self, request: Request) -> ScriptedReply:
        said = self._said(request)
        usage = Usage(_tokens(_sent(request)), _tokens(said.text), None)
        is_known = len(self.model.requests) % UNKNOWN_EVERY != 0
        return ScriptedReply(said.text, said.calls, usage if is_known else None)

    def _said(self, request: Request) -> ScriptedReply:
        if '{"candidates":' in request.guidance:
            return ScriptedReply(self._extracted(request.messages[0].text))
        if request.guidance.startswith("You write the working summary"):
            return ScriptedReply("The data was read, and questions about it were answered.")
        if self.answers_from_memory:
            facts = [line[2:] for line in request.memory.splitlines() if line.startswith("- ")]
            return ScriptedReply("\n".join(facts) or "I don't know.")
        last = request.messages[-1]
        if last.role == "user" and last.text in self._tools:
            _page.append(self._tools[last.text])
            return ScriptedReply(calls=(("read_page", {}),))
        return ScriptedReply("Done; the result is in the cell below.")

    def _extracted(self, text: str) -> str:
        claims: list[Mapping[str, object]] = []
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        self.supplied += [
            (self.session_id, seq) for one in lines for seq in one.get("exchange", ())
        ]
        for line in lines:
            one = self._of(line["text"]) if line.get("who") == "person" else None
            if one is None or len(claims) == MOST_PROPOSED:
                continue
            quote = one.keep or one.drop
            self.n_proposed[one.trap] += 1
            claims.append(claim(quote, line["seq"], one.kind))
        return json.dumps({"candidates": claims})

    def _of(self, shown: str) -> Exchange | None:
        """The marked exchange that a message as the extractor sees it belongs to."""
        return next(
            (e for e in self._marked if e.text[:16] in shown or e.text[-16:] in shown), None
        )


def _sent(request: Request) -> str:
    said = (message.text for message in request.messages)
    return "".join((request.guidance, request.memory, *said))


def _tokens(text: str) -> int:
    return len(text.encode()) // 4
