"""Kernels as processes, forked from one that has loaded memnb and never opened a memory.

Starting Python anew would cost more than what the kernels do before they are killed.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from faults import weaknesses
from faults.ledger import Ledger, Line, parsed
from faults.verify import verify
from faults.workload import Place, Worker, refusal
from memnb.errors import MemnbError

_write = os.write  # also where a fault comes between a kernel and its disk
_LISTENING_SECONDS = 0.01


class Process:
    """A forked process, and what it said."""

    def __init__(self, body: Callable[[Callable[[Line], None]], None]) -> None:
        """Run `body` in a child; it gets a function to say lines with."""
        self._fd, theirs = os.pipe()
        self._is_over = False
        self.data = b""
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._fd)
            _run(body, theirs)
        os.close(theirs)
        os.set_blocking(self._fd, False)

    def hear(self) -> bool:
        """Take in what it said up to now; False when it will say no more."""
        with contextlib.suppress(BlockingIOError):
            while not self._is_over and (chunk := os.read(self._fd, 1 << 16)):
                self.data += chunk
            return False
        return True

    def hear_to_the_end(self) -> None:
        """Wait until it has said everything, and has ended."""
        while self.hear():
            select.select([self._fd], [], [])
        self._is_over = True
        os.waitpid(self.pid, 0)
        os.close(self._fd)

    def kill(self) -> None:
        """End it now, and take in what it had said."""
        os.kill(self.pid, signal.SIGKILL)
        self.hear_to_the_end()


class Gate:
    """Holds kernels up until all of them are ready."""

    def __init__(self) -> None:
        """Closed; made before the kernels are."""
        self._read, self._write = os.pipe()

    def wait(self) -> None:
        """In a kernel: go on when it is opened."""
        os.read(self._read, 1)

    def open(self, n: int) -> None:
        """Let `n` kernels go on."""
        _write(self._write, bytes(n))


def listen(processes: Collection[Process], seconds: float) -> None:
    """Take in what processes say in this time."""
    end = time.monotonic() + seconds
    while True:
        for process in processes:
            process.hear()
        left = end - time.monotonic()
        if left <= 0:
            return
        select.select([], [], [], min(left, _LISTENING_SECONDS))


def kernel(
    place: Place,
    *,
    name: str,
    seed: int,
    weak: Sequence[str] = (),
    n_operations: int | None = None,
    gate: Gate | None = None,
) -> Process:
    """A kernel that works at `place` until it is killed, or for so many operations.

    Args:
        place: where the store is.
        name: a word that no other kernel of the store has.
        seed: what it does.
        weak: the defences of memnb that are switched off in it.
        n_operations: after so many it closes its memory and ends.
        gate: where it waits with its memory open.
    """

    def body(say: Callable[[Line], None]) -> None:
        weaknesses.apply(*weak)
        try:
            worker = Worker(place, name=name, seed=seed, say=say)
        except MemnbError as error:
            say(refusal(error))
        else:
            worker.work(n_operations, ready=gate.wait if gate else None)
            worker.memory.close()

    return Process(body)


def verified(
    place: Place,
    ledger: Ledger,
    *,
    name: str,
    seed: int,
    weak: Sequence[str] = (),
    **options: object,
) -> list[str]:
    """What `verify` finds, in a process of its own; what its kernel promised is in `ledger` then.

    Args:
        place: where the store is.
        ledger: what was promised.
        name: what to call the kernel that verifies.
        seed: what it does.
        weak: defences that are switched off in it, too.
        options: for `verify`.
    """

    def body(say: Callable[[Line], None]) -> None:
        weaknesses.apply(*weak)
        take = ledger.take

        def told(line: Line, *, before_fault: bool = True) -> None:
            say(line)
            take(line, before_fault=before_fault)

        ledger.take = told  # type: ignore[method-assign]
        found = verify(place, ledger, name=name, seed=seed, **options)  # type: ignore[arg-type]
        say({"violations": found})

    process = Process(body)
    process.hear_to_the_end()
    *lines, last = parsed(process.data) or [{}]
    if "violations" not in last:
        return [f"the verifier ended early: {last}"]
    ledger.crashes.clear()
    ledger.refusals.clear()
    for line in lines:
        if "refused" not in line:
            ledger.take(line)
    return list(last["violations"])


def preload() -> None:
    """Load every module that a kernel at work needs, without opening a memory here."""

    def body(say: Callable[[Line], None]) -> None:
        before = set(sys.modules)
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder))
            place.make()
            worker = Worker(place, name="first", seed=0, say=lambda line: None)
            worker.work(40)
            worker.memory.close()
        say({"modules": sorted(set(sys.modules) - before)})

    process = Process(body)
    process.hear_to_the_end()
    (line,) = parsed(process.data)
    if "crashed" in line:
        raise RuntimeError(line["crashed"])
    for name in line["modules"]:
        importlib.import_module(name)


def _run(body: Callable[[Callable[[Line], None]], None], fd: int) -> None:
    def say(line: Line) -> None:
        _write(fd, json.dumps(line).encode() + b"\n")

    try:
        body(say)
    except BaseException as error:
        say({"crashed": crash(error)})
    finally:
        os._exit(0)


def crash(error: BaseException) -> str:
    """An error that isn't memnb's, in a line: what, and where in memnb and here."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).stem}:{frame.lineno}" for frame in frames]
    return f"{type(error).__name__}: {error} at {' > '.join(places[-6:])}"[:1500]
