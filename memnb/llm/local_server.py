"""The program that holds a local model: a server on loopback that ends when its stdin closes.

1. It listens on 127.0.0.1 only, on a port of the system's choice, and answers only with the key.
2. Settings and key arrive as one JSON line on stdin: nothing secret is in `ps` or the environment.
3. It ends when stdin closes, so it never outlives the kernel that started it.
4. It writes one JSON line to stdout, the port or a reason, and nothing else anywhere.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO
from urllib.parse import urlsplit

__all__ = ["EXIT_NOT_INSTALLED", "EXIT_NOT_LOADED", "main"]

EXIT_NOT_INSTALLED = 3
"""The exit code when xllamacpp can't be imported."""

EXIT_NOT_LOADED = 4
"""The exit code when the weights can't be loaded."""

# Prompt tokens evaluated in one go. The server looks once a second whether its client has left
# and then still finishes its batch: idle after 1.5 s at worst with 64, after 2.2 s with 128 (1.5 B
# on two cores); 64 costs 4 % of the speed, 32 costs 18 %.
_BATCH_TOKENS = 64
_CACHE_MIB = 256  # prompts kept to be continued later; the library's own default is 8,192


def main() -> None:
    """Read the settings, load the weights, say the port, and serve until stdin closes."""
    said = _claim_stdout()
    settings: dict[str, Any] = json.loads(sys.stdin.readline())
    try:
        import xllamacpp
    except ImportError:
        _end(EXIT_NOT_INSTALLED)
    try:
        server = xllamacpp.Server(_parameters(xllamacpp, settings))
    except Exception:
        _end(EXIT_NOT_LOADED)
    said.write(json.dumps({"port": urlsplit(server.listening_address).port}).encode() + b"\n")
    said.flush()
    sys.stdin.read()
    _end(0)


def _claim_stdout() -> BinaryIO:
    """Keep stdout for the one line; the C++ library's own prints go nowhere."""
    kept = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return kept


def _parameters(xllamacpp: Any, settings: dict[str, Any]) -> Any:
    """The library's parameters for one conversation at a time."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["weights"]
    parameters.n_ctx = settings["context_tokens"]
    threads = settings["threads"] or _n_cores()
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_batch = parameters.n_ubatch = _BATCH_TOKENS
    parameters.n_parallel = 1
    parameters.cache_ram_mib = _CACHE_MIB
    parameters.warmup = False
    parameters.verbosity = 0
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [settings["key"]]
    parameters.ui = False
    parameters.endpoint_slots = True
    parameters.offline = True
    # Without this a comment arrives every 30 s and a wait for the first token never times out.
    parameters.sse_ping_interval = -1
    return parameters


def _n_cores() -> int:
    """The cores this process may use: in a container fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _end(code: int) -> None:
    """Leave at once: the library's own shutdown may wait for a request in progress."""
    os._exit(code)


if __name__ == "__main__":
    main()
