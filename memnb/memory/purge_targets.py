"""What a purge is about: the records that are doomed, and the files that hold copies of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from memnb.core.bodies import read_session_start, read_user
from memnb.errors import InputError, MemnbError
from memnb.memory.consequences import GENERATED, Marks, marks_now
from memnb.memory.history import History
from memnb.memory.project_memory import ProjectMemory
from memnb.storage import session_purge
from memnb.storage.kept_files import KeptFiles

__all__ = ["ALL", "Chosen", "Doomed", "Found", "Why", "find", "untouched"]

Why = Literal["forgotten", "void", "holds a secret", "chosen"]
"""Why a record is purged. `void`: the model was shown what was forgotten; `chosen`: by a person."""

ALL: Final = "all"
"""The target of a purge of everything that nobody can see any more."""

_STAYS: Final = frozenset(
    {"session_start", "turn_end", "undo", "redo", "clear", "handoff", "session_end", "damaged"}
)
"""Records that hold nothing of what was said, and decide what of the others can be seen."""

_OUT_OF_REACH: Final = ("IPython's history", "backups and other copies")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The records that a person chose: `start` to `end` of a session, inclusive."""

    session_id: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.session_id}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class Doomed:
    """A record whose body is to be blanked; `digests` are those of its head and of its body."""

    session_id: str
    seq: int
    type: str
    n_bytes: int
    why: Why
    digests: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """What a purge is about: the records, and the marks before and after it."""

    target: str
    generation: int
    records: tuple[Doomed, ...]
    unread: tuple[str, ...]
    before: Marks
    after: Marks

    @property
    def bars_more(self) -> bool:
        """Whether records are purged that could be seen."""
        return any(record.why == "chosen" for record in self.records)


def find(memory: ProjectMemory, chosen: Chosen | None) -> Found:
    """The records that a purge would blank: of all sessions, or those that a person chose.

    Raises:
        UnknownId, InputError: there are no such records as were chosen.
    """
    records: list[Doomed] = []
    unread: list[str] = []
    with memory.stores.facts.snapshot():
        generation = memory.stores.facts.generation()
        before = marks_now(memory).kept(memory.stores.sessions.ids())
        for session_id in memory.stores.sessions.ids() if chosen is None else [chosen.session_id]:
            try:
                history = memory.histories.of(session_id)
                records += _in_session(history, before, chosen)
            except MemnbError as error:
                if chosen is not None:
                    raise
                unread.append(f"{session_id} ({error})")
    visible = [(one.session_id, one.seq) for one in records if one.why == "chosen"]
    after = before.with_forget((), visible, generation + 1)
    target = ALL if chosen is None else str(chosen)
    return Found(target, generation, tuple(records), tuple(unread), before, after)


def _in_session(history: History, marks: Marks, chosen: Chosen | None) -> Iterator[Doomed]:
    reader = history.reader
    exclusions, hidden = marks.exclusions(history.session_id), marks.of(history).hidden
    if chosen is None:
        asked: Iterable[int] = sorted(hidden)
    else:
        if not 1 <= chosen.start <= chosen.end <= reader.last_seq:
            raise InputError(
                f"{chosen.session_id} has the records 1 to {reader.last_seq}; give a first and a"
                " last one of them."
            )
        asked = range(chosen.start, chosen.end + 1)
    entries = {seq: history.entries[seq - 1] for seq in asked if seq <= reader.last_seq}
    digests = {
        seq: digest
        for seq, entry in entries.items()
        if entry.type not in _STAYS and (digest := reader.digest_at(seq)) is not None
    }
    for seq, body in session_purge.find_bodies(reader.path, digests).items():
        if not body.is_blank:
            entry = entries[seq]
            why: Why = "chosen"
            if seq in hidden:
                is_made = entry.type in GENERATED or entry.type == "compact" or entry.carried
                why = "void" if is_made else "holds a secret"
                why = "forgotten" if seq in exclusions else why
            yield Doomed(
                session_id=history.session_id,
                seq=seq,
                type=entry.type,
                n_bytes=body.n_bytes,
                why=why,
                digests=(digests[seq], body.sha256),
            )


def untouched(memory: ProjectMemory, records: Sequence[Doomed]) -> tuple[str, ...]:
    """Files that may hold copies of what is purged, and are left as they are."""
    files = KeptFiles(memory.stores.notes.folder)
    kept = [file.name for file in files.names() if file.kind in ("tail", "quarantine")]
    notebooks: dict[str, None] = {}
    for session_id in dict.fromkeys(record.session_id for record in records):
        seqs = [one.seq for one in records if (one.session_id, one.type) == (session_id, "user")]
        notebooks.update(dict.fromkeys(_notebooks(memory, session_id, seqs)))
    return (*kept, *notebooks, *_OUT_OF_REACH)


def _notebooks(memory: ProjectMemory, session_id: str, seqs: Sequence[int]) -> Iterator[str]:
    """The notebooks that messages were typed in, and their checkpoint copies, that are there."""
    try:
        records = memory.histories.of(session_id).reader.records([1, *seqs])
        first = records.get(1)
        checkout = Path(read_session_start(first).checkout) if first else Path()
    except MemnbError:
        return
    for seq in seqs:
        try:
            record = records.get(seq)
            name = read_user(record).cell.notebook if record else None
        except MemnbError:
            continue
        path = Path(name or "")
        copy = path.parent / ".ipynb_checkpoints" / f"{path.stem}-checkpoint{path.suffix}"
        yield from (one.as_posix() for one in (path, copy) if name and _is_there(checkout / one))


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
