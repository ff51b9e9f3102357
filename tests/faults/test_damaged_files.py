from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from faults.workload import Place
from memnb.errors import StoreError

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

REPLACE = """
    import json, sys
    from pathlib import Path
    from faults.damages import Store, in_place_of, is_line, seen, uses_of
    from faults.processes import preload

    preload()
    folder = Path(sys.argv[1])
    store = Store(folder, n_facts=2)
    fact_id = next(iter(store.texts))
    bad, n_cases = [], 0
    for path in store.files():
        for name, damage in in_place_of(path, folder / "outside").items():
            store.put_back()
            damage()
            n_cases += 1
            found = seen(store, lambda place: uses_of(place, store.session_id, fact_id))
            uses = found if isinstance(found, dict) else {"open": found}
            bad += [
                f"{name} in place of {path.relative_to(store.place.folder)}, {use}: {out}"
                for use, out in uses.items()
                if out != "done" and not is_line(out)
            ]
    print(json.dumps([n_cases, bad]))
"""


def test_whatever_stands_in_place_of_a_file_is_told_in_a_line(
    harness: Harness, tmp_path: Path
) -> None:
    n_cases, bad = json.loads(harness(REPLACE, tmp_path))
    assert bad == []
    assert n_cases > 80


DAMAGE = """
    import json, sys
    from pathlib import Path
    from faults.damages import Store, damaged_bytes, facts_of, is_line, records_of, seen
    from faults.processes import preload

    preload()
    store = Store(Path(sys.argv[1]), n_facts=25)
    (path,) = store.place.store.glob(sys.argv[2])
    is_database = path.suffix == ".sqlite3"

    def shown(weak=()):
        if is_database:
            return seen(store, facts_of, weak=weak)
        return seen(store, lambda place: records_of(place, store.session_id), weak=weak)

    data = path.read_bytes()
    whole = shown()
    whole.pop("doctor", None)
    assert len(whole) > 25, whole
    wrong, n_cases, n_refused = [], 0, 0
    for name, bad in damaged_bytes(data, seed=7):
        store.put_back()
        path.write_bytes(bad)
        found = shown(sys.argv[3:])
        n_cases += 1
        if wrong and sys.argv[3:]:
            break  # a weakness has shown
        if is_line(found):
            n_refused += 1
            continue
        if not isinstance(found, dict):
            wrong.append(f"{name}: {found}")
            continue
        doctor = found.pop("doctor", "")
        if any(text and text != whole.get(key) for key, text in found.items()):
            wrong.append(f"{name}: shown is what nobody said")
        elif is_database and found.keys() != whole.keys() and not doctor:
            wrong.append(f"{name}: {len(whole) - len(found)} facts are gone, and nobody says so")
    print(json.dumps([n_cases, n_refused, wrong]))
"""


def damaged(harness: Harness, folder: Path, name: str, *weak: str) -> tuple[int, int, list[str]]:
    """How often a file was damaged, how often that was refused, and what was wrong otherwise."""
    n_cases, n_refused, wrong = json.loads(harness(DAMAGE, folder, name, *weak))
    return n_cases, n_refused, wrong


def test_what_a_damaged_database_shows_is_true_and_whole(harness: Harness, tmp_path: Path) -> None:
    n_cases, n_refused, wrong = damaged(harness, tmp_path, "facts.sqlite3")
    assert wrong == []
    assert n_cases > 60
    assert n_refused > 15


def test_a_memory_that_passes_on_what_sqlite_says_shows_tracebacks(
    harness: Harness, tmp_path: Path
) -> None:
    _, _, wrong = damaged(harness, tmp_path, "facts.sqlite3", "errors-as-they-come")
    assert any("crashed" in text for text in wrong)


def test_what_a_damaged_session_shows_is_true(harness: Harness, tmp_path: Path) -> None:
    n_cases, _, wrong = damaged(harness, tmp_path, "sessions/*.jsonl")
    assert wrong == []
    assert n_cases > 50


