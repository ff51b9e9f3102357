from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memnb
from memnb.errors import InputError, MemnbError, UnknownVerb
from memnb.memory.stating import Said
from memnb.notebook.arguments import Arguments, parse_agent, parse_memory, unquoted
from memnb.notebook.commands import AGENT, VERBS, help_text, usage
from memnb.notebook.dates import WANTED
from memnb.notebook.names import MEMORY_NAMES
from memnb.notebook.verbs import run_verb

FACTS = "%memory facts [--all] [--at DATE] [--kind KIND] [OFFSET]"
REMEMBER = "%memory remember [--kind KIND] [--since DATE] [--derived-from ID] [--again] TEXT"
CORRECT = "%memory correct ID REVISION [--from SESSION START END] [--since DATE] TEXT"
MODELS = "%memory models or %memory models fetch NAME [--from hub|packages|FILE]"
AGENT_USAGE = "%agent [OPTIONS] TEXT"
KINDS = "preference, convention, decision or observation"
DASH = "To begin the text with a dash, write -- before it."

VERBATIM = [
    'We call it "net", don\'t we?',
    r"a \frac{x}{y} path C:\data\new and \n",
    "{x} {{y}} $HOME ${z} %d",
    "np.*load?",
    "use --all and -m here",
    "  two  spaces\tand a tab ",
    "ends in a backslash \\",
]


def given_by(arguments: Arguments) -> dict[str, tuple[str | int, ...]]:
    return dict(arguments.given)


@pytest.mark.parametrize("text", VERBATIM)
def test_text_after_the_options_is_taken_as_it_was_typed(text: str) -> None:
    parsed = parse_memory(f"remember --kind decision {text.lstrip()}")
    assert (parsed.text, parsed.word("kind")) == (text.lstrip(), "decision")


@given(st.text().filter(lambda text: text.strip() and text == text.lstrip()))
def test_any_text_after_a_double_dash_survives(text: str) -> None:
    assert parse_memory(f"remember -- {text}").text == text


@given(st.text())
def test_any_body_below_the_cell_magic_survives(text: str) -> None:
    assert parse_agent("--mode auto", text + "\n").text == text


def refusal(parse: Callable[[str], Arguments], line: str) -> str:
    try:
        parse(line)
    except InputError as error:
        return str(error)
    return ""


@given(st.text())
def test_any_line_is_parsed_or_refused_in_one_line(text: str) -> None:
    assert "\n" not in refusal(parse_memory, text) + refusal(parse_agent, text)


@pytest.mark.parametrize(
    "line",
    ["SECRET", "facts SECRET", "facts --kind SECRET", "remember --SECRET", "forget a SECRET"],
)
def test_a_refusal_does_not_repeat_what_was_typed(line: str) -> None:
    message = refusal(parse_memory, line)
    assert message
    assert "SECRET" not in message


