"""Makes the store of format 2 that `v2/` keeps: what `v1/` holds, under a seal.

Run once, when format 3 was about to come: `python tests/stores/make_v2.py FOLDER`. What it made is
kept as it is, since people's stores are; a later version of memnb must open it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from make_v1 import KEY, SESSION_ID, STORE_ID, write_facts, write_session

from memnb.storage.database import Database
from memnb.storage.fact_store import FactStore
from memnb.storage.locks import FileLock
from memories import sealer_of


def make(folder: Path) -> None:
    """Make the whole store in `folder`, which must not hold one."""
    (folder / "sessions").mkdir(parents=True)
    found, head = write_session(folder / "sessions" / f"{SESSION_ID}.jsonl")
    lock = folder / "store.lock"
    with tempfile.TemporaryDirectory() as beside:
        sealer = sealer_of(Path(beside) / "v2", STORE_ID, KEY)
        database = Database(
            folder / "facts.sqlite3", FileLock(lock, label="make_v2"), sealer, wait_ms=lambda: 5000
        )
        write_facts(FactStore(database, lambda: STORE_ID, lambda: KEY), found, head)
        database.close()
        shutil.rmtree(Path(beside) / "v2-state", ignore_errors=True)
    lock.unlink()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
