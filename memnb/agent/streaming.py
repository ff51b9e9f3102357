"""A model's events in the calling thread, while the model works in one of its own.

The thread that displays is free to be interrupted: the request is then told to stop, and the
interrupt goes on at once, without waiting for the model.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Final

from memnb.core.messages import Event, Model, Request
from memnb.llm.cancelling import CancelSwitch

__all__ = ["stream"]

_GRACE_SECONDS: Final = 0.05


class _End:
    """What the worker puts last."""


def stream(model: Model, request: Request) -> Iterator[Event]:
    """Yield the events of a request; closing the iterator, or an interrupt, cancels it.

    Raises:
        ModelError: what the model raised.
    """
    events: queue.SimpleQueue[Event | BaseException | _End] = queue.SimpleQueue()
    cancel = CancelSwitch()

    def work() -> None:
        try:
            for event in model.stream(request, cancel):
                events.put(event)
        except BaseException as error:
            events.put(error)
        finally:
            events.put(_End())

    worker = threading.Thread(target=work, name="memnb model request", daemon=True)
    worker.start()
    try:
        while True:
            event = events.get()
            if isinstance(event, _End):
                return
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        cancel.request()
        worker.join(_GRACE_SECONDS)
