"""The parent's side of a local model: start its process, ask it over loopback, stop it.

1. The child gets none of the parent's keys: its environment is a short list of names.
2. It dies with the parent: its stdin is a pipe that closes with us. A fork of the kernel closes its
   copy and can't stop the child.
3. An aborted chat leaves the child idle within two seconds, or the child is killed.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memnb.errors import ContextTooLong, ModelTimeout, ModelUnavailable, NoModel
from memnb.llm import local_server

__all__ = ["Chat", "LocalChild"]

START_SECONDS = 60.0
"""How long the weights may take to load before the start counts as failed."""

IDLE_SECONDS = 2.0
"""How long the child may go on after a chat was aborted before it is killed."""

# The server looks once a second whether its client is still there, counted from its last event,
# and answering /slots is an event: asking earlier than this keeps it from looking.
_FIRST_LOOK_SECONDS = 1.1
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 1.0

_KEPT_NAMES = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "PATH", "PATHEXT", "SYSTEMDRIVE",
        "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TZ", "USERPROFILE", "VIRTUAL_ENV", "WINDIR",
    }
)  # fmt: skip
_KEPT_PREFIXES = ("CONDA_", "DYLD_", "LC_", "PYTHON")
_SECRET_PARTS = ("KEY", "PASSWORD", "SECRET", "TOKEN")

_STOPPED = "the local model stopped working; ask again and it is started anew"


def child_environment(parent: Mapping[str, str], package_folder: Path) -> dict[str, str]:
    """What the child may know of `parent`, plus what OpenMP and the import of memnb need.

    OMP_WAIT_POLICY=PASSIVE: on a busy machine OpenMP's spinning threads made the model ten times
    slower; it is set here so that the kernel's own OpenMP is left alone.
    """
    kept = {
        name: value
        for name, value in parent.items()
        if (name.upper() in _KEPT_NAMES or name.upper().startswith(_KEPT_PREFIXES))
        and not any(part in name.upper() for part in _SECRET_PARTS)
    }
    kept["OMP_WAIT_POLICY"] = "PASSIVE"
    if package_folder.name not in {"site-packages", "dist-packages"}:
        paths = [str(package_folder), *filter(None, [kept.get("PYTHONPATH")])]
        kept["PYTHONPATH"] = os.pathsep.join(paths)
    return kept


class Chat:
    """One request in progress: its pieces as they arrive, and a way to stop it from any thread."""

    def __init__(self, child: LocalChild, body: Mapping[str, Any], timeout_seconds: float) -> None:
        self._child = child
        self._body = json.dumps(body)
        self._timeout_seconds = timeout_seconds
        self._aborted = False
        self._socket: socket.socket | None = None
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", child.port, timeout=timeout_seconds
        )

    def abort(self) -> None:
        """Cut the connection and see the child idle soon; nothing when the chat is over."""
        if not self._child.leave(self):
            return
        self._aborted = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._child.settle()

    def pieces(self) -> Iterator[dict[str, Any]]:
        """The reply's chunks in the form of OpenAI's API; ends early without error when aborted.

        Raises:
            ContextTooLong: the child says the request doesn't fit its window.
            ModelTimeout: nothing came for `timeout_seconds`.
            ModelUnavailable: the child died or isn't ours.
        """
        try:
            yield from self._read()
        except TimeoutError:
            raise ModelTimeout(
                f"the local model sent nothing for {self._timeout_seconds:g} s; "
                "ask for less, or raise agent.timeout_seconds"
            ) from None
        except (OSError, http.client.HTTPException, ValueError):
            if not self._aborted:
                self._child.stop()  # it may only just be dying: the next request starts another
                raise ModelUnavailable(_STOPPED) from None
        finally:
            self._connection.close()

    def _read(self) -> Iterator[dict[str, Any]]:
        self._connection.connect()
        self._socket = self._connection.sock
        if self._aborted:
            return
        headers = self._child.headers | {"Content-Type": "application/json"}
        self._connection.request("POST", "/v1/chat/completions", self._body, headers)
        response = self._connection.getresponse()
        if response.status != http.client.OK:
            raise _refusal(response.read())
        finished = False
        for line in response:
            if not line.startswith(b"data: "):
                continue
            if line.strip() == b"data: [DONE]":
                finished = True
                break
            piece = json.loads(line[len(b"data: ") :])
            if "error" in piece:
                raise _refusal(line[len(b"data: ") :])
            yield piece
        if not finished:
            raise http.client.IncompleteRead(b"")


def _refusal(payload: bytes) -> ContextTooLong | ModelUnavailable:
    """The error that the child's answer stands for, without its words."""
    error = json.loads(payload).get("error", {})
    if error.get("type") == "exceed_context_size_error":
        needed, window = error.get("n_prompt_tokens"), error.get("n_ctx")
        return ContextTooLong(
            f"the request has {needed} tokens and the local model's window {window}; "
            "start a new session or ask with less text"
        )
    return ModelUnavailable("the local model refused the request; restart the kernel and ask again")


