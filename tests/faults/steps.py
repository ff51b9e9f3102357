"""Something happens at the n-th step that changes the disk: the kernel dies, or the step fails.

Steps are counted where Python asks the system for them, and where a statement is given to SQLite.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import apsw

from faults import weaknesses
from faults.ledger import Ledger, Line, parsed
from faults.processes import Process, verified
from faults.verify import DISK_ERRORS
from faults.workload import Place, Worker

_STEPS: Final = (
    *("chmod", "fchmod", "fsync", "ftruncate", "link", "mkdir", "open", "pwrite", "rename"),
    *("replace", "unlink", "write"),
)
_CREATING: Final = os.O_CREAT | os.O_TRUNC
_STATEMENTS: Final = ("BEGIN IMMEDIATE", "COMMIT", "PRAGMA wal_checkpoint")
_SQLITE_ERRORS: Final = {errno.EIO: apsw.IOError, errno.ENOSPC: apsw.FullError}
_MAX_STEPS: Final = 200

Happens = Callable[[int, str], None]


class Steps:
    """The steps of this process, at which something can happen."""

    def __init__(self) -> None:
        """Count from now on; make this before memnb opens anything."""
        self.n_steps = 0
        self._happens: Happens | None = None
        for name in _STEPS:
            setattr(os, name, self._counted(name, getattr(os, name)))
        apsw.Connection = self._connection()  # type: ignore[misc]

    def let(self, happens: Happens | None) -> None:
        """Count anew, and call `happens` before every step with its number and name."""
        self.n_steps = 0
        self._happens = happens

    def step(self, name: str) -> None:
        """Say that a step comes."""
        if self._happens is not None:
            self.n_steps += 1
            self._happens(self.n_steps, name)

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if name != "open" or arguments[1] & _CREATING:
                self.step(name)
            return real(*arguments, **options)

        return call

    def _connection(self) -> type[apsw.Connection]:
        steps, plain = self, apsw.Connection

        class Connection(plain):  # type: ignore[misc,valid-type]
            def execute(self, statements: str, *arguments: Any, **options: Any) -> Any:
                if statements.startswith(_STATEMENTS):
                    steps.step(statements)
                return super().execute(statements, *arguments, **options)

        return Connection


def die_at(number: int) -> Happens:
    """The kernel is killed right before this step."""

    def happens(n: int, name: str) -> None:
        del name
        if n == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return happens


class Failures:
    """Steps that fail with an errno."""

    def __init__(self, steps: Steps, code: int, for_ever: bool, only: Sequence[str]) -> None:
        """Let them fail once or for ever; with `only`, steps of other names don't count."""
        self.has_failed = False
        self.for_ever = for_ever
        self.only = only
        self._steps = steps
        self._code = code

    @contextlib.contextmanager
    def at(self, number: int) -> Iterator[None]:
        """Let the step of this number fail, and those after it when it is for ever."""
        self.has_failed = False
        self._number = number
        self._n_seen = 0
        self._steps.let(self._happens)
        try:
            yield
        finally:
            self._steps.let(None)

    def _happens(self, n: int, name: str) -> None:
        del n
        if self.only and name not in self.only:
            return
        self._n_seen += 1
        if self._n_seen < self._number or (self._n_seen > self._number and not self.for_ever):
            return
        self.has_failed = True
        if name in _STEPS:
            raise OSError(self._code, os.strerror(self._code))
        raise _SQLITE_ERRORS[self._code](os.strerror(self._code))


def killed_at_every_step(
    place: Place, operation: str, *, begun: bool, weak: Sequence[str] = ()
) -> tuple[int, list[str]]:
    """Do an operation again and again, killed at its first step, its second, and so on.

    Args:
        place: where.
        operation: of `Worker`.
        begun: in a store that holds something; else in one that is yet to be made.
        weak: the defences that are switched off; then the first thing that is broken ends it.

    Returns:
        How many steps it has, and what was broken by a kill.
    """
    before = _said(lambda say: _begin(place, say)) if begun else []
    kept = place.folder.with_name("before")
    _copy(place, kept)
    found: list[str] = []
    for number in range(1, _MAX_STEPS):
        _put_back(place, kept)
        ledger = Ledger()
        for line in before:
            ledger.take(line)
        said = _said(lambda say, number=number: _until(place, operation, number, weak, say))
        for line in said:
            ledger.take(line)
        name = f"v{number}"
        violations = verified(place, ledger, name=name, seed=number, weak=weak, n_operations=0)
        found += [f"{operation}, killed at step {number}: {text}" for text in violations]
        if (weak and found) or (said and said[-1].get("survived")):
            return number - 1, found
    raise AssertionError(f"{operation} has no end")