def test_a_memory_that_checks_no_digest_shows_what_nobody_said(
    harness: Harness, tmp_path: Path
) -> None:
    _, _, wrong = damaged(harness, tmp_path, "sessions/*.jsonl", "digests-not-checked")
    assert any("nobody said" in text for text in wrong)


def no_utf_8(path: Path) -> None:
    data = path.read_bytes()
    assert data.count(b"We count") == 1
    path.write_bytes(data.replace(b"We count", b"We \xffount"))


def changed_by(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with contextlib.closing(apsw.Connection(str(path))) as connection:
            connection.execute(f"PRAGMA foreign_keys=OFF; {sql}").fetchall()

    return change


SILENT_DAMAGES = {
    "a letter that is no UTF-8": no_utf_8,
    "a fact's row that is gone": changed_by("DELETE FROM facts"),
    "a fact's row with another id": changed_by("UPDATE facts SET fact_id='F-zzzzzz'"),
}


@pytest.mark.parametrize("name", SILENT_DAMAGES)
def test_damage_that_sqlite_does_not_see_is_told_in_a_line(place: Place, name: str) -> None:
    with place.open() as memory:
        memory.remember("We count from 1.")
    SILENT_DAMAGES[name](place.database)
    with place.open() as memory, pytest.raises(StoreError) as caught:
        memory.facts(all=True)
    assert str(caught.value).isprintable()


LOG = """
    import json, random, sys
    from pathlib import Path
    from faults.damages import Store, facts_of, is_line, seen
    from faults.processes import preload

    preload()
    store = Store(Path(sys.argv[1]), n_facts=12, killed=True)
    wal = store.place.database.with_name("facts.sqlite3-wal")
    data, rng = wal.read_bytes(), random.Random(3)
    texts, wrong, lengths = list(store.texts.items()), [], set()
    for number in range(60):
        store.put_back()
        cut = bytearray(data[: rng.randrange(len(data) + 1)])
        if number % 2 and cut:
            cut[rng.randrange(len(cut))] ^= 1 << rng.randrange(8)
        wal.write_bytes(cut)
        wal.with_name("facts.sqlite3-shm").unlink()
        found = seen(store, facts_of)
        if isinstance(found, dict):
            found.pop("doctor")
            lengths.add(len(found))
            if found != dict(texts[: len(found)]):
                wrong.append(f"{len(cut)} bytes: not the first of all facts")
        elif not is_line(found):
            wrong.append(f"{len(cut)} bytes: {found}")
    print(json.dumps([len(data), sorted(lengths), wrong]))
"""


def test_a_log_that_is_cut_or_damaged_is_refused_or_gives_the_first_of_all_facts(
    harness: Harness, tmp_path: Path
) -> None:
    n_bytes, _, wrong = json.loads(harness(LOG, tmp_path))
    assert n_bytes > 10_000
    assert wrong == []


MOVE = """
    import json, os, shutil, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.damages import outcome
    from faults.workload import Place

    weaknesses.apply(*sys.argv[3:])
    place = Place(Path(sys.argv[1]))
    place.make()
    memory = place.open()
    memory.remember("We count from 1.")
    new = place.database.with_suffix(".new")
    if sys.argv[2] == "replaced":
        shutil.copy(place.database, new)
        new.replace(place.database)
    elif sys.argv[2] == "renamed":
        place.database.rename(new)
    else:
        place.database.unlink()
    print(json.dumps(outcome(lambda: memory.remember("We use tabs.").outcome)), flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("what", ["renamed", "deleted", "replaced"])
def test_a_database_that_is_moved_while_it_is_used_takes_nothing_more(
    harness: Harness, tmp_path: Path, what: str
) -> None:
    kind, message = json.loads(harness(MOVE, tmp_path / "kept", what))
    assert kind == "store"
    assert message.isprintable()


@pytest.mark.parametrize("what", ["renamed", "deleted"])
def test_a_memory_that_does_not_look_acknowledges_into_a_file_that_is_gone(
    harness: Harness, place: Place, what: str
) -> None:
    out = json.loads(harness(MOVE, place.folder, what, "files-taken-for-granted"))
    assert out == "new"
    assert not place.database.exists()
