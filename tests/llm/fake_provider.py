"""A chat provider on loopback that speaks OpenAI's streaming form and breaks on demand."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class Exchange:
    """One request being answered: what a fault or an answer is written with."""

    def __init__(self, provider: FakeProvider, handler: BaseHTTPRequestHandler) -> None:
        self._provider = provider
        self._handler = handler
        self._streaming = False

    def reply(self, code: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """A whole answer at once, as an error comes."""
        payload = json.dumps(body).encode()
        self._handler.send_response(code)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.send_header("Content-Length", str(len(payload)))
        self._handler.end_headers()
        self._handler.wfile.write(payload)

    def event(self, text: str) -> None:
        """One server-sent event."""
        if not self._streaming:
            self._streaming = True
            self._handler.send_response(200)
            self._handler.send_header("Content-Type", "text/event-stream")
            self._handler.send_header("Transfer-Encoding", "chunked")
            self._handler.end_headers()
        self._chunk(f"data: {text}\n\n".encode())

    def finish(self) -> None:
        """The end of a stream, as HTTP sees it."""
        self._handler.wfile.write(b"0\r\n\r\n")
        self._handler.wfile.flush()

    def wait_for_hang_up(self) -> None:
        """Say nothing until the client closes the connection or the provider stops."""
        connection = self._handler.connection
        while not self._provider.stopping.is_set():
            readable, _, _ = select.select([connection], [], [], 0.02)
            if readable and not connection.recv(1, socket.MSG_PEEK):
                self._provider.hung_up.set()
                break
        self._handler.close_connection = True

    def drop(self) -> None:
        """Close the connection in the middle of whatever was being said."""
        self._handler.close_connection = True
        self._handler.wfile.flush()
        self._handler.connection.shutdown(socket.SHUT_RDWR)

    def _chunk(self, data: bytes) -> None:
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self._handler.wfile.flush()


Behaviour = Callable[[Exchange], None]


def _chunk(
    delta: Mapping[str, Any] | None, finish: str | None = None, usage: tuple[int, int] | None = None
) -> str:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    chunk: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": choices,
    }
    if usage is not None:
        chunk["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
    return json.dumps(chunk)


def streams(
    *deltas: Mapping[str, Any], finish: str | None = "stop", usage: tuple[int, int] | None = None
) -> Behaviour:
    """A complete stream of these deltas."""

    def behave(exchange: Exchange) -> None:
        for delta in deltas:
            exchange.event(_chunk(delta))
        if finish is not None:
            exchange.event(_chunk({}, finish))
        if usage is not None:
            exchange.event(_chunk(None, usage=usage))
        exchange.event("[DONE]")
        exchange.finish()

    return behave


def says(
    *pieces: str, finish: str | None = "stop", usage: tuple[int, int] | None = None
) -> Behaviour:
    """An answer in these pieces."""
    return streams(
        {"role": "assistant", "content": ""},
        *({"content": piece} for piece in pieces),
        finish=finish,
        usage=usage,
    )


def call_delta(
    index: int, arguments: str, *, name: str | None = None, call_id: str | None = None
) -> dict[str, Any]:
    """A piece of one tool call; the first piece of a call carries its name and usually an id."""
    call: dict[str, Any] = {"index": index, "function": {"arguments": arguments}}
    if name is not None:
        call["type"] = "function"
        call["function"]["name"] = name
    if call_id is not None:
        call["id"] = call_id
    return {"tool_calls": [call]}


def fails(
    code: int,
    message: str = "it broke",
    *,
    kind: str = "error",
    headers: Mapping[str, str] | None = None,
) -> Behaviour:
    """An error with a status."""
    body = {"error": {"message": message, "type": kind, "code": kind}}
    return lambda exchange: exchange.reply(code, body, headers or {})


def is_silent(exchange: Exchange) -> None:
    """Not one byte."""
    exchange.wait_for_hang_up()


def hangs_after(*pieces: str) -> Behaviour:
    """The beginning of an answer, then nothing."""

    def behave(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.event(_chunk({"content": piece}))
        exchange.wait_for_hang_up()

    return behave


def drops_after(*pieces: str) -> Behaviour:
    """The beginning of an answer, then the connection is cut without HTTP's own end."""

    def behave(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.event(_chunk({"content": piece}))
        exchange.drop()

    return behave


def ends_early_after(*pieces: str) -> Behaviour:
    """The beginning of an answer, then a proper end of HTTP without a finish reason."""

    def behave(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.event(_chunk({"content": piece}))
        exchange.finish()

    return behave


def fails_midway(*pieces: str, message: str) -> Behaviour:
    """The beginning of an answer, then an error inside the stream."""

    def behave(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.event(_chunk({"content": piece}))
        exchange.event(
            json.dumps({"error": {"message": message, "type": "server_error", "code": 500}})
        )
        exchange.finish()

    return behave


class FakeProvider:
    """Serves its behaviours in order, the last one again and again.

    `hung_up` is set when a client closed a connection that was still waiting for more.
    """

    def __init__(self, *behaviours: Behaviour) -> None:
        self.behaviours: Sequence[Behaviour] = behaviours
        self.requests: list[Received] = []
        self.hung_up = threading.Event()
        self.stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True, name="fake-provider"
        )

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeProvider:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                n = len(provider.requests)
                provider.requests.append(
                    Received(self.path, dict(self.headers.items()), json.loads(body))
                )
                behaviour = provider.behaviours[min(n, len(provider.behaviours) - 1)]
                try:
                    behaviour(Exchange(provider, self))
                except (BrokenPipeError, ConnectionResetError):
                    provider.hung_up.set()
                    self.close_connection = True

            def log_message(self, *args: object) -> None:
                return

        return Handler
