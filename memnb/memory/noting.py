"""A person's notes: reading and changing them; who may do it is decided elsewhere.

1. Every text that goes into a note is screened first, with the lines it ends up in.
2. An edit needs exactly one exact match: what it replaces is never a guess.
3. A fact written into a note is one escaped line, which renders as its own words only.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memnb.core import note_names
from memnb.core.note_names import NoteName
from memnb.core.screening import require_clean
from memnb.core.snippets import Span
from memnb.errors import InvalidText
from memnb.memory.stores import Stores
from memnb.storage.note_store import Note

__all__ = [
    "Preview",
    "append",
    "check_addition",
    "check_text",
    "edit",
    "edited",
    "fact_line",
    "find",
    "in_escaped",
    "preview",
    "unescaped",
    "write",
]

PREVIEW_BYTES: Final = 2048

_WHAT: Final = "The note"

_BREAKS: Final = re.compile("[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]+")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_BARE_FEED: Final = re.compile(r"(?<!\r)\n")
# Everywhere: what starts code, links, images, markup, emphasis, tables, math and entities. Between
# letters an underscore is one, as in a column's name.
_INLINE: Final = re.compile(r"[\\`*\[<|~$]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
# At the start: headings, lists, quotes, rules, front matter, underlines, fences, definitions.
_BLOCK: Final = re.compile(r"\A(?:(?=[#+\-=>:%])|(?P<number>[0-9]+)(?=[.)]))")


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a note: whole lines, and how much of it that is."""

    name: NoteName
    text: str
    n_bytes: int
    n_all_bytes: int

    @property
    def is_cut(self) -> bool:
        """Whether there is more."""
        return self.n_bytes < self.n_all_bytes


def find(stores: Stores, text: str) -> NoteName:
    """The note that a name means today; raises InvalidName."""
    return note_names.parse(text, today=stores.clock().astimezone().date())


def write(stores: Stores, name: NoteName, text: str, *, version: str) -> Note:
    """Replace a note that was loaded as `version` ("" when there was none).

    Raises:
        SecretFound, HiddenText: the text holds what is never kept.
        FileChanged: the file was changed since; and whatever NoteStore.write raises.
    """
    require_clean(text, _WHAT)
    stores.ensure()
    return stores.notes.write(name, text, version=version)


def append(stores: Stores, name: NoteName, text: str) -> Note:
    """Add lines at the end of a note; raises as `write` does, and InvalidText for no text."""
    check_addition(text)
    stores.ensure()
    return stores.notes.append(name, text)


def check_text(text: str) -> None:
    """Refuse what no note may hold; raises SecretFound or HiddenText."""
    require_clean(text, _WHAT)


def check_addition(text: str) -> None:
    """Refuse what can't be added to a note; raises InvalidText for no text, and as `check_text`."""
    if not text.strip():
        raise InvalidText("nothing to add: give the text that the note should get.")
    check_text(text)


def edit(stores: Stores, name: NoteName, old: str, new: str, *, version: str | None = None) -> Note:
    """Replace the one place where a note says `old`.

    Args:
        stores: the project's.
        name: which note.
        old: what is replaced, exactly.
        new: what stands there afterwards; may be empty.
        version: the one that must still be there, such as the one a person approved the change
            of; None for whatever is there now.

    Raises:
        InvalidText: there is no such note, or `old` is not in it once. As `write` otherwise.
    """
    if not stores.notes.read(name).version:
        raise InvalidText("there is no such note yet; write it, or append to it.")
    stores.ensure()
    return stores.notes.change(name, lambda text: edited(text, old, new), version=version)


def edited(text: str, old: str, new: str) -> str:
    """`text` with its only `old` replaced by `new`; what the lines around become is screened too.

    Where the note ends its lines as Windows does, so do `old` and `new`.

    Raises:
        InvalidText: `old` is empty, not there, or there more than once.
        SecretFound, HiddenText: the changed lines hold what is never kept.
    """
    if not old:
        raise InvalidText("an edit needs the text that it replaces; to add text, append it.")
    if "\r\n" in text and not _BARE_FEED.search(text):
        old, new = (_BARE_FEED.sub("\r\n", part) for part in (old, new))
    start = _only_place(text, old)
    result = text[:start] + new + text[start + len(old) :]
    first = result.rfind("\n", 0, start) + 1
    last = result.find("\n", start + len(new))
    # With its line feed: a carriage return before it is an end of a line, elsewhere it hides text.
    require_clean(result[first : last + 1 if last >= 0 else len(result)], _WHAT)
    return result


def unescaped(text: str) -> str:
    """A text without Markdown's escapes: what a fact says that was written into a note."""
    return _ESCAPE.sub(r"\1", text)


def in_escaped(text: str, spans: Iterable[Span]) -> list[Span]:
    """Where in `text` stands what has these places in it without escapes."""
    escapes = [found.start() - n for n, found in enumerate(_ESCAPE.finditer(text))]
    return [
        (start + bisect_left(escapes, start), end + bisect_left(escapes, end))
        for start, end in spans
    ]


def preview(stores: Stores, name: NoteName, *, max_bytes: int = PREVIEW_BYTES) -> Preview:
    """The beginning of a note, in whole lines of at most `max_bytes` of UTF-8 together."""
    text = stores.notes.read(name).text
    n_all_bytes = len(text.encode())
    if n_all_bytes <= max_bytes:
        return Preview(name, text, n_all_bytes, n_all_bytes)
    beginning = text.encode()[:max_bytes]
    end = beginning.rfind(b"\n") + 1
    beginning = beginning[: end or max_bytes]  # a first line that is too long is cut
    shown = beginning.decode(errors="ignore")
    return Preview(name, shown, len(shown.encode()), n_all_bytes)


def fact_line(text: str) -> str:
    """A fact as one line of Markdown: a list item that shows the text and does nothing else.

    Line breaks become blanks; what would start a heading, list, rule, table, code, link, image,
    markup or front matter is escaped.
    """
    line = _BREAKS.sub(" ", text).strip()
    escaped = _INLINE.sub(lambda found: "\\" + found.group(), line)
    return "- " + _BLOCK.sub(lambda found: (found["number"] or "") + "\\", escaped)


def _only_place(text: str, old: str) -> int:
    start = text.find(old)
    if start < 0:
        raise InvalidText(
            "the text to replace isn't in the note; read the note and copy it exactly."
        )
    if text.find(old, start + 1) >= 0:
        n_places = max(text.count(old), 2)  # places may overlap, as "aa" does in "aaa"
        raise InvalidText(
            f"the text to replace is in the note {n_places} times; give more of what stands around"
            " the one that is meant."
        )
    return start
