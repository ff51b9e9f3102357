"""Stands in for the runtime in the child's process: a server on loopback that does as it is told.

The last user message is an order, so that endings which a real model won't give on request can be
tried without weights. A folder with this module goes first in PYTHONPATH.
"""

from __future__ import annotations

import http.server
import json
import os
import select
import socket
import threading
import time
from typing import Any

WAIT_SECONDS = 0.02


class CommonParams:
    """Takes any parameter."""

    def __init__(self) -> None:
        self.model = _Bag()
        self.cpuparams = _Bag()
        self.cpuparams_batch = _Bag()


class _Bag:
    pass


class Server:
    """Listens as soon as it is made, unless the weights say otherwise."""

    def __init__(self, parameters: Any) -> None:
        os.write(1, b"a line that the real library may print\n")
        order = open(parameters.model.path).read()  # noqa: PTH123, SIM115
        if order == "abort":
            os.abort()
        if order == "hang":
            time.sleep(3600)
        if order:
            raise RuntimeError(order)
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.key = parameters.api_keys[0]
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def listening_address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    key = ""
    n_processing = 0


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Http
    connection: socket.socket

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._json(200, [{"is_processing": self.server.n_processing > 0}])

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {self.server.key}":
            self._json(401, {"error": {"message": "Invalid API Key"}})
            return
        order = body["messages"][-1]["content"]
        self.server.n_processing += 1
        try:
            if "response_format" in body:
                self._choose(order)
            elif body.get("logprobs") and order not in ("die", "hang"):
                self._consider(order)
            else:
                self._answer(order, body)
        except OSError:
            return
        finally:
            self.server.n_processing -= order != "stuck"

    def _choose(self, order: str) -> None:
        if order == "hang while routing":
            self._until_left()
        call = {"tool": "run", "arguments": {"code": "1+1"}}
        self._stream([json.dumps(call if order == "call" else {"tool": "answer"})])

    def _answer(self, order: str, body: dict[str, Any]) -> None:
        if order.startswith(("half", "stuck", "die")):
            self._stream(["half"], end="")
        match order:
            case "hang" | "stuck" | "half, then hang":
                self._until_left()
            case "die":
                os._exit(9)
            case "too long":
                error = {"type": "exceed_context_size_error", "n_prompt_tokens": 9030}
                self._json(400, {"error": error | {"n_ctx": 8192, "message": "PAYLOAD"}})
            case "refuse":
                self._json(500, {"error": {"message": "PAYLOAD"}})
            case "half, then refuse":
                self.wfile.write(b'data: {"error":{"message":"PAYLOAD"}}\n\n')
            case "half, then nonsense":
                self.wfile.write(b"data: {nonsense\n\n")
            case "cut":
                self._stream(["half"], end="length")
            case "environment":
                self._stream([json.dumps(dict(os.environ))])
            case _:
                self._stream([json.dumps(body)])

    def _consider(self, order: str) -> None:
        """One token whose alternatives are as ordered; none when ordered to be silent."""
        likely = json.loads(order) if order.startswith("{") else {"x": 0.0}
        top = [{"token": token, "logprob": value} for token, value in likely.items()]
        logprobs = {"content": [{"token": "x", "top_logprobs": top}]}
        self._stream([] if order == "silent" else ["x"], end="length", logprobs=logprobs)

    def _stream(
        self, texts: list[str], *, end: str = "stop", logprobs: dict[str, Any] | None = None
    ) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for text in texts:
            choice = {"delta": {"content": text}, "finish_reason": None, "logprobs": logprobs}
            self._piece({"choices": [choice]})
        if end:
            self._piece({"choices": [{"delta": {}, "finish_reason": end}]})
            usage = {"prompt_tokens": 10, "completion_tokens": 3}
            self._piece({"choices": [], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")

    def _piece(self, piece: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(piece).encode() + b"\n\n")

    def _json(self, status: int, value: Any) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _until_left(self) -> None:
        """Wait until the client closes its connection."""
        while True:
            readable, _, _ = select.select([self.connection], [], [], WAIT_SECONDS)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise OSError
