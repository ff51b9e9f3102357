"""A project's memory with real files and a clock that counts, and turns of an agent upon it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import Popen
from typing import Any, Protocol

from memnb.agent.ask import Ask
from memnb.agent.own_tools import as_tool
from memnb.agent.reply import Answer, TurnEvent
from memnb.agent.tools import Change, Tool
from memnb.agent.turn import Turn
from memnb.core.bodies import Part, SessionStartBody
from memnb.core.messages import Cancel, Event, Message, Model, Request, Stop, Text, Usage
from memnb.core.records import Record
from memnb.core.token_estimates import Calibration
from memnb.llm.scripted_model import ScriptedModel
from memnb.memory import context, forgetting, stating
from memnb.memory.context import Limits
from memnb.memory.forgetting import Forgot
from memnb.memory.history import Histories
from memnb.memory.live_session import LiveSession
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.remembering import Kept
from memnb.memory.stating import Said
from memnb.memory.stores import Stores
from memnb.memory.summaries import Summaries
from memnb.memory.use import Ranks
from memnb.memory.validation import Validator
from memnb.storage.anchor import Anchor, anchor_file
from memnb.storage.database import Database
from memnb.storage.fact_store import FactStore
from memnb.storage.locks import FileLock
from memnb.storage.note_store import NoteStore
from memnb.storage.sealing import Sealer
from memnb.storage.search_index import SearchIndex
from memnb.storage.session_store import SessionStore

TESTS = Path(__file__).parent
STORE_ID = "P-0123456789abcdef"
KEY = bytes(range(32))
FENCE = "data-0badcafe"
EUR = "We always report revenue in EUR cents."
SPLIT = "The train split ends on 2026-03-31."
SECRET = "ghp_" + "Zt4Q8vXn2LsRb7KdYw9HcPm3FgJ6aE1uTi5o"  # of no account


class Children(Protocol):
    """What the fixture `children` gives: Python processes that end with the test."""

    def start(self, code: str, *arguments: object, **options: Any) -> Popen[str]: ...

    def run(self, code: str, *arguments: object, prefix: tuple[str, ...] = ()) -> str: ...


def sealer_of(folder: Path, store_id: str = STORE_ID, key: bytes = KEY) -> Sealer:
    """Seals the fact database in `folder`; its anchor is beside the folder."""
    path = anchor_file(folder.with_name(f"{folder.name}-state"), store_id)
    anchor = Anchor(lambda: path, lambda: store_id, lambda: key)
    return Sealer(lambda: key, lambda: store_id, anchor)


class Clock:
    """The present: one second later at every look, or as it is set."""

    def __init__(self, at: datetime = datetime(2026, 11, 30, 9, tzinfo=UTC)) -> None:
        self.at = at

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


@dataclass
class Desk:
    """What one kernel holds open of a project; `beside` opens it a second time."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    label: str = "eda.ipynb"
    wait_ms: int = 2000

    def __post_init__(self) -> None:
        lock = FileLock(self.folder / "store.lock", label=self.label)
        sealer = sealer_of(self.folder)
        path = self.folder / "facts.sqlite3"
        self.database = Database(path, lock, sealer, wait_ms=lambda: self.wait_ms)
        facts = FactStore(self.database, lambda: STORE_ID, lambda: KEY)
        sessions = SessionStore(
            self.folder / "sessions", lambda: STORE_ID, label=self.label, clock=self._stamp
        )
        self.stores = Stores(
            facts=facts,
            sessions=sessions,
            notes=NoteStore(self.folder, label=self.label),
            ensure=lambda: (self.folder / "sessions").mkdir(parents=True, exist_ok=True),
            load_key=lambda: KEY,
            clock=self.clock,
            random_bytes=os.urandom,
        )
        histories = Histories(sessions, facts)
        session = LiveSession(self.stores, histories, self._start)
        index = SearchIndex(
            self.folder, label=self.label, store_id=lambda: STORE_ID, ensure=self.stores.ensure
        )
        self.memory = ProjectMemory(
            stores=self.stores,
            histories=histories,
            validator=Validator(histories),
            session=session,
            summaries=Summaries(histories),
            ranks=Ranks(facts, index, lambda: session.session_id),
            index=index,
        )
        self.calibration = Calibration()
        self.changes: list[Change] = []
        self.events: list[TurnEvent] = []
        self.answer: bool | BaseException | Callable[[Change], bool] | None = True

    def beside(self, label: str = "other.ipynb") -> Desk:
        """Another kernel on the same project."""
        return Desk(self.folder, self.clock, label)

    def close(self) -> None:
        """Let go of everything, as a kernel does that ends."""
        self.memory.session.abandon()
        if self.memory.index is not None:
            self.memory.index.close()
        self.stores.notes.close()
        self.database.close()

    @property
    def session_id(self) -> str:
        """The live session."""
        assert self.memory.session.session_id is not None
        return self.memory.session.session_id

    # What a person does

    def remember(self, text: str, **options: Any) -> Kept:
        """A person's statement."""
        return stating.remember(self.memory, text, Said(text), **options)

    def correct(self, fact_id: str, text: str, revision: int = 1) -> Kept:
        """A person's correction."""
        return stating.correct(self.memory, fact_id, text, Said(text), expected_revision=revision)

    def forget(self, fact_id: str) -> Forgot:
        """A person's forget, with the bytes scrubbed."""
        forgot = forgetting.forget(self.stores, fact_id)
        assert self.stores.facts.scrub()
        return forgot

    def turn(self, text: str | Sequence[Part], model: Model, **options: Any) -> Turn:
        """A turn that is yet to be run; `tools` may be functions."""
        parts = (Part("typed", text),) if isinstance(text, str) else tuple(text)
        options["tools"] = tuple(map(as_tool, options.get("tools", ())))
        return Turn(
            self.memory,
            Ask(parts, model, **options),
            observe=self.events.append,
            approve=self._approve,
            fence=FENCE,
            seconds=lambda: 0.0,
            in_tool_call=contextlib.nullcontext,
            calibration=self.calibration,
        )

    def ask(self, text: str | Sequence[Part], model: Model, **options: Any) -> Answer:
        """A whole turn; what asks for approval is in `changes`, and gets `answer`."""
        return self.turn(text, model, **options).run()

    def learn(self, text: str, kind: str = "convention") -> str:
        """A fact that the model saved from a message of this session; gives its id."""
        model = scripted(("memory_remember", {"text": text, "kind": kind}), "Noted.")
        (reference,) = self.ask(text, model, mode="auto").remembered
        return reference.partition("@")[0]

    # What can be seen

    def section(self, limits: Limits | None = None) -> str:
        """The memory section that a request would carry."""
        return self.carried(limits)[0]

    def carried(self, limits: Limits | None = None) -> tuple[str, tuple[str, ...]]:
        """The memory section and the references of the facts in it."""
        memory = self.memory
        built, _ = context.memory_section(
            memory.stores, memory.validator, limits or Limits(), fence=FENCE, ranks=memory.ranks
        )
        return built.text, built.carried

    def status(self, fact_id: str) -> str:
        """The status of a fact's evidence."""
        return self.memory.validator.statuses(self.stores.facts.facts([fact_id]))[0]

    def records(self, session_id: str | None = None) -> list[Record]:
        """All records of a session, as they are on the disk."""
        reader = self.stores.sessions.reader(session_id or self.session_id)
        found = reader.records(range(1, reader.last_seq + 1)).values()
        return [record for record in found if record is not None]

    def types(self, session_id: str | None = None) -> list[str]:
        """The types of all records of a session."""
        return [record.head.type for record in self.records(session_id)]

    def bodies(self, type_: str, session_id: str | None = None) -> list[dict[str, Any]]:
        """The bodies of all records of one type."""
        return [r.body or {} for r in self.records(session_id) if r.head.type == type_]

    def transcript(self) -> str:
        """Everything that the files of all sessions hold."""
        files = sorted((self.folder / "sessions").glob("*.jsonl"))
        return "".join(file.read_text(encoding="utf-8") for file in files)

    def database_bytes(self) -> bytes:
        """What the files of the database hold. Only for when nothing has it open any more."""
        return b"".join(file.read_bytes() for file in sorted(self.folder.glob("facts.sqlite3*")))

    def _stamp(self) -> str:
        return self.stores.now()

    def _start(self) -> SessionStartBody:
        return SessionStartBody(STORE_ID, "/checkout", "/checkout", "kernel", {"memnb": "test"})

    def _approve(self, change: Change) -> bool | None:
        self.changes.append(change)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(change) if callable(self.answer) else self.answer


