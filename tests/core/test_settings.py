from __future__ import annotations

import dataclasses
import tomllib
import typing
from collections.abc import Mapping
from typing import Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memnb.core.settings import (
    SETTINGS,
    LearningMode,
    Mode,
    Settings,
    SettingSpec,
    Value,
    environment_name,
    format_value,
    parse_kernel_value,
    resolve,
    setting,
)
from memnb.errors import ConfigError

KEYS = [spec.key for spec in SETTINGS]
DEFAULTS, _ = resolve({}, {}, {}, {})
by_key = pytest.mark.parametrize("spec", SETTINGS, ids=KEYS)


def resolved(
    file: Mapping[str, object] | None = None,
    project: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    kernel: Mapping[str, str | int] | None = None,
) -> tuple[Settings, tuple[str, ...]]:
    return resolve(file or {}, project or {}, environ or {}, kernel or {})


def values_of(spec: SettingSpec) -> st.SearchStrategy[Value]:
    match spec.kind:
        case "bool":
            return st.booleans()
        case "int":
            zero = st.just(0) if spec.zero_means else st.nothing()
            return st.integers(*spec.bounds) | zero
        case "choice":
            return st.sampled_from(spec.choices)
        case "str":
            return st.sampled_from(["", "local/a", "anthropic/b"])


def scalars() -> st.SearchStrategy[object]:
    return (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=20)
        | st.sampled_from(["auto", "readonly", "true", 1024, 4096])
    )


def names() -> st.SearchStrategy[str]:
    known = {part for key in KEYS for part in (key, *key.split("."))}
    return st.sampled_from(sorted(known)) | st.text(max_size=70)


json_like: st.SearchStrategy[dict[str, object]] = st.dictionaries(
    names(),
    st.recursive(
        scalars(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names(), inner, max_size=4),
        max_leaves=8,
    ),
    max_size=6,
)

kernels: st.SearchStrategy[dict[str, str | int]] = st.dictionaries(
    names(), st.text() | st.integers()
)

accepted_tables: st.SearchStrategy[dict[str, Value]] = st.fixed_dictionaries(
    {}, optional={spec.key: values_of(spec) for spec in SETTINGS}
)


# --- the table -----------------------------------------------------------------------------------


def test_the_settings_are_those_of_this_version() -> None:
    assert {spec.key: spec.default for spec in SETTINGS} == {
        "memory.enabled": True,
        "memory.max_bytes": 32768,
        "memory.facts_max_bytes": 8192,
        "memory.auto_recall": True,
        "memory.write_approval": False,
        "agent.model": "",
        "agent.mode": "ask",
        "agent.max_steps": 8,
        "agent.timeout_seconds": 120,
        "agent.context_tokens": 0,
        "agent.output_tokens": 2048,
        "learning.mode": "off",
        "learning.model": "",
        "compaction.buffer_tokens": 2048,
        "compaction.mid_turn_threshold": 85,
        "tools.output_bytes": 8192,
        "tools.record_bytes": 262144,
        "storage.lock_wait_ms": 5000,
        "local.threads": 0,
        "local.context_tokens": 8192,
    }


@pytest.mark.parametrize(
    ("key", "low", "high", "zero_is_allowed"),
    [
        ("memory.max_bytes", 1024, 262144, False),
        ("memory.facts_max_bytes", 0, 65536, True),
        ("agent.max_steps", 1, 50, False),
        ("agent.timeout_seconds", 1, 3600, False),
        ("agent.context_tokens", 2048, 2_000_000, True),
        ("agent.output_tokens", 16, 32768, False),
        ("compaction.buffer_tokens", 256, 65536, False),
        ("compaction.mid_turn_threshold", 30, 100, False),
        ("tools.output_bytes", 512, 65536, False),
        ("tools.record_bytes", 4096, 262_144, False),
        ("storage.lock_wait_ms", 100, 60_000, False),
        ("local.threads", 1, 64, True),
        ("local.context_tokens", 2048, 32768, False),
    ],
)
def test_numbers_are_bounded(key: str, low: int, high: int, zero_is_allowed: bool) -> None:
    spec = setting(key)
    assert spec.accepts(low)
    assert spec.accepts(high)
    assert not spec.accepts(high + 1)
    assert not spec.accepts(-1)
    assert spec.accepts(0) is zero_is_allowed
    assert spec.accepts(low - 1) is (zero_is_allowed and low == 1)


