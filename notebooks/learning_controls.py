"""The controls of `learning.ipynb`: what a person does to what was learned, and what goes wrong.

Each is a small story in a project of its own; what must come of it is written beside what did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import memnb
from learning_protocol import temporary
from learning_script import claim
from learning_tables import Figures
from memnb import ScriptedModel, ScriptedReply
from memnb.api.memory import Memory
from memnb.core.bodies import NO_CELL, Cell
from memnb.core.messages import Request
from memnb.errors import ModelTimeout
from memnb.llm.cancelling import CancelSwitch

__all__ = ["Control", "controls", "table"]

WEEK: Final = "The week starts on Sunday in every table of this project."
MONDAY: Final = "The week starts on Monday in every table of this project."
MISSING: Final = "Missing answers are coded as -9 in all our surveys."
FIGURES: Final = "Figures go to reports/figures, data never leaves data/."


@dataclass(frozen=True, slots=True)
class Control:
    """What was done, what must come of it, and what did."""

    done: str
    must: str
    came: str


@dataclass(slots=True)
class Story:
    """One project of a control; `find` is the scripted extractor."""

    folder: Path
    find: Callable[[Request], object] = field(
        default_factory=lambda: quoting(WEEK, MISSING, FIGURES)
    )
    model: ScriptedModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel([self._reply], repeat_last=True)
        (self.folder / "project").mkdir(parents=True)

    def open(self) -> Memory:
        """A kernel of its own, and a session."""
        memory = memnb.open(self.folder / "project", home=self.folder / "home", model=self.model)
        memory.learn("auto")
        return memory

    def learned(self, *texts: str) -> str:
        """Say these in one session and look; gives the id of what was learned, if one was."""
        with self.open() as memory:
            for text in texts:
                say(memory, text)
            return "".join(memory.populate().learned)

    def _reply(self, request: Request) -> ScriptedReply:
        if '{"candidates":' not in request.guidance:
            return ScriptedReply("Done.")
        found = self.find(request)
        if isinstance(found, BaseException):
            raise found
        return found if isinstance(found, ScriptedReply) else ScriptedReply(str(found))


def say(memory: Memory, text: str, cell: Cell = NO_CELL) -> int:
    """A message that a person typed; gives its number."""
    seq = memory.ask(text, via="agent", cell=cell).answer.message_seq
    assert seq is not None  # noqa: S101  # everything here is recorded
    return seq


def quoting(*texts: str, conflicts: tuple[str, ...] = ()) -> Callable[[Request], str]:
    """An extractor that proposes these wherever a person's message holds one."""

    def find(request: Request) -> str:
        claims: list[Mapping[str, object]] = []
        for line in request.messages[0].text.splitlines():
            said = json.loads(line) if line.startswith('{"seq"') else {}
            if said.get("who") != "person":
                continue
            claims += [
                claim(text, said["seq"], conflicts=conflicts)
                for text in texts
                if text in said["text"]
            ]
        return json.dumps({"candidates": claims})

    return find


def controls() -> list[Control]:
    """All stories, told."""
    found: list[Control] = []
    for number, tell in enumerate(_STORIES):
        with temporary() as folder:
            found += tell(folder / str(number))
    return found


def table(found: list[Control]) -> Figures:
    """What was done, what had to come of it, and what did."""
    n_held = sum(one.must == one.came for one in found)
    rows = [
        (one.done, one.must, one.came if one.came != one.must else "as it must") for one in found
    ]
    return Figures.of(
        f"controls: {n_held} of {len(found)} came as they must", ("done", "must be", "came"), rows
    )


def _facts(memory: Memory) -> str:
    rows = memory.facts(all=True).rows
    valid = [row for row in rows if row.status == "valid"]
    return f"{len(valid)} valid of {len(rows)}"


def _why(memory: Memory) -> str:
    newest = memory.diagnostics().rows[0]
    return ", ".join([newest.outcome, *(f"{reason} {n}" for reason, n in newest.reasons.items())])


