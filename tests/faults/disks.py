"""File systems of a test's own: made in an image, filled, cut off from power, taken away.

Mounts live in a mount namespace of this process, so that none outlives it however it ends.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CLONE_NEWNS: Final = 0x00020000
_SHUTDOWN: Final = 0x8004587D
"""The ioctl by which file systems are tested for crashes: ext4, XFS and others have the same."""
_WITHOUT_FLUSHING_THE_LOG: Final = struct.pack("I", 2)


@dataclass(frozen=True)
class FileSystem:
    """How to make and mount one."""

    make: tuple[str, ...]
    options: str
    n_bytes: int


FILE_SYSTEMS: Final = {
    "ext4": FileSystem(
        ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"),
        "loop",
        256 << 20,
    ),
    # Nothing in order, nothing flushed on a rename: whoever forgets an fsync loses here.
    "ext4-unordered": FileSystem(
        ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"),
        "loop,data=writeback,noauto_da_alloc,commit=300",
        256 << 20,
    ),
    "xfs": FileSystem(("mkfs.xfs", "-q", "-f"), "loop", 400 << 20),
}


def why_no_mounts() -> str:
    """Why nothing can be mounted here; "" when it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root mounts file systems"
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return "needs mount and unshare"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        return "mounting isn't allowed here"
    return ""


def why_not(name: str) -> str:
    """Why no file system of this kind can be made here; "" when it can."""
    reason = why_no_mounts()
    if reason:
        return reason
    kind, program = name.partition("-")[0], FILE_SYSTEMS[name].make[0]
    if shutil.which(program) is None:
        return f"there is no {program} on this machine"
    if kind not in Path("/proc/filesystems").read_text().split():
        return f"this system doesn't know {kind}"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    return ""


def keep_mounts_to_ourselves() -> None:
    """From here on, what this process mounts is seen by nobody else, and ends with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    _run("mount", "--make-rprivate", "/")


class Disk:
    """A file system in an image file, on a folder of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        """Make a file system of the kind `name` in `folder`; nothing is mounted yet."""
        self._system = FILE_SYSTEMS[name]
        self._image = folder / f"{name}.img"
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        with self._image.open("wb") as file:
            file.truncate(self._system.n_bytes)
        _run(*self._system.make, str(self._image))

    def mount(self) -> None:
        """Mount it; what a cut left in its journal is replayed."""
        _run("mount", "-o", self._system.options, str(self._image), str(self.folder))

    def cut_power(self) -> None:
        """From this instant on nothing more reaches the disk: what isn't there is lost."""
        fd = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, _SHUTDOWN, _WITHOUT_FLUSHING_THE_LOG)
        finally:
            os.close(fd)

    def unmount(self) -> None:
        """Take it away; nothing may be open on it."""
        _run("umount", str(self.folder))

    def discard(self) -> None:
        """Remove image and folder."""
        self._image.unlink()
        self.folder.rmdir()


def mount_small(folder: Path, size: str) -> None:
    """Mount a file system in memory that holds no more than `size`, such as 600k."""
    _run("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder))


def enlarge(folder: Path, size: str) -> None:
    """Let it hold more."""
    _run("mount", "-o", f"remount,size={size}", str(folder))


def mount_read_only(folder: Path, at: Path) -> None:
    """Show what is in `folder` at another place, where nothing can be changed."""
    _run("mount", "--bind", str(folder), str(at))
    _run("mount", "-o", "remount,ro,bind", str(at))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
