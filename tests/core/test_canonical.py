from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import canonical
from memnb.errors import InvalidText, StoreDamaged

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def nested(depth: int, *, of: type) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = {"a": value} if of is dict else [value]
    return value


@given(OBJECTS)
def test_what_was_encoded_reads_back_the_same(value: dict[str, Any]) -> None:
    assert canonical.decode(canonical.encode(value)) == value


@given(OBJECTS)
def test_one_value_has_one_sequence_of_bytes(value: dict[str, Any]) -> None:
    data = canonical.encode(value)
    assert canonical.encode(dict(reversed(value.items()))) == data
    assert canonical.encode(canonical.decode(data)) == data


@given(OBJECTS)
def test_the_bytes_are_one_line(value: dict[str, Any]) -> None:
    assert b"\n" not in canonical.encode(value)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        pytest.param({}, b"{}", id="empty"),
        pytest.param({"b": 1, "a": [True, None, ""]}, b'{"a":[true,null,""],"b":1}', id="sorted"),
        pytest.param({"a": "Ä – 😀"}, '{"a":"Ä – 😀"}'.encode(), id="UTF-8"),
        pytest.param({"a": "\n\t\0"}, b'{"a":"\\n\\t\\u0000"}', id="control characters"),
        pytest.param({"a": "\u2028"}, b'{"a":"\xe2\x80\xa8"}', id="line separator"),
        pytest.param({"a": '"\\/'}, b'{"a":"\\"\\\\/"}', id="quotes and slashes"),
        pytest.param({"a": -(2**53)}, b'{"a":-9007199254740992}', id="smallest number"),
        pytest.param({"\U00010000": 1, "\uffff": 2}, None, id="keys by code point"),
        pytest.param({"a": ("x",)}, b'{"a":["x"]}', id="tuple"),
        pytest.param({"a": MappingProxyType({"b": 1})}, b'{"a":{"b":1}}', id="read-only mapping"),
    ],
)
def test_the_bytes_of_a_value_are_these(value: dict[str, Any], data: bytes | None) -> None:
    expected = data or '{"\uffff":2,"\U00010000":1}'.encode()
    assert canonical.encode(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(1.0, id="float"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param(float("-inf"), id="infinity"),
        pytest.param(2**53 + 1, id="too big"),
        pytest.param(-(2**53) - 1, id="too small"),
        pytest.param(10**5000, id="more digits than int prints"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param({1, 2}, id="set"),
        pytest.param(object(), id="object"),
        pytest.param({1: "x"}, id="number as key"),
        pytest.param({None: "x"}, id="null as key"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param({"\udfff": 1}, id="lone surrogate in a key"),
        pytest.param([[{"a": [0.5]}]], id="float deep inside"),
        pytest.param(nested(100_000, of=list), id="nested lists"),
        pytest.param(nested(100_000, of=dict), id="nested objects"),
    ],
)
def test_what_encoders_disagree_on_is_refused(value: Any) -> None:
    with pytest.raises(InvalidText) as caught:
        canonical.encode({"value": value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="list"),
        pytest.param(b'"a"', id="text"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"a":1', id="cut off"),
        pytest.param(b'{"a":1}x', id="something after it"),
        pytest.param(b'{"a":1}{"a":1}', id="two objects"),
        pytest.param(b'{"a":1,}', id="comma too many"),
        pytest.param(b"{'a':1}", id="single quotes"),
        pytest.param(b'{"a":1,"a":1}', id="duplicate key"),
        pytest.param(b'{"a":{"b":1,"b":2}}', id="duplicate key inside"),
        pytest.param(b'{"a":1,"\\u0061":2}', id="duplicate key by escape"),
        pytest.param(b'{"a":1.0}', id="float"),
        pytest.param(b'{"a":1e3}', id="exponent"),
        pytest.param(b'{"a":NaN}', id="NaN"),
        pytest.param(b'{"a":Infinity}', id="infinity"),
        pytest.param(b'{"a":-Infinity}', id="negative infinity"),
        pytest.param(b'{"a":9007199254740993}', id="beyond 2^53"),
        pytest.param(b'{"a":' + b"9" * 5000 + b"}", id="more digits than int reads"),
        pytest.param(b'{"a":"\xff"}', id="no UTF-8"),
        pytest.param(b'{"a":"\\ud800"}', id="lone surrogate by escape"),
        pytest.param(b'{"a":"\xed\xa0\x80"}', id="lone surrogate in bytes"),
        pytest.param(b'{"\\udfff":1}', id="lone surrogate in a key"),
        pytest.param(b'\xef\xbb\xbf{"a":1}', id="byte order mark"),
        pytest.param('{"a":1}'.encode("utf-16"), id="UTF-16"),
        pytest.param('{"a":1}'.encode("utf-32-be"), id="UTF-32"),
        pytest.param(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", id="nested lists"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="nested objects"),
        pytest.param(b'{"a":"\n"}', id="raw control character"),
    ],
)
def test_what_is_not_canonical_is_damage(data: bytes) -> None:
    with pytest.raises(StoreDamaged) as caught:
        canonical.decode(data)
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=200))
def test_random_bytes_are_an_object_or_damage(data: bytes) -> None:
    try:
        value = canonical.decode(data)
    except StoreDamaged:
        return
    assert isinstance(value, dict)


@given(st.dictionaries(st.text(), ANY_JSON, max_size=4))
def test_whatever_can_be_read_can_be_written_again(value: dict[str, Any]) -> None:
    try:
        read = canonical.decode(json.dumps(value).encode())
    except StoreDamaged:
        return
    assert canonical.decode(canonical.encode(read)) == read


@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_cleaned_text_can_be_stored(text: str) -> None:
    clean = canonical.clean_text(text)
    assert clean.encode().decode() == clean
    assert canonical.clean_text(clean) == clean


@given(TEXTS)
def test_text_without_lone_surrogates_is_left_as_it_is(text: str) -> None:
    assert canonical.clean_text(text) == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        pytest.param("a\ud800b", "a\ufffdb", id="high half"),
        pytest.param("a\udc00b", "a\ufffdb", id="low half"),
        pytest.param("a\ud800", "a\ufffd", id="high half at the end"),
        pytest.param("\udc00\ud800", "\ufffd\ufffd", id="halves in the wrong order"),
        pytest.param("\ud83d\ude00", "😀", id="two halves make one character"),
    ],
)
def test_a_lone_surrogate_becomes_the_replacement_character(text: str, clean: str) -> None:
    assert canonical.clean_text(text) == clean
