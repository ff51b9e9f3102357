"""Whether a text says what a fact says, and which records do: once forgotten, they are barred.

1. Case, blanks, Unicode composition and what ends a wording don't matter; it may stand inside a
   longer text, as whole words.
2. What was written by a program is looked at without its escapes too: JSON's, Markdown's, HTML's.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memnb.core.bodies import read_assistant, read_tool, read_user
from memnb.core.canonical import clean_text
from memnb.core.facts import UNSPACED, bare, normalised
from memnb.core.records import Record
from memnb.core.summary_bodies import texts_of
from memnb.errors import MemnbError, StoreDamaged
from memnb.memory.history import Histories, History
from memnb.memory.stores import Stores
from memnb.storage.kept_files import raw_lines

__all__ = ["HoldingRecord", "RecordSearch", "Wordings"]

_BATCH: Final = 256
_LONG_BYTES: Final = 16
"""A text of this length doesn't stand anywhere by chance."""

_MOST_LAYERS: Final = 3
"""JSON in JSON in JSON: a tool's arguments, in a record, in a copy of that."""

_IS_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_NO_WORD_BEFORE: Final = rf"(?<![^\W{UNSPACED}])"
_NO_WORD_AFTER: Final = rf"(?![^\W{UNSPACED}])"
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Wordings:
    """The wordings of a fact, to be looked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Look for `texts`; blank ones are left out."""
        self.texts = tuple(dict.fromkeys(text for text in texts if text.strip()))
        forms = dict.fromkeys(bare(text) or normalised(text) for text in self.texts)
        self._pattern = re.compile("|".join(map(_bounded, forms)))
        self._clues = tuple(max(_ASCII_WORD.findall(form), key=len, default="") for form in forms)
        self._ascii_clues = tuple(clue.encode() for clue in self._clues)
        self._exact = tuple(text.encode(errors="surrogatepass") for text in self.texts)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def holds(self, text: str) -> bool:
        """Whether a text says one of them, in whatever case, spacing or composition."""
        return self._may_hold(text) and self._pattern.search(normalised(text)) is not None

    def holds_written(self, text: str) -> bool:
        """Whether a text says one of them, as it stands or as JSON, Markdown or HTML writes it."""
        return self._may_hold(text) and any(map(self.holds, _readings(text)))

    def holds_bytes(self, data: bytes) -> bool:
        """Whether a file of any kind holds one of them: byte for byte, or as text.

        In a database's pages texts stand side by side, so that words have no bounds; elsewhere
        only a long text counts without them.
        """
        is_binary = b"\0" in data
        for exact in self._exact:
            if (is_binary or len(exact) >= _LONG_BYTES) and exact in data:
                return True
        return self.holds_written(data.decode(errors="replace"))

    def may_be_in(self, line: bytes) -> bool:
        """A look at a line of a file that costs little; what holds a wording passes it."""
        if not line.isascii():
            return self._may_hold(line.decode(errors="replace"))
        folded = line.lower()
        return any(clue in folded for clue in self._ascii_clues)

    def _may_hold(self, text: str) -> bool:
        """Whether the longest word of ASCII is there, which nothing escapes."""
        folded = text.casefold()
        return any(clue in folded for clue in self._clues)


@dataclass(frozen=True, slots=True)
class HoldingRecord:
    """A record that holds a wording.

    `may_be_barred` is False for a statement that another fact rests on: a person may say a longer
    sentence that holds what they forgot.
    """

    session_id: str
    seq: int
    notebook: str | None = None
    may_be_barred: bool = True


