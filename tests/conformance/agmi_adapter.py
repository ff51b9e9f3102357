"""memnb behind the adapter of agmi, the Agent Memory Integrity suite: edits of a store at rest.

1. Everything that is genuine is written and read through `memnb.open()`; every reading is a kernel
   of its own.
2. Who attacks has all files of memnb's home and knows the formats: texts get evidence of their own,
   sessions are numbered and chained anew. The key and the anchor lie elsewhere.
3. An edit counts as accepted when everything that lies there afterwards is given out as genuine.

    PYTHONPATH=tests agmi-check --adapter conformance.agmi_adapter:Facts
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

from agmi.adapters.base import MemoryAdapter, Record

import memnb
from conformance.forging import (
    Line,
    database,
    hidden_indexes,
    lose_session_head,
    read_lines,
    write_lines,
)
from memnb.core.bodies import Part, UserBody
from memnb.core.facts import text_key
from memnb.core.records import evidence_digest, record_from_line
from memnb.errors import MemnbError

__all__ = [
    "ADAPTERS",
    "Facts",
    "FactsBehindIndexes",
    "FactsMissedInIndex",
    "Records",
    "RecordsGoneOnWith",
    "RecordsListed",
    "RecordsOfAKilledKernel",
    "RecordsWithHeads",
    "RecordsWithHeadsOutOfOrder",
    "RecordsWithoutFacts",
]

_SEEDED = "agmi-seed-{} is what I prefer."
_OTHER = "agmi-other-{} is what I prefer."
_FORGED = "agmi-forged is what I prefer."
_LIMIT = 8192
_KILLED = """
import os, sys
import memnb
memory = memnb.open(sys.argv[1], model=memnb.ScriptedModel(["Noted."]))
memory.resume(sys.argv[2])
memory.ask(sys.argv[3])
os._exit(0)
"""


class _Store(MemoryAdapter):
    """A home of its own with two projects; the key and the anchors lie beside it."""

    supports_replay = True
    supports_metadata = True
    supports_snapshot = True
    detection_point = "read"

    def setup(self) -> None:
        self._top = Path(tempfile.mkdtemp(prefix="agmi-memnb-"))
        self._before = {name: os.environ.get(name) for name in ("MEMNB_HOME", "MEMNB_STATE")}
        os.environ["MEMNB_HOME"] = str(self._top / "home")
        os.environ["MEMNB_STATE"] = str(self._top / "state")
        self._folders: dict[str, Path] = {}
        self._store_ids: dict[str, str] = {}
        self._n_seeded = 0

    def teardown(self) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(self._top)

    def open(self, project: str) -> memnb.Memory:
        """The memory of a project, as a new kernel has it."""
        checkout = self._top / project
        checkout.mkdir(exist_ok=True)
        model = memnb.ScriptedModel(["Noted."], repeat_last=True)
        memory = memnb.open(checkout, model=model)
        self._folders[project] = memory.project.folder
        self._store_ids[project] = memory.project.store_id
        return memory

    def reload(self) -> None:
        """Nothing is held open between two looks."""

    def verify(self) -> bool:
        self.verify_detail = None
        wanted = Counter(self.payload_of(record) for record in self.read_all_raw())
        try:
            given = self.given_out()
        except MemnbError as error:
            self.verify_detail = f"{type(error).__name__}: {error}"
            return False
        n_missing = (wanted - Counter(given)).total()
        if n_missing:
            self.verify_detail = f"{n_missing} of {wanted.total()} are not given out"
        return not n_missing

    def given_out(self) -> list[str]:
        """The texts that a new kernel gives out as genuine."""
        raise NotImplementedError

    def snapshot_store(self) -> object:
        return shutil.copytree(self._top / "home", self._top / "snapshot")

    def restore_store(self, token: object) -> None:
        self._restore_store(str(token), self._top / "home")

    def owner_of(self, record: Record) -> str:
        return str(record.fields["owner"])

    def payload_of(self, record: Record) -> str:
        return str(record.fields["text"])

    def mutate_payload(self, record: Record) -> Record:
        record.fields["text"] = record.fields["text"].replace("agmi-", "agmi-tampered-")
        return record

    def forge_record(self, template: Record) -> Record:
        return Record(template.seq + 1, {**template.fields, "text": _FORGED})

    def _session_file(self, project: str, session_id: str) -> Path:
        return self._folders[project] / "sessions" / f"{session_id}.jsonl"


# Facts


class Facts(_Store):
    """Entries are the facts of a project; the second context is another project."""

    name = "facts"
    leaves_indexes = False
    """Whether indexes keep what they had when rows are edited."""

    def seed(self, n: int) -> None:
        self._remember("mine", _SEEDED, n)
        self._n_seeded = n

    def seed_other(self, n: int) -> None:
        self._remember("theirs", _OTHER, n)

    def append_genuine(self) -> None:
        with self.open("mine") as memory:
            memory.remember(_SEEDED.format(self._n_seeded))

    def given_out(self) -> list[str]:
        with self.open("mine") as memory:
            return [row.text for row in memory.facts(all=True).rows if row.status == "valid"]

    def read_all_raw(self) -> list[Record]:
        return self._rows("mine")

    def read_other_raw(self) -> list[Record]:
        return self._rows("theirs")

    def identity_of(self, record: Record) -> str:
        return str(record.fields["fact_id"])

    def write_raw(self, record: Record) -> None:
        there = self._rows("mine")
        if record.seq < len(there):
            self._put(there[record.seq].fields["fact_id"], record.fields)
        else:
            self._insert(record.fields)

    def delete_raw(self, seq: int) -> None:
        self._edit("DELETE FROM facts WHERE fact_id=?", self._rows("mine")[seq].fields["fact_id"])

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        self._put(self._rows("mine")[victim_seq].fields["fact_id"], donor.fields)

    def read_meta(self, seq: int) -> dict[str, Any]:
        fields = self._rows("mine")[seq].fields
        return {name: fields[name] for name in ("kind", "origin")}

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        del meta
        fact_id = self._rows("mine")[seq].fields["fact_id"]
        self._edit("UPDATE facts SET kind='decision' WHERE fact_id=?", fact_id)
        self._edit("UPDATE revisions SET origin='agent' WHERE fact_id=?", fact_id)

    def _remember(self, project: str, text: str, n: int) -> None:
        with self.open(project) as memory:
            for number in range(n):
                memory.remember(text.format(number))

    def _rows(self, project: str) -> list[Record]:
        with database(self._folders[project]) as connection:
            cursor = connection.execute(
                "SELECT fact_id, kind, origin, recorded_at, text, hex(mac) AS mac, session_id,"
                " hex(digest) AS digest, quote_seq, quote_part, quote_start, quote_end"
                " FROM facts JOIN revisions USING(fact_id) JOIN sources USING(fact_id, revision)"
                " ORDER BY recorded_at, fact_id"
            )
            names = [column[0] for column in cursor.getdescription()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        return [Record(seq, {"owner": project, **row}) for seq, row in enumerate(rows)]

    def _put(self, fact_id: str, fields: dict[str, Any]) -> None:
        """Give a fact another content, with the evidence for it; its signature stays."""
        fields = self._with_evidence(fields)
        self._edit(
            "UPDATE revisions SET text=?, text_key=? WHERE fact_id=?",
            fields["text"],
            text_key(fields["text"]),
            fact_id,
        )
        self._edit(
            "UPDATE sources SET session_id=?, digest=unhex(?), quote_seq=?, quote_part=?,"
            " quote_start=?, quote_end=? WHERE fact_id=?",
            *self._source(fields),
            fact_id,
        )
        self._edit(
            "UPDATE source_seqs SET session_id=?, seq=? WHERE fact_id=?",
            fields["session_id"],
            fields["quote_seq"],
            fact_id,
        )

    def _insert(self, fields: dict[str, Any]) -> None:
        """Put a fact in, with the evidence for it, signed as well as can be."""
        fields, fact_id = self._with_evidence(fields), "F-f0rged"
        store_id = self._store_ids["mine"]
        self._edit("INSERT INTO facts VALUES(?,'project',?)", fact_id, fields["kind"])
        self._edit(
            "INSERT INTO revisions(fact_id, revision, text, text_key, basis, origin, recorded_at,"
            " generation, mac) VALUES(?,1,?,?,'statement',?,?,0,?)",
            fact_id,
            fields["text"],
            text_key(fields["text"]),
            fields["origin"],
            fields["recorded_at"][:-7] + "999999Z",
            secrets.token_bytes(32),
        )
        self._edit(
            "INSERT INTO sources(session_id, digest, quote_seq, quote_part, quote_start, quote_end,"
            " store_id, fact_id, revision, n) VALUES(?,unhex(?),?,?,?,?,?,?,1,0)",
            *self._source(fields),
            store_id,
            fact_id,
        )
        self._edit(
            "INSERT INTO source_seqs(session_id, seq, fact_id, revision, n) VALUES(?,?,?,1,0)",
            fields["session_id"],
            fields["quote_seq"],
            fact_id,
        )

    def _source(self, fields: dict[str, Any]) -> list[Any]:
        names = ("session_id", "digest", "quote_seq", "quote_part", "quote_start", "quote_end")
        return [fields[name] for name in names]

    def _with_evidence(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields, pointing at a record of this project that says what they say.

        Where a genuine one does they stay; else one is put at the end of a session, fitting the
        chain.
        """
        session_id = self._rows("mine")[0].fields["session_id"]
        file, text = self._session_file("mine", session_id), fields["text"]
        lines = read_lines(file)
        genuine = any(line.type == "user" and line.text == text for line in lines)
        if fields["owner"] == "mine" and genuine:
            return fields
        said = UserBody("api", (Part("typed", text),), asks=False).draft().body
        seq = len(lines) + 1
        body = {**said, "salt": secrets.token_hex(8)}
        lines.append(Line("user", lines[-1].at, 0, body, turn=seq, opens=True))
        write_lines(file, self._store_ids["mine"], lines)
        last = record_from_line(file.read_bytes().splitlines()[-1])
        return {
            **fields,
            "owner": "mine",
            "session_id": session_id,
            "digest": evidence_digest([last]),
            "quote_seq": seq,
            "quote_part": 0,
            "quote_start": 0,
            "quote_end": len(text),
        }

    def _edit(self, sql: str, *arguments: Any) -> None:
        folder = self._folders["mine"]
        hidden: AbstractContextManager[None] = (
            hidden_indexes(folder) if self.leaves_indexes else nullcontext()
        )
        with hidden, database(folder) as connection:
            connection.execute(sql, arguments).fetchall()


