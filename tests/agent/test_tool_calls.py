from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.agent import tool_calls
from memnb.agent.reply import TurnEvent
from memnb.agent.tool_calls import CallOutcome, Rules
from memnb.agent.tools import Access, Change, Plan, Tool, ToolResult
from memnb.core.bodies import Trust
from memnb.core.canonical import clean_text
from memnb.core.cutting import cut_middle
from memnb.core.messages import Call, ToolSpec
from memnb.core.permissions import Mode
from memnb.errors import InputError, Refused, StoreFull
from memories import SECRET, Desk, scripted, tool_results


class Bench:
    """Runs single calls, and keeps what happened in order."""

    def __init__(self) -> None:
        self.happened: list[str] = []
        self.answer: bool | None = True
        self.state = "state 1"

    def tool(
        self,
        name: str = "change",
        *,
        kind: str = "write_note",
        trust: Trust = "memory",
        access: Access = "write",
        apply: Callable[[], ToolResult] | None = None,
        recorded_first: bool = False,
    ) -> Tool:
        def done() -> ToolResult:
            self.happened.append("applied")
            return ToolResult("done") if apply is None else apply()

        def plan(arguments: str) -> Plan:
            self.happened.append("planned")
            change = Change(kind, f"{kind} it", arguments, self.state)  # type: ignore[arg-type]
            return Plan(done, change if access == "write" else None)

        return Tool(ToolSpec(name, "", {}), access, trust, plan, recorded_first)

    def run(
        self,
        *tools: Tool,
        call: Call = Call("c1", "change", "{}"),  # noqa: B008  # a value
        mode: Mode = "ask",
        tainted: bool = False,
        write_approval: bool = False,
        shown_bytes: int = 8192,
        recorded_bytes: int = 262_144,
    ) -> CallOutcome:
        @contextlib.contextmanager
        def mark() -> Iterator[None]:
            self.happened.append("marked")
            yield
            self.happened.append("unmarked")

        def approve(_: Change) -> bool | None:
            self.happened.append("asked")
            return self.answer

        def observe(event: TurnEvent) -> None:
            del event

        rules = Rules(mode, write_approval, approve, mark, shown_bytes, recorded_bytes)
        return tool_calls.run(
            tools,
            call,
            rules,
            tainted=tainted,
            observe=observe,
            before=lambda: self.happened.append("flushed"),
        )


@pytest.fixture
def bench() -> Bench:
    return Bench()


# --- asking --------------------------------------------------------------------------------------


def test_a_change_is_planned_asked_planned_again_and_applied(bench: Bench) -> None:
    outcome = bench.run(bench.tool())
    assert bench.happened == ["planned", "asked", "planned", "applied"]
    assert (outcome.shown, outcome.not_done, outcome.body.ok) == ("done", "", True)


@pytest.mark.parametrize(
    ("answer", "why"), [(False, "you said no"), (None, "nobody to ask")], ids=["no", "nobody"]
)
def test_what_is_not_approved_is_not_done_and_said_so(
    bench: Bench, answer: bool | None, why: str
) -> None:
    bench.answer = answer
    outcome = bench.run(bench.tool())
    assert "applied" not in bench.happened
    assert why in outcome.not_done
    assert outcome.shown.startswith("not done: ")
    assert outcome.body.ok is False


def test_a_change_that_is_another_after_the_yes_is_not_done(bench: Bench) -> None:
    tool = bench.tool()

    def plan(arguments: str) -> Plan:
        plan = tool.plan(arguments)
        bench.state = "state 2"
        return plan

    outcome = bench.run(Tool(tool.spec, tool.access, tool.trust, plan))
    assert "applied" not in bench.happened
    assert "not what you were shown" in outcome.not_done


@pytest.mark.parametrize("field", ["kind", "title", "preview", "state"])
def test_an_approval_is_bound_to_every_part_of_the_change(field: str) -> None:
    values: dict[str, Any] = {"kind": "forget", "title": "t", "preview": "p", "state": "s"}
    other = {"kind": "own_tool"}.get(field, values[field] + "x")
    assert Change(**values).digest == Change(**values).digest
    assert Change(**values).digest != Change(**{**values, field: other}).digest


