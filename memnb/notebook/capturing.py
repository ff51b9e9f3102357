"""What code prints and displays while it runs, in order, as text for a model.

1. Nothing of it reaches the notebook, but bitmaps, which are shown to the person as well.
2. Text beyond a limit is dropped as it comes, its middle first; only its size is kept.
3. What is not text becomes a mark with its type, size and digest.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import io
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from IPython.core.displaypub import DisplayPublisher

from memnb.notebook.plain_text import plain, settled

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Captured", "captured"]

MAX_CHARACTERS: Final = 1_000_000

_BITMAPS: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Captured:
    """What was written and displayed so far."""

    def __init__(self, max_characters: int = MAX_CHARACTERS) -> None:
        """Keep at most `max_characters` from the beginning, and as many from the end."""
        self._max = max_characters
        self._beginning: list[str] = []
        self._end: deque[str] = deque()
        self._n_beginning = self._n_end = self._n_dropped = 0
        self.bitmaps: list[Mapping[str, Any]] = []

    def write(self, text: str) -> None:
        """Add text."""
        room = self._max - self._n_beginning
        if room > 0:
            self._beginning.append(text[:room])
            self._n_beginning += len(text[:room])
            text = text[room:]
        if text:
            self._end.append(text)
            self._n_end += len(text)
        while self._n_end - len(self._end[0] if self._end else "") > self._max:
            n_first = len(self._end.popleft())
            self._n_end -= n_first
            self._n_dropped += n_first

    def display(self, data: Mapping[str, Any]) -> None:
        """Add what was displayed: its text, and a mark for each image."""
        bitmaps = {mime: value for mime, value in data.items() if mime in _BITMAPS}
        if bitmaps:
            self.bitmaps.append(bitmaps)
        marks = [_mark(mime, value) for mime, value in data.items() if mime.startswith("image/")]
        lines = [str(data["text/plain"])] if "text/plain" in data else []
        if not lines and not marks:
            marks = [_mark(mime, value) for mime, value in data.items()]
        self.write("".join(f"{line}\n" for line in (*lines, *marks)))

    @property
    def text(self) -> str:
        """All of it, as a terminal would leave it."""
        middle = f"\n[… {self._n_dropped:,} characters dropped …]\n" if self._n_dropped else ""
        return plain(settled("".join([*self._beginning, middle, *self._end])))


@contextlib.contextmanager
def captured(shell: InteractiveShell) -> Iterator[Captured]:
    """Capture what the block prints and displays through `shell`, errors shown included."""
    found = Captured()
    publisher, hook, trap_hook = shell.display_pub, sys.displayhook, shell.display_trap.hook
    shown = vars(shell).get("_showtraceback")
    with contextlib.redirect_stdout(_Stream(found)), contextlib.redirect_stderr(_Stream(found)):
        shell.display_pub = _Publisher(found)
        sys.displayhook = shell.display_trap.hook = _Hook(shell, found)
        vars(shell)["_showtraceback"] = _not_shown
        try:
            yield found
        finally:
            del vars(shell)["_showtraceback"]
            if shown is not None:
                vars(shell)["_showtraceback"] = shown
            sys.displayhook, shell.display_trap.hook = hook, trap_hook
            shell.display_pub = publisher


class _Stream(io.TextIOBase):
    """Standard output or error."""

    def __init__(self, found: Captured) -> None:
        self._found = found

    def write(self, text: str, /) -> int:
        self._found.write(text)
        return len(text)

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    """What `display` publishes to."""

    def __init__(self, found: Captured) -> None:
        super().__init__()
        self._found = found

    def publish(self, data: Mapping[str, Any], *_: Any, **__: Any) -> None:
        self._found.display(data)

    def clear_output(self, wait: bool = False) -> None:
        """Nothing was shown."""


class _Hook:
    """What the value of a last expression goes to."""

    def __init__(self, shell: InteractiveShell, found: Captured) -> None:
        self._shell = shell
        self._found = found

    def __call__(self, value: object) -> None:
        formatter = self._shell.display_formatter
        if value is not None and formatter is not None:
            data, _ = formatter.format(value)
            self._found.display(data)


def _not_shown(*_: Any) -> None:
    """An error is told by whoever runs the code."""


def _mark(mime: str, value: Any) -> str:
    data = value if isinstance(value, bytes) else str(value).encode(errors="replace")
    if mime in _BITMAPS and not isinstance(value, bytes):
        with contextlib.suppress(binascii.Error, ValueError):
            data = base64.b64decode(value)
    return f"[{mime}, {len(data):,} bytes, SHA-256 {sha256(data).hexdigest()}]"
