"""A turn while it runs and when it ended: the answer as it comes, a line of what happens, a footer.

1. In a kernel there is one display, updated a few times a second and only when something changed;
   its last update is the whole answer with its footer.
2. On a terminal the answer is written as it comes, hidden characters spelled out.
3. What is not to be live is shown once, at the end.
4. A status is shown at once, since silence follows it; text may wait for the next update.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, assert_never

from memnb.agent.reply import Answer, ToolDone, ToolStarted, TurnEvent
from memnb.core.escaping import escape_html, escape_terminal
from memnb.core.messages import Notice, Text
from memnb.notebook.footer import MARK, footer_lines
from memnb.notebook.markdown_view import to_html, to_plain

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = [
    "FinalDisplay",
    "KernelDisplay",
    "Publish",
    "TerminalDisplay",
    "TurnDisplay",
    "is_kernel",
    "turn_display",
]

UPDATE_SECONDS: Final = 0.125
"""Eight updates a second; each one for every word took 34 s for 1,000 words and froze the page."""

_REST_PER_WORK: Final = 4
"""A long answer is rendered less often: four fifths of the time are left to everything else."""

_MAX_STATUS: Final = 200

Publish: TypeAlias = Callable[[Mapping[str, str], bool], None]
"""Shows data by MIME type; the second argument says whether it replaces what was shown before."""


class TurnDisplay(Protocol):
    """Shows one turn."""

    def observe(self, event: TurnEvent) -> None:
        """Show what happened."""

    def finish(self, answer: Answer) -> None:
        """Show the answer in full, with its footer."""

    def abandon(self, *, discard: bool = False) -> None:
        """Leave a turn that failed; `discard` takes back the text that was shown, where it can."""


def turn_display(
    shell: InteractiveShell, *, live: bool, display_id: str, seconds: Callable[[], float]
) -> TurnDisplay:
    """The display for one turn.

    Args:
        shell: where it is shown.
        live: whether to show the answer as it comes.
        display_id: a name for it that no other display has.
        seconds: a monotonic clock.
    """
    if not is_kernel(shell):
        return TerminalDisplay(_write) if live else FinalDisplay(_write_plain)
    if not live:
        return FinalDisplay(_publisher(shell, None))
    return KernelDisplay(_publisher(shell, display_id), seconds)


def is_kernel(shell: InteractiveShell) -> bool:
    """Whether a front end shows what the shell displays; otherwise it is a terminal."""
    return getattr(shell, "kernel", None) is not None


class KernelDisplay:
    """One display that is updated in place."""

    def __init__(self, publish: Publish, seconds: Callable[[], float]) -> None:
        """Show through `publish`, by the clock `seconds`."""
        self._publish = publish
        self._seconds = seconds
        self._text = ""
        self._status = ""
        self._painted: tuple[str, str] | None = None
        self._next_at = 0.0
        self._breaks = False

    def observe(self, event: TurnEvent) -> None:
        """Take an event; a status is shown at once, text with the next update."""
        if isinstance(event, Text):
            if self._breaks and self._text:
                self._text += "\n\n"
            self._breaks = False
            self._text += event.text
            self._status = ""
        else:
            self._breaks = self._breaks or isinstance(event, ToolStarted)
            self._status = _status(event)
        is_due = self._painted is None or bool(self._status) or self._seconds() >= self._next_at
        if is_due and (self._text, self._status) != self._painted:
            self._paint(self._text, (self._status,) if self._status else ())
            self._painted = (self._text, self._status)

    def finish(self, answer: Answer) -> None:
        """Show the answer in full, with its footer."""
        self._paint(answer.text, footer_lines(answer))

    def abandon(self, *, discard: bool = False) -> None:
        """Say that the turn failed, below the text that came unless that is discarded."""
        if self._painted is None:
            return
        if discard:
            self._paint("", (f"{MARK} the answer was discarded",))
        else:
            self._paint(self._text, (f"{MARK} failed",))

    def _paint(self, text: str, lines: tuple[str, ...]) -> None:
        started = self._seconds()
        self._publish(_bundle(text, lines), self._painted is not None)
        ended = self._seconds()
        self._next_at = ended + max(UPDATE_SECONDS, _REST_PER_WORK * (ended - started))


class TerminalDisplay:
    """Writes the answer as it comes; what was written stays."""

    def __init__(self, write: Callable[[str], None]) -> None:
        """Write with `write`."""
        self._write_raw = write
        self._stream = _EscapedStream()
        self._at_line_start = True
        self._last_status = ""

    def observe(self, event: TurnEvent) -> None:
        """Write an event."""
        if isinstance(event, Text):
            self._last_status = ""
            self._write(self._stream.take(event.text))
            return
        status = _status(event)
        if status and status != self._last_status:
            self._line(escape_terminal(status))
            self._last_status = status

    def finish(self, answer: Answer) -> None:
        """Write the rest and the footer."""
        self._end_line()
        for line in footer_lines(answer):
            self._line(escape_terminal(line))

    def abandon(self, *, discard: bool = False) -> None:
        """Write the rest; what was written can't be taken back."""
        self._end_line()
        if discard:
            self._line(f"{MARK} the answer above was discarded")

    def _line(self, text: str) -> None:
        self._end_line()
        self._write(text + "\n")

    def _end_line(self) -> None:
        self._write(self._stream.rest())
        if not self._at_line_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._write_raw(text)
            self._at_line_start = text.endswith("\n")