class FactsBehindIndexes(Facts):
    """As facts, but the indexes keep what they had."""

    name = "facts, left in the indexes"
    leaves_indexes = True


class FactsMissedInIndex(Facts):
    """As facts, but what is deleted is taken out of the index over times only."""

    name = "facts, taken out of the index over times"

    def delete_raw(self, seq: int) -> None:
        fact_id = self._rows("mine")[seq].fields["fact_id"]
        folder = self._folders["mine"]
        tables = ("facts", "revisions", "sources", "source_seqs")
        with database(folder) as connection:
            kept = {
                table: connection.execute(
                    f"SELECT * FROM {table} WHERE fact_id=?",  # noqa: S608
                    (fact_id,),
                ).fetchall()
                for table in tables
            }
            connection.execute("DELETE FROM facts WHERE fact_id=?", (fact_id,))
        with hidden_indexes(folder, "revisions_by_time"), database(folder) as connection:
            for table, rows in kept.items():
                for row in rows:
                    marks = ",".join("?" * len(row))
                    connection.execute(f"INSERT INTO {table} VALUES({marks})", row)

    def _rows(self, project: str) -> list[Record]:
        """As the index has them: what isn't in it isn't found."""
        with database(self._folders[project]) as connection:
            found = {
                row[0]
                for row in connection.execute(
                    "SELECT fact_id FROM revisions INDEXED BY revisions_by_time"
                    " WHERE revision=1 ORDER BY recorded_at"
                )
            }
        rows = [row for row in super()._rows(project) if row.fields["fact_id"] in found]
        return [Record(seq, row.fields) for seq, row in enumerate(rows)]


