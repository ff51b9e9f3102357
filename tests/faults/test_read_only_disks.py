"""A store where nothing can be written: what looks works, what changes is refused in a line."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from opening import bound_by_modes

from faults.disks import why_no_mounts
from faults.workload import Place, Worker

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

NOBODY = 65534
NO_MOUNTS = why_no_mounts()
mounts = pytest.mark.skipif(bool(NO_MOUNTS), reason=NO_MOUNTS or "it is possible")

USE = """
    import json, sys
    from pathlib import Path
    from faults import disks
    from faults.processes import crash
    from faults.workload import LOG, Place
    from memnb.errors import MemnbError

    place, fact_id, is_mounted = Place(Path(sys.argv[1])), sys.argv[2], sys.argv[3] == "True"
    if is_mounted:
        disks.keep_mounts_to_ourselves()
        disks.mount_read_only(place.folder, place.folder)

    def outcome(use):
        try:
            use()
        except MemnbError as error:
            return [type(error).__name__, str(error)]
        except Exception as error:
            return ["crashed", crash(error)]
        return ["done", ""]

    def looks(memory):
        return {
            "facts": memory.facts,
            "fact": lambda: memory.fact(fact_id),
            "recall": lambda: memory.recall(fact_id),
            "search": lambda: memory.search("Rule"),
            "sessions": memory.sessions,
            "session": lambda: memory.session(memory.sessions().rows[0].session_id),
            "note": lambda: memory.notes.read(LOG),
            "status": memory.status,
            "private turn": lambda: memory.ask("Hi", private=True),
        }

    def changes(memory):
        return {
            "ask": lambda: memory.ask("Hi"),
            "remember": lambda: memory.remember("We count from 1."),
            "correct": lambda: memory.correct(fact_id, "We count from 1.", revision=1),
            "forget": lambda: memory.forget(fact_id),
            "append": lambda: memory.notes.append(LOG, "a line"),
            "resume": lambda: memory.resume(memory.sessions().rows[0].session_id),
        }

    found = {"open": outcome(lambda: place.open().close())}
    if found["open"][0] == "done":
        for read_only in (True, False):
            with place.open(read_only=read_only) as memory:
                n_facts = len(memory.facts(all=True).rows)
                for kind, uses in (("look", looks(memory)), ("change", changes(memory))):
                    for name, use in uses.items():
                        found[f"{kind}: {name}, {read_only}"] = outcome(use)
                assert len(memory.facts(all=True).rows) == n_facts
    print(json.dumps(found))
"""


@pytest.fixture
def fact_id(place: Place) -> str:
    """A fact in a store that a kernel made and left."""
    said: list[dict[str, Any]] = []
    worker = Worker(place, name="first", seed=1, say=said.append)
    for operation in (worker.remember, worker.learn, worker.ask, worker.append):
        worker.attempt(operation)
    worker.memory.close()
    return str(said[0]["fact"])


def inventory(place: Place) -> dict[str, tuple[int, int]]:
    """Every file with its size and when it was changed."""
    files = [file for file in place.folder.rglob("*") if file.is_file()]
    return {str(f): (f.stat().st_size, f.stat().st_mtime_ns) for f in files}


@mounts
def test_on_a_read_only_disk_memory_is_read_and_changes_are_refused_in_a_line(
    harness: Harness, place: Place, fact_id: str
) -> None:
    before = inventory(place)
    found = json.loads(harness(USE, place.folder, fact_id, True))
    assert found.pop("open") == ["done", ""]
    looks = {name: out[0] for name, out in found.items() if name.startswith("look")}
    changes = {name: out[0] for name, out in found.items() if name.startswith("change")}
    assert looks == dict.fromkeys(looks, "done")
    assert changes == dict.fromkeys(changes, "StoreReadOnly")
    assert all(message.isprintable() for _, message in found.values())
    assert inventory(place) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make others own a file")
@pytest.mark.parametrize(
    ("mode", "error"),
    [
        pytest.param("go-rwx", "StoreReadOnly", id="closed to us"),
        pytest.param("a+rwX", "UnsafeFileSystem", id="open to all"),
    ],
)
def test_the_store_of_another_person_is_refused_in_a_line(
    harness: Harness, place: Place, fact_id: str, mode: str, error: str
) -> None:
    before = inventory(place)
    for command in (("chmod", "-R", mode), ("chown", "-R", str(NOBODY))):
        subprocess.run([*command, place.home, place.state], check=True)
    found = json.loads(harness(USE, place.folder, fact_id, False, prefix=bound_by_modes()))
    assert found["open"][0] == error
    assert found["open"][1].isprintable()
    assert inventory(place) == before


@mounts
def test_what_was_forgotten_last_is_not_back_on_a_read_only_disk(
    harness: Harness, place: Place
) -> None:
    """The forget is in the log of a kernel that died, and nobody can take it in here."""
    harness(
        """
        import os, sys
        from pathlib import Path
        from faults.processes import Process
        from faults.workload import Place

        place = Place(Path(sys.argv[1]))

        def body(say):
            memory = place.open()
            kept = memory.remember("We count from 1.")
            memory.close()
            memory = place.open()
            memory.remember("We use tabs.")
            memory.forget(kept.fact_id)
            memory.remember("The week begins on Monday.")
            os.kill(os.getpid(), 9)

        Process(body).hear_to_the_end()
        """,
        place.folder,
    )
    assert place.database.with_name("facts.sqlite3-wal").stat().st_size > 0
    out = harness(
        """
        import sys
        from pathlib import Path
        from faults import disks
        from faults.workload import Place
        from memnb.errors import MemnbError

        place = Place(Path(sys.argv[1]))
        disks.keep_mounts_to_ourselves()
        disks.mount_read_only(place.folder, place.folder)
        try:
            print(sorted(row.text for row in place.open(read_only=True).facts().rows))
        except MemnbError as error:
            print(type(error).__name__, str(error).isprintable())
        """,
        place.folder,
    )
    assert out in (
        "['The week begins on Monday.', 'We use tabs.']\n",
        "StoreReadOnly True\n",
        "StoreError True\n",
    )


def test_the_harness_sees_a_store_that_can_be_written(
    harness: Harness, place: Place, fact_id: str
) -> None:
    before = inventory(place)
    found = json.loads(harness(USE.replace("assert len", "len"), place.folder, fact_id, False))
    assert found["change: remember, False"] == ["done", ""]
    assert inventory(place) != before