def test_parts_of_a_change_cannot_be_shifted_into_each_other() -> None:
    assert Change("forget", "a", "b", "").digest != Change("forget", "", "ab", "").digest
    assert Change("forget", 'a","b', "", "").digest != Change("forget", "a", "b", "").digest


def test_readonly_denies_without_asking(bench: Bench) -> None:
    outcome = bench.run(bench.tool(), mode="readonly")
    assert bench.happened == ["planned"]
    assert "readonly" in outcome.not_done


def test_a_read_is_never_asked_for(bench: Bench) -> None:
    outcome = bench.run(bench.tool(access="read"), mode="readonly")
    assert bench.happened == ["planned", "applied"]
    assert outcome.body.ok


def test_auto_applies_the_first_plan(bench: Bench) -> None:
    bench.run(bench.tool(), mode="auto")
    assert bench.happened == ["planned", "applied"]


def test_write_approval_asks_in_auto_too(bench: Bench) -> None:
    bench.run(bench.tool(), mode="auto", write_approval=True)
    assert "asked" in bench.happened


# --- order and marks -----------------------------------------------------------------------------


@pytest.mark.parametrize("trust", ["external", "kernel", "file"])
def test_a_foreign_tool_runs_marked_and_nothing_else_does(bench: Bench, trust: Trust) -> None:
    bench.run(bench.tool(trust=trust, recorded_first=True))
    assert bench.happened == [
        "planned",
        "asked",
        "planned",
        "flushed",
        "marked",
        "applied",
        "unmarked",
    ]


def test_a_tool_that_fails_is_unmarked() -> None:
    marks: list[str] = []

    @contextlib.contextmanager
    def mark() -> Iterator[None]:
        marks.append("in")
        try:
            yield
        finally:
            marks.append("out")

    def fail() -> ToolResult:
        raise ZeroDivisionError

    bench = Bench()
    rules = Rules("auto", False, lambda _: True, mark, 8192, 8192)
    tool_calls.run(
        [bench.tool(kind="own_tool", trust="external", apply=fail)],
        Call("c1", "change", "{}"),
        rules,
        tainted=False,
        observe=lambda _: None,
        before=lambda: None,
    )
    assert marks == ["in", "out"]


# --- failures ------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[[], ToolResult]:
    def apply() -> ToolResult:
        raise error

    return apply


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        pytest.param(ValueError(f"bad token {SECRET}"), "ValueError in change", id="a fault"),
        pytest.param(SystemExit(3), "SystemExit in change", id="an exit"),
        pytest.param(RecursionError(), "RecursionError in change", id="recursion"),
        pytest.param(MemoryError(), "MemoryError in change", id="memory"),
        pytest.param(InputError("give a name."), "InputError: give a name.", id="bad input"),
        pytest.param(Refused("not that."), "not done: not that. Answer without it.", id="refused"),
    ],
)
def test_a_tool_that_raises_is_an_answer(bench: Bench, error: BaseException, shown: str) -> None:
    outcome = bench.run(bench.tool(apply=raising(error)), mode="auto")
    assert outcome.shown == shown
    assert outcome.body.ok is False
    assert SECRET not in str(outcome)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StoreFull("no space; free some.")])
def test_an_interrupt_and_a_full_disk_end_the_turn(bench: Bench, error: BaseException) -> None:
    with pytest.raises(type(error)):
        bench.run(bench.tool(apply=raising(error)), mode="auto")