@by_key
def test_a_default_is_a_value_that_is_accepted(spec: SettingSpec) -> None:
    assert spec.accepts(spec.default)
    assert DEFAULTS.value(spec.key) == spec.default
    assert DEFAULTS.origin(spec.key) == "default"


@by_key
def test_a_meaning_is_one_sentence_on_one_line(spec: SettingSpec) -> None:
    assert spec.meaning[0].isupper()
    assert spec.meaning.endswith(".")
    assert len(spec.meaning) <= 88
    assert spec.meaning.isprintable()


def test_each_setting_has_an_attribute_of_its_type() -> None:
    types: dict[str, Any] = {"bool": bool, "int": int, "str": str}
    words = {"agent.mode": Mode, "learning.mode": LearningMode}
    attributes: dict[str, Any] = {}
    for table, group in typing.get_type_hints(Settings).items():
        if dataclasses.is_dataclass(group):
            for name, annotation in typing.get_type_hints(group).items():
                attributes[f"{table}.{name}"] = annotation
    assert attributes == {spec.key: words.get(spec.key) or types[spec.kind] for spec in SETTINGS}


def test_the_modes_stand_strictest_first() -> None:
    assert setting("agent.mode").choices == typing.get_args(Mode) == ("readonly", "ask", "auto")
    learning = setting("learning.mode").choices
    assert learning == typing.get_args(LearningMode) == ("off", "review", "auto")


def test_a_project_may_do_no_more_than_this() -> None:
    allowed = {spec.key: spec.project_may for spec in SETTINGS}
    assert {key: may for key, may in allowed.items() if may != "not set it"} == {
        "memory.enabled": "turn it off",
        "memory.max_bytes": "lower it",
        "memory.facts_max_bytes": "lower it",
        "memory.auto_recall": "turn it off",
        "memory.write_approval": "turn it on",
        "agent.mode": "make it stricter",
        "agent.max_steps": "lower it",
        "learning.mode": "make it stricter",
        "tools.output_bytes": "lower it",
    }


@by_key
def test_what_may_be_lowered_has_no_zero_that_means_more(spec: SettingSpec) -> None:
    assert not (spec.project_may == "lower it" and spec.zero_means)


# --- which value holds ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_layers", "mode", "origin"),
    [
        (0, "ask", "default"),
        (1, "auto", "config.toml"),
        (2, "readonly", "pyproject.toml"),
        (3, "ask", "MEMNB_AGENT_MODE"),
        (4, "auto", "this kernel"),
    ],
)
def test_the_last_one_given_holds(n_layers: int, mode: str, origin: str) -> None:
    layers: list[dict[str, Any]] = [
        {"agent": {"mode": "auto"}},
        {"agent": {"mode": "readonly"}},
        {"MEMNB_AGENT_MODE": "ask"},
        {"agent.mode": "auto"},
    ]
    given = layers[:n_layers] + [{}] * (4 - n_layers)
    settings, notices = resolve(*given)
    assert (settings.agent.mode, settings.origin("agent.mode")) == (mode, origin)
    assert notices == ()


def test_a_dotted_key_in_quotes_counts_like_one_in_its_table() -> None:
    settings, notices = resolved({"agent.mode": "auto"})
    assert settings.agent.mode == "auto"
    assert notices == ()


def test_an_empty_variable_counts_as_unset() -> None:
    assert resolved({}, environ={"MEMNB_AGENT_MODE": ""}) == (DEFAULTS, ())


@pytest.mark.parametrize("value", ["off", '"off"', False])
def test_the_kernel_keeps_what_was_typed_or_a_value(value: str | bool) -> None:
    settings, notices = resolved(kernel={"memory.enabled": value})
    assert settings.memory.enabled is False
    assert notices == ()


def test_equal_settings_are_equal_and_can_be_keys() -> None:
    again = resolved()[0]
    assert again == DEFAULTS
    assert len({again, DEFAULTS}) == 1


def test_asking_for_an_unknown_key_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"memory\.enabled"):
        DEFAULTS.value("memory.enable")
    with pytest.raises(ConfigError, match=r"memory\.enabled"):
        DEFAULTS.origin("memory.enable")


