"""The tool with which a model reads the project's files."""

from __future__ import annotations

from memnb.agent.tools import MAX_RESULT_BYTES, Plan, Tool, ToolResult, tool
from memnb.core.screening import mask
from memnb.storage.project_files import ProjectFiles

__all__ = ["file_tools"]

_HEAD_BYTES = 256  # the line above the lines: a path and three numbers
_LINES_BEFORE = 100
_BYTES_BEFORE = 64 * 1024
"""How far up the beginning of a secret of several lines is looked for; keys have up to 70."""


def file_tools(files: ProjectFiles, *, max_bytes: int) -> tuple[Tool, ...]:
    """`read_file` over the checkout of the notebook, showing at most `max_bytes` of lines."""
    room = min(max_bytes, MAX_RESULT_BYTES) - _HEAD_BYTES

    def text_before(path: str, start: int) -> str:
        if start == 1:
            return ""
        first = max(1, start - _LINES_BEFORE)
        before = files.read(path, first, start - 1, max_bytes=_BYTES_BEFORE)
        return "" if before.truncated else before.text

    def read_file(path: str, start: int = 1, end: int | None = None) -> Plan:
        """Read a text file of the project with numbered lines."""

        def apply() -> ToolResult:
            lines = files.read(path, start, end, max_bytes=room)
            shown = f"{lines.path}, lines {lines.start} to {lines.end} of {lines.n_lines}"
            if not lines.n_lines:
                shown = f"{lines.path}, empty"
            more = " (cut)" if lines.truncated else ""
            # What looks like a secret stays here, in the file.
            masked = mask(lines.text, before=text_before(path, lines.start))[0]
            return ToolResult(f"{mask(shown)[0]}{more}\n{masked}")

        return Plan(apply)

    return (tool(read_file, access="read", trust="file"),)