def test_an_unknown_tool_is_told_those_there_are(bench: Bench) -> None:
    outcome = bench.run(
        bench.tool("zebra"), bench.tool("apple"), call=Call("c1", "rm -rf /\n\x1b[31m", "{}")
    )
    assert outcome.shown == "UnknownVerb: no such tool. The tools are: apple, zebra."
    assert outcome.body.ok is False
    assert outcome.taints is False


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param("", id="nothing"),
        pytest.param("{", id="an open brace"),
        pytest.param("[]", id="a list"),
        pytest.param("null", id="null"),
        pytest.param('"text"', id="a string"),
        pytest.param('{"text": 5}', id="another type"),
        pytest.param('{"text": "a", "extra": 1}', id="an unknown field"),
        pytest.param('{"text": "a", "kind": "secret"}', id="no such choice"),
        pytest.param("[" * 100_000, id="nested without end"),
        pytest.param('{"text": "a", "text": "b"} trailing', id="more after it"),
        pytest.param('{"text": ' + "9" * 5000 + "}", id="a number of 5,000 digits"),
        pytest.param("\ud800", id="half a surrogate pair"),
        pytest.param("{'text': 'a'}", id="Python"),
    ],
)
def test_malformed_arguments_are_an_answer_in_one_line(desk: Desk, arguments: str) -> None:
    model = scripted(("memory_remember", arguments), "sorry")
    answer = desk.ask("remember it", model)
    (shown,) = tool_results(model.requests[1])
    assert "\n" not in shown
    assert len(shown) < 300
    assert answer.text == "sorry"
    assert not desk.changes
    assert desk.bodies("tool")[0]["ok"] is False


def test_malformed_arguments_are_recorded_as_they_came(desk: Desk) -> None:
    desk.ask("go", scripted(("memory_list", '{"offset": '), "sorry"))
    assert desk.bodies("assistant")[0]["calls"][0]["arguments"] == '{"offset": '


# --- output --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown_bytes", [512, 8192, 65_536])
def test_a_huge_output_is_cut_for_the_model_and_kept_with_size_and_digest(
    bench: Bench, shown_bytes: int
) -> None:
    output = "start " + "é" * 500_000 + " end"
    outcome = bench.run(
        bench.tool(apply=lambda: ToolResult(output)), mode="auto", shown_bytes=shown_bytes
    )
    assert len(outcome.shown.encode()) <= min(shown_bytes, 16_384)
    for text in (outcome.shown, outcome.body.output):
        assert text.startswith("start ")
        assert text.endswith(" end")
        assert "1,000,010 bytes in all" in text
    assert len(outcome.body.output.encode()) <= 262_144
    assert outcome.body.cut is not None
    assert outcome.body.cut.n_bytes == 1_000_010
    assert outcome.body.cut.sha256 == hashlib.sha256(output.encode()).hexdigest()


def test_an_output_that_fits_is_kept_whole(bench: Bench) -> None:
    outcome = bench.run(bench.tool(apply=lambda: ToolResult("x" * 8192)), mode="auto")
    assert outcome.body.cut is None
    assert outcome.shown == outcome.body.output == "x" * 8192


@given(st.text(max_size=300), st.integers(0, 200))
def test_a_cut_text_is_never_over_its_limit_and_keeps_both_ends(text: str, room: int) -> None:
    text = clean_text(text)
    max_bytes = room + 60
    kept, cut = cut_middle(text, max_bytes)
    assert len(kept.encode()) <= max_bytes
    if cut is None:
        assert kept == text
    else:
        assert cut.n_bytes == len(text.encode()) > max_bytes
        head, tail = kept.split(f"\n[… {cut.n_bytes:,} bytes in all …]\n")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_a_secret_at_the_cut_is_not_kept_in_halves(bench: Bench) -> None:
    for offset in range(0, 40, 8):
        output = "x" * (3000 - offset) + f" {SECRET} " + "y" * 20_000
        outcome = bench.run(
            bench.tool(apply=lambda output=output: ToolResult(output)),  # type: ignore[misc]
            mode="auto",
            recorded_bytes=4096,
        )
        assert SECRET[:12] not in outcome.body.output


# --- what taints a turn --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("access", "trust", "taints"),
    [
        ("read", "memory", True),
        ("read", "file", True),
        ("read", "kernel", True),
        ("read", "external", True),
        ("write", "external", True),
        ("write", "kernel", True),
        ("write", "memory", False),
    ],
)
def test_output_from_outside_taints_the_turn(
    bench: Bench, access: Access, trust: Trust, *, taints: bool
) -> None:
    outcome = bench.run(bench.tool(access=access, trust=trust, kind="own_tool"), mode="auto")
    assert outcome.taints is taints
