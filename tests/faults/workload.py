"""A kernel at work on a real store, through the public API, saying what was acknowledged.

What it does is random by its seed. Every text is made only once, so that what is found on the disk
tells by whom and when it was written.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import memnb
from faults.ledger import Line
from memnb.errors import InputError, MemnbError, UnknownId

Say = Callable[[Line], None]

LOG: Final = "log"
"""A note to which every kernel appends lines."""
PAGE: Final = "page"
"""A note that every kernel replaces by its own."""

_MANY_FACTS: Final = 12
_LONG: Final = 3000


@dataclass(frozen=True)
class Place:
    """A folder with everything of one store: memnb's home and state, and a project."""

    folder: Path

    def make(self) -> None:
        """Make the project; memnb makes its own folders."""
        self.project.mkdir(parents=True, exist_ok=True)

    def open(self, model: Any = None, **options: Any) -> memnb.Memory:
        """The memory of the project, as a kernel opens it."""
        os.environ["MEMNB_HOME"], os.environ["MEMNB_STATE"] = str(self.home), str(self.state)
        model = model or memnb.ScriptedModel(["I see."], repeat_last=True)
        return memnb.open(self.project, model=model, **options)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def project(self) -> Path:
        return self.folder / "churn-model"

    @property
    def store(self) -> Path:
        """The folder of the project's memory."""
        (folder,) = (self.home / "projects").iterdir()
        return folder

    @property
    def database(self) -> Path:
        return self.store / "facts.sqlite3"

    @property
    def sessions(self) -> list[Path]:
        return sorted((self.store / "sessions").glob("S-*.jsonl"))


class Worker:
    """One kernel at work."""

    def __init__(self, place: Place, *, name: str, seed: int, say: Say) -> None:
        """Work at `place` as the kernel `name`, a word that no other kernel of the store has."""
        self.name = name
        self.say = say
        self._random = random.Random(seed)  # noqa: S311
        self._n_texts = self._n_pages = 0
        self._quote = self._forgets = ""
        model = memnb.ScriptedModel([self._reply], repeat_last=True)
        self.memory = place.open(model)

    def work(
        self, n_operations: int | None = None, *, ready: Callable[[], None] | None = None
    ) -> None:
        """Do so many operations, for ever when None; first call `ready`, with memory open."""
        self.say({"did": "open"})
        if ready is not None:
            ready()
        self.attempt(self.resume)
        while n_operations is None or n_operations > 0:
            self.attempt(self._random.choices(_OPERATIONS, _WEIGHTS)[0].__get__(self))
            n_operations = None if n_operations is None else n_operations - 1

    def attempt(self, operation: Callable[[], None]) -> None:
        """Do one operation; an error of memnb's is told and the work goes on, as people do."""
        try:
            operation()
        except MemnbError as error:
            self.say(refusal(error))

    # What is said

    def ask(self) -> None:
        """A plain turn."""
        self._asked(self._text() + "é" * self._random.randrange(_LONG))

    def learn(self) -> None:
        """A turn in which the model saves a sentence of the person."""
        self._quote = text = self._text()
        answer = self._asked(f"Mind this. {text} And go on.")
        for reference in answer.remembered:
            fact_id, _, revision = reference.partition("@")
            self.say({"did": "remember", "fact": fact_id, "revision": int(revision), "text": text})

    def undo(self) -> None:
        """Hide the last exchange, with what was learned from it."""
        self.memory.undo()
        self._recorded("undo")

    def redo(self) -> None:
        """Show it again."""
        self.memory.redo()
        self._recorded("redo")

    def clear(self) -> None:
        """Empty the working context."""
        if self.memory.status().session_id is not None:
            self.memory.clear()
            self._recorded("clear")

    def compact(self) -> None:
        """Summarise what was said, after having said enough for it."""
        for _ in range(3):
            self.ask()
        self.memory.compact()
        self._recorded("compact")

    def handoff(self) -> None:
        """Go on in another session, from a summary."""
        self.ask()
        done = self.memory.handoff()
        self.say({"did": "record", "session": done.ended, "type": "session_end"})
        self._recorded("handoff")

    def new(self) -> None:
        """End the session."""
        session = self.memory.new()
        if session:
            self.say({"did": "record", "session": session, "type": "session_end"})

    def resume(self) -> None:
        """Go on in a session that a dead kernel left; half of the times."""
        rows = [row for row in self.memory.sessions(limit=9).rows if not row.is_open]
        if rows and self._random.random() < 0.5:
            self.memory.resume(self._random.choice(rows[:2]).session_id)

    # Facts

    def remember(self) -> None:
        """State a fact."""
        text = self._text()
        kept = self.memory.remember(text)
        self.say({"did": "remember", "fact": kept.fact_id, "revision": kept.revision, "text": text})

    def correct(self) -> None:
        """Correct any fact of the store, whoever stated it."""
        row = self._any_fact()
        text = self._text()
        self.say({"begins": "correct", "fact": row.fact_id, "text": text})
        kept = self.memory.correct(row.fact_id, text, revision=row.revision)
        self.say({"did": "correct", "fact": row.fact_id, "revision": kept.revision, "text": text})

    def expire(self) -> None:
        """End any fact of the store: a revision that says the same, until now."""
        fact_id = self._any_fact().fact_id
        number = self.memory.expire(fact_id, datetime.now(UTC)).revision  # noqa: TID251
        text = next(r.text for r in self.memory.fact(fact_id).revisions if r.revision == number)
        if text:  # else it isn't valid just now
            self.say({"did": "correct", "fact": fact_id, "revision": number, "text": text})

    def forget(self) -> None:
        """Forget any fact of the store."""
        fact_id = self._any_fact().fact_id
        self.say({"begins": "forget", "fact": fact_id})
        receipt = self.memory.forget(fact_id)
        generation = receipt.generation if receipt.first else None
        self.say({"did": "forget", "fact": fact_id, "generation": generation})

    def let_forget(self) -> None:
        """A turn in which the model forgets a fact, with the person's leave."""
        self._forgets = fact_id = self._any_fact().fact_id
        self.say({"begins": "forget", "fact": fact_id})
        answer = self._asked(self._text())
        if not answer.not_done and self._is_forgotten(fact_id):
            self.say({"did": "forget", "fact": fact_id, "generation": None})

    def thin_out(self) -> None:
        """Forget when there are many facts, so that a store doesn't slow down as it ages."""
        for _ in range(len(self.memory.facts().rows) - _MANY_FACTS):
            self.forget()

    def purge(self) -> None:
        """Blank what was forgotten in the session files."""
        preview = self.memory.purge()
        if preview.token is None:
            return
        records = [(row.session_id, row.seq) for row in preview.rows]
        self.say({"begins": "purge", "records": records})
        failed = self.memory.purge(confirm=preview.token).failed
        blanked = [(session_id, seq) for session_id, seq in records if session_id not in failed]
        self.say({"did": "purge", "records": blanked})

    def search(self) -> None:
        """Search, which brings the search index up to date."""
        self.memory.search(f"rule of kernel {self.name}")
        self.say({"did": "search"})

    def reindex(self) -> None:
        """Build the search index anew."""
        self.memory.doctor(reindex=True)
        self.say({"did": "search"})

    # Notes

    def append(self) -> None:
        """Add a line to the note that all share."""
        line = sealed(self.name, self._next_page(), "y" * self._random.randrange(200))
        self.memory.notes.append(LOG, line)
        self.say({"did": "append", "line": line})

    def replace(self) -> None:
        """Replace the note that all replace."""
        number = self._next_page()
        version = self.memory.notes.read(PAGE).version
        self.say({"begins": "replace", "by": self.name, "number": number})
        text = sealed(self.name, number, "z" * self._random.randrange(20_000))
        self.memory.notes.write(PAGE, text, version=version)
        self.say({"did": "replace", "by": self.name, "number": number})

    def _asked(self, text: str) -> Any:
        answer = self.memory.ask(text, mode="auto", approve=lambda change: True).answer
        if answer.message_seq:  # else it was interrupted before it was recorded
            where = {"session": answer.session_id, "seq": answer.message_seq}
            self.say({"did": "ask", **where, "text": text})
        return answer

    def _reply(self, request: Any) -> Any:
        if request.messages[-1].role == "user":
            if self._quote:
                call, self._quote = ("memory_remember", {"text": self._quote}), ""
                return memnb.ScriptedReply(calls=(call,))
            if self._forgets:
                call, self._forgets = ("memory_forget", {"fact_id": self._forgets}), ""
                return memnb.ScriptedReply(calls=(call,))
        return "I see. " * self._random.randrange(1, 40)

    def _recorded(self, type_: str) -> None:
        session = self.memory.status().session_id
        self.say({"did": "record", "session": session, "type": type_})

    def _any_fact(self) -> Any:
        rows = self.memory.facts().rows
        if not rows:
            raise UnknownId("there is no fact yet.")
        return self._random.choice(rows)

    def _is_forgotten(self, fact_id: str) -> bool:
        return is_forgotten(self.memory, fact_id)

    def _text(self) -> str:
        self._n_texts += 1
        return f"Rule {self._n_texts} of kernel {self.name} holds."

    def _next_page(self) -> int:
        self._n_pages += 1
        return self._n_pages