# Records


class Records(_Store):
    """Entries are a person's messages in one session; the second context is another session.

    They are read as `%memory read` does. The head of the session that the fact database notes is
    left as it is.
    """

    name = "records, read"
    has_fact = True
    moves_head = False

    def setup(self) -> None:
        super().setup()
        self._sessions: dict[str, str] = {}

    def seed(self, n: int) -> None:
        if self.has_fact:  # without one there is no fact database, and so nothing that is sealed
            with self.open("mine") as memory:
                memory.remember("We report in EUR cents.")
        self._sessions["mine"] = self._converse(_SEEDED, n)
        self._n_seeded = n

    def seed_other(self, n: int) -> None:
        self._sessions["theirs"] = self._converse(_OTHER, n)

    def append_genuine(self) -> None:
        with self.open("mine") as memory:
            memory.resume(self._sessions["mine"])
            memory.ask(_SEEDED.format(self._n_seeded))

    def given_out(self) -> list[str]:
        session_id = self._sessions["mine"]
        with self.open("mine") as memory:
            pages, offset = "", 0
            n_records = len(read_lines(self._file("mine")))
            while True:
                page = memory.read(session_id, 1, n_records, offset=offset, limit=_LIMIT).page
                pages += page.source_text or ""
                if page.next_offset is None:
                    break
                offset = page.next_offset
        found = json.loads(pages or "[]")
        return [_typed(record) for record in found if record["type"] == "user"]

    def read_all_raw(self) -> list[Record]:
        return self._messages("mine")

    def read_other_raw(self) -> list[Record]:
        return self._messages("theirs")

    def identity_of(self, record: Record) -> str:
        return f"{record.fields['owner']}:{record.seq}"

    def write_raw(self, record: Record) -> None:
        lines = read_lines(self._file("mine"))
        slots = [line for line in lines if line.is_message]
        if record.seq < len(slots):
            _say(slots[record.seq], record.fields["text"])
        else:
            lines += _exchange_like(lines, record.fields["text"])
        self._write(lines)

    def delete_raw(self, seq: int) -> None:
        lines = read_lines(self._file("mine"))
        turn = [line for line in lines if line.is_message][seq].turn
        self._write([line for line in lines if line.turn != turn])

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        lines = read_lines(self._file("mine"))
        _say([line for line in lines if line.is_message][victim_seq], donor.fields["text"])
        self._write(lines)

    def read_meta(self, seq: int) -> dict[str, Any]:
        line = [line for line in read_lines(self._file("mine")) if line.is_message][seq]
        return {"at": line.at, "via": line.body["via"]}

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        del meta
        lines = read_lines(self._file("mine"))
        line = [line for line in lines if line.is_message][seq]
        line.at, line.body = "2020-01-01T00:00:00.000000Z", {**line.body, "via": "command"}
        self._write(lines)

    def _converse(self, text: str, n: int) -> str:
        """A session in which a person said this; gives its id."""
        with self.open("mine") as memory:
            for number in range(n):
                memory.ask(text.format(number))
            return str(memory.status().session_id)

    def _file(self, which: str) -> Path:
        return self._session_file("mine", self._sessions[which])

    def _messages(self, which: str) -> list[Record]:
        lines = [line for line in read_lines(self._file(which)) if line.is_message]
        return [
            Record(
                seq,
                {"owner": which, "at": line.at, "via": line.body["via"], "text": line.text},
            )
            for seq, line in enumerate(lines)
        ]

    def _write(self, lines: Sequence[Line]) -> None:
        head = write_lines(self._file("mine"), self._store_ids["mine"], lines)
        if self.moves_head:
            with database(self._folders["mine"]) as connection:
                connection.execute(
                    "UPDATE heads SET seq=?, digest=unhex(?), n_bytes=? WHERE session_id=?",
                    (head.seq, head.digest, head.n_bytes, head.session_id),
                ).fetchall()


