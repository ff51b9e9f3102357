"""Agent memory with receipts, inside the notebook.

`%load_ext memnb` gives `%%agent` and `%memory`; `memnb.open()` gives the same to programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memnb.agent.own_tools import tool
    from memnb.api.memory import Memory
    from memnb.api.memory import open_memory as open  # noqa: A004  # memnb.open, as a module reads
    from memnb.api.session_results import Reply
    from memnb.core.bodies import Part
    from memnb.core.facts import SourceRef
    from memnb.llm.scripted_model import After, ScriptedModel, ScriptedReply
    from memnb.notebook.extension import load_ipython_extension, unload_ipython_extension

__version__ = "0.1.0"

__all__ = [
    "After",
    "Memory",
    "Part",
    "Reply",
    "ScriptedModel",
    "ScriptedReply",
    "SourceRef",
    "__version__",
    "load_ipython_extension",
    "open",
    "tool",
    "unload_ipython_extension",
]

_PLACES = {
    "After": ("memnb.llm.scripted_model", "After"),
    "Memory": ("memnb.api.memory", "Memory"),
    "Part": ("memnb.core.bodies", "Part"),
    "Reply": ("memnb.api.session_results", "Reply"),
    "ScriptedModel": ("memnb.llm.scripted_model", "ScriptedModel"),
    "ScriptedReply": ("memnb.llm.scripted_model", "ScriptedReply"),
    "SourceRef": ("memnb.core.facts", "SourceRef"),
    "load_ipython_extension": ("memnb.notebook.extension", "load_ipython_extension"),
    "open": ("memnb.api.memory", "open_memory"),
    "tool": ("memnb.agent.own_tools", "tool"),
    "unload_ipython_extension": ("memnb.notebook.extension", "unload_ipython_extension"),
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: importing memnb costs nothing."""
    if name not in _PLACES:
        raise AttributeError(f"module 'memnb' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    module, attribute = _PLACES[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
