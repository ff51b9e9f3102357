"""Reading the files of a person's project: text only, inside the checkout, nothing private.

1. A path is resolved first; what counts is where it leads, not how it is written.
2. From the checkout down each folder is opened by name without following a link, so what is
   read is what was checked, whatever is swapped meanwhile.
3. Names that hold credentials or Git's own data, and the folders where memnb keeps things, are
   refused before it shows whether they exist.
4. Nothing waits: a pipe, socket or device is refused, never opened.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memnb.errors import InputError, InvalidName, Refused

__all__ = ["MAX_FILE_BYTES", "MAX_LINES", "MAX_OUTPUT_BYTES", "FileLines", "ProjectFiles"]

MAX_FILE_BYTES: Final = 10 * 1024 * 1024
MAX_LINES: Final = 2000
MAX_OUTPUT_BYTES: Final = 16 * 1024 - 512
"""Of the 16 KiB that a tool's result may have, all but the room for its heading."""

_MAX_PATH_CHARACTERS: Final = 4096
_SNIFF_BYTES: Final = 8192

_PRIVATE_ANYWHERE: Final = (
    *(".env*", ".ssh", ".aws", ".azure", ".config", ".docker", ".git", ".gnupg", ".huggingface"),
    *(".kaggle", ".kube", ".streamlit"),
)
_PRIVATE_FILES: Final = (
    *(".boto", ".databrickscfg", ".dockercfg", ".dockerconfigjson", ".git-credentials"),
    *(".htpasswd", ".netrc*", ".npmrc", ".pgpass*", ".pypirc", ".renviron", ".s3cfg"),
    *(".vault-token", ".*_history", "*.env", "*credentials*.json", "id_*", "kaggle.json"),
    *("secrets.*", "service*account*.json", "*.tfstate*"),
    *("*.key", "*.key.*", "*.kdbx", "*.p12", "*.pem", "*.pem.*", "*.pfx", "*.ppk"),
)

_OUTSIDE: Final = "that path leads outside the project; name a file inside it."
_PRIVATE: Final = "that path may hold credentials or private data, so it is never read."
_MISSING: Final = "no such file in the project; paths start at the project's folder."
_NO_PROJECT: Final = (
    "this notebook's folder is the home folder, which is no project; move the notebook into a"
    " folder of its own to have its files read."
)

_OPEN: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_OPEN_FOLDER: Final = _OPEN | getattr(os, "O_DIRECTORY", 0)
_CELL_KINDS: Final = ("code", "markdown", "raw")
_LINE_END: Final = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class FileLines:
    """Lines `start` to `end` of a file that has `n_lines`; both inclusive, counted from 1.

    `path` starts at the project's folder. `truncated` tells that fewer lines, or less of a line,
    fitted than were asked for.
    """

    path: str
    start: int
    end: int
    n_lines: int
    lines: tuple[str, ...]
    truncated: bool

    @property
    def text(self) -> str:
        """The lines with their numbers, as the model sees them."""
        numbered = enumerate(self.lines, start=self.start)
        return "".join(_numbered(number, line) for number, line in numbered)


