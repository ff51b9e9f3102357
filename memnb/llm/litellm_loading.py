"""Loading litellm on first use, so that it calls nobody, reads no `.env` and writes nothing.

1. It takes seconds to import, so nothing but `load` imports it.
2. Unless told before its import, it downloads a price list and tokenizers, and copies the `.env`
   of the notebook's folder into the environment, by which a cloned repository could redirect
   every request.
3. What it and the HTTP libraries log of our requests is dropped whole. Redacting would need to
   know what every provider's key looks like; the error's class and status are in the ModelError.
"""

from __future__ import annotations

import contextvars
import logging
import os
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

__all__ = ["Litellm", "load", "loaded", "quiet_context"]

Litellm = Any
"""The litellm module. It has no types worth checking: every value of it is checked where used."""

_OFFLINE = {"LITELLM_OFFLINE_MODE": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""Kept in the environment, since litellm reads it at each use. Configured providers still work."""

_NO_ENV_FILE = {"LITELLM_MODE": "PRODUCTION"}
"""Only for the import: a litellm proxy that the person starts may well want its `.env`."""

_LIBRARIES = ("LiteLLM", "httpx", "httpcore", "openai", "aiohttp", "botocore", "urllib3", "google")

_LATE_LOGGERS = (
    "LiteLLM",
    "LiteLLM Proxy",
    "LiteLLM Router",
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "openai",
    "openai._base_client",
)
"""Loggers that may not exist yet when the first request is sent."""

_loading = threading.Lock()
_module: Litellm | None = None
_is_ours: contextvars.ContextVar[bool] = contextvars.ContextVar("memnb_request", default=False)


def loaded() -> Litellm | None:
    """Litellm if it was loaded by `load`, else None. Never waits."""
    return _module


def load() -> Litellm:
    """Litellm, imported if it wasn't yet: 2.5 s, 6 s on a cold or busy machine."""
    global _module  # the one import of the process
    with _loading:
        if _module is None:
            os.environ.update(_OFFLINE)
            with _set(os.environ, _NO_ENV_FILE):
                import litellm
            litellm.suppress_debug_info = True
            litellm.telemetry = False
            _module = litellm
    return _module


def quiet_context() -> contextvars.Context:
    """A copy of the current context in which the libraries' log records are dropped."""
    _drop_ours()
    context = contextvars.copy_context()
    context.run(_is_ours.set, True)
    return context


@contextmanager
def _set(environ: MutableMapping[str, str], values: dict[str, str]) -> Iterator[None]:
    before = {name: environ.get(name) for name in values}
    environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value


class _DropOurs(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not _is_ours.get()


_drop = _DropOurs()


def _drop_ours() -> None:
    # A logger's filter doesn't apply to its children, so each gets it; adding twice is once.
    known = [
        name
        for name in logging.Logger.manager.loggerDict.copy()
        if name.split(".")[0].split(" ")[0] in _LIBRARIES
    ]
    for name in (*_LATE_LOGGERS, *known):
        logging.getLogger(name).addFilter(_drop)