# --- what is ignored is named --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "notice"),
    [
        pytest.param(
            {"memory": {"max_bytes": 5}},
            "config.toml: memory.max_bytes is ignored: it must be a whole number from 1024 to"
            " 262144.",
            id="out of bounds",
        ),
        pytest.param(
            {"agent": {"context_tokens": 12}},
            "config.toml: agent.context_tokens is ignored: it must be a whole number from 2048 to"
            " 2000000, or 0 (ask the model).",
            id="out of bounds with a zero",
        ),
        pytest.param(
            {"agent": {"max_steps": True}},
            "config.toml: agent.max_steps is ignored: it must be a whole number from 1 to 50.",
            id="truth for a number",
        ),
        pytest.param(
            {"agent": {"max_steps": 8.0}},
            "config.toml: agent.max_steps is ignored: it must be a whole number from 1 to 50.",
            id="float",
        ),
        pytest.param(
            {"memory": {"enabled": "no"}},
            "config.toml: memory.enabled is ignored: it must be true or false.",
            id="text for a truth",
        ),
        pytest.param(
            {"memory": {"enabled": 0}},
            "config.toml: memory.enabled is ignored: it must be true or false.",
            id="number for a truth",
        ),
        pytest.param(
            {"agent": {"mode": "Auto"}},
            "config.toml: agent.mode is ignored: it must be readonly, ask or auto.",
            id="no such choice",
        ),
        pytest.param(
            {"agent": {"model": "a\u202eb"}},
            "config.toml: agent.model is ignored: it must be text of up to 256 visible characters.",
            id="hidden character",
        ),
        pytest.param(
            {"agent": {"model": "m" * 257}},
            "config.toml: agent.model is ignored: it must be text of up to 256 visible characters.",
            id="long text",
        ),
        pytest.param(
            {"agent": {"modle": "x"}},
            "config.toml: agent.modle is ignored: did you mean agent.mode or agent.model?",
            id="misspelled",
        ),
        pytest.param(
            {"memory": {"mode": "ask"}},
            "config.toml: memory.mode is ignored: did you mean agent.mode or learning.mode?",
            id="name of another table",
        ),
        pytest.param(
            {"enabled": False},
            "config.toml: enabled is ignored: did you mean memory.enabled?",
            id="without its table",
        ),
        pytest.param(
            {"storage": 3},
            "config.toml: storage is ignored: [storage] holds lock_wait_ms.",
            id="no table",
        ),
        pytest.param(
            {"recall": {"mode": "auto"}},
            "config.toml: recall.mode is ignored: the tables are memory, agent, learning,"
            " compaction, tools, storage, local.",
            id="table of another version",
        ),
        pytest.param(
            {"agent": {"x\x1b[2J": 1}},
            "config.toml: a key that isn't a plain word is ignored: [agent] holds model, mode,"
            " max_steps, timeout_seconds, context_tokens, output_tokens.",
            id="control characters",
        ),
    ],
)
def test_what_the_file_gets_wrong_is_named_and_ignored(
    table: dict[str, object], notice: str
) -> None:
    assert resolved(table) == (DEFAULTS, (notice,))


@pytest.mark.parametrize(
    ("environ", "notices"),
    [
        pytest.param(
            {"MEMNB_AGENT_MAX_STEPS": "-1"},
            ("MEMNB_AGENT_MAX_STEPS is ignored: it must be a whole number from 1 to 50.",),
            id="out of bounds",
        ),
        pytest.param(
            {"MEMNB_AGENT_MODES": "ask"},
            ("MEMNB_AGENT_MODES is ignored: did you mean MEMNB_AGENT_MODE or MEMNB_AGENT_MODEL?",),
            id="misspelled",
        ),
        pytest.param(
            dict.fromkeys(
                ("MEMNB_HOME", "MEMNB_STATE", "MEMNB_MODELS", "MEMNB_PROJECT", "MEMNB_DATA"), "/x"
            ),
            (),
            id="other variables of memnb",
        ),
        pytest.param({"MEMNB_MODEL": "x", "AGENT_MODE": "auto"}, (), id="no settings"),
    ],
)
def test_variables_that_look_like_settings_are_named(
    environ: dict[str, str], notices: tuple[str, ...]
) -> None:
    assert resolved(environ=environ) == (DEFAULTS, notices)


