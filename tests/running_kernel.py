"""A real Jupyter kernel for tests: run cells as a front end does, interrupt it, kill it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

LOAD = "%load_ext memnb\nimport memnb\n"


@dataclass
class Outcome:
    """What a cell gave: printed text, displays with their updates applied, result, error."""

    text: str = ""
    displays: list[dict[str, str]] = field(default_factory=list)
    result: dict[str, str] = field(default_factory=dict)
    error: str = ""
    traceback: str = ""

    @property
    def shown(self) -> str:
        """All plain text that a person would see."""
        plain = [display.get("text/plain", "") for display in self.displays]
        return "\n".join([self.text, *plain, self.result.get("text/plain", ""), self.traceback])

    @property
    def html(self) -> str:
        return "\n".join(
            [*(d.get("text/html", "") for d in self.displays), self.result.get("text/html", "")]
        )


class Kernel:
    """One running kernel."""

    def __init__(self, cwd: Path, environ: Mapping[str, str]) -> None:
        self._closed = False
        self._so_far: dict[str, tuple[Outcome, dict[str, int]]] = {}
        self.manager = KernelManager(kernel_name="python3")
        # The environment's own kernelspec, whatever specs the machine has.
        self.manager.kernel_spec.argv[0] = sys.executable
        self.manager.start_kernel(cwd=str(cwd), env={**os.environ, **environ})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    @property
    def pid(self) -> int:
        return self.manager.provisioner.pid  # type: ignore[union-attr]

    def start(self, code: str, *, cell_id: str | None = None, allow_stdin: bool = False) -> str:
        """Send a cell; gives the id of the request."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": allow_stdin,
            "stop_on_error": True,
        }
        metadata = {"cellId": cell_id} if cell_id else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def run(
        self,
        code: str,
        *,
        answers: list[str] | None = None,
        cell_id: str | None = None,
        timeout: float = 60,
    ) -> Outcome:
        """Run a cell to its end; `answers` are typed at input prompts."""
        request = self.start(code, cell_id=cell_id, allow_stdin=answers is not None)
        return self.finish(request, answers=answers, timeout=timeout)

    def finish(
        self, request: str, *, answers: list[str] | None = None, timeout: float = 60
    ) -> Outcome:
        """Wait for a cell that was sent."""
        outcome, ids = self._so_far.setdefault(request, (Outcome(), {}))
        deadline = time.monotonic() + timeout
        while True:
            if answers:
                with contextlib.suppress(queue.Empty):
                    self.client.get_stdin_msg(timeout=0.01)
                    self.client.input(answers.pop(0))
            if time.monotonic() > deadline:
                raise TimeoutError(f"the cell did not end; so far: {outcome.shown}")
            try:
                message = self.client.get_iopub_msg(timeout=0.1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            if self._take(message, outcome, ids):
                self.client.get_shell_msg(timeout=10)
                return outcome

    def wait_for(self, request: str, what: str, *, timeout: float = 60) -> Outcome:
        """Wait until a running cell has shown `what`; gives what it showed so far."""
        outcome, ids = self._so_far.setdefault(request, (Outcome(), {}))
        deadline = time.monotonic() + timeout
        while what not in outcome.shown:
            if time.monotonic() > deadline:
                raise TimeoutError(f"it was not shown; so far: {outcome.shown}")
            with contextlib.suppress(queue.Empty):
                message = self.client.get_iopub_msg(timeout=0.1)
                if message["parent_header"].get("msg_id") == request:
                    self._take(message, outcome, ids)
        return outcome

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def kill(self) -> None:
        """SIGKILL: nothing gets a chance to say goodbye."""
        os.kill(self.pid, signal.SIGKILL)
        self.close()

    def close(self) -> None:
        """End the kernel, if it still runs."""
        if not self._closed:
            self._closed = True
            self.client.stop_channels()
            self.manager.shutdown_kernel(now=not self.manager.is_alive())

    @staticmethod
    def _take(message: dict[str, Any], outcome: Outcome, ids: dict[str, int]) -> bool:
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            outcome.text += content["text"]
        elif kind == "display_data":
            shown = content.get("transient", {}).get("display_id")
            if shown:
                ids[shown] = len(outcome.displays)
            outcome.displays.append(content["data"])
        elif kind == "update_display_data":
            place = ids.get(content["transient"]["display_id"])
            if place is not None:
                outcome.displays[place] = content["data"]
        elif kind == "execute_result":
            outcome.result = content["data"]
        elif kind == "error":
            outcome.error = f"{content['ename']}: {content['evalue']}"
            outcome.traceback = "\n".join(content["traceback"])
        return kind == "status" and content["execution_state"] == "idle"


@contextlib.contextmanager
def running_kernel(cwd: Path, environ: Mapping[str, str] | None = None) -> Iterator[Kernel]:
    kernel = Kernel(cwd, environ or {})
    try:
        yield kernel
    finally:
        kernel.close()
