from __future__ import annotations

import multiprocessing
import os
import stat
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from memnb.errors import KeyLost, StoreDamaged, UnsafeFileSystem
from memnb.storage.places import Places, find_places
from memnb.storage.signing_key import SigningKey

posix = pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return find_places(
        {"MEMNB_HOME": str(tmp_path / "home"), "MEMNB_STATE": str(tmp_path / "state")}
    )


def load(places: Places, *, is_signed: bool = False) -> bytes:
    return SigningKey(places, may_make=lambda: not is_signed)()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_that_is_gone_is_not_made_anew_over_signed_facts(places: Places) -> None:
    with pytest.raises(KeyLost):
        load(places, is_signed=True)
    assert not places.key_file.exists()


def test_a_key_that_was_put_back_is_read_once_it_is_asked_for_anew(places: Places) -> None:
    key = SigningKey(places, may_make=lambda: True)
    first = key()
    places.key_file.write_bytes(bytes(32))
    assert key() == first
    key.forget()
    assert key() == bytes(32)


def test_the_key_is_made_once_and_is_private(places: Places) -> None:
    key = load(places)
    assert load(places) == key
    assert len(key) == 32
    if os.name != "nt":
        assert (mode(places.key_file), mode(places.key_file.parent)) == (0o600, 0o700)


def test_two_users_have_two_keys(places: Places, tmp_path: Path) -> None:
    other = find_places({"MEMNB_STATE": str(tmp_path / "other")})
    assert load(places) != load(other)


@pytest.mark.parametrize("size", [0, 31, 33, 4096])
def test_a_key_of_the_wrong_length_is_named_and_not_replaced(places: Places, size: int) -> None:
    places.key_file.parent.mkdir(parents=True)
    places.key_file.write_bytes(b"k" * size)
    with pytest.raises(StoreDamaged, match="key"):
        load(places)
    assert places.key_file.stat().st_size == size


@posix
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root, to give files away")
def test_a_key_that_others_own_and_read_is_refused(places: Places) -> None:
    load(places)
    places.key_file.chmod(0o644)
    os.chown(places.key_file, 65534, 65534)
    with pytest.raises(UnsafeFileSystem, match="not yours"):
        load(places)


def _load(places: Places, barrier: Barrier, keys: multiprocessing.Queue[bytes]) -> None:
    barrier.wait()
    keys.put(load(places))


def test_processes_that_race_for_the_key_get_the_same_one(places: Places) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, keys = context.Barrier(3), context.Queue()
    racers = [context.Process(target=_load, args=(places, barrier, keys)) for _ in range(3)]
    for racer in racers:
        racer.start()
    found = {keys.get(timeout=60) for _ in racers}
    for racer in racers:
        racer.join()
    assert found == {places.key_file.read_bytes()}
    assert [path.name for path in places.key_file.parent.iterdir()] == ["key"]
