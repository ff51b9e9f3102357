"""What a person's config.toml and a project's pyproject.toml say about memnb.

1. Neither can stop memnb: what can't be read is named and counts as empty.
2. Both are only ever read.
3. A pyproject.toml comes with a cloned repository: its size and the work of parsing it are
   bounded, and one that doesn't mention memnb isn't parsed at all.
4. No message repeats what a file holds.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from memnb.storage.files import shown

__all__ = ["Tables", "read_config", "read_project_table"]

Tables: TypeAlias = tuple[Mapping[str, object], tuple[str, ...]]
"""What a file says, and one line for what was wrong with it."""

_CONFIG_MAX_BYTES: Final = 256 * 1024
_PROJECT_MAX_BYTES: Final = 1024 * 1024
_MAX_WORK: Final = 30_000_000
"""One or two seconds of parsing at worst. Files of 5,000 ordinary lines come to a tenth of it."""
_HEADER_WORK: Final = 16
"""How much longer a part of a header takes than a part of a key, by measurement."""

# Without it, opening a pipe of that name would wait for ever.
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LINE: Final = re.compile(r"\(at line ([0-9]+), column [0-9]+\)\Z")


class _Unusable(Exception):
    """What is wrong with a file, to follow its path."""


def read_config(path: Path) -> Tables:
    """The person's own settings, kept in `path`; empty when there is no such file.

    A file that can't be read, is longer than 256 KiB or isn't TOML counts as empty, with a notice.
    """
    try:
        return _parsed(_content(path, _CONFIG_MAX_BYTES)), ()
    except _Unusable as problem:
        return {}, (f"{shown(path)}{problem}; until then none of its settings count.",)


def read_project_table(checkout: Path) -> Tables:
    """`[tool.memnb]` of the pyproject.toml in `checkout`; empty when there is none.

    A file that can't be read, is longer than 1 MiB, or mentions memnb and isn't TOML counts as
    empty, with a notice; so does a `tool.memnb` that isn't a table.
    """
    path = checkout / "pyproject.toml"
    try:
        return _own_table(_content(path, _PROJECT_MAX_BYTES)), ()
    except _Unusable as problem:
        return {}, (f"{shown(path)}{problem}; until then its [tool.memnb] doesn't count.",)


def _own_table(pyproject: bytes) -> dict[str, Any]:
    tool = _parsed(pyproject).get("tool") if b"memnb" in pyproject else None
    table = tool.get("memnb", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise _Unusable(": make tool.memnb a table")
    return table


def _content(path: Path, max_bytes: int) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | _NO_WAIT | _BINARY)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise _Unusable(" is not a regular file; move it away")
            with os.fdopen(fd, "rb", closefd=False) as file:
                data = file.read(max_bytes + 1)
        finally:
            os.close(fd)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "input/output error"
        raise _Unusable(f" can't be read ({reason}); make it readable") from None
    if len(data) > max_bytes:
        raise _Unusable(f" is longer than {max_bytes // 1024} KiB; shorten it")
    return data


def _parsed(data: bytes) -> dict[str, Any]:
    if not data:
        return {}
    import tomllib  # noqa: PLC0415 - most projects and many people have no settings to parse

    data = data.removeprefix(_BYTE_ORDER_MARK)
    _check_work(data)
    try:
        text = data.decode()
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Unusable(f", line {line}: not UTF-8; correct it") from None
    except tomllib.TOMLDecodeError as error:
        # Up to Python 3.13 the line is in the message only; without one it is the last.
        found = _LINE.search(str(error))
        line = int(found[1]) if found else data.rstrip().count(b"\n") + 1
        raise _Unusable(f", line {line}: not valid TOML; correct it") from None
    except (RecursionError, ValueError):  # brackets without end, a number of thousands of digits
        raise _Unusable(": a value is nested too deeply or too long; correct it") from None


def _check_work(data: bytes) -> None:
    """Refuse keys and headers of thousands of parts.

    tomllib takes time by the square of a key's parts, and for each line by the parts of the header
    above it: a megabyte can take it an hour. Neither goes beyond its line, so dots bound the parts.
    """
    lines = data.split(b"\n")
    in_a_line = max(line.count(b".") for line in lines)
    in_a_header = max(line.count(b".") * line.lstrip().startswith(b"[") for line in lines)
    work = in_a_line * data.count(b".") + _HEADER_WORK * in_a_header * len(lines)
    if work > _MAX_WORK:
        raise _Unusable(": a line has too many dots; shorten it")
