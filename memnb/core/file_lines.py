r"""File lines: facts that say which line a file held when it was read.

1. Such a fact has one form: the path, ` contains `, the exact line as a JSON string:
   `pyproject.toml contains "requires-python = \">=3.12\""`.
2. It is proved by records alone: a call of `read_file`, its whole result with that very line under
   its number, and a message of the same exchange that says the fact and nothing else.
3. It says what was read then, neither what the file holds now nor that anybody should heed it.
   Output of a shell, the web, a kernel or any other tool proves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from memnb.core.bodies import (
    AssistantBody,
    ToolBody,
    UserBody,
    read_assistant,
    read_tool,
    read_user,
)
from memnb.core.records import Record
from memnb.errors import StoreDamaged

__all__ = ["Said", "file_line", "proof", "said_in"]

Said: TypeAlias = UserBody | AssistantBody | ToolBody
"""A message, or the result of a tool."""

TOOL: Final = "read_file"
_VERB: Final = " contains "
_HEADING: Final = re.compile(
    r"(?P<path>.+), lines (?P<start>[0-9]{1,9}) to (?P<end>[0-9]{1,9}) of [0-9]{1,9}"
    r"(?P<cut> \(cut\))?"
)
_NOT_AS_IT_IS: Final = ("⟦secret: ", "\ufffd")
"""What stands in a result for what the file holds there: a secret, a byte that is no UTF-8."""

_WHOLE: Final = ("end", "calls")


def file_line(path: str, line: str) -> str:
    """The text of the fact that `path` held `line`."""
    return f"{path}{_VERB}{json.dumps(line, ensure_ascii=False)}"


def proof(text: str, said: Mapping[int, Said], *, output_line: str = "") -> tuple[int, ...] | None:
    """The records that prove a fact of this kind; None when these don't.

    Args:
        text: the whole fact.
        said: the messages and results of one exchange, by number and in order.
        output_line: the line of output that is meant, with its number; any when left out.
    """
    claimed = _read(text)
    if claimed is None:
        return None
    path, line = claimed
    says_it = next((seq for seq, one in said.items() if _says(one, text)), None)
    if says_it is None:
        return None
    for seq, result in said.items():
        if not isinstance(result, ToolBody) or not _shows(result, path, line, output_line):
            continue
        called = _called(result, path, {key: one for key, one in said.items() if key < seq})
        if called is not None:
            return tuple(sorted({called, seq, says_it}))
    return None


def said_in(records: Sequence[Record | None]) -> dict[int, Said]:
    """The messages and results of records, by number; what can't be read is left out."""
    found: dict[int, Said] = {}
    for record in records:
        if record is None:
            continue
        try:
            if record.head.type == "user":
                found[record.head.seq] = read_user(record)
            elif record.head.type == "assistant":
                found[record.head.seq] = read_assistant(record)
            elif record.head.type == "tool":
                found[record.head.seq] = read_tool(record)
        except StoreDamaged:
            continue
    return found


def _read(text: str) -> tuple[str, str] | None:
    """Path and line of a fact of this form; None when it has another."""
    path, verb, rest = text.partition(f'{_VERB}"')
    try:
        line = json.loads(f'"{rest}') if verb else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, str) or not line or file_line(path, line) != text:
        return None
    return (path, line) if _is_nameable(path) else None


def _is_nameable(path: str) -> bool:
    if path.casefold().endswith(".ipynb"):
        return False  # what is shown of a notebook are its cells' sources, not its lines
    segments = path.split("/")
    return path.isprintable() and not any(part in ("", ".", "..", "~") for part in segments)


def _says(one: Said, text: str) -> bool:
    """Whether a message says exactly this, and all of it."""
    if isinstance(one, AssistantBody):
        return one.stop in _WHOLE and one.text.strip() == text
    if isinstance(one, UserBody):
        is_typed = all(part.type == "typed" for part in one.parts)
        return is_typed and "".join(part.text for part in one.parts).strip() == text
    return False


def _shows(result: ToolBody, path: str, line: str, output_line: str) -> bool:
    """Whether a whole result of `read_file` shows the line of that file, under its number."""
    if result.name != TOOL or result.trust != "file" or not result.ok or result.cut is not None:
        return False
    return any(
        shown == line and output_line in ("", f"{number}\t{shown}")
        for number, shown in _lines(result.output, path)
    )


def _lines(output: str, path: str) -> Iterator[tuple[int, str]]:
    """The numbered lines in the output of `read_file`, if it is about this path and whole."""
    heading, _, rest = output.partition("\n")
    match = _HEADING.fullmatch(heading)
    if match is None or match["path"] != path:
        return
    first, last = int(match["start"]), int(match["end"])
    lines = rest.removesuffix("\n").split("\n")
    # A line too long to be shown whole is shown alone.
    if len(lines) != last - first + 1 or (match["cut"] and len(lines) == 1):
        return
    for number, text in enumerate(lines, first):
        prefix = f"{number}\t"
        if not text.startswith(prefix):
            return
        if not any(mark in text for mark in _NOT_AS_IT_IS):
            yield number, text.removeprefix(prefix)


def _called(result: ToolBody, path: str, before: Mapping[int, Said]) -> int | None:
    """The message before a result that called for it, with this very path."""
    for seq, one in before.items():
        if not isinstance(one, AssistantBody):
            continue
        for call in one.calls:
            if call.call_id == result.call_id and call.name == TOOL and _asks(call.arguments, path):
                return seq
    return None


def _asks(arguments: str, path: str) -> bool:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    asked = value.get("path") if isinstance(value, dict) else None
    return isinstance(asked, str) and asked.removeprefix("./") == path