class LocalChild:
    """A running model process; `wait_ready` before the first chat."""

    def __init__(self, weights: Path, *, threads: int, context_tokens: int) -> None:
        """Start the process; the weights load while the caller goes on.

        Args:
            weights: the verified GGUF file.
            threads: 0 for as many as the machine has cores.
            context_tokens: the size of the window.

        Raises:
            ModelUnavailable: the process can't be started at all.
        """
        self.port = 0
        self._key = secrets.token_urlsafe(24)
        self._owner_pid = os.getpid()
        self._open: set[Chat] = set()
        self._process = _spawn()
        _children.add(self)
        # Also runs at exit, so a normal end of the kernel doesn't wait for the pipe to close.
        self._finalizer = weakref.finalize(self, _stop, self._process, self._owner_pid)
        settings = {
            "weights": str(weights),
            "threads": threads,
            "context_tokens": context_tokens,
            "key": self._key,
        }
        assert self._process.stdin is not None  # noqa: S101 -- Popen was given PIPE
        with contextlib.suppress(OSError):  # it died already: wait_ready says why
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")

    @property
    def headers(self) -> dict[str, str]:
        """What the child wants to see before it answers."""
        return {"Authorization": f"Bearer {self._key}"}

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the child runs and is ours: a fork may not use its parent's."""
        return self._owner_pid == os.getpid() and self._process.poll() is None

    def wait_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until the weights are loaded.

        Raises:
            NoModel: xllamacpp isn't installed.
            ModelUnavailable: it can't load the weights, died, or took longer than `seconds`.
        """
        assert self._process.stdout is not None  # noqa: S101 -- Popen was given PIPE
        killer = threading.Timer(seconds, self._process.kill)
        killer.daemon = True
        killer.start()
        with self._process.stdout as said:
            line = said.readline()
        killer.cancel()
        if line:
            self.port = int(json.loads(line)["port"])
            return
        self.stop()
        if self._process.returncode == local_server.EXIT_NOT_INSTALLED:
            raise NoModel(
                "the local model needs xllamacpp, which isn't installed: "
                "pip install 'memnb[local]', or name another model"
            )
        raise ModelUnavailable(
            "the local model could not be started from its weights; free some memory, "
            "or fetch the weights again"
        )

    @contextlib.contextmanager
    def chat(self, body: Mapping[str, Any], *, timeout_seconds: float) -> Iterator[Chat]:
        """A chat that is over when the block ends; left by an exception, it is aborted."""
        chat = Chat(self, body, timeout_seconds)
        self._open.add(chat)
        try:
            yield chat
            self.leave(chat)
        finally:
            chat.abort()

    def leave(self, chat: Chat) -> bool:
        """Count a chat as over; whether it wasn't before."""
        try:
            self._open.remove(chat)
        except KeyError:
            return False
        return True

    def settle(self) -> None:
        """See to it, in the background, that the child is idle within two seconds or dead."""
        with contextlib.suppress(RuntimeError):  # no new threads while the interpreter ends
            threading.Thread(target=self._settle, name="memnb-local-settle", daemon=True).start()

    def _settle(self) -> None:
        deadline = time.monotonic() + IDLE_SECONDS
        time.sleep(_FIRST_LOOK_SECONDS)
        # Another chat may be running by now: its work is no sign of a child that won't stop.
        while self.alive and not self._open and not self.is_idle():
            if time.monotonic() >= deadline:
                self.stop()
            else:
                time.sleep(_LOOK_SECONDS)

    def is_idle(self) -> bool:
        """Whether the child answers and works on nothing."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_LOOK_SECONDS * 5)
        try:
            connection.request("GET", "/slots", headers=self.headers)
            slots = json.loads(connection.getresponse().read())
            return not any(slot["is_processing"] for slot in slots)
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
            return False
        finally:
            connection.close()

    def kill(self) -> None:
        """End the child at once, also while it loads; the caller needn't wait."""
        if self._owner_pid == os.getpid():
            self._process.kill()

    def let_go(self) -> None:
        """In a fork: close the copy of the pipe, so that only the owner holds the child's life."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def stop(self) -> None:
        """End the child now; in a fork of the process that started it, nothing happens."""
        self._finalizer()


def _spawn() -> subprocess.Popen[bytes]:
    """The child's process in a session of its own: the kernel's interrupt doesn't reach it."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    _close_copies_in_forks()
    try:
        # -P: a json.py in the notebook's folder is not the json that the child imports.
        return subprocess.Popen(  # noqa: S603 -- our own interpreter and module, no shell
            [sys.executable, "-P", "-m", local_server.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=child_environment(os.environ, Path(__file__).resolve().parents[2]),
            start_new_session=sys.platform != "win32",
            creationflags=flags,
        )
    except OSError as error:
        raise ModelUnavailable(
            f"the local model's process can't be started ({type(error).__name__})"
        ) from None


def _stop(process: subprocess.Popen[bytes], owner_pid: int) -> None:
    """Close the pipe, which ends the child; kill it if it doesn't end."""
    if os.getpid() != owner_pid:
        return
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_children: weakref.WeakSet[LocalChild] = weakref.WeakSet()
_fork_hook = threading.Event()


def _close_copies_in_forks() -> None:
    """Once per process: after a fork, the fork closes its copies of the pipes.

    Otherwise a worker that outlives a killed kernel would hold the pipe open and keep the child
    and its two gigabytes alive.
    """
    if _fork_hook.is_set() or not hasattr(os, "register_at_fork"):
        return
    _fork_hook.set()
    os.register_at_fork(after_in_child=_forget_children)


def _forget_children() -> None:
    for child in list(_children):
        child.let_go()
    _children.clear()