def _carried(story: Story, memory: Memory) -> str:
    """Whether a request carries anything that was learned."""
    say(memory, "What do you know?")
    return "in the prompt" if "[F-" in story.model.requests[-1].memory else "not in the prompt"


def _forget(folder: Path) -> Iterator[Control]:
    story = Story(folder)
    fact_id = story.learned(f"{WEEK} Group by week.")
    with story.open() as memory:
        memory.forget(fact_id)
        yield Control("a learned fact is forgotten", "not in the prompt", _carried(story, memory))
    story.learned(f"As I said: group again. {WEEK}")
    with story.open() as memory:
        seen = f"{_facts(memory)}, {_why(memory)}"
        yield Control("… and said again", "0 valid of 0, rejected, forgotten 1", seen)


def _undo(folder: Path) -> Iterator[Control]:
    story = Story(folder)
    with story.open() as memory:
        say(memory, "Which columns are there?")
        say(memory, f"{MISSING} How many are there?")
        (fact_id,) = memory.populate().learned
        memory.undo()
        hidden = memory.recall(fact_id).status
        yield Control("its message is undone", "hidden", hidden)
        memory.redo()
        yield Control("… and redone", "valid", memory.recall(fact_id).status)
        memory.clear()
        yield Control("the context is cleared", "valid", memory.recall(fact_id).status)


def _correct(folder: Path) -> Iterator[Control]:
    story = Story(folder)
    fact_id = story.learned(WEEK)
    with story.open() as memory:
        memory.correct(fact_id, MONDAY, revision=1)
        yield Control("it is corrected", MONDAY, memory.facts().rows[0].text)
    story.learned(f"{WEEK} Isn't that so?")
    with story.open() as memory:
        texts = " / ".join(row.text for row in memory.facts(all=True).rows)
        yield Control("… and the old wording is said again", MONDAY, texts)


def _contradict(folder: Path) -> Iterator[Control]:
    story = Story(folder, quoting(WEEK))
    fact_id = story.learned(WEEK)
    story.find = quoting(MONDAY, conflicts=(f"{fact_id}@1",))
    story.learned(MONDAY)
    with story.open() as memory:
        (waiting,) = memory.review().rows
        seen = f"{_facts(memory)}, {len(memory.review().rows)} waits"
        yield Control("the opposite is said, and found", "1 valid of 1, 1 waits", seen)
        kept = memory.apply(waiting.candidate_id)
        n_disputes = len(memory.conflicts().rows)
        yield Control("… and applied", "1 dispute", f"{n_disputes} dispute")
        memory.confirm(kept.fact_id)
        texts = " / ".join(row.text for row in memory.facts().rows)
        yield Control("… and confirmed", MONDAY, texts)


def _delete(folder: Path) -> Iterator[Control]:
    story = Story(folder)
    fact_id = story.learned(f"{FIGURES} Store it.")
    with story.open() as memory:
        (source,) = memory.fact(fact_id).revisions[0].sources
        before = f"{memory.recall(fact_id).status}, {_carried(story, memory)}"
    (first,) = (folder / "home").rglob(f"{source.where.partition(':')[0]}.jsonl")
    text = first.read_bytes()
    yield Control("before its session file is deleted", "valid, in the prompt", before)
    first.unlink()
    with story.open() as memory:
        recalled = memory.recall(fact_id)
        seen = f"{recalled.status}, {_carried(story, memory)}"
        if recalled.page.source_text or recalled.page.text:
            seen += ", with its text"
        yield Control("… after", "missing, not in the prompt", seen)
    first.write_bytes(text.replace(b"reports", b"rapport"))
    with story.open() as memory:
        seen = f"{memory.recall(fact_id).status}, {_carried(story, memory)}"
        yield Control("… with a word changed", "stale, not in the prompt", seen)
    first.write_bytes(text)
    with story.open() as memory:
        yield Control("… as it was", "valid", memory.recall(fact_id).status)


