"""How code is written, tested and put together: what one project has one of."""

from __future__ import annotations

from typing import Final

from memnb.core.promotion import arabic, english
from memnb.core.promotion.forms import Pieces, Rule, Value, group
from memnb.core.promotion.values import (
    CODE_LANGUAGES,
    COMMAND,
    PACKAGE_MANAGERS,
    PLAIN_CODE_LANGUAGES,
    PLAIN_MANAGERS,
    STYLES,
    any_of,
    command_of,
)

__all__ = ["CODE_RULES"]


def _manager(pieces: Pieces) -> Value | None:
    ecosystem, name = PACKAGE_MANAGERS[(pieces.get("sure") or pieces["manager"]).casefold()]
    other = pieces.get("other")
    if other is not None and PACKAGE_MANAGERS[other.casefold()][0] != ecosystem:
        return None
    return Value(ecosystem, name, f"Use {name} as the package manager.")


def _code_language(pieces: Pieces) -> Value:
    name = CODE_LANGUAGES[(pieces.get("sure") or pieces["language"]).casefold()]
    return Value("code-language", name, f"Write code in {name} by default.")


def _default_tests(pieces: Pieces) -> Value:
    command = command_of(pieces["command"])
    return Value("test-command", command, f"Run tests with {command} by default.")


def _style(pieces: Pieces) -> Value:
    key, value, verb = STYLES[pieces["style"].casefold()]
    return Value(key, value, f"Always {verb} {value}.", f"Never {verb} {value}.")


def _line_length(pieces: Pieces) -> Value | None:
    n = int(pieces["n"])
    if not 40 <= n <= 200:
        return None
    return Value("line-length", str(n), f"Always keep lines within {n} characters.")


_MANAGERS: Final = group("manager", any_of(PLAIN_MANAGERS))
_ANY_MANAGER: Final = group("sure", any_of(PACKAGE_MANAGERS))
_OVER: Final = " (?:over|to|instead of|rather than) "
_OVER_MANAGERS: Final = (
    _ANY_MANAGER + _OVER + group("other", any_of(PLAIN_MANAGERS)),
    _MANAGERS + _OVER + group("other", any_of(PACKAGE_MANAGERS)),
)
_AS_MANAGER: Final = (
    _ANY_MANAGER + " (?:as (?:the|our|my) package manager|for (?:packages|dependencies)"
    "|for (?:managing|installing) (?:packages|dependencies)|to (?:manage|install) dependencies)"
)
_CODE: Final = group("sure", any_of(CODE_LANGUAGES))
_IN_CODE: Final = "(?:code|scripts|all code|new code|your code|examples|code examples|snippets)"
_STYLE: Final = group("style", any_of(STYLES))
_INDENT: Final = group("style", any_of(name for name in STYLES if STYLES[name][0] == "indentation"))
_STYLED: Final = (
    _STYLE + "(?: (?:for indentation|for indenting|in code|in (?:all )?code|for strings))?"
)
_THE_COMMAND: Final = group("command", COMMAND)
_LINES: Final = r"(?P<n>\d{2,3})(?: (?:characters|chars|columns))?"
_ABOUT_TESTS: Final = r"test|tox|nox|\bmake\b|jest|mocha|cypress|spec|phpunit"

CODE_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "package-manager",
        1,
        "package-manager",
        "preference",
        rf"\b{any_of(PACKAGE_MANAGERS)}\b",
        (
            *english.chosen(_OVER_MANAGERS[0]),
            *english.chosen(_OVER_MANAGERS[1]),
            *english.wanted(_AS_MANAGER),
            *english.chosen(_MANAGERS),
            f"use {_AS_MANAGER}",
            rf"(?:my|our|the) (?:preferred |default )?package manager is {_ANY_MANAGER}",
            *arabic.chosen(_MANAGERS),
        ),
        _manager,
        matches=(
            ("I prefer pnpm.", "Use pnpm as the package manager."),
            ("Use uv by default", "Use uv as the package manager."),
            ("I prefer poetry over pip.", "Use poetry as the package manager."),
            ("We use yarn as our package manager.", "Use yarn as the package manager."),
            ("استخدم pnpm افتراضياً", "Use pnpm as the package manager."),
        ),
        misses=(
            "I prefer poetry.",
            "I prefer yarn by default.",
            "Use pnpm.",
            "Switch to pnpm.",
            "I prefer poetry over npm.",
            "استخدم pnpm الآن",
        ),
    ),
    Rule(
        "test-command",
        1,
        "test-command",
        "preference",
        _ABOUT_TESTS,
        (
            *english.chosen(_THE_COMMAND),
            *english.chosen(f"(?:the |our )?tests (?:with|using) {_THE_COMMAND}", use="run"),
            *english.chosen(f"{_THE_COMMAND} (?:for|to run) (?:the |our )?tests"),
            *arabic.chosen(_THE_COMMAND),
        ),
        _default_tests,
        matches=(
            ("Always run tests with pytest -q.", "Run tests with pytest -q by default."),
            ("I prefer pnpm test", "Run tests with pnpm test by default."),
            ("استخدم pnpm test افتراضيًا", "Run tests with pnpm test by default."),
            ("نفضّل make test", "Run tests with make test by default."),
        ),
        misses=(
            "pytest is failing by default.",
            "Run pytest.",
            "Could you run the tests with pytest?",
            "هل نستخدم pytest دائما؟",
        ),
    ),
    Rule(
        "code-language",
        1,
        "code-language",
        "preference",
        rf"(?<!\w){any_of(CODE_LANGUAGES)}(?!\w)",
        (
            *english.chosen(group("language", any_of(PLAIN_CODE_LANGUAGES))),
            *english.chosen(f"{_CODE} (?:over|to|instead of|rather than) {any_of(CODE_LANGUAGES)}"),
            *english.chosen(f"{_CODE} for {_IN_CODE}"),
            *english.chosen(f"{_IN_CODE} in {_CODE}", use="write"),
            *english.chosen(f"{_IN_CODE} in {_CODE}", use="give me"),
            *arabic.chosen(group("language", any_of(PLAIN_CODE_LANGUAGES))),
        ),
        _code_language,
        matches=(
            ("I'd prefer TypeScript.", "Write code in TypeScript by default."),
            ("My preference is typescript", "Write code in TypeScript by default."),
            ("Please switch to TypeScript by default.", "Write code in TypeScript by default."),
            ("We prefer Rust over C++.", "Write code in Rust by default."),
            ("أفضل TypeScript", "Write code in TypeScript by default."),
        ),
        misses=(
            "I like TypeScript.",
            "Maybe use TypeScript.",
            "Switch to TypeScript.",
            "I prefer Java.",
            "I prefer C.",
            "أحب TypeScript",
        ),
    ),
    Rule(
        "code-style",
        1,
        "code-style",
        "preference",
        any_of(STYLES),
        (
            *english.wanted(_STYLED),
            *english.wanted(_INDENT, use="indent with"),
            *english.chosen(f"to indent with {_INDENT}"),
            *english.chosen(f"indenting with {_INDENT}"),
            *arabic.wanted(_STYLE),
        ),
        _style,
        negated=(
            *english.avoided(_STYLED),
            *english.avoided(_INDENT, use="indent with"),
            *arabic.avoided(_STYLE),
        ),
        matches=(
            ("We use tabs for indentation in this repo.", "Always indent with tabs."),
            ("Always use 4 spaces for indentation", "Always indent with 4 spaces."),
            ("Never use semicolons.", "Never use semicolons."),
            ("I prefer type annotations.", "Always use type hints."),
            ("نستخدم snake_case دائماً", "Always use snake_case."),
            ("لا تستخدم tabs أبدًا", "Never indent with tabs."),
        ),
        misses=(
            "Use tabs here.",
            "I don't think we use tabs.",
            "We used tabs.",
            "Don't use semicolons in this function.",
            "ربما نستخدم snake_case دائما",
        ),
    ),
    Rule(
        "line-length",
        1,
        "code-style",
        "preference",
        r"\blines?\b",
        (
            *english.chosen(f"lines (?:within|under|below|shorter than) {_LINES}", use="keep"),
            rf"(?:our|my|the) (?:max(?:imum)? )?line length is {_LINES}",
            f"(?:we|i) (?:wrap|limit) lines (?:at|to) {_LINES}",
        ),
        _line_length,
        matches=(
            ("Our max line length is 100.", "Always keep lines within 100 characters."),
            ("Always keep lines under 88 characters", "Always keep lines within 88 characters."),
        ),
        misses=("Keep lines under 88 characters.", "The line length is 100000.", "Lines are long."),
    ),
)
