"""What a page or a terminal would act upon in a text that is shown; empty when it is inert.

Two ways for a page: what a parser finds, and a grammar that leaves no room for anything but our own
tags, whatever a browser's parser makes of broken ones.
"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

_BLOCKS = "div|span|strong|small|pre|mark|table|thead|tbody|tr|th|td"
_ANSWER_BLOCKS = f"{_BLOCKS}|p|em|s|code|ul|ol|li|blockquote|h[1-6]"
TAGS = frozenset(
    [
        "div",
        "span",
        "strong",
        "small",
        "pre",
        "mark",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
        "em",
        "s",
        "code",
        "ul",
        "ol",
        "li",
        "blockquote",
        "hr",
        "br",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ]
)
_VALUES = {
    "class": (
        "memnb mathjax_ignore|memnb-answer mathjax_ignore tex2jax_ignore"
        "|mathjax_process tex2jax_process|memnb-footer mathjax_ignore tex2jax_ignore"
    ),
    "style": "text-align: left|white-space: pre-wrap|text-align:(?:left|center|right)",
    "start": "[0-9]{1,9}",
}
"""Every attribute that may be there, with all it may say."""
_ATTRIBUTE = "|".join(f'{name}="(?:{values})"' for name, values in _VALUES.items())
_GRAMMAR = re.compile(
    rf"(?:[^<>&]|&(?:amp|lt|gt|quot|#x27);|</(?:{_ANSWER_BLOCKS})>|<[hb]r>"
    rf"|<(?:{_ANSWER_BLOCKS})(?: (?:{_ATTRIBUTE}))?>)*+"
)
_TYPESET = re.compile(r'<(span|div) class="mathjax_process tex2jax_process">(.*?)</\1>', re.DOTALL)
_ACTING_TEX = re.compile(
    r"\\(?:href|url|require|class|style|cssId|data|includegraphics|mmlToken|bbox|unicode|def|let"
    r"|newcommand|toggle|texttip|mathtip)(?![A-Za-z])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff\U000e0000-\U000e007f]")
_VOID = frozenset({"br", "hr"})


class _Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.found.append(f"tag {tag}")
        for name, value in attrs:
            if not re.fullmatch(_VALUES.get(name, r"(?!)"), value or ""):
                self.found.append(f"attribute {name}={value}")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.found.append(f"end of {tag}")

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.found.append("comment")

    def handle_decl(self, decl: str) -> None:
        self.found.append("declaration")

    def handle_pi(self, data: str) -> None:
        self.found.append("instruction")

    def unknown_decl(self, data: str) -> None:
        self.found.append("section")


def acts_on_a_page(page: str) -> list[str]:
    """What a browser would act upon in a fragment of HTML."""
    parsed = _Page(page)
    found = parsed.found + [f"open {tag}" for tag in parsed.open]
    if not _GRAMMAR.fullmatch(page):
        found.append("markup that isn't ours")
    formulas = (html.unescape(match[2]) for match in _TYPESET.finditer(page))
    found += [f"TeX {tex}" for formula in formulas for tex in _ACTING_TEX.findall(formula)]
    return found + acts_on_a_terminal(parsed.text)


def text_of(page: str) -> str:
    """What a reader of a page sees."""
    return _Page(page).text


def acts_on_a_terminal(text: str) -> list[str]:
    """What a terminal would act upon in plain text, or its reader not see."""
    return [ascii(found) for kind in (_CONTROL, _UNSEEN) for found in kind.findall(text)]


def makes_of_a_note(line: str, fact: str) -> list[str]:
    """What Markdown makes of a fact's line in a note besides one item with the fact's words."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found = [] if line.count("\n") == 0 and line.startswith("- ") else ["more than a line"]
    blocks = parser.parse(f"# Facts\n\nBefore.\n{line}\n- After.\n")
    item = ["list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"]
    before = ["heading_open", "inline", "heading_close", "paragraph_open", "inline"]
    wanted = [*before, "paragraph_close", "bullet_list_open", *item, *item, "bullet_list_close"]
    if [block.type for block in blocks] != wanted:
        return [*found, f"blocks {[block.type for block in blocks][6:]}"]
    pieces = blocks[9].children or []
    if "".join(piece.content for piece in pieces).split() != fact.split():
        found.append("other words")
    return found + sorted({piece.type for piece in pieces} - {"text", "text_special"})
