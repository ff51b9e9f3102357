"""Which value of each setting holds, of all that were given, and where it came from.

1. The last one given holds, in the order: default, config.toml, the project's own table, the
   environment, this kernel.
2. The project's table only tightens what holds before it. The environment and the kernel are the
   person's own and may loosen again.
3. What is unknown, not allowed or loosening is named and ignored, and never disables memory.
4. No message repeats a value that was given, nor a key that isn't a plain word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from memnb.core.setting_table import (
    SETTINGS,
    LearningMode,
    Mode,
    SettingSpec,
    Value,
    environment_name,
    format_value,
    nearest,
    setting,
)
from memnb.errors import ConfigError

__all__ = [
    "DEFAULT_MODEL",
    "SETTINGS",
    "AgentSettings",
    "CompactionSettings",
    "LearningMode",
    "LearningSettings",
    "LocalSettings",
    "MemorySettings",
    "Mode",
    "SettingSpec",
    "Settings",
    "StorageSettings",
    "ToolsSettings",
    "Value",
    "environment_name",
    "format_value",
    "parse_kernel_value",
    "resolve",
    "setting",
]

_MAX_NOTICES: Final = 8
"""How many lines one source may cause: a cloned repository can't flood the notebook."""

_FILE: Final = "config.toml"
_PROJECT: Final = "pyproject.toml"
_ENVIRONMENT: Final = "the environment"
_KERNEL: Final = "this kernel"

_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SPECS: Final = {spec.key: spec for spec in SETTINGS}
_VARIABLES: Final = {environment_name(key): spec for key, spec in _SPECS.items()}
_OURS: Final = tuple({f"{environment_name(spec.section)}_" for spec in SETTINGS})

_Held: TypeAlias = dict[str, tuple[Value, str]]
"""For each key a value and its origin."""


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Table `memory`."""

    enabled: bool
    max_bytes: int
    facts_max_bytes: int
    auto_recall: bool
    write_approval: bool


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Table `agent`."""

    model: str
    mode: Mode
    max_steps: int
    timeout_seconds: int
    context_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Table `learning`."""

    mode: LearningMode
    model: str


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """Table `compaction`."""

    buffer_tokens: int
    mid_turn_threshold: int


@dataclass(frozen=True, slots=True)
class ToolsSettings:
    """Table `tools`."""

    output_bytes: int
    record_bytes: int


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """Table `storage`."""

    lock_wait_ms: int


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Table `local`."""

    threads: int
    context_tokens: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The value of every setting, as `settings.agent.mode`, and where each one came from."""

    memory: MemorySettings
    agent: AgentSettings
    learning: LearningSettings
    compaction: CompactionSettings
    tools: ToolsSettings
    storage: StorageSettings
    local: LocalSettings
    origins: Mapping[str, str] = field(repr=False, hash=False)

    def value(self, key: str) -> Value:
        """The value of the setting `key`.

        Raises:
            ConfigError: there is no such setting.
        """
        spec = setting(key)
        value: Value = getattr(getattr(self, spec.section), spec.name)
        return value

    def origin(self, key: str) -> str:
        """Who said so: default, config.toml, pyproject.toml, a variable's name or this kernel.

        Raises:
            ConfigError: there is no such setting.
        """
        return self.origins[setting(key).key]


def resolve(
    file: Mapping[str, object],
    project: Mapping[str, object],
    environ: Mapping[str, str],
    kernel: Mapping[str, str | int],
) -> tuple[Settings, tuple[str, ...]]:
    """The settings that hold, and one line for each thing that was ignored; never raises.

    Args:
        file: what config.toml holds: tables, or values by dotted key.
        project: what `[tool.memnb]` of the project's pyproject.toml holds, likewise.
        environ: the environment's variables; an empty one counts as unset.
        kernel: what the person set for this kernel by key, as typed or of the setting's type.
    """
    held: _Held = {spec.key: (spec.default, "default") for spec in SETTINGS}
    from_file, file_notices = _checked(_FILE, _flat(file), _exact)
    held |= from_file
    from_project, project_notices = _checked(_PROJECT, _flat(project), _exact)
    tighter, loosening = _tightening(from_project, held)
    held |= tighter
    from_environ, environ_notices = _from_environment(environ)
    held |= from_environ
    from_kernel, kernel_notices = _checked(_KERNEL, kernel.items(), _understood)
    held |= from_kernel
    return _settings(held), (
        *_capped(_FILE, file_notices),
        *_capped(_PROJECT, loosening + project_notices),
        *_capped(_ENVIRONMENT, environ_notices),
        *_capped(_KERNEL, kernel_notices),
    )


def parse_kernel_value(key: str, value: str | int) -> Value:
    """The value that holds for this kernel when `key` is set to `value`.

    Args:
        key: a setting's key.
        value: text as it was typed, with or without quotes, or a value of the setting's type.

    Raises:
        ConfigError: no such setting, or not an allowed value; the message says what is.
    """
    spec = setting(key)
    understood = _understood(spec, value)
    if understood is None:
        raise ConfigError(f"{key} must be {spec.allowed}.")
    return understood


def _understood(spec: SettingSpec, value: object) -> Value | None:
    if not isinstance(value, str):
        return _exact(spec, value)
    text = value.strip()
    is_quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'"
    return spec.parse(text[1:-1] if is_quoted else text)


def _exact(spec: SettingSpec, value: object) -> Value | None:
    return value if spec.accepts(value) else None


def _checked(
    source: str,
    given: Iterable[tuple[str, object]],
    read: Callable[[SettingSpec, object], Value | None],
) -> tuple[_Held, list[str]]:
    held: _Held = {}
    notices: list[str] = []
    for key, raw in given:
        spec = _SPECS.get(key)
        if spec is None:
            hint = nearest(key) if len(notices) < _MAX_NOTICES else ""  # it takes its time
            notices.append(f"{source}: {_named(key)} is ignored: {hint}")
        elif (value := read(spec, raw)) is None:
            notices.append(f"{source}: {key} is ignored: it must be {spec.allowed}.")
        else:
            held[key] = (value, source)
    return held, notices


def _flat(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for section, content in table.items():
        if isinstance(content, Mapping):
            for name, value in content.items():
                yield f"{section}.{name}", value
        else:
            yield section, content


def _tightening(given: _Held, present: _Held) -> tuple[_Held, list[str]]:
    """Of what a project's table gives, what it may; the rest is named, unless it holds anyway."""
    tighter: _Held = {}
    notices: list[str] = []
    for key, (value, source) in given.items():
        spec, (at_present, _) = _SPECS[key], present[key]
        if spec.tightens(value, at_present):
            tighter[key] = (value, source)
        elif spec.project_may == "not set it":
            notices.append(f"{source}: {key} is ignored: a project may not set it, only you.")
        elif value != at_present:
            stays = f"{source}: {key} stays {format_value(at_present)}"
            notices.append(f"{stays}: a project may only {spec.project_may}.")
    return tighter, notices


