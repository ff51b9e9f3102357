"""Who reads a database just now, as the system tells it: nothing is opened to find out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["reading_processes"]

_LOCKS: Final = Path("/proc/locks")
_READ_MARKS: Final = range(123, 128)
"""The bytes of the WAL's index that readers lock. Source: SQLite, "WAL-mode File Format", 2.3."""


def reading_processes(database: Path) -> tuple[int, ...]:
    """The process ids of those that read a state of the database; () where that can't be told."""
    try:
        status = database.with_name(f"{database.name}-shm").stat()
        lines = _LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return ()
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    # Such as "7: POSIX  ADVISORY  READ 4711 08:01:1234 124 124"; one that waits has "->" before.
    found = [line.split() for line in lines if device in line and "->" not in line]
    return tuple(
        sorted(
            {
                int(fields[4])
                for fields in found
                if len(fields) == 8 and fields[5] == device and int(fields[6]) in _READ_MARKS
            }
        )
    )
