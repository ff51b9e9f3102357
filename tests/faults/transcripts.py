"""Session files read by the letter of the format, without memnb's own reader."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

_SEPARATOR = b',"head":{'


@dataclass
class Transcript:
    """The records of one session file, what is torn at its end, and what is wrong with it."""

    session_id: str
    records: list[dict[str, Any]] = field(default_factory=list)
    blank: set[int] = field(default_factory=set)
    """Numbers of records whose bodies were purged."""
    torn: bytes = b""
    violations: list[str] = field(default_factory=list)

    def types(self) -> list[str]:
        return [record["head"]["type"] for record in self.records]

    def text_of(self, seq: int) -> str | None:
        """What the person typed in a record."""
        body = (self.records[seq - 1]["body"] or {}) if 0 < seq <= len(self.records) else {}
        return "".join(p["text"] for p in body["parts"]) if "parts" in body else None

    def is_answered(self, turn: int) -> bool:
        """Whether the exchange of this turn was ended."""
        return any(r["head"]["type"] == "turn_end" for r in self.records if _turn(r) == turn)

    def is_undone(self, seq: int) -> bool:
        """Whether the exchange of a record is hidden by an undo."""
        hidden: set[int] = set()
        for record in self.records:
            if record["head"]["type"] == "undo":
                hidden.add(record["body"]["target"])
            elif record["head"]["type"] == "redo":
                hidden.discard(record["body"]["target"])
        return seq <= len(self.records) and _turn(self.records[seq - 1]) in hidden


def read_transcript(path: Path, store_id: str) -> Transcript:
    """A session file as it is; every line is checked, and the chain that binds them."""
    transcript = Transcript(path.stem)
    *lines, transcript.torn = path.read_bytes().split(b"\n")
    prev = _digest(f"memnb 1 {store_id} {path.stem}".encode())
    for seq, line in enumerate(lines, 1):
        try:
            at = line.rindex(_SEPARATOR)
            body, head = line[len(b'{"body":') : at], line[at + len(_SEPARATOR) - 1 : -1]
            record = json.loads(line)
        except ValueError:
            transcript.violations.append(f"{path.name} line {seq} is no record")
            break
        if record["head"]["seq"] != seq:
            transcript.violations.append(f"{path.name} line {seq} is another number's")
        if record["head"]["prev"] != prev:
            transcript.violations.append(f"{path.name} line {seq} doesn't follow the one before")
        if body.rstrip(b" ") == b"null":
            transcript.blank.add(seq)
        elif record["head"]["body_sha256"] != _digest(body):
            transcript.violations.append(f"{path.name} line {seq} has another body than it had")
        prev = _digest(head)
        transcript.records.append(record)
    return transcript


def _turn(record: dict[str, Any]) -> int:
    turn: int = record["head"]["turn"]
    return turn


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