class RecordSearch:
    """Looks through all sessions for records that hold a wording, each record once.

    Called anew it looks at what was appended since, so that nothing slips in before a forget.
    `damaged` names records that may hold a wording, but aren't as they were written; `unread` the
    sessions that can't be read, and why.
    """

    def __init__(self, stores: Stores, histories: Histories, fact_id: str) -> None:
        """Search for wordings of one fact."""
        self._stores = stores
        self._histories = histories
        self._fact_id = fact_id
        self._wordings = Wordings(())
        self._reached: dict[str, int] = {}
        self.found: list[HoldingRecord] = []
        self.damaged: dict[str, set[int]] = {}
        self.unread: dict[str, str] = {}

    def __call__(self, texts: Sequence[str]) -> list[tuple[str, int]]:
        """Session and number of the records that were found by this call and are to be barred."""
        return [
            (record.session_id, record.seq)
            for record in self.look(Wordings(texts))
            if record.may_be_barred
        ]

    def look(self, wordings: Wordings) -> list[HoldingRecord]:
        """The records that hold one of `wordings` and weren't found by an earlier call.

        A session that can't be read is passed over: it can't be replayed either.
        """
        if set(wordings.texts) != set(self._wordings.texts):
            self._wordings = wordings
            self._reached.clear()
            self.found.clear()
        if not wordings:
            return []
        new: list[HoldingRecord] = []
        for session_id in self._stores.sessions.ids():
            try:
                history = self._histories.of(session_id)
                new += list(self._in_session(history))
                self._reached[session_id] = history.reader.last_seq
            except MemnbError as error:
                self.unread[session_id] = str(error)
        self.found += new
        return new

    def _in_session(self, history: History) -> Iterator[HoldingRecord]:
        reader, session_id = history.reader, history.session_id
        seqs = range(self._reached.get(session_id, 0) + 1, reader.last_seq + 1)
        if not seqs:
            return
        # Most lines can be told from what is looked for without reading them as records.
        lines = raw_lines(reader.path, seqs, reader.chain_head.n_bytes)
        candidates = [seq for seq, line in lines if seq and self._wordings.may_be_in(line)]
        for start in range(0, len(candidates), _BATCH):
            for seq, record in reader.records(candidates[start : start + _BATCH]).items():
                if record is None or record.body is None:
                    self.damaged.setdefault(session_id, set()).add(seq)
                elif any(map(self._wordings.holds_written, _texts(record))):
                    yield self._holding(session_id, seq, record)

    def _holding(self, session_id: str, seq: int, record: Record) -> HoldingRecord:
        if record.head.type != "user":
            return HoldingRecord(session_id, seq)
        said = read_user(record)
        others = set(self._stores.facts.citing(session_id, [seq])) - {self._fact_id}
        return HoldingRecord(session_id, seq, said.cell.notebook, said.asks or not others)


def _bounded(form: str) -> str:
    """A pattern for a wording as whole words, where its script has blanks between words."""
    before = "" if _IS_UNSPACED.match(form[0]) else _NO_WORD_BEFORE
    after = "" if _IS_UNSPACED.match(form[-1]) else _NO_WORD_AFTER
    return before + re.escape(form) + after


def _readings(text: str) -> Iterator[str]:
    """The text, and what it says when its escapes are read."""
    yield text
    if "&" in text and ";" in text:
        yield html.unescape(text)
    for _ in range(_MOST_LAYERS):
        if "\\" not in text:
            return
        text = clean_text(_ESCAPE.sub(_unescaped, text))
        yield text


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] is not None:
        return chr(int(escape[1], 16))
    return _ESCAPED.get(escape[2], escape[2])


def _texts(record: Record) -> Iterator[str]:
    """What a record says, to a model or to a person."""
    try:
        if record.head.type == "user":
            said = read_user(record)
            yield "\n".join(part.text for part in said.parts)
            yield from (part.expr for part in said.parts)
        elif record.head.type == "assistant":
            reply = read_assistant(record)
            yield reply.text
            yield from (call.arguments for call in reply.calls)
        elif record.head.type == "tool":
            yield read_tool(record).output
        elif record.head.type == "compact":
            yield from texts_of(record)
    except StoreDamaged:
        return
