from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

from memnb.agent.reply import Answer, ToolDone, ToolStarted, TurnEvent, UsageTotal
from memnb.core.escaping import escape_terminal
from memnb.core.messages import Notice, Text
from memnb.notebook.live_display import (
    FinalDisplay,
    KernelDisplay,
    TerminalDisplay,
    TurnDisplay,
    turn_display,
)

ANSWER = Answer(
    text="We use **cents**.\n\nDone.",
    end="complete",
    model="scripted",
    session_id=None,
    message_seq=2,
    turn=1,
    n_tools=1,
    usage=UsageTotal(input_tokens=12),
    carried=(),
    cited=(),
    remembered=("F-7k2m9q@1",),
    not_done=(),
    notices=(),
    requests=(),
    seconds=0.5,
)

EVENTS: list[TurnEvent] = [
    Notice("loading the model"),
    Text("We use "),
    Text("**cents**."),
    ToolStarted("memory_remember"),
    ToolDone("memory_remember", True, ""),
    Text("Done."),
]


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Screen:
    """What was published, as a front end keeps it."""

    def __init__(self, clock: Clock | None = None, cost_seconds: float = 0.0) -> None:
        self.paints: list[tuple[Mapping[str, str], bool]] = []
        self._clock = clock
        self._cost_seconds = cost_seconds

    def __call__(self, data: Mapping[str, str], update: bool) -> None:
        self.paints.append((data, update))
        if self._clock is not None:
            self._clock.now += self._cost_seconds

    @property
    def plain(self) -> list[str]:
        return [data["text/plain"] for data, _ in self.paints]


def written(show: Callable[[TurnDisplay], None]) -> str:
    pieces: list[str] = []
    show(TerminalDisplay(pieces.append))
    return "".join(pieces)


def play(display: TurnDisplay, events: Sequence[TurnEvent] = EVENTS) -> None:
    for event in events:
        display.observe(event)


def test_every_event_is_painted_when_time_passes(golden: Callable[[str, str], None]) -> None:
    clock = Clock()
    screen = Screen()
    display = KernelDisplay(screen, clock)
    for event in EVENTS:
        display.observe(event)
        clock.now += 1
    display.finish(ANSWER)
    text = "".join(f"=== {n}\n{plain}\n" for n, plain in enumerate(screen.plain, 1))
    golden("live_kernel.txt", text)
    golden("live_kernel.html", screen.paints[-1][0]["text/html"] + "\n")


def test_only_the_first_paint_makes_a_display() -> None:
    screen = Screen()
    display = KernelDisplay(screen, Clock())
    play(display)
    display.finish(ANSWER)
    updates = [update for _, update in screen.paints]
    assert updates == [False] + [True] * (len(updates) - 1)


def test_the_first_text_is_painted_at_once_and_a_flood_is_not() -> None:
    clock, screen = Clock(), Screen()
    display = KernelDisplay(screen, clock)
    play(display, [Text("a")] * 1000)
    assert screen.plain == ["a"]
    clock.now += 0.2
    display.observe(Text("b"))
    assert screen.plain[1:] == ["a" * 1000 + "b"]


def test_a_thousand_words_are_painted_four_to_ten_times_a_second() -> None:
    clock, screen = Clock(), Screen()
    display = KernelDisplay(screen, clock)
    for _ in range(1000):
        display.observe(Text("word "))
        clock.now += 0.01
    assert 4 * 10 <= len(screen.paints) <= 10 * 10


def test_an_answer_that_is_slow_to_paint_is_painted_less_often() -> None:
    clock = Clock()
    screen = Screen(clock, cost_seconds=0.5)
    display = KernelDisplay(screen, clock)
    for _ in range(1000):
        display.observe(Text("word "))
        clock.now += 0.01
    assert len(screen.paints) <= 10


def test_nothing_is_painted_when_nothing_changed() -> None:
    clock, screen = Clock(), Screen()
    display = KernelDisplay(screen, clock)
    for event in (Notice("waiting"), Notice("waiting"), Text(""), Text("")):
        display.observe(event)
        clock.now += 1
    assert screen.plain == ["▸ waiting", ""]


def test_a_status_is_painted_at_once() -> None:
    screen = Screen()
    display = KernelDisplay(screen, Clock())
    play(display, [Text("a"), Text("b"), ToolStarted("search")])
    assert screen.plain[-1] == "ab\n\n▸ running search…"


def test_text_after_a_tool_begins_a_paragraph() -> None:
    screen = Screen()
    clock = Clock()
    display = KernelDisplay(screen, clock)
    play(display, [Text("a"), ToolStarted("f"), ToolDone("f", True, "")])
    clock.now += 1
    display.observe(Text("b"))
    assert screen.plain[-1] == "a\n\nb"