class ProjectFiles:
    """The files of one checkout that may be read."""

    def __init__(
        self,
        checkout: Path,
        *,
        private: Sequence[Path],
        user_home: Path,
        notebook_folder: Path | None = None,
    ) -> None:
        """Read below `checkout`.

        Args:
            checkout: the project's folder, the checkout that the notebook is in.
            private: folders that are never read, such as memnb's home and state.
            user_home: the person's home folder, which is no project, nor is one that holds it.
            notebook_folder: what may be read when the checkout is no project.
        """
        self._root = _project_root(checkout, user_home.resolve(), notebook_folder)
        self._private = tuple(path.resolve() for path in private)

    def read(
        self,
        path: str,
        start: int = 1,
        end: int | None = None,
        *,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> FileLines:
        """Lines of a text file; of a notebook, the sources of its cells.

        Args:
            path: relative to the project's folder, or absolute inside it.
            start: the first line, from 1.
            end: the last line; None for as far as fits.
            max_bytes: what the numbered lines may hold together, in UTF-8; 512 or more.

        Raises:
            Refused: the path leads outside, is private, or holds no text of at most 10 MiB.
            InvalidName: it is not a path, or nothing is there. InputError: no such lines.
        """
        if start < 1 or (end is not None and end < start):
            raise InputError("lines are counted from 1, and the last can't be before the first.")
        if self._root is None:
            raise Refused(_NO_PROJECT)
        parts = self._checked_parts(self._root, path)
        with _readable():
            data = self._bytes(self._root, parts)
        lines = _lines(data, is_notebook=parts[-1].casefold().endswith(".ipynb"))
        if start > max(len(lines), 1):
            raise InputError(f"the file has {len(lines):,} lines; start at one of them.")
        return _fitting("/".join(parts), lines, (start, end), max_bytes)

    def _checked_parts(self, root: Path, path: str) -> tuple[str, ...]:
        """The names that lead from the root to the file, none of them a link or private."""
        if not path or len(path) > _MAX_PATH_CHARACTERS or not path.isprintable():
            raise InvalidName("give the path of one file, in visible characters.")
        asked = Path(os.path.normpath(root / path))
        # What the path says is judged before the disk is asked, so that no answer tells whether
        # something private exists; then the same for where it leads.
        _require_public(asked.relative_to(root).parts if asked.is_relative_to(root) else ())
        with _readable():
            target = Path(os.path.realpath(root / path))
        if not target.is_relative_to(root):
            raise Refused(_OUTSIDE)
        if any(target.is_relative_to(folder) for folder in self._private):
            raise Refused(_PRIVATE)
        parts = target.relative_to(root).parts
        _require_public(parts)
        if not parts:
            raise Refused("that is the project's folder; name a file in it.")
        return parts

    def _bytes(self, root: Path, parts: Sequence[str]) -> bytes:
        # By identity too: where names ignore case, a folder has many spellings.
        private = {_identity(path.stat()) for path in self._private if path.is_dir()}
        with contextlib.ExitStack() as stack:
            folder_fd = _opened(stack, str(root), _OPEN_FOLDER, None)
            for part in parts[:-1]:
                folder_fd = _opened(stack, part, _OPEN_FOLDER, folder_fd)
                if _identity(os.fstat(folder_fd)) in private:
                    raise Refused(_PRIVATE)
            # Opening a device can do things, so its kind is looked at before, and again after.
            _require_text_file(os.stat(parts[-1], dir_fd=folder_fd, follow_symlinks=False))
            fd = _opened(stack, parts[-1], _OPEN, folder_fd)
            _require_text_file(os.fstat(fd))
            with open(fd, "rb", closefd=False) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:  # it grew
            raise Refused(_too_large(len(data)))
        return data


def _project_root(checkout: Path, user_home: Path, notebook_folder: Path | None) -> Path | None:
    for folder in (checkout, notebook_folder):
        if folder is not None and not user_home.is_relative_to(folder.resolve()):
            return folder.resolve()
    return None


def _require_public(parts: Sequence[str]) -> None:
    names = [part.casefold() for part in parts]
    is_private = any(_matches(name, _PRIVATE_ANYWHERE) for name in names) or (
        bool(names) and _matches(names[-1], _PRIVATE_FILES)
    )
    if is_private or not all(name.isprintable() for name in names):
        raise Refused(_PRIVATE)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _opened(stack: contextlib.ExitStack, name: str, flags: int, folder_fd: int | None) -> int:
    fd = os.open(name, flags, dir_fd=folder_fd)
    stack.callback(os.close, fd)
    return fd


def _require_text_file(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise Refused("that is a folder; name a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise Refused("that is no regular file, so it isn't read.")
    if status.st_size > MAX_FILE_BYTES:
        raise Refused(_too_large(status.st_size))


def _too_large(n_bytes: int) -> str:
    return f"the file has {n_bytes:,} bytes; at most 10 MiB are read. Load it in a cell instead."


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidName(_MISSING) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "input/output error"
        raise Refused(f"the file can't be read: {reason}; check its permissions.") from None


def _lines(data: bytes, *, is_notebook: bool) -> list[str]:
    if b"\0" in data[:_SNIFF_BYTES]:
        raise Refused("that is a binary file; load it in a cell instead.")
    text = data.decode("utf-8-sig", errors="replace")
    if is_notebook:
        text = _notebook_text(text)
    lines = _LINE_END.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def _fitting(
    path: str, lines: Sequence[str], asked: tuple[int, int | None], room: int
) -> FileLines:
    start, end = asked
    last = len(lines) if end is None else min(end, len(lines))
    kept: list[str] = []
    is_cut = False
    for number in range(start, min(last, start + MAX_LINES - 1) + 1):
        line = lines[number - 1]
        n_bytes = len(_numbered(number, line).encode(errors="replace"))
        if n_bytes > room:
            if not kept:  # a line that never fits: its beginning is better than nothing
                kept.append(_cut(line, n_bytes - room))
                is_cut = True
            break
        kept.append(line)
        room -= n_bytes
    shown_end = start + len(kept) - 1
    truncated = is_cut or shown_end < last
    return FileLines(path, start, shown_end, len(lines), tuple(kept), truncated)


def _numbered(number: int, line: str) -> str:
    return f"{number}\t{line}\n"


def _cut(line: str, n_excess_bytes: int) -> str:
    data = line.encode(errors="replace")
    marker = f" […cut: the line has {len(data):,} bytes]"
    n_kept = len(data) - n_excess_bytes - len(marker.encode())
    return data[:n_kept].decode(errors="ignore") + marker


def _notebook_text(text: str) -> str:
    """The sources of a notebook's cells, each under its number and kind; no outputs."""
    try:
        cells = json.loads(text)["cells"]
        return "\n".join(_cell_text(number, cell) for number, cell in enumerate(cells, start=1))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused(
            "that notebook isn't JSON of format 4; open it in Jupyter and save it again."
        ) from None


def _cell_text(number: int, cell: Any) -> str:
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    kind = cell["cell_type"] if cell["cell_type"] in _CELL_KINDS else "other"
    return f"# --- cell {number} · {kind} ---\n{text}\n"
