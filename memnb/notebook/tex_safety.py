r"""TeX that can do more than show a formula, made harmless before it is typeset.

1. Commands that link, load, style, name or run something are shown instead of executed.
2. So are commands that define others: their meaning would outlive the answer, in every formula of
   the page.
3. Command names are ASCII letters after a backslash, as TeX reads them; no other spelling exists.

Source: the MathJax 3 and 4 documentation, TeX extensions html, bbox, action, require, newcommand,
unicode, and the base command mmlToken.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["harmless"]

_COMMANDS: Final = (
    *("href", "url", "cssId", "class", "style", "data", "mmlToken", "bbox", "unicode"),
    *("require", "input", "include", "includegraphics", "usepackage", "loadextension"),
    *("toggle", "mathtip", "texttip", "tooltip"),
    *("def", "edef", "gdef", "xdef", "let", "futurelet", "csname", "catcode"),
    *("newcommand", "renewcommand", "providecommand", "newenvironment", "renewenvironment"),
    *("DeclareMathOperator", "DeclarePairedDelimiter", "DeclarePairedDelimiters"),
    *("DeclarePairedDelimiterX", "DeclarePairedDelimitersX", "DeclarePairedDelimitersXPP"),
    *("Newextarrow", "newtagform", "renewtagform", "usetagform", "definecolor", "newcolumntype"),
    *("begingroup", "begingroupSandbox", "global"),
)
_ACTIVE: Final = re.compile(rf"\\(?=(?:{'|'.join(_COMMANDS)})(?![A-Za-z]))")

_SHOWN_BACKSLASH: Final = "\u29f5"
"""A reverse solidus operator: it looks like a backslash and is none."""


def harmless(text: str) -> str:
    """`text` in which no active TeX command is left; all other mathematics stays as it is."""
    return _ACTIVE.sub(_SHOWN_BACKSLASH, text)