def _from_environment(environ: Mapping[str, str]) -> tuple[_Held, list[str]]:
    held: _Held = {}
    notices: list[str] = []
    for name in sorted(name for name in environ if name.startswith(_OURS) and environ[name]):
        spec = _VARIABLES.get(name)
        if spec is None:
            key = name.removeprefix("MEMNB_").lower().replace("_", ".", 1)
            hint = nearest(key, environment_name) if len(notices) < _MAX_NOTICES else ""
            notices.append(f"{_named(name)} is ignored: {hint}")
        elif (value := spec.parse(environ[name])) is None:
            notices.append(f"{name} is ignored: it must be {spec.allowed}.")
        else:
            held[spec.key] = (value, name)
    return held, notices


def _named(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else "a key that isn't a plain word"


def _capped(source: str, notices: list[str]) -> list[str]:
    n_more = len(notices) - _MAX_NOTICES
    if n_more <= 0:
        return notices
    return [*notices[:_MAX_NOTICES], f"{source}: {n_more} more are ignored."]


def _settings(held: _Held) -> Settings:
    tables: dict[str, dict[str, Any]] = {}
    for spec in SETTINGS:
        tables.setdefault(spec.section, {})[spec.name] = held[spec.key][0]
    return Settings(
        memory=MemorySettings(**tables["memory"]),
        agent=AgentSettings(**tables["agent"]),
        learning=LearningSettings(**tables["learning"]),
        compaction=CompactionSettings(**tables["compaction"]),
        tools=ToolsSettings(**tables["tools"]),
        storage=StorageSettings(**tables["storage"]),
        local=LocalSettings(**tables["local"]),
        origins={key: origin for key, (_, origin) in held.items()},
    )


DEFAULT_MODEL: Final = "local/qwen2.5-coder-1.5b"
"""Who answers when agent.model is empty."""