def test_the_last_paint_is_the_whole_answer() -> None:
    screen = Screen()
    display = KernelDisplay(screen, Clock())
    play(display, [Text("a")])
    display.finish(ANSWER)
    assert screen.plain[-1] == (
        "We use **cents**.\n\nDone.\n\n▸ turn 1 · 1 tool · 12 tokens · remembered F-7k2m9q · 0.5 s"
    )


def test_a_turn_that_failed_keeps_what_came() -> None:
    screen = Screen()
    display = KernelDisplay(screen, Clock())
    play(display, [Text("half")])
    display.abandon()
    assert screen.plain[-1] == "half\n\n▸ failed"


def test_a_turn_that_failed_before_it_showed_anything_shows_nothing() -> None:
    screen = Screen()
    KernelDisplay(screen, Clock()).abandon()
    assert screen.paints == []


def test_a_discarded_answer_is_taken_back() -> None:
    screen = Screen()
    display = KernelDisplay(screen, Clock())
    play(display, [Text("what was forgotten")])
    display.abandon(discard=True)
    assert screen.plain[-1] == "▸ the answer was discarded"
    assert "forgotten" not in screen.paints[-1][0]["text/html"]


def test_a_final_display_shows_once() -> None:
    screen = Screen()
    display = FinalDisplay(screen)
    play(display)
    display.finish(ANSWER)
    assert [update for _, update in screen.paints] == [False]
    assert screen.plain[0].startswith("We use **cents**.")


def test_a_terminal_is_written_as_events_come(golden: Callable[[str, str], None]) -> None:
    def show(display: TurnDisplay) -> None:
        play(display, [EVENTS[0], *EVENTS])
        display.finish(ANSWER)

    golden("live_terminal.txt", written(show))


def assert_written_as_a_whole(pieces: Sequence[str]) -> None:
    def show(display: TurnDisplay) -> None:
        play(display, [Text(piece) for piece in pieces])
        display.abandon()

    whole = escape_terminal("".join(pieces))
    assert written(show) == whole + ("\n" if whole and not whole.endswith("\n") else "")


@given(st.lists(st.text(max_size=5), max_size=8))
def test_pieces_on_a_terminal_are_escaped_as_the_whole(pieces: list[str]) -> None:
    assert_written_as_a_whole(pieces)


JOINED = ["\ufeff", "1", "\ufe0f", "\u20e3", "\U0001f469", "\u200d", "\u2764", "é", "ب", "\u200f"]


@given(st.lists(st.sampled_from([*JOINED, "a", "\r", "\n", "\x1b", "[31m", " "]), max_size=12))
def test_sequences_cut_into_pieces_are_escaped_as_the_whole(pieces: list[str]) -> None:
    assert_written_as_a_whole(pieces)


@pytest.mark.parametrize(
    "event",
    [
        Notice("\x1b]52;c;x\x07two\nlines" + "x" * 500),
        ToolStarted("\x1b[31m<script>\n" + "x" * 500),
    ],
    ids=["notice", "tool"],
)
def test_a_status_is_one_short_harmless_line(event: TurnEvent) -> None:
    screen = Screen()
    KernelDisplay(screen, Clock()).observe(event)
    data, _ = screen.paints[0]
    assert data["text/plain"].startswith("▸ ")
    assert not re.search(r"[\x00-\x1f]", data["text/plain"])
    assert "<script>" not in data["text/html"]
    assert len(data["text/plain"]) < 300
    assert "\x1b" not in written(lambda display: display.observe(event))


def test_a_discard_on_a_terminal_is_said() -> None:
    def show(display: TurnDisplay) -> None:
        display.observe(Text("half"))
        display.abandon(discard=True)

    assert written(show) == "half\n▸ the answer above was discarded\n"


def test_an_empty_answer_is_only_its_footer() -> None:
    screen = Screen()
    FinalDisplay(screen).finish(replace(ANSWER, text="", end="interrupted"))
    assert screen.plain[0].startswith("▸ turn 1")
    assert "memnb-answer" not in screen.paints[0][0]["text/html"]


@pytest.mark.parametrize("live", [True, False])
def test_a_shell_without_a_front_end_is_written_to(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], live: bool
) -> None:
    display = turn_display(shell, live=live, display_id="d", seconds=Clock())
    play(display)
    display.finish(ANSWER)
    out = capsys.readouterr().out
    assert out.count("We use **cents**.") == 1
    assert out.endswith("▸ turn 1 · 1 tool · 12 tokens · remembered F-7k2m9q · 0.5 s\n")
