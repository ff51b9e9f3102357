"""A value of the notebook, described for a model: what it is, how big, and the beginning of it.

1. A summary has a size limit, however large the value; a container is never written out in full.
2. It holds no terminal escapes and no hidden characters.
3. A value that can't be shown is described; nothing but an interrupt is raised.
4. pandas, polars and numpy are recognised when the notebook uses them, never imported for it.
"""

from __future__ import annotations

import inspect
import reprlib
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Final

from memnb.notebook.plain_text import plain, shortened

__all__ = ["MAX_BYTES", "summary", "type_name"]

MAX_BYTES: Final = 8192

_HEAD_ROWS: Final = 5
_MAX_COLUMNS: Final = 60
_WIDE_COLUMNS: Final = 20
_MAX_VALUES: Final = 20
_MAX_CELL: Final = 60
_BYTES_SHOWN: Final = 64
_TIMES: Final = "\u00d7"

_SHORT: Final = reprlib.Repr()
_SHORT.maxlevel = 4
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxfrozenset = 50
_SHORT.maxdeque = _SHORT.maxarray = 50
_SHORT.maxstring = _SHORT.maxother = 200
_SHORT.maxlong = 100


def summary(value: object, *, max_bytes: int = MAX_BYTES) -> str:
    """A typed summary of `value`, its first line saying what it is.

    Args:
        value: any object.
        max_bytes: most bytes of UTF-8 of the summary.
    """
    try:
        text = _describe(value, max_bytes)
    except Exception as error:  # whatever a foreign __repr__ does: it is described, not raised
        text = f"{type_name(value)}; showing it raised {type(error).__name__}"
    return shortened(plain(text), max_bytes)


def type_name(value: object) -> str:
    """The name of a value's type, with the package it comes from: `int`, `pandas.DataFrame`."""
    kind = type(value)
    package = str(kind.__module__).partition(".")[0]
    return kind.__name__ if package in {"builtins", "__main__"} else f"{package}.{kind.__name__}"


def _describe(value: Any, max_bytes: int) -> str:
    for package, name, describe in _KNOWN:
        if _is(value, package, name):
            return describe(value)
    if isinstance(value, str):
        return _text(value, max_bytes)
    if isinstance(value, (bytes, bytearray)):
        more = "…" if len(value) > _BYTES_SHOWN else ""
        return f"{type_name(value)}, {len(value):,} bytes\n{bytes(value[:_BYTES_SHOWN])!r}{more}"
    for container, show in _CONTAINERS:
        if isinstance(value, container):
            items = _count(len(value), "item")
            return f"{type_name(value)}, {items}\n{show(value, _SHORT.maxlevel)}"
    return f"{type_name(value)}\n{_source(value) or repr(value)}"


def _is(value: object, package: str, name: str) -> bool:
    """Whether `value` is of that class or a subclass, if the package was imported at all."""
    return package in sys.modules and any(
        base.__name__ == name and str(base.__module__).partition(".")[0] == package
        for base in type(value).__mro__
    )


def _pandas_frame(frame: Any) -> str:
    dtypes = zip(frame.columns[:_MAX_COLUMNS], frame.dtypes.iloc[:_MAX_COLUMNS], strict=True)
    head = frame.head(_HEAD_ROWS).iloc[:, :_WIDE_COLUMNS]
    text = head.to_string(max_colwidth=_MAX_CELL)
    return _frame("pandas.DataFrame", frame.shape, dtypes, text)


def _polars_frame(frame: Any) -> str:
    names = frame.columns[:_WIDE_COLUMNS]
    head = str(frame.head(_HEAD_ROWS).select(names))
    schema = list(frame.schema.items())[:_MAX_COLUMNS]
    return _frame("polars.DataFrame", frame.shape, schema, head)


def _frame(
    name: str, shape: tuple[int, int], dtypes: Iterable[tuple[object, object]], head: str
) -> str:
    n_rows, n_columns = shape
    lines = [f"{name}, {_count(n_rows, 'row')} {_TIMES} {_count(n_columns, 'column')}"]
    lines += [f"  {column}: {dtype}" for column, dtype in dtypes]
    if n_columns > _MAX_COLUMNS:
        lines.append(f"  … {_count(n_columns - _MAX_COLUMNS, 'more column')}")
    rows = "all rows" if n_rows <= _HEAD_ROWS else f"first {_HEAD_ROWS} rows"
    wide = f", first {_WIDE_COLUMNS} columns" if n_columns > _WIDE_COLUMNS else ""
    return "\n".join([*lines, f"{rows}{wide}:", head])


def _pandas_series(series: Any) -> str:
    head = series.head(_MAX_VALUES).to_string()
    return f"pandas.Series {series.name!r}, {_count(len(series), 'value')}, {series.dtype}\n{head}"


def _polars_series(series: Any) -> str:
    head = str(series.head(_MAX_VALUES))
    return f"polars.Series {series.name!r}, {_count(len(series), 'value')}, {series.dtype}\n{head}"


def _numpy_array(array: Any) -> str:
    numpy = sys.modules["numpy"]
    text = numpy.array2string(array, threshold=_MAX_VALUES, edgeitems=3)
    return f"numpy.ndarray, shape {array.shape}, {array.dtype}\n{text}"


def _text(value: str, max_bytes: int) -> str:
    shown = value
    if len(value) > 2 * max_bytes:  # more than fits from either end; the middle is cut in any case
        shown = value[:max_bytes] + value[-max_bytes:]
    return f"{type_name(value)}, {_count(len(value), 'character')}\n{shown}"


def _source(value: object) -> str:
    """The code of a function or class of the notebook; "" for anything else."""
    is_own = getattr(value, "__module__", None) == "__main__"
    if not is_own or not isinstance(value, (FunctionType, type)):
        return ""
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):
        return ""


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


_KNOWN: Final[tuple[tuple[str, str, Callable[[Any], str]], ...]] = (
    ("pandas", "DataFrame", _pandas_frame),
    ("pandas", "Series", _pandas_series),
    ("polars", "DataFrame", _polars_frame),
    ("polars", "Series", _polars_series),
    ("numpy", "ndarray", _numpy_array),
)

_CONTAINERS: Final[tuple[tuple[type[Any], Callable[[Any, int], str]], ...]] = (
    (dict, _SHORT.repr_dict),
    (list, _SHORT.repr_list),
    (tuple, _SHORT.repr_tuple),
    (set, _SHORT.repr_set),
    (frozenset, _SHORT.repr_frozenset),
)
