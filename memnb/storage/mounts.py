"""Which file system a folder lies on, and whether SQLite's locks and shared memory hold there.

1. The mount table decides: nothing is opened, created or tried in the folder itself.
2. Refused are network and cluster file systems, folders of another machine's kernel, and programs
   that pose as a file system: there a database is corrupted without a word.
3. Allowed is all else, also what is unknown: overlays of containers, memory, virtiofs and disks
   that a program reads (fuseblk) keep locks and memory within one kernel.
4. Allowed is everything, too, where there is no table to read, as in a sandbox without /proc:
   nothing could be found out there, ever, and most such places have local disks.

Source: sqlite.org on WAL ("does not work over a network filesystem") and on how to corrupt a
database; proc(5) for mountinfo; mount(8) of macOS.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memnb.errors import UnsafeFileSystem
from memnb.storage.files import shown

__all__ = ["Mount", "mount_of", "mount_table", "require_local", "why_unsafe"]

_NETWORK: Final = "other machines see neither its locks nor its shared memory"
_CLUSTER: Final = "its nodes share files, but not the memory that SQLite needs"
_OTHER_KERNEL: Final = "the other side keeps locks and memory of its own"
_PROGRAM: Final = "a program serves it, and locks or shared memory may not hold"
_NOT_MOUNTED: Final = "what belongs there isn't mounted"
_REMOTE: Final = "it isn't local"

_AUTOMOUNTER: Final = "autofs"

# reason, types
_UNSAFE: Final = (
    (_NETWORK, ("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs")),
    (_NETWORK, ("afs", "coda", "ncpfs")),
    (_CLUSTER, ("ceph", "glusterfs", "lustre", "beegfs", "gpfs", "gfs", "gfs2", "ocfs2")),
    (_CLUSTER, ("orangefs", "pvfs2", "panfs", "wekafs", "acfs")),
    # Folders of the host in a guest: WSL and QEMU, WSL 1, VirtualBox, VMware, Parallels.
    (_OTHER_KERNEL, ("9p", "drvfs", "vboxsf", "vmhgfs", "prl_fs")),
    (_PROGRAM, ("fuse", "macfuse", "osxfuse", "fusefs")),
    (_NOT_MOUNTED, (_AUTOMOUNTER,)),
)
_REASONS: Final = {kind: reason for reason, kinds in _UNSAFE for kind in kinds}
_FUSE: Final = "fuse."
_LOCAL_PROGRAMS: Final = frozenset(
    {
        *("bindfs", "cryfs", "encfs", "exfat", "fuse-overlayfs", "gocryptfs", "lowntfs-3g"),
        *("ntfs", "ntfs-3g", "securefs", "veracrypt"),
    }
)
"""What reads a local disk, or encrypts or joins local folders: `fuse.gocryptfs` and its like. Any
other program may stand for a network: sshfs, s3fs, gcsfuse, rclone, blobfuse, Google's drive."""

_MOUNTINFO: Final = Path("/proc/self/mountinfo")
_ESCAPE: Final = re.compile(rb"\\([0-7]{3})")
_MACOS: Final = re.compile(r"(?P<source>.*?) on (?P<point>/.*) \((?P<options>[^()]*)\)")
_MOUNT_SECONDS: Final = 5
_LOCAL: Final = ("/var/tmp", "/tmp")  # noqa: S108 - named in advice only


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount: where, of which type; ids as Linux numbers them, 0 elsewhere."""

    point: str
    type: str
    mount_id: int = 0
    parent_id: int = 0
    is_remote: bool = False

    @property
    def reason(self) -> str:
        """Why SQLite isn't safe on it; "" when it is."""
        return why_unsafe(self.type) or (_REMOTE if self.is_remote else "")


def require_local(folders: Sequence[Path], *, table: str | None = None) -> None:
    """Return only if each folder lies where SQLite is safe; nothing in it is touched.

    Args:
        folders: absolute and resolved; they needn't exist.
        table: the text of the mount table; this machine's when None.

    Raises:
        UnsafeFileSystem: one doesn't.
    """
    known = mount_table() if table is None else table
    places = {place for folder in folders for place in _places(folder)}
    mounts = list(_mounts(known, places))
    for folder in folders:
        mount = _lowest(folder, mounts)
        if mount is not None and mount.type == _AUTOMOUNTER and table is None:
            _have_mounted(folder)
            mount = mount_of(folder, mount_table())
        if mount is not None and mount.reason:
            raise UnsafeFileSystem(
                f"{shown(folder)} is on {mount.type}, where memory would be corrupted:"
                f" {mount.reason}. Set MEMNB_HOME to a folder on a local disk, such as"
                f" {_local_folder(known)}."
            )


