"""What a model is shown of the project's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from memnb.agent.file_tools import file_tools
from memnb.storage.project_files import ProjectFiles

BODY = [f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA{n:02}Zt4Q8vXn2LsRb7KdYw" for n in range(26)]
KEY = ["-----BEGIN PRIVATE KEY-----", *BODY, "-----END PRIVATE KEY-----"]


@pytest.mark.parametrize("start", [1, 2, 3, 20])
def test_a_secret_of_several_lines_stays_in_the_file_wherever_reading_starts(
    tmp_path: Path, start: int
) -> None:
    (tmp_path / "deploy.txt").write_text("\n".join(["how to deploy", *KEY, "that was it"]))
    files = ProjectFiles(tmp_path, private=(), user_home=tmp_path.parent / "home")
    (read_file,) = file_tools(files, max_bytes=8192)
    shown = read_file.plan(f'{{"path": "deploy.txt", "start": {start}}}').apply().output
    assert not any(line in shown for line in BODY)
    assert "private-key" in shown
    assert "that was it" in shown
