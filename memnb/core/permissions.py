"""Who may do what: one table for everything that a model may want to change.

1. `readonly` changes nothing.
2. `ask` asks a person for every change.
3. `auto` keeps exact quotes, and writes daily, scratchpad and named notes, without asking.
4. Forgetting, MEMORY.md, running Python, and keeping a part of a sentence ask always: "use tabs"
   stands in "never use tabs" too.
5. In a turn that carried tool output or inserted data, every change of memory but keeping a whole
   sentence of the person asks: such data may be trying to speak for them.
6. A person's own tools run unasked in `auto`, also then: they are no changes of memory.
"""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["ChangeKind", "Mode", "Verdict", "decide"]

Mode = Literal["readonly", "ask", "auto"]
Verdict = Literal["allow", "ask", "deny"]
ChangeKind = Literal[
    "remember_quote",
    "remember_part",
    "correct_quote",
    "correct_part",
    "forget",
    "write_note",
    "write_trusted_note",
    "run_python",
    "own_tool",
]

_ALWAYS_ASK: Final[frozenset[ChangeKind]] = frozenset(
    {"remember_part", "correct_part", "forget", "write_trusted_note", "run_python"}
)
_SAFE_WHEN_TAINTED: Final[frozenset[ChangeKind]] = frozenset({"remember_quote", "own_tool"})


def decide(kind: ChangeKind, mode: str, *, write_approval: bool, tainted: bool) -> Verdict:
    """Whether a change is made, asked for, or refused.

    Args:
        kind: what it would change.
        mode: what the person allows.
        write_approval: the setting that asks for each change in every mode.
        tainted: the turn carried tool output or inserted data.
    """
    if mode == "readonly":
        return "deny"
    if mode == "ask" or write_approval or kind in _ALWAYS_ASK:
        return "ask"
    if mode != "auto":  # a mode of no known name, such as one from an untyped caller
        return "deny"
    return "ask" if tainted and kind not in _SAFE_WHEN_TAINTED else "allow"