def failed_at_every_step(
    place: Place,
    operation: str,
    code: int,
    *,
    for_ever: bool,
    only: Sequence[str] = (),
    weak: Sequence[str] = (),
) -> tuple[int, list[str]]:
    """Do an operation again and again while its first step fails, its second, and so on.

    After each time the disk is well again, and the operation has to work.

    Args:
        place: where; a store is made there.
        operation: of `Worker`.
        code: the errno of the failure.
        for_ever: whether all later steps fail, too.
        only: let these steps fail only.
        weak: the defences that are switched off.

    Returns:
        How many steps it has, and what was wrong.
    """

    def body(say: Callable[[Line], None]) -> None:
        steps = Steps()
        weaknesses.apply(*weak)  # afterwards: they get to know the failures first
        failures = Failures(steps, code, for_ever, only)
        say({"did": "open", "steps": _failing(place, operation, failures, say)})

    said, ledger = _said(body), Ledger()
    for line in said:
        ledger.take(line)
    found = [line["wrong"] for line in said if "wrong" in line]
    found += verified(place, ledger, name="v", seed=1, allowed=DISK_ERRORS)
    return said[-1].get("steps", 0), [f"{operation}: {text}" for text in found]


def _failing(place: Place, operation: str, failures: Failures, say: Callable[[Line], None]) -> int:
    heard: list[Line] = []

    def say_and_hear(line: Line) -> None:
        heard.append(line)
        say(line)

    worker = Worker(place, name="w", seed=1, say=say_and_hear)
    for prepared in ("remember", "learn", "append", "replace", operation):
        worker.attempt(getattr(worker, prepared))
    for number in range(1, _MAX_STEPS):
        worker.attempt(worker.remember)
        worker.attempt(worker.remember)
        heard.clear()
        with failures.at(number):
            worker.attempt(getattr(worker, operation))
            has_failed = failures.has_failed
            if failures.for_ever:
                worker.attempt(worker.ask)
        if failures.only and has_failed and any(line.get("did") == operation for line in heard):
            say({"wrong": f"acknowledged although step {number} failed"})
        heard.clear()
        worker.attempt(getattr(worker, operation))
        if not any(line.get("did") == operation for line in heard):
            # What couldn't be taken back may end a session, but not the work.
            worker.attempt(worker.new)
            worker.attempt(getattr(worker, operation))
        if not any(line.get("did") == operation for line in heard):
            say({"wrong": f"after step {number} failed it doesn't work any more: {heard}"})
        if not has_failed:
            return number - 1
    raise AssertionError(f"{operation} has no end")


def _said(body: Callable[[Callable[[Line], None]], None]) -> list[Line]:
    process = Process(body)
    process.hear_to_the_end()
    return parsed(process.data)


def _begin(place: Place, say: Callable[[Line], None]) -> None:
    worker = Worker(place, name="first", seed=1, say=say)
    begun = ("remember", "forget", "remember", "remember", "learn", "append", "replace", "search")
    for operation in begun:
        worker.attempt(getattr(worker, operation))
    worker.memory.close()


def _until(
    place: Place, operation: str, number: int, weak: Sequence[str], say: Callable[[Line], None]
) -> None:
    weaknesses.apply(*weak)
    Steps().let(die_at(number))
    worker = Worker(place, name="killed", seed=1, say=say)
    worker.attempt(getattr(worker, operation))
    worker.memory.close()
    say({"did": "open", "survived": True})


def _copy(place: Place, kept: Any) -> None:
    for folder in (place.home, place.state):
        if folder.exists():
            shutil.copytree(folder, kept / folder.name)


def _put_back(place: Place, kept: Any) -> None:
    for folder in (place.home, place.state):
        shutil.rmtree(folder, ignore_errors=True)
        if (kept / folder.name).exists():
            shutil.copytree(kept / folder.name, folder)
