"""One long session, written without an fsync for each record: what others measure on."""

from __future__ import annotations

import random
from collections.abc import Iterator

from filled_store import Place
from memnb.core import records
from memnb.core.bodies import (
    AssistantBody,
    Part,
    SessionStartBody,
    ToolBody,
    TurnEndBody,
    UserBody,
    redo_draft,
    undo_draft,
)
from memnb.core.messages import Call, Usage
from memnb.core.records import Draft

SESSION_ID = "S-20261130-000000-000000"
STAMP = "2026-11-30T09:10:05.123456Z"
WORDS = ("revenue", "cents", "split", "train", "column", "report", "always", "the", "of", "naïve")


class LongSession:
    """A session of one store that grows by exchanges, of about 1.2 KB a record."""

    def __init__(self, place: Place) -> None:
        with place.open() as memory:
            stores = memory.runtime.memory.stores
            stores.ensure()
            self.store_id = stores.store_id
            self.path = memory.runtime.project.folder / "sessions" / f"{SESSION_ID}.jsonl"
        self.n_records = 0
        self._prev = records.genesis(self.store_id, SESSION_ID)
        self._random = random.Random(0)  # noqa: S311
        self._drafts = self._endless()

    @property
    def megabytes(self) -> float:
        """The size of its file."""
        return self.path.stat().st_size / 1e6

    def grow(self, n_records: int) -> None:
        """Append this many records, the next of an endless conversation."""
        with self.path.open("ab") as file:
            for _ in range(n_records):
                self.n_records += 1
                line, _ = records.encode(
                    next(self._drafts),
                    seq=self.n_records,
                    at=STAMP,
                    generation=self.n_records // 20_000,
                    prev=self._prev,
                    salt=f"{self._random.getrandbits(64):016x}",
                )
                self._prev = records.digest(records.split(line.rstrip())[1])
                file.write(line)
        self.path.chmod(0o600)

    def _endless(self) -> Iterator[Draft]:
        yield SessionStartBody(self.store_id, "/checkout", "/checkout", "kernel", {}).draft()
        while True:
            turn = self.n_records
            yield UserBody("agent", (Part("typed", self._text(700)),)).draft()
            carried = tuple(f"F-{number:06}@1" for number in range(20 + turn // 10_000))
            calls = (Call("c1", "read_file", '{"path":"nb/eda.ipynb"}'),)
            usage = Usage(812, 31, 0)
            model, params = "local/model", {"temperature": "0"}
            yield AssistantBody("", calls, carried, model, params, "calls", usage).draft(turn)
            yield ToolBody("c1", "read_file", True, self._text(2200), "file").draft(turn)
            text = self._text(500)
            yield AssistantBody(text, (), carried, model, params, "end", usage).draft(turn)
            yield TurnEndBody("complete", 2, carried[:1]).draft(turn)
            if turn % 50 == 2:
                yield UserBody("command", (Part("typed", self._text(60)),), asks=False).draft()
            if turn % 97 == 2:
                yield undo_draft(turn)
                yield redo_draft(turn)

    def _text(self, n_characters: int) -> str:
        words = self._random.choices(WORDS, k=n_characters // 5)
        return " ".join(words)[:n_characters]
