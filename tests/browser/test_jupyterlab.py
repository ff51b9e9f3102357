"""What a person sees in JupyterLab: a real server, kernel and browser."""

import os

import nbformat
import pytest

import lab
from lab import (
    browser_page,
    lab_server,
    open_notebook,
    output,
    run_cell,
    run_to_end,
    wait_until_idle,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        lab.CHROMIUM is None and not os.environ.get("CI"), reason="there is no Chromium here"
    ),
]

PAYLOAD = (
    "Use **polars**. <script>window.pwned = 1</script>"
    " ![x](http://127.0.0.1:9/leak.png) [here](javascript:alert(1))"
    " <img src=x onerror='window.pwned = 2'>\\n\\n```python\\nimport polars as pl\\n```\\n"
)

CELLS = [
    "%load_ext memnb\nimport memnb",
    "%memory remember We use polars, <b>never</b> pandas",
    f'model = memnb.ScriptedModel([memnb.ScriptedReply("{PAYLOAD}", delay_seconds=0.02)])',
    "%%agent -m model\nWhich library?",
    "%memory facts",
    'slow = memnb.ScriptedModel([memnb.ScriptedReply("one two three four five six " * 40,'
    " delay_seconds=0.05)])",
    "%%agent -m slow\nCount.",
    "%memory why",
]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    project = folder / "churn-model"
    project.mkdir()
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(book, project / "eda.ipynb")
    environ = {"MEMNB_HOME": str(folder / "home"), "MEMNB_STATE": str(folder / "state")}
    with (
        lab_server(project, folder / "private", environ) as address,
        browser_page() as page,
    ):
        open_notebook(page, address, "eda.ipynb")
        yield page


def test_a_first_minute_in_jupyterlab(notebook):
    page = notebook
    assert "memnb · project churn-model · 0 facts" in run_to_end(page, 0).inner_text()
    assert "remembered F-" in run_to_end(page, 1).inner_text()
    run_to_end(page, 2)

    answer = run_to_end(page, 3)

    answer.locator("strong", has_text="polars").wait_for()
    answer.locator("code", has_text="import polars as pl").wait_for()
    assert "carried 1 fact" in answer.inner_text()
    assert answer.locator("img, script, a").count() == 0
    assert page.evaluate("window.pwned") is None
    table = run_to_end(page, 4)
    assert table.locator("td", has_text="We use polars, <b>never</b> pandas").count() == 1
    assert table.locator("td b").count() == 0


def test_a_stopped_answer_keeps_what_came_and_the_next_cell_runs(notebook):
    page = notebook
    run_to_end(page, 0)
    run_to_end(page, 5)
    run_cell(page, 6)
    page.wait_for_function(
        "[...document.querySelectorAll('.jp-OutputArea')].some("
        "e => e.innerText.includes('one two three four five six one'))",
        timeout=30_000,
    )

    page.keyboard.press("Escape")
    page.keyboard.press("i")
    page.keyboard.press("i")
    wait_until_idle(page)

    stopped = output(page, 6).inner_text()
    assert "stopped by you, kept as partial" in stopped
    assert "one two three" in stopped
    assert "Traceback" not in stopped
    assert "request 1 of 1 carried" in run_to_end(page, 7).inner_text()