class BareModel:
    """A model that streams these events, or raises them, whatever it is asked."""

    name = "bare"
    capabilities = frozenset({"tools"})

    def __init__(self, *events: Event | BaseException, context_tokens: int | None = None) -> None:
        self.context_tokens = context_tokens
        self.requests: list[Request] = []
        self._events = events

    def stream(self, request: Request, cancel: Cancel) -> Iterator[Event]:
        del cancel
        self.requests.append(request)
        for event in self._events:
            if isinstance(event, BaseException):
                raise event
            yield event

    def close(self) -> None:
        """Nothing is held open."""


def saying(text: str) -> BareModel:
    """A model that says this in one piece."""
    return BareModel(Text(text), Usage(1, 1, 0), Stop("end"))


def scripted(*replies: Any, **options: Any) -> ScriptedModel:
    """A model that says texts, and calls tools where a pair of name and arguments stands."""
    from memnb.llm.scripted_model import ScriptedReply

    def reply(value: Any) -> Any:
        is_call = isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)
        return ScriptedReply(calls=(value,)) if is_call else value

    return ScriptedModel([reply(value) for value in replies], **{"context_tokens": None, **options})


def said(request: Request) -> str:
    """All that a request shows a model of the conversation."""
    return "\n".join(map(_shown, request.messages))


def everything(request: Request) -> str:
    """All that a request shows a model."""
    return f"{request.guidance}\n{request.memory}\n{said(request)}\n{list(request.sentences)}"


def tool_results(request: Request) -> list[str]:
    """What a request shows of tool results, in order."""
    return [message.text for message in request.messages if message.role == "tool"]


def plain_tools(*functions: Callable[..., Any] | Tool) -> Iterable[Tool]:
    """Functions as tools."""
    return map(as_tool, functions)


def _shown(message: Message) -> str:
    calls = "".join(f" {call.name}({call.arguments})" for call in message.calls)
    return f"{message.role}: {message.text}{calls}"
