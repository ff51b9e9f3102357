"""Text made safe to show: on a terminal, and in HTML."""

from __future__ import annotations

import html

from memnb.core.hidden_text import hidden_spans

__all__ = ["escape_html", "escape_line", "escape_terminal"]


def escape_terminal(text: str) -> str:
    r"""`text` with every hidden character spelled out, as `\x1b`, `\u202e` or `\U000e0041`.

    Line feeds, tabs, and the joiners, marks and selectors that emoji and scripts need stay as they
    are; so do look-alike letters, which are visible. Every `text/plain` output passes here.
    """
    pieces: list[str] = []
    end = 0
    for span in hidden_spans(text):
        pieces.append(text[end : span.start])
        pieces.extend(_spelled_out(character) for character in text[span.start : span.end])
        end = span.end
    if not pieces:
        return text
    pieces.append(text[end:])
    return "".join(pieces)


def escape_line(text: str) -> str:
    r"""`text` on one line: as `escape_terminal` gives it, its line feeds spelled out as `\n`."""
    return escape_terminal(text).replace("\r\n", "\\r\\n").replace("\n", "\\n")


def escape_html(text: str) -> str:
    """`text` as HTML character data or a quoted attribute value, hidden characters spelled out."""
    return html.escape(escape_terminal(text), quote=True)


def _spelled_out(character: str) -> str:
    code_point = ord(character)
    if code_point <= 0xFF:
        return f"\\x{code_point:02x}"
    if code_point <= 0xFFFF:
        return f"\\u{code_point:04x}"
    return f"\\U{code_point:08x}"
