"""A kernel that dies before its n-th step, for n = 1, 2, … until it gets through.

A step is a statement by which SQLite changes something, or a call that changes a file: to die
before one that only reads is to die before the next of these. Every death happens in a forked
child on a fresh copy of the store, and what it left is looked at by another one.
"""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

DIED = 9
"""What a child exits with that died on purpose."""

_CALLS = ("fchmod", "fsync", "ftruncate", "link", "mkdir", "pwrite", "rename", "replace", "rmdir")
_MORE_CALLS = ("unlink", "write")
_CHANGING = ("INSERT", "UPDATE", "DELETE", "BEGIN IMMEDIATE", "COMMIT", "VACUUM", "PRAGMA wal_")
_MAX_STEPS = 500

Look = Callable[[Path, list[str]], None]
"""Looks at what a death left, as the next kernel does; notes what is wrong with it."""


def die_before_step(number: int) -> None:
    """From now on this process ends right before its step of this number."""
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if done == number:
            os._exit(DIED)

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            step()
            return real(*arguments, **options)

        return call

    for name in (*_CALLS, *_MORE_CALLS):
        setattr(os, name, counted(getattr(os, name)))

    def on_statement(_: object, statement: str, __: object) -> bool:
        if statement.startswith(_CHANGING):
            step()
        return True

    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(on_statement))


def at_every_step(
    kept: Path, folder: Path, action: Callable[[Path], object], look: Look
) -> tuple[int, list[str]]:
    """Do `action` again and again on a copy of `kept`, dying before its first step, and so on.

    Args:
        kept: the folder of a store, which stays as it is.
        folder: where it is copied to; another one for each death lies beside it.
        action: what is done with the store there.
        look: looks at it afterwards.

    Returns:
        How many steps it has, and what was found wrong after which death.
    """
    found: list[str] = []
    for number in range(1, _MAX_STEPS):
        place = folder / f"died-{number}" / "project"
        for source in kept.parent.glob(f"{kept.name}*"):  # the store, and its anchor beside it
            shutil.copytree(source, place.parent / source.name)

        def dies(place: Path = place, number: int = number) -> list[str]:
            die_before_step(number)
            action(place)
            return []

        died, _ = _forked(dies)
        _, wrong = _forked(lambda place=place: _seen(look, place))  # type: ignore[misc]
        found += [f"died before step {number}: {text}" for text in wrong]
        if not died:
            return number - 1, found
        shutil.rmtree(place.parent)
    raise AssertionError("it has no end")


def _seen(look: Look, place: Path) -> list[str]:
    wrong: list[str] = []
    try:
        look(place, wrong)
    except Exception as error:  # whatever it is, the next kernel would meet it
        wrong.append(f"{type(error).__name__}: {error}")
    return wrong


def _forked(body: Callable[[], list[str]]) -> tuple[bool, list[str]]:
    """Whether a child that runs `body` died on purpose, and the lines that it gave."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            lines = "\n".join(body()).encode()
            _, code = os.write(writing, lines) if lines else 0, 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:  # noqa: PTH123
        lines = pipe.read().splitlines()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DIED), "a child failed; see above"
    return code == DIED, lines