class RecordsWithHeads(Records):
    """As records; the noted head of the session is moved along."""

    name = "records, the noted head moved along"
    moves_head = True


class RecordsWithHeadsOutOfOrder(Records):
    """As records; the noted head of the session isn't found any more where it is looked for."""

    name = "records, the noted head out of order"

    def seed(self, n: int) -> None:
        super().seed(n)
        for number in range(4):  # a table of one or two rows has no order
            self._converse(f"Session {number}.", 1)

    def _write(self, lines: Sequence[Line]) -> None:
        super()._write(lines)
        lose_session_head(self._folders["mine"], self._sessions["mine"])


class RecordsWithoutFacts(Records):
    """As records, in a project without a fact database: nothing is sealed or anchored."""

    name = "records of a project without facts"
    has_fact = False


class RecordsListed(Records):
    """As records; read as `%memory session` does."""

    name = "records, listed"

    def given_out(self) -> list[str]:
        with self.open("mine") as memory:
            rows = memory.session(self._sessions["mine"]).rows
            return [row.text for row in rows if row.type == "user" and row.visible]


class RecordsGoneOnWith(Records):
    """As records; read as the model does when a person goes on in the session."""

    name = "records, gone on with"

    def given_out(self) -> list[str]:
        model = memnb.ScriptedModel(["Yes."])
        with self.open("mine") as memory:
            memory.resume(self._sessions["mine"])
            memory.ask("And now?", model=model, private=True)
        return [message.text for message in model.requests[0].messages if message.role == "user"]


class RecordsOfAKilledKernel(Records):
    """As records; what is written last is written by a kernel that gets killed."""

    name = "records of a killed kernel"

    def append_genuine(self) -> None:
        said = (self._sessions["mine"], _SEEDED.format(self._n_seeded))
        subprocess.run([sys.executable, "-c", _KILLED, str(self._top / "mine"), *said], check=True)


ADAPTERS: Final[tuple[type[Facts | Records], ...]] = (
    Facts,
    FactsBehindIndexes,
    FactsMissedInIndex,
    Records,
    RecordsWithHeads,
    RecordsWithHeadsOutOfOrder,
    RecordsListed,
    RecordsGoneOnWith,
    RecordsOfAKilledKernel,
    RecordsWithoutFacts,
)
"""All of them."""


def _typed(record: dict[str, Any]) -> str:
    return "".join(part["text"] for part in record["parts"])


def _say(line: Line, text: str) -> None:
    line.body = {**line.body, "parts": [{**line.body["parts"][0], "text": text}]}


def _exchange_like(lines: Sequence[Line], text: str) -> list[Line]:
    """The last exchange once more, in which the person says something else."""
    last = [line for line in lines if line.is_message][-1]
    turn = len(lines) + 1
    made = [
        Line(line.type, lines[-1].at, line.generation, dict(line.body), turn, line.opens)
        for line in lines
        if line.turn == last.turn
    ]
    _say(made[0], text)
    return made