class FinalDisplay:
    """Shows nothing before the end."""

    def __init__(self, publish: Publish) -> None:
        """Show through `publish`, once."""
        self._publish = publish

    def observe(self, event: TurnEvent) -> None:
        """Nothing is shown."""

    def finish(self, answer: Answer) -> None:
        """Show the answer in full, with its footer."""
        self._publish(_bundle(answer.text, footer_lines(answer)), False)

    def abandon(self, *, discard: bool = False) -> None:
        """Nothing was shown."""


class _EscapedStream:
    """Escapes a text that comes in pieces as it would be escaped in one.

    Whether a character is hidden depends on its neighbours, so a piece is held back from its last
    character that is visible whatever stands beside it.
    """

    _SETTLED: Final = re.compile(
        "[\n\t\x20-\x7e\u00c0-\u024f\u0370-\u0373\u0386-\u0482\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
    )

    def __init__(self) -> None:
        self._before = ""
        self._held = ""

    def take(self, text: str) -> str:
        """What can be written now."""
        self._held += text
        for end in range(len(self._held), 0, -1):
            if self._SETTLED.match(self._held, end - 1):
                last = self._held[end - 1]
                released = self._release(end)
                self._before = last
                return released
        return ""

    def rest(self) -> str:
        """What was held back; what comes next stands alone."""
        released = self._release(len(self._held))
        self._before = ""
        return released

    def _release(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        # A settled character is never spelled out, so it is one character here too.
        return escape_terminal(self._before + ready)[len(self._before) :]


def _status(event: Notice | ToolStarted | ToolDone) -> str:
    match event:
        case Notice():
            what = event.text
        case ToolStarted():
            what = f"running {event.name}…"
        case ToolDone():
            return ""
        case _:
            assert_never(event)
    return f"{MARK} {' '.join(what.split())[:_MAX_STATUS]}"


def _bundle(text: str, lines: tuple[str, ...]) -> dict[str, str]:
    plain = [to_plain(text.strip("\n"))] if text.strip() else []
    html = [to_html(text)] if text.strip() else []
    if lines:
        plain.append("\n".join(map(escape_terminal, lines)))
        shown = "<br>".join(map(escape_html, lines))
        html.append(
            f'<p class="memnb-footer mathjax_ignore tex2jax_ignore"><small>{shown}</small></p>'
        )
    return {"text/plain": "\n\n".join(plain), "text/html": "".join(html)}


def _publisher(shell: InteractiveShell, display_id: str | None) -> Publish:
    transient = {} if display_id is None else {"display_id": display_id}

    def publish(data: Mapping[str, str], update: bool) -> None:
        shell.display_pub.publish(data=dict(data), metadata={}, transient=transient, update=update)

    return publish


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _write_plain(data: Mapping[str, str], update: bool) -> None:
    del update
    _write(data["text/plain"] + "\n")
