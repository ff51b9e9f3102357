"""One reply of a model, as far as it came."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from memnb.agent.reply import Observe
from memnb.agent.streaming import stream
from memnb.core.bodies import AssistantStop
from memnb.core.canonical import clean_text
from memnb.core.citations import Citations
from memnb.core.messages import Call, Model, Notice, Request, Stop, Text, Usage
from memnb.core.screening import mask
from memnb.errors import BadModelOutput

__all__ = ["Coming", "receive"]

_MAX_NAME: Final = 128


@dataclass(slots=True)
class Coming:
    """A reply while it streams: what came stays when it is interrupted or fails."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    stop: AssistantStop = "end"
    cited: tuple[str, ...] = ()

    def discard(self) -> None:
        """Keep nothing of it: it may hold text that was forgotten meanwhile."""
        self.text, self.calls, self.stop, self.cited = "", [], "failed", ()


def receive(model: Model, request: Request, observe: Observe, coming: Coming) -> None:
    """Take a reply into `coming`, showing text and notices as they come, without citations.

    Raises:
        ModelError: the model failed. BadModelOutput: the reply has neither text nor calls.
    """
    citations = Citations()

    def show(text: str) -> None:
        coming.text += text
        if text:
            observe(Text(text))

    try:
        for event in stream(model, request):
            if isinstance(event, Text):
                show(citations.take(event.text))
            elif isinstance(event, Notice):
                observe(event)
            else:
                _keep(event, coming)
        show(citations.rest())
    finally:
        coming.text += citations.rest()
        coming.cited = tuple(citations.cited)
        if citations.has_any:
            coming.text = coming.text.rstrip()
    if not coming.text.strip() and not coming.calls:
        raise BadModelOutput(f"{model.name} gave an empty reply; run the cell again.")


def _keep(event: Call | Usage | Stop, coming: Coming) -> None:
    if isinstance(event, Call):
        coming.calls.append(_call(event))
    elif isinstance(event, Usage):
        coming.usage = event.credible()
    else:
        coming.stop = "calls" if coming.calls else event.reason


def _call(call: Call) -> Call:
    """A call with a name and an id that can be kept: models send anything."""
    return Call(_name(call.call_id), _name(call.name), clean_text(call.arguments))


def _name(text: str) -> str:
    return mask(clean_text(text))[0][:_MAX_NAME]
