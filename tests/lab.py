"""JupyterLab in a real Chromium, for tests and for the picture in the README."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)

# The background-networking flags matter where the network is closed: without them Chromium tries
# its maker's hosts at every start.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 90
_PRESS_AGAIN_SECONDS = 5


@contextlib.contextmanager
def lab_server(root: Path, private: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """A JupyterLab over `root`; gives its address with the token's parameter left to add."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
        "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    own = {
        "JUPYTER_CONFIG_DIR": str(private / "config"),
        "JUPYTER_DATA_DIR": str(private / "data"),
        "JUPYTER_RUNTIME_DIR": str(private / "runtime"),
        "JUPYTERLAB_WORKSPACES_DIR": str(private / "workspaces"),
        "JUPYTERLAB_SETTINGS_DIR": str(private / "settings"),
        "IPYTHONDIR": str(private / "ipython"),
    }
    private.mkdir(parents=True, exist_ok=True)
    news = private / "settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True, exist_ok=True)
    (news / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    with (private / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **own, **environ}, stdout=log, stderr=log
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api?token={token}", server, private / "server.log")
            yield f"http://127.0.0.1:{port}/lab/tree/{{}}?token={token}"
        finally:
            server.terminate()
            server.wait(30)


@contextlib.contextmanager
def browser_page(width: int = 1280, height: int = 900) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        try:
            yield browser.new_page(viewport={"width": width, "height": height})
        finally:
            browser.close()


def open_notebook(page: Page, address: str, name: str) -> None:
    """Open a notebook and wait until its kernel is idle: a key pressed before is lost."""
    page.goto(address.format(name))
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=START_SECONDS * 1000)
    wait_until_idle(page)


def wait_until_idle(page: Page, *, seconds: float = START_SECONDS) -> None:
    page.wait_for_function(
        "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status == 'idle'",
        timeout=seconds * 1000,
    )


def cell(page: Page, number: int) -> Locator:
    """The code cell of this number, from 0."""
    return page.locator(".jp-Notebook .jp-CodeCell").nth(number)


def run_cell(page: Page, number: int) -> None:
    """Start a cell, as a person does."""
    cell(page, number).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")


def run_to_end(page: Page, number: int, *, seconds: float = START_SECONDS) -> Locator:
    """Run a cell and wait for its new execution count; gives its output."""
    prompt = cell(page, number).locator(".jp-InputPrompt").first
    before = re.findall(r"\d+", prompt.inner_text())
    pressed_at = 0.0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        now = prompt.inner_text()
        if "*" not in now:
            if re.findall(r"\d+", now) != before:
                wait_until_idle(page)
                return output(page, number)
            # Right after a page has loaded JupyterLab drops a run without a word.
            if time.monotonic() - pressed_at > _PRESS_AGAIN_SECONDS:
                run_cell(page, number)
                pressed_at = time.monotonic()
        page.wait_for_timeout(100)
    raise TimeoutError(f"cell {number} did not end")


def output(page: Page, number: int) -> Locator:
    return cell(page, number).locator(".jp-OutputArea")


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):  # noqa: S310
            return
        if server.poll() is not None:
            break
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
