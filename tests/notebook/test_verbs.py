"""Every verb that can be typed does something, and nothing else does."""

import pytest

import memnb
from memnb.errors import InvalidName
from memnb.memory.stating import Said
from memnb.notebook.arguments import parse_memory
from memnb.notebook.commands import VERBS
from memnb.notebook.verbs import HANDLED, run_verb


def test_the_verbs_that_parse_are_those_that_run():
    typed = {form.name for verb in VERBS for form in (verb, *verb.subcommands)}
    assert typed == HANDLED


@pytest.mark.parametrize("day", ["yesterday", "plan", "2026-1-1", "MEMORY"])
def test_a_log_is_of_a_day(memory: memnb.Memory, day: str) -> None:
    with pytest.raises(InvalidName, match="by its day"):
        run_verb(memory, parse_memory(f"log {day}"), Said("log", via="command"), lambda *_: None)
