"""Words that were typed in another place than the one where they count.

What stands behind the text is text. Where it is an option all the same, or the rest of a value that
was typed with a blank in it, saying so is better than keeping or sending it as if it were words.
"""

from __future__ import annotations

import re
from typing import Final

from memnb.errors import InputError
from memnb.notebook.commands import Argument, Command

__all__ = ["require_no_option_behind", "require_no_rest"]

_TIME: Final = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?\Z")


def require_no_option_behind(command: Command, text: str) -> None:
    """Refuse a text that ends with an option of the command, such as `hello --private`.

    Raises:
        InputError: it does; `--` before the text keeps it as it is.
    """
    words = text.split()
    for n_values, word in enumerate(words[:-3:-1]):
        spelling, is_glued, _ = word.partition("=")
        option = command.option(spelling) if word.startswith("--") else None
        if option is not None and len(option.values) == n_values + bool(is_glued):
            raise InputError(
                f"{option.flag} stands behind the text and would be part of it: put options before"
                " the text, or write -- before a text that ends so."
            )


def require_no_rest(value: Argument, word: str, following: str, name: str) -> None:
    """Refuse a value that goes on behind a blank: a time behind a day, a list behind a comma.

    Raises:
        InputError: it does; `--` before a text that begins so keeps it as it is.
    """
    if value.type == "date" and "T" not in word and ":" not in word and _TIME.match(following):
        raise InputError(f"{name}: write day and time as one word, such as 2026-03-01T09:30.")
    if value.type == "fact" and (word.endswith(",") or following.startswith(",")):
        raise InputError(f"{name}: write ids with commas and no blanks between them.")
