"""An answer, shown: its Markdown as static HTML that can do nothing, and as plain text.

1. Only the tags below are written, with no attribute but the few below; all else is escaped.
2. A link is its text followed by its address as text; images are not loaded; raw HTML is text.
3. Mathematics is left for the notebook to typeset, inside the spans marked for it only, and
   without commands that link, load, style or define.
4. Hidden characters are spelled out.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from memnb.core.escaping import escape_html, escape_terminal
from memnb.notebook.math_spans import math_spans
from memnb.notebook.tex_safety import harmless

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

__all__ = ["ALLOWED_ATTRIBUTES", "ALLOWED_TAGS", "to_html", "to_plain"]

ALLOWED_TAGS: Final = frozenset(
    {
        *("p", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
        *("span", "div"),
    }
)
ALLOWED_ATTRIBUTES: Final = frozenset({"class", "start", "style"})

_ALIGNMENTS: Final = frozenset(f"text-align:{side}" for side in ("left", "center", "right"))
_MAX_FORMULA_LINES: Final = 40
_MAX_CHARACTERS: Final = 200_000
"""Longer answers are shown as they are: parsing them would hold up the notebook."""

_TYPESET: Final = "mathjax_process tex2jax_process"
_NOT_TYPESET: Final = "mathjax_ignore tex2jax_ignore"


def to_html(markdown: str) -> str:
    """`markdown` as a static fragment of HTML."""
    if len(markdown) > _MAX_CHARACTERS:
        content = f"<pre>{_text(markdown)}</pre>"
    else:
        content = "".join(_render(_parser().parse(markdown)))
    return f'<div class="memnb-answer {_NOT_TYPESET}">{content}</div>'


def to_plain(markdown: str) -> str:
    """`markdown` as it is written, safe on a terminal."""
    return escape_terminal(markdown)


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["image", "html_block", "html_inline"])
    parser.inline.ruler.before("escape", "math", _inline_math)
    interrupts = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", "math_block", _block_math, {"alt": interrupts})
    return parser


def _inline_math(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    end = _formulas(state).get(state.pos)
    if end is None or end > state.posMax:
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = state.src[state.pos : end]
    state.pos = end
    return True


def _formulas(state: StateInline) -> dict[int, int]:
    """Where each formula of the paragraph begins and ends; found once for each paragraph."""
    known: tuple[str, dict[int, int]] = state.env.get("formulas", ("", {}))
    if known[0] is not state.src:
        known = (state.src, {span.start: span.end for span in math_spans(state.src)})
        state.env["formulas"] = known
    return known[1]


def _block_math(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A formula that begins a line, ends one, and may look like a list or heading in between."""
    begin = state.bMarks[start_line] + state.tShift[start_line]
    if state.is_code_block(start_line) or not state.src.startswith(("$$", "\\[", "\\b"), begin):
        return False
    last = start_line
    while last < min(end_line, start_line + _MAX_FORMULA_LINES) and not state.isEmpty(last):
        last += 1
    source = state.getLines(start_line, last, state.blkIndent, False).lstrip()
    span = next(math_spans(source), None)
    if span is None or span.start != 0 or not span.block:
        return False
    if source[span.end :].partition("\n")[0].strip():
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content = source[: span.end]
    state.line = start_line + source[: span.end].count("\n") + 1
    return True


def _render(tokens: Sequence[Token]) -> Iterator[str]:
    addresses: list[str] = []
    for at, token in enumerate(tokens):
        if token.type == "inline":
            yield from _render(token.children or ())
        elif token.type == "link_open":
            addresses.append(_address(tokens, at))
            yield "<span>"  # keeps what is before it from joining it to a TeX command
        elif token.type == "link_close":
            yield f"</span>{addresses.pop()}"
        elif token.type in {"math", "math_block"}:
            yield _formula(token)
        elif token.type in {"fence", "code_block"}:
            yield f"<pre><code>{escape_html(token.content)}</code></pre>\n"
        elif token.type == "code_inline":
            yield f"<code>{escape_html(token.content)}</code>"
        elif token.type == "softbreak":
            yield "\n"
        elif token.tag in ALLOWED_TAGS:
            yield _tag(token)
        else:
            yield _text(token.content)


def _text(text: str) -> str:
    return harmless(escape_html(text))


def _formula(token: Token) -> str:
    tag = "div" if token.type == "math_block" else "span"
    return f'<{tag} class="{_TYPESET}">{_text(token.content)}</{tag}>'


def _address(tokens: Sequence[Token], at: int) -> str:
    """The address of the link that opens `at`, as text; "" when the link's text is the address."""
    address = str(tokens[at].attrGet("href") or "")
    inside: list[str] = []
    for token in tokens[at + 1 :]:
        if token.type == "link_close":
            break
        inside.append(token.content)
    shown = "".join(inside)
    return "" if address in {shown, f"mailto:{shown}"} else f" ({_text(address)})"


def _tag(token: Token) -> str:
    if token.hidden:
        return ""
    if token.nesting < 0:
        return f"</{token.tag}>{_line_end(token)}"
    attributes = "".join(_attribute(name, value) for name, value in token.attrs.items())
    line_end = _line_end(token) if token.nesting == 0 else ""
    return f"<{token.tag}{attributes}>{line_end}"


def _attribute(name: str, value: Any) -> str:
    if name == "start" and str(value).isdigit():
        return f' start="{int(value)}"'
    if name == "style" and value in _ALIGNMENTS:
        return f' style="{value}"'
    return ""


def _line_end(token: Token) -> str:
    return "\n" if token.block or token.tag == "br" else ""
