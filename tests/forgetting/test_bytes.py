"""No byte of a forgotten fact stays in the files of the database, once nobody reads any more."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator

import pytest

from memnb.core.facts import Revision, text_key
from memnb.memory import forgetting
from memories import TESTS, Children, Desk

PIECE_BYTES = 24
"""What is looked for is any such piece of a text: a part of one that stays is a leak, too."""


def pieces(text: str) -> Iterator[bytes]:
    data = text.encode()
    yield from (data[at : at + PIECE_BYTES] for at in range(0, len(data) - PIECE_BYTES, 8))


def leaks(desk: Desk, texts: list[str]) -> list[str]:
    """Texts of which something is in the files, after the desk is closed."""
    desk.close()
    data = desk.database_bytes()
    found = [text for text in texts if any(piece in data for piece in pieces(text))]
    return found + [f"digest of {text}" for text in texts if text_key(text) in data]


def live_bytes(desk: Desk) -> bytes:
    """The files of a database that is open here; read elsewhere, so that no lock is dropped."""
    files = sorted(map(str, desk.folder.glob("facts.sqlite3*")))
    return subprocess.run(["cat", *files], check=True, capture_output=True).stdout


def words(rng: random.Random, n_bytes: int) -> str:
    return "".join(rng.choice("abcdefghijklmnop ") for _ in range(n_bytes))


def test_a_fact_of_many_long_revisions_that_span_pages_is_gone(desk: Desk) -> None:
    rng = random.Random(1)  # noqa: S311
    desk.remember("the one before")
    texts = [f"{number} {words(rng, 500)}z" for number in range(24)]
    fact_id = desk.remember(texts[0]).fact_id
    for number, text in enumerate(texts[1:], 1):
        desk.correct(fact_id, text, number)
    kept = desk.remember("the one after it stays").fact_id
    desk.forget(fact_id)
    assert all(piece not in live_bytes(desk) for text in texts for piece in pieces(text))
    assert leaks(desk, texts) == []
    assert kept.encode() in desk.database_bytes()


@pytest.mark.parametrize("seed", [1, 6, 7])
def test_after_heavy_churn_nothing_is_left_where_rows_were_moved(desk: Desk, seed: int) -> None:
    # With these seeds secure_delete alone leaves parts of rows in pages that were split or joined.
    desk.stores.ensure()
    rng = random.Random(seed)  # noqa: S311
    alive: dict[str, list[str]] = {}
    gone: list[str] = []
    for number in range(250):
        chance = rng.random()
        text = f"{number} {words(rng, rng.randrange(40, 480))}z"
        with desk.stores.facts.transaction(now=desk.stores.now(), durable=False) as change:
            if chance < 0.45 or not alive:
                fact_id = f"F-{number:06}"
                change.insert_fact(fact_id, "project", "convention")
                alive[fact_id] = []
            else:
                fact_id = rng.choice(sorted(alive))
            if chance < 0.75 or not alive[fact_id]:
                alive[fact_id].append(text)
                change.insert_revision(revision(desk, fact_id, alive[fact_id], rng.randbytes(32)))
            else:
                gone += alive.pop(fact_id)
                change.delete(fact_id)
    assert forgetting.scrub(desk.stores)
    assert len(gone) > 80
    assert leaks(desk, gone) == []
    data = desk.database_bytes()
    assert all(text.encode() in data for texts in alive.values() for text in texts)


def revision(desk: Desk, fact_id: str, texts: list[str], mac: bytes) -> Revision:
    return Revision(
        fact_id, len(texts), texts[-1], None, "person", desk.stores.now(), 0, (), mac=mac
    )


def test_a_forget_leaves_no_byte_though_the_store_stays_open(desk: Desk) -> None:
    rng = random.Random(3)  # noqa: S311
    texts = [words(rng, 300) + "z" for _ in range(40)]
    ids = [desk.remember(text).fact_id for text in texts]
    for fact_id in ids[::3]:
        desk.forget(fact_id)
    data = live_bytes(desk)
    assert not any(piece in data for text in texts[::3] for piece in pieces(text))
    assert texts[1].encode() in data


READER = """
    import sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[2])
    from memories import Desk

    reader = Desk(Path(sys.argv[1]))
    with reader.stores.facts.snapshot():
        reader.stores.facts.count()
        print("reading", flush=True)
        sys.stdin.readline()
    print("done", flush=True)
    sys.stdin.readline()
"""


def test_what_a_reader_kept_is_scrubbed_by_the_next_kernel_that_writes(
    desk: Desk, children: Children
) -> None:
    rng = random.Random(4)  # noqa: S311
    text = words(rng, 400) + "z"
    fact_id = desk.remember(text).fact_id
    child = children.start(READER, desk.folder, TESTS)
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == "reading\n"
    forgetting.forget(desk.stores, fact_id)
    assert not forgetting.scrub(desk.stores)
    assert desk.stores.facts.is_scrub_pending()
    assert any(piece in live_bytes(desk) for piece in pieces(text))
    child.stdin.write("\n")
    child.stdin.flush()
    assert child.stdout.readline() == "done\n"  # it has the store open still, but doesn't read
    later = desk.beside("later.ipynb")
    later.remember("something else")
    assert not later.stores.facts.is_scrub_pending()
    assert not any(piece in live_bytes(desk) for piece in pieces(text))
    later.close()


def test_a_forget_that_was_pending_is_scrubbed_when_it_is_repeated(
    desk: Desk,
) -> None:
    text = words(random.Random(5), 400) + "z"  # noqa: S311
    fact_id = desk.remember(text).fact_id
    other = desk.beside()
    with other.stores.facts.snapshot():
        assert other.stores.facts.count() == 1
        forgetting.forget(desk.stores, fact_id)
        assert not forgetting.scrub(desk.stores)
    assert not forgetting.forget(desk.stores, fact_id).first
    assert forgetting.scrub(desk.stores)
    assert not any(piece in live_bytes(desk) for piece in pieces(text))
    other.close()
