"""Every verb that can be typed does something, and nothing else does."""

from memnb.notebook.commands import VERBS
from memnb.notebook.verbs import HANDLED


def test_the_verbs_that_parse_are_those_that_run():
    typed = {form.name for verb in VERBS for form in (verb, *verb.subcommands)}
    assert typed == HANDLED
