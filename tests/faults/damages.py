"""What becomes of a store whose files aren't what memnb wrote, each time in a process of its own.

A damaged store may be refused, in a line. What it still shows has to be true.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from faults import weaknesses
from faults.ledger import Ledger, Line, parsed
from faults.processes import Process, crash
from faults.workload import LOG, Place, Worker
from memnb.errors import MemnbError, StoreError

_SECONDS: Final = 10
"""What may take no longer, or it hangs."""
_PAGE: Final = 4096
_HEAD: Final = ("at", "generation", "seq", "turn", "type")

Damage = Callable[[], object]


class Store:
    """A store that can be put back as it was."""

    def __init__(self, folder: Path, *, n_facts: int, killed: bool = False) -> None:
        """Make a store of so many facts; with `killed` its kernel dies and leaves a WAL."""
        self.place = Place(folder / "kept")
        self.place.make()
        self._kept = folder / "before"

        def body(say: Callable[[Line], None]) -> None:
            worker = Worker(self.place, name="first", seed=1, say=say)
            for operation in (worker.learn, worker.ask, worker.append, worker.replace):
                worker.attempt(operation)
            for _ in range(n_facts):
                worker.attempt(worker.remember)
            if killed:
                os.kill(os.getpid(), signal.SIGKILL)
            worker.memory.close()

        process = Process(body)
        process.hear_to_the_end()
        self.ledger = Ledger()
        for line in parsed(process.data):
            self.ledger.take(line)
        (self.session_id,) = (path.stem for path in self.place.sessions)
        for name in ("home", "state"):
            shutil.copytree(self.place.folder / name, self._kept / name)

    @property
    def texts(self) -> dict[str, str]:
        """Fact → its text, oldest first."""
        return {fact_id: promise.revisions[1] for fact_id, promise in self.ledger.facts.items()}

    def put_back(self) -> None:
        """Undo all damage."""
        for name in ("home", "state"):
            remove(self.place.folder / name)
            shutil.copytree(self._kept / name, self.place.folder / name)

    def files(self) -> list[Path]:
        """All files and folders of memnb's own."""
        folders = [self.place.home, self.place.state]
        return [*folders, *(file for folder in folders for file in sorted(folder.rglob("*")))]


def seen(store: Store, use: Callable[[Place], object], *, weak: Sequence[str] = ()) -> object:
    """What `use` makes of the store in a process of its own.

    Returns:
        What it gives. For an error of memnb's a list of its type and message, for any other of
        "crashed" and what it was. "hung" when it never ended.
    """

    def body(say: Callable[[Line], None]) -> None:
        signal.alarm(_SECONDS)
        weaknesses.apply(*weak)
        say({"seen": outcome(lambda: use(store.place))})

    process = Process(body)
    process.hear_to_the_end()
    lines = parsed(process.data)
    return lines[0]["seen"] if lines else "hung"


def outcome(use: Callable[[], object]) -> object:
    """What `use` gives, or which error it raises."""
    try:
        return use()
    except MemnbError as error:
        is_store = isinstance(error, StoreError)
        return ["store" if is_store else type(error).__name__, str(error)]
    except Exception as error:
        return ["crashed", crash(error)]


def is_line(found: object) -> bool:
    """Whether something is an error of memnb's in one line."""
    return isinstance(found, list) and found[0] != "crashed" and str(found[1]).isprintable()


def facts_of(place: Place) -> dict[str, object]:
    """The facts that a kernel shows, "" for one that it says isn't valid.

    It can add one, too, or says why not. What the doctor says of the database is at "doctor".
    """
    with contextlib.closing(place.open()) as memory:
        shown: dict[str, object] = {row.fact_id: row.text for row in memory.facts(all=True).rows}
        with contextlib.suppress(StoreError):
            memory.remember("What is damaged is no reason to stop.")
        wrong = [finding.text for finding in memory.doctor().rows if finding.state == "wrong"]
        return {**shown, "doctor": " ".join(wrong)}


def records_of(place: Place, session_id: str) -> dict[str, object]:
    """The bodies of a session's records that a kernel shows, by their numbers."""
    found: dict[str, object] = {}
    with contextlib.closing(place.open()) as memory:
        for row in memory.session(session_id).rows:
            page = memory.read(session_id, row.seq, row.seq).page
            if page.status == "valid":
                (record,) = json.loads(page.source_text or "[{}]")
                # What a head says is checked by the record that follows it.
                found[str(row.seq)] = {k: v for k, v in record.items() if k not in _HEAD}
    return found


def uses_of(place: Place, session_id: str, fact_id: str) -> dict[str, object]:
    """What comes of every use of a store."""
    found: dict[str, object] = {}
    memory = place.open()
    uses: dict[str, Callable[[], object]] = {
        "facts": memory.facts,
        "sessions": memory.sessions,
        "note": lambda: memory.notes.read(LOG),
        "resume": lambda: memory.resume(session_id),
        "remember": lambda: memory.remember("We count from 1."),
        "ask": lambda: memory.ask("Hi"),
        "append": lambda: memory.notes.append(LOG, "a line"),
        "again": lambda: memory.remember("We use tabs."),
        "forget": lambda: memory.forget(fact_id),
        "close": memory.close,
    }
    for name, use in uses.items():
        found[name] = outcome(lambda use=use: _done(use))
    return found


def damaged_bytes(data: bytes, seed: int) -> Iterator[tuple[str, bytes]]:
    """The bytes of a file, damaged in many ways."""
    rng = random.Random(seed)  # noqa: S311
    for _ in range(40):
        at, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
        yield f"bit at {at}", data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
    for start in range(0, len(data), _PAGE):
        yield f"page of zeros at {start}", data[:start] + b"\0" * _PAGE + data[start + _PAGE :]
    for _ in range(12):
        n_bytes = rng.randrange(len(data))
        yield f"cut to {n_bytes}", data[:n_bytes]
    for n_bytes in (16, 100):
        yield f"{n_bytes} bytes of garbage", rng.randbytes(n_bytes) + data[n_bytes:]


def in_place_of(path: Path, outside: Path) -> dict[str, Damage]:
    """Things that can stand where a file or folder of memnb's was."""

    def replaced(make: Callable[[], object]) -> Damage:
        def damage() -> None:
            remove(path)
            make()

        return damage

    def linked() -> None:
        remove(outside)
        path.rename(outside)
        path.symlink_to(outside)

    return {
        "a symlink": linked,
        "a symlink to nowhere": replaced(lambda: path.symlink_to(outside / "nowhere")),
        "a folder": replaced(path.mkdir),
        "a pipe": replaced(lambda: os.mkfifo(path)),
        "an empty file": replaced(path.touch),
        "garbage": replaced(lambda: path.write_bytes(b"\xff\x00garbage\n" * 50)),
        "nothing": replaced(lambda: None),
    }


def remove(path: Path) -> None:
    """Remove whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _done(use: Callable[[], object]) -> str:
    use()
    return "done"