def test_a_bad_value_leaves_the_one_before_it_in_force() -> None:
    settings, notices = resolved({"agent": {"max_steps": 4}}, kernel={"agent.max_steps": 0})
    assert settings.agent.max_steps == 4
    assert notices == (
        "this kernel: agent.max_steps is ignored: it must be a whole number from 1 to 50.",
    )


def test_one_source_can_not_flood_the_notebook() -> None:
    _, notices = resolved({"agent": {"nope": 1}}, {f"key{n}": n for n in range(50_000)})
    assert len(notices) == 1 + 8 + 1
    assert notices[0].startswith("config.toml: agent.nope ")
    assert notices[-1] == "pyproject.toml: 49992 more are ignored."


@given(json_like, json_like, st.dictionaries(st.text(), st.text()), kernels)
@example({"agent": {"mode": []}}, {"agent": {"mode": {}}}, {"MEMNB_AGENT_": "x"}, {"": ""})
def test_nothing_given_can_make_it_fail(
    file: dict[str, object],
    project: dict[str, object],
    environ: dict[str, str],
    kernel: dict[str, str | int],
) -> None:
    settings, notices = resolve(file, project, environ, kernel)
    for spec in SETTINGS:
        assert spec.accepts(settings.value(spec.key))
    assert all(notice.isprintable() for notice in notices)


@given(st.sampled_from(SETTINGS), scalars() | st.text(min_size=300))
def test_only_a_value_of_its_own_can_change_a_setting(spec: SettingSpec, value: object) -> None:
    settings, notices = resolved({spec.section: {spec.name: value}})
    if spec.accepts(value):
        assert settings.value(spec.key) == value
        assert notices == ()
    else:
        assert settings == DEFAULTS
        assert len(notices) == 1


def test_a_notice_never_repeats_a_value() -> None:
    private = "sk-ant-0123456789"
    _, notices = resolve(
        {"agent": {"mode": private, "model": f"{private}\n", "key": private}},
        {"agent": {"model": private}, "memory": {"max_bytes": private}},
        {"MEMNB_AGENT_MODE": private, "MEMNB_LOCAL_KEY": private},
        {"local.threads": private},
    )
    assert len(notices) == 8
    assert private not in "".join(notices)


# --- a project's own table -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("project", "notice"),
    [
        ({"agent.mode": "auto"}, 'agent.mode stays "ask": a project may only make it stricter.'),
        ({"memory.max_bytes": 65536}, "memory.max_bytes stays 32768: a project may only lower it."),
        ({"agent.max_steps": 50}, "agent.max_steps stays 8: a project may only lower it."),
        (
            {"agent.model": "evil/model"},
            "agent.model is ignored: a project may not set it, only you.",
        ),
        (
            {"agent.timeout_seconds": 1},
            "agent.timeout_seconds is ignored: a project may not set it, only you.",
        ),
        (
            {"tools.record_bytes": 4096},
            "tools.record_bytes is ignored: a project may not set it, only you.",
        ),
        (
            {"storage.lock_wait_ms": 5000},
            "storage.lock_wait_ms is ignored: a project may not set it, only you.",
        ),
    ],
)
def test_a_project_can_not_loosen(project: dict[str, object], notice: str) -> None:
    assert resolved(project=project) == (DEFAULTS, (f"pyproject.toml: {notice}",))


@pytest.mark.parametrize(
    ("key", "file", "project"),
    [("memory.enabled", False, True), ("memory.write_approval", True, False)],
)
def test_a_project_can_not_undo_what_the_file_says(key: str, file: bool, project: bool) -> None:
    settings, notices = resolved({key: file}, {key: project})
    assert settings.value(key) is file
    assert settings.origin(key) == "config.toml"
    assert len(notices) == 1


def test_the_file_can_not_undo_what_a_project_tightens() -> None:
    settings, _ = resolved({"agent.mode": "auto"}, {"agent.mode": "readonly"})
    assert settings.agent.mode == "readonly"


def test_a_project_that_asks_for_what_holds_anyway_changes_nothing_and_is_not_named() -> None:
    assert resolved(project={"agent.mode": "ask"}) == (DEFAULTS, ())


def looseness(spec: SettingSpec, value: Value) -> int:
    """How far a value opens a setting, told independently of the code under test."""
    if spec.key == "memory.write_approval":
        return int(not value)
    if spec.key == "agent.mode":
        return ["readonly", "ask", "auto"].index(str(value))
    if spec.key == "learning.mode":
        return ["off", "review", "auto"].index(str(value))
    return int(value)


