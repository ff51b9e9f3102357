from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memnb.errors import StoreError, StoreFull, StoreReadOnly, UnsafeFileSystem
from memnb.storage.files import open_private, translated, translation, write_all, write_atomic


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    write_atomic(path, b"one")
    assert path.read_bytes() == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write_atomic(path, b"")
    assert path.read_bytes() == b""
    assert [*tmp_path.iterdir()] == [path]


def test_a_symlink_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "note.md"
    target.write_text("precious")
    path.symlink_to(target)
    write_atomic(path, b"new")
    assert target.read_text() == "precious"
    assert not path.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_symlink_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(UnsafeFileSystem), translated(tmp_path / "link"):
        open_private(tmp_path / "link", os.O_RDWR | os.O_CREAT)
    assert (tmp_path / "target").read_text() == "precious"


def test_a_descriptor_is_not_inherited_by_programs(tmp_path: Path) -> None:
    fd = open_private(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    try:
        assert not os.get_inheritable(fd)
    finally:
        os.close(fd)


def test_what_can_not_be_written_leaves_the_old_content_and_no_litter(
    tmp_path: Path, children: Any
) -> None:
    code = """
        import resource, sys
        from pathlib import Path
        from memnb.errors import StoreFull
        from memnb.storage.files import write_atomic
        path = Path(sys.argv[1]) / "note.md"
        write_atomic(path, b"old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_atomic(path, b"x" * 3000)
        except StoreFull as error:
            print(path.read_bytes(), len(list(path.parent.iterdir())), error)
    """
    out = children.run(code, tmp_path)
    assert out.startswith("b'old' 1 no space left for ")
    assert len(out.splitlines()) == 1


def test_a_folder_that_is_not_there_is_one_of_our_errors(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        write_atomic(tmp_path / "none" / "note.md", b"x")


def test_all_is_written_however_little_a_call_takes() -> None:
    out, into = os.pipe()
    data = os.urandom(300_000)
    try:
        if (pid := os.fork()) == 0:
            os.close(out)
            write_all(into, data)
            os._exit(0)
        os.close(into)
        with os.fdopen(out, "rb", closefd=False) as pipe:
            assert pipe.read() == data
        os.waitpid(pid, 0)
    finally:
        os.close(out)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EFBIG, StoreFull),
        (errno.EROFS, StoreReadOnly),
        (errno.EACCES, StoreReadOnly),
        (errno.EPERM, StoreReadOnly),
        (errno.ELOOP, UnsafeFileSystem),
        (errno.EIO, StoreError),
        (errno.ENOENT, StoreError),
        (None, StoreError),
    ],
    ids=lambda value: errno.errorcode.get(value) if isinstance(value, int) else None,
)
def test_a_fault_of_the_machine_becomes_our_error(
    number: int | None, expected: type[StoreError]
) -> None:
    fault = OSError(number, "detail") if number else OSError("detail")
    error = translation(fault, Path("/home/d/x"))
    assert type(error) is expected
    assert len(str(error).splitlines()) == 1
    assert "/home/d/x" in str(error)


def test_the_message_is_one_line_whatever_the_file_is_called() -> None:
    error = translation(OSError(errno.EIO, "x"), Path("/home/d/a\nb\x1b[31m"))
    assert str(error).isprintable()


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_content_is_on_the_disk_before_it_takes_the_name_and_the_name_after(
    tmp_path: Path, children: Any
) -> None:
    code = """
        import os, sys
        from pathlib import Path
        from memnb.storage.files import write_atomic
        os.write(1, b"mark")
        write_atomic(Path(sys.argv[1]) / "note.md", b"x")
    """
    trace = tmp_path / "trace"
    folder = tmp_path / "folder"
    folder.mkdir()
    calls = "write,fsync,fdatasync,rename,renameat,renameat2"
    prefix = ("strace", "-f", "-y", "-qq", "-e", f"trace={calls}", "-o", str(trace))
    child = children.start(code, folder, prefix=prefix, stderr=subprocess.PIPE)
    _, err = child.communicate(timeout=60)
    if child.returncode != 0 and "ptrace" in err:
        pytest.skip("strace may not trace here")
    assert child.returncode == 0, err
    lines = trace.read_text().split('"mark"')[1].splitlines()[1:]
    steps = [line.split(maxsplit=1)[1] for line in lines if str(folder) in line]
    names = [step.split("(")[0].rstrip("2").removesuffix("at") for step in steps]
    assert names == ["write", "fsync", "rename", "fsync"]
    assert ".tmp>" in steps[1]
    assert f"{folder}>" in steps[3]
