"""What a bare write + fsync costs in the folder of a store: beside it its changes are measured."""

from __future__ import annotations

import os
import time
from pathlib import Path


class RawDisk:
    """A file that is appended to durably; call it in turn with what is measured."""

    def __init__(self, folder: Path, n_bytes: int = 1000) -> None:
        self._fd = os.open(folder / f"raw-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._line = b"y" * (n_bytes - 1) + b"\n"

    def append(self) -> float:
        """Append a line durably; gives milliseconds."""
        start = time.perf_counter()
        os.write(self._fd, self._line)
        os.fsync(self._fd)
        return (time.perf_counter() - start) * 1e3

    def close(self) -> None:
        os.close(self._fd)