CONSENT: dict[str, Literal["may tighten"]] = dict.fromkeys(
    (
        "memory.enabled",
        "memory.max_bytes",
        "memory.facts_max_bytes",
        "memory.auto_recall",
        "memory.write_approval",
        "agent.mode",
        "agent.max_steps",
        "learning.mode",
        "tools.output_bytes",
    ),
    "may tighten",
)


@given(accepted_tables | json_like, accepted_tables | json_like)
def test_a_project_never_loosens_anything(
    file: dict[str, object], project: dict[str, object]
) -> None:
    without, _ = resolved(file)
    with_project, _ = resolved(file, project)
    for spec in SETTINGS:
        before, after = without.value(spec.key), with_project.value(spec.key)
        if spec.key in CONSENT:
            assert looseness(spec, after) <= looseness(spec, before)
        else:
            assert after == before


@given(accepted_tables)
def test_a_project_tightens_all_it_may(project: dict[str, object]) -> None:
    settings, _ = resolved(project=project)
    for spec in SETTINGS:
        if spec.key in CONSENT and spec.key in project:
            given_value = project[spec.key]
            assert isinstance(given_value, bool | int | str)
            strictest = min(given_value, spec.default, key=lambda v: looseness(spec, v))
            assert settings.value(spec.key) == strictest


# --- as text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("memory.enabled", "off", False),
        ("memory.enabled", " True ", True),
        ("memory.enabled", "0", False),
        ("agent.max_steps", " 12 ", 12),
        ("agent.mode", "auto", "auto"),
        ("agent.mode", '"auto"', "auto"),
        ("agent.model", "'local/qwen2.5-coder-1.5b'", "local/qwen2.5-coder-1.5b"),
        ("agent.model", '""', ""),
        ("agent.model", "", ""),
        ("local.threads", "0", 0),
        ("agent.max_steps", 12, 12),
        ("memory.write_approval", True, True),
    ],
)
def test_a_typed_value_is_understood(key: str, text: str | int, value: Value) -> None:
    parsed = parse_kernel_value(key, text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("memory.enabled", "maybe", "memory.enabled must be true or false."),
        ("memory.enabled", 1, "memory.enabled must be true or false."),
        ("agent.max_steps", "0", "agent.max_steps must be a whole number from 1 to 50."),
        ("agent.max_steps", "", "agent.max_steps must be a whole number from 1 to 50."),
        ("agent.max_steps", "٣", "agent.max_steps must be a whole number from 1 to 50."),
        ("agent.max_steps", "9" * 5000, "agent.max_steps must be a whole number from 1 to 50."),
        ("agent.mode", "write", "agent.mode must be readonly, ask or auto."),
        ("agent.mod", "ask", "no such setting; did you mean agent.mode or agent.model?"),
        ("max_steps", "3", "no such setting; did you mean agent.max_steps?"),
        (
            "sk-ant-0123456789",
            "x",
            "no such setting; the tables are memory, agent, learning, compaction, tools, storage,"
            " local.",
        ),
    ],
)
def test_a_typed_mistake_says_what_to_type(key: str, text: str | int, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_kernel_value(key, text)
    assert str(caught.value) == message


@given(st.data(), st.sampled_from(SETTINGS))
def test_each_value_can_be_written_and_read_again(data: st.DataObject, spec: SettingSpec) -> None:
    value = data.draw(values_of(spec))
    text = format_value(value)
    assert tomllib.loads(f"value = {text}")["value"] == value
    assert parse_kernel_value(spec.key, text) == value
    variable = {environment_name(spec.key): text.strip('"')}
    expected = spec.default if value == "" else value
    assert resolved(environ=variable)[0].value(spec.key) == expected


@given(st.text(alphabet="ab\"'\\ é", max_size=6))
def test_any_text_is_written_as_toml(value: str) -> None:
    assert tomllib.loads(f"value = {format_value(value)}")["value"] == value


@by_key
def test_each_variable_names_one_setting(spec: SettingSpec) -> None:
    assert environment_name(spec.key) == f"MEMNB_{spec.section}_{spec.name}".upper()
    assert [environment_name(key) for key in KEYS].count(environment_name(spec.key)) == 1
