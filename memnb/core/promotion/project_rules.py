"""What is said of the project itself: what it uses, how it is tested, where things lie."""

from __future__ import annotations

from typing import Final

from memnb.core.promotion import arabic, english
from memnb.core.promotion.forms import Pieces, Rule, Value, group, spelled
from memnb.core.promotion.values import (
    COMMAND,
    NAME,
    command_of,
    known_name,
)

__all__ = ["PROJECT_RULES"]


def _project_tests(pieces: Pieces) -> Value:
    command = command_of(pieces["command"])
    return Value("", command, f"Run tests with {command}.")


def _project_tool(pieces: Pieces) -> Value | None:
    name = known_name(pieces["name"], is_used=True)
    return None if name is None else Value("", name, f"This project uses {name}.")


def _place(pieces: Pieces) -> Value | None:
    thing = pieces["thing"].casefold() if "thing" in pieces else arabic.THINGS[pieces["arabic"]]
    path = pieces["path"]
    lies = "are" if thing.endswith("s") and not thing.endswith("ss") else "is"
    says = f"{thing[0].upper()}{thing[1:]} {lies} stored under {path}."
    return Value("", f"{thing} {path}", says)


_A_NAME: Final = group("name", NAME)
_THE_COMMAND: Final = group("command", COMMAND)
_ABOUT_TESTS: Final = r"test|tox|nox|\bmake\b|jest|mocha|cypress|spec|phpunit"
_ABOUT_PROJECT: Final = spelled(
    r"\b(?:project|repo|repository|code ?base|workspace|package)\b|مشروع|مستودع"
)

PROJECT_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "tests-run-with",
        1,
        "project",
        "convention",
        _ABOUT_TESTS,
        (*english.run_by(_THE_COMMAND), *arabic.run_by(_THE_COMMAND)),
        _project_tests,
        matches=(
            ("Run tests with make test.", "Run tests with make test."),
            ("We run our tests with uv run pytest", "Run tests with uv run pytest."),
            ("شغّل الاختبارات باستخدام pytest", "Run tests with pytest."),
        ),
        misses=(
            "Run the tests.",
            "Run tests with care.",
            "Please run tests with pytest again.",
            "We ran the tests with pytest.",
            "شغل الاختبارات الآن",
        ),
    ),
    Rule(
        "project-uses",
        1,
        "project",
        "convention",
        _ABOUT_PROJECT,
        (*english.project_uses(_A_NAME), *arabic.project_uses(_A_NAME)),
        _project_tool,
        matches=(
            ("This project uses DuckDB.", "This project uses DuckDB."),
            ("We use postgres in this repo", "This project uses PostgreSQL."),
            ("Our codebase uses Go 1.22.", "This project uses Go 1.22."),
            ("The project is written in R.", "This project uses R."),
            ("The project uses Python 3.12", "This project uses Python 3.12."),
            ("هذا المشروع يستخدم DuckDB", "This project uses DuckDB."),
        ),
        misses=(
            "This project uses machine learning.",
            "This project used DuckDB.",
            "This project should use DuckDB.",
            "That project uses DuckDB.",
            "هل يستخدم المشروع DuckDB؟",
        ),
    ),
    Rule(
        "stored-under",
        1,
        "project",
        "convention",
        r"[/.]",
        (*english.stored(), *arabic.stored()),
        _place,
        matches=(
            ("The raw data is stored under data/raw.", "Raw data is stored under data/raw."),
            ("Models are kept in artifacts/models", "Models are stored under artifacts/models."),
            ("البيانات محفوظة في data/raw", "Data is stored under data/raw."),
        ),
        misses=(
            "It is stored under data/raw.",
            "The raw data is stored under the desk.",
            "The raw data was stored under data/raw.",
            "Is the raw data stored under data/raw?",
            "البيانات محفوظة في مكان آمن",
        ),
    ),
)
