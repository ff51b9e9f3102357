"""A store with many facts, each with its evidence in a session: what the others measure on.

Made in bulk: sessions are written without an fsync for each record, facts in large commits. What
is read afterwards is what a store holds that grew by talk.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import memnb
from memnb.core import ids, records
from memnb.core.bodies import (
    AssistantBody,
    Part,
    SessionStartBody,
    ToolBody,
    TurnEndBody,
    UserBody,
    session_end_draft,
)
from memnb.core.facts import Kind, Quote, Revision, Source, SourceRef
from memnb.core.messages import Call, Usage
from memnb.core.records import ChainHead, Draft
from memnb.memory.stores import Stores

FACTS_PER_SESSION = 39  # with five records each, 197 records
_CITED = 4
_OVER = 20  # every so many-th fact holds no more
_COMMIT = 10_000
_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
_WORDS = [
    "revenue",
    "cents",
    "split",
    "train",
    "column",
    "report",
    "total",
    "daily",
    "weekly",
    "chart",
    "table",
    "colour",
    "axis",
    "label",
    "median",
    "sample",
    "holdout",
    "seed",
    "feature",
    "index",
    "currency",
    "region",
    "store",
    "customer",
    "price",
    "margin",
]


@dataclass(frozen=True)
class Place:
    """Folders of one store on the disk that is measured; a child process finds it the same way."""

    folder: Path

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def environ(self) -> dict[str, str]:
        """What a child process needs to find the store, and the same code as ours."""
        return {
            **os.environ,
            "MEMNB_HOME": str(self.folder / "home"),
            "MEMNB_STATE": str(self.folder / "state"),
            "PYTHONPATH": os.pathsep.join(
                [str(Path(memnb.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
            ),
        }

    def open(self, **options: object) -> memnb.Memory:
        """What one kernel holds open of it."""
        os.environ.update(self.environ)
        return memnb.open(self.project, **options)


@contextmanager
def new_place() -> Iterator[Place]:
    """Folders for a store; TMPDIR says on which disk."""
    with TemporaryDirectory(prefix="memnb-benchmark-") as name:
        place = Place(Path(name))
        place.project.mkdir()
        yield place


class FilledStore:
    """The facts of a store that grows by sessions of 197 records, in which 39 facts were said.

    As in a store in use, not all of them hold: every twentieth is over.
    """

    def __init__(self, place: Place, *, n_cited: int = _CITED) -> None:
        """Grow the store of `place`; each fact cites so many records, 4 at most."""
        self.place = place
        self.ids: list[str] = []
        self._n_cited = n_cited
        self._n_sessions = 0
        self._random = random.Random(0)  # noqa: S311
        self._recorded_at = _BEGAN

    def grow(self, n_facts: int) -> None:
        """Add facts until there are so many of ours."""
        with self.place.open() as memory:
            stores = memory.runtime.memory.stores
            stores.ensure()
            while len(self.ids) < n_facts:
                self._commit(stores, min(_COMMIT, n_facts - len(self.ids)))
            stores.facts.scrub()  # or the log would be as long as the database

    def keep(self, facts: Sequence[tuple[str, Kind]]) -> None:
        """Add facts of these texts and kinds, each said in a session; none is over."""
        with self.place.open() as memory:
            stores = memory.runtime.memory.stores
            stores.ensure()
            said, heads = self._say(stores, [text for text, _ in facts])
            self._put(stores, said, heads, [kind for _, kind in facts])

    def some_ids(self, n: int) -> list[str]:
        """Facts from all over the store, the same ones each time."""
        return random.Random(1).sample(self.ids, n)  # noqa: S311

    def _commit(self, stores: Stores, n_facts: int) -> None:
        said, heads = self._say(stores, [self._text() for _ in range(n_facts)])
        self._put(stores, said, heads, ["convention"] * n_facts, some_are_over=True)

    def _say(
        self, stores: Stores, texts: list[str]
    ) -> tuple[list[tuple[str, Source]], list[ChainHead]]:
        """Write sessions in which these texts were said; gives each with its evidence."""
        said: list[tuple[str, Source]] = []
        heads: list[ChainHead] = []
        while len(said) < len(texts):
            some = texts[len(said) : len(said) + FACTS_PER_SESSION]
            more, head = self._session(stores, some)
            said += more
            heads.append(head)
        return said, heads

    def _put(
        self,
        stores: Stores,
        said: list[tuple[str, Source]],
        heads: list[ChainHead],
        kinds: Sequence[Kind],
        *,
        some_are_over: bool = False,
    ) -> None:
        with stores.facts.transaction(now=stores.now()) as change:
            for (text, source), kind in zip(said, kinds, strict=True):
                self._recorded_at += timedelta(seconds=30)
                ended = ids.stamp(self._recorded_at + timedelta(days=9))
                is_over = some_are_over and len(self.ids) % _OVER == _OVER - 1
                revision = Revision(
                    fact_id=stores.new_fact_id(change.is_free),
                    revision=1,
                    text=text,
                    basis="quote",
                    origin="agent",
                    recorded_at=ids.stamp(self._recorded_at),
                    generation=0,
                    sources=(source,),
                    valid_to=ended if is_over else None,
                )
                mac = stores.revision_mac(kind, "project", revision)
                change.insert_fact(revision.fact_id, "project", kind)
                change.insert_revision(replace(revision, mac=mac))
                self.ids.append(revision.fact_id)
            for head in heads:
                change.set_head(head)

    def talk(self, n_records: int) -> None:
        """Add one session of about so many records in which nothing was said that is a fact."""
        with self.place.open() as memory:
            stores = memory.runtime.memory.stores
            stores.ensure()
            texts = (self._text() for _ in range(n_records // 5))
            self._write_session(stores, _drafts(stores.store_id, texts))

    def _session(
        self, stores: Stores, texts: list[str]
    ) -> tuple[list[tuple[str, Source]], ChainHead]:
        """Write one session in which these texts were said; gives each with its evidence."""
        digests, head = self._write_session(stores, _drafts(stores.store_id, texts))
        said = []
        for number, text in enumerate(texts):
            first = 2 + 5 * number
            seqs = tuple(range(first, first + self._n_cited))
            digest = records.digest(b"".join(digests[seq] for seq in seqs))
            ref = SourceRef(head.session_id, seqs, digest)
            said.append((text, Source(stores.store_id, ref, Quote(first, 0, 0, len(text)))))
        return said, head

    def _write_session(
        self, stores: Stores, drafts: Iterable[Draft]
    ) -> tuple[list[bytes], ChainHead]:
        """Write a session of these; gives the digest of each record's head, by its number."""
        began = _BEGAN + timedelta(minutes=20 * self._n_sessions)
        session_id = ids.session_id(began, self._random.randbytes)
        self._n_sessions += 1
        prev, digests = records.genesis(stores.store_id, session_id), [b""]
        with (stores.notes.folder / "sessions" / f"{session_id}.jsonl").open("wb") as file:
            for seq, draft in enumerate(drafts, 1):
                line, head = records.encode(
                    draft,
                    seq=seq,
                    at=ids.stamp(began + timedelta(seconds=5 * seq)),
                    generation=0,
                    prev=prev,
                    salt=f"{self._random.getrandbits(64):016x}",
                )
                file.write(line)
                prev = records.digest(records.head_bytes(head))
                digests.append(bytes.fromhex(prev))
            return digests, ChainHead(session_id, len(digests) - 1, prev, file.tell())

    def _text(self) -> str:
        words = self._random.choices(_WORDS, k=8)
        return f"Rule {self._random.getrandbits(32):08x}: {' '.join(words)}."


def _drafts(store_id: str, texts: Iterable[str]) -> Iterator[Draft]:
    yield SessionStartBody(store_id, "/checkout", "/checkout", "kernel", {}).draft()
    for number, text in enumerate(texts):
        turn = 2 + 5 * number
        call = Call("c1", "read_file", '{"path":"nb/eda.ipynb"}')
        usage = Usage(812, 31, 0)
        yield UserBody("agent", (Part("typed", text),)).draft()
        yield AssistantBody("", (call,), (), "scripted", {}, "calls", usage).draft(turn)
        yield ToolBody("c1", "read_file", True, "cell 1\n" + "x = 1\n" * 30, "file").draft(turn)
        yield AssistantBody("I will keep to that.", (), (), "scripted", {}, "end", usage).draft(
            turn
        )
        yield TurnEndBody("complete", 2).draft(turn)
    yield session_end_draft("close")
