"""What a kernel does to its files, by its system calls: is everything flushed in time?

1. When something is acknowledged, what it wrote is on the disk: file, name, and folder.
2. A file is flushed before it takes its name, and never emptied to be written anew.
3. A record is flushed before SQLite is told of it.

Exempt is what may be lost: lock files, SQLite's shared memory, the database file itself (its WAL
holds the same), the WAL after operations that change no fact, and what is noted of a store apart
from it, which may be behind.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_CALLS: Final = (
    *("creat", "fdatasync", "fsync", "ftruncate", "link", "linkat", "mkdir", "mkdirat", "open"),
    *("openat", "pread64", "pwrite64", "pwritev", "rename", "renameat", "renameat2"),
    *("unlink", "write", "writev"),
)
_FACT_OPERATIONS: Final = frozenset({"correct", "forget", "remember"})
_LINE: Final = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>.*)$")
_UNFINISHED: Final = re.compile(r"^(?P<pid>\d+) +(?P<start>\w+\(.*) <unfinished \.\.\.>$")
_RESUMED: Final = re.compile(r"^(?P<pid>\d+) +<\.\.\. \w+ resumed>(?P<end>.*)$")
_FD: Final = re.compile(r"^\d+<(?P<path>[^>]*)>")
_SAID: Final = re.compile(r'1<pipe:[^>]*>, "\{\\"(?P<what>\w+)\\": \\"(?P<operation>\w+)\\"')
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


def why_no_strace() -> str:
    """Why system calls can't be followed here; "" when they can."""
    if shutil.which("strace") is None:
        return "there is no strace on this machine"
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode:
        return "strace isn't allowed here"
    return ""


def strace(trace: Path, *options: str) -> tuple[str, ...]:
    """What to put before a command whose calls are written to `trace`."""
    traced = ",".join(f"?{name}" for name in _CALLS)
    command = ("strace", "-f", "-y", "-qq", "-s", "200", "-e", f"trace={traced}")
    return (*command, *options, "-o", str(trace))


@dataclass(frozen=True)
class Call:
    """A system call that came back."""

    name: str
    arguments: str
    result: str

    @property
    def has_failed(self) -> bool:
        return self.result.startswith("-1")

    @property
    def is_injected(self) -> bool:
        return "(INJECTED)" in self.result

    @property
    def file(self) -> str:
        """The file that its first argument, a descriptor, is open on."""
        match = _FD.match(self.arguments)
        return match["path"] if match else ""

    def paths(self) -> list[str]:
        """The files that it names, whole."""
        found, rest = [], self.arguments
        while match := _STRING.search(rest):
            before, name = rest[: match.start()], match[1]
            folders = re.findall(r"<([^>]*)>", before)
            found.append(name if name.startswith("/") or not folders else f"{folders[-1]}/{name}")
            rest = rest[match.end() :]
        return found

    def said(self) -> tuple[str, str] | None:
        """What a kernel said with it: `did` or `begins`, and which operation."""
        match = _SAID.match(self.arguments) if self.name == "write" else None
        return (match["what"], match["operation"]) if match else None


def calls(trace: Path) -> Iterator[Call]:
    """The calls of a trace, in the order in which they came back."""
    begun: dict[str, str] = {}
    for text in trace.read_text(errors="replace").splitlines():
        if match := _UNFINISHED.match(text):
            begun[match["pid"]] = match["start"]
            continue
        if match := _RESUMED.match(text):
            text = f"{match['pid']} {begun.pop(match['pid'], '')}{match['end']}"
        if match := _LINE.match(text):
            yield Call(match["call"], match["arguments"], match["result"])


@dataclass
class _Disk:
    """What isn't on the disk yet."""

    folder: str
    written: dict[str, None] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Folders whose names changed, and how."""
    known: set[str] = field(default_factory=set)
    is_log_flushed: bool = False
    """Whether SQLite's WAL was flushed since the present operation began."""

    def holds(self, path: str) -> bool:
        return path.startswith(self.folder + "/")


def unflushed(trace: Path, folder: Path) -> list[str]:
    """What a kernel below `folder` acknowledged, or built upon, before it was on the disk."""
    disk = _Disk(str(folder), known={str(path) for path in folder.rglob("*")})
    found: list[str] = []
    for call in calls(trace):
        if call.has_failed:
            continue
        said = call.said()
        if said is not None:
            found += _at_acknowledgement(*said, disk)
        elif call.name in _HANDLERS:
            found += _HANDLERS[call.name](call, disk)
    return found


