"""What a real browser makes of everything that is shown: nothing runs, loads, links or sends."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

import lab
from attacks.payloads import IN_HTML, PAYLOADS
from attacks.screens import TAGS
from attacks.test_rendering import CLASSES, paints, result

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        lab.CHROMIUM is None and not os.environ.get("CI"), reason="there is no Chromium here"
    ),
]

FIND = """tags => {
  const host = document.getElementById('host');
  host.innerHTML = host.innerHTML;  // what a second parsing makes of it, too
  return [...host.querySelectorAll('*')].flatMap(element => [
    ...(tags.includes(element.localName) ? [] : [element.localName]),
    ...element.getAttributeNames().filter(name => !['class', 'style', 'start'].includes(name)),
  ]);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with lab.browser_page() as page:
        yield page


def seen(page: Page, fragments: list[str]) -> tuple[list[str], list[str], object]:
    """Tags and attributes that aren't ours, what was asked for, and whether anything ran."""
    asked: list[str] = []
    page.goto("about:blank")
    page.unroute_all()
    page.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
    page.set_content(f"<body><div id=host>{''.join(fragments)}</div>", wait_until="load")
    found = page.evaluate(FIND, [*TAGS])
    page.wait_for_function("document.readyState == 'complete'")
    return sorted({*found}), asked, page.evaluate("window.pwned ?? null")


def test_a_browser_finds_nothing_to_act_upon(browser: Page) -> None:
    fragments = [
        result(cls, payload.replace("\ud800", ""), flag)._repr_html_()
        for payload in PAYLOADS.values()
        for cls in CLASSES
        for flag in (True, False)
    ]
    for payload in PAYLOADS.values():
        fragments += [data["text/html"] for data in paints(payload, 5)]
    assert seen(browser, fragments) == ([], [], None)


def test_a_browser_would_have_acted_upon_what_isn_t_escaped(browser: Page) -> None:
    found, asked, _ = seen(browser, [IN_HTML["image with a handler"], IN_HTML["image that tells"]])
    assert {"img", "onerror", "src"} <= {*found}
    assert any("evil.example" in url for url in asked)


@pytest.mark.parametrize(
    "name", ["image with a handler", "details that open", "frame of a script address", "drawing"]
)
def test_a_browser_would_have_run_it(browser: Page, name: str) -> None:
    browser.goto("about:blank")
    browser.set_content(f"<body><div id=host>{IN_HTML[name]}</div>")
    browser.wait_for_function("window.pwned === 1")