_WEIGHED: Final[dict[Callable[[Worker], None], int]] = {
    Worker.ask: 20,
    Worker.learn: 10,
    Worker.remember: 20,
    Worker.correct: 12,
    Worker.expire: 2,
    Worker.forget: 8,
    Worker.let_forget: 2,
    Worker.thin_out: 6,
    Worker.purge: 3,
    Worker.append: 12,
    Worker.replace: 12,
    Worker.undo: 3,
    Worker.redo: 2,
    Worker.clear: 2,
    Worker.new: 3,
    Worker.search: 6,
}
_OPERATIONS: Final = list(_WEIGHED)
_WEIGHTS: Final = list(_WEIGHED.values())


def refusal(error: MemnbError) -> Line:
    """What a kernel says of an error of memnb's."""
    return {"refused": type(error).__name__, "message": str(error)}


def is_forgotten(memory: memnb.Memory, fact_id: str) -> bool:
    """Whether a fact is known to have been forgotten; False also when it never was."""
    try:
        memory.fact(fact_id)
    except UnknownId as error:
        return "was forgotten" in str(error)
    except InputError:
        return False
    return False


def sealed(by: str, number: int, payload: str) -> str:
    """A line that tells who wrote it, and whether it is whole."""
    text = f"{by} {number} {payload}"
    return f"{text} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def unsealed(line: str) -> tuple[str, int] | None:
    """Who wrote a line, and as which; None when it isn't whole."""
    text, _, seal = line.rpartition(" ")
    if hashlib.sha256(text.encode()).hexdigest()[:16] != seal:
        return None
    by, number, *_ = text.split(" ")
    return by, int(number)
