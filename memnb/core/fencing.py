"""Blocks of data in a prompt: what stands in one can't close it."""

from __future__ import annotations

__all__ = ["fenced", "unfenced"]


def fenced(text: str, fence: str, label: str = "") -> str:
    """`text` in a block named by `fence`, a random word that the text can't have known."""
    head = f"<{fence} {label}>" if label else f"<{fence}>"
    return f"{head}\n{unfenced(text, fence)}\n</{fence}>"


def unfenced(text: str, fence: str) -> str:
    """`text` that can't end or begin a block of this fence."""
    return text.replace(f"</{fence}", f"<\\/{fence}").replace(f"<{fence}", f"<\\{fence}")
