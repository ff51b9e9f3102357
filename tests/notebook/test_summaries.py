from __future__ import annotations

import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.escaping import escape_terminal
from memnb.notebook.plain_text import plain, settled, shortened
from memnb.notebook.summaries import MAX_BYTES, summary


class Fails:
    def __repr__(self) -> str:
        raise ValueError("secret")


class Coloured:
    def __repr__(self) -> str:
        return "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x9b31m \u202eabc"


class Lying(dict):  # type: ignore[type-arg]
    def __len__(self) -> int:
        raise RuntimeError


Point = namedtuple("Point", "x y")  # the kind that data code has


def tables() -> dict[str, object]:
    import numpy
    import pandas

    prices = pandas.Series([1.5, None, 3.0, 4.0, 5.0, 6.0], name="price")
    cities = pandas.Series(["Oslo", "Rome", "Bonn", "x", "y", "z"], name="city", dtype="category")
    return {
        "pandas_frame": pandas.DataFrame({"price": prices, "city": cities}),
        "pandas_wide": pandas.DataFrame(numpy.zeros((2, 70))),
        "pandas_empty": pandas.DataFrame(),
        "pandas_series": prices,
        "array": numpy.arange(12).reshape(3, 4),
        "array_big": numpy.arange(10_000).reshape(100, 100),
    }


@pytest.mark.parametrize(
    "name",
    ["array", "array_big", "pandas_empty", "pandas_frame", "pandas_series", "pandas_wide"],
)
def test_tables_and_arrays_are_shown_as_kept(golden: Callable[[str, str], None], name: str) -> None:
    golden(f"summary_{name}.txt", summary(tables()[name]) + "\n")


def test_polars_tables_are_shown_as_kept(golden: Callable[[str, str], None]) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    golden("summary_polars.txt", f"{summary(frame)}\n{summary(frame['a'])}\n")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("hello", "str, 5 characters\nhello"),
        ("", "str, 0 characters\n"),
        (5, "int\n5"),
        (None, "NoneType\nNone"),
        (True, "bool\nTrue"),
        (b"\x00ab", "bytes, 3 bytes\nb'\\x00ab'"),
        ([1, [2, [3, [4, [5]]]]], "list, 2 items\n[1, [2, [3, [4, [...]]]]]"),
        ((1,), "tuple, 1 item\n(1,)"),
        ({"a": 1}, "dict, 1 item\n{'a': 1}"),
        ({3}, "set, 1 item\n{3}"),
        (Counter("aab"), "collections.Counter, 2 items\n{'a': 2, 'b': 1}"),
        (defaultdict(int, a=1), "collections.defaultdict, 1 item\n{'a': 1}"),
        (OrderedDict(a=1), "collections.OrderedDict, 1 item\n{'a': 1}"),
        (Coloured(), "tests.Coloured\nred link \\x9b31m \\u202eabc"),
        (Fails(), "tests.Fails; showing it raised ValueError"),
        (Lying(), "tests.Lying; showing it raised RuntimeError"),
        (10**5000, "int; showing it raised ValueError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_described_by_type_and_beginning(value: object, text: str) -> None:
    assert summary(value) == text


def test_a_value_inside_a_container_that_cannot_be_shown_is_described() -> None:
    assert "Fails instance" in summary([Fails()])


@pytest.mark.parametrize(
    "value",
    [
        "x" * 1_000_000,
        "é\x1b" * 100_000,
        list(range(1_000_000)),
        dict.fromkeys(range(10000), "y" * 1000),
    ],
    ids=["str", "escapes", "list", "dict"],
)
@pytest.mark.parametrize("max_bytes", [8192, 200])
def test_a_summary_is_never_larger_than_its_limit(value: object, max_bytes: int) -> None:
    assert 0 < len(summary(value, max_bytes=max_bytes).encode()) <= max_bytes


def test_a_table_is_never_larger_than_the_limit_either() -> None:
    import pandas

    frame = pandas.DataFrame({f"column {n}": ["z" * 5000] * 9 for n in range(300)})
    assert 0 < len(summary(frame).encode()) <= MAX_BYTES


def test_a_long_text_keeps_its_beginning_and_end() -> None:
    text = summary("first " + "x" * 100_000 + " last")
    assert text.startswith("str, 100,011 characters\nfirst xxx")
    assert text.endswith("xxx last")


any_value: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(any_value)
def test_a_summary_holds_no_hidden_characters(value: object) -> None:
    text = summary(value)
    assert escape_terminal(text) == text


def test_an_interrupt_while_showing_a_value_goes_on() -> None:
    class Slow:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        summary(Slow())


def test_summaries_import_no_data_library() -> None:
    code = (
        "import sys; from memnb.notebook.summaries import summary; summary([1]); summary('x');"
        "print([name for name in ('pandas', 'polars', 'numpy') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


def test_the_source_of_a_function_of_the_notebook_is_its_summary(shell: Any) -> None:
    shell.run_cell("def double(n):\n    return 2 * n\n")
    assert summary(shell.user_ns["double"]) == "function\ndef double(n):\n    return 2 * n\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("10%\r20%\r100%\ndone", "100%\ndone"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r", "a"),
        ("a\n\rb", "a\nb"),
        ("plain", "plain"),
    ],
)
def test_what_a_carriage_return_overwrites_is_gone(text: str, left: str) -> None:
    assert settled(text) == left


@given(st.text(), st.integers(min_value=0, max_value=200))
def test_a_shortened_text_fits_or_is_only_its_mark(text: str, max_bytes: int) -> None:
    text = plain(text)
    short = shortened(text, max_bytes)
    if len(text.encode()) <= max_bytes:
        assert short == text
    else:
        assert len(short.encode()) <= max(max_bytes, len("\n[… 1,234 bytes in all …]\n".encode()))
