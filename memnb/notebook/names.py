"""What our magics are called."""

from __future__ import annotations

from typing import Final

__all__ = ["AGENT_NAMES", "MEMORY_NAMES"]

MEMORY_NAMES: Final = ("memory", "mem")
AGENT_NAMES: Final = ("agent",)
