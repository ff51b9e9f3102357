"""The tool with which a model reads the project's files."""

from __future__ import annotations

from memnb.agent.tools import MAX_RESULT_BYTES, Plan, Tool, ToolResult, tool
from memnb.core.screening import mask
from memnb.storage.project_files import ProjectFiles

__all__ = ["file_tools"]

_HEAD_BYTES = 256  # the line above the lines: a path and three numbers


def file_tools(files: ProjectFiles, *, max_bytes: int) -> tuple[Tool, ...]:
    """`read_file` over the checkout of the notebook, showing at most `max_bytes` of lines."""
    room = min(max_bytes, MAX_RESULT_BYTES) - _HEAD_BYTES

    def read_file(path: str, start: int = 1, end: int | None = None) -> Plan:
        """Read a text file of the project with numbered lines."""

        def apply() -> ToolResult:
            lines = files.read(path, start, end, max_bytes=room)
            shown = f"{lines.path}, lines {lines.start} to {lines.end} of {lines.n_lines}"
            if not lines.n_lines:
                shown = f"{lines.path}, empty"
            more = " (cut)" if lines.truncated else ""
            # What looks like a secret stays here, in the file.
            return ToolResult(mask(f"{shown}{more}\n{lines.text}")[0])

        return Plan(apply)

    return (tool(read_file, access="read", trust="file"),)
