"""What a Git configuration file sets, read without the `git` program.

Only files of the repository itself are read: `include` is not followed, so a repository can't
make us open files elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

__all__ = ["GitSettings", "is_true", "read_settings"]

GitSettings: TypeAlias = dict[str, str | None]
"""`section.key` in lower case, without subsections, to the last value; None for a bare key."""

_MAX_BYTES: Final = 1_048_576

# Syntax: git-config(1). The alternatives exclude each other by their first character, so that
# matching takes linear time on a hostile file.
_GAP: Final = re.compile(r"(?:\s|[#;][^\n]*)*")
_SECTION: Final = re.compile(r'\[\s*([\w.-]+)(\s+"(?:[^"\\\n]|\\.)*")?\s*\]')
_PIECE: Final = re.compile(r'"((?:[^"\\\n]|\\\r?\n|\\.)*)"|(\\\r?\n)|(\\.)|([^"\\#;\n]+)')
_ENTRY: Final = re.compile(
    r"([A-Za-z][A-Za-z0-9-]*)[ \t]*"
    r'(?:=[ \t]*((?:"(?:[^"\\\n]|\\\r?\n|\\.)*"|\\\r?\n|\\.|[^"\\#;\n])*))?'
)
_ESCAPE: Final = re.compile(r"\\(\r?\n|.)")
_ESCAPED: Final = {"n": "\n", "t": "\t", "b": "\b"}


def read_settings(common: Path) -> GitSettings:
    """The settings of the main checkout of the repository in `common`; later ones win.

    With `extensions.worktreeConfig` Git keeps `core.bare` and `core.worktree` in
    `config.worktree`, so that is read too.

    Raises:
        OSError: the file is there and can't be read.
    """
    settings = _read(common / "config")
    if is_true(settings, "extensions.worktreeconfig"):
        settings.update(_read(common / "config.worktree"))
    return settings


def is_true(settings: GitSettings, name: str) -> bool:
    """Whether Git takes the setting for true; a key without a value is."""
    if name not in settings:
        return False
    value = settings[name]
    return value is None or value.lower() in {"true", "yes", "on", "1"}


def _read(path: Path) -> GitSettings:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES)
    except FileNotFoundError:
        return {}
    return dict(_entries(os.fsdecode(data).removeprefix("\ufeff")))


def _entries(text: str) -> Iterator[tuple[str, str | None]]:
    section = ""
    at = 0
    while True:
        at = _end(_GAP.match(text, at), at)
        if header := _SECTION.match(text, at):
            # A subsection such as [core "x"] is another namespace; its keys mean nothing here.
            section = "" if header[2] else header[1].lower()
            at = header.end()
        elif entry := _ENTRY.match(text, at):
            if section:
                value = None if entry[2] is None else _plain(entry[2])
                yield f"{section}.{entry[1].lower()}", value
            at = entry.end()
        else:  # the end, or a line Git itself would refuse
            return


def _plain(value: str) -> str:
    """The value without quotes, escapes, continued lines and trailing blanks."""
    pieces: list[str] = []
    kept = 0  # how many pieces a trailing blank can't be cut from
    for match in _PIECE.finditer(value):
        quoted, continued, escaped, bare = match.groups()
        if bare is not None:
            pieces.append(bare)
        elif continued is None:
            pieces.append(_ESCAPE.sub(_unescaped, escaped or quoted or ""))
            kept = len(pieces)
    return "".join(pieces[:kept]) + "".join(pieces[kept:]).rstrip()


def _unescaped(match: re.Match[str]) -> str:
    character = match[1]
    return "" if character.endswith("\n") else _ESCAPED.get(character, character)


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise
