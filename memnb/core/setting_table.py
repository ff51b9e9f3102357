"""Which settings exist: what each one means, the values it takes, and who may change it.

A project's own table may only make things stricter, as `project_may` says: a cloned repository
switches nothing on, names no model, store or time limit, and can't shorten the transcript, which
is the evidence of what happened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeGuard, assert_never

from memnb.errors import ConfigError

__all__ = [
    "SETTINGS",
    "Kind",
    "LearningMode",
    "Mode",
    "ProjectMay",
    "SettingSpec",
    "Value",
    "environment_name",
    "format_value",
    "nearest",
    "setting",
]

Value: TypeAlias = bool | int | str
Kind = Literal["bool", "int", "str", "choice"]
Mode = Literal["readonly", "ask", "auto"]
"""How freely the model writes memory, strictest first."""
LearningMode = Literal["off", "review", "auto"]
"""What is learned from conversations, strictest first."""
ProjectMay = Literal["not set it", "turn it off", "turn it on", "lower it", "make it stricter"]
"""What a project's own table may do to a setting, as messages and docs say it."""

_MAX_TEXT: Final = 256
_MAX_KEY: Final = 64  # far longer than any; what is compared is bounded
_NUMBER: Final = re.compile(r"[0-9]{1,9}")  # no bound is longer
_TRUTHS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting. Its unit is in its name.

    Args:
        key: its table and its name there, as `agent.mode`.
        kind: the type of its values.
        default: what holds when nobody says otherwise.
        meaning: one line for docs, completion and `%memory config`.
        bounds: the least and the greatest number.
        zero_means: what 0 stands for where it lies outside the bounds; "" = it isn't allowed.
        choices: its words, strictest first.
        project_may: what a project's own table may do to it.
    """

    key: str
    kind: Kind
    default: Value
    meaning: str
    bounds: tuple[int, int] = (0, 0)
    zero_means: str = ""
    choices: tuple[str, ...] = ()
    project_may: ProjectMay = "not set it"

    @property
    def section(self) -> str:
        """The table that holds it: `agent` of `agent.mode`."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """Its name in that table: `mode` of `agent.mode`."""
        return self.key.partition(".")[2]

    @property
    def allowed(self) -> str:
        """Its values in words, to follow "must be"."""
        match self.kind:
            case "bool":
                return "true or false"
            case "int":
                zero = f", or 0 ({self.zero_means})" if self.zero_means else ""
                return f"a whole number from {self.bounds[0]} to {self.bounds[1]}{zero}"
            case "str":
                return f"text of up to {_MAX_TEXT} visible characters"
            case "choice":
                return _either(self.choices)
            case _:
                assert_never(self.kind)

    def accepts(self, value: object) -> TypeGuard[Value]:
        """Whether `value` has the right type and is within bounds."""
        match self.kind:
            case "bool":
                return isinstance(value, bool)
            case "int":
                return type(value) is int and self._is_within(value)
            case "str":
                return isinstance(value, str) and len(value) <= _MAX_TEXT and value.isprintable()
            case "choice":
                return isinstance(value, str) and value in self.choices
            case _:
                assert_never(self.kind)

    def _is_within(self, number: int) -> bool:
        low, high = self.bounds
        return low <= number <= high or (number == 0 and self.zero_means != "")

    def parse(self, text: str) -> Value | None:
        """The value that typed text means; None when it means none that is accepted."""
        value: object = text.strip()
        if self.kind == "bool":
            value = _TRUTHS.get(text.strip().lower())
        elif self.kind == "int" and _NUMBER.fullmatch(text.strip()):
            value = int(text)
        return value if self.accepts(value) else None

    def tightens(self, value: Value, present: Value) -> bool:
        """Whether a project may put `value` in place of `present`; both are accepted ones."""
        match self.project_may:
            case "not set it":
                return False
            case "turn it off":
                return value is False and present is True
            case "turn it on":
                return value is True and present is False
            case "lower it":
                return isinstance(value, int) and isinstance(present, int) and value < present
            case "make it stricter":
                return self.choices.index(str(value)) < self.choices.index(str(present))
            case _:
                assert_never(self.project_may)


# One setting reads as one row.
# fmt: off
SETTINGS: Final[tuple[SettingSpec, ...]] = (
    SettingSpec("memory.enabled", "bool", True,
                "Whether memory is read and written; the transcript goes on without it.",
                project_may="turn it off"),
    SettingSpec("memory.max_bytes", "int", 32_768,
                "Most bytes of memory in a request, a quarter of the model's window at most.",
                bounds=(1024, 262_144), project_may="lower it"),
    SettingSpec("memory.facts_max_bytes", "int", 8192,
                "Most bytes of facts in a request, within memory.max_bytes.",
                bounds=(0, 65_536), project_may="lower it"),
    SettingSpec("memory.auto_recall", "bool", True,
                "Whether a message is sent with what fits it of earlier talks, notes and facts.",
                project_may="turn it off"),
    SettingSpec("memory.write_approval", "bool", False,
                "Whether each change of memory asks first, in every mode.",
                project_may="turn it on"),
    SettingSpec("agent.model", "str", "",
                'The model that answers; "" = the local one.'),
    SettingSpec("agent.mode", "choice", "ask",
                "How freely the model writes memory: not at all, asking each time, or by itself.",
                choices=("readonly", "ask", "auto"), project_may="make it stricter"),
    SettingSpec("agent.max_steps", "int", 8,
                "Most requests to the model in one turn.",
                bounds=(1, 50), project_may="lower it"),
    SettingSpec("agent.timeout_seconds", "int", 120,
                "Longest wait for the first or the next piece of a reply.",
                bounds=(1, 3600)),
    SettingSpec("agent.context_tokens", "int", 0,
                "The model's window, where litellm doesn't know it.",
                bounds=(2048, 2_000_000), zero_means="ask the model"),
    SettingSpec("agent.output_tokens", "int", 2048,
                "Most tokens of one reply.",
                bounds=(16, 32_768)),
    SettingSpec("learning.mode", "choice", "off",
                "What is learned from conversations: nothing, what you review, or what is sure.",
                choices=("off", "review", "auto"), project_may="make it stricter"),
    SettingSpec("learning.model", "str", "",
                'Who looks for what may be learned; "" = the model that answers, "rules" = none.'),
    SettingSpec("compaction.buffer_tokens", "int", 2048,
                "What of the window stays free for the reply when it is decided to compact.",
                bounds=(256, 65_536)),
    SettingSpec("compaction.mid_turn_threshold", "int", 85,
                "Fill of the window, in percent, at which the conversation is compacted.",
                bounds=(30, 100)),
    SettingSpec("tools.output_bytes", "int", 8192,
                "Most bytes of a tool's output that the model is shown.",
                bounds=(512, 65_536), project_may="lower it"),
    SettingSpec("tools.record_bytes", "int", 262_144,
                "Most bytes of a tool's output that the transcript keeps.",
                bounds=(4096, 262_144)),
    SettingSpec("storage.lock_wait_ms", "int", 5000,
                "Longest wait for another process that writes, in milliseconds.",
                bounds=(100, 60_000)),
    SettingSpec("local.threads", "int", 0,
                "Threads of the local model.",
                bounds=(1, 64), zero_means="one for each core"),
    SettingSpec("local.context_tokens", "int", 8192,
                "The local model's window.",
                bounds=(2048, 32_768)),
)
# fmt: on

_BY_KEY: Final = {spec.key: spec for spec in SETTINGS}


def setting(key: str) -> SettingSpec:
    """The setting of that key.

    Raises:
        ConfigError: there is none; the message names those that come close.
    """
    spec = _BY_KEY.get(key)
    if spec is None:
        raise ConfigError(f"no such setting; {nearest(key)}")
    return spec


def environment_name(key: str) -> str:
    """The variable that sets `key`: MEMNB_AGENT_MODE for agent.mode."""
    return f"MEMNB_{key.replace('.', '_').upper()}"


def format_value(value: Value) -> str:
    """An accepted value as it is written in config.toml."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def nearest(key: str, spell: Callable[[str], str] = str) -> str:
    """What to write instead of a key that no setting has, to end a message.

    Args:
        key: the unknown key; never repeated.
        spell: how a setting's key is written where the unknown one was.
    """
    section, has_section, rest = key.partition(".")
    siblings = [spec.name for spec in SETTINGS if spec.section == section]
    close: list[str] = []
    if siblings or not has_section:  # any other table may be of a newer version: no name fits
        close = [spec.key for spec in SETTINGS if spec.name == (rest or section)]
    close = close or _similar(key)
    if close:
        return f"did you mean {_either(map(spell, close))}?"
    if siblings:
        return f"[{section}] holds {', '.join(siblings)}."
    return f"the tables are {', '.join(dict.fromkeys(spec.section for spec in SETTINGS))}."


def _similar(key: str) -> list[str]:
    import difflib  # noqa: PLC0415 - only after a mistake: it costs a tenth of the load

    return difflib.get_close_matches(key[:_MAX_KEY], _BY_KEY, n=2, cutoff=0.75)


def _either(words: Iterable[str]) -> str:
    *rest, last = words
    return f"{', '.join(rest)} or {last}" if rest else last