def _run_all(folder: Path) -> Iterator[Control]:
    story = Story(folder)
    said = [f"{WEEK} Group by week.", "Plot it.", f"{MISSING} Count them.", f"{FIGURES} Store it."]
    seen = []
    for _ in range(3):
        with story.open() as memory:
            for count, text in enumerate(said, 1):
                turn = say(memory, text, Cell("eda.ipynb", f"cell-{count}", count))
                memory.learn_after(turn, CancelSwitch())
            memory.populate()
            n_promoted = sum(row.trigger == "promotion" for row in memory.diagnostics().rows)
            seen.append(
                f"{_facts(memory)}, {n_promoted} promoted, {len(memory.review().rows)} wait"
            )
    must = "3 valid of 3, 0 promoted, 0 wait"
    yield Control("Run All of a notebook full of statements", must, seen[0])
    yield Control("… twice", must, seen[1])
    yield Control("… and again", must, seen[2])


def _take_back(folder: Path) -> Iterator[Control]:
    story = Story(folder)
    fact_id = story.learned(WEEK)
    with story.open() as memory:
        memory.unapply(fact_id)
        yield Control("it is taken back in review", "0 valid of 0", _facts(memory))
    story.learned(f"{WEEK} Again, please.")
    with story.open() as memory:
        yield Control("… and said again", "0 valid of 0", _facts(memory))


def _fail(folder: Path) -> Iterator[Control]:
    for number, (what, reply, reason) in enumerate(_FAILURES):
        story = Story(folder / str(number), lambda _, given=reply: given)  # type: ignore[misc]
        with story.open() as memory:
            say(memory, f"{WEEK} Group by week.")
            memory.populate()
            seen = f"{_facts(memory)}, {_why(memory)}"
            yield Control(f"the extractor {what}", f"0 valid of 0, {reason}", seen)
            story.find = quoting(WEEK)
            memory.populate()
            yield Control("… and is asked again", "1 valid of 1", _facts(memory))


_FAILURES: Final[tuple[tuple[str, object, str], ...]] = (
    ("answers in prose", "I would keep the first one.", "failed, invalid_json 1"),
    ("names a key twice", '{"candidates": [], "candidates": []}', "failed, invalid_json 1"),
    ("is cut off", ScriptedReply('{"candid', stop="length"), "failed, incomplete_response 1"),
    ("times out", ModelTimeout("no answer in time."), "failed, extraction_error 1"),
    (
        "calls a tool",
        ScriptedReply(calls=(("memory_remember", {"text": WEEK}),)),
        "failed, unexpected_tool_calls 1",
    ),
)


def _meanwhile(folder: Path) -> Iterator[Control]:
    story = Story(folder, quoting(WEEK))
    fact_id = story.learned(WEEK)
    with story.open() as memory:
        say(memory, f"{MISSING} How many?")

        def forgetful(request: Request) -> str:
            memory.forget(fact_id)
            return quoting(MISSING)(request)

        story.find = forgetful
        memory.populate()
        seen = f"{_facts(memory)}, {_why(memory)}"
        must = "0 valid of 0, stale, stale_context 1"
        yield Control("something is forgotten while the extractor answers", must, seen)
        story.find = quoting(MISSING)
        memory.populate()
        yield Control("… and is asked again", "1 valid of 1", _facts(memory))


def _cancel(folder: Path) -> Iterator[Control]:
    story = Story(folder)
    cancel = CancelSwitch()

    def interrupted(request: Request) -> str:
        cancel.request()
        return quoting(WEEK)(request)

    story.find = interrupted
    with story.open() as memory:
        turn = say(memory, f"{WEEK} Group by week.")
        memory.learn_after(turn, cancel, compacted=True)
        yield Control("a look is stopped", "0 valid of 0", _facts(memory))
        story.find = quoting(WEEK)
        memory.learn_after(turn, CancelSwitch(), compacted=True)
        yield Control("… and comes again", "1 valid of 1", _facts(memory))


_STORIES: Final[tuple[Callable[[Path], Iterator[Control]], ...]] = (
    _forget,
    _undo,
    _correct,
    _contradict,
    _delete,
    _run_all,
    _take_back,
    _fail,
    _meanwhile,
    _cancel,
)
