from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.bodies import AssistantBody, Cut, Part, ToolBody, UserBody
from memnb.core.file_lines import Said, file_line, proof
from memnb.core.messages import Call, Usage

LINE = 'requires-python = ">=3.12"'
FACT = 'pyproject.toml contains "requires-python = \\">=3.12\\""'
OUTPUT = f"pyproject.toml, lines 4 to 6 of 90\n4\t[project]\n5\t{LINE}\n6\t\n"
CALL = Call("c1", "read_file", '{"path":"pyproject.toml","start":4,"end":6}')


def agent(text: str, *calls: Call) -> AssistantBody:
    return AssistantBody(text, calls, (), "m", {}, "calls" if calls else "end", Usage())


RESULT = ToolBody("c1", "read_file", True, OUTPUT, "file")
EXCHANGE: dict[int, Said] = {
    2: UserBody("agent", (Part("typed", "Which Python?"),)),
    3: agent("", CALL),
    4: RESULT,
    5: agent(FACT),
}


def test_a_line_that_was_read_and_said_is_proved_by_the_call_its_result_and_the_message() -> None:
    assert proof(FACT, EXCHANGE) == (3, 4, 5)


def test_the_person_may_be_who_says_it() -> None:
    said = {**EXCHANGE, 2: UserBody("agent", (Part("typed", f"{FACT}\n"),)), 5: agent("Yes.")}
    assert proof(FACT, said) == (2, 3, 4)


def test_the_line_that_is_meant_is_named_with_its_number() -> None:
    assert proof(FACT, EXCHANGE, output_line=f"5\t{LINE}") == (3, 4, 5)
    assert proof(FACT, EXCHANGE, output_line=f"6\t{LINE}") is None
    assert proof(FACT, EXCHANGE, output_line=LINE) is None


def result(**changes: object) -> Callable[[dict[int, Said]], dict[int, Said]]:
    return lambda said: {**said, 4: replace(RESULT, **changes)}


def called(**changes: object) -> Callable[[dict[int, Said]], dict[int, Said]]:
    return lambda said: {**said, 3: agent("", replace(CALL, **changes))}


def output(text: str) -> Callable[[dict[int, Said]], dict[int, Said]]:
    return result(output=text)


UNPROVED: dict[str, Callable[[dict[int, Said]], dict[int, Said]]] = {
    "nobody says it": lambda said: {**said, 5: agent("It needs Python 3.12.")},
    "it is said among other words": lambda said: {**said, 5: agent(f"Yes: {FACT}")},
    "it is said in another form": lambda said: {**said, 5: agent(FACT.replace("\\", ""))},
    "it is said by inserted data": lambda said: {
        **said,
        2: UserBody("agent", (Part("variable", FACT, "x"),)),
        5: agent("Yes."),
    },
    "the message that says it was stopped": lambda said: {
        **said,
        5: replace(agent(FACT), stop="interrupted"),
    },
    "the call is missing": lambda said: {seq: one for seq, one in said.items() if seq != 3},
    "the call comes after the result": lambda said: {
        2: said[2],
        4: said[4],
        5: said[3],
        6: said[5],
    },
    "the result is of another call": result(call_id="c2"),
    "another file was asked for": called(arguments='{"path":"setup.cfg"}'),
    "the arguments are no JSON": called(arguments="pyproject.toml"),
    "the arguments name no path": called(arguments='["pyproject.toml"]'),
    "another tool was called": called(name="run_python"),
    "the output is a shell's": result(name="run_shell", trust="external"),
    "the result is another tool's": result(name="run_python"),
    "the output is the kernel's": result(trust="kernel"),
    "a tool of the person's has that name": result(trust="external"),
    "the tool failed": result(ok=False),
    "not all of the output was kept": result(cut=Cut(99_999, "0" * 64)),
    "the output has no heading": output(f"5\t{LINE}\n"),
    "the heading is of another file": output(OUTPUT.replace("pyproject.toml", "other.toml")),
    "a line is missing": output(OUTPUT.replace("6\t\n", "")),
    "the line has no number": output(OUTPUT.replace("5\t", "")),
    "the line stands under another number": output(OUTPUT.replace("5\t", "7\t")),
    "the line is longer": output(OUTPUT.replace(LINE, f"{LINE} # x")),
    "the line is shorter": output(OUTPUT.replace(LINE, LINE[:-1])),
    "the line was too long to be shown": output(
        f"pyproject.toml, lines 5 to 5 of 90 (cut)\n5\t{LINE}\n"
    ),
}


@pytest.mark.parametrize("changed", UNPROVED.values(), ids=UNPROVED)
def test_it_is_not_proved_when(changed: Callable[[dict[int, Said]], dict[int, Said]]) -> None:
    assert proof(FACT, changed(EXCHANGE)) is None


@pytest.mark.parametrize(
    "path", ["/etc/hosts", "~/x", "../x", "a/../x", "./x", "a//b", "", "x\u202ey", "eda.ipynb"]
)
def test_only_a_file_of_the_project_can_be_named(path: str) -> None:
    said: dict[int, Said] = {
        2: UserBody("agent", (Part("typed", "Read it."),)),
        3: agent("", Call("c", "read_file", json.dumps({"path": path}))),
        4: ToolBody("c", "read_file", True, f"{path}, lines 1 to 1 of 1\n1\tx = 1\n", "file"),
        5: agent(file_line(path, "x = 1")),
    }
    assert proof(file_line(path, "x = 1"), said) is None


def test_a_path_may_be_asked_for_from_the_projects_folder_on() -> None:
    said: dict[int, Said] = {
        2: UserBody("agent", (Part("typed", "Read it."),)),
        3: agent("", Call("c", "read_file", '{"path":"./x.py"}')),
        4: ToolBody("c", "read_file", True, "x.py, lines 1 to 1 of 1\n1\tx = 1\n", "file"),
        5: agent(file_line("x.py", "x = 1")),
    }
    assert proof(file_line("x.py", "x = 1"), said) == (3, 4, 5)


@pytest.mark.parametrize("hidden", ["⟦secret: GitHub token⟧", "\ufffd"])
def test_a_line_that_is_not_shown_as_it_is_proves_nothing(hidden: str) -> None:
    line = f"token = {hidden}"
    said: dict[int, Said] = {
        **EXCHANGE,
        4: replace(RESULT, output=f"pyproject.toml, lines 1 to 1 of 9\n1\t{line}\n"),
        5: agent(file_line("pyproject.toml", line)),
    }
    assert proof(file_line("pyproject.toml", line), said) is None


FILE_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1)


@given(FILE_TEXT, st.integers(1, 999_999_999))
def test_any_line_of_a_file_can_be_proved(line: str, number: int) -> None:
    text = file_line("a b/ü.py", line)
    said: dict[int, Said] = {
        2: UserBody("agent", (Part("typed", "Read it."),)),
        3: agent("", Call("c", "read_file", '{"path":"a b/\\u00fc.py"}')),
        4: ToolBody(
            "c",
            "read_file",
            True,
            f"a b/ü.py, lines {number} to {number} of 999999999\n{number}\t{line}\n",
            "file",
        ),
        5: agent(text),
    }
    whole = not any(mark in line for mark in ("⟦secret: ", "\ufffd"))
    assert (proof(text, said) == (3, 4, 5)) == (whole and text == text.strip())


@given(st.text())
def test_no_text_breaks_the_proof(text: str) -> None:
    assert proof(text, {**EXCHANGE, 5: agent(text)}) is None or text == FACT