def acknowledged_after_failure(trace: Path) -> list[str]:
    """Facts that were acknowledged although SQLite couldn't flush them."""
    found, n_failed = [], 0
    for call in calls(trace):
        said = call.said()
        if call.is_injected and call.name == "fdatasync":
            n_failed += 1
        elif said is not None:
            what, operation = said
            if n_failed and what == "did" and operation in ("correct", "remember"):
                found.append(f"{operation} was acknowledged after {n_failed} failed flushes")
            n_failed = 0
    return found


def n_injected(trace: Path) -> int:
    """How many calls were made to fail."""
    return sum(call.is_injected for call in calls(trace))


def _at_acknowledgement(what: str, operation: str, disk: _Disk) -> Iterator[str]:
    was_log_flushed, disk.is_log_flushed = disk.is_log_flushed, False
    if what != "did" or operation == "open":
        return
    for path in list(disk.written):
        if path.endswith("-wal") and operation == "forget" and was_log_flushed:
            continue  # that its bytes are gone may be noted once more
        if not _may_be_lost(path, operation):
            yield f"{operation} is acknowledged before {_shown(path)} is flushed"
    for path, change in disk.names.items():
        yield f"{operation} is acknowledged before the folder {_shown(path)} is flushed ({change})"
    disk.written.clear()
    disk.names.clear()


def _may_be_lost(path: str, operation: str) -> bool:
    if path.endswith("-wal"):
        return operation not in _FACT_OPERATIONS
    return path.endswith((".lock", "-shm", ".sqlite3")) or "/anchors/" in path


def _is_of_the_index(path: str) -> bool:
    """Whether a file is derived: what of it a power cut takes is made anew."""
    return "/index.sqlite3" in path


def _wrote(call: Call, disk: _Disk) -> Iterator[str]:
    if not disk.holds(call.file) or _is_of_the_index(call.file):
        return
    if call.file.endswith("-wal"):
        for path in disk.written:
            if path.endswith(".jsonl") and "/sessions/" in path:
                yield f"SQLite is told of records in {_shown(path)} that are not flushed"
    disk.written[call.file] = None


def _cut(call: Call, disk: _Disk) -> Iterator[str]:
    # A WAL is cut when all of it is in the database, and flushed there.
    if not call.file.endswith("-wal"):
        yield from _wrote(call, disk)


def _flushed(call: Call, disk: _Disk) -> Iterator[str]:
    disk.written.pop(call.file, None)
    disk.names.pop(call.file, None)
    is_log = call.file.endswith("-wal") and not _is_of_the_index(call.file)
    disk.is_log_flushed = disk.is_log_flushed or is_log
    yield from ()


def _opened(call: Call, disk: _Disk) -> Iterator[str]:
    match = re.search(r"<([^>]*)>$", call.result)
    path = match[1] if match else ""
    if not disk.holds(path):
        return
    if "O_TRUNC" in call.arguments and path in disk.known:
        yield f"{_shown(path)} is emptied before it is written anew"
    if "O_CREAT" in call.arguments and path not in disk.known:
        disk.known.add(path)
        if not path.endswith((".lock", "-shm", "-wal", ".tmp")):
            disk.names[str(Path(path).parent)] = f"new {Path(path).suffix or 'file'}"


def _made(call: Call, disk: _Disk) -> Iterator[str]:
    for path in call.paths():
        if disk.holds(path):
            disk.known.add(path)
            disk.names[str(Path(path).parent)] = "new folder"
    yield from ()


def _named(call: Call, disk: _Disk) -> Iterator[str]:
    source, target = call.paths()
    if not disk.holds(source):
        return
    if source in disk.written:
        yield f"{_shown(target)} takes its name before it is flushed"
        if not call.name.startswith("link"):
            disk.written.pop(source)
    disk.known.add(target)
    disk.names[str(Path(target).parent)] = "new name"


def _shown(path: str) -> str:
    """The end of a path, without what is random in it."""
    return re.sub(r"S-[-\w]+|[0-9a-f]{8,}|P-\w{16}", "…", Path(path).name)


_HANDLERS: Final[dict[str, Callable[[Call, _Disk], Iterator[str]]]] = {
    "ftruncate": _cut,
    **dict.fromkeys(("pwrite64", "pwritev", "write", "writev"), _wrote),
    **dict.fromkeys(("fdatasync", "fsync"), _flushed),
    **dict.fromkeys(("creat", "open", "openat"), _opened),
    **dict.fromkeys(("mkdir", "mkdirat"), _made),
    **dict.fromkeys(("link", "linkat", "rename", "renameat", "renameat2"), _named),
}