def why_unsafe(file_system: str) -> str:
    """Why SQLite isn't safe on a file system of that type; "" when it is, or nothing is known."""
    if file_system.startswith(_FUSE):
        program = file_system.removeprefix(_FUSE)
        return "" if program in _LOCAL_PROGRAMS else _PROGRAM
    return _REASONS.get(file_system, "")


def mount_table() -> str:
    """This machine's mount table as text; "" when there is none or it can't be read."""
    if sys.platform == "darwin":
        return _told_by_macos()
    try:
        return os.fsdecode(_MOUNTINFO.read_bytes())
    except OSError:
        return ""


def mount_of(folder: Path, table: str) -> Mount | None:
    """The mount that a folder lies on, as far as a table tells; None when it doesn't.

    Args:
        folder: absolute and resolved; it needn't exist.
        table: what Linux keeps in /proc/self/mountinfo, or what `mount` prints on macOS.
    """
    return _lowest(folder, list(_mounts(table, _places(folder))))


def _places(folder: Path) -> set[str]:
    """Where what holds a folder may be mounted."""
    return {str(folder), *map(str, folder.parents)}


def _lowest(folder: Path, mounts: Sequence[Mount]) -> Mount | None:
    places = _places(folder)
    above = [mount for mount in mounts if mount.point in places]
    at = _root(above)
    if at is None:  # macOS has no ids, and a changed root may have no mount: the nearest, the last
        return max(reversed(above), key=lambda mount: len(mount.point), default=None)
    # As the kernel walks: from the root on, each mount seen only on the one that it was put upon.
    for place in sorted(places, key=len):
        here = [mount for mount in above if mount.point == place]
        while upper := [
            mount for mount in here if mount.parent_id == at.mount_id != mount.mount_id
        ]:
            at = upper[-1]
            here.remove(at)
    return at


def _root(mounts: Sequence[Mount]) -> Mount | None:
    ids = {mount.mount_id for mount in mounts}
    roots = [
        mount
        for mount in mounts
        if mount.point == "/"
        and mount.mount_id
        and (mount.parent_id == mount.mount_id or mount.parent_id not in ids)
    ]
    return roots[-1] if roots else None


def _told_by_macos() -> str:
    import subprocess  # noqa: PLC0415 - Linux needs none

    try:
        found = subprocess.run(
            ["/sbin/mount"], capture_output=True, timeout=_MOUNT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return os.fsdecode(found.stdout)


def _mounts(table: str, places: Container[str]) -> Iterator[Mount]:
    """The mounts of a table that were put upon one of `places`, in order."""
    for line in table.split("\n"):
        mount = _of_linux(line, places) or _of_macos(line)
        if mount is not None and mount.point in places:
            yield mount


def _of_linux(line: str, places: Container[str]) -> Mount | None:
    """A line such as `36 35 0:48 / /home/jovyan rw,noatime shared:1 - nfs4 server:/x rw,hard`."""
    fields = line.split(" ", 5)
    if len(fields) < 6 or not (fields[0].isdecimal() and fields[1].isdecimal()):
        return None
    point = _unescaped(fields[4])
    if point not in places:
        return None
    _, separator, tail = fields[5].partition(" - ")
    if not separator:
        return None
    return Mount(point, tail.partition(" ")[0], int(fields[0]), int(fields[1]))


def _of_macos(line: str) -> Mount | None:
    """A line such as `//a@server/share on /Volumes/share (smbfs, nodev, mounted by a)`."""
    if not line.endswith(")"):
        return None
    found = _MACOS.fullmatch(line)
    if found is None:
        return None
    kind, *options = found["options"].split(", ")
    return Mount(found["point"], kind, is_remote="local" not in options)


def _unescaped(text: str) -> str:
    r"""A path in which Linux wrote blanks, tabs, line feeds and backslashes as `\040`."""
    if "\\" not in text:
        return text
    data = os.fsencode(text)
    return os.fsdecode(_ESCAPE.sub(lambda found: bytes([int(found[1], 8) & 0xFF]), data))


def _local_folder(table: str) -> str:
    """A folder of this user's own, on a disk of this machine as far as is known."""
    bases = [base for base in _LOCAL if not getattr(mount_of(Path(base), table), "reason", "")]
    return f"{(bases or _LOCAL)[0]}/memnb-{os.getuid()}"


def _have_mounted(folder: Path) -> None:
    """Let an automounter mount what a path leads through: a look at what is in it does that."""
    for place in (folder, *folder.parents):
        try:
            os.stat(f"{place}/.")  # noqa: PTH116 - Path drops the dot, which is what mounts
        except OSError:
            continue
        return