@pytest.mark.parametrize(
    ("line", "command", "values"),
    [
        ("", "status", {}),
        ("facts", "facts", {}),
        ("facts 20 --all", "facts", {"all": (), "OFFSET": (20,)}),
        ("facts --kind=decision", "facts", {"kind": ("decision",)}),
        (
            "read S-1 2 5 100",
            "read",
            {"SESSION": ("S-1",), "START": (2,), "END": (5,), "OFFSET": (100,)},
        ),
        ("facts --at today", "facts", {"at": ("today",)}),
        ("facts --at '2026-03-01 09:30'", "facts", {"at": ("2026-03-01 09:30",)}),
        ("expire F-1a2b3c 2026-03-01", "expire", {"ID": ("F-1a2b3c",), "DATE": ("2026-03-01",)}),
        ("confirm F-1a2b3c", "confirm", {"ID": ("F-1a2b3c",)}),
        ("note 'data-plan'", "note", {"NAME": ("data-plan",)}),
        ("project", "project", {}),
        ("project attach churn-1a2b", "project attach", {"SLUG": ("churn-1a2b",)}),
        ("project accept", "project accept", {}),
        (
            "models fetch small --from ./w.zip",
            "models fetch",
            {"NAME": ("small",), "from": ("./w.zip",)},
        ),
        ("config agent.mode", "config", {"KEY": ("agent.mode",)}),
        ("facts?", "help", {"VERB": ("facts",)}),
        ("?", "help", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_is_taken_apart(line: str, command: str, values: dict[str, object]) -> None:
    parsed = parse_memory(line)
    assert (parsed.command.name, given_by(parsed)) == (command, values)


def test_options_may_stand_between_arguments_and_text() -> None:
    parsed = parse_memory("correct F-1a2b3c 2 --from S-1 4 6 Prices are in cents")
    assert given_by(parsed) == {"ID": ("F-1a2b3c",), "REVISION": (2,), "from": ("S-1", 4, 6)}
    assert parsed.text == "Prices are in cents"


def test_a_setting_takes_its_value_as_text() -> None:
    parsed = parse_memory("config agent.model local/small one")
    assert (parsed.word("KEY"), parsed.text) == ("agent.model", "local/small one")


def test_a_search_for_dashes_says_what_to_write_before_them() -> None:
    with pytest.raises(UnknownVerb, match="write -- before it"):
        parse_memory("search --all")
    assert parse_memory("search -- --all").text == "--all"


def test_a_quoted_option_value_may_hold_spaces_and_the_other_quote() -> None:
    parsed = parse_agent("--system 'be \"brief\"' -m small what's up?")
    assert (parsed.word("system"), parsed.word("model")) == ('be "brief"', "small")
    assert parsed.text == "what's up?"


def test_the_last_line_break_of_a_body_is_the_cells_own() -> None:
    assert parse_agent("", "a\n\n").text == "a\n"


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        ("rember x", UnknownVerb, "no such verb; did you mean remember? %memory help lists them."),
        (
            "delete F-1a2b3c",
            UnknownVerb,
            "no such verb; did you mean forget? %memory help lists them.",
        ),
        ("xyzzy", UnknownVerb, "no such verb; %memory help lists them."),
        ("facts --kidn x", UnknownVerb, "no such option; did you mean --kind?"),
        ("confirm --dry", UnknownVerb, "confirm takes no options. Type: %memory confirm ID"),
        ("facts --kind", InputError, f"--kind needs {KINDS}. Type: {FACTS}"),
        ("facts --kind decisions", InputError, f"--kind must be {KINDS}; did you mean decision?"),
        ("facts --all --all", InputError, f"give --all once. Type: {FACTS}"),
        ("facts --all=yes", InputError, f"--all takes no value. Type: {FACTS}"),
        ("facts many", InputError, f"OFFSET must be a whole number from 0. Type: {FACTS}"),
        ("facts --at SECRET", InputError, f"--at must be {WANTED}."),
        ("facts --at", InputError, f"--at needs {WANTED}. Type: {FACTS}"),
        ("expire F-1a2b3c soon", InputError, f"DATE must be {WANTED}."),
        ("expire F-1a2b3c", InputError, "expire needs DATE. Type: %memory expire ID DATE"),
        ("why 0", InputError, "TURN must be a whole number from 1. Type: %memory why [TURN] [ID]"),
        ("why 1 F-7k2m9q 2", InputError, "why takes no more. Type: %memory why [TURN] [ID]"),
        ("forget", InputError, "forget needs ID. Type: %memory forget ID [--dry-run]"),
        ("remember", InputError, f"remember needs TEXT. Type: {REMEMBER}"),
        ("correct F-1a2b3c", InputError, f"correct needs REVISION TEXT. Type: {CORRECT}"),
        (
            "remember -5 is the floor",
            UnknownVerb,
            f"no such option; remember takes --kind, --since, --derived-from, --again. {DASH}",
        ),
        (
            "note 'a b",
            InputError,
            "a quote was opened and not closed; close it before the next word.",
        ),
        (
            "models fech x",
            InputError,
            f"models takes no such word; did you mean fetch? Type: {MODELS}",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_input_says_what_to_type_instead(
    line: str, error: type[MemnbError], says: str
) -> None:
    with pytest.raises(error) as caught:
        parse_memory(line)
    assert (type(caught.value), str(caught.value)) == (error, says)


@pytest.mark.parametrize(
    ("line", "body", "says"),
    [
        ("", None, f"%agent needs TEXT. Type: {AGENT_USAGE}"),
        ("hello", "more", "write the message below the %%agent line; only options stand on it."),
        (
            "--max-steps 51 x",
            None,
            f"--max-steps must be a whole number from 1 to 50. Type: {AGENT_USAGE}",
        ),
        (
            "--max-steps ٣ x",
            None,
            f"--max-steps must be a whole number from 1 to 50. Type: {AGENT_USAGE}",
        ),
        ("-o class x", None, "--output must be a Python name, such as reply."),
        ("--mode", "x", f"--mode needs readonly, ask or auto. Type: {AGENT_USAGE}"),
        ("--mode --private x", None, f"--mode needs readonly, ask or auto. Type: {AGENT_USAGE}"),
        ("--modle x", "y", f"no such option; did you mean --mode or --model? {DASH}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_input_of_the_agent_says_what_to_type_instead(
    line: str, body: str | None, says: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse_agent(line, body)
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("a b", "a b"),
        (' "a b" ', "a b"),
        ("'a' b", "'a' b"),
        ('"a', '"a'),
        ("", ""),
        ('"a b" "c d"', '"a b" "c d"'),
        ('"a" and not "b"', '"a" and not "b"'),
        ("'a' 'b'", "'a' 'b'"),
        ('"say "a" to b"', 'say "a" to b'),
        ("'the users' data'", "the users' data"),
        ("'don't do it'", "don't do it"),
    ],
)
def test_quotes_around_all_of_a_path_are_taken_off(typed: str, meant: str) -> None:
    assert unquoted(typed) == meant


def test_the_verbs_of_this_step_are_those_that_work() -> None:
    names = "status help facts fact recall read search why remember correct expire"
    names += " confirm forget purge undo redo clear"
    names += " show edit notes note log scratchpad sessions session new compact handoff resume"
    names += " project config on"
    names += " off models learn populate backfill review recent conflicts diagnostics preview usage"
    assert [verb.name for verb in VERBS] == f"{names} doctor".split()


def test_no_two_verbs_or_options_share_a_name() -> None:
    for command in (*VERBS, AGENT, *(sub for verb in VERBS for sub in verb.subcommands)):
        spellings = [text for option in command.options for text in option.spellings]
        labels = [argument.label for argument in command.arguments]
        assert len({*spellings, *labels}) == len(spellings) + len(labels)
    assert len({verb.name for verb in VERBS} | set(MEMORY_NAMES)) == len(VERBS) + len(MEMORY_NAMES)


def test_every_usage_line_can_be_typed() -> None:
    samples = {"number": "3", "date": "2026-03-01"}
    for verb in VERBS:
        words = [verb.name]
        words += [
            (*argument.choices, samples.get(argument.type, "x"))[0] for argument in verb.arguments
        ]
        words += ["text"] if verb.text else []
        assert parse_memory(" ".join(words)).command is verb


def test_help_begins_by_saying_which_memory_is_meant() -> None:
    assert help_text().startswith("agent memory")
    assert all(help_text(verb).startswith("agent memory") for verb in (*VERBS, AGENT))


def test_help_is_as_kept(golden: Callable[[str, str], None]) -> None:
    each = "\n\n".join(help_text(command) for command in (*VERBS, AGENT))
    golden("help.txt", f"{help_text()}\n\n{each}\n")


def test_a_command_with_many_options_has_a_short_usage_line() -> None:
    assert usage(AGENT) == "%agent [OPTIONS] TEXT"


BEHIND = "stands behind the text and would be part of it"


@pytest.mark.parametrize(
    ("parse", "line", "flag"),
    [
        pytest.param(parse_agent, "between us --private", "--private", id="a switch"),
        pytest.param(
            parse_agent, "hello --model openai/x", "--model", id="an option and its value"
        ),
        pytest.param(parse_agent, "hello --mode=auto", "--mode", id="a value behind ="),
        pytest.param(parse_memory, "remember We use X --kind decision", "--kind", id="remember"),
        pytest.param(
            parse_memory, "correct F-7k2m9q 1 We Y --since today", "--since", id="correct"
        ),
    ],
)
def test_an_option_behind_the_text_is_refused(
    parse: Callable[[str], Arguments], line: str, flag: str
) -> None:
    assert refusal(parse, line).startswith(f"{flag} {BEHIND}")


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("remember -- We run it with --kind decision", id="the options were ended"),
        pytest.param('remember "We run it with --kind decision"', id="quoted as a whole"),
        pytest.param("remember Use --kind decision for all of it", id="in the middle"),
        pytest.param("remember Call it with --private", id="an option of another verb"),
        pytest.param("remember What is --kind", id="an option that would need a value"),
    ],
)
def test_text_that_only_speaks_of_an_option_is_kept(line: str) -> None:
    assert "--" in parse_memory(line).text


@pytest.mark.parametrize(
    ("line", "what"),
    [
        pytest.param("remember --since 2026-03-01 09:30 It began", "as one word", id="since"),
        pytest.param("expire F-7k2m9q 2026-03-01 09:30", "as one word", id="expire"),
        pytest.param("facts --at 2026-03-01 9:30", "as one word", id="at"),
        pytest.param("remember --derived-from F-7k2m9q, F-1b8hyr It is so", "no blanks", id="ids"),
        pytest.param("remember --derived-from F-7k2m9q ,F-1b8hyr It is", "no blanks", id="comma"),
    ],
)
def test_a_value_that_goes_on_behind_a_blank_is_refused(line: str, what: str) -> None:
    assert what in refusal(parse_memory, line)


def test_a_text_that_begins_with_a_time_can_be_kept() -> None:
    parsed = parse_memory("remember --since 2026-03-01 -- 09:30 is when we meet")
    assert parsed.text == "09:30 is when we meet"


@pytest.mark.parametrize("topic", ["agent", "%agent", "%%agent"])
def test_the_options_of_the_agent_can_be_looked_up(memory: memnb.Memory, topic: str) -> None:
    said = Said("help", via="command")
    shown = str(run_verb(memory, parse_memory(f"help {topic}"), said, lambda *_: None))
    assert all(option.flag in shown for option in AGENT.options)
    assert "%memory help agent" in help_text()
    assert "%memory help agent" in refusal(parse_agent, "--help")


def test_help_fits_into_a_terminal() -> None:
    table = help_text().splitlines()
    assert max(len(line) for line in table) <= 80
    assert all(command.help.split()[-1] in help_text() for command in VERBS)
