"""What the other tests trust: that a promise that isn't kept is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faults.ledger import Ledger
from faults.verify import verify
from faults.workload import Place, Worker

pytestmark = pytest.mark.faults

Spoil = Callable[[Place, Ledger], object]


@pytest.fixture
def ledger(place: Place) -> Ledger:
    """What a kernel promised that worked a while at `place` and ended."""
    ledger = Ledger()
    worker = Worker(place, name="first", seed=1, say=ledger.take)
    for operation in (worker.remember, worker.learn, worker.ask, worker.append, worker.replace):
        for _ in range(2):
            worker.attempt(operation)
    worker.attempt(worker.forget)
    worker.attempt(worker.new)
    worker.memory.close()
    return ledger


def test_what_is_kept_is_found_kept(place: Place, ledger: Ledger) -> None:
    assert ledger.n_acknowledged == 14
    assert verify(place, ledger, name="next", seed=2, n_operations=0) == []


def first_fact(ledger: Ledger) -> str:
    return next(key for key, promise in ledger.facts.items() if not promise.may_be_forgotten)


def forgotten_fact(ledger: Ledger) -> str:
    return next(key for key, promise in ledger.facts.items() if promise.must_be_forgotten)


def changed(place: Place, name: str, old: bytes, new: bytes) -> None:
    (file,) = place.store.glob(name)
    data = file.read_bytes()
    assert old in data
    file.write_bytes(data.replace(old, new, 1))


def blanked(place: Place, words: bytes) -> None:
    """Blank the body of the first record that holds these words, as a purge does."""
    (file,) = place.sessions
    lines = file.read_bytes().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if words in line)
    start, end = len(b'{"body":'), lines[at].rindex(b',"head":{')
    lines[at] = lines[at][:start] + b"null".ljust(end - start) + lines[at][end:]
    file.write_bytes(b"".join(lines))


def unforgotten(place: Place, ledger: Ledger) -> None:
    promise = ledger.fact(forgotten_fact(ledger))
    promise.may_be_forgotten = promise.must_be_forgotten = False


SPOILS: dict[str, tuple[Spoil, str]] = {
    "a message that isn't there": (
        lambda place, ledger: ledger.messages.update({(place.sessions[0].stem, 999): "Hi"}),
        ":999 is LOST",
    ),
    "a session that isn't there": (
        lambda place, ledger: ledger.messages.update({("S-20261130-091005-7k2m9q", 2): "Hi"}),
        "session S-20261130-091005-7k2m9q is LOST",
    ),
    "a session whose file went": (
        lambda place, ledger: place.sessions[0].unlink(),
        "is LOST",
    ),
    "a message in other words": (
        lambda place, ledger: ledger.messages.update(dict.fromkeys(ledger.messages, "Hi")),
        "is LOST",
    ),
    "a record that isn't there": (
        lambda place, ledger: ledger.records.update({(place.sessions[0].stem, "undo"): 1}),
        "a record undo of",
    ),
    "a changed record": (
        lambda place, ledger: changed(place, "sessions/*.jsonl", b"kernel first", b"kernel f1rst"),
        "has another body than it had",
    ),
    "a changed head": (
        lambda place, ledger: changed(place, "sessions/*.jsonl", b'"turn":2', b'"turn":9'),
        "doesn't follow the one before",
    ),
    "a line that is no record": (
        lambda place, ledger: changed(place, "sessions/*.jsonl", b'"head":{', b'"hand":{'),
        "is no record",
    ),
    "a body that went": (
        lambda place, ledger: blanked(place, b"kernel first"),
        "is blank, which nobody asked for",
    ),
    "a body that is back": (
        lambda place, ledger: ledger.must_be_blank.add((place.sessions[0].stem, 2)),
        "was purged and is BACK",
    ),
    "a fact that isn't there": (
        lambda place, ledger: ledger.fact("F-zzzzzz").revisions.update({1: "Hi"}),
        "fact F-zzzzzz is LOST",
    ),
    "a revision that isn't there": (
        lambda place, ledger: ledger.fact(first_fact(ledger)).revisions.update({2: "Hi"}),
        "@2 is LOST",
    ),
    "a fact in other words": (
        lambda place, ledger: ledger.fact(first_fact(ledger)).revisions.update({1: "Hi"}),
        "@1 says something else",
    ),
    "a fact that should be forgotten": (
        lambda place, ledger: setattr(ledger.fact(first_fact(ledger)), "must_be_forgotten", True),
        "was forgotten and is BACK",
    ),
    "a fact that nobody forgot": (unforgotten, "is forgotten, which nobody asked for"),
    "a forget that nobody did": (
        lambda place, ledger: ledger.facts.pop(forgotten_fact(ledger)),
        "the generation is 1 after 0 forgets",
    ),
    "two forgets of one generation": (
        lambda place, ledger: ledger.generations.append(1),
        "two forgets have one generation",
    ),
    "a generation that was higher": (
        lambda place, ledger: ledger.generations.append(9),
        "the generation went BACK",
    ),
    "a line that isn't in the note": (
        lambda place, ledger: ledger.log.add("a line"),
        "1 lines of a note are LOST",
    ),
    "half a line in the note": (
        lambda place, ledger: changed(place, "notes/log.md", b"y", b""),
        "the note that all append to is TORN",
    ),
    "half a note": (
        lambda place, ledger: changed(place, "notes/page.md", b"z", b""),
        "the note that all replace is TORN",
    ),
    "a note that went": (
        lambda place, ledger: changed(place, "notes/page.md", b"first", b""),
        "the note that all replace is",
    ),
    "an old note": (
        lambda place, ledger: ledger.pages.update({"first": 99}),
        "the note that all replace is an OLD one",
    ),
    "half a backup": (
        lambda place, ledger: changed(place, "notes/page.md.bak", b"z", b""),
        "the backup page.md.bak is TORN",
    ),
    "a temporary file": (
        lambda place, ledger: (place.store / "page.md.0badcafe.tmp").touch(),
        "litter: page.md.….tmp",
    ),
    "an error of a kernel": (
        lambda place, ledger: ledger.crashes.append("KeyError"),
        "a kernel met what is no error of memnb's: KeyError",
    ),
    "a refusal that nothing explains": (
        lambda place, ledger: ledger.refusals.append(("StoreFull", "no space left.")),
        "a kernel was refused: StoreFull",
    ),
    "a refusal of two lines": (
        lambda place, ledger: ledger.refusals.append(("UnknownId", "no such\nfact.")),
        "isn't one line",
    ),
    "a store that went": (
        lambda place, ledger: (place.store / "project.json").unlink(),
        "the next kernel can't use the store",
    ),
}


@pytest.mark.parametrize("name", SPOILS)
def test_a_promise_that_is_not_kept_is_found(place: Place, ledger: Ledger, name: str) -> None:
    spoil, sentence = SPOILS[name]
    spoil(place, ledger)
    found = verify(place, ledger, name="next", seed=2, n_operations=0)
    assert any(sentence in violation for violation in found), found
