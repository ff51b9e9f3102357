from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

TEAR = """
    import sys
    from pathlib import Path
    from faults import weaknesses
    from faults.transcripts import read_transcript
    from memnb.core.bodies import clear_draft
    from memories import STORE_ID, Desk

    weaknesses.apply(*sys.argv[2:])
    desk = Desk(Path(sys.argv[1]))
    for _ in range(3):
        desk.memory.session.append(clear_draft())
    session_id = desk.session_id
    desk.close()
    (path,) = (desk.folder / "sessions").glob("*.jsonl")
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]

    def is_repaired(n_bytes, junk):
        n_kept = sum(end <= n_bytes for end in ends)
        torn = whole[ends[n_kept - 1] if n_kept else 0 : n_bytes] + junk
        path.write_bytes(whole[:n_bytes] + junk)
        try:
            writer = desk.beside().stores.sessions.writer(session_id)
            writer.append(clear_draft(), generation=0)
            writer.close()
        except Exception:
            return False
        aside = list(path.parent.glob("*.torn-*"))
        is_kept = [file.read_bytes() for file in aside] == ([torn] if torn else [])
        for file in aside:
            file.unlink()
        found = read_transcript(path, STORE_ID)
        return is_kept and not found.violations and not found.torn and (
            len(found.records) == n_kept + 1
        )

    cases = [
        is_repaired(n_bytes, junk)
        for junk in (b"", b"\\0" * 40, b"\\xff\\xfe\\x80{")
        for n_bytes in range(len(whole) + 1)
    ]
    print(len(cases), cases.count(False))
"""


def torn(harness: Harness, folder: Path, *weak: str) -> tuple[int, int]:
    """How many tails were torn, and how many of them weren't repaired."""
    n_cases, n_bad = harness(TEAR, folder / "kept", *weak).split()
    return int(n_cases), int(n_bad)


def test_a_session_torn_at_any_byte_goes_on_with_all_its_whole_records(
    harness: Harness, tmp_path: Path
) -> None:
    n_cases, n_bad = torn(harness, tmp_path)
    assert n_cases > 3000
    assert n_bad == 0


def test_a_memory_that_cuts_nothing_off_does_not_go_on(harness: Harness, tmp_path: Path) -> None:
    n_cases, n_bad = torn(harness, tmp_path, "nothing-is-cut-off")
    assert n_bad > n_cases * 0.9
