from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core import bodies, canonical
from memnb.core.bodies import (
    AssistantBody,
    AssistantStop,
    Cell,
    Cut,
    Part,
    PartType,
    SessionStartBody,
    ToolBody,
    Trust,
    TurnEnd,
    TurnEndBody,
    UserBody,
    Via,
)
from memnb.core.messages import Call, Usage
from memnb.core.records import Draft, Head, Record
from memnb.errors import StoreDamaged

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(0, 2**53)
UNKNOWN_OR_NUMBER = st.none() | NUMBERS
TEXT_LISTS = st.lists(TEXTS, max_size=3).map(tuple)
TEXT_MAPS = st.dictionaries(TEXTS, TEXTS, max_size=3)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def one_of(literal: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(get_args(literal))


STARTS = st.builds(
    SessionStartBody, TEXTS, TEXTS, TEXTS, TEXTS, TEXT_MAPS, format=st.integers(1, 9)
)
PARTS = st.builds(Part, one_of(PartType), TEXTS, TEXTS)
CELLS = st.builds(Cell, st.none() | TEXTS, st.none() | TEXTS, UNKNOWN_OR_NUMBER)
USERS = st.builds(
    UserBody,
    one_of(Via),
    st.lists(PARTS, max_size=4).map(tuple),
    st.booleans(),
    CELLS,
    st.booleans(),
)
ASSISTANTS = st.builds(
    AssistantBody,
    TEXTS,
    st.lists(st.builds(Call, TEXTS, TEXTS, TEXTS), max_size=3).map(tuple),
    TEXT_LISTS,
    TEXTS,
    TEXT_MAPS,
    one_of(AssistantStop),
    st.builds(Usage, UNKNOWN_OR_NUMBER, UNKNOWN_OR_NUMBER, UNKNOWN_OR_NUMBER),
)
TOOLS = st.builds(
    ToolBody,
    TEXTS,
    TEXTS,
    st.booleans(),
    TEXTS,
    one_of(Trust),
    TEXT_LISTS,
    st.none() | st.builds(Cut, NUMBERS, TEXTS),
)
ENDS = st.builds(TurnEndBody, one_of(TurnEnd), NUMBERS, TEXT_LISTS, TEXT_LISTS)

Reader = Callable[[Record], Any]


def stored(draft: Draft) -> Record:
    """The record of a draft, after its body went through canonical JSON."""
    return record(canonical.decode(canonical.encode({**draft.body, "salt": "00"})), draft.type)


def record(body: dict[str, Any] | None, type_: str = "user") -> Record:
    return Record(Head("", "", 0, "", 1, 1, type_), body, "")


@given(STARTS)
def test_a_session_start_reads_back_the_same(body: SessionStartBody) -> None:
    assert bodies.read_session_start(stored(body.draft())) == body


@given(USERS)
def test_a_user_record_reads_back_the_same(body: UserBody) -> None:
    assert bodies.read_user(stored(body.draft())) == body


@given(ASSISTANTS)
def test_an_assistant_record_reads_back_the_same(body: AssistantBody) -> None:
    assert bodies.read_assistant(stored(body.draft(2))) == body


@given(TOOLS)
def test_a_tool_record_reads_back_the_same(body: ToolBody) -> None:
    assert bodies.read_tool(stored(body.draft(2))) == body


@given(ENDS)
def test_a_turn_end_reads_back_the_same(body: TurnEndBody) -> None:
    assert bodies.read_turn_end(stored(body.draft(2))) == body


@pytest.mark.parametrize(
    "draft", [bodies.undo_draft(7), bodies.redo_draft(7)], ids=lambda d: d.type
)
def test_an_undo_and_a_redo_name_their_exchange(draft: Draft) -> None:
    assert bodies.read_target(stored(draft)) == 7
    assert draft.turn == 0


def test_a_user_record_opens_an_exchange_and_its_answers_join_it() -> None:
    answer = AssistantBody("", (), (), "m", {}, "end", Usage())
    assert UserBody("agent", ()).draft().turn is None
    assert answer.draft(5).turn == 5
    assert ToolBody("c", "n", True, "", "file").draft(5).turn == 5
    assert TurnEndBody("complete").draft(5).turn == 5


def test_unknown_usage_is_stored_as_null_not_as_zero() -> None:
    body = AssistantBody("", (), (), "m", {}, "end", Usage()).draft(2).body
    assert body["usage"] == {"cost_nusd": None, "input_tokens": None, "output_tokens": None}


VALID: dict[str, tuple[Reader, dict[str, Any]]] = {
    "session_start": (
        bodies.read_session_start,
        dict(SessionStartBody("P-0", "/a", "/a", "k", {"memnb": "0.1"}).draft().body),
    ),
    "user": (
        bodies.read_user,
        dict(
            UserBody("agent", (Part("variable", "x", "df"),), cell=Cell("n", "c", 1)).draft().body
        ),
    ),
    "assistant": (
        bodies.read_assistant,
        dict(
            AssistantBody(
                "t",
                (Call("c", "n", "{}"),),
                ("F-1b8hyr@1",),
                "m",
                {"a": "b"},
                "end",
                Usage(1, 2, 3),
            )
            .draft(2)
            .body
        ),
    ),
    "tool": (
        bodies.read_tool,
        dict(ToolBody("c", "n", True, "o", "file", ("F-1b8hyr@1",), Cut(1, "ab")).draft(2).body),
    ),
    "turn_end": (
        bodies.read_turn_end,
        dict(TurnEndBody("complete", 1, ("F-1b8hyr@1",), ("F-7k2m9q@1",)).draft(2).body),
    ),
    "undo": (bodies.read_target, dict(bodies.undo_draft(2).body)),
}
TYPES = sorted(VALID)
FIELDS = [(name, field) for name in TYPES for field in sorted(VALID[name][1])]


def paths(value: Any, *path: str | int) -> list[tuple[str | int, ...]]:
    """The places inside a body at which something can be replaced."""
    found = [path] if path else []
    if isinstance(value, dict):
        return found + [p for key, item in value.items() for p in paths(item, *path, key)]
    if isinstance(value, list):
        return found + [p for n, item in enumerate(value) for p in paths(item, *path, n)]
    return found


def replaced(body: dict[str, Any], path: tuple[str | int, ...], new: Any) -> dict[str, Any]:
    """A copy of `body` with `new` at `path`."""
    body = json.loads(json.dumps(body))
    place: Any = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = new
    return body


@pytest.mark.parametrize("name", TYPES)
def test_a_valid_body_is_read(name: str) -> None:
    read, body = VALID[name]
    read(record(body))


@pytest.mark.parametrize("name", TYPES)
def test_a_body_that_was_blanked_is_damage(name: str) -> None:
    with pytest.raises(StoreDamaged):
        VALID[name][0](record(None))


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{n}.{f}" for n, f in FIELDS])
def test_a_body_without_one_of_its_fields_is_damage(name: str, field: str) -> None:
    read, body = VALID[name]
    with pytest.raises(StoreDamaged):
        read(record({key: value for key, value in body.items() if key != field}))


@pytest.mark.parametrize("name", TYPES)
@given(value=st.dictionaries(TEXTS, JSON_VALUES, max_size=4))
def test_random_objects_as_bodies_are_damage_and_nothing_else(
    name: str, value: dict[str, Any]
) -> None:
    with pytest.raises(StoreDamaged):
        VALID[name][0](record(value))


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_a_body_with_anything_anywhere_is_read_or_damage(name: str, data: st.DataObject) -> None:
    read, body = VALID[name]
    path = data.draw(st.sampled_from(paths(body)), label="place")
    new = data.draw(JSON_VALUES, label="value")
    try:
        read(record(replaced(body, path, new)))
    except StoreDamaged:
        return


WRONG_TYPES: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("session_start", ("store_id",), 1),
    ("session_start", ("format",), "1"),
    ("session_start", ("format",), True),
    ("session_start", ("versions",), []),
    ("session_start", ("versions", "memnb"), 1),
    ("user", ("via",), "root"),
    ("user", ("via",), []),
    ("user", ("asks",), "yes"),
    ("user", ("sensitive",), 1),
    ("user", ("cell",), None),
    ("user", ("cell", "count"), "7"),
    ("user", ("cell", "id"), 7),
    ("user", ("cell", "notebook"), []),
    ("user", ("cell", "attended"), 1),
    ("user", ("parts",), {}),
    ("user", ("parts", 0), "text"),
    ("user", ("parts", 0, "type"), "html"),
    ("user", ("parts", 0, "type"), {}),
    ("user", ("parts", 0, "text"), None),
    ("user", ("parts", 0, "expr"), 5),
    ("assistant", ("text",), None),
    ("assistant", ("calls",), {}),
    ("assistant", ("calls", 0), None),
    ("assistant", ("calls", 0, "arguments"), {}),
    ("assistant", ("carried",), "F-1b8hyr@1"),
    ("assistant", ("carried", 0), 1),
    ("assistant", ("params",), []),
    ("assistant", ("params", "a"), 1),
    ("assistant", ("stop",), "done"),
    ("assistant", ("stop",), []),
    ("assistant", ("usage",), None),
    ("assistant", ("usage", "input_tokens"), "12"),
    ("assistant", ("usage", "output_tokens"), []),
    ("assistant", ("usage", "cost_nusd"), True),
    ("tool", ("ok",), "true"),
    ("tool", ("output",), 1),
    ("tool", ("trust",), "full"),
    ("tool", ("trust",), {}),
    ("tool", ("cut",), []),
    ("tool", ("cut", "n_bytes"), "1"),
    ("tool", ("cut", "sha256"), 1),
    ("turn_end", ("end",), "over"),
    ("turn_end", ("end",), []),
    ("turn_end", ("n_requests",), None),
    ("turn_end", ("cited",), None),
    ("turn_end", ("remembered", 0), None),
    ("undo", ("target",), "2"),
    ("undo", ("target",), True),
]


@pytest.mark.parametrize(
    ("name", "path", "new"),
    WRONG_TYPES,
    ids=[f"{n}.{'.'.join(map(str, p))}={new!r}" for n, p, new in WRONG_TYPES],
)
def test_a_field_of_another_type_is_damage(
    name: str, path: tuple[str | int, ...], new: Any
) -> None:
    read, body = VALID[name]
    with pytest.raises(StoreDamaged):
        read(record(replaced(body, path, new)))


def test_only_a_cell_without_a_prompt_says_whether_it_is_attended() -> None:
    for is_attended in (True, False):
        body = UserBody("agent", (), cell=Cell("n", "c", 1, is_attended=is_attended)).draft().body
        assert ("attended" in body["cell"]) is not is_attended  # type: ignore[operator]
        assert bodies.read_user(record(body)).cell.is_attended is is_attended


@pytest.mark.parametrize("field", ["cost_nusd", "input_tokens", "output_tokens"])
def test_a_usage_without_one_of_its_fields_is_damage(field: str) -> None:
    read, body = VALID["assistant"]
    usage = {key: value for key, value in body["usage"].items() if key != field}
    with pytest.raises(StoreDamaged):
        read(record({**body, "usage": usage}))
